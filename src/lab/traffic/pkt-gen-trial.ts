// Trials by pkt-gen through ports that stay open from one to the next; and what the logs of each make of its run.

import { defaultBounds, isSteady, type SteadyBounds } from '../../analysis/stats/steady.ts';
import { type Flows, flowSlices } from '../../model/flows.ts';
import { lastLine } from '../../model/one-line.ts';
import type { Host } from '../../system/host/ssh.ts';
import type { Command } from '../../system/shell.ts';
import { parsePktGenLog } from './pkt-gen.ts';
import { isReady, receiverCommand, type SenderRequest, senderCommand } from './pkt-gen-command.ts';
import { endPktGens, type PktGenProcess, startPktGen } from './pkt-gen-process.ts';
import { leastSeconds, type PktGenRun, pktGenRun } from './pkt-gen-run.ts';

/** One connection serves four of them at most: the fifth of the tasks that go on at once over it ends the others. */
type PktGenHosts = {
  /** One to four; each counts twice where its port is held. */
  senders: readonly PktGenSender[];
  receiver: PktGenPort;
};

type PktGenPort = { host: Host; interface: string };

export type PktGenSender = PktGenPort & Pick<SenderRequest, 'sourceMac' | 'destinationMac'>;

export type PktGenRequest = Pick<SenderRequest, 'family' | 'frameBytes' | 'updatesChecksums'> & {
  /** Flows of all senders together; each sends those of its own slice of the sources. */
  flows: Flows;
  /** Rate of all senders together, shared as the flows are; absent: as fast as they can. */
  ratePps?: number | undefined;
  /** Threads of each sender. */
  threads: number;
  /** How long packets flow, at most. */
  trafficSeconds: number;
  /** After so long the trial ends as soon as the receiver's median is known to 0.5 %; absent: by time only. */
  atLeastSeconds?: number | undefined;
};

/**
 * Logs as they were received, a line with the process id first and, of senders, pkt-gen's own words before its summary. A
 * receiver that stays for the next trial has written none: its log is how it began, and its lines since the senders did.
 */
type PktGenLogs = {
  receiver: string;
  /** Logs in the order of the senders; none where they were not started. */
  senders: string[];
};

export type PktGenTrial =
  | { kind: 'measured'; logs: PktGenLogs; run: PktGenRun }
  | { kind: 'failed'; logs: PktGenLogs; reason: string };

type PortsRequest = {
  /** A port that is opened for netmap loses its link for so long, at most. */
  settleSeconds: number;
  /** From the link's return on; whoever is lost leaves them open no longer. */
  seconds: number;
  /** Whether the senders' ports are held open, too: else each sender opens its own, and waits for its link. */
  holdsSenders: boolean;
};

/** Ports in netmap mode, with their links up. */
export type PktGenPorts = {
  receiver: PktGenProcess;
  /** How the receiver's log began. */
  head: string;
  /** One for each sender's port; none where senders open their own. */
  holders: PktGenProcess[];
  /** What a sender has to wait for its own link. */
  settleSeconds: number;
};

type Opened = { kind: 'open'; ports: PktGenPorts } | Extract<PktGenTrial, { kind: 'failed' }>;

/**
 * Opens all ports at the same time, and answers when their links had the time to come up. The senders' ports are held by
 * a receiver, which sends nothing: netmap has a driver change its mode, which is what takes the link down, only when the
 * first program opens a ring or the last one closes it (`nm_kring_pending` in netmap_do_regif of FreeBSD's
 * sys/dev/netmap/netmap.c), and lets several programs open the same rings. So a sender that comes and goes bounces nothing.
 * Throws the signal's reason where that aborted it; none is left open unless all are.
 */
