/**
 * The ways in which a running search meets new code (docs/changing-the-search.md, docs/deploying.md), each with a search
 * that is run on the real server and replayed on the other code.
 */
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger, Worker } from '@temporalio/worker';
import { awaitQuestion, startQuestion } from '../../src/workers/client';
import { dataConverter } from '../../src/workers/payloads';
import { questionQueues } from '../../src/workers/task-queues';
import { questionWorkflowId } from '../../src/workflows/ids';
import { unique, withWorkers } from '../helpers/temporal';
import { scriptedSettings, scriptedSteps, noBatch as batch } from '../workflows/scripted-steps';

type Bundle = { readonly code: string } | { readonly codePath: string };
type History = Parameters<typeof Worker.runReplayHistory>[1];

/** The workflow code with another loop in place of `src/search/search.ts`. */
async function bundleWith(loop: string): Promise<Bundle> {
  const replacement = join(__dirname, 'patch', loop);
  const { code } = await bundleWorkflowCode({
    workflowsPath: require.resolve('../../src/workflows/index'),
    failureConverterPath: require.resolve('../../src/workflows/failure-converter'),
    logger: new DefaultLogger('ERROR'),
    webpackConfigHook: (config) => ({ ...config, plugins: [...(config.plugins ?? []), replacing(replacement)] }),
  });
  return { code };
}

interface Resolving {
  request: string;
  readonly contextInfo: { readonly issuer: string };
}
interface Compiler {
  readonly hooks: {
    readonly normalModuleFactory: {
      tap(
        name: string,
        on: (factory: { hooks: { beforeResolve: { tap(name: string, on: (data: Resolving) => void): void } } }) => void,
      ): void;
    };
  };
}

/** For `methods/index.ts` alone: the replacement itself imports the loop that it changes. */
function replacing(file: string) {
  const replace = (data: Resolving): void => {
    const fromMethods = data.contextInfo.issuer.endsWith(join('methods', 'index.ts'));
    if (fromMethods && data.request === '../search/search') data.request = file;
  };
  return {
    apply: (compiler: unknown) =>
      (compiler as Compiler).hooks.normalModuleFactory.tap('test', (factory) =>
        factory.hooks.beforeResolve.tap('test', replace),
      ),
  };
}

/** Runs a search on this code (default: today's) and gives the history of its first run. */
async function runOn(bundle: Bundle | null) {
  const [database, searchId] = [unique('db'), unique('q')];
  const positions: string[] = [];
  const steps = scriptedSteps({ operators: 3, onStep: ({ position }) => void positions.push(position) });
  const options = { steps, batch, databases: [database], ...(bundle && { bundle }) };
  return withWorkers(options, async (gate) => {
    const settings = scriptedSettings({ maxPlans: 1, cMin: 1 });
    const handle = await startQuestion(gate, {
      ...{
        searchId,
        settings,
        modelTimeoutMs: 5_000,
        queues: questionQueues(database),
        label: 'x',
        iterationsPerRun: 20,
      },
    });
    const end = await awaitQuestion(gate, searchId);
    expect(end).toMatchObject({ kind: 'completed', value: { status: 'answered' } });
    const first = gate.client.workflow.getHandle(questionWorkflowId(searchId), handle.firstExecutionRunId);
    return { history: await first.fetchHistory(), positions };
  });
}

const replay = (bundle: Bundle, history: History): Promise<void> =>
  Worker.runReplayHistory({ workflowBundle: bundle, dataConverter }, history);

describe('a change of the path', () => {
  let patched: Bundle;
  beforeAll(async () => {
    patched = await bundleWith('look-twice');
  });

  test('a search begun before it is replayed when the change asks for its patch', async () => {
    const { history, positions } = await runOn(null);
    expect(positions).not.toContain('look-twice');
    await replay(patched, history);
  });

  test('a search begun after it takes the new path, and is replayed too', async () => {
    const { history, positions } = await runOn(patched);
    expect(positions[0]).toBe('look-twice');
    await replay(patched, history);
  });

  test('without the patch a search begun before it stands still', async () => {
    const { history } = await runOn(null);
    const always = await bundleWith('look-twice-always');
    await expect(replay(always, history)).rejects.toMatchObject({ name: 'DeterminismViolationError' });
  });
});

test('once the server says that a newer build is current, a search goes on as before', async () => {
  const { history } = await runOn(null);
  const tasks = (history.events ?? []).flatMap((event) => event.workflowTaskStartedEventAttributes ?? []);
  expect(tasks.length).toBeGreaterThan(2);
  for (const task of tasks) task.targetWorkerDeploymentVersionChanged = true;
  await replay({ codePath: process.env['GATE_TEST_BUNDLE'] ?? '' }, history);
});
