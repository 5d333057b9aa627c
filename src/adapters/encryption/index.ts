export { createKeyRing, KEY_BYTES, type KeyRing } from './key-ring';
export { EncryptingCodec } from './payload-codec';
export { createEncryptedStore } from './store';
