/** What becomes of files as people have them: the table and the report, case by case. */
import { gzipSync } from 'node:zlib';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { importFiles, type Imported } from '../../../../../src/adapters/duckdb/files';
import { isRuler } from '../../../../../src/adapters/duckdb/files/dialect';
import { fileVersion } from '../../../../../src/config/database-file';

const folder = mkdtempSync(join(tmpdir(), 'gate-dirty-'));
const cacheFolder = join(folder, 'cache');
const { signal } = new AbortController();
let cases = 0;
afterAll(() => rmSync(folder, { recursive: true }));

type Content = string | Buffer;

async function rowsOf(path: string, sql: string): Promise<unknown[][]> {
  const instance = await DuckDBInstance.create(path, { access_mode: 'READ_ONLY' });
  const connection = await instance.connect();
  try {
    return (await connection.runAndReadAll(sql)).getRowsJson();
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

function written(files: Record<string, Content>): string {
  const at = join(folder, `case-${(cases += 1)}`);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(at, name)), { recursive: true });
    writeFileSync(join(at, name), content);
  }
  return at;
}

/** Of one file: its table, columns as `name TYPE`, and all rows as JSON has them. */
async function read(name: string, content: Content) {
  const imported = await importFiles(join(written({ [name]: content }), name), { cacheFolder, signal });
  const [table] = imported.tables;
  if (table === undefined || imported.tables.length !== 1) throw new Error('one file has to be one table');
  const rows = await rowsOf(imported.path, `FROM "${table.name}"`);
  expect(table.rows).toBe(rows.length);
  const { notes, rejected, rejects } = table;
  const columns = table.columns.map(
    ({ name, type, format }) => `${name} ${type}${format === null ? '' : ` (${format})`}`,
  );
  return { imported, table, columns, rows, notes, rejected, rejects, reading: table.readings[0] };
}

async function readFolder(files: Record<string, Content>) {
  const imported = await importFiles(written(files), { cacheFolder, signal });
  const contents: Record<string, unknown[][]> = {};
  for (const { name } of imported.tables) contents[name] = await rowsOf(imported.path, `FROM "${name}" ORDER BY ALL`);
  return { imported, contents };
}

const tableNamed = ({ tables }: Imported, name: string) => tables.find((table) => table.name === name)!;

describe('encodings', () => {
  const text = 'name;x\nMünchen €;1\nKöln;2\n';
  const utf16 = Buffer.from(`\ufeff${text}`, 'utf16le');
  test.each<[string, Buffer, string]>([
    ['UTF-8', Buffer.from(text), 'UTF-8'],
    ['UTF-8 with its mark', Buffer.from(`\ufeff${text}`), 'UTF-8'],
    ['UTF-16', utf16, 'UTF-16LE'],
    ['UTF-16, the other way round', Buffer.from(utf16).swap16(), 'UTF-16BE'],
    ['UTF-16 without a mark', Buffer.from(text, 'utf16le'), 'UTF-16LE'],
    ['Windows-1252', Buffer.from(text.replaceAll('€', '\x80'), 'latin1'), 'Windows-1252'],
    ['UTF-8 in a gzip file', gzipSync(text), 'UTF-8'],
    ['Windows-1252 in a gzip file', gzipSync(Buffer.from(text.replaceAll('€', '\x80'), 'latin1')), 'Windows-1252'],
  ])('%s', async (what, content, encoding) => {
    const { rows, columns, reading } = await read(what.includes('gzip') ? 'a.csv.gz' : 'a.csv', content);
    expect(rows).toEqual([['München €', '1'], ['Köln', '2']]);
    expect(columns).toEqual(['name VARCHAR', 'x BIGINT']);
    const told = encoding === 'Windows-1252' ? 'taken for Windows-1252, because it is no UTF-8 (save it as that if letters look wrong)' : encoding;
    expect(reading).toBe(`${told}, delimiter ;, header in line 1`);
  });

  test('Polish of Excel', async () => {
    const content = Buffer.from('Imi\xea;Miasto\nPawe\xb3;Bia\xb3ystok\nBo\xbfena;D\xb9browa\n', 'latin1');
    const { columns, rows, reading } = await read('a.csv', content);
    expect([columns, rows]).toEqual([['Imię VARCHAR', 'Miasto VARCHAR'], [['Paweł', 'Białystok'], ['Bożena', 'Dąbrowa']]]);
    expect(reading).toMatch(/^taken for Windows-1250, because it is no UTF-8/);
  });

  test('a damaged character in a file of UTF-8 is replaced and told', async () => {
    const content = Buffer.concat([Buffer.from('a,b\nKöln,1\nMünchen,2\n'), Buffer.from([0x58, 0xff]), Buffer.from(',3\n')]);
    const { rows, notes } = await read('a.csv', content);
    expect(rows).toEqual([['Köln', '1'], ['München', '2'], ['X\ufffd', '3']]);
    expect(notes).toEqual(['1 character not in UTF-8, replaced']);
  });
}); // prettier-ignore

test.each<[string, string, string]>([
  [',', 'a.csv', 'id,name\n1,x\n'],
  [';', 'a.csv', 'id;name\n1;x\n'],
  ['\t', 'a.tsv', 'id\tname\n1\tx\n'],
  ['|', 'a.csv', 'id|name\n1|x\n'],
])('the delimiter %j', async (delimiter, name, content) => {
  const { rows, columns, reading } = await read(name, content);
  expect([rows, columns]).toEqual([[['1', 'x']], ['id BIGINT', 'name VARCHAR']]);
  expect(reading).toBe(`UTF-8, delimiter ${delimiter === '\t' ? 'tab' : delimiter}, header in line 1`);
});

