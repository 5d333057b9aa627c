/**
 * AWS Lambda on loopback, as far as Temporal and a function see it: the Invoke API (asynchronous), the Runtime API, and STS for the
 * role that the server assumes. Each environment is a process group of its own.
 *
 * 1. An environment runs one invocation at a time and is frozen (SIGSTOP) between them; the next one thaws it.
 * 2. At its deadline the whole environment is killed, as Lambda does.
 * 3. At most `concurrency` environments run at once; events beyond that wait.
 * 4. Without the external id the role cannot be assumed.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { packageFolder } from '../../src/workers/package-folder';

export interface LambdaFunction {
  /** With its version. */
  readonly arn: string;
  /** The package, unzipped. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly concurrency: number;
  readonly logFile: string;
}

export interface Invocation {
  readonly arn: string;
  readonly cold: boolean;
  readonly startedAtMs: number;
  endedAtMs: number | null;
  outcome: 'running' | 'returned' | 'failed' | 'timed-out' | 'killed';
  /** Of `failed`: what the function said. */
  message: string | null;
}

export interface LambdaService {
  /** What the Temporal server needs to call it. */
  readonly env: Readonly<Record<string, string>>;
  readonly invocations: readonly Invocation[];
  /** Kept environments without an invocation. */
  frozen(): number;
  running(): number;
  /** Kills an environment with an invocation, whichever; false when none runs. */
  killOne(): boolean;
  /** Ends the frozen environments, as Lambda does after some minutes. */
  reap(): void;
  close(): Promise<void>;
}

export const EXTERNAL_ID = 'gate-external-id';
const RUNTIME = join(packageFolder() ?? '.', 'tests', 'serverless', 'lambda-runtime.cjs');

interface Environment {
  readonly function: LambdaFunction;
  readonly child: ChildProcess;
  readonly api: Server;
  /** The runtime's request for the next invocation. */
  next: ServerResponse | null;
  invocation: Invocation | null;
  deadline: NodeJS.Timeout | null;
}

