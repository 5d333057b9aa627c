/** What the subcommands of `gate deploy` share: where files go, and how they are told. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { UsageError } from './errors';
import type { Io } from './io';

export interface WriteFlags {
  readonly write?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export interface DeployFile {
  /** With slashes, below the folder. */
  readonly path: string;
  readonly content: string | Buffer;
}

/** The folder to write into, or null; asked for before anything is built. */
export function targetFolder({ write, dryRun }: WriteFlags, io: Pick<Io, 'cwd'>): string | null {
  if ((write === undefined) === (dryRun !== true)) throw new UsageError('give --write FOLDER or --dry-run');
  return write === undefined ? null : resolve(io.cwd, write);
}

/** Writes the files and prints them; `about` is what a program wants to know besides (`--json`), `next` what a person does. */
export function giveFiles(
  files: readonly DeployFile[],
  folder: string | null,
  told: { readonly json: boolean; readonly about: object; readonly next: string },
  io: Pick<Io, 'out'>,
): void {
  for (const { path, content } of folder === null ? [] : files) {
    const file = join(folder ?? '', ...path.split('/'));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  const sizes = files.map(({ path, content }) => ({ path, bytes: Buffer.byteLength(content) }));
  if (told.json) {
    io.out(`${JSON.stringify({ folder, files: sizes, ...told.about }, null, 2)}\n`);
    return;
  }
  const lines = sizes.map(({ path, bytes }) => `  ${path}  ${sizeText(bytes)}`);
  io.out(`${folder === null ? 'would write' : `written to ${folder}`}\n${lines.join('\n')}\n${told.next}`);
}

export function sizeText(bytes: number): string {
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
