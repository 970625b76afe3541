// One blast by pkt-gen: the receiver first, its link settled, then all senders; and what their logs make of the run.

import type { Command } from '../host/shell.ts';
import type { Host } from '../host/ssh.ts';
import { defaultBounds, isSteady, type SteadyBounds } from '../stats/steady.ts';
import { type Flows, flowSlices } from '../words/flows.ts';
import { lastLine } from '../words/one-line.ts';
import { parsePktGenLog } from './pkt-gen.ts';
import {
  interruptCommand,
  isReady,
  processIdIn,
  receiverCommand,
  type SenderRequest,
  senderCommand,
  tellingProcessId,
} from './pkt-gen-command.ts';
import { leastSeconds, type PktGenRun, pktGenRun } from './pkt-gen-run.ts';

/** One connection serves four of them at most: the fifth of the tasks that go on at once over it ends the others. */
type PktGenHosts = {
  /** One to four. */
  senders: readonly PktGenSender[];
  receiver: { host: Host; interface: string };
};

export type PktGenSender = Pick<SenderRequest, 'interface' | 'sourceMac' | 'destinationMac'> & {
  host: Host;
};

export type PktGenRequest = Pick<
  SenderRequest,
  'family' | 'frameBytes' | 'settleSeconds' | 'updatesChecksums'
> & {
  /** Flows of all senders together; each sends those of its own slice of the sources. */
  flows: Flows;
  /** Rate of all senders together, shared as the flows are; absent: as fast as they can. */
  ratePps?: number | undefined;
  /** Threads of each sender. */
  threads: number;
  /** How long packets flow, at most. */
  trafficSeconds: number;
  /** After so long the blast ends as soon as the receiver's median is known to 0.5 %; absent: by time only. */
  atLeastSeconds?: number | undefined;
};

/** As they were received, a line with the process id first and pkt-gen's own words before its summary. */
type PktGenLogs = {
  receiver: string;
  /** Logs in the order of the senders; none where they were not started. */
  senders: string[];
};

export type PktGenBlast =
  | { kind: 'measured'; logs: PktGenLogs; run: PktGenRun }
  | { kind: 'failed'; logs: PktGenLogs; reason: string };

/** Until the senders were started, and after they have ended. */
const spareSeconds = 20;

/**
 * However the blast ends, every generator is told to, and has ended when this answers. Throws the signal's reason
 * where that aborted it; a HostError where a connection is lost, over which a generator ends by its own time; a
 * RangeError for flows that the senders cannot share, or a frame that cannot be.
 */
export async function pktGenBlast(
  hosts: PktGenHosts,
  request: PktGenRequest,
  signal: AbortSignal,
): Promise<PktGenBlast> {
  const blast = planned(hosts, request);
  const over = new AbortController();
  const cancelled = aborted(signal, over.signal);
  const receiver = start(hosts.receiver.host, blast.receive);
  const senders: Generator[] = [];
  try {
    const isGo = await Promise.race([receiver.until(isReady), cancelled]);
    if (isGo && !signal.aborted) {
      senders.push(...blast.sends.map(({ host, command }) => start(host, command)));
      const enough = enoughFor(request);
      const steady = enough === undefined ? [] : [receiver.until(enough)];
      const ended = [receiver, ...senders].map((generator) => generator.log);
      await Promise.race([...ended, ...steady, cancelled]);
    }
  } finally {
    await end(senders);
    if (senders.length > 0) await receiver.until(anotherRate(receiver.said()));
    await end([receiver]);
    over.abort();
  }
  signal.throwIfAborted();
  const logs: PktGenLogs = {
    receiver: await receiver.log,
    senders: await Promise.all(senders.map(({ log }) => log)),
  };
  const reason = whyNotStarted(hosts, logs, senders);
  if (reason !== undefined) return { kind: 'failed', logs, reason };
  const run = pktGenRun(
    parsePktGenLog(logs.receiver),
    logs.senders.map((log) => parsePktGenLog(log)),
    { netbenchesTrim: false, askedPps: blast.askedPps },
  );
  return { kind: 'measured', logs, run };
}

