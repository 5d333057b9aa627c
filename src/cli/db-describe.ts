/** `gate db describe`: the schema text as it stands in a prompt, and how large it is. */
import { loadConfig } from '../config';
import { resolveDatabase } from '../config/databases';
import type { DatabaseDescription, TableDescription } from '../domain';
import { counted, visible, wrapped } from '../report/printable';
import type { SqlEngine } from '../ports';
import { profiledText, renderProfiles } from '../schema/profile/render';
import { SCHEMA_CHARS, schemaContext, type SchemaContext } from '../schema/context';
import { sameRelation } from '../sql/validate';
import { takeProfiles } from '../steps/profiles';
import { openEngines } from '../workers/engines';
import { CommandFailed, UsageError } from './errors';
import type { Io } from './io';

export interface DescribeFlags {
  readonly table?: readonly string[];
  readonly question?: string;
  readonly json?: boolean;
}

const WAIT_MS = 60_000;
/** Of English and SQL; models differ. */
const CHARS_PER_TOKEN = 4;

export async function describeDatabase(spec: string, flags: DescribeFlags, io: Io): Promise<void> {
  const config = loadConfig(io);
  const database = resolveDatabase(config, spec, io.cwd);
  const engines = openEngines(config, [database]);
  try {
    const { engine } = await engines.engine(database.name);
    const description = await engine.describe({ signal: AbortSignal.timeout(WAIT_MS) });
    if (description.tables.length === 0)
      throw new CommandFailed(
        `database '${database.name}' shows no tables: check path or URL, the user's rights, and the access lists`,
      );
    const { text, shown } = await described({ engine, description }, flags, config.showsValues);
    const tokens = Math.ceil(text.length / CHARS_PER_TOKEN);
    if (flags.json) {
      const { fingerprint, version, tables } = description;
      io.out(
        `${JSON.stringify({ database: database.name, address: database.addressLabel, identity: database.identity, version, fingerprint, tables: tables.length, shown: shown?.length ?? null, characters: text.length, tokens, text }, null, 2)}\n`,
      );
      return;
    }
    io.out(`${folded(visible(text), io.columns)}\n`);
    const part =
      shown === null
        ? ''
        : `; columns of ${shown.length} of ${counted(description.tables.length, 'table')}, the others by name`;
    io.err(`${visible(database.addressLabel)}  ${database.identity}\n`);
    io.err(`${counted(text.length, 'character')}, about ${counted(tokens, 'token')}${part}\n`);
  } finally {
    await engines.close();
  }
}

/** So many columns of one type, of which nothing more is said, share lines. */
const FOLDED_FROM = 12;
/** A column that has only name and type. */
const PLAIN_COLUMN = /^ {2}("(?:[^"]|"")*"|[^\s":(]+) ((?!.* -- )[^:]+)$/;

/** For people: a table of hundreds of columns is as long as what is known of it. A prompt has each column on its line. */
function folded(text: string, width: number): string {
  const runs: { readonly type: string | undefined; readonly lines: string[]; readonly names: string[] }[] = [];
  for (const line of text.split('\n')) {
    const [, name = '', type] = PLAIN_COLUMN.exec(line) ?? [];
    let run = runs.at(-1);
    if (type === undefined || run?.type !== type) runs.push((run = { type, lines: [], names: [] }));
    run.lines.push(line);
    run.names.push(name);
  }
  return runs
    .flatMap(({ type = '', lines, names }) =>
      names.length < FOLDED_FROM
        ? lines
        : wrapped(`${type} (${counted(names.length, 'column')}): ${names.join(', ')}`, width - 4, Infinity).map(
            (line, at) => `${at === 0 ? '  ' : '    '}${line}`,
          ),
    )
    .join('\n');
}

async function described(
  { engine, description }: { readonly engine: SqlEngine; readonly description: DatabaseDescription },
  { table, question }: DescribeFlags,
  values: boolean,
): Promise<Pick<SchemaContext, 'text' | 'shown'>> {
  const profiled = (names: readonly string[]) =>
    takeProfiles(engine, description, names, { tag: 'gate db describe', values });
  const { dialect, tables } = description;
  if (table !== undefined) {
    const found = chosen(description, table);
    const { profiles } = await profiled(found.map(({ name }) => name));
    return { text: renderProfiles(found, profiles, { dialect, maxChars: Infinity }), shown: null };
  }
  const context = schemaContext(description, { maxChars: SCHEMA_CHARS, question });
  const { profiles } = await profiled(context.shown ?? tables.map(({ name }) => name));
  return { ...context, text: profiledText(description, context, profiles) };
}

function chosen({ tables }: DatabaseDescription, names: readonly string[]): TableDescription[] {
  return names.map((name) => {
    const table = tables.find((each) => each.name === name) ?? tables.find((each) => sameRelation(each.name, name));
    if (table !== undefined) return table;
    const near = tables.filter((each) => each.name.toLowerCase().includes(name.toLowerCase())).slice(0, 5);
    const hint =
      near.length === 0 ? 'gate db describe shows all names' : `there is ${near.map((each) => each.name).join(', ')}`;
    throw new UsageError(`--table ${name}: no such table may be read; ${hint}`);
  });
}
