// `ppsgate quarantine`: a testbed out of use, and back.
import { expect, test } from 'vitest';
import { readLab } from '../../../src/gate/reserve/records.ts';
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

test('the holder keeps the testbed, and is named', async () => {
  const { ppsgate, take, store } = await two();
  await take('rack', { patch: 'main..fast' });
  expect((await ppsgate('quarantine', 'rack', '--reason', 'x')).stdout).toContain(
    '\nalice@lab1 holds it (gate of main..fast), and keeps it.\n',
  );
  expect((await readLab(store)).held.size).toBe(3);
});
