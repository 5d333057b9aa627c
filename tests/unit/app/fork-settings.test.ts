import { forkedSettings } from '../../../src/app/fork';
import { parseMethodSpec } from '../../../src/config/method-specs';
import { PRESETS, settingsFor } from '../../../src/config/presets';
import type { SearchState, Settings } from '../../../src/domain';
import { initialState } from '../../../src/search/run';
import { withoutLooking } from '../../helpers/without-looking';

const models = { default: 'gpt-4.1-mini' };
const config = { models: {} } as Parameters<typeof forkedSettings>[2];
const fast = settingsFor({ method: 'fast', models });
const web = withoutLooking(fast);
const thorough = settingsFor({ method: 'thorough', models });

const searched: SearchState = { ...initialState('s', 0), iteration: 4 };
const talked: SearchState = { ...searched, looking: { phase: 'look', turns: ['i1.look', 'i2.look'], returned: 1 } };
const forked = (settings: Settings, state: SearchState, spec?: string, iterations?: number) =>
  forkedSettings(settings, state, config, {
    at: 3,
    ...(spec !== undefined && { method: parseMethodSpec(spec) }),
    ...(iterations !== undefined && { iterations }),
  });

test('a fork of a conversation goes on with it; its turns are no iterations of a search', () => {
  expect(forked(fast, talked)).toEqual({ ...fast, iterations: 3 + 12 - 2 });
  expect(forked(fast, talked, undefined, 4).iterations).toBe(3 + 4 - 2);
});

test('by another method the search takes over, with the settings of that method alone', () => {
  expect(forked(fast, talked, 'thorough')).toEqual({ ...thorough, iterations: 3 + 12 });
  const paper = forked(thorough, searched, 'paper:without-plan-selection');
  const overrides = { without: 'plan-selection' as const };
  expect(paper).toEqual({
    ...settingsFor({ method: 'paper', spec: 'paper:without-plan-selection', models, overrides }),
    iterations: 3 + 6,
  });
  expect(forked(paper, searched, 'thorough')).not.toHaveProperty('without');
});

test('a search that began without a conversation gets none', () => {
  expect(forked(web, searched)).toEqual({ ...web, iterations: 3 + 6 });
  expect(forked(web, searched, 'fast')).toEqual({ ...web, iterations: 3 + 6 });
  expect(forked(thorough, searched, 'fast')).toMatchObject({ method: 'fast', cMin: web.cMin });
  expect(forked(web, searched, 'thorough')).toMatchObject({ cMin: PRESETS.thorough.cMin });
});

test('a baseline goes on by its own method, with as many tool calls again', () => {
  const react = settingsFor({ method: 'react', models });
  expect(forked(react, searched)).toMatchObject({ method: 'react', rounds: 3 + 20 });
  expect(() => forked(react, searched, 'thorough')).toThrow('a search by react goes on as it began');
  expect(() => forked(fast, searched, 'react')).toThrow('a search by fast goes on as it began');
});

test('a fork keeps the layer of its parent, except as method paper', () => {
  const read: Settings = { ...fast, layer: 'read' };
  expect(forked(read, talked).layer).toBe('read');
  expect(forked(read, talked, 'thorough').layer).toBe('read');
  expect(forked(read, talked, 'paper')).not.toHaveProperty('layer');
});
