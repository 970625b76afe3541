// pkt-gen -f tx: sends packets as fast as its port, its machine and -R allow.
import type { Interface } from '../machine.ts';
import type { Stream } from '../network.ts';
import type { Process } from '../process.ts';
import { isLinkUp } from '../wiring.ts';
import { lastReportSeconds, type Result, reportSeconds, say, sayInterrupt, sayRate } from './pkt-gen-log.ts';
import type { PktGenOptions } from './pkt-gen-options.ts';

/** Runs until it is interrupted. With -R it first waits for a whole second of the clock. */
export async function send(process: Process, found: Interface, options: PktGenOptions): Promise<Result> {
  const { network, deps } = process;
  const stream = streamOf(process, found, options);
  let isOver = false;
  const begin = () => {
    if (isOver) return;
    network.begin(stream);
  };
  const end = () => {
    isOver = true;
    network.end(stream);
  };
  const now = deps.clock.now();
  const startsAt = options.ratePps > 0 ? Math.floor(now + secondsToTarget) : now;
  if (startsAt > now) deps.clock.after(startsAt - now, begin);
  else begin();
  try {
    return await report(process, found, options, { startsAt, end });
  } finally {
    end();
  }
}

/** See sender_body() of pkt-gen.c: it drops the fraction of the second. */
const secondsToTarget = 2;

type Sending = { startsAt: number; end: () => void };

async function report(
  process: Process,
  { port }: Interface,
  options: PktGenOptions,
  { startsAt, end }: Sending,
): Promise<Result> {
  const { network, deps, interrupted } = process;
  const { clock } = deps;
  const origin = port.sent.packets;
  let [before, beforeAt] = [0, clock.now()];
  for (;;) {
    await process.sleep(reportSeconds);
    const [now, isInterrupted] = [clock.now(), interrupted.aborted];
    if (now > startsAt && !isLinkUp(port, now)) {
      say(process, 'sender_body', 1778, 'poll error on queue 0: timeout');
    }
    network.count();
    const sent = Math.round(port.sent.packets - origin);
    if (isInterrupted) sayInterrupt(process);
    sayRate(process, options, sent - before, now - beforeAt);
    if (isInterrupted) {
      end();
      await sayLast(process, options);
      return { packets: sent, seconds: Math.max(now - startsAt, 0) };
    }
    [before, beforeAt] = [sent, now];
  }
}

/** The threads end, and main_thread sleeps for one more second. */
async function sayLast(process: Process, options: PktGenOptions): Promise<void> {
  if (options.ratePps === 0) say(process, 'sender_body', 1809, 'poll error on queue 0: Interrupted system call');
  await process.sleep(lastReportSeconds);
  sayRate(process, options, 0, lastReportSeconds);
}

function streamOf(process: Process, found: Interface, options: PktGenOptions): Stream {
  const slow = process.network.meets('slow-generator');
  const most = Math.min(
    lineRate(found.mediaBits, options.frameBytesWithoutCrc),
    process.network.generatorPps,
    slow?.pps ?? Infinity,
  );
  // Every thread sends at the whole rate.
  const asked = options.ratePps > 0 ? options.ratePps * options.threads : Infinity;
  return {
    from: found.port,
    family: options.family,
    pps: Math.min(most, asked),
    frameBytesWithoutCrc: options.frameBytesWithoutCrc,
    destinationMac: options.destinationMac,
    destination: options.destination.first,
    sources: options.source.size,
    flows: options.source.size * options.destination.size,
  };
}

/** Frames per second, each with 4 bytes of CRC, and 20 of preamble and gap between frames (IEEE 802.3). */
const lineRate = (bits: number, frameBytesWithoutCrc: number): number =>
  bits / ((Math.max(64, frameBytesWithoutCrc + 4) + 20) * 8);
