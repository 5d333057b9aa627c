/** How values of every engine arrive, which of them are equal, and what prompts say of its SQL. */
import { equalResults } from '../../src/sql/equal';
import { DIALECTS } from '../../src/sql/dialects';
import { options, rowsOf, runOne } from '../helpers/engine';
import { FAILS } from './engines/subject';
import { everyEngine } from './engines/suite';

everyEngine(
  'values',
  () => [],
  (claim, the) => {
    const digest = (sql: string): Promise<unknown> => the.engine().digest(sql, options());

    claim('values are shown as the documentation says', async () => {
      for (const [expression, value] of the.values)
        expect([expression, ...rowsOf(await runOne(the.engine(), `SELECT ${expression} AS v`))]).toEqual([
          expression,
          [value],
        ]);
    });

    claim(
      'NULL, integers, decimals, booleans, dates, times, bytes and any text arrive alike, with their kinds',
      async () => {
        const { integer, bigint, decimal, boolean, date, text, bytes, double, timestamp } = the.types;
        const [yes, no] = the.truth;
        const odd = `one\n\r\n"two", it's;-- é 漢 😀\ttab `;
        await the.write(
          `CREATE TABLE kinds (id ${integer}, big ${bigint}, amount ${decimal}, flag ${boolean}, d ${date}, note ${text}, raw ${bytes}, x ${double}, ts ${timestamp})`,
          `INSERT INTO kinds VALUES (1, 9223372036854775807, 1234.50, true, '2024-02-29', '${odd.replaceAll("'", "''")}', ${the.bytes('00ff')}, 0.1, ${the.timestamp('2024-02-29 23:59:59')}),
        (2, -9007199254740991, -0.05, false, '1999-12-31', '', NULL, -1e30, ${the.timestamp('1999-12-31 00:00:00')}), (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`,
        );
        const result = await runOne(the.engine(), 'SELECT id, big, amount, d, note, raw, x, ts FROM kinds ORDER BY id');
        expect(rowsOf(result)).toEqual([
          [1, '9223372036854775807', 1234.5, '2024-02-29', odd, '\\x00ff', 0.1, '2024-02-29 23:59:59'],
          [2, -9007199254740991, -0.05, '1999-12-31', '', null, -1e30, '1999-12-31 00:00:00'],
          [3, null, null, null, null, null, null, null],
        ]);
        expect(result).toMatchObject({
          columns: ['number', 'number', 'number', 'time', 'text', 'other', 'number', 'time'].map((kind) => ({ kind })),
        });
        expect(rowsOf(await runOne(the.engine(), 'SELECT flag FROM kinds ORDER BY id'))).toEqual([[yes], [no], [null]]);
      },
    );

    claim('JSON keeps its digits and the order of its keys', async () => {
      await the.write(`CREATE TABLE papers (id ${the.types.integer}, body ${the.types.json})`);
      // MySQL itself stores shorter keys first.
      const text = '{"b":1.25,"n":12345678901234567890,"aa":[1,2,"x"]}';
      await the.write(`INSERT INTO papers SELECT 1, ${the.json(text)}`);
      const result = await runOne(the.engine(), 'SELECT body FROM papers');
      expect(result).toMatchObject({ columns: [{ kind: 'json' }] });
      expect(rowsOf(result)).toEqual([[text]]);
    });

    claim('two values are the same in rows exactly where their digests are', async () => {
      for (const [left, right, same] of the.same) {
        const statements = [`SELECT ${left} AS v`, `SELECT ${right} AS v`];
        const [one, two] = (await the.engine().run(statements, options())).results;
        const [first, second] = await Promise.all(statements.map(digest));
        const said = [equalResults(one!, two!, { ordered: false }), JSON.stringify(first) === JSON.stringify(second)];
        expect([left, right, first, ...said]).toMatchObject([left, right, { count: 1 }, same, same]);
      }
    });

    claim('a digest does not depend on order, and does on values, their place, and repetition', async () => {
      const { integer, double, text } = the.types;
      await the.write(
        `CREATE TABLE heap (id ${integer}, weight ${double}, name ${text})`,
        `INSERT INTO heap VALUES (1, 61.5, 'a'), (2, 80.25, 'b'), (3, NULL, NULL)`,
      );
      const base = await digest('SELECT id, weight FROM heap ORDER BY id;');
      expect(base).toEqual({ count: 3, hash: expect.any(String) as string });
      expect(await digest('SELECT id, weight FROM heap ORDER BY id DESC')).toEqual(base);
      expect(await digest('SELECT id * 1.0, weight + 0.0000000001 FROM heap')).toEqual(base);
      expect(await digest('SELECT id, weight + 0.01 FROM heap')).not.toEqual(base);
      expect(await digest('SELECT weight, id FROM heap')).not.toEqual(base);
      expect(await digest('SELECT id, weight FROM heap UNION ALL SELECT 1, 61.5')).not.toEqual(base);
      expect(await digest('SELECT id AS a, id AS a FROM heap')).toMatchObject({ count: 3 });
      expect(await digest("SELECT name || 'c', name FROM heap")).not.toEqual(await digest("SELECT name, 'c' || name FROM heap")); // prettier-ignore
      expect(await digest("SELECT 'a|b' AS x, 'c' AS y")).not.toEqual(await digest("SELECT 'a' AS x, 'b|c' AS y"));
      // Whole numbers are exact, as where rows are compared: identifiers and seconds are longer than seven digits.
      expect(await digest('SELECT 900719925474099301 AS id')).not.toEqual(
        await digest('SELECT 900719925474099302 AS id'),
      );
      expect(await digest('SELECT 10000001 * 1.0 AS id')).toEqual(await digest('SELECT 10000001 AS id'));
      expect(await digest(the.series(20_000))).toMatchObject({ count: 20_000 });
      expect(await digest('SELECT id FROM heap WHERE id > 99')).toMatchObject({ count: 0 });
      expect(await digest('SELECT nope FROM heap')).toMatchObject({ kind: 'sql-error' });
    });

    claim('the notes in prompts are true', async () => {
      const { notes } = DIALECTS[the.subject.dialect];
      expect(the.notes.map(([says]) => says).filter((says) => !notes.includes(says))).toEqual([]);
      for (const [says, expression, gives] of the.notes) {
        const result = await runOne(the.engine(), `SELECT ${expression} AS v`);
        const given = result.kind === 'rows' ? result.rows[0]?.[0] : FAILS;
        expect([says, expression, given]).toEqual([says, expression, gives]);
      }
    });
  },
);
