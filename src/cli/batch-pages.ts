/** The pages of a batch's manifest (`activities/batch.ts` writes them), as commands read them. */
import { z } from 'zod';

export const ManifestPage = z.array(z.object({ searchId: z.string() }));

export function isPageKey(key: string): boolean {
  return /\/manifest-\d+\.json$/.test(key);
}
