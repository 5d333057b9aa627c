/**
 * One vote of ReFoRCE: column exploration where it is due, then SQL that is refined until it returns rows. It reads a fixed
 * view of the search and changes none: votes run side by side.
 */
import type { ReforceSettings } from '../../domain';
import { askModel, type Findings } from '../../search/findings';
import type { ModelOutcome } from '../../domain/ports/step-parts';
import type { ExploreTurn, ReforceSteps, Given, Gives } from '../../domain/ports/steps';

/** Limits of an exploration, as upstream has them: corrections of one query, results, messages of the conversation. */
const CORRECTIONS = 3;
const RESULTS = 11;
const MESSAGES = 20;
/** So many empty results in a row end a vote. */
const EMPTY_RESULTS = 4;

export interface VoteStart {
  readonly searchId: string;
  /** Of all its steps, such as `i3.v2`. */
  readonly position: string;
  readonly seedShift: number;
  readonly candidateId: string;
  readonly schemaId: string;
  readonly formatId: string | null;
  readonly explores: boolean;
  readonly settings: ReforceSettings;
}

export interface VoteEnd {
  readonly run: Gives<'refine'> | null;
  readonly ended: 'rows' | 'confirmed' | 'unexplored' | 'no-reply' | 'empty' | 'attempts';
}

export class Vote {
  constructor(
    private readonly start: VoteStart,
    private readonly steps: ReforceSteps,
    private readonly findings: Findings,
  ) {}

  async run(): Promise<VoteEnd> {
    const explored = this.start.explores ? await this.explore() : [];
    if (this.start.explores && explored.length === 0) return { run: null, ended: 'unexplored' };
    return this.refine(explored);
  }

  private async refine(explored: readonly string[]): Promise<VoteEnd> {
    const { attempts, consistency } = this.start.settings;
    const turns: string[] = [];
    const earlier: string[] = [];
    let empty = 0;
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const position = `${this.start.position}.a${attempt}`;
      const asked = await this.ask(position, 'SQL', (given) =>
        this.steps['reforce-generate'](
          { role: 'reforce-generate', ...given, formatId: this.start.formatId, explored, turns: [...turns] },
          this.labelled('write the SQL'),
        ),
      );
      if (asked === null) return { run: null, ended: 'no-reply' };
      const run = await this.execute(`${position}.run`, asked, earlier);
      turns.push(run.observationId);
      empty = run.outcome === 'rows' && run.rowCount === 0 ? empty + 1 : 0;
      if (empty === EMPTY_RESULTS) return { run: null, ended: 'empty' };
      if (run.outcome !== 'rows' || run.rowCount === 0) continue;
      if (!consistency) return { run, ended: 'rows' };
      if (run.repeats) return { run, ended: 'confirmed' };
      if (!run.flawed) earlier.push(run.observationId);
    }
    return { run: null, ended: 'attempts' };
  }

  private async execute(
    position: string,
    { actionId }: Gives<'reforce-generate'>,
    earlier: readonly string[],
  ): Promise<Gives<'refine'>> {
    const { searchId, candidateId } = this.start;
    const run = await this.findings.sql(() =>
      this.steps.refine(
        { purpose: 'refine', searchId, position, actionId, candidateId, earlier: [...earlier] },
        this.labelled('run the SQL'),
      ),
    );
    this.findings.attempts.push(run.observationId);
    return run;
  }

  /** The observations of an exploration; none if no query of it returned rows. */
  private async explore(): Promise<readonly string[]> {
    const turns: ExploreTurn[] = [];
    const found: string[] = [];
    let results = 0;
    const positionNow = () => `${this.start.position}.explore${turns.length + 1}`;
    const ask = (asks: Given<'reforce-explore'>['asks']) =>
      this.ask(positionNow(), 'exploration', (given) =>
        this.steps['reforce-explore'](
          { role: 'reforce-explore', ...given, turns: [...turns], asks },
          this.labelled(EXPLORING[asks]),
        ),
      );
    const look = async (actionId: string, from: number) => {
      const ran = await this.look(`${positionNow()}.run`, actionId, from, RESULTS - results);
      results += ran.succeeded;
      if (ran.succeeded > 0) found.push(ran.observationId);
      return ran;
    };
    let list = await ask('queries');
    if (list === null) return [];
    let said = list.actionId;
    let at = 0;
    while (at < list.queries && results < RESULTS && messagesOf(turns) <= MESSAGES) {
      let ran = await look(list.actionId, at);
      at += ran.succeeded + Number(ran.failed);
      if (!ran.failed) continue;
      const rest = [list.actionId, at] as const;
      const answered = () => turns.push({ actionId: said, observationId: ran.observationId, rest });
      for (let correction = 1; ran.failed && correction <= CORRECTIONS; correction++) {
        answered();
        const corrected = await ask('correction');
        if (corrected === null) return found;
        said = corrected.actionId;
        ran = await look(said, 0);
      }
      // A query that no correction helps is at least three failures in a row: upstream stops there.
      if (ran.failed || at === list.queries) return found;
      answered();
      const others = await ask('rest');
      if (others === null) return found;
      said = others.actionId;
      if (others.queries >= Math.floor((list.queries - at) / 2)) [list, at] = [others, 0];
    }
    return found;
  }

  private async look(position: string, actionId: string, from: number, most: number) {
    const { searchId } = this.start;
    const ran = await this.findings.sql(() =>
      this.steps.explore({ purpose: 'explore', searchId, position, actionId, from, most }, this.labelled('explore')),
    );
    this.findings.attempts.push(ran.observationId);
    return ran;
  }

  /** Votes run side by side, so each line says whose step it is, such as `v2: explore`. */
  private labelled(text: string): { readonly label: string } {
    return { label: `${this.start.position.split('.').at(-1) ?? ''}: ${text}` };
  }

  private ask<T>(position: string, what: string, call: (given: Common) => Promise<ModelOutcome<T>>): Promise<T | null> {
    const { searchId, seedShift, schemaId } = this.start;
    const shift = seedShift === 0 ? {} : { seedShift };
    return askModel<T>(this.findings, { position, what }, (thisTry) =>
      call({ searchId, position, schemaId, ...shift, ...thisTry }),
    );
  }
}

const EXPLORING: Readonly<Record<Given<'reforce-explore'>['asks'], string>> = {
  queries: 'ask for queries to explore with',
  correction: 'correct a query',
  rest: 'correct the other queries',
};

/** What every model step of a vote is given. */
type Common = Omit<Given<'reforce-format'>, 'role'>;

/** A question and a reply for each turn, and the reply that is being run. */
function messagesOf(turns: readonly ExploreTurn[]): number {
  return 2 * (turns.length + 1);
}
