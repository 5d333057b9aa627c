/**
 * The settings that control reads, as a workflow is started with them. The others (sampling, rows, characters) are read by
 * the steps, from the stored input, and would only lengthen every history (design D3).
 * A setting that control begins to read is missing in searches that run: it needs a default there.
 */
import type { Settings } from '../../domain';
import { brief, whole, type Brief } from '../../ports/brief';

const READ_BY_STEPS = [
  ...(['schemaVersion', 'temperature', 'topP', 'maxOutputTokens', 'seed', 'profiles', 'materiality'] as const),
  ...(['planCarriesTests', 'memoryScope', 'maxRows', 'csvChars'] as const),
];

export type ControlSettings = Omit<Settings, (typeof READ_BY_STEPS)[number]>;
/** Settings that have their usual value are left out. */
export type BriefSettings = Brief<ControlSettings> & Pick<Settings, 'method'>;

/** Those of preset `fast` when this was written. Whatever the preset becomes, these stay (`ports/brief.ts`). */
const USUAL = {
  usual: {
    ...{
      iterations: 6,
      attempts: 2,
      rounds: 1,
      cMin: 2,
      cMax: 4,
      frontier: 8,
      maxPlans: 3,
      parallelism: 1,
      breadth: 4,
    },
    ...{ proof: 'execution', exploration: 'code', followOn: true, parseRetries: 3, sqlTimeoutMs: 25_000 },
  },
  inner: {
    budgets: {
      usual: {
        ...{ llmCalls: null, tokens: null, costUsd: null, wallMs: null },
        ...{ sqlExecutions: null, sqlMs: null, sqlRows: null },
      },
    },
  },
};

export function briefSettings(settings: BriefSettings): BriefSettings {
  const left = new Set<string>(READ_BY_STEPS);
  const read = Object.entries(settings).filter(([name]) => !left.has(name));
  return brief(USUAL, Object.fromEntries(read)) as BriefSettings;
}

export function wholeSettings(settings: BriefSettings): ControlSettings {
  return whole<ControlSettings>(USUAL, settings);
}
