/** A chat-completions endpoint that gives the same reply at once, to whoever asks. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface InstantModel {
  readonly url: string;
  /** When it was asked for the first time since then. */
  readonly askedSince: (ms: number) => number;
  close(): void;
}

export async function startModel(reply: object): Promise<InstantModel> {
  const asked: number[] = [];
  const server = createServer((request, response) => {
    if (request.method === 'POST') asked.push(performance.now());
    request.resume().on('end', () => {
      response.setHeader('content-type', 'application/json');
      const models = { object: 'list', data: [{ id: 'at-once', object: 'model', created: 0, owned_by: 'bench' }] };
      const completion = {
        id: 'x',
        object: 'chat.completion',
        model: 'at-once',
        choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: JSON.stringify(reply) } }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      };
      response.end(JSON.stringify(request.method === 'GET' ? models : completion));
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    askedSince: (ms) => asked.find((at) => at >= ms) ?? Number.NaN,
    close: () => server.close(),
  };
}
