/** A run as Markdown and as one self-contained page: nothing is loaded, no script runs (`html.ts`, `render.ts`). */
import { accuracyPlot, differencePlot } from './comparison-plots';
import { markup, type Html, details, head, table } from './html';
import { counted, utc, visible } from './printable';
import { page } from './render';
import type { Run, RunSet, Table } from './run';
import { mainTable, setTables } from './run-tables';

export function runPage(run: Run): string {
  const { name, config } = run;
  return page(
    `${name.slice(0, 120)} · GATE`,
    markup`<header>
        <p class="status"><span class="soft">GATE run</span></p>
        <h1>${name}</h1>
        <ul class="meta">
          ${aboutRun(run).map((line) => markup`<li>${line}</li>`)}
        </ul>
      </header>
      <main id="main">
        ${runFigures(run)}
        <h2>How to make it again</h2>
        <p>Save this file and run <code>${run.command}</code>.</p>
        <pre><code>${config.text}</code></pre>
        ${provenance(run).map((one) => details(one.title, drawn(one)))}
      </main>
      <footer><p>Made by <code>gate batch run</code>. <code>summary.json</code> beside it has every figure, <code>results.jsonl</code> every answer.</p></footer>`,
    null,
  );
}

/** Methods side by side: plots and tables of each set of questions. */
export function runFigures(run: Run): Html {
  const { sets } = run;
  return markup`${sets.length > 1 && drawn(mainTable(run))}
  ${sets.map(
    (set) =>
      markup`<h2>${set.name}</h2>
        ${aboutSet(set).map((line) => markup`<p class="soft small">${line}</p>`)} ${accuracyPlot(set.comparison.methods)}
        ${differencePlot(set.comparison.methods)} ${setTables(set).map(drawn)}`,
  )}`;
}

function drawn({ title, heads, rows, note }: Table): Html {
  const shown = (value: string | number, at: number): Html => {
    if (at > 0 && isNumber(value)) return markup`<td class="num">${String(value).replaceAll(' ', NO_BREAK)}</td>`;
    return BATCH_ID.test(String(value)) ? markup`<td class="id">${value}</td>` : markup`<td>${value}</td>`;
  };
  return markup`<h3>${title}</h3>
    ${note !== undefined && markup`<p class="soft small">${note}</p>`}
    ${table(
      title,
      heads.map(head),
      rows.map((row) => markup`<tr>${row.map(shown)}</tr>`),
    )}`;
}

const NO_BREAK = '\u00a0';

const BATCH_ID = /^b-[\da-f]+$/;

/** Also with a unit or an interval; no hash, which may begin with a digit. */
const isNumber = (value: string | number): boolean =>
  typeof value === 'number' || (/^[-+$]?\d/.test(value) && !/^[\da-f]{64}$/.test(value));

export function runMarkdown(run: Run): string {
  const { name, sets, config, command } = run;
  return [
    `# ${text(name)}`,
    '',
    ...aboutRun(run).map((line) => `- ${text(line)}`),
    ...(sets.length > 1 ? ['', ...markdown(mainTable(run))] : []),
    ...sets.flatMap((set) => [
      ...['', `## ${text(set.name)}`, '', ...aboutSet(set).map((line) => `- ${text(line)}`)],
      ...setTables(set).flatMap((one) => ['', ...markdown(one)]),
    ]),
    ...['', '## How to make it again', '', `Save this file and run \`${command.replaceAll('`', "'")}\`.`, ''],
    ...config.text
      .trimEnd()
      .split('\n')
      .map((line) => `    ${visible(line)}`),
    ...provenance(run).flatMap((one) => ['', ...markdown(one)]),
    '',
  ].join('\n');
}

function markdown({ title, heads, rows, note }: Table): string[] {
  const line = (cells: readonly (string | number)[]): string =>
    `| ${cells.map((cell) => text(String(cell))).join(' | ')} |`;
  const isNumeric = (at: number): boolean => at > 0 && rows.every((row) => row[at] === '' || isNumber(row[at] ?? ''));
  return [
    ...[`### ${text(title)}`, ''],
    ...(note === undefined ? [] : [text(note), '']),
    ...[line(heads), line(heads.map((_, at) => (isNumeric(at) ? '---:' : '---'))), ...rows.map(line)],
  ];
}

/** On one line; what Markdown would read as markup stays text. */
function text(value: string): string {
  return visible(value)
    .replace(/\s+/g, ' ')
    .replace(/[\\`*_[\]<>|#]/g, '\\$&');
}

function aboutRun(run: Run): string[] {
  const { startedAt, endedAt, versions, models, endpoint, sets, complete } = run;
  const seeds = Math.max(...sets.map(({ comparison }) => comparison.seeds));
  return [
    `${utc(startedAt)} to ${utc(endedAt)}${complete ? '' : '; not complete: some questions have not ended'}`,
    `${counted(
      sets.reduce((sum, { comparison }) => sum + comparison.questions, 0),
      'question',
    )}, ${counted(seeds, 'seed')}`,
    `Model ${models.join(', ')} at ${endpoint}`,
    `GATE ${versions.gate}, Node.js ${versions.node}, Temporal ${versions.temporalServer ?? 'not used: all answers were stored'} (SDK ${versions.temporalSdk})`,
    ...sets.flatMap(({ name, note }) => (note === null ? [] : [`${name}: ${note}`])),
  ];
}

function aboutSet({ note, remarks, benchmark, comparison, figures }: RunSet): string[] {
  const { questions, seeds, file, judge } = comparison;
  const fewest = Math.min(...figures.map(({ bySeed }) => bySeed.length));
  return [
    ...(note === null ? [] : [note]),
    ...remarks,
    `${counted(questions, 'question')}, ${fewest < seeds ? `${fewest} to ` : ''}${counted(seeds, 'seed')}`,
    benchmark === null
      ? `From ${file}, scored by its gold`
      : `${benchmark.title}, split ${benchmark.split}, scored by the rules of ${benchmark.source}; licence: ${benchmark.licence}`,
    ...(judge === undefined
      ? []
      : [
          `Figures are those of the ${judge.mode} judge, ${judge.model}; what execution or the official scorer says is named so`,
        ]),
  ];
}

function provenance({ sets, prompts, config }: Run): Table[] {
  const hashes = sets.flatMap((set) => [
    [set.name, 'questions and gold', set.questionsSha256],
    ...set.databases.map(({ name, sha256, schema }) => [set.name, `database ${name}`, sha256 ?? `schema ${schema}`]),
  ]);
  const settings = sets.flatMap((set) =>
    Object.entries(set.settings).map(([method, own]) => [set.name, method, JSON.stringify(own)]),
  );
  return [
    {
      title: 'Data and configuration',
      heads: ['set', 'what', 'SHA-256'],
      rows: [['', 'configuration', config.sha256], ...hashes],
    },
    { title: 'Settings', heads: ['set', 'method', 'settings'], rows: settings },
    { title: 'Prompts', heads: ['file', 'SHA-256'], rows: Object.entries(prompts) },
  ];
}
