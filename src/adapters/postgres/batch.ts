/**
 * Sends several statements at once by the extended protocol: they run in order, without waiting in between, and the
 * server answers once. If one fails, the server skips the rest of the batch.
 *
 * 1. Each statement is parsed by itself, so the server refuses a text that holds two statements.
 * 2. A page of rows is read directly from a cursor's portal (portals and cursors are the same to the server).
 * 3. Rows are converted as they arrive, once.
 *
 * `Batch` extends the driver's `Query`: on a pipelined connection the driver accepts no other class.
 */
import { Query } from 'pg';
import type { SqlValue, ResultColumn } from '../../domain';
import type { GateClient } from './connection';
import { compactJson, exactNumber } from '../value-text';

export type Step =
  /** Its rows are not returned; the first value of its last row is kept as `printed`. */
  | { readonly kind: 'statement'; readonly text: string }
  /** The columns of an open cursor and its next `rows` rows; 0 asks for the columns only. At most one in a batch. */
  | { readonly kind: 'page'; readonly cursor: string; readonly rows: number };

export interface Field {
  readonly name: string;
  readonly dataTypeID: number;
}

export interface Answer {
  readonly fields: readonly Field[];
  readonly rows: SqlValue[][];
  /** For each statement step, the first value of its last row. */
  readonly printed: readonly (string | null | undefined)[];
}

export class StepFailed extends Error {
  constructor(
    /** Index of the step that failed. */
    readonly step: number,
    readonly reason: unknown,
    /** The results up to the failure. */
    readonly answer: Answer,
  ) {
    super('a step failed');
  }
}

export function sendBatch(client: GateClient, steps: readonly Step[]): Promise<Answer> {
  return new Promise((resolve, reject) => {
    client.query(new Batch(steps, resolve, reject));
  });
}

/** The driver's connection, at the level of protocol messages. */
interface Line {
  readonly stream: { cork(): void; uncork(): void };
  parse(message: { text: string }): void;
  bind(message: object): void;
  describe(message: { type: 'P'; name: string }): void;
  execute(message: { portal?: string; rows?: number }): void;
  sync(): void;
  sendCopyFail(reason: string): void;
}

class Batch extends Query {
  readonly #steps: readonly Step[];
  readonly #resolve: (answer: Answer) => void;
  readonly #reject: (error: StepFailed) => void;
  #done = 0;
  #fields: readonly Field[] = [];
  #converters: ((text: string) => SqlValue)[] = [];
  readonly #rows: SqlValue[][] = [];
  readonly #printed: (string | null | undefined)[] = [];

  constructor(steps: readonly Step[], resolve: (answer: Answer) => void, reject: (error: StepFailed) => void) {
    super({ text: '' });
    this.#steps = steps;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  override readonly submit = (connection: unknown): null => {
    const line = connection as Line;
    line.stream.cork(); // one packet
    try {
      for (const step of this.#steps) {
        if (step.kind === 'statement') {
          line.parse({ text: step.text });
          line.bind({});
          line.execute({});
        } else {
          line.describe({ type: 'P', name: step.cursor });
          if (step.rows > 0) line.execute({ portal: step.cursor, rows: step.rows });
        }
      }
      line.sync();
    } finally {
      line.stream.uncork();
    }
    return null;
  };

  handleRowDescription({ fields }: { fields: readonly Field[] }): void {
    this.#fields = fields;
    this.#converters = fields.map(({ dataTypeID }) => converterFor(dataTypeID));
    const step = this.#steps[this.#done];
    if (step?.kind === 'page' && step.rows === 0) this.#done += 1; // nothing is executed, so no completion message will come
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    const converters = this.#converters;
    if (this.#steps[this.#done]?.kind !== 'page') {
      this.#printed[this.#done] = fields[0];
      return;
    }
    const row = new Array<SqlValue>(fields.length);
    for (let index = 0; index < fields.length; index += 1) {
      const text = fields[index] ?? null;
      const convert = converters[index];
      row[index] = text === null || convert === undefined ? text : convert(text);
    }
    this.#rows.push(row);
  }

  handleCommandComplete(): void {
    this.#done += 1;
  }

  handlePortalSuspended(): void {
    this.#done += 1;
  }

  handleEmptyQuery(): void {
    this.#done += 1;
  }

  handleCopyInResponse(connection: unknown): void {
    (connection as Line).sendCopyFail('nothing is copied here');
  }

  handleCopyData(): void {
    // Rows of a COPY … TO are ignored.
  }

  handleError(error: unknown): void {
    this.#reject(new StepFailed(this.#done, error, this.#answer()));
  }

  handleReadyForQuery(): void {
    this.#resolve(this.#answer());
  }

  #answer(): Answer {
    return { fields: this.#fields, rows: this.#rows, printed: this.#printed };
  }
}

/**
 * PostgreSQL values as JSON-safe results. Every value arrives as the text that PostgreSQL prints (no global type parser is
 * touched) and is converted by the column's type; dates, arrays, binary and composite values stay text.
 */

const OID = {
  bool: 16, int8: 20, int2: 21, int4: 23, oid: 26, json: 114, float4: 700, float8: 701,
  date: 1082, time: 1083, timestamp: 1114, timestamptz: 1184, interval: 1186, timetz: 1266, numeric: 1700, jsonb: 3802,
} as const; // prettier-ignore

const NUMBERS = new Set<number>([OID.int8, OID.int2, OID.int4, OID.oid, OID.float4, OID.float8, OID.numeric]);
const TIMES = new Set<number>([OID.date, OID.time, OID.timestamp, OID.timestamptz, OID.interval, OID.timetz]);
/** char, name, text, unknown, bpchar, varchar, uuid, xml. */
const TEXTS = new Set([18, 19, 25, 705, 1042, 1043, 2950, 142]);
/** Types made by users and extensions (enums, citext, …) start here; they print as text. */
const FIRST_USER_OID = 16_384;

export function columnKind(oid: number): ResultColumn['kind'] {
  if (NUMBERS.has(oid)) return 'number';
  if (TIMES.has(oid)) return 'time';
  if (oid === OID.bool) return 'boolean';
  if (oid === OID.json || oid === OID.jsonb) return 'json';
  return TEXTS.has(oid) || oid >= FIRST_USER_OID ? 'text' : 'other';
}

/** Converts the text that the server sent. NULL comes without text and is not converted. */
function converterFor(oid: number): (text: string) => SqlValue {
  return converters.get(oid) ?? asText;
}

const asText = (text: string): SqlValue => text;

/** The server prints floats exactly. NaN and the infinities stay text. */
const float = (text: string): SqlValue => (Number.isFinite(Number(text)) ? Number(text) : text);

const converters = new Map<number, (text: string) => SqlValue>([
  [OID.bool, (text) => text === 't'],
  [OID.int2, Number],
  [OID.int4, Number],
  [OID.oid, Number],
  [OID.float4, float],
  [OID.float8, float],
  [OID.int8, exactNumber],
  [OID.numeric, exactNumber],
  [OID.json, compactJson],
  [OID.jsonb, compactJson],
]);
