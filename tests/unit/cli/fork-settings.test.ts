import { forkedSettings } from '../../../src/cli/fork-run';
import type { SearchState, Settings } from '../../../src/domain';
import { PRESETS, settingsBeforeLooking, settingsFor } from '../../../src/config/presets';
import { initialState } from '../../../src/search/run';

const models = { default: 'gpt-4.1-mini' };
const config = { models: {} } as Parameters<typeof forkedSettings>[2];
const fast = settingsFor({ method: 'gate', preset: 'fast', models });
const before = settingsBeforeLooking(fast)!;
const thorough = settingsFor({ method: 'gate', preset: 'thorough', models });

const searched: SearchState = { ...initialState('s', 0), iteration: 4 };
const talked: SearchState = { ...searched, looking: { phase: 'look', turns: ['i1.look', 'i2.look'], returned: 1 } };
const forked = (settings: Settings, state: SearchState, flags: Partial<Parameters<typeof forkedSettings>[3]> = {}) =>
  forkedSettings(settings, state, config, { at: 3, ...flags });

test('a fork of a conversation goes on with it; its turns are no iterations of a search', () => {
  expect(forked(fast, talked)).toEqual({ ...fast, iterations: 3 + 12 - 2 });
  expect(forked(fast, talked, { iterations: 4 }).iterations).toBe(3 + 4 - 2);
});

test('with another preset the search takes over, with the settings of that preset alone', () => {
  expect(forked(fast, talked, { preset: 'thorough' })).toEqual({ ...thorough, iterations: 3 + 12 });
  const paper = forked(thorough, searched, { preset: 'paper' });
  expect(paper).toEqual({ ...settingsFor({ method: 'gate', preset: 'paper', models }), iterations: 3 + 6 });
  expect(paper).not.toHaveProperty('secondDerivation');
});

test('a search that began without a conversation gets none, and forks of an earlier fast keep their settings', () => {
  expect(forked(before, searched)).toEqual({ ...before, iterations: 3 + 6 });
  expect(forked(before, searched, { preset: 'fast' })).toEqual({ ...before, iterations: 3 + 6 });
  expect(forked(thorough, searched, { preset: 'fast' })).not.toHaveProperty('procedure');
  const react = settingsFor({ method: 'react', preset: 'fast', models });
  expect(forked(react, searched, { preset: 'thorough' })).toMatchObject({
    rounds: 3 + 20,
    cMin: PRESETS.thorough.cMin,
  });
});

test('a fork keeps the layer of its parent, except as preset paper', () => {
  const read: Settings = { ...fast, layer: 'read' };
  expect(forked(read, talked).layer).toBe('read');
  expect(forked(read, talked, { preset: 'thorough' }).layer).toBe('read');
  expect(forked(read, talked, { preset: 'paper' })).not.toHaveProperty('layer');
});
