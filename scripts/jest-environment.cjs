/**
 * The globals of a file of tests are its own. An error that Node or a package of `jest-runtime.cjs` throws is an instance of
 * `Error`, `TypeError` and so on there all the same, as it is in production.
 */
const { TestEnvironment } = require('jest-environment-node');

const isInstance = Function.prototype[Symbol.hasInstance];

module.exports = class extends TestEnvironment {
  constructor(...given) {
    super(...given);
    for (const outer of [Error, TypeError, RangeError, ReferenceError, SyntaxError]) {
      const inner = this.global[outer.name];
      const value = function (error) {
        return isInstance.call(this, error) || (this === inner && isInstance.call(outer, error));
      };
      Object.defineProperty(inner, Symbol.hasInstance, { value });
    }
  }

  /** The next file of tests begins without the threads of Temporal's SDK, and may choose its logger. */
  async teardown() {
    await super.teardown();
    const loaded = require.cache[require.resolve('@temporalio/worker')]?.exports.Runtime;
    if (loaded === undefined) return;
    await loaded._instance?.shutdown();
    loaded.defaultOptions = {};
  }
};
