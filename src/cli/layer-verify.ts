/** `gate layer verify`: runs all checks of a layer, and says what broke, what holds again, and since when. */
import { driftBetween, type Drift } from '../layer/drift';
import { layerOf } from '../layer/state';
import { appendToLayer } from '../record/layer-store';
import { counted } from '../report/printable';
import { verifyEntries } from '../steps/verify-layer';
import { checkDatabase } from './check-database';
import { EXIT, type ExitCode } from './errors';
import type { Io } from './io';
import { onDatabase, openLayer, type LayerFlags } from './layer-run';

export async function verifyLayer(flags: LayerFlags, io: Io): Promise<ExitCode> {
  const opened = await openLayer(flags, io);
  const { layer, events: before, place, database } = opened;
  return onDatabase(opened, io, async ({ engines, signal }) => {
    const description = await checkDatabase(engines, database.name);
    const { engine } = await engines.engine(database.name);
    const at = new Date(io.now()).toISOString();
    const { entries, unseen, events } = await verifyEntries(layer.entries, {
      ...{ engine, description, signal, at },
      timeoutMs: Math.round((flags.timeout ?? 25) * 1000),
      progress: (done, of) => {
        if (io.live) io.err(`\r${done} of ${of} checks`);
      },
    });
    if (io.live) io.err('\r');
    await appendToLayer(place, events);
    const drift = driftBetween(layer, layerOf([...before, ...events]), events);
    const still = entries
      .filter(({ held, why }) => held.status === 'broken' && why !== null)
      .map(({ held, why, counts }) => ({
        ...{ entryId: held.entry.entryId, statement: held.statement, why, counts },
        ...{ heldUntil: null, brokenSince: held.since },
      }));
    const broken = [...drift.broke.map((entry) => ({ ...entry, brokenSince: at })), ...still];
    if (flags.json) {
      const told = { checked: entries.length, unseen, broken, heldAgain: drift.heldAgain };
      io.out(`${JSON.stringify(told, null, 2)}\n`);
    } else {
      printDrift(drift, still, io);
      const checked = counted(entries.length, 'entry', 'entries');
      io.out(`${checked} checked, ${broken.length === 0 ? 'all hold' : `${broken.length} no longer hold`}\n`);
      if (unseen > 0)
        io.err(`${counted(unseen, 'entry', 'entries')} could not be checked: hidden, or no answer in time\n`);
    }
    return broken.length === 0 ? EXIT.ok : EXIT.failed;
  });
}

/** `still`: were broken before. */
export function printDrift(
  { broke, heldAgain }: Drift,
  still: readonly {
    readonly entryId: string;
    readonly statement: string;
    readonly why: string | null;
    readonly brokenSince: string;
  }[],
  { out }: Pick<Io, 'out'>,
): void {
  const line = (entryId: string, what: string, statement: string, more: string): void =>
    out(`${entryId.slice(0, 9)} ${what}: ${statement} (${more})\n`);
  for (const { entryId, statement, why, heldUntil } of broke)
    line(entryId, 'no longer holds', statement, `${why ?? ''}; it held until ${heldUntil}`);
  for (const { entryId, statement, why, brokenSince } of still)
    line(entryId, 'still does not hold', statement, `${why ?? ''}; broken since ${brokenSince}`);
  for (const { entryId, statement, brokenSince } of heldAgain)
    line(entryId, 'holds again', statement, `broken since ${brokenSince}`);
}
