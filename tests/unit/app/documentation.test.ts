import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readDocumentation } from '../../../src/app/documentation';

test("a database's folder of LiveSQLBench gives notes and its knowledge base, and no second copy of the schema", () => {
  const base = mkdtempSync(join(tmpdir(), 'docs-input-'));
  try {
    mkdirSync(join(base, 'alien'));
    const put = (name: string, text: string): void => writeFileSync(join(base, 'alien', name), text);
    put('alien_schema.txt', 'CREATE TABLE …');
    put('alien_column_meaning_base.json', '{"alien|signals|snr":"Signal to noise."}');
    put('alien_kb.jsonl', '{"id":0,"knowledge":"SNQI","description":"Quality.","definition":"SNR - 0.1"}\n');
    put('package.json', '{}');
    const source = 'alien_column_meaning_base.json';
    const notes = [{ table: 'signals', column: 'snr', text: 'Signal to noise.', source }];
    expect(readDocumentation(['alien'], base)).toEqual({
      documents: [{ name: 'alien_kb.jsonl', text: '## SNQI\n\nQuality.\n\nSNR - 0.1\n' }],
      notes,
    });
    expect(readDocumentation([`alien/${source}`], base)).toEqual({ documents: [], notes });
  } finally {
    rmSync(base, { recursive: true });
  }
});

test("a user's own …_kb.jsonl of another form is a document as it stands", () => {
  const base = mkdtempSync(join(tmpdir(), 'docs-input-'));
  try {
    const text = '{"term":"churn","text":"no order for 90 days"}\n';
    writeFileSync(join(base, 'shop_kb.jsonl'), text);
    expect(readDocumentation(['.'], base)).toEqual({ documents: [{ name: 'shop_kb.jsonl', text }], notes: [] });
  } finally {
    rmSync(base, { recursive: true });
  }
});
