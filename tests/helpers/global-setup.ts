/** Starts what the server-backed test projects share; see `temporal.ts`. */
export default function globalSetup(): void {
  process.env.GATE_TEST_RUN = String(process.pid);
}
