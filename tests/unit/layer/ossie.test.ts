/** A layer as an Ossie file, and what is read of one. */
import Ajv2020 from 'ajv/dist/2020';
import fc from '../../helpers/property';
import { stringify } from 'yaml';
import type { Dialect, LayerEntry } from '../../../src/domain';
import { claimedEntries, ossieModel, OssieError } from '../../../src/layer/ossie';
import { layerOf } from '../../../src/layer/state';
import { AT, entryOf } from '../../helpers/kept-layer';

const heldOf = (...entries: LayerEntry[]) =>
  layerOf(entries.map((entry) => ({ kind: 'proved', at: AT, entry }))).entries;
const textOf = (entries: readonly LayerEntry[], dialect: Dialect = 'sqlite'): string =>
  JSON.stringify(ossieModel('shop', dialect, heldOf(...entries)));

const CENTS = entryOf({});
const FEW = entryOf({
  ...{ check: 'SELECT count(*), sum(a), 0 FROM "x.Y"', statement: 'few', examined: 9, matching: 9 },
  ...{ tables: ['x.Y', 'orders'], columns: ['x.y.Col "1"'] },
});

test('tables are datasets and columns fields, each with what is proved of it; whole entries are extensions', () => {
  const told = { ai_context: { instructions: 'orders.total is in cents.' } };
  const field = (name: string, expression = name) => ({
    ...{ name, expression: { dialects: [{ dialect: 'SNOWFLAKE', expression }] } },
  });
  expect(ossieModel('shop', 'snowflake', heldOf(CENTS, FEW))).toEqual({
    version: '0.2.0.dev0',
    semantic_model: [
      {
        name: 'shop',
        description: 'What the rows of shop prove and people say, with the figures in custom_extensions',
        datasets: [
          {
            ...{ name: 'orders', source: 'orders' },
            fields: [{ ...field('total'), ...told }, field('paid')],
          },
          {
            ...{ name: 'x.Y', source: 'x.Y' },
            fields: [{ ...field('Col "1"', '"Col ""1"""'), ai_context: { instructions: 'few' } }],
          },
        ],
        custom_extensions: heldOf(CENTS, FEW).map((held) => ({
          vendor_name: 'GATE',
          data: JSON.stringify({ kind: 'layer-entry', schemaVersion: 1, dialect: 'snowflake', ...held }),
        })),
      },
    ],
  });
});

const text = fc.string({ unit: 'binary' });
const words = fc.string({ unit: 'binary', minLength: 1 });
const anyEntry = fc
  .record({
    ...{
      statement: words,
      rows: text,
      scope: fc.option(text),
      check: words,
      tables: fc.array(words, { minLength: 1 }),
    },
    rivals: fc.array(
      fc.record({
        reading: text,
        matching: fc.option(fc.nat()),
        examined: fc.option(fc.nat()),
        refuted: fc.boolean(),
      }),
      { minLength: 1 },
    ),
    operator: fc.option(fc.record({ intent: text, sql: text, tables: fc.array(words), columns: fc.array(words) })),
  })
  .map(entryOf);

test.each([
  ['JSON', (json: string) => json],
  ['YAML', (json: string) => stringify(JSON.parse(json))],
])('whatever an entry says comes back from %s', (_, written) => {
  fc.assert(
    fc.property(anyEntry, (made) => {
      const [read, second] = claimedEntries(written(textOf([made]))).claims;
      const { entryId, statement, rows, scope, check, operator, restsOn } = made;
      expect(second).toBeUndefined();
      expect(read).toEqual({
        ...{ entryId, statement, rows, scope, check, operator, restsOn },
        rivals: made.rivals.map(({ reading, refuted }) => ({ reading, refuted })),
      });
    }),
  );
});

/** What Ossie 0.2.0.dev0 (apache/ossie, core-spec) says of the parts that are exported. */
const strict = (properties: object, required: readonly string[]) => ({
  ...{ type: 'object', additionalProperties: false, properties, required },
});
const list = (items: object) => ({ type: 'array', items });
const string = { type: 'string' };
const anyText = { ai_context: strict({ instructions: string }, []), description: string };
const dialects = list(strict({ dialect: { enum: ['ANSI_SQL', 'SNOWFLAKE'] }, expression: string }, ['dialect']));
const field = strict({ ...anyText, name: string, expression: strict({ dialects }, ['dialects']) }, ['name']);
const dataset = strict({ ...anyText, name: string, source: string, fields: list(field) }, ['name', 'source']);
const extension = strict({ vendor_name: string, data: string }, ['vendor_name', 'data']);
const model = strict(
  { ...anyText, name: string, datasets: { ...list(dataset), minItems: 1 }, custom_extensions: list(extension) },
  ['name', 'datasets'],
);
const OSSIE = strict({ version: { const: '0.2.0.dev0' }, semantic_model: list(model) }, ['version', 'semantic_model']);

