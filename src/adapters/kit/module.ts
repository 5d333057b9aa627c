/** What an engine offers: docs/adding-an-engine.md. */
import type { SqlEngine } from '../../domain/ports/sql-engine';
import type { SqlInspector } from '../../domain/ports/sql-inspector';
import type { SnowflakeLoginSettings } from '../snowflake/target';
import type { DatabaseCheck } from './database-check';

/** A database as the configuration or the command line gives it. Secrets are in the clear here, and nowhere else. */
export interface Opening {
  /** A URL for a server; a real path for files. */
  readonly address: string;
  /** Whose rights its sessions have, where it has roles. */
  readonly role: string | null;
  readonly schemas: readonly string[];
  /** Sessions at most; left out: the engine's own number. */
  readonly poolSize?: number;
  /** Statements that are expected to cost or to scan more are refused; left out: none are. */
  readonly maxPlanCost?: number;
  readonly maxScanBytes?: number;
  /** Where what was made of files is kept for the next process; null: nowhere, because the store is encrypted. */
  readonly cacheFolder: string | null;
  /** Settings that only one engine reads. */
  readonly snowflake: {
    readonly login: SnowflakeLoginSettings | null;
    readonly accessUrl: string | null;
    readonly allowPrivilegedRole: boolean;
    readonly functions: readonly string[];
  };
  readonly bigquery: {
    /** Content of a service account's key file. */
    readonly key: string | null;
    readonly allowPrivilegedRole: boolean;
    readonly functions: readonly string[];
    readonly usdPerTiB: number;
  };
}

export interface EngineModule {
  readonly open: (opening: Opening) => SqlEngine;
  /** Where a name without a schema is looked up, if not in `public` or `main`. */
  readonly searchPath?: (opening: Opening) => readonly string[];
  /** Tries to write, which the database has to refuse; null: opening it examines its rights, and nothing is tried. */
  readonly check: ((opening: Opening) => Promise<DatabaseCheck>) | null;
  /** `functions`: those that the configuration allows besides. Asked without an open database too. */
  readonly inspector: (functions: readonly string[]) => SqlInspector | Promise<SqlInspector>;
}
