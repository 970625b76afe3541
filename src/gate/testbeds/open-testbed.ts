// Connects to a testbed of ppsgate.yml and prepares it. Loads the code of its kind only.
import { homedir } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { type Config, isOnThisMachine, type Traffic } from '../../config/schema.ts';
import { kernelSums, sumsFolder } from '../../kernel/kernel-sums.ts';
import { connectTo } from '../../lab/connect.ts';
import type { FreebsdDeps } from '../../lab/freebsd/freebsd-deps.ts';
import { fencedConnect, fencedDeps, type ProvenFence } from '../../lab/lease/testbed-fence.ts';
import { imagesFolder } from '../../lab/qemu/images-folder.ts';
import type { Testbed } from '../../lab/testbed.ts';
import { UsageError } from '../../model/usage-error.ts';

/** Throws before anything is reserved if this machine lacks a requirement of one of the testbeds. */
export async function requireHere(names: readonly string[], { testbeds }: Config): Promise<void> {
  for (const name of names) {
    const testbed = testbeds[name];
    if (!isOnThisMachine(testbed)) continue;
    const { requireLab } = await import('../../lab/netns/requirements.ts');
    await requireLab(testbed.kind);
  }
}

type TestbedAccess = {
  /** The machines obey only commands of this lease. */
  lease: ProvenFence;
  machines: FreebsdDeps;
};

/** Starts an embedded testbed; `restore` stops it. Throws a UsageError for an unknown name. */
export async function openTestbed(
  name: string,
  traffic: Traffic,
  config: Config,
  { lease, machines }: TestbedAccess,
): Promise<Testbed> {
  const testbed = config.testbeds[name];
  switch (testbed?.kind) {
    case 'linux': {
      const { openLinuxTestbed } = await import('../../lab/netns/netns-testbed.ts');
      return openLinuxTestbed(name, testbed, traffic, fencedConnect(machines.connect, lease));
    }
    case 'freebsd': {
      const { openFreebsdTestbed } = await import('../../lab/freebsd/freebsd-testbed.ts');
      return openFreebsdTestbed(name, testbed, traffic, fencedDeps(machines, testbed, lease));
    }
    case 'embedded-linux':
    case 'virtual':
      return openHere(name, traffic, config, machines);
    case undefined:
      throw new UsageError(`The configuration has no testbed ${name}.`);
  }
}

/** Starts this machine's testbed once no other process uses it. It needs no lease, as only this machine reaches it. */
export async function openHere(
  name: string,
  traffic: Traffic,
  { testbeds }: Pick<Config, 'testbeds'>,
  machines = realDeps,
): Promise<Testbed> {
  const { claimWhenFree } = await import('../../lab/netns/owner.ts');
  const { ownerFile } = await import('../../lab/netns/embedded-lab.ts');
  await claimWhenFree(ownerFile, machines);
  const testbed = testbeds[name];
  if (testbed?.kind !== 'virtual') return openEmbedded(name, traffic, machines.connect);
  const { openVirtualTestbed } = await import('../../lab/qemu/virtual-testbed.ts');
  return openVirtualTestbed(name, testbed, traffic, machines);
}

export async function openEmbedded(name: string, traffic: Traffic, connect = connectTo): Promise<Testbed> {
  const { labDown, labUp } = await import('../../lab/netns/embedded-lab.ts');
  const { openLinuxTestbed } = await import('../../lab/netns/netns-testbed.ts');
  const lab = await labUp();
  const embedded = await openLinuxTestbed(name, lab, traffic, connect).catch(async (error: unknown) => {
    await labDown();
    throw error;
  });
  return {
    ...embedded,
    async restore() {
      await embedded.restore().finally(labDown);
    },
  };
}

export const realDeps: FreebsdDeps = {
  connect: connectTo,
  async openPower(machine, config) {
    const { openPower, realPowerDeps } = await import('../../lab/power/power.ts');
    return openPower(machine, config, realPowerDeps);
  },
  async openConsole(machine, config, onOutput) {
    const { openConsole, realConsoleDeps } = await import('../../lab/console/console.ts');
    return openConsole(machine, config, onOutput, realConsoleDeps);
  },
  sleep: (seconds) => setTimeout(seconds * 1000),
  now: () => Date.now() / 1000,
  kernelSums: kernelSums(sumsFolder(process.env, homedir())),
  imagesFolder: imagesFolder(process.env, homedir()),
};
