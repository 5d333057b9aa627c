/** `gate ask` asked again, as a user types it: calls are counted at the model's endpoint, and the rows really change. */
import { join } from 'node:path';
import Database from 'libsql';
import type { AnswerRecord } from '../../src/domain';
import { gateHome } from '../helpers/gate-process';
import { SETUP, groundReply, planReply, text } from '../unit/steps/fixtures';
import { startModelEndpoint } from '../helpers/model-endpoint';

jest.setTimeout(240_000);

it('costs nothing while the proof holds, and is searched anew once where it does not', async () => {
  const model = await startModelEndpoint({
    reply: ({ messages }) => text(messages[1]?.content.includes('<rules>\nYou judge') ? groundReply() : planReply()),
  });
  const home = gateHome({ baseUrl: model.baseUrl, env: { GATE_MODEL: 'test-model' } });
  const path = join(home.folder, 'races.sqlite');
  const write = (sql: string): void => {
    const database = new Database(path);
    database.exec(sql);
    database.close();
  };
  write(SETUP);
  const asked = ['How many close events?', '--db', path, '--max-calls', '2'];
  const again = async (): Promise<AnswerRecord & { calls: number }> => {
    const before = model.requests.length;
    const record = await home.ask(asked);
    expect({ status: record.status, reason: record.reason }).toEqual({ status: 'answered', reason: null });
    return { ...record, calls: model.requests.length - before };
  };
  try {
    const first = await again();
    expect(first).toMatchObject({ rows: [[2]], reused: false, rowsChanged: false });
    expect(await again()).toMatchObject({ id: first.id, calls: 0, reused: true, rowsChanged: false });

    write("INSERT INTO event VALUES (3, 'West'); INSERT INTO entry VALUES (3, 10, 1, '28:00.0'), (3, 11, 2, '+0.7')");
    expect(await again()).toMatchObject({ id: first.id, calls: 0, rows: [[3]], rowsChanged: true });
    const shown = await home.run(['result', first.id]);
    expect(shown.out).toContain('Only the data changed since');

    write('ALTER TABLE event ADD COLUMN note TEXT');
    const anew = await again();
    expect(anew.id).not.toBe(first.id);
    expect(anew).toMatchObject({ rows: [[3]], reused: false });
    expect(anew.calls).toBeGreaterThan(0);
    expect(await again()).toMatchObject({ id: anew.id, calls: 0, reused: true });
    const old = JSON.parse((await home.run(['result', first.id, '--json'])).out) as AnswerRecord;
    expect(old.replacedBy).toEqual({ id: anew.id, reason: 'the schema changed' });
  } finally {
    await model.close();
  }
});
