import { detectOllama } from '../../../../src/adapters/openai';
import { startModelEndpoint, type ModelEndpoint } from '../../../helpers/model-endpoint';

let endpoint: ModelEndpoint;
beforeAll(async () => {
  endpoint = await startModelEndpoint({ reply: () => 'x', models: ['qwen3:8b', 'llama3.2'] });
});
afterAll(() => endpoint.close());

test('an Ollama that answers gives its address and its models', async () => {
  const url = `http://${endpoint.host}`;
  expect(await detectOllama({ url })).toEqual({ baseUrl: `${url}/v1`, models: ['llama3.2', 'qwen3:8b'] });
});

test('nothing there is null, not an error', async () => {
  expect(await detectOllama({ url: 'http://127.0.0.1:9', timeoutMs: 200 })).toBeNull();
});

test('something else there is null', async () => {
  expect(await detectOllama({ url: `http://${endpoint.host}/v1/models` })).toBeNull();
});
