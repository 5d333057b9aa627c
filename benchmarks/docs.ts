/** Pages of `docs` that are generated for `gate-bench`: its help texts, and JSON schemas of what it prints and writes. */
import { cliDocs, schemaText } from '../src/cli/docs';
import { JudgedLine } from './judge';
import { GATE_BENCH } from './program';
import { ScoreReport } from './score';
import { Submission } from './submit';
import { UpdateAudit } from './update-audit';

export const benchDocs = (): string => cliDocs(GATE_BENCH, 'The command line of gate-bench', 'benchmarks/program.ts');

/** Texts of schemas by the names of their files in `docs/schemas`. */
export function benchSchemas(): Readonly<Record<string, string>> {
  return {
    'score.schema.json': schemaText(
      'A predictions file by the rules of its benchmark: gate-bench score --json',
      ScoreReport,
    ),
    'submission.schema.json': schemaText(
      'OUT.manifest.json beside what gate-bench submit wrote, and its --json',
      Submission,
    ),
    'update-audit.schema.json': schemaText('gate-bench audit updates --json', UpdateAudit),
    'judged.schema.json': schemaText('A line of judged.jsonl: one answer that gate-bench judge read', JudgedLine),
  };
}
