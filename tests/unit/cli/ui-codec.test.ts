import { decodedInUi } from '../../../src/app/temporal-session';

const keys = [] as const;
const here = { encryption: { keys, codecServer: null } };
const elsewhere = { encryption: { keys, codecServer: 'https://codec.internal' } };
const ui = (uiCodecEndpoint: string | null) =>
  ({ uiUrl: 'http://127.0.0.1:8833', embedded: { info: { uiCodecEndpoint } } }) as Parameters<typeof decodedInUi>[1];

test('after a link into the UI stands what lets it show encrypted payloads', () => {
  expect(decodedInUi(here, ui('http://127.0.0.1:8834'))).toBe(
    'Encrypted payloads are shown there in plain while gate ops codec-server runs (http://127.0.0.1:8834)\n',
  );
  expect(decodedInUi(elsewhere, ui('https://codec.internal'))).toBe(
    'Encrypted payloads are shown there in plain through the codec server https://codec.internal\n',
  );
});

test.each([null, 'http://127.0.0.1:40123'])('a UI that was told %p needs the address entered', (told) => {
  expect(decodedInUi(here, ui(told))).toMatch(
    /\(http:\/\/127.0.0.1:8834\); enter its address in the UI \(the glasses\)\n$/,
  );
});

test('nothing is said without encryption or without a UI', () => {
  expect(decodedInUi({ encryption: null }, ui(null))).toBe('');
  expect(decodedInUi(here, { ...ui(null), uiUrl: null })).toBe('');
});