describe('lines around the table', () => {
  test('titles above the header and a total below are told, and in no row', async () => {
    const { rows, columns, notes, rejected, rejects, reading, imported } = await read(
      'sales.csv',
      'Sales report\nmade by: office\nid;name;amount\n1;Ann;12,5\n2;Bob;1.003,25\nTotal;;1015,75\n',
    );
    expect(rows).toEqual([['1', 'Ann', '12.50'], ['2', 'Bob', '1003.25']]);
    expect(columns).toEqual(['id BIGINT', 'name VARCHAR', 'amount DECIMAL(18,2) (1.234,56)']);
    expect(reading).toBe('UTF-8, delimiter ;, header in line 3');
    expect(rejected).toBe(1);
    expect(rejects).toEqual([{ file: 'sales.csv', line: 6, reason: 'a total at the end', text: 'Total;;1015,75' }]);
    expect(notes).toEqual(["2 lines above the table left out: 'Sales report', 'made by: office'"]);
    const comments = await rowsOf(imported.path, `SELECT comment FROM duckdb_tables() UNION ALL SELECT comment FROM duckdb_columns() WHERE comment IS NOT NULL AND NOT internal`);
    expect(comments).toEqual([
      ["from sales.csv; 1 line rejected; 2 lines above the table left out: 'Sales report', 'made by: office'"],
      ['written in the file as 1.234,56'],
    ]);
  });

  test('titles that a spreadsheet filled up with delimiters, and a blank line', async () => {
    const { rows, columns, reading } = await read('a.csv', 'Report;;\nPeriod;2024;\n\nid;name;amount\n1;Ann;3\n');
    expect([rows, columns]).toEqual([[['1', 'Ann', '3']], ['id BIGINT', 'name VARCHAR', 'amount BIGINT']]);
    expect(reading).toBe('UTF-8, delimiter ;, header in line 4');
  });

  test('a row that only reads like a total stays, and is told', async () => {
    const { rows, rejected, notes } = await read('a.csv', 'company,sales\nAcme,5\nTotal,7\n');
    expect(rows).toEqual([['Acme', '5'], ['Total', '7']]);
    expect([rejected, notes]).toEqual([0, ['1 row kept that may be a total of others']]);
  });

  test('totals of groups stay, and are told, whatever the language', async () => {
    const { rows, rejected, notes } = await read('a.csv', 'Region;Land;x\nNord;HH;5\nNord;SH;7\nZwischensumme Nord;;12\nSüd;BY;9\nИтого;;9\nGesamtergebnis;;21\n');
    expect([rows.length, rejected, notes]).toEqual([6, 0, ['3 rows kept that may be a total of others']]);
    expect((await read('b.csv', 'land,a,b\nDE,1,2\nFR,3,4\n合計,4,\n')).rejects).toMatchObject([{ line: 4, reason: 'a total at the end' }]);
  });

  test('names that begin like totals are in the table, and not told', async () => {
    const films = await read('a.csv', 'film,year,n\nHeat,1995,5\nTotal Recall,1990,3\nJaws,1975,2\nMean Girls,2004,\n');
    expect([films.rows.length, films.rejected, films.notes]).toEqual([4, 0, []]);
    const pivot = await read('b.csv', 'Ville;CA\nNice;5\nTotal général;5\n');
    expect([pivot.rows.length, pivot.notes]).toEqual([2, ['1 row kept that may be a total of others']]);
  });

  test('a footer is no header under rows that end in a delimiter', async () => {
    const { columns, rows, rejects } = await read('a.csv', 'Land;31.12.2010;31.12.2011;\nHB;36 %;67;\nSN;63,2 %;9;\nBY;9,1 %;2;\n1) ohne\n');
    expect(columns).toEqual(['Land VARCHAR', '31.12.2010 DECIMAL(18,1) (1.234,56 %)', '31.12.2011 BIGINT', 'column_4 VARCHAR']);
    expect([rows.length, rejects.map(({ reason }) => reason)]).toEqual([3, ['too few cells']]);
  });

  test('ragged lines and a footnote are rejected with their lines; blank ones are nothing', async () => {
    const { rows, rejected, rejects } = await read('a.csv', 'a,b,c\n1,2,3\n4,5\n6,7,8,9\n\n  \n10,11,12\n\nSource: Office\n');
    expect(rows).toEqual([['1', '2', '3'], ['10', '11', '12']]);
    expect(rejected).toBe(3);
    expect(rejects).toEqual([
      { file: 'a.csv', line: 3, reason: 'too few cells', text: '4,5' },
      { file: 'a.csv', line: 4, reason: 'too many cells', text: '6,7,8,9' },
      { file: 'a.csv', line: 9, reason: 'too few cells', text: 'Source: Office' },
    ]);
  });

  test('a quote that is not closed takes no line with it', async () => {
    const { rows, rejected, notes } = await read('a.csv', 'a,b\n0,"w, w"\n1,"x\n2,y\n3,"z ""q"""\n');
    expect(rows).toEqual([['0', 'w, w'], ['1', '"x'], ['2', 'y'], ['3', 'z "q"']]);
    expect([rejected, notes]).toEqual([0, ['1 row with a quote that is not closed, taken for a character']]);
  });

  test('a ragged line with a quoted line break is rejected alone', async () => {
    const { rows, rejected, notes } = await read('a.csv', 'a,b\n1,"x\ny"\n2,"x\ny",3\n4,"x\ny"\n');
    expect(rows).toEqual([['1', 'x\ny'], ['4', 'x\ny']]);
    expect([rejected, notes]).toEqual([2, []]);
  });

  test('nor does one in a file that is read in several pieces', async () => {
    const line = (n: number): string => `${n},some text of a cell that makes the file large,${n % 7}\n`;
    const content = Array.from({ length: 900_000 }, (_, n) => (n === 300_000 ? '7,"broken,1\n' : line(n))).join('');
    const imported = await importFiles(join(written({ 'a.csv': `id,text,n\n${content}` }), 'a.csv'), { cacheFolder, signal });
    expect(imported.tables[0]).toMatchObject({ rows: 900_000, rejected: 0 });
  });

  test('of many rejected lines the first five are told', async () => {
    const { rows, rejected, rejects } = await read('a.csv', `a,b\n${'1,2\n'.repeat(30)}${'1,2,3\n'.repeat(12)}`);
    expect([rows.length, rejected, rejects.length]).toEqual([30, 12, 5]);
  });

  test('line ends of two kinds', async () => {
    expect((await read('a.csv', 'a,b\r\n1,2\n3,4\r\n5,6\n')).rows).toEqual([['1', '2'], ['3', '4'], ['5', '6']]);
    expect((await read('b.csv', 'a,b\n1,2\n3,4\r\n5,6\n')).rows).toEqual([['1', '2'], ['3', '4'], ['5', '6']]);
  });

  test.each<[string, string, unknown[][]]>([
    ['before quotes, and others', '1,"he said \\"hi\\", ok",5\n2,"D:\\\\",6\n3,"a ""b"" \\"",7\n', [['1', 'he said "hi", ok', '5'], ['2', 'D:\\', '6'], ['3', 'a "b" "', '7']]],
    ['at the end of a cell', '1,"D:\\a\\",5\n2,"E:\\b",6\n', [['1', 'D:\\a\\', '5'], ['2', 'E:\\b', '6']]],
  ])('backslashes %s', async (_what, content, rows) => {
    const found = await read('a.csv', `id,text,n\n${content}`);
    expect([found.rows, found.rejected, found.notes]).toEqual([rows, 0, []]);
    expect(/ for a quote.*(?=, header)/.exec(found.reading ?? '')?.[0]).toBe(_what.startsWith('before') ? ' for a quote in a cell, \\\\ for \\' : undefined);
  });

  test('a ragged line does not make a delimiter of the commas in quotes', async () => {
    const line = (n: number): string => `"${n}"\t"${n},5"\n`;
    const content = `"id"\t"x"\n${Array.from({ length: 9 }, (_, n) => line(n)).join('')}"9"\t"9,5"\t"more"\n"10"\t"10,5"\t"more"\n`;
    const { columns, rows, rejected } = await read('a.csv', content);
    expect([columns, rows.length, rejected]).toEqual([['id BIGINT', 'x DECIMAL(18,1) (1.234,56)'], 9, 2]);
  });

  test('quoted line breaks, delimiters and quotes; quotes in the middle of a word', async () => {
    const { rows } = await read('a.csv', 'id,text\n1,"one\ntwo, three"\n2,"he said ""hi"""\n3,5" disk\n4,\'tis\n');
    expect(rows).toEqual([['1', 'one\ntwo, three'], ['2', 'he said "hi"'], ['3', '5" disk'], ['4', "'tis"]]);
  });
}); // prettier-ignore

const ROW_NAMES = 'the header has no name for the first column, taken for names of rows';

