// Laws are tried at random: a few times on each change, and many times where somebody lets them run for long.
import fc from 'fast-check';

/** How often a law is tried: as often as asked, and twenty times as often by `npm run test:long`. */
export const times = (onEachChange: number): number =>
  onEachChange * Number(process.env.PPSGATE_TEST_TIMES ?? 1);

// The number for laws that ask for none.
fc.configureGlobal({ numRuns: times(100) });
