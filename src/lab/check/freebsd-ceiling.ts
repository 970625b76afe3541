// Measures the generators of a FreeBSD testbed, which must be faster than its DUT.

import { sum } from 'simple-statistics';
import type { DutPortConfig, FreebsdTestbed, SenderConfig } from '../../config/freebsd-testbed.ts';
import { frameBytesFor, type Traffic } from '../../config/schema.ts';
import { flowRanges } from '../../model/flows.ts';
import { formatPps } from '../../model/format.ts';
import { netmapPort } from '../../model/freebsd-port.ts';
import type { Family } from '../../model/scenario.ts';
import type { Host } from '../../system/host/ssh.ts';
import { commandText, shell } from '../../system/shell.ts';
import { countersCommands, interruptsCommand, sentBetween } from '../freebsd/dut/counters.ts';
import { parseIfconfig } from '../freebsd/dut/network.ts';
import type { CommandOutputs } from '../freebsd/dut/setting.ts';
import type { FreebsdDeps } from '../freebsd/freebsd-deps.ts';
import { readAll } from '../freebsd/preflight.ts';
import { parsePktGenLog } from '../traffic/pkt-gen.ts';
import { pktGenRun } from '../traffic/pkt-gen-run.ts';
import { type PktGenSender, type PktGenTrial, pktGenTrial } from '../traffic/pkt-gen-trial.ts';
import { type CheckStep, type Diagnostic, ok, skipped, wrong } from './diagnostic.ts';

type CeilingCheck = {
  testbed: FreebsdTestbed;
  families: readonly Family[];
  traffic: Traffic;
  sends: boolean;
  deps: Pick<FreebsdDeps, 'connect'> & { notify(sentence: string): void; signal: AbortSignal };
};

const ceiling = 'the ceiling of the generators';

/**
 * Sends past the DUT if `backToBack` joins ports, and through it: from each sender alone, and from all together. Only the
 * last trial keeps to `traffic.rate`, as measurements do; the others find what a sender is capable of.
 */
export function checkCeiling(check: CeilingCheck, needs: readonly string[]): CheckStep {
  if (check.sends) return { what: ceiling, needs, run: () => trials(check) };
  const run = async () => [skipped(ceiling, 'sending packets is switched off')];
  return { what: ceiling, needs: [], run };
}

async function* trials(check: CeilingCheck): AsyncGenerator<Diagnostic> {
  await using opened = new AsyncDisposableStack();
  const { testbed, deps } = check;
  // Opens separate connections, as each runs few commands at a time.
  const connect = async (...[host, label]: Parameters<FreebsdDeps['connect']>) => {
    const connected = await deps.connect(host, label);
    opened.defer(() => connected.close());
    return connected;
  };
  const dutHost = await connect(testbed.dut, 'DUT');
  const dut = await portOn(dutHost, testbed.dut.ingress.interface);
  const receiver = await connect(testbed.receiver, 'receiver');
  const senders: CeilingSender[] = [];
  for (const [index, { interface: name, mac }] of testbed.senders.entries()) {
    const label = testbed.senders.length === 1 ? 'sender' : `sender ${index + 1}`;
    const host = await connect(testbed.senders[index] ?? testbed.receiver, label);
    const { gigabits } = await portOn(host, netmapPort(name));
    const sender = { host, interface: name, sourceMac: mac, destinationMac: dut.mac ?? '' };
    senders.push({ ...sender, label, gigabits });
    const past = pastTheDut(label);
    const joined = testbed.senders[index]?.backToBack;
    if (joined === undefined) yield skipped(past, noPortsPastIt);
    else yield await backToBack(check, past, { ...sender, label }, receiver, joined);
  }
  const through = { host: receiver, interface: testbed.receiver.interface, way: 'through the DUT' };
  const line = (some: readonly CeilingSender[]) => lineOf(check, some, dut.gigabits);
  if (senders.length > 1) {
    for (const sender of senders) {
      yield aloneDiagnostic(`${sender.label} alone`, await trialOf(check, [sender], through), line([sender]));
    }
  }
  const what = senders.length > 1 ? 'all senders together' : ceiling;
  const egress = testbed.dut.egress.interface;
  const before = await readAll(dutHost, countersCommands([]));
  const { offeredPps: ratePps } = check.traffic;
  const together = await trialOf(check, senders, through, ratePps);
  const after = await readAll(dutHost, countersCommands([]));
  yield togetherDiagnostic(what, together, ratePps === undefined ? line(senders) : 'rate');
  if (faultOf(what, together) === undefined) {
    yield receiverDiagnostic(together, egress, sentBetween(before, after, egress));
    yield queuesDiagnostic(before, after, testbed.dut.ingress);
  }
}

