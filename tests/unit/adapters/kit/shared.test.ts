import { createSqliteInspector } from '../../../../src/adapters/sqlite';
import { inspectingOnce } from '../../../../src/adapters/kit/inspection';
import type { SqlInspector } from '../../../../src/domain/ports';
import { compactJson, exactNumber } from '../../../../src/adapters/kit/value-text';
import { computingMs } from '../../../helpers/computing';

function counting(): { readonly inspector: SqlInspector; readonly asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    inspector: {
      inspect: (sql) => {
        asked.push(sql);
        return { kind: 'select', relations: [sql], ctes: [], hasWith: false };
      },
    },
  };
}

test('a text is parsed once, and what it says cannot be changed by one who reads it', () => {
  const { inspector, asked } = counting();
  const once = inspectingOnce(inspector);
  const first = once.inspect('a');
  expect(once.inspect('a')).toBe(first);
  expect(asked).toEqual(['a']);
  expect(() => Object.assign(first, { kind: 'refused' })).toThrow(TypeError);
});

test('a reserved word as an alias is named', () => {
  const { inspect } = createSqliteInspector();
  expect(inspect('SELECT count(*) AS having FROM t')).toMatchObject({
    ...{ kind: 'syntax-error', message: expect.stringContaining('"having" is a reserved word') as string },
  });
  expect(inspect('SELECT count(*) AS n FROM FROM t')).not.toMatchObject({
    message: expect.stringContaining('reserved') as string,
  });
});

test('what was not used for longest is forgotten first', () => {
  const { inspector, asked } = counting();
  const once = inspectingOnce(inspector, 4);
  for (const sql of ['a', 'b', 'c', 'd', 'a', 'e', 'a', 'b']) once.inspect(sql);
  expect(asked).toEqual(['a', 'b', 'c', 'd', 'e', 'b']);
});

test('what is too long to be kept is parsed again', () => {
  const { inspector, asked } = counting();
  const once = inspectingOnce(inspector, 4);
  once.inspect('xx');
  once.inspect('xx');
  expect(asked).toHaveLength(2);
});

test('JSON loses the space between its tokens and nothing else', () => {
  const value = { 'a b': [1, ' x  y ', 'q " \\', '\\', '\\\\" ', null], é: { '': true } };
  expect(compactJson(JSON.stringify(value, null, 2))).toBe(JSON.stringify(value));
  expect(compactJson('{"n" : 1.50, "n" : 12345678901234567890}')).toBe('{"n":1.50,"n":12345678901234567890}');
  expect(compactJson('')).toBe('');
});

test.each([
  ['a text', `"${'x'.repeat(20_000_000)}"`],
  ['escapes', `"${'\\"\\\\'.repeat(5_000_000)}"`],
  ['space', `[${' '.repeat(20_000_000)}]`],
])('JSON with 20 MB of %s is read', (_, text) => {
  expect(compactJson(text)).toHaveLength(text.startsWith('[') ? 2 : text.length);
});

test('a number is one when its digits are those of a double', () => {
  expect(
    ['1.50', '0.000', '100', '1e3', '9007199254740993', '0.1000000000000000055511151231257827'].map(exactNumber),
  ).toEqual([1.5, 0, 100, '1e3', '9007199254740993', '0.1000000000000000055511151231257827']);
});

test('a small number is one in whatever way it is printed, a whole one beyond 2^53 never', () => {
  expect(
    ['0.0000001', '-0.00000015', '0.000000123456789012345678', '9007199254740991', '9007199254740992', '-100000000000000000000'].map(exactNumber),
  ).toEqual([1e-7, -1.5e-7, '0.000000123456789012345678', 9007199254740991, '9007199254740992', '-100000000000000000000']);
}); // prettier-ignore

test('a number of 16,000 digits takes no time', () => {
  const text = `0.${'0'.repeat(16_000)}1`;
  const read = () => {
    for (let count = 0; count < 100; count += 1) expect(exactNumber(text)).toBe(text);
  };
  expect(computingMs(read)).toBeLessThan(2_000);
});
