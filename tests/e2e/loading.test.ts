/** What a command loads before it does anything: most of its time, where it only reads the store. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from '../helpers/shared-data';

const LIST = 'require(process.argv[1]); process.stdout.write(JSON.stringify(Object.keys(require.cache)));';

/** The files that are loaded when this one of the compiled ones is. */
function loadedBy(module: string): readonly string[] {
  const path = join(ROOT, 'dist', 'src', module);
  return JSON.parse(execFileSync(process.execPath, ['-e', LIST, path], { encoding: 'utf8' })) as string[];
}

test.each(['app/services.js', 'cli/print-answer.js', 'report/index.js'])(
  '%s, for commands that read the store, loads neither Temporal nor the steps of a search',
  (module) => {
    const loaded = loadedBy(module);
    expect(loaded.length).toBeGreaterThan(20);
    expect(loaded.filter((file) => /@temporalio|protobufjs|[/\\]roles[/\\]/.test(file))).toEqual([]);
  },
);

test('what the worker loads is seen by this test', () => {
  expect(loadedBy('workers/composition.js').some((file) => /[/\\]roles[/\\]/.test(file))).toBe(true);
  expect(loadedBy('workers/client.js').some((file) => /@temporalio/.test(file))).toBe(true);
});
