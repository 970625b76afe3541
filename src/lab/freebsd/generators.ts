// Controls the senders and the receiver around a FreeBSD DUT: none of them sends outside of a trial.
import type { HostConfig } from '../../config/fields.ts';
import type { FreebsdTestbed, GeneratorConfig } from '../../config/freebsd-testbed.ts';
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

type SendRequest = Pick<PktGenRequest, 'trafficSeconds' | 'atLeastSeconds'> & {
  cell: Cell;
  dutMac: string;
};

/**
 * Keeps ports open for this time beyond a trial, since one boot serves several cells; then they close automatically.
 */
const heldSeconds = 600;

export class Generators {
  readonly #config: FreebsdTestbed;
  readonly #traffic: Traffic;
  readonly #deps: FreebsdDeps;
  #hosts: GeneratorHosts;
  /** `until` is the closing time, in seconds since 1970. */
  #opened: { ports: PktGenPorts; until: number } | undefined;
  /** False once a sender did not start beside the program that holds its port. */
  #holdsSenders = true;

  /** Connects to all generators, and ends those of a lost controller. Throws a HostError if one is unreachable. */
  static async open(config: FreebsdTestbed, traffic: Traffic, deps: FreebsdDeps): Promise<Generators> {
    return new Generators(config, traffic, deps, await connectAll(config, deps));
  }

  private constructor(config: FreebsdTestbed, traffic: Traffic, deps: FreebsdDeps, hosts: GeneratorHosts) {
    this.#config = config;
    this.#traffic = traffic;
    this.#deps = deps;
    this.#hosts = hosts;
  }

