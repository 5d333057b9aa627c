/**
 * Sorts the errors of PostgreSQL and of the socket: an error that the statement caused is a value, an infrastructure error
 * is thrown. Each message is one line and never holds the password.
 */
import type { SqlEngineError } from '../../domain/ports/sql-engine';
import {
  errorBy,
  hungUp,
  lostBy,
  networkErrors,
  type EngineErrors,
  type Outcome,
  type ServerPlace,
} from '../kit/engine';

interface ServerError {
  /** Set only if the server sent the error. */
  readonly severity?: string;
  readonly message: string;
  readonly code?: string;
  readonly detail?: string;
  readonly hint?: string;
  readonly position?: string;
}

/** `offset`: length of the text put before the caller's statement; the server's positions include it. */
export function toOutcome(error: unknown, target: ServerPlace, offset = 0): Outcome {
  const { message, code, detail, hint, position, severity } = error as ServerError;
  // A lost connection has a code too; EPIPE even looks like a SQLSTATE.
  if (code === undefined || severity === undefined) throw lostBy(error, (told) => toEngineError(told, target));
  if (isInfrastructure(code, severity)) throw toEngineError(error, target);
  if (code === '57014' || code === '55P03') return { kind: 'timeout' };
  if (code === '25006') return { kind: 'refused', message: `${message}: write one SELECT that only reads` };
  const at = position === undefined ? '' : ` (at character ${Math.max(1, Number(position) - offset)})`;
  const advice = message.includes('row-level security') ? ROW_SECURITY : undefined;
  const more = [detail, hint, advice].filter(Boolean).join(' ');
  return { kind: 'sql-error', message: `${message}${at}${more && `. ${more}`}`, code };
}

const ROW_SECURITY =
  'A superuser reads here without its rights: configure a role that the policy lets read, or the role none to keep them';

/** Shutdown, too many connections, crash recovery, conflict with recovery on a standby. A connection exception counts too,
 * unless the server reports it for a connection that the statement itself opened. */
function isInfrastructure(code: string, severity: string | undefined): boolean {
  if (code.startsWith('08')) return severity !== 'ERROR';
  return code.startsWith('57P') || ['53300', '25P03', '40001'].includes(code);
}

/** An error before the login was complete. */
export function toConnectError(error: unknown, target: ServerPlace): SqlEngineError {
  const isCut = /^Connection terminated|ECONNRESET/.test((error as Error).message);
  return isCut ? hungUp('PostgreSQL', target, error) : toEngineError(error, target);
}

export function toEngineError(error: unknown, target: ServerPlace): SqlEngineError {
  const { message, code = '' } = error as ServerError;
  const lost = `lost PostgreSQL at ${target.host}: ${message || code}`;
  return errorBy(ERRORS, `${code} ${message}`, { ...target, code, message }, lost, error);
}

/** By the code of the server or the socket, and by the message after it. */
const ERRORS: EngineErrors = [
  [/^(28P01|28000) /, 'authentication', 'PostgreSQL at {host} refused user {user}: {message}; check user and password in the URL'],
  [/^3D000 /, 'not-found', 'PostgreSQL at {host} has no database {database}: check the name in the URL'],
  [/^42501 /, 'authentication', 'PostgreSQL at {host}: {message}; grant it to {user} or use another user'],
  [/^(22021|22P05) /, 'not-configured', 'PostgreSQL at {host} has text that UTF-8 cannot hold: {message}; correct it, or the encoding of the database'],
  [/^22023 .*pg_read_all_data/, 'not-read-only', 'PostgreSQL before 14 cannot restrict the superuser {user} to reading: log in as a role that may only read (gate db check NAME prints its statements), or name one with "role"; "role": "none" keeps the superuser\'s rights, and then only the parser prevents writes'],
  [/^(22023|42704) /, 'not-configured', 'PostgreSQL at {host}: {message}; check the role and the options'],
  [/^53300 /, 'connection', 'PostgreSQL at {host} has no free connection: {message}; lower maxConnections of this database or raise max_connections there'],
  ...networkErrors('PostgreSQL', { authority: 'sslrootcert', chain: 'sslmode=verify-ca', unchecked: 'sslmode=require without sslrootcert' }),
  [/does not support SSL/i, 'not-configured', 'PostgreSQL at {host} offers no TLS: turn it on there, or write sslmode=prefer or disable in the URL'],
  [/password must be a string|no password supplied/i, 'authentication', 'PostgreSQL at {host} wants a password for user {user}: add it to the URL'],
  [/error establishing an SSL connection/i, 'connection', "what answers at {host} does not speak PostgreSQL's protocol: correct host and port in the URL"],
]; // prettier-ignore
