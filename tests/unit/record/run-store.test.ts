import { createMemoryStore } from '../../helpers/scripted';
import { createRunStore, writeEnvelope } from '../../../src/record/run-store';
import { containing, hash, matching, searchInput } from '../roles/fixtures';

const input = searchInput();

test('contents are read back as they were written, under readable keys', async () => {
  const store = createMemoryStore();
  const run = createRunStore(store, 's1', hash);
  await run.put('input', 's1', input);
  expect(await run.get('input', 's1')).toEqual(input);
  expect(await store.list('')).toEqual(['runs/s1/input/s1.json']);
});

test('what is missing is an error that names the key and what to do', async () => {
  const run = createRunStore(createMemoryStore(), 's1', hash);
  expect(await run.find('plan', 'p1')).toBeNull();
  await expect(run.get('plan', 'p1')).rejects.toMatchObject({
    code: 'missing',
    message: matching(/runs\/s1\/plan\/p1\.json.*--fresh/),
  });
});

test.each<[string, (text: string) => string]>([
  ['changed', (text) => text.replace('runner-up', 'winner')],
  ['cut off', (text) => text.slice(0, -5)],
  ['of another kind', (text) => text.replace('"kind":"input"', '"kind":"plan"')],
  ['not what the schema says', () => writeEnvelope('input', {}, hash)],
])('an object that is %s is damaged, never an answer', async (_, damage) => {
  const store = createMemoryStore();
  await store.put('runs/s1/input/s1.json', damage(writeEnvelope('input', input, hash)));
  await expect(createRunStore(store, 's1', hash).get('input', 's1')).rejects.toMatchObject({
    code: 'corrupt',
    message: containing('runs/s1/input/s1.json'),
  });
});
