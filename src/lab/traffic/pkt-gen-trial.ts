// Runs trials with pkt-gen, through ports that stay open from one trial to the next.

import { defaultBounds, isSteady, type SteadyBounds } from '../../analysis/stats/steady.ts';
import { type Flows, flowSlices } from '../../model/flows.ts';
import { lastLine } from '../../model/one-line.ts';
import type { Host } from '../../system/host/ssh.ts';
import type { Command } from '../../system/shell.ts';
import { parsePktGenLog } from './pkt-gen.ts';
import {
  interruptCommand,
  isReady,
  printingProcessId,
  processIdIn,
  receiverCommand,
  type SenderRequest,
  senderCommand,
} from './pkt-gen-command.ts';
import { minSeconds, type PktGenRun, pktGenRun } from './pkt-gen-run.ts';

/** A connection carries four tasks at once: a fifth ends the others. */
type PktGenHosts = {
  /** At most four; each counts twice if its port is held open. */
  senders: readonly PktGenSender[];
  receiver: PktGenPort;
};

type PktGenPort = { host: Host; interface: string };

export type PktGenSender = PktGenPort & Pick<SenderRequest, 'sourceMac' | 'destinationMac'>;

export type PktGenRequest = Pick<
  SenderRequest,
  'family' | 'frameBytes' | 'ports' | 'addresses' | 'updatesChecksums'
> & {
  /** Flows of all senders; each sender has a slice of the sources. */
  flows: Flows;
  /** Rate of all senders, shared like the flows; absent: maximum. */
  ratePps?: number | undefined;
  threads: number;
  /** Maximum length of the traffic. */
  trafficSeconds: number;
  /**
   * After this time the trial ends once the receiver's median is known to 0.5 %; absent: only the maximum length ends
   * it.
   */
  atLeastSeconds?: number | undefined;
};

/**
 * Raw logs, after a line with the process id. A receiver that stays for the next trial prints no summary: its log has
 * its first lines, and those since the senders started.
 */
type PktGenLogs = {
  receiver: string;
  /** In the order of the senders; empty if they were not started. */
  senders: string[];
};

export type PktGenTrial =
  | { kind: 'measured'; logs: PktGenLogs; run: PktGenRun }
  | { kind: 'failed'; logs: PktGenLogs; reason: string };

type PortsRequest = {
  settleSeconds: number;
  /** Time from the link's return until the ports close, even without a controller. */
  seconds: number;
  /** Holds the senders' ports open, too; otherwise each sender opens its own, and waits for its link. */
  holdsSenders: boolean;
};

/** Ports in netmap mode, with their links up. */
export type PktGenPorts = {
  receiver: PktGenProcess;
  head: string;
  /** Holds a program for each sender; empty if senders open their own ports. */
  holders: PktGenProcess[];
  settleSeconds: number;
};

type Opened = { kind: 'open'; ports: PktGenPorts } | Extract<PktGenTrial, { kind: 'failed' }>;

/**
 * Opens all ports at once, or none, and returns when their links have settled. A receiver, which sends nothing, holds
 * each sender's port, so that senders start and end without a link flap.
 * netmap changes a driver's mode, which takes the link down, only when the first program opens a ring or the last one
 * closes it (`nm_kring_pending` in netmap_do_regif of FreeBSD's sys/dev/netmap/netmap.c). Several programs may open the
 * same rings. Throws the signal's reason.
 */
export async function openPorts(
  hosts: { senders: readonly PktGenPort[]; receiver: PktGenPort },
  { settleSeconds, seconds, holdsSenders }: PortsRequest,
  signal: AbortSignal,
): Promise<Opened> {
  const open = ({ host, interface: name }: PktGenPort) => {
    const command = receiverCommand({
      interface: name,
      settleSeconds,
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
    const output = receiver.output();
    const head = output.slice(0, output.lastIndexOf('\n') + 1);
    const ownSettleSeconds = holdsSenders ? 0 : settleSeconds;
    return { kind: 'open', ports: { receiver, head, holders, settleSeconds: ownSettleSeconds } };
  }
  await endPktGens(all);
  signal.throwIfAborted();
  const outputs = await Promise.all(all.map(({ log }) => log));
  const [name, port] = unready === 0 ? ['receiver', hosts.receiver] : ['sender', hosts.senders[unready - 1]];
  const why = lastComplaint(outputs[unready] ?? '');
  return {
    kind: 'failed',
    logs: { receiver: outputs[0] ?? '', senders: [] },
    reason: `the ${name} on ${port?.interface} of ${port?.host.name} did not become ready: ${why}`,
  };
}

export const areOpen = ({ receiver, holders }: PktGenPorts): boolean =>
  ![receiver, ...holders].some((one) => one.isOver());

export const closePorts = ({ receiver, holders }: PktGenPorts): Promise<void> => endPktGens([receiver, ...holders]);

/**
 * Returns or throws only after all senders have ended; the ports stay open. Throws the signal's reason; a HostError for
 * a lost connection, whose generator ends when its time is over.
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
  const since = (output: string) => output.slice(from);
  const sending: PktGenProcess[] = [];
  try {
    if (!signal.aborted) {
      sending.push(...trial.sends.map(({ host, command }) => startPktGen(host, command)));
      const enough = enoughFor(request);
      const steady = enough === undefined ? [] : [receiver.until((output) => enough(since(output)))];
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
  // Awaits the logs of ended programs, which throw for a lost connection.
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

/** Spare time between opening the ports and the start of the senders, and after their end. */
const spareSeconds = 20;

/** Time for which one trial needs its ports open; its senders may wait for their own links. */
export const secondsFor = (settleSeconds: number, trafficSeconds: number): number =>
  settleSeconds + trafficSeconds + spareSeconds;

/** Runs a single trial: opens the ports for it, and closes them. Throws like `trialThrough`. */
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
  requestedPps: number[];
};

function planned(senders: readonly PktGenSender[], request: PktGenRequest, settleSeconds: number): PlannedSends {
  const { flows, ratePps, trafficSeconds } = request;
  const seconds = settleSeconds + trafficSeconds;
  const slices = flowSlices(flows, senders.length);
  const shares = ratePps === undefined ? [] : slices.map(({ sources }) => (ratePps * sources) / flows.sources);
  return {
    sends: senders.map(({ host, ...port }, index) => {
      const slice = { flows: slices[index] ?? flows, ratePps: shares[index] };
      const times = { settleSeconds, seconds };
      return { host, command: senderCommand({ ...request, ...port, ...slice, ...times }) };
    }),
    requestedPps: shares,
  };
}

const aborted = (signal: AbortSignal, until: AbortSignal): Promise<boolean> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(false);
    signal.addEventListener('abort', () => resolve(false), { once: true, signal: until });
  });

