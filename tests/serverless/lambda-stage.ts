/**
 * What the proof plays on: the real Temporal server, a bucket, secrets, and our Lambda service with the packages that
 * `gate ops deploy lambda` writes. The user is another process's: no worker of its own ever runs.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { freePort } from '../helpers/free-port';
import { gateHome, type Ended, type GateHome } from '../helpers/gate-process';
import type { S3Server } from '../helpers/s3-server';
import { parseTemplate } from '../helpers/cloudformation';
import { unique } from '../helpers/temporal';
import { EXTERNAL_ID, startLambdaService, type LambdaFunction, type LambdaService } from './lambda-service';
import { startServerlessServer } from './server';

export const ROLE = 'arn:aws:iam::1:role/invoke';
export const ASSUMES = ['--set', `role=${ROLE}`, '--set', `role_external_id=${EXTERNAL_ID}`];
/** Of the function: short, so that searches outlive it. */
export const TIMEOUT_MS = 20_000;

export interface LambdaStage {
  readonly home: GateHome;
  readonly lambda: LambdaService;
  /** Packs, deploys and registers a build: what `gate ops deploy lambda` and CloudFormation do. Makes it current. */
  deploy(version: number, buildId: string): Promise<Ended>;
  /** Unzipped, of the last package. */
  readonly packageBytes: () => number;
  close(): Promise<void>;
}

export async function startLambdaStage(given: {
  readonly s3: S3Server;
  readonly baseUrl: string;
  readonly database: string;
}): Promise<LambdaStage> {
  const { s3, baseUrl, database } = given;
  const bucket = unique('gate');
  s3.createBucket(bucket);
  const port = await freePort();
  const address = `127.0.0.1:${String(port)}`;
  const storage = s3.env(`s3://${bucket}/store`);
  const home = gateHome({ baseUrl, env: { TEMPORAL_ADDRESS: address, ...storage } });
  const databases = { sprint: { path: database, id: 'sprint' } };
  writeFileSync(join(home.folder, 'gate.config.json'), JSON.stringify({ databases }));
  const secrets = await startParameterStore({ '/gate/OPENAI_API_KEY': home.env['OPENAI_API_KEY'] ?? '' });
  const functions: LambdaFunction[] = [];
  const lambda = await startLambdaService(functions);
  const server = await startServerlessServer(port, { PATH: process.env['PATH'], ...lambda.env }, 'aws-lambda');
  const platform = { PATH: process.env['PATH'] ?? '', ...storage, AWS_ENDPOINT_URL_SSM: secrets.url };
  let packageBytes = 0;
  return {
    home,
    lambda,
    packageBytes: () => packageBytes,
    async deploy(version, buildId) {
      const folder = join(home.folder, `function-${String(version)}`);
      const env = { GATE_BUILD_ID: buildId };
      const packed = await home.run(['ops', 'deploy', 'lambda', folder, '--json'], env);
      if (packed.code !== 0) return packed;
      const told = JSON.parse(packed.out) as {
        readonly parameters: Record<string, string>;
        readonly package: { readonly unzippedBytes: number };
      };
      packageBytes = told.package.unzippedBytes;
      const code = join(folder, 'code');
      mkdirSync(code);
      execFileSync('unzip', ['-q', join(folder, 'function.zip'), '-d', code]);
      const arn = `arn:aws:lambda:eu-west-1:1:function:gate:${String(version)}`;
      functions.push({
        ...{ arn, folder: code, timeoutMs: TIMEOUT_MS, concurrency: 4, logFile: join(folder, 'log') },
        env: { ...variablesOf(readFileSync(join(folder, 'template.yaml'), 'utf8'), told.parameters), ...platform },
      });
      const compute = ['--provider', 'aws-lambda', '--set', `arn=${arn}`, ...ASSUMES];
      return home.here(['ops', 'deploy', 'register', ...compute], env);
    },
    async close() {
      await server.stop();
      await lambda.close();
      await secrets.close();
    },
  };
}

/** Variables of the function, as CloudFormation would fill them in. */
function variablesOf(template: string, given: Readonly<Record<string, string>>): Record<string, string> {
  const { Parameters, Resources } = parseTemplate(template);
  const parameters = Object.fromEntries(
    Object.entries(Parameters).map(([name, { Default }]) => [name, given[name] ?? String(Default)]),
  );
  const variables = Resources['Function']?.Properties['Environment'] as { readonly Variables: Record<string, string> };
  const filled = (text: string): string =>
    text.startsWith('Ref ')
      ? (parameters[text.slice(4)] ?? '')
      : text.replace(/\$\{(\w+)\}/g, (_, name: string) => parameters[name] ?? '');
  return Object.fromEntries(Object.entries(variables.Variables).map(([name, value]) => [name, filled(value)]));
}

/** AWS Systems Manager, as far as a function reads its secrets from it. */
async function startParameterStore(
  values: Readonly<Record<string, string>>,
): Promise<{ url: string; close(): Promise<void> }> {
  const server: Server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { Names } = JSON.parse(Buffer.concat(chunks).toString()) as { Names: readonly string[] };
      const Parameters = Names.flatMap((Name) => (values[Name] === undefined ? [] : [{ Name, Value: values[Name] }]));
      response.writeHead(200, { 'Content-Type': 'application/x-amz-json-1.1' }).end(JSON.stringify({ Parameters }));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
