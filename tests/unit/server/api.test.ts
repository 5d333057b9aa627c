import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { App } from '../../../src/app/app';
import { GateError } from '../../../src/app/errors';
import { loadConfig } from '../../../src/config';
import type { SearchInput } from '../../../src/domain';
import { storeInput } from '../../../src/record/run-store';
import { writeIndex } from '../../../src/record/search-index';
import { apiRoutes, heldFor } from '../../../src/server/api/routes';
import { httpError } from '../../../src/server/http/errors';
import { LOCAL, tokenCaller } from '../../../src/server/http/caller';
import type { HttpRequest } from '../../../src/server/http/route';
import { createMemoryStore } from '../../helpers/scripted/store';

const ID = 'q-0123456789abcdef';
const folder = mkdtempSync(join(tmpdir(), 'gate-api-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** What a token that asked `sales` once gets, with the databases that it has now. */
async function got(
  path: string,
  databases: readonly string[] | null,
  lastEventId: string | null = null,
): Promise<unknown> {
  const at = { env: { HOME: folder }, cwd: folder, platform: process.platform, now: () => 0 };
  const store = createMemoryStore();
  const input = {
    ...{ searchId: ID, namespace: 'token:ann', askedAt: '2026-01-01T00:00:00.000Z' },
    question: { text: 'How many?', database: 'sales' },
    settings: { spec: 'fast', method: { method: 'fast' } },
  } as unknown as SearchInput;
  await storeInput(store, input);
  await writeIndex(store, input, { status: 'answered', answer: '12 secret sales', costUsd: 0 });
  const app = { ...at, config: loadConfig(at), store, onEvent: () => undefined };
  const route = apiRoutes({ app: app as unknown as App } as never).find(
    (one) => one.method === 'GET' && one.path === path,
  );
  const caller = tokenCaller('ann', {
    sha256: '',
    databases: databases && [...databases],
    scopes: ['ask'],
    usdPerDay: null,
  });
  const request = { caller, params: { id: ID }, query: new URLSearchParams(), lastEventId };
  return route?.handler(request as unknown as HttpRequest);
}

it.each([[['sales']], [null]])('a token with databases %p sees what it asked of one', async (databases) => {
  expect(JSON.stringify(await got('/v1/questions', databases))).toContain('12 secret sales');
  expect(await got('/v1/questions/:id/events', databases)).toHaveProperty('events');
});

it('what a token asked of a database that was taken from it is not found', async () => {
  expect(await got('/v1/questions', ['other'])).toEqual({ json: { questions: [], next: null } });
  for (const path of ['', '/events', '/rows.csv', '/report'])
    await expect(got(`/v1/questions/:id${path}`, ['other'])).rejects.toMatchObject({ code: 'not-found' });
});

it('a reader who had the last event is told to stop', async () => {
  expect(await got('/v1/questions/:id/events', null, 'ended')).toEqual({ status: 204 });
});

it('a failure is told without the places that it names', () => {
  const failure = new GateError(
    "no worker (gate: /srv/x/gate.config.json); its log is '/var/w/1.log', at http://10.0.0.1:7233/a; 1/2",
  );
  const { error, known } = httpError(failure);
  expect(error.message).toBe("no worker (gate: …); its log is '…', at …; 1/2");
  expect(known).toBe(false);
  expect(httpError(new GateError('/v1/x is no path', 'usage')).error.message).toBe('/v1/x is no path');
});

it('a token is not told whose question proved an entry', () => {
  const held = { entry: { entryId: 'e1', check: 'SELECT 1', from: { searchId: ID, question: 'of another' } } } as never;
  expect(JSON.stringify(heldFor(LOCAL, held))).toContain('of another');
  const told = JSON.stringify(heldFor({ ...LOCAL, token: 'ann' }, held));
  expect(told).toContain('SELECT 1');
  expect(told).not.toMatch(/of another|q-0123/);
});
