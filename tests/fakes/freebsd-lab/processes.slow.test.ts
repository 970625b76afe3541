import { expect, test } from 'vitest';
import { connect, type Host } from '../../../src/system/host/ssh.ts';
import { shell } from '../../../src/system/shell.ts';
import { type FreebsdLab, startFreebsdLab } from './lab.ts';

/** Resolves once it has printed something; it receives until it is ended. */
async function startReceiver(lab: FreebsdLab, host: Host) {
  const port = lab.cabling.receiver.interface;
  const { promise, resolve } = Promise.withResolvers<void>();
  const command = shell`timeout -s INT 1000000 pkt-gen -N -f rx -i ${port} -w 4`;
  const outcome = host.run(command, { onStderr: () => resolve() });
  await promise;
  outcome.catch(() => {});
  return { outcome };
}

test('pgrep prints the process ids of a program by its name, and exits with 1 if there is none', async () => {
  await using lab = await startFreebsdLab();
  await using host = await connect(lab.receiver.target);
  expect(await host.run(shell`pgrep -x pkt-gen`)).toMatchObject({ code: 1, stdout: '' });
  await startReceiver(lab, host);
  expect(await host.run(shell`pgrep -x pkt-gen`)).toMatchObject({ code: 0, stdout: '5242\n' });
  expect(await host.run(shell`pgrep -x pkt-ge`)).toMatchObject({ code: 1, stdout: '' });
});

test('pkill -INT has pkt-gen write its summary, and pkill does not', async () => {
  await using lab = await startFreebsdLab();
  await using host = await connect(lab.receiver.target);
  const first = await startReceiver(lab, host);
  expect(await host.run(shell`pkill -INT -x pkt-gen`)).toMatchObject({ code: 0, stdout: '' });
  expect(await first.outcome).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Received'),
  });
  expect(await host.run(shell`pkill -INT -x pkt-gen`)).toMatchObject({ code: 1 });

  const second = await startReceiver(lab, host);
  expect(await host.run(shell`pkill -x pkt-gen`)).toMatchObject({ code: 0 });
  expect((await second.outcome).stdout).toBe('');
});

test('pkill finds the sshd that it runs under with -a alone', async () => {
  await using lab = await startFreebsdLab();
  await using host = await connect(lab.receiver.target);
  expect(await host.run(shell`pgrep -x sshd`)).toMatchObject({ code: 1, stdout: '', stderr: '' });
  expect(await host.run(shell`pkill -STOP -x sshd`)).toMatchObject({ code: 1, stderr: '' });
  await expect(host.run(shell`pkill -STOP -a -x sshd`)).rejects.toThrow('Lost generator');
});

test('both want a pattern', async () => {
  await using lab = await startFreebsdLab();
  await using host = await connect(lab.receiver.target);
  for (const command of [shell`pgrep -x`, shell`pkill -INT`]) {
    const outcome = await host.run(command);
    expect(outcome).toMatchObject({ code: 2, stderr: expect.stringContaining('usage: p') });
  }
});
