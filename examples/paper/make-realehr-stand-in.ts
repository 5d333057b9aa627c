/**
 * Makes a small SYNTHETIC stand-in for RealEHR, the paper's hospital data, which are not public: tables named as the paper
 * names them, values under several surface forms (generic, trade and Korean names), and questions of our own with gold SQL.
 * Nothing in it is of a patient, and no figure made with it says anything about RealEHR.
 *
 *   npx tsx examples/paper/make-realehr-stand-in.ts FOLDER
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { random } from '../../src/random';

const PATIENTS = 60;

const DRUGS: readonly (readonly string[])[] = [
  ['Azithromycin', 'ZITHROMAX 250mg', '아지트로마이신'],
  ['Clofazimine', 'LAMPRENE 50mg', '클로파지민'],
  ['Ethambutol', 'MYAMBUTOL 400mg', '에탐부톨'],
  ['Esomeprazole', 'NEXIUM 40mg', '에소메프라졸'],
  ['Warfarin', 'COUMADIN 2mg', '와파린'],
];
const DIAGNOSES: readonly (readonly [code: string, names: readonly string[]])[] = [
  ['I48.0', ['Atrial fibrillation', 'A.fib', '심방세동']],
  ['E11.9', ['Type 2 diabetes mellitus', 'T2DM', '제2형 당뇨병']],
  ['I10', ['Essential hypertension', 'HTN', '고혈압']],
  ['A31.0', ['NTM pulmonary disease', 'NTM', '비결핵항산균 폐질환']],
];

const SCHEMA = `
CREATE TABLE FT_CRE_VIST (VIST_ID INTEGER PRIMARY KEY, PT_ID INTEGER, VIST_DT TEXT, AGE_CD_YY INTEGER, SEX_TP_NM TEXT, DEPT_NM TEXT);
CREATE TABLE FT_CRE_DGNS (DGNS_ID INTEGER PRIMARY KEY, PT_ID INTEGER, VIST_ID INTEGER, CLDG_VOC_NM TEXT, ICD10_CD TEXT, DGNS_DT TEXT);
CREATE TABLE FT_CRE_MDPR (MDPR_ID INTEGER PRIMARY KEY, PT_ID INTEGER, INGR_MDPR_NM TEXT, ORD_DT TEXT, END_DT TEXT);
CREATE TABLE FT_CRE_EXM_FUN (EXM_ID INTEGER PRIMARY KEY, PT_ID INTEGER, MDFM_CPEM_NM TEXT, RSLT_VAL REAL, EXM_DT TEXT);
`;

const listed = (names: readonly string[] = []): string => names.map((name) => `'${name}'`).join(', ');
const drug = (at: number): string => `INGR_MDPR_NM IN (${listed(DRUGS[at])})`;
const PATIENTS_OF = 'SELECT COUNT(DISTINCT PT_ID) FROM';

/** Difficulty, question, gold; null: the data cannot answer it. */
const QUESTIONS: readonly (readonly [string, string, string | null])[] = [
  ['easy', 'How many patients have visited?', `${PATIENTS_OF} FT_CRE_VIST`],
  ['easy', 'How many visits were to cardiology?', "SELECT COUNT(*) FROM FT_CRE_VIST WHERE DEPT_NM = '순환기내과'"],
  ['easy', 'What is the highest QTc on record?', "SELECT MAX(RSLT_VAL) FROM FT_CRE_EXM_FUN WHERE MDFM_CPEM_NM = 'QTc'"],
  ['medium', 'How many patients had azithromycin?', `${PATIENTS_OF} FT_CRE_MDPR WHERE ${drug(0)}`],
  ['medium', 'How many patients had clofazimine?', `${PATIENTS_OF} FT_CRE_MDPR WHERE ${drug(1)}`],
  ['medium', 'How many patients have atrial fibrillation?', `${PATIENTS_OF} FT_CRE_DGNS WHERE ICD10_CD LIKE 'I48%'`],
  [
    'medium',
    'How many men have diabetes?',
    `${PATIENTS_OF} FT_CRE_DGNS WHERE ICD10_CD LIKE 'E11%' AND PT_ID IN (SELECT PT_ID FROM FT_CRE_VIST WHERE SEX_TP_NM IN ('M', 'male', '남'))`,
  ],
  [
    'medium',
    'How many patients had a QTc above 470?',
    `${PATIENTS_OF} FT_CRE_EXM_FUN WHERE MDFM_CPEM_NM = 'QTc' AND RSLT_VAL > 470`,
  ],
  [
    'hard',
    'How many patients with atrial fibrillation had warfarin?',
    `${PATIENTS_OF} FT_CRE_DGNS WHERE ICD10_CD LIKE 'I48%' AND PT_ID IN (SELECT PT_ID FROM FT_CRE_MDPR WHERE ${drug(4)})`,
  ],
  [
    'hard',
    'How many patients with a QTc above 470 had azithromycin or clofazimine?',
    `${PATIENTS_OF} FT_CRE_EXM_FUN WHERE MDFM_CPEM_NM = 'QTc' AND RSLT_VAL > 470 AND PT_ID IN (SELECT PT_ID FROM FT_CRE_MDPR WHERE ${drug(0)} OR ${drug(1)})`,
  ],
  ['hard', 'Which blood type is the most frequent?', null],
  ['hard', 'How many patients were readmitted to the intensive care unit?', null],
];

