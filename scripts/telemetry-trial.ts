/**
 * Tries dashboard and alerts on a real Prometheus: a real worker answers questions of a simulated model that also refuses and
 * fails, Prometheus scrapes it every second, and each query of the dashboard has to give data. Needs `prometheus` and
 * `promtool` (Debian: `apt-get install prometheus`) and a build: `npx tsx scripts/telemetry-trial.ts`.
 */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { SIMULATED_MODEL, startSimulatedModel } from '../simulated-model';
import { freePort } from '../tests/helpers/free-port';
import { loadTestData } from '../tests/helpers/shared-data';

const ROOT = resolve(__dirname, '..');
const GATE = join(ROOT, 'dist', 'src', 'cli', 'main.js');
const RULES = join(ROOT, 'infra', 'prometheus');
const SCRAPES_MS = 3_000;
const QUESTIONS = 8;
const run = promisify(execFile);

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets?: readonly { readonly expr: string }[];
  }[];
}

async function main(): Promise<void> {
  for (const [command, file] of [
    ['rules', 'alerts.yaml'],
    ['config', 'prometheus.yaml'],
  ] as const)
    process.stdout.write(
      execFileSync('promtool', ['check', command, join(RULES, file)], {
        encoding: 'utf8',
      }),
    );
  process.stdout.write(
    execFileSync('promtool', ['test', 'rules', join(RULES, 'alerts.test.yaml')], { encoding: 'utf8' }),
  );

  const folder = mkdtempSync(join(tmpdir(), 'gate-telemetry-'));
  const data = await loadTestData(null, { sample: true });
  const faults = { 'rate-limit': 0.1, 'server-error': 0.1 };
  const model = await startSimulatedModel({
    questions: data.questionFiles,
    databases: data.databases,
    faults,
  });
  const stops: (() => Promise<void>)[] = [];
  const [path] = data.databases.map((database) => database.split('=')[1]);
  const [metricsPort, prometheusPort] = [await freePort(), await freePort()];
  mkdirSync(join(folder, 'home'));
  writeFileSync(join(folder, 'gate.config.json'), JSON.stringify({ databases: { sprint: { path } } }));
  const env = {
    ...{
      PATH: process.env['PATH'],
      HOME: join(folder, 'home'),
      GATE_STORE: join(folder, 'store'),
      CI: '1',
    },
    ...{
      GATE_MODEL: SIMULATED_MODEL,
      OPENAI_BASE_URL: model.baseUrl,
      OPENAI_API_KEY: 'key',
      GATE_MEMORY: 'off',
    },
    ...(process.env['TEMPORAL_CLI_PATH'] ? { TEMPORAL_CLI_PATH: process.env['TEMPORAL_CLI_PATH'] } : {}),
    XDG_CACHE_HOME: process.env['XDG_CACHE_HOME'] ?? join(process.env['HOME'] ?? '', '.cache'),
  };
  const gate = async (...args: string[]): Promise<string> =>
    (await run(process.execPath, [GATE, ...args], { cwd: folder, env })).stdout;
  const start = (command: string, args: readonly string[], ready: RegExp): Promise<void> =>
    new Promise((resolveStart, reject) => {
      const child = spawn(command, args, {
        cwd: folder,
        env,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      const ended = new Promise<void>((resolveEnd) => child.once('close', () => resolveEnd()));
      stops.push(() => {
        child.kill('SIGTERM');
        return ended;
      });
      let said = '';
      child.stderr.on('data', (chunk: Buffer) => {
        said += chunk.toString();
        if (ready.test(said)) resolveStart();
      });
      child.once('close', (code) => reject(new Error(`${command} ended (${String(code)}): ${said.slice(-2_000)}`)));
    });
  try {
    await start(process.execPath, [GATE, 'worker', '--metrics-port', String(metricsPort)], /Ctrl-C stops/);
    cpSync(join(RULES, 'alerts.yaml'), join(folder, 'alerts.yaml'));
    const config = readFileSync(join(RULES, 'prometheus.yaml'), 'utf8')
      .replace('127.0.0.1:9464', `127.0.0.1:${String(metricsPort)}`)
      .replace('scrape_interval: 15s', 'scrape_interval: 1s');
    writeFileSync(join(folder, 'prometheus.yaml'), config);
    await start(
      'prometheus',
      [
        '--config.file=prometheus.yaml',
        '--storage.tsdb.path=tsdb',
        `--web.listen-address=127.0.0.1:${String(prometheusPort)}`,
      ],
      /Server is ready to receive web requests/,
    );
    const answer = async (question: string): Promise<void> => {
      const out = await gate('ask', question, '--db', 'sprint', '--detach', '--fresh', '--json');
      await gate('result', (JSON.parse(out) as { id: string }).id, '--wait');
    };
    const questions = data.questions.filter(({ engine }) => engine === 'sqlite').map(({ question }) => question);
    // One after the other: rates need more than one scrape.
    for (const question of questions.slice(0, QUESTIONS)) await answer(question);
    await sleep(SCRAPES_MS);
    process.exitCode = (await asked(`http://127.0.0.1:${String(prometheusPort)}`)) ? 0 : 1;
  } finally {
    await Promise.all(stops.map((stop) => stop()));
    // `--detach` keeps the embedded server, which writes to the folder.
    await gate('dev', '--stop');
    await model.close();
    data.close();
    rmSync(folder, {
      recursive: true,
      force: true,
      maxRetries: 20,
      retryDelay: 500,
    });
  }
}

/** Prints what each query gives; true: all that must give data do. */
async function asked(prometheus: string): Promise<boolean> {
  const { panels } = JSON.parse(readFileSync(join(ROOT, 'infra', 'grafana', 'gate.json'), 'utf8')) as Dashboard;
  let complete = true;
  for (const { title, targets = [] } of panels)
    for (const { expr } of targets) {
      const query = expr.replaceAll('$__rate_interval', '5m').replaceAll('$job', 'gate');
      const url = `${prometheus}/api/v1/query?query=${encodeURIComponent(query)}`;
      const { data } = (await (await fetch(url)).json()) as {
        data: { result: { value: [number, string] }[] };
      };
      const values = data.result.map(({ value: [, value] }) => Number(value).toPrecision(3));
      // A reply is found in the journal where a worker was killed after it was paid; nothing is killed here.
      const needed = !title.includes('journal');
      if (needed && values.length === 0) complete = false;
      process.stdout.write(
        `${values.length === 0 ? (needed ? 'EMPTY' : 'none ') : 'data '} ${title}: ${values.join(' ')}\n`,
      );
    }
  return complete;
}

void main();
