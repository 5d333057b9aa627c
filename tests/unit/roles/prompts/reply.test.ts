import * as z from 'zod';
import { retryMessages } from '../../../../src/roles/shared/reply';
import { parseReply, replySchema, sketch } from '../../../../src/roles/shared/reply';

const Reply = z.object({
  kind: z.enum(['a', 'b']),
  note: z.string().nullable(),
  count: z.int(),
  parts: z.array(z.object({ name: z.string(), size: z.number().nullable() })),
});
const Slips = z.object({
  type: z.enum(['text', 'other']),
  note: z.string(),
  sure: z.boolean(),
  risk: z.number(),
  tags: z.array(z.string()),
});
const parse = (value: unknown) => parseReply(JSON.stringify(value), Reply, () => []);
const good = { kind: 'a', note: null, count: 1, parts: [{ name: 'x', size: 2 }] };

describe('parsing', () => {
  it('accepts a reply that fits', () => {
    expect(parse(good)).toEqual({ kind: 'ok', reply: good });
  });

  it('reads left-out nullable fields as null, left-out lists as empty, and drops unknown fields', () => {
    expect(parse({ kind: 'b', count: 0, extra: 1 })).toEqual({
      kind: 'ok',
      reply: { kind: 'b', note: null, count: 0, parts: [] },
    });
  });

  it.each([
    [
      { type: 'Text', risk: '0.3', tags: 'x', sure: 'True' },
      { type: 'text', note: '', sure: true, risk: 0.3, tags: ['x'] },
    ],
    [
      { type: 'varchar', note: 'n', risk: 1, tags: null, sure: null },
      { type: 'other', note: 'n', sure: false, risk: 1, tags: [] },
    ],
  ])('reads %j, whose slips have one meaning, without a retry', (value, reply) => {
    expect(parseReply(JSON.stringify(value), Slips, () => [])).toEqual({ kind: 'ok', reply });
  });

  it.each([
    ['a number in words', { risk: 'low', type: 'text' }, 'risk: found "low"'],
    ['a left-out choice', { risk: 1 }, 'type: is missing'],
  ])('does not guess %s', (_, value, error) => {
    expect(parseReply(JSON.stringify(value), Slips, () => [])).toMatchObject({ kind: 'invalid', error });
  });

  it.each(['', '  ', 'null', 'NULL'])('reads %j in a nullable text field as null', (note) => {
    expect(parse({ ...good, note })).toMatchObject({ reply: { note: null } });
  });

  it.each([
    ['a wrong enum value', { ...good, kind: 'c' }, 'kind: found "c"', 'kind: use one of "a", "b".'],
    ['a missing field', { ...good, count: undefined }, 'count: is missing', 'count: use a number.'],
    ['a fraction', { ...good, count: 1.5 }, 'count: found 1.5', 'count: use a whole number.'],
    ['a nested type', { ...good, parts: [{ name: 3 }] }, 'parts[0].name: found 3', 'parts[0].name: use a string.'],
    ['a list that is none', { ...good, parts: 'x' }, 'parts: found "x"', 'parts: use a list [...].'],
    ['a null that may not be', { ...good, kind: null }, 'kind: found null', 'kind: use one of "a", "b".'],
  ])('names the field, what was found and what is allowed: %s', (_, value, error, hint) => {
    expect(parse(value)).toEqual({ kind: 'invalid', error, hint });
  });

  it('shows at most four problems and counts the rest', () => {
    const value = { ...good, parts: [1, 2, 3, 4, 5, 6] };
    expect(parse(value)).toMatchObject({ error: expect.stringMatching(/parts\[3\].*\(and 2 more\)$/) as unknown });
  });
});

it('the schema sent and the sketch shown say the same', () => {
  expect(replySchema('r', Reply)).toMatchObject({
    name: 'r',
    schema: { required: ['kind', 'note', 'count', 'parts'] },
  });
  expect(replySchema('r', Reply).schema).not.toHaveProperty('$schema');
  expect(sketch(Reply)).toBe(
    '{kind: "a"|"b", note: string|null, count: integer, parts: [{name: string, size: number|null}]}',
  );
});

describe('a retry', () => {
  it('repeats the reply, the exact error and the hint, and how many tries are left to count', () => {
    expect(retryMessages('{"a": NaN}', 'found NaN', 'use null', 2, 3)).toEqual([
      { role: 'assistant', content: '{"a": NaN}' },
      {
        role: 'user',
        content: [
          'Your last reply could not be used (retry 2 of 3).',
          '<data name="error">\nfound NaN\n</data>',
          '<data name="hint">\nuse null\n</data>',
          'Correct this and keep what was right. Send the whole JSON object again, with nothing after it.',
        ].join('\n'),
      },
    ]);
  });

  it('after an execution error needs no hint, and an empty reply is not sent as an empty message', () => {
    const [assistant, user] = retryMessages('', 'op_rows: column "x" does not exist', null, 1, 3);
    expect(assistant?.content).toBe('(empty reply)');
    expect(user?.content).not.toContain('hint');
  });
});
