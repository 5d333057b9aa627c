/**
 * Sorts the errors of MySQL, MariaDB, the driver and the socket: an error that the statement caused is a value, an
 * infrastructure error is thrown. Each message is one line and never holds the password.
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
  readonly message: string;
  readonly code?: string;
  /** Set only if the server sent the error. */
  readonly errno?: number;
  readonly sqlState?: string;
}

/** A time limit of either server; the statement was killed; it waited too long for a lock. */
const TIMEOUTS = [3024, 1969, 1317, 1205, 3572];
/** Shutdown, too many connections, killed or idle connections, errors of the network. */
const INFRASTRUCTURE = [1040, 1053, 1077, 1079, 1152, 1158, 1159, 1160, 1161, 1203, 1226, 1927, 3169, 4031];
const READ_ONLY = 1792;

export function isOfStatement(error: unknown): boolean {
  const { errno = 0, sqlState } = error as ServerError;
  return sqlState !== undefined && errno >= 1000 && !INFRASTRUCTURE.includes(errno);
}

export function toOutcome(error: unknown, target: ServerPlace): Outcome {
  const { errno = 0, sqlState } = error as ServerError;
  if (sqlState === undefined) throw lostBy(error, (told) => toEngineError(told, target));
  if (!isOfStatement(error)) throw toEngineError(error, target);
  if (TIMEOUTS.includes(errno)) return { kind: 'timeout' };
  const message = oneLine(error);
  if (errno === READ_ONLY) return { kind: 'refused', message: `${message}: write one SELECT that only reads` };
  return { kind: 'sql-error', message, code: String(errno) };
}

/** An error before the login was complete. */
export function toConnectError(error: unknown, target: ServerPlace): SqlEngineError {
  const isCut = /^(PROTOCOL_|ECONNRESET|EPIPE)/.test((error as ServerError).code ?? '');
  return isCut ? hungUp('MySQL', target, error) : toEngineError(error, target);
}

export function toEngineError(error: unknown, target: ServerPlace): SqlEngineError {
  const { code = '', errno = 0, sqlState } = error as ServerError;
  const message = oneLine(error);
  const lost = `lost MySQL at ${target.host}: ${message || code}`;
  const says = `${sqlState === undefined ? code : errno} ${message}`;
  return errorBy(ERRORS, says, { ...target, code, message }, lost, error);
}

const oneLine = (error: unknown): string => (error as ServerError).message.replace(/\s+/g, ' ').replace(/[. ]+$/, '');

/** By the number of the server's error or the code of the driver's, and by the message after it. */
const ERRORS: EngineErrors = [
  [/^(1045|1698|1251|1524|3118|3955) /, 'authentication', 'MySQL at {host} refused user {user}: {message}; check user and password in the URL'],
  [/^(1862|1820) /, 'authentication', 'MySQL at {host}: the password of {user} has expired; set a new one there'],
  [/^(1044|1142|1143|1227|1370) /, 'authentication', 'MySQL at {host}: {message}; grant it to {user}, turn on the role that has it (SET DEFAULT ROLE), or use another user'],
  [/^1049 /, 'not-found', 'MySQL at {host} has no database {database}: check the name in the URL'],
  [/^(1129|1130) /, 'authentication', 'MySQL at {host} lets no one in from this machine: {message}'],
  [/^(1040|1203|1226) /, 'connection', 'MySQL at {host} has no free connection: {message}; lower maxConnections of this database or raise the limit there'],
  [/^(1053|1077|1079|1927|4031) /, 'connection', 'MySQL at {host} closed the connection: {message}'],
  [/^HANDSHAKE_NO_SSL_SUPPORT /, 'not-configured', 'MySQL at {host} offers no TLS: turn it on there, or write ssl-mode=PREFERRED or DISABLED in the URL'],
  [/^(3159|1045) .*secure transport/i, 'not-configured', 'MySQL at {host} wants TLS: write ssl-mode=REQUIRED in the URL'],
  [/^(ENOENT|EACCES) /, 'connection', 'there is no socket {host} to connect to ({code}): correct socket in the URL'],
  [/^AUTH_SWITCH_PLUGIN_ERROR |^1251 /, 'authentication', 'MySQL at {host} wants a login that this driver does not have: {message}'],
  ...networkErrors('MySQL', { authority: 'ssl-ca', chain: 'ssl-mode=VERIFY_CA', unchecked: 'ssl-mode=REQUIRED' }),
]; // prettier-ignore
