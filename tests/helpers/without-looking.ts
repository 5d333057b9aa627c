import { WITHOUT_LOOKING } from '../../src/config/presets';
import type { Settings } from '../../src/domain';

/** The search proper: without the conversation with which `fast` begins. Other methods are as they are. */
export function withoutLooking(settings: Settings): Settings {
  const { procedure, secondDerivation: _, ...rest } = settings;
  return procedure === undefined ? settings : { ...rest, ...WITHOUT_LOOKING };
}
