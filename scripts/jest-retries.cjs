/**
 * In CI a test has a second try: most have servers, processes or a browser beside them, and one lost race in seven thousand
 * tests would refuse a whole change. The error of the first try is printed, and the closing lines name the test.
 */
if (process.env.CI !== undefined) jest.retryTimes(1, { logErrorsBeforeRetry: true });
