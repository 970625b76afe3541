// The packets of a trial: those the sender puts on the wire, those the DUT forwards, those that reach the receiver.

import { BlockList, isIPv6 } from 'node:net';
import type { Family } from '../../../src/model/scenario.ts';
import { cpusOf, setDemand } from './cpu.ts';
import type { FaultKind, FaultOf } from './faults.ts';
import { type LabScenario, scenarioInForce } from './firewall.ts';
import type { Behaviour } from './kernel.ts';
import { hang, panic } from './lifecycle.ts';
import {
  type Deps,
  type Interface,
  isStarved,
  type Machine,
  type Neighbour,
  type Route,
  setOverloaded,
} from './machine.ts';
import { countInQueues, countInRules, countInStates, statesPerFlow } from './packet-counts.ts';
import { normal, uniform } from './random.ts';
import { valueOfSysctl } from './sysctls.ts';
import { type Cable, count, farEnd, isLinkUp, type Port } from './wiring.ts';

/** Packets of a sender, from `begin` to `end`. */
export type Stream = {
  from: Port;
  family: Family;
  pps: number;
  frameBytesWithoutCrc: number;
  destinationMac: string;
  /** First destination of its range. */
  destination: string;
  /** Number of source addresses. */
  sources: number;
  flows: number;
};

/** Inputs of the table of rates. */
export type Load = { ident: string; scenario: LabScenario; family: Family };

export type Noise = {
  seed: number;
  /** Standard deviation of a boot, as a ratio. */
  perBoot: number;
  /** Likewise for a second within a run. */
  perSecond: number;
  /** Effect of another build of the same sources, equal in each of its boots. */
  perBuild: number;
};

export type Network = ReturnType<typeof networkThrough>;

export type Traffic = {
  /** Forwarding rate of a kernel in packets per second. */
  truth: (load: Load) => number;
  noise: Noise;
  generatorPps: number;
  receiverPps: number;
  /** Time until a kernel dies under load; absent: 5. */
  secondsToDie?: number;
};

