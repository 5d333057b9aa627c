import type { StepCall } from './scripted-steps';

/** Holds a search at this step or position until `release`, or until the step is given up; `reached` resolves when it is there. */
export function holdAt(place: string) {
  let release: () => void = () => undefined;
  let arrived: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const reached = new Promise<void>((resolve) => (arrived = resolve));
  const calls: StepCall[] = [];
  const onStep = async (call: StepCall): Promise<void> => {
    calls.push(call);
    if (call.name !== place && call.position !== place) return;
    arrived();
    const cut = new Promise<never>((_, reject) =>
      call.signal?.addEventListener('abort', () => reject(new Error('cut'))),
    );
    await Promise.race([released, cut]);
  };
  return { onStep, reached, release: () => release(), calls };
}
