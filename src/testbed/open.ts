// From a testbed's name in ppsgate.yml to a testbed that is ready to be used.
import { UsageError } from '../config/overrides.ts';
import type { Config, LinuxTestbed, Traffic } from '../config/schema.ts';
import { labDown, labUp } from '../linux-lab/lab.ts';
import { openLinuxTestbed } from './linux.ts';
import type { Testbed } from './testbed.ts';

/** The name asked for, or the first of the configuration; throws a `UsageError` where there is none such. */
export function chooseTestbed(config: Config, name?: string): string {
  const names = Object.keys(config.testbeds);
  const chosen = name || names[0] || '';
  if (names.includes(chosen)) return chosen;
  throw new UsageError(`The configuration has no testbed "${chosen}": it has ${names.join(', ')}.`);
}

/** Connects to a testbed of the configuration; an embedded one is brought up first, and taken down by `restore`. */
export async function openTestbed(
  name: string,
  traffic: Traffic,
  config: Config,
): Promise<Testbed> {
  const testbed = config.testbeds[chooseTestbed(config, name)];
  if (testbed?.kind === 'linux') return openLinuxTestbed(name, testbed, traffic);

  const lab = await labUp();
  const embedded = await openEmbedded(name, lab, traffic);
  return {
    ...embedded,
    async restore() {
      await embedded.restore().finally(labDown);
    },
  };
}

async function openEmbedded(name: string, lab: LinuxTestbed, traffic: Traffic): Promise<Testbed> {
  try {
    return await openLinuxTestbed(name, lab, traffic);
  } catch (error) {
    await labDown();
    throw error;
  }
}
