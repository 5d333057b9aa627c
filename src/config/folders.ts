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

/** What a setting is read with. */
export interface Place {
  /** The configuration file, or the setting in it, for messages. */
  readonly where: string;
  /** The folder that relative paths start from. */
  readonly base: string;
  readonly env: Environment;
  /** Mistakes are added to it. */
  readonly problems: string[];
}

export function userFolders(env: Environment, platform: NodeJS.Platform = process.platform): Folders {
  const home = given(env, 'HOME') ?? given(env, 'USERPROFILE') ?? userInfo().homedir;
  if (platform === 'win32') {
    const local = given(env, 'LOCALAPPDATA') ?? join(home, 'AppData', 'Local');
    const roaming = given(env, 'APPDATA') ?? join(home, 'AppData', 'Roaming');
    return folders(roaming, join(local, 'data'), join(local, 'state'), join(local, 'cache'));
  }
  if (platform === 'darwin') {
    const support = join(home, 'Library', 'Application Support');
    return {
      config: env['XDG_CONFIG_HOME'] ? join(env['XDG_CONFIG_HOME'], 'gate') : join(support, 'gate'),
      data: env['XDG_DATA_HOME'] ? join(env['XDG_DATA_HOME'], 'gate') : join(support, 'gate', 'data'),
      state: env['XDG_STATE_HOME'] ? join(env['XDG_STATE_HOME'], 'gate') : join(support, 'gate', 'state'),
      cache: env['XDG_CACHE_HOME'] ? join(env['XDG_CACHE_HOME'], 'gate') : join(home, 'Library', 'Caches', 'gate'),
    };
  }
  return folders(
    given(env, 'XDG_CONFIG_HOME') ?? join(home, '.config'),
    given(env, 'XDG_DATA_HOME') ?? join(home, '.local', 'share'),
    given(env, 'XDG_STATE_HOME') ?? join(home, '.local', 'state'),
    given(env, 'XDG_CACHE_HOME') ?? join(home, '.cache'),
  );
}

/** An empty variable counts as unset, as the XDG specification says. */
function given(env: Environment, name: string): string | undefined {
  return env[name] === '' ? undefined : env[name];
}

function folders(config: string, data: string, state: string, cache: string): Folders {
  return {
    config: join(config, 'gate'),
    data: join(data, 'gate'),
    state: join(state, 'gate'),
    cache: join(cache, 'gate'),
  };
}
