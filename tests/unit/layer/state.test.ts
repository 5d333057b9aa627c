/** What follows from the events of a layer, in whatever order they were written. */
import { allHeld, figuresOf, hasFallen, layerOf } from '../../../src/layer/state';
import type { LayerEntry, LayerEvent } from '../../../src/domain';

const id = (n: number): string => `e${String(n).padStart(16, '0')}`;
const at = (minute: number): string => `2026-01-01T00:${String(minute).padStart(2, '0')}:00.000Z`;
const entry = (n: number, more: Partial<LayerEntry> = {}): LayerEntry => ({
  ...{ entryId: id(n), statement: `statement ${n}`, rows: 'rows', scope: null },
  ...{ check: `SELECT ${n}`, matching: 50, examined: 50 },
  rivals: [{ reading: 'another', matching: 3, examined: 50, refuted: true }],
  ...{ tables: ['t'], columns: ['t.a'], operator: null, restsOn: [], from: { searchId: 's', question: null } },
  ...{ provedAt: at(0), schemaFingerprint: 'f' },
  ...more,
});
const proved = (n: number, minute = 0, more: Partial<LayerEntry> = {}): LayerEvent => ({
  ...{ kind: 'proved', at: at(minute), entry: entry(n, more) },
});
const counted = (examined: number) => ({ matching: examined, examined, rivals: [] });
const by = { author: 'ann', note: null };
const statusOf = (events: readonly LayerEvent[], until?: string): Record<string, string> =>
  Object.fromEntries(layerOf(events, until).entries.map(({ entry: { entryId }, status }) => [entryId, status]));

test('the order of writing does not matter, and an event that was written twice counts once', () => {
  const events: LayerEvent[] = [
    proved(1),
    { kind: 'broken', entryId: id(1), at: at(1), why: 'no', counts: null },
    { kind: 'counted', entryId: id(1), at: at(2), counts: { matching: 50, examined: 50, rivals: [] } },
    { kind: 'rejected', entryId: id(1), at: at(3), ...by },
    { kind: 'confirmed', entryId: id(1), at: at(4), ...by },
  ];
  const inOrder = layerOf(events);
  expect(layerOf([...events].reverse())).toEqual(inOrder);
  expect(layerOf([...events, ...events])).toEqual(inOrder);
  expect(inOrder.entries[0]).toMatchObject({ status: 'active', confirmedBy: 'ann', since: at(4) });
});

test('as it was at a time', () => {
  const events: LayerEvent[] = [proved(1), { kind: 'rejected', entryId: id(1), at: at(5), ...by }, proved(2, 6)];
  expect(statusOf(events, at(4))).toEqual({ [id(1)]: 'active' });
  expect(statusOf(events)).toEqual({ [id(1)]: 'rejected', [id(2)]: 'active' });
});

test('a proof over few rows is used, and says so beside its figures, which are those of now', () => {
  const few = proved(1, 0, { matching: 6, examined: 6 });
  const more: LayerEvent = { kind: 'counted', entryId: id(1), at: at(1), counts: counted(20) };
  const less: LayerEvent = { kind: 'counted', entryId: id(2), at: at(1), counts: counted(19) };
  expect(statusOf([few])).toEqual({ [id(1)]: 'active' });
  const figures = (...events: LayerEvent[]): string[] => layerOf(events).entries.map((held) => figuresOf(held, 'sums'));
  expect(figures(few, proved(2))).toEqual(['6 of 6 sums, few rows', '50 of 50 sums']);
  expect(figures(few, proved(2), more, less)).toEqual(['20 of 20 sums', '19 of 19 sums, few rows']);
});

