/** Which tables of a large schema a model saw in full, and by which ranking: in the answer, the trace and the report. */
import { answerText } from '../../../src/cli/show-answer';
import { createMemoryStore } from '../../../src/adapters/scripted';
import type { AnswerRecord } from '../../../src/domain';
import { loadTrace, renderReport, renderTraceText } from '../../../src/report';
import { sha256 } from '../../../src/sha256';
import { createRunStore } from '../../../src/steps';
import { record, state, trace } from './fixture';

const RANKING: NonNullable<AnswerRecord['tableRanking']> = {
  ...{ by: 'words-and-meaning', model: 'text-embedding-3-small', tables: 900, shown: 120 },
  ...{ embeddedTables: 900, tokens: 81_000, costUsd: 0.00162, warning: null },
};
const WARNING = "tables were ranked by the question's words alone: host rejected the key: check EMBED_KEY (401)";
const SHOWN = [
  { table: 'exits', byWords: null, byMeaning: 1 },
  { table: 'orders', byWords: 1, byMeaning: 7 },
];
const PLACES = { report: null, ui: null };

async function loaded(
  put: (run: ReturnType<typeof createRunStore>) => Promise<void>,
  more: Partial<AnswerRecord> = {},
) {
  const store = createMemoryStore();
  const run = createRunStore(store, record.id, sha256);
  await run.put('input', record.id, trace.input!);
  await run.put('checkpoint', 'i3', state);
  await run.put('result', record.id, { ...record, ...more });
  await put(run);
  return (await loadTrace(store, record.id, sha256))!;
}

describe('the answer', () => {
  test('says how much was shown, by which model, and what part of the usage it was', () => {
    const text = answerText({ ...record, tableRanking: RANKING }, PLACES, 200);
    expect(text).toMatch(
      /Schema {2}columns of 120 of 900 tables shown, ranked by the question's words and meaning \(text-embedding-3-small\); 81,000 tokens and \$\S+ of the usage, 900 tables newly embedded/,
    );
  });

  test('says nothing of a schema without an embedding model', () => {
    expect(answerText(record, PLACES, 200)).not.toContain('Schema');
  });

  test('says why words alone decided', () => {
    const failed = { ...RANKING, by: 'words' as const, tokens: 0, costUsd: 0, embeddedTables: 0, warning: WARNING };
    const text = answerText({ ...record, tableRanking: failed }, PLACES, 200);
    expect(text).toContain("120 of 900 tables shown, ranked by the question's words\n");
    expect(text).toContain(`Note    ${WARNING}`);
  });
});

describe('trace and report', () => {
  test('name the tables with their ranks, best first', async () => {
    const shown = await loaded((run) => run.put('ranking', 'schema', { schemaVersion: 1, ...RANKING, shown: SHOWN }), {
      tableRanking: { ...RANKING, shown: SHOWN.length },
    });
    expect(renderTraceText(shown)).toContain(
      "schema: columns of 2 of 900 tables shown, ranked by the question's words and meaning: exits (meaning 1), orders (words 1, meaning 7)\n",
    );
    const html = renderReport(shown);
    expect(html).toContain('<li><code>exits (meaning 1)</code></li>');
    expect(html).toContain('words and meaning (text-embedding-3-small)');
  });

  test('show the warning where the model failed', async () => {
    const failed = { ...RANKING, by: 'words' as const, warning: WARNING };
    const shown = await loaded((run) => run.put('ranking', 'schema', { schemaVersion: 1, ...failed, shown: SHOWN }));
    expect(renderTraceText(shown)).toContain(`note: ${WARNING}`);
    expect(renderReport(shown)).toContain('host rejected the key: check EMBED_KEY (401)');
  });

  test('without an embedding model name the tables in the order of the schema', async () => {
    const table = (name: string) => ({
      ...{ name, kind: 'table' as const, comment: null, rowEstimate: null, columns: [] },
      ...{ primaryKey: [], uniqueKeys: [], foreignKeys: [] },
    });
    const tables = ['<b>', 'c', 'd'].map(table);
    const description = { dialect: 'sqlite' as const, version: 'SQLite', fingerprint: 'f', tables };
    const shown = await loaded((run) =>
      run.put('schema', 'schema', { schemaVersion: 1, description, text: '', shown: ['<b>', 'd'], profiles: [] }),
    );
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
