/** One project per folder of tests: `npx jest --selectProjects unit`. */
const base = {
  rootDir: __dirname,
  testEnvironment: '<rootDir>/scripts/jest-environment.cjs',
  runtime: '<rootDir>/scripts/jest-runtime.cjs',
  setupFilesAfterEnv: ['<rootDir>/scripts/jest-retries.cjs'],
  moduleNameMapper: { '^\\./child-script$': '<rootDir>/tests/helpers/compiled-child.ts' },
  // These packages ship ES modules alone.
  transformIgnorePatterns: ['/node_modules/(?!d3-|internmap/)'],
  transform: {
    '/node_modules/(d3-[a-z-]+|internmap)/.+\\.m?js$': [
      '@swc/jest',
      { jsc: { target: 'es2022' }, module: { type: 'commonjs' } },
    ],
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'commonjs' } },
    ],
  },
};
const project = (name, more = {}) => ({
  ...base,
  displayName: name,
  testMatch: [`<rootDir>/tests/${name}/**/*.test.ts`],
  ...more,
});
const withServers = {
  globalSetup: '<rootDir>/tests/helpers/global-setup.ts',
  globalTeardown: '<rootDir>/tests/helpers/global-teardown.ts',
};

module.exports = {
  reporters: ['default', '<rootDir>/scripts/jest-summary.cjs'],
  // Of a test that hangs. On a slow machine with all its cores taken, one takes five times as long as alone.
  testTimeout: 300_000,
  testSequencer: '<rootDir>/scripts/jest-sequencer.cjs',
  // Most tests wait for a server or a process: three workers keep two cores busy, two do not.
  maxWorkers: 3,
  // Jest runs these after those of the projects.
  globalSetup: '<rootDir>/tests/helpers/run-folder.ts',
  globalTeardown: '<rootDir>/tests/helpers/remove-run-folder.ts',
  projects: [
    project('unit'),
    project('contract', withServers),
    project('hostile'),
    project('workflows', withServers),
    project('replay', withServers),
    project('e2e', withServers),
  ],
};
