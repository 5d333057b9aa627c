/** Which files with secrets anybody on this machine can read: all that the configuration names. */
import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { readConfigFile } from '../config/file';
import { note, type Finding } from './doctor-finding';

/** Settings that name a file with a secret; `file` is that of an encryption key. */
const SECRET = /^(urlFile|apiKeyFile|privateKeyFile|passphraseFile|tokenFile|passwordFile|file)$/;
const BY_OTHERS = 0o004;
const THROUGH_BY_OTHERS = 0o001;

/** `config`: the configuration file. Containers often mount secrets so; hence no more than a note. */
export function readableSecrets(config: string | null, platform: NodeJS.Platform): Finding[] {
  if (config === null || platform === 'win32') return [];
  const files = filesIn(readConfigFile(config).json).map((file) => resolve(dirname(config), file));
  return [...new Set(files)]
    .filter(isOpen)
    .map((file) => note('secrets', `every user of this machine may read ${file}`, `chmod 600 '${file}'`));
}

/** A closed folder closes what is in it. */
function isOpen(file: string): boolean {
  try {
    const info = statSync(file);
    const isReadable = info.isFile() && (info.mode & BY_OTHERS) !== 0;
    return isReadable && (statSync(dirname(file)).mode & THROUGH_BY_OTHERS) !== 0;
  } catch {
    return false; // what cannot even be looked at is not open to everybody
  }
}

function filesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    typeof inner === 'string' && SECRET.test(key) ? [inner] : filesIn(inner),
  );
}
