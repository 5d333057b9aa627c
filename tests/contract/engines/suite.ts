/** Runs claims against every engine of the table. */
import { engineFor } from '../../../src/adapters/engines';
import type { EngineModule, Opening } from '../../../src/adapters/kit/module';
import type { SqlEngine } from '../../../src/domain/ports/sql-engine';
import type { SqlInspector } from '../../../src/domain/ports/sql-inspector';
import { SUBJECTS } from './subjects';
import type { Part, Running, Subject, TypeName, Words } from './subject';

export interface Engine extends Words {
  readonly subject: Subject;
  /** The engine of the database, opened when it is first asked for. */
  engine(): SqlEngine;
  readonly address: string;
  /** Another one of the same database, closed when the claims are through. */
  another(more?: Partial<Opening>): SqlEngine;
  inspector(): SqlInspector;
  write(...statements: readonly string[]): Promise<void>;
  readonly cutOff: Running['cutOff'];
  /** A name as it is stored when it is written without quotes. */
  stored(name: string): string;
  /** A type as the description shows it. */
  type(name: TypeName): string;
}

type Claim = (claim: string, run: () => Promise<void>) => void;

const NO_SNOWFLAKE = { login: null, accessUrl: null, allowPrivilegedRole: true, functions: [] };
const NO_BIGQUERY = { key: null, allowPrivilegedRole: true, functions: [], usdPerTiB: 0 };

/** `tables`: statements that a new database begins with. */
export function everyEngine(
  part: Part,
  tables: (words: Words) => readonly string[],
  claims: (claim: Claim, the: Engine) => void,
): void {
  describe.each(SUBJECTS)('the engine of $name', (subject) => {
    const { words, locks = false } = subject;
    const instead = subject.instead?.[part] ?? {};
    const made: string[] = [];
    let running: Running;
    let module: EngineModule;
    let inspector: SqlInspector;
    let open: SqlEngine | null = null;
    const others: SqlEngine[] = [];
    const openNew = (more: Partial<Opening> = {}): SqlEngine =>
      module.open({
        ...{ role: null, schemas: [], cacheFolder: null, snowflake: NO_SNOWFLAKE, bigquery: NO_BIGQUERY },
        ...running.opening,
        ...more,
      });
    const closeAll = async (): Promise<void> => {
      for (const each of [open, ...others.splice(0)]) await each?.close();
      open = null;
    };
    const begin = async (): Promise<void> => {
      running = await subject.start();
      module = await engineFor(subject.dialect);
      inspector = await module.inspector([]);
      await running.write(...tables(words));
    };
    const end = async (): Promise<void> => {
      await closeAll();
      await running.stop();
    };
    beforeAll(begin);
    afterAll(end);
    const claim: Claim = (name, run) => {
      made.push(name);
      const own = instead[name];
      if (typeof own === 'string') return;
      let isTriedAgain = false;
      test(own?.weaker ?? name, async () => {
        // The first try has left its tables.
        if (isTriedAgain) await end().then(begin);
        isTriedAgain = true;
        await (own?.run ?? run)();
      });
    };
    claims(claim, {
      ...words,
      subject,
      engine: () => (open ??= openNew()),
      another(more) {
        const engine = openNew(more);
        others.push(engine);
        return engine;
      },
      inspector: () => inspector,
      async write(...statements) {
        if (locks) await closeAll();
        await running.write(...statements);
      },
      get address() {
        return running.opening.address;
      },
      get cutOff() {
        return running.cutOff;
      },
      stored: (name) => (subject.dialect === 'snowflake' ? name.toUpperCase() : name),
      type: (name) => words.shown[name] ?? words.types[name],
    });
    const unknown = Object.keys(instead).filter((name) => !made.includes(name));
    if (unknown.length > 0) throw new Error(`no such claims: ${unknown.join('; ')}`);
  });
}
