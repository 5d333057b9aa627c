/** `gate doctor` says before a client certificate expires, and not after. */
import { readFileSync } from 'node:fs';
import { expiringCertificate } from '../../../src/workers/connection-problem';
import { createAuthority } from '../../helpers/certificates';
import { runFolder } from '../../helpers/run-folder';

const DAY_MS = 24 * 3_600_000;

test('a client certificate that ends within two weeks is told', () => {
  const { cert, key } = createAuthority(runFolder(), 'authority').issue('client', 'localhost', 20);
  const tls = { clientCertPair: { crt: readFileSync(cert), key: readFileSync(key) } };
  expect(expiringCertificate({ tls }, Date.now())).toBeNull();
  expect(expiringCertificate({ tls }, Date.now() + 7 * DAY_MS)).toEqual({
    what: expect.stringMatching(/^the client certificate expires on \w{3} .* GMT$/) as unknown,
    fix: expect.stringMatching(/^renew client_cert_path/) as unknown,
  });
  expect(expiringCertificate({}, Date.now())).toBeNull();
});
