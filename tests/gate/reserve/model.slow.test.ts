// Plays random histories on SQLite; the stores keep one contract.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { onTestFinished, test } from 'vitest';
import { virtualLab } from '../../fakes/reservation-lab.ts';
import { type History, histories, play } from '../../fakes/reservation-model.ts';
import { times } from '../../random.ts';

const patienceMilliseconds = 600_000;

test(
  'sqlite keeps the invariants in every history',
  async () => {
    // Uses memory if there is such a folder: power cuts are not simulated.
    const parent = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
    const folder = mkdtempSync(join(parent, 'ppsgate-test-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    let labs = 0;
    const playOne = async (history: History) => {
      const generator = xoroshiro128plus(history.seed);
      const pick = (count: number) => uniformInt(generator, 0, count - 1);
      labs += 1;
      await play(history, await virtualLab(join(folder, String(labs)), pick));
    };
    await fc.assert(fc.asyncProperty(histories(80), playOne), {
      numRuns: times(60),
      examples: [[renewedBetweenLosses], [lostSinceTheRead]],
      interruptAfterTimeLimit: 0.8 * patienceMilliseconds,
      markInterruptAsFailure: true,
    });
  },
  patienceMilliseconds,
);

/** Found by chance: a waiter gave up after a lease of lost requests, though its session was renewed between two of them. */
const renewedBetweenLosses: History = {
  seed: 0,
  commands: [
    { kind: 'request', who: 4, wants: ['a'], priority: 'patch' },
    { kind: 'step', count: 2 },
    { kind: 'step', count: 4 },
    { kind: 'cut', who: 4, lost: 'requests' },
    { kind: 'elapse', leases: 0.7851252331633685 },
    { kind: 'elapse', leases: 0.028208100169285898 },
    { kind: 'fix', who: 4 },
    { kind: 'elapse', leases: 0.02 },
    { kind: 'cut', who: 4, lost: 'requests' },
    { kind: 'elapse', leases: 1 },
  ],
};

/** A chance find: a holder came and went between another's look at the lab and its commit, and no log had its end. */
const lostSinceTheRead: History = {
  seed: -50344449,
  commands: [
    { kind: 'request', who: 3, wants: ['c', 'a'], priority: 'patch', subject: 'one' },
    { kind: 'stop', who: 3, isWorking: false },
    { kind: 'request', who: 1, wants: ['a'], priority: 'patch', subject: 'one' },
    { kind: 'settle' },
    { kind: 'release', who: 1, isClean: false, isSick: true, comesBack: false },
    { kind: 'elapse', leases: 1 },
    { kind: 'request', who: 0, wants: ['c', 'a'], priority: 'patch', subject: 'one' },
  ],
};
