// pkt-gen: sends packets out of a netmap port, or counts those that arrive at one.
import { type Interface, interfaceNamed } from '../machine.ts';
import type { Process, Program } from '../process.ts';
import { bounce } from '../wiring.ts';
import { say, sayResult } from './pkt-gen-log.ts';
import { type PktGenOptions, readPktGen } from './pkt-gen-options.ts';
import { receive } from './pkt-gen-receive.ts';
import { send } from './pkt-gen-send.ts';
import { listed } from './processes.ts';

export const pktGenPrograms: Readonly<Record<string, Program>> = {
  'pkt-gen': listed('pkt-gen', pktGen),
};

/** Messages and rates go to stderr immediately, the summary to a stdout that is written at the end. */
async function pktGen(process: Process): Promise<number> {
  const options = readPktGen(process.args);
  if (options.interface === undefined) {
    say(process, 'main', 3040, 'missing ifname');
    return usageCode;
  }
  const found = interfaceNamed(process.machine, options.interface);
  if (found === undefined) {
    say(process, 'main', 3300, `Unable to open netmap:${options.interface}: Device not configured`);
    return usageCode;
  }
  // -l includes the frame's header, the MTU does not: a frame of 1518 bytes is rejected.
  const { mtu } = found;
  if (options.sends && options.frameBytesWithoutCrc > mtu) {
    say(process, 'main', 3320, `pkt_size (${options.frameBytesWithoutCrc}) must be <= mtu (${mtu})`);
    return usageCode;
  }
  return trial(process, found, options);
}

const usageCode = 255;

/** Only the first program that opens a port, and the last that closes it, change the driver's mode. */
async function trial(process: Process, found: Interface, options: PktGenOptions): Promise<number> {
  const { network } = process;
  const { users } = found.port;
  const user = {};
  if (options.sends) network.beginTrial();
  if (users.size === 0) changeMode(process, found);
  users.add(user);
  try {
    await waitForLink(process, options);
    const run = options.sends ? send : receive;
    sayResult(process, options, await run(process, found, options));
    return 0;
  } finally {
    users.delete(user);
    if (options.sends) network.endTrial();
    if (users.size === 0) changeMode(process, found);
  }
}

/** Into netmap mode and back: the link goes down, and needs some time. */
function changeMode({ network, deps }: Process, { port }: Interface): void {
  network.count();
  bounce(port, deps.clock.now(), network.bounceSeconds());
}

/** Runs for its whole time, with the link up or down. */
async function waitForLink(process: Process, options: PktGenOptions): Promise<void> {
  say(process, 'start_threads', 2695, `Wait ${options.waitSeconds} secs for phy reset`);
  await process.sleep(options.waitSeconds);
  say(process, 'start_threads', 2697, 'Ready...');
}
