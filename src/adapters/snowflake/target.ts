/**
 * Where to connect and as whom: `snowflake://user@account/database/schema?warehouse=…&role=…` plus the login of the
 * configuration, as the driver's options. Nothing here is printed but account, database, warehouse, role and user.
 */
import type { ConnectionOptions } from 'snowflake-sdk';
import { fileText, readUrl, refuseClearText, wrong } from '../kit/address';

export type SnowflakeLoginSettings =
  | { readonly kind: 'key'; readonly privateKey: string; readonly passphrase: string | null }
  | { readonly kind: 'token'; readonly token: string; readonly tokenKind: 'pat' | 'oauth' }
  | { readonly kind: 'password'; readonly password: string };

export interface Target {
  readonly account: string;
  readonly user: string;
  readonly database: string;
  readonly schema: string | null;
  readonly warehouse: string | null;
  readonly role: string | null;
  /** The address from the configuration or URL; null: the account's standard address. */
  readonly accessUrl: string | null;
  readonly login: SnowflakeLoginSettings;
}

type TargetSettings = { readonly url: string } & Partial<Pick<Target, 'role' | 'accessUrl'>> & {
    readonly login?: SnowflakeLoginSettings | null;
  };

const EXAMPLE = 'snowflake://user@account/database/schema?warehouse=…&role=…';
const KNOWN = ['warehouse', 'role', 'accessUrl', 'privateKeyFile', 'tokenFile'];

export function readTarget({ url, login, role, accessUrl }: TargetSettings): Target {
  const { host, user, password, path, parameters } = readUrl(url, /^snowflake:\/\//i, EXAMPLE, KNOWN);
  const [database, schema = null, ...more] = path;
  if (host === '' || user === '' || database === undefined || more.length > 0)
    throw wrong(`the database URL must name user, account and database: write ${EXAMPLE}`);
  const address = accessUrl ?? parameters.get('accessUrl');
  if (address !== null) refuseClearText('accessUrl', address);
  return {
    account: host.replace(/\.snowflakecomputing\.(com|cn)$/i, ''),
    user,
    database,
    schema,
    warehouse: parameters.get('warehouse'),
    role: role ?? parameters.get('role'),
    accessUrl: address,
    login: login ?? loginOfUrl(parameters, password),
  };
}

function loginOfUrl(parameters: URLSearchParams, password: string): SnowflakeLoginSettings {
  const keyFile = parameters.get('privateKeyFile');
  if (keyFile !== null)
    return { kind: 'key', privateKey: fileText('privateKeyFile', keyFile).trim(), passphrase: null };
  const tokenFile = parameters.get('tokenFile');
  if (tokenFile !== null) return { kind: 'token', token: fileText('tokenFile', tokenFile).trim(), tokenKind: 'pat' };
  if (password !== '') return { kind: 'password', password };
  throw wrong('Snowflake needs a login: set snowflake.privateKeyFile, tokenEnv or passwordEnv for this database');
}

export function connectionOptions(target: Target): ConnectionOptions {
  const { account, user, database, schema, warehouse, role, accessUrl, login } = target;
  return {
    account,
    username: user,
    database,
    schema: schema ?? undefined,
    warehouse: warehouse ?? undefined,
    role: role ?? undefined,
    accessUrl: accessUrl ?? undefined,
    ...credentials(login),
    application: 'gate',
    // A database, schema, warehouse or role that does not exist fails the login instead of every statement.
    validateDefaultParameters: true,
    clientSessionKeepAlive: false,
    sfRetryMaxLoginRetries: 1,
    rowMode: 'array',
    streamResult: true,
    // Values as the server sent them; the driver's own numbers and dates lose digits.
    fetchAsString: ['Number', 'Date', 'JSON', 'Buffer'],
    jsTreatIntegerAsBigInt: true,
    representNullAsStringNull: false,
    disableConsoleLogin: true,
  };
}

function credentials(login: SnowflakeLoginSettings): ConnectionOptions {
  switch (login.kind) {
    case 'key':
      return {
        authenticator: 'SNOWFLAKE_JWT',
        privateKey: login.privateKey,
        privateKeyPass: login.passphrase ?? undefined,
      };
    case 'token':
      return {
        authenticator: login.tokenKind === 'pat' ? 'PROGRAMMATIC_ACCESS_TOKEN' : 'OAUTH',
        token: login.token,
      };
    case 'password':
      return { authenticator: 'SNOWFLAKE', password: login.password };
    default:
      return login satisfies never;
  }
}
