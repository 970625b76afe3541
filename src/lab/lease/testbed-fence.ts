// Fences a whole testbed: after a later lease, its machines, power and console refuse this controller.

import type { FreebsdTestbed } from '../../config/freebsd-testbed.ts';
import type { TestbedConfig } from '../../config/schema.ts';
import { HostError } from '../../system/host/host-error.ts';
import { shell } from '../../system/shell.ts';
import type { FreebsdDeps } from '../freebsd/freebsd-deps.ts';
import { generatorsOf, rolesOf } from '../machines.ts';
import { type Fence, fencedHost, raiseFence } from './fence.ts';

type Connect = FreebsdDeps['connect'];

export type ProvenFence = Fence & {
  /** Reads the store. Throws if the lease is over, or the store does not respond. */
  prove(): Promise<void>;
};

/** Fences tasks, power cycles and consoles of one testbed, but not its builder, which serves many leases at once. */
export function fencedDeps(deps: FreebsdDeps, testbed: FreebsdTestbed, lease: ProvenFence): FreebsdDeps {
  const connect = fencedConnect(deps.connect, lease);
  return {
    ...deps,
    // Compares configurations, as the builder may be the same machine as a sender.
    connect: (config, label, options) =>
      config === testbed.builder ? deps.connect(config, label, options) : connect(config, label, options),

    async openPower(name, config) {
      const power = await deps.openPower(name, config);
      return {
        state: () => power.state(),
        async cycle() {
          await lease.prove();
          await checkGenerators(deps, testbed, lease);
          lease.assertHeld();
          await power.cycle();
        },
      };
    },

    async openConsole(name, config, onOutput) {
      await lease.prove();
      lease.assertHeld();
      return deps.openConsole(name, config, onOutput);
    },
  };
}

/** Raises the fence at each login: an appliance has /var in memory, and loses its tokens in a boot. */
export function fencedConnect(connect: Connect, fence: Fence): Connect {
  return async (config, label, options) => {
    fence.assertHeld();
    const host = await connect(config, label, options);
    try {
      await raiseFence(host, fence.token);
    } catch (error) {
      await host.close();
      throw error;
    }
    return fencedHost(host, fence);
  };
}

/** Throws a FencedError if a machine has seen a higher token, and a HostError if one is unreachable. */
export async function raiseFences(testbed: TestbedConfig, fence: Fence, connect: Connect): Promise<void> {
  const raise = fencedConnect(connect, fence);
  const raised = await Promise.allSettled(
    rolesOf(testbed).map(async ({ config, label }) => (await raise(config, label)).close()),
  );
  const failure = raised.find(({ status }) => status === 'rejected');
  if (failure?.status === 'rejected') throw failure.reason;
}

/** Time limit for all generators together, as the DUT waits for them. */
const checkSeconds = 20;

/** Checks the token on the generators: every lease holder uses them, while the DUT may hang. */
async function checkGenerators(deps: FreebsdDeps, testbed: FreebsdTestbed, lease: Fence): Promise<void> {
  const signal = AbortSignal.timeout(checkSeconds * 1000);
  await Promise.all(
    generatorsOf(testbed).map(async ({ config, label }) => {
      try {
        await using host = await deps.connect(config, label, { signal });
        await fencedHost(host, lease).output(shell`:`, { signal });
      } catch (error) {
        if (!(error instanceof HostError)) throw error;
      }
    }),
  );
}
