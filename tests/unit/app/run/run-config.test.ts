/** Which methods and seeds the questions of a run are asked with. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { askedWith, readRunConfig } from '../../../../src/app/run/run-config';
import { parseMethodSpec } from '../../../../src/config/method-specs';
import { ROOT } from '../../../helpers/shared-data';

/** `method seed` of each entry. */
function askedIn(path: string): string[][] {
  const { config } = readRunConfig(path, path, ['ehrsql2024', 'ls-hard']);
  return config.questions.map((entry) =>
    askedWith(config, entry, { method: parseMethodSpec('thorough') }).map(({ spec, seed }) => `${spec.spec} ${seed}`),
  );
}

test('methods and seeds of an entry, and seeds of a method, stand before those of the run; seeds take turns', () => {
  const path = join(mkdtempSync(join(tmpdir(), 'gate-run-config-')), 'run.yaml');
  writeFileSync(
    path,
    `name: a
methods: [fast, react]
seeds: 2
questions:
  - file: one.jsonl
    methods:
      - react
      - { method: fast, seeds: [4, 7] }
  - { file: two.jsonl, seeds: [5] }
  - file: three.jsonl
`,
  );
  expect(askedIn(path)).toEqual([
    ['react 0', 'react 1', 'fast 4', 'fast 7'],
    ['fast 5', 'react 5'],
    ['fast 0', 'react 0', 'fast 1', 'react 1'],
  ]);
});

test('run-variance asks ReAct on RealEHR six times and all else five times, as the paper', () => {
  const asked = askedIn(join(ROOT, 'examples', 'paper', 'run-variance.yaml'));
  const times = asked.map((entry) =>
    ['react', 'redel', 'reforce', 'paper'].map((name) => entry.filter((one) => one.startsWith(name)).length),
  );
  expect(times).toEqual([
    [6, 5, 5, 5],
    [5, 5, 5, 5],
    [5, 5, 5, 5],
  ]);
});
