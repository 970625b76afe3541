// Runs virtual machines as a testbed: each pair boots base and patched in parallel, and forwards windows in turn.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { frameBytesFor, type Traffic } from '../../config/schema.ts';
import type { VirtualTestbed } from '../../config/virtual-testbed.ts';
import type { Cell } from '../../model/scenario.ts';
import type { Tallies } from '../fault-attribution.ts';
import type { FreebsdDeps } from '../freebsd/freebsd-deps.ts';
import type { Testbed } from '../testbed.ts';
import { trafgenFlows } from '../traffic/flows.ts';
import { FreebsdGuests } from './freebsd-guests.ts';
import type { GuestTestbed } from './guest-windows.ts';
import { factsOf, type GuestResources, type GuestSystem } from './guests.ts';
import { LinuxGuests } from './linux-guests.ts';
import { guestImage } from './official-image.ts';
import { profile } from './virtual-profile.ts';
import { stopAll, trial } from './virtual-trial.ts';
import { guestMac, senderMac } from './vm/addresses.ts';
import { guestCpu, senderCpu, type VirtualLab, virtualLabUp } from './vm/virtual-lab.ts';
import { sendWindows } from './windows.ts';

export type LabOfGuests = {
  up(config: VirtualTestbed): Promise<VirtualLab>;
  sendWindows: typeof sendWindows;
  /** Describes this machine as far as guests depend on it. */
  facts(config: VirtualTestbed): Promise<Record<string, string>>;
};

export const labOfThisMachine: LabOfGuests = { up: virtualLabUp, sendWindows, facts: factsOf };

/** Sets up the lab, which `restore` removes. Throws a LabInUseError while another process uses this machine. */
export async function openVirtualTestbed(
  name: string,
  config: VirtualTestbed,
  traffic: Traffic,
  deps: FreebsdDeps,
  labOfGuests: LabOfGuests = labOfThisMachine,
): Promise<Testbed> {
  const lab = await labOfGuests.up(config);
  const tallies: Tallies = new Map();
  const cpus = guestCpu === senderCpu ? [guestCpu] : [guestCpu, senderCpu];
  const facts = () => labOfGuests.facts(config);
  const { flows, packets } = traffic;
  const resources = { lab, tallies, cpus, flows, addresses: packets?.addresses, deps, facts };
  const system = await openSystem(name, config, resources).catch(async (error: unknown) => {
    await lab.down();
    throw error;
  });
  const guests: GuestTestbed = {
    lab,
    config,
    traffic,
    tallies,
    system,
    running: undefined,
    now: () => deps.now(),
    flowsFor: (cell) => flowsFor(lab, traffic, cell),
    sendWindows: labOfGuests.sendWindows,
  };

  return {
    name,
    inspect: (cells) => system.inspect(cells),
    prepare: (request) => system.prepare(request),
    ready: () => system.ready(),

    async trial(planned, keepLog, signal) {
      const outcome = await trial(guests, planned, keepLog, signal);
      const warnings = [...(outcome.warnings ?? []), ...system.takeWarnings()];
      return warnings.length === 0 ? outcome : { ...outcome, warnings };
    },

    booted: () => undefined,
    profile: (request, keepLog, signal) => profile(guests, request, keepLog, signal),

    async restore() {
      await stopAll(guests)
        .then(() => system.close())
        .finally(() => lab.down());
    },
  };
}

async function openSystem(name: string, config: VirtualTestbed, resources: GuestResources): Promise<GuestSystem> {
  if (config.system === 'linux') return new LinuxGuests(name, config, resources);
  const { lab, deps } = resources;
  const image = await guestImage(config.image, lab, deps);
  return new FreebsdGuests(name, { ...config, image }, resources);
}

async function flowsFor(lab: Pick<VirtualLab, 'folder'>, traffic: Traffic, cell: Cell) {
  const { family } = cell;
  const { flows, packets } = traffic;
  const frameBytes = frameBytesFor(traffic, cell);
  const path = join(lab.folder, `${family}.${frameBytes}.flows`);
  const macs = { sourceMac: senderMac, destinationMac: guestMac.ingress };
  await writeFile(path, trafgenFlows({ family, flows, frameBytes, packets, ...macs }));
  return path;
}
