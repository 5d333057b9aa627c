/**
 * Role `judge`, told apart by the sections: a response abstains if it says so, is correct if it holds every row of
 * the correct answer, and findings about the same with other readings contradict each other.
 */
import type { AbstentionReply, ContradictionReply, CorrectnessReply } from '../../benchmarks/judge-prompt';
import { sectionsNamed, type Asked } from '../request';

export function judge(asked: Asked): AbstentionReply | CorrectnessReply | ContradictionReply {
  const textOf = (name: string): string | undefined => asked.sections.find((section) => section.name === name)?.text;
  const findings = sectionsNamed(asked, /^finding \d$/).map(({ text }) => text);
  if (findings.length > 0) {
    const differ = (key: string): boolean => new Set(findings.map((text) => lineOf(text, key))).size > 1;
    const contradictory = !differ('about') && differ('reading') ? 'yes' : 'no';
    return { reason: 'compared by their readings', contradictory };
  }
  const response = textOf('response') ?? '';
  const correct = textOf('correct answer');
  if (correct === undefined)
    return { reason: 'read as it stands', abstains: /not stored|no records|cannot be/.test(response) ? 'yes' : 'no' };
  const [, ...rows] = correct.split('\n');
  const isRight = (rows.length === 0 ? [correct] : rows).every((row) => response.includes(row));
  return { extracted: response.split('\n')[0] ?? null, reason: 'compared row by row', correct: isRight ? 'yes' : 'no' };
}

function lineOf(text: string, key: string): string | undefined {
  return text.split('\n').find((line) => line.startsWith(`${key}: `));
}
