/** Which data files the SQL of an answer reads. */
import type { DatabaseDescription, DataFiles } from '../../domain';
import { sameRelation } from '../../sql/validate';
import { openParser, type StepContext } from '../shared/context';

export async function filesRead(
  context: StepContext,
  { files, dialect }: DatabaseDescription,
  sql: string,
): Promise<{ readonly files?: DataFiles }> {
  if (files === undefined) return {};
  const inspection = (await openParser(context, dialect)).inspect(sql);
  if (inspection.kind !== 'select') return {};
  const isRead = (name: string): boolean => inspection.relations.some((relation) => sameRelation(name, relation));
  return { files: { asOf: files.asOf, tables: files.tables.filter(({ name }) => isRead(name)) } };
}
