/** How long a work computed, in milliseconds: unlike the time that passes, it does not grow with what else the machine does. */
export function computingMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  return process.cpuUsage(before).user / 1_000;
}
