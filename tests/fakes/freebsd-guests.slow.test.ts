// Tests in which cases the fake guests behave like FreeBSD and QEMU, and what they refuse.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { guestMac, receiverMac, senderMac } from '../../src/lab/qemu/vm/addresses.ts';
import type { Guest } from '../../src/lab/qemu/vm/guest.ts';
import type { WindowsOutcome } from '../../src/lab/qemu/windows.ts';
import { trafgenFlows } from '../../src/lab/traffic/flows.ts';
import type { Family } from '../../src/model/scenario.ts';
import type { CommandOutcome } from '../../src/system/host/execute.ts';
import type { Host } from '../../src/system/host/ssh.ts';
import { type Command, shell } from '../../src/system/shell.ts';
import { temporaryFolder } from './folder.ts';
import { type FakeGuests, type FakeGuestsOptions, fakeGuests } from './freebsd-guests.ts';

type On = {
  guests: FakeGuests;
  guest: Guest;
  /** Logs in; every boot needs a new login. */
  logIn(): Promise<Host>;
  reboot(host: Host): Promise<Host>;
};

/** A copy of the image that was powered on half a minute ago. */
async function onGuest(options: FakeGuestsOptions, work: (on: On) => Promise<void>): Promise<void> {
  await using guests = fakeGuests(options);
  const lab = await guests.lab.up(guests.config);
  const { image } = guests.config;
  const guest = await lab.bootImage(1, image, 0);
  await guests.clock.sleep(30);
  const logIn = async () => guests.deps.connect(await lab.loginTo(image, guest), 'guest');
  const reboot = async (host: Host) => {
    await host.run(shell`shutdown -r now`);
    await host.close();
    await guests.clock.sleep(40);
    return logIn();
  };
  await work({ guests, guest, logIn, reboot });
  await lab.down();
}

const firmware = 'SeaBIOS (version 1.16.2-debian-1.16.2-1)\r\nBooting from Hard Disk...\r\n';

const said = ({ stdout, stderr }: CommandOutcome): string => `${stdout}${stderr}`.trim();

const withDdb = { kernel: { ident: 'image', options: ['options DDB'] } };

test('the serial line shows loader and kernel only if configured in loader.conf', () =>
  onGuest({}, async ({ guest, logIn, reboot }) => {
    expect(guest.console().endsWith(firmware)).toBe(true);
    const host = await logIn();
    const text = Buffer.from('console="comconsole"\n');
    await host.upload(text, '/boot/loader.conf.local', 0o644);
    const again = await reboot(host);
    expect(guest.console()).toMatch(/Loading kernel\.\.\.[\s\S]*<<BOOT>>[\s\S]*\(ttyu0\)\r\n\r\nlogin: $/);
    const kernelAlone = Buffer.from('boot_serial="YES"\n');
    await again.upload(kernelAlone, '/boot/loader.conf.local', 0o644);
    const before = guest.console().length;
    await (await reboot(again)).close();
    expect(guest.console().slice(before)).toMatch(/Hard Disk\.\.\.\r\n---<<BOOT>>---/);
  }));