test('a fall is shown beside the figures that are kept, until a person confirms the figures of now', () => {
  const fell: LayerEvent = {
    kind: 'counted',
    entryId: id(1),
    at: at(1),
    counts: { matching: 49, examined: 50, rivals: [] },
  };
  const [held] = layerOf([proved(1), fell]).entries;
  expect(held).toMatchObject({ status: 'active', since: at(0), countedAt: at(1) });
  expect([hasFallen(held!), figuresOf(held!)]).toEqual([true, '49 of 50 (kept as 50 of 50)']);
  const [confirmed] = layerOf([proved(1), fell, { kind: 'confirmed', entryId: id(1), at: at(2), ...by }]).entries;
  expect([hasFallen(confirmed!), figuresOf(confirmed!)]).toEqual([false, '49 of 50']);
  const broken: LayerEvent = { kind: 'broken', entryId: id(1), at: at(1), why: 'no', counts: counted(1) };
  const [still] = layerOf([proved(1), broken, { kind: 'confirmed', entryId: id(1), at: at(2), ...by }]).entries;
  expect(still).toMatchObject({ status: 'broken', entry: { matching: 50 } });
});

test('what rests on an entry falls with it, and an entry that is withdrawn takes back all that rests on it', () => {
  const chain = [proved(1), proved(2, 0, { restsOn: [id(1)] }), proved(3, 0, { restsOn: [id(2)] })];
  expect(statusOf(chain)).toEqual({ [id(1)]: 'active', [id(2)]: 'active', [id(3)]: 'active' });
  const rejected: LayerEvent = { kind: 'rejected', entryId: id(1), at: at(1), ...by };
  expect(statusOf([...chain, rejected])).toEqual({ [id(1)]: 'rejected', [id(2)]: 'suspended', [id(3)]: 'suspended' });
  expect(layerOf([...chain, rejected]).entries[1]!.why).toBe(`it rests on ${id(1)}, which is rejected`);
});

test('entries that rest on each other do not keep each other up or down', () => {
  const ring = [proved(1, 0, { restsOn: [id(2)] }), proved(2, 0, { restsOn: [id(1)] })];
  expect(statusOf(ring)).toEqual({ [id(1)]: 'active', [id(2)]: 'active' });
  const broken: LayerEvent = { kind: 'broken', entryId: id(2), at: at(1), why: 'no', counts: null };
  expect(statusOf([...ring, broken])).toEqual({ [id(1)]: 'suspended', [id(2)]: 'broken' });
});

test('two that contradict each other are both suspended until one of them falls, or a person decides', () => {
  const both: LayerEvent[] = [
    ...[proved(1), proved(2, 1)],
    { kind: 'contradicted', at: at(1), entryId: id(1), by: id(2), why: 'x' },
    { kind: 'contradicted', at: at(1), entryId: id(2), by: id(1), why: 'x' },
  ];
  expect(statusOf(both)).toEqual({ [id(1)]: 'suspended', [id(2)]: 'suspended' });
  const fallen: LayerEvent = { kind: 'broken', entryId: id(2), at: at(2), why: 'no', counts: null };
  expect(statusOf([...both, fallen])).toEqual({ [id(1)]: 'active', [id(2)]: 'broken' });
  const decided: LayerEvent = { kind: 'rejected', entryId: id(1), at: at(2), ...by };
  expect(statusOf([...both, decided])).toEqual({ [id(1)]: 'rejected', [id(2)]: 'active' });
  const confirmed: LayerEvent = { kind: 'confirmed', entryId: id(2), at: at(2), ...by };
  expect(statusOf([...both, confirmed])).toEqual({ [id(1)]: 'suspended', [id(2)]: 'active' });
});

test('of two that contradict each other, the one that lost a count made for the two speaks against nothing', () => {
  const events: LayerEvent[] = [
    ...[proved(1), proved(2, 1), proved(3, 2)],
    { kind: 'contradicted', at: at(1), entryId: id(1), by: id(2), why: 'x' },
    { kind: 'contradicted', at: at(1), entryId: id(2), by: id(1), why: 'x' },
  ];
  expect(layerOf(events).entries.map(({ contradictedBy }) => contradictedBy)).toEqual([id(2), id(1), undefined]);
  const decided: LayerEvent = { kind: 'contradicted', at: at(2), entryId: id(2), by: id(3), why: 'it lost' };
  expect(statusOf([...events, decided])).toEqual({ [id(1)]: 'active', [id(2)]: 'suspended', [id(3)]: 'active' });
  const fallen: LayerEvent = { kind: 'broken', entryId: id(3), at: at(3), why: 'no', counts: null };
  expect(statusOf([...events, decided, fallen])).toMatchObject({ [id(1)]: 'suspended', [id(2)]: 'suspended' });
  // Nor does a winner that lost such a count later.
  const beaten: LayerEvent[] = [
    proved(4, 3),
    { kind: 'contradicted', at: at(3), entryId: id(3), by: id(4), why: 'it lost' },
  ];
  expect(statusOf([...events, decided, ...beaten])).toEqual({
    ...{ [id(1)]: 'suspended', [id(2)]: 'suspended', [id(3)]: 'suspended', [id(4)]: 'active' },
  });
});

