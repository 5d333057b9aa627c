/**
 * `gate ops deploy lambda`: the package of the function as a zip file, beside its CloudFormation template
 * (`infra/lambda/template.yaml`). It holds the compiled program with its workflow bundle, the configuration, and what it needs of
 * `node_modules` on that platform.
 *
 * 1. No secret is in it: it names the variables that hold one, and the function reads them at a cold start
 *    (`workers/serverless/secret-references.ts`).
 * 2. The same contents give the same bytes, so that an unchanged package is no new build.
 */
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';
import { DRIVERS } from '../adapters/engines';
import { ConfigError, loadConfig, type Config, type WrittenConfig } from '../config';
import { dialectOfName } from '../config/database-file';
import { serverOfUrl } from '../config/places';
import { readConfigFile } from '../config/file';
import { configuredTemporal } from '../workers/configured-temporal';
import { packageFolder } from '../workers/package-folder';
import { workerVersion } from '../workers/workflow-bundle';
import { GateError } from './errors';
import type { Surroundings } from './surroundings';

const PLATFORMS = {
  x64: { lambda: 'x86_64', core: 'x86_64-unknown-linux-gnu', sqlite: '@libsql/linux-x64-gnu' },
  arm64: { lambda: 'arm64', core: 'aarch64-unknown-linux-gnu', sqlite: '@libsql/linux-arm64-gnu' },
} as const;
export type Architecture = keyof typeof PLATFORMS;

/** Contents by path, with slashes. */
export type Files = ReadonlyMap<string, Buffer>;

/** Unzipped; AWS refuses more. */
export const MOST_BYTES = 250 * 1024 * 1024;

export async function deployLambda(folder: string, arch: Architecture, at: Surroundings) {
  const config = loadConfig(at);
  const root = packageFolder();
  if (root === null) throw new GateError('the folder of this program has no package.json: install it with npm');
  const settings = settingsOf(config, at);
  const files = new Map([...programFiles(root, arch, extraPackages(config)), ...settings.files]);
  const zip = await zipped(files);
  const target = resolve(at.cwd, folder);
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, 'function.zip'), zip);
  copyFileSync(join(root, 'infra', 'lambda', 'template.yaml'), join(target, 'template.yaml'));
  // A build of its own for each package: a published version of a function never changes.
  const { versioning } = config.temporal;
  const { deploymentName, buildId } = workerVersion(versioning);
  const parameters: Record<string, string> = {
    ...settings.parameters,
    Architecture: PLATFORMS[arch].lambda,
    DeploymentName: deploymentName,
    BuildId: versioning?.buildId ?? `${buildId}-${createHash('sha256').update(zip).digest('hex').slice(0, 8)}`,
  };
  const size = { files: files.size, bytes: zip.length, unzippedBytes: sizeOf(files) };
  return { folder: target, parameters, secrets: settings.secrets, package: size };
}

/** Drivers that are no part of this package. */
function extraPackages({ databases }: Config): readonly string[] {
  return Object.values(databases).flatMap(({ address }) => {
    const server = address.kind === 'url' ? serverOfUrl(address.url.reveal()) : null;
    return server === null ? [] : (DRIVERS[server] ?? []);
  });
}

export async function zipped(files: Files, most = MOST_BYTES): Promise<Buffer> {
  const bytes = sizeOf(files);
  if (bytes > most) {
    const megabytes = (count: number): string => `${(count / 1024 / 1024).toFixed(1)} MB`;
    throw new ConfigError([
      `the package has ${megabytes(bytes)} unzipped, and AWS Lambda takes ${megabytes(most)}: leave SQLite files out, or run a container (docs/deploying.md)`,
    ]);
  }
  const zip = new ZipFile();
  for (const [path, content] of [...files].sort(([a], [b]) => (a < b ? -1 : 1)))
    zip.addBuffer(content, path, { mtime: new Date(1980, 0, 1), forceDosTimestamp: true, mode: 0o100644 });
  zip.end();
  return buffer(zip.outputStream);
}

function sizeOf(files: Files): number {
  return [...files.values()].reduce((sum, { length }) => sum + length, 0);
}

/** Packages for building and tests that others name as optional; binaries for another C library. */
const NOT_NEEDED = /^@swc\/|-musl$|^typescript$/;
/** Declarations, sources of compiled code, and texts for people; licences stay. */
const NOT_RUN = /\.(map|md|markdown|flow|[cm]?ts|tsx|tsbuildinfo|rs)$/i;
const OWN_FILES = ['package.json', 'dist/workflow-bundle.js', 'dist/program'];

