// Sends windows of real packets through replacements of guests: a cable whose other end counts them, and one that
// accepts none.
import { type ChildProcess, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { ownerFile } from '../../../src/lab/netns/embedded-lab.ts';
import { claim, disclaim } from '../../../src/lab/netns/owner.ts';
import { readVirtualLogs, silentIn } from '../../../src/lab/qemu/trial-logs.ts';
import type { Guest } from '../../../src/lab/qemu/vm/guest.ts';
import { openWire, type Wire } from '../../../src/lab/qemu/vm/wire.ts';
import { sendWindows } from '../../../src/lab/qemu/windows.ts';
import { trafgenFlows } from '../../../src/lab/traffic/flows.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { forwarding } from '../../fakes/result.ts';
import { describeWith } from '../../needs.ts';

const source = join(import.meta.dirname, '../../../src/lab/qemu/windows.sh');
const script = readFileSync(source, 'utf8');
const packets = 500;

/** A busy thread of this machine: ours. */
const cpuThread = `/proc/${process.pid}/task/${process.pid}`;

function flowsFile(): string {
  const path = join(temporaryFolder(), 'flows');
  const macs = { sourceMac: '02:70:70:00:ff:01', destinationMac: '02:70:70:00:00:01' };
  writeFileSync(path, trafgenFlows({ family: 'inet4', flows: 10, frameBytes: 64, ...macs }));
  return path;
}

/** A file of 8 bytes with a growing number, like that of instruction counters. */
function countsFile(): string {
  const path = join(temporaryFolder(), 'counts');
  const file = openSync(path, 'w');
  const number = new BigUint64Array([2n ** 40n]);
  const count = () => {
    number[0] = (number[0] ?? 0n) + 1000n;
    writeSync(file, number, 0, 8, 0);
  };
  count();
  const counting = setInterval(count, 1);
  onTestFinished(() => {
    clearInterval(counting);
    closeSync(file);
  });
  return path;
}

/** Raises interfaces without IPv6, which would send frames of its own. */
async function quiet(wire: Wire, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await wire.run('sysctl', ['-q', '-w', `net.ipv6.conf.${name}.disable_ipv6=1`]);
    await wire.run('ip', ['link', 'set', 'dev', name, 'up']);
  }
}

type Ends = Guest['interfaces'];

/** A cable: packets that enter one end leave the other. */
async function cable(wire: Wire, number = 1): Promise<Ends> {
  const [sender, receiver] = [`test-tx${number}`, `test-rx${number}`];
  await wire.run('ip', ['link', 'add', sender, 'type', 'veth', 'peer', 'name', receiver]);
  await quiet(wire, [sender, receiver]);
  return { sender, receiver };
}

/** A guest that exists, but takes nothing from its network card. */
async function hungGuest(wire: Wire, number = 1): Promise<Ends> {
  const sender = `test-hung${number}`;
  const program = join(temporaryFolder(), 'hang');
  const compiling = spawnSync('gcc', ['-x', 'c', '-', '-o', program], { input: hanging });
  expect(compiling.status, String(compiling.stderr)).toBe(0);
  const running = wire.start(program, [sender]);
  await once(running.stdout ?? running, 'data');
  const { receiver } = await cable(wire, 10 + number);
  await quiet(wire, [sender]);
  return { sender, receiver };
}

const hanging = `
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct ifreq request = { .ifr_flags = IFF_TAP | IFF_NO_PI };
	int tap = open("/dev/net/tun", O_RDWR), few = 1;

	strncpy(request.ifr_name, argv[1], IFNAMSIZ - 1);
	if (tap == -1 || ioctl(tap, TUNSETIFF, &request) != 0)
		return 1;
	puts("hanging");
	fflush(stdout);
	for (;;)
		pause();
}
`;

type Run = { stdout: string; stderr: string; code: number | null };

type Started = { running: ChildProcess; flows: string; ended: Promise<Run> };

/** Starts windows.sh as `sendWindows` does, with as much patience as a test has. */
function start(
  wire: Wire,
  guests: readonly (Ends & { counts?: string; thread?: string })[],
  { planned, seconds = 30, packets: each = packets }: { planned: string; seconds?: number; packets?: number },
): Started {
  const flows = flowsFile();
  const described = guests.map(({ sender, receiver, counts = '-', thread = cpuThread }) =>
    [sender, receiver, counts, thread, flows].join(','),
  );
  const words = [each, seconds, 0, planned].map(String);
  const running = wire.start('bash', ['-c', script, 'windows.sh', ...words, ...described]);
  const said = { stdout: '', stderr: '' };
  running.stdout?.on('data', (piece) => {
    said.stdout += piece;
  });
  running.stderr?.on('data', (piece) => {
    said.stderr += piece;
  });
  running.stdin?.on('error', () => {});
  const ended = once(running, 'close').then(([code]) => ({ ...said, code }));
  return { running, flows, ended };
}

/** Commands of this machine that have that word. */
const commandsWith = (word: string): string[] =>
  readdirSync('/proc').flatMap((name) => {
    try {
      if (!/^\d+$/.test(name)) return [];
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      return command.includes(word) ? command.join(' ') : [];
    } catch {
      // It has ended.
      return [];
    }
  });

const guestOf = (interfaces: Ends, more: Partial<Guest> = {}) =>
  ({ interfaces, counts: undefined, cpuThread, ended: new Promise(() => {}), ...more }) as Guest;

