import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { createProgram, withSubcommands } from '../../../src/cli/program';
import { buildSprintDatabase } from '../../../src/app/demo';
import { testProcess } from './test-io';

const here = testProcess();
writeFileSync(join(here.home, 'a.sqlite'), '');
const oneLine = (text: string): string[] => text.trimEnd().split('\n');

describe('gate', () => {
  test('--help shows the commands of a newcomer, names the others in groups, and ends with 0', async () => {
    const { code, out } = await here.gate('--help');
    expect(code).toBe(0);
    for (const name of ['ask', 'learn', 'layer', 'show', 'list', 'batch', 'db', 'dev', 'doctor', 'demo'])
      expect(out).toMatch(new RegExp(`^  ${name} `, 'm'));
    expect(out).toMatch(/^ {2}steering +.*pause.*veto/m);
    expect(out).toMatch(/^ {2}operations +ops \(worker, deploy, temporal, codec-server, gc\)$/m);
    expect(out).not.toMatch(/^ {2}veto/m);
    expect(out).toContain(
      'Exit codes: 0 answered, unanswerable or abstained; 1 failed; 2 wrong usage or configuration; 3 cancelled.',
    );
    expect(out).toContain('at most 1 US dollar');
  });

  test('every command has an example', async () => {
    const path = (command: Command): string[] =>
      command.parent === null ? [] : [...path(command.parent), command.name()];
    for (const command of withSubcommands(createProgram(here.io, { code: 0 }))) {
      if (command.commands.length > 0) continue;
      const { out } = await here.gate(...path(command), '--help');
      expect(out).toMatch(/\nExamples?:\n {2}\$ .*gate/);
    }
  });

  test('no command at all shows the help and ends with 2', async () => {
    const { code, err } = await here.gate();
    expect(code).toBe(2);
    expect(err).toContain('Usage: gate');
  });

  test.each<[string, string[], RegExp]>([
    ['an unknown command', ['aks'], /^gate: unknown command 'aks'; did you mean ask\?$/m],
    [
      'an unknown flag',
      ['ask', 'x', '--methodd', 'fast'],
      /^gate: unknown option '--methodd'; did you mean --method\?$/m,
    ],
    ['a flag like no other', ['ask', 'x', '--zzz'], /^gate: unknown option '--zzz'; see gate ask --help$/m],
    [
      'a missing argument',
      ['batch', 'run'],
      /^gate: missing required argument 'questions'; see gate batch run --help$/m,
    ],
    ['an unknown method', ['ask', 'x', '--method', 'quick'], /there is no method quick: give one of fast, thorough/],
    ['too many queries an action', ['ask', 'x', '--method', 'react:queries=9'], /write queries=2…8/],
    ['an unknown mode of memory', ['ask', 'x', '--memory', 'yes'], /Allowed choices are off, read, on/],
    [
      'memory for the baseline',
      ['ask', 'x', '--db', 'a.sqlite', '--model', 'm', '--memory', 'on', '--method', 'react'],
      /^gate: --memory on: method react has no memory; leave it out$/m,
    ],
    [
      'a setting of another method',
      ['batch', 'run', 'x', '--methods', 'fast:schema-only'],
      /^gate: method fast: schema-only is a setting of react; fast takes none$/m,
    ],
    ['an unknown role', ['ask', 'x', '--model', 'plann=m'], /'plann' is not a role; allowed: look, evaluate, plan/],
    ['a cost that is none', ['ask', 'x', '--max-cost', 'free'], /give a number above 0/],
    ['a number of calls that is none', ['ask', 'x', '--max', 'calls=0'], /give a whole number above 0/],
    ['the web without a provider', ['ask', 'x', '--web'], /^gate: --web: no provider is configured; set web\.provider/],
    ['an empty question', ['ask', '  '], /^gate: the question is empty; write it in quotes/],
    ['no database', ['ask', 'x'], /^gate: which database\? add --db with a name \(none is configured\)/],
    ['a path that does not exist', ['ask', 'x', '--db', './no.sqlite'], /no file .*no\.sqlite; correct the path/],
    [
      'an address of an unknown kind',
      ['db', 'sql', 'SELECT 1', '--db', 'oracle://h/d'],
      /oracle:\/\/ is not supported/,
    ],
    ['a search id that is none', ['show', 'nonsense', '--trace'], /'nonsense' is not a search id/],
    [
      'a query without quotes',
      ['db', 'sql', 'select', '1'],
      /^gate: too many arguments for 'sql'.*; put a text of several words in quotes/,
    ],
    [
      'a question without quotes',
      ['ask', 'how', 'many'],
      /^gate: too many arguments for 'ask'.*; put a text of several words in quotes/,
    ],
    [
      'a database before the query, without --db',
      ['db', 'sql', 'shop', 'SELECT 1'],
      /^gate: too many arguments for 'sql'.*; name the database by --db shop; see gate db sql --help$/m,
    ],
    [
      'a database before the question, without --db',
      ['ask', './shop.sqlite', 'how many orders?'],
      /; name the database by --db \.\/shop\.sqlite; /,
    ],
    ['a query without a database', ['db', 'sql', 'select 1'], /^gate: which database\? add --db/],
    [
      'documents that are missing',
      ['ask', 'x', '--db', 'a.sqlite', '--docs', ''],
      /^gate: --docs : no such file or folder/,
    ],
    ['no name of a model', ['ask', 'x', '--db', 'a.sqlite'], /^gate: no model is named: set GATE_MODEL/],
    ['--record with --replay', ['ask', 'x', '--db', 'y', '--record', 'a', '--replay', 'b'], /cannot be used with/],
  ])('%s ends with 2 and one line', async (_claim, args, line) => {
    const { code, out, err } = await here.gate(...args);
    expect(code).toBe(2);
    expect(out).toBe('');
    expect(err).toMatch(line);
    expect(err).not.toMatch(/\n\s+at /);
    expect(oneLine(err)).toHaveLength(1);
  });

  test('a configuration with mistakes ends with 2, a line for each, and no secret', async () => {
    const process = testProcess();
    const file = join(process.home, 'gate.config.json');
    writeFileSync(file, JSON.stringify({ methd: 'x', databases: { a: { url: 'postgres://u:hunter2@h/d', pth: 1 } } }));
    const { code, err } = await process.gate('list');
    expect(code).toBe(2);
    expect(oneLine(err)).toHaveLength(2);
    expect(err).toContain(`${file}: methd: unknown setting; allowed: databases, models, `);
    expect(err).not.toContain('hunter2');
  });

  test('gate db sql needs no --db where one database is configured', async () => {
    const process = testProcess();
    buildSprintDatabase(join(__dirname, '../../../examples/sprint/sprint.sql'), join(process.home, 'sprint.sqlite'));
    writeFileSync(
      join(process.home, 'gate.config.json'),
      JSON.stringify({ databases: { sprint: { path: './sprint.sqlite' } } }),
    );
    const { code, out } = await process.gate('db', 'sql', 'SELECT count(*) AS n FROM drivers');
    expect({ code, out }).toEqual({ code: 0, out: 'n\n8\n' });
  });

  test('--debug shows the stack', async () => {
    const { err } = await here.gate('show', 'nonsense', '--debug');
    expect(err).toMatch(/UsageError: 'nonsense'.*\n\s+at /);
  });

  test('a document that is no text is refused', async () => {
    const process = testProcess();
    writeFileSync(join(process.home, 'db.sqlite'), '');
    writeFileSync(join(process.home, 'doc.pdf'), 'a\0b');
    mkdirSync(join(process.home, 'folder'));
    const ask = (file: string) => process.gate('ask', 'x', '--db', 'db.sqlite', '--docs', file);
    expect((await ask('doc.pdf')).err).toContain('--docs doc.pdf: not a text file');
    expect((await ask('missing.md')).err).toContain(
      '--docs missing.md: no such file or folder; correct the path, or give --no-docs',
    );
    expect((await ask('folder')).code).toBe(2);
  });
});
