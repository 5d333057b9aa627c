/**
 * Makes docs/images/report-*.png: the report of the demo, and one with a chart, whose figures are invented. Both are looked at
 * in two widths, light and dark; a folder that is given gets all of these pictures. Needs the built program and Chromium
 * (`CHROMIUM` says where, else /usr/bin/chromium).
 *
 *   node scripts/ensure-built.cjs && npx tsx scripts/report-screenshots.ts [folder]
 *
 * It fails when a page is wider than its window, loads anything, or shows an error in the console.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { chromium, type Browser } from 'playwright-core';
import { createLocalStore } from '../src/adapters/local/store';
import type { AnswerRecord } from '../src/domain';
import { loadTrace, renderReport } from '../src/report';

const root = resolve(__dirname, '..');
const [, , given] = process.argv;
const images = resolve(given ?? join(root, 'docs', 'images'));
/** Enough for the first impression; the page goes on. */
const HEIGHT = { 1280: 1500, 390: 1700 } as const;

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gate-report-'));
  mkdirSync(images, { recursive: true });
  const browser = await chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  });
  try {
    const pages = await writePages(folder);
    for (const [name, path] of Object.entries(pages))
      for (const width of [1280, 390] as const)
        for (const scheme of ['light', 'dark'] as const) await shoot(browser, { name, path, width, scheme });
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function writePages(folder: string): Promise<Readonly<Record<string, string>>> {
  const store = join(folder, 'store');
  const printed = execFileSync('node', [join(root, 'dist/program/gate.js'), 'demo', '--json'], {
    env: { ...process.env, GATE_STORE: store },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const { id } = JSON.parse(printed.toString()) as { id: string };
  const trace = await loadTrace(createLocalStore(store), id);
  if (trace?.record === null || trace === null) throw new Error(`the demo left no record of ${id}`);
  const pages = {
    report: renderReport(trace, { database: './sprint.sqlite' }),
    'report-chart': renderReport({ ...trace, record: { ...trace.record, ...SERIES } }, { database: 'sales' }),
  };
  return Object.fromEntries(
    Object.entries(pages).map(([name, html]) => {
      const path = join(folder, `${name}.html`);
      writeFileSync(path, html);
      return [name, path];
    }),
  );
}

const ORDERS = [
  [412, 388, 455, 471, 502, 489, 530, 561, 548, 590, 634, 702],
  [301, 322, 318, 340, 335, 361, 372, 358, 390, 401, 433, 476],
];
const SERIES: Partial<AnswerRecord> = {
  sentence: undefined,
  question: 'How did the number of orders develop in 2024, month by month, in each region?',
  answer:
    'From January to December 2024 the orders rose from 412 to 702 in the north and from 301 to 476 in the south.',
  database: 'sales',
  sql: `WITH op_orders AS (
  SELECT strftime('%Y-%m', ordered_at) AS month, region
  FROM orders JOIN branches USING (branch_id)
  WHERE status <> 'X' AND ordered_at BETWEEN '2024-01-01' AND '2024-12-31T23:59:59'
)
SELECT month, region, count(*) AS orders FROM op_orders GROUP BY month, region ORDER BY month, region`,
  claims: [
    {
      ...{ operator: 'op_orders', statement: 'Status X is a cancelled order.', state: 'proved', reason: null },
      ...{ rows: 'orders whose whole amount was refunded or that have status X', matching: 214, examined: 214 },
      check: `SELECT count(*) AS examined, sum(status = 'X' AND refund = amount) AS matching,
  sum(status = 'X' AND delivered_at IS NOT NULL) AS rival_1
FROM orders WHERE refund = amount OR status = 'X'`,
      rivals: [{ reading: 'X is an order by express', matching: 0, examined: 214, verdict: 'refuted' }],
    },
  ],
  coverage: undefined,
  evidence: [
    {
      ...{ operator: 'op_orders', intent: 'orders of 2024 with month and region', state: 'proved', updateId: 'u1' },
      ...{ reading: 'Status X is a cancelled order.', summary: '', sql: null, probe: null, observed: null },
      ...{ rejected: [], reusedFrom: null },
    },
  ],
  openAssumptions: [
    {
      ...{ operator: 'op_orders', kind: 'open-by-wording', risk: 0.2 },
      statement: 'An order belongs to the month in which it was placed',
      alternative: { reading: 'the month of its delivery', gives: '698 and 471 in December' },
    },
  ],
  columns: [
    { name: 'month', kind: 'text' },
    { name: 'region', kind: 'text' },
    { name: 'orders', kind: 'number' },
  ],
  rows: (ORDERS[0] ?? []).flatMap((_, at) =>
    ['north', 'south'].map((region, index) => [
      `2024-${String(at + 1).padStart(2, '0')}`,
      region,
      ORDERS[index]?.[at] ?? null,
    ]),
  ),
};

interface Shot {
  readonly name: string;
  readonly path: string;
  readonly width: keyof typeof HEIGHT;
  readonly scheme: 'light' | 'dark';
}

async function shoot(browser: Browser, { name, path, width, scheme }: Shot): Promise<void> {
  const context = await browser.newContext({ viewport: { width, height: HEIGHT[width] }, colorScheme: scheme });
  const page = await context.newPage();
  const wrong: string[] = [];
  page.on('console', (message) => wrong.push(message.text()));
  page.on('pageerror', (error) => wrong.push(error.message));
  page.on('request', (request) => request.url() === `file://${path}` || wrong.push(`loads ${request.url()}`));
  await page.goto(`file://${path}`);
  const content = await page.evaluate('document.documentElement.scrollWidth');
  if (content !== width) wrong.push(`is ${String(content)} pixels wide`);
  // The docs show these.
  if (given !== undefined || (width === 1280 && scheme === 'light'))
    await page.screenshot({ path: join(images, `${name}-${width}-${scheme}.png`) });
  await context.close();
  if (wrong.length > 0) throw new Error(`${name} at ${width} pixels, ${scheme}: ${wrong.join('; ')}`);
}

void main();
