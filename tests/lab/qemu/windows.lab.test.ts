// Sends windows of real packets through replacements of guests: a cable whose other end counts them, and one that
// accepts none.
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ownerFile } from '../../../src/lab/netns/embedded-lab.ts';
import { claim, disclaim } from '../../../src/lab/netns/owner.ts';
import { silentIn } from '../../../src/lab/qemu/trial-logs.ts';
import type { Guest } from '../../../src/lab/qemu/vm/guest.ts';
import { openWire, type Wire } from '../../../src/lab/qemu/vm/wire.ts';
import { sendWindows } from '../../../src/lab/qemu/windows.ts';
import { trafgenFlows } from '../../../src/lab/traffic/flows.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { describeWith } from '../../needs.ts';

const source = join(import.meta.dirname, '../../../src/lab/qemu/windows.sh');
const script = readFileSync(source, 'utf8');
const packets = 500;

function flowsFile(): string {
  const path = join(temporaryFolder(), 'flows');
  const macs = { sourceMac: '02:70:70:00:ff:01', destinationMac: '02:70:70:00:00:01' };
  writeFileSync(path, trafgenFlows({ family: 'inet4', flows: 10, frameBytes: 64, ...macs }));
  return path;
}

/** Counters of a guest, as QEMU's plugin and the kernel write them; the numbers of a real thread depend on the load. */
function counters(): { counts: string; thread: string } {
  const thread = temporaryFolder();
  const counts = join(thread, 'counts');
  writeFileSync(counts, new BigUint64Array([2n ** 40n]));
  writeFileSync(join(thread, 'schedstat'), '9000 800 7\n');
  return { counts, thread };
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

/** Holds a TAP device, as a guest that exists but takes nothing from its network card: TUNSETIFF, with IFF_TAP and IFF_NO_PI. */
const hanging =
  'open T, "+<", "/dev/net/tun"; ioctl T, 0x400454ca, pack "a16 s x22", $ARGV[0], 0x1002 or exit 1; $| = 1; print 1; sleep';

async function hungGuest(wire: Wire, number = 1): Promise<Ends> {
  const sender = `test-hung${number}`;
  const running = wire.start('perl', ['-e', hanging, sender]);
  await once(running.stdout ?? running, 'data');
  const { receiver } = await cable(wire, 10 + number);
  await quiet(wire, [sender]);
  return { sender, receiver };
}

/** Runs windows.sh as `sendWindows` does, with as much patience as a test has. */
async function run(
  wire: Wire,
  guests: readonly (Ends & { counts?: string; thread?: string })[],
  { planned, seconds = 30, packets: each = packets }: { planned: string; seconds?: number; packets?: number },
): Promise<{ stdout: string; code: number | null }> {
  const flows = flowsFile();
  const described = guests.map(({ sender, receiver, counts = '-', thread = counters().thread }) =>
    [sender, receiver, counts, thread, flows].join(','),
  );
  const words = [each, seconds, 0, planned].map(String);
  const running = wire.start('bash', ['-c', script, 'windows.sh', ...words, ...described]);
  let stdout = '';
  running.stderr?.resume();
  running.stdout?.on('data', (piece) => {
    stdout += piece;
  });
  const [code] = await once(running, 'close');
  return { stdout, code };
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

const needs = ['root', 'ip', 'unshare', 'nsenter', 'bash', 'trafgen', 'taskset', 'sysctl', 'od'];

describeWith([...needs, 'perl', '/dev/net/tun'], 'windows', () => {
  beforeAll(() => claim(ownerFile));
  afterAll(() => disclaim(ownerFile));

  test('are sent in the planned order, and printed with the counters before and after each', async () => {
    await using wire = await openWire();
    const guests = [{ ...(await cable(wire, 1)), ...counters() }, await cable(wire, 2)];
    const { stdout, code } = await run(wire, guests, { planned: '1,2,2,1' });
    expect(code).toBe(0);
    // Times differ.
    expect(stdout.replaceAll(/ \d{10}\.\d{6}/g, '').split('\n')).toEqual([
      'window 1 0 1099511627776 9000 800 500 1099511627776 9000 800',
      'window 2 0 - 9000 800 500 - 9000 800',
      'window 2 500 - 9000 800 1000 - 9000 800',
      'window 1 500 1099511627776 9000 800 1000 1099511627776 9000 800',
      'end',
      '',
    ]);
  });

  test('report a guest that accepts nothing as stuck, and send it no more', async () => {
    await using wire = await openWire();
    const guests = [await hungGuest(wire), await cable(wire)];
    // Longer than any cable needs on a machine with other work.
    const { stdout, code } = await run(wire, guests, { planned: '1,2,2,1,1,2', seconds: 10, packets: 5000 });
    expect(code).toBe(0);
    expect(stdout.match(/^\w+(?: \d)?/gm)).toEqual(['window 1', 'stuck 1', 'window 2', 'window 2', 'window 2', 'end']);
    expect(silentIn(stdout, 5000)).toEqual(new Set([1]));
  });
});

describeWith(needs, 'the windows of a trial', () => {
  beforeAll(() => claim(ownerFile));
  afterAll(() => disclaim(ownerFile));

  /** Starts windows without end through a cable, and returns once packets are sent. */
  async function sending(wire: Wire, ended: Promise<string>, signal: AbortSignal) {
    const flows = flowsFile();
    const { thread } = counters();
    const guest = { interfaces: await cable(wire), counts: undefined, cpuThread: thread, ended } as Guest;
    const request = { guests: [guest], flows: async () => flows, packets: 1_000_000_000, windows: 2, signal };
    const outcome = sendWindows({ wire }, request);
    outcome.catch(() => {});
    await expect.poll(() => commandsWith(flows).some((one) => one.startsWith('trafgen'))).toBe(true);
    return { outcome, flows };
  }

  test('break off where a guest ends, and nothing sends any more', async () => {
    await using wire = await openWire();
    const end = Promise.withResolvers<string>();
    const { outcome, flows } = await sending(wire, end.promise, new AbortController().signal);
    end.resolve('it reset itself');
    expect(await outcome).toMatchObject({ kind: 'broken', log: '' });
    await expect.poll(() => commandsWith(flows)).toEqual([]);
  });

  test('stop with the given reason when the caller aborts', async () => {
    await using wire = await openWire();
    const controller = new AbortController();
    const { outcome, flows } = await sending(wire, new Promise(() => {}), controller.signal);
    controller.abort(new Error('cancelled by alice'));
    await expect(outcome).rejects.toThrow('cancelled by alice');
    await expect.poll(() => commandsWith(flows)).toEqual([]);
  });
});
