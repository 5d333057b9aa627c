/**
 * Every method on the same questions, asked of the simulated model: the table of docs/methods/README.md. The simulated model
 * knows the gold SQL, so the table shows what each method costs where it finds its way, and nothing of accuracy.
 *
 *   node scripts/ensure-built.cjs && npx tsx scripts/arena.ts [options of gate-bench compare, such as --methods fast,react]
 *
 * 50 questions, spread over the SQLite databases of the development data (else the committed example), on a server of its own.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SIMULATED_MODEL, startSimulatedModel } from '../simulated-model';
import { METHODS } from '../src/config/method-specs';
import { loadTestData, ROOT } from '../tests/helpers/shared-data';

const QUESTIONS = 50;

async function main(options: readonly string[]): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'gate-arena-'));
  const data = await loadTestData(null);
  const every = Math.max(1, Math.floor(data.questions.length / QUESTIONS));
  const questions = data.questions.filter((_, at) => at % every === 0).slice(0, QUESTIONS);
  const model = await startSimulatedModel({ questions: data.questionFiles, databases: data.databases });
  try {
    const file = join(folder, 'questions.jsonl');
    writeFileSync(file, questions.map((question) => `${JSON.stringify(question)}\n`).join(''));
    const args = [
      ...[join(ROOT, 'dist/program/gate-bench.js'), 'compare', '--questions', file, '--out', join(folder, 'out')],
      ...[
        '--methods',
        [...Object.keys(METHODS), 'react:repeats=6', 'redel:seed', 'reforce:seed'].join(','),
        '--max-cost',
        'none',
      ],
      ...data.databases.flatMap((database) => ['--db', database]),
    ];
    const env = {
      ...{ PATH: process.env['PATH'], HOME: process.env['HOME'], XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder },
      ...{
        XDG_STATE_HOME: folder,
        OPENAI_BASE_URL: model.baseUrl,
        OPENAI_API_KEY: 'none',
        GATE_MODEL: SIMULATED_MODEL,
      },
    };
    const child = spawn(process.execPath, [...args, ...options], { env, stdio: 'inherit' });
    return await new Promise((ended) => child.once('close', (code) => ended(code ?? 1)));
  } finally {
    await model.close();
    data.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

void main(process.argv.slice(2)).then((code) => (process.exitCode = code));
