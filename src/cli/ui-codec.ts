/**
 * With encryption on the Temporal UI shows plain text through a codec server, to whoever has the keys: `gate dev` starts
 * one beside it, other commands say what to do.
 */
import type { Config } from '../config';
import { CODEC_PORT, codecEndpoint } from '../config/encryption';
import type { TemporalSession } from './temporal-session';

export interface UiCodec {
  readonly url: string;
  /** Answers the UI of this session from now on. */
  serve(session: TemporalSession): void;
  /** What to do when the server ran already and its UI knows of no codec server; empty when nothing. */
  hint(session: TemporalSession): string;
  close(): Promise<void>;
}

export async function startUiCodec(config: Config): Promise<UiCodec> {
  const { startCodecServer } = await import('../workers/codec-server');
  const { codecsOf } = await import('../workers/encryption');
  const { storedPayloads } = await import('../workers/external-storage');
  const { openStore } = await import('../workers/open-store');
  const { uiOrigins } = await import('./codec-server');
  const options = { codecs: codecsOf(config), stored: storedPayloads(openStore(config)), origins: [], token: null };
  const server = await startCodecServer({ ...options, port: CODEC_PORT }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return startCodecServer({ ...options, port: 0 });
  });
  return {
    url: server.url,
    serve: ({ uiUrl }) => {
      if (uiUrl !== null) for (const origin of uiOrigins(Number(new URL(uiUrl).port))) server.allow(origin);
    },
    hint: ({ embedded }) =>
      embedded?.info.uiCodecEndpoint === server.url
        ? ''
        : 'this server was already running: enter the codec endpoint in its UI (the glasses)\n',
    close: () => server.close(),
  };
}

/** The line after a link into the UI; empty without a UI or without encryption. */
export function decodedInUi({ encryption }: Pick<Config, 'encryption'>, { embedded, uiUrl }: Shown): string {
  if (encryption === null || uiUrl === null) return '';
  const endpoint = codecEndpoint(encryption);
  const through =
    encryption.codecServer === null
      ? `while gate codec-server runs (${endpoint})`
      : `through the codec server ${endpoint}`;
  // A UI that was started without encryption, or with another address.
  const enter = embedded?.info.uiCodecEndpoint === endpoint ? '' : '; enter its address in the UI (the glasses)';
  return `Encrypted payloads are shown there in plain ${through}${enter}\n`;
}

type Shown = Pick<TemporalSession, 'embedded' | 'uiUrl'>;
