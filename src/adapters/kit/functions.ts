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
  readonly reasons: Readonly<Record<string, RegExp>>;
  /** What is said of those that no pattern fits. */
  readonly advice: string;
}

/** A list of names, as it is easiest to read. */
export const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

export function functionRules({ values, tables, reasons, advice }: FunctionLists): FunctionRules {
  const refuse = (name: string, allowed: ReadonlySet<string>): string | null => {
    if (allowed.has(name)) return null;
    const reason = Object.entries(reasons).find(([, pattern]) => pattern.test(name))?.[0];
    return `the function ${name.toLowerCase()} is not allowed: ${reason ?? advice}`;
  };
  return { refuse: (name) => refuse(name, values), refuseTable: (name) => refuse(name, tables) };
}
