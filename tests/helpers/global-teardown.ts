/** Stops what `global-setup.ts` started. */
export default function globalTeardown(): void {
  delete process.env.GATE_TEST_RUN;
}
