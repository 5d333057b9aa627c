export { noteOf, prepareRecording, recordingModel, type RecordingModel, type RecordingOptions } from './record';
export { readRecording, replayModel, type ReplayModel } from './replay';
export { contentHash, type Exchange, type RecordingHeader } from './exchange';
