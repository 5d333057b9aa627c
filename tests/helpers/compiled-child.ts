/** Stands for `src/adapters/kit/child-script.ts` in tests (`jest.config.cjs`): the same process, compiled by `run-folder.ts`. */
export function childScript(): { readonly path: string; readonly execArgv: readonly string[] } {
  const path = process.env['GATE_TEST_CHILD'];
  if (path === undefined) throw new Error('GATE_TEST_CHILD is not set: this belongs to a run of jest');
  return { path, execArgv: [] };
}
