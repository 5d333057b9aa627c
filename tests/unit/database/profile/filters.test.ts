/** Filters that a stored total takes for granted: found where all totals are met, and never by luck. */
import { profiled, said, times, type Given } from './tables';

/** Numbers that look random, the same on every run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

interface Doc {
  readonly no: number;
  readonly dt: string;
  readonly oc: string | null;
  readonly rv: string;
  readonly head: number;
  readonly amt: number;
}
const next = numbers(7);
const MONTHS = times(12, (at) => `2023${String(at + 1).padStart(2, '0')}`);
const docs = times(600, (at): Doc => ({
  ...{ no: 10_000 + at * 3, dt: `${MONTHS[at % 12] ?? ''}${10 + next(18)}`, oc: [null, 'A', 'B', 'C', 'D', 'E', 'X'][next(7)] ?? null },
  ...{ rv: next(5) === 0 ? 'R' : '', head: 7_000 + next(150) * 7, amt: 100 + next(90_000) / 100 },
})); // prettier-ignore
const heads: Given = {
  ...{ name: 'head', columns: ['hd int', 'st text', 'cust text'], primaryKey: ['hd'] },
  rows: times(150, (at) => [7_000 + at * 7, ['open', 'done', 'lost'][at % 3]!, `C${10 + (at % 9)}`]),
};
const iso = (dt: string): string => `${dt.slice(0, 4)}-${dt.slice(4, 6)}-${dt.slice(6)}`;
const doc = (more: Partial<Given> = {}): Given => ({
  ...{ name: 'doc', columns: ['no int', 'dt text', 'oc text', 'rv text', 'hd int', 'amt numeric'] },
  ...{ primaryKey: ['no'], foreignKeys: [{ columns: ['hd'], table: 'head', references: ['hd'] }] },
  rows: docs.map(({ no, dt, oc, rv, head, amt }) => [no, dt, oc, rv, head, amt]),
  ...more,
});
const status = (head: number): unknown => heads.rows[(head - 7_000) / 7]?.[1];
const customer = (head: number): string => String(heads.rows[(head - 7_000) / 7]?.[2]);

/** Counts or sums of the rows that `keeps` keeps, by month. */
const control = (keeps: (doc: Doc) => boolean, of: (doc: Doc) => number = () => 1): Given => ({
  ...{ name: 'ctl', columns: ['per text', 'n numeric'] },
  rows: MONTHS.map((month) => {
    const own = docs.filter((each) => each.dt.startsWith(month) && keeps(each));
    return [month, Number(own.reduce((sum, each) => sum + of(each), 0).toFixed(2))];
  }),
});

test.each<[string, (doc: Doc) => boolean, string]>([
  ['one value left out', ({ oc }) => oc !== 'X', 'count(*) of doc (without oc X)'],
  ['one value kept', ({ oc }) => oc === 'A', 'count(*) of doc (only oc A)'],
  ['rows without a value', ({ oc }) => oc === null, 'count(*) of doc (only oc NULL)'],
  ['rows with a value', ({ oc }) => oc !== null, 'count(*) of doc (without oc NULL)'],
  ['a blank', ({ rv }) => rv === '', 'count(*) of doc (only rv blank)'],
  ['a value of the row that a key leads to', ({ head }) => status(head) === 'lost', 'count(*) of doc (only head.st lost)'],
])('the filter under which every total is met is found: %s', async (_, keeps, says) => {
  const met = MONTHS.filter((month) => docs.every((each) => !each.dt.startsWith(month) || keeps(each))).length;
  expect(await said([doc(), heads, control(keeps)], 'ctl', 'n')).toBe(`= ${says} by month of dt in all 12 rows, unfiltered in ${met}`); // prettier-ignore
}); // prettier-ignore

test('so is the filter of a sum, and dates may be dates', async () => {
  const dated = doc({ columns: ['no int', 'dt date', 'oc text', 'rv text', 'hd int', 'amt numeric'], rows: docs.map(({ no, dt, oc, rv, head, amt }) => [no, iso(dt), oc, rv, head, amt]) }); // prettier-ignore
  const sums = control(({ oc }) => oc !== 'X', ({ amt }) => amt); // prettier-ignore
  expect(await said([dated, heads, sums], 'ctl', 'n')).toMatch(/^= sum\(amt\) of doc \(without oc X\) by month of dt in all 12 rows/); // prettier-ignore
});

test('the period and the code may be those of the row that a key leads to', async () => {
  const customers = [...new Set(docs.map(({ head }) => customer(head)))];
  const rows = MONTHS.flatMap((month) =>
    customers.map((each) => {
      const own = docs.filter(({ dt, head }) => dt.startsWith(month) && customer(head) === each);
      return [month, each, own.filter(({ rv }) => rv === '').length];
    }),
  );
  const by: Given = { name: 'ctl', columns: ['per text', 'cust text', 'n int'], rows };
  expect(await said([doc(), heads, by], 'ctl', 'n')).toMatch(/= count\(\*\) of doc \(only rv blank\) by month of dt and head\.cust in all 108 rows, unfiltered in \d+$/); // prettier-ignore
});

