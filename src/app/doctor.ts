/** What is configured, reachable and missing, each with its fix. A check never throws: what breaks it is its finding. */
import { randomUUID } from 'node:crypto';
import { DRIVERS, hasDriver } from '../adapters/engines';
import { DEFAULT_PRICES_DATE } from '../adapters/openai';
import { deploymentOf, loadConfig, type Config } from '../config';
import { resolveDatabase } from '../config/databases';
import { embeddedPlace, storeLocation } from '../config/store';
import { Dialect } from '../domain';
import { counted, cut } from '../report/printable';
import { DIALECTS } from '../sql/dialects';
import { connectClient } from '../workers/client';
import { compose, type Composition } from '../workers/composition';
import { startedQueues, startedVersion } from '../workers/deployments';
import { embeddedServerInfo } from '../workers/embedded-server';
import { openStore } from '../workers/open-store';
import { UNSERVED_SEARCHES_FIX, unservedSearches, unservedSearchesLine } from '../workers/running-elsewhere';
import { binaryVersion, findPresentBinary, SERVER } from '../workers/temporal-binary';
import { checkOn } from './databases';
import { errorText } from './errors';
import { checkModel, unpricedModels } from './model-check';
import { offeredModels } from './question-input';
import type { Surroundings } from './surroundings';
import { configuredTemporal } from '../workers/configured-temporal';
import { withRunning } from './open-temporal';

/** `missing`: GATE cannot work without it. `note`: it works, but look. */
export interface Finding {
  readonly what: string;
  readonly state: 'ok' | 'note' | 'missing';
  readonly detail: string;
  /** null: the detail says it. */
  readonly fix: string | null;
}

const finding =
  (state: Finding['state']) =>
  (what: string, detail: string, fix: string | null = null): Finding => ({ what, state, detail, fix });
const [ok, note, missing] = [finding('ok'), finding('note'), finding('missing')];

async function checked(
  what: string,
  check: () => Promise<Finding | readonly Finding[]>,
  fix: string | null = null,
): Promise<readonly Finding[]> {
  try {
    return [await check()].flat();
  } catch (error) {
    // The finding is named already.
    return [missing(what, errorText(error, false).replace(/^database:? /, ''), fix)];
  }
}

/** `call`: also what costs a fraction of a cent. */
export async function examine(
  at: Surroundings,
  { call, db }: { readonly call: boolean; readonly db?: string },
): Promise<readonly Finding[]> {
  const node = nodeVersion(process.versions.node);
  let config: Config;
  try {
    config = loadConfig(at);
  } catch (error) {
    const lines = errorText(error, false).split('\n');
    return [node, ...lines.map((line) => missing('configuration', line, 'correct this setting'))];
  }
  const databases = [...new Set([...Object.keys(config.databases), ...(db === undefined ? [] : [db])])];
  const checks = [
    checked('model endpoint', () => checkModels(config, call)),
    checked('Temporal', () => checkTemporal(config, at)),
    checked('searches', () => checkSearches(config, at)),
    checked('store', () => checkStore(config)),
    checked('web search', () => checkWebSearch(config, call), 'check "web" of the configuration, and the network'),
    ...databases.map((spec) => checkDatabase(config, spec, at)),
  ];
  return [
    node,
    config.file === null
      ? note('configuration', 'no gate.config.json; environment and defaults apply')
      : ok('configuration', config.file),
    encryptionOf(config),
    ...engines(),
    ...(await Promise.all(checks)).flat(),
    ...(databases.length > 0 ? [] : [note('databases', 'none configured', 'give --db a path or URL, or gate db add')]),
  ];
}

