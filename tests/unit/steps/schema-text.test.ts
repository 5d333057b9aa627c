import type { DatabaseDescription } from '../../../src/domain';
import { schemaText } from '../../../src/steps';

const description = (tables: number): DatabaseDescription => ({
  dialect: 'sqlite',
  version: 'SQLite 3',
  fingerprint: 'f',
  tables: Array.from({ length: tables }, (_, index) => ({
    name: `t${index}`,
    kind: 'table' as const,
    comment: 'a table',
    rowEstimate: 12.4,
    columns: [
      { name: 'id', type: 'INTEGER', nullable: false, comment: 'the key', samples: ['1', '2', 'x'.repeat(300)] },
    ],
    primaryKey: ['id'],
    uniqueKeys: [['id']],
    foreignKeys: [{ columns: ['id'], table: 'u', references: ['id'] }],
  })),
});

test('a schema shows types, keys, comments, row counts and samples', () => {
  const text = schemaText(description(1));
  expect(text).toContain('table t0 -- about 12 rows\n  -- a table\n  id INTEGER not null -- the key; e.g. 1 | 2 | x');
  expect(text).toContain('primary key (id)\n  unique (id)\n  (id) references u (id)');
  expect(text).not.toContain('x'.repeat(200));
});

test.each([50_000, 6_000, 4_000, 1_000, 300])(
  'a large schema loses detail step by step and stays within %i characters',
  (budget) => {
    const text = schemaText(description(60), budget);
    expect(text.length).toBeLessThanOrEqual(budget + 40);
    if (budget < 6_000) expect(text).toMatch(/left out|only names|not shown/);
  },
);
