import { Settings } from '../../../src/domain/question';
import { looksLikeReasoning, settingsFor } from '../../../src/config/presets';
import { SEARCH_ID, searchIdOf } from '../../../src/record/search-id';

const models = { default: 'gpt-4.1-mini' };
const question = {
  schemaVersion: 1 as const,
  text: 'how many?',
  database: 'shop',
  outputMode: 'answer' as const,
  tools: ['execute_sql' as const],
  context: null,
  instructions: null,
  documents: [],
};

describe('settingsFor', () => {
  test.each(['fast', 'thorough', 'paper'] as const)(
    'preset %s is valid and keeps the sampling of the paper',
    (preset) => {
      const settings = settingsFor({ method: 'gate', preset, models });
      expect(Settings.parse(settings)).toEqual(settings);
      expect(settings).toMatchObject({
        temperature: 0.2,
        topP: 0.95,
        maxOutputTokens: 4096,
        sqlTimeoutMs: 25_000,
        maxRows: 10_000,
        csvChars: 8_000,
      });
    },
  );

  test('paper lets the model prove and explore, fast does both by execution and code', () => {
    expect(settingsFor({ method: 'gate', preset: 'paper', models })).toMatchObject({
      proof: 'model',
      exploration: 'model',
      profiles: false,
      breadth: 1,
      rounds: 6,
    });
    expect(settingsFor({ method: 'gate', preset: 'fast', models })).toMatchObject({
      proof: 'execution',
      exploration: 'code',
      profiles: true,
      breadth: 2,
      rounds: 1,
    });
  });

  test('fast looks and proves first, and where doubt remains it is the search of thorough', () => {
    const { preset: _, procedure, ...fast } = settingsFor({ method: 'gate', preset: 'fast', models });
    const { preset: __, ...thorough } = settingsFor({ method: 'gate', preset: 'thorough', models });
    expect(procedure).toBe('look-then-prove');
    expect(fast).toEqual(thorough);
    for (const preset of ['thorough', 'paper'] as const)
      expect(settingsFor({ method: 'gate', preset, models })).not.toHaveProperty('procedure');
  });

  test('react and questions with lookups have no conversation: their settings and ids are those of before', () => {
    for (const input of [
      { method: 'react' as const, preset: 'fast' as const, models },
      { method: 'gate' as const, preset: 'fast' as const, models, overrides: { lookups: 8 } },
    ]) {
      const settings = settingsFor(input);
      expect(settings).not.toHaveProperty('procedure');
      expect(settings).toMatchObject({ iterations: 6, cMin: 2, breadth: 4 });
      expect(settings).not.toHaveProperty('secondDerivation');
    }
  });

  test('react has a budget of 20 tool calls', () => {
    expect(settingsFor({ method: 'react', preset: 'fast', models }).rounds).toBe(20);
  });

  test('a reasoning model gets the larger output cap, an override wins', () => {
    const reasoning = { default: 'openai/o3-mini' };
    expect(settingsFor({ method: 'gate', preset: 'fast', models: reasoning }).maxOutputTokens).toBe(16_384);
    expect(
      settingsFor({ method: 'gate', preset: 'fast', models: reasoning, overrides: { maxOutputTokens: 1000 } })
        .maxOutputTokens,
    ).toBe(1000);
    expect(['o1', 'gpt-5-mini', 'deepseek-r1', 'x/qwq-32b'].every(looksLikeReasoning)).toBe(true);
    expect(['gpt-4o', 'llama3.1', 'qwen2.5-coder'].some(looksLikeReasoning)).toBe(false);
  });
});

describe('searchIdOf', () => {
  const settings = settingsFor({ method: 'gate', preset: 'fast', models });
  const id = searchIdOf({ question, settings, namespace: 'user' });

  test('equal input gives equal ids, whatever the order of keys', () => {
    const shuffled = Object.fromEntries(Object.entries(question).reverse()) as typeof question;
    expect(id).toMatch(SEARCH_ID);
    expect(searchIdOf({ namespace: 'user', settings: { ...settings }, question: shuffled })).toBe(id);
  });

  test('one query an action of react leaves the id as it was, several make another', () => {
    const react = settingsFor({ method: 'react', preset: 'fast', models });
    expect(react).not.toHaveProperty('queriesPerAction');
    const several = { ...react, queriesPerAction: 8 };
    expect(searchIdOf({ question, settings: several, namespace: 'user' })).not.toBe(
      searchIdOf({ question, settings: react, namespace: 'user' }),
    );
  });

  test('question, context, database, method, settings, seed, namespace and nonce each change it', () => {
    const ids = [
      searchIdOf({ question: { ...question, text: 'how few?' }, settings, namespace: 'user' }),
      searchIdOf({ question: { ...question, context: 'now is 2100' }, settings, namespace: 'user' }),
      searchIdOf({ question: { ...question, database: 'other' }, settings, namespace: 'user' }),
      searchIdOf({ question, settings: { ...settings, method: 'react' }, namespace: 'user' }),
      searchIdOf({ question, settings: { ...settings, iterations: 7 }, namespace: 'user' }),
      searchIdOf({ question, settings: { ...settings, seed: 1 }, namespace: 'user' }),
      searchIdOf({ question, settings, namespace: 'batch-1' }),
      searchIdOf({ question, settings, namespace: 'user' }, 'nonce'),
    ];
    expect(new Set([id, ...ids]).size).toBe(9);
  });
});
