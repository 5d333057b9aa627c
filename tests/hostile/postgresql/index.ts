import { bombs } from './bombs';
import { disguise } from './disguise';
import { outside } from './outside';
import { session } from './session';
import { writes } from './writes';

/** Fast ones; each group is run as a whole. */
export const acts = [...writes, ...outside, ...session, ...disguise];
/** Each may take its whole time limit. */
export { bombs };