describe('headers', () => {
  test.each<[string, string, string[], unknown[][]]>([
    ['one alone is a table without rows', 'id,name\n', ['id VARCHAR', 'name VARCHAR'], []],
    ['none', '1,Ann\n2,Bob\n', ['column_1 BIGINT', 'column_2 VARCHAR'], [['1', 'Ann'], ['2', 'Bob']]],
    ['years', 'land,2019,2020\nDE,1,2\n', ['land VARCHAR', '2019 BIGINT', '2020 BIGINT'], [['DE', '1', '2']]],
    ['twice the same and an empty one', 'a,A,,a_2\n1,2,3,4\n', ['a BIGINT', 'A_3 BIGINT', 'column_3 BIGINT', 'a_2 BIGINT'], [['1', '2', '3', '4']]],
    ['a delimiter at the end of each line', 'a,b,\n1,2,\n', ['a BIGINT', 'b BIGINT', 'column_3 VARCHAR'], [['1', '2', null]]],
    ['years in steps', 'land,2000,2010,2015\nDE,1,2,3\nFR,4,5,6\n', ['land VARCHAR', '2000 BIGINT', '2010 BIGINT', '2015 BIGINT'], [['DE', '1', '2', '3'], ['FR', '4', '5', '6']]],
    ['years, the last first, and again on the next page', 'land,2020,2019\nDE,1,2\nland,2020,2019\nFR,3,4\n', ['land VARCHAR', '2020 BIGINT', '2019 BIGINT'], [['DE', '1', '2'], ['FR', '3', '4']]],
    ['days', 'x,1/22/20,1/23/20\nDE,1,2\nFR,3,4\n', ['x VARCHAR', '1/22/20 BIGINT', '1/23/20 BIGINT'], [['DE', '1', '2'], ['FR', '3', '4']]],
    ['times', 'day,00:15,00:30\n2024-01-01,1,2\n2024-01-02,3,4\n', ['day DATE', '00:15 BIGINT', '00:30 BIGINT'], [['2024-01-01', '1', '2'], ['2024-01-02', '3', '4']]],
    ['times over times', 'Linie;06:00;06:30\nS1;06:02;06:33\nS2;06:07;06:31\n', ['Linie VARCHAR', '06:00 VARCHAR', '06:30 VARCHAR'], [['S1', '06:02', '06:33'], ['S2', '06:07', '06:31']]],
    ['a header that begins like a comment, over times', '#,unit,at\n7,x,14:37\n8,x,13:22\n', ['# BIGINT', 'unit VARCHAR', 'at VARCHAR'], [['7', 'x', '14:37'], ['8', 'x', '13:22']]],
    ['years without rows', 'land,2019,2020\n', ['land VARCHAR', '2019 VARCHAR', '2020 VARCHAR'], []],
    ['none, in one row with days and a footnote', 'a,2024-01-01,2024-02-01\nSource: x\n', ['column_1 VARCHAR', 'column_2 DATE', 'column_3 DATE'], [['a', '2024-01-01', '2024-02-01']]],
    ['one time', 'stop,10:30 bus,fare\nA,4,2.5\nB,7,3.5\n', ['stop VARCHAR', '10:30 bus BIGINT', 'fare DECIMAL(18,1)'], [['A', '4', '2.5'], ['B', '7', '3.5']]],
    ['years over values like years', 'land,2019,2020,2021\nDE,1985,2001,1999\nFR,1990,2003,2007\n', ['land VARCHAR', '2019 BIGINT', '2020 BIGINT', '2021 BIGINT'], [['DE', '1985', '2001', '1999'], ['FR', '1990', '2003', '2007']]],
    ['two years, over years and words', 'land,kind,2020,2021\nDE,a,2009,Bern\nFR,b,2006,Rome\n', ['land VARCHAR', 'kind VARCHAR', '2020 BIGINT', '2021 VARCHAR'], [['DE', 'a', '2009', 'Bern'], ['FR', 'b', '2006', 'Rome']]],
    ['none, and days of which most ends are open', 'Ann,2022-01-01,2024-02-01\nBob,2023-01-03,\nCid,2023-05-03,\n', ['column_1 VARCHAR', 'column_2 DATE', 'column_3 DATE'], [['Ann', '2022-01-01', '2024-02-01'], ['Bob', '2023-01-03', null], ['Cid', '2023-05-03', null]]],
    ['none, and years of which most ends are a word', 'Ann,1985,2001\nBob,1990,today\nCid,1991,today\n', ['column_1 VARCHAR', 'column_2 BIGINT', 'column_3 VARCHAR'], [['Ann', '1985', '2001'], ['Bob', '1990', 'today'], ['Cid', '1991', 'today']]],
    ['numbers of pandas, under a blank row', 'Report\n,,\n,0,1\n0,5,3\n1,4,7\n', ['column_1 BIGINT', '0 BIGINT', '1 BIGINT'], [['0', '5', '3'], ['1', '4', '7']]],
    ['none, but years as values', 'Ann,1985,2001\nBob,1990,2003\n', ['column_1 VARCHAR', 'column_2 BIGINT', 'column_3 BIGINT'], [['Ann', '1985', '2001'], ['Bob', '1990', '2003']]],
    ['none, but days as values', 'a,2024-01-01,2024-02-01\nb,2024-01-03,2024-02-07\n', ['column_1 VARCHAR', 'column_2 DATE', 'column_3 DATE'], [['a', '2024-01-01', '2024-02-01'], ['b', '2024-01-03', '2024-02-07']]],
    ['none, in one row with days', 'a,2024-01-01,2024-02-01\n', ['column_1 VARCHAR', 'column_2 DATE', 'column_3 DATE'], [['a', '2024-01-01', '2024-02-01']]],
    ['none, but times', '13:03:22,INFO\n13:04:00,WARN\n', ['column_1 TIME', 'column_2 VARCHAR'], [['13:03:22', 'INFO'], ['13:04:00', 'WARN']]],
    ['none, and a comma in each number', '1,5;2,25\n3,5;4,75\n', ['column_1 DECIMAL(18,1) (1.234,56)', 'column_2 DECIMAL(18,2) (1.234,56)'], [['1.5', '2.25'], ['3.5', '4.75']]],
    ['none, and a comma in each text between tabs', 'Lee, Jo\tRome, IT\t5\nDay, Al\tNice, FR\t6\n', ['column_1 VARCHAR', 'column_2 VARCHAR', 'column_3 BIGINT'], [['Lee, Jo', 'Rome, IT', '5'], ['Day, Al', 'Nice, FR', '6']]],
    ['one column with a comma in each number', 'prix\n12,50\n1,5\n', ['prix DECIMAL(18,2) (1.234,56)'], [['12.50'], ['1.50']]],
    ['one column of amounts', 'prix\n12,50 €\n1\u00a0001,5 €\n', ['prix DECIMAL(18,2) (1 234,56 €)'], [['12.50'], ['1001.50']]],
    ['none, under a title, and days beside numbers', 'Report\n01.01.2024,5\n02.01.2024,6\n', ['column_1 DATE (dd.mm.yyyy)', 'column_2 BIGINT'], [['2024-01-01', '5'], ['2024-01-02', '6']]],
    ['quotes and line breaks in names', '"a ""x""","b\nc"\n1,2\n', ['a "x" BIGINT', 'b c BIGINT'], [['1', '2']]],
    ['quotes in titles', '"Report" of all\n"for\nus"\na,b\n1,2\n', ['a BIGINT', 'b BIGINT'], [['1', '2']]],
    ['one column', 'name\nAnn, B.\nBob\n', ['name VARCHAR'], [['Ann, B.'], ['Bob']]],
  ])('%s', async (_what, content, columns, rows) => {
    const found = await read('a.csv', content);
    expect([found.columns, found.rows]).toEqual([columns, rows]);
  });

  test.each<[string, string, string, string[], unknown[][], string[]]>([
    ['names of rows, as R quotes them', 'a.csv', '"mpg","cyl"\n"Mazda RX4",21,6\n"Datsun 710",22.8,4\n', ['column_1 VARCHAR', 'mpg DECIMAL(18,1)', 'cyl BIGINT'], [['Mazda RX4', '21.0', '6'], ['Datsun 710', '22.8', '4']], [ROW_NAMES]],
    ['names of rows beside texts and numbers, as R quotes them', 'a.tsv', '"name"\t"n"\n"a"\t"Ann"\t4\n"b"\t"Bob"\t5\n', ['column_1 VARCHAR', 'name VARCHAR', 'n BIGINT'], [['a', 'Ann', '4'], ['b', 'Bob', '5']], [ROW_NAMES]],
    ['labels of numbers, with tabs between', 'a.tsv', 's1\ts2\nTP53\t1\t2\nBRCA\tNA\t4\n', ['column_1 VARCHAR', 's1 BIGINT', 's2 BIGINT'], [['TP53', '1', '2'], ['BRCA', null, '4']], [ROW_NAMES, 's1: 1 value such as NA read as NULL']],
    ['a decimal comma between commas is no name of a row', 'a.csv', 'name,amount\nAnn,12,50\nBob,3,99\n', ['column_1 VARCHAR', 'column_2 BIGINT', 'column_3 BIGINT'], [['Ann', '12', '50'], ['Bob', '3', '99']], ["1 line above the table left out: 'name,amount'", 'no header: columns are named column_1 to column_3']],
    ['nor beside quotes', 'a.csv', '"name","amount"\n"Ann",12,50\n"Bob",3,99\n', ['column_1 VARCHAR', 'column_2 BIGINT', 'column_3 BIGINT'], [['Ann', '12', '50'], ['Bob', '3', '99']], ['1 line above the table left out: \'"name","amount"\'', 'no header: columns are named column_1 to column_3']],
    ['numbers of rows, as R quotes them', 'a.csv', '"a","b"\n"1",12,50\n"2",3,99\n', ['column_1 BIGINT', 'a BIGINT', 'b BIGINT'], [['1', '12', '50'], ['2', '3', '99']], [ROW_NAMES]],
    ['a delimiter at the end of the rows alone', 'a.csv', 'id,name\n1,x,\n2,y,\n', ['id BIGINT', 'name VARCHAR', 'column_3 VARCHAR'], [['1', 'x', null], ['2', 'y', null]], []],
    ['a delimiter at the end of the header alone', 'a.csv', 'id,name,\n1,x\n2,y\n', ['id BIGINT', 'name VARCHAR'], [['1', 'x'], ['2', 'y']], []],
    ['units', 'a.csv', 'Time,Temp\ns,°C\n1,20.5\n2,20.6\n3,20\n', ['Time BIGINT', 'Temp DECIMAL(18,1)'], [['1', '20.5'], ['2', '20.6'], ['3', '20.0']], ["1 line under the header left out: 's,°C'"]],
    ['questions and marks of a survey', 'a.csv', 'Start,Q1,Q2,Q3,Id\nStart Date,How old?,How happy?,How long?,Response ID\n{s},{q1},{q2},{q3},{id}\n2024-01-01,21,1,3,a\n2024-01-02,22,1,3,b\n2024-01-03,23,1,3,c\n', ['Start DATE', 'Q1 BIGINT', 'Q2 BIGINT', 'Q3 BIGINT', 'Id VARCHAR'], [['2024-01-01', '21', '1', '3', 'a'], ['2024-01-02', '22', '1', '3', 'b'], ['2024-01-03', '23', '1', '3', 'c']], ["2 lines under the header left out: 'Start Date,How old?,How happy?,How long?,Response ID', '{s},{q1},{q2},{q3},{id}'"]],
    ['a first row with words for numbers stays', 'a.csv', 'team,home,away\nX,W,L\nY,3,1\nZ,2,2\nQ,2,1\n', ['team VARCHAR', 'home VARCHAR', 'away VARCHAR'], [['X', 'W', 'L'], ['Y', '3', '1'], ['Z', '2', '2'], ['Q', '2', '1']], []],
    ['a first row of amounts stays, though it has other signs', 'a.csv', 'item,a,b,c,d\nSales,$100,<2,(3),9 kg\nCost,5,6,7,8\nTax,1,2,3,4\nRent,1,2,3,4\n', ['item VARCHAR', 'a VARCHAR', 'b VARCHAR', 'c VARCHAR', 'd VARCHAR'], [['Sales', '$100', '<2', '(3)', '9 kg'], ['Cost', '5', '6', '7', '8'], ['Tax', '1', '2', '3', '4'], ['Rent', '1', '2', '3', '4']], ['c: numbers in brackets such as (3) may be negative: kept as text']],
    ['a first row stays, whose words come again', 'a.csv', 'who,a,b,c,d\nAnn,absent,sick,absent,sick\nBob,1,2,3,4\nCar,1,2,3,4\nDan,1,2,3,4\n', ['who VARCHAR', 'a VARCHAR', 'b VARCHAR', 'c VARCHAR', 'd VARCHAR'], [['Ann', 'absent', 'sick', 'absent', 'sick'], ['Bob', '1', '2', '3', '4'], ['Car', '1', '2', '3', '4'], ['Dan', '1', '2', '3', '4']], []],
    ['a first row of infinity stays', 'a.csv', 'x,y\nInf,-Inf\n1,2\n3,4\n5,6\n', ['x VARCHAR', 'y VARCHAR'], [['Inf', '-Inf'], ['1', '2'], ['3', '4'], ['5', '6']], []],
    ['a name is missing anywhere, where all is quoted', 'a.csv', '"name","age"\n"Ann","5","x"\n"Bob","6","y"\n', ['column_1 VARCHAR', 'column_2 BIGINT', 'column_3 VARCHAR'], [['Ann', '5', 'x'], ['Bob', '6', 'y']], ["1 line above the table left out: '\"name\",\"age\"'", 'no header: columns are named column_1 to column_3']],
    ['under names of which one is missing, no row is a header', 'a.csv', 'name,city\nAnn,Paris,x\nBob,Rome,y\n', ['column_1 VARCHAR', 'column_2 VARCHAR', 'column_3 VARCHAR'], [['Ann', 'Paris', 'x'], ['Bob', 'Rome', 'y']], ["1 line above the table left out: 'name,city'", 'no header: columns are named column_1 to column_3']],
    ['rows that fill as many cells as those above are no table under titles', 'a.csv', 'name,city,,\nAnn,Paris,,\nBob,Rome,VIP,x\nCarl,Oslo,,\n', ['name VARCHAR', 'city VARCHAR', 'column_3 VARCHAR', 'column_4 VARCHAR'], [['Ann', 'Paris', null, null], ['Bob', 'Rome', 'VIP', 'x'], ['Carl', 'Oslo', null, null]], []],
    ['decimals that begin with their point are values', 'a.csv', '.5,.25\n.75,.125\n', ['column_1 DECIMAL(18,2)', 'column_2 DECIMAL(18,3)'], [['0.50', '0.250'], ['0.75', '0.125']], ['no header: columns are named column_1 to column_2']],
    ['again and again, in files put together', 'a.csv', 'id,n\n1,5\nid,n\n2,6\n', ['id BIGINT', 'n BIGINT'], [['1', '5'], ['2', '6']], []],
    ['titles as long as the table but for a cell', 'a.csv', 'Umsätze;Konto;\nIBAN:;DE00;\nBuchung;Betrag;Zweck\n31.12.2024;-12,50;Miete\n30.12.2024;1.000,00;Gehalt\n', ['Buchung DATE (dd.mm.yyyy)', 'Betrag DECIMAL(18,2) (1.234,56)', 'Zweck VARCHAR'], [['2024-12-31', '-12.50', 'Miete'], ['2024-12-30', '1000.00', 'Gehalt']], ["2 lines above the table left out: 'Umsätze;Konto;', 'IBAN:;DE00;'"]],
  ])('%s', async (_what, name, content, columns, rows, told) => {
    const found = await read(name, content);
    expect([found.columns, found.rows, found.notes]).toEqual([columns, rows, told]);
  });

  test.each<[string, string, string[], number, string[]]>([
    ['as wide as the table', '# by tool, v1\n# in m, s\nid,len\n1,2.5\n', ['id BIGINT', 'len DECIMAL(18,1)'], 1, ["2 lines above the table left out: '# by tool, v1', '# in m, s'"]],
    ['more than there are rows', `${'# a: b\n'.repeat(5)}id,len\n1,2.5\n`, ['id BIGINT', 'len DECIMAL(18,1)'], 1, [`5 lines above the table left out: ${Array(5).fill("'# a: b'").join(', ')}`]],
    ['the last one is the header', '##v=1\n#id,len\n1,2.5\n', ['#id BIGINT', 'len DECIMAL(18,1)'], 1, ["1 line above the table left out: '##v=1'"]],
    ['which are rows', 'channel,n\n#general,10\n# of orders,7\n', ['channel VARCHAR', 'n BIGINT'], 2, []],
    ['which are the first rows', '#general,10\n#random,7\nops,3\n', ['column_1 VARCHAR', 'column_2 BIGINT'], 3, ['no header: columns are named column_1 to column_2']],
  ])('comments %s', async (_what, content, columns, count, told) => {
    const { columns: found, rows, notes } = await read('a.csv', content);
    expect([found, rows.length, notes]).toEqual([columns, count, told]);
  });

  test.each<[string, string, string[], string, string[]]>([
    ['groups', ',2023,,2024,\nregion,sales,cost,sales,cost\nNorth,1,2,3,4\n', ['region VARCHAR', '2023 sales BIGINT', '2023 cost BIGINT', '2024 sales BIGINT', '2024 cost BIGINT'], 'header in lines 1 and 2', []],
    ['groups, below a title, with names of both rows', 'Report,,,,\n\nregion,Q1,,Q2,\n,plan,who,plan,who\nNorth,x,y,z,a\n', ['region VARCHAR', 'Q1 plan VARCHAR', 'Q1 who VARCHAR', 'Q2 plan VARCHAR', 'Q2 who VARCHAR'], 'header in lines 3 and 4', ["1 line above the table left out: 'Report,,,,'"]],
    ['groups as pandas repeats them, and years', ',n,n,x,x\n,2023,2024,2023,2024\na,1,2,3,4\n', ['column_1 VARCHAR', 'n 2023 BIGINT', 'n 2024 BIGINT', 'x 2023 BIGINT', 'x 2024 BIGINT'], 'header in lines 1 and 2', []],
    ['groups beside two columns without names', ',,n,n,x,x\n,,2023,2024,2023,2024\na,b,1,2,3,4\n', ['column_1 VARCHAR', 'column_2 VARCHAR', 'n 2023 BIGINT', 'n 2024 BIGINT', 'x 2023 BIGINT', 'x 2024 BIGINT'], 'header in lines 1 and 2', []],
    ['groups that may end before the next one are told', 'who,,order,,\nid,name,id,day,total\n1,Ann,7,2024-01-01,5\n', ['id BIGINT', 'name VARCHAR', 'id_2 BIGINT', 'day DATE', 'total BIGINT'], 'header in line 2', ["1 line above the table left out: 'who,,order,,'"]],
    ['a column without a name above a word for a number', ',name,n\na,Ann,unknown\nb,Bob,5\nc,Kim,6\n', ['column_1 VARCHAR', 'name VARCHAR', 'n VARCHAR'], 'header in line 1', []],
    ['rows of texts are no names', 'a,b,c,d\nx,,y,\nm,n,m,n\n', ['a VARCHAR', 'b VARCHAR', 'c VARCHAR', 'd VARCHAR'], 'header in line 1', []],
    ['rows of texts under a header without its first name are no names', ',Mon,Tue,Wed,Thu\n,early,,ill,\nBob,off,in,off,in\nKim,a,b,c,d\n', ['column_1 VARCHAR', 'Mon VARCHAR', 'Tue VARCHAR', 'Wed VARCHAR', 'Thu VARCHAR'], 'header in line 1', []],
    ['texts between blank columns are no names', 'Home,,Away,\nLyon,,Lyon,\nParis,,Nice,\n', ['Home VARCHAR', 'column_2 VARCHAR', 'Away VARCHAR', 'column_4 VARCHAR'], 'header in line 1', []],
    ['texts that come again in their columns are no names', 'Q1,Q1,Q2,Q2\nyes,no,yes,no\nno,no,yes,yes\n', ['Q1 VARCHAR', 'Q1_2 VARCHAR', 'Q2 VARCHAR', 'Q2_2 VARCHAR'], 'header in line 1', []],
    ['words for numbers that come again under a header with unnamed columns are no names', 'who,,note,,n\nAnn,in,late,in,unknown\nBob,out,sick,in,5\nKim,in,late,out,6\n', ['who VARCHAR', 'column_2 VARCHAR', 'note VARCHAR', 'column_4 VARCHAR', 'n VARCHAR'], 'header in line 1', []],
    ['groups of groups are told', ',A,A,A,A\n,B,B,C,C\n,x,y,x,y\na,1,2,3,4\n', ['column_1 VARCHAR', 'B x BIGINT', 'B y BIGINT', 'C x BIGINT', 'C y BIGINT'], 'header in lines 2 and 3', ["1 line above the table left out: ',A,A,A,A'"]],
  ])('%s', async (_what, content, columns, reading, told) => {
    const found = await read('a.csv', content);
    expect([found.columns, found.reading, found.notes]).toEqual([columns, `UTF-8, delimiter ,, ${reading}`, told]);
  });

  test('a header of two rows that comes again, as on each page, is rejected', async () => {
    const header = ',2023,,2024,\nregion,sales,cost,sales,cost\n';
    const { rows, rejects } = await read('a.csv', `${header}North,1,2,3,4\n${header}South,5,6,7,8\n`);
    expect(rows).toEqual([['North', '1', '2', '3', '4'], ['South', '5', '6', '7', '8']]);
    expect(rejects.map(({ line, reason }) => `${line}: ${reason}`)).toEqual(['4: the header again', '5: the header again']);
  });

  test('comments among the rows, and a header that comes again, are rejected by their names', async () => {
    const { rows, rejects } = await read('a.csv', 'id,len\n1,2\n# a note\nid,len\n3,4\n');
    expect(rows).toEqual([['1', '2'], ['3', '4']]);
    expect(rejects.map(({ line, reason }) => [line, reason])).toEqual([[3, 'a comment'], [4, 'the header again']]);
  });

  test('300 columns', async () => {
    const cells = Array.from({ length: 300 }, (_, index) => index);
    const { columns, rows } = await read('a.csv', `${cells.map((n) => `c${n}`).join()}\n${cells.join()}\n`);
    expect([columns.length, columns[299], rows[0]?.[299]]).toEqual([300, 'c299 BIGINT', '299']);
  });
}); // prettier-ignore

