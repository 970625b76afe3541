// Tests on a real FreeBSD, one after the other: `npm run test:freebsd -- IMAGE` (see CONTRIBUTING.md).
import { defineConfig } from 'vitest/config';
import { imageVariable } from './tests/e2e/freebsd/given.ts';

// A gate boots about ten times, and a boot needs a minute or more.
const testTimeout = 3 * 3600 * 1000;

export default defineConfig({
  test: {
    name: 'freebsd',
    include: ['tests/**/*.freebsd.test.ts'],
    reporters: ['verbose', './tests/end-reporter.ts'],
    // Claims this machine's one lab; skipped tests need none.
    setupFiles: imageVariable in process.env ? ['tests/one-lab.ts'] : [],
    env: { LC_ALL: 'C.UTF-8' },
    fileParallelism: false,
    testTimeout,
    hookTimeout: testTimeout,
  },
});
