/** The audit of updates as text: its figures, and each flagged pair with both sides beside each other. */
import { counted, visible, wrapped } from '../src/report/printable';
import type { AuditedUpdate, JudgedPair, UpdateAudit } from './update-audit';

/** The paper's names for them are in `docs/judging.md`. */
export function auditFigures(audit: UpdateAudit): readonly (readonly [string, string])[] {
  const { judge } = audit;
  const rows: (readonly [string, string])[] = [
    ['searches', `${audit.searches} (${audit.withoutUpdates} without updates)`],
    ['grounding updates', `${audit.updates}${audit.withdrawn === 0 ? '' : ` (and ${audit.withdrawn} withdrawn)`}`],
    ['updates per search', number(audit.updatesPerSearch)],
    ['updates reused across plans', `${audit.reused} (${percent(audit.reusedShare)})`],
    ['reuse applications', `${audit.reuses} (${number(audit.reusesPerUpdate)} per update)`],
    ['possible pairs of updates', String(audit.possiblePairs)],
    ['pairs with a common table', `${audit.pairs} (${percent(audit.pairsShare)})`],
  ];
  if (judge === null) return rows;
  const open = judge.flagged - judge.contradictions - judge.consistent;
  return [
    ...rows,
    ['pairs judged', `${judge.judged} by ${judge.model}, judge version ${judge.version}`],
    ...(judge.undecided === 0 ? [] : [['pairs that the judge did not decide', String(judge.undecided)] as const]),
    ...(judge.notJudged === 0 ? [] : [['pairs not judged yet', String(judge.notJudged)] as const]),
    ['pairs flagged by the judge', `${judge.flagged} (${percent(judge.flaggedShare)} of those judged)`],
    [
      'decided by people',
      `${counted(judge.contradictions, 'contradiction')}, ${judge.consistent} consistent, ${open} open`,
    ],
    [
      'contradiction rate',
      judge.contradictionRate === null
        ? 'known once every pair is judged and every flagged one decided'
        : `${percent(judge.contradictionRate)} of possible pairs, ${percent(judge.contradictionRateOfJudged)} of those judged`,
    ],
  ];
}

const number = (value: number | null): string => (value === null ? '-' : value.toFixed(2));
const percent = (value: number | null): string => (value === null ? '-' : `${Number((100 * value).toPrecision(3))} %`);

const SIDE: readonly (readonly [string, (update: AuditedUpdate) => string])[] = [
  ['update', ({ updateId, operator }) => `${updateId} (${operator})`],
  ['about', ({ intent }) => intent],
  ['reading', ({ reading }) => reading],
  ['shown by', ({ summary }) => summary],
  ['query', ({ probe }) => probe],
  ['rows', ({ observed }) => observed],
];

export function auditText(audit: UpdateAudit, columns: number): string {
  const width = Math.min(columns, 160);
  const rows = auditFigures(audit);
  const label = Math.max(...rows.map(([name]) => name.length));
  return [
    ...rows.map(([name, value]) => `${name.padEnd(label)}  ${value}`),
    ...audit.flagged.flatMap((pair) => ['', ...pairText(pair, width)]),
    '',
  ].join('\n');
}

const LABEL = 10;
const LINES = 12;

function pairText(pair: JudgedPair, width: number): string[] {
  const room = Math.max(20, Math.floor((width - LABEL - 3) / 2));
  const row = ([name, of]: (typeof SIDE)[number]): string[] => {
    const [left = [], right = []] = pair.updates.map((update) => side(of(update), room));
    return Array.from({ length: Math.max(left.length, right.length) }, (_, at) =>
      `${(at === 0 ? name : '').padEnd(LABEL)}${(left[at] ?? '').padEnd(room)} | ${right[at] ?? ''}`.trimEnd(),
    );
  };
  return [
    `${pair.pairId}  ${pair.searchId}: ${visible(pair.question)}`,
    `both read ${pair.tables.join(', ')}. The judge: ${visible(pair.reason)}`,
    ...SIDE.flatMap(row),
    decisionText(pair),
  ];
}

/** Lines of SQL and of rows stay lines; what is cut ends in an ellipsis. */
function side(text: string, room: number): readonly string[] {
  const lines = text.split('\n').flatMap((line) => wrapped(line, room, LINES));
  return lines.length <= LINES ? lines : [...lines.slice(0, LINES - 1), '…'];
}

function decisionText({ decision, pairId }: JudgedPair): string {
  if (decision === null) return `open: gate-bench audit decide ${pairId} contradiction|consistent --note "…"`;
  const note = decision.note === null ? '' : `: ${visible(decision.note)}`;
  return `${decision.decision}, says ${visible(decision.author)} (${decision.at})${note}`;
}
