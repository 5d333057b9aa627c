import type { ColumnProfile, DatabaseDescription } from '../domain';
import type { UsageDelta } from '../search/steps';
import type { StepContext } from './context';
import type { LoadedPlan } from './load-plan';

export async function profileLikely(
  _context: StepContext,
  _description: DatabaseDescription,
): Promise<{ readonly profiles: readonly ColumnProfile[]; readonly usage: UsageDelta }> {
  return Promise.resolve({ profiles: [], usage: {} });
}
export async function profileTouched(_context: StepContext, _planId: string, _plan: LoadedPlan): Promise<UsageDelta> {
  return Promise.resolve({});
}
