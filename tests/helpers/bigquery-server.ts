/**
 * A server that speaks the part of BigQuery's REST interface that GATE uses, with answers shaped like the real ones. It knows
 * statements by their texts: a script says what each gives. It runs no SQL.
 */
import { createPublicKey, generateKeyPairSync, verify, type KeyPairKeyObjectResult } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface TestField {
  readonly name: string;
  readonly type: string;
  readonly mode?: string;
  readonly fields?: readonly TestField[];
  readonly description?: string;
}
/** A cell as the interface writes it: text, null, a list or a row. */
export type TestCell = string | null | { readonly list: readonly TestCell[] } | { readonly row: readonly TestCell[] };

export interface TestTable {
  readonly fields: readonly TestField[];
  readonly rows?: readonly (readonly TestCell[])[];
  readonly type?: string;
  /** Further keys of the table resource. */
  readonly more?: object;
}

export interface Failing {
  readonly status: number;
  readonly reason: string;
  readonly message: string;
  /** How often it is given before the ordinary answer; default: always. */
  readonly times?: number;
  /** The dry run goes through. */
  readonly onlyJob?: boolean;
}

export interface Answering extends TestTable {
  readonly bytes?: number;
  readonly cacheHit?: boolean;
  readonly statementType?: string;
  /** `project.dataset.table`; default: none. */
  readonly reads?: readonly string[];
  readonly pageRows?: number;
  /** The job runs until it is cancelled. */
  readonly never?: boolean;
  /** So many requests for its job arrive, and the connection breaks before their answers. */
  readonly breaks?: number;
  /** Polls answered with "not complete" before the rows. */
  readonly polls?: number;
}
export type Answer = Answering | Failing;

export interface Script {
  readonly onQuery?: (sql: string) => Answer | undefined | Promise<Answer>;
  /** By `project.dataset`, then by table. */
  readonly datasets?: Readonly<Record<string, Readonly<Record<string, TestTable>>>>;
  /** What the login may do with every table. */
  readonly permissions?: readonly string[];
  readonly onRequest?: (path: string) => Failing | undefined;
}

export interface Sent {
  readonly sql: string;
  readonly dryRun: boolean;
  readonly configuration: Readonly<Record<string, unknown>>;
}

export interface BigQueryServer {
  readonly endpoint: string;
  /** The content of a key file whose tokens the server takes. */
  readonly key: string;
  readonly requests: { readonly method: string; readonly path: string; readonly query: URLSearchParams }[];
  readonly queries: Sent[];
  readonly cancelled: string[];
  /** A job's rows were asked for. */
  readonly polled: Promise<void>;
  /** Statements that were run, not only compiled. */
  readonly ran: () => string[];
  readonly url: (dataset: string, parameters?: Readonly<Record<string, string>>) => string;
  close(): Promise<void>;
}

export const EMAIL = 'gate-reader@own-project.iam.gserviceaccount.com';

/** Made once: it takes a second. */
let keys: KeyPairKeyObjectResult | undefined;

