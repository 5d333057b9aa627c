import { METHODS, parseMethodSpec } from '../../../src/config/method-specs';
import { settingsFor } from '../../../src/config/presets';
import { MethodName, Settings } from '../../../src/domain';

test('each method of a question has its settings', () => {
  expect([...Object.keys(METHODS), 'learn'].sort()).toEqual([...MethodName.options].sort());
});

test('a plain name changes nothing', () => {
  expect(parseMethodSpec('gate')).toEqual({ spec: 'gate', method: 'gate', preset: null, overrides: {} });
  expect(parseMethodSpec('react')).toEqual({ spec: 'react', method: 'react', preset: null, overrides: {} });
});

test('settings follow a colon; in whatever order they come, the spec is the same', () => {
  expect(parseMethodSpec('gate:paper')).toMatchObject({ spec: 'gate:paper', preset: 'paper', overrides: {} });
  const react = { spec: 'react:profiles+queries=8', overrides: { profiles: true, queriesPerAction: 8 } };
  expect(parseMethodSpec('react:queries=8+profiles')).toMatchObject(react);
  expect(parseMethodSpec(' react:profiles + queries=8 ')).toMatchObject(react);
});

test('a part of the search is left out by its name; the rest is that of the preset', () => {
  const { spec, method, preset, overrides } = parseMethodSpec('gate:without-plan-evaluation+paper');
  expect({ spec, overrides }).toEqual({
    spec: 'gate:paper+without-plan-evaluation',
    overrides: { without: 'plan-evaluation' },
  });
  const models = { default: 'm' };
  const { without, ...rest } = settingsFor({ method, preset: preset ?? 'fast', models, overrides });
  expect(without).toBe('plan-evaluation');
  expect(rest).toEqual(settingsFor({ method: 'gate', preset: 'paper', models }));
});

test.each(
  Object.entries(METHODS).flatMap(([method, settings]) => settings.map((setting) => [method, setting] as const)),
)('%s takes $name: what it makes is a search that can be stored', (method, { name, range, needs = [] }) => {
  const values = range === undefined ? [name] : [range.lowest, range.highest].map((value) => `${name}=${value}`);
  for (const value of values) {
    const { spec, overrides, ...rest } = parseMethodSpec(`${method}:${[...needs.slice(0, 1), value].join('+')}`);
    expect(spec).toContain(value);
    const settings = settingsFor({
      method: rest.method,
      preset: rest.preset ?? 'fast',
      models: { default: 'm' },
      overrides,
    });
    expect(Settings.parse(settings)).toEqual(settings);
  }
});

test.each([
  ['magic', /^there is no method magic: give one of gate, react/],
  ['', /^there is no method "": give one of/],
  ['learn', /^there is no method learn/],
  ['gate:', /^--method gate: there is no setting ""; gate takes fast, thorough, paper/],
  ['gate:slow', /^--method gate: there is no setting slow; gate takes fast/],
  ['gate:schema-only', /^--method gate: schema-only is a setting of react; gate takes fast/],
  ['gate:paper+thorough', /^--method gate:paper\+thorough: thorough and paper exclude each other; keep one$/],
  ['gate:paper+paper', /^--method gate:paper\+paper: a setting stands twice; name it once$/],
  [
    'gate:without-plan-evaluation',
    /^--method gate:without-plan-evaluation: without-plan-evaluation needs the preset thorough or paper; write it first, as in paper\+without-plan-evaluation$/,
  ],
  ['gate:fast+without-update-reuse', /needs the preset thorough or paper/],
  ['gate:thorough+without-evidence-summary', /needs the preset paper; write it first/],
  ['gate:paper+without-plan-evaluation+without-plan-selection', /exclude each other; keep one$/],
  ['gate:paper=1', /^--method gate: paper takes no value; write paper alone$/],
  ['react:queries', /^--method react: queries gives no value of queries in its range; write queries=1…8$/],
  ['react:queries=0', /^--method react: queries=0 gives no value of queries in its range; write queries=1…8$/],
  ['react:queries=9', /write queries=1…8$/],
  ['react:queries=1e1', /write queries=1…8$/],
])('%j is refused with what to change', (spec, message) => {
  expect(() => parseMethodSpec(spec)).toThrow(message);
});