const ONE = 'no delimiter gives most lines the same number of cells, so each line is one: save it with a delimiter';

describe('what programs print for people', () => {
  test.each<[string, string, string[], number]>([
    ['df', 'Filesystem 1K-blocks  Use%\n/dev/vda   264212084   32%\ntmpfs              4    0%\n', ['Filesystem 1K-blocks Use% VARCHAR'], 2],
    ['SAS, with commas in numbers', 'Obs   Name      Sales\n  1   Ann       1,234\n  2   Bob      12,345\n  3   Joe      11,345\n', ['Obs Name Sales VARCHAR'], 3],
    ['one space between', 'a b c\n4 5 6\n', ['a b c VARCHAR'], 1],
  ])('columns apart by spaces are told: %s', async (_what, content, columns, count) => {
    const { columns: found, rows, notes } = await read('a.csv', content);
    expect([found, rows.length, notes[0]]).toEqual([columns, count, ONE]);
  });

  test('a list of names is one column', async () => {
    const { columns, notes } = await read('a.csv', 'Full name\nAnn Day\nBob Lee\n');
    expect([columns, notes]).toEqual([['Full name VARCHAR'], []]);
  });

  test('spaces beside a delimiter, under a title', async () => {
    const { columns, rows } = await read('a.csv', 'Table 1\n x,    y\n 1,  2.5\n10, 12.5\n');
    expect([columns, rows]).toEqual([['x BIGINT', 'y DECIMAL(18,1)'], [['1', '2.5'], ['10', '12.5']]]);
  });

  test.each(['\t', ';', '|', ','])('spaces within cells beside a title and a footer leave the delimiter %j', async (delimiter) => {
    const rows = [1, 2, 3].map((n) => [`${n}`, `${n} Main St  Apt ${n}`]);
    const text = ['List', ...[['id', 'address'], ...rows].map((row) => row.join(delimiter)), 'Source: city'].join('\n');
    expect((await read('a.csv', text)).rows).toEqual(rows);
  });

  test('a long line that begins with dashes is read at once', () => {
    expect([isRuler(`${'-'.repeat(2_000_000)}x`), isRuler('-'.repeat(2_000_000))]).toEqual([false, true]);
  });

  test('words of the same length are no columns', async () => {
    expect((await read('a.csv', 'name\nAnn Lee\nBob Lee\n')).notes).toEqual([]);
  });

  test.each<[string, string, string[], number[]]>([
    ['psql', ' id | name | x\n----+------+---\n  1 | a    | 5\n 20 |      | 7\n  3 | c    | 6\n(3 rows)\n', ['id BIGINT', 'name VARCHAR', 'x BIGINT'], [2, 6]],
    ['MySQL', '+----+------+-----+\n| id | name | x   |\n+----+------+-----+\n|  1 | a    |   5 |\n| 20 |      |   7 |\n|  3 | c    |   6 |\n+----+------+-----+\n3 rows in set\n', ['column_1 VARCHAR', 'id BIGINT', 'name VARCHAR', 'x BIGINT', 'column_5 VARCHAR'], [1, 3, 7, 8]],
    ['Markdown', '| id | name | x |\n|:--|---|---|\n| 1 | a | 5 |\n| 20 |  | 7 |\n| 3 | c | 6 |\n', ['column_1 VARCHAR', 'id BIGINT', 'name VARCHAR', 'x BIGINT', 'column_5 VARCHAR'], [2]],
  ])('lines of dashes are rejected by their name: %s', async (_what, content, columns, lines) => {
    const { columns: found, rows, rejects } = await read('a.csv', content);
    expect([found, rows.map((row) => row.filter((cell, n) => cell !== null || !/_/.test(columns[n]!)))]).toEqual([columns, [['1', 'a', '5'], ['20', null, '7'], ['3', 'c', '6']]]);
    expect(rejects.map(({ line, reason }) => [line, reason])).toEqual(lines.map((line) => [line, /^[-+|:]/.test(content.split('\n')[line - 1]!) ? 'a line of dashes' : 'too few cells']));
  });
}); // prettier-ignore

