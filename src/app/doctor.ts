/** What is configured, reachable and missing, each with its fix. Each check gives findings and never throws: what breaks a check is its finding. */
import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { detectOllama, DEFAULT_PRICES_DATE, OPENAI_BASE_URL } from '../adapters/openai';
import { loadConfig, type Config } from '../config';
import { readConfigFile } from '../config/file';
import { embeddedPlace, storeLocation } from '../config/store';
import { resolveDatabase, type ResolvedDatabase } from '../config/databases';
import type { WebErrorCode } from '../domain/ports';
import { counted, cut } from '../report/printable';
import { compose } from '../workers/composition';
import { openEngines } from '../workers/engines';
import { embeddedServerInfo } from '../workers/embedded-server';
import { openStore } from '../workers/open-store';
import { binaryVersion, findPresentBinary, SERVER } from '../workers/temporal-binary';
import { connectClient } from '../workers/client';
import { UNSERVED_SEARCHES_FIX, unservedSearches, unservedSearchesLine } from '../workers/running-elsewhere';
import { checkOn } from './databases';
import { checkEndpoint, unpricedModels } from './model-check';
import { errorText } from './errors';
import type { Surroundings } from './surroundings';
import { startedQueues, startedVersion } from '../workers/deployments';
import { deploymentOf } from '../config';
import { configuredTemporal, openRunning } from './temporal-session';

/** `missing`: GATE cannot work without it. `note`: it works, but look. */
export interface Finding {
  readonly what: string;
  readonly state: 'ok' | 'note' | 'missing';
  readonly detail: string;
  /** null: the detail says it. */
  readonly fix: string | null;
}

const ok = (what: string, detail: string): Finding => ({ what, state: 'ok', detail, fix: null });
const note = (what: string, detail: string, fix: string | null): Finding => ({ what, state: 'note', detail, fix });
const missing = (what: string, detail: string, fix: string | null): Finding => ({
  what,
  state: 'missing',
  detail,
  fix,
});

export async function examine(
  io: Surroundings,
  options: { readonly call: boolean; readonly db?: string },
): Promise<Finding[]> {
  const node = nodeVersion(process.versions.node);
  let config: Config;
  try {
    config = loadConfig(io);
  } catch (error) {
    const lines = errorText(error, false).split('\n');
    return [node, ...lines.map((line) => missing('configuration', line, 'correct this setting'))];
  }
  const read =
    config.file === null
      ? note('configuration', 'no gate.config.json; environment and defaults apply', null)
      : ok('configuration', config.file);
  const [model, temporal, queues, store, web, databases] = await Promise.all([
    checkModels(config, options.call),
    checkTemporal(config, io),
    checkQueues(config, io),
    checkStore(config),
    checkWebSearch(config, options.call),
    checkDatabases(config, io, options.db),
  ]);
  return [
    node,
    read,
    ...readableSecrets(config.file, io.platform),
    ...model,
    ...temporal,
    ...queues,
    store,
    encryptionOf(config),
    ...web,
    ...databases,
  ];
}

export function nodeVersion(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  // From these on, CommonJS can load ES modules, which the chart library is.
  const fits = major > 22 || (major === 22 && minor >= 12) || (major === 20 && minor >= 19);
  return fits
    ? ok('Node.js', version)
    : missing('Node.js', `${version} is too old`, 'install Node.js 20.19, 22.12 or newer');
}

async function checkModels(config: Config, call: boolean): Promise<Finding[]> {
  const { apiKey, baseUrl, apiKeySource } = config.models;
  const ollama = apiKey === null && baseUrl === null ? await detectOllama() : null;
  const name = config.models.default ?? ollama?.models[0] ?? null;
  const named =
    name === null
      ? missing('model', 'none is named', 'set GATE_MODEL, or "models.default" in the configuration')
      : ok('model', name);
  if (ollama !== null)
    return [named, ok('model endpoint', `Ollama at ${ollama.baseUrl}, ${counted(ollama.models.length, 'model')}`)];
  if (apiKey === null && baseUrl === null) {
    const fix = `set ${apiKeySource}, or OPENAI_BASE_URL for another endpoint, or start an Ollama`;
    return [named, missing('model endpoint', 'no key and no address', fix)];
  }
  const check = await checkEndpoint(config.models, OPENAI_BASE_URL);
  if (check.kind !== 'ok') return [named, missing('model endpoint', check.fix, null)];
  const wanted = [...new Set([...(name === null ? [] : [name]), ...Object.values(config.models.roles)])];
  const unknown = check.models.length === 0 ? [] : wanted.filter((model) => !check.models.includes(model));
  const endpoint =
    unknown.length === 0
      ? ok('model endpoint', `${check.url} answers${apiKey === null ? ' without a key' : ' and takes the key'}`)
      : note(
          'model endpoint',
          `${check.url} does not list ${unknown.join(', ')}`,
          'set GATE_MODEL to a model that it lists',
        );
  const unpriced = unpricedModels(config, wanted);
  const price =
    unpriced.length === 0
      ? ok('prices', `of ${DEFAULT_PRICES_DATE} unless configured`)
      : note(
          'prices',
          `none known for ${unpriced.join(', ')}: the cost limit cannot work`,
          'set "prices" in the configuration',
        );
  const findings = [named, endpoint, ...(wanted.length > 0 ? [price] : [])];
  return call && name !== null ? [...findings, await tinyCall(config, name)] : findings;
}