test('whatever the entries are, the file has the form of Ossie', () => {
  const fits = new Ajv2020().compile(OSSIE);
  fc.assert(
    fc.property(
      fc.array(anyEntry, { minLength: 1, maxLength: 3 }),
      fc.constantFrom('sqlite', 'snowflake'),
      (made, to) => {
        fits(JSON.parse(textOf(made, to)));
        expect(fits.errors ?? []).toEqual([]);
      },
    ),
  );
});

const extended = (change: (extension: Record<string, unknown>) => void): string => {
  const file = JSON.parse(textOf([CENTS])) as {
    semantic_model: { datasets: unknown[]; custom_extensions: { data: string }[] }[];
  };
  const [first] = file.semantic_model[0]!.custom_extensions;
  const data = JSON.parse(first!.data) as Record<string, unknown>;
  change(data);
  file.semantic_model[0]!.custom_extensions.push({ ...first!, data: JSON.stringify(data) });
  return JSON.stringify(file);
};

test('the same entry twice is one', () => {
  expect(claimedEntries(extended(() => undefined)).claims).toHaveLength(1);
});

test('extensions of other vendors, and what Ossie has besides, are passed over', () => {
  const file = {
    version: '0.2.0.dev0',
    semantic_model: [
      {
        ...{ name: 'm', metrics: [], custom_extensions: [{ vendor_name: 'OTHER', data: 'no JSON' }] },
        datasets: [{ name: 'd', source: 's', primary_key: ['id'], fields: [{ name: 'f', expression: {} }] }],
      },
    ],
  };
  expect(claimedEntries(JSON.stringify(file))).toEqual({ claims: [], rules: 0 });
});

test.each([
  ['', 'it is no Ossie file (Invalid input: expected object'],
  ['{"version"', 'it is no JSON'],
  ['version: 0.2.0.dev0', 'it is no Ossie file (semantic_model: '],
  ['version: 0.1\nsemantic_model: []', 'it has version 0.1; only Ossie 0.2.0.dev0 is read'],
  ['[]', 'it is no Ossie file (Invalid input: expected object'],
  ['null', 'it is no Ossie file'],
  ['{"semantic_model":[]}', 'it is no Ossie file (version:'],
  ['{"version":"0.1.1","semantic_model":[]}', 'it has version "0.1.1"; only Ossie 0.2.0.dev0 is read'],
  ['{"version":"0.2.0.dev0","semantic_model":[{"name":"m","datasets":[]}]}', 'it is no Ossie file (semantic_model.0.'],
  ['{"version":"0.2.0.dev0","semantic_model":[],"more":1}', 'it is no Ossie file'],
  [extended((data) => (data['schemaVersion'] = 2)), 'custom extension 2 of vendor GATE is of another schema (schemaV'],
  [extended((data) => (data['statement'] = '')), 'custom extension 2 of vendor GATE is of another schema (statement'],
  [extended((data) => (data['statement'] = 'in euros')), `two entries with the id ${CENTS.entryId} that differ`],
  [textOf([CENTS]).replace('{\\"kind', 'kind'), 'custom extension 1 of vendor GATE is no JSON'],
])('a file that cannot be read: %.60s', (text, problem) => {
  expect(() => claimedEntries(text)).toThrow(OssieError);
  expect(() => claimedEntries(text)).toThrow(problem);
});

describe('bad YAML is told in one line', () => {
  const nested = (times: number) =>
    Array.from({ length: times }, (_, at) => `a${at + 1}: &a${at + 1} [${Array(9).fill(`*a${at}`).join()}]`);
  test.each([
    ['a wrong indent', 'version: 1\nsemantic_model:\n  - name: m\n   datasets: []', 'at line 4'],
    ['an open quote', 'a: 1\nb: "x\n', 'at line 3'],
    ['an alias of nothing', 'a: 1\nb: *none', 'Unresolved alias'],
    ['two documents', 'a: 1\n---\nb: 1', 'Source contains multiple documents'],
    ['many aliases', `a: &a 1\nb: [${Array(200).fill('*a').join()}]`, 'Excessive alias count'],
    ['aliases of aliases', ['a0: &a0 [x]', ...nested(9)].join('\n'), 'Excessive alias count'],
    ['depth', 'a: ' + '['.repeat(50_000), 'nested too deeply'],
  ])('%s', (_, yaml, problem) => {
    expect(() => claimedEntries(yaml)).toThrow(OssieError);
    expect(() => claimedEntries(yaml)).toThrow(problem);
    expect(() => claimedEntries(yaml)).toThrow(/^[^\n]*$/);
  });
});
