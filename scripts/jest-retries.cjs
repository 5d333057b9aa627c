/**
 * In CI a test has a second try: most have servers, processes or a browser beside them, and one lost race in seven thousand
 * tests would refuse a whole change. The error of the first try is printed, and the closing lines name the test. What Jest
 * prepares for several tests (`beforeAll`) has its second try at once: without it none of them could pass.
 */
if (process.env.CI !== undefined) {
  jest.retryTimes(1, { logErrorsBeforeRetry: true });
  const prepareOnce = beforeAll;
  globalThis.beforeAll = (prepare, timeoutMs) =>
    prepareOnce(async () => {
      try {
        await prepare();
      } catch (error) {
        console.error('beforeAll is tried once more:', error);
        await prepare();
      }
    }, timeoutMs);
}
