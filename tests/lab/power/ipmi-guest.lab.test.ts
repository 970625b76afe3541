import { expect, onTestFinished, test } from 'vitest';
import { connectTo } from '../../../src/lab/connect.ts';
import { openConsole, realConsoleDeps } from '../../../src/lab/console/console.ts';
import { ConsoleRecorder } from '../../../src/lab/console/recorder.ts';
import { openPower, realPowerDeps } from '../../../src/lab/power/power.ts';
import { shell } from '../../../src/system/shell.ts';
import { ipmiGuestPrograms, startIpmiGuest } from '../../fakes/ipmi-guest.ts';
import { kernelPackage } from '../../fakes/kernel-package.ts';
import { describeWith } from '../../needs.ts';

const kernel = await kernelPackage();

describeWith(['root', ...ipmiGuestPrograms, kernel.path], 'a guest behind ipmi_sim', () => {
  test('is switched on, seen to boot and to panic by Serial over LAN, and cycled while that is recorded', async () => {
    await using guest = await startIpmiGuest(kernel.path);
    const power = await openPower('dut-3', guest.bmc, realPowerDeps);
    const recorder = new ConsoleRecorder('dut-3', (onOutput) =>
      openConsole('dut-3', guest.bmc, onOutput, realConsoleDeps),
    );
    onTestFinished(() => recorder.close());
    let log = '';
    const recorded = () => {
      log += recorder.takeLog().toString();
      return log;
    };
    const up = async () => expect.poll(recorded, { interval: 20 }).toContain((await guest.marks()).at(-1));

    await recorder.beginBoot();
    expect(await power.state()).toBe('off');
    await power.on();
    await up();
    await using host = await connectTo(guest.login, 'guest');
    // The machine must stay dead.
    await host.output(shell`sysctl -q -w kernel.panic=0`);
    // It never returns.
    host.run(shell`echo c > /proc/sysrq-trigger`).catch(() => {});
    await expect.poll(recorded).toContain('end Kernel panic');
    expect(recorder.describe()).toContain('end Kernel panic - not syncing: sysrq triggered crash');
    recorder.endBoot();
    await power.cycle();
    await up();
    // A machine that is busy answers late, and then gets its order once more.
    expect((await guest.marks()).length).toBeGreaterThan(1);
    expect(recorder.lastWords()).toMatchObject({
      panic: 'sysrq triggered crash',
      console: expect.stringContaining('Call Trace'),
    });
    expect(recorder.takeProblems()).toEqual([]);
  });
});
