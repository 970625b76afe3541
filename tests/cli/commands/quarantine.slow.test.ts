// `ppsgate quarantine`: a testbed out of use, and back.
import { expect, test } from 'vitest';
import { readLab } from '../../../src/gate/reserve/records.ts';
import { setQuarantine } from '../../../src/gate/reserve/reservation.ts';
import { whoami } from '../../../src/gate/testbeds/reserve.ts';
import { aPlace, embedded, linuxOf } from '../../fakes/place.ts';

const two = () => aPlace({ here: embedded, rack: linuxOf('rack') });

test('a testbed is out of use with its reason until that is lifted', async () => {
  const { ppsgate, store } = await two();
  const put = await ppsgate('quarantine', 'here', '--reason', 'port 1 loses its link');
  expect(put).toMatchObject({
    status: 0,
    stdout: 'here is in quarantine and cannot be reserved until `ppsgate quarantine here --lift`.\n',
  });
  expect((await readLab(store)).quarantines.get('here')).toMatchObject({
    reason: 'port 1 loses its link',
    by: whoami(),
  });
  expect(await ppsgate('reserve', 'here', '--', 'true')).toMatchObject({
    status: 4,
    stderr: expect.stringContaining('port 1 loses its link'),
  });

  const lifted = await ppsgate('quarantine', 'here', '--lift');
  expect(lifted.status).toBe(0);
  expect(lifted.stdout).toMatch(/^here is available again; it was in quarantine: port 1 loses its link \(.*\)\.\n$/);
  expect((await ppsgate('reserve', 'here', '--', 'true')).status).toBe(0);
});

test('a waiting gate continues to wait for the others, and gets the lifted one', async () => {
  const { ppsgate, start, take, store } = await aPlace({ here: embedded, rack: linuxOf('rack') });
  await take('rack');
  await setQuarantine(store, 'here', { reason: 'x', by: 'carol', since: new Date().toISOString() });
  const waiting = start('reserve', 'here or rack', '--', 'true');
  await expect.poll(waiting.said).toContain('1 of 1 in line');
  await ppsgate('quarantine', 'here', '--lift');
  expect(await waiting.ended).toMatchObject({
    status: 0,
    stderr: expect.stringContaining('here is reserved.'),
  });
});

test('the holder keeps the testbed, and is named', async () => {
  const { ppsgate, take, store } = await two();
  await take('rack', { patch: 'main..fast' });
  expect((await ppsgate('quarantine', 'rack', '--reason', 'x')).stdout).toContain(
    '\nalice@lab1 holds it (gate of main..fast), and keeps it.\n',
  );
  expect((await readLab(store)).held.size).toBe(3);
});

test('the replaced quarantine is printed', async () => {
  const { ppsgate, store } = await two();
  await setQuarantine(store, 'rack', {
    reason: 'port 1 loses its link.',
    by: 'carol@lab2',
    since: '2026-03-01T10:00:00.000Z',
  });
  expect((await ppsgate('quarantine', 'rack', '--reason', 'sold')).stdout).toContain(
    '\nIt was already: port 1 loses its link (carol@lab2, 2026-03-01 10:00).\n',
  );
});

test('lifting what is not there is no error', async () => {
  const { ppsgate } = await two();
  expect(await ppsgate('quarantine', 'rack', '--lift')).toEqual({
    status: 0,
    stdout: 'rack is not in quarantine.\n',
    stderr: '',
  });
});

test.for([
  [['rakc', '--lift'], /has no testbed "rakc": it has here, rack; did you mean `rack`\?$/m],
  [['rack'], /Give the reason for the quarantine of rack with --reason TEXT, or lift it with --lift\.$/m],
  [['rack', '--reason', 'x', '--lift'], /with --reason TEXT, or lift it with --lift\.$/m],
  [['rack', '--reason', ' '], /with --reason TEXT/],
] as const)('wrong usage is reported: %s', async ([args, message]) => {
  const { ppsgate, store } = await two();
  const { status, stderr } = await ppsgate('quarantine', ...args);
  expect(status).toBe(2);
  expect(stderr).toMatch(message);
  expect((await readLab(store)).quarantines.size).toBe(0);
});
