// Compares connections without ssh with those over ssh, as most tests of the fake lab have only the former.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { ConnectOptions } from '../../../src/system/host/login.ts';
import { connect, type Host } from '../../../src/system/host/ssh.ts';
import { shell } from '../../../src/system/shell.ts';
import { temporaryFolder } from '../folder.ts';
import { textOf } from './file-system.ts';
import { type FreebsdLab, type FreebsdLabOptions, type LabMachine, startFreebsdLab } from './lab.ts';
import { panic } from './lifecycle.ts';
import { setCutOff, setOverloaded } from './machine.ts';

type Open = (options?: ConnectOptions) => Promise<Host>;

/** Returns everything that a caller can see. */
type Story = (lab: FreebsdLab, open: Open) => Promise<unknown>;

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (error: Error & { kind?: string }) => `${error.kind}: ${error.message}`,
  );

async function seenIn(
  story: Story,
  options: FreebsdLabOptions,
  openOn: (machine: LabMachine) => Open,
  name: 'dut' | 'receiver',
): Promise<unknown> {
  await using lab = await startFreebsdLab(options);
  const seen = JSON.stringify(await story(lab, openOn(lab[name])), null, 1);
  return seen
    .replaceAll(/127[\d.]+:\d+/g, 'ADDRESS')
    .replaceAll(/(?:read|write) ECONNRESET/g, 'RESET')
    .replaceAll(/\/tmp\/[\w/-]+/g, 'FILE')
    .replaceAll(/ppsgate-test-\w+/g, 'FOLDER');
}

async function expectSame(
  story: Story,
  options: FreebsdLabOptions = {},
  name: 'dut' | 'receiver' = 'dut',
): Promise<string> {
  const overSsh = await seenIn(
    story,
    options,
    (machine) => (its) => connect({ ...machine.target, label: name }, { keepaliveSeconds: 0, ...its }),
    name,
  );
  const direct = await seenIn(story, options, (machine) => (its) => machine.connect(name, its), name);
  expect(direct).toEqual(overSsh);
  return String(direct);
}

const local = (bytes: string): string => {
  const path = join(temporaryFolder(), 'file');
  writeFileSync(path, bytes);
  return path;
};

test('a command has the same exit code, output, signal and input', async () => {
  const seen = await expectSame(async (_, open) => {
    await using host = await open();
    return [
      host.name,
      await host.run(shell`uname -v`),
      await host.run(shell`nextboot -k ${"it's not there"}`),
      await host.run(shell`no-such-program`),
      await host.run(shell`cat`, { stdin: 'input' }),
      await host.run(shell`timeout 5 sleep 10`),
      await failure(host.output(shell`ls /missing`)),
      await failure(host.run(shell`dmesg -a`, { maxOutputBytes: 10 })),
    ];
  });
  expect(seen).toContain('"stdout": "input"');
});

test('an upload leaves the same file, or fails with the same words', async () => {
  const options = { disk: { totalBytes: 1e6, usedBytes: 8e5 } };
  const seen = await expectSame(async (lab, open) => {
    await using host = await open();
    const [bytes, path] = [Buffer.from('bytes'), local('x'.repeat(50_000))];
    const { files } = lab.dut.machine;
    const outcomes = [
      await failure(host.upload(bytes, '/etc/bytes', 0o600)),
      await failure(host.upload(path, '/etc/file', 0o755)),
      await failure(host.upload(path, '/etc/bytes', 0o644, { resume: true })),
      await failure(host.upload(bytes, '/missing/bytes', 0o600)),
      await failure(host.upload(bytes, '/etc', 0o600)),
      await failure(host.upload(Buffer.alloc(300_000), '/etc/large', 0o600)),
      await failure(host.upload(local('y'.repeat(300_000)), '/etc/kept', 0o600, { resume: true })),
    ];
    const left = [...files.nodes].flatMap(([name, node]) =>
      node.kind === 'file' && name.startsWith('/etc') ? `${name} ${node.mode} ${node.bytes.length}` : [],
    );
    return { outcomes, left };
  }, options);
  expect(seen).toContain('"/etc/bytes 420 50000"');
});

test('an upload that breaks loses every connection, and is resumed where it broke', async () => {
  const options = { faults: [{ kind: 'upload-lost', at: 1, afterBytes: 100_000 }] } as const;
  const seen = await expectSame(async (lab, open) => {
    const [host, other] = [await open(), await open()];
    const path = local('z'.repeat(200_000));
    const lost = failure(other.run(shell`sleep 1000`));
    const outcomes = [await failure(host.upload(path, '/etc/z', 0o600, { resume: true }))];
    const isPartial = (textOf(lab.dut.machine.files, '/etc/z.part')?.length ?? 0) > 0;
    await using again = await open();
    outcomes.push(await failure(again.upload(path, '/etc/z', 0o600, { resume: true })));
    const bytes = textOf(lab.dut.machine.files, '/etc/z')?.length;
    return { outcomes, lost: await lost, isPartial, bytes };
  }, options);
  expect(seen).toContain('"bytes": 200000');
});

test('a machine that panics, reboots or is cut off is lost and refuses connections alike', async () => {
  await expectSame(async (lab, open) => {
    const outcomes: unknown[] = [];
    const { machine } = lab.dut;
    const deps = { clock: lab.clock, faults: lab.faults };
    const ends = [
      () => panic(machine, deps, 'page fault'),
      () => setCutOff(machine, true),
      () => void failure(lab.power.cycle()),
    ];
    for (const end of ends) {
      const host = await open();
      const underway = failure(host.run(shell`sleep 1000`));
      await setTimeout(50);
      end();
      outcomes.push(await underway, await failure(host.run(shell`true`)), await failure(open()));
      await lab.power.cycle();
      await lab.clock.sleep(300);
    }
    const host = await open();
    outcomes.push(await failure(host.run(shell`reboot`)));
    return outcomes;
  });
});

test('a machine that is too busy for ssh answers afterwards, and waits end at their limits', async () => {
  const seen = await expectSame(async (lab, open) => {
    await using host = await open();
    const { machine } = lab.dut;
    setOverloaded(machine, true);
    const [answer, login] = [host.run(shell`uname -r`), open()];
    const outcomes = [
      await failure(host.run(shell`uname -r`, { timeoutSeconds: 0.2 })),
      await failure(open({ timeoutSeconds: 0.2 })),
    ];
    setOverloaded(machine, false);
    await (await login).close();
    return [...outcomes, await answer];
  });
  expect(seen).toContain('timeout: Gave up on the login');
});

test('a command that was given up is killed by its next output, and one of a closed connection too', async () => {
  const seen = await expectSame(
    async (lab, open) => {
      const host = await open();
      const { programs } = lab.receiver.machine;
      const given = new AbortController();
      const receive = shell`pkt-gen -N -f rx -i ${lab.cabling.receiver.interface} -w 4`;
      const outcomes = [failure(host.run(receive, { signal: given.signal }))];
      await expect.poll(() => programs.size).toBe(1);
      given.abort(new Error('enough'));
      await expect.poll(() => lab.clock.sleep(1).then(() => programs.size)).toBe(0);
      outcomes.push(failure(host.run(receive)));
      await expect.poll(() => programs.size).toBe(1);
      await host.close();
      await expect.poll(() => lab.clock.sleep(1).then(() => programs.size)).toBe(0);
      return [await Promise.all(outcomes), await failure(host.run(shell`true`))];
    },
    {},
    'receiver',
  );
  expect(seen).toContain('this side closed the connection');
});
