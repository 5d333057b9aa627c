export {
  scriptedModel,
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedReplies,
  type ScriptedReply,
} from './model';
export { createMemoryStore, type MemoryStore } from './store';