test('keys of two columns group, one of which has two values', async () => {
  const lines = docs.slice(0, 500).flatMap(({ amt }, at) => times(1 + (at % 4), (ps) => [at % 5 === 0 ? '300' : '310', `N${1000 + (at >> 1)}`, ps, next(4) === 0 ? 'L' : '', Math.round(amt) + ps])); // prettier-ignore
  const keys = new Map(lines.map(([cl, no]) => [`${String(cl)} ${String(no)}`, [cl, no] as const]));
  const sums = [...keys.values()].map(([cl = null, no = null]) => {
    const own = lines.filter((line) => line[0] === cl && line[1] === no && line[3] === '');
    return [cl, no, own.reduce((sum, line) => sum + Number(line[4]), 0)];
  });
  const line: Given = { name: 'line', columns: ['l_cl text', 'l_no text', 'ps int', 'lk text', 'v int'], rows: lines }; // prettier-ignore
  const top: Given = { name: 'top', columns: ['t_cl text', 't_no text', 't_v int'], rows: sums };
  expect(await said([line, top], 'top', 't_v')).toMatch(/= sum\(v\) of line \(only lk blank\) by l_cl and l_no in all \d+ rows, unfiltered in \d+$/); // prettier-ignore
});

const twin = (given: Given, name: string, of: (doc: Doc) => string): Given => ({
  ...given,
  columns: [...given.columns, `${name} text`],
  rows: given.rows.map((row, at) => [...row, of(docs[at]!)]),
});

test('of several filters that fit equally well two are told; what keeps the same rows is one', async () => {
  const lone = control(({ oc }) => oc === 'X');
  const same = twin(doc(), 'tx', ({ oc }) => (oc === 'X' ? 'deleted' : `s${oc ?? ''}`));
  expect(await said([same, heads, lone], 'ctl', 'n')).toContain('(only oc X) by');
  // As many rows of each month, but other ones.
  const shifted = new Map(MONTHS.map((month) => [month, docs.filter(({ dt }) => dt.startsWith(month))]));
  const other = (of: Doc, by: number): string => {
    const own = shifted.get(of.dt.slice(0, 6)) ?? [];
    return own[(own.indexOf(of) + by) % own.length]?.oc === 'X' ? 'y' : `z${of.no % 9}`;
  };
  const two = twin(doc(), 'k', (each) => other(each, 1));
  expect(await said([two, heads, lone], 'ctl', 'n')).toContain('(only oc X or only k y) by month of dt in all 12 rows');
  const flag = twin(doc(), 'k', (each) => other(each, 1).slice(0, 1));
  expect(await said([flag, heads, lone], 'ctl', 'n')).toContain(
    '(only oc X or only k y) by month of dt in all 12 rows',
  );
  const three = twin(two, 'm', (each) => other(each, 2));
  expect(await said([three, heads, lone], 'ctl', 'n')).toContain('(only oc X or only k y or …) by');
});

describe('nothing is said', () => {
  const silent: [string, Given[]][] = [
    ['where a plain count meets all', [doc(), heads, control(() => true)]],
    ['where one total is missed', [doc(), heads, { ...control(({ oc }) => oc !== 'X'), rows: control(({ oc }) => oc !== 'X').rows.map(([per, n], at) => [per!, at === 8 ? Number(n) + 1 : n!]) }]],
    ['of tables of which only a sample was read', [doc({ whole: false }), heads, control(({ oc }) => oc !== 'X')]],
    ['of fewer than five totals', [doc(), heads, { ...control(({ oc }) => oc === 'X'), rows: control(({ oc }) => oc === 'X').rows.slice(0, 4) }]],
    ['where two filters are needed', [doc(), heads, control(({ oc, rv }) => oc !== 'X' && rv === '')]],
    ['where one row of one month is left out, which some value of many has alone', [twin(doc(), 'u', ({ no }) => (no === 10_030 ? 'q' : `v${no % 20}`)), heads, control(({ no }) => no !== 10_030)]],
    ['of small counts that a value of many meets', [{ name: 'ev', columns: ['id int', 'k text', 'c text'], primaryKey: ['id'], rows: times(30, (at) => [at, `K${at % 6}`, `c${(at * 7) % 24}`]) }, { name: 'ctl', columns: ['k text', 'n int'], rows: times(6, (at) => [`K${at}`, [1, 2, 0, 1, 0, 2][at]!]) }]],
  ]; // prettier-ignore
  test.each(silent)('%s', async (_, tables) => {
    expect(await said(tables, 'ctl', 'n')).not.toContain('unfiltered');
  });

  test('of random tables', async () => {
    for (const seed of times(20, (at) => at + 1)) {
      const random = numbers(seed * 7919);
      const groups = 5 + random(20);
      const size = groups * (2 + random(12));
      const codes = times(6, () => 2 + random(22));
      const tables: Given[] = [
        { name: 'big', columns: ['id int', 'k text', ...codes.map((_, at) => `c${at} text`), 'v int', 'w numeric'], primaryKey: ['id'], rows: times(size, (at) => [at, `K${random(groups)}`, ...codes.map((count) => (random(9) === 0 ? null : `x${random(count)}`)), random(5), random(1_000) / 100]) },
        { name: 'ctl', columns: ['k text', 'n int', 'm int', 'o numeric'], rows: times(groups, (at) => [`K${at}`, random(4), random(12), random(3_000) / 100]) },
      ]; // prettier-ignore
      const [, ctl] = await profiled(tables);
      expect(ctl?.pieces.filter(({ text }) => text.includes('unfiltered'))).toEqual([]);
    }
  });
});
