/**
 * The package of the function as a zip file: the compiled program with its workflow bundle, the configuration, and what it needs
 * of `node_modules` on that platform. The same contents give the same bytes, so that an unchanged package is no new build.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';
import { z } from 'zod';
import { ConfigError } from '../../config';

export type Architecture = 'x64' | 'arm64';

/** Unzipped; AWS refuses more. */
export const MOST_BYTES = 250 * 1024 * 1024;

export interface PackedFile {
  /** With slashes. */
  readonly path: string;
  readonly content: () => Buffer;
}

/** What the entry of the package puts into the environment, unless it is there already. */
export interface EntrySettings {
  /** Variables without secrets. */
  readonly environment: Readonly<Record<string, string>>;
  /** Variables that are read from the store of secrets which `GATE_SECRETS_FROM` names. */
  readonly secrets: readonly string[];
}

export interface FunctionPackage {
  readonly zip: Buffer;
  readonly files: number;
  readonly unzippedBytes: number;
}

const NODE_MODULES = `${sep}node_modules${sep}`;
/** What bundles workflow code, which is done already; binaries for another C library. */
const NOT_NEEDED = /^@swc\/|-musl$/;
/** Declarations, sources of compiled code, and texts for people; licences stay. */
const NOT_RUN = /\.(map|md|markdown|flow|[cm]?ts|tsx|tsbuildinfo|rs)$/i;
const OWN_FILES = ['package.json', 'dist/workflow-bundle.js', 'dist/workflow-bundle.js.stamp', 'dist/src'];
const CORE = '@temporalio/core-bridge';
const PLATFORM = {
  x64: { core: 'x86_64-unknown-linux-gnu', sqlite: '@libsql/linux-x64-gnu' },
  arm64: { core: 'aarch64-unknown-linux-gnu', sqlite: '@libsql/linux-arm64-gnu' },
} as const;

const Manifest = z.object({
  name: z.string(),
  dependencies: z.record(z.string(), z.string()).default({}),
  optionalDependencies: z.record(z.string(), z.string()).default({}),
  peerDependencies: z.record(z.string(), z.string()).default({}),
  peerDependenciesMeta: z.record(z.string(), z.object({ optional: z.boolean().optional() })).default({}),
  os: z.array(z.string()).optional(),
  cpu: z.array(z.string()).optional(),
  libc: z.array(z.string()).optional(),
});
type Manifest = z.infer<typeof Manifest>;

/** The program and its packages; `root` is the folder of this one. `more`: packages that only some databases need. */
export function programFiles(
  root: string,
  architecture: Architecture,
  settings: EntrySettings,
  more: readonly string[],
): PackedFile[] {
  const base = baseOf(root);
  const packages = new Map<string, Manifest>();
  addPackage(root, { packages, base, architecture, more });
  const { core, sqlite } = PLATFORM[architecture];
  if (![...packages.values()].some(({ name }) => name === sqlite)) {
    const cpu = `--cpu=${architecture} --os=linux --libc=glibc`;
    throw new ConfigError([`${sqlite} is not installed: npm install --no-save --force ${cpu} ${sqlite}`]);
  }
  const all = [...packages].flatMap(([folder, { name }]) => {
    if (folder === root) return OWN_FILES.flatMap((part) => below(join(root, part)));
    const releases = join(folder, 'releases') + sep;
    return below(folder).filter(
      (file) => name !== CORE || !file.startsWith(releases) || file.startsWith(join(releases, core) + sep),
    );
  });
  const kept = all.filter((file) => !NOT_RUN.test(file));
  const entry = `./${slashes(relative(base, join(root, 'dist/src/workers/serverless/lambda.js')))}`;
  return [
    ...kept.map((file) => ({ path: slashes(relative(base, file)), content: readOnce(file) })),
    text('index.js', entryText(settings, entry)),
  ];
}

function entryText({ environment, secrets }: EntrySettings, entry: string): string {
  return `const { env } = process;
for (const [name, value] of Object.entries(${JSON.stringify(environment)})) env[name] ??= value;
for (const name of ${JSON.stringify(secrets)}) env['GATE_SECRET_' + name] ??= env.GATE_SECRETS_FROM + name;
exports.handler = require(${JSON.stringify(entry)}).handler;
`;
}