describe('values', () => {
  test.each<[string, string[], string, unknown[], string[]]>([
    ['keys with leading zeros', ['00123', '4'], 'VARCHAR', ['00123', '4'], []],
    ['numbers of telephones', ['+4930123', '+49301'], 'VARCHAR', ['+4930123', '+49301'], []],
    ['integers beyond 2^63', ['9223372036854775808', '1'], 'HUGEINT', ['9223372036854775808', '1'], []],
    ['longer digits', ['1'.repeat(60)], 'VARCHAR', ['1'.repeat(60)], ['x: has numbers of 60 digits: kept as text']],
    ['decimals', ['1.50', '-2', '.5'], 'DECIMAL(18,2)', ['1.50', '-2.00', '0.50'], []],
    ['measured values', ['0.12345678901', '1e-05'], 'DOUBLE', [0.12345678901, 0.00001], []],
    ['codes that only look like numbers', ['12E3', '13'], 'VARCHAR', ['12E3', '13'], []],
    ['decimal commas', ['1.234,56', '7', '-0,5'], 'DECIMAL(18,2) (1.234,56)', ['1234.56', '7.00', '-0.50'], []],
    ['thousands', ['1,234,567', '1,234.5'], 'DECIMAL(18,1) (1,234.56)', ['1234567.0', '1234.5'], []],
    ['thousands or decimals', ['1,234', '5,678'], 'VARCHAR', ['1,234', '5,678'], ['x: every value could be a decimal with comma or a number with thousands: kept as text']],
    ['decimals or thousands', ['1.234', '5.678'], 'VARCHAR', ['1.234', '5.678'], ['x: every value could be a decimal or a decimal with comma: kept as text']],
    ['thousands of Excel in French', ['1\u202f234,5', '7,25'], 'DECIMAL(18,2) (1 234,56)', ['1234.50', '7.25'], []],
    ['thousands without decimals', ['3\u00a0645\u00a0000', '12\u00a0000'], 'DECIMAL(18,0) (1 234)', ['3645000', '12000'], []],
    ['keys of one length', ['590.979.958', '123.456.789'], 'VARCHAR', ['590.979.958', '123.456.789'], ['x: numbers of one length such as 590.979.958 may be keys: kept as text']],
    ['round amounts of one length', ['150.000.000', '275.500.000'], 'DECIMAL(18,0) (1.234,56)', ['150000000', '275500000'], []],
    ['Swiss amounts of one length', ["590'979'958", "123'456'789"], 'DECIMAL(18,0) (1 234)', ['590979958', '123456789'], []],
    ['amounts of one length', ["5'107", "6'101"], 'DECIMAL(18,0) (1 234)', ['5107', '6101'], []],
    ['amounts of one length, with commas', ['123,456,789', '987,654,321'], 'DECIMAL(18,0) (1,234.56)', ['123456789', '987654321'], []],
    ['telephones', ['612\u00a0130\u00a0648', '613\u00a0130\u00a0648'], 'VARCHAR', ['612\u00a0130\u00a0648', '613\u00a0130\u00a0648'], ['x: numbers of one length such as 612\u00a0130\u00a0648 may be keys: kept as text']],
    ['versions', ['1.1', '1.10', '1.2'], 'VARCHAR', ['1.1', '1.10', '1.2'], ['x: 1.1 and 1.10 may be two versions: kept as text']],
    ['prices typed by hand', ['0.5', '0.50', '2.1'], 'DECIMAL(18,2)', ['0.50', '0.50', '2.10'], []],
    ['prices typed by hand, with a tenth', ['3.1', '3.10', '4.05'], 'DECIMAL(18,2)', ['3.10', '3.10', '4.05'], []],
    ['typed by hand', ['10.0', '10.00', '0.5'], 'DECIMAL(18,2)', ['10.00', '10.00', '0.50'], []],
    ['keys with spaces', ['732 829 320', '123 456 789'], 'VARCHAR', ['732 829 320', '123 456 789'], []],
    ['Swiss thousands', ["1'234.50", '12\u2019000', '7.25'], 'DECIMAL(18,2) (1 234.56)', ['1234.50', '12000.00', '7.25'], []],
    ['percent', ['12,5 %', '3 %', '-0,5%'], 'DECIMAL(18,1) (1.234,56 %)', ['12.5', '3.0', '-0.5'], []],
    ['a dash beside percent is no number', ['1%', '(2%)', '-%'], 'VARCHAR', ['1%', '(2%)', '-%'], []],
    ['one currency', ['€ 1.234,50', '-€ 3,00', '7 €', '- ', ''], 'DECIMAL(18,2) (1.234,56 €)', ['1234.50', '-3.00', '7.00', null, null], ['x: 1 value such as - read as NULL']],
    ['two currencies', ['€ 5,00', '$ 7,00'], 'VARCHAR', ['€ 5,00', '$ 7,00'], []],
    ['some in percent', ['12 %', '0,5'], 'VARCHAR', ['12 %', '0,5'], []],
    ['a currency, two readings', ['$1,234', '$5,678'], 'VARCHAR', ['$1,234', '$5,678'], ['x: every value could be a decimal with comma with $ or a number with thousands with $: kept as text']],
    ['negative in brackets', ['1,234.50', '(7.25)'], 'DECIMAL(18,2) (1,234.56, negative in brackets)', ['1234.50', '-7.25'], []],
    ['negative in brackets, with a currency', ['$1,234.50', '($7)', '$(3,000)'], 'DECIMAL(18,2) (1,234.56 $, negative in brackets, - for 0)', ['1234.50', '-7.00', '-3000.00'], []],
    ['accounts of Excel', [' 1.234,50 €', '(3,00 €)', '-   € ', ''], 'DECIMAL(18,2) (1.234,56 €, negative in brackets, - for 0)', ['1234.50', '-3.00', '0.00', null], []],
    ['brackets around what may not be sure', ['120', '(35)'], 'VARCHAR', ['120', '(35)'], ['x: numbers in brackets such as (35) may be negative: kept as text']],
    ['brackets around all', ['(1.50)', '(2.50)'], 'VARCHAR', ['(1.50)', '(2.50)'], ['x: numbers in brackets such as (1.50) may be negative: kept as text']],
    ['brackets and minus', ['-1.50', '(2.50)', '3.00'], 'VARCHAR', ['-1.50', '(2.50)', '3.00'], ['x: numbers in brackets such as (2.50) may be negative: kept as text']],
    ['brackets and a currency around all', ['($5.00)', '($7.00)'], 'VARCHAR', ['($5.00)', '($7.00)'], ['x: numbers in brackets such as ($5.00) may be negative: kept as text']],
    ['brackets and minus, with a currency', ['($5.00)', '-$7.00'], 'VARCHAR', ['($5.00)', '-$7.00'], ['x: numbers in brackets such as ($5.00) may be negative: kept as text']],
    ['brackets with a minus inside', ['$1.50', '($-2.50)'], 'VARCHAR', ['$1.50', '($-2.50)'], ['x: numbers in brackets such as ($-2.50) may be negative: kept as text']],
    ['half a bracket', ['1.50', '(2.50'], 'VARCHAR', ['1.50', '(2.50'], []],
    ['errors of Excel and points of SAS', ['#DIV/0!', '5', '.', '#NV'], 'BIGINT', [null, '5', null, null], ['x: 3 values such as #DIV/0! read as NULL']],
    ['spaces around all texts', [' Ann', ' Bob '], 'VARCHAR', ['Ann', 'Bob'], ['x: spaces around its texts are left out']],
    ['spaces around some texts', [' Ann', 'Bob'], 'VARCHAR', [' Ann', 'Bob'], []],
    ['dates of ISO', ['2024-02-29', '2023-12-31'], 'DATE', ['2024-02-29', '2023-12-31'], []],
    ['a day that is none', ['2024-02-30', '2023-12-31'], 'VARCHAR', ['2024-02-30', '2023-12-31'], []],
    ['dates with dots', ['29.02.2024', '1.3.2024'], 'DATE (dd.mm.yyyy)', ['2024-02-29', '2024-03-01'], []],
    ['month first', ['02/29/2024', '03/01/2024'], 'DATE (mm/dd/yyyy)', ['2024-02-29', '2024-03-01'], []],
    ['day first', ['29/02/2024', '01/03/2024'], 'DATE (dd/mm/yyyy)', ['2024-02-29', '2024-03-01'], []],
    ['day or month first', ['01/02/2024', '03/04/2024'], 'VARCHAR', ['01/02/2024', '03/04/2024'], ['x: every value could be dd/mm/yyyy or mm/dd/yyyy: kept as text']],
    ['dates in several ways', ['29.02.2024', '2024-03-01'], 'VARCHAR', ['29.02.2024', '2024-03-01'], ['x: dates are written in several ways (yyyy-mm-dd, dd.mm.yyyy): kept as text']],
    ['dates in two orders', ['13/02/2024', '02/25/2024', '03/04/2024'], 'VARCHAR', ['13/02/2024', '02/25/2024', '03/04/2024'], ['x: dates are written in several ways (dd/mm/yyyy, mm/dd/yyyy): kept as text']],
    ['a day that is none, in one order', ['31/04/2024', '05/06/2024'], 'VARCHAR', ['31/04/2024', '05/06/2024'], []],
    ['dates with times', ['29.02.2024 08:15', '1.3.2024 23:59'], 'TIMESTAMP (dd.mm.yyyy hh:mm)', ['2024-02-29 08:15:00', '2024-03-01 23:59:00'], []],
    ['times', ['2024-02-29T08:15:00', '2024-03-01 23:59:59.5'], 'TIMESTAMP', ['2024-02-29 08:15:00', '2024-03-01 23:59:59.5'], []],
    ['times with their zones', ['2024-02-29T08:15:00Z', '2024-03-01 23:59:59+02:00'], 'TIMESTAMP WITH TIME ZONE', ['2024-02-29 08:15:00+00', '2024-03-01 21:59:59+00'], []],
    ['true and false', ['true', 'FALSE'], 'BOOLEAN', [true, false], []],
    ['words for "no value" in numbers', ['NA', '5', 'n/a', '', ' 7 '], 'BIGINT', [null, '5', null, null, '7'], ['x: 2 values such as NA read as NULL']],
    ['words for "no value" in texts', ['NA', 'b', '', 'null'], 'VARCHAR', ['NA', 'b', null, 'null'], []],
    ['no value at all', ['', ''], 'VARCHAR', [null, null], []],
  ])('%s', async (_what, values, type, read_, told) => {
    const { rows, columns, notes } = await read('a.csv', `k;x\n${values.map((value) => `k;${value}`).join('\n')}\n`);
    expect(columns[1]).toBe(`x ${type}`);
    expect(rows.map((row) => row[1])).toEqual(read_);
    expect(notes).toEqual(told);
  });

  test('between commas a point is that of a decimal, if every value has one', async () => {
    const sure = await read('b.csv', 'k,x\na,1.234\nb,NA\nc,5.678\n');
    expect([sure.columns[1], sure.notes]).toEqual(['x DECIMAL(18,3)', ['x: 1 value such as NA read as NULL', 'x: every value could be a decimal or a decimal with comma: read as a decimal']]);
    expect((await read('c.csv', 'k,x\na,1.234\nb,0\nc,5.678\n')).columns[1]).toBe('x DECIMAL(18,3)');
    const { columns, notes } = await read('a.csv', 'k,x\na,1.234\nb,567\n');
    expect([columns[1], notes]).toEqual(['x VARCHAR', ['x: every value could be a decimal or a decimal with comma: kept as text']]);
  });

  test('what other columns show decides between two ways', async () => {
    const { rows, columns, notes } = await read('a.csv', 'a;b;c;d\n1,5;1.234;01/02/2024;31/12/2024\n2,25;5.678;03/04/2024;01/01/2024\n');
    expect(columns).toEqual(['a DECIMAL(18,2) (1.234,56)', 'b DECIMAL(18,0) (1.234,56)', 'c DATE (dd/mm/yyyy)', 'd DATE (dd/mm/yyyy)']);
    expect(rows[0]).toEqual(['1.50', '1234', '2024-02-01', '2024-12-31']);
    expect(notes).toEqual([
      'b: every value could be a decimal or a decimal with comma: read as a decimal with comma, as other columns show',
      'c: every value could be dd/mm/yyyy or mm/dd/yyyy: read as dd/mm/yyyy, as other columns show',
    ]);
    const both = await read('b.csv', 'a,b,c\n"1,5",2.5,1.234\n"2,5",3.5,5.678\n');
    expect([both.columns[2], both.notes]).toEqual(['c VARCHAR', ['c: every value could be a decimal or a decimal with comma: kept as text']]);
  });

  test('one value at the end that does not fit keeps the column a text, and is told', async () => {
    const { rows, columns, notes } = await read('a.csv', `k,x\n${Array.from({ length: 5000 }, (_, n) => `k,${n}\n`).join('')}k,00007\n`);
    expect([columns[1], rows.length, rows[5000]]).toEqual(['x VARCHAR', 5001, ['k', '00007']]);
    expect(notes).toContain("x: 1 of 5001 values are not an integer, such as '00007'");
  });

  test('a column whose first thousands of rows are empty has its type', async () => {
    const { columns } = await read('a.csv', `k,x\n${'k,\n'.repeat(3000)}k,2024-01-01\n`);
    expect(columns[1]).toBe('x DATE');
  });
}); // prettier-ignore