export async function startLambdaService(functions: readonly LambdaFunction[]): Promise<LambdaService> {
  const invocations: Invocation[] = [];
  const environments = new Set<Environment>();
  const waiting: LambdaFunction[] = [];

  const signal = ({ child }: Environment, name: NodeJS.Signals): void => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) process.kill(-child.pid, name);
  };
  const end = (environment: Environment, outcome: Invocation['outcome'], message: string | null = null): void => {
    const { invocation, deadline } = environment;
    if (deadline !== null) clearTimeout(deadline);
    if (invocation !== null) Object.assign(invocation, { outcome, message, endedAtMs: Date.now() });
    Object.assign(environment, { invocation: null, deadline: null });
  };
  const kill = (environment: Environment, outcome: Invocation['outcome']): void => {
    end(environment, outcome);
    environments.delete(environment);
    signal(environment, 'SIGKILL');
    environment.api.closeAllConnections();
    environment.api.close();
    dispatch();
  };
  const deliver = (environment: Environment): void => {
    const { next, invocation, function: given } = environment;
    if (next === null || invocation === null) return;
    environment.next = null;
    const deadlineMs = Date.now() + given.timeoutMs;
    environment.deadline = setTimeout(() => kill(environment, 'timed-out'), given.timeoutMs);
    next.writeHead(200, {
      'Lambda-Runtime-Aws-Request-Id': randomUUID(),
      'Lambda-Runtime-Deadline-Ms': String(deadlineMs),
      'Lambda-Runtime-Invoked-Function-Arn': given.arn,
    });
    next.end('{}');
  };
  const runtimeApi = (environment: () => Environment): Server =>
    createServer((request, response) => {
      const here = environment();
      if (request.url?.endsWith('/invocation/next')) {
        here.next = response;
        if (here.invocation === null) {
          signal(here, 'SIGSTOP');
          dispatch();
        } else deliver(here);
        return;
      }
      void textOf(request).then((text) => {
        const message = request.url?.endsWith('/error')
          ? (JSON.parse(text) as { errorMessage: string }).errorMessage
          : null;
        end(here, message === null ? 'returned' : 'failed', message);
        response.writeHead(202).end();
      });
    });
  const start = async (given: LambdaFunction, invocation: Invocation): Promise<void> => {
    let environment: Environment | null = null;
    const api = runtimeApi(() => {
      if (environment === null) throw new Error('the runtime asked before it was started');
      return environment;
    });
    const child = spawn(process.execPath, [RUNTIME], {
      ...{ cwd: given.folder, detached: true, stdio: ['ignore', 'pipe', 'pipe'] },
      env: {
        ...given.env,
        AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${String(await listening(api))}`,
        LAMBDA_TASK_ROOT: given.folder,
        _HANDLER: 'index.handler',
      },
    });
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => appendFileSync(given.logFile, chunk));
    const made: Environment = { function: given, child, api, next: null, invocation, deadline: null };
    environment = made;
    environments.add(made);
    child.once('exit', () => environments.has(made) && kill(made, 'failed'));
  };
  const dispatch = (): void => {
    const taken = waiting.findIndex((given) => busyOf(given).length < given.concurrency);
    const [given] = taken < 0 ? [] : waiting.splice(taken, 1);
    if (given === undefined) return;
    const idle = [...environments].find(
      (one) => one.function === given && one.invocation === null && one.next !== null,
    );
    const invocation: Invocation = {
      ...{ arn: given.arn, cold: idle === undefined, startedAtMs: Date.now(), endedAtMs: null },
      ...{ outcome: 'running', message: null },
    };
    invocations.push(invocation);
    if (idle === undefined) void start(given, invocation);
    else {
      idle.invocation = invocation;
      signal(idle, 'SIGCONT');
      deliver(idle);
    }
    dispatch();
  };
  const busyOf = (given: LambdaFunction): readonly Environment[] =>
    [...environments].filter((one) => one.function === given && one.invocation !== null);

  const service = createServer((request, response) => {
    void textOf(request).then((text) => {
      const url = decodeURIComponent(request.url ?? '');
      const [, arn, action] = /^\/2015-03-31\/functions\/(.+?)(\/invocations)?(?:\?.*)?$/.exec(url) ?? [];
      if (arn === undefined) {
        assumeRole(new URLSearchParams(text), response);
        return;
      }
      const given = functions.find((one) => one.arn === arn);
      if (given === undefined || action === undefined) {
        describe(arn, given, response);
        return;
      }
      waiting.push(given);
      response.writeHead(202).end();
      dispatch();
    });
  });
  const url = `http://127.0.0.1:${String(await listening(service))}`;
  return {
    env: {
      ...{ AWS_ENDPOINT_URL_LAMBDA: url, AWS_ENDPOINT_URL_STS: url, AWS_REGION: 'eu-west-1' },
      ...{ AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test', AWS_EC2_METADATA_DISABLED: 'true' },
    },
    invocations,
    frozen: () => [...environments].filter(({ invocation }) => invocation === null).length,
    running: () => [...environments].filter(({ invocation }) => invocation !== null).length,
    killOne: () => {
      const [one] = [...environments].filter(({ deadline }) => deadline !== null);
      if (one !== undefined) kill(one, 'killed');
      return one !== undefined;
    },
    reap: () => {
      for (const one of [...environments]) if (one.invocation === null) kill(one, 'returned');
    },
    close: async () => {
      waiting.length = 0;
      for (const one of [...environments]) kill(one, 'killed');
      await new Promise((resolve) => {
        service.close(resolve);
        service.closeAllConnections();
      });
    },
  };
}

function describe(arn: string, given: LambdaFunction | undefined, response: ServerResponse): void {
  const headers = { 'Content-Type': 'application/json' };
  if (given === undefined) {
    response.writeHead(404, { ...headers, 'X-Amzn-ErrorType': 'ResourceNotFoundException' });
    response.end(JSON.stringify({ Message: `Function not found: ${arn}` }));
    return;
  }
  response.writeHead(200, headers).end(JSON.stringify({ Configuration: { FunctionArn: arn } }));
}

function assumeRole(form: URLSearchParams, response: ServerResponse): void {
  const role = form.get('RoleArn') ?? '';
  if (form.get('ExternalId') !== EXTERNAL_ID) {
    const message = `User: arn:aws:iam::1:user/temporal is not authorized to perform: sts:AssumeRole on resource: ${role}`;
    const error = `<Error><Type>Sender</Type><Code>AccessDenied</Code><Message>${message}</Message></Error>`;
    response.writeHead(403, { 'Content-Type': 'text/xml' });
    response.end(`<ErrorResponse>${error}<RequestId>r</RequestId></ErrorResponse>`);
    return;
  }
  const credentials =
    '<AccessKeyId>a</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>2100-01-01T00:00:00Z</Expiration>';
  response.writeHead(200, { 'Content-Type': 'text/xml' });
  response.end(
    `<AssumeRoleResponse><AssumeRoleResult><Credentials>${credentials}</Credentials></AssumeRoleResult></AssumeRoleResponse>`,
  );
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return (server.address() as AddressInfo).port;
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
