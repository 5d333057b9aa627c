/** `npm run faults -- --short` as a user would run it: every kind of fault at two moments (docs/faults.md). */
import { spawn } from 'node:child_process';
import { join } from 'node:path';

interface Summary {
  readonly name: string;
  readonly kept: boolean;
  readonly moments: number;
  readonly failure: string | null;
}

const KINDS = [
  ...['worker-killed', 'temporal-killed', 'postgres-stopped', 's3-down', 'disk-full', 'workers-racing', 'clock-jumps'],
  ...['model-429', 'model-500', 'model-malformed', 'model-hangs', 'model-stalls', 'model-closes'],
];
const ROOT = join(__dirname, '../..');

let found: readonly Summary[] = [];
let progress = '';

beforeAll(async () => {
  const tsx = join(ROOT, 'node_modules/.bin/tsx');
  const child = spawn(tsx, ['tests/faults/main.ts', '--short', '--json'], { cwd: ROOT });
  let out = '';
  child.stdout.on('data', (text: Buffer) => (out += text.toString()));
  child.stderr.on('data', (text: Buffer) => (progress += text.toString()));
  await new Promise((resolve) => child.once('close', resolve));
  if (!out.startsWith('{')) throw new Error(`the fault suite gave no report:\n${progress}`);
  found = (JSON.parse(out) as { kinds: Summary[] }).kinds;
}, 900_000);

test.each(KINDS)('%s: every promise is kept', (name) => {
  const kind = found.find((one) => one.name === name);
  const about = progress.split('\n').filter((line) => line.startsWith(name) || line.startsWith('    '));
  if (kind?.kept !== true) throw new Error(`${kind?.failure ?? 'a promise was broken'}:\n${about.join('\n')}`);
  expect(kind.moments).toBe(2);
});

test('no kind is left out', () => {
  expect(found.map(({ name }) => name).sort()).toEqual([...KINDS].sort());
});
