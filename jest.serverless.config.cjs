/**
 * Workers that the Temporal server starts when work arrives, on the real server 1.32 (built once, by Go): minutes, so not part
 * of `npm test`.
 */
const { projects, ...config } = require('./jest.config.cjs');

const e2e = projects.find(({ displayName }) => displayName === 'e2e');
const serverless = { ...e2e, displayName: 'serverless', testMatch: ['<rootDir>/tests/serverless/**/*.test.ts'] };

module.exports = { ...config, testTimeout: 900_000, maxWorkers: 1, projects: [serverless] };
