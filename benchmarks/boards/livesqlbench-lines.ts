/** The lines of LiveSQLBench's data sets. */
import { z } from 'zod';
import type { BenchmarkItem } from '../../src/questions/question-file';
import { FileName } from './files';

export const Statements = z
  .union([z.string(), z.array(z.string())])
  .nullish()
  .transform((given) => (typeof given === 'string' ? (given === '' ? [] : [given]) : (given ?? [])));

/** Fields that are not named here are kept as they are. */
export const Line = z.looseObject({
  instance_id: z.string(),
  selected_database: FileName,
  query: z.string(),
  sol_sql: Statements,
  preprocess_sql: Statements,
  normal_query: z.string().nullish(),
  category: z.string().default('Query'),
  difficulty_tier: z.string().nullish(),
  conditions: z.looseObject({ order: z.boolean().nullish() }).nullish(),
});
export type Line = z.infer<typeof Line>;

/** The lines of the data set, for the file of predictions. */
export const lineOf = new WeakMap<BenchmarkItem, Line>();

export const isQuery = ({ category }: Line): boolean => category === 'Query';