  /**
   * Returns system, port and media of each generator, by its label. Throws a HostError without pkt-gen, or for too
   * small an MTU.
   */
  async facts(largestFrameBytes: number): Promise<Record<string, string>> {
    await Promise.all(allOf(this.#hosts).map((host) => requirePrograms(host, ['pkt-gen'], 'pkg install')));
    await requireMtus(this.#config, this.#hosts, largestFrameBytes);
    return factsOf(this.#config, this.#hosts);
  }

  /** Opens the ports for that long, and waits for their links; returns the failed trial if a port does not open. */
  async openPorts(trafficSeconds: number, signal: AbortSignal): Promise<PktGenTrial | undefined> {
    const ports = await this.#portsFor(trafficSeconds, signal);
    return 'kind' in ports ? ports : undefined;
  }

  async send({ cell, dutMac, ...times }: SendRequest, signal: AbortSignal): Promise<PktGenTrial> {
    const config = this.#config;
    const { flows, packets } = this.#traffic;
    const split = flowRanges(flows, cell.family, config.senders.length, packets?.addresses);
    if (split.kind === 'refused') {
      return { kind: 'failed', logs: { receiver: '', senders: [] }, reason: split.message };
    }
    const request: PktGenRequest = {
      family: cell.family,
      frameBytes: frameBytesFor(this.#traffic, cell),
      flows: split.flows,
      ports: packets?.ports,
      addresses: packets?.addresses,
      ratePps: this.#traffic.offeredPps,
      threads: config.senders[0]?.threads ?? 1,
      ...times,
    };
    const senders = this.#hosts.senders.map(({ host, config: { interface: name, mac } }) => ({
      host,
      interface: name,
      sourceMac: mac,
      destinationMac: dutMac,
    }));
    const ports = await this.#portsFor(times.trafficSeconds, signal);
    if ('kind' in ports) return ports;
    const outcome = await trialThrough(ports.ports, senders, request, signal);
    if (outcome.kind === 'measured') return outcome;
    this.#holdsSenders = false;
    await this.closePorts();
    return outcome;
  }

  /** Closes the ports before the DUT boots, which takes the links down at its end. */
  async closePorts(): Promise<void> {
    if (this.#opened !== undefined) await closePorts(this.#opened.ports);
    this.#opened = undefined;
  }

  /** Reconnects to all generators, for as long as a machine needs to boot. */
  async reconnect(signal: AbortSignal): Promise<void> {
    this.#opened = undefined;
    await closeAll(this.#hosts);
    this.#hosts = await connectPatiently(this.#config, this.#deps, signal);
  }

  /** Ends all traffic. An unreachable generator ends when its time is over, or when the testbed is opened next. */
  async silence(): Promise<void> {
    this.#opened = undefined;
    const ended = await Promise.allSettled(allOf(this.#hosts).map((host) => endPktGen(host, this.#deps)));
    if (ended.every(({ status }) => status === 'fulfilled')) return;
    await closeAll(this.#hosts);
    this.#hosts = await connectAll(this.#config, this.#deps).catch(() => this.#hosts);
  }

  /** Lists all senders, then the receiver. */
  hosts(): Host[] {
    return allOf(this.#hosts);
  }

  close(): Promise<void> {
    return closeAll(this.#hosts);
  }

  async #portsFor(trafficSeconds: number, signal: AbortSignal) {
    const { settleSeconds } = this.#traffic;
    const seconds = secondsFor(settleSeconds, trafficSeconds);
    const opened = this.#opened;
    const isEnough = opened !== undefined && this.#deps.now() + seconds < opened.until;
    if (isEnough && areOpen(opened.ports)) return opened;
    await this.closePorts();
    const { senders, receiver } = this.#hosts;
    const outcome = await openPorts(
      {
        senders: senders.map(({ host, config }) => ({ host, interface: config.interface })),
        receiver: { host: receiver, interface: this.#config.receiver.interface },
      },
      { settleSeconds, seconds: heldSeconds + seconds, holdsSenders: this.#holdsSenders },
      signal,
    );
    if (outcome.kind === 'failed') return outcome;
    this.#opened = { ports: outcome.ports, until: this.#deps.now() + heldSeconds + seconds };
    return this.#opened;
  }
}

export const silenceGenerators = async (config: FreebsdTestbed, deps: FreebsdDeps): Promise<void> =>
  closeAll(await connectAll(config, deps));

type GeneratorHosts = { senders: { config: GeneratorConfig; host: Host }[]; receiver: Host };

const allOf = ({ senders, receiver }: GeneratorHosts): Host[] => [...senders.map(({ host }) => host), receiver];

async function connectAll(config: FreebsdTestbed, deps: FreebsdDeps): Promise<GeneratorHosts> {
  await using opened = new AsyncDisposableStack();
  const connect = async (host: HostConfig, label: string) => opened.use(await deps.connect(host, label));
  const hosts: GeneratorHosts = {
    senders: [],
    receiver: await connect(config.receiver, 'receiver'),
  };
  for (const [index, sender] of config.senders.entries()) {
    const label = config.senders.length === 1 ? 'sender' : `sender ${index + 1}`;
    hosts.senders.push({ config: sender, host: await connect(sender, label) });
  }
  await Promise.all(allOf(hosts).map((host) => endPktGen(host, deps)));
  opened.move();
  return hosts;
}

const closeAll = async (hosts: GeneratorHosts): Promise<void> => {
  await Promise.all(allOf(hosts).map((host) => host.close()));
};

const patienceSeconds = 600;
const secondsBetweenTries = 10;

async function connectPatiently(
  config: FreebsdTestbed,
  deps: FreebsdDeps,
  signal: AbortSignal,
): Promise<GeneratorHosts> {
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

/** Ends every pkt-gen there: the machines are leased as one. Its summary and its port need a moment. */
async function endPktGen(host: Host, { sleep }: FreebsdDeps): Promise<void> {
  for (let time = 0; time < timesToEnd; time += 1) {
    const signal = time < timesToInterrupt ? shell`-INT` : shell`-KILL`;
    const command = shell`pkill ${signal} -x pkt-gen`;
    const outcome = await host.run(command, { timeoutSeconds: secondsToSignal });
    // pkill(1) found no process.
    if (outcome.kind === 'exited' && outcome.code === 1) return;
    stdoutOf(outcome, host.name, command);
    await sleep(1);
  }
  throw new HostError(
    'command-failed',
    `A pkt-gen on ${host.name} does not exit: check what it waits for, or reboot that machine.`,
  );
}

async function requireMtus({ receiver }: FreebsdTestbed, hosts: GeneratorHosts, frameBytes: number): Promise<void> {
  for (const { config, host } of hosts.senders) {
    await requireMtu(host, netmapPort(config.interface), frameBytes, 'sender');
  }
  await requireMtu(hosts.receiver, netmapPort(receiver.interface), frameBytes, 'receiver');
}

async function factsOf({ receiver }: FreebsdTestbed, hosts: GeneratorHosts): Promise<Record<string, string>> {
  const around = await Promise.all([
    ...hosts.senders.map(async ({ config, host }, index) => [`sender ${index + 1}`, await factOf(config, host)]),
    factOf(receiver, hosts.receiver).then((fact) => ['receiver', fact]),
  ]);
  return Object.fromEntries(around);
}

async function factOf(generator: GeneratorConfig, host: Host): Promise<string> {
  const port = netmapPort(generator.interface);
  const [version, ifconfig] = [shell`uname -s -r`, shell`ifconfig ${port}`];
  const outputs = await readAll(host, [version, ifconfig]);
  const media = parseIfconfig(outputs.get(commandText(ifconfig)) ?? '')?.media ?? 'unknown media';
  return `${(outputs.get(commandText(version)) ?? '').trim()}, ${port} ${media}`;
}
