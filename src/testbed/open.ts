// From a testbed's name in ppsgate.yml to a testbed that is ready to be used.
import type { LinuxTestbed, Testbed as TestbedConfig, Traffic } from '../config/schema.ts';
import { labDown, labUp } from '../linux-lab/lab.ts';
import { openLinuxTestbed } from './linux.ts';
import type { Testbed } from './testbed.ts';

/** Connects to the testbed; the embedded one is brought up first, and taken down by `restore`. */
export async function openTestbed(
  name: string,
  config: TestbedConfig,
  traffic: Traffic,
): Promise<Testbed> {
  if (config.kind === 'linux') return openLinuxTestbed(name, config, traffic);

  const lab = await labUp();
  const testbed = await openEmbedded(name, lab, traffic);
  return {
    ...testbed,
    async restore() {
      await testbed.restore().finally(labDown);
    },
  };
}

async function openEmbedded(name: string, lab: LinuxTestbed, traffic: Traffic) {
  try {
    return await openLinuxTestbed(name, lab, traffic);
  } catch (error) {
    await labDown();
    throw error;
  }
}
