/**
 * `gate db add`: one entry more in the configuration file. Everything else in it stays, the file is checked as it will be
 * read before it is written, and it is replaced as a whole. A URL with a password is never written.
 */
import { existsSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative, resolve, dirname, isAbsolute } from 'node:path';
import { ConfigError, configFile, ConfigFile } from '../config';
import { linesOf, readConfigFile } from '../config/file';
import { holdsPassword } from '../config/secrets';
import { UsageError } from './errors';
import type { Io } from './io';

export interface AddFlags {
  readonly path?: string;
  readonly url?: string;
  readonly urlEnv?: string;
  readonly urlFile?: string;
  readonly id?: string;
  readonly role?: string;
  readonly schemas?: readonly string[];
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly docs?: readonly string[];
  readonly maxPlanCost?: number;
  readonly maxScanBytes?: number;
  readonly replace?: boolean;
}

type Json = Record<string, unknown>;

export function addDatabase(name: string, flags: AddFlags, io: Io): Promise<void> {
  if (!/^[A-Za-z0-9_-]{1,60}$/.test(name))
    throw new UsageError(`'${name}' cannot be the name of a database: use letters, digits, - and _, at most 60`);
  const file = configFile(io) ?? join(io.cwd, 'gate.config.json');
  const entry = entryOf(flags, io, dirname(file));
  const { json, indent, text } = readConfig(file);
  const databases = isObject(json['databases']) ? json['databases'] : {};
  const before = Object.hasOwn(databases, name);
  if (before && flags.replace !== true)
    throw new UsageError(`database '${name}' is configured already in ${file}: choose another name, or give --replace`);
  const changed = { ...json, databases: { ...databases, [name]: entry } };
  const parsed = ConfigFile.safeParse(changed);
  if (!parsed.success) throw new ConfigError(linesOf(ConfigFile, parsed.error, file), { cause: parsed.error });
  writeWhole(file, `${JSON.stringify(changed, null, indent)}\n`, text);
  io.out(`${before ? 'replaced' : 'added'} ${name} in ${file}\n`);
  if (flags.urlEnv !== undefined && !io.env[flags.urlEnv])
    io.err(`${flags.urlEnv} is not set yet: put the URL there\n`);
  io.err(`next: gate db check ${name}\n`);
  return Promise.resolve();
}

function entryOf(flags: AddFlags, io: Pick<Io, 'cwd'>, base: string): Json {
  const { path, url, urlEnv, urlFile, id, role, maxPlanCost, maxScanBytes } = flags;
  const given = [path, url, urlEnv, urlFile].filter((value) => value !== undefined);
  if (given.length !== 1)
    throw new UsageError(
      `where is the database? give exactly one of --path, --url, --url-env and --url-file${given.length === 0 ? '' : ` (given: ${given.length})`}`,
    );
  if (url !== undefined) checkUrl(url);
  if (urlEnv !== undefined && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(urlEnv))
    throw new UsageError('--url-env: give the name of a variable, not the URL itself');
  if (urlFile !== undefined && /^[a-z][a-z0-9+.-]*:\/\//i.test(urlFile))
    throw new UsageError('--url-file: give the path of a file that holds the URL, not the URL itself');
  if (path !== undefined && !existsSync(resolve(io.cwd, path)))
    throw new UsageError(`--path ${path}: no such file; give an SQLite file`);
  const access = {
    ...(flags.allow === undefined ? {} : { allow: split(flags.allow) }),
    ...(flags.deny === undefined ? {} : { deny: split(flags.deny) }),
  };
  return {
    ...(path === undefined ? {} : { path: fromConfig(path, io.cwd, base) }),
    ...(url === undefined ? {} : { url }),
    ...(urlEnv === undefined ? {} : { urlEnv }),
    ...(urlFile === undefined ? {} : { urlFile: fromConfig(urlFile, io.cwd, base) }),
    ...(id === undefined ? {} : { id }),
    ...(role === undefined ? {} : { role }),
    ...(flags.schemas === undefined ? {} : { schemas: split(flags.schemas) }),
    ...(maxPlanCost === undefined ? {} : { maxPlanCost }),
    ...(maxScanBytes === undefined ? {} : { maxScanBytes }),
    ...(Object.keys(access).length === 0 ? {} : { access }),
    ...(flags.docs === undefined ? {} : { docs: flags.docs.map((doc) => fromConfig(doc, io.cwd, base)) }),
  };
}

function checkUrl(url: string): void {
  if (!URL.canParse(url)) throw new UsageError('--url cannot be read; write postgresql://user@host:5432/database');
  if (!holdsPassword(url)) return;
  throw new UsageError(
    '--url holds a password, which would be written into the file: put the URL into a variable and give --url-env NAME, or into a file and give --url-file FILE',
  );
}

const split = (texts: readonly string[]): string[] =>
  texts.flatMap((text) => text.split(',').map((part) => part.trim())).filter((part) => part !== '');

/** Paths in the file begin at the file. */
function fromConfig(path: string, cwd: string, base: string): string {
  const full = resolve(cwd, path);
  if (isAbsolute(path)) return full;
  const short = relative(base, full);
  return short.startsWith('..') ? short : `./${short}`;
}

function readConfig(file: string): { readonly json: Json; readonly indent: string; readonly text: string | null } {
  if (!existsSync(file)) return { json: {}, indent: '  ', text: null };
  const { json, text } = readConfigFile(file);
  if (!isObject(json)) throw new ConfigError([`${file}: not an object: begin it with {`]);
  return { json, indent: /^([ \t]+)"/m.exec(text)?.[1] ?? '  ', text };
}

/** Through a link to the file it stands for; refused when somebody else has written in between. */
function writeWhole(file: string, text: string, before: string | null): void {
  const place = existsSync(file) ? realpathSync(file) : file;
  const mode = existsSync(place) ? statSync(place).mode & 0o777 : 0o644;
  const temporary = `${place}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, text, { mode, flag: 'wx' });
    if ((existsSync(place) ? readFileSync(place, 'utf8') : null) !== before)
      throw new UsageError(`${file} was changed meanwhile: try again`);
    renameSync(temporary, place);
  } finally {
    rmSync(temporary, { force: true });
  }
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
