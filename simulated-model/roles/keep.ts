/** Role `keep`: everything that was proved is kept, in the words of its claim. */
import type { KeepReply } from '../../src/roles/keep';
import { sectionsNamed } from '../request';
import type { World } from '../world';

export function keep({ asked }: World): Promise<KeepReply> {
  const claims = sectionsNamed(asked, /^claim \d+$/).map(({ text }, at) => ({
    ...{ claim: at + 1, keep: true, scope: null, restsOn: [], replaces: [], contradicts: [] },
    statement: /^statement: (.*)$/m.exec(text)?.[1] ?? 'what the check counts',
  }));
  return Promise.resolve({ claims });
}
