/** Which tables of a large schema a model saw in full: in the trace and the report. */
import { createMemoryStore } from '../../helpers/scripted';
import { loadTrace, renderReport, renderTraceText } from '../../../src/report';
import { sha256 } from '../../../src/sha256';
import { createRunStore } from '../../../src/record/run-store';
import { record, state, trace } from './fixture';

async function loaded(put: (run: ReturnType<typeof createRunStore>) => Promise<void>) {
  const store = createMemoryStore();
  const run = createRunStore(store, record.id, sha256);
  await run.put('input', record.id, trace.input!);
  await run.put('checkpoint', 'i3', state);
  await run.put('result', record.id, record);
  await put(run);
  return (await loadTrace(store, record.id, sha256))!;
}

describe('trace and report', () => {
  test('name the tables in the order of the schema', async () => {
    const table = (name: string) => ({
      ...{ name, kind: 'table' as const, comment: null, rowEstimate: null, columns: [] },
      ...{ primaryKey: [], uniqueKeys: [], foreignKeys: [] },
    });
    const tables = ['<b>', 'c', 'd'].map(table);
    const description = { dialect: 'sqlite' as const, version: 'SQLite', fingerprint: 'f', tables };
    const shown = await loaded((run) => run.put('schema', 'schema', { description, text: '', shown: ['<b>', 'd'] }));
    expect(renderTraceText(shown)).toContain(
      "schema: columns of 2 of 3 tables shown, ranked by the question's words: <b>, d\n",
    );
    expect(renderReport(shown)).toContain('<li><code>&lt;b&gt;</code></li>');
  });

  test('say nothing where all tables were shown', async () => {
    const whole = await loaded(() => Promise.resolve());
    expect(renderTraceText(whole)).not.toContain('schema:');
    expect(renderReport(whole)).not.toContain('id="schema"');
  });
});
