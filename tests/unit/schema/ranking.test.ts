import type { DatabaseDescription, TableDescription } from '../../../src/domain';
import { fitsWhole, schemaContext } from '../../../src/schema/context';
import { cosine, fuseRanks, textOfTable, unitVector } from '../../../src/schema/ranking';
import { rankedTables } from '../../../src/schema/table-relevance';

const table = (name: string, columns: readonly string[] = ['a', 'b'], comment: string | null = null): TableDescription => ({
  ...{ name, kind: 'table', comment, rowEstimate: null, primaryKey: [], uniqueKeys: [], foreignKeys: [] },
  columns: columns.map((column) => ({ name: column, type: 'text', nullable: true, comment: null, samples: [] })),
}); // prettier-ignore
const database = (tables: TableDescription[]): DatabaseDescription => ({
  ...{ dialect: 'sqlite', version: 'SQLite 3', fingerprint: 'f', tables },
});
const names = (ranked: readonly { table: TableDescription }[]): string[] => ranked.map((each) => each.table.name);
const ranked = (tables: readonly TableDescription[], scores: readonly number[]) =>
  tables.map((each, order) => ({ table: each, order, score: scores[order] ?? 0 }));

describe('two orders become one', () => {
  const [a, b, c] = [table('a'), table('b'), table('c')];

  test('each table scores 1/(60+rank) by words and by meaning; what shares no word has only the second term', () => {
    const fused = fuseRanks(ranked([a, b, c], [9, 5, 0]), new Map([['a', 0.1], ['b', 0.2], ['c', 0.9]])); // prettier-ignore
    expect(fused.map(({ table: { name }, byWords, byMeaning }) => [name, byWords, byMeaning])).toEqual([
      ['a', 1, 3],
      ['b', 2, 2],
      ['c', null, 1],
    ]);
    expect(fused.map(({ score }) => score)).toEqual([1 / 61 + 1 / 63, 1 / 62 + 1 / 62, 1 / 61]);
  });

  test('equal scores keep the order by words, and equal nearness that of the schema', () => {
    const tied = fuseRanks(ranked([a, b], [2, 1]), new Map([['a', 0.1], ['b', 0.7]])); // prettier-ignore
    expect(names(tied)).toEqual(['a', 'b']);
    const equal = new Map([['a', 0.5], ['b', 0.5], ['c', 0.5]]); // prettier-ignore
    expect(names(fuseRanks(ranked([a, b, c], [0, 0, 0]), equal))).toEqual(['a', 'b', 'c']);
  });

  test('a table without a vector keeps its rank by words', () => {
    const fused = fuseRanks(ranked([a, b], [3, 0]), new Map([['b', 1]]));
    expect(fused).toMatchObject([{ byWords: 1, byMeaning: null }, { byWords: null, byMeaning: 1 }]); // prettier-ignore
  });

  test('the nearest of all comes before what is beyond the sixty-second in both orders', () => {
    const tables = Array.from({ length: 200 }, (_, at) => table(`t${at}`));
    const lexical = [...ranked(tables, tables.map(() => 1)), { table: table('near'), order: 200, score: 0 }]; // prettier-ignore
    const nearness = new Map([...tables.map((each, at): [string, number] => [each.name, -at]), ['near', 1]]);
    const order = names(fuseRanks(lexical, nearness));
    expect(order.indexOf('near')).toBeGreaterThan(50);
    expect(order.indexOf('near')).toBeLessThanOrEqual(62);
  });

  test('the same vectors give the same order', () => {
    const tables = Array.from({ length: 300 }, (_, at) => table(`t${at % 7}_${at}`));
    const nearness = new Map(tables.map(({ name }, at) => [name, Math.sin(at)]));
    const lexical = rankedTables(database(tables), { question: 't3 t5' });
    expect(fuseRanks(lexical, nearness)).toEqual(fuseRanks([...lexical], new Map([...nearness].reverse())));
  });
});

describe('the text of a large schema', () => {
  const tables = [
    ...Array.from({ length: 120 }, (_, at) => table(`orders_${at}`, ['placed_on', 'customer_number', 'total_amount'])),
    table('wqx_91', ['ab', 'cd']),
  ];
  const options = { maxChars: 8_000, question: 'How many orders?' };

  test('shows the nearest table although it shares no word with the question, and still lists every name', () => {
    expect(schemaContext(database(tables), options).shown).not.toContain('wqx_91');
    const near = schemaContext(database(tables), { ...options, nearness: new Map([['wqx_91', 1]]) });
    expect(near.shown).toContain('wqx_91');
    expect(near.text).toContain("chosen by the question's words and meaning");
    expect(near.text.length).toBeLessThanOrEqual(options.maxChars);
    for (const { name } of tables) expect(near.text).toContain(name);
    expect(near.ranks.find((each) => each.table.name === 'wqx_91')).toMatchObject({ byWords: null, byMeaning: 1 });
  });

  test('without vectors says and chooses what it always did', () => {
    const { text, ranks } = schemaContext(database(tables), options);
    expect(text).toMatch(/chosen by the question's words\n/);
    expect(ranks[0]).toMatchObject({ byWords: 1, byMeaning: null });
  });

  test('that fits is shown whole, ranked by nothing', () => {
    const few = database(tables.slice(0, 3));
    expect(fitsWhole(few, 8_000)).toBe(true);
    expect(fitsWhole(database(tables), 8_000)).toBe(false);
    expect(schemaContext(few, { ...options, nearness: new Map([['orders_2', 1]]) })).toMatchObject({ shown: null, ranks: [] }); // prettier-ignore
  });
});

describe('vectors', () => {
  test('the text of a table is its names as words and its comments; no types, keys or samples', () => {
    const visits = table('clinic.patientVisits', ['visit_id', 'admittedOn'], 'one row\n per visit');
    visits.columns[1]!.comment = 'the day of\nadmission';
    visits.columns[0]!.samples.push('secret');
    expect(textOfTable(visits)).toBe(
      'clinic patient Visits: one row per visit\ncolumns: visit id, admitted On\nadmitted On: the day of admission',
    );
  });

  test('a table of a thousand columns is cut', () => {
    expect(
      textOfTable(
        table(
          't',
          Array.from({ length: 1_000 }, (_, at) => `column_${at}`),
        ),
      ).length,
    ).toBe(1_500);
  });

  test('have length 1, and none stays none', () => {
    expect([...unitVector([3, 4])]).toEqual([expect.closeTo(0.6), expect.closeTo(0.8)]);
    expect(cosine(unitVector([3, 4]), unitVector([6, 8]))).toBeCloseTo(1);
    expect([...unitVector([0, 0])]).toEqual([0, 0]);
  });
});