export async function openPorts(
  hosts: { senders: readonly PktGenPort[]; receiver: PktGenPort },
  { settleSeconds, seconds, holdsSenders }: PortsRequest,
  signal: AbortSignal,
): Promise<Opened> {
  const open = ({ host, interface: name }: PktGenPort) => {
    const command = receiverCommand({
      ...{ interface: name, settleSeconds },
      seconds: settleSeconds + seconds,
    });
    return startPktGen(host, command);
  };
  const receiver = open(hosts.receiver);
  const holders = holdsSenders ? hosts.senders.map(open) : [];
  const all = [receiver, ...holders];
  const over = new AbortController();
  const ready = Promise.all(all.map(({ until }) => until(isReady)));
  await Promise.race([ready, aborted(signal, over.signal)]);
  over.abort();
  const unready = all.findIndex((one) => one.isOver() || !isReady(one.output()));
  if (unready === -1 && !signal.aborted) {
    const said = receiver.output();
    const head = said.slice(0, said.lastIndexOf('\n') + 1);
    const ports = { receiver, head, holders };
    return { kind: 'open', ports: { ...ports, settleSeconds: holdsSenders ? 0 : settleSeconds } };
  }
  await endPktGens(all);
  signal.throwIfAborted();
  const said = await Promise.all(all.map(({ log }) => log));
  const [name, port] =
    unready === 0 ? ['receiver', hosts.receiver] : ['sender', hosts.senders[unready - 1]];
  const why = lastWords(said[unready] ?? '');
  return {
    kind: 'failed',
    logs: { receiver: said[0] ?? '', senders: [] },
    reason: `the ${name} on ${port?.interface} of ${port?.host.name} did not get ready: ${why}`,
  };
}

/** Whether none of the programs that hold them has ended. */
export const areOpen = ({ receiver, holders }: PktGenPorts): boolean =>
  ![receiver, ...holders].some((one) => one.isOver());

/** Never rejected. */
export const closePorts = ({ receiver, holders }: PktGenPorts): Promise<void> =>
  endPktGens([receiver, ...holders]);

/**
 * However the trial ends, every sender is told to, and has ended when this answers; the ports stay open. Throws the
 * signal's reason where that aborted it; a HostError where a connection is lost, over which a generator ends by its own
 * time; a RangeError for flows that the senders cannot share, or a frame that cannot be.
 */
export async function trialThrough(
  { receiver, head, holders, settleSeconds }: PktGenPorts,
  senders: readonly PktGenSender[],
  request: PktGenRequest,
  signal: AbortSignal,
): Promise<PktGenTrial> {
  const trial = planned(senders, request, settleSeconds);
  const over = new AbortController();
  const cancelled = aborted(signal, over.signal);
  const from = receiver.output().lastIndexOf('\n') + 1;
  const since = (said: string) => said.slice(from);
  const sending: PktGenProcess[] = [];
  try {
    if (!signal.aborted) {
      sending.push(...trial.sends.map(({ host, command }) => startPktGen(host, command)));
      const enough = enoughFor(request);
      const steady = enough === undefined ? [] : [receiver.until((said) => enough(since(said)))];
      const ended = [receiver, ...holders, ...sending].map(({ log }) => log);
      await Promise.race([...ended, ...steady, cancelled]);
    }
  } finally {
    const last = Promise.allSettled(sending.map(({ log }) => log)).then(() => receiver.output());
    await endPktGens(sending);
    over.abort();
    if (sending.length > 0) await receiver.until(anotherRate(await last));
  }
  signal.throwIfAborted();
  // One whose connection was lost throws here.
  await Promise.all([receiver, ...holders].filter((one) => one.isOver()).map(({ log }) => log));
  const logs: PktGenLogs = {
    receiver: head + since(receiver.output()),
    senders: await Promise.all(sending.map(({ log }) => log)),
  };
  const reason = whyNotStarted(senders, logs, sending);
  if (reason !== undefined) return { kind: 'failed', logs, reason };
  const run = pktGenRun(
    parsePktGenLog(logs.receiver),
    logs.senders.map((log) => parsePktGenLog(log)),
    { netbenchesTrim: false, requestedPps: trial.requestedPps },
  );
  return { kind: 'measured', logs, run };
}

