import { createHash } from 'node:crypto';
import { renderReport, renderTraceText } from '../../../src/report';
import { anchor } from '../../../src/report/html';
import { headlineText } from '../../../src/text/answer-text';
import { HOSTILE, hostile, record, state, trace } from './fixture';
import { computingMs } from '../../helpers/computing';

const report = renderReport(trace);
/** The beginning of HOSTILE as a page and as a terminal may show it. */
const ESCAPED = '&lt;/script&gt;&lt;/style&gt;&lt;script&gt;alert(1)&lt;/script&gt;';
const SPOKEN = '</script></style><script>alert(1)</script>';
const CONTROL = /[\u0000-\u0009\u000b-\u001f\u202e]/;
const csvOf = (page: string): string =>
  Buffer.from(/href="data:text\/csv;charset=utf-8;base64,([^"]*)"/.exec(page)![1]!, 'base64').toString('utf8');

describe('renderReport', () => {
  test('shows question, answer, evidence, rejected readings, open assumptions, candidates and usage', () => {
    for (const text of [
      record.question,
      record.answer!,
      'Winners store an absolute time; all others store the gap to the winner.',
      'Every rider stores an absolute time.',
      '144 of 162 results start with a plus sign.',
      '118 of 120 rows match, 2 do not',
      'Counts: a note on the counts.',
      'The same answer as under h7.',
      'With its SQL the probe gave 4711.',
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

  test('tokens from a cache are shown apart, in the page and in the text, where an endpoint told of any', () => {
    const usage = { ...record.usage, promptTokens: 9000, cachedTokens: 6400, completionTokens: 1000 };
    const cached = { ...trace, record: { ...record, usage } };
    expect(renderReport(cached)).toMatch(/<dt>Prompt tokens from a cache<\/dt>\s*<dd>6,400<\/dd>/);
    expect(renderTraceText(cached)).toContain('10,000 tokens (6,400 cached)');
    expect(report).not.toContain('from a cache');
  });

  test('what a database bills by bytes is shown where one does', () => {
    const usage = { ...record.usage, sqlExecutions: 8, sqlBytes: 83_886_080, sqlUsd: 0.000477 };
    const billed = { ...trace, record: { ...record, usage } };
    expect(renderReport(billed)).toMatch(
      /<dt>Read from the database<\/dt>\s*<dd>83.9 MB billed, about \$0.00048<\/dd>/,
    );
    expect(renderTraceText(billed)).toContain('8 SQL statements (83.9 MB billed, about $0.00048)');
    expect(report).not.toContain('billed, about');
  });

  test('a follow-up shows the search that it follows and what it was understood as', () => {
    const after = 'q-0123456789abcdef';
    const shown = renderReport({ ...trace, record: { ...record, after, understoodAs: `${HOSTILE} by car?` } });
    expect(shown).toContain(`Follows: <code>${after}</code>`);
    expect(shown).toMatch(/Understood as: [^]*by car\?/);
    expect(shown).not.toContain('<script>alert(1)');
    expect(report).not.toMatch(/Follows:|Understood as:/);
  });

  test('every operator of the final SQL leads to its evidence', () => {
    expect(report).toContain(`<a href="#operator-op_times">op_times</a>`);
    expect(report).toContain(`id="operator-op_times"`);
  });

  test('every link inside the file has its target, and ids are unique', () => {
    const ids = [...report.matchAll(/ id="([^"]+)"/g)].map((match) => match[1]);
    const targets = [...report.matchAll(/href="#([^"]+)"/g)].map((match) => match[1]);
    expect(new Set(ids).size).toBe(ids.length);
    expect(targets.length).toBeGreaterThan(3);
    expect(targets.filter((target) => !ids.includes(target))).toEqual([]);
  });

  test('loads nothing, and its policy allows its own style sheet and script and nothing else', () => {
    expect(report).not.toMatch(/<link|<img|<iframe|<object|@import|url\(|https?:\/\/| style=| on[a-z]+=/i);
    const hash = (tag: string): string => {
      const [text, ...more] = [...report.matchAll(new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`, 'g'))].map(
        ([, inner]) => inner!,
      );
      expect(more).toEqual([]);
      return `&#39;sha256-${createHash('sha256').update(text!).digest('base64')}&#39;`;
    };
    expect(report).toContain(
      `content="default-src &#39;none&#39;; style-src ${hash('style')}; script-src ${hash('script')}; base-uri &#39;none&#39;; form-action &#39;none&#39;"`,
    );
  });

  test('every button is hidden until the script shows it', () => {
    const buttons = report.match(/<button[^>]*>/g)!;
    expect(buttons.length).toBeGreaterThan(3);
    expect(buttons.filter((button) => !button.endsWith(' hidden>'))).toEqual([]);
    const ids = [...report.matchAll(/ id="([^"]+)"/g)].map((match) => match[1]);
    const copied = [...report.matchAll(/data-copy="([^"]+)"/g)].map(([, id]) => id);
    expect(copied.length).toBeGreaterThan(1);
    expect(copied.filter((id) => !ids.includes(id))).toEqual([]);
  });

  test('hostile text in every field stays text', () => {
    const page = renderReport(hostile(trace));
    expect(page).toContain(ESCAPED);
    expect(page).not.toMatch(/<img|<script>alert/i);
    expect(page.match(/<script|<\/script>|<style|<\/style>/gi)).toHaveLength(4);
    expect(page).not.toMatch(/[\u001b\u202e]/);
    const body = (page.split('</head>')[1] ?? '').replace(/<script>[\s\S]*<\/script>/, '');
    expect(body.replace(/<[a-z!/][^<>]*>/gi, '')).not.toMatch(/[<>]/);
  });

  test('a huge cell is cut, and the report says by how much; the file has all of it', () => {
    const page = renderReport({ ...trace, record: { ...record, rows: [['x'.repeat(1_000_000)]] } });
    expect(page).toContain('… 999,600 more characters');
    expect(page.replace(/data:text\/csv[^"]*/, '').length).toBeLessThan(60_000);
    expect(csvOf(page)).toBe(`\uFEFFevents\r\n${'x'.repeat(1_000_000)}\r\n`);
  });

  test('of 10,000 rows the first stand in a table, and all in the file', () => {
    const rows = Array.from({ length: 10_000 }, (_, index) => [`row ${index + 1}`]);
    let page = '';
    const render = () => void (page = renderReport({ ...trace, record: { ...record, rows, truncated: true } }));
    expect(computingMs(render)).toBeLessThan(3_000);
    expect(page.match(/<td>row \d+</g)).toHaveLength(1_000);
    expect(page).toContain('Result: first 1,000 rows of more than 10,000 rows');
    expect(csvOf(page).split('\r\n')).toHaveLength(10_002);
  });

  test('the headline is the answer, before the question of how far it is proved and where to doubt it', () => {
    const body = report.slice(report.indexOf('<body>'));
    expect(body).toContain(`<h1 class="good">${record.answer}</h1>`);
    expect(body).toContain('1 of 2 proved; 1 assumed');
    const order = [
      '<h1',
      '1 of 2 proved',
      'Where to doubt it',
      'A gap of exactly',
      'id="result"',
      'id="evidence"',
      'id="machinery"',
    ];
    const at = order.map((text) => body.indexOf(text));
    expect(at).toEqual([...at].sort((a, b) => a - b));
    expect(at).not.toContain(-1);
  });

  test('the headline leaves to the line below how far it is proved, and to the doubts what the words allow', () => {
    const sentence = '{events} sprint events were close.';
    const given = { ...record, sentence, columns: [{ name: 'events', kind: 'number' as const }], rows: [[4]] };
    const page = renderReport({ ...trace, record: { ...given, answer: headlineText(given) } });
    expect(page).toContain('<h1 class="good">4 sprint events were close.</h1>');
    expect(page.match(/1 of 2 proved/g)).toHaveLength(1);
    expect(page).not.toContain('<p class="more">');
    expect(renderReport({ ...trace, record: { ...given, answer: null } })).toContain(
      '<h1 class="good">4 sprint events were close.</h1>',
    );
  });

  test('an answer over a part of what was asked is doubted first, with the SQL that counted it', () => {
    const coverage = { asked: 1000, used: 312, sql: 'SELECT 1000 AS asked, 312 AS used' };
    const page = renderReport({ ...trace, record: { ...record, coverage } });
    const doubts = page.slice(page.indexOf('Where to doubt it'), page.indexOf('A gap of exactly'));
    expect(doubts).toContain('Only 312 of the 1,000 asked about could be used (31 %).');
    expect(page).toContain('id="sql-coverage"');
    const whole = renderReport({ ...trace, record: { ...record, coverage: { ...coverage, used: 1000 } } });
    expect(whole).not.toContain('could be used (');
    expect(whole).toContain('this SQL could use 1,000 of them.');
  });

  test('under each statement stands the command that runs it again, quoted for a shell', () => {
    const page = renderReport(trace, { database: "/data/o'brien/races.sqlite" });
    expect(page.match(/gate db sql --db &#39;\/data\/o&#39;\\&#39;&#39;brien\/races\.sqlite&#39; /g)).toHaveLength(3);
    expect(page).toContain('&#39;SELECT count(*) AS riders');
    expect(page).not.toContain('Replace DATABASE');
    expect(report).toContain('gate db sql --db DATABASE');
    expect(report).toContain('Replace DATABASE with the file or URL of the database.');
  });

  test('speaks no internal word outside the part that explains them', () => {
    const [first = ''] = report.replace(/<(script|style)>[\s\S]*?<\/\1>/g, '').split('id="machinery"');
    expect(first).not.toMatch(/trajector|ended by|preset|grounded|bottleneck|\bS\d+\b|hand-written/i);
  });

  test('a search that still runs has a report of its last checkpoint', () => {
    const page = renderReport({ ...trace, record: null });
    expect(page).toContain('Not finished: round 3');
    expect(page).toContain('op_times');
  });

  test.each([
    ['unanswerable', 'The question cannot be answered from this database'],
    ['abstained', 'No answer was certain enough to give'],
    ['cancelled', 'The search was cancelled before it had an answer'],
    ['failed', 'The search failed before it had an answer'],
  ] as const)('an %s search says so and shows its reason', (status, says) => {
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
    expect(page).toContain(says);
  });

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
    expect(renderReport(told)).toContain('id="steering"');
    expect(renderTraceText(told)).toContain('pin by ada, 2026-01-05 10:00 UTC: gaps are seconds');
    expect(renderReport(trace)).not.toContain('id="steering"');
  });

  test('stays text when it is hostile', () => {
    const page = renderReport({ ...trace, record: { ...record, steering: hostile(steering) } });
    expect(page).toContain(ESCAPED);
    expect(page).not.toMatch(/<script>alert|<img/i);
    const lines = renderTraceText({ ...trace, record: { ...record, steering: hostile(steering) } });
    expect(lines).toContain(SPOKEN);
    expect(lines).not.toMatch(CONTROL);
  });
});

describe('renderTraceText', () => {
  const text = renderTraceText(trace);

  test('says why execution refused a body, as the report does', () => {
    expect(text).toContain('The SQL was refused: no such column: gap');
    expect(renderReport(trace)).toContain('The SQL was refused: no such column: gap');
  });

  test('shows the tree with attempts, predicates, verdicts, updates and candidates', () => {
    expect(text).toMatchSnapshot();
  });

  test('a database cannot send terminal escapes', () => {
    const lines = renderTraceText(hostile(trace));
    expect(lines).toContain(SPOKEN);
    expect(lines).not.toMatch(CONTROL);
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
    expect(page).toContain(`https://example.org/${ESCAPED}`);
    expect(page).not.toMatch(/<script>alert|<img|href="https?:/i);
    expect(page).not.toContain('\u202e');
  });

  test('stands in the trace, without what a terminal would obey', () => {
    const lines = renderTraceText(told);
    expect(lines).toContain('fetch_url');
    expect(lines).toContain('Sources');
    expect(lines).toContain(`https://example.org/${SPOKEN}`);
    expect(lines).not.toMatch(CONTROL);
  });

  test('is not spoken of where nobody asked the web', () => {
    expect(report).not.toContain('Sources');
  });
});
