/** A layer for people: what each table's conventions are, with the figures behind them. */
import { figuresOf, type HeldEntry, type Layer } from './state';

export function layerMarkdown(database: string, { entries, questions }: Layer): string {
  const used = entries.filter(({ status }) => status === 'active');
  const tables = [...new Set(used.map(({ entry }) => entry.tables[0] ?? 'no table'))].sort();
  const open = questions.filter(({ answer }) => answer === null);
  const lines = [
    `# ${plain(database)}: what its rows prove`,
    '',
    ...tables.flatMap((table) => [
      `## ${plain(table)}`,
      '',
      ...used.filter(({ entry }) => (entry.tables[0] ?? 'no table') === table).map(entryLine),
      '',
    ]),
    ...(open.length === 0
      ? []
      : ['## To be decided by a person', '', ...open.map(({ text }) => `- ${plain(text)}`), '']),
  ];
  return `${lines.join('\n').trimEnd()}\n`;
}

function entryLine(held: HeldEntry): string {
  const { entry, statement, confirmedBy } = held;
  const { rows, rivals, scope, provedAt } = entry;
  const countedOn = held.countedAt.slice(0, 10);
  const refuted = rivals
    .filter((rival) => rival.refuted)
    .map(({ reading, matching: of }) => `${reading}: ${of ?? '?'}`);
  const told = [
    figuresOf(held, rows || 'rows'),
    ...(refuted.length === 0 ? [] : [`not ${refuted.join(', ')}`]),
    ...(scope === null ? [] : [scope]),
    `proved ${provedAt.slice(0, 10)}`,
    ...(countedOn === provedAt.slice(0, 10) ? [] : [`counted ${countedOn}`]),
    ...(confirmedBy === null ? [] : [`confirmed by ${confirmedBy}`]),
  ];
  return `- ${plain(statement)} (${plain(told.join('; '))})`;
}

/** Text of a model or a database is no markup. */
function plain(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\`*_[\]<>|#]/g, (char) => `\\${char}`);
}
