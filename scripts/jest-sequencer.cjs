/** End-to-end tests first: they are the longest, and one that begins last would leave the other core idle. */
const { statSync } = require('node:fs');
const Sequencer = require('@jest/test-sequencer').default;

const FIRST = ['e2e', 'full', 'hostile', 'contract', 'workflows'];

module.exports = class extends Sequencer {
  sort(tests) {
    const rank = ({ context, path }) => {
      const at = FIRST.indexOf(context.config.displayName?.name);
      return [at < 0 ? FIRST.length : at, -statSync(path).size];
    };
    return [...tests].sort((a, b) => rank(a)[0] - rank(b)[0] || rank(a)[1] - rank(b)[1]);
  }
};
