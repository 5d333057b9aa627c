/** Which files with secrets anybody on this machine can read: all that the configuration names. */
import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { readConfigFile } from '../config-file';
import { note, type Finding } from './doctor-finding';

/** Settings that name a file with a secret; `file` is that of an encryption key. */
const SECRET = /^(urlFile|apiKeyFile|privateKeyFile|passphraseFile|tokenFile|passwordFile|file)$/;
const BY_OTHERS = 0o004;

/** `config`: the configuration file. Containers often mount secrets so; hence no more than a note. */
export function readableSecrets(config: string | null, platform: NodeJS.Platform): Finding[] {
  if (config === null || platform === 'win32') return [];
  const files = filesIn(readConfigFile(config).json).map((file) => resolve(dirname(config), file));
  return [...new Set(files)].flatMap((file) => {
    const info = statSync(file, { throwIfNoEntry: false });
    if (info?.isFile() !== true || (info.mode & BY_OTHERS) === 0) return [];
    return [note('secrets', `every user of this machine may read ${file}`, `chmod 600 '${file}'`)];
  });
}

function filesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    typeof inner === 'string' && SECRET.test(key) ? [inner] : filesIn(inner),
  );
}
