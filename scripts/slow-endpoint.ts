/**
 * `npm run slow-endpoint`: six real minutes (`-- MINUTES` for another time) against a local endpoint that is silent for
 * so long, once before its headers and once in the middle of its body, for completions and for embeddings. Shows
 * that `models.requestTimeoutMs` and `schema.embeddings.requestTimeoutMs` above five minutes hold; too slow for the tests.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createOpenAiModel } from '../src/adapters/openai';
import { createOpenAiEmbedder } from '../src/adapters/openai-embeddings/embedder';

const silentMs = Number(process.argv[2] ?? 6) * 60_000;
if (!(silentMs > 0)) throw new Error('give the minutes of silence as a number');
const never = new AbortController().signal;
const completion = { choices: [{ message: { content: '{"ok":true}' }, finish_reason: 'stop' }] };
const vectors = { data: [{ index: 0, embedding: [1, 2] }] };

const server = createServer((request, response) => {
  const body = JSON.stringify(request.url?.endsWith('/embeddings') ? vectors : completion);
  const answer = async (): Promise<void> => {
    if (request.url?.startsWith('/headers')) await sleep(silentMs);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(body.slice(0, 5));
    if (request.url?.startsWith('/body')) await sleep(silentMs);
    response.end(body.slice(5));
  };
  void answer();
});
// Node's server has limits of its own.
server.requestTimeout = 0;

const ask = {
  completion: async (baseUrl: string, timeoutMs: number) => {
    const request = { role: 'plan', model: 'slow', messages: [], temperature: 0, topP: 1 } as const;
    const schema = { name: 'check', schema: { type: 'object' } };
    const model = createOpenAiModel({ apiKey: null, baseUrl, timeoutMs });
    return (await model.complete({ ...request, maxOutputTokens: 16, seed: 0, schema }, { signal: never })).text;
  },
  embedding: async (baseUrl: string, timeoutMs: number) => {
    const embedder = createOpenAiEmbedder({ model: 'slow', apiKey: null, baseUrl, timeoutMs, batchSize: 1 });
    return String((await embedder.embed(['a'], { signal: never })).vectors[0]);
  },
};

async function seen(what: keyof typeof ask, silence: 'headers' | 'body', timeoutMs: number): Promise<boolean> {
  const from = Date.now();
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${silence}/v1`;
  const said = await ask[what](baseUrl, timeoutMs).catch((error: unknown) => error as Error);
  const ended = said instanceof Error ? `failed: ${said.message}` : `answered ${said}`;
  const after = ((Date.now() - from) / 1000).toFixed(1);
  console.log(`${what}, silent before its ${silence}, limit ${timeoutMs} ms: ${ended} after ${after} s`);
  return said instanceof Error;
}

async function main(): Promise<void> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const long = silentMs + 60_000;
  const short = Math.round(silentMs * 0.95);
  const [cut, ...held] = await Promise.all([
    seen('completion', 'headers', short),
    seen('completion', 'headers', long),
    seen('completion', 'body', long),
    seen('embedding', 'headers', long),
    seen('embedding', 'body', long),
  ]);
  server.close();
  server.closeAllConnections();
  if (!cut || held.includes(true)) throw new Error('a configured time limit did not hold');
  console.log('every configured time limit held');
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
