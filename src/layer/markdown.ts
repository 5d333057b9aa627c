/** A layer for people: what each table's conventions are, with the figures behind them, or who says them. */
import { allHeld, figuresOf, isCounted, type Held, type Layer } from './state';
import { refutedText, saidText, tablesOfLayer } from './tables';

export function layerMarkdown(database: string, layer: Layer): string {
  const used = allHeld(layer).filter(({ status }) => status === 'active');
  const nowhere = used.filter(({ entry }) => entry.tables.length === 0);
  const lines = [
    `# ${plain(database)}: what its rows prove, and what people say`,
    '',
    ...tablesOfLayer(used).flatMap(({ name, facts, columns }) => {
      const told = columns.filter((column) => column.facts.length > 0);
      return facts.length + told.length === 0
        ? []
        : [
            ...section(`## ${plain(name)}`, facts.map(factLine)),
            ...told.flatMap((column) => section(`### ${plain(`${name}.${column.name}`)}`, column.facts.map(factLine))),
          ];
    }),
    ...(nowhere.length === 0 ? [] : section('## Of no table', nowhere.map(factLine))),
    ...(layer.questions.length === 0
      ? []
      : section(
          '## To be decided by a person',
          layer.questions.map(({ text }) => `- ${plain(text)}`),
        )),
  ];
  return `${lines.join('\n').trimEnd()}\n`;
}

function section(title: string, lines: readonly string[]): string[] {
  return [title, '', ...lines, ...(lines.length === 0 ? [] : [''])];
}

function factLine(held: Held): string {
  return `- ${plain(held.statement)} (${plain([...proofOf(held), ...confirmedOf(held)].join('; '))})`;
}

function proofOf(held: Held): string[] {
  if (!isCounted(held)) return [saidText(held)];
  const { rows, scope, provedAt } = held.entry;
  const countedOn = held.countedAt.slice(0, 10);
  const refuted = refutedText(held);
  return [
    figuresOf(held, rows || 'rows'),
    ...(refuted === '' ? [] : [`not ${refuted}`]),
    ...(scope === null ? [] : [scope]),
    `proved ${provedAt.slice(0, 10)}`,
    ...(countedOn === provedAt.slice(0, 10) ? [] : [`counted ${countedOn}`]),
  ];
}

function confirmedOf({ confirmedBy }: Held): string[] {
  return confirmedBy === null ? [] : [`confirmed by ${confirmedBy}`];
}

/** Text of a model or a database is no markup. */
function plain(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\`*_[\]<>|#]/g, (char) => `\\${char}`);
}
