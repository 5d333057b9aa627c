/** The peers' own package: installed on demand, never by the main one. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(__dirname, '../../../bench/peers');
export const PEER_MODULES = join(FOLDER, 'node_modules');
const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';

export function peersInstalled(): boolean {
  return existsSync(join(PEER_MODULES, '.package-lock.json'));
}

/** `npm ci` in their folder; what npm says goes to stderr. */
export function installPeers(): void {
  execFileSync(npm, ['ci', '--no-audit', '--no-fund'], { cwd: FOLDER, stdio: ['ignore', 2, 2] });
}
