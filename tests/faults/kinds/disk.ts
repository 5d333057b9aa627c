/** The store's disk runs full for real: a small file system of its own is filled to the last byte, and freed later. */
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_STAGE, mixedQuestions, seededMoment, type FaultKind } from '../kind';

/** How long searches may take to notice. */
const FULL_MS = 6_000;

export const diskFull: FaultKind = {
  name: 'disk-full',
  title: 'the disk of the local store full, then freed, and the question asked again',
  stage: () => ({ ...DEFAULT_STAGE, store: 'disk' }),
  questions: mixedQuestions,
  async strike(scene) {
    const { stage, batch } = scene;
    const moment = await seededMoment(scene);
    const filler = join(stage.storage.folder, 'filler');
    fill(filler);
    const ended = batch.ended();
    await Promise.race([ended, sleep(FULL_MS)]);
    rmSync(filler);
    return { moment, overAtMs: Date.now(), mayPayAgain: 0, askAgain: true };
  },
};

function fill(path: string): void {
  const file = openSync(path, 'w');
  try {
    for (let size = 1 << 20; size >= 1;) {
      try {
        writeSync(file, Buffer.alloc(size));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
        size = Math.floor(size / 2);
      }
    }
  } finally {
    closeSync(file);
  }
}
