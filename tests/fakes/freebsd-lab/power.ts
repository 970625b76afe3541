// Simulates a machine's BMC: it is slow, and may report false states or never reply.

import { type Power, PowerError } from '../../../src/lab/power/power.ts';
import type { Faults } from './faults.ts';
import { setPower } from './lifecycle.ts';
import type { Deps, Machine, PowerState } from './machine.ts';

/** Calls of `on`, `off` and `cycle` are counted together, from 1; each takes some virtual seconds. */
export function powerOf(machine: Machine, deps: Deps, faults: Faults): Power {
  let calls = 0;
  const change = async (...states: readonly PowerState[]) => {
    calls += 1;
    const lies = faults.take('power-lies', calls) !== undefined;
    if (faults.take('power-times-out', calls) !== undefined) {
      await deps.clock.sleep(patienceSeconds);
      throw new PowerError(`The BMC of ${machine.name} did not answer within ${patienceSeconds} s; check its network.`);
    }
    for (const state of states) {
      await deps.clock.sleep(switchSeconds);
      if (!lies) setPower(machine, deps, state);
    }
  };
  return {
    state: async () => machine.power,
    on: () => change('on'),
    off: () => change('off'),
    cycle: () => change('off', 'on'),
  };
}

const switchSeconds = 5;
const patienceSeconds = 180;
