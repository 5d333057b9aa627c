/**
 * Methods with their settings, as commands take them: `METHOD[:SETTING[,SETTING…]]`, such as `react:queries=8`. The table says
 * what each method takes, and where that is from; docs/methods/README.md is tested against it.
 *
 * 1. A setting that says what holds anyway is left out of the spec, and the others stand in the order of the table: one search
 *    has one spec.
 * 2. In a list of specs, a part that names no method is a setting of the one before it.
 */
import type { Ablation, MethodName } from '../domain';
import { DEFAULT_FIGURES, MAX_QUERIES_PER_ACTION, settingsFor, type Figures, type Overrides } from './presets';

/** A method that a question can be asked with. */
type AskedMethod = Exclude<MethodName, 'learn'>;
type Value = number | string | boolean;

export interface MethodSetting {
  readonly name: string;
  readonly means: string;
  readonly from: 'paper' | 'upstream' | 'ours';
  /** What it sets: a member of the settings, or of one of their groups. */
  readonly at: string;
  /** A choice; two for the same place exclude each other. Else it has a number. */
  readonly value?: Value;
  readonly range?: { readonly lowest: number; readonly highest: number };
}

export interface MethodSpec {
  readonly spec: string;
  readonly method: MethodName;
  readonly overrides: Overrides;
}

/** `what`: the value of a choice, or the range of a number. */
function setting(
  name: string,
  at: string,
  what: Value | readonly [lowest: number, highest: number],
  from: MethodSetting['from'],
  means: string,
): MethodSetting {
  if (typeof what !== 'object') return { name, at, from, means, value: what };
  const [lowest, highest] = what;
  return { name, at, from, means, range: { lowest, highest } };
}

const SCHEMA_ONLY = setting('schema-only', 'profiles', false, 'paper', 'the schema without the profile of each table');

const figures = (official: string, seed: string): readonly MethodSetting[] => [
  setting('official', 'figures', 'official', 'upstream', official),
  setting('seed', 'figures', 'seed', 'paper', seed),
];

/** A row of the paper's ablation: the search without one of its parts. Only a search from the start has all of them. */
const ablation = (part: Ablation, means: string): MethodSetting =>
  setting(`without-${part}`, 'without', part, 'paper', means);

const ABLATIONS: readonly MethodSetting[] = [
  ablation('plan-evaluation', 'no model scores the plans or names their bottleneck: execution alone picks the next'),
  ablation('plan-selection', 'the next plan is drawn, each equally often'),
  ablation('update-reuse', 'what one plan proved no other takes over, nor is told'),
];

export const METHODS: Readonly<Record<AskedMethod, readonly MethodSetting[]>> = {
  fast: [],
  thorough: ABLATIONS,
  paper: [...ABLATIONS, ablation('evidence-summary', 'an attempt is not told what earlier ones showed')],
  react: [
    SCHEMA_ONLY,
    setting('queries', 'queriesPerAction', [2, MAX_QUERIES_PER_ACTION], 'ours', 'queries that one action may run together'),
    setting('repeats', 'repeated.runs', [2, 20], 'paper', 'independent runs, among whose answers one call chooses'),
  ],
  redel: [
    ...figures('only helpers query, and may delegate in turn', 'the agent queries; late, it delegates narrow points'),
    SCHEMA_ONLY,
    setting('calls', 'rounds', [1, 200], 'ours', 'tool calls of the root'),
    setting('children', 'redel.children', [1, 50], 'ours', 'helpers: of one action (official), of the root in all (seed)'),
    setting('child-calls', 'redel.childCalls', [1, 200], 'upstream', 'tool calls of a helper'),
    setting('all-calls', 'redel.allCalls', [1, 2_000], 'ours', 'tool calls of all agents together'),
    setting('depth', 'redel.depth', [0, 8], 'ours', 'the deepest level: that may delegate (official), that exists (seed)'),
  ],
  reforce: [
    ...figures("the values of its authors' code", 'one vote, which explores columns, with the header fixed first'),
    setting('votes', 'reforce.votes', [1, 32], 'upstream', 'candidates that are made side by side'),
    setting('attempts', 'reforce.attempts', [1, 20], 'upstream', 'tries of one vote at SQL that returns rows'),
    setting('link-bytes', 'reforce.linkBytes', [1_000, 10_000_000], 'upstream', 'bytes of schema text above which tables are linked'),
    setting('explore', 'reforce.explore', 'always', 'paper', 'every vote explores columns first'),
    setting('explore-unresolved', 'reforce.explore', 'unresolved', 'upstream', 'where votes decide nothing, all vote again and explore columns first'),
    setting('no-explore', 'reforce.explore', 'never', 'ours', 'no vote explores columns'),
    setting('format', 'reforce.format', true, 'upstream', 'the header of the answer is fixed first'),
    setting('no-format', 'reforce.format', false, 'upstream', 'the header is left open'),
    setting('consistency', 'reforce.consistency', true, 'upstream', 'rows count once a second result of their conversation repeats them'),
    setting('choose-first', 'reforce.choose', 'first', 'upstream', 'the first candidate, where votes decide nothing'),
    setting('choose-by-model', 'reforce.choose', 'model', 'upstream', 'the model chooses there'),
  ],
}; // prettier-ignore

