// `ppsgate reserve`: a testbed by hand, for as long as a command runs.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readLab, readLog } from '../../../src/gate/reserve/records.ts';
import { tokenFolder } from '../../../src/lab/lease/fence.ts';
import { makeFolder, namesIn, writeFile } from '../../fakes/freebsd-lab/file-system.ts';
import { aFreebsdLab, aPlace, embedded } from '../../fakes/place.ts';
import { takeAway } from '../../fakes/reservation-lab.ts';
import { isRunning } from '../../fakes/running.ts';

const patience = { timeout: 120_000 };
const here = () => aPlace({ here: embedded });

test('the command runs with the testbed in its environment, and its exit code is ours', async () => {
  const { lab, shelf } = await aFreebsdLab();
  const { ppsgate, store } = await aPlace({ shelf });
  const say = 'echo "$PPSGATE_TESTBED $PPSGATE_DUT $PPSGATE_TOKEN"; exit 7';
  const { status, stdout } = await ppsgate('reserve', 'freebsd', '--', 'sh', '-c', say);
  expect(status).toBe(7);
  const [name, dut, token] = stdout.trim().split(' ');
  expect([name, dut]).toEqual(['shelf', lab.dut.target.host]);
  // The machines refuse a lower one.
  expect(namesIn(lab.dut.machine.files, tokenFolder)).toEqual([token]);
  expect(await readLog(store)).toMatchObject([
    { testbed: 'shelf', holder: { purpose: 'by hand' }, outcome: 'its command ended with 7' },
  ]);
  const { held, used } = await readLab(store);
  expect([held.size, used.size]).toEqual([0, 0]);
});

test('files that a person left on the testbed are removed before it is released', async () => {
  const { lab, shelf } = await aFreebsdLab();
  const { ppsgate, store } = await aPlace({ shelf });
  const { files } = lab.dut.machine;
  makeFolder(files, '/var/tmp/ppsgate', true);
  writeFile(files, '/var/tmp/ppsgate/pf.conf', 'pass');
  const { status, stderr } = await ppsgate('reserve', 'shelf', '--', 'true');
  expect(status, stderr).toBe(0);
  expect(lab.state().leftovers).toEqual([]);
  expect((await readLab(store)).quarantines.size).toBe(0);
});

test('a testbed that is out of reach at the end is left to its next holder', async () => {
  const { lab, shelf } = await aFreebsdLab();
  const { start, store, folder } = await aPlace({ shelf });
  const wait = `until test -e ${folder}/go; do sleep 0.1; done`;
  const reserved = start('reserve', 'shelf', '--', 'sh', '-c', wait);
  await expect.poll(reserved.said, patience).toContain('shelf is reserved.');
  await lab.power.off();
  writeFileSync(join(folder, 'go'), '');
  const { status, stderr } = await reserved.ended;
  expect(status).toBe(0);
  expect(stderr).toMatch(/shelf could not be restored to its base \(.*\): its next holder restores it\.$/m);
  const { held, used } = await readLab(store);
  expect([held.size, used.size > 0]).toEqual([0, true]);
});

test('a lost lease ends the command with all its descendants, and names the taker', async () => {
  const { start, store } = await here();
  const script = 'trap "echo told; exit 0" TERM; sleep 60 & echo "$!"; wait';
  const reserved = start('reserve', 'here', '--', 'sh', '-c', script);
  await expect.poll(reserved.said, patience).toMatch(/^\d+$/m);
  const [sleeper = ''] = /^\d+$/m.exec(reserved.said()) ?? [];
  await takeAway(store, 'here', 'carol@lab2', new Date());
  expect(await reserved.ended).toMatchObject({
    status: 4,
    stdout: expect.stringContaining('told\n'),
    stderr: expect.stringMatching(/The lease of here was lost: taken away by carol@lab2/),
  });
  expect(isRunning(Number(sleeper))).toBe(false);
});

test('a command that cannot be started is reported, and the testbed is released', async () => {
  const { ppsgate, store } = await here();
  const { status, stderr } = await ppsgate('reserve', 'here', '--purpose', 'new cables', '--', 'no-such-program');
  expect(status).toBe(2);
  expect(stderr).toContain('no-such-program cannot be started');
  expect(await readLog(store)).toMatchObject([{ holder: { purpose: 'new cables' } }]);
  expect((await readLab(store)).held.size).toBe(0);
});
