import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { withSecrets } from '../../../../src/workers/serverless/secret-references';

const STORED: Readonly<Record<string, string>> = {
  '/gate/OPENAI_API_KEY': 'sk-stored',
  '/gate/SALES_URL': 'postgresql://reader:stored@db/sales',
  '/gate/LOGIN': '{"password":"inner"}',
};

let server: Server;
let seen: { readonly target: string; readonly authorization: string; readonly body: unknown }[];
let refuse: string | null;
let env: Record<string, string>;

async function answer(request: IncomingMessage): Promise<[number, unknown]> {
  const { 'x-amz-target': target = '', authorization = '' } = request.headers;
  const body = (await json(request)) as { readonly Names?: string[]; readonly SecretId?: string };
  seen.push({ target: String(target), authorization, body });
  if (refuse !== null) return [400, { __type: 'AccessDeniedException', message: refuse }];
  if (body.Names !== undefined)
    return [200, { Parameters: body.Names.flatMap((Name) => (STORED[Name] ? [{ Name, Value: STORED[Name] }] : [])) }];
  return [200, { SecretString: STORED[body.SecretId ?? ''] }];
}

beforeEach(async () => {
  seen = [];
  refuse = null;
  server = createServer((request, response) => {
    void answer(request).then(([status, body]) => response.writeHead(status).end(JSON.stringify(body)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  env = {
    ...{
      AWS_REGION: 'eu-west-1',
      AWS_ACCESS_KEY_ID: 'AKID',
      AWS_SECRET_ACCESS_KEY: 'key',
      AWS_SESSION_TOKEN: 'session',
    },
    AWS_ENDPOINT_URL: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
  };
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

test('variables are filled from both stores, with one signed request for all parameters', async () => {
  const filled = await withSecrets({
    ...env,
    GATE_SECRET_OPENAI_API_KEY: 'ssm:/gate/OPENAI_API_KEY',
    GATE_SECRET_SALES_URL: 'ssm:/gate/SALES_URL',
    GATE_SECRET_DB_PASSWORD: 'secretsmanager:/gate/LOGIN#password',
  });
  expect(filled).toMatchObject({
    ...{ OPENAI_API_KEY: 'sk-stored', SALES_URL: 'postgresql://reader:stored@db/sales', DB_PASSWORD: 'inner' },
  });
  expect(seen.map(({ target }) => target).sort()).toEqual(['AmazonSSM.GetParameters', 'secretsmanager.GetSecretValue']);
  for (const { authorization } of seen)
    expect(authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKID\/\d{8}\/eu-west-1\/(ssm|secretsmanager)\/aws4_request/,
    );
});

test('without references nothing is asked', async () => {
  expect(await withSecrets(env)).toBe(env);
  expect(seen).toEqual([]);
});

test.each([
  ['ssm:/gate/NO', 'GATE_SECRET_KEY: there is no ssm:/gate/NO in this account and region'],
  ['secretsmanager:/gate/LOGIN#user', "GATE_SECRET_KEY: secretsmanager:/gate/LOGIN is no JSON with a text 'user'"],
  ['sk-written-here', 'GATE_SECRET_KEY is no reference: write ssm:NAME or secretsmanager:NAME'],
])('%s is one line that names the variable', async (value, message) => {
  await expect(withSecrets({ ...env, GATE_SECRET_KEY: value })).rejects.toThrow(new Error(message));
});

test('a missing permission is named as AWS names it', async () => {
  refuse = 'User: role/gate is not authorized to perform: ssm:GetParameters';
  await expect(withSecrets({ ...env, GATE_SECRET_KEY: 'ssm:/gate/KEY' })).rejects.toThrow(
    /^secrets cannot be read: AmazonSSM\.GetParameters .*not authorized to perform: ssm:GetParameters$/,
  );
});
