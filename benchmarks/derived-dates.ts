/**
 * Whether a date follows from what was told: from dates, years and months in the question, and from the clock by whole days,
 * weeks, months and years ("last month", "the past 3 years"), with the first and last moments of such spans.
 */
export interface Times {
  /** All texts that were told. */
  readonly text: string;
  /** `2100-12-31 23:59:00`. */
  readonly clock: string | null;
  /** All that were told. */
  readonly numbers: ReadonlySet<number>;
  /** Told by name, from 1. */
  readonly months: readonly number[];
}

const DATE = /^(\d{4})(?:-?(\d\d)(?:-?(\d\d))?)?(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(?:Z|[+-]00(?::?00)?)?)?$/;
const TIME = /^\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/;
const BOUNDS = /^(?:00:00|23:59|12:00)(?::(?:00|59)(?:\.\d+)?)?$/;
/** Years that stand for no date, or for the end of time. */
const NEVER = new Set([1, 1900, 1970, 1971, 2999, 9000, 9999]);
const DAY_MS = 86_400_000;

export function isDerivedDate(value: string, times: Times): boolean {
  if (TIME.test(value)) return isTime(value, times);
  const [, year, month, day, time] = DATE.exec(value) ?? [];
  if (year === undefined || !/^(?:0001|1[6-9]|2[01]|2999|9000|9999)/.test(year)) return false;
  if (time !== undefined && !isTime(time, times)) return false;
  if (NEVER.has(Number(year))) return true;
  const [y, m, d] = [Number(year), month === undefined ? null : Number(month), day === undefined ? null : Number(day)];
  if (m !== null && d !== null && isDaysAway(y, m, d, times)) return true;
  return isYear(y, times) && (m === null || isMonth(m, times)) && (d === null || m === null || isDay(y, m, d, times));
}

function isTime(time: string, { text, clock }: Times): boolean {
  return BOUNDS.test(time) || text.includes(time) || (clock ?? '').includes(time);
}

/** A date that was told, or the clock, gives it. */
function anchorsOf({ text, clock }: Times): readonly (readonly [number, number, number])[] {
  return [...`${text} ${clock ?? ''}`.matchAll(/\b(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})/g)].map(([, y, m, d]) => [
    ...([Number(y), Number(m), Number(d)] as const),
  ]);
}

function isYear(year: number, times: Times): boolean {
  if (times.numbers.has(year) || times.numbers.has(year - 1)) return true;
  return anchorsOf(times).some(([anchor]) => {
    const away = Math.abs(anchor - year);
    return away <= 1 || (away <= 150 && times.numbers.has(away));
  });
}

function isMonth(month: number, times: Times): boolean {
  const next = (one: number): number => (one % 12) + 1;
  const told = [...times.months, ...anchorsOf(times).map(([, one]) => one), ...numbersOfMonths(times)];
  if (month === 1 || month === 12 || told.some((one) => one === month || next(one) === month)) return true;
  const isQuarter = /quarter|half|semester|spring|summer|autumn|fall|winter|season/i.test(times.text);
  if (isQuarter && month >= 1 && month <= 12) return true;
  return anchorsOf(times).some(([, one]) =>
    [1, ...times.numbers].some((n) => n <= 120 && ((((one - 1 - n) % 12) + 12) % 12) + 1 === month),
  );
}

/** `11/2100`, `2100-11`, `11/12`, `11/this year`. */
function numbersOfMonths({ text }: Times): number[] {
  return [...text.matchAll(/\b(?:(\d{1,2})[/-](?:\d{1,4}|(?:this|last|next) year)|\d{4}[/-](\d{1,2}))\b/g)].map(
    ([, first, last]) => Number(first ?? last),
  );
}

function isDay(year: number, month: number, day: number, times: Times): boolean {
  const last = new Date(Date.UTC(year, month, 0)).getUTCDate();
  if (day === 1 || day === last || times.numbers.has(day) || times.numbers.has(day - 1)) return true;
  return anchorsOf(times).some(([, , anchor]) => anchor === day);
}

/** A number of days or weeks that was told, or one of them, leads to it. */
function isDaysAway(year: number, month: number, day: number, times: Times): boolean {
  const at = Date.UTC(year, month - 1, day) / DAY_MS;
  const steps = [0, 1, ...times.numbers].flatMap((n) => [n, 7 * n, 30 * n, 7 * n - 1]);
  return anchorsOf(times).some(([y, m, d]) => steps.includes(Math.abs(Date.UTC(y, m - 1, d) / DAY_MS - at)));
}
