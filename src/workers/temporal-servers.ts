/**
 * The Temporal servers that the embedded one may be: how each is obtained, and which features need which. One is chosen by
 * `GATE_TEMPORAL_VERSION`; the first of the table is the default.
 *
 * A newer server opens the database file of an older one, but makes the tables and columns that it adds only in a new file (the
 * dev server migrates nothing). So each version has a file of its own.
 */
import { join } from 'node:path';
import { ConfigError } from '../config/file';
import type { Environment } from '../config/folders';
import { packageFolder } from './package-folder';

export interface TemporalServer {
  /** Major and minor version of the server, by which it is chosen. */
  readonly version: string;
  /** Its folder in the cache. */
  readonly cacheName: string;
  /** null: none is offered that has what it needs. */
  readonly download: Download | null;
  readonly build: Build;
}

export interface Download {
  readonly base: string;
  /** `platform` and `arch` as Go names them. */
  archive(platform: string, arch: string): string;
  /** The release's list of checksums, and its own SHA-256; null: TLS alone says that the archive is the right one. */
  readonly checksums: { readonly path: string; readonly sha256: string } | null;
}

export interface Build {
  /** Arguments of `go`; the result is the file `executable` in `folder`, which is also GOBIN. */
  args(folder: string, executable: string): readonly string[];
  /** Where `go` runs; null: anywhere. */
  readonly cwd: string | null;
  readonly takes: string;
}

const CLI_1_5 = 'v1.5.1';
const CLI_1_9 = 'v1.9.1';

/** The server as a library, in a program of ours; every module is pinned by its go.sum. */
function ownProgram(tags: readonly string[], takes: string) {
  return {
    args: (folder: string, executable: string): readonly string[] => [
      ...['build', '-mod=readonly', '-buildvcs=false', '-trimpath', '-ldflags=-s -w'],
      ...(tags.length === 0 ? [] : ['-tags', tags.join(',')]),
      ...['-o', join(folder, executable), '.'],
    ],
    cwd: join(packageFolder() ?? '.', 'infra', 'temporal-server'),
    takes,
  };
}

export const SERVERS = [
  {
    version: '1.29',
    cacheName: CLI_1_5,
    download: {
      base: 'https://temporal.download',
      archive: (platform, arch) => `cli/archive/${CLI_1_5}?platform=${platform}&arch=${arch}`,
      checksums: null,
    },
    // The last release that `go install` can build: later ones have a replace directive.
    build: {
      args: () => ['install', `github.com/temporalio/cli/cmd/temporal@${CLI_1_5}`],
      cwd: null,
      takes: 'about 2 minutes',
    },
  },
  {
    version: '1.32',
    cacheName: 'server-1.32.2',
    download: {
      base: 'https://github.com/temporalio/cli/releases/download',
      archive: (platform, arch) => `${CLI_1_9}/temporal_cli_${CLI_1_9.slice(1)}_${platform}_${arch}.tar.gz`,
      checksums: {
        path: `${CLI_1_9}/checksums.txt`,
        sha256: 'cc22cb0df0a9bab358500dce212616e8622b0649df68317d9858867d7dc69bd2',
      },
    },
    build: ownProgram([], '9 minutes of computing'),
  },
] as const satisfies readonly TemporalServer[];

/** 1.32 with the provider that starts workers on its own machine (`gate dev --serverless`): no release has it. */
export const SERVERLESS_SERVER: TemporalServer = {
  version: '1.32',
  cacheName: `${SERVERS[1].cacheName}-serverless`,
  download: null,
  build: ownProgram(['computeprovider_subprocess'], SERVERS[1].build.takes),
};

export const VERSION_VARIABLE = 'GATE_TEMPORAL_VERSION';

/** Null: none is asked for, and whatever is found is used. */
export function askedServer(env: Environment): TemporalServer | null {
  const text = env[VERSION_VARIABLE];
  if (!text) return null;
  const server = SERVERS.find(({ version }) => version === text);
  if (server !== undefined) return server;
  const offered = SERVERS.map(({ version }) => version).join(' or ');
  throw new ConfigError([`${VERSION_VARIABLE}: '${text}' is not offered; give ${offered}`]);
}

/** Whether a server of this version is the one that was asked for: for the newest of the table, a newer one is, too. */
export function isAsked(version: string, asked: TemporalServer): boolean {
  return (
    lineOf(version) === asked.version || (asked.version === SERVERS.at(-1)?.version && atLeast(version, asked.version))
  );
}

/** Put into the name of a server's database file; null: its version is not known. */
export function databaseSuffix(version: string | null): string {
  return version === null || !atLeast(version, '1.30') ? '' : `-${lineOf(version)}`;
}

export interface Feature {
  readonly from: string;
  readonly what: string;
}

export const MOVES_BY_ITSELF: Feature = {
  from: '1.32',
  what: 'a search that outgrows a run goes on with the current worker version',
};

export const STARTS_WORKERS: Feature = {
  from: '1.31',
  what: 'the server starts workers when work arrives (worker controller)',
};

/** What needs more than the oldest server of the table. */
export const FEATURES: readonly Feature[] = [STARTS_WORKERS, MOVES_BY_ITSELF];

/** Those that a server of this version lacks. */
export function lackingFeatures(version: string): readonly Feature[] {
  return FEATURES.filter(({ from }) => !atLeast(version, from));
}

/** Major and minor decide: 1.32.2 is at least 1.32. */
function atLeast(version: string, least: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [leastMajor = 0, leastMinor = 0] = least.split('.').map(Number);
  return major > leastMajor || (major === leastMajor && minor >= leastMinor);
}

function lineOf(version: string): string {
  return version.split('.').slice(0, 2).join('.');
}
