/** What the configuration and the flags of a question become: the input of its search. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { searchInput } from '../../../src/app/question-input';
import { loadConfig } from '../../../src/config';

const question = {
  text: 'how many?',
  database: 'shop',
  outputMode: 'answer' as const,
  tools: ['execute_sql' as const],
  context: null,
  instructions: null,
  documents: [],
};

test.each([
  ['an ordinary model', 'gpt-4.1-mini', {}, 4_096],
  ['a reasoning model, by its name', 'openai/o3-mini', {}, 16_384],
  ['a model that the configuration calls a reasoning model', 'my-model', { reasoning: true }, 16_384],
  ['one that it says is none', 'o3-mini', { reasoning: false }, 4_096],
  ['a cap that it sets', 'o3-mini', { maxOutputTokens: 900 }, 900],
])('the output cap of %s', (_, model, models, cap) => {
  const cwd = mkdtempSync(join(tmpdir(), 'gate-input-'));
  try {
    writeFileSync(join(cwd, 'gate.config.json'), JSON.stringify({ models }));
    const config = loadConfig({ cwd, env: { HOME: cwd }, platform: 'linux' });
    const named = { models: { default: model }, namespace: 'user', identity: 'd-1', memory: 'off' as const };
    expect(searchInput(config, {}, question, named).settings.maxOutputTokens).toBe(cap);
  } finally {
    rmSync(cwd, { recursive: true });
  }
});
