// What a user gets: packs the package, installs the tarball into an empty folder with npm, and counts. `npm run size` prints
// it; tests/full/package.test.ts checks it and runs the demo there. Needs a built `dist` and the registry that npm is set to.
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

module.exports = { installPackage, summary };

if (require.main === module) {
  const folder = mkdtempSync(join(tmpdir(), 'gate-package-'));
  try {
    console.log(summary(installPackage(folder)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