/** A queue with less than this share of its even part got none of the test's flows. */
const minEvenShare = 0.1;

/**
 * Compares the interrupts of the receive queues; one interrupt may serve several packets. `queues` may be more than the
 * system names: some versions leave out those without any interrupt. A test that reaches less than half of the queues
 * leaves most of the DUT idle.
 */
export function queuesDiagnostic(
  before: CommandOutputs,
  after: CommandOutputs,
  { interface: device, queues: configured = 0 }: DutPortConfig,
): Diagnostic {
  const what = 'the receive queues of the DUT';
  const earlier = queueInterrupts(before, device);
  const counts = [...queueInterrupts(after, device)].map(([number, count]) => count - (earlier.get(number) ?? 0));
  const all = Math.max(configured, counts.length);
  const least = (sum(counts) * minEvenShare) / Math.max(all, 1);
  const reached = counts.filter((count) => count > 0 && count >= least).length;
  if (all < 2 || reached === 0) return skipped(what, `${device} has no counters for several queues`);
  const why = `the flows reach ${reached} of ${all} of ${device}`;
  if (reached * 2 >= all) return ok(what, why);
  return wrong(what, why, 'offer more `flows`, change the RSS key of the card, or give it fewer queues');
}

/**
 * Reads `vmstat -i` by the number of the queue: `ix0:rxq3` and `igb0:que 3` of iflib(9) and earlier; `t5nex0:1a3` of
 * cxgbe(4) is the third queue of its port 1.
 */
function queueInterrupts(outputs: CommandOutputs, ingress: string): Map<number, number> {
  const lines = (outputs.get(commandText(interruptsCommand)) ?? '').split('\n');
  return new Map(
    lines.flatMap((line): [number, number][] => {
      const [, name = '', count] = /^(?:irq\d+: )?(\S.{0,60}?)\s+(\d{1,15})\s+\d+\s*$/.exec(line) ?? [];
      const [, device, digits] = /^([a-z]+\d+):\s?(?:rxq|rx|que|q)\s?(\d{1,4})$/.exec(name) ?? [];
      if (device === ingress) return [[Number(digits), Number(count)]];
      const [, port, letters = ''] = /^t\dnex0:(\d)a([\da-f]{1,3})$/.exec(name) ?? [];
      const [, unit] = /^(?:cxgbe|cxl|cc)(\d)$/.exec(ingress) ?? [];
      return port !== undefined && port === unit ? [[Number.parseInt(letters, 16), Number(count)]] : [];
    }),
  );
}

const pastTheDut = (label: string): string => `the ceiling of ${called(label)} past the DUT`;

const called = (label: string): string => (label === 'sender' ? 'the sender' : label);

const noPortsPastIt =
  'no `backToBack` in ppsgate.yml: the offered rate is only known from the port of the sender, and the receiver is only tested up to the rate of the DUT';

