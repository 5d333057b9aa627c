// Builds `dist` when it is missing or older than the sources, so that `npm run demo` works on a fresh clone whatever npm
// does with install-time scripts. Prints nothing when there is nothing to do.
const { execFileSync } = require('node:child_process');
const { existsSync, readdirSync, statSync } = require('node:fs');
const { join } = require('node:path');

const root = join(__dirname, '..');
const stamp = join(root, 'dist', 'workflow-bundle.js');

function newest(folder) {
  const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => name !== 'node_modules');
  return Math.max(
    ...entries.map((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? newest(path) : statSync(path).mtimeMs;
    }),
    0,
  );
}

if (
  !existsSync(stamp) ||
  Math.max(
    ...['src', 'benchmarks', 'simulated-model', 'bench', 'scripts'].map((folder) => newest(join(root, folder))),
  ) > statSync(stamp).mtimeMs ||
  statSync(join(root, 'package-lock.json')).mtimeMs > statSync(stamp).mtimeMs
) {
  process.stderr.write('building …\n');
  execFileSync(process.platform === 'win32' ? 'npm.cmd' : 'npm', ['run', '--silent', 'build'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
}
