/**
 * `npm run bench`: runs every bench in a process of its own, prints its figures as they come and all of them as a table at the
 * end. `-- NAME …` selects benches, `-- --only TEXT` the parts of them whose names have the text in them, `-- --short` uses
 * fewer repeats, `-- --json` prints JSON instead of the table. Exits with 1 if a figure misses its target or could not be
 * measured. The peers are compared only if `bench/peers` is installed; `-- peers` installs it on first use.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { failure, figureIn, isMet, say, type Figure } from './figure';
import { comparisonTable, figureLine, figureTable } from './tables';
import { peersInstalled } from './world/peer-packages';

const BENCHES: Readonly<Record<string, string>> = {
  question: 'what one question costs Temporal, store, database and processors',
  step: 'a durable sequential step on the embedded server',
  ask: 'from Enter to the first SQL of gate ask, and to the end of other commands',
  files: 'the first answer over a CSV file of a million rows, the profile of a Parquet file of ten million',
  sql: 'the SQL port over the bare drivers, and a large result as CSV in the store',
  replay: 'replay of a history of 1,000 events',
  score: '1,000 predictions scored by the rules of a benchmark',
  schema: 'the schema context of 1,000 tables with 10,000 columns',
  wide: 'what a prompt shows of 300 and of 3,000 tables',
  layer: '10,000 entries of a semantic layer, and 1,000 of its checks',
  batch: '1,044 questions as one batch, 100 in flight; the same while its process is killed; S3 against a folder',
  load: '200 concurrent searches and 1,000, everything on this machine',
  page: 'the first page, events after they happen, lists of 10,000 searches',
  stored: 'commands that look at the store, with 1,000 and with 100,000 stored searches',
  scale: 'a simulation, held against measured loads, and what a million questions a day need',
  serverless: 'workers that Temporal starts: the packaged function on a Lambda service of our own',
  peers: 'the price of durability against in-process, LangGraph.js and DBOS',
};

interface Flags {
  readonly json?: boolean;
  readonly short?: boolean;
  readonly only?: string;
}

async function main(asked: readonly string[], flags: Flags): Promise<void> {
  const withPeers = asked.length > 0 || peersInstalled();
  const names = asked.length > 0 ? asked : Object.keys(BENCHES).filter((name) => name !== 'peers' || withPeers);
  const args = [...(flags.short ? ['--short'] : []), ...(flags.only === undefined ? [] : [`--only=${flags.only}`])];
  const figures: Figure[] = [];
  for (const name of names) {
    if (stopped) break;
    console.error(`${name}: ${BENCHES[name] ?? ''} …`);
    await run(name, args, (figure) => {
      figures.push(figure);
      say(figureLine(figure));
    });
  }
  if (flags.json) console.log(JSON.stringify(figures, null, 2));
  else console.log([figureTable(figures), comparisonTable(figures)].filter((table) => table !== '').join('\n\n'));
  if (!withPeers)
    console.error('not compared with peers: npm run bench -- peers installs them in bench/peers and does');
  if (stopped || figures.some((figure) => !isMet(figure))) process.exitCode = 1;
}

let stopped = false;

/** A bench that ends without having said why is a figure that could not be measured. */
async function run(name: string, args: readonly string[], take: (figure: Figure) => void): Promise<void> {
  const child = spawn(process.execPath, [join(__dirname, `${name}.js`), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const stop = (signal: NodeJS.Signals): void => {
    stopped = true;
    child.kill(signal);
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  const ended = new Promise<string>((resolve) => child.once('exit', (code, signal) => resolve(String(signal ?? code))));
  let [figures, failed] = [0, false];
  for await (const line of createInterface({ input: child.stdout })) {
    const figure = figureIn(line);
    if (figure === null) say(line);
    else take(figure);
    figures += figure === null ? 0 : 1;
    failed ||= figure?.failed !== undefined;
  }
  const how = await ended;
  process.off('SIGINT', stop).off('SIGTERM', stop);
  if (stopped) take(failure(name, 'it was stopped'));
  else if (how !== '0' && !failed) take(failure(name, `its process ended with ${how}`));
  else if (figures === 0) take(failure(name, 'it has no such part'));
}

function begin(): void {
  try {
    const { positionals, values } = parseArgs({
      allowPositionals: true,
      options: { json: { type: 'boolean' }, short: { type: 'boolean' }, only: { type: 'string' } },
    });
    const unknown = positionals.filter((name) => !(name in BENCHES));
    if (unknown.length > 0)
      throw new Error(`there is no ${unknown.join(', ')}, but ${Object.keys(BENCHES).join(', ')}`);
    void main(positionals, values);
  } catch (error) {
    console.error(`bench: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 2;
  }
}

begin();
