/** A receiver of webhooks on this machine that verifies each signature by itself. */
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { EventBody } from '../../src/domain/ports/notices';

export const WEBHOOK_SECRET = `whsec_${Buffer.from('a key of thirty-two bytes, or so').toString('base64')}`;

export interface Posted {
  readonly id: string;
  readonly text: string;
  readonly body: EventBody;
}

export interface WebhookReceiver {
  readonly url: string;
  readonly posted: readonly Posted[];
  /** The next requests are answered so; then 204. */
  answersWith(...statuses: readonly number[]): void;
  close(): void;
}

export async function startReceiver(): Promise<WebhookReceiver> {
  const posted: Posted[] = [];
  const statuses: number[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature } = request.headers;
      const key = Buffer.from(WEBHOOK_SECRET.slice('whsec_'.length), 'base64');
      const expected = `v1,${createHmac('sha256', key)
        .update(`${String(id)}.${String(at)}.${body}`)
        .digest('base64')}`;
      const isSigned = signature === expected && Math.abs(Date.now() / 1000 - Number(at)) < 300;
      if (isSigned) posted.push({ id: String(id), text: body, body: JSON.parse(body) as EventBody });
      response.writeHead(isSigned ? (statuses.shift() ?? 204) : 401).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook-token`,
    posted,
    answersWith: (...next) => void statuses.push(...next),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
