// pkt-gen -f tx: puts packets on the wire as fast as its port, its machine and -R allow.
import { setDemand, setStolen, threadsOf } from '../cpu.ts';
import type { Interface } from '../machine.ts';
import { pauses, type Stream } from '../network.ts';
import type { Process } from '../process.ts';
import { isLinkUp } from '../wiring.ts';
import { emulatedPps, lastReportSeconds, tickSeconds } from './pkt-gen-limits.ts';
import { type Result, say, sayRate } from './pkt-gen-log.ts';
import type { PktGenOptions } from './pkt-gen-options.ts';

/** Until its count is sent, or it is interrupted. */
export async function send(
  process: Process,
  found: Interface,
  options: PktGenOptions,
): Promise<Result> {
  for (let thread = 0; thread < options.threads; thread++) {
    say(process, 'sender_body', 1713, `start, fd ${3 + thread} main_fd 3`);
    say(process, 'sender_body', 1771, `frags 1 frag_size ${options.frameBytesWithoutCrc}`);
  }
  const { machine, network, deps } = process;
  const { stolenRatio } = machine;
  const starved = network.meets('starved-sender');
  if (starved !== undefined) setStolen(machine, deps.clock.now(), starved.stolenRatio);
  const { stream, cpuShare } = streamOf(process, found, options);
  network.begin(stream);
  setDemand(machine, deps.clock.now(), stream, threadsOf(machine, options.threads, cpuShare));
  try {
    return await report(process, found, options, stream.pps);
  } finally {
    network.end(stream);
    setDemand(machine, deps.clock.now(), stream, undefined);
    if (starved !== undefined) setStolen(machine, deps.clock.now(), stolenRatio);
  }
}

async function report(
  process: Process,
  { port }: Interface,
  options: PktGenOptions,
  pps: number,
): Promise<Result> {
  const { network, deps, interrupted } = process;
  const [origin, startedAt] = [port.sent.packets, deps.clock.now()];
  const most = options.count > 0 ? options.count : Infinity;
  let [before, beforeAt] = [0, startedAt];
  for (;;) {
    const isLast = interrupted.aborted;
    const reportSeconds = isLast ? lastReportSeconds : options.reportSeconds + tickSeconds;
    await process.sleep(Math.min(reportSeconds, (most - before) / pps));
    if (!isLinkUp(port, deps.clock.now())) {
      say(process, 'sender_body', 1778, 'poll error on queue 0: timeout');
    }
    network.count();
    const [sent, at] = [Math.round(port.sent.packets - origin), deps.clock.now()];
    sayRate(process, options, sent - before, at - beforeAt);
    if (isLast || sent >= most) return { packets: sent, seconds: at - startedAt };
    [before, beforeAt] = [sent, at];
  }
}

/** `cpuShare` is of each thread: it sleeps only where it may not send as fast as it can. */
function streamOf(
  process: Process,
  found: Interface,
  options: PktGenOptions,
): { stream: Stream; cpuShare: number } {
  const slow = process.network.meets('slow-generator');
  const most =
    Math.min(
      lineRate(found.mediaBits, options.frameBytesWithoutCrc),
      process.network.generatorPps,
      found.netmap === 'emulated' ? emulatedPps : Infinity,
      slow?.pps ?? Infinity,
    ) *
    (1 - process.machine.stolenRatio);
  // Every thread keeps the whole of it.
  const asked = options.ratePps > 0 ? options.ratePps * options.threads : Infinity;
  const stream = {
    from: found.port,
    family: options.family,
    pps: Math.min(most, asked),
    frameBytesWithoutCrc: options.frameBytesWithoutCrc,
    destinationMac: options.destinationMac,
    destination: options.destination.first,
    flows: options.source.size * options.destination.size,
    heedsPause: pauses(process.machine, found.name),
  };
  return { stream, cpuShare: Math.min(1, asked / most) };
}

/** Frames per second, each with 4 bytes of CRC, and 20 of preamble and gap between frames (IEEE 802.3). */
const lineRate = (bits: number, frameBytesWithoutCrc: number): number =>
  bits / ((Math.max(64, frameBytesWithoutCrc + 4) + 20) * 8);
