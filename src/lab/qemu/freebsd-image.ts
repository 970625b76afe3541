// Boots a FreeBSD image in a guest, opens it as a DUT, and sets it up for later boots.
import type { HostConfig } from '../../config/fields.ts';
import type { FreebsdTestbed } from '../../config/freebsd-testbed.ts';
import type { GuestImage } from '../../config/virtual-testbed.ts';
import { reasonOf } from '../../model/one-line.ts';
import { UsageError } from '../../model/usage-error.ts';
import { HostError } from '../../system/host/host-error.ts';
import type { Host } from '../../system/host/ssh.ts';
import { shell } from '../../system/shell.ts';
import { describeScreen } from '../console/console-text.ts';
import { ConsoleRecorder } from '../console/recorder.ts';
import { type Boots, bootsOf } from '../freebsd/boots.ts';
import {
  DutLostError,
  FreebsdDut,
  type FreebsdDutOptions,
  wakeFreebsdDut,
} from '../freebsd/dut/freebsd-dut.ts';
import { parseIfconfig } from '../freebsd/dut/network.ts';
import { bounded, type FreebsdDeps } from '../freebsd/freebsd-deps.ts';
import { PowerError } from '../power/power-controller.ts';
import { guestMac, guestPorts, neighbours, receiverMac, senderMac } from './vm/addresses.ts';
import type { Guest } from './vm/guest.ts';
import type { VirtualLab } from './vm/virtual-lab.ts';

export const isHostError = (error: unknown): error is HostError => error instanceof HostError;

/** True where another copy of the image may succeed. */
export const isOfOneCopy = (error: unknown): error is DutLostError | HostError | UsageError =>
  error instanceof DutLostError || isHostError(error) || error instanceof UsageError;

type Ports = { ingress: string; egress: string };

/** Waits until the image is up, and opens it as a DUT. Throws a UsageError for an unsuitable image. */
export async function openImage(
  guest: Guest,
  image: GuestImage,
  { lab, deps }: { lab: Pick<VirtualLab, 'loginTo'>; deps: FreebsdDeps },
): Promise<{ dut: FreebsdDut; boots: Boots; console: ConsoleRecorder }> {
  const login = await lab.loginTo(image, guest);
  await using opened = new AsyncDisposableStack();
  const console = new ConsoleRecorder('a guest', async (onOutput) => {
    const leave = guest.listen(onOutput);
    const ended = guest.ended.then((why) => `QEMU has ended (${why}).`);
    return { ended, close: async () => leave() };
  });
  opened.defer(() => console.close());
  await console.open();
  const ended = guest.ended.then((why): never => {
    throw new QemuEndedError(why);
  });
  // The error reaches the waiting callers; without any it must not be an unhandled rejection.
  ended.catch(() => {});
  const options: FreebsdDutOptions = {
    method: 'nextboot',
    connect: async () => bounded(await deps.connect(login, 'guest', { keepaliveSeconds: 5 })),
    power: {
      async cycle() {
        console.endBoot();
        await guest.reset().catch((error: unknown) => {
          throw new PowerError(reasonOf(error));
        });
      },
    },
    console,
    bootSeconds: image.bootSeconds,
    sleep: (seconds) => Promise.race([deps.sleep(seconds), ended]),
    now: deps.now,
  };
  const { power: _, ...withoutPower } = options;
  const unfit = (why: string) =>
    new UsageError(
      `The image ${image.path} is not fit for guests: ${why.replace(/\.$/, '')}; see docs/virtual.md for what it needs.`,
    );
  await wakeFreebsdDut(withoutPower).catch((error: unknown) => {
    if (!isOfOneCopy(error)) throw error;
    throw unfit(whyNotIn(error, image, guest.console()));
  });
  const dut = await FreebsdDut.open(options).catch((error: unknown) => {
    if (!isHostError(error) || error.kind !== 'command-failed') throw error;
    throw unfit(reasonOf(error));
  });
  opened.defer(() => dut.host().close());
  const ports = await portsOf(dut.host());
  if (!('ingress' in ports)) throw unfit(ports.why);
  await setUp(dut.host(), ports);
  opened.move();
  return { dut, boots: bootsOf(asTestbed(image, ports, login), dut, deps), console };
}

class QemuEndedError extends DutLostError {
  readonly said: string;

  constructor(said: string) {
    super(`QEMU has ended (${said}).`);
    this.said = said;
  }
}

