/** A difference of two searches for a terminal: short, side by side where two values stand against each other. */
import type { Difference, Ending, SearchDiff } from './diff';
import { counted, cut, dollars, noteText } from './printable';
import { endedBecause } from './words';

const WIDTH = 160;
/** Of one kind on one side; `--json` has all. */
const SHOWN = 5;

export function renderDiffText(diff: SearchDiff): string {
  return [
    heading(diff),
    ...section('Settings', settingLines(diff)),
    '',
    partLine(diff),
    ...differenceLines(diff.differences),
    ...section('Steering', [
      ...diff.steering.a.map((note) => `A  ${cut(noteText(note), WIDTH)}`),
      ...diff.steering.b.map((note) => `B  ${cut(noteText(note), WIDTH)}`),
    ]),
    ...section('Claims', claimLines(diff)),
    ...section('Answers', answerLines(diff)),
  ].join('\n');
}

function heading({ a, b, fork }: SearchDiff): string {
  const line = `A ${a}\nB ${b}`;
  if (fork === null) return line;
  const [child, parent] = fork.child === 'b' ? ['B', 'A'] : ['A', 'B'];
  return `${line}\n${child} is a fork of ${parent} after iteration ${fork.after}`;
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)];
}

function settingLines({ settings }: SearchDiff): string[] {
  const rows = settings.map(({ name, a, b }) => [name, shown(a), shown(b)]);
  const width = (column: number): number => Math.max(1, ...rows.map((row) => row[column]?.length ?? 0));
  return [['', 'A', 'B'], ...rows]
    .map(([name = '', a = '', b = '']) => `${name.padEnd(width(0))}  ${a.padEnd(width(1))}  ${b}`.trimEnd())
    .slice(rows.length === 0 ? 1 : 0);
}

function shown(value: unknown): string {
  return cut(value === null ? 'none' : typeof value === 'string' ? value : JSON.stringify(value), 60);
}

function partLine({ partsAt, compared, differences, iterations }: SearchDiff): string {
  const lasted = `A ran ${counted(iterations.a, 'iteration')}, B ${String(iterations.b)}`;
  if (partsAt === null)
    return compared.length === 0
      ? `No iteration is stored for both (${lasted})`
      : `No difference in any iteration (${lasted})`;
  const why = differences.length === 0 ? ': only one of them got that far' : '';
  return `The first difference is in iteration ${partsAt}${why} (${lasted})`;
}

function differenceLines(differences: readonly Difference[]): string[] {
  const lines: string[] = [];
  for (const what of ['operator', 'update', 'fact', 'candidate'] as const) {
    for (const only of ['a', 'b'] as const) {
      const some = differences.filter((one) => one.what === what && one.only === only);
      for (const { text, sql } of some.slice(0, SHOWN)) {
        lines.push(`  ${only === 'a' ? 'A' : 'B'}  ${what.padEnd(9)}  ${cut(text, WIDTH)}`);
        if (sql !== null && what !== 'candidate') lines.push(`     ${''.padEnd(9)}  ${cut(sql, WIDTH)}`);
      }
      if (some.length > SHOWN) lines.push(`     ${what.padEnd(9)}  … ${some.length - SHOWN} more (--json)`);
    }
  }
  return lines;
}

function claimLines({ claims }: SearchDiff): string[] {
  const line = (letter: string, text: string | null): string => `   ${letter}  ${cut(text ?? 'not claimed', WIDTH)}`;
  return claims.flatMap(({ statement, a, b }) => [cut(statement, WIDTH), line('A', a), line('B', b)]);
}

function answerLines({ answers }: SearchDiff): string[] {
  const line = (letter: string, ending: Ending | null): string => {
    if (ending === null) return `${letter}  not finished`;
    const { usage } = ending;
    const text = cut(ending.answer ?? ending.reason ?? '', 80);
    return `${letter}  ${ending.status}${text === '' ? '' : `: ${text}`} (${counted(ending.rowCount, 'row')}, ended because ${endedBecause(ending.endedBy)}, ${counted(usage.llmCalls, 'model call')}, ${dollars(usage.costUsd)})`;
  };
  const same = answers.sameRows === null ? [] : [answers.sameRows ? 'the rows are the same' : 'the rows differ'];
  return [line('A', answers.a), line('B', answers.b), ...same];
}
