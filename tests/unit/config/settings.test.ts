import { Settings } from '../../../src/domain/question';
import { looksLikeReasoning, settingsFor } from '../../../src/config/presets';
import { SEARCH_ID } from '../../../src/domain/question';
import { searchIdOf } from '../../../src/record/search-id';

const models = { default: 'gpt-4.1-mini' };
const question = {
  text: 'how many?',
  database: 'shop',
  outputMode: 'answer' as const,
  tools: ['execute_sql' as const],
  context: null,
  instructions: null,
  documents: [],
};

describe('settingsFor', () => {
  const OURS = { proof: 'execution', exploration: 'code', profiles: true, breadth: 2, rounds: 1 };
  test.each([
    ['fast', OURS],
    ['thorough', OURS],
    ['paper', { proof: 'model', exploration: 'model', profiles: false, breadth: 1, rounds: 6 }],
    ['react', { rounds: 20 }],
  ] as const)('method %s is valid, proves in its way, and keeps the sampling of the paper', (method, own) => {
    const settings = settingsFor({ method, models });
    expect(Settings.parse(settings)).toEqual(settings);
    expect(settings).toMatchObject({ temperature: 0.2, topP: 0.95, maxOutputTokens: 4096, ...own });
    expect(settings).toMatchObject({ sqlTimeoutMs: 25_000, maxRows: 10_000, csvChars: 8_000 });
  });

  test('fast looks and proves first, and where doubt remains it is the search of thorough', () => {
    const { method: _, spec: __, procedure, ...fast } = settingsFor({ method: 'fast', models });
    const { method: ___, spec: ____, ...thorough } = settingsFor({ method: 'thorough', models });
    expect(procedure).toBe('look-then-prove');
    expect(fast).toEqual(thorough);
    for (const method of ['thorough', 'paper'] as const)
      expect(settingsFor({ method, models })).not.toHaveProperty('procedure');
  });

  test('react and questions with lookups have no conversation', () => {
    for (const input of [
      { method: 'react' as const, models },
      { method: 'fast' as const, models, overrides: { lookups: 8 } },
    ]) {
      const settings = settingsFor(input);
      expect(settings).not.toHaveProperty('procedure');
      expect(settings).toMatchObject({ iterations: 6, cMin: 2, breadth: 4 });
      expect(settings).not.toHaveProperty('secondDerivation');
    }
  });

  test('a reasoning model gets the larger output cap, an override wins', () => {
    const reasoning = { default: 'openai/o3-mini' };
    expect(settingsFor({ method: 'fast', models: reasoning }).maxOutputTokens).toBe(16_384);
    expect(
      settingsFor({ method: 'fast', models: reasoning, overrides: { maxOutputTokens: 1000 } }).maxOutputTokens,
    ).toBe(1000);
    expect(['o1', 'gpt-5-mini', 'deepseek-r1', 'x/qwq-32b'].every(looksLikeReasoning)).toBe(true);
    expect(['gpt-4o', 'llama3.1', 'qwen2.5-coder'].some(looksLikeReasoning)).toBe(false);
  });
});

describe('searchIdOf', () => {
  const settings = settingsFor({ method: 'fast', models });
  const asked = { question, identity: 'd-1', settings, namespace: 'user' };
  const id = searchIdOf(asked);

  test('equal input gives equal ids, whatever the order of keys and the name of the database', () => {
    const shuffled = Object.fromEntries(Object.entries(question).reverse()) as typeof question;
    expect(id).toMatch(SEARCH_ID);
    expect(searchIdOf({ ...asked, settings: { ...settings }, question: shuffled })).toBe(id);
    expect(searchIdOf({ ...asked, question: { ...question, database: 'other' } })).toBe(id);
  });

  test('question, context, database, method, settings, seed, namespace and nonce each change it', () => {
    const ids = [
      searchIdOf({ ...asked, question: { ...question, text: 'how few?' } }),
      searchIdOf({ ...asked, question: { ...question, context: 'now is 2100' } }),
      searchIdOf({ ...asked, identity: 'd-2' }),
      searchIdOf({ ...asked, settings: { ...settings, method: 'react' } }),
      searchIdOf({ ...asked, settings: { ...settings, iterations: 7 } }),
      searchIdOf({ ...asked, settings: { ...settings, seed: 1 } }),
      searchIdOf({ ...asked, namespace: 'batch-1' }),
      searchIdOf(asked, 'nonce'),
    ];
    expect(new Set([id, ...ids]).size).toBe(9);
  });
});
