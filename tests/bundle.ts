// Builds dist/ from the current sources; tests start it as ppsgate. The project's own may be older; CI checks that they
// agree.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of the bundle. */
    bundle: string;
  }
}

const project = join(import.meta.dirname, '..');

/** Shares the bundle between the projects of one run, each of which calls the setup in a module of its own. */
const shared = 'PPSGATE_TEST_BUNDLE';

/** Builds the bundle once for all tests, and removes it after the last. */
export default function setup({ provide }: TestProject): (() => void) | undefined {
  const built = process.env[shared];
  if (built !== undefined) {
    provide('bundle', built);
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'ppsgate-bundle-'));
  const rolldown = join(project, 'node_modules/.bin/rolldown');
  execFileSync(rolldown, ['--config', 'rolldown.config.ts', '--dir', folder], {
    cwd: project,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  process.env[shared] = folder;
  provide('bundle', folder);
  return () => rmSync(folder, { recursive: true, force: true });
}
