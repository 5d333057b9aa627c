/**
 * Tests of the doubtful operator: rival readings with their SQL, and a probe on which the right reading's predicate is
 * TRUE and every other one's is FALSE, whatever the data.
 */
import type { TestReply } from '../../src/roles/shared/tests';
import { baseRelation, namesOf, failingBody, quotedRelation, rowsBody, type Reading } from '../bodies';
import type { Gold } from '../gold';
import { derivationOf, type World } from '../world';

type Tested = Exclude<Reading, 'misread'>;

const MAPPINGS: Record<Tested, string> = {
  right: 'each matching record counts once, as it is stored',
  'right-again': 'each matching record counts once, filtered in a later step',
  twice: 'each matching record stands for itself and for its mirror image',
  thrice: 'each matching record stands for three entries',
};

/** `attempt`: number of earlier tests of this operator. */
export function testOf(world: World, gold: Gold, operator: string, attempt: number): TestReply {
  const readings = readingsOf(world, operator, attempt);
  const decides = world.draw('inconclusive', operator, attempt) >= world.rates.inconclusive;
  return {
    operator,
    probe: world.slip('probe') < world.rates.failingSql ? failingBody(gold) : probeOf(gold, derivationOf(operator)),
    hypotheses: readings.map((reading, at) => ({
      id: `h${at + 1}`,
      mapping: MAPPINGS[reading],
      expectation: 'the counts of the probe agree with it',
      predicates: [predicateOf(reading, decides)],
      agreement: decides ? agreementOf(reading) : null,
      sql: world.draw('hypothesis sql', operator) < 0.8 ? rowsBody(gold, derivationOf(operator), reading) : null,
      notStored: null,
    })),
  };
}

function readingsOf(world: World, operator: string, attempt: number): readonly Tested[] {
  if (world.draw('immaterial', operator) < world.rates.immaterial) return ['right', 'right-again'];
  // The right reading may be missing on the first attempt, never on later ones.
  const overlooked = attempt === 0 && world.draw('overlooked', operator) < world.rates.wrong;
  if (overlooked) return ['twice', 'thrice'];
  const rivals: readonly Tested[] = world.draw('rivals', operator, attempt) < 0.3 ? ['twice', 'thrice'] : ['twice'];
  const at = Math.floor(world.draw('place', operator, attempt) * (rivals.length + 1));
  return [...rivals.slice(0, at), 'right', ...rivals.slice(at)];
}

function probeOf(gold: Gold, derivation: number): string {
  const from = `seen${derivation}`;
  const relation = baseRelation(gold);
  const examined = relation === null ? 'count(*)' : `(SELECT count(*) FROM ${quotedRelation(gold, relation)})`;
  return `WITH ${namesOf(from, gold)} AS (\n${gold.sql}\n)\nSELECT ${examined} AS examined, count(*) AS fitting, 2 * count(*) AS mirrored FROM ${from}`;
}

function predicateOf(reading: Tested, decides: boolean): string {
  if (!decides) return '(SELECT nullif(fitting, fitting) = 1 FROM observation)';
  if (reading === 'right') return '(SELECT fitting * 2 = mirrored FROM observation)';
  return '(SELECT fitting * 2 <> mirrored FROM observation)';
}

function agreementOf(reading: Tested): { matching: string; examined: string } {
  const matching =
    reading === 'right' ? '(SELECT examined FROM observation)' : '(SELECT examined - examined FROM observation)';
  return { matching, examined: '(SELECT examined FROM observation)' };
}
