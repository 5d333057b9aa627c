/** How much a long test does: `usual` in `npm test`, `full` in `npm run test:full`. The claims are the same. */
export function extent({ usual, full }: { readonly usual: number; readonly full: number }): number {
  return process.env['GATE_TEST_FULL'] === '1' ? full : usual;
}
