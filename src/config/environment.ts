/** Settings that the environment may give; they come before those of the file. */
import { MemoryMode, PresetName, Role } from '../domain/question';
import type { Environment } from './folders';
import { holdsLogin } from './secrets';

export const NO_LOGIN = 'holds a user name or password; put the key into OPENAI_API_KEY';
const ROLE_VARIABLE = 'GATE_MODEL_';

export type EnvironmentSettings = ReturnType<typeof fromEnvironment>;

export function fromEnvironment(env: Environment, problems: string[]) {
  const roles: Partial<Record<Role, string>> = {};
  for (const [variable, value] of Object.entries(env)) {
    if (!variable.startsWith(ROLE_VARIABLE) || !value) continue;
    const role = Role.safeParse(variable.slice(ROLE_VARIABLE.length).toLowerCase());
    if (role.success) roles[role.data] = value;
    else
      problems.push(
        `${variable}: no such role; allowed: ${Role.options.map((name) => ROLE_VARIABLE + name.toUpperCase()).join(', ')}`,
      );
  }
  const preset = env['GATE_PRESET'] ? PresetName.safeParse(env['GATE_PRESET']) : null;
  if (preset?.success === false)
    problems.push(`GATE_PRESET: '${env['GATE_PRESET']}' is not a preset; allowed: ${PresetName.options.join(', ')}`);
  const memory = env['GATE_MEMORY'] ? MemoryMode.safeParse(env['GATE_MEMORY']) : null;
  if (memory?.success === false)
    problems.push(`GATE_MEMORY: '${env['GATE_MEMORY']}' is not allowed; give one of ${MemoryMode.options.join(', ')}`);
  const baseUrl = env['OPENAI_BASE_URL'] || null;
  if (baseUrl !== null && !/^https?:$/.test(URL.canParse(baseUrl) ? new URL(baseUrl).protocol : '')) {
    const shown = baseUrl.includes('@') ? 'the value' : `'${baseUrl}'`; // which may hold a password
    problems.push(`OPENAI_BASE_URL: ${shown} is not an http(s) URL; for example http://127.0.0.1:11434/v1`);
  } else if (baseUrl !== null && holdsLogin({ baseUrl })) problems.push(`OPENAI_BASE_URL: ${NO_LOGIN}`);
  return {
    roles,
    model: env['GATE_MODEL'] || null,
    baseUrl,
    temporalAddress: env['TEMPORAL_ADDRESS'] || null,
    temporalNamespace: env['TEMPORAL_NAMESPACE'] || null,
    preset: preset?.data ?? null,
    memory: memory?.data ?? null,
    budgets: costCeiling(env['GATE_MAX_COST_USD'], problems),
  };
}

function costCeiling(text: string | undefined, problems: string[]): { costUsd?: number | null } {
  if (!text) return {};
  if (text === 'none') return { costUsd: null };
  const value = Number(text);
  if (!(value > 0 && Number.isFinite(value)))
    problems.push(`GATE_MAX_COST_USD: '${text}' is not allowed; give US dollars above 0, or none`);
  return { costUsd: value };
}
