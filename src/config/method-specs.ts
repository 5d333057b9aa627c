/**
 * Methods with named settings, as commands take them: `METHOD[:SETTING[+SETTING…]]`, such as `gate:paper` or `react:schema-only`.
 * The table below says what each method takes, and where that is from; docs/methods/README.md is tested against it.
 *
 * 1. A setting that is left out changes nothing, so that a plain name means the search that it always meant.
 * 2. One search has one spec: settings are written in the order of the table.
 */
import type { Ablation, MethodName, PresetName, Redel, ReforceSettings } from '../domain';
import {
  MAX_QUERIES_PER_ACTION,
  REACT_RUNS,
  REACT_TOOL_CALLS,
  REDEL,
  REFORCE_SETTINGS,
  type SettingsInput,
} from './presets';

type Overrides = NonNullable<SettingsInput['overrides']>;

/** A method that a question can be asked with. */
type AskedMethod = Exclude<MethodName, 'learn'>;

export interface MethodSetting {
  readonly name: string;
  readonly means: string;
  readonly from: 'paper' | 'upstream' | 'ours';
  /** A spec names at most one setting of a group. */
  readonly group?: string;
  /** Of a setting with a value. `usual`: the value that is taken where none is given; a text says who decides then. */
  readonly range?: { readonly lowest: number; readonly highest: number; readonly usual: number | string };
  readonly preset?: PresetName;
  /** Of a group: what is so where nothing is named. */
  readonly usual?: string;
  /** The spec has to name one of these presets. */
  readonly needs?: readonly PresetName[];
  readonly overrides?: (value: number) => Overrides;
}

export interface MethodSpec {
  readonly spec: string;
  readonly method: MethodName;
  /** null: the spec names none. */
  readonly preset: PresetName | null;
  readonly overrides: Overrides;
}

/** What a baseline is shown of the database. */
export const SCHEMA_VIEWS: readonly MethodSetting[] = [
  {
    ...{ name: 'profiles', group: 'view', from: 'ours', usual: 'unless the preset is `paper`' },
    means: 'the schema with the profile of each table',
    overrides: () => ({ profiles: true }),
  },
  {
    ...{ name: 'schema-only', group: 'view', from: 'paper', means: 'the schema without profiles' },
    overrides: () => ({ profiles: false }),
  },
];

const PRESET = { group: 'preset' } as const;

/** A row of the paper's ablation: the search without one of its parts. Only a search from the start has all of them. */
function ablation(part: Ablation, means: string, needs: readonly PresetName[] = ['thorough', 'paper']): MethodSetting {
  return {
    name: `without-${part}`,
    group: 'without',
    from: 'paper',
    means,
    needs,
    overrides: () => ({ without: part }),
  };
}

/** `settingsFor` has the other members of the group. */
const redel = (some: Partial<Redel>): Overrides => ({ redel: some as Redel });

function redelLimit(
  method: keyof typeof REDEL,
  [name, means]: readonly [string, string],
  member: 'children' | 'childCalls' | 'allCalls',
  highest: number,
): MethodSetting {
  const usual: Redel = REDEL[method];
  return {
    ...{ name, means, from: 'ours', range: { lowest: 1, highest, usual: usual[member] ?? '' } },
    overrides: (value) => redel({ [member]: value }),
  };
}

const CALLS: MethodSetting = {
  ...{ name: 'calls', from: 'ours', means: 'tool calls of the root' },
  range: { lowest: 1, highest: 200, usual: REACT_TOOL_CALLS },
  overrides: (rounds) => ({ rounds }),
};

const REACT: readonly MethodSetting[] = [
  ...SCHEMA_VIEWS.map((view): MethodSetting =>
    view.name === 'profiles'
      ? view
      : {
          ...view,
          means: `${view.means}, and one query an action`,
          overrides: () => ({ profiles: false, queriesPerAction: 1 }),
        },
  ),
  {
    ...{ name: 'queries', from: 'ours', means: 'queries that one action may run together' },
    range: { lowest: 1, highest: MAX_QUERIES_PER_ACTION, usual: '`react.queries`, else 1' },
    overrides: (queriesPerAction) => ({ queriesPerAction }),
  },
];

