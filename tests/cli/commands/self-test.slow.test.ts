// Tests `ppsgate testbeds self-test` as a user calls it: output, exit codes, and other requests meanwhile.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readFlightLog } from '../../fakes/flight-log.ts';
import { keepTime } from '../../fakes/freebsd-lab/lab.ts';
import { aFreebsdLab, aPlace } from '../../fakes/place.ts';

/** A laboratory whose time runs on while its DUT boots. */
async function aRunningLab() {
  const { lab, shelf } = await aFreebsdLab();
  const over = new AbortController();
  const time = keepTime(lab, 10, over.signal);
  onTestFinished(async () => {
    over.abort();
    await time;
  });
  return { lab, ...(await aPlace({ shelf })) };
}

const fewest = 'check,scenarios,trials,profile,noise';

test('prints a line for each step, and continues after an interruption', async () => {
  const { folder, lab, ppsgate } = await aRunningLab();
  const declined = await ppsgate('testbeds', 'self-test', 'shelf', '--skip', fewest);
  expect(declined.stdout).toContain('– a panic: not approved: answer the question with y');
  expect(declined.stdout).toMatch(/\nAll checks passed\.\n$/);
  expect(declined.status).toBe(0);

  const [directory = ''] = readdirSync(folder).filter((name) => name.startsWith('ppsgate-self-test'));
  const log = join(folder, 'self-test.log.gz');
  const words = ['--skip', fewest, '--yes', '--json', '--resume', directory, '--record', log];
  const agreed = await ppsgate('testbeds', 'self-test', 'shelf', ...words);
  expect(JSON.parse(agreed.stdout)).toMatchObject({
    testbed: 'shelf',
    directory: `${folder}/${directory}`,
    diagnostics: [
      { kind: 'ok', what: 'the kernel of base' },
      { kind: 'ok', what: 'a boot of that kernel' },
      { kind: 'ok', what: 'a second boot of that kernel' },
      { kind: 'ok', what: 'the boot after that' },
      { kind: 'ok', what: 'a panic' },
      { kind: 'skipped', what: 'a hang' },
      { kind: 'ok', what: 'the way back' },
    ],
  });
  expect(agreed.stderr).toContain('… It panicked. Waiting until it runs its own kernel again.');
  expect(agreed.status).toBe(0);
  expect(readFlightLog(log).length).toBeGreaterThan(20);
  expect(lab.state().leftovers).toEqual([]);
});
