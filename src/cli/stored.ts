/** The commands that show past and running searches: `gate list`, `status`, `result`, `trace`, `report` and `diff`. */
import { Command, Option } from 'commander';
import { cut, counted, dollars, visible, wrapped } from '../report/printable';
import { statedText } from '../text/answer-text';
import { positiveInteger, withExamples, type CommandFactory, csvOption } from './options';
import type { ViewFlags } from './search-status';
import { GateError } from '../app/errors';

/** Width of the table when it is not printed on a terminal. */
const PIPED_WIDTH = 200;
/** Narrower terminals have no room for columns of texts. */
const TABLE_WIDTH = 120;

export const listCommand: CommandFactory = (io) =>
  withExamples(
    new Command('list')
      .description('list past and running questions, newest first')
      .option('--limit <n>', 'at most this many', positiveInteger, 30)
      .option('--json', 'print JSON')
      .action(async (flags: { limit: number; json?: boolean }) => {
        const { openServices, listSearches, recordOf } = await import('../app/services');
        const { liveSearches, sayStoreOnly, statusWithoutRecord } = await import('../app/temporal-session');
        const { textTable } = await import('./table');
        const { waitingSearches } = await import('../app/run/batch-queues');
        const services = openServices(io);
        const { config, store } = services;
        const entries = (await listSearches(store)).slice(0, flags.limit);
        const live = await liveSearches(config, io.env, sayStoreOnly(io), (session) =>
          waitingSearches({ services, now: () => io.now() }, session),
        );
        const otherwise = (id: string): string =>
          live?.waiting.has(id) === true ? 'waiting' : statusWithoutRecord(config, io.env, live !== null);
        const rows = await Promise.all(
          entries.map(async (entry) => {
            const record = await recordOf(store, entry.id);
            const status = live?.running.get(entry.id) ?? record?.status ?? otherwise(entry.id);
            return {
              ...entry,
              status,
              answer: record === null ? null : (statedText(record) ?? record.reason),
              costUsd: record?.usage.costUsd ?? null,
            };
          }),
        );
        if (flags.json) {
          io.out(`${JSON.stringify(rows, null, 2)}\n`);
          return;
        }
        if (rows.length === 0) {
          io.err('no question was asked yet; begin with: gate ask "…" --db …\n');
          return;
        }
        const width = io.outIsTerminal ? io.columns : PIPED_WIDTH;
        const cells = rows.map(({ id, status, startedAt, database, question, answer }) => [
          id,
          status,
          startedAt.slice(0, 16).replace('T', ' '),
          cut(database, 20),
          ...(width < TABLE_WIDTH ? [] : [cut(question, 60), cut(answer ?? '', 60)]),
        ]);
        const heads = ['id', 'status', 'asked (UTC)', 'database', 'question', 'answer'];
        const table = textTable(heads.slice(0, cells[0]?.length), cells, { width, whole: 3 });
        // In a narrow terminal, question and answer stand on lines of their own.
        const below = ({ question, answer }: (typeof rows)[number]): string[] =>
          [...wrapped(question, width - 2, 2), ...(answer === null ? [] : [cut(answer, width - 2)])].map(
            (line) => `  ${line}`,
          );
        const [head = '', rule = '', ...lines] = table.split('\n');
        const narrow = lines.flatMap((line, at) => [line, ...rows.slice(at, at + 1).flatMap(below)]);
        io.out(`${[head, rule, ...(width < TABLE_WIDTH ? narrow : lines)].join('\n')}\n`);
      }),
    'gate list --limit 5',
  );

export const statusCommand: CommandFactory = (io) =>
  withExamples(
    new Command('status')
      .description('show where a question stands')
      .argument('[id]', 'search id, its beginning, or last', 'last')
      .option('--plan', 'show its newest plan')
      .option('--memory', 'show what is proved, with the ids that gate veto and gate pin take')
      .option('--candidates', 'show the candidates for the answer')
      .option('--json', 'print JSON')
      .action(async (wanted: string, flags: { json?: boolean } & ViewFlags) => {
        const { openServices, findSearch } = await import('../app/services');
        if (flags.plan || flags.memory || flags.candidates) {
          const { searchViews } = await import('./search-status');
          const services = openServices(io);
          io.out(await searchViews(services, io, await findSearch(services.store, wanted), flags));
          return;
        }
        const { searchStatus } = await import('./search-status');
        const services = openServices(io);
        const status = await searchStatus(services, io, await findSearch(services.store, wanted));
        if (flags.json) {
          io.out(`${JSON.stringify(status, null, 2)}\n`);
          return;
        }
        const { usage } = status;
        const lines = [
          `${status.id}  ${status.status}  ${status.question ?? ''}`,
          ...(status.reason === null ? [] : [visible(status.reason)]),
          ...(status.doing === null ? [] : [status.doing]),
          ...(status.learned === null ? [] : [`learned: ${status.learned}`]),
          ...(usage === null
            ? []
            : [
                `${counted(usage.llmCalls, 'model call')}, ${dollars(usage.costUsd)}, ${counted(usage.sqlExecutions, 'SQL statement')}`,
              ]),
          ...status.retrying,
          ...(status.ui === null ? [] : [`UI ${status.ui}`]),
          ...(status.traceId === null ? [] : [`trace ${status.traceId}`]),
          ...(status.next === null ? [] : [status.next]),
        ];
        io.out(`${lines.join('\n')}\n`);
      }),
    'gate status last',
    'gate status last --memory',
  );

