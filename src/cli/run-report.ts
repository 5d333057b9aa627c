/** The report of a run: all that is needed to make it again, as JSON, tables, a page and lines of answers. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AnswerRecord } from '../domain';
import type { ComparedAnswer } from '../questions';
import { parsedJson } from '../json';
import type { Run, RunSet } from '../report/run';
import { runMarkdown, runPage } from '../report/run-page';
import { mainTable, setTables } from '../report/run-tables';
import { sha256 } from '../sha256';
import { packageVersion } from '../workers/package-folder';
import { replaceFile } from './batch-results';
import { withoutSecrets } from '../app/errors';
import { modelsOf } from './compare-arms';
import type { Io } from './io';
import type { RanArm } from './run-arms';
import { promptHashes, temporalSdk } from './run-provenance';
import type { ReadyRun } from './run-set-report';
import type { RunFlags } from './run-sets';
import { csv, textTable } from './table';

const RUN = 'run.json';

export function runOf(ready: ReadyRun, sets: readonly RunSet[], ran: readonly RanArm[], temporal: string | null): Run {
  const { read, arms, command, endpoint, folder, io } = ready;
  const records = ran.flatMap(({ records: own }) => [...own.values()]);
  const now = new Date(io.now()).toISOString();
  const text = read.text.split('\n').map(withoutSecrets).join('\n');
  const times = (of: (record: AnswerRecord) => string): string[] => records.map(of).sort();
  return {
    ...{ schemaVersion: 1, name: read.config.name, command, endpoint },
    startedAt: times(({ startedAt }) => startedAt)[0] ?? now,
    endedAt: times(({ endedAt }) => endedAt).at(-1) ?? now,
    complete: sets.every(({ comparison }) => comparison.methods.every(({ missing }) => missing === 0)),
    config: { text, sha256: sha256(text) },
    versions: {
      ...{ gate: packageVersion() ?? 'unknown', node: process.versions.node, temporalSdk: temporalSdk() },
      temporalServer: temporal ?? serverBefore(folder),
    },
    models: modelsOf(arms),
    prompts: promptHashes(),
    sets: [...sets],
  };
}

/** Of an earlier report of the same run: this time every answer was stored. */
function serverBefore(folder: string): string | null {
  const path = join(folder, RUN);
  if (!existsSync(path)) return null;
  const before = parsedJson(readFileSync(path, 'utf8')) as { readonly versions?: Partial<Run['versions']> } | null;
  return before?.versions?.temporalServer ?? null;
}

export function written(run: Run, folder: string, flags: RunFlags, io: Io): void {
  const json = `${JSON.stringify(run, null, 2)}\n`;
  const head = ['set', ...ANSWER_HEAD, 'difficulty', 'updates', 'updates_reused', 'reuses'];
  const rows = run.sets.flatMap(({ name, comparison }) =>
    comparison.answers.map((one) => [
      ...[name, ...answerCells(one), one.difficulty ?? null],
      ...[one.reuse?.updates ?? null, one.reuse?.reused ?? null, one.reuse?.reuses ?? null],
    ]),
  );
  const files = {
    ...{ [RUN]: json, 'report.csv': csv(head, rows) },
    ...{ 'report.md': runMarkdown(run), 'report.html': runPage(run) },
  };
  for (const [name, text] of Object.entries(files)) replaceFile(join(folder, name), text);
  io.out(flags.json ? json : shown(run, io.columns));
  io.err(`${join(folder, RUN)}, report.md, report.html, report.csv\n`);
}

function shown(run: Run, width: number): string {
  const sets = run.sets.flatMap((set) => [
    ...['', set.note === null ? set.name : `${set.name}: ${set.note}`],
    ...setTables(set).map((table) => ({ ...table, title: `${set.name}: ${table.title}` })),
  ]);
  return [mainTable(run), ...sets]
    .map((one) =>
      typeof one === 'string'
        ? one
        : `${one.title}\n${textTable(one.heads, one.rows, { width, whole: one.heads.length })}\n`,
    )
    .map((text) => `${text}\n`)
    .join('');
}

/** Long form: one line an answer, from which every figure of the table can be made again. */
const ANSWER_HEAD = [
  ...['method', 'seed', 'id', 'database', 'search_id', 'status', 'verdict', 'calls', 'prompt_tokens'],
  ...['cached_tokens', 'completion_tokens', 'cost_usd', 'wall_ms', 'proved', 'reason', 'judged', 'sql'],
];

function answerCells(one: ComparedAnswer): (string | number | null)[] {
  return [
    ...[one.method, one.seed, one.id, one.database, one.searchId, one.status, one.verdict, one.calls],
    ...[one.promptTokens, one.cachedTokens, one.completionTokens, one.costUsd, one.wallMs, one.proved],
    ...[one.reason, one.judged?.verdict ?? null, one.sql],
  ];
}
