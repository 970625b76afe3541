// pkt-gen -f rx: counts the packets that arrive at a netmap port.
import type { Interface } from '../machine.ts';
import type { Process } from '../process.ts';
import { lastReportSeconds, type Result, reportSeconds, say, sayInterrupt, sayRate } from './pkt-gen-log.ts';
import type { PktGenOptions } from './pkt-gen-options.ts';

/** Runs until interrupted. */
export async function receive(process: Process, found: Interface, options: PktGenOptions): Promise<Result> {
  const { network, interrupted } = process;
  say(process, 'receiver_body', 1940, `reading from netmap:${options.interface} fd 3 main_fd 3`);
  const count = counter(process, found);
  let [packets, seconds, busyReports, trial] = [0, 0, 0, 0];
  for (;;) {
    const isLast = interrupted.aborted;
    const pace = isLast || network.isTrial() ? 'idle' : 'spare';
    await process.sleep(isLast ? lastReportSeconds : reportSeconds, pace);
    const report = count();
    packets += report.packets;
    if (report.packets > 0) {
      if (trial !== network.trial()) busyReports = 0;
      trial = network.trial();
      busyReports += 1;
    }
    if (packets > 0) {
      seconds += report.seconds;
    } else if (!interrupted.aborted) {
      say(process, 'receiver_body', 1955, 'waiting for initial packets, poll returns 0 0');
    }
    const crashes = busyReports === reportsToCrash && network.meets('receiver-crash') !== undefined;
    if (crashes) say(process, 'receiver_body', 1992, 'poll err');
    sayRate(process, options, report.packets, report.seconds);
    if (!isLast && interrupted.aborted) sayInterrupt(process);
    // Its very first poll(2) returns with an error, unlike the others.
    if (isLast && packets === 0) {
      say(process, 'receiver_body', 1947, 'poll() error: Interrupted system call');
      say(process, 'main_thread', 2813, 'ouch, thread 0 exited with error');
    }
    if (crashes) return crashed(process, packets);
    if (isLast) return { packets, seconds };
  }
}

const reportsToCrash = 3;

/** Returns the packets that arrived since the previous call. */
function counter({ network, deps }: Process, { port }: Interface) {
  let [trial, slowPps] = [0, Infinity];
  const maxPps = () => Math.min(network.receiverPps, slowPps);
  network.count();
  let [before, beforeAt] = [Math.floor(port.received.packets), deps.clock.now()];
  return () => {
    network.count();
    const [now, at] = [Math.floor(port.received.packets), deps.clock.now()];
    const seconds = at - beforeAt;
    if (now > before && trial !== network.trial()) {
      trial = network.trial();
      slowPps = network.meets('slow-receiver')?.pps ?? Infinity;
    }
    const most = maxPps();
    const counted = Number.isFinite(most) ? Math.floor(most * seconds) : Infinity;
    const packets = Math.min(now - before, counted);
    [before, beforeAt] = [now, at];
    return { packets, seconds };
  };
}

/** Its duration is then a time since 1970, negated. */
function crashed(process: Process, packets: number): Result {
  say(process, 'main_thread', 2813, 'ouch, thread 0 exited with error');
  return { packets, seconds: -process.deps.clock.now() };
}