export function networkThrough(
  dut: Machine,
  deps: Deps,
  { truth, noise, generatorPps, receiverPps, secondsToDie = 5 }: Traffic,
) {
  const streams = new Set<Stream>();
  let trials = 0;
  let bounces = 0;
  let senders = 0;
  let isDead = false;
  let forwardsNothing = false;
  let countedTo = deps.clock.now();

  const capacity = ({ family }: Stream): number => {
    if (dut.running === undefined) return 0;
    const scenario = scenarioInForce(dut, family);
    if (scenario === 'blocked' || forwardsNothing) return 0;
    const pps = truth({ ident: dut.running.kernel.ident, scenario, family });
    const { build } = dut.running.kernel;
    const boot = Math.exp(noise.perBoot * normal(noise.seed, dut.boots) + noise.perBuild * normal(noise.seed, build));
    return pps * boot * (isStarved(dut) ? 0.1 : 1);
  };

  const offered = (): number => [...streams].reduce((sum, stream) => sum + (entryOf(dut, stream) ? stream.pps : 0), 0);

  const listen = () => {
    const now = deps.clock.now();
    const arriving = [...streams].filter((stream) => isLinkUp(stream.from, now));
    const isFull = arriving.some((stream) => entryOf(dut, stream) && offered() > capacity(stream));
    setOverloaded(dut, dut.running !== undefined && isFull);
    useCpus(arriving, isFull);
  };

  /** The flows use all CPUs, the first one most; without net.isr's threads, only that one. */
  const useCpus = (arriving: readonly Stream[], isFull: boolean) => {
    const load = arriving.reduce((sum, stream) => sum + (entryOf(dut, stream) ? stream.pps / capacity(stream) : 0), 0);
    const share = isFull ? 1 : Math.min(1, load);
    const ofOthers = isStarved(dut) ? 0 : isFull ? 1 : 0.9;
    const shares = Array.from({ length: cpusOf(dut) }, (_, cpu) => (cpu === 0 ? share : share * ofOthers));
    const demand = share > 0 ? ({ state: 'interrupt', shares } as const) : undefined;
    setDemand(dut, deps.clock.now(), streams, demand);
  };

  const carry = (stream: Stream, from: number, to: number) => {
    const cable = stream.from.cable;
    const start = Math.max(from, cable?.upAt ?? to);
    if (cable === undefined || cable.isDead || start >= to) return;
    const sent = stream.pps * (to - start);
    const size = stream.frameBytesWithoutCrc;
    count(stream.from.sent, sent, size);
    const entry = entryOf(dut, stream);
    if (entry === undefined) {
      const end = farEnd(stream.from);
      const isPastTheDut = dut.interfaces.every(({ port }) => port !== end);
      if (isPastTheDut && end?.macs.includes(stream.destinationMac)) {
        count(end.received, sent, size);
      }
      return;
    }
    const scatter = 1 + noise.perSecond * normal(noise.seed, dut.boots, Math.round(to * 1000));
    const share = Math.min(1, (capacity(stream) * scatter) / Math.max(offered(), 1));
    // Packets that the firewall drops take no time in this laboratory.
    const arrived = share > 0 ? sent * share : sent;
    count(entry.port.received, arrived, size);
    count(entry.port.missed, sent - arrived, size);
    countInQueues(dut, entry.name, arrived);
    const counted = dut.packetCounts.ip[stream.family];
    const exit = exitOf(dut, stream, to);
    if (exit === undefined) {
      counted.notForwardable += arrived;
      return;
    }
    if (share <= 0) return;
    const passed = arrived * passedBy(stream, arrived);
    const forwarded = passed * (1 - Math.max(0, exit.cable.upAt - start) / (to - start));
    if (forwarded <= 0) return;
    counted.forwarded += forwarded;
    count(exit.interface.port.sent, forwarded, size);
    count(exit.receiver.received, forwarded, size);
    keepStates(dut, stream);
  };

  /** Share of a stream's packets that the firewalls pass, and count. */
  const passedBy = (stream: Stream, packets: number): number => {
    const left = countInRules(dut, stream.sources, packets);
    const keepsState = scenarioInForce(dut, stream.family) === 'pf-stateful';
    return left * (keepsState ? countInStates(dut, stream.flows, packets * left) : 1);
  };

  const countAll = () => {
    const now = deps.clock.now();
    for (const stream of streams) carry(stream, countedTo, now);
    countedTo = now;
    listen();
  };

  const dieUnderLoad = (stream: Stream) => {
    const isOrdered = deps.faults.take('panic-under-load', trials) !== undefined;
    const behaviour: Behaviour | undefined = isOrdered
      ? { kind: 'panics-under-load', panic: 'page fault' }
      : dut.running?.kernel.behaviour;
    if (behaviour?.kind !== 'panics-under-load' && behaviour?.kind !== 'hangs-under-load') return;
    deps.clock.after(secondsToDie, () => {
      if (!streams.has(stream) || entryOf(dut, stream) === undefined) return;
      countAll();
      if (behaviour.kind === 'hangs-under-load') hang(dut, behaviour.at);
      else panic(dut, deps, behaviour.panic);
    });
  };

  const dead = new Set<Cable>();
  const fix = () => {
    for (const cable of dead) cable.isDead = false;
    dead.clear();
  };
  /** Takes the receiver's stream. */
  const die = (stream: Stream) => {
    const cable = exitOf(dut, stream, Number.POSITIVE_INFINITY)?.cable ?? stream.from.cable;
    if (cable === undefined) return;
    cable.isDead = true;
    dead.add(cable);
  };

  return {
    generatorPps,
    receiverPps,
    begin(stream: Stream) {
      countAll();
      streams.add(stream);
      if (isDead) die(stream);
      listen();
      dieUnderLoad(stream);
    },
    end(stream: Stream) {
      countAll();
      streams.delete(stream);
      listen();
    },
    /** Counts every packet so far at every port; call it before reading counters. */
    count: countAll,
    /** A sender was started: the first of concurrent ones begins the next trial. */
    beginTrial() {
      senders += 1;
      if (senders > 1) return;
      trials += 1;
      fix();
      forwardsNothing = deps.faults.take('forwards-nothing', trials) !== undefined;
      isDead = deps.faults.take('dead-link', trials) !== undefined;
    },
    endTrial() {
      senders -= 1;
      const ended = trials;
      deps.clock.after(secondsToFix, () => {
        if (trials === ended) fix();
      });
    },
    isTrial: () => senders > 0,
    /** Number of the last trial begun, counted from 1; 0 before the first. */
    trial: () => trials,
    meets: <Kind extends FaultKind>(kind: Kind): FaultOf<Kind> | undefined => deps.faults.take(kind, trials),
    /** Until a link is up again after its port changed between kernel and netmap. */
    bounceSeconds() {
      bounces += 1;
      return 2 + 1.9 * uniform(noise.seed, bounces);
    },
  };
}