/** In one line that says what to change. */
export class MethodSpecError extends Error {
  override readonly name = 'MethodSpecError';
}

export function parseMethodSpec(text: string): MethodSpec {
  const [, name = '', listed] = /^([^:]*)(?::(.*))?$/s.exec(text.trim()) ?? [];
  if (!isAsked(name))
    throw new MethodSpecError(`there is no method ${name || '""'}: give one of ${Object.keys(METHODS).join(', ')}`);
  const parts = listed?.split(',').map((part) => settingOf(name, part.trim())) ?? [];
  for (const [setting] of parts) {
    const rival = parts.find(([other]) => other !== setting && other.at === setting.at)?.[0];
    if (rival !== undefined)
      throw new MethodSpecError(`method ${text}: ${setting.name} and ${rival.name} exclude each other; keep one`);
  }
  const given = new Map(parts);
  if (given.size < parts.length) throw new MethodSpecError(`method ${text}: a setting stands twice; name it once`);
  const own = parts.find(([{ at }]) => at === 'figures')?.[1] as Figures | undefined;
  const written = METHODS[name].filter((setting) => {
    const value = given.get(setting);
    return value !== undefined && value !== usualOf(name, setting, own);
  });
  const said = written.map((setting) => (setting.range ? `${setting.name}=${given.get(setting)}` : setting.name));
  return {
    spec: said.length === 0 ? name : `${name}:${said.join(',')}`,
    method: name,
    overrides: written.reduce<Overrides>((made, setting) => withValue(made, setting.at, given.get(setting)), {}),
  };
}

/** Specs between commas, as `--methods` takes them. */
export function parseMethodSpecs(text: string): MethodSpec[] {
  const specs: string[] = [];
  for (const part of text.split(',')) {
    const before = specs.at(-1);
    if (before?.includes(':') && !isAsked(part.split(':', 1)[0]?.trim() ?? ''))
      specs.splice(-1, 1, `${before},${part}`);
    else specs.push(part);
  }
  return specs.map(parseMethodSpec);
}

/** What holds where a spec does not name the setting; `undefined`: nothing, as no limit. */
export function usualOf(method: AskedMethod, { at }: MethodSetting, own: Figures = DEFAULT_FIGURES): unknown {
  if (at === 'figures') return DEFAULT_FIGURES;
  const settings: unknown = settingsFor({ method, models: { default: '' }, overrides: { figures: own } });
  return at.split('.').reduce((value, member) => (value as Record<string, unknown> | undefined)?.[member], settings);
}

function withValue(overrides: Overrides, at: string, value: unknown): Overrides {
  const [name = '', member] = at.split('.');
  const group = overrides[name as keyof Overrides] as object | undefined;
  return { ...overrides, [name]: member === undefined ? value : { ...group, [member]: value } };
}

function isAsked(name: string): name is AskedMethod {
  return Object.hasOwn(METHODS, name);
}

function settingOf(method: AskedMethod, part: string): readonly [MethodSetting, Value] {
  const [, name = '', text] = /^([^=]*)(?:=(.*))?$/s.exec(part) ?? [];
  const setting = METHODS[method].find((each) => each.name === name);
  const refused = (why: string) => new MethodSpecError(`method ${method}: ${why}`);
  if (setting === undefined) {
    const owner = Object.entries(METHODS).find(([, settings]) => settings.some((each) => each.name === name))?.[0];
    const is = owner === undefined ? `there is no setting ${name || '""'}` : `${name} is a setting of ${owner}`;
    throw refused(`${is}; ${method} takes ${METHODS[method].map(howToWrite).join(', ') || 'none'}`);
  }
  const { range, value = true } = setting;
  if (range === undefined) {
    if (text !== undefined) throw refused(`${name} takes no value; write ${name} alone`);
    return [setting, value];
  }
  if (text === undefined || !/^\d{1,9}$/.test(text) || Number(text) < range.lowest || Number(text) > range.highest)
    throw refused(`${part} gives no value of ${name} in its range; write ${howToWrite(setting)}`);
  return [setting, Number(text)];
}

/** As in `repeats=2…20`. */
export function howToWrite({ name, range }: MethodSetting): string {
  return range === undefined ? name : `${name}=${range.lowest}…${range.highest}`;
}