type Planned = {
  receive: Command;
  sends: { host: Host; command: Command }[];
  /** Rate that each sender is asked for; none where they are to send as fast as they can. */
  askedPps: number[];
};

function planned({ senders, receiver }: PktGenHosts, request: PktGenRequest): Planned {
  const { flows, ratePps, settleSeconds, trafficSeconds } = request;
  const seconds = settleSeconds + trafficSeconds;
  const slices = flowSlices(flows, senders.length);
  const shares =
    ratePps === undefined ? [] : slices.map(({ sources }) => (ratePps * sources) / flows.sources);
  return {
    receive: receiverCommand({
      interface: receiver.interface,
      settleSeconds,
      seconds: settleSeconds + seconds + spareSeconds,
    }),
    sends: senders.map(({ host, ...port }, index) => {
      const slice = { flows: slices[index] ?? flows, ratePps: shares[index] };
      return { host, command: senderCommand({ ...request, ...port, ...slice, seconds }) };
    }),
    askedPps: shares,
  };
}

/** Resolves to false. */
const aborted = (signal: AbortSignal, until: AbortSignal): Promise<boolean> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(false);
    signal.addEventListener('abort', () => resolve(false), { once: true, signal: until });
  });

type Generator = {
  /** All of it; rejected with a HostError where its end cannot be known. */
  log: Promise<string>;
  /** What it has said on stderr so far. */
  said(): string;
  /** Whether what it says came to that before it ended; never rejected. */
  until(holds: (said: string) => boolean): Promise<boolean>;
  /** Once it has told its process id; nothing for one that has ended. */
  interrupt(): Promise<void>;
  /** It ended by itself, or still runs. */
  isUntouched(): boolean;
};

/** The most characters of a log; a second has some hundred. */
const mostSaid = 16 * 1024 ** 2;

/** pkt-gen's rates and messages go to stderr, its summary to stdout. */
function start(host: Host, command: Command): Generator {
  const lookers = new Set<() => void>();
  let said = '';
  let isOver = false;
  let isUntouched = true;
  const onStderr = (chunk: Uint8Array) => {
    if (said.length < mostSaid) said += Buffer.from(chunk).toString();
    for (const look of lookers) look();
  };
  const log = host
    .run(tellingProcessId(command), { onStderr })
    .then(({ stdout }) => said + stdout)
    .finally(() => {
      isOver = true;
      for (const look of lookers) look();
    });
  // Whoever waits for the log hears of it.
  log.catch(() => {});

  const until = (holds: (said: string) => boolean) =>
    new Promise<boolean>((resolve) => {
      const look = () => {
        const isSo = holds(said);
        if (!isSo && !isOver) return;
        lookers.delete(look);
        resolve(isSo);
      };
      lookers.add(look);
      look();
    });
  return {
    log,
    said: () => said,
    until,
    async interrupt() {
      await until((text) => processIdIn(text) !== undefined);
      const processId = processIdIn(said);
      if (processId === undefined || isOver) return;
      isUntouched = false;
      await host.run(interruptCommand(processId));
    },
    isUntouched: () => isUntouched,
  };
}

/** Never rejected: where a connection is lost, the log says so. */
async function end(generators: readonly Generator[]): Promise<void> {
  await Promise.allSettled(generators.map((generator) => generator.interrupt()));
  await Promise.allSettled(generators.map(({ log }) => log));
}

/** Undefined where the blast has a fixed length. */
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
  hosts: PktGenHosts,
  logs: PktGenLogs,
  senders: readonly Generator[],
): string | undefined {
  const { receiver } = hosts;
  if (!isReady(logs.receiver)) {
    return `the receiver on ${receiver.interface} of ${receiver.host.name} did not get ready: ${lastWords(logs.receiver)}`;
  }
  const index = logs.senders.findIndex((log, at) => !isReady(log) && senders[at]?.isUntouched());
  const sender = hosts.senders[index];
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
