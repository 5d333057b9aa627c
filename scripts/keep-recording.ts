/**
 * Keeps what a model replied in some searches of a store as a recording, from their journals:
 *
 *   npx tsx scripts/keep-recording.ts STORE OUT.jsonl "how the replies were made" SEARCH-ID…
 *
 * tests/contract/recordings.test.ts runs the recordings in examples/recordings: their replies still parse and still give the
 * right answers. Keep new ones when a prompt has changed and was measured again; replies of no model do not belong there.
 */
import { writeFileSync } from 'node:fs';
import { createLocalStore } from '../src/adapters/local/store';
import { contentHash, RECORDING_KIND, type Exchange } from '../src/adapters/recording';
import { Role } from '../src/domain';
import { createRunStore } from '../src/record/run-store';

async function exchangesOf(folder: string, searchId: string): Promise<Exchange[]> {
  const store = createLocalStore(folder);
  const run = createRunStore(store, searchId);
  const made = await Promise.all(
    [...(await run.all('reply'))].map(async ([id, { reply, endedAtMs }]) => {
      const intent = await run.get('intent', id);
      const role = Role.parse(intent.role);
      const { messages } = intent;
      return { endedAtMs, exchange: { role, contentHash: contentHash(role, messages), messages, reply } };
    }),
  );
  return made.sort((a, b) => a.endedAtMs - b.endedAtMs).map(({ exchange }) => exchange);
}

async function main(): Promise<void> {
  const [store, out, note, ...ids] = process.argv.slice(2);
  if (!store || !out || !note || ids.length === 0)
    throw new Error('usage: keep-recording.ts STORE OUT.jsonl "how the replies were made" SEARCH-ID…');
  const lines: object[] = [{ schemaVersion: 1, kind: RECORDING_KIND, note }];
  for (const id of ids) lines.push(...(await exchangesOf(store, id)));
  writeFileSync(out, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
