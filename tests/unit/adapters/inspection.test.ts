import { inspectingOnce } from '../../../src/adapters/inspection';
import type { SqlInspector } from '../../../src/ports';

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