export const resultCommand: CommandFactory = (io, outcome) =>
  withExamples(
    new Command('result')
      .description('print the answer of a question with its evidence')
      .argument('[id]', 'search id, its beginning, or last', 'last')
      .option('--wait', 'wait until it is answered')
      .option('--json', 'print the final record as JSON')
      .addOption(csvOption().conflicts(['json', 'sql']))
      .addOption(new Option('--sql', 'print only the SQL').conflicts('json'))
      .action(async (wanted: string, flags: { wait?: boolean; json?: boolean; csv?: boolean; sql?: boolean }) => {
        const { openServices, findSearch, inputOf, recordOf } = await import('../app/services');
        const { howToGoOn } = await import('./search-status');
        const { openRunning, sayStoreOnly, statusWithoutRecord } = await import('../app/temporal-session');
        const { followSearch } = await import('./follow');
        const { printAnswer } = await import('./print-answer');
        const services = openServices(io);
        const searchId = await findSearch(services.store, wanted);
        const session = await openRunning(services.config, io.env, sayStoreOnly(io));
        try {
          const live = session === null ? null : await session.describe(searchId);
          if (session !== null && live?.status === 'RUNNING') {
            if (!flags.wait)
              throw new GateError(`${searchId} still runs; add --wait, or look with gate status ${searchId}`);
            await followSearch(session, searchId, io, { cancelOnInterrupt: false });
          }
          const record = await recordOf(services.store, searchId);
          if (record === null) {
            const why =
              statusWithoutRecord(services.config, io.env, session !== null) === 'unknown'
                ? 'it may still run'
                : `it was interrupted; ${howToGoOn(await inputOf(services.store, searchId))}`;
            throw new GateError(`${searchId} has no result in the store: ${why}`);
          }
          outcome.code = await printAnswer(services, record, io, {
            json: flags.json ?? false,
            csv: flags.csv,
            sql: flags.sql,
            ui: session?.uiOf(searchId) ?? null,
          });
        } finally {
          await session?.close();
        }
      }),
    'gate result last --json',
    'gate result last --csv > rows.csv',
    'gate result last --sql',
    'gate result q-3f9a --wait',
  );

export const traceCommand: CommandFactory = (io) =>
  withExamples(
    new Command('trace')
      .description('print how a question was searched: trajectories, probes, verdicts, candidates')
      .argument('[id]', 'search id, its beginning, or last', 'last')
      .option('--json', 'print everything the store holds about the search')
      .action(async (wanted: string, flags: { json?: boolean }) => {
        const { openServices, findSearch, sha256 } = await import('../app/services');
        const { loadTrace, renderTraceText } = await import('../report');
        const { store } = openServices(io);
        const searchId = await findSearch(store, wanted);
        const trace = await loadTrace(store, searchId, sha256);
        if (trace === null) throw new GateError(`no search ${searchId} in the store; gate list shows the known ones`);
        io.out(`${flags.json ? JSON.stringify(trace, null, 2) : renderTraceText(trace)}\n`);
      }),
    'gate trace last',
    'gate trace q-3f9a --json',
  );

export const reportCommand: CommandFactory = (io) =>
  withExamples(
    new Command('report')
      .description('write the report of a question: one HTML file that works offline')
      .argument('[id]', 'search id, its beginning, or last', 'last')
      .option('--out <file>', 'where to write it (default: the folder "reports" beside the store)')
      .option('--json', 'print the path as JSON')
      .action(async (wanted: string, flags: { out?: string; json?: boolean }) => {
        const { openServices, findSearch } = await import('../app/services');
        const { writeReport } = await import('./print-answer');
        const services = openServices(io);
        const searchId = await findSearch(services.store, wanted);
        const path = await writeReport(
          services,
          searchId,
          flags.out === undefined ? {} : { out: flags.out, cwd: io.cwd },
        );
        if (path === null) throw new GateError(`no search ${searchId} in the store; gate list shows the known ones`);
        io.out(flags.json ? `${JSON.stringify({ id: searchId, report: path })}\n` : `${path}\n`);
      }),
    'gate report last',
    'gate report q-3f9a --out answer.html',
  );

export const diffCommand: CommandFactory = (io) =>
  withExamples(
    new Command('diff')
      .description('compare two searches: settings, the first iteration that differs, answers')
      .argument('<a>', 'search id, its beginning, or last')
      .argument('<b>', 'another search, such as a fork of the first')
      .option('--json', 'print the whole difference as JSON')
      .action(async (wantedA: string, wantedB: string, flags: { json?: boolean }) => {
        const { openServices, findSearch } = await import('../app/services');
        const { loadSide, renderDiffText, searchDiff } = await import('../report');
        const { sha256 } = await import('../sha256');
        const { store } = openServices(io);
        const [a, b] = await Promise.all(
          [wantedA, wantedB].map(async (wanted) => {
            const id = await findSearch(store, wanted);
            const side = await loadSide(store, id, sha256);
            if (side === null) throw new GateError(`no search ${id} in the store; gate list shows the known ones`);
            return side;
          }),
        );
        if (a === undefined || b === undefined) return;
        const diff = searchDiff(a, b);
        io.out(`${flags.json ? JSON.stringify(diff, null, 2) : renderDiffText(diff)}\n`);
      }),
    'gate diff q-3f9a last',
  );
