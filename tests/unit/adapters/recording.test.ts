import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from '../../helpers/property';
import { contentHash, readRecording, recordingModel, replayModel } from '../../../src/adapters/recording';
import { scriptedModel } from '../../helpers/scripted';
import type { Role } from '../../../src/domain';
import type { ModelRequest } from '../../../src/domain/ports';

let dir: string;
let file: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gate-recording-'));
  file = join(dir, 'r.jsonl');
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const signal = new AbortController().signal;
const ask = (content: string, role: Role = 'plan', model = 'm'): ModelRequest => ({
  role,
  model,
  messages: [
    { role: 'system', content: 'Be exact.' },
    { role: 'user', content },
  ],
  temperature: 0,
  topP: 1,
  maxOutputTokens: 1,
  seed: 1,
  schema: { name: 's', schema: {} },
});
const echo = () => scriptedModel({ replies: (request, call) => `${request.messages[1]!.content} #${call}` });

/** Records these requests one after the other. */
async function record(...requests: readonly ModelRequest[]): Promise<void> {
  const model = recordingModel(echo(), file, { note: 'made up for a test' });
  for (const request of requests) await model.complete(request, { signal });
}
const replayError = async (requests: readonly ModelRequest[]): Promise<Error & { code: string }> => {
  const model = await replayModel(file);
  for (const request of requests.slice(0, -1)) await model.complete(request, { signal });
  return model.complete(requests.at(-1)!, { signal }).then(
    () => {
      throw new Error('it was answered');
    },
    (error: unknown) => error as Error & { code: string },
  );
};

test('a replay gives the recorded replies with their figures, whatever model is named', async () => {
  const recorder = recordingModel(echo(), file);
  const recorded = [];
  for (const text of ['a', 'b']) recorded.push(await recorder.complete(ask(text), { signal }));
  const replayed = await replayModel(file);
  for (const [index, text] of ['a', 'b'].entries()) {
    expect(await replayed.complete(ask(text, 'plan', 'another-model'), { signal })).toEqual(recorded[index]);
  }
  expect(replayed.models).toEqual(['m']);
});

test('in a file of several runs each is answered by its own exchanges, in whatever order the runs are replayed', async () => {
  for (const scope of ['first', 'second']) {
    const recorder = recordingModel(scriptedModel({ replies: () => `reply of the ${scope}` }), file, { scope });
    await recorder.complete(ask('the same'), { signal });
  }
  for (const scope of ['second', 'first']) {
    const model = await replayModel(file, scope);
    expect((await model.complete(ask('the same'), { signal })).text).toBe(`reply of the ${scope}`);
    await expect(model.complete(ask('the same'), { signal })).rejects.toMatchObject({ code: 'recording-ended' });
  }
  expect((await replayModel(file, 'third')).models).toEqual([]);
});

test('the same request with several seeds gets the reply to its own; with another seed, the next that is left', async () => {
  const seeded = (seed: number) => ({ ...ask('a'), seed });
  await record(seeded(0), seeded(1), seeded(2), seeded(3));
  const model = await replayModel(file);
  const texts = [];
  for (const seed of [2, 0, 7, 3]) texts.push((await model.complete(seeded(seed), { signal })).text);
  expect(texts).toEqual(['a #2', 'a #0', 'a #1', 'a #3']);
});

test('requests may arrive in any order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 8 }),
      fc.infiniteStream(fc.nat()),
      async (contents, picks) => {
        await rm(file, { force: true });
        await record(...contents.map((text) => ask(text)));
        const model = await replayModel(file);
        const left = [...contents];
        const order = [];
        while (left.length > 0) order.push(...left.splice(picks.next().value % left.length, 1));
        for (const text of order)
          expect((await model.complete(ask(text), { signal })).text.startsWith(text)).toBe(true);
      },
    ),
    { numRuns: 20 },
  );
});

test('a request that differs is one line with role, exchange and both texts where they part', async () => {
  await record(ask('same start, then old words'), ask('x', 'ground'), ask('second plan with the OLD value of it'));
  const error = await replayError([ask('same start, then old words'), ask('second plan with the NEW value of it')]);
  expect(error.code).toBe('recording-mismatch');
  expect(error.message).toMatch(/call 2 of role "plan" \(exchange 3\)/);
  expect(error.message).toMatch(/recorded .*OLD value.*asked .*NEW value/);
  expect(error.message).not.toContain('\n');
});

