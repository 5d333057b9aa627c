/**
 * Where the data of each benchmark come from, under which licence, and what only a person can get: a form, an e-mail, a click
 * on Google Drive. A hash is given where the file stands at a commit and was read there; other files are recorded when they
 * are fetched first.
 *
 * Addresses and licences are those that the publishers name in: glee4810/ehrsql-2024@4659789, bird-bench.github.io@1fd31e6,
 * mini_dev@4d970a9, livesqlbench@59d7bd0, Spider2@e12c5f1. Whether each still answers was not tried.
 */
export interface Download {
  readonly url: string;
  /** The file's place in the folder of the benchmark. */
  readonly path: string;
  readonly sha256: string | null;
  /** Refused beyond this. */
  readonly maxMb: number;
}

export interface DataSource {
  readonly home: string;
  readonly licence: string;
  readonly downloads: readonly Download[];
  /** Files that have to be asked of the publisher, or got by hand. */
  readonly byHand: readonly string[];
  /** Names that a local collection may give its folder. */
  readonly folders: readonly string[];
}

const EHRSQL = 'https://raw.githubusercontent.com/glee4810/ehrsql-2024/46597893d9ffc6b9e67785b9c6dcbb06f1b62568';
const SPIDER2 = 'https://codeload.github.com/xlang-ai/Spider2/zip/e12c5f1e6550a5df88995520c3bf00bbe7bad2d2';
const BIRD = 'https://bird-bench.oss-cn-beijing.aliyuncs.com';

const ehrsql = (name: string, sha256: string | null, maxMb: number): Download => {
  const path = `data/mimic_iv/${name}`;
  return { url: `${EHRSQL}/${path}`, path, sha256, maxMb };
};

const spider2 = (byHand: readonly string[]): DataSource => ({
  home: 'https://github.com/xlang-ai/Spider2',
  licence: 'MIT',
  downloads: [{ url: SPIDER2, path: 'spider2.zip', sha256: null, maxMb: 4_000 }],
  byHand,
  folders: ['spider2'],
});

const livesqlbench = (set: string, dump: string, ...byHand: readonly string[]): DataSource => ({
  home: `https://huggingface.co/datasets/birdsql/${set}`,
  licence: 'CC-BY-SA-4.0',
  downloads: [
    {
      url: `https://huggingface.co/datasets/birdsql/${set}/resolve/main/livesqlbench_data.jsonl`,
      ...{ path: 'livesqlbench_data.jsonl', sha256: null, maxMb: 200 },
    },
  ],
  byHand: [
    `gold SQL and test cases: an e-mail to bird.bench25@gmail.com with [${set} GT&Test Cases] in its subject; put the file that comes into the folder`,
    `the folder of each database (knowledge, meanings of columns, schema): git clone https://huggingface.co/datasets/birdsql/${set}`,
    `PostgreSQL dumps: https://drive.google.com/file/d/${dump}/view`,
    ...byHand,
  ],
  folders: [set, 'livesqlbench'],
});

export const DATA_SOURCES: Readonly<Record<string, DataSource>> = {
  ehrsql2024: {
    home: 'https://github.com/glee4810/ehrsql-2024',
    licence: 'questions CC-BY-4.0; data ODbL-1.0 (MIMIC-IV demo 2.2, open access)',
    downloads: [
      ehrsql('test/data.json', 'b694d389aaf943c2ed7d64bf62d8161b9919a3191501831e2ca767237eb44960', 5),
      ehrsql('test/label.json', '307d8666440e45d35aa7852e19d32160844025592352f47a2aa0325178005450', 5),
      ehrsql('test/answer.json', '98c21b3a484fa7b4ed2c79edefbafac78b5ed7d940d26e14d0e5fcba759c1f56', 5),
      ehrsql('test/annotated.json', 'dd8149e98677aa6a4fccab995399585d19edbc8ee839ae7c99bbd9c9788a90c0', 5),
      ehrsql('valid/data.json', '106fe2d679dc66daa3b2e0797fef7badd1f9264db4e64b40677ebceda736acdc', 5),
      ehrsql('valid/label.json', '9addafb996119b0e4a1b05928a6d4d42f33c073fa6d72edbdf8273faa40a6db0', 5),
      ehrsql('valid/answer.json', 'd8339672bb752bde0bbda4ed4359db0fb64fb8d9e81cb7a782866b7cca17484b', 5),
      ehrsql('valid/annotated.json', '1696733652f25718b95d81cba94f5a59149e1246470a92e9e71f103262faafb0', 5),
      ehrsql('mimic_iv.sqlite', null, 500),
    ],
    byHand: [],
    folders: ['ehrsql_2024', 'ehrsql-2024', 'ehrsql2024'],
  },
  bird: {
    home: 'https://bird-bench.github.io',
    licence: 'CC-BY-SA-4.0',
    downloads: [{ url: `${BIRD}/dev.zip`, path: 'dev.zip', sha256: null, maxMb: 4_000 }],
    byHand: [
      `the split train: ${BIRD}/train.zip`,
      'the dev questions as corrected in November 2025, marked apart on the board: https://huggingface.co/datasets/birdsql/bird_sql_dev_20251106',
      'the test split is not given out: send code and model to bird.bench23@gmail.com',
    ],
    folders: ['bird', 'bird_dev'],
  },
  'bird-mini-dev': {
    home: 'https://github.com/bird-bench/mini_dev',
    licence: 'CC-BY-SA-4.0',
    downloads: [{ url: `${BIRD}/minidev.zip`, path: 'minidev.zip', sha256: null, maxMb: 4_000 }],
    byHand: [
      'the questions as corrected in July 2025: https://huggingface.co/datasets/birdsql/bird_mini_dev, or with all databases https://drive.google.com/file/d/13VLWIwpw5E3d5DUkMvzw7hvHE67a4XkG/view',
    ],
    folders: ['bird-mini-dev', 'minidev', 'MINIDEV'],
  },
  'spider2-lite': spider2([
    'SQLite files: https://drive.usercontent.google.com/download?id=1coEVsCZq-Xvj9p2TnhBFoFTsY-UoYGmG, unpacked into spider2-lite/resource/databases/spider2-localdb',
    'Snowflake questions: an account by the form in the README; BigQuery questions: credentials and a project of your own, which pays for what they scan',
  ]),
  'spider2-snow': spider2(["an account on the publisher's Snowflake by the form in the README"]),
  'livesqlbench-base-lite': livesqlbench(
    'livesqlbench-base-lite',
    '1QIGQlRKbkqApAOrQXPqFJgUg8rQ7HRRZ',
    'its split sqlite: git clone https://huggingface.co/datasets/birdsql/livesqlbench-base-lite-sqlite; the tag for its gold is [livesqlbench-base-lite-SQLite GT&Test Cases]',
  ),
  'livesqlbench-base-full': livesqlbench('livesqlbench-base-full-v1', '1V9SFIWebi27JtaDUAScG1xE9ELbYcWLR'),
  'livesqlbench-large': livesqlbench('livesqlbench-large-v1', '1u1L-SvJtOZGfcIST-dINw8DnGEQDMu6C'),
};
