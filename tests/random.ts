// Tests laws at random: a few times on each change, and many times in long runs.
import fc from 'fast-check';

/** Number of tries of a law: as requested, and twenty times as many with `npm run test:long`. */
export const times = (onEachChange: number): number => onEachChange * Number(process.env.PPSGATE_TEST_TIMES ?? 1);

// Default number for laws.
fc.configureGlobal({ numRuns: times(100) });
