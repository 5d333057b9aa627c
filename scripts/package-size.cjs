// What there is to look after, and what a user gets: counts files, lines, commands and options, then packs the package, installs
// the tarball into an empty folder with npm, and counts again. `npm run size` prints it; tests/full/package.test.ts checks the
// installation and runs the demo there. Needs a built `dist` and the registry that npm is set to.
const { execFileSync } = require('node:child_process');
const { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');

const root = join(__dirname, '..');
const NPM = process.platform === 'win32' ? 'npm.cmd' : 'npm';
const QUIET = ['--no-audit', '--no-fund', '--loglevel=error'];
// What npm tells the scripts it runs: the settings of this package are not those of the empty folder.
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));

function installPackage(folder) {
  const npm = (args, cwd) => execFileSync(NPM, [...args, ...QUIET], { cwd, env, encoding: 'utf8' });
  // Its lifecycle scripts would build, and print into the JSON.
  const [packed] = JSON.parse(npm(['pack', '--ignore-scripts', '--json', '--pack-destination', folder], root));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'empty', private: true }));
  npm(['install', '--prefer-offline', join(folder, packed.filename)], folder);
  const lock = JSON.parse(readFileSync(join(folder, 'node_modules', '.package-lock.json'), 'utf8'));
  const packages = Object.keys(lock.packages).map((path) => ({ path, bytes: bytesOf(join(folder, path)) }));
  return {
    folder,
    files: packed.files.map(({ path }) => path),
    tarballBytes: packed.size,
    unpackedBytes: packed.unpackedSize,
    packages: packages.length,
    installedBytes: bytesOf(join(folder, 'node_modules')),
    largest: packages.sort((a, b) => b.bytes - a.bytes).slice(0, 8),
  };
}

function bytesOf(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath ?? entry.path, entry.name)).size, 0);
}

function summary({ files, tarballBytes, unpackedBytes, packages, installedBytes, largest }) {
  const mb = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
  const list = largest.map(({ path, bytes }) => `  ${mb(bytes).padStart(9)}  ${path.replace(/^node_modules\//, '')}`);
  return [
    `package    ${files.length} files, ${mb(unpackedBytes)} (tarball ${mb(tarballBytes)})`,
    `installed  ${packages} packages, ${mb(installedBytes)}; the largest:`,
    ...list,
  ].join('\n');
}

/** Files and lines of TypeScript in a folder. */
function sourcesOf(folder) {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.[cm]?ts$/.test(name),
  );
  const lines = files.map((name) => readFileSync(join(root, folder, name), 'utf8').split('\n').length - 1);
  const count = (number) => number.toLocaleString('en').padStart(7);
  return `${folder.padEnd(11)}${count(files.length)} files ${count(lines.reduce((sum, each) => sum + each, 0))} lines`;
}

/** Commands without subcommands, and the options that they and the programs have. */
function commandsOf(name, { createProgram, withSubcommands }, program) {
  const all = withSubcommands(createProgram({}, { code: 0 }, program));
  const options = all.reduce((sum, { options }) => sum + options.length, 0);
  return `${name.padEnd(11)}${all.filter(({ commands }) => commands.length === 0).length} commands, ${options} options`;
}

function counts() {
  const gate = require('../dist/src/cli/program.js');
  const { GATE_BENCH } = require('../dist/benchmarks/program.js');
  return [
    ...['src', 'benchmarks', 'tests'].map(sourcesOf),
    commandsOf('gate', gate, gate.GATE),
    commandsOf('gate-bench', gate, GATE_BENCH),
  ].join('\n');
}

module.exports = { installPackage, summary };

if (require.main === module) {
  console.log(counts());
  const folder = mkdtempSync(join(tmpdir(), 'gate-package-'));
  try {
    console.log(summary(installPackage(folder)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
