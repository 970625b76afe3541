// Laws are tried at random: a few times on each change, and many times where somebody lets them run for long.
import fc from 'fast-check';

/** As often as asked, and twenty times as often by `npm run test:long`. */
export const times = (onEachChange: number): number =>
  onEachChange * Number(process.env.PPSGATE_TEST_TIMES ?? 1);

// Of those that ask for nothing.
fc.configureGlobal({ numRuns: times(100) });
