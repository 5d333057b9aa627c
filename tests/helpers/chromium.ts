/** Chromium for the tests of one file, and what each of them closes at its end. */
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions } from 'playwright-core';

/** Of what a page is to show: a ceiling. */
const WITHIN_MS = 120_000;

export function useChromium() {
  let browser: Browser;
  /** Called in the opposite order. */
  const closers: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
      args: ['--no-sandbox'],
      timeout: WITHIN_MS,
    });
  });
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });
  afterAll(() => browser.close());
  return {
    closers,
    async newContext(options?: BrowserContextOptions): Promise<BrowserContext> {
      const context = await browser.newContext(options);
      context.setDefaultTimeout(WITHIN_MS);
      closers.push(() => context.close());
      return context;
    },
  };
}
