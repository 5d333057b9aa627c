/** Which functions a statement may call: those that are known to compute from their arguments. Names are in upper case. */
export interface FunctionRules {
  /** Why it may not be called; null: it may. */
  refuse(name: string): string | null;
  /** The same where it stands as a relation. */
  refuseTable(name: string): string | null;
}

/** Names are in upper case, with spaces between them. */
interface FunctionLists {
  /** Beside those of `EVERYWHERE`. */
  readonly values: string;
  /** Those whose rows come from their arguments alone. */
  readonly tables: string;
  /** Why a function is not allowed, by a pattern of its name. */
  readonly reasons: Reasons;
  /** What is said of those that no pattern fits. */
  readonly advice: string;
}

/** Why a name is refused, as what follows a colon, by a pattern of such names. */
type Reasons = Readonly<Record<string, RegExp>>;

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

/** The same value for each name of such a list. */
export const eachOf = <T>(names: string, value: T): Readonly<Record<string, T>> =>
  Object.fromEntries([...words(names)].map((name) => [name, value]));

/** Each dialect has them, and in each they compute from their arguments. */
const EVERYWHERE = `
  ABS ACOS ANY_VALUE ASCII ASIN ATAN ATAN2 AVG BIT_AND BIT_OR BIT_XOR CAST CEIL CEILING CHR COALESCE CONCAT COS COT COUNT CUME_DIST
  CURRENT_DATE DENSE_RANK EXP FIRST_VALUE FLOOR GREATEST GROUPING IFNULL LAG LAST_DAY LAST_VALUE LEAD LEAST LEFT LENGTH LN LOG
  LOWER LPAD LTRIM MAX MD5 MIN MOD NTH_VALUE NTILE NULLIF OCTET_LENGTH PERCENTILE_CONT PERCENTILE_DISC PERCENT_RANK POW POWER RANK
  REGEXP_REPLACE REPEAT REPLACE REVERSE RIGHT ROUND ROW_NUMBER RPAD RTRIM SHA1 SIGN SIN SQRT STDDEV STDDEV_POP STDDEV_SAMP
  ST_ASTEXT SUBSTR SUBSTRING SUM TAN TRIM UPPER VARIANCE VAR_POP VAR_SAMP WEEK
`;

/** `configured`: functions of the database that the configuration allows, as a statement names them. */
export function functionRules(
  { values, tables, reasons, advice }: FunctionLists,
  configured: readonly string[] = [],
): FunctionRules {
  const among = (names: string): ReadonlySet<string> =>
    new Set([...words(names), ...configured.map((name) => name.toUpperCase())]);
  const refuseUnless = (allowed: ReadonlySet<string>) => (name: string) =>
    allowed.has(name)
      ? null
      : `the function ${name.toLowerCase()} is not allowed: ${reasonOf(reasons, name) ?? advice}`;
  return { refuse: refuseUnless(among(`${EVERYWHERE} ${values}`)), refuseTable: refuseUnless(among(tables)) };
}