/** The program and its packages; `root` is the folder of this one. `more`: packages that only some databases need. */
export function programFiles(root: string, arch: Architecture, more: readonly string[]): Files {
  const { core, sqlite } = PLATFORMS[arch];
  const modules = root.lastIndexOf(`${sep}node_modules${sep}`);
  // The folder above the `node_modules` that this package is installed in; its own folder where it is checked out.
  const base = modules < 0 ? root : root.slice(0, modules);
  const packages = new Map<string, string>();
  addPackage(root, { packages, base, arch, more });
  if (![...packages.values()].includes(sqlite))
    throw new ConfigError([
      `${sqlite} is not installed: npm install --no-save --force --cpu=${arch} --os=linux --libc=glibc ${sqlite}`,
    ]);
  const files = [...packages].flatMap(([folder, name]) => {
    if (folder === root) return OWN_FILES.flatMap((part) => below(join(root, part)));
    if (name !== '@temporalio/core-bridge') return below(folder);
    const releases = join(folder, 'releases') + sep;
    return below(folder).filter((file) => !file.startsWith(releases) || file.startsWith(join(releases, core) + sep));
  });
  const pathOf = (file: string): string => relative(base, file).split(sep).join('/');
  const entry = `./${pathOf(join(root, 'dist/program/lambda.js'))}`;
  return new Map([
    ...files.filter((file) => !NOT_RUN.test(file)).map((file) => [pathOf(file), readFileSync(file)] as const),
    ['index.js', Buffer.from(entryText(entry))],
  ]);
}

/** What it puts into the environment stands in a file of its own, unless it is there already. */
function entryText(entry: string): string {
  return `const { env } = process;
const { environment, secrets } = require('./settings.json');
for (const [name, value] of Object.entries(environment)) env[name] ??= value;
for (const name of secrets) env['GATE_SECRET_' + name] ??= env.GATE_SECRETS_FROM + name;
exports.handler = require(${JSON.stringify(entry)}).handler;
`;
}

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
}

interface Collecting {
  /** Names by folder. */
  readonly packages: Map<string, string>;
  readonly base: string;
  readonly arch: Architecture;
  readonly more: readonly string[];
}

function addPackage(folder: string, collecting: Collecting): void {
  const { packages, base, arch, more } = collecting;
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  const { name, dependencies = {}, optionalDependencies = {}, peerDependencies = {}, os, cpu } = manifest;
  if (packages.has(folder) || os?.includes('linux') === false || cpu?.includes(arch) === false) return;
  packages.set(folder, name);
  // Of this program's own peers, which are drivers, the databases need those of `more`.
  const isProgram = packages.size === 1;
  const needed = [...(isProgram ? more : []), ...Object.keys(dependencies)];
  const optional = [...Object.keys(optionalDependencies), ...(isProgram ? [] : Object.keys(peerDependencies))];
  for (const one of new Set([...needed, ...optional].filter((each) => !NOT_NEEDED.test(each)))) {
    const found = installed(one, folder, base);
    if (found !== null) addPackage(found, collecting);
    else if (needed.includes(one) && !optional.includes(one))
      throw new ConfigError([`${one} is not installed beside ${name}: install with npm, then deploy again`]);
  }
}

/** As Node looks for it. */
function installed(name: string, from: string, base: string): string | null {
  for (let at = from; at.startsWith(base); at = dirname(at)) {
    const folder = join(at, 'node_modules', name);
    if (existsSync(join(folder, 'package.json'))) return folder;
  }
  return null;
}

/** A file, or all files of a folder but those of packages in it. */
function below(path: string): string[] {
  if (!existsSync(path)) throw new ConfigError([`${path} is missing: run npm run build`]);
  if (statSync(path).isFile()) return [path];
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
    const inner = join(path, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : below(inner);
    return entry.isFile() ? [inner] : [];
  });
}