async function backToBack(
  check: CeilingCheck,
  what: string,
  sender: Omit<CeilingSender, 'gigabits'>,
  receiver: Host,
  { from, to }: NonNullable<SenderConfig['backToBack']>,
): Promise<Diagnostic> {
  const [near, far] = [await portOn(sender.host, netmapPort(from)), await portOn(receiver, netmapPort(to))];
  const joined: CeilingSender = {
    ...sender,
    interface: from,
    sourceMac: near.mac ?? '',
    destinationMac: far.mac ?? '',
    gigabits: near.gigabits,
  };
  const way = `from ${netmapPort(from)} to ${netmapPort(to)} of the receiver`;
  const trial = await trialOf(check, [joined], { host: receiver, interface: to, way });
  const fix = 'connect these two ports with a cable, or correct `backToBack` in ppsgate.yml';
  if (trial.kind === 'measured' && trial.run.medianPps === 0) {
    return wrong(what, `nothing came ${way}`, fix);
  }
  const fault = faultOf(what, trial);
  if (fault !== undefined || trial.kind !== 'measured') return fault ?? skipped(what, way);
  const line = lineOf(check, [joined], far.gigabits);
  return ok(what, `${offers(trial, line)}, and the receiver counts ${formatPps(trial.run.medianPps)}`);
}

function receiverDiagnostic(trial: CeilingTrial, egress: string, egressPackets: number | undefined): Diagnostic {
  const what = 'the receiver compared with the DUT';
  if (trial.kind !== 'measured' || egressPackets === undefined) {
    return skipped(what, `the DUT has no counter of the packets sent by ${egress}`);
  }
  const { receiver, senders } = trial.logs;
  const { validity, medianPps } = pktGenRun(parsePktGenLog(receiver), senders.map(parsePktGenLog), {
    netbenchesTrim: false,
    egressPackets,
  });
  const isShort = validity.kind === 'invalid' && validity.cause === 'receiver-limited';
  if (!isShort) return ok(what, `it counted every packet, ${formatPps(medianPps)} from ${egress}`);
  const fix =
    'give the receiver a faster card or CPU, or a machine of its own: a receiver slower than the DUT makes all variants look equal';
  return wrong(what, validity.reason, fix);
}

type CeilingSender = PktGenSender & { label: string; gigabits: number | undefined };

const portOn = async (host: Host, name: string) => {
  const port = parseIfconfig(await host.output(shell`ifconfig ${name}`));
  return { mac: port?.mac, gigabits: port?.gigabits };
};

/** Long enough for ten steady seconds. */
const trafficSeconds = 15;
/** Seconds until a link comes up under netmap. */
const minSettleSeconds = 4;

type CeilingTrial = PktGenTrial | { kind: 'refused'; message: string };

/** Port that counts the packets; `way` describes their path. */
type TrafficPath = { host: Host; interface: string; way: string };

async function trialOf(
  { families: [family = 'inet4'], traffic, testbed, deps }: CeilingCheck,
  senders: readonly CeilingSender[],
  { host, interface: name, way }: TrafficPath,
  ratePps?: number,
): Promise<CeilingTrial> {
  const split = flowRanges(traffic.flows, family, senders.length, traffic.packets?.addresses);
  if (split.kind === 'refused') return split;
  const settleSeconds = Math.max(minSettleSeconds, traffic.settleSeconds);
  const seconds = 2 * settleSeconds + trafficSeconds;
  const names = senders.map(({ label }) => called(label)).join(' and ');
  deps.notify(`Sending ${family} from ${names} ${way} for about ${seconds} s.`);
  return pktGenTrial(
    { senders, receiver: { host, interface: name } },
    {
      family,
      frameBytes: frameBytesFor(traffic, { family }),
      flows: split.flows,
      ports: traffic.packets?.ports,
      addresses: traffic.packets?.addresses,
      ratePps,
      threads: testbed.senders[0]?.threads ?? 1,
      settleSeconds,
      trafficSeconds,
    },
    deps.signal,
  );
}

type LineCapacity = { gigabits: number; pps: number } | undefined;