async function tinyCall(config: Config, model: string): Promise<Finding> {
  return finding('model call', async () => {
    const composition = await compose(config);
    try {
      const reply = await composition.model.complete(
        {
          role: 'plan',
          model,
          messages: [{ role: 'user', content: 'Reply with the JSON object {"ok": true} and nothing else.' }],
          temperature: 0,
          topP: 1,
          maxOutputTokens: 512,
          seed: 0,
          schema: {
            name: 'check',
            schema: {
              type: 'object',
              properties: { ok: { type: 'boolean' } },
              required: ['ok'],
              additionalProperties: false,
            },
          },
        },
        // Its time limit is that of the configuration.
        { signal: new AbortController().signal },
      );
      return ok(
        'model call',
        `${reply.model}: ${cut(reply.text, 40)} (${counted(reply.promptTokens + reply.completionTokens, 'token')})`,
      );
    } finally {
      await composition.close();
    }
  });
}

async function checkTemporal(config: Config, io: Surroundings): Promise<Finding[]> {
  const what = 'Temporal';
  try {
    const configured = configuredTemporal(config, io.env);
    if (configured !== null) {
      const gate = await connectClient(configured);
      const { serverVersion } = await gate.client.workflowService.getSystemInfo({}).finally(() => gate.close());
      const { address, namespace } = configured;
      return [ok(what, `${address}, namespace ${namespace}, server ${serverVersion}`)];
    }
    const running = await embeddedServerInfo(embeddedPlace(config));
    if (running !== null) return [ok(what, `embedded server ${running.version} is up on port ${running.port}`)];
    const cacheFolder = config.folders.cache;
    const binary = findPresentBinary({ env: io.env, cacheFolder });
    if (binary !== null) {
      const version = binaryVersion(binary, cacheFolder);
      return [ok(what, `embedded server${version === null ? '' : ` ${version}`}, from ${binary}`)];
    }
    const fetched = `${SERVER.version} will be fetched at the first question (downloaded, else built by Go)`;
    return [note(what, fetched, 'or put the temporal CLI on PATH')];
  } catch (error) {
    return [missing(what, errorText(error, false), null)];
  }
}

/** Searches that no worker serves. A Temporal that does not answer is reported by another check. */
async function checkQueues(config: Config, io: Surroundings): Promise<Finding[]> {
  const session = await openRunning(config, io.env);
  if (session === null) return [];
  try {
    const { client } = session.gate;
    const { versioning } = config.temporal;
    const unserved = await unservedSearches(session.gate, io.now());
    // Between two steps nobody need be there.
    const started = unserved.length === 0 ? null : await startedQueues(client, deploymentOf(versioning));
    const searches = unserved.filter(({ taskQueue }) => started?.has(taskQueue) !== true);
    return [
      ...(await startedByServer(client, deploymentOf(versioning))),
      ...searches.map((queue) => note('searches', unservedSearchesLine(queue), UNSERVED_SEARCHES_FIX)),
    ];
  } catch (error) {
    return [note('queues', errorText(error, false), null)];
  } finally {
    await session.close();
  }
}

/** The worker version that the server starts, and what the server finds wrong with it; empty where it starts none. */
async function startedByServer(client: Client, name: string): Promise<Finding[]> {
  const what = 'workers started by Temporal';
  const used = await startedVersion(client, name);
  if (used === null) return [];
  const version = `${name}.${used.buildId} by ${used.provider}`;
  if (used.problem === null) return [ok(what, version)];
  return [missing(what, `${version}: ${used.problem}`, 'correct it, and register it again: gate ops deploy register')];
}

async function checkStore(config: Config): Promise<Finding> {
  return finding('store', async () => {
    const store = openStore(config);
    const text = randomUUID();
    await store.put('doctor/check', text, { overwrite: true });
    if ((await store.get('doctor/check')) !== text)
      throw new Error(`${storeLocation(config.store)} does not keep what is written`);
    await store.delete('doctor/check');
    return ok('store', storeLocation(config.store));
  });
}

function encryptionOf({ encryption }: Config): Finding {
  if (encryption === null) return ok('encryption', 'off; docs/privacy.md says what is readable then');
  const [current, ...others] = encryption.keys.map(({ id }) => id);
  const rest = others.length === 0 ? '' : `, ${others.join(', ')} only ${others.length === 1 ? 'decrypts' : 'decrypt'}`;
  return ok('encryption', `on; key '${current ?? ''}' encrypts${rest}`);
}