/** What can be asked as it stands, and what another package is needed for. */
function engines(): readonly Finding[] {
  const named = (dialect: Dialect): string => DIALECTS[dialect].name;
  const kinds = Dialect.options
    .filter(hasDriver)
    .map((dialect) => (dialect === 'duckdb' ? `${named(dialect)} and data files` : named(dialect)));
  const lacking = Dialect.options.filter((dialect) => !hasDriver(dialect));
  const packages = lacking.flatMap((dialect) => DRIVERS[dialect] ?? []);
  return [
    ok('engines', kinds.join(', ')),
    ...(lacking.length === 0
      ? []
      : [
          note(
            'engines',
            `${lacking.map(named).join(', ')}: no driver`,
            `if you need it: npm install ${packages.join(' or ')}`,
          ),
        ]),
  ];
}

export function nodeVersion(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  // From these on, CommonJS can load ES modules, which the chart library is.
  if (major > 22 || (major === 22 && minor >= 12) || (major === 20 && minor >= 19)) return ok('Node.js', version);
  return missing('Node.js', `${version} is too old`, 'install Node.js 20.19, 22.12 or newer');
}

async function checkModels(config: Config, call: boolean): Promise<readonly Finding[]> {
  const composition = await compose(config);
  try {
    const name = config.models.default ?? offeredModels(composition)[0];
    const models = [...new Set([...(name === undefined ? [] : [name]), ...Object.values(config.models.roles)])];
    const unpriced = composition.ollamaModels === null ? unpricedModels(config, models) : [];
    const endpoint = await checked('model endpoint', async () => {
      await checkModel(config, composition, models);
      return ok('model endpoint', `${composition.model.endpoint} answers`);
    });
    return [
      name === undefined
        ? missing('model', 'none is named', 'set GATE_MODEL, or "models.default" in the configuration')
        : ok('model', name),
      ...endpoint,
      unpriced.length === 0
        ? ok('prices', `of ${DEFAULT_PRICES_DATE} unless configured`)
        : note('prices', `none known for ${unpriced.join(', ')}: the cost limit cannot work`, 'set "prices"'),
      ...(call && name !== undefined ? await checked('model call', () => tinyCall(composition, name)) : []),
    ];
  } finally {
    await composition.close();
  }
}

async function tinyCall({ model: models }: Composition, model: string): Promise<Finding> {
  const properties = { ok: { type: 'boolean' } };
  const schema = { type: 'object', properties, required: ['ok'], additionalProperties: false };
  const content = 'Reply with the JSON object {"ok": true} and nothing else.';
  const asked = {
    role: 'plan',
    model,
    messages: [{ role: 'user', content }],
    temperature: 0,
    topP: 1,
    maxOutputTokens: 512,
    seed: 0,
    schema: { name: 'check', schema },
  } as const;
  // Its time limit is that of the configuration.
  const reply = await models.complete(asked, { signal: new AbortController().signal });
  const tokens = counted(reply.promptTokens + reply.completionTokens, 'token');
  return ok('model call', `${reply.model}: ${cut(reply.text, 40)} (${tokens})`);
}

async function checkTemporal(config: Config, { env }: Surroundings): Promise<Finding> {
  const what = 'Temporal';
  const configured = configuredTemporal(config, env);
  if (configured !== null) {
    const gate = await connectClient(configured);
    const { serverVersion } = await gate.client.workflowService.getSystemInfo({}).finally(() => gate.close());
    return ok(what, `${configured.address}, namespace ${configured.namespace}, server ${serverVersion}`);
  }
  const running = await embeddedServerInfo(embeddedPlace(config));
  if (running !== null) return ok(what, `embedded server ${running.version} is up on port ${running.port}`);
  const cacheFolder = config.folders.cache;
  const binary = findPresentBinary({ env, cacheFolder });
  if (binary !== null) return ok(what, `embedded server ${binaryVersion(binary, cacheFolder) ?? ''}, from ${binary}`);
  const fetched = `${SERVER.version} will be fetched at the first question (downloaded, else built by Go)`;
  return note(what, fetched, 'or put the temporal CLI on PATH');
}