describe('JSON', () => {
  test('columns are in the order of the first object that has them', async () => {
    const rest = Array.from({ length: 20 }, () => '{"d":1,"c":1,"b":1}').join(',');
    expect((await read('a.json', `[{"a":1,"b":1,"c":1,"d":1},${rest}]`)).columns.map((each) => each[0])).toEqual(['a', 'b', 'c', 'd']);
  });

  test('an array of objects: nested values stay JSON, texts stay texts', async () => {
    const { rows, columns } = await read('a.json', '[{"a":1,"b":{"x":[1]},"d":"2024-01-02","s":"007"},{"a":2.5,"c":true,"b":"t","s":"8"}]');
    expect(columns).toEqual(['a DECIMAL(18,1)', 'b JSON', 'd DATE', 's VARCHAR', 'c BOOLEAN']);
    expect(rows).toEqual([['1.0', '{"x":[1]}', '2024-01-02', '007', null], ['2.5', '"t"', null, '8', true]]);
  });

  test('lines that are no object are counted', async () => {
    const { rows, rejected, rejects } = await read('a.ndjson', '{"a":18446744073709551616}\n{"a":\n{"a":3}\n[1]\n');
    expect(rows).toEqual([['18446744073709551616'], ['3']]);
    expect(rejected).toBe(2);
    expect(rejects).toEqual([
      { file: 'a.ndjson', line: null, reason: 'value 2 is no JSON', text: '' },
      { file: 'a.ndjson', line: null, reason: 'value 4 is no JSON object', text: '[1]' },
    ]);
  });

  test('objects of several lines, names in two cases, a mark at the beginning', async () => {
    const { rows, columns } = await read('a.json', '\ufeff{\n "a": 1e3,\n "A": null\n}\n');
    expect([columns, rows]).toEqual([['a DECIMAL(18,1)', 'A_2 VARCHAR'], [['1000.0', null]]]);
  });

  test('the rows in one object, as services answer; lines stay rows', async () => {
    const text = '{"page":1,"items":[{"id":1,"t":[{"x":1}]},{"id":2},3]}';
    const { columns, rows, rejected, notes } = await read('a.json', text);
    expect([columns, rows, rejected]).toEqual([['id BIGINT', 't JSON'], [['1', '[{"x":1}]'], ['2', null]], 1]);
    expect(notes).toEqual(['the rows are the objects in items; left out beside: page 1']);
    const rounded = await read('c.json', '{"items":[{"id":0.10000000000000000001}]}');
    expect(rounded.notes).toContain('1 object with numbers of more than 15 digits and a fraction or an exponent, rounded to what a double keeps');
    const once = await read('d.json', '{"items":[{"id":0.12345678901234567},{"id":0.23456789012345678}]}');
    expect(once.notes.filter((note) => note.includes('rounded'))).toHaveLength(1);
    expect((await read('a.geojson', '{"type":"F","features":[{"id":7}]}')).rows).toEqual([['7']]);
    expect((await read('a.ndjson', `${text}\n`)).columns).toEqual(['page BIGINT', 'items JSON']);
    expect((await read('b.json', '{"a":[{"x":1}],"b":[{"y":1}]}')).columns).toEqual(['a JSON', 'b JSON']);
  });

  test.each<[string, string, RegExp]>([
    ['half an array', '[{"a":1},{"a"', /^a\.json: it is no whole JSON at byte/],
    ['numbers alone', '[1,2]', /^a\.json: it has no JSON object, and each row is one$/],
  ])('%s', async (_what, content, message) => {
    await expect(read('a.json', content)).rejects.toThrow(message);
  });
}); // prettier-ignore