const needs = ['root', 'ip', 'unshare', 'nsenter', 'bash', 'trafgen', 'taskset', 'sysctl', 'od'];

describeWith([...needs, 'gcc', '/dev/net/tun'], 'windows', () => {
  beforeAll(() => claim(ownerFile));
  afterAll(() => disclaim(ownerFile));

  test('are printed with the counters before and after, and end with a marking line', async () => {
    await using wire = await openWire();
    const guest = { ...(await cable(wire)), counts: countsFile() };
    const { stdout, code } = await start(wire, [guest], { planned: '1,1,1' }).ended;
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.map((line) => line.split(' ')[0])).toEqual(['window', 'window', 'window', 'end']);
    const planned = {
      number: 1,
      cell: forwarding,
      runs: [{ number: 1, pair: 1, variant: 'base' }],
    };
    const read = readVirtualLogs(planned, '', packets, new Map([[1, stdout]]));
    expect(read).toMatchObject({
      kind: 'measured',
      runs: [
        {
          samples: Array(2).fill({
            forwardedPackets: packets,
            instructions: expect.any(Number),
          }),
          instructionsPerPacket: expect.any(Number),
          validity: { kind: 'valid' },
        },
      ],
    });
  });

  test('are sent through guests in the order that was planned, each by its own number', async () => {
    await using wire = await openWire();
    const guests = [await cable(wire, 1), await cable(wire, 2)];
    const { stdout } = await start(wire, guests, { planned: '1,2,2,1' }).ended;
    const order = [...stdout.matchAll(/^window (\d) \S+ (\d+) (\S+) .* (\d+) - \d+ \d+$/gm)];
    expect(order.map(([, guest, before, counted, after]) => [guest, before, counted, after])).toEqual([
      ['1', '0', '-', String(packets)],
      ['2', '0', '-', String(packets)],
      ['2', String(packets), '-', String(2 * packets)],
      ['1', String(packets), '-', String(2 * packets)],
    ]);
  });

  test('end when their standard input does, and nothing sends any more', async () => {
    await using wire = await openWire();
    const guest = await cable(wire);
    const endless = { planned: '1,1', packets: 1_000_000_000 };
    const { running, flows, ended } = start(wire, [guest], endless);
    await expect.poll(() => commandsWith(flows).some((one) => one.startsWith('trafgen'))).toBe(true);
    running.stdin?.end();
    const { stdout, code } = await ended;
    expect({ stdout, code }).toEqual({ stdout: '', code: 1 });
    await expect.poll(() => commandsWith(flows)).toEqual([]);
  });

  test('report a guest that accepts nothing as stuck, and send it no more', async () => {
    await using wire = await openWire();
    const guests = [await hungGuest(wire), await cable(wire)];
    // Longer than any cable needs on a machine with other work.
    const { stdout, code } = await start(wire, guests, { planned: '1,2,2,1,1,2', seconds: 10, packets: 5000 }).ended;
    expect(code).toBe(0);
    const told = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(' ').slice(0, 2).join(' '));
    expect(told).toEqual(['window 1', 'stuck 1', 'window 2', 'window 2', 'window 2', 'end']);
    expect(silentIn(stdout, 5000)).toEqual(new Set([1]));
  });

  test('end with what is wrong, where an interface is not there', async () => {
    await using wire = await openWire();
    const { receiver } = await cable(wire);
    const gone = await start(wire, [{ sender: 'x0', receiver: 'x1' }], { planned: '1' }).ended;
    expect(gone).toMatchObject({ stdout: '', code: 1 });
    expect(gone.stderr).toContain('there is no x1 any more');
    const deaf = await start(wire, [{ sender: 'x0', receiver }], { planned: '1' }).ended;
    expect(deaf).toMatchObject({ stdout: '', code: 2, stderr: expect.stringMatching(/\S/) });
  });
});

describeWith(needs, 'the windows of a trial', () => {
  beforeAll(() => claim(ownerFile));
  afterAll(() => disclaim(ownerFile));

  const { signal } = new AbortController();

  test('break off where a guest ends', async () => {
    await using wire = await openWire();
    const end = Promise.withResolvers<string>();
    const guests = [guestOf(await cable(wire), { ended: end.promise })];
    const flows = flowsFile();
    const request = {
      guests,
      flows: async () => flows,
      packets: 1_000_000_000,
      windows: 2,
      signal,
    };
    const sending = sendWindows({ wire }, request);
    await expect.poll(() => commandsWith(flows).length).toBeGreaterThan(0);
    end.resolve('it reset itself');
    expect(await sending).toMatchObject({ kind: 'broken', log: '' });
    await expect.poll(() => commandsWith(flows)).toEqual([]);
  });

  test('stop with the given reason when the caller aborts', async () => {
    await using wire = await openWire();
    const guests = [guestOf(await cable(wire))];
    const flows = flowsFile();
    const controller = new AbortController();
    const request = { guests, flows: async () => flows, packets: 1_000_000_000, windows: 2 };
    const sending = sendWindows({ wire }, { ...request, signal: controller.signal });
    const refused = expect(sending).rejects.toThrow('cancelled by alice');
    await expect.poll(() => commandsWith(flows).length).toBeGreaterThan(0);
    controller.abort(new Error('cancelled by alice'));
    await refused;
    await expect.poll(() => commandsWith(flows)).toEqual([]);
  });
});
