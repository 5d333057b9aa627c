/** What `gate doctor` says of the embedding model: a line with what to change; nothing billed unless `--call`. */
import { checkEmbeddings } from '../../../src/cli/doctor-embeddings';
import { Secret, type Config } from '../../../src/config';
import { startSimulatedModel, type SimulatedModel } from '../../../simulated-model';

let model: SimulatedModel;
beforeAll(async () => {
  model = await startSimulatedModel({ questions: [], databases: [], apiKey: 'sk-right' });
});
afterAll(() => model.close());

const PRICES = { 'simulated-embedding': { inputPerMillion: 1, outputPerMillion: 0 } };
type Asked = Pick<Config, 'embeddings' | 'models' | 'prices'>;
function config(name: string, key: string | null, baseUrl = model.baseUrl, prices: Config['prices'] = PRICES): Asked {
  const apiKey = key === null ? null : new Secret(key);
  return {
    embeddings: {
      ...{ model: name, own: { baseUrl, apiKey }, apiKeySource: 'EMBED_KEY' },
      ...{ dimensions: null, batchSize: 8, requestTimeoutMs: 2_000 },
    },
    models: {} as Config['models'],
    prices,
  };
}

test('says nothing where none is configured', async () => {
  expect(await checkEmbeddings({ ...config('x', null), embeddings: null }, true)).toEqual([]);
});

test('looks without paying, and with --call has one word embedded', async () => {
  const asked = config('simulated-embedding', 'sk-right');
  expect(await checkEmbeddings(asked, false)).toMatchObject([
    { state: 'ok', detail: `simulated-embedding at ${model.baseUrl}` },
  ]);
  expect(model.ledger().totals.billed).toBe(0);
  expect(await checkEmbeddings(asked, true)).toMatchObject([
    { state: 'ok', detail: expect.stringContaining('vectors of 256 numbers (2 tokens)') as string },
  ]);
  expect(model.ledger().totals.billed).toBe(1);
});

test.each<[string, () => Asked, RegExp, RegExp]>([
  ['an unknown model', () => config('nosuch', 'sk-right'), /does not list nosuch/, /has no model "nosuch"/],
  [
    'a wrong key',
    () => config('simulated-embedding', 'sk-wrong'),
    /refuses access/,
    /rejected the key: check EMBED_KEY/,
  ],
  ['no key', () => config('simulated-embedding', null), /refuses access/, /needs a key: set EMBED_KEY/],
  [
    'a closed port',
    () => config('simulated-embedding', null, 'http://127.0.0.1:9/v1'),
    /does not answer/,
    /cannot be reached .*schema\.embeddings\.baseUrl/,
  ],
])('%s is a note with its fix, because searches go on without it', async (_, asked, looked, tried) => {
  const [seen] = await checkEmbeddings(asked(), false);
  expect(seen).toMatchObject({ state: 'note', detail: expect.stringMatching(looked) as string });
  expect(seen?.fix ?? '').toMatch(/EMBED_KEY|schema\.embeddings/);
  const [called] = await checkEmbeddings(asked(), true);
  expect(called).toMatchObject({ state: 'note', detail: expect.stringMatching(tried) as string });
});

test('an unpriced model is pointed out', async () => {
  const findings = await checkEmbeddings(config('simulated-embedding', 'sk-right', model.baseUrl, {}), false);
  expect(findings[1]).toMatchObject({ state: 'note', detail: expect.stringContaining('counts as free') as string });
});