/** Explains in a clause why root cannot log in to a booted image, and the fix. */
function whyNotIn(
  error: DutLostError | HostError | UsageError,
  { privateKeyPath = 'of the ssh agent', bootSeconds }: GuestImage,
  shown: string,
): string {
  if (error instanceof QemuEndedError) {
    return `its QEMU ended before root could log in (${error.said}), as where it switches itself off`;
  }
  if (isHostError(error) && error.kind === 'host-key') {
    const key = /shows (the \S+ key \S+),/.exec(error.message)?.[1] ?? 'no key of its type';
    return `its sshd shows ${key} instead of the \`hostKey\` of ppsgate.yml: write there the first two words of its /etc/ssh/ssh_host_ed25519_key.pub`;
  }
  if (isHostError(error) && /refuses to let root in/.test(error.message)) {
    return `its sshd refuses root with the key ${privateKeyPath}: append the public half to its /root/.ssh/authorized_keys, and have \`PermitRootLogin prohibit-password\` in its /etc/ssh/sshd_config`;
  }
  if (!(error instanceof DutLostError)) return reasonOf(error);
  const isSeen = shown.includes('<<BOOT>>');
  const hint = isSeen
    ? ''
    : ' (its kernel is seen there once its /boot/loader.conf has `console="comconsole"`)';
  return `root could not log in within ${bootSeconds} s, and its console ${describeScreen(shown)}${hint}`;
}

async function portsOf(host: Host): Promise<Ports | { why: string }> {
  const names = (await host.output(shell`ifconfig -l`)).trim().split(/\s+/);
  const found = new Map<string, string>();
  for (const name of names) {
    const mac = parseIfconfig(await host.output(shell`ifconfig ${name}`))?.mac;
    if (mac !== undefined) found.set(mac, name);
  }
  const [ingress, egress] = [found.get(guestMac.ingress), found.get(guestMac.egress)];
  if (ingress !== undefined && egress !== undefined) return { ingress, egress };
  const missing = ingress === undefined ? guestMac.ingress : guestMac.egress;
  const why = `of its three virtio cards the one with the MAC address ${missing} is missing beside ${names.join(', ')}: its kernel needs vtnet(4) for all of them, and its settings have to leave their addresses as they are`;
  return { why };
}

/** Prepares later boots: addresses, no prompt, and a console that we read. */
async function setUp(host: Host, { ingress, egress }: Ports): Promise<void> {
  const ports = [
    [ingress, guestPorts.ingress],
    [egress, guestPorts.egress],
  ] as const;
  const settings = ports.flatMap(([port, { inet4, inet6 }]) => [
    `ifconfig_${port}=inet ${inet4}/30 -tso4 -tso6 -lro -vlanhwtso`,
    `ifconfig_${port}_ipv6=inet6 ${inet6} prefixlen 126 no_dad`,
  ]);
  await host.output(shell`sysrc ${settings}`);
  const own = await host.run(shell`cat ${loaderFile}`);
  const text = `${own.stdout}\n${loaderLines.join('\n')}\n`;
  await host.upload(Buffer.from(text), loaderFile, 0o644);
}

/** Read after loader.conf; see loader.conf(5). */
const loaderFile = '/boot/loader.conf.local';
const loaderLines = ['console="comconsole"', 'boot_serial="YES"', 'autoboot_delay="-1"'];

/** Includes modules (ksyms(4)). Not nm(1): the file lacks the symbols' sections, which readelf(1) ignores. */
export async function symbolsOf(host: Host): Promise<string> {
  const copy = '/var/tmp/ppsgate.ksyms';
  await host.output(shell`kldload -n ksyms`);
  await host.output(shell`cp ${'/dev/ksyms'} ${copy}`);
  const options = { maxOutputBytes: mostSymbolBytes };
  const table = await host.output(shell`readelf -sW ${copy}`, options);
  return [...table.matchAll(functionRow)]
    .map(([, address, name]) => `${address} t ${name}\n`)
    .join('');
}

/** Number, address, size, type, binding, visibility, section and name. */
const functionRow = /^ *\d+: ([0-9a-f]{16}) +\S+ FUNC +\S+ +\S+ +\S+ (\S+)$/gm;

const mostSymbolBytes = 64 * 1024 ** 2;

/** Presents a guest as the machines of a testbed: the other ends of its wires are no hosts, but have addresses. */
function asTestbed({ bootSeconds }: GuestImage, ports: Ports, login: HostConfig): FreebsdTestbed {
  const far = { ...login, interface: 'none', threads: 1 };
  return {
    kind: 'freebsd',
    dut: {
      ...login,
      ingress: { interface: ports.ingress },
      egress: { interface: ports.egress },
      boot: { method: 'nextboot', limitSeconds: bootSeconds },
    },
    senders: [{ ...far, mac: senderMac, addresses: neighbours.sender }],
    receiver: { ...far, mac: receiverMac, addresses: neighbours.receiver },
    preflight: 'fix',
    waive: waivedOfGuests,
  };
}

/** Settings that do not matter where one CPU executes a guest, and instructions are counted in windows. */
const waivedOfGuests = {
  'kern.boottime': 'what starts at a boot is no part of most windows, and a run is their median',
  'kern.shutdown.dumpdevname': 'a guest tells on its console what it panics of',
  'machdep.hyperthreading_allowed': 'a guest has one CPU',
  'net.isr.maxthreads': 'a guest has one CPU',
  'net.isr.bindthreads': 'a guest has one CPU',
};