describe('one that another says as well, and more', () => {
  const events: LayerEvent[] = [
    ...[proved(1), proved(2, 1), proved(3, 1, { restsOn: [id(1)] })],
    { kind: 'superseded', at: at(1), entryId: id(1), by: id(2) },
  ];
  const then = (...more: LayerEvent[]) => statusOf([...events, ...more]);

  test('is not used beside it; what rests on it is', () => {
    expect(then()).toEqual({ [id(1)]: 'superseded', [id(2)]: 'active', [id(3)]: 'active' });
    expect(layerOf(events).entries[0]!.why).toBe(`${id(2)} says it too, and more`);
  });

  test.each<[string, LayerEvent]>([
    ['breaks', { kind: 'broken', entryId: id(2), at: at(2), why: 'no', counts: null }],
    ['is rejected', { kind: 'rejected', entryId: id(2), at: at(2), ...by }],
  ])('is back when that one %s', (_, event) => {
    expect(then(event)).toMatchObject({ [id(1)]: 'active', [id(3)]: 'active' });
  });

  test('is back when a person confirms it, or when each is said to replace the other', () => {
    expect(then({ kind: 'confirmed', entryId: id(1), at: at(2), ...by })).toMatchObject({ [id(1)]: 'active' });
    const ring = then({ kind: 'superseded', at: at(1), entryId: id(2), by: id(1) });
    expect(Object.values(ring)).toContain('active');
  });
});

test('a later proof heals what was broken, but overrules no person', () => {
  const broken: LayerEvent = { kind: 'broken', entryId: id(1), at: at(1), why: 'no', counts: null };
  expect(statusOf([proved(1), broken, proved(1, 2)])).toEqual({ [id(1)]: 'active' });
  const rejected: LayerEvent = { kind: 'rejected', entryId: id(1), at: at(1), ...by };
  expect(statusOf([proved(1), rejected, proved(1, 2)])).toEqual({ [id(1)]: 'rejected' });
});

describe('what a person says', () => {
  const asked: LayerEvent = {
    ...{ kind: 'asked', at: at(0), questionId: 'q1', text: 'Which clock?', tables: ['t'], columns: ['t.a'] },
  };
  const said = (statement: string, minute: number): LayerEvent => ({
    ...{ kind: 'said', at: at(minute) },
    rule: {
      ...{ entryId: id(7), statement, tables: ['t'], columns: [], answers: 'q1' },
      ...{ author: 'ann', saidAt: at(minute) },
    },
  });
  const rejected: LayerEvent = { kind: 'rejected', entryId: id(7), at: at(3), ...by };

  test('is a rule beside the entries, and never one that rows proved; it closes the question that it answers', () => {
    const layer = layerOf([proved(1), asked, said('Which clock? UTC', 1)]);
    expect(layer.entries.map(({ entry }) => entry.entryId)).toEqual([id(1)]);
    expect(layer.rules).toMatchObject([{ statement: 'Which clock? UTC', status: 'active', entry: { author: 'ann' } }]);
    expect(allHeld(layer).map((held) => figuresOf(held))).toEqual(['50 of 50', 'said by ann, not counted']);
    expect(layer.questions).toEqual([]);
  });

  test('is withdrawn like an entry, and its question is open again; newer words of a person count', () => {
    const events = [asked, said('Which clock? UTC', 1), rejected];
    expect(layerOf(events)).toMatchObject({ rules: [{ status: 'rejected' }], questions: [{ questionId: 'q1' }] });
    expect(layerOf([...events, said('Which clock? CET', 4)])).toMatchObject({
      ...{ rules: [{ status: 'active', statement: 'Which clock? CET' }], questions: [] },
    });
  });
});
