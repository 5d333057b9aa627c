import fc from 'fast-check';
import { combined, fullShape, narrower, requestBody, type RequestShape } from '../../../../src/adapters/openai/model';
import type { ModelRequest } from '../../../../src/ports';

const full = fullShape('json_schema');
const refused = (message: string, param: string | null = null) => narrower(full, { message, param });

test.each([
  [
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    { tokenLimit: 'max_completion_tokens' },
  ],
  [
    "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
    { temperature: false },
  ],
  ['`temperature` and `top_p` cannot both be specified for this model. Please use only one.', { topP: false }],
  ["Unsupported parameter: 'top_p' is not supported with this model.", { topP: false }],
  ['Unrecognized request argument supplied: seed', { seed: false }],
  [
    "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
    { format: 'json_object' },
  ],
  ['invalid format: expected "json" or a JSON schema', { format: 'json_object' }],
])('%s', (message, change) => {
  expect(refused(message)).toEqual({ ...full, ...change });
});

test('the parameter alone is enough', () => {
  expect(refused('Invalid value', 'response_format.type')).toEqual({ ...full, format: 'json_object' });
});

test.each([
  "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
  "'max_tokens' or 'max_completion_tokens' is too large: 9000. This model's maximum context length is 8192 tokens.",
  'max_tokens is too large: 16384. This model supports at most 4096 completion tokens',
  'Invalid value for messages',
])('nothing is given up for: %s', (message) => {
  expect(refused(message)).toBeNull();
});

test('json_object that is refused too leaves plain text, and then there is nothing to give up', () => {
  const message = "'response_format' of type 'json_object' is not supported";
  const object: RequestShape = { ...full, format: 'json_object' };
  expect(narrower(object, { message, param: null })?.format).toBe('none');
  expect(narrower({ ...object, format: 'none' }, { message, param: null })).toBeNull();
});

const request: ModelRequest = {
  role: 'plan',
  model: 'm',
  messages: [
    { role: 'system', content: 'Be exact.' },
    { role: 'user', content: 'Q' },
  ],
  temperature: 0.2,
  topP: 0.95,
  maxOutputTokens: 100,
  seed: 7,
  schema: { name: 'plan', schema: { type: 'object' } },
};

test('the full shape sends every setting and a strict schema', () => {
  expect(requestBody(request, full)).toEqual({
    model: 'm',
    messages: request.messages,
    temperature: 0.2,
    top_p: 0.95,
    seed: 7,
    max_tokens: 100,
    response_format: { type: 'json_schema', json_schema: { name: 'plan', strict: true, schema: { type: 'object' } } },
  });
});

test('messages are the same in every shape, and plain text asks for no format', () => {
  const object = requestBody(request, { ...full, format: 'json_object' });
  expect(object).toMatchObject({ messages: request.messages, response_format: { type: 'json_object' } });
  const plain = requestBody(request, { ...full, format: 'none' });
  expect(plain.messages).toEqual(request.messages);
  expect(plain).not.toHaveProperty('response_format');
});

test('half a character, which endpoints refuse, is sent as the sign for an unknown one', () => {
  const content = '\ud83d a😀b \ude00 \ud83d';
  const { messages } = requestBody({ ...request, messages: [{ role: 'user', content }] }, full);
  expect(messages).toEqual([{ role: 'user', content: '\ufffd a😀b \ufffd \ufffd' }]);
});

const shapes = fc.record({
  format: fc.constantFrom('json_schema' as const, 'json_object' as const, 'none' as const),
  temperature: fc.boolean(),
  topP: fc.boolean(),
  seed: fc.boolean(),
  tokenLimit: fc.constantFrom('max_tokens' as const, 'max_completion_tokens' as const),
});

test('what two calls learned combines in any order and is never forgotten', () => {
  fc.assert(
    fc.property(shapes, shapes, (a, b) => {
      const both = combined(a, b);
      expect(combined(b, a)).toEqual(both);
      expect(combined(both, a)).toEqual(both);
      expect(combined(a, full)).toEqual(a);
    }),
  );
});
