/**
 * A server that takes what the Snowflake driver sends, keeps it, and answers as it is told: for logins, grants, time limits,
 * cancellation and errors, which no stand-in plays.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { gunzipSync } from 'node:zlib';

export interface Recorded {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface SentQuery {
  readonly sql: string;
  readonly requestId: string;
  readonly describeOnly: boolean;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** `[name, type]`; the values are as Snowflake writes them. */
export interface Table {
  readonly columns: readonly (readonly [string, string])[];
  readonly rows?: readonly (readonly (string | null)[])[];
  /** More rows, each list fetched from an address of its own. */
  readonly chunks?: readonly (readonly (readonly (string | null)[])[])[];
}

export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly sqlState?: string;
}

export type Reply = Table | Failure | 'never';

export interface Recorder {
  readonly accessUrl: string;
  readonly logins: Recorded[];
  readonly queries: SentQuery[];
  readonly aborts: Recorded[];
  readonly ended: string[];
  /** Without the statements that open a session. */
  readonly asked: () => string[];
  close(): Promise<void>;
}

export interface Script {
  /** `undefined`: the ordinary answer. */
  readonly onLogin?: (login: Recorded) => Failure | { readonly status: number } | undefined;
  readonly onQuery?: (sent: SentQuery) => Reply | undefined;
  /** Cancellations get no answer either, until the server closes: the driver would repeat them without end. */
  readonly mute?: boolean;
}

export const grants = (...rows: readonly (readonly [string, string, string])[]): Table => ({
  columns: ['created_on', 'privilege', 'granted_on', 'name'].map((name) => [name, 'text'] as const),
  rows: rows.map((row) => ['2020-01-01', ...row]),
});

const ONE: Table = { columns: [['N', 'fixed']], rows: [['1']] };

export async function startRecorder(script: Script = {}): Promise<Recorder> {
  const logins: Recorded[] = [];
  const queries: SentQuery[] = [];
  const aborts: Recorded[] = [];
  const ended: string[] = [];
  const sockets = new Set<Socket>();
  const parked = new Map<string, ServerResponse>();
  const held: ServerResponse[] = [];
  const settings = new Map<string, Map<string, string>>();
  const chunks: string[] = [];
  let sessions = 0;

  const server = createServer((request, response) => {
    void handle(request, response);
  });
  server.on('connection', (socket) => sockets.add(socket.on('close', () => sockets.delete(socket))));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const accessUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', accessUrl);
    const recorded = { path: url.pathname, query: url.searchParams, body: await bodyOf(request) };
    const token = /Token="(.*)"/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    if (url.pathname.startsWith('/chunk/')) {
      response.end(chunks[Number(url.pathname.slice('/chunk/'.length))]);
      return;
    }
    switch (url.pathname) {
      case '/session/v1/login-request': {
        logins.push(recorded);
        const failure = script.onLogin?.(recorded);
        if (failure !== undefined && 'status' in failure) response.writeHead(failure.status).end('no');
        else if (failure !== undefined) send(response, failed(failure));
        else {
          sessions += 1;
          settings.set(`s${sessions}`, new Map());
          send(response, {
            success: true,
            data: { token: `s${sessions}`, masterToken: 'm', validityInSeconds: 3600, masterValidityInSeconds: 14_400, parameters: [], sessionId: sessions },
          }); // prettier-ignore
        }
        return;
      }
      case '/queries/v1/query-request':
        onQuery(recorded, token, response);
        return;
      case '/session':
        ended.push(token);
        break;
      default:
        if (!url.pathname.endsWith('/abort-request')) break;
        aborts.push(recorded);
        if (script.mute === true && !ended.includes(token)) {
          held.push(response);
          return;
        }
        cancel(String(recorded.body['requestId']));
    }
    send(response, { success: true, data: null });
  }

  /** As the server does it: the statement ends with an error. */
  function cancel(requestId: string): void {
    const response = parked.get(requestId);
    parked.delete(requestId);
    if (response !== undefined)
      send(response, failed({ code: '000604', message: 'SQL execution canceled', sqlState: '57014' }));
  }

  function onQuery({ query, body }: Recorded, token: string, response: ServerResponse): void {
    const sent: SentQuery = {
      sql: String(body['sqlText']),
      requestId: query.get('requestId') ?? '',
      describeOnly: body['describeOnly'] === true,
      parameters: (body['parameters'] ?? {}) as Record<string, unknown>,
    };
    queries.push(sent);
    if (ended.includes(token)) {
      send(response, failed({ code: '390111', message: 'Session no longer exists.' }));
      return;
    }
    const session = settings.get(token);
    for (const [, name = '', text, word] of sent.sql.startsWith('ALTER SESSION') ? sent.sql.matchAll(/(\w+) = (?:'([^']*)'|(\w+))/g) : []) session?.set(name, text ?? word ?? ''); // prettier-ignore
    const reply = script.onQuery?.(sent) ?? usual(sent);
    if (reply === 'never') parked.set(sent.requestId, response);
    else if ('code' in reply) send(response, failed(reply));
    else send(response, succeeded(reply, session ?? new Map<string, string>()));
  }

  function succeeded({ columns, rows = [], chunks: more = [] }: Table, session: ReadonlyMap<string, string>): object {
    const first = chunks.length;
    chunks.push(...more.map((each) => JSON.stringify(each).slice(1, -1)));
    return {
      success: true,
      data: {
        queryId: '01b2c3d4-0000-0000-0000-000000000000',
        version: 1,
        statementTypeId: 4096,
        parameters: [...session].map(([name, value]) => ({ name, value })),
        rowtype: columns.map(([name, type]) => ({ name, type, nullable: true, scale: type === 'fixed' ? 0 : 9 })),
        rowset: rows,
        total: [rows, ...more].flat().length,
        returned: [rows, ...more].flat().length,
        chunks: more.map((each, index) => ({ url: `${accessUrl}/chunk/${first + index}`, rowCount: each.length })),
      },
    };
  }

  return {
    accessUrl,
    logins,
    queries,
    aborts,
    ended,
    asked: () => queries.map(({ sql }) => sql).filter((sql) => !/^(ALTER SESSION|USE SECONDARY|SHOW GRANTS|SELECT CURRENT_ROLE)/.test(sql)), // prettier-ignore
    async close() {
      for (const response of held) send(response, { success: true, data: null });
      for (const requestId of [...parked.keys()]) cancel(requestId);
      // The driver repeats what an ended session left open, once more after some seconds.
      if (held.length > 0) await new Promise((resolve) => setTimeout(resolve, 4_000));
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function usual({ sql }: SentQuery): Table {
  if (sql.includes('CURRENT_ROLE')) return { columns: [['CURRENT_ROLE()', 'text']], rows: [['READER']] };
  if (sql.startsWith('SHOW GRANTS'))
    return grants(['USAGE', 'DATABASE', 'CLUB'], ['SELECT', 'TABLE', 'CLUB.PUBLIC.TEAM']);
  return ONE;
}

const failed = ({ code, message, sqlState }: Failure): object => ({
  success: false,
  code,
  message,
  data: { errorCode: code, sqlState },
});

function send(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const whole = Buffer.concat(parts);
  if (whole.length === 0) return {};
  return JSON.parse((request.headers['content-encoding'] === 'gzip' ? gunzipSync(whole) : whole).toString()) as Record<string, unknown>; // prettier-ignore
}
