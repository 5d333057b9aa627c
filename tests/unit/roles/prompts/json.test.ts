import fc from '../../../helpers/property';
import { extractJson } from '../../../../src/roles/shared/json';

describe('a JSON object is found', () => {
  it.each([
    ['bare', '{"a": 1}'],
    ['in a fence', 'Here it is.\n```json\n{"a": 1}\n```\n'],
    ['after text with braces', 'Use {x} and {y: 2}; then {"a": 1}'],
    ['after an earlier draft', '{"a": 0}\nNo, better:\n{"a": 1}'],
    ['after thinking aloud', '<think>{"a": 7, "b"</think>{"a": 1}'],
    ['before a closing remark', '{"a": 1}\nThat is all {really}.'],
  ])('%s', (_, text) => {
    expect(extractJson(text)).toEqual({ kind: 'found', value: { a: 1 } });
  });

  it('whatever JSON it holds', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue()), fc.boolean(), (value, indent) => {
        const text = `Reasoning first.\n${JSON.stringify(value, null, indent ? 2 : 0)}\n`;
        expect(extractJson(text)).toEqual({ kind: 'found', value: JSON.parse(JSON.stringify(value)) as unknown });
      }),
    );
  });
});

describe('a slip with one meaning is mended, not paid for again', () => {
  it.each([
    ['a trailing comma in an object', '{"a": "x,}",}', { a: 'x,}' }],
    ['a trailing comma in a list', '{"a": [1, 2, ]}', { a: [1, 2] }],
    ['line breaks and tabs in a string', '{"sql": "SELECT 1,\r\n\t2\nFROM t"}', { sql: 'SELECT 1,\r\n\t2\nFROM t' }],
    ['escapes beside them', '{"sql": "a\\n\n\\"b\\" ,"}', { sql: 'a\n\n"b" ,' }],
  ])('%s', (_, text, value) => expect(extractJson(text)).toEqual({ kind: 'found', value }));
});

describe('a broken object is refused with what stands where', () => {
  it.each([
    ['NaN', '{"a": NaN}', 'found NaN where a JSON value was expected', 'NaN is not JSON: use a number or null'],
    ['-Infinity', '{"a": -Infinity}', 'found -Infinity', 'use a number or null'],
    ['None', '{"a": None}', 'found None', 'use null, true or false'],
    ['single quotes', "{'a': 1}", "found ' where a key in double quotes", 'double quotes'],
    ['a comment', '{"a": 1 // one\n}', 'found / where a comma or }', 'no comments'],
    ['two commas', '{"a": [1,, 2]}', 'found , where a JSON value', 'Write a JSON value'],
    ['a comma before the wrong bracket', '{"a": [1, }', 'found } where a JSON value', 'Write a JSON value'],
    ['a lone backslash', '{"sql": "x ~ \'\\d\'"}', 'invalid escape \\d', 'written twice'],
    ['an unescaped quote', '{"sql": "SELECT "a" FROM t"}', 'found a where a comma or }', 'escape double quotes'],
    ['a leading zero', '{"a": 01}', 'found 01', 'Write a JSON value'],
    ['a cut-off reply', '{"a": [{"b": 1}, {"c": "x', 'ends before the end of the string', 'cut off'],
    ['a cut-off list', '{"a": [{"b": 1}, {"c": 2}', 'ends before a comma or ]', 'cut off'],
    ['endless brackets', `{"a": ${'['.repeat(60_000)}`, 'nested deeper than 100', 'Use the shape given'],
    ['no object', 'I cannot do that.', 'the reply holds no JSON object', 'one JSON object'],
    ['nothing', '  \n', 'the reply is empty', 'one JSON object'],
  ])('%s', (_, text, error, hint) => {
    const found = extractJson(text);
    expect(found).toMatchObject({ kind: 'broken' });
    if (found.kind === 'broken') {
      expect(found.error).toContain(error);
      expect(found.hint).toContain(hint);
    }
  });

  it('with the line and the text before it', () => {
    expect(extractJson('{\n  "a": 1,\n  "b": NaN\n}')).toMatchObject({
      error: 'found NaN where a JSON value was expected (line 3, after "{\\n  \\"a\\": 1,\\n  \\"b\\": ")',
    });
  });

  it('and never replaced by an object inside it', () => {
    expect(extractJson('{"operators": [{"name": NaN}, {"name": "b"}]}')).toMatchObject({ kind: 'broken' });
    expect(extractJson('{"operators": [{"name": "a"}, {"name": "b"}')).toMatchObject({ kind: 'broken' });
  });
});
