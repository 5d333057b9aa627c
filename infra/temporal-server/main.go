// The Temporal server with its Web UI in one process, as a command that understands what GATE passes to
// `temporal server start-dev`. The Temporal CLI of this server version cannot be built by `go install` (its go.mod has a
// replace directive), so this is what GATE builds where it finds none and cannot download one.
//
// As in the CLI's dev server: SQLite, one shard, the namespace `default`, and hosts that are known from the start. The
// released `cmd/server` would look for its hosts by gossip, on eight ports, and have its namespace made from outside.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	uiserver "github.com/temporalio/ui-server/v2/server"
	uiconfig "github.com/temporalio/ui-server/v2/server/config"
	uioptions "github.com/temporalio/ui-server/v2/server/server_options"
	uiversion "github.com/temporalio/ui-server/v2/server/version"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/headers"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/membership/static"
	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/schema/sqlite"
	"go.temporal.io/server/temporal"
)

const clusterName = "active"

// pairs collects a flag that is given several times as NAME=VALUE.
type pairs map[string]string

func (p pairs) String() string { return fmt.Sprint(map[string]string(p)) }

func (p pairs) Set(text string) error {
	name, value, found := strings.Cut(text, "=")
	if !found {
		return fmt.Errorf("%q is not NAME=VALUE", text)
	}
	p[name] = value
	return nil
}

type options struct {
	ip, databaseFile, logLevel, codecEndpoint string
	port, uiPort                              int
	headless                                  bool
	pragmas, dynamicConfig, searchAttributes  pairs
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		fmt.Printf("gate temporal server (Server %s, UI %s)\n", headers.ServerVersion, uiversion.UIVersion)
		return
	}
	if len(os.Args) < 3 || os.Args[1] != "server" || os.Args[2] != "start-dev" {
		fmt.Fprintln(os.Stderr, "usage: temporal server start-dev --port PORT [--ui-port PORT | --headless] …")
		os.Exit(2)
	}
	if err := run(parse(os.Args[3:])); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func parse(arguments []string) options {
	given := options{pragmas: pairs{}, dynamicConfig: pairs{}, searchAttributes: pairs{}}
	flags := flag.NewFlagSet("server start-dev", flag.ExitOnError)
	flags.StringVar(&given.ip, "ip", "127.0.0.1", "address to listen on")
	flags.IntVar(&given.port, "port", 7233, "gRPC port")
	flags.IntVar(&given.uiPort, "ui-port", 8233, "port of the Web UI")
	flags.BoolVar(&given.headless, "headless", false, "no Web UI")
	flags.StringVar(&given.databaseFile, "db-filename", "", "SQLite file; none: in memory")
	flags.StringVar(&given.logLevel, "log-level", "warn", "debug, info, warn or error")
	flags.StringVar(&given.codecEndpoint, "ui-codec-endpoint", "", "where the Web UI has payloads decoded")
	flags.Var(given.pragmas, "sqlite-pragma", "NAME=VALUE, repeatable")
	flags.Var(given.dynamicConfig, "dynamic-config-value", "KEY=JSON, repeatable")
	flags.Var(given.searchAttributes, "search-attribute", "NAME=TYPE, repeatable")
	_ = flags.Parse(arguments) // ExitOnError
	return given
}

func run(given options) error {
	httpPort, err := freePort(given.ip)
	if err != nil {
		return err
	}
	conf, err := serverConfig(given, httpPort)
	if err != nil {
		return err
	}
	dynamic, err := dynamicConfig(given)
	if err != nil {
		return err
	}
	logger := log.NewZapLogger(log.BuildZapLogger(log.Config{Level: given.logLevel, Format: "console"}))
	authorizer, err := authorization.GetAuthorizerFromConfig(&conf.Global.Authorization)
	if err != nil {
		return err
	}
	claimMapper, err := authorization.GetClaimMapperFromConfig(&conf.Global.Authorization, logger)
	if err != nil {
		return err
	}
	server, err := temporal.NewServer(
		temporal.WithConfig(conf),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithStaticHosts(hosts(given.ip, conf)),
		temporal.WithDynamicConfigClient(dynamic),
		temporal.WithLogger(logger),
		temporal.WithAuthorizer(authorizer),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper { return claimMapper }),
		temporal.InterruptOn(temporal.InterruptCh()),
	)
	if err != nil {
		return err
	}
	if !given.headless {
		go serveUI(given)
	}
	return server.Start() // returns after an interrupt
}

func serveUI(given options) {
	// Its access log would fill ours.
	slog.SetLogLoggerLevel(slog.LevelError)
	ui := uiserver.NewServer(uioptions.WithConfigProvider(&uiconfig.Config{
		Host:                given.ip,
		Port:                given.uiPort,
		TemporalGRPCAddress: address(given.ip, given.port),
		EnableUI:            true,
		Codec:               uiconfig.Codec{Endpoint: given.codecEndpoint},
		CORS:                uiconfig.CORS{CookieInsecure: true},
		HideLogs:            true,
		DisableNewsFetch:    true,
	}))
	if err := ui.Start(); err != nil {
		panic(err)
	}
}

