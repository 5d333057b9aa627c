export { createKeyRing, UnknownKeyError, KEY_BYTES, type EncryptionKey, type KeyRing } from './key-ring';
export { EncryptingCodec, PayloadError, ENCRYPTED_ENCODING, type EncryptingCodecOptions } from './payload-codec';
export { createEncryptedStore, createPlainStore } from './store';
