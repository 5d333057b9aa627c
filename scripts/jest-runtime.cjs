/**
 * Jest evaluates every module anew for each file of tests, which costs more than most tests themselves. Here, for all files of
 * a worker process: large packages that hold no state of a test are loaded once, by Node, and every other module is compiled
 * once and only evaluated anew.
 */
const { createRequire } = require('node:module');
const { Script } = require('node:vm');
const Runtime = require('jest-runtime').default;

const ONCE = /^(zod|pg|openai|libpg-query|sql-parser-cst|undici|html-to-text|yaml|commander|fast-check)(\/|$)/;

/** By file name: the source, and the function that Jest calls for it. */
const compiled = new Map();

function scriptOf(source, filename, parameters) {
  const known = compiled.get(filename);
  if (known?.source === source) return known.script;
  const head = `(function (${parameters.join(', ')}) {`;
  const script = new Script(`${head}${source}\n})`, { filename, columnOffset: -head.length });
  compiled.set(filename, { source, script });
  return script;
}

module.exports = class extends Runtime {
  constructor(...given) {
    super(...given);
    const { executor } = this;
    const compile = executor.compile.bind(executor);
    executor.compile = (source, filename) => {
      const context = executor.environment.getVmContext();
      // What imports while it runs is Jest's to compile, and so is what does not parse: Jest says why.
      if (!context || /\bimport\s*\(/.test(source)) return compile(source, filename);
      try {
        const script = scriptOf(source, filename, executor.injectedModuleParameters);
        return script.runInContext(context);
      } catch {
        return compile(source, filename);
      }
    };
  }

  requireModuleOrMock(from, name) {
    return ONCE.test(name) ? createRequire(from)(name) : super.requireModuleOrMock(from, name);
  }
};
