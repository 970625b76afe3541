// Checks the MTU of ports against the frames of a trial.

import { HostError } from '../../system/host/host-error.ts';
import type { Host } from '../../system/host/ssh.ts';
import { shell } from '../../system/shell.ts';
import { parseIfconfig } from './dut/network.ts';

/** Ethernet's header has 14 bytes, its checksum 4. pkt-gen compares the frame without the checksum with the MTU. */
export const minMtu = {
  sender: (frameBytes: number): number => frameBytes - 4,
  receiver: (frameBytes: number): number => frameBytes - 18,
  dut: (frameBytes: number): number => frameBytes - 18,
};

/** Undefined if the MTU suffices; `is` completes the name of the port. */
export async function shortMtu(
  host: Host,
  port: string,
  least: number,
): Promise<{ is: string; fix: string } | undefined> {
  const found = parseIfconfig(await host.output(shell`ifconfig ${port}`));
  if (found === undefined || found.mtu >= least) return undefined;
  return {
    is: `has an MTU of ${found.mtu}, and these frames need at least ${least}`,
    fix: `\`ifconfig ${port} mtu ${least}\` there, and \`mtu ${least}\` in its ifconfig_${port} in /etc/rc.conf`,
  };
}

/** Throws a HostError: pkt-gen would exit in each trial, or the DUT drop each packet. */
export async function requireMtu(
  host: Host,
  port: string,
  frameBytes: number,
  role: keyof typeof minMtu,
): Promise<void> {
  const short = await shortMtu(host, port, minMtu[role](frameBytes));
  if (short === undefined) return;
  const { is, fix } = short;
  throw new HostError('command-failed', `${port} on ${host.name} ${is} (${frameBytes} bytes each): run ${fix}.`);
}
