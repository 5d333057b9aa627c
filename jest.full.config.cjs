/**
 * All tests of `npm test`, some of them at full length (`tests/helpers/extent.ts`), and rarities that take long: the fault
 * suite, what an S3 server does to us, logins to Temporal, long histories, limits of a model in requests a minute, and the
 * package installed by npm.
 */
process.env.GATE_TEST_FULL = '1';

const { projects, ...config } = require('./jest.config.cjs');

const e2e = projects.find(({ displayName }) => displayName === 'e2e');
const full = { ...e2e, displayName: 'full', testMatch: ['<rootDir>/tests/full/**/*.test.ts'] };

module.exports = { ...config, projects: [...projects, full] };
