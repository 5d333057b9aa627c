/**
 * Builds `dist` (`npm run build`): each source by itself, for benches and for Temporal's bundler; from these the workflow bundle;
 * and `dist/program`, which is published and which users run, or import with its types (`library-types.cjs`).
 *
 * 1. The program is a few pieces of JavaScript with the packages that they need. A piece loads when a command comes to an
 *    `import()` of it, so that `gate --help` loads next to nothing.
 * 2. Only packages with native code, or with files that they load from beside themselves, stay outside: those are the
 *    dependencies of this package. Everything else is a dependency of building it, and its licence comes along.
 * 3. Names stay as they are written, and lines of our own code too: a stack trace can be read.
 */
const { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } = require('node:fs');
const { createHash } = require('node:crypto');
const { builtinModules } = require('node:module');
const { dirname, join, relative, resolve } = require('node:path');
const esbuild = require('esbuild');
const { libraryTypes } = require('./library-types.cjs');
const { neededMessages } = require('./temporal-messages.cjs');

const root = join(__dirname, '..');
const program = join(root, 'dist', 'program');
const { dependencies, peerDependencies } = require('../package.json');

const FOLDERS = [
  'src',
  'benchmarks',
  'simulated-model',
  'bench',
  'examples',
  'scripts',
  'tests/helpers',
  'tests/serverless',
];
/** Files that are started, or loaded by their path. */
const ENTRIES = {
  gate: 'src/cli/main.ts',
  'gate-bench': 'benchmarks/main.ts',
  index: 'src/library/index.ts',
  lambda: 'src/workers/serverless/lambda.ts',
  child: 'src/adapters/kit/child.ts',
  'encoded-failures': 'src/workers/encoded-failures.ts',
};
const NATIVE = '@temporalio/core-bridge/common.js';
const OUTSIDE = [
  ...Object.keys({ ...dependencies, ...peerDependencies }).map((name) => (NATIVE.startsWith(name) ? NATIVE : name)),
  'pg-native',
];

const NODE = { platform: 'node', target: 'node20.19', logLevel: 'warning' };

async function compile() {
  const files = FOLDERS.filter((folder) => existsSync(join(root, folder))).flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts') && !name.includes('node_modules'))
      .map((name) => join(folder, name)),
  );
  await esbuild.build({
    ...NODE,
    absWorkingDir: root,
    entryPoints: files,
    outdir: 'dist',
    outbase: '.',
    format: 'cjs',
    // Folders are imported by name, which only CommonJS can.
    supported: { 'dynamic-import': false },
  });
}

/** Temporal's SDK. Its native half stays where npm puts it; its bundler, which is webpack, is left out. */
const temporal = {
  name: 'temporal',
  setup(build) {
    build.onLoad({ filter: /worker\/lib\/(workflow\/bundler|debug-replayer\/index)\.js$/ }, () => ({
      contents: 'exports.defaultWorkflowInterceptorModules = []',
    }));
    build.onResolve({ filter: /^\.\/common$/ }, ({ importer }) =>
      /core-bridge\/index\.js$/.test(importer) ? { path: NATIVE, external: true } : null,
    );
    build.onLoad({ filter: /proto\/protos\/json-module\.js$/ }, ({ path }) => {
      const [, before, json, after] = /^(.*\.addJSON\()(\{.*\})(\).*)$/s.exec(readFileSync(path, 'utf8'));
      const messages = JSON.stringify(neededMessages(JSON.parse(json)));
      // A text is read faster than an object of this size.
      return { contents: `${before}JSON.parse(${JSON.stringify(messages)})${after}` };
    });
  },
};

/** A file that only imports counts as CommonJS, and so would, wrapped in functions, all that it imports. */
const asModules = {
  name: 'as-modules',
  setup(build) {
    build.onLoad({ filter: /\/(?:main|child)\.ts$/ }, ({ path }) => ({
      contents: `${readFileSync(path, 'utf8')}\nexport {};\n`,
      loader: 'ts',
    }));
  },
};

/** The pieces of a program by their paths, and what esbuild tells of them. `outside`: further packages that it does not hold. */
async function pieces(entries, outdir, outside = []) {
  const { outputFiles, metafile } = await esbuild.build({
    ...NODE,
    absWorkingDir: root,
    entryPoints: Object.fromEntries(Object.entries(entries).filter(([, file]) => existsSync(resolve(root, file)))),
    outdir,
    bundle: true,
    // Only ES modules are split: what comes out is turned into CommonJS below, which loads faster and reads files beside it.
    splitting: true,
    format: 'esm',
    mainFields: ['module', 'main'],
    external: [...OUTSIDE, ...outside],
    plugins: [asModules, temporal],
    legalComments: 'none',
    metafile: true,
    write: false,
  });
  checkImports(metafile);
  const texts = outputFiles.map(async ({ path, text }) => [path, await piece(path, text, metafile)]);
  return { files: new Map(await Promise.all(texts)), metafile };
}

/** The script of the pages (`src/server/page`), for browsers. */
async function pageScript() {
  const { outputFiles, metafile } = await esbuild.build({
    absWorkingDir: root,
    entryPoints: ['src/server/page/browser.mjs'],
    outfile: 'dist/program/page.js',
    ...{ bundle: true, minify: true, format: 'iife', platform: 'browser', target: 'es2022' },
    ...{ legalComments: 'none', metafile: true, write: false },
  });
  return { text: outputFiles[0].text, metafile };
}

