/** For `gate db describe --question`: the tables as a search would rank them, by meaning too where that is configured. */
import type { Config } from '../config';
import type { ResolvedDatabase } from '../config/databases';
import type { DatabaseDescription } from '../domain';
import { ModelError } from '../ports';
import { SCHEMA_CHARS, fitsWhole, schemaContext, type SchemaContext } from '../schema/context';
import { unitVector, type Nearness } from '../schema/ranking';
import { sha256 } from '../sha256';
import { identityKey } from '../steps/context';
import { embedded } from '../steps/embed';
import { nearnessOf } from '../steps/table-vectors';
import { knownIdentity } from '../workers/database-aliases';
import { openEmbedder } from '../workers/open-embedder';
import { openStore } from '../workers/open-store';

export interface DescribedFor {
  readonly config: Config;
  readonly database: Pick<ResolvedDatabase, 'name' | 'identity'>;
  readonly question: string;
  readonly signal: AbortSignal;
}

export async function contextFor(
  description: DatabaseDescription,
  asked: DescribedFor,
): Promise<SchemaContext & { readonly warning: string | null }> {
  const options = { maxChars: SCHEMA_CHARS, question: asked.question };
  const opened = fitsWhole(description, SCHEMA_CHARS) ? null : openEmbedder(asked.config);
  if (opened === null) return { ...schemaContext(description, options), warning: null };
  try {
    const nearness = await near(description, asked, opened.embedder.open);
    return { ...schemaContext(description, { ...options, nearness }), warning: null };
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    const warning = `tables are ranked by the question's words alone: ${error.message}`;
    return { ...schemaContext(description, options), warning };
  } finally {
    opened.close();
  }
}

/** Embeddings that it pays for are stored, so the next question does not pay again. */
async function near(
  description: DatabaseDescription,
  { config, database, question, signal }: DescribedFor,
  open: NonNullable<ReturnType<typeof openEmbedder>>['embedder']['open'],
): Promise<Nearness> {
  const embedder = await open();
  const { vectors } = await embedded(embedder, [question], signal);
  const store = openStore(config);
  const deps = { store, hash: sha256, clock: { now: () => Date.now() }, embedder };
  const key = identityKey(await knownIdentity(store, database.identity));
  const asked = { database: key, name: database.name, description, question: unitVector(vectors[0] ?? []), signal };
  const found = await nearnessOf(deps, asked);
  if (found.kind === 'failed') throw found.error;
  return found.nearness;
}
