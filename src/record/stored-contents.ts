/**
 * How the contents of a search are stored: in the object of their step or as objects of their own, and long ones that many
 * searches share by their hash (`objects.ts`). What all questions on a database are told is stored apart from each prompt.
 */
import { BoundedMap } from '../bounded-map';
import type { ChatMessage } from '../domain/model-call';
import type { ObjectStore } from '../domain/ports';
import { each } from '../limiter';
import { sha256 as hashOf } from '../sha256';
import type { CallIntent, Kind } from './contents';
import { openEnvelope, writeEnvelope } from './envelope';
import { INLINE_LIMIT, putObject, readObject, type ObjectReference } from './objects';
import { perStore } from './per-store';

/** Kinds that many searches share. So there are not many objects, however many searches are stored. */
const SHARED: ReadonlySet<Kind> = new Set(['input', 'schema', 'profile']);

/** The end of the name of a step's object that refers to others. */
export const REFERRING = '.refs.json';
export const PLAIN = '.json';

/** What a step has made. */
export interface Made {
  /** How far its process had read: contents of later objects replace those of earlier ones. */
  readonly after: number;
  readonly contents: readonly Entry[];
}

/** A content as it is stored. */
export interface Entry {
  readonly kind: Kind;
  readonly id: string;
  readonly data?: unknown;
  readonly shared?: Shared;
}

interface Shared {
  readonly sha256: string;
  readonly object: ObjectReference;
}

const MOST_CHARS = 32 * 1024 * 1024;
/** Shared contents by their hash: parsed once, however many searches refer to them. */
const sharedIn = perStore(() => new BoundedMap<unknown>(MOST_CHARS));

/** Whether what stands under a key may refer to objects: of a step its name says it. */
export function mayRefer(key: string): boolean {
  return key.endsWith(REFERRING) || /^runs\/[^/]+\/(input|intent|reply|result)\//.test(key);
}

/** The names of the objects that the text under such a key refers to. */
export function referencesIn(text: string, key: string): readonly string[] {
  if (text === '' || !mayRefer(key)) return [];
  const data = dataOf(text, key) as Entry & { made?: Made };
  const { messages = [] } = (data.data ?? {}) as { readonly messages?: readonly StoredMessage[] };
  return [data, ...messages, ...(data.made?.contents ?? [])].flatMap(({ shared }) => shared?.object.name ?? []);
}

/** The text of an object without contents of these kinds. */
export function withoutKinds(text: string, key: string, kinds: readonly string[]): string {
  const data = kinds.length === 0 ? null : (dataOf(text, key) as Entry & { made?: Made });
  if (!data?.made?.contents.some(({ kind }) => kinds.includes(kind))) return text;
  const contents = data.made.contents.filter(({ kind }) => !kinds.includes(kind));
  return writeEnvelope(kindOf(key), { ...data, made: { ...data.made, contents } });
}

export function dataOf(text: string, key: string): unknown {
  return openEnvelope(text, { key, kind: kindOf(key) });
}

/** Of the envelope under `runs/<search>/<folder>/…`. */
function kindOf(key: string): string {
  const folder = key.split('/').at(-2) ?? '';
  return folder === 'steps' ? 'step' : folder;
}

/** The inside of a JSON object: `data`, or `shared` where it is stored by its hash. */
export async function storedJson(
  store: ObjectStore,
  kind: Kind,
  data: unknown,
): Promise<{ readonly json: string; readonly refers: boolean }> {
  if (kind === 'intent') {
    const messages = await each((data as CallIntent).messages, (message) => storedMessage(store, message));
    return { json: `"data":${JSON.stringify({ ...(data as CallIntent), messages })}`, refers: true };
  }
  const json = JSON.stringify(data);
  if (json.length < INLINE_LIMIT || !SHARED.has(kind)) return { json: `"data":${json}`, refers: false };
  return { json: `"shared":${JSON.stringify(await share(store, json, data))}`, refers: true };
}

async function share(store: ObjectStore, json: string, content: unknown): Promise<Shared> {
  const sha256 = hashOf(json);
  const object = await putObject(store, json, sha256);
  sharedIn(store).set(sha256, content, json.length);
  return { sha256, object };
}

/** `content`: what follows after the shared text. */
type StoredMessage = ChatMessage & { readonly shared?: Shared };

async function storedMessage(store: ObjectStore, { role, content, common = 0 }: ChatMessage): Promise<StoredMessage> {
  if (common < INLINE_LIMIT / 2) return { role, content };
  const text = content.slice(0, common);
  return { role, content: content.slice(common), shared: await share(store, JSON.stringify(text), text) };
}

async function messageOf(store: ObjectStore, neededBy: string, message: StoredMessage): Promise<ChatMessage> {
  const { role, content, shared } = message;
  if (shared === undefined) return message;
  const text = (await sharedContent(store, neededBy, shared)) as string;
  return { role, content: text + content, common: text.length };
}

/** What is stored as an object of its own. */
export async function ownContent(store: ObjectStore, key: string, text: string): Promise<unknown> {
  const content = await contentOf(store, key, dataOf(text, key) as Entry);
  if (kindOf(key) !== 'intent') return content;
  const intent = content as CallIntent & { readonly messages: readonly StoredMessage[] };
  return { ...intent, messages: await each(intent.messages, (message) => messageOf(store, key, message)) };
}

export function contentOf(store: ObjectStore, neededBy: string, { data, shared }: Entry): Promise<unknown> {
  return shared === undefined ? Promise.resolve(data) : sharedContent(store, neededBy, shared);
}

async function sharedContent(store: ObjectStore, neededBy: string, { sha256, object }: Shared): Promise<unknown> {
  const all = sharedIn(store);
  const before = all.get(sha256);
  if (before !== undefined) return before;
  const json = await readObject(store, object, { hash: sha256, neededBy });
  const content: unknown = JSON.parse(json);
  all.set(sha256, content, json.length);
  return content;
}
