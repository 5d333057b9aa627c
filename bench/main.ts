/**
 * `npm run bench`: every figure in a process of its own, as a table; `-- --json` for machines; `-- NAME …` for some.
 * Exit 1 when a figure misses its target.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Figure } from './figure';

const FIGURES: Readonly<Record<string, string>> = {
  step: 'a durable sequential step on the embedded server',
  search: 'a search of 40 model calls, durable against in-process, and its history',
  ask: 'from Enter to the first SQL of gate ask',
};

async function main(args: readonly string[]): Promise<void> {
  const names = args.filter((argument) => !argument.startsWith('--'));
  const unknown = [
    ...names.filter((name) => !(name in FIGURES)),
    ...args.filter((a) => a.startsWith('--') && a !== '--json'),
  ];
  if (unknown.length > 0) {
    console.error(
      `bench: no figure ${unknown.join(', ')}; there are ${Object.keys(FIGURES).join(', ')} and the flag --json`,
    );
    process.exitCode = 2;
    return;
  }
  const json = args.includes('--json');
  const figures: Figure[] = [];
  for (const name of names.length > 0 ? names : Object.keys(FIGURES)) {
    console.error(`${name}: ${FIGURES[name] ?? ''} …`);
    figures.push(...(await measure(name)));
  }
  console.log(json ? JSON.stringify(figures, null, 2) : table(figures));
  if (figures.some((figure) => !isMet(figure))) process.exitCode = 1;
}

async function measure(name: string): Promise<readonly Figure[]> {
  const child = spawn(process.execPath, [join(__dirname, `${name}.js`)], { stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  for await (const chunk of child.stdout) out += String(chunk);
  const line = out.trim().split('\n').at(-1) ?? '';
  if (!line.startsWith('[')) throw new Error(`the figure ${name} could not be measured`);
  return JSON.parse(line) as Figure[];
}

function isMet({ value, atMost }: Figure): boolean {
  return atMost === null || value <= atMost;
}

function table(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => [
    figure.name,
    `${format(figure.value)} ${figure.unit}`,
    figure.atMost === null ? '' : `≤ ${format(figure.atMost)} ${figure.unit}`,
    figure.atMost === null ? '' : isMet(figure) ? 'met' : 'MISSED',
    figure.how,
  ]);
  const all = [['figure', 'measured', 'target', '', 'how'], ...rows];
  const widths = [0, 1, 2, 3].map((at) => Math.max(...all.map((row) => (row[at] ?? '').length)));
  return all
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function format(value: number): string {
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}

void main(process.argv.slice(2));
