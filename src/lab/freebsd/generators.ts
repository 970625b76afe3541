// The senders and the receiver around a FreeBSD DUT: none of them sends but in a trial of ours.
import type { HostConfig } from '../../config/fields.ts';
import type { FreebsdTestbed, Generator } from '../../config/freebsd-testbed.ts';
import { frameBytesFor, type Traffic } from '../../config/schema.ts';
import { flowRanges } from '../../model/flows.ts';
import { netmapPort } from '../../model/freebsd-port.ts';
import type { Cell } from '../../model/scenario.ts';
import { stdoutOf } from '../../system/host/execute.ts';
import { HostError } from '../../system/host/host-error.ts';
import { requirePrograms } from '../../system/host/programs.ts';
import type { Host } from '../../system/host/ssh.ts';
import { commandText, shell } from '../../system/shell.ts';
import {
  areOpen,
  closePorts,
  openPorts,
  type PktGenPorts,
  type PktGenRequest,
  type PktGenTrial,
  secondsFor,
  trialThrough,
} from '../traffic/pkt-gen-trial.ts';
import { parseIfconfig } from './dut/network.ts';
import type { FreebsdDeps } from './freebsd-deps.ts';
import { requireMtu } from './mtu.ts';
import { readAll } from './preflight.ts';

export type Generators = {
  /** What each says of itself, by what it is called: system, port and media; one without pkt-gen, or whose MTU these frames exceed, is a `HostError`. */
  facts(largestFrameBytes: number): Promise<Record<string, string>>;
  /** Opens the ports for that long where they are not, and has their links settle; answers where one could not be opened. */
  open(trafficSeconds: number, signal: AbortSignal): Promise<PktGenTrial | undefined>;
  /** Through open ports, which stay open for the next trial. */
  send(request: SendRequest, signal: AbortSignal): Promise<PktGenTrial>;
  /** Closes the ports: their links end at a machine that is to boot. */
  letGo(): Promise<void>;
  /** Connects to all of them anew, for as long as a machine takes to boot. */
  reconnect(signal: AbortSignal): Promise<void>;
  /** Ends whatever they send; one that is out of reach ends by its own time, or by whoever opens the testbed next. */
  silence(): Promise<void>;
  close(): Promise<void>;
};

type SendRequest = Pick<PktGenRequest, 'trafficSeconds' | 'atLeastSeconds'> & {
  cell: Cell;
  /** MAC address of the DUT's port that packets come in by. */
  dutMac: string;
};

/** Connects to all of them, and ends what a lost controller left sending; one that cannot be reached is a `HostError`. */
export async function openGenerators(
  config: FreebsdTestbed,
  traffic: Traffic,
  deps: FreebsdDeps,
): Promise<Generators> {
  let hosts = await connectAll(config, deps);
  /** `until` is when their time is over, in seconds since 1970. */
  let opened: { ports: PktGenPorts; until: number } | undefined;
  /** Until a sender did not start beside what holds its port. */
  let holdsSenders = true;

  const letGo = async () => {
    if (opened !== undefined) await closePorts(opened.ports);
    opened = undefined;
  };

  const portsFor = async (trafficSeconds: number, signal: AbortSignal) => {
    const { settleSeconds } = traffic;
    const seconds = secondsFor(settleSeconds, trafficSeconds);
    const isEnough = opened !== undefined && deps.now() + seconds < opened.until;
    if (opened !== undefined && isEnough && areOpen(opened.ports)) return opened;
    await letGo();
    const outcome = await openPorts(
      {
        senders: hosts.senders.map(({ host, config }) => ({ host, interface: config.interface })),
        receiver: { host: hosts.receiver, interface: config.receiver.interface },
      },
      { settleSeconds, seconds: heldSeconds + seconds, holdsSenders },
      signal,
    );
    if (outcome.kind === 'failed') return outcome;
    opened = { ports: outcome.ports, until: deps.now() + heldSeconds + seconds };
    return opened;
  };

  return {
    async facts(largestFrameBytes) {
      await Promise.all(
        allOf(hosts).map((host) => requirePrograms(host, ['pkt-gen'], 'pkg install')),
      );
      await requireMtus(config, hosts, largestFrameBytes);
      return factsOf(config, hosts);
    },

    async send({ cell, dutMac, ...howLong }, signal) {
      const split = flowRanges(traffic.flows, cell.family, config.senders.length);
      if (split.kind === 'refused') {
        return { kind: 'failed', logs: { receiver: '', senders: [] }, reason: split.message };
      }
      const request: PktGenRequest = {
        family: cell.family,
        frameBytes: frameBytesFor(traffic, cell),
        flows: split.flows,
        ratePps: traffic.offeredPps,
        threads: config.senders[0]?.threads ?? 1,
        ...howLong,
      };
      const senders = hosts.senders.map(({ host, config: { interface: name, mac } }) => ({
        ...{ host, interface: name, sourceMac: mac, destinationMac: dutMac },
      }));
      const ports = await portsFor(howLong.trafficSeconds, signal);
      if ('kind' in ports) return ports;
      const outcome = await trialThrough(ports.ports, senders, request, signal);
      if (outcome.kind === 'measured') return outcome;
      holdsSenders = false;
      await letGo();
      return outcome;
    },

    async open(trafficSeconds, signal) {
      const ports = await portsFor(trafficSeconds, signal);
      return 'kind' in ports ? ports : undefined;
    },

    letGo,

    async reconnect(signal) {
      opened = undefined;
      await closeAll(hosts);
      hosts = await connectPatiently(config, deps, signal);
    },

    async silence() {
      opened = undefined;
      const ended = await Promise.allSettled(allOf(hosts).map((host) => endPktGen(host, deps)));
      if (ended.every(({ status }) => status === 'fulfilled')) return;
      await closeAll(hosts);
      hosts = await connectAll(config, deps).catch(() => hosts);
    },

    close: () => closeAll(hosts),
  };
}

