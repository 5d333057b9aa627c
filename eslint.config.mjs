// Architecture is a lint rule here: imports point inward (docs/architecture.md), folder by folder.
import { existsSync } from 'node:fs';
import tseslint from 'typescript-eslint';

const node = ['fs', 'path', 'os', 'net', 'http', 'https', 'child_process', 'crypto', 'stream', 'worker_threads'];
const noNode = {
  group: [...node, 'node:*', ...node.map((name) => `${name}/*`)],
  message: 'pure folder: no I/O of its own',
};
const only = (files, patterns) => ({
  files,
  rules: { '@typescript-eslint/no-restricted-imports': ['error', { patterns }] },
});
const outside = (...folders) => ({
  regex: `^(\\.\\./)+(${folders.join('|')})(/|$)`,
  message: 'imports point inward, see docs/architecture.md',
});

/** Which folder of src may import which. Files at the root of src stand alone and are for all. */
const KNOWS = {
  domain: [],
  sql: ['domain'],
  database: ['domain', 'sql'],
  text: ['domain', 'sql'],
  config: ['domain'],
  layer: ['domain', 'sql', 'database', 'text'],
  search: ['domain', 'sql'],
  methods: ['domain', 'sql', 'search'],
  record: ['domain', 'sql', 'database'],
  roles: ['domain', 'sql', 'database', 'text', 'layer', 'record'],
  report: ['domain', 'sql', 'text', 'record', 'questions'],
  questions: ['domain', 'sql'],
  activities: ['domain', 'search'],
  workflows: ['domain', 'text', 'search', 'methods'],
  adapters: ['domain', 'sql'],
  workers: ['domain', 'sql', 'search', 'methods', 'record', 'roles', 'config', 'adapters', 'activities', 'workflows'],
};
const FOLDERS = [...Object.keys(KNOWS), 'app', 'cli', 'library', 'server'];
/** No I/O of their own. */
const PURE = ['domain', 'sql', 'database', 'layer', 'text', 'search', 'methods', 'activities', 'workflows'];
/** The loops and the workflows know no step and no prompt: no zod is bundled. */
const WITHOUT_STEPS = ['methods', 'workflows'];
const typesOnly = {
  regex: '(?<!ports)/(prompts?|steps)$',
  allowTypeImports: true,
  message: 'the workflow bundle has no prompts and no steps: import their types',
};
/** Known to the prompts and the steps of a baseline, which stand beside its loop. */
const BESIDE = ['methods', 'roles', ...KNOWS.roles];
const inward = (files, folder) => {
  const known = [folder, ...KNOWS[folder]];
  return only(files, [
    ...(PURE.includes(folder) ? [noNode] : []),
    ...(WITHOUT_STEPS.includes(folder) ? [typesOnly] : []),
    outside(...FOLDERS.filter((other) => !known.includes(other)), 'simulated-model', 'benchmarks'),
  ]);
};

// A package of its own: without its dependencies there are no types to lint with.
const uninstalled = existsSync(new URL('bench/peers/node_modules', import.meta.url)) ? [] : ['bench/peers/**'];

export default tseslint.config(
  { ignores: ['dist/**', 'node_modules/**', 'coverage/**', '**/*.mjs', '**/*.cjs', ...uninstalled] },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unnecessary-condition': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/no-restricted-imports': 'off',
      // A third of the time of all rules; there are no enums here, and classes with private members differ anyway.
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      'no-console': 'error',
      eqeqeq: 'error',
      'no-restricted-properties': [
        'error',
        {
          object: 'AbortSignal',
          property: 'any',
          message: 'Node 20 collects a time limit in it: anySignal (src/any-signal.ts)',
        },
      ],
    },
  },
  {
    files: ['src/cli/**', 'benchmarks/**', 'scripts/**', 'bench/**', 'examples/**', 'tests/**'],
    rules: { 'no-console': 'off' },
  },
  {
    files: ['tests/**'],
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  ...Object.keys(KNOWS).map((folder) => inward([`src/${folder}/**`], folder)),
  // A baseline is whole in its folder: its loop goes into the workflow bundle, its prompts and steps do not.
  only(
    ['src/methods/steps.ts', 'src/methods/*/{prompt,prompts,steps,compressed}.ts'],
    [outside(...FOLDERS.filter((other) => !BESIDE.includes(other)))],
  ),
  only(['src/app/**'], [outside('cli', 'library', 'server', 'simulated-model', 'benchmarks')]),
  only(['src/cli/**'], [outside('library', 'simulated-model', 'benchmarks')]),
  only(['src/library/**'], [outside('cli', 'server', 'simulated-model', 'benchmarks')]),
  only(['src/server/**'], [outside('cli', 'library', 'simulated-model', 'benchmarks')]),
  only(['benchmarks/**'], [outside('simulated-model', 'tests')]),
  only(['src/*.ts'], [{ regex: '^\\.', message: 'a file at the root of src imports nothing of ours' }]),
);
