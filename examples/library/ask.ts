/** `npx tsx examples/library/ask.ts races.sqlite "Which team won most?" [RECORDING]`: what it does, then the answer with its proof. */
import { Gate, GateError } from 'gate-sql';

async function main([path = '', question = '', replay]: readonly string[]): Promise<void> {
  const gate = await Gate.open({ config: { databases: { races: { path } } } });
  try {
    const asked = gate.ask(question, { budgets: { costUsd: 0.5 }, replay });
    for await (const event of asked)
      if (event.kind === 'progress') console.log(`${event.progress.usage.sqlExecutions} statements so far`);
    const { answer, sql, claims = [] } = await asked.result();
    console.log(`${answer ?? 'no answer'}\n${sql ?? ''}`);
    for (const { statement, matching, examined } of claims) console.log(`${matching} of ${examined}: ${statement}`);
  } finally {
    await gate.close();
  }
}

main(process.argv.slice(2)).catch((error: unknown) => {
  if (!(error instanceof GateError)) throw error;
  console.error(`${error.code}: ${error.message}`);
  process.exitCode = 1;
});
