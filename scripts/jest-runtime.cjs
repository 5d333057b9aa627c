/**
 * Jest evaluates every module anew for each file of tests. For large packages that hold no state of a test this costs more
 * than the tests themselves: these are loaded once for all files of a worker process, by Node.
 */
const { createRequire } = require('node:module');
const Runtime = require('jest-runtime').default;

const ONCE =
  /^(zod|pg|openai|libpg-query|sql-parser-cst|undici|html-to-text|yaml|commander|fast-check|ajv|ajv-formats|@temporalio\/[a-z-]+|@aws-sdk\/[a-z0-9-]+)(\/|$)/;

module.exports = class extends Runtime {
  requireModuleOrMock(from, name) {
    return ONCE.test(name) ? createRequire(from)(name) : super.requireModuleOrMock(from, name);
  }
};
