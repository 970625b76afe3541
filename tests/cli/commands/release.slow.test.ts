import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { runRelease } from '../../../src/cli/lab/release.ts';
import { keepLease } from '../../../src/gate/reserve/lease-file.ts';
import { readLab, readLog } from '../../../src/gate/reserve/records.ts';
import { giveBack } from '../../../src/gate/reserve/reservation.ts';
import { whoami } from '../../../src/gate/testbeds/reserve.ts';
import { aPlace, linuxOf } from '../../fakes/place.ts';

const two = () => aPlace({ hp: linuxOf('hp'), twin: linuxOf('hp') });

/** Gives these answers, and records their prompts. */
function answers(...texts: string[]) {
  const questions: string[] = [];
  const ask = async (question: string) => {
    questions.push(question);
    return texts.shift() ?? '';
  };
  return { questions, ask };
}

function printed() {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  return () => write.mock.calls.map(([text]) => text).join('');
}

test('the holder is named, and the taker must give a name, which is logged', async () => {
  const { folder, take, store } = await two();
  const holding = await take('hp', { patch: 'main..fast' });
  const output = printed();
  const { questions, ask } = answers('carol', 'y');
  const config = join(folder, 'ppsgate.yml');
  expect(await runRelease('hp', { force: true, config }, ask)).toBe(0);
  expect(output()).toMatch(
    /^alice@lab1 has hp \(gate of main\.\.fast\) since \d\d:\d\d\..*\nhp was taken from alice@lab1; /,
  );
  expect(questions).toEqual([expect.stringContaining(whoami()), expect.stringContaining('[y/N]')]);
  const { held, used } = await readLab(store);
  expect(held.size).toBe(0);
  expect([...used.values()][0]?.id).toBe(holding.id);
  expect(await readLog(store)).toMatchObject([{ outcome: 'taken away by carol' }]);
});

test.for(['', 'yesterday'])('the testbed stays held if the answer is "%s"', async (answer) => {
  const { folder, take, store } = await two();
  await take('hp');
  printed();
  const config = join(folder, 'ppsgate.yml');
  await runRelease('hp', { force: true, by: 'carol', config }, answers(answer).ask);
  expect((await readLab(store)).held.size).toBe(3);
});

test('only the named holder loses it: one that came during the question keeps it', async () => {
  const { folder, take, store } = await two();
  const holding = await take('hp');
  printed();
  const ask = async () => {
    await giveBack(store, holding, { outcome: 'ended', isClean: true }, new Date());
    await take('hp', { who: 'bob@lab2' });
    return 'y';
  };
  await runRelease('hp', { force: true, by: 'carol', config: join(folder, 'ppsgate.yml') }, ask);
  expect((await readLab(store)).held.values().next().value?.holder.who).toBe('bob@lab2');
});

test('without a terminal it needs a name and a yes', async () => {
  const { ppsgate, take, store } = await two();
  await take('hp');
  for (const args of [[], ['--by', 'carol'], ['--yes']]) {
    const { status, stderr } = await ppsgate('release', 'hp', '--force', ...args);
    expect(status).toBe(2);
    expect(stderr).toContain('--by NAME and --yes');
  }
  expect((await readLab(store)).held.size).toBe(3);
  expect((await ppsgate('release', 'hp', '--force', '--by', 'carol', '--yes')).status).toBe(0);
  expect(await readLog(store)).toMatchObject([{ outcome: 'taken away by carol' }]);
});

test('a free testbed is not taken, and its holder under another name is named', async () => {
  const { ppsgate, take } = await two();
  expect(await ppsgate('release', 'hp', '--force')).toMatchObject({ status: 0, stdout: 'hp is free.\n' });
  await take('hp');
  expect((await ppsgate('release', 'twin', '--force')).stdout).toMatch(/^twin is free, but alice@lab1 has hp /);
});

test('the testbed and place in the queue that a gate left are released, and a second time is harmless', async () => {
  const { ppsgate, take, store, config, folder } = await two();
  const holding = await take('hp');
  const directory = join(folder, 'ppsgate-gate-1');
  const { session, testbed } = holding;
  await keepLease(directory, { ...lease, holding, session, testbed }, config.reservations);

  expect(await ppsgate('release', '--directory', 'ppsgate-gate-1')).toMatchObject({ status: 0, stderr: '' });
  const { held, used } = await readLab(store);
  expect([held.size, used.size]).toEqual([0, 3]);
  expect(await store.renew(session)).toBe(false);
  expect(await readLog(store)).toMatchObject([{ outcome: 'its process had ended' }]);

  const again = await ppsgate('release', '--directory', 'ppsgate-gate-1');
  expect(again).toMatchObject({ status: 0, stdout: expect.stringContaining('holds no testbed') });
});

test('testbeds that several gates left in folders of one directory are all released', async () => {
  const { ppsgate, take, store, config, folder } = await aPlace({ hp: linuxOf('hp'), rcc: linuxOf('rcc') });
  for (const name of ['hp', 'rcc']) {
    const holding = await take(name);
    const { session, testbed } = holding;
    const own = { ...lease, holding, session, testbed };
    await keepLease(join(folder, 'ppsgate-gate-1', name), own, config.reservations);
  }
  await ppsgate('release', '--directory', 'ppsgate-gate-1');
  expect((await readLab(store)).held.size).toBe(0);
});

const lease = {
  token: 1,
  signal: new AbortController().signal,
  over: new AbortController().signal,
  assertHeld() {},
  async prove() {},
  async release() {},
};
