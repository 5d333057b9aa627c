/** The package of `gate ops deploy lambda` as it is built here, alone in a folder and in a process of its own. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { MOST_BYTES, programFiles } from '../../src/app/deploy-lambda';

const ARCHITECTURE = process.arch === 'arm64' ? 'arm64' : 'x64';

test('the package is below the limit, loads without anything else, and says in one line that it reaches no Temporal', () => {
  const settings = { databases: { shop: { urlEnv: 'SHOP_URL' } }, temporal: { address: '127.0.0.1:1' } };
  const files = new Map([
    ...programFiles(resolve(__dirname, '../..'), ARCHITECTURE, []),
    ['gate.config.json', Buffer.from(JSON.stringify(settings))],
    ['settings.json', Buffer.from('{"environment":{},"secrets":[]}')],
  ]);
  const natives = [...files.keys()].filter((path) => path.endsWith('.node'));
  expect(natives).toHaveLength(2);
  const folder = mkdtempSync(join(tmpdir(), 'gate-lambda-'));
  try {
    let bytes = 0;
    for (const [path, content] of files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
      bytes += content.length;
    }
    expect(bytes).toBeLessThan(MOST_BYTES / 2);
    const invoke = `require('./index.js').handler({}, { getRemainingTimeInMillis: () => 60_000 }).catch(() => process.exit(9))`;
    const env = {
      PATH: process.env['PATH'],
      HOME: folder,
      LAMBDA_TASK_ROOT: folder,
      SHOP_URL: 'postgresql://r@db/shop',
    };
    const { status, stdout } = spawnSync(process.execPath, ['-e', invoke], { cwd: folder, env, encoding: 'utf8' });
    const lines = stdout
      .trimEnd()
      .split('\n')
      .filter((line) => line.startsWith('gate: '));
    expect(lines).toEqual([expect.stringContaining('no Temporal at 127.0.0.1:1 for this function')]);
    expect(status).toBe(9);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 120_000);
