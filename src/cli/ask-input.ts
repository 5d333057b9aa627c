/** From the flags of `ask` to the search's input: question, settings, id. Everything wrong is said before work begins. */
import { readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { Config } from '../config';
import type { Question, SearchInput } from '../domain';
import { looksLikeReasoning, MODEL_DEFAULTS, settingsFor } from '../presets';
import { searchIdOf } from '../search-id';
import { CommandFailed, UsageError } from './errors';
import type { Io } from './io';
import { budgetsOf, type SearchFlags } from './options';

export interface QuestionFlags {
  readonly context?: string;
  readonly instructions?: string;
  readonly docs?: readonly string[];
  readonly output: Question['outputMode'];
}

export async function questionText(
  argument: string,
  io: Pick<Io, 'readInput'>,
  what: 'question' | 'query' = 'question',
): Promise<string> {
  const text = (argument === '-' ? await io.readInput() : argument).trim();
  if (text === '')
    throw new UsageError(`the ${what} is empty; write it in quotes, or give - to read it from standard input`);
  return text;
}

export function questionOf(text: string, database: string, flags: QuestionFlags, cwd: string): Question {
  return {
    schemaVersion: 1,
    text,
    database,
    outputMode: flags.output,
    tools: ['execute_sql'],
    context: flags.context?.trim() || null,
    instructions: flags.instructions?.trim() || null,
    documents: (flags.docs ?? []).map((file) => document(file, cwd)),
  };
}

const MAX_DOCUMENT_CHARS = 200_000;

function document(file: string, cwd: string): Question['documents'][number] {
  const path = resolve(cwd, file);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(
      `--docs ${file}: cannot read it (${(error as NodeJS.ErrnoException).code ?? 'error'}); give a text file`,
    );
  }
  if (text.includes('\0'))
    throw new UsageError(`--docs ${file}: not a text file; convert it to text or Markdown first`);
  if (text.length > MAX_DOCUMENT_CHARS) {
    throw new UsageError(`--docs ${file}: longer than ${MAX_DOCUMENT_CHARS} characters; give the parts that matter`);
  }
  return { name: basename(path), text };
}

/** Names that stand in when none is configured: those of a recording, or of a local Ollama. */
export function modelsFor(
  config: Config,
  flags: SearchFlags,
  offered: readonly string[],
): SearchInput['settings']['models'] {
  const given = Object.fromEntries(
    Object.entries(flags.model ?? {}).filter(([, name]) => name !== undefined),
  ) as Record<string, string>;
  const fallback = offered[0];
  const name = given['default'] ?? config.models.default ?? fallback;
  if (name === undefined) throw new CommandFailed('no model is named: set GATE_MODEL, or give --model NAME');
  return { ...config.models.roles, ...given, default: name };
}

export function searchInput(
  config: Config,
  flags: SearchFlags,
  question: Question,
  options: { readonly models: SearchInput['settings']['models']; readonly namespace: string; readonly nonce?: string },
): SearchInput {
  const { temperature, topP, maxOutputTokens, reasoning } = config.models;
  const reasons = reasoning ?? Object.values(options.models).some(looksLikeReasoning);
  const cap = reasons ? MODEL_DEFAULTS.reasoningOutputTokens : MODEL_DEFAULTS.maxOutputTokens;
  const settings = settingsFor({
    method: flags.method,
    preset: flags.preset ?? config.preset,
    models: options.models,
    overrides: {
      temperature: temperature ?? MODEL_DEFAULTS.temperature,
      topP: topP ?? MODEL_DEFAULTS.topP,
      maxOutputTokens: maxOutputTokens ?? cap,
      seed: flags.seed ?? 0,
      budgets: budgetsOf(flags, config.budgets),
    },
  });
  const { namespace, nonce } = options;
  const searchId = searchIdOf({ question, settings, namespace }, nonce);
  return { schemaVersion: 1, searchId, namespace, question, settings };
}
