/**
 * Recorded searches against today's control loop (design D8): a worker with this code must be able to take over a search
 * that another version began. When one of these fails, read docs/changing-the-search.md before recording again.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils';
import { temporal } from '@temporalio/proto';
import { askedSteps } from '../../scripts/histories/asked';
import { privateParts, readableText, recordedSteps, type HistoryJson } from '../../scripts/histories/history';
import { quietLogger, testTemporal } from '../helpers/temporal';

const FOLDER = join(__dirname, 'histories');
/** Folders hold histories of loops before a patch (docs/changing-the-search.md). */
const FILES = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.json'))
  .sort();

beforeAll(quietLogger);

test.each(FILES)('%s is replayed, step by step', async (file) => {
  const history = load(file);
  const steps = await replay(history);
  expect(steps).toEqual(stepsOf(file));
  // What Temporal has of them itself: the inputs of regular activities.
  const regular = await recordedSteps(history);
  expect(steps.filter((step) => regular.includes(step))).toEqual(regular);
});

test('every kind of step and every way to end is among the recorded', async () => {
  const histories = FILES.map(load);
  const steps = FILES.flatMap(stepsOf);
  const kinds = [...new Set(steps.map((step) => step.split(' ')[0]))].sort();
  expect(kinds).toEqual([
    ...['agree', 'candidate', 'check', 'commit', 'compress', 'evaluate', 'explore', 'final', 'ground', 'keep', 'look'],
    ...['plan', 'prepare', 'probe', 'propose', 'queries', 'react', 'redel', 'refine', 'reforce-answer'],
    ...['reforce-choose', 'reforce-explore', 'reforce-format', 'reforce-generate', 'restate', 'select', 'settle'],
    ...['tool', 'web'],
  ]);
  expect(steps.some((step) => step.endsWith('try 1'))).toBe(true);
  const text = (await Promise.all(histories.map(readableText))).join('\n');
  const others = ['saveRemark', 'finishSearch', 'loadBatchPage', 'recordResult', 'followQuestion'];
  expect(others.filter((name) => !text.includes(`"${name}"`))).toEqual([]);
  const endings = new Set(histories.map(({ events }) => events.at(-1)?.eventType));
  expect([...endings].sort()).toEqual([
    'EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED',
    'EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW',
    'EVENT_TYPE_WORKFLOW_EXECUTION_FAILED',
  ]);
});

/** Searches whose calls are in the histories of the runs that they begin. */
const WITHOUT_CALLS = /^(batch|react-repeated)/;

test.each(FILES.filter((file) => !WITHOUT_CALLS.test(file)))('%s costs at most 8 KB for each model call', (file) => {
  const history = load(file);
  const bytes = temporal.api.history.v1.History.encode(historyFromJSON(history)).finish().length;
  const calls = history.events.filter(
    ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType.name === 'callModel',
  );
  expect(calls.length).toBeGreaterThan(0);
  expect(bytes / calls.length).toBeLessThan(8 * 1024);
});

test.each(FILES)('%s names no path, address, machine or key', async (file) => {
  expect(privateParts(await readableText(load(file)))).toEqual([]);
});

test('a path, an address or a key in a payload would be noticed', () => {
  const text = '"/root/data/x.sqlite" "postgresql://u:p@db/x" "sk-0123456789" "41@host-1-gate" "127.0.0.1:7233"';
  expect(privateParts(text)).toHaveLength(5);
});

test('a history in which another activity ran is rejected', async () => {
  const changed = edit(load('gate-fast.json'), (text) => text.replaceAll('"name":"callModel"', '"name":"askModel"'));
  await expect(replay(changed)).rejects.toMatchObject({ name: 'DeterminismViolationError' });
});

test('a history in which a step is missing is rejected', async () => {
  await expect(replay(withoutStep(load('gate-fast.json')))).rejects.toMatchObject({
    name: 'DeterminismViolationError',
  });
});

test('two exchanged model steps, which Temporal cannot tell apart, are noticed by their inputs', async () => {
  const history = load('gate-fast.json');
  const recorded = await recordedSteps(history);
  expect(new Set(recorded).size).toBe(recorded.length);
  const [first, second] = history.events.filter(
    ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType.name === 'callModel',
  );
  const inputs = [first, second].map((event) => JSON.stringify(event?.activityTaskScheduledEventAttributes?.input));
  const exchanged = edit(history, (text) =>
    text.replaceAll(/"input":(\{"payloads":\[\{[^\]]*\]\})/g, (whole, input: string) => {
      const at = inputs.indexOf(input);
      return at < 0 ? whole : `"input":${inputs[1 - at] ?? ''}`;
    }),
  );
  const asked = await replay(exchanged);
  expect(asked).toEqual(stepsOf('gate-fast.json'));
  expect(await recordedSteps(exchanged)).not.toEqual(recorded);
});

function load(file: string): HistoryJson {
  return JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as HistoryJson;
}

function edit(history: HistoryJson, change: (text: string) => string): HistoryJson {
  const before = JSON.stringify(history);
  const after = change(before);
  if (after === before) throw new Error('the change changed nothing');
  return JSON.parse(after) as HistoryJson;
}

/** As if the first activity had never run: its events go, and the later ones are counted anew. */
function withoutStep(history: HistoryJson): HistoryJson {
  const first = history.events.findIndex((event) => event.activityTaskScheduledEventAttributes !== undefined);
  const at = Number(history.events[first]?.eventId);
  const renumbered = (key: string, value: unknown): unknown =>
    /^eventId$|EventId$/.test(key) && Number(value) > at ? String(Number(value) - 3) : value;
  const events = history.events.filter((_event, index) => index < first || index > first + 2);
  return JSON.parse(JSON.stringify({ events }), renumbered) as HistoryJson;
}

function replay(history: HistoryJson): Promise<string[]> {
  return askedSteps(history, testTemporal().bundle);
}

/** Written when the history was recorded. */
function stepsOf(file: string): string[] {
  return readFileSync(join(FOLDER, file.replace(/json$/, 'steps')), 'utf8')
    .trim()
    .split('\n')
    .filter((line) => line !== '');
}
