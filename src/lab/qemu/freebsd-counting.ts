// Counts the packets of a trial in a guest with FreeBSD.
import type { Host } from '../../system/host/ssh.ts';
import { countersLog, interfaceBetween, packetCounters } from '../freebsd/dut/counters.ts';
import { limitsBetween } from '../freebsd/dut/limits.ts';
import type { CommandOutputs } from '../freebsd/dut/setting.ts';
import { readAll } from '../freebsd/preflight.ts';
import { droppingRules } from '../freebsd/rule-drops.ts';
import { proofCommands } from '../freebsd/scenario.ts';
import { minSilentRatio } from '../trial-limits.ts';
import type { GuestCounting, GuestCounts } from './guests.ts';

type GuestPorts = { ingress: string; egress: string };

/** Called once the rules are installed. Of one CPU, neither its ticks nor its interrupts show a limit. */
export async function countPackets(host: Host, ports: GuestPorts): Promise<GuestCounting> {
  const before = await readAll(host, packetCounters);
  return { end: () => countsSince(host, before, ports), cancel() {} };
}

async function countsSince(host: Host, before: CommandOutputs, ports: GuestPorts): Promise<GuestCounts> {
  const after = await readAll(host, packetCounters);
  const log = countersLog(before, after);
  const arrived = interfaceBetween(before, after, ports.ingress);
  const left = interfaceBetween(before, after, ports.egress);
  if (arrived === undefined || left === undefined) return { log, limits: undefined };
  const hasLosses = arrived.received - left.sent > arrived.received * minSilentRatio;
  // A program takes long in a guest.
  if (!hasLosses) return { log, limits: limitsBetween(before, after, ports) };
  const [info, rules] = await Promise.all([host.run(proofCommands.pfInfo), droppingRules(host)]);
  const limits = limitsBetween(before, after, { ...ports, pfInfo: info.stdout, rules });
  return { log, limits };
}