/** Preamble, start delimiter and the gap between frames (IEEE 802.3). */
const wireBytesPerFrame = 20;

/** Capacity of the senders' links, or of the DUT's if that is less; undefined if either is unknown. */
function lineOf(
  { families: [family = 'inet4'], traffic }: CeilingCheck,
  senders: readonly CeilingSender[],
  dutGigabits: number | undefined,
): LineCapacity {
  const speeds = senders.flatMap(({ gigabits }) => gigabits ?? []);
  if (dutGigabits === undefined || speeds.length < senders.length) return undefined;
  const gigabits = Math.min(
    dutGigabits,
    speeds.reduce((sum, each) => sum + each, 0),
  );
  const bits = (frameBytesFor(traffic, { family }) + wireBytesPerFrame) * 8;
  return { gigabits, pps: (gigabits * 1e9) / bits };
}

/** A single one of several senders need not reach the DUT's limit. */
function aloneDiagnostic(what: string, trial: CeilingTrial, line: LineCapacity): Diagnostic {
  const fault = faultOf(what, trial);
  return fault ?? ok(what, throughput(trial, line));
}

function togetherDiagnostic(what: string, trial: CeilingTrial, limit: LineCapacity | 'rate'): Diagnostic {
  const fault = faultOf(what, trial);
  if (fault !== undefined) return fault;
  const reason = whyLimited(trial);
  if (reason === undefined) return ok(what, throughput(trial, limit));
  if (limit === 'rate') return wrong(what, reason, fixOfRate);
  const offeredPps = offeredOf(trial);
  const isLine = limit !== undefined && offeredPps >= 0.98 * limit.pps;
  const fix = isLine
    ? 'the link is saturated: measure a firewall scenario, or use a faster card'
    : 'give the sender more `threads` (and rings), or add a second sender';
  return wrong(what, `this generator does not reach the DUT's limit: it ${throughput(trial, limit)}`, fix);
}

const fixOfRate = 'set `traffic.rate` between the limit of the DUT and that of the senders, or remove it';

const offeredOf = (trial: CeilingTrial): number => (trial.kind === 'measured' ? (trial.run.offeredPps ?? 0) : 0);

/** Undefined if the generators did not limit the rate. */
function whyLimited(trial: CeilingTrial): string | undefined {
  if (trial.kind !== 'measured' || trial.run.validity.kind !== 'invalid') return undefined;
  const { cause, reason } = trial.run.validity;
  return cause === 'generator-limited' ? reason : undefined;
}

/** Undefined for a valid trial. */
function faultOf(what: string, trial: CeilingTrial): Diagnostic | undefined {
  switch (trial.kind) {
    case 'refused':
      return wrong(what, trial.message, 'correct `flows` in ppsgate.yml');
    case 'failed':
      return wrong(what, trial.reason, 'fix that first, then run this check again');
    case 'measured': {
      const { validity, medianPps } = trial.run;
      if (validity.kind !== 'invalid' || whyLimited(trial) !== undefined) return undefined;
      const fix =
        medianPps === 0
          ? 'check cables and MAC addresses, look for a firewall on the DUT, and raise `traffic.settle`'
          : 'run this check again when nothing else uses the machines';
      return wrong(what, validity.reason, fix);
    }
  }
}

function throughput(trial: CeilingTrial, limit: LineCapacity | 'rate'): string {
  if (trial.kind !== 'measured') return '';
  return `${offers(trial, limit)}, and ${formatPps(trial.run.medianPps)} came through`;
}

function offers(trial: CeilingTrial, limit: LineCapacity | 'rate'): string {
  const offered = `offers ${formatPps(offeredOf(trial))}`;
  if (limit === undefined) return offered;
  if (limit === 'rate') return `${offered}, as \`traffic.rate\` requests`;
  return `${offered} of ${formatPps(limit.pps)} (${limit.gigabits} Gbit/s)`;
}
