/**
 * A semantic layer of many entries: which of 10,000 a question needs, what a process reads first, and 1,000 checks run again on
 * an SQLite database of 12,000 rows.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { createLocalStore } from '../src/adapters/local/store';
import { createSqliteEngine } from '../src/adapters/sqlite';
import type { LayerEntry, LayerEvent } from '../src/domain';
import { relevantEntries } from '../src/layer/relevance';
import { layerOf } from '../src/layer/state';
import { appendToLayer, readLayer } from '../src/record/layer-store';
import { entryText } from '../src/roles/layer/entries';
import { verifyEntries } from '../src/roles/layer/verify';
import { bench, median, part, SHORT, type Figure } from './figure';

const ENTRIES = 10_000;
const CHECKED = 1_000;
const ROWS = 12_000;
const AT = '2026-01-01T00:00:00.000Z';
const WORDS =
  `order total cents device channel paid trip depot clock minutes invoice discount shift visit cat dog weight scale
  lab glucose code status period zone rate`.split(/\s+/);
const QUESTION = 'How many cats were seen in night shifts of zone 3, and what did they weigh on the scale of the lab?';

/** The rows of a group, told apart by their remainder. */
function entry(number: number): LayerEntry {
  const words = Array.from({ length: 30 }, (_, at) => `${WORDS[(number * 7 + at * 13) % WORDS.length]}${number % 97}`);
  const [group, of] = [number % 40, `t${number % 8}`];
  return {
    ...{ entryId: `e${number.toString(16).padStart(16, '0')}`, statement: words.join(' ') },
    ...{ rows: `rows of ${of}`, scope: null, matching: 37, examined: 37 },
    check: `SELECT count(*) AS examined, sum(a % 40 = ${group}) AS matching, sum(b = ${number}) AS rival FROM ${of} WHERE a % 40 = ${group}`,
    rivals: [{ reading: `b is ${number}`, matching: 1, examined: 37, refuted: true }],
    ...{ tables: [of], columns: [`${of}.a`], operator: null, restsOn: [] },
    from: { searchId: `s-${number}`, question: `What is the ${WORDS[number % WORDS.length]} of each depot?` },
    ...{ provedAt: AT, schemaFingerprint: 'f' },
  };
}

const proved = (number: number): LayerEvent => ({ kind: 'proved', at: AT, entry: entry(number) });

function relevance(): Figure[] {
  const { entries } = layerOf(Array.from({ length: ENTRIES }, (_, number) => proved(number)));
  const tables = Array.from({ length: 8 }, (_, at) => ({ name: `t${at}`, score: at }));
  const ask = (turn: number): number => {
    const startedAt = performance.now();
    relevantEntries(
      entries,
      { question: `${QUESTION} ${turn}`, tables },
      { chars: ({ entry: of }) => entryText(of).length },
    );
    return performance.now() - startedAt;
  };
  const first = ask(0);
  const how = `${ENTRIES} entries, in this process`;
  return [
    {
      name: 'relevant entries',
      value: median(Array.from({ length: 21 }, (_, turn) => ask(turn))),
      unit: 'ms',
      atMost: 50,
      how,
    },
    { name: 'relevant entries, first question', value: first, unit: 'ms', how },
  ];
}

async function firstRead(folder: string): Promise<Figure[]> {
  const place = () => ({ store: createLocalStore(join(folder, 'store')), database: '@bench' });
  const writer = place();
  for (let at = 0; at < ENTRIES; at += 100)
    await Promise.all(
      Array.from({ length: 100 }, (_, number) => appendToLayer(writer, [proved(at + number)], `s-${at + number}`)),
    );
  const read = async (): Promise<number> => {
    const startedAt = performance.now();
    await readLayer(place());
    return (performance.now() - startedAt) / 1000;
  };
  const how = `${ENTRIES} entries of as many searches, local folder`;
  return [{ name: 'first read of a layer', value: await read(), unit: 's', how }];
}

async function verify(folder: string): Promise<Figure[]> {
  const path = join(folder, 'rows.sqlite');
  const database = new Database(path);
  for (let at = 0; at < 8; at += 1)
    database.exec(`CREATE TABLE t${at} AS WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < ${ROWS / 8})
      SELECT i AS a, i * 7 % 1000 AS b FROM r`);
  database.close();
  const engine = createSqliteEngine({ path });
  try {
    const signal = AbortSignal.timeout(120_000);
    const description = await engine.describe({ signal });
    const { entries } = layerOf(Array.from({ length: CHECKED }, (_, number) => proved(number)));
    const taken: number[] = [];
    for (let turn = 0; turn < (SHORT ? 1 : 5); turn += 1) {
      const startedAt = performance.now();
      const { entries: told } = await verifyEntries(entries, {
        engine,
        description,
        signal,
        timeoutMs: 25_000,
        at: AT,
      });
      if (told.length !== CHECKED) throw new Error(`only ${told.length} of ${CHECKED} checks ran`);
      taken.push((performance.now() - startedAt) / 1000);
    }
    const how = `${CHECKED} checks on SQLite, ${ROWS} rows in 8 tables`;
    return [{ name: 'gate layer verify', value: median(taken), unit: 's', atMost: 10, how }];
  } finally {
    await engine.close();
  }
}

async function measured(): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gate-bench-layer-'));
  try {
    await part('relevant entries', () => Promise.resolve(relevance()));
    await part('first read', () => firstRead(folder));
    await part('verify', () => verify(folder));
    return [];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

bench(measured);
