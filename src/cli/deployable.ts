/** What every platform needs of a configuration, and what it cannot work with. */
import { ConfigError, ConfigFile, type Config } from '../config';
import { readConfigFile } from '../config/file';
import { secretSettings } from '../deploy/secret-settings';
import type { Io } from './io';
import { configuredTemporal } from './temporal-session';

type Connection = NonNullable<ReturnType<typeof configuredTemporal>>;
type Bucket = Exclude<Config['store'], { readonly kind: 'directory' }>;

export interface Deployable {
  readonly settings: ConfigFile;
  readonly file: string;
  readonly temporal: Pick<Connection, 'address' | 'namespace'>;
  readonly store: Bucket;
  /** Variables that hold a secret. */
  readonly secrets: readonly string[];
  /** With the settings of this shell that a worker reads. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Throws `ConfigError` with everything that does not work there; `more` is what else a platform refuses. */
export function deployable(
  config: Config,
  where: 'function' | 'container',
  io: Io,
  more: (file: string) => readonly string[],
): Deployable {
  const { file, store } = config;
  if (file === null)
    throw new ConfigError(['no gate.config.json here: write one that names the databases and the store']);
  const settings = ConfigFile.parse(readConfigFile(file).json);
  const named = secretSettings(settings);
  const temporal = configuredTemporal(config, io.env);
  const problems = named.files.map(
    (place) => `${file}: ${place}: a secret in a file cannot go into a ${where}; name a variable instead (…Env)`,
  );
  if (temporal === null)
    problems.push(`no Temporal: set temporal.address or TEMPORAL_ADDRESS to one that ${where}s reach`);
  if (store.kind === 'directory') problems.push(`the store is a folder, which ${where}s do not share: set store.s3`);
  else if (store.profile !== null)
    problems.push(`store.s3.profile: a ${where} has no profiles; leave it out (and AWS_PROFILE)`);
  problems.push(...more(file));
  if (temporal === null || store.kind === 'directory' || problems.length > 0) throw new ConfigError(problems);
  const { address, namespace, connectionOptions } = temporal;
  const connection = connectionSettings(connectionOptions);
  return {
    ...{ settings, file, temporal: { address, namespace }, store },
    secrets: [
      ...new Set([
        ...named.variables,
        ...modelKey(settings, config),
        ...connection.secrets,
        ...TRACE_KEYS.filter((name) => io.env[name]),
      ]),
    ],
    environment: {
      ...shellSettings(io.env, SETTINGS),
      ...connection.environment,
      GATE_STORE: `s3://${store.bucket}/${store.prefix}`,
    },
  };
}

const TRACE_KEYS = ['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'];
const SETTINGS = /^(OPENAI_BASE_URL|GATE_MODEL(_.+)?|OTEL_(?!.*_HEADERS$).+)$/;

export function shellSettings(env: Io['env'], names: RegExp): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value && names.test(name) ? [[name, value]] : [])),
  );
}

/** The variable of the key where the configuration leaves its name open; an endpoint of one's own may have none. */
function modelKey({ models }: ConfigFile, config: Config): readonly string[] {
  if (models?.apiKeyEnv !== undefined || (config.models.baseUrl !== null && config.models.apiKey === null)) return [];
  return ['OPENAI_API_KEY'];
}

/** What a `temporal.toml` profile says, as variables: its file stays here. */
function connectionSettings({ apiKey, tls }: Connection['connectionOptions']) {
  const { clientCertPair, serverNameOverride, serverRootCACertificate } =
    typeof tls === 'object' && tls !== null ? tls : {};
  return {
    environment: {
      ...(tls ? { TEMPORAL_TLS: 'true' } : {}),
      ...(serverNameOverride ? { TEMPORAL_TLS_SERVER_NAME: serverNameOverride } : {}),
    },
    secrets: [
      ...(apiKey ? ['TEMPORAL_API_KEY'] : []),
      ...(clientCertPair ? ['TEMPORAL_TLS_CLIENT_CERT_DATA', 'TEMPORAL_TLS_CLIENT_KEY_DATA'] : []),
      ...(serverRootCACertificate ? ['TEMPORAL_TLS_SERVER_CA_CERT_DATA'] : []),
    ],
  };
}
