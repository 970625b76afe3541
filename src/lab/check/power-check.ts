// Checks the DUT's power control and, on request, turns the DUT off and on.

import type { FreebsdTestbed } from '../../config/freebsd-testbed.ts';
import { HostError } from '../../system/host/host-error.ts';
import type { Host } from '../../system/host/ssh.ts';
import { hasBootedSinceMark, markBoot } from '../freebsd/boot/boot-system.ts';
import type { FreebsdDeps } from '../freebsd/freebsd-deps.ts';
import type { PowerConfig } from '../power/power.ts';
import { type CheckedMachine, type CheckStep, type Diagnostic, ok, skipped, sshTo, wrong } from './diagnostic.ts';

export type CheckDeps = FreebsdDeps & {
  notify(sentence: string): void;
  signal: AbortSignal;
};

const powerControl = 'power control of the DUT';
export const powerCycled = 'a power cycle of the DUT';

type PowerCheck = {
  name: string;
  testbed: FreebsdTestbed;
  dut: CheckedMachine;
  cycles: boolean;
  deps: CheckDeps;
};

/** Needs the login to the DUT, whose connection a power cycle renews. */
export function powerSteps(lab: PowerCheck): CheckStep[] {
  const { dut, testbed, cycles } = lab;
  const { power } = testbed.dut;
  if (power === undefined) {
    const why = '`power` is not configured: a DUT that hangs must be reset by hand';
    return [{ what: powerControl, needs: [], run: async () => [skipped(powerControl, why)] }];
  }
  const what = powerCycled;
  return [
    { what: powerControl, needs: [], run: () => powerState(lab, power) },
    ...(cycles ? [{ what, needs: [sshTo(dut), powerControl], run: () => powerCycle(lab, power, what) }] : []),
  ];
}

async function powerState({ name, dut, deps }: PowerCheck, config: PowerConfig): Promise<Diagnostic[]> {
  const power = await deps.openPower(`the DUT of ${name}`, config);
  const state = await power.state();
  if (state === 'on') return [ok(powerControl, 'it reports that the DUT is on')];
  return [
    dut.host === undefined
      ? wrong(powerControl, 'it reports that the DUT is off', 'switch the DUT on')
      : wrong(
          powerControl,
          'it reports that the DUT is off, but the DUT answers over ssh',
          'correct `power` in ppsgate.yml: it may control another machine',
        ),
  ];
}

async function powerCycle(lab: PowerCheck, config: PowerConfig, what: string): Promise<Diagnostic[]> {
  const { name, dut, deps, testbed } = lab;
  if (dut.host === undefined) return [];
  await markBoot(dut.host);
  const power = await deps.openPower(`the DUT of ${name}`, config);
  deps.notify('Power-cycling the DUT: it takes a few minutes to come up again.');
  const begun = deps.now();
  await power.cycle();
  const back = await reachAgain(lab);
  if (back === undefined) {
    const minutes = Math.round(testbed.dut.boot.limitSeconds / 60);
    const fix = 'check its console; if it only boots slowly, raise `boot.limit`';
    return [wrong(what, `the DUT did not come up within ${minutes} min`, fix)];
  }
  await dut.host.close();
  dut.host = back;
  if (!(await hasBootedSinceMark(back))) {
    const why = 'it reports that the DUT was off and on again, but the DUT never went down';
    return [wrong(what, why, 'correct `power` in ppsgate.yml: it may control another machine')];
  }
  return [ok(what, `up again after ${Math.round(deps.now() - begun)} s`)];
}

const pollSeconds = 5;

/** Undefined if no login succeeds within the time limit of a boot. */
async function reachAgain({ deps, testbed }: PowerCheck): Promise<Host | undefined> {
  const deadline = deps.now() + testbed.dut.boot.limitSeconds;
  while (deps.now() < deadline) {
    deps.signal.throwIfAborted();
    await deps.sleep(pollSeconds);
    const host = await deps.connect(testbed.dut, 'DUT').catch((error: unknown) => {
      if (error instanceof HostError) return undefined;
      throw error;
    });
    if (host !== undefined) return host;
  }
  return undefined;
}
