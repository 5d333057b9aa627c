/** The configured webhooks as receivers of notices. */
import type { Config } from '../config';
import { Secret } from '../config';
import { WebError } from '../domain/ports';
import type { Receiver, Receivers } from '../domain/ports/notices';
import { sha256 } from '../sha256';

type Webhook = Config['webhooks'][number];

export function receiversOf({ webhooks }: Pick<Config, 'webhooks'>): Receivers {
  const receivers = webhooks.map((webhook) => ({ events: webhook.events, receiver: receiverOf(webhook) }));
  return {
    wanting: (type) => receivers.flatMap(({ events, receiver }) => (events.includes(type) ? [receiver] : [])),
  };
}

function receiverOf({ setting: name, url, events, secret, allowPrivate }: Webhook): Receiver {
  return {
    name: sha256(JSON.stringify([url, events])).slice(0, 12),
    post: async (event, signal) => {
      if (!(secret instanceof Secret)) throw new WebError('misconfigured', `${name} has no secret: ${secret.fix}`);
      const { postEvent } = await import('../adapters/web/post-event');
      await postEvent({ name, url, secret: secret.reveal(), allowPrivate }, event, signal);
    },
  };
}