export const METHODS: Readonly<Record<AskedMethod, readonly MethodSetting[]>> = {
  gate: [
    {
      ...PRESET,
      name: 'fast',
      preset: 'fast',
      from: 'ours',
      usual: 'unless `preset` of the configuration says otherwise',
      means: 'looks and proves first; searches where doubt remains',
    },
    { ...PRESET, name: 'thorough', preset: 'thorough', from: 'ours', means: 'searches from the start' },
    { ...PRESET, name: 'paper', preset: 'paper', from: 'paper', means: "the paper's procedure" },
    ablation(
      'plan-evaluation',
      'no model scores the plans or names their bottleneck: execution alone says which comes next',
    ),
    ablation('plan-selection', 'the next plan is drawn, each equally often'),
    ablation('evidence-summary', 'an attempt is not told what earlier ones showed', ['paper']),
    ablation('update-reuse', 'what one plan proved no other takes over, nor is told'),
  ],
  react: REACT,
  'react-repeated': [
    ...REACT,
    {
      ...{ name: 'k', from: 'paper', means: 'independent runs of the agent' },
      range: { lowest: 2, highest: 20, usual: REACT_RUNS },
      overrides: (runs) => ({ repeated: { runs } }),
    },
  ],
  'redel-seed': [
    ...SCHEMA_VIEWS,
    CALLS,
    redelLimit('redel-seed', ['children', 'helpers that the root may have in all'], 'children', 50),
    redelLimit('redel-seed', ['child-calls', 'tool calls of a helper'], 'childCalls', 200),
    redelLimit('redel-seed', ['all-calls', 'tool calls of all agents together'], 'allCalls', 2_000),
  ],
  'redel-upstream': [
    ...SCHEMA_VIEWS,
    CALLS,
    redelLimit('redel-upstream', ['children', 'helpers that one action may begin'], 'children', 16),
    { ...redelLimit('redel-upstream', ['child-calls', 'rounds of a helper'], 'childCalls', 200), from: 'upstream' },
    {
      ...{ name: 'depth', from: 'upstream', means: 'the deepest level whose agents may still delegate; the root is 0' },
      range: { lowest: 0, highest: 8, usual: REDEL['redel-upstream'].depth },
      overrides: (depth) => redel({ depth }),
    },
  ],
  'reforce-seed': reforceSettings('reforce-seed'),
  'reforce-official-v5': reforceSettings('reforce-official-v5'),
};

function reforceSettings(method: keyof typeof REFORCE_SETTINGS): readonly MethodSetting[] {
  const usual: ReforceSettings = REFORCE_SETTINGS[method];
  const isSeed = method === 'reforce-seed';
  /** One value of one setting; the method's own is from its source. */
  const choice = <K extends keyof ReforceSettings>(
    [name, means]: readonly [string, string],
    group: K,
    value: ReforceSettings[K],
    from: MethodSetting['from'] = 'upstream',
  ): MethodSetting => ({
    ...{ name, means, group, from, overrides: () => ({ reforce: { [group]: value } }) },
    ...(usual[group] === value ? { usual: '' } : {}),
  });
  return [
    {
      ...{ name: 'votes', means: 'candidates that are made side by side', from: isSeed ? 'ours' : 'upstream' },
      range: { lowest: 1, highest: 32, usual: usual.votes },
      overrides: (votes) => ({ reforce: { votes } }),
    },
    {
      ...{ name: 'attempts', means: 'tries of one vote at SQL that returns rows', from: 'upstream' },
      range: { lowest: 1, highest: 20, usual: usual.attempts },
      overrides: (attempts) => ({ reforce: { attempts } }),
    },
    {
      ...{ name: 'link-bytes', means: 'bytes of schema text above which tables are linked', from: 'upstream' },
      range: { lowest: 1_000, highest: 10_000_000, usual: usual.linkBytes },
      overrides: (linkBytes) => ({ reforce: { linkBytes } }),
    },
    choice(['explore', 'every vote explores columns first'], 'explore', 'always', isSeed ? 'paper' : 'ours'),
    choice(
      ['explore-unresolved', 'where votes decide nothing, all vote again and explore columns first'],
      'explore',
      'unresolved',
    ),
    choice(['no-explore', 'no vote explores columns'], 'explore', 'never', 'ours'),
    choice(['format', 'the header of the answer is fixed first'], 'format', true, isSeed ? 'paper' : 'upstream'),
    choice(['no-format', 'it is left open'], 'format', false),
    choice(['consistency', 'rows count once a second result of their conversation repeats them'], 'consistency', true),
    choice(['choose-first', 'the first candidate, where votes decide nothing'], 'choose', 'first'),
    choice(['choose-by-model', 'the model chooses there'], 'choose', 'model'),
  ];
}

