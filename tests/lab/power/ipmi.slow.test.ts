import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { openPower, type Power, type PowerDeps } from '../../../src/lab/power/power.ts';
import type { ProgramOutcome } from '../../../src/lab/power/power-deps.ts';
import { realPowerDeps } from '../../../src/lab/power/power-deps.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { describeWith } from '../../needs.ts';
import { freeUdpPort, type IpmiSim, startIpmiSim } from './ipmi-sim.ts';
import { depsWhere, messageOf, timelessDeps } from './power-deps.ts';

const deps = depsWhere(0.1);

describeWith(['ipmi_sim', 'ipmitool', 'ps'], 'a machine behind ipmi_sim', () => {
  let bmc: IpmiSim;
  let power: Power;
  let label: string;

  beforeAll(async () => {
    bmc = await startIpmiSim();
    power = await openPower('dut-3', bmc.config, deps);
    label = `PowerError: The BMC of dut-3 (IPMI at 127.0.0.1:${bmc.config.port})`;
  });
  beforeEach(() => bmc.obeys(true));
  afterAll(() => bmc[Symbol.asyncDispose]());

  test('is turned on and off, and cycled by an order of the BMC itself', async () => {
    await power.off();
    expect(await power.state()).toBe('off');
    await power.on();
    expect(await power.state()).toBe('on');
    const { recording, runs } = recorded(deps);
    await (await openPower('dut-3', bmc.config, recording)).cycle();
    expect(orders(runs).filter((order) => order !== 'status')).toEqual(['cycle']);
    expect(await power.state()).toBe('on');
  });

  test('that does not obey its BMC is reported after three orders', async () => {
    await power.on();
    bmc.obeys(false);
    const patient = timelessDeps();
    const deaf = await openPower('dut-3', bmc.config, patient);
    expect(await messageOf(deaf.off())).toContain(
      `${label} accepted the command to turn the machine off 3 times, but 30 s`,
    );
    expect(patient.slept).toEqual(Array(90).fill(1));
  });

  test('is not reached with a wrong password, which is given once', async () => {
    const passwordPath = join(temporaryFolder(), 'password');
    writeFileSync(passwordPath, 'not-this-one', { mode: 0o600 });
    const { recording, runs } = recorded(deps);
    const refused = await openPower('dut-3', { ...bmc.config, passwordPath }, recording);
    expect(await messageOf(refused.state())).toBe(`${label} refuses the user lab: RAKP 2 HMAC is invalid.`);
    expect(runs).toHaveLength(1);
  });

  test('is reached by the password of the environment where no file is named', async () => {
    const { passwordPath, ...config } = bmc.config;
    const password = (await deps.readSecret(passwordPath ?? '')).trim();
    const power = await openPower('dut-3', config, { ...deps, password: () => password });
    expect(await power.state()).toMatch(/^(on|off)$/);
    const none = openPower('dut-3', config, { ...deps, password: () => undefined });
    expect(await messageOf(none)).toContain('PPSGATE_BMC_PASSWORD of the environment must have one line');
  });

  test('is switched without its password in any argument', async () => {
    await power.on();
    expect(bmc.argumentsSeen()).toContain('ipmitool -v -E -I lanplus');
    expect(bmc.argumentsSeen()).not.toContain(bmc.password);
  });

  test('is not reached if nothing responds, after a bounded number of tries', async () => {
    const { recording, runs } = recorded(hasty(deps));
    const port = await freeUdpPort();
    const gone = await openPower('dut-3', { ...bmc.config, port }, recording);
    expect(await messageOf(gone.state())).toContain('the last of 3 tries ended with "Error issuing Get Channel');
    expect(orders(runs)).toEqual(['status', 'status', 'status']);
  });
});

test.each(['Chassis Power is ajar', '', 'Chassis Power is on and off'])(
  'an ipmitool that prints "%s" has reported no state',
  async (stdout) => {
    const power = await openWith({ kind: 'exited', code: 0, stdout, stderr: '' });
    expect(await messageOf(power.state())).toContain(
      `does not report whether the machine is on: ${stdout || 'no output from ipmitool'}.`,
    );
  },
);

test.each(['', '\n', 'two\nsecrets\n'])(
  'a password file with %j is refused at once, without a word of it',
  async (text) => {
    const fake = { ...timelessDeps(), readSecret: async () => text };
    const message = await messageOf(openPower('dut-3', config, fake));
    expect(message).toContain('/nowhere/password must have one line');
    expect(message).not.toContain('secrets');
  },
);

test.each([
  'Set Session Privilege Level to OPERATOR failed',
  'RAKP 2 message indicates an error : unauthorized role',
  'Error in open session response message : no cipher suite match',
  'Error in open session response message : no matching integrity payload',
  'RAKP 4 message indicates an error : invalid integrity check value',
  'Error in open session response message : insufficient resources for session',
])('a refusal is reported after a single try: %s', async (line) => {
  const stderr = `${line}\nError: Unable to establish IPMI v2 / RMCP+ session\nClose Session command failed\n`;
  const power = await openWith({ kind: 'exited', code: 1, stdout: '', stderr });
  expect(await messageOf(power.state())).toContain(`refuses the user lab: ${line}`);
});

test('refuses a password file that others can read, with any owner', async () => {
  const passwordPath = join(temporaryFolder(), 'password');
  writeFileSync(passwordPath, 'secret', { mode: 0o644 });
  const message = await messageOf(openPower('dut-3', { ...config, passwordPath }, realPowerDeps));
  expect(message).toContain(`cannot be opened: ${passwordPath} has the mode 644`);
});

const config = {
  kind: 'ipmi',
  host: 'bmc.lab',
  port: 623,
  user: 'lab',
  passwordPath: '/nowhere/password',
  cipherSuite: 3,
} as const;

/** Its ipmitool ends so, and is run once. */
function openWith(outcome: ProgramOutcome): Promise<Power> {
  const run = vi.fn<PowerDeps['run']>().mockResolvedValueOnce(outcome);
  return openPower('dut-3', config, { ...timelessDeps(), run, readSecret: async () => 'secret' });
}

function recorded(deps: PowerDeps) {
  const runs: string[][] = [];
  const run: PowerDeps['run'] = (program, args, options) => {
    runs.push([program, ...args]);
    return deps.run(program, args, options);
  };
  return { recording: { ...deps, run }, runs };
}

/** The last word of each run: `status`, `on`. */
const orders = (runs: readonly string[][]) => runs.map((run) => run.at(-1));

/** Dependencies whose ipmitool waits 2 s for a BMC instead of 10. */
const hasty = (deps: PowerDeps): PowerDeps => ({
  ...deps,
  run: (program, args, options) =>
    deps.run(program, args.with(args.indexOf('-R') + 1, '1').with(args.indexOf('-N') + 1, '1'), options),
});
