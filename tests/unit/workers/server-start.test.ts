/** A server that panics at its start: the reason is told, and a port that was taken meanwhile is no reason to give up. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServerProcess } from '../../../src/workers/temporal-process';

function binary(reason: string) {
  const folder = mkdtempSync(join(tmpdir(), 'gate-server-'));
  const path = join(folder, 'server');
  const starts = join(folder, 'starts');
  writeFileSync(
    path,
    `#!/bin/sh\necho one >> ${starts}\necho 'panic: ${reason}'\necho\necho 'goroutine 1 [running]:'\necho 'main.go:18 +0x96'\nexit 2\n`,
  );
  chmodSync(path, 0o755);
  const start = () =>
    startServerProcess({ binary: path, databaseFile: null, uiPort: null, logFile: join(folder, 'server.log') });
  return { start, starts: () => (existsSync(starts) ? readFileSync(starts, 'utf8').trim().split('\n').length : 0) };
}

test('the reason of a panic is told, not the end of its stack', async () => {
  const { start, starts } = binary('no such file');
  await expect(start()).rejects.toThrow('stopped at its start (exit 2): panic: no such file');
  expect(starts()).toBe(1);
});

test('a port that another server took first is tried anew', async () => {
  const { start, starts } = binary('listen tcp 127.0.0.1:41234: bind: address already in use');
  await expect(start()).rejects.toThrow('address already in use');
  expect(starts()).toBe(3);
});
