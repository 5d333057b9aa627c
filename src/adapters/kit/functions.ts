/** Which functions a statement may call: those that are known to compute from their arguments. Names are in upper case. */
export interface FunctionRules {
  /** Why it may not be called; null: it may. */
  refuse(name: string): string | null;
  /** The same where it stands as a relation. */
  refuseTable(name: string): string | null;
}

export interface FunctionLists {
  readonly values: ReadonlySet<string>;
  /** Those whose rows come from their arguments alone. */
  readonly tables: ReadonlySet<string>;
  /** Why a function is not allowed, by a pattern of its name. */
  readonly reasons: Reasons;
  /** What is said of those that no pattern fits. */
  readonly advice: string;
}

/** Why a name is refused, as what follows a colon, by a pattern of such names. */
export type Reasons = Readonly<Record<string, RegExp>>;

const reasonOf = (reasons: Reasons, name: string): string | undefined =>
  Object.entries(reasons).find(([, pattern]) => pattern.test(name))?.[0];

/** Where a real parser stands before the engine's own fence, the functions that are known to do harm are refused alone. */
export const refusingFunctions =
  (reasons: Reasons) =>
  (name: string): string | null => {
    const lower = name.toLowerCase();
    const reason = reasonOf(reasons, lower);
    return reason === undefined ? null : `the function ${lower} is not allowed: ${reason}`;
  };

/** A list of names, as it is easiest to read. */
export const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

export function functionRules({ values, tables, reasons, advice }: FunctionLists): FunctionRules {
  const refuse = (name: string, allowed: ReadonlySet<string>): string | null => {
    if (allowed.has(name)) return null;
    return `the function ${name.toLowerCase()} is not allowed: ${reasonOf(reasons, name) ?? advice}`;
  };
  return { refuse: (name) => refuse(name, values), refuseTable: (name) => refuse(name, tables) };
}
