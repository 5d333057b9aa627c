/**
 * Whether the login can change tables. BigQuery has no read-only transaction, and a dry run of a write writes nothing: so it is
 * asked which of the writing permissions the login has on some tables of the dataset. Rights to create tables elsewhere are
 * not seen: no interface tells them without further rights.
 */
import { SqlEngineError } from '../../domain/ports/sql-engine';
import { path, type Api } from './client';
import type { Listed } from './describe';
import type { Target } from './target';

const WRITING = ['updateData', 'update', 'delete', 'setIamPolicy'].map((right) => `bigquery.tables.${right}`);
const ASKED_OF = 3;

/** Throws if the login can write; the message says which roles to grant instead. */
export async function refuseWriter(api: Api, target: Target, signal: AbortSignal): Promise<void> {
  const { project, dataset, billing, key } = target;
  const { tables = [] } = await api.get<{ readonly tables?: readonly Listed[] }>(
    path`projects/${project}/datasets/${dataset}/tables`,
    { maxResults: 1000 },
    signal,
  );
  const step = Math.max(1, Math.floor(tables.length / ASKED_OF));
  const asked = tables.filter((_, at) => at % step === 0).slice(0, ASKED_OF);
  const answers = await Promise.all(
    asked.map(({ tableReference: { tableId } }) =>
      api.post<{ readonly permissions?: readonly string[] }>(
        path`projects/${project}/datasets/${dataset}/tables/${tableId}:testIamPermissions`,
        { permissions: WRITING },
        signal,
      ),
    ),
  );
  const held = [...new Set(answers.flatMap(({ permissions = [] }) => permissions))];
  if (held.length === 0) return;
  const who = key?.client_email ?? 'the login of Application Default Credentials';
  throw new SqlEngineError(
    'not-read-only',
    `${who} can do more than read (${held.join(', ')} in ${project}.${dataset}): use one with roles/bigquery.dataViewer on the dataset and roles/bigquery.jobUser on ${billing}, or set "allowPrivilegedRole": true`,
  );
}
