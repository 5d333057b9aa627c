import type { StepCall } from './scripted-steps';

/**
 * Holds a search at this step or position, or where this holds, until `release`, or until the step is given up; `reached` resolves
 * when so many calls have arrived there.
 */
export function holdAt(place: string | ((call: StepCall) => boolean), count = 1) {
  const isHeld =
    typeof place === 'string' ? ({ name, position }: StepCall) => name === place || position === place : place;
  let release: () => void = () => undefined;
  let arrived: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const reached = new Promise<void>((resolve) => (arrived = resolve));
  const calls: StepCall[] = [];
  let waiting = 0;
  const onStep = async (call: StepCall): Promise<void> => {
    calls.push(call);
    if (!isHeld(call)) return;
    waiting += 1;
    if (waiting === count) arrived();
    const cut = new Promise<never>((_, reject) =>
      call.signal?.addEventListener('abort', () => reject(new Error('cut'))),
    );
    await Promise.race([released, cut]);
  };
  return { onStep, reached, release: () => release(), calls };
}