function enoughFor({ atLeastSeconds, trafficSeconds }: PktGenRequest) {
  if (atLeastSeconds === undefined || atLeastSeconds >= trafficSeconds) return undefined;
  const atLeast = Math.max(minSeconds, Math.ceil(atLeastSeconds));
  const bounds: SteadyBounds = { ...defaultBounds, atLeast };
  return (output: string) => isSteady(ratesIn(output), bounds);
}

const ratesIn = (log: string): number[] => parsePktGenLog(log).rates.map(({ pps }) => pps);

/** Waits for the receiver's next rate, by which all packets in flight have arrived. */
function anotherRate(outputBefore: string) {
  const before = ratesIn(outputBefore).length;
  return (output: string) => ratesIn(output).length > before;
}

/** Ignores senders that were interrupted before they were ready. */
function whyNotStarted(
  senders: readonly PktGenSender[],
  logs: PktGenLogs,
  sending: readonly PktGenProcess[],
): string | undefined {
  const index = logs.senders.findIndex((log, at) => !isReady(log) && sending[at]?.isUntouched());
  const sender = senders[index];
  if (sender === undefined) return undefined;
  const why = lastComplaint(logs.senders[index] ?? '');
  return `the sender on ${sender.interface} of ${sender.host.name} did not start: ${why}`;
}

/** pkt-gen prints its complaint before its usage; the shell and timeout(1) print theirs alone. */
function lastComplaint(log: string): string {
  const text = log.replace(/^process \d+\r?\n/m, '');
  const complaints = [...text.matchAll(/^\d+\.\d+ \w+ \[\d+\] (.*\S)/gm)]
    .map(([, message = '']) => message)
    .filter((message) => message !== 'aborting');
  return lastLine(complaints.at(-1) ?? text) ?? 'it said nothing';
}

type PktGenProcess = {
  log: Promise<string>;
  output(): string;
  /** Resolves to true once its output satisfies the condition, to false if it ends before; never rejects. */
  until(holds: (output: string) => boolean): Promise<boolean>;
  /** Waits for its process id; has no effect once it has ended. */
  interrupt(): Promise<void>;
  isUntouched(): boolean;
  isOver(): boolean;
};

/** In characters; a second has about 100. */
const maxOutput = 16 * 1024 ** 2;

/** pkt-gen's rates and messages go to stderr, its summary to stdout. */
function startPktGen(host: Host, command: Command): PktGenProcess {
  const waiters = new Set<() => void>();
  let output = '';
  let isOver = false;
  let isUntouched = true;
  const onStderr = (chunk: Uint8Array) => {
    if (output.length < maxOutput) output += Buffer.from(chunk).toString();
    for (const check of waiters) check();
  };
  const log = host
    .run(printingProcessId(command), { onStderr })
    .then(({ stdout }) => output + stdout)
    .finally(() => {
      isOver = true;
      for (const check of waiters) check();
    });
  // Callers that await the log get the error.
  log.catch(() => {});

  const until = (holds: (output: string) => boolean) =>
    new Promise<boolean>((resolve) => {
      const check = () => {
        const isSatisfied = holds(output);
        if (!isSatisfied && !isOver) return;
        waiters.delete(check);
        resolve(isSatisfied);
      };
      waiters.add(check);
      check();
    });
  return {
    log,
    output: () => output,
    until,
    async interrupt() {
      await until((text) => processIdIn(text) !== undefined);
      const processId = processIdIn(output);
      if (processId === undefined || isOver) return;
      isUntouched = false;
      await host.run(interruptCommand(processId));
    },
    isUntouched: () => isUntouched,
    isOver: () => isOver,
  };
}

/** Never rejects: a lost connection rejects the log. */
async function endPktGens(processes: readonly PktGenProcess[]): Promise<void> {
  await Promise.allSettled(processes.map((one) => one.interrupt()));
  await Promise.allSettled(processes.map(({ log }) => log));
}
