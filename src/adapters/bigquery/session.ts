/**
 * Statements as BigQuery's jobs. BigQuery has no sessions and no read-only transactions, so what keeps a statement from writing
 * is a dry run before it, which the server compiles and nobody pays for:
 *
 * 1. The statement must be a SELECT by the server's own word.
 * 2. It may read no table that its text does not name, except through a view.
 * 3. It may not scan more than the ceiling, and the job has the ceiling too (`maximumBytesBilled`).
 *
 * Each statement sees what was committed before it began. An abort and a time limit cancel its job.
 */
import type bigquery from '@google-cloud/bigquery/build/src/types';
import { randomUUID } from 'node:crypto';
import type { Scan, SqlOptions } from '../../domain/ports/sql-engine';
import type { SqlInspector } from '../../domain/ports/sql-inspector';
import { overCeiling, type Outcome, type Session } from '../kit/engine';
import { size } from '../../size';
import { digestSql } from '../kit/digest';
import { CappedRows } from '../kit/value-text';
import { path, type Api, type Call } from './client';
import { ApiFailure, gone, isOfJob, isStopped, toOutcome } from './errors';
import type { Target } from './target';
import { DIGEST, kindOf, valuesOf, type Field, type Row } from './values';

export interface Checks {
  readonly target: Target;
  readonly inspector: SqlInspector;
  readonly maxScanBytes: number;
  readonly usdPerTiB: number;
}

type Request = Omit<SqlOptions, 'signal'>;

/** What the server found out without running the statement. */
interface DryRun {
  readonly statementType: string;
  readonly bytes: number;
  readonly tables: readonly string[];
  readonly fields: readonly Field[];
}

interface Page extends Omit<bigquery.IGetQueryResultsResponse, 'rows'> {
  readonly rows?: readonly Row[];
}

/** One answer of a poll, and the rows in one page of a result. */
const POLL_MS = 10_000;
const PAGE_ROWS = 20_000;
const CANCEL_TIMEOUT_MS = 3_000;
/** Bytes are billed in these, and for each table that a job reads at least ten of them. */
const MIB = 1024 ** 2;
const LEAST_BILLED = 10 * MIB;
const TIB = 1024 ** 4;

export class BigQuerySession implements Session {
  readonly #cut = new AbortController();
  /** Until the session is cut. */
  readonly call: Call;