/** Between opening the ports and the senders' start, and after they have ended. */
const spareSeconds = 20;

/** How long ports have to be open for one trial, whose senders may wait for links of their own. */
export const secondsFor = (settleSeconds: number, trafficSeconds: number): number =>
  settleSeconds + trafficSeconds + spareSeconds;

/** A trial alone: each port is opened for it, and closed however it ends. Throws what `trialThrough` does. */
export async function pktGenTrial(
  hosts: PktGenHosts,
  { settleSeconds, ...request }: PktGenRequest & Pick<PortsRequest, 'settleSeconds'>,
  signal: AbortSignal,
): Promise<PktGenTrial> {
  const seconds = secondsFor(settleSeconds, request.trafficSeconds);
  const opened = await openPorts(hosts, { settleSeconds, seconds, holdsSenders: false }, signal);
  if (opened.kind === 'failed') return opened;
  try {
    return await trialThrough(opened.ports, hosts.senders, request, signal);
  } finally {
    await closePorts(opened.ports);
  }
}

type PlannedSends = {
  sends: { host: Host; command: Command }[];
  /** Rate that each sender is asked for; none where they are to send as fast as they can. */
  requestedPps: number[];
};

function planned(
  senders: readonly PktGenSender[],
  request: PktGenRequest,
  settleSeconds: number,
): PlannedSends {
  const { flows, ratePps, trafficSeconds } = request;
  const seconds = settleSeconds + trafficSeconds;
  const slices = flowSlices(flows, senders.length);
  const shares =
    ratePps === undefined ? [] : slices.map(({ sources }) => (ratePps * sources) / flows.sources);
  return {
    sends: senders.map(({ host, ...port }, index) => {
      const slice = { flows: slices[index] ?? flows, ratePps: shares[index] };
      const times = { settleSeconds, seconds };
      return { host, command: senderCommand({ ...request, ...port, ...slice, ...times }) };
    }),
    requestedPps: shares,
  };
}

/** Resolves to false. */
const aborted = (signal: AbortSignal, until: AbortSignal): Promise<boolean> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(false);
    signal.addEventListener('abort', () => resolve(false), { once: true, signal: until });
  });

/** Undefined where the trial has a fixed length. */
function enoughFor({ atLeastSeconds, trafficSeconds }: PktGenRequest) {
  if (atLeastSeconds === undefined || atLeastSeconds >= trafficSeconds) return undefined;
  const atLeast = Math.max(leastSeconds, Math.ceil(atLeastSeconds));
  const bounds: SteadyBounds = { ...defaultBounds, atLeast };
  return (said: string) => isSteady(ratesIn(said), bounds);
}

const ratesIn = (said: string): number[] => parsePktGenLog(said).rates.map(({ pps }) => pps);

/** The receiver's next one: what was still under way when the senders ended has come by then. */
function anotherRate(saidBefore: string) {
  const before = ratesIn(saidBefore).length;
  return (said: string) => ratesIn(said).length > before;
}

/** A sender that was ended before it was ready is not the one to blame. */
function whyNotStarted(
  senders: readonly PktGenSender[],
  logs: PktGenLogs,
  sending: readonly PktGenProcess[],
): string | undefined {
  const index = logs.senders.findIndex((log, at) => !isReady(log) && sending[at]?.isUntouched());
  const sender = senders[index];
  if (sender === undefined) return undefined;
  const why = lastWords(logs.senders[index] ?? '');
  return `the sender on ${sender.interface} of ${sender.host.name} did not start: ${why}`;
}

/** What pkt-gen complains of stands before its usage; what the shell or timeout(1) does stands alone. */
function lastWords(log: string): string {
  const said = log.replace(/^process \d+\r?\n/m, '');
  const complaints = [...said.matchAll(/^\d+\.\d+ \w+ \[\d+\] (.*\S)/gm)]
    .map(([, words = '']) => words)
    .filter((words) => words !== 'aborting');
  return lastLine(complaints.at(-1) ?? said) ?? 'it said nothing';
}
