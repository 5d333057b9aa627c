/** The replies of a recording behind an OpenAI-compatible endpoint, in their order and then again: for processes that take no `--replay`. */
import { once, EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import type { ModelReply } from '../../src/domain/model-call';
import { listenOn } from '../../src/workers/http-server';

export interface RecordedModel {
  readonly baseUrl: string;
  answered(): number;
  /** Calls beyond so many replies wait from now on. Resolves once one does. */
  holdAfter(replies: number): Promise<void>;
  release(): void;
  close(): Promise<void>;
}

interface Recorded {
  /** Of the model. */
  readonly name?: string;
  /** Other texts of its replies. */
  readonly change?: (texts: string[]) => string[];
}

export async function startRecordedModel(
  file: string,
  { name = 'recorded', change = (texts) => texts }: Recorded = {},
): Promise<RecordedModel> {
  const [, ...lines] = readFileSync(file, 'utf8').trim().split('\n');
  const recorded = lines.map((line) => (JSON.parse(line) as { readonly reply: ModelReply }).reply);
  const replies = change(recorded.map((reply) => reply.text)).map((said, at) => ({
    ...(recorded[at] ?? recorded[0]),
    text: said,
  }));
  const events = new EventEmitter();
  let [answered, most] = [0, Infinity];
  const server = createServer((request, response) => {
    void (async () => {
      const send = (value: unknown): void =>
        void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
      if (request.method === 'GET') {
        send({ object: 'list', data: [{ id: name, object: 'model' }] });
        return;
      }
      await text(request);
      while (answered >= most) {
        events.emit('waits');
        await once(events, 'released');
      }
      // Whoever asked has gone.
      if (request.socket.destroyed) return;
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
    ...{ baseUrl: `${url}/v1`, close, answered: () => answered },
    holdAfter: async (replies) => {
      most = replies;
      events.emit('released');
      await once(events, 'waits');
    },
    release: () => {
      most = Infinity;
      events.emit('released');
    },
  };
}

/** The replies of the demo, with a commit in between whose second claim the rows do not show. */
export function doubted([look = '', commit = '']: string[]): string[] {
  const reply = JSON.parse(commit) as { readonly claims: readonly { readonly check: string }[] };
  const [claim] = reply.claims;
  const naive = {
    ...claim,
    statement: 'final_time of a runner-up is a plain number of seconds.',
    check: claim?.check.replace(
      'SUM(ABS(gap - tms) < 2), SUM(ABS(gap - naive) < 2)',
      'SUM(ABS(gap - naive) < 2), SUM(ABS(gap - tms) < 2)',
    ),
    rivals: [
      { reading: 'it has minutes, too, before a colon', instead: null },
      { reading: 'it is the duration itself', instead: null },
    ],
  };
  return [look, JSON.stringify({ ...reply, claims: [...reply.claims, naive] }), commit];
}
