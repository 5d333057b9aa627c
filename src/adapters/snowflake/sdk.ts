/**
 * Loads the driver when a Snowflake database is opened for the first time: it is a large optional package. Everything it
 * would do besides connecting is switched off before: asking the cloud's metadata service which platform this is,
 * telemetry about the connection, native helpers, a log file in the working directory.
 * Certificate checks stay as the driver has them (OCSP on).
 */
import type * as SnowflakeSdk from 'snowflake-sdk';
import { SqlEngineError } from '../../ports/sql-engine';

export type Sdk = Pick<typeof SnowflakeSdk, 'configure' | 'createConnection'>;

const QUIET = {
  SNOWFLAKE_DISABLE_PLATFORM_DETECTION: 'true',
  SNOWFLAKE_DISABLE_MINICORE: 'true',
  SF_TELEMETRY_DISABLE_CONNECTION_SHAPE: 'true',
};

export type LoadSdk = () => Promise<Sdk>;

const importSdk: LoadSdk = async () => {
  const loaded = (await import('snowflake-sdk')) as Sdk & { readonly default?: Sdk };
  return loaded.default ?? loaded;
};

export async function loadSdk(load: LoadSdk = importSdk): Promise<Sdk> {
  for (const [name, value] of Object.entries(QUIET)) process.env[name] ??= value;
  try {
    const sdk = await load();
    sdk.configure({ logLevel: 'OFF', additionalLogToConsole: false });
    return sdk;
  } catch (error) {
    if (!/^(ERR_)?MODULE_NOT_FOUND$/.test(String((error as NodeJS.ErrnoException).code))) throw error;
    throw new SqlEngineError('not-configured', 'install snowflake-sdk: npm install snowflake-sdk', { cause: error });
  }
}
