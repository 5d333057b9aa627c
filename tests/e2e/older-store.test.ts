/**
 * Stores that earlier versions wrote (tests/fixtures/stores, by the date of the version): today's code lists them, shows
 * them and forks them, and pays for nothing that was paid. Temporal knows none of their workflows.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AnswerRecord } from '../../src/domain';
import type { SearchDiff } from '../../src/report';
import type { SimulatedModel } from '../../simulated-model';
import { gateHome, type GateHome } from '../helpers/gate-process';
import {
  AD_HOC,
  ASKED,
  BATCH_ANSWERED,
  copyRecordedStore,
  FORK_FLAGS,
  place,
  recordedModel,
  STORES,
  wordsOf,
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
});
