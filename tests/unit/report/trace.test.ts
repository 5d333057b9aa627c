import type { ObjectStore } from '../../../src/domain/ports';
import { loadTrace } from '../../../src/report';
import { createRunStore } from '../../../src/record/run-store';
import { observation, record, state, trace } from './fixture';

function memory(): ObjectStore & { readonly objects: Map<string, string> } {
  const objects = new Map<string, string>();
  return {
    objects,
    get: async (key) => objects.get(key) ?? null,
    put: async (key, text) => void objects.set(key, text),
    list: async (prefix) => [...objects.keys()].filter((key) => key.startsWith(prefix)).sort(),
    entries: async () => [],
    delete: async (key) => void objects.delete(key),
  };
}

describe('loadTrace', () => {
  test('an unknown search has no trace', async () => {
    expect(await loadTrace(memory(), 'q-1')).toBeNull();
  });

  test('reads input, last checkpoint, record and contents, and leaves other searches alone', async () => {
    const store = memory();
    const run = createRunStore(store, record.id);
    await run.put('input', record.id, trace.input!);
    await run.put('checkpoint', 'i10', { ...state, iteration: 10 });
    await run.put('checkpoint', 'i9', { ...state, iteration: 9 });
    await run.put('observation', observation.observationId, { ...observation, takenAt: '2026-01-01' });
    await createRunStore(store, `${record.id}0`).put('result', 'x', record);
    const loaded = (await loadTrace(store, record.id))!;
    expect(loaded.input?.question.text).toBe(record.question);
    expect(loaded.state?.iteration).toBe(10);
    expect(loaded.record).toBeNull();
    expect(Object.keys(loaded.observations)).toEqual([observation.observationId]);
    await run.put('result', record.id, record);
    expect((await loadTrace(store, record.id))?.record?.answer).toBe(record.answer);
  });

  test('a damaged object is an error that names it', async () => {
    const store = memory();
    await createRunStore(store, record.id).put('result', record.id, record);
    const [key] = [...store.objects.keys()];
    store.objects.set(key!, store.objects.get(key!)!.replace('4 of the 18', '5 of the 18'));
    await expect(loadTrace(store, record.id)).rejects.toThrow(`${key!} is damaged`);
  });
});
