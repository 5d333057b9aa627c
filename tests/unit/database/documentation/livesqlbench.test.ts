import { notesOfColumnMeanings, textOfKnowledgeBase } from '../../../../src/database/documentation';

test('column meanings become notes, also of a column that holds JSON', () => {
  const text = JSON.stringify({
    'alien|observatories|airtempc': 'Air temperature in °C.',
    'alien|signals|props': { column_meaning: 'Measured.', fields_meaning: { snr: 'Signal to noise.' } },
    'alien|signals|empty': '',
  });
  expect(notesOfColumnMeanings('alien_column_meaning_base.json', text)).toEqual([
    {
      ...{ table: 'observatories', column: 'airtempc', text: 'Air temperature in °C.' },
      source: 'alien_column_meaning_base.json',
    },
    {
      ...{ table: 'signals', column: 'props', source: 'alien_column_meaning_base.json' },
      text: '{"column_meaning":"Measured.","fields_meaning":{"snr":"Signal to noise."}}',
    },
  ]);
});

test('a knowledge base becomes one text, an entry after the other', () => {
  const lines = [
    { id: 0, knowledge: 'SNQI', description: 'Quality.', definition: 'SNQI = SNR - 0.1', children_knowledge: -1 },
    { id: 1, knowledge: 'AOI', description: 'Observability.', definition: 'A value.' },
  ];
  expect(textOfKnowledgeBase(lines.map((line) => JSON.stringify(line)).join('\n\n'))).toBe(
    '## SNQI\n\nQuality.\n\nSNQI = SNR - 0.1\n\n## AOI\n\nObservability.\n\nA value.\n',
  );
});

test('column meanings that are something else are named with the line', () => {
  expect(() => notesOfColumnMeanings('a_column_meaning_base.json', '[')).toThrow(
    'a_column_meaning_base.json:1: no column meanings',
  );
});

test.each(['{"term":"churn","text":"no order for 90 days"}\n', '{"knowledge":"x"}\n{"id":', '# Notes\n', ''])(
  'what is no knowledge base of LiveSQLBench keeps its text: %j',
  (text) => {
    expect(textOfKnowledgeBase(text)).toBe(text);
  },
);
