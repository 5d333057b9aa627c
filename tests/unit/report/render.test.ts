import { createHash } from 'node:crypto';
import { renderReport, renderTraceText } from '../../../src/report';
import { anchor } from '../../../src/report/html';
import { HOSTILE, hostile, record, state, trace } from './fixture';

const report = renderReport(trace);

describe('renderReport', () => {
  test('shows question, answer, evidence, rejected readings, open assumptions, candidates and usage', () => {
    for (const text of [
      record.question,
      record.answer!,
      'Winners store an absolute time; all others store the gap to the winner.',
      'Every rider stores an absolute time.',
      '144 of 162 results start with a plus sign.',
      'A gap of exactly one second is not counted.',
      '4 (the same)',
      'events: 4',
      '8,123',
      'Bring every result to seconds',
      'the judge had said open',
      'same plan state as t2',
    ]) {
      expect(report).toContain(text);
    }
  });

  test('every operator of the final SQL leads to its evidence', () => {
    expect(report).toContain(`<a href="#operator-op_times">op_times</a>`);
    expect(report).toContain(`id="operator-op_times"`);
  });

  test('every link inside the file has its target, and ids are unique', () => {
    const ids = [...report.matchAll(/ id="([^"]+)"/g)].map((match) => match[1]);
    const targets = [...report.matchAll(/href="#([^"]+)"/g)].map((match) => match[1]);
    expect(new Set(ids).size).toBe(ids.length);
    expect(targets.filter((target) => !ids.includes(target))).toEqual([]);
  });

  test('loads nothing: no script, no external address, and a policy that forbids both', () => {
    expect(report).not.toMatch(/<script|<link|<img|<iframe|@import|url\(|https?:\/\//i);
    const style = /<style>([\s\S]*?)<\/style>/.exec(report)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    expect(report).toContain(`default-src &#39;none&#39;; style-src &#39;sha256-${hash}&#39;`);
    expect(report).not.toMatch(/ style=/);
  });

  test('hostile text in every field stays text', () => {
    const page = renderReport(hostile(trace));
    expect(page).toContain('&lt;/script&gt;');
    expect(page).not.toContain(HOSTILE);
    expect(page).not.toMatch(/<script|<img/i);
    expect(page.match(/<\/style>/g)).toHaveLength(1);
    expect(page).not.toMatch(/[\u001b\u202e]/);
    const body = page.split('</head>')[1] ?? '';
    expect(body.replace(/<[a-z!/][^<>]*>/gi, '')).not.toMatch(/[<>]/);
  });

  test('a huge cell and a long result are cut, and the report says by how much', () => {
    const rows = Array.from({ length: 1000 }, (_, index) => [index === 0 ? 'x'.repeat(1_000_000) : String(index)]);
    const page = renderReport({ ...trace, record: { ...record, rows, truncated: true } });
    expect(page.length).toBeLessThan(120_000);
    expect(page).toContain('… 999,600 more characters');
    expect(page).toContain('Result: first 200 rows of more than 1,000 rows');
  });

  test('a search that still runs has a report of its last checkpoint', () => {
    const page = renderReport({ ...trace, record: null });
    expect(page).toContain('Not finished: iteration 3');
    expect(page).toContain('op_times');
  });

  test.each(['unanswerable', 'abstained', 'cancelled', 'failed'] as const)(
    'an %s search shows its reason',
    (status) => {
      const page = renderReport({
        ...trace,
        record: {
          ...record,
          status,
          answer: null,
          sql: null,
          columns: [],
          rows: [],
          evidence: [],
          candidates: [],
          openAssumptions: [],
          reason: 'the price is not stored',
        },
      });
      expect(page).toContain('the price is not stored');
      expect(page).toContain(`>${status}</span>`);
    },
  );

  test('a search without any content renders', () => {
    const empty = {
      ...trace,
      input: null,
      state: null,
      record: null,
      plans: {},
      proposals: {},
      observations: {},
      groundings: {},
    };
    expect(renderReport(empty)).toContain(trace.searchId);
  });

  test('anchors hold no character that an attribute or a selector could trip over', () => {
    expect(anchor('operator', `a"'><b c/ü`)).toMatch(/^[A-Za-z0-9_.-]+$/);
    expect(anchor('x', 'a b')).not.toBe(anchor('x', 'a_b'));
  });
});

describe('what people told the search', () => {
  const steering = [
    {
      kind: 'pin' as const,
      author: 'ada',
      target: 'op_times',
      text: 'gaps are seconds',
      at: '2026-01-05T10:00:00.000Z',
    },
  ];
  const told = { ...trace, record: { ...record, steering } };

  test('is in the report and in the trace, with kind, author and time', () => {
    expect(renderReport(told)).toContain('gaps are seconds');
    expect(renderTraceText(told)).toContain('pin by ada, 2026-01-05 10:00 UTC: gaps are seconds');
    expect(renderReport(trace)).not.toContain('id="steering"');
  });

  test('stays text when it is hostile', () => {
    const page = renderReport(hostile(told));
    expect(page).not.toContain(HOSTILE);
    expect(page).not.toMatch(/<script|<img/i);
    expect(renderTraceText(hostile(told))).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  });
});

describe('renderTraceText', () => {
  const text = renderTraceText(trace);

  test('says why execution refused a body, as the report does', () => {
    expect(text).toContain('refused by execution: no such column: gap');
    expect(renderReport(trace)).toContain('Refused by execution: no such column: gap');
  });

  test('shows the tree with attempts, predicates, verdicts, updates and candidates', () => {
    expect(text).toMatchSnapshot();
  });

  test('a database cannot send terminal escapes', () => {
    expect(renderTraceText(hostile(trace))).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  });

  test('an attempt that no trajectory carries is still shown', () => {
    const cutOff = { ...trace, state: { ...state, trajectories: state.trajectories.slice(0, 2) } };
    expect(renderTraceText(cutOff)).toContain('attempt i1.t1.a1.probe on op_times');
  });
});

describe('what the web said', () => {
  const source = { url: `https://example.org/${HOSTILE}`, title: HOSTILE, fetchedAt: '2031-05-01T10:00:00.000Z' };
  const first = Object.keys(trace.observations)[0]!;
  const web = { tool: 'fetch_url' as const, request: HOSTILE, outcome: 'found' as const, text: HOSTILE, urls: [] };
  const citations = [{ ...source, sha256: 'a'.repeat(64) }];
  const told = {
    ...trace,
    record: { ...record, sources: citations },
    observations: { ...trace.observations, [first]: { ...trace.observations[first]!, web: { ...web, citations } } },
  };

  test('stands in the report with address and time, and stays text', () => {
    const page = renderReport(told);
    expect(page).toContain('Sources');
    expect(page).toContain('2031-05-01 10:00:00 UTC');
    expect(page).toContain('fetch_url');
    expect(page).not.toMatch(/<script|<img|href="https?:/i);
    expect(page).not.toContain('\u202e');
  });

  test('stands in the trace, without what a terminal would obey', () => {
    const lines = renderTraceText(told);
    expect(lines).toContain('fetch_url');
    expect(lines).toContain('Sources');
    expect(lines).not.toMatch(/\u001b|\u202e/);
  });

  test('is not spoken of where nobody asked the web', () => {
    expect(report).not.toContain('Sources');
  });
});