/** Throws `ConfigError` with everything that a function could not work with. */
export function settingsOf(config: Config, { env }: Pick<Surroundings, 'env'>) {
  const { file, store } = config;
  if (file === null)
    throw new ConfigError(['no gate.config.json here: write one that names the databases and the store']);
  const written = readConfigFile(file).json as WrittenConfig;
  const named = secretSettings(written);
  const temporal = configuredTemporal(config, env);
  const sqlite = Object.entries(config.databases).flatMap(([name, { address, id }]) =>
    address.kind === 'path' ? [{ name, id, path: address.path }] : [],
  );
  const problems = named.files.map(
    (place) => `${file}: ${place}: a secret in a file cannot go into a function; name a variable instead (…Env)`,
  );
  for (const { name, path } of sqlite.filter(isForDuckdb))
    problems.push(
      `${file}: databases.${name}: ${path} is not SQLite, and the package has no room for DuckDB: run a container instead (docs/deploying.md)`,
    );
  if (temporal === null)
    problems.push('no Temporal: set temporal.address or TEMPORAL_ADDRESS to one that functions reach');
  if (store.kind === 'directory') problems.push('the store is a folder, which functions do not share: set store.s3');
  else if (store.profile !== null)
    problems.push('store.s3.profile: a function has no profiles; leave it out (and AWS_PROFILE)');
  for (const { name } of sqlite.filter(({ id }) => id === null))
    problems.push(
      `${file}: databases.${name}: its file goes into the package, so that its path changes: give it an id`,
    );
  if (temporal === null || store.kind === 'directory' || problems.length > 0) throw new ConfigError(problems);
  const databases = { ...written.databases };
  for (const { name } of sqlite) databases[name] = { ...databases[name], path: packedPath(name) };
  const connection = connectionSettings(temporal.connectionOptions);
  const shell = Object.entries(env).filter(([name, value]) => value && SHELL_SETTINGS.test(name));
  const environment = {
    ...Object.fromEntries(shell),
    ...connection.environment,
    GATE_STORE: `s3://${store.bucket}/${store.prefix}`,
  };
  const traceKeys = TRACE_KEYS.filter((name) => env[name]);
  const secrets = new Set([...named.variables, ...modelKey(written, config), ...connection.secrets, ...traceKeys]);
  const json = (value: unknown): Buffer => Buffer.from(`${JSON.stringify(value, null, 2)}\n`);
  return {
    secrets: [...secrets],
    /** Parameters of the template that the configuration gives. */
    parameters: {
      TemporalAddress: temporal.address,
      TemporalNamespace: temporal.namespace,
      BucketName: store.bucket,
      BucketPrefix: store.prefix && `${store.prefix}/`,
    },
    files: new Map([
      ...sqlite.map(({ name, path }) => [packedPath(name), readFileSync(path)] as const),
      ['gate.config.json', json({ ...written, databases })],
      ['settings.json', json({ environment, secrets: [...secrets] })],
    ]),
  };
}

/** A file need not be there yet. */
const isForDuckdb = ({ path }: { readonly path: string }): boolean =>
  dialectOfName(path) === 'duckdb' || statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

const TRACE_KEYS = ['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'];
const SHELL_SETTINGS = /^(OPENAI_BASE_URL|GATE_MODEL(_.+)?|OTEL_(?!.*_HEADERS$).+)$/;

function packedPath(name: string): string {
  return `databases/${name}.sqlite`;
}

/** Variables that hold a secret of the configuration, and settings that name a file with one, such as `models.apiKeyFile`. */
function secretSettings({ databases, models, schema, store, encryption, web }: WrittenConfig) {
  const variables: string[] = [];
  const files: string[] = [];
  const look = (value: unknown, place: string): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      const at = `${place}.${key}`;
      if (typeof inner !== 'string') look(inner, at);
      else if (/^env$|Env$/.test(key)) variables.push(inner);
      else if (/^file$|File$/.test(key)) files.push(at);
    }
  };
  for (const [place, part] of Object.entries({ databases, models, schema, store, encryption, web })) look(part, place);
  return { variables, files };
}

/** The variable of the key where the configuration leaves its name open; an endpoint of one's own may have none. */
function modelKey({ models }: WrittenConfig, config: Config): readonly string[] {
  if (models?.apiKeyEnv !== undefined || (config.models.baseUrl !== null && config.models.apiKey === null)) return [];
  return ['OPENAI_API_KEY'];
}

/** A `temporal.toml` profile as variables, because its file stays here. */
function connectionSettings({ apiKey, tls }: NonNullable<ReturnType<typeof configuredTemporal>>['connectionOptions']) {
  const { clientCertPair, serverNameOverride, serverRootCACertificate } = typeof tls === 'object' && tls ? tls : {};
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
