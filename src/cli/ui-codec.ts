/** The codec server beside `gate dev`: with encryption on, its UI shows plain text to whoever has the keys. */
import type { Config } from '../config';
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
  const { CODEC_PORT, uiOrigins } = await import('./codec-server');
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
      embedded?.started === true ? '' : 'this server was up before: enter the codec endpoint in its UI (the glasses)\n',
    close: () => server.close(),
  };
}
