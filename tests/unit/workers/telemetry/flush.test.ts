/** What ended is sent before a process ends, also where it is on its way already. */
import type { SpanExporter } from '@opentelemetry/sdk-trace-base';
import { openTelemetry, type NewSpan } from '../../../../src/workers/telemetry/opentelemetry';

const SPAN: NewSpan = { name: 'asked', kind: 'client', attributes: {} };

test('a flush waits for a batch that was on its way before', async () => {
  process.env['OTEL_BSP_SCHEDULE_DELAY'] = '1';
  let begun = (): void => undefined;
  let deliver = (): void => undefined;
  const isUnderWay = new Promise<void>((resolve) => (begun = resolve));
  const delivered = new Promise<void>((resolve) => (deliver = resolve));
  const exporter: SpanExporter = {
    export: (_spans, done) => {
      begun();
      void delivered.then(() => done({ code: 0 }));
    },
    forceFlush: () => delivered,
    shutdown: () => Promise.resolve(),
  };
  const said: string[] = [];
  const tracing = await openTelemetry({}, (line) => said.push(line), exporter);
  await tracing.span(SPAN, null, () => Promise.resolve());
  await isUnderWay;
  let isFlushed = false;
  const flushing = tracing.flush().then(() => (isFlushed = true));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(isFlushed).toBe(false);
  deliver();
  await flushing;
  expect(said).toEqual([]);
});

test('a batch on its way that does not arrive is told at the end', async () => {
  process.env['OTEL_BSP_SCHEDULE_DELAY'] = '1';
  const never = new Promise<void>(() => undefined);
  let begun = (): void => undefined;
  const isUnderWay = new Promise<void>((resolve) => (begun = resolve));
  let giveUp = (): void => undefined;
  const exporter: SpanExporter = {
    export: (_spans, done) => {
      giveUp = () => done({ code: 0 });
      begun();
    },
    forceFlush: () => never,
    shutdown: () => never,
  };
  const said: string[] = [];
  const tracing = await openTelemetry({}, (line) => said.push(line), exporter);
  await tracing.span(SPAN, null, () => Promise.resolve());
  await isUnderWay;
  await tracing.flush();
  expect(said).toEqual([expect.stringContaining('traces are not delivered: no answer within 2 s')]);
  giveUp();
});

test('a flush that is over keeps no process from its end', async () => {
  const exporter: SpanExporter = {
    export: (_spans, done) => done({ code: 0 }),
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
  };
  const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const tracing = await openTelemetry({}, () => undefined, exporter);
  await tracing.span(SPAN, null, () => Promise.resolve());
  const before = timers();
  await tracing.flush();
  expect(timers()).toBeLessThanOrEqual(before);
});