/** Searches that no worker serves, and the workers that the server starts. Another check reports a Temporal that does not answer. */
function checkSearches(config: Config, at: Surroundings): Promise<readonly Finding[]> {
  return withRunning({ config, env: at.env }, async (session) => {
    if (session === null) return [];
    const { client } = session.gate;
    const deployment = deploymentOf(config.temporal.versioning);
    const unserved = await unservedSearches(session.gate, at.now());
    // Of workers that the server starts, nobody need be there between two steps.
    const started = unserved.length === 0 ? null : await startedQueues(client, deployment);
    const used = await startedVersion(client, deployment);
    const [what, version] = ['workers started by Temporal', `${deployment}.${used?.buildId} by ${used?.provider}`];
    const fix = 'correct it, and register it again: gate ops deploy register';
    return [
      ...(used === null
        ? []
        : [used.problem === null ? ok(what, version) : missing(what, `${version}: ${used.problem}`, fix)]),
      ...unserved
        .filter(({ taskQueue }) => started?.has(taskQueue) !== true)
        .map((queue) => note('searches', unservedSearchesLine(queue), UNSERVED_SEARCHES_FIX)),
    ];
  });
}

async function checkStore(config: Config): Promise<Finding> {
  const store = openStore(config);
  const [key, text] = ['doctor/check', randomUUID()];
  await store.put(key, text, { overwrite: true });
  const read = await store.get(key);
  await store.delete(key);
  const location = storeLocation(config.store);
  return read === text ? ok('store', location) : missing('store', `${location} does not keep what is written`);
}

function encryptionOf({ encryption }: Config): Finding {
  if (encryption === null) return ok('encryption', 'off; docs/privacy.md says what is readable then');
  const [current, ...others] = encryption.keys.map(({ id }) => id);
  const rest = others.map((id) => `, ${id} only decrypts`).join('');
  return ok('encryption', `on; key '${current ?? ''}' encrypts${rest}`);
}

/** As `gate db check`: writes are attempted past the parser. */
function checkDatabase(config: Config, spec: string, { cwd }: Surroundings): Promise<readonly Finding[]> {
  const isNamed = Object.hasOwn(config.databases, spec);
  const what = `database ${isNamed ? spec : 'given by --db'}`;
  return checked(what, async () => {
    const database = resolveDatabase(config, spec, cwd);
    const { problems, notes, version, tables, check } = await checkOn(config, database);
    const [problem] = problems;
    if (problem !== undefined) return missing(what, problem.replace(/^database:? /, ''));
    const refusal = check === null ? 'the role only reads' : 'writes are refused';
    const seen = `${version ?? ''}, ${counted(tables ?? 0, 'table')}, ${refusal}`;
    const [right] = check?.rights ?? [];
    const revoke = `gate db check ${isNamed ? spec : '…'} says what to revoke`;
    return [
      right === undefined ? ok(what, seen) : note(what, `${seen}; ${right.what}`, revoke),
      ...notes.map((text) => note(what, text)),
    ];
  });
}

/** A search that is billed is made only with `--call`; one's own SearXNG is searched. */
export async function checkWebSearch({ web }: Pick<Config, 'web'>, call: boolean): Promise<readonly Finding[]> {
  if (web === null) return [];
  const what = 'web search';
  const { provider, baseUrl, apiKey, fix } = web;
  if (fix !== null) return [missing(what, `${provider} has no key`, fix)];
  if (!call && provider !== 'searxng') return [ok(what, `${provider} has a key; --call tries it`)];
  const { createSearch } = await import('../adapters/web/providers');
  const search = createSearch({ provider, baseUrl, apiKey: apiKey?.reveal() ?? null, timeoutMs: 10_000 });
  const results = await search('test', { signal: new AbortController().signal });
  if (results.length > 0) return [ok(what, `${provider} answers with ${counted(results.length, 'result')}`)];
  const engines = provider === 'searxng' ? 'switch on engines in its settings.yml' : null;
  return [note(what, `${provider} answers, without any result`, engines)];
}
