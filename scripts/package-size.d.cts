export interface Installed {
  readonly folder: string;
  readonly files: readonly string[];
  readonly tarballBytes: number;
  readonly unpackedBytes: number;
  readonly packages: number;
  readonly installedBytes: number;
  readonly largest: readonly { readonly path: string; readonly bytes: number }[];
}

/** Into an empty folder. */
export function installPackage(folder: string): Installed;
export function summary(installed: Installed): string;
