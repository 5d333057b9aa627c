/** The setting `models`: which model answers for which role, where it is, its key, and how it is asked. */
import { resolve } from 'node:path';
import { z } from 'zod';
import { Role } from '../domain/question';
import { NO_LOGIN, type EnvironmentSettings } from './environment';
import type { Place } from './folders';
import { LimitsEntries, limitsTable, type ModelLimitsTable } from './limits';
import { checkKey, holdsLogin, Secret, secretFile } from './secrets';

/** Timers cannot wait much longer, and nobody should have to. */
const DAY_MS = 24 * 60 * 60_000;
const REQUEST_TIMEOUT_MS = 300_000;

const OUTAGE_MS = 60 * 60_000;

export const ModelsEntry = z.strictObject({
  default: z.string().min(1).optional(),
  roles: z.partialRecord(Role, z.string().min(1)).optional(),
  baseUrl: z.url({ protocol: /^https?$/ }).optional(),
  apiKeyEnv: z.string().min(1).optional(),
  apiKeyFile: z.string().min(1).optional(),
  temperature: z.number().min(0).max(2).optional(),
  topP: z.number().gt(0).max(1).optional(),
  maxOutputTokens: z.number().int().positive().optional(),
  /** A reasoning model gets the larger output cap; default: by its name. */
  reasoning: z.boolean().optional(),
  requestTimeoutMs: z.number().int().positive().max(DAY_MS, 'is too large; allowed: at most 86400000').optional(),
  outageMs: z.number().int().nonnegative().max(DAY_MS, 'is too large; allowed: at most 86400000').optional(),
  limits: LimitsEntries.optional(),
});

export interface ModelsConfig {
  readonly default: string | null;
  readonly roles: Readonly<Partial<Record<Role, string>>>;
  readonly baseUrl: string | null;
  readonly apiKey: Secret | null;
  /** Where the key is looked for, to name it in messages. */
  readonly apiKeySource: string;
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly maxOutputTokens: number | null;
  readonly reasoning: boolean | null;
  readonly requestTimeoutMs: number;
  /** How long a call is tried again while the endpoint is down. */
  readonly outageMs: number;
  readonly limits: ModelLimitsTable;
}

/** `said`: what the environment says, which comes first. */
export function modelsOf(
  entry: z.infer<typeof ModelsEntry>,
  said: EnvironmentSettings,
  { where, base, env, problems }: Place,
): ModelsConfig {
  const variable = entry.apiKeyEnv ?? 'OPENAI_API_KEY';
  const keyFile = entry.apiKeyFile === undefined ? null : resolve(base, entry.apiKeyFile);
  const apiKey = env[variable]?.trim() || (keyFile && secretFile(keyFile, `${where}: models.apiKeyFile`, problems));
  if (apiKey) checkKey(apiKey, env[variable] ? variable : `${where}: models.apiKeyFile`, problems);
  if (holdsLogin(entry)) problems.push(`${where}: models.baseUrl: ${NO_LOGIN}`);
  const apiKeySource = keyFile === null ? variable : `${variable} or ${keyFile}`;
  return {
    default: said.model ?? entry.default ?? null,
    roles: { ...entry.roles, ...said.roles },
    baseUrl: said.baseUrl ?? entry.baseUrl ?? null,
    apiKey: apiKey ? new Secret(apiKey) : null,
    apiKeySource,
    temperature: entry.temperature ?? null,
    topP: entry.topP ?? null,
    maxOutputTokens: entry.maxOutputTokens ?? null,
    reasoning: entry.reasoning ?? null,
    requestTimeoutMs: entry.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
    outageMs: entry.outageMs ?? OUTAGE_MS,
    limits: limitsTable(entry.limits),
  };
}
