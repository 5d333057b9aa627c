/** `two-pass`: whether it abstains, then whether it has the same meaning. `single`: whether it is exactly correct. */
export const JUDGE_MODES = ['two-pass', 'single'] as const;
export type JudgeMode = (typeof JUDGE_MODES)[number];