/** Writes `realehr.sqlite` and `questions.jsonl`; the same on every machine. */
export function makeRealEhrStandIn(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'realehr.sqlite');
  rmSync(path, { force: true });
  const database = new Database(path);
  database.exec(SCHEMA);
  const draw = random(47);
  const one = <T>(some: readonly T[]): T => some[Math.floor(draw() * some.length)] as T;
  const dayOf = (since: number): string => new Date(Date.UTC(2023, 0, 1 + since)).toISOString().slice(0, 10);
  const day = (): string => dayOf(Math.floor(draw() * 700));
  const insert = (table: string, ...values: readonly (string | number)[]): void =>
    void database.prepare(`INSERT INTO ${table} VALUES (NULL, ${values.map(() => '?').join(', ')})`).run(values);
  database.exec('BEGIN');
  for (let patient = 1; patient <= PATIENTS; patient += 1) {
    const [age, sex] = [
      20 + Math.floor(draw() * 70),
      one([
        ['M', 'male', '남'],
        ['F', 'female', '여'],
      ]),
    ];
    for (let visit = 0; visit < 2; visit += 1)
      insert('FT_CRE_VIST', patient, day(), age, one(sex), one(['순환기내과', '호흡기내과', 'ER']));
    const [code, names] = one(DIAGNOSES);
    insert('FT_CRE_DGNS', patient, 2 * patient, one(names), code, day());
    for (let order = 0; order < 2; order += 1) {
      const since = Math.floor(draw() * 700);
      insert('FT_CRE_MDPR', patient, one(one(DRUGS)), dayOf(since), dayOf(since + 7 + Math.floor(draw() * 90)));
    }
    insert('FT_CRE_EXM_FUN', patient, 'QTc', 400 + Math.floor(draw() * 100), day());
    insert('FT_CRE_EXM_FUN', patient, 'LVEF', 30 + Math.floor(draw() * 40), day());
  }
  database.exec('COMMIT');
  database.close();
  const lines = QUESTIONS.map(([difficulty, question, gold], at) =>
    JSON.stringify({
      ...{ id: `stand-in-${at + 1}`, benchmark: 'RealEHR stand-in (synthetic)', engine: 'sqlite', database: 'realehr' },
      ...{ question, difficulty, gold_sql: gold === null ? [] : [gold], answerable: gold !== null, licence: 'CC0' },
    }),
  );
  writeFileSync(join(folder, 'questions.jsonl'), `${lines.join('\n')}\n`);
}

if (require.main === module) {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) {
    process.stderr.write('give the folder to write to\n');
    process.exitCode = 2;
  } else {
    makeRealEhrStandIn(folder);
    process.stdout.write(`${folder}: realehr.sqlite and questions.jsonl, a synthetic stand-in for RealEHR\n`);
  }
}