/** Reads a file once: its digest and the zip file both need it. */
function readOnce(file: string): () => Buffer {
  let content: Buffer | null = null;
  return () => (content ??= readFileSync(file));
}

export function text(path: string, content: string): PackedFile {
  return { path, content: () => Buffer.from(content) };
}

/** A digest of what is in a package: 8 hexadecimal digits. */
export function digestOf(files: readonly PackedFile[]): string {
  const hash = createHash('sha256');
  for (const { path, content } of sorted(files)) hash.update(`${path}\n`).update(content());
  return hash.digest('hex').slice(0, 8);
}

/** Throws `ConfigError` where it is too large. */
export async function zipped(files: readonly PackedFile[], most = MOST_BYTES): Promise<FunctionPackage> {
  const zip = new ZipFile();
  let unzippedBytes = 0;
  for (const { path, content } of sorted(files)) {
    const bytes = content();
    unzippedBytes += bytes.length;
    zip.addBuffer(bytes, path, { mtime: new Date(1980, 0, 1), forceDosTimestamp: true, mode: 0o100644 });
  }
  if (unzippedBytes > most) {
    const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MB`;
    throw new ConfigError([
      `the package has ${megabytes(unzippedBytes)} unzipped, and AWS Lambda takes ${megabytes(most)}: leave SQLite files out, or run a container (docs/deploying.md)`,
    ]);
  }
  zip.end();
  return { zip: await buffer(zip.outputStream), files: files.length, unzippedBytes };
}

function sorted(files: readonly PackedFile[]): PackedFile[] {
  return [...files].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** The folder above the `node_modules` that this package is installed in; its own folder where it is checked out. */
function baseOf(root: string): string {
  const at = root.lastIndexOf(NODE_MODULES);
  return at < 0 ? root : root.slice(0, at);
}

interface Collecting {
  readonly packages: Map<string, Manifest>;
  readonly base: string;
  readonly architecture: Architecture;
  readonly more: readonly string[];
}

function addPackage(folder: string, collecting: Collecting): void {
  const { packages, architecture, more } = collecting;
  const manifest = Manifest.parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')));
  if (packages.has(folder) || !runsOn(manifest, architecture)) return;
  packages.set(folder, manifest);
  const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = manifest;
  const needed = Object.keys(dependencies).filter((name) => !Object.hasOwn(optionalDependencies, name));
  const perhaps = [
    ...Object.keys(optionalDependencies),
    ...Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true),
  ];
  const named = [...(packages.size === 1 ? more : []), ...needed];
  for (const name of [...named, ...perhaps].filter((each) => !NOT_NEEDED.test(each))) {
    const found = installed(name, folder, collecting.base);
    if (found !== null) addPackage(found, collecting);
    else if (named.includes(name))
      throw new ConfigError([`${name} is not installed beside ${manifest.name}: install with npm, then deploy again`]);
  }
}

function runsOn({ os, cpu, libc }: Manifest, architecture: Architecture): boolean {
  const fits = (allowed: readonly string[] | undefined, ours: string): boolean =>
    allowed === undefined || allowed.includes(ours);
  return fits(os, 'linux') && fits(cpu, architecture) && fits(libc, 'glibc');
}

/** As Node looks for it. Null: not there, or behind a link that leads out of `base`. */
function installed(name: string, from: string, base: string): string | null {
  for (let at = from; at.startsWith(base); at = dirname(at)) {
    const folder = join(at, 'node_modules', name);
    if (existsSync(join(folder, 'package.json'))) return realpathSync(folder) === folder ? folder : null;
    if (at === base) break;
  }
  return null;
}

/** A file, or all files of a folder but those of packages in it. */
function below(path: string): string[] {
  if (!existsSync(path)) throw new ConfigError([`${path} is missing: run npm run build`]);
  if (statSync(path).isFile()) return [path];
  const entries = readdirSync(path, { withFileTypes: true });
  return entries.flatMap((entry) => {
    const inner = join(path, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : below(inner);
    return entry.isFile() ? [inner] : [];
  });
}

function slashes(path: string): string {
  return path.split(sep).join('/');
}