/** Time for which a dead link stays dead after its trial, if no other trial follows. */
const secondsToFix = 20;

/** Interface of the DUT that receives a stream's frames: cabled to it, up, and addressed. */
function entryOf(dut: Machine, stream: Stream): Interface | undefined {
  const end = farEnd(stream.from);
  return dut.running === undefined
    ? undefined
    : dut.interfaces.find((one) => one.port === end && one.isUp && one.mac === stream.destinationMac);
}

/** Ethernet header, which the MTU excludes. */
const headerBytes = 14;

/** Destination of a stream's packets; undefined if the DUT drops them. */
function exitOf(dut: Machine, stream: Stream, now: number) {
  const family = stream.family === 'inet4' ? 'inet' : 'inet6';
  const sysctl = family === 'inet' ? 'net.inet.ip.forwarding' : 'net.inet6.ip6.forwarding';
  if (valueOfSysctl(dut.sysctls, sysctl) !== 1) return undefined;
  const route = routeTo(dut, family, stream.destination);
  if (route === undefined || isDiscarding(route)) return undefined;
  const neighbour = dut.neighbours.find((one) => isGatewayOf(one, route));
  const out = dut.interfaces.find((one) => one.name === route?.interface && one.isUp);
  if (out !== undefined && stream.frameBytesWithoutCrc - headerBytes > out.mtu) return undefined;
  const receiver = out && farEnd(out.port);
  const cable = out?.port.cable;
  if (out === undefined || receiver === undefined || cable === undefined) return undefined;
  const isNeighbour = neighbour !== undefined && receiver.macs.includes(neighbour.mac);
  const isTaken = !cable.isDead && cable.upAt <= now && (isNeighbour || isOfAdminNetwork(receiver));
  return isTaken ? { interface: out, receiver, cable } : undefined;
}

/** Replies of hosts that have the requested address. */
const isOfAdminNetwork = ({ macs }: Port): boolean => macs.length === 0;

/** blackhole and reject of route(8). */
const isDiscarding = ({ flags }: Route): boolean => /[BR]/.test(flags);

/** The route with the longest prefix. */
function routeTo({ routes }: Machine, family: Route['family'], address: string): Route | undefined {
  const bitsOf = ({ destination }: Route) => Number(destination.split('/')[1] ?? 0);
  return routes
    .filter((one) => one.family === family && leadsTo(one, address))
    .toSorted((one, other) => bitsOf(other) - bitsOf(one))[0];
}

function leadsTo({ destination, family }: Route, address: string): boolean {
  if (destination === 'default') return isIPv6(address) === (family === 'inet6');
  const [network = '', bits] = destination.split('/');
  if (bits === undefined || isIPv6(address) !== (family === 'inet6')) return false;
  const list = new BlockList();
  list.addSubnet(network, Number(bits), isIPv6(address) ? 'ipv6' : 'ipv4');
  return list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

const isGatewayOf = (neighbour: Neighbour, route: Route | undefined): boolean =>
  neighbour.address === route?.gateway && neighbour.interface === route.interface;

/** A stateful rule of ipfw has one state per flow, one of pf two: for the incoming and for the outgoing side. */
function keepStates(dut: Machine, { family, flows }: Stream): void {
  const scenario = scenarioInForce(dut, family);
  if (scenario === 'pf-stateful') {
    dut.pf.states = Math.min(dut.pf.stateLimit, statesPerFlow * flows);
  }
  if (scenario === 'ipfw-stateful') dut.ipfw.dynamicRules = flows;
}
