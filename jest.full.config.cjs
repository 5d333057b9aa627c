/** All tests of `npm test`, and those that take minutes of real time: the fault suite, and limits of a model in requests a minute. */
const { projects, ...config } = require('./jest.config.cjs');

const e2e = projects.find(({ displayName }) => displayName === 'e2e');
const full = { ...e2e, displayName: 'full', testMatch: ['<rootDir>/tests/full/**/*.test.ts'] };

module.exports = { ...config, projects: [...projects, full] };
