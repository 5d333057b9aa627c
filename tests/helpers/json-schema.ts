/** Holds what a command printed against the published JSON schemas. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv2020 from 'ajv/dist/2020';

/** The violations, one line each; empty: it fits. */
export function violations(
  schema: 'answer' | 'results' | 'run' | 'batch-event' | 'batch-status' | 'submission',
  value: unknown,
): string[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  const path = join(__dirname, '../../docs/schemas', `${schema}.schema.json`);
  const check = ajv.compile(JSON.parse(readFileSync(path, 'utf8')) as object);
  check(value);
  return (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message ?? ''}`);
}
