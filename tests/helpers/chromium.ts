/** Chromium for the tests of one file, and what each of them closes at its end. */
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions } from 'playwright-core';

/** Of what a page is to show: a ceiling. */
const WITHIN_MS = 120_000;

export function useChromium() {
  let browser: Browser | undefined;
  /** Called in the opposite order. */
  const closers: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (let close = closers.pop(); close !== undefined; close = closers.pop()) await close();
  });
  afterAll(() => browser?.close());
  return {
    closers,
    /** The browser starts with the first one, and anew where it has ended. */
    async newContext(options?: BrowserContextOptions): Promise<BrowserContext> {
      if (browser?.isConnected() !== true)
        browser = await chromium.launch({
          executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
          args: ['--no-sandbox'],
          timeout: WITHIN_MS,
        });
      const context = await browser.newContext(options);
      context.setDefaultTimeout(WITHIN_MS);
      closers.push(() => context.close());
      return context;
    },
  };
}
