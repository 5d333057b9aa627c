import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gateHome, type GateHome } from '../helpers/gate-process';
import type { TestData } from '../helpers/shared-data';
import { unique } from '../helpers/temporal';

/** A user whose configuration names the database; its name. */
export function sampleUser(data: TestData, baseUrl: string): { readonly home: GateHome; readonly db: string } {
  const [home, db] = [gateHome({ baseUrl }), unique('sprint')];
  const path = data.databases[0]?.split('=')[1];
  writeFileSync(join(home.folder, 'gate.config.json'), JSON.stringify({ databases: { [db]: { path } } }));
  return { home, db };
}
