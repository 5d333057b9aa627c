/** The worked example in the rules is real: it runs, and it tells the right reading from the wrong one. */
import Database from 'libsql';
import { testRules } from '../../../../src/roles/shared/tests';

const rules = testRules('execution');
const quoted = (pattern: RegExp) => pattern.exec(rules)?.[1] ?? '';
const probe = quoted(/^probe: (SELECT .*)$/m);
const matching = quoted(/"matching": "([^"]*)"/);
const examined = quoted(/"examined": "([^"]*)"/);

function ask(weights: readonly number[], expression: string): unknown {
  const db = new Database(':memory:');
  db.exec('CREATE TABLE shipment(id, kg); CREATE TABLE parcel(shipment_id, weight)');
  weights.forEach((weight, at) => {
    db.prepare('INSERT INTO shipment VALUES (?, ?)').run(at, 12.5);
    db.prepare('INSERT INTO parcel VALUES (?, ?)').run(at, weight);
  });
  const row = db.prepare(`WITH observation AS (${probe}) SELECT (${expression}) AS value`).get() as { value: unknown };
  db.close();
  return row.value;
}

it('is quoted whole', () => {
  expect([probe, matching, examined].every((sql) => sql !== '')).toBe(true);
});

it('supports grams and refutes kilograms where the parcels are in grams', () => {
  const grams = [12500, 12500, 12500];
  expect(ask(grams, matching)).toBe(0);
  expect(ask(grams, matching.replace('as_kg', 'as_g'))).toBe(3);
  expect(ask(grams, examined)).toBe(3);
});

it('counts none of none, not NULL, where there are no rows', () => {
  expect([ask([], matching), ask([], examined)]).toEqual([0, 0]);
});