async function bundle() {
  const { files, metafile } = await pieces(ENTRIES, program);
  checkOutside(metafile);
  const page = await pageScript();
  files.set(join(program, 'page.js'), page.text);
  files.set(join(program, 'LICENSES.txt'), licences({ outputs: { ...metafile.outputs, ...page.metafile.outputs } }));
  files.set(join(program, 'index.d.ts'), await libraryTypes());
  files.set(join(program, 'prompt-hashes.json'), JSON.stringify(promptHashes(), null, 2));
  write(files, program);
}

/** Nothing else stays in the folder. */
function write(files, folder) {
  mkdirSync(folder, { recursive: true });
  for (const [path, text] of files) writeFileSync(path, text);
  const wasm = 'mappings.wasm';
  copyFileSync(join(dirname(require.resolve('source-map/package.json')), 'lib', wasm), join(folder, wasm));
  for (const name of readdirSync(folder))
    if (!files.has(join(folder, name)) && name !== wasm) rmSync(join(folder, name));
}

/** A program of the benches, which holds what the product's holds; the packages `outside` are those of `bench/peers`. */
async function bundleBench(name, entries, outside) {
  const folder = join(root, 'dist', name);
  const loaded = Object.entries(ENTRIES).filter(
    ([entry]) => !['gate', 'gate-bench', 'index', 'lambda'].includes(entry),
  );
  const { files } = await pieces({ ...Object.fromEntries(loaded), ...entries }, folder, outside);
  write(files, folder);
  return folder;
}

/** As CommonJS. What is from packages alone is made smaller; `import()` of a piece becomes a `require` at that moment. */
async function piece(path, text, { outputs }) {
  const { inputs } = outputs[relative(root, path).replaceAll('\\', '/')];
  const sizes = Object.entries(inputs).map(([input, { bytesInOutput }]) => [packageOf(input) === null, bytesInOutput]);
  const sum = (all) => all.reduce((total, [, bytes]) => total + bytes, 0);
  const isForeign = sum(sizes.filter(([isOwn]) => isOwn)) < sum(sizes) / 20;
  const { code } = await esbuild.transform(text, {
    ...NODE,
    format: 'cjs',
    supported: { 'dynamic-import': false },
    minifySyntax: isForeign,
    minifyWhitespace: isForeign,
  });
  return code;
}

/** Folder of the package that a file is from; null: our own. */
function packageOf(file) {
  return /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? null;
}

/** What stays outside has to be there where the package is installed. */
function checkOutside({ outputs }) {
  const names = Object.values(outputs).flatMap(({ imports }) =>
    imports.filter(({ external }) => external).map(({ path }) => path),
  );
  const isThere = (name) =>
    name.startsWith('node:') ||
    builtinModules.includes(name) ||
    OUTSIDE.some((one) => name === one || name.startsWith(`${one}/`));
  const missing = [...new Set(names)].filter((name) => !isThere(name));
  if (missing.length > 0) throw new Error(`these are neither in the program nor dependencies: ${missing.join(', ')}`);
}

/** The pieces know what an ES module exports, and of a CommonJS module only its `default`. */
function checkImports({ inputs }) {
  const wrong = Object.entries(inputs).flatMap(([from, { imports }]) =>
    imports
      .filter(({ kind, external, path }) => kind === 'dynamic-import' && !external && inputs[path]?.format === 'cjs')
      .map(({ path }) => `${from}: ${path}`),
  );
  if (wrong.length > 0)
    throw new Error(`these import() CommonJS, which needs a module of our own between: ${wrong.join(', ')}`);
}

function licences({ outputs }) {
  const used = Object.values(outputs).flatMap(({ inputs }) =>
    Object.keys(inputs).flatMap((input) => packageOf(input) ?? []),
  );
  const texts = [...new Set(used)].sort().map((folder) => {
    const at = join(root, folder);
    const { name, version, license } = JSON.parse(readFileSync(join(at, 'package.json'), 'utf8'));
    const files = readdirSync(at).filter((each) => /^(licen[cs]e|copying|notice)/i.test(each));
    const terms = files.map((each) => readFileSync(join(at, each), 'utf8').trim());
    return [`${name} ${version} (${license})`, ...terms].join('\n\n');
  });
  return `The program holds these packages.\n\n${texts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

/** Of each file that a prompt is made from. */
function promptHashes() {
  const sources = join(root, 'dist', 'src');
  const names = readdirSync(sources, { recursive: true }).map((name) => name.replaceAll('\\', '/'));
  const pattern = /^(roles\/(?:[^/.]+|shared\/[^/.]+|[^/.]+\/prompt)|methods\/[^/.]+\/prompts?)\.js$/;
  const hash = (name) =>
    createHash('sha256')
      .update(readFileSync(join(sources, `${name}.js`)))
      .digest('hex');
  const found = names.flatMap((name) => pattern.exec(name)?.[1] ?? []).sort();
  return Object.fromEntries(found.map((name) => [name, hash(name)]));
}

async function build() {
  await compile();
  await bundle();
  // Last: it is what `ensure-built.cjs` looks at.
  const { writeWorkflowBundle } = require('../dist/scripts/workflow-bundle.js');
  await writeWorkflowBundle(join(root, 'dist', 'workflow-bundle.js'));
}

module.exports = { bundleBench };

if (require.main === module)
  build().catch((error) => {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  });
