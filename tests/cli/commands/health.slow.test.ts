// Tests `ppsgate testbeds health`: checks of free testbeds, and quarantine of faulty ones.
import { expect, test } from 'vitest';
import { readLab, readLog } from '../../../src/gate/reserve/records.ts';
import { setQuarantine } from '../../../src/gate/reserve/reservation.ts';
import { makeFolder, remove, writeFile } from '../../fakes/freebsd-lab/file-system.ts';
import type { FreebsdLab } from '../../fakes/freebsd-lab/lab.ts';
import { aFreebsdLab, aPlace, embedded, linuxOf } from '../../fakes/place.ts';

async function aShelf() {
  const { lab, shelf } = await aFreebsdLab();
  return { lab, ...(await aPlace({ shelf })) };
}

const leftover = '/var/tmp/ppsgate';

function spoil({ dut }: FreebsdLab): void {
  makeFolder(dut.machine.files, leftover, true);
  writeFile(dut.machine.files, `${leftover}/pf.conf`, 'pass');
}

const fix = ({ dut }: FreebsdLab): void => void remove(dut.machine.files, leftover);

test('a testbed that is well is reserved for the look, and free again', async () => {
  const { ppsgate, store, lab } = await aShelf();
  const { status, stdout } = await ppsgate('testbeds', 'health');
  expect(stdout).toMatch(/^shelf\n {2}✓ ssh to the DUT: /);
  expect(stdout).toMatch(/\n {2}All checks passed\.\n$/);
  expect(status).toBe(0);
  const entry = { testbed: 'shelf', holder: { purpose: 'health' }, priority: 'rerun', outcome: 'all checks passed' };
  expect(await readLog(store)).toMatchObject([entry]);
  expect(await readLab(store)).toMatchObject({ held: new Map(), used: new Map(), quarantines: new Map() });
  expect(lab.dut.machine.boots).toBe(0);
});

test('a faulty testbed is quarantined with the reason, and released once it is fixed', async () => {
  const { ppsgate, store, lab } = await aShelf();
  spoil(lab);
  const wrong = await ppsgate('testbeds', 'health', 'shelf');
  expect(wrong.status).toBe(4);
  expect(wrong.stdout).toContain(`  ✗ the files of the DUT: left behind: ${leftover}\n      fix: `);
  expect((await readLab(store)).quarantines.get('shelf')).toMatchObject({
    by: 'ppsgate',
    reason: `the files of the DUT: left behind: ${leftover}.`,
  });

  const still = await ppsgate('testbeds', 'health');
  expect(still.status).toBe(4);
  expect((await readLab(store)).quarantines.size).toBe(1);

  fix(lab);
  const fixed = await ppsgate('testbeds', 'health');
  expect(fixed.status).toBe(0);
  expect((await readLab(store)).quarantines.size).toBe(0);
});

test('a manual quarantine stays, however healthy the testbed is', async () => {
  const { ppsgate, store } = await aShelf();
  const quarantine = { reason: 'ours today', by: 'carol@lab2', since: '2026-03-01T10:00:00.000Z' };
  await setQuarantine(store, 'shelf', quarantine);
  const { status, stdout } = await ppsgate('testbeds', 'health');
  expect(status).toBe(0);
  expect(stdout).toContain('`ppsgate quarantine shelf --lift`');
  expect((await readLab(store)).quarantines.get('shelf')).toEqual(quarantine);
});

test.for(['free', 'in quarantine'])('a held one is left alone: %s', async (state) => {
  const { ppsgate, store, take, lab } = await aShelf();
  await take('shelf', { patch: 'main..fast' });
  const quarantine = { reason: 'x', by: 'ppsgate', since: '2026-03-01T10:00:00.000Z' };
  if (state === 'in quarantine') await setQuarantine(store, 'shelf', quarantine);
  spoil(lab);
  expect(await ppsgate('testbeds', 'health')).toMatchObject({ status: 0, stderr: '' });
  expect(lab.dut.journal).toEqual([]);
  expect((await readLab(store)).tickets).toEqual([]);
});

test('prints everything as JSON', async () => {
  const { lab, shelf } = await aFreebsdLab();
  const { ppsgate, take } = await aPlace({ shelf, here: embedded, rack: linuxOf('rack') });
  await take('rack');
  spoil(lab);
  const { status, stdout } = await ppsgate('testbeds', 'health', '--json');
  expect(status).toBe(4);
  const diagnostics = expect.arrayContaining([
    expect.objectContaining({ kind: 'wrong', what: 'the files of the DUT' }),
  ]);
  expect(JSON.parse(stdout)).toMatchObject([
    { testbed: 'shelf', kind: 'wrong', diagnostics, quarantine: { kind: 'stands', by: 'ppsgate' } },
    { testbed: 'here', kind: 'well', diagnostics: [{ kind: 'skipped' }], quarantine: { kind: 'none' } },
    { testbed: 'rack', kind: 'in-use', why: expect.stringContaining('alice@lab1') },
  ]);
});
