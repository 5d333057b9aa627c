import type { CheckReport, DescribedDatabase, Describing, ListedDatabase } from '../app/databases';
import { loadConfig } from '../config';
import { told, type Inside } from './inside';

/** `db` is everywhere a configured name, a file, a folder of data files, or a URL. */
export class Databases {
  readonly #inside: Inside;

  /** @internal */
  constructor(inside: Inside) {
    this.#inside = inside;
  }

  /** Those of the configuration, without secrets. */
  async list(): Promise<readonly ListedDatabase[]> {
    return told(async () => (await import('../app/databases')).listDatabases(loadConfig(this.#inside.at())));
  }

  /** The schema as a model would see it. */
  async describe(db: string, options: Describing = {}): Promise<DescribedDatabase> {
    return told(async () => (await import('../app/databases')).describeDatabase(db, options, this.#inside.at()));
  }

  /** Whether it can be used, and only be read: writes are attempted, and the database has to refuse them. */
  async check(db: string): Promise<CheckReport> {
    return told(async () => (await import('../app/databases')).checkDatabase(db, this.#inside.at()));
  }
}
