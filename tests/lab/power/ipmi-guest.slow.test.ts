import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { FreebsdTestbed, GeneratorConfig } from '../../../src/config/freebsd-testbed.ts';
import { realDeps } from '../../../src/gate/testbeds/open-testbed.ts';
import { consoleStep } from '../../../src/lab/check/console-check.ts';
import {
  type CheckedMachine,
  type Diagnostic,
  loginStep,
  testbedFailed,
  walk,
} from '../../../src/lab/check/diagnostic.ts';
import { type CheckDeps, powerSteps } from '../../../src/lab/check/power-check.ts';
import { connectTo } from '../../../src/lab/connect.ts';
import { type OpenedConsole, openConsole, realConsoleDeps } from '../../../src/lab/console/console.ts';
import { ConsoleRecorder } from '../../../src/lab/console/recorder.ts';
import { openPower, type Power, realPowerDeps } from '../../../src/lab/power/power.ts';
import { shell } from '../../../src/system/shell.ts';
import { type IpmiGuest, ipmiGuestPrograms, startIpmiGuest } from '../../fakes/ipmi-guest.ts';
import { kernelPackage } from '../../fakes/kernel-package.ts';
import { describeWith } from '../../needs.ts';

const kernel = await kernelPackage();

describeWith(['root', ...ipmiGuestPrograms, kernel.path], 'a guest behind ipmi_sim', () => {
  let guest: IpmiGuest;
  let power: Power;
  let console: OpenedConsole;
  let shown = '';

  beforeAll(async () => {
    guest = await startIpmiGuest(kernel.path);
    power = await openPower('dut-3', guest.bmc, realPowerDeps);
    const onOutput = (chunk: Buffer) => {
      shown += chunk.toString();
    };
    console = await openConsole('dut-3', guest.bmc, onOutput, realConsoleDeps);
  });
  afterAll(async () => {
    await console?.close();
    await guest?.[Symbol.asyncDispose]();
  });

  test('is off, is switched on, and is seen to boot by Serial over LAN', async () => {
    await power.off();
    expect(await power.state()).toBe('off');
    await power.on();
    expect(await power.state()).toBe('on');
    await seenUp(() => shown);
    expect(shown).toMatch(/Linux version .+ppsgate: \S+ is up/s);
  });

  test('that panics is reported by its last words, also once it has rebooted', async () => {
    const recorder = new ConsoleRecorder('dut-3', (onOutput) =>
      openConsole('dut-3', guest.bmc, onOutput, realConsoleDeps),
    );
    onTestFinished(() => recorder.close());
    let log = '';
    const recorded = () => {
      log += recorder.takeLog().toString();
      return log;
    };
    await isUp();
    await recorder.beginBoot();
    await using host = await connectTo(guest.login, 'guest');
    // The machine must stay dead.
    await host.output(shell`sysctl -q -w kernel.panic=0`);
    // It never returns.
    host.run(shell`echo c > /proc/sysrq-trigger`).catch(() => {});
    await expect.poll(recorded).toContain('end Kernel panic');
    expect(recorder.describe()).toContain('end Kernel panic - not syncing: sysrq triggered crash');
    recorder.endBoot();
    await power.cycle();
    await seenUp(recorded);
    expect(recorder.lastWords()).toMatchObject({
      panic: 'sysrq triggered crash',
      console: expect.stringContaining('Call Trace'),
    });
    expect(recorder.takeProblems()).toEqual([]);
  });

  test('is found well by a check, which cycles its power', async () => {
    await isUp();
    expect(lines(await check())).toEqual([
      expect.stringContaining('ok ssh to the DUT: root@127.0.0.1'),
      'ok power control of the DUT: it reports that the DUT is on',
      expect.stringMatching(/^ok a power cycle of the DUT: up again after \d+ s$/),
      'ok the console of the DUT: it shows what the DUT writes to /dev/console',
    ]);
  });

  /** True when its last boot has ended. */
  async function seenUp(text: () => string): Promise<void> {
    const mark = (await guest.marks()).at(-1) ?? 'no boot';
    await expect.poll(text, { interval: 20 }).toContain(mark);
  }

  /** Also boots a machine that an earlier test has left off or dead. */
  async function isUp(): Promise<void> {
    if ((await power.state()) === 'off') await power.on();
    await guest.up();
  }

  async function check(): Promise<Diagnostic[]> {
    const deps: CheckDeps = {
      ...realDeps,
      // QEMU accepts a connection that comes too early, and does not forward it for long.
      connect: async (...machine) => {
        await guest.up();
        return realDeps.connect(...machine);
      },
      notify: () => {},
      signal: new AbortController().signal,
    };
    const testbed = testbedOf(guest);
    const dut: CheckedMachine = { label: 'the DUT', config: testbed.dut, host: undefined };
    onTestFinished(() => dut.host?.close());
    const lab = { name: 'shelf', testbed, dut, cycles: true, deps };
    const steps = [loginStep(dut, deps.connect), ...powerSteps(lab), consoleStep(lab)];
    const { signal } = deps;
    return Array.fromAsync(walk(steps, { signal, failed: testbedFailed }));
  }
});

const lines = (diagnostics: readonly Diagnostic[]) =>
  diagnostics.map(({ kind, what, why }) => `${kind} ${what}: ${why}`);

/** Configures a testbed of which only the DUT exists. */
function testbedOf(guest: IpmiGuest): FreebsdTestbed {
  const generator: GeneratorConfig = {
    ...guest.login,
    interface: 'cxl0',
    mac: '00:07:43:2e:e1:70',
    addresses: {},
    threads: 1,
  };
  return {
    kind: 'freebsd',
    dut: {
      ...guest.login,
      ingress: { interface: 'cxl0' },
      egress: { interface: 'cxl1' },
      boot: { method: 'nextboot', limitSeconds: 300 },
      power: guest.bmc,
      console: guest.bmc,
    },
    senders: [generator],
    receiver: generator,
    preflight: 'warn',
  };
}
