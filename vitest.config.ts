import { defineConfig } from 'vitest/config';

// Tests that blast packets share two CPUs and one lab, and those that serve the FreeBSD lab to other processes need time
// to pass there as it does here: they run after all others, one file at a time.
const lab = [
  ...['tests/linux-lab/**/*.test.ts', 'tests/e2e/**/*.test.ts', 'tests/jenkins/**/*.test.ts'],
  'tests/fakes/freebsd-lab/serve.test.ts',
];

export default defineConfig({
  test: {
    reporters: ['default', './tests/skip-reporter.ts'],
    projects: [
      {
        test: {
          name: 'unit',
          include: ['tests/**/*.test.ts'],
          exclude: lab,
          // One fewer than there are CPUs is vitest's own choice, and leaves one of two idle: most tests wait for programs.
          maxWorkers: 2,
          // Two CPUs that others share are slow at times.
          testTimeout: 30_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'lab',
          include: lab,
          fileParallelism: false,
          // A hypervisor that gives the CPUs to others for a while makes measurements invalid, as it should.
          retry: 1,
          testTimeout: 300_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