export async function startBigQuery(script: Script = {}): Promise<BigQueryServer> {
  const { privateKey, publicKey } = (keys ??= generateKeyPairSync('rsa', { modulusLength: 2048 }));
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const key = JSON.stringify({ type: 'service_account', project_id: 'own-project', private_key_id: 'k1', private_key: pem, client_email: EMAIL, client_id: '1', token_uri: 'http://127.0.0.1:9/token' }); // prettier-ignore
  const requests: BigQueryServer['requests'] = [];
  const queries: Sent[] = [];
  const cancelled: string[] = [];
  const jobs = new Map<string, { readonly sql: string; polls: number }>();
  const failures = new Map<Failing, number>();
  const sockets = new Set<Socket>();
  const waiting = new Map<string, ServerResponse>();
  let broken = 0;
  let onPoll = (): void => undefined;
  const polled = new Promise<void>((resolve) => (onPoll = resolve));

  const server = createServer((request, response) => {
    void handle(request, response);
  });
  server.on('connection', (socket) => sockets.add(socket.on('close', () => sockets.delete(socket))));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', endpoint);
    const path = decodeURIComponent(url.pathname).replace(/^\/bigquery\/v2\//, '');
    const { method = '' } = request;
    requests.push({ method, path, query: url.searchParams });
    const body = await bodyOf(request);
    if (!isSigned(request.headers.authorization ?? '', publicKey.export({ type: 'spki', format: 'pem' }).toString()))
      { fail(response, { status: 401, reason: 'authError', message: 'Request had invalid authentication credentials.' }); return; } // prettier-ignore
    const failing = script.onRequest?.(path);
    if (failing !== undefined && isDue(failing)) {
      fail(response, failing);
      return;
    }
    const [, project = '', ...rest] = path.split('/');
    const [kind, one = '', last] = rest;
    if (kind === 'jobs' && last === 'cancel') {
      cancel(response, one);
      return;
    }
    if (kind === 'jobs' && method === 'POST') {
      await insert(response, project, body);
      return;
    }
    if (kind === 'queries') {
      await results(response, one, url.searchParams);
      return;
    }
    tables(response, project, rest, url.searchParams);
  }

  async function insert(
    response: ServerResponse,
    project: string,
    body: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const configuration = body['configuration'] as {
      readonly dryRun?: boolean;
      readonly query: { readonly query: string };
    };
    const sql = configuration.query.query;
    const dryRun = configuration.dryRun === true;
    queries.push({ sql, dryRun, configuration: configuration });
    const answer = await answerTo(sql);
    const { jobId = 'dry', location = 'US' } = (body['jobReference'] ?? {}) as { readonly jobId?: string; readonly location?: string }; // prettier-ignore
    if ('reason' in answer && (dryRun ? answer.onlyJob !== true : false) && isDue(answer)) {
      fail(response, answer);
      return;
    }
    if (!dryRun) jobs.set(jobId, { sql, polls: 0 });
    if (!dryRun && 'breaks' in answer && broken < (answer.breaks ?? 0)) {
      broken += 1;
      response.socket?.resetAndDestroy();
      return;
    }
    const found = 'reason' in answer ? { fields: [] } : answer;
    const { bytes = 0, statementType = 'SELECT', reads = [], fields } = found;
    const total = String(bytes);
    const referencedTables = reads.map((name) => {
      const [projectId, datasetId, ...tableId] = name.split('.');
      return { projectId, datasetId, tableId: tableId.join('.') };
    });
    const query = { statementType, totalBytesProcessed: total, totalBytesBilled: '0', cacheHit: false, referencedTables, schema: { fields } }; // prettier-ignore
    const status = { state: dryRun ? 'DONE' : 'RUNNING' };
    send(response, { kind: 'bigquery#job', jobReference: { projectId: project, jobId, location }, configuration, status, statistics: { totalBytesProcessed: total, query } }); // prettier-ignore
  }

  async function results(response: ServerResponse, jobId: string, query: URLSearchParams): Promise<void> {
    onPoll();
    const job = jobs.get(jobId);
    if (job === undefined) { fail(response, { status: 404, reason: 'notFound', message: `Not found: Job own-project:US.${jobId}` }); return; } // prettier-ignore
    const answer = await answerTo(job.sql);
    if ('reason' in answer) {
      if (isDue(answer)) {
        fail(response, answer);
        return;
      }
      send(response, { jobComplete: true, totalRows: '0', schema: { fields: [] }, rows: [] });
      return;
    }
    if (answer.never === true) {
      if (cancelled.includes(jobId)) {
        fail(response, STOPPED);
        return;
      }
      waiting.set(jobId, response);
      return;
    }
    job.polls += 1;
    if (job.polls <= (answer.polls ?? 0)) {
      send(response, { jobComplete: false });
      return;
    }
    const { fields, rows = [], pageRows = Infinity, bytes = 0, cacheHit = false } = answer;
    const from = Number(query.get('pageToken') ?? 0);
    const to = Math.min(from + Math.min(pageRows, Number(query.get('maxResults'))), rows.length);
    send(response, {
      kind: 'bigquery#getQueryResultsResponse',
      jobComplete: true,
      ...{ totalRows: String(rows.length), totalBytesProcessed: cacheHit ? '0' : String(bytes), cacheHit },
      schema: { fields },
      rows: rows.slice(from, to).map(rowOf),
      ...(to < rows.length && { pageToken: String(to) }),
    });
  }

  function cancel(response: ServerResponse, jobId: string): void {
    cancelled.push(jobId);
    const waits = waiting.get(jobId);
    if (waits !== undefined) fail(waits, STOPPED);
    waiting.delete(jobId);
    send(response, { kind: 'bigquery#jobCancelResponse' });
  }

  function tables(response: ServerResponse, project: string, rest: readonly string[], query: URLSearchParams): void {
    const [, dataset = '', , named, data] = rest;
    const found = script.datasets?.[`${project}.${dataset}`];
    if (found === undefined) {
      fail(response, { status: 404, reason: 'notFound', message: `Not found: Dataset ${project}:${dataset}` });
      return;
    }
    const reference = (tableId: string) => ({ projectId: project, datasetId: dataset, tableId });
    if (named === undefined) {
      const all = Object.entries(found);
      const from = Number(query.get('pageToken') ?? 0);
      const to = Math.min(from + Math.min(50, Number(query.get('maxResults'))), all.length);
      const page = all
        .slice(from, to)
        .map(([tableId, { type = 'TABLE' }]) => ({ tableReference: reference(tableId), type }));
      send(response, {
        kind: 'bigquery#tableList',
        totalItems: all.length,
        tables: page,
        ...(to < all.length && { nextPageToken: String(to) }),
      });
      return; // prettier-ignore
    }
    const [tableId = '', action] = named.split(':');
    if (action === 'testIamPermissions') {
      send(response, { permissions: script.permissions });
      return;
    }
    const table = found[tableId];
    if (table === undefined) {
      fail(response, {
        status: 404,
        reason: 'notFound',
        message: `Not found: Table ${project}:${dataset}.${tableId}`,
      });
      return;
    }
    const { fields, rows = [], type = 'TABLE', more } = table;
    if (data === 'data') {
      send(response, {
        kind: 'bigquery#tableDataList',
        rows: rows.slice(0, Number(query.get('maxResults'))).map(rowOf),
      });
      return;
    }
    send(response, { kind: 'bigquery#table', tableReference: reference(tableId), type, schema: { fields }, numRows: String(rows.length), ...more }); // prettier-ignore
  }

  async function answerTo(sql: string): Promise<Answer> {
    const shown = sql.replace(/\s+/g, ' ').slice(0, 200);
    return (
      (await script.onQuery?.(sql)) ?? {
        status: 400,
        reason: 'invalidQuery',
        message: `The script has no answer to: ${shown}`,
      }
    );
  }

  function isDue(failing: Failing): boolean {
    const before = [...failures].find(([one]) => JSON.stringify(one) === JSON.stringify(failing));
    const [known, count] = before ?? [failing, 0];
    failures.set(known, count + 1);
    return count < (failing.times ?? Infinity);
  }

  return {
    ...{ endpoint, key, requests, queries, cancelled, polled },
    ran: () => queries.filter(({ dryRun }) => !dryRun).map(({ sql }) => sql),
    url: (dataset, parameters = {}) => `bigquery://own-project/${dataset}?${new URLSearchParams({ endpoint, ...parameters }).toString()}`, // prettier-ignore
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const STOPPED: Failing = { status: 400, reason: 'stopped', message: 'Job execution was cancelled: User requested cancellation' }; // prettier-ignore

/** Tokens are signed by the service account itself, for the scope of BigQuery. */
function isSigned(authorization: string, publicKey: string): boolean {
  const [head = '', claims = '', signature = ''] = authorization.replace(/^Bearer /, '').split('.');
  if (!verify('RSA-SHA256', Buffer.from(`${head}.${claims}`), createPublicKey(publicKey), Buffer.from(signature, 'base64url'))) return false; // prettier-ignore
  const { iss, scope } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { readonly iss?: string; readonly scope?: string }; // prettier-ignore
  return iss === EMAIL && scope === 'https://www.googleapis.com/auth/bigquery';
}

const rowOf = (cells: readonly TestCell[]): object => ({ f: cells.map((cell) => ({ v: cellOf(cell) })) });

function cellOf(cell: TestCell): unknown {
  if (cell === null || typeof cell === 'string') return cell;
  return 'list' in cell ? cell.list.map((one) => ({ v: cellOf(one) })) : rowOf(cell.row);
}

function fail(response: ServerResponse, { status, reason, message }: Failing): void {
  const error = { code: status, message, errors: [{ message, domain: 'global', reason }], status: 'INVALID_ARGUMENT' };
  send(response, { error }, status);
}

function send(response: ServerResponse, body: object, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' }).end(JSON.stringify(body));
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const whole = Buffer.concat(parts).toString();
  return whole === '' ? {} : (JSON.parse(whole) as Record<string, unknown>);
}
