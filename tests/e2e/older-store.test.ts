/**
 * Stores that earlier versions wrote (tests/fixtures/stores, by the date of the version): today's code lists them, shows
 * them, forks them and goes on with them, and pays for nothing that was paid. Temporal knows none of their workflows.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ResultLine } from '../../src/cli/batch-results';
import type { AnswerRecord } from '../../src/domain';
import type { SearchDiff } from '../../src/report';
import type { SimulatedModel } from '../../simulated-model';
import { gateHome, type GateHome } from '../helpers/gate-process';
import {
  AD_HOC,
  askArgs,
  ASKED,
  BATCH,
  BATCH_ANSWERED,
  BATCH_ARGS,
  copyRecordedStore,
  FORK_FLAGS,
  place,
  recordedModel,
  STORES,
  wordsOf,
  type AskedName,
  type Recorded,
} from '../helpers/recorded-store';

interface Older extends Recorded {
  readonly home: GateHome;
}

describe.each(readdirSync(STORES))('a store of %s', (date) => {
  /** A copy of its own, and a model that counts what it is asked. */
  async function withOlder<T>(
    question: string | null,
    work: (older: Older, model: SimulatedModel) => Promise<T>,
  ): Promise<T> {
    const model = await recordedModel(join(STORES, date, 'sprint.sqlite'), question);
    try {
      const home = gateHome({ baseUrl: model.baseUrl, env: { USER: 'ada' } });
      const older = { ...copyRecordedStore(date, home.folder), home };
      place(join(home.folder, 'sprint.sqlite'), AD_HOC);
      return await work(older, model);
    } finally {
      await model.close();
    }
  }

  /** The ad-hoc file is another one on this machine; versions before 2026-11-22 did not know databases by where they are. */
  async function adoptAdHoc(home: GateHome): Promise<void> {
    const { code, err } = await home.here(['db', 'adopt', AD_HOC]);
    if (code !== 0) expect(err).toContain('was never asked in');
  }

  const repliesIn = ({ home }: Older, searchId: string): number =>
    readdirSync(join(home.folder, 'store', 'runs', searchId, 'reply')).length;

  it('is listed with every question, its state and its database', async () => {
    await withOlder(null, async ({ home, searches }) => {
      const { code, out } = await home.here(['list', '--json']);
      expect(code).toBe(0);
      const listed = new Map((JSON.parse(out) as { id: string }[]).map((entry) => [entry.id, entry]));
      expect(listed.get(searches.answered)).toMatchObject({
        question: wordsOf(ASKED.answered.question),
        database: 'sprint',
        method: 'gate',
        status: 'answered',
      });
      expect(listed.get(searches.cancelled)).toMatchObject({ status: 'cancelled' });
      expect(listed.get(searches.paper)).toMatchObject({ preset: 'paper', status: 'answered' });
      expect(listed.get(searches.react)).toMatchObject({ method: 'react', status: 'answered' });
      expect(listed.get(searches.adHoc)).toMatchObject({ database: expect.stringMatching(/^sprint-/) as string });
      expect(listed.size).toBeGreaterThanOrEqual(Object.keys(searches).length + BATCH_ANSWERED);
    });
  });

  it('its results, reports, traces and differences are shown, also those of method react and preset paper', async () => {
    await withOlder(null, async ({ home, searches }, model) => {
      for (const [name, id] of Object.entries(searches)) {
        const result = await home.here(['result', id, '--json']);
        expect(result.code).toBe(name === 'cancelled' ? 3 : 0);
        expect(JSON.parse(result.out)).toMatchObject({ id, status: name === 'cancelled' ? 'cancelled' : 'answered' });
        const report = await home.here(['report', id, '--out', `${name}.html`]);
        expect({ name, code: report.code, err: report.err }).toEqual({
          name,
          code: 0,
          err: expect.anything() as string,
        });
        expect(readFileSync(join(home.folder, `${name}.html`), 'utf8')).toContain(id);
        expect(await home.here(['trace', id])).toMatchObject({ code: 0, out: expect.stringMatching(/./) as string });
      }
      const { rows } = JSON.parse((await home.here(['result', searches.answered, '--json'])).out) as AnswerRecord;
      expect(rows).toHaveLength(4);
      const diff = await home.here(['diff', searches.answered, searches.fork, '--json']);
      expect((JSON.parse(diff.out) as SearchDiff).fork).toEqual({ child: 'b', after: 1 });
      expect(model.ledger().totals.asked).toBe(0);
    });
  });

  it.each<AskedName>(['answered', 'adHoc', 'paper', 'react'])(
    'the question %s is answered from it when it is asked again, and no call is paid',
    async (name) => {
      await withOlder(ASKED[name].question, async ({ home, searches }, model) => {
        if (name === 'adHoc') await adoptAdHoc(home);
        const before = JSON.parse((await home.here(['result', searches[name], '--json'])).out) as AnswerRecord;
        const again = await home.ask(askArgs(name));
        expect(again).toMatchObject({ code: 0, id: searches[name], sql: before.sql, rows: before.rows });
        expect(model.ledger().totals.asked).toBe(0);
      });
    },
  );

  it('the fork made before is found again and costs nothing; a new one pays only what comes after', async () => {
    await withOlder(ASKED.answered.question, async (older, model) => {
      const { home, searches } = older;
      const same = await home.here(['fork', searches.answered, ...FORK_FLAGS, '--json']);
      expect(JSON.parse(same.out)).toMatchObject({ id: searches.fork, status: 'answered' });
      expect(model.ledger().totals.asked).toBe(0);
      const other = await home.here(['fork', searches.answered, '--at', '1', '--seed', '7', '--json']);
      expect({ code: other.code, err: other.code === 0 ? '' : other.err }).toEqual({ code: 0, err: '' });
      const fork = JSON.parse(other.out) as AnswerRecord;
      expect(fork).toMatchObject({ status: 'answered' });
      expect(fork.usage.llmCalls).toBe(model.ledger().totals.billed);
      expect(fork.usage.llmCalls).toBeLessThan(repliesIn(older, searches.answered));
    });
  });

  it('a search over an ad-hoc file is forked with the file that was asked', async () => {
    await withOlder(ASKED.adHoc.question, async ({ home, searches }) => {
      await adoptAdHoc(home);
      const fork = await home.here(['fork', searches.adHoc, '--at', '1', '--seed', '7', '--db', AD_HOC, '--json']);
      expect({ code: fork.code, err: fork.code === 0 ? '' : fork.err }).toEqual({ code: 0, err: '' });
      expect(JSON.parse(fork.out)).toMatchObject({ status: 'answered', rows: [[8]] });
    });
  });

  it('a cancelled question goes on, and pays only the calls that it had not paid', async () => {
    await withOlder(ASKED.cancelled.question, async (older, model) => {
      const paid = repliesIn(older, older.searches.cancelled);
      expect(paid).toBeGreaterThan(0);
      const record = await older.home.ask(askArgs('cancelled'));
      expect(record).toMatchObject({ code: 0, id: older.searches.cancelled, status: 'answered' });
      expect(record.usage.llmCalls).toBeGreaterThan(paid);
      expect(model.ledger().totals.asked).toBe(record.usage.llmCalls - paid);
    });
  });

  it('the batch goes on with the questions that are missing, pays nothing twice and keeps the lines it has', async () => {
    await withOlder(null, async (older, model) => {
      const { home } = older;
      const lines = (): ResultLine[] =>
        readFileSync(join(home.folder, 'out', 'results.jsonl'), 'utf8')
          .trim()
          .split('\n')
          .map((text) => JSON.parse(text) as ResultLine);
      const before = lines();
      const settled = new Set([...Object.values(older.searches), ...before.map(({ searchId }) => searchId)]);
      const begun = readdirSync(join(home.folder, 'store', 'runs')).filter((id) => !settled.has(id));
      const paid = begun.map((id) => repliesOrNone(older, id)).reduce((sum, count) => sum + count, 0);
      const { code, err } = await home.here(BATCH_ARGS);
      expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' });
      expect(err).toMatch(/3 of 6 questions answered before; they cost nothing/);
      expect(lines().map(({ id }) => id)).toEqual([...BATCH]);
      expect(lines().slice(0, BATCH_ANSWERED)).toMatchObject(before);
      const missing = lines().slice(BATCH_ANSWERED);
      const whole = missing.reduce((sum, { usage }) => sum + (usage?.llmCalls ?? 0), 0);
      expect(whole).toBeGreaterThan(paid);
      expect(model.ledger().totals.asked).toBe(whole - paid);
    });
  });

  const repliesOrNone = (older: Older, id: string): number => {
    try {
      return repliesIn(older, id);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
      throw error;
    }
  };
});
