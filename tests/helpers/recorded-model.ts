/** The replies of a recording behind an OpenAI-compatible endpoint, in their order: for processes that take no `--replay`. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import type { ModelReply } from '../../src/domain/model-call';
import { listenOn } from '../../src/workers/http-server';

export interface RecordedModel {
  readonly baseUrl: string;
  /** Calls that were answered, and those that wait. */
  readonly answered: () => number;
  readonly waiting: () => number;
  /** Calls wait from now on, until the function that it gives is called. */
  hold(): () => void;
  close(): Promise<void>;
}

/** `change`: of the texts of its replies. */
export async function startRecordedModel(
  file: string,
  {
    name = 'recorded',
    change = (texts) => texts,
  }: { readonly name?: string; readonly change?: (texts: string[]) => string[] } = {},
): Promise<RecordedModel> {
  const [, ...lines] = readFileSync(file, 'utf8').trim().split('\n');
  const recorded = lines.map((line) => (JSON.parse(line) as { readonly reply: ModelReply }).reply);
  const replies = change(recorded.map((reply) => reply.text)).map((said, at) => ({
    ...recorded[0],
    ...recorded[at],
    text: said,
  }));
  let [answered, waiting, gate, release] = [0, 0, Promise.resolve(), (): void => undefined];
  const server = createServer((request, response) => {
    void (async () => {
      const send = (value: unknown): void =>
        void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
      if (request.method === 'GET') return send({ object: 'list', data: [{ id: name, object: 'model' }] });
      await text(request);
      waiting += 1;
      await gate;
      waiting -= 1;
      const reply = replies[answered % replies.length];
      answered += 1;
      send({
        ...{ id: 'recorded', object: 'chat.completion', created: 0, model: name },
        choices: [{ index: 0, message: { role: 'assistant', content: reply?.text }, finish_reason: 'stop' }],
        usage: { prompt_tokens: reply?.promptTokens, completion_tokens: reply?.completionTokens, total_tokens: 0 },
      });
    })();
  });
  const { url, close } = await listenOn(server, '127.0.0.1', 0);
  return {
    ...{ baseUrl: `${url}/v1`, close, answered: () => answered, waiting: () => waiting },
    hold: () => {
      gate = new Promise((resolve) => (release = resolve));
      return () => release();
    },
  };
}