/** In one line that says what to change. */
export class MethodSpecError extends Error {
  override readonly name = 'UsageError';
}

export function parseMethodSpec(text: string): MethodSpec {
  const [, name = '', listed] = /^([^:]*)(?::(.*))?$/s.exec(text.trim()) ?? [];
  if (!isAsked(name))
    throw new MethodSpecError(`there is no method ${name || '""'}: give one of ${Object.keys(METHODS).join(', ')}`);
  const given = new Map((listed?.split('+') ?? []).map((part) => settingOf(name, part.trim())));
  if (listed !== undefined && given.size < listed.split('+').length)
    throw new MethodSpecError(`--method ${text}: a setting stands twice; name it once`);
  const taken = METHODS[name].filter((setting) => given.has(setting));
  refuseTogether(text, taken);
  const written = taken.map((setting) => (setting.range ? `${setting.name}=${given.get(setting)}` : setting.name));
  return {
    spec: written.length === 0 ? name : `${name}:${written.join('+')}`,
    method: name,
    preset: taken.find(({ preset }) => preset !== undefined)?.preset ?? null,
    overrides: METHODS[name].reduce<Overrides>((overrides, setting) => {
      const value = given.get(setting) ?? setting.range?.usual;
      return typeof value === 'number' ? merged(overrides, setting.overrides?.(value) ?? {}) : overrides;
    }, {}),
  };
}

function isAsked(name: string): name is AskedMethod {
  return Object.hasOwn(METHODS, name);
}

/** The setting and its value; one without a value counts 1. */
function settingOf(method: AskedMethod, part: string): readonly [MethodSetting, number] {
  const [, name = '', value] = /^([^=]*)(?:=(.*))?$/s.exec(part) ?? [];
  const setting = METHODS[method].find((each) => each.name === name);
  const refused = (why: string) => new MethodSpecError(`--method ${method}: ${why}`);
  if (setting === undefined) {
    const owner = Object.keys(METHODS).find((other) =>
      METHODS[other as AskedMethod].some((each) => each.name === name),
    );
    const is = owner === undefined ? `there is no setting ${name || '""'}` : `${name} is a setting of ${owner}`;
    throw refused(`${is}; ${method} takes ${METHODS[method].map(howToWrite).join(', ')}`);
  }
  if (setting.range === undefined) {
    if (value !== undefined) throw refused(`${name} takes no value; write ${name} alone`);
    return [setting, 1];
  }
  const { lowest, highest } = setting.range;
  if (value === undefined || !/^\d{1,9}$/.test(value) || Number(value) < lowest || Number(value) > highest)
    throw refused(`${part} gives no value of ${name} in its range; write ${howToWrite(setting)}`);
  return [setting, Number(value)];
}

/** As in `k=2…20`. */
export function howToWrite({ name, range }: MethodSetting): string {
  return range === undefined ? name : `${name}=${range.lowest}…${range.highest}`;
}

function refuseTogether(text: string, taken: readonly MethodSetting[]): void {
  for (const { name, group, needs } of taken) {
    const rival = taken.find((other) => other.group !== undefined && other.group === group && other.name !== name);
    if (rival !== undefined)
      throw new MethodSpecError(`--method ${text}: ${name} and ${rival.name} exclude each other; keep one`);
    if (needs !== undefined && !taken.some(({ preset }) => preset !== undefined && needs.includes(preset)))
      throw new MethodSpecError(
        `--method ${text}: ${name} needs the preset ${needs.join(' or ')}; write it first, as in ${needs.at(-1)}+${name}`,
      );
  }
}

/** Groups of settings are joined member by member. */
function merged(before: Overrides, more: Overrides): Overrides {
  const joined = Object.entries(more).map(([name, value]) => {
    const own: unknown = before[name as keyof Overrides];
    return [name, isGroup(own) && isGroup(value) ? { ...own, ...value } : value] as const;
  });
  return { ...before, ...Object.fromEntries(joined) };
}

function isGroup(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
