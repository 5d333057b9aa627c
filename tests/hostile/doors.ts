/**
 * Bad input that every door gets: library, HTTP and MCP answer it with the same code and the same line. `{db}` stands for the
 * name of a configured database.
 */
export interface BadQuestion {
  readonly what: string;
  readonly question: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly code: 'usage' | 'not-found' | 'conflict';
  readonly says: RegExp;
}

export const BAD_QUESTIONS: readonly BadQuestion[] = [
  {
    what: 'an empty question',
    question: ' \n ',
    options: { db: '{db}' },
    code: 'usage',
    says: /^the question is empty/,
  },
  {
    what: 'a question that is too long',
    question: 'how many? '.repeat(10_000),
    options: { db: '{db}' },
    code: 'usage',
    says: /^the question is too long/,
  },
  {
    what: 'half of a pair of letters',
    question: 'how many \ud800?',
    options: { db: '{db}' },
    code: 'usage',
    says: /^the question is not plain text/,
  },
  {
    what: 'an option that does not exist',
    question: 'How many drivers are there?',
    options: { db: '{db}', speed: 'fast' },
    code: 'usage',
    says: /speed/,
  },
  {
    what: 'an option of another type',
    question: 'How many drivers are there?',
    options: { db: '{db}', seed: 'one' },
    code: 'usage',
    says: /seed/,
  },
  {
    what: 'a method that does not exist',
    question: 'How many drivers are there?',
    options: { db: '{db}', method: 'magic' },
    code: 'usage',
    says: /magic/,
  },
  {
    what: 'a limit below nothing',
    question: 'How many drivers are there?',
    options: { db: '{db}', budgets: { costUsd: -1 } },
    code: 'usage',
    says: /costUsd/,
  },
  {
    what: 'a context that is too long',
    question: 'How many drivers are there?',
    options: { db: '{db}', context: 'x'.repeat(40_000) },
    code: 'usage',
    says: /characters/,
  },
  {
    what: 'an earlier search that does not exist',
    question: 'and per team?',
    options: { db: '{db}', after: 'q-0123456789abcdef' },
    code: 'not-found',
    says: /^no search q-0123456789abcdef/,
  },
];

/** What nobody may reach from outside this machine: a door for others takes names of the configuration alone. */
export const FOREIGN_DATABASES: readonly string[] = [
  '/etc/passwd',
  './other.sqlite',
  '../../etc/passwd',
  'file:///etc/passwd',
  'postgresql://postgres@127.0.0.1/postgres',
  'postgresql://user:secret@169.254.169.254:5432/x',
  'snowflake://account/db',
  'constructor',
  '__proto__',
  '',
];

/** Options of the library that touch files or other endpoints. */
export const FOREIGN_OPTIONS: readonly Readonly<Record<string, unknown>>[] = [
  { docs: ['/etc/passwd'] },
  { record: '/tmp/out.jsonl' },
  { replay: '/etc/passwd' },
  { model: 'other' },
  { maxRows: 1_000_000 },
  { config: { models: { baseUrl: 'http://evil.example' } } },
  { namespace: 'token:other' },
  { nonce: 'x' },
  { admit: true },
];

/** Ids that are none, or not whole, or somewhere else. */
export const FOREIGN_IDS: readonly string[] = [
  'last',
  'q-',
  'q-0123',
  'q-0123456789abcdef',
  'q-0123456789abcdeg',
  '..%2F..%2Fetc%2Fpasswd',
  '%00',
  'b-0123456789abcdef',
  '@sqlite',
  'constructor',
];
