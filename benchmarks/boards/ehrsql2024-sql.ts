/** Changes that EHRSQL-2024's scorer makes to a query before it runs it (scoring_program/postprocessing.py). Case matters there. */
const TODAY = '2100-12-31';
const TIME = '23:59:00';

/** The clock of the data, in the spellings that the scorer knows, in its order. */
const CLOCK: readonly (readonly [string, string])[] = [
  ['current_time', `'${TODAY} ${TIME}'`],
  ['current_date', `'${TODAY}'`],
  ["'now'", `'${TODAY} ${TIME}'`],
  ['NOW()', `'${TODAY} ${TIME}'`],
  ['CURDATE()', `'${TODAY}'`],
  ['CURTIME()', `'${TIME}'`],
];

/** The normal range of a vital sign, written as Python prints it. */
const VITAL_SIGNS: Readonly<Record<string, readonly [string, string]>> = {
  temperature: ['35.5', '38.1'],
  sao2: ['95.0', '100.0'],
  'heart rate': ['60.0', '100.0'],
  respiration: ['12.0', '18.0'],
  'systolic bp': ['90.0', '120.0'],
  'diastolic bp': ['60.0', '90.0'],
  'mean bp': ['60.0', '110.0'],
};

const MYSQL_DATE = /(DATE_SUB|DATE_ADD)\((\w+\(\)|'[^']+')[, ]+ INTERVAL (\d+) (MONTH|YEAR|DAY)\)/g;

export function processedSql(sql: string): string {
  let text = sql.replaceAll('\n', ' ').replace(/ +/g, ' ').trim();
  text = text.replaceAll('> =', '>=').replaceAll('< =', '<=').replaceAll('! =', '!=');
  text = text.replace(MYSQL_DATE, (_, call: string, date: string, count: string, unit: string) => {
    const sign = call === 'DATE_SUB' ? '-' : '+';
    return `datetime(${date}, '${sign}${count} ${unit.toLowerCase()}${count === '1' ? '' : 's'}')`;
  });
  for (const [spelling, value] of CLOCK) text = text.replaceAll(spelling, value);
  return withVitalSign(text).replaceAll('%y', '%Y').replaceAll('%j', '%J');
}

/** `… > heart_rate_lower AND … < heart_rate_upper`: the first of each, if both name the same known sign. */
function withVitalSign(text: string): string {
  const lower = / +([a-zA-Z0-9_]+_lower)/.exec(text)?.[1];
  const upper = / +([a-zA-Z0-9_]+_upper)/.exec(text)?.[1];
  if (lower === undefined || upper === undefined) return text;
  const sign = lower.slice(0, -'_lower'.length);
  const range = VITAL_SIGNS[sign.replaceAll('_', ' ')];
  if (sign !== upper.slice(0, -'_upper'.length) || range === undefined) return text;
  return text.replaceAll(lower, range[0]).replaceAll(upper, range[1]);
}
