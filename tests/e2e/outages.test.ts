/** An endpoint that is down for a while: what somebody who waits, and somebody who looks, is told. */
import { join } from 'node:path';
import { buildSprintDatabase } from '../../src/app/demo';
import { SIMULATED_MODEL } from '../../simulated-model';
import { gateHome } from '../helpers/gate-process';
import { startModelEndpoint } from '../helpers/model-endpoint';

test('attempt, next try and the end of patience are told while an endpoint is down, and when it is over', async () => {
  let isDown = true;
  const reply = JSON.stringify({
    note: '',
    action: 'end',
    tool: null,
    sql: null,
    answer: 'none',
    finalSql: null,
    unanswerable: true,
  });
  const endpoint = await startModelEndpoint({
    models: [SIMULATED_MODEL],
    reply: () => (isDown ? { fault: 'status', status: 503, error: { message: 'down for maintenance' } } : reply),
  });
  try {
    const home = gateHome({ baseUrl: endpoint.baseUrl });
    const path = join(home.folder, 'sprint.sqlite');
    buildSprintDatabase(join(__dirname, '../../examples/sprint/sprint.sql'), path);
    const asking = home.start(['ask', 'How many events?', '--db', path, '--method', 'react']);
    const said = await asking.said(/^model call is retried: .*$/m);
    expect(said).toMatch(
      /is retried: attempt \d+ (in [\d.]+ s|is under way), gives up at \d\d:\d\d UTC \(in (59|1 h|60|64) .*\); 127\.0\.0\.1:\d+ answered 503: down for maintenance/m,
    );
    const status = JSON.parse((await home.here(['show', 'last', '--json'])).out) as { outages: unknown[] };
    expect(status.outages).toEqual([
      expect.objectContaining({ step: 'model call', givesUpAt: expect.stringMatching(/^\d{4}-.*Z$/) as string }),
    ]);
    isDown = false;
    const { code, err } = await asking.ended;
    expect(code).toBe(0);
    expect(err.match(/is retried/g)).toHaveLength(1);
  } finally {
    await endpoint.close();
  }
});