async function checkDatabases(
  config: Config,
  io: Pick<Surroundings, 'cwd'>,
  extra: string | undefined,
): Promise<Finding[]> {
  const specs = [...new Set([...Object.keys(config.databases), ...(extra === undefined ? [] : [extra])])];
  if (specs.length === 0)
    return [note('databases', 'none configured', 'give --db a path or URL, or add "databases" to the configuration')];
  return Promise.all(
    specs.map((spec) => {
      const what = `database ${Object.hasOwn(config.databases, spec) ? spec : 'given by --db'}`;
      return finding(what, () => checkDatabase(config, resolveDatabase(config, spec, io.cwd), what));
    }),
  );
}

/** As `gate db check`: writes are attempted past the parser. */
async function checkDatabase(config: Config, database: ResolvedDatabase, what: string): Promise<Finding> {
  const report = await checkOn(database, () => openEngines(config, database.adHoc ? [database] : []));
  const [problem] = report.problems;
  if (problem !== undefined) return missing(what, problem.replace(/^database:? /, ''), null);
  const seen = `${report.version ?? ''}, ${counted(report.tables ?? 0, 'table')}`;
  const refusal = report.check === null ? 'the role only reads' : 'writes are refused';
  const [right] = report.check?.rights ?? [];
  if (right === undefined) return ok(what, `${seen}, ${refusal}`);
  return note(
    what,
    `${seen}, ${refusal}; ${right.what}`,
    `gate db check ${database.adHoc ? '…' : database.name} says what to revoke`,
  );
}

async function finding(what: string, check: () => Promise<Finding>): Promise<Finding> {
  try {
    return await check();
  } catch (error) {
    // The finding is named already.
    return missing(what, errorText(error, false).replace(/^database:? /, ''), null);
  }
}

/** Settings that name a file with a secret; `file` is that of an encryption key. */
const SECRET = /^(urlFile|apiKeyFile|privateKeyFile|passphraseFile|tokenFile|passwordFile|file)$/;
const [BY_OTHERS, THROUGH_BY_OTHERS] = [0o004, 0o001];

/** Files with secrets, of those that the configuration names, that every user of this machine may read. */
export function readableSecrets(config: string | null, platform: NodeJS.Platform): Finding[] {
  if (config === null || platform === 'win32') return [];
  const filesIn = (value: unknown): string[] =>
    typeof value !== 'object' || value === null
      ? []
      : Object.entries(value).flatMap(([key, inner]) =>
          typeof inner === 'string' && SECRET.test(key) ? [inner] : filesIn(inner),
        );
  const files = filesIn(readConfigFile(config).json).map((file) => resolve(dirname(config), file));
  // Containers often mount secrets so; hence no more than a note.
  return [...new Set(files)]
    .filter(isOpen)
    .map((file) => note('secrets', `every user of this machine may read ${file}`, `chmod 600 '${file}'`));
}

/** A closed folder closes its files. */
function isOpen(file: string): boolean {
  try {
    const info = statSync(file);
    const isReadable = info.isFile() && (info.mode & BY_OTHERS) !== 0;
    return isReadable && (statSync(dirname(file)).mode & THROUGH_BY_OTHERS) !== 0;
  } catch {
    return false; // A file that cannot even be looked at is not open to everybody.
  }
}

const WEB_FIXES: Partial<Record<WebErrorCode, string>> = {
  connection: 'start it, or check web.baseUrl and the network',
  timeout: 'start it, or check web.baseUrl and the network',
  'not-found': 'correct the host in web.baseUrl',
  authentication: 'check the key that web.apiKeyEnv or web.apiKeyFile names',
};

/** A search that is billed is made only with `--call`; one's own SearXNG is searched. */
export async function checkWebSearch({ web }: Pick<Config, 'web'>, call: boolean): Promise<Finding[]> {
  if (web === null) return [];
  const what = 'web search';
  const { provider, baseUrl, apiKey, fix } = web;
  if (fix !== null) return [missing(what, `${provider} has no key`, fix)];
  const { createSearch, reachProvider } = await import('../adapters/web/providers');
  const options = { provider, baseUrl, apiKey: apiKey?.reveal() ?? null, timeoutMs: 10_000 };
  const { signal } = new AbortController();
  try {
    if (!call && provider !== 'searxng')
      return [ok(what, `${provider} answers at ${await reachProvider(options, { signal })}; --call tries the key`)];
    const results = await createSearch(options)('test', { signal });
    if (results.length > 0) return [ok(what, `${provider} answers with ${counted(results.length, 'result')}`)];
    const engines = provider === 'searxng' ? 'switch on engines in its settings.yml' : null;
    return [note(what, `${provider} answers, without any result`, engines)];
  } catch (error) {
    const { code } = error as { readonly code?: WebErrorCode };
    // A provider's own message may say already what to do.
    return [missing(what, errorText(error, false), (code && WEB_FIXES[code]) ?? null)];
  }
}
