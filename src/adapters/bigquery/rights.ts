/**
 * Whether the login can change tables. BigQuery has no read-only transaction, and a dry run of a write writes nothing: so it is
 * asked which of the writing permissions the login has on some tables of each dataset. They can be asked of one table only, and
 * those that it has from the dataset or the project show in each. Rights to create tables elsewhere are not seen.
 */
import { SqlEngineError } from '../../domain/ports/sql-engine';
import { each } from '../../limiter';
import type { Call } from './client';
import { datasetsOf, placeOf } from './describe';
import type { Target } from './target';

const WRITING = ['updateData', 'update', 'delete', 'setIamPolicy'].map((right) => `bigquery.tables.${right}`);
const ASKED_OF = 3;

/** Throws if the login can write; the message says which roles to grant instead. */
export async function refuseWriter(call: Call, target: Target, schemas: readonly string[]): Promise<void> {
  const asked = (await datasetsOf(call, target, schemas)).flatMap((tables) => {
    const step = Math.max(1, Math.floor(tables.length / ASKED_OF));
    return tables.filter((_, at) => at % step === 0).slice(0, ASKED_OF);
  });
  const held = await each(asked, async ({ tableReference: { projectId, datasetId }, tableReference }) => {
    const asking = `${placeOf(tableReference)}:testIamPermissions`;
    const given = await call<{ permissions?: string[] }>(asking, { body: { permissions: WRITING } });
    return { may: given.permissions ?? [], of: `${projectId}.${datasetId}` };
  });
  const found = held.find(({ may }) => may.length > 0);
  if (found === undefined) return;
  const who = target.key?.client_email ?? 'the login of Application Default Credentials';
  throw new SqlEngineError(
    'not-read-only',
    `${who} can do more than read (${found.may.join(', ')} in ${found.of}): use one with roles/bigquery.dataViewer on the dataset and roles/bigquery.jobUser on ${target.billing}, or set "allowPrivilegedRole": true`,
  );
}