  constructor(
    private readonly api: Api,
    private readonly checks: Checks,
  ) {
    this.call = api(this.#cut.signal);
  }

  isUp(): boolean {
    return !this.#cut.signal.aborted;
  }

  cut(): void {
    this.#cut.abort();
  }

  /** There is no session to end, but a job may run. */
  close(): Promise<void> {
    this.cut();
    return Promise.resolve();
  }

  async execute(sql: string, request: Request): Promise<Outcome> {
    const deadline = Date.now() + request.timeoutMs;
    const left = (): Request => ({ ...request, timeoutMs: Math.max(1, deadline - Date.now()) });
    try {
      const dry = await this.dryRun(sql, request);
      const refused = await this.refuse(sql, dry);
      if (refused !== null) return { kind: 'refused', message: refused };
      return await this.run(sql, dry, left()).catch((error: unknown) => {
        // The job failed, not a request.
        if (!(error instanceof ApiFailure) || !error.isPassing) throw error;
        return this.run(sql, dry, left());
      });
    } catch (error) {
      return toOutcome(error, this.checks.target);
    }
  }

  async digestSql(sql: string, request: Request): Promise<string | Outcome> {
    try {
      return digestSql(sql, (await this.dryRun(sql, request)).fields, DIGEST);
    } catch (error) {
      return toOutcome(error, this.checks.target);
    }
  }

  /** What the statement would scan at most; null: it is not one that may run. */
  async estimate(sql: string, request: Request): Promise<Scan | null> {
    try {
      const { bytes } = await this.dryRun(sql, request);
      return { bytes, usd: this.usd(bytes) };
    } catch (error) {
      if (toOutcome(error, this.checks.target).kind === 'sql-error') return null;
      throw error;
    }
  }

  private async dryRun(sql: string, request: Request): Promise<DryRun> {
    const { target } = this.checks;
    const { location, billing: projectId } = target;
    const job = {
      configuration: { dryRun: true, labels: labelsOf(request), query: queryOf(sql, target) },
      ...(location !== null && { jobReference: { projectId, location } }),
    };
    const { statistics } = await this.call<bigquery.IJob>(path`projects/${projectId}/jobs`, { body: job });
    const { statementType = '', totalBytesProcessed = 0, schema, referencedTables = [] } = statistics?.query ?? {};
    return {
      statementType,
      bytes: Number(totalBytesProcessed),
      tables: referencedTables.map(({ projectId, datasetId, tableId }) => `${projectId}.${datasetId}.${tableId}`),
      fields: schema?.fields ?? [],
    };
  }

  /** Why the statement may not run; null: it may. */
  private async refuse(sql: string, { statementType, bytes, tables }: DryRun): Promise<string | null> {
    const { maxScanBytes, inspector } = this.checks;
    if (statementType !== 'SELECT')
      return `BigQuery takes the statement for ${statementType || 'no query'}: write one SELECT that only reads`;
    const inspection = inspector.inspect(sql);
    if (inspection.kind === 'select') {
      const unnamed = await this.unnamed(inspection.relations, tables);
      if (unnamed !== null) return `the statement would read ${unnamed}, which its text does not name: name each table`;
    }
    if (bytes <= maxScanBytes) return null;
    return overCeiling({
      what: 'the statement would scan too much',
      estimate: this.figure(bytes),
      ceiling: `${this.figure(maxScanBytes)} (maxScanBytes)`,
      advice:
        'name only the columns that are needed, compare the columns that tables are partitioned by, and _TABLE_SUFFIX, with ' +
        'constants; LIMIT does not count',
    });
  }

  /** A table that the job reads and the text does not name, if no view in the text explains it. */
  private async unnamed(relations: readonly string[], tables: readonly string[]): Promise<string | null> {
    const named = relations.flatMap((relation) => this.placesOf(relation)).map((name) => name.toLowerCase());
    const isNamed = (table: string): boolean => named.some((name) => (name.endsWith('*') ? table.toLowerCase().startsWith(name.slice(0, -1)) : table.toLowerCase() === name)); // prettier-ignore
    const other = tables.find((table) => !isNamed(table) && !table.includes('.INFORMATION_SCHEMA.'));
    if (other === undefined) return null;
    for (const relation of relations) if (!relation.endsWith('*') && (await this.isView(relation))) return null;
    return other;
  }

  /** A dataset alone is one of the project that runs the job, and may be meant as one of the project of the address. */
  private placesOf(relation: string): string[] {
    const { project, dataset, billing } = this.checks.target;
    const dots = relation.split('.').length - 1;
    if (dots === 0) return [`${project}.${dataset}.${relation}`];
    return dots === 1 ? [`${billing}.${relation}`, `${project}.${relation}`] : [relation];
  }

  private async isView(relation: string): Promise<boolean> {
    for (const place of this.placesOf(relation)) {
      const [project = '', dataset = '', ...table] = place.split('.');
      const at = path`projects/${project}/datasets/${dataset}/tables/${table.join('.')}`;
      const found = await gone(this.call<bigquery.ITable>(at, { query: { fields: 'type' } }));
      if (found?.type?.endsWith('VIEW') === true) return true;
    }
    return false;
  }

  private async run(sql: string, { bytes, tables }: DryRun, request: Request): Promise<Outcome> {
    const { target, maxScanBytes } = this.checks;
    const projectId = target.billing;
    // A name of our own: the job can be cancelled even if the answer to its creation is lost.
    const jobId = `gate_${randomUUID()}`;
    const ceiling = Math.ceil(Math.max(maxScanBytes, LEAST_BILLED * tables.length));
    const configuration = {
      labels: labelsOf(request),
      jobTimeoutMs: String(request.timeoutMs),
      query: { ...queryOf(sql, target), maximumBytesBilled: String(ceiling) },
    };
    const bill = (read: number): void => {
      const billed = read === 0 ? 0 : Math.max(Math.ceil(read / MIB) * MIB, LEAST_BILLED * Math.max(1, tables.length));
      request.onBilled?.({ bytes: billed, usd: this.usd(billed) });
    };
    let location = target.location ?? undefined;
    const job = { jobReference: { projectId, jobId, location }, configuration };
    let isMade = false;
    try {
      const made = this.call<bigquery.IJob>(path`projects/${projectId}/jobs`, { body: job });
      const { jobReference } = await made.catch((error: unknown): bigquery.IJob => {
        // The request was repeated, and the first one had arrived.
        if (error instanceof ApiFailure && error.reason === 'duplicate') return {};
        throw error;
      });
      isMade = true;
      location ??= jobReference?.location;
      const { read, ...rows } = await this.pages(jobId, location, request.maxRows);
      bill(read);
      return rows;
    } catch (error) {
      // One that fails costs nothing; one that is stopped, or whose rows or whose very answer do not arrive, may be billed as a whole.
      if (!(error instanceof ApiFailure) || isStopped(error) || (isMade ? !isOfJob(error) : error.status === 0))
        bill(bytes);
      // One that has ended stays as it is.
      const call = this.api(AbortSignal.timeout(CANCEL_TIMEOUT_MS));
      const cancel = path`projects/${projectId}/jobs/${jobId}/cancel`;
      await call(cancel, { query: { location }, body: {} }).catch(() => undefined);
      throw error;
    }
  }

  private async pages(jobId: string, location: string | undefined, maxRows: number) {
    const results = path`projects/${this.checks.target.billing}/queries/${jobId}`;
    const capped = new CappedRows(maxRows);
    let fields: readonly Field[] = [];
    let read = 0;
    for (let pageToken: string | undefined; ;) {
      // One row more than the cap shows that there are more.
      const maxResults = Math.min(PAGE_ROWS, maxRows + 1 - capped.rows.length);
      const query = { location, maxResults, timeoutMs: POLL_MS, pageToken, 'formatOptions.useInt64Timestamp': true };
      const page = await this.call<Page>(results, { query });
      if (page.jobComplete !== true) continue;
      fields = page.schema?.fields ?? fields;
      read = page.cacheHit === true ? 0 : Number(page.totalBytesProcessed ?? read);
      const wasCut = (page.rows ?? []).some((row) => !capped.add(valuesOf(fields, row)));
      ({ pageToken } = page);
      if (wasCut || pageToken === undefined) break;
    }
    const columns = fields.map((field) => ({ name: field.name ?? '', kind: kindOf(field) }));
    return { kind: 'rows' as const, columns, rows: capped.rows, truncated: capped.truncated, read };
  }

  private readonly figure = (bytes: number): string => `${size(bytes)}, about $${price(this.usd(bytes))}`;
  private readonly usd = (bytes: number): number => (bytes / TIB) * this.checks.usdPerTiB;
}

const price = (usd: number): string => (usd >= 0.01 || usd === 0 ? usd.toFixed(2) : usd.toPrecision(1));

function queryOf(query: string, { project, dataset }: Target): object {
  const defaultDataset = { projectId: project, datasetId: dataset };
  return { query, defaultDataset, useLegacySql: false, useQueryCache: true, priority: 'INTERACTIVE' };
}

function labelsOf({ tag, traceparent }: Request): Readonly<Record<string, string>> {
  const [search = '', ...step] = tag
    .replace(/^gate /, '')
    .trim()
    .split(/\s+/);
  return {
    gate_search: label(search),
    ...(step.length > 0 && { gate_step: label(step.join('_')) }),
    ...(traceparent !== undefined && { gate_trace: label(traceparent) }),
  };
}

/** Lower-case letters, digits, dashes and underscores, at most 63. */
const label = (text: string): string => text.toLowerCase().replace(/[^a-z0-9_-]/g, '_').slice(0, 63); // prettier-ignore