func serverConfig(given options, httpPort int) (*config.Config, error) {
	sql, err := database(given)
	if err != nil {
		return nil, err
	}
	conf := &config.Config{
		Persistence: config.Persistence{
			DefaultStore:     "sqlite",
			VisibilityStore:  "sqlite",
			NumHistoryShards: 1,
			DataStores:       map[string]config.DataStore{"sqlite": {SQL: sql}},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10,
			MasterClusterName:        clusterName,
			CurrentClusterName:       clusterName,
			ClusterInformation: map[string]cluster.ClusterInformation{clusterName: {
				Enabled:                true,
				InitialFailoverVersion: 1,
				RPCAddress:             address(given.ip, given.port),
				HTTPAddress:            address(given.ip, httpPort),
			}},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		PublicClient:        config.PublicClient{HostPort: address(given.ip, given.port)},
		Services:            map[string]config.Service{},
	}
	conf.Global.Membership.MaxJoinDuration = 30 * time.Second
	conf.Global.Membership.BroadcastAddress = given.ip
	conf.Archival.History.State = "disabled"
	conf.Archival.Visibility.State = "disabled"
	conf.NamespaceDefaults.Archival.History.State = "disabled"
	conf.NamespaceDefaults.Archival.Visibility.State = "disabled"
	for _, name := range temporal.DefaultServices {
		rpc := config.RPC{BindOnIP: given.ip, GRPCPort: given.port, HTTPPort: httpPort}
		if name != string(primitives.FrontendService) {
			port, err := freePort(given.ip)
			if err != nil {
				return nil, err
			}
			rpc = config.RPC{BindOnIP: given.ip, GRPCPort: port}
		}
		conf.Services[name] = config.Service{RPC: rpc}
	}
	return conf, nil
}

// database has its schema and the namespace before the server starts: a namespace made through its API is known only seconds
// later.
func database(given options) (*config.SQL, error) {
	sql := &config.SQL{PluginName: sqliteplugin.PluginName, ConnectAttributes: map[string]string{}}
	if given.databaseFile == "" {
		sql.DatabaseName = fmt.Sprintf("gate-%d", os.Getpid())
		sql.ConnectAttributes["mode"] = "memory"
		sql.ConnectAttributes["cache"] = "shared"
	} else {
		sql.DatabaseName = given.databaseFile
		sql.ConnectAttributes["mode"] = "rwc"
	}
	for name, value := range given.pragmas {
		sql.ConnectAttributes[name] = value
	}
	if given.databaseFile != "" {
		if _, err := os.Stat(given.databaseFile); errors.Is(err, os.ErrNotExist) {
			// Made under another name first: a killed process leaves no half a schema.
			if err := createFile(*sql); err != nil {
				return nil, fmt.Errorf("cannot make %s: %w", given.databaseFile, err)
			}
		}
	}
	types := map[string]enums.IndexedValueType{}
	for name, text := range given.searchAttributes {
		kind, err := enums.IndexedValueTypeFromString(text)
		if err != nil {
			return nil, fmt.Errorf("search attribute %s: %w", name, err)
		}
		types[name] = kind
	}
	namespace, err := sqlite.NewNamespaceConfig(clusterName, "default", false, types)
	if err != nil {
		return nil, err
	}
	return sql, sqlite.CreateNamespaces(sql, namespace)
}

func createFile(sql config.SQL) error {
	target := sql.DatabaseName
	folder, err := os.MkdirTemp(filepath.Dir(target), "new-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	sql.DatabaseName = filepath.Join(folder, "temporal.sqlite")
	// One file alone is moved, so without a log beside it.
	sql.ConnectAttributes = map[string]string{"mode": "rwc"}
	if err := sqlite.SetupSchema(&sql); err != nil {
		return err
	}
	return os.Rename(sql.DatabaseName, target)
}

func dynamicConfig(given options) (dynamicconfig.StaticClient, error) {
	values := dynamicconfig.StaticClient{
		dynamicconfig.HistoryCacheHostLevelMaxSize.Key():                 8096,
		dynamicconfig.FrontendMaxNamespaceVisibilityRPSPerInstance.Key(): 100,
		// A search attribute that was just registered can be used at once.
		dynamicconfig.MakeKey("system.forceSearchAttributesCacheRefreshOnRead"): true,
		dynamicconfig.MakeKey("frontend.persistenceMaxQPS"):                     10_000,
		dynamicconfig.MakeKey("history.persistenceMaxQPS"):                      45_000,
	}
	for key, text := range given.dynamicConfig {
		var value any
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			return nil, fmt.Errorf("dynamic config %s: %w", key, err)
		}
		if number, ok := value.(float64); ok && number == float64(int(number)) {
			value = int(number)
		}
		values[dynamicconfig.MakeKey(key)] = value
	}
	return values, nil
}

func hosts(ip string, conf *config.Config) map[primitives.ServiceName]static.Hosts {
	all := map[primitives.ServiceName]static.Hosts{}
	for name, service := range conf.Services {
		all[primitives.ServiceName(name)] = static.SingleLocalHost(address(ip, service.RPC.GRPCPort))
	}
	return all
}

func address(ip string, port int) string { return net.JoinHostPort(ip, fmt.Sprint(port)) }

func freePort(ip string) (int, error) {
	listener, err := net.Listen("tcp", address(ip, 0))
	if err != nil {
		return 0, err
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().(*net.TCPAddr).Port, nil
}
