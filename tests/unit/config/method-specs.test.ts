import { METHODS, parseMethodSpec, parseMethodSpecs } from '../../../src/config/method-specs';
import { settingsFor } from '../../../src/config/presets';
import { MethodName, Settings } from '../../../src/domain';

const models = { default: 'm' };

test('each method of a question has its settings', () => {
  expect([...Object.keys(METHODS), 'learn'].sort()).toEqual([...MethodName.options].sort());
});

test('a plain name changes nothing', () => {
  for (const method of Object.keys(METHODS))
    expect(parseMethodSpec(method)).toEqual({ spec: method, method, overrides: {} });
});

test('settings follow a colon; in whatever order they come, and whatever holds anyway, the spec is the same', () => {
  const react = { spec: 'react:schema-only,queries=8', overrides: { profiles: false, queriesPerAction: 8 } };
  expect(parseMethodSpec('react:queries=8,schema-only')).toMatchObject(react);
  expect(parseMethodSpec(' react:schema-only , queries=8 ')).toMatchObject(react);
  expect(parseMethodSpec('reforce:official,votes=8')).toEqual(parseMethodSpec('reforce'));
  expect(parseMethodSpec('reforce:seed,votes=1,format')).toEqual(parseMethodSpec('reforce:seed'));
  expect(parseMethodSpec('reforce:seed,votes=8').spec).toBe('reforce:seed,votes=8');
  expect(parseMethodSpec('redel:seed,children=4').spec).toBe('redel:seed');
});

test('a part of the search is left out by its name; the rest is that of the method', () => {
  const { method, overrides } = parseMethodSpec('paper:without-plan-evaluation');
  const { without, ...rest } = settingsFor({ method, models, overrides });
  expect(without).toBe('plan-evaluation');
  expect(rest).toEqual(settingsFor({ method: 'paper', models }));
});

test('in a list, a part that names no method is a setting of the one before it', () => {
  const specs = (text: string) => parseMethodSpecs(text).map(({ spec }) => spec);
  expect(specs('fast, redel:seed,schema-only,react:repeats=6,paper')).toEqual([
    'fast',
    'redel:seed,schema-only',
    'react:repeats=6',
    'paper',
  ]);
  expect(() => specs('fast,raect')).toThrow('there is no method raect');
  expect(() => specs('redel:seed,raect')).toThrow('there is no setting raect; redel takes');
});

test.each(
  Object.entries(METHODS).flatMap(([method, settings]) => settings.map((setting) => [method, setting] as const)),
)('%s takes $name: what it makes is a search that can be stored', (name, setting) => {
  const { range } = setting;
  const given = range === undefined ? [setting.name] : [range.lowest, range.highest].map((n) => `${setting.name}=${n}`);
  for (const value of given) {
    const { spec, method, overrides } = parseMethodSpec(`${name}:${value}`);
    const settings = settingsFor({ method, spec, models, overrides });
    expect(Settings.parse(settings)).toEqual(settings);
    const isUsual = spec === name;
    expect(settings).toEqual(
      isUsual ? settingsFor({ method, models }) : expect.not.objectContaining(settingsFor({ method, models })),
    );
  }
});

test.each([
  ['magic', /^there is no method magic: give one of fast, thorough, paper, react, redel, reforce$/],
  ['', /^there is no method "": give one of/],
  ['learn', /^there is no method learn/],
  ['fast:', /^method fast: there is no setting ""; fast takes none$/],
  ['thorough:slow', /^method thorough: there is no setting slow; thorough takes without-plan-evaluation/],
  ['paper:schema-only', /^method paper: schema-only is a setting of react; paper takes without-plan-evaluation/],
  ['thorough:without-evidence-summary', /^method thorough: without-evidence-summary is a setting of paper; thorough/],
  ['redel:seed,official', /^method redel:seed,official: seed and official exclude each other; keep one$/],
  ['redel:seed,seed', /^method redel:seed,seed: a setting stands twice; name it once$/],
  ['paper:without-plan-evaluation,without-plan-selection', /exclude each other; keep one$/],
  ['redel:seed=1', /^method redel: seed takes no value; write seed alone$/],
  ['react:queries', /^method react: queries gives no value of queries in its range; write queries=2…8$/],
  ['react:queries=1', /^method react: queries=1 gives no value of queries in its range; write queries=2…8$/],
  ['react:queries=9', /write queries=2…8$/],
  ['react:queries=1e1', /write queries=2…8$/],
])('%j is refused with what to change', (spec, message) => {
  expect(() => parseMethodSpec(spec)).toThrow(message);
});
