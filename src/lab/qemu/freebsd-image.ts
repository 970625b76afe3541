// Boots a FreeBSD image in a guest, opens it as a DUT, and sets it up for later boots.
import type { HostConfig } from '../../config/fields.ts';
import type { FreebsdTestbed } from '../../config/freebsd-testbed.ts';
import type { FreebsdGuestsConfig, GuestImage } from '../../config/virtual-testbed.ts';
import { reasonOf } from '../../model/one-line.ts';
import type { TestNetworks } from '../../model/traffic.ts';
import { UsageError } from '../../model/usage-error.ts';
import { HostError } from '../../system/host/host-error.ts';
import type { Host } from '../../system/host/ssh.ts';
import { shell } from '../../system/shell.ts';
import { describeScreen } from '../console/console-text.ts';
import { ConsoleRecorder } from '../console/recorder.ts';
import type { Tallies } from '../fault-attribution.ts';
import { DutLostError } from '../freebsd/boot/boot.ts';
import { type Boots, bootsOf } from '../freebsd/boots.ts';
import { FreebsdDut, type FreebsdDutOptions, wakeFreebsdDut } from '../freebsd/dut/freebsd-dut.ts';
import { parseIfconfig } from '../freebsd/dut/network.ts';
import { bounded, type FreebsdDeps } from '../freebsd/freebsd-deps.ts';
import { PowerError } from '../power/power-controller.ts';
import { type Ports, setUp } from './freebsd-setup.ts';
import { guestMac, neighbours, receiverMac, senderMac } from './vm/addresses.ts';
import type { Guest } from './vm/guest.ts';
import type { VirtualLab } from './vm/virtual-lab.ts';

export const isHostError = (error: unknown): error is HostError => error instanceof HostError;

/** True if another copy of the image may succeed. */
export const isOfOneCopy = (error: unknown): error is DutLostError | HostError | UsageError =>
  error instanceof DutLostError || isHostError(error) || error instanceof UsageError;

type ImageDeps = {
  lab: Pick<VirtualLab, 'loginTo'>;
  deps: FreebsdDeps;
  tallies?: Tallies;
  /** Networks that test packets have. */
  addresses?: TestNetworks | undefined;
};

/** Waits until the image is up, and opens it as a DUT. Throws a UsageError for an unsuitable image. */
export async function openImage(
  guest: Guest,
  { image, accelerator }: { image: GuestImage; accelerator: FreebsdGuestsConfig['accelerator'] },
  { lab, deps, tallies = new Map(), addresses }: ImageDeps,
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
  // Waiting callers get the error; without any, it must not become an unhandled rejection.
  ended.catch(() => {});
  let failures = 0;
  const options: FreebsdDutOptions = {
    method: 'nextboot',
    connect: async () => {
      const timeoutSeconds = loginSeconds[failures % loginSeconds.length] ?? 20;
      failures += 1;
      const options = { keepaliveSeconds: 5, timeoutSeconds };
      const host = bounded(await deps.connect(login, `guest ${guest.number}`, options));
      failures = 0;
      return host;
    },
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
      `The image ${image.path} cannot be used for guests: ${why.replace(/\.$/, '')}; see docs/how-to/virtual.md for what it needs.`,
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
  await setUp(dut.host(), ports, addresses);
  opened.move();
  const unread = new Set(accelerator === 'tcg' ? unreadIfCounted : unreadOfGuests);
  const boots = bootsOf(asTestbed(image, ports, login), dut, deps, {
    tallies,
    unread,
    addresses,
  });
  return { dut, boots, console };
}

/**
 * Time limits of successive logins. QEMU accepts a connection before its guest is up; a connection from that time may
 * stay silent. The long limit is for a machine so busy that a login takes longer.
 */
const loginSeconds = [20, 5, 5, 5];

class QemuEndedError extends DutLostError {
  readonly lastLine: string;

  constructor(lastLine: string) {
    super(`QEMU has ended (${lastLine}).`);
    this.lastLine = lastLine;
  }
}

/** Explains in a clause why root cannot log in to a booted image, and the fix. */
function whyNotIn(
  error: DutLostError | HostError | UsageError,
  { privateKeyPath = 'of the ssh agent', bootSeconds }: GuestImage,
  shown: string,
): string {
  if (error instanceof QemuEndedError) {
    return `its QEMU ended before root could log in (${error.lastLine}), for example because it powered itself off`;
  }
  if (isHostError(error) && error.kind === 'host-key') {
    const key = /shows (the \S+ key \S+),/.exec(error.message)?.[1] ?? 'no key of its type';
    return `its sshd shows ${key} instead of the \`hostKey\` in ppsgate.yml: set that to the first two fields of its /etc/ssh/ssh_host_ed25519_key.pub`;
  }
  if (isHostError(error) && error.kind === 'login-refused') {
    return `its sshd refuses root with the key ${privateKeyPath}: append the public half to root's authorized_keys, and set \`PermitRootLogin prohibit-password\` in its /etc/ssh/sshd_config`;
  }
  if (!(error instanceof DutLostError)) return reasonOf(error);
  const isSeen = shown.includes('<<BOOT>>');
  const hint = isSeen ? '' : ' (set `console="comconsole"` in its /boot/loader.conf to see its kernel there)';
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
  const why = `the virtio card with the MAC address ${missing} is missing; it has ${names.join(', ')}: its kernel needs vtnet(4) for all three cards, and its settings must not change their addresses`;
  return { why };
}

/** Presents a guest as a testbed's machines: the other ends of its wires have addresses, but are no hosts. */
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
  };
}

/**
 * Settings that do not matter to a guest. It has one CPU, and its console shows a panic's cause. A run is the median of
 * windows, and programs that start at boot affect only a few of them.
 */
const unreadOfGuests = [
  'kern.boottime',
  'kern.shutdown.dumpdevname',
  'machdep.hyperthreading_allowed',
  'net.isr.maxthreads',
  'net.isr.bindthreads',
];

/**
 * Idleness is measured for 5 s after each boot, and awaited for up to a minute on a busy host, as a guest takes stolen
 * time for its own. It only protects rates: a packet's instructions are the same however many other programs run, and
 * theirs affect only a few windows.
 */
const unreadIfCounted = [...unreadOfGuests, 'kern.cp_time'];
