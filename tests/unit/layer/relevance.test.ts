/** Which entries of a layer a question is shown. */
import { relevantEntries } from '../../../src/layer/relevance';
import { layerOf, type HeldEntry } from '../../../src/layer/state';
import type { LayerEntry, LayerEvent } from '../../../src/domain';

interface Told extends Partial<Omit<LayerEntry, 'from' | 'rivals'>> {
  readonly asked?: string;
  readonly rival?: string;
}

/** Statements by name; the name is the entry's value that its check names, so that no two count the same. */
function layer(told: Readonly<Record<string, Told>>): readonly HeldEntry[] {
  const events = Object.entries(told).map(([name, { asked = null, rival = 'otherwise', ...more }], at): LayerEvent => {
    const entry: LayerEntry = {
      ...{ entryId: `e${String(at).padStart(16, '0')}`, statement: name, rows: 'rows', scope: null },
      ...{ check: `SELECT 50, 50, 1 WHERE '${name}' > ''`, matching: 50, examined: 50 },
      rivals: [{ reading: rival, matching: 1, examined: 50, refuted: true }],
      ...{ tables: [`t${at}`], columns: [], operator: null, restsOn: [], from: { searchId: 's', question: asked } },
      ...{ provedAt: '2026-01-01T00:00:00.000Z', schemaFingerprint: 'f' },
      ...more,
    };
    return { kind: 'proved', at: entry.provedAt, entry };
  });
  return layerOf(events).entries;
}

const LENGTH = 300;
const chosen = (entries: readonly HeldEntry[], question: string, tables: readonly string[] = []): string[] =>
  relevantEntries(
    entries,
    { question, tables: tables.map((name, at) => ({ name, score: 10 - at })) },
    { chars: () => LENGTH },
  ).map(({ statement }) => statement);

const OTHERS: Readonly<Record<string, Told>> = Object.fromEntries(
  ['kettle is of steel', 'lamp burns oil', 'rope has knots', 'sail is torn', 'anchor is heavy'].map((statement) => [
    statement,
    {},
  ]),
);

test('the words of the statement count most, then those of the earlier question, then those of a rival', () => {
  const entries = layer({
    ...OTHERS,
    'a rule of rivals': { rival: 'glucose is in another unit' },
    'a rule that was asked for': { asked: 'Which glucose is in which unit?' },
    'glucose stands in a unit': {},
  });
  expect(chosen(entries, 'the unit of glucose')).toEqual([
    'glucose stands in a unit',
    'a rule that was asked for',
    'a rule of rivals',
  ]);
});

test('words of asking and numbers alone bring nothing, a word that is only like it does', () => {
  const entries = layer({ ...OTHERS, 'the total of 2023 is zero': {}, 'weighings are in kg': {} });
  expect(chosen(entries, 'How many were there in total in 2023, by month?')).toEqual([]);
  expect(chosen(entries, 'What were the dogs weighed at in 2023?')).toEqual(['weighings are in kg']);
});

test('a table that few entries read brings its entries, one that all read brings none', () => {
  const few = layer({ ...OTHERS, ...layerOfTable(1, 'visit') });
  expect(chosen(few, 'nothing in common', ['visit'])).toEqual(['visit 0']);
  const all = layer(layerOfTable(12, 'visit'));
  expect(chosen(all, 'nothing in common', ['visit'])).toEqual([]);
});

test('what scores far less than the best is left out, and nothing exceeds the budget', () => {
  const entries = layer({ ...OTHERS, 'glucose of blood samples in units of a device': {}, 'device a is old': {} });
  const question = 'glucose of blood samples, in which units, by device';
  expect(chosen(entries, question)).toEqual(['glucose of blood samples in units of a device']);
  const many = layer(Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`trip ${at} from depot by truck`, {}])));
  expect(chosen(many, 'which trip of a truck from a depot')).toHaveLength(10);
});

test('an entry that alone says a word of the question is shown, however little that is beside the best', () => {
  const statement = 'glucose of blood samples in units of a device, by laboratory and hour';
  const cats = ['cats have breed F', 'cats are heavy', 'cats sleep'];
  const entries = layer({ ...OTHERS, [statement]: {}, ...Object.fromEntries(cats.map((each) => [each, {}])) });
  const question = 'glucose of blood samples in which units, by device, laboratory and hour';
  expect(chosen(entries, question)).toEqual([statement]);
  expect(chosen(entries, `${question}, of cats`)).toEqual([statement, 'cats have breed F']);
});

test('of entries that count the same only one is shown', () => {
  const same = { tables: ['lab'], columns: ['lab.v'] };
  const check = (order: string): string => `SELECT ${order} FROM lab WHERE an = 'GLU'`;
  const entries = layer({
    'glucose is in mg': { ...same, check: check('count(*), 5') },
    'glucose in mg, said again': { ...same, check: check('5, count(*)') },
    'glucose of another kind': { ...same, check: `SELECT count(*) FROM lab WHERE an = 'GLX'` },
  });
  expect(chosen(entries, 'the glucose')).toEqual(['glucose is in mg', 'glucose of another kind']);
});

test('what is not usable is as if it did not exist', () => {
  const entries = layer({ ...OTHERS, 'glucose is in mg': {} });
  const [hidden] = entries.filter(({ statement }) => statement.startsWith('glucose'));
  const asked = { question: 'the glucose', tables: [] };
  expect(relevantEntries(entries, asked, { chars: () => 1, isUsable: (entry) => entry !== hidden })).toEqual([]);
  expect(relevantEntries([], asked, { chars: () => 1 })).toEqual([]);
});

function layerOfTable(count: number, table: string): Readonly<Record<string, Told>> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`${table} ${at}`, { tables: [table] }]));
}
