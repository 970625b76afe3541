// Runs the tests that need a real FreeBSD: `npm run test:freebsd -- IMAGE`. With `--lab` behind it, a laboratory of three
// guests is started instead, for a person, until Ctrl-C.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';
import { givenImage, imageVariable } from './given.ts';
import { startLabOfGuests } from './lab-of-guests.ts';

const [image, ...words] = process.argv.slice(2);
if (image !== undefined) process.env[imageVariable] = resolve(image);
if (image !== undefined && !existsSync(image)) {
  console.error(`There is no image ${image}: CONTRIBUTING.md says which one the tests need.`);
  process.exitCode = 2;
} else if (words[0] === '--lab') await showLab();
else process.exitCode = runTests();

/** Returns the exit code. */
function runTests(): number {
  const root = join(import.meta.dirname, '../../..');
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const args = [vitest, 'run', '--config', 'vitest.freebsd.config.ts', ...words];
  return spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' }).status ?? 1;
}

async function showLab(): Promise<void> {
  console.log('Three guests are booted and set up; that takes some minutes.');
  await using lab = await startLabOfGuests(givenImage());
  const config = join(lab.folder, 'ppsgate.yml');
  const traffic = { flows: 200, rate: '24 kpps', measure: '15 s', settle: '15 s' };
  const text = stringify({ testbeds: { guests: lab.testbed }, scenarios: ['forwarding'], traffic });
  writeFileSync(config, text);
  console.log(`${config} has them as the testbed \`guests\`, until Ctrl-C.`);
  console.log(`The DUT's console: tail -F ${join(lab.folder, 'dut.console')}`);
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
}
