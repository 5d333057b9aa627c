/**
 * `npm run bench`: measures every figure in a process of its own and prints a table. `-- NAME …` selects figures, `-- --json`
 * prints JSON, `-- --short` uses fewer repeats. Exits with 1 if a figure misses its target. The peers are compared only if
 * `bench/peers` is installed; `-- peers` installs it on first use.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { isMet, type Figure } from './figure';
import { comparisonTable, figureTable } from './tables';
import { peersInstalled } from './world/peer-packages';

const FIGURES: Readonly<Record<string, string>> = {
  question: 'what one question costs Temporal, store, database and processors',
  step: 'a durable sequential step on the embedded server',
  search: 'a search of 40 model calls, durable against in-process, and its history',
  ask: 'from Enter to the first SQL of gate ask',
  sql: 'the SQL port over the bare drivers, and a large result as CSV in the store',
  replay: 'replay of a history of 1,000 events',
  score: '1,000 predictions scored by the rules of a benchmark',
  schema: 'the schema context of 1,000 tables with 10,000 columns',
  layer: '10,000 entries of a semantic layer, and 1,000 of its checks',
  batch: '1,044 questions as one batch, 100 in flight, and the same while its process is killed',
  load: '200 concurrent searches, everything on this machine',
  scale: 'a simulation, held against measured loads, and what a million questions a day need',
  serverless: 'workers that Temporal starts: the packaged function on a Lambda service of our own',
  peers: 'the price of durability against in-process, LangGraph.js and DBOS',
};
const FLAGS = ['--json', '--short'];

async function main(args: readonly string[]): Promise<void> {
  const asked = args.filter((argument) => !argument.startsWith('--'));
  const flags = args.filter((argument) => argument.startsWith('--'));
  const unknown = [...asked.filter((name) => !(name in FIGURES)), ...flags.filter((flag) => !FLAGS.includes(flag))];
  if (unknown.length > 0) {
    console.error(
      `bench: no figure ${unknown.join(', ')}; there are ${Object.keys(FIGURES).join(', ')} and the flags ${FLAGS.join(', ')}`,
    );
    process.exitCode = 2;
    return;
  }
  const withPeers = asked.length > 0 || peersInstalled();
  const names = asked.length > 0 ? asked : Object.keys(FIGURES).filter((name) => name !== 'peers' || withPeers);
  const figures: Figure[] = [];
  for (const name of names) {
    console.error(`${name}: ${FIGURES[name] ?? ''} …`);
    figures.push(...(await measure(name, flags)));
  }
  if (flags.includes('--json')) console.log(JSON.stringify(figures, null, 2));
  else console.log([figureTable(figures), comparisonTable(figures)].filter((table) => table !== '').join('\n\n'));
  if (!withPeers)
    console.error('not compared with peers: npm run bench -- peers installs them in bench/peers and does');
  if (figures.some((figure) => !isMet(figure))) process.exitCode = 1;
}

async function measure(name: string, flags: readonly string[]): Promise<readonly Figure[]> {
  const given = flags.filter((flag) => flag !== '--json');
  const child = spawn(process.execPath, [join(__dirname, `${name}.js`), ...given], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  for await (const chunk of child.stdout) out += String(chunk);
  const line = out.trim().split('\n').at(-1) ?? '';
  if (!line.startsWith('[')) throw new Error(`the figure ${name} could not be measured`);
  return JSON.parse(line) as Figure[];
}

void main(process.argv.slice(2));
