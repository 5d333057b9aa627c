/** Certificates of an authority of the test's own, made by openssl. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface Authority {
  readonly cert: string;
  /** For this host and these days from now; negative: it has expired. Gives the paths of its files. */
  issue(name: string, host: string, days?: number): Certificate;
}

export function createAuthority(folder: string, name: string): Authority {
  const file = (suffix: string): string => join(folder, suffix);
  const key = (of: string): string => {
    openssl('ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', file(`${of}.sec1`));
    openssl('pkcs8', '-topk8', '-nocrypt', '-in', file(`${of}.sec1`), '-out', file(`${of}.key`));
    return file(`${of}.key`);
  };
  const [authorityKey, cert] = [key(name), file(`${name}.crt`)];
  openssl('req', '-x509', '-key', authorityKey, '-subj', `/CN=${name}`, '-days', '2', '-out', cert);
  return {
    cert,
    issue(leaf, host, days = 1) {
      const leafKey = key(leaf);
      writeFileSync(file(`${leaf}.ext`), `subjectAltName=DNS:${host}`);
      openssl('req', '-new', '-key', leafKey, '-subj', `/CN=${leaf}`, '-out', file(`${leaf}.csr`));
      openssl(
        ...['x509', '-req', '-in', file(`${leaf}.csr`), '-CA', cert, '-CAkey', authorityKey, '-CAcreateserial'],
        ...['-days', String(days), '-extfile', file(`${leaf}.ext`), '-out', file(`${leaf}.crt`)],
      );
      return { cert: file(`${leaf}.crt`), key: leafKey };
    },
  };
}

function openssl(...args: readonly string[]): void {
  execFileSync('openssl', args, { stdio: 'pipe' });
}
