import { z } from 'zod';

/** How far a judge agrees with execution match, where both have decided: as a share, and beyond chance (Cohen's kappa). */
export const Agreement = z.object({
  compared: z.number().int(),
  bothRight: z.number().int(),
  bothWrong: z.number().int(),
  judgeRight: z.number().int().describe('by the judge alone'),
  executionRight: z.number().int().describe('by execution match alone'),
  share: z.number().nullable().describe('null: nothing was compared'),
  kappa: z
    .number()
    .nullable()
    .describe('1: always; 0: as often as by chance; null: nothing was compared, or both say the same of everything'),
});
export type Agreement = Readonly<z.infer<typeof Agreement>>;

export function agreementOf(pairs: readonly { readonly judge: boolean; readonly execution: boolean }[]): Agreement {
  const count = (judge: boolean, execution: boolean): number =>
    pairs.filter((pair) => pair.judge === judge && pair.execution === execution).length;
  const [bothRight, bothWrong] = [count(true, true), count(false, false)];
  const [judgeRight, executionRight] = [count(true, false), count(false, true)];
  const compared = pairs.length;
  const share = compared === 0 ? null : (bothRight + bothWrong) / compared;
  const [ofJudge, ofExecution] = [bothRight + judgeRight, bothRight + executionRight];
  const byChance = (ofJudge * ofExecution + (compared - ofJudge) * (compared - ofExecution)) / compared ** 2;
  const kappa = share === null || byChance === 1 ? null : (share - byChance) / (1 - byChance);
  return { compared, bothRight, bothWrong, judgeRight, executionRight, share, kappa };
}
