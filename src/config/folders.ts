/**
 * Where a user's files go on each platform: configuration, data (the store), state (what the CLI remembers) and cache
 * (the program of the embedded Temporal). Pure: environment and platform come in; nothing is created here.
 */
import { userInfo } from 'node:os';
import { join } from 'node:path';

export interface Folders {
  readonly config: string;
  readonly data: string;
  readonly state: string;
  readonly cache: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export function userFolders(env: Environment, platform: NodeJS.Platform = process.platform): Folders {
  // An empty variable counts as unset, as the XDG specification says.
  const home = env['HOME'] || env['USERPROFILE'] || userInfo().homedir;
  if (platform === 'win32') {
    const local = env['LOCALAPPDATA'] || join(home, 'AppData', 'Local');
    const roaming = env['APPDATA'] || join(home, 'AppData', 'Roaming');
    const at = (folder: string): string => join(local, folder, 'gate');
    return { config: join(roaming, 'gate'), data: at('data'), state: at('state'), cache: at('cache') };
  }
  const isMac = platform === 'darwin';
  const support = join(home, 'Library', 'Application Support', 'gate');
  const at = (variable: string, mac: string, other: string): string => {
    const given = env[variable];
    return given ? join(given, 'gate') : isMac ? mac : join(home, other, 'gate');
  };
  return {
    config: at('XDG_CONFIG_HOME', support, '.config'),
    data: at('XDG_DATA_HOME', join(support, 'data'), '.local/share'),
    state: at('XDG_STATE_HOME', join(support, 'state'), '.local/state'),
    cache: at('XDG_CACHE_HOME', join(home, 'Library', 'Caches', 'gate'), '.cache'),
  };
}
