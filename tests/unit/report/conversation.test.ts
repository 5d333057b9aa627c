/** The conversation with which a search begins, in the report and in `gate show --trace`. */
import type { Claim } from '../../../src/domain';
import { renderReport, renderTraceText, type Trace } from '../../../src/report';
import { lookRole } from '../../../src/roles/look';
import type { LookReply } from '../../../src/domain/turns';
import { lookInput } from '../roles/prompts/fixtures';
import { HOSTILE, hostile, observation, state, trace } from './fixture';

function replyOf(reply: Partial<LookReply>): LookReply {
  const parsed = lookRole.parse(JSON.stringify(reply), { ...lookInput, turns: [] });
  if (parsed.kind !== 'ok') throw new Error(JSON.stringify(parsed));
  return parsed.reply;
}

const claim: Claim = {
  ...{
    operator: 'op_times',
    statement: 'All but winners store their gap.',
    rows: 'riders',
    check: 'SELECT 162, 81, 162',
  },
  ...{ state: 'failed', reason: 'it holds for 81 of 162 (50 %) only', matching: 81, examined: 162 },
  rivals: [{ reading: 'everyone stores a time', matching: 162, examined: 162, verdict: 'open' }],
};
const looked = replyOf({
  action: 'look',
  queries: [
    { why: 'gaps by place', sql: 'SELECT place, min(gap) FROM ride GROUP BY place' },
    { why: '', sql: 'SELECT count(*) FROM ride' },
  ],
});
const committed = replyOf({
  action: 'commit',
  operators: [{ name: 'op_times', intent: 'gaps of riders', sql: 'SELECT gap FROM ride' }],
});
const declined = replyOf({ action: 'unanswerable', reason: 'no ride has a date' });

const [test0] = observation.tests;
const rows = (values: number[][]) => ({
  ...{ kind: 'rows' as const, truncated: false, elapsedMs: 1, rows: values },
  columns: [{ name: 'place', kind: 'number' as const }],
});
const looks = {
  ...{ ...observation, observationId: 'i1.look', proposalId: 'i1.look' },
  tests: looked.queries.map(({ sql }, at) => ({
    ...{ ...test0!, operator: 'op_look', probeSql: sql, hypotheses: [], materiality: null },
    result: rows([[at + 41]]),
  })),
};
const turn = (turnId: string, reply: LookReply) => [turnId, { turnId, reply }] as const;
const verdict = (turnId: string, claims: Claim[], candidateId: string | null) =>
  [turnId, { turnId, candidateId, claims, found: '' }] as const;

const talked: Trace = {
  ...trace,
  observations: { ...trace.observations, 'i1.look': looks },
  turns: Object.fromEntries([turn('i10.look', declined), turn('i1.look', looked), turn('i2.look', committed)]),
  verdicts: Object.fromEntries([verdict('i2.look', [claim], 'c7'), verdict('i10.look', [], null)]),
};

test('gate show --trace tells it turn by turn: what was looked at, what was counted, why it was declined', () => {
  const text = renderTraceText(talked);
  const [, conversation = ''] = /\nConversation\n([\s\S]*?)\n\n/.exec(text) ?? [];
  expect(conversation.split('\n')).toEqual([
    '  i1.look looked',
    '    gaps by place',
    '      query    SELECT place, min(gap) FROM ride GROUP BY place',
    '      observed 1 row: place',
    '               41',
    '      query    SELECT count(*) FROM ride',
    '      observed 1 row: place',
    '               42',
    '  i2.look committed: op_times · candidate c7',
    '    81 of 162 riders: “All but winners store their gap.” · not shown',
    '      it holds for 81 of 162 (50 %) only',
    '      rival “everyone stores a time”: not refuted, 162 of 162',
    '  i10.look declined: no ride has a date',
  ]);
});

test('gate show --trace tells what earlier questions proved, what of it holds no longer, and what is kept', () => {
  const entry = { entryId: 'e0123456789abcdef', provedAt: '2026-11-20T09:30:00.000Z', searchId: 'q-1' };
  const known: Claim = { ...claim, state: 'proved', reason: null, rivals: [], entry };
  const withheld = [{ entryId: 'e1', statement: 'Gaps are in ms.', why: 'it holds for 12 of 24 (50 %) only' }];
  const unchecked = [
    { entryId: 'e3', statement: 'Laps are counted\nfrom 1.', why: 'its check did not end within 3 s' },
  ];
  const layer = { shown: 1, withheld, unchecked, kept: [{ entryId: 'e2', statement: 'A day has one sprint.' }] };
  const verdicts = Object.fromEntries([verdict('i2.look', [known], 'c7')]);
  const text = renderTraceText({ ...talked, verdicts, record: { ...trace.record!, layer } });
  expect(text).toContain(
    '81 of 162 riders: “All but winners store their gap.” · proved\n      proved before, 2026-11-20 in q-1, counted again\n',
  );
  expect(text).toContain(
    [
      '\n\nNo longer holds: "Gaps are in ms."; it holds for 12 of 24 (50 %) only',
      'Not used: "Laps are counted from 1."; its check did not end within 3 s',
      'Kept for later questions: "A day has one sprint."\n\n',
    ].join('\n'),
  );
});

test('a look is not shown again below the trajectory that it led to, and a search without a conversation names none', () => {
  const trajectories = state.trajectories.map((t, at) =>
    at === 1 ? { ...t, attempts: ['i1.look', ...t.attempts] } : t,
  );
  const text = renderTraceText({ ...talked, state: { ...state, trajectories } });
  expect(text.match(/gaps by place/g)).toHaveLength(1);
  expect(text).not.toContain('attempt i1.look');
  expect(renderTraceText(trace)).not.toContain('Conversation');
  expect(renderReport(trace)).not.toContain('id="conversation"');
});

test('the report shows it before the branches, with the rows of a look and the counts of a commit', () => {
  const page = renderReport(talked);
  expect(page.indexOf('id="conversation"')).toBeLessThan(page.indexOf('id="search"'));
  const part = page.slice(page.indexOf('id="conversation"'), page.indexOf('id="search"')).replace(/<[^>]+>/g, ' ');
  const words = part.replace(/\s+/g, ' ');
  expect(words).toContain('i1.look looked gaps by place');
  expect(words).toContain('81 of 162 riders: “All but winners store their gap.” not shown');
  expect(words).toContain('i10.look declined: no ride has a date');
});

test('nothing in it can leave its place in the page', () => {
  const worst = { ...talked, turns: hostile(talked.turns), verdicts: hostile(talked.verdicts) };
  const page = renderReport(worst);
  expect(page).not.toContain(HOSTILE);
  const part = page.slice(page.indexOf('id="conversation"'), page.indexOf('id="search"'));
  expect(part.match(/&lt;\/script&gt;/g)!.length).toBeGreaterThan(5);
});