describe('folders', () => {
  test('one table a file, one for parts; the rest is named', async () => {
    const { imported, contents } = await readFolder({
      'Orders 2024.csv': 'id\n1\n',
      'orders_2024.tsv': 'id\n2\n',
      '2020.csv': 'id\n3\n',
      'part-0.csv': 'id,a\n1,x\n',
      'part-1.csv': 'id;b\n2;y\n',
      'sales/year=2023/x.csv': 'n\n1\n',
      'sales/year=2024/y.csv': 'n\n2\n',
      'empty.csv': '',
      'README.txt': 'Only words here\nand there\n',
      '.hidden.csv': 'id\n4\n',
      'book.xlsx': 'x',
      'a*[1]?.csv': 'id\n5\n',
    });
    const parts = imported.source.split('/').at(-1)!.replace('-', '_');
    expect(contents).toEqual({
      orders_2024: [['1']],
      orders_2024_2: [['2']],
      t_2020: [['3']],
      [parts]: [['1', 'x', null], ['2', null, 'y']],
      sales: [['1', '2023'], ['2', '2024']],
      a_1: [['5']],
    });
    expect(tableNamed(imported, parts)).toMatchObject({
      notes: ['the files have other columns, and what one lacks is NULL: part-0.csv has no b; part-1.csv has no a'],
      readings: ['UTF-8, delimiter ,, header in line 1', 'UTF-8, delimiter ;, header in line 1'],
    });
    expect(imported.ignored).toEqual([
      { file: '.hidden.csv', reason: 'hidden' },
      { file: 'README.txt', reason: 'its ending is not one of data' },
      { file: 'book.xlsx', reason: 'a spreadsheet: save each sheet of it as CSV (in Excel: CSV UTF-8)' },
      { file: 'empty.csv', reason: 'it is empty: name a file with a header or rows' },
    ]);
  });

  test('a JSON file that cannot be read takes none of those after it', async () => {
    const { imported, contents } = await readFolder({ 'a.json': '[1, 2]', 'b.json': '{"a":', 'c.json': '[{"x":1}]' });
    expect(contents).toEqual({ c: [['1']] });
    expect(imported.ignored).toEqual([
      { file: 'a.json', reason: 'it has no JSON object, and each row is one' },
      { file: 'b.json', reason: expect.stringMatching(/^it is no whole JSON at byte/) as string },
    ]);
  });

  test('a page without rows is no row, and told', async () => {
    const { imported, contents } = await readFolder({
      'part-1.json': '{"items":[{"id":1},{"id":2}],"next":2}',
      'part-2.json': '{"items":[],"next":null}',
      'part-3.json': '{"items":[{"id":3}]}',
    });
    const [table] = imported.tables;
    expect(contents[table!.name]).toEqual([['1'], ['2'], ['3']]);
    expect(table!.notes).toContain('left out: part-2.json: its list items is empty; left out beside: next null');
  });

  test('many parts of JSON with other members', async () => {
    const parts = Array.from({ length: 200 }, (_, n) => [`part-${n}.json`, JSON.stringify([{ a: n, [`m${n % 3}`]: n % 3 === 2 ? { x: n } : 'x' }])]);
    const { imported, contents } = await readFolder(Object.fromEntries(parts) as Record<string, string>);
    const [table] = imported.tables;
    expect(table?.columns.map(({ name, type }) => `${name} ${type}`)).toEqual(['a BIGINT', 'm0 VARCHAR', 'm1 VARCHAR', 'm2 JSON']);
    expect(contents[table!.name]?.slice(0, 2)).toEqual([['0', 'x', null, null], ['1', null, 'x', null]]);
    expect(contents[table!.name]?.length).toBe(200);
  });

  test('Parquet files of one table with other columns, and one that is none', async () => {
    const at = written({ 'broken.parquet': 'no', 'part-x.csv': 'a\n1\n' });
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    await connection.run(`COPY (SELECT 1 AS a, {'x': [1, 2]} AS s) TO '${at}/part-0.parquet'`);
    await connection.run(`COPY (SELECT 2 AS a, DATE '2024-01-01' AS d) TO '${at}/part-1.parquet'`);
    connection.closeSync();
    instance.closeSync();
    const imported = await importFiles(at, { cacheFolder, signal });
    const parquet = imported.tables.find(({ files }) => files.includes('part-0.parquet'))!;
    expect(parquet.notes).toEqual(['the files have other columns, and what one lacks is NULL: part-0.parquet has no d; part-1.parquet has no s']);
    expect(parquet.columns.map(({ name, type }) => `${name} ${type}`)).toEqual(['a INTEGER', 's STRUCT(x INTEGER[])', 'd DATE']);
    expect(await rowsOf(imported.path, `FROM "${parquet.name}" ORDER BY a`)).toEqual([[1, { x: [1, 2] }, null], [2, null, '2024-01-01']]);
    expect(imported.ignored).toEqual([{ file: 'broken.parquet', reason: expect.stringMatching(/^it cannot be read as Parquet \(Invalid Input Error: .*\): write it anew$/) as string }]);
  });
}); // prettier-ignore

test.each<[string, string, RegExp]>([
  ['empty.csv', '', /^empty\.csv: it is empty: name a file with a header or rows$/],
  ['blank.csv', '\n\n \n', /^blank\.csv: it is empty/],
  ['a.csv.gz', 'no gzip', /^.*no whole gzip file/],
  ['a.parquet', 'no', /^a\.parquet: it cannot be read as Parquet \((?!.*LINE 1).*\): write it anew$/],
  ['a.xlsx', 'x', /name a file that ends in \.csv, \.tsv/],
])('%s is refused with one line', async (name, content, message) => {
  const error = await read(name, content).then(() => null, (thrown: unknown) => thrown as Error); // prettier-ignore
  expect(error?.message).toMatch(message);
  expect(error?.message).not.toContain('\n');
});

test('a number with more digits than a double keeps all of them; measured figures stay doubles', async () => {
  const exact = await read('a.csv', 'v\n123456789.123456789012345678\n1.5\n');
  expect([exact.columns, exact.rows[0]]).toEqual([['v DECIMAL(38,18)'], ['123456789.123456789012345678']]);
  expect((await read('b.csv', 'v\n0.1234567890123\n1.5\n')).columns).toEqual(['v DOUBLE']);
}); // prettier-ignore

test('lines that end in a carriage return alone are counted', async () => {
  const lines = Array.from({ length: 1000 }, (_, index) => `${index + 4},n${index + 4}`);
  const { rows, rejected } = await read('a.csv', ['id,name', '1,x', '2,y', '3,"z', ...lines, ''].join('\r'));
  expect(rows.length + rejected).toBe(1003);
});

test('a gzip file that grows beyond measure is not unzipped', async () => {
  const content = gzipSync(Buffer.alloc(300 * 1024 * 1024, 'a,b\n'));
  await expect(read('a.csv.gz', content)).rejects.toThrow(/unzips to more than 100 times its size/);
});

