import { existsSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import LongestFirst from './tests/longest-first.ts';

const slow = 'tests/**/*.slow.test.ts';
const lab = 'tests/**/*.lab.test.ts';
/** Random laws and Monte Carlo of many repetitions: they compute as the fast ones do, for longer. */
const law = 'tests/**/*.law.test.ts';
/** Tests of vitest.freebsd.config.ts. */
const freebsd = 'tests/**/*.freebsd.test.ts';
const globalSetup = 'tests/bundle.ts';
/** Sets the number of tries of laws that do not set their own. */
const long = 'PPSGATE_TEST_TIMES' in process.env ? ['tests/random.ts'] : [];
// Programs that tests start read TypeScript, which takes longer than most of their work; and their output contains
// symbols of a UTF-8 locale, which tests look for.
const compileCache = join(import.meta.dirname, 'node_modules/.cache/node');
const env = { NODE_COMPILE_CACHE: compileCache, LC_ALL: 'C.UTF-8', ...inMemory() };

// CPUs that others share are slow at times, and a test that hangs is seldom.
const testTimeout = 600_000;
const hookTimeout = testTimeout;
// Much of their time tests wait for programs, and one file for the lab.
const maxWorkers = 4;
const expect = { poll: { timeout: 120_000 } };

const computing = {
  env: inMemory(),
  setupFiles: ['tests/starts-nothing.ts', ...long],
  // They leave nothing behind that another could find, and most of their time is start-up.
  pool: 'threads' as const,
  isolate: false,
  // vitest itself would choose one fewer than the CPUs, which leaves one of two idle.
  maxWorkers: 2,
  testTimeout,
  hookTimeout,
  expect,
  sequence: { groupOrder: 0 },
};

export default defineConfig({
  test: {
    reporters: ['default', './tests/end-reporter.ts'],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...computing,
          name: 'fast',
          include: ['tests/**/*.test.ts'],
          exclude: [slow, lab, law, freebsd],
        },
      },
      { test: { ...computing, name: 'law', include: [law] } },
      {
        test: {
          name: 'slow',
          include: [slow],
          globalSetup,
          setupFiles: ['tests/quick-ciphers.ts', 'tests/quick-timers.ts', ...long],
          env,
          maxWorkers,
          testTimeout,
          hookTimeout,
          expect,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'lab',
          include: [lab],
          globalSetup,
          setupFiles: ['tests/one-lab.ts'],
          env,
          maxWorkers,
          testTimeout,
          hookTimeout,
          expect,
          // Beside the slow ones: a lab's commands wait for most of their time.
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});

/**
 * Places temporary files in memory: a disk's file system takes a sixth of the time of tests that make repositories, and
 * a journal waits for it. The memory of containers can be too small.
 */
function inMemory(): { TMPDIR?: string } {
  const memory = '/dev/shm';
  if (!existsSync(memory)) return {};
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize < 3 * 1024 ** 3 ? {} : { TMPDIR: memory };
}
