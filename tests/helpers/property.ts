/**
 * fast-check. `npm test` draws the same cases everywhere, so that it passes or fails the same way twice; `npm run test:full`
 * draws new ones. A failure prints its seed, and `GATE_TEST_SEED=<seed>` draws its cases again.
 */
import fc from 'fast-check';

const USUAL_SEED = 20_261_129;
const { GATE_TEST_SEED: given, GATE_TEST_FULL: full } = process.env;
if (given !== undefined) fc.configureGlobal({ seed: Number(given) });
else if (full !== '1') fc.configureGlobal({ seed: USUAL_SEED });

export default fc;