test('a recorded request that is asked once more than recorded says so', async () => {
  await record(ask('a'), ask('b'));
  expect((await replayError([ask('a'), ask('a')])).message).toMatch(/recorded 1 times and is asked once more/);
});

test('nothing left for a role is the end of the recording', async () => {
  await record(ask('a'));
  const error = await replayError([ask('a'), ask('b')]);
  expect(error).toMatchObject({ code: 'recording-ended' });
  expect(error.message).toMatch(/1 exchange of role "plan".*call 2/);
  expect((await replayError([ask('a', 'select')])).code).toBe('recording-ended');
});

test('exchanges made side by side are whole lines, each once', async () => {
  const model = recordingModel(
    scriptedModel({ replies: (request) => request.messages[1]!.content.repeat(2000), latencyMs: 1 }),
    file,
  );
  await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      model.complete(ask(`n${index} `), { signal: new AbortController().signal }),
    ),
  );
  expect((await readRecording(file)).exchanges).toHaveLength(40);
});

test('a recording is continued by the next process, under its first header', async () => {
  await record(ask('a'));
  await recordingModel(echo(), file, { note: 'another note' }).complete(ask('b'), { signal });
  const { note, exchanges } = await readRecording(file);
  expect(note).toBe('made up for a test');
  expect(exchanges).toHaveLength(2);
});

test('a failed call leaves no exchange', async () => {
  const model = recordingModel(scriptedModel({ replies: {} }), file);
  await expect(model.complete(ask('a'), { signal })).rejects.toMatchObject({ code: 'recording-ended' });
  expect((await readFile(file, 'utf8')).trim().split('\n')).toHaveLength(1);
});

test.each([
  ['that is something else', () => writeFile(file, 'SELECT 1;\n'), /exists and is not a recording/],
  ['that is cut off in a line', async () => writeFile(file, (await recorded()).slice(0, -20)), /middle of a line/],
  ['whose folder is gone', () => rm(dir, { recursive: true }), /cannot be written \(ENOENT\)/],
])('a file %s is not touched, and nothing is paid', async (_what, make, message) => {
  await make();
  const before = await readFile(file, 'utf8').catch(() => null);
  const inner = echo();
  await expect(recordingModel(inner, file).complete(ask('b'), { signal })).rejects.toThrow(message);
  expect(await readFile(file, 'utf8').catch(() => null)).toBe(before);
  expect(inner.requests).toHaveLength(0);
});

async function recorded(): Promise<string> {
  await record(ask('a'));
  return readFile(file, 'utf8');
}

test('a disk that fills up keeps the reply in hand and stops before the next call is paid', async () => {
  const inner = echo();
  const model = recordingModel(inner, file);
  await model.complete(ask('a'), { signal });
  await rm(dir, { recursive: true });
  expect((await model.complete(ask('b'), { signal })).text).toBe('b #1');
  await expect(model.complete(ask('c'), { signal })).rejects.toThrow(/cannot be written/);
  expect(inner.requests).toHaveLength(2);
});

test.each([
  ['missing', null, /cannot be read \(it does not exist\)/],
  ['empty', '', /line 1: it is not the header of a recording/],
  ['another format', '{"id":1}\n', /line 1: it is not the header of a recording/],
  ['of a later version', '{"schemaVersion":2,"kind":"gate-recording","note":""}\n', /line 1/],
])('a replay file that is %s is one clear line', async (_what, text, message) => {
  if (text !== null) await writeFile(file, text);
  await expect(replayModel(file)).rejects.toThrow(message);
});

test.each([
  ['cut off', (line: string) => line.slice(0, -10), /line 2: it is not JSON/],
  ['without a reply', (line: string) => line.replace('"reply"', '"rep"'), /line 2: reply/],
  ['edited', (line: string) => line.replace('Be exact', 'Be vague'), /line 2: its hash does not fit/],
])('an exchange that is %s is one clear line with its number', async (_what, damage, message) => {
  await record(ask('a'));
  const [header, line] = (await readFile(file, 'utf8')).split('\n');
  await writeFile(file, `${header}\n${damage(line!)}\n`);
  await expect(replayModel(file)).rejects.toThrow(message);
});

test('the hash depends on role and messages and on nothing else', () => {
  const request = ask('a');
  expect(contentHash(request.role, request.messages)).toBe(contentHash('plan', ask('a', 'ground', 'other').messages));
  expect(contentHash('ground', request.messages)).not.toBe(contentHash('plan', request.messages));
  expect(contentHash('plan', ask('a\nb').messages)).not.toBe(contentHash('plan', ask('a b').messages));
});
