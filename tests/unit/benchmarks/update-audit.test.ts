import { createSqliteInspector } from '../../../src/adapters/sqlite';
import type { Observation, Update, UpdateView } from '../../../src/domain';
import type { Trace } from '../../../src/report';
import { auditSearch, updateAudit, type Judged } from '../../../benchmarks/update-audit';
import { state, trace } from '../report/fixture';

interface Given {
  readonly probe: string;
  /** Tables of the SQL that it proves, and of its input. */
  readonly body?: readonly string[];
  readonly input?: readonly string[];
  readonly status?: UpdateView['status'];
  readonly reuses?: number;
}

function traceOf(given: Readonly<Record<string, Given>>): Trace {
  const views = Object.entries(given).map(([id, { status = 'active', reuses = 0 }]): UpdateView => ({
    ...{ id, shape: 's', intent: id, inputs: [], bodyId: `b-${id}`, status, dependsOn: [], reuses },
  }));
  const updates = views.map(({ id }) => [
    id,
    {
      ...{
        updateId: id,
        operator: 'op_x',
        intent: id,
        mapping: `reading of ${id}`,
        summary: 'seen',
        bodyId: `b-${id}`,
      },
      ...{ inputs: [{ local: 'op_y', bodyId: `in-${id}` }], observationId: `o-${id}` },
    } as unknown as Update,
  ]);
  const observations = Object.entries(given).map(([id, { probe }]) => {
    const result = {
      kind: 'rows',
      columns: [{ name: 'n', kind: 'number' }],
      rows: [[7]],
      truncated: false,
      elapsedMs: 1,
    };
    const test = (operator: string, probeSql: string) => ({ operator, probeSql, result, hypotheses: [] });
    // The test of another operator says nothing about this one.
    const tests = [test('op_x', probe), test('op_z', 'SELECT 1 FROM elsewhere')];
    return [`o-${id}`, { tests } as unknown as Observation];
  });
  const bodies = Object.entries(given).flatMap(([id, { body = [], input = [] }]) => [
    [`b-${id}`, { relations: body }],
    [`in-${id}`, { relations: input }],
  ]);
  return {
    ...trace,
    state: { ...state, updates: views },
    updates: Object.fromEntries(updates) as Trace['updates'],
    observations: Object.fromEntries(observations) as Trace['observations'],
    bodies: Object.fromEntries(bodies) as Trace['bodies'],
  };
}

const audit = (given: Readonly<Record<string, Given>>) => auditSearch(traceOf(given), createSqliteInspector());

test('tables are what the parser finds, not what the text holds', () => {
  const { updates, pairs, possiblePairs } = audit({
    a: { probe: 'WITH op_y AS (SELECT * FROM Lap) SELECT count(*) AS n FROM op_y' },
    b: { probe: "SELECT 'from lap' AS n FROM driver -- lap" },
    c: { probe: 'SELECT 1', body: ['driver'], input: ['lap'] },
    d: { probe: 'SELECT (SELECT max(id) FROM track) AS n' },
  });
  expect(updates.map(({ tables }) => tables)).toEqual([['lap'], ['driver'], ['driver', 'lap'], ['track']]);
  expect(possiblePairs).toBe(6);
  expect(pairs.map(({ updates: [one, other], tables }) => [one.updateId, other.updateId, tables])).toEqual([
    ['a', 'c', ['lap']],
    ['b', 'c', ['driver']],
  ]);
  expect(pairs[0]?.pairId).toMatch(/^p-[0-9a-f]{12}$/);
  expect(updates[0]).toMatchObject({ reading: 'reading of a', observed: 'n\n7' });
});

test('an update that was withdrawn counts apart and is in no pair', () => {
  const search = audit({
    a: { probe: 'SELECT 1 FROM lap', reuses: 2 },
    b: { probe: 'SELECT 1 FROM lap', status: 'withdrawn' },
    c: { probe: 'SELECT 1 FROM lap' },
  });
  expect(search).toMatchObject({ withdrawn: 1, possiblePairs: 1 });
  expect(updateAudit([search], null)).toMatchObject({
    ...{ updates: 2, withdrawn: 1, reused: 1, reusedShare: 0.5, reuses: 2, reusesPerUpdate: 1, pairs: 1 },
  });
});

test('an update whose content is gone is an error that names it', () => {
  const lost = { ...traceOf({ a: { probe: 'SELECT 1' } }), updates: {} };
  expect(() => auditSearch(lost, createSqliteInspector())).toThrow('has lost its update a');
});

test('without searches or updates there is no share', () => {
  expect(updateAudit([], null)).toMatchObject({ updatesPerSearch: null, reusedShare: null, pairsShare: null });
});

test('the rate of contradictions is told once every pair is judged and every flagged one decided', () => {
  const search = audit({
    a: { probe: 'SELECT 1 FROM t' },
    b: { probe: 'SELECT 1 FROM t' },
    c: { probe: 'SELECT 1 FROM t' },
  });
  const [x, y, z] = search.pairs.map(({ pairId }) => pairId);
  const decided = (decision: 'contradiction' | 'consistent' | null) => ({
    ...search.pairs[0]!,
    ...{ tables: ['t'], updates: [...search.pairs[0]!.updates] as never, reason: 'r' },
    decision:
      decision === null
        ? null
        : { ...{ schemaVersion: 1 as const, pairId: x!, decision, note: null }, author: 'a', at: '' },
  });
  const rate = (verdicts: Judged['verdicts'], flagged: Judged['flagged']) =>
    updateAudit([search], { model: 'm', version: 1, verdicts, flagged }).judge?.contradictionRate;
  const all = [x, y, z].map((pairId, at) => ({ pairId: pairId!, contradictory: at === 0 }));
  expect(rate(all, [decided(null)])).toBeNull();
  expect(rate(all, [decided('contradiction')])).toBeCloseTo(1 / 3, 10);
  expect(rate(all, [decided('consistent')])).toBe(0);
  expect(rate(all.slice(1), [])).toBeNull();
  expect(rate([all[0]!, all[1]!, { pairId: z!, contradictory: null }], [decided('consistent')])).toBeNull();
});
