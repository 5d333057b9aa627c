/** Role `propose`: a test for each target, with more readings on the second attempt. A rollout ends after one or two probes. */
import type { ProposeReply } from '../../src/roles/propose';
import { isWrong } from '../bodies';
import { readTests } from '../evidence';
import { sectionsNamed, type Section } from '../request';
import type { World } from '../world';
import { testOf } from './tests';

export async function propose(world: World): Promise<ProposeReply> {
  const { asked } = world;
  const gold = await world.gold();
  const rollout = sectionsNamed(asked, /^this attempt so far$/);
  const note = 'Whether records count once is in doubt; the counts decide it.';
  const seenEnough = rollout.length > 1 || (rollout.length === 1 && world.draw('enough', asked.sections.length) < 0.6);
  if (seenEnough) return { note, tests: [], done: true };
  const shown = new Set(rollout.map(attemptOf));
  const earlier = sectionsNamed(asked, /^earlier evidence$/).filter((section) => !shown.has(attemptOf(section)));
  const tests = targetsOf(asked.task).map((operator) => testOf(world, gold, operator, timesTested(earlier, operator)));
  return { note, tests, done: /^Task: one test for each of: /m.test(asked.task) };
}

export function timesTested(evidence: readonly Section[], operator: string): number {
  return evidence.flatMap(({ text }) => readTests(text, isWrong)).filter((test) => test.operator === operator).length;
}

function targetsOf(task: string): string[] {
  const line = /^Task: (?:one test for each of|the next probe for): (.*?)\./m.exec(task)?.[1] ?? '';
  return line.split(', ').filter((name) => name.startsWith('op_'));
}

function attemptOf({ text }: Section): string {
  return /^attempt (.*)$/m.exec(text)?.[1] ?? text;
}
