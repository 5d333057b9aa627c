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
      'no-console': 'error',
      eqeqeq: 'error',
    },
  },
  { files: ['src/cli/**', 'scripts/**', 'bench/**', 'examples/**', 'tests/**'], rules: { 'no-console': 'off' } },
  {
    files: ['tests/**'],
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  only(
    ['src/domain/**'],
    [
      noNode,
      outside(
        'search',
        'steps',
        'prompts',
        'ports',
        'adapters',
        'activities',
        'workflows',
        'workers',
        'cli',
        'report',
        'benchmarks',
      ),
    ],
  ),
  only(
    ['src/ports/**'],
    [
      noNode,
      outside(
        'search',
        'steps',
        'prompts',
        'adapters',
        'activities',
        'workflows',
        'workers',
        'cli',
        'report',
        'benchmarks',
      ),
    ],
  ),
  only(
    ['src/search/**', 'src/methods/**', 'src/schema/**'],
    [
      noNode,
      outside('steps', 'prompts', 'adapters', 'activities', 'workflows', 'workers', 'cli', 'report', 'benchmarks'),
    ],
  ),
  only(
    ['src/prompts/**'],
    [noNode, outside('steps', 'adapters', 'activities', 'workflows', 'workers', 'cli', 'report', 'benchmarks')],
  ),
  only(['src/steps/**'], [outside('adapters', 'activities', 'workflows', 'workers', 'cli', 'report', 'benchmarks')]),
  only(
    ['src/workflows/**'],
    [noNode, outside('steps', 'prompts', 'adapters', 'workers', 'cli', 'report', 'benchmarks')],
  ),
  only(['src/activities/**'], [outside('prompts', 'workflows', 'workers', 'cli', 'report', 'benchmarks', 'adapters')]),
  only(
    ['src/adapters/**'],
    [
      outside(
        'search/control',
        'steps',
        'prompts',
        'activities',
        'workflows',
        'workers',
        'cli',
        'report',
        'benchmarks',
      ),
    ],
  ),
  only(['src/report/**', 'src/benchmarks/**'], [outside('adapters', 'activities', 'workflows', 'workers', 'cli')]),
);