/** So long ports stay open, beyond a trial: a boot serves some cells. Whoever is lost leaves them open no longer. */
const heldSeconds = 600;

/** Ends what a lost controller left sending. */
export const silenceGenerators = async (config: FreebsdTestbed, deps: FreebsdDeps): Promise<void> =>
  closeAll(await connectAll(config, deps));

type Hosts = { senders: { config: Generator; host: Host }[]; receiver: Host };

const allOf = ({ senders, receiver }: Hosts): Host[] => [
  ...senders.map(({ host }) => host),
  receiver,
];

/** All of them or none, and none with a pkt-gen that runs. */
async function connectAll(config: FreebsdTestbed, deps: FreebsdDeps): Promise<Hosts> {
  await using opened = new AsyncDisposableStack();
  const connect = async (host: HostConfig, label: string) =>
    opened.use(await deps.connect(host, label));
  const hosts: Hosts = { senders: [], receiver: await connect(config.receiver, 'receiver') };
  for (const [index, sender] of config.senders.entries()) {
    const label = config.senders.length === 1 ? 'sender' : `sender ${index + 1}`;
    hosts.senders.push({ config: sender, host: await connect(sender, label) });
  }
  await Promise.all(allOf(hosts).map((host) => endPktGen(host, deps)));
  opened.move();
  return hosts;
}

const closeAll = async (hosts: Hosts): Promise<void> => {
  await Promise.all(allOf(hosts).map((host) => host.close()));
};

/** As long as a machine takes to boot. */
const patienceSeconds = 600;
const secondsBetweenTries = 10;

async function connectPatiently(
  config: FreebsdTestbed,
  deps: FreebsdDeps,
  signal: AbortSignal,
): Promise<Hosts> {
  const deadline = deps.now() + patienceSeconds;
  for (;;) {
    try {
      return await connectAll(config, deps);
    } catch (error) {
      const isPatient = isAbsence(error) && deps.now() < deadline && !signal.aborted;
      if (!isPatient) throw error;
    }
    await deps.sleep(secondsBetweenTries);
  }
}

const isAbsence = (error: unknown): boolean =>
  error instanceof HostError && ['unreachable', 'lost', 'timeout'].includes(error.kind);

const secondsToSignal = 60;
const timesToInterrupt = 5;
const timesToEnd = 10;

/** The machines are leased as one, so whatever pkt-gen runs there is ours. Its own summary, and its port, need a moment. */
async function endPktGen(host: Host, { sleep }: FreebsdDeps): Promise<void> {
  for (let time = 0; time < timesToEnd; time += 1) {
    const signal = time < timesToInterrupt ? shell`-INT` : shell`-KILL`;
    const command = shell`pkill ${signal} -x pkt-gen`;
    const outcome = await host.run(command, { timeoutSeconds: secondsToSignal });
    // There was none.
    if (outcome.kind === 'exited' && outcome.code === 1) return;
    stdoutOf(outcome, host.name, command);
    await sleep(1);
  }
  throw new HostError(
    'command-failed',
    `A pkt-gen on ${host.name} does not end: see what it waits for, or reboot that machine.`,
  );
}

async function requireMtus(
  { receiver }: FreebsdTestbed,
  hosts: Hosts,
  frameBytes: number,
): Promise<void> {
  for (const { config, host } of hosts.senders) {
    await requireMtu(host, netmapPort(config.interface), frameBytes, 'sender');
  }
  await requireMtu(hosts.receiver, netmapPort(receiver.interface), frameBytes, 'receiver');
}

async function factsOf(
  { receiver }: FreebsdTestbed,
  hosts: Hosts,
): Promise<Record<string, string>> {
  const around = await Promise.all([
    ...hosts.senders.map(async ({ config, host }, index) => [
      `sender ${index + 1}`,
      await factOf(config, host),
    ]),
    factOf(receiver, hosts.receiver).then((fact) => ['receiver', fact]),
  ]);
  return Object.fromEntries(around);
}

async function factOf(generator: Generator, host: Host): Promise<string> {
  const port = netmapPort(generator.interface);
  const [version, ifconfig] = [shell`uname -s -r`, shell`ifconfig ${port}`];
  const said = await readAll(host, [version, ifconfig]);
  const media = parseIfconfig(said.get(commandText(ifconfig)) ?? '')?.media ?? 'unknown media';
  return `${(said.get(commandText(version)) ?? '').trim()}, ${port} ${media}`;
}