test('sysrc writes rc.conf, which boots heed', () =>
  onGuest({}, async ({ guests, logIn, reboot }) => {
    const host = await logIn();
    const card = () => guests.copies[0]?.machine.interfaces[1];
    const settings = ['ifconfig_vtnet1=inet 198.18.0.1/30 -tso4 -lro', 'hostname=other'];
    expect(await host.output(shell`sysrc ${settings}`)).toBe(
      'ifconfig_vtnet1:  -> inet 198.18.0.1/30 -tso4 -lro\nhostname: freebsd -> other\n',
    );
    expect(card()?.addresses).toEqual([]);
    const refused = await host.run(shell`route add -inet 198.18.0.0/16 198.18.0.2`);
    expect(said(refused)).toContain('Invalid argument');
    const again = await reboot(host);
    expect(card()?.addresses).toEqual(['inet 198.18.0.1 netmask 0xfffffffc broadcast 198.18.0.3']);
    expect([...(card()?.capabilities ?? [])]).not.toContain('LRO');
    expect(await again.output(shell`sysctl -n kern.hostname`)).toBe('other\n');
    await again.output(shell`route add -inet 198.18.0.0/16 198.18.0.2`);
    expect(await again.output(shell`netstat -rn -f inet`)).toMatch(/^198\.18\.0\.0\/30 +link#2 /m);
    const far = await again.run(shell`arp -S 198.18.0.4 ${senderMac}`);
    expect(said(far)).toContain('cannot locate 198.18.0.4');
    await again.close();
  }));

test('a login while it boots is reset at once, or after a silence', () =>
  onGuest({}, async ({ guests, logIn }) => {
    const host = await logIn();
    await host.run(shell`shutdown -r now`);
    await host.close();
    await guests.clock.sleep(8);
    const secondsTo = async () => {
      const before = guests.clock.now();
      await expect(logIn()).rejects.toThrow(/ended the login|closed|reset/i);
      return guests.clock.now() - before;
    };
    const seconds = [await secondsTo(), await secondsTo()].toSorted((one, other) => one - other);
    expect(seconds[0]).toBeLessThan(2);
    expect(seconds[1]).toBeGreaterThan(10);
  }));

test('gives an address by DHCP to the first card alone, and refuses logins without it', async () => {
  await onGuest({}, async ({ guests, logIn }) => {
    await (await logIn()).close();
    expect(guests.copies[0]?.machine.interfaces.map(({ addresses }) => addresses.length)).toEqual([1, 0, 0]);
  });
  const files = { '/etc/rc.conf': 'hostname="freebsd"\nsshd_enable="YES"\n' };
  await onGuest({ image: { files } }, async ({ logIn }) => {
    // QEMU accepts the connection, and closes it.
    await expect(logIn()).rejects.toMatchObject({ kind: 'lost' });
  });
});

test.each([
  [
    'with its debugger stops at the prompt, and tells where',
    withDdb,
    /Stopped at {6}acpi_cpu_c1\+0xb:.*\r\ndb> $/,
    'hung',
  ],
  ['without a debugger goes on', {}, /NMI\/cpu0 \.\.\. going to debugger\r\n$/, 'up'],
])('a kernel that gets an NMI and is %s', (_, image, shows, stage) =>
  onGuest(
    { image: { ...image, files: { '/boot/loader.conf': 'console="comconsole"\n' } } },
    async ({ guests, guest }) => {
      await guest.interrupt();
      expect(guest.console()).toMatch(shows);
      expect(guests.copies[0]?.machine.stage).toBe(stage);
      await guest.reset();
      await guests.clock.sleep(30);
      expect(guests.copies[0]?.machine.stage).toBe('up');
    },
  ),
);

test('ksyms has the functions of the kernel and of loaded modules, by readelf, and none by nm', () =>
  onGuest({}, async ({ logIn, reboot }) => {
    const host = await logIn();
    const run = async (command: Command, on = host) => said(await on.run(command));
    expect(await run(shell`cp /dev/ksyms /tmp/ksyms`)).toBe('cp: /dev/ksyms: No such file or directory');
    for (const name of ['ksyms', 'pf']) await host.output(shell`kldload -n ${name}`);
    await host.output(shell`cp /dev/ksyms /tmp/ksyms`);
    expect(await run(shell`readelf -sW /tmp/ksyms`)).toMatch(
      /^ +\d+: ffffffff82e01000 +2048 FUNC +GLOBAL DEFAULT +2 pf_test$/m,
    );
    expect(await run(shell`nm -n /tmp/ksyms`)).toMatch(/^ffffffff80200000 \? btext$/m);
    expect(await run(shell`nm -n /tmp/ksyms`)).not.toMatch(/ [tT] /);
    expect(await run(shell`nm -n /boot/kernel/kernel`)).toMatch(/^ffffffff80200000 T btext$/m);
    expect(await run(shell`nm -n /etc/rc.conf`)).toContain('not recognized');
    const again = await reboot(host);
    expect(await run(shell`cat /dev/ksyms`, again)).toContain('No such file');
    await again.close();
  }));

/** Sends a window, and returns how many packets were forwarded; undefined if the guest hangs. */
async function through({ guests, guest }: On, family: Family): Promise<number | undefined | WindowsOutcome> {
  const flows = join(temporaryFolder(), 'flows');
  const packets = { family, flows: 20, frameBytes: family === 'inet4' ? 64 : 66 };
  const macs = { sourceMac: senderMac, destinationMac: guestMac.ingress };
  writeFileSync(flows, trafgenFlows({ ...packets, ...macs }));
  const { signal } = new AbortController();
  const request = { guests: [guest], flows: async () => flows, packets: 1000, windows: 1, signal };
  const sent = await guests.lab.sendWindows({ wire: {} as never }, request);
  if (sent.kind === 'broken') return sent;
  if (/^stuck 1$/m.test(sent.log)) return undefined;
  const words = sent.log.split('\n')[0]?.split(' ') ?? [];
  return Number(words[8]) - Number(words[3]);
}

const paths: Record<Family, readonly Command[]> = {
  inet4: [
    shell`ifconfig vtnet1 inet 198.18.0.1/30`,
    shell`ifconfig vtnet2 inet 198.19.0.1/30`,
    shell`sysctl net.inet.ip.forwarding=1`,
    shell`arp -S 198.19.0.2 ${receiverMac}`,
    shell`route add -inet 198.19.0.0/16 198.19.0.2`,
  ],
  inet6: [
    shell`ifconfig vtnet1 inet6 2001:2::1 prefixlen 126 no_dad`,
    shell`ifconfig vtnet2 inet6 2001:2:0:8000::1 prefixlen 126 no_dad`,
    shell`sysctl net.inet6.ip6.forwarding=1`,
    shell`ndp -s 2001:2:0:8000::2 ${receiverMac}`,
    shell`route add -inet6 2001:2:0:8000::/49 2001:2:0:8000::2`,
  ],
};

test.each(['inet4', 'inet6'] as const)('a guest forwards %s once it has all that it takes', (family) =>
  onGuest({}, async (on) => {
    const host = await on.logIn();
    for (const command of paths[family]) {
      expect(await through(on, family)).toBe(0);
      await host.output(command);
    }
    expect(await through(on, family)).toBe(1000);
    const other = family === 'inet4' ? 'inet6' : 'inet4';
    expect(await through(on, other)).toBe(0);
    const [machine] = on.guests.copies.map((copy) => copy.machine);
    // Packets for another MAC address are dropped.
    for (const neighbour of machine?.neighbours ?? []) neighbour.mac = senderMac;
    expect(await through(on, family)).toBe(0);
    await host.close();
  }),
);

test('a guest that is down takes no packets, and where QEMU has ended the windows break off', () =>
  onGuest({}, async (on) => {
    const { guests, guest } = on;
    const [copy] = guests.copies;
    if (copy === undefined) throw new TypeError('There is none.');
    await guest.reset();
    expect(await through(on, 'inet4')).toBe(0);
    copy.machine.stage = 'hung';
    expect(await through(on, 'inet4')).toBeUndefined();
    await copy.end('qemu-system-x86_64: gone');
    expect(await through(on, 'inet4')).toMatchObject({ kind: 'broken', log: '' });
    expect(await guest.ended).toBe('qemu-system-x86_64: gone');
    await expect(guest.reset()).rejects.toThrow('ENOENT');
  }));