describe('nothing is lost or changed in silence', () => {
  test.each<[string, string, unknown[][], number, string[]]>([
    ['blank lines in a quoted cell hide no lost line', 'a,b\n1,"x\n\n\ny"\n2\n3,z\n', [['1', 'x\n\n\ny'], ['3', 'z']], 1, []],
    ['a quote that is never closed', 'a,b\n1,x\n2,"never\n3,y\n', [['1', 'x'], ['2', '"never'], ['3', 'y']], 0, ['1 row with a quote that is not closed, taken for a character']],
    ['text behind a quote', 'a,b\n1,"d"x\n2, "e, f" \n', [['1', '"d"x'], ['2', 'e, f']], 0, ['1 row with a quote that is not closed, taken for a character']],
    ['a column that is named as the number of a row', 'rowid,n,v\n5,a,1\n5,b,2\n,Total,3\n', [['5', 'a', '1'], ['5', 'b', '2']], 1, []],
    ['a column of blank cells', 'a,b\n1,\n2,\n', [['1', null], ['2', null]], 0, []],
    ['headers with line breaks, twice', '"n\na",n a\n1,2\n', [['1', '2']], 0, []],
    ['lines of many widths', 'a,b,c\n1,2\n3,4\n5,6,7\n8\n', [['1,2'], ['3,4'], ['5,6,7'], ['8']], 0, ['no delimiter gives most lines the same number of cells, so each line is one: save it with a delimiter']],
    ['a line that names the delimiter', 'sep=;\na;b\n1;2\n', [['1', '2']], 0, ["1 line above the table left out: 'sep=;'"]],
    ['a header that is too short', 'a,b\n1,2,3\n2,3,4\n', [['1', '2', '3'], ['2', '3', '4']], 0, ["1 line above the table left out: 'a,b'", 'no header: columns are named column_1 to column_3']],
  ])('%s', async (_what, content, rows, lost, told) => {
    const found = await read('a.csv', content);
    expect([found.rows, found.rejected, found.notes]).toEqual([rows, lost, told]);
  });

  test('a cell longer than what is looked at first, and one that is too long', async () => {
    const long = 'x\n'.repeat(800_000);
    const { table, rejected, rejects } = await read('a.csv', `a,b\n1,"${long}"\n2,${'y'.repeat(17 * 1024 * 1024)}\n3,z\n`);
    expect([table.rows, rejected, rejects[0]?.reason, rejects[0]?.line]).toEqual([2, 1, 'a line that is too long', 800_003]);
  });

  test.each<[string, string[], string, unknown[]]>([
    ['nanoseconds', ['2024-01-01 00:00:00.123456789', '2024-01-02 00:00'], 'TIMESTAMP_NS', ['2024-01-01 00:00:00.123456789', '2024-01-02 00:00:00']],
    ['nine digits that are microseconds', ['2024-01-01 00:00:00.123456000'], 'TIMESTAMP', ['2024-01-01 00:00:00.123456']],
    ['nanoseconds with a zone', ['2024-01-01 00:00:00.123456789Z'], 'VARCHAR', ['2024-01-01 00:00:00.123456789Z']],
    ['numbers beyond doubles', ['1e+400', '1.5'], 'VARCHAR', ['1e+400', '1.5']],
    ['numbers below doubles', ['1e-400', '1.5'], 'VARCHAR', ['1e-400', '1.5']],
    ['long numbers with exponents', ['1.2345678901234567890e+5', '1.5'], 'VARCHAR', ['1.2345678901234567890e+5', '1.5']],
    ['digits of a double', ['0.30000000000000004', '0.1'], 'DOUBLE', [0.30000000000000004, 0.1]],
    ['more digits than a double', ['0.12345678901234567890', '0.1'], 'DECIMAL(38,20)', ['0.12345678901234567890', '0.10000000000000000000']],
    ['infinity and words for it', ['1.5', 'Infinity', '-inf'], 'VARCHAR', ['1.5', 'Infinity', '-inf']],
    ['negative zero', ['-0', '1'], 'DECIMAL(18,0)', ['0', '1']],
    ['yes and no', ['yes', 'N', 'true'], 'VARCHAR', ['yes', 'N', 'true']],
    ['other numbers', ['5-', '1_000', '0x1F', '12 %'], 'VARCHAR', ['5-', '1_000', '0x1F', '12 %']],
    ['other dates', ['24-01-31', 'Jan 31 2024'], 'VARCHAR', ['24-01-31', 'Jan 31 2024']],
  ])('%s', async (_what, values, type, expected) => {
    const { rows, columns } = await read('a.csv', `k;x\n${values.map((value) => `k;${value}`).join('\n')}\n`);
    expect([columns[1], rows.map((row) => row[1])]).toEqual([`x ${type}`, expected]);
  });

  test('JSON: rounded numbers and members of one name are told, any name is one, null is NULL', async () => {
    const { rows, columns, notes } = await read('a.json', '[{"a":0.12345678901234567890,"":1,"x/~y":{"z":1}},{"a":2,"a":3,"x/~y":null}]');
    expect(columns).toEqual(['a DOUBLE', 'column BIGINT', 'x/~y JSON']);
    expect(rows).toEqual([[0.12345678901234568, '1', '{"z":1}'], [2, null, null]]);
    expect(notes).toEqual([
      '1 object with numbers of more than 15 digits and a fraction or an exponent, rounded to what a double keeps',
      '1 object with two members of one name, of which the first is read',
    ]);
    const powers = await read('p.json', '[{"a":1234567890123456789e3},{"a":1234567890123456E-3},{"a":123456789012345e12},{"a":1.5e3}]');
    expect(powers.notes).toEqual(['2 objects with numbers of more than 15 digits and a fraction or an exponent, rounded to what a double keeps']);
    const exact = await read('b.json', '[{"a":123456789012345678901234567890,"s":"1.23456789012345678901"},{"a":1}]');
    expect([exact.columns, exact.notes]).toEqual([['a HUGEINT', 's VARCHAR'], []]);
    expect((await read('c.json', '[{"a":1e400},{"a":2.5}]')).rows).toEqual([['1e400'], ['2.5']]);
  });

  test('parts that cannot be read are told, and folders name values as they are', async () => {
    const { imported, contents } = await readFolder({
      't/part-1.csv': 'a\n1\n',
      't/part-2.csv': '',
      't/part-3.csv.gz': gzipSync('a\n3\n').subarray(0, 15),
      'zip/zip=01234/a.csv': 'x\n1\n',
      'zip/zip=__HIVE_DEFAULT_PARTITION__/a.csv': 'x\n2\n',
      'json/region=north/a.json': '{"x":1}',
      'json/region=south/a.json': '{"x":2}',
      'gate.config.json': '{}',
    });
    expect(contents).toEqual({
      t: [['1']],
      zip: [['1', '01234'], ['2', null]],
      json: [['1', 'north'], ['2', 'south']],
    });
    expect(tableNamed(imported, 't').notes).toEqual([
      expect.stringMatching(/^left out: t\/part-2\.csv: it is empty: .*; t\/part-3\.csv\.gz: it is no whole gzip file/),
    ]);
    expect(imported.ignored).toEqual([{ file: 'gate.config.json', reason: 'the configuration of gate' }]);
    const version = fileVersion(imported.source);
    writeFileSync(join(imported.source, 'gate.config.json'), '{"databases":{}}');
    expect(fileVersion(imported.source)).toBe(version);
  });

  test('Parquet: types keep their values, other types of parts are told, an empty file is a table', async () => {
    const at = written({ 'x.csv': 'a\n1\n' });
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    const parquet = (name: string, sql: string) => connection.run(`COPY (${sql}) TO '${at}/${name}.parquet'`);
    await parquet('types', `SELECT 18446744073709551615::UBIGINT AS u, '${'9'.repeat(38)}'::DECIMAL(38,0) AS d, '2024-01-01 00:00:00.123456789'::TIMESTAMP_NS AS n, '2024-01-01 02:00:00+02'::TIMESTAMPTZ AS z`);
    await parquet('empty', 'SELECT 1 AS a WHERE false');
    await parquet('part-0', 'SELECT 9007199254740993 AS a');
    await parquet('part-1', 'SELECT 0.5::DOUBLE AS a');
    connection.closeSync();
    instance.closeSync();
    const imported = await importFiles(at, { cacheFolder, signal });
    expect(await rowsOf(imported.path, 'FROM types')).toEqual([['18446744073709551615', '9'.repeat(38), '2024-01-01 00:00:00.123456789', '2024-01-01 00:00:00+00']]);
    expect(tableNamed(imported, 'empty')).toMatchObject({ rows: 0, columns: [{ name: 'a', type: 'INTEGER' }] });
    expect(imported.tables.find(({ files }) => files.includes('part-0.parquet'))?.notes).toEqual([
      'the files have other types, and one that holds all may round: a is BIGINT in part-0.parquet, DOUBLE in part-1.parquet',
    ]);
  });

  test('what a gzip file unzips to counts against what an import may take', async () => {
    const source = join(written({ 'a.csv.gz': gzipSync('a,b\n'.repeat(1000)) }), 'a.csv.gz');
    await expect(importFiles(source, { cacheFolder, signal, maxBytes: 3000 })).rejects.toThrow(/unzips to more than the 3000 bytes/);
  });
}); // prettier-ignore
