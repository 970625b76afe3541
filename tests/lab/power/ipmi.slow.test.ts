// Machines behind a real BMC, and error messages about BMCs that cannot be used.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
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

  test('is turned on, and off', async () => {
    await power.on();
    expect(await power.state()).toBe('on');
    await power.off();
    expect(await power.state()).toBe('off');
  });

  test('is left as it is by what it is already', async () => {
    await power.off();
    await power.off();
    expect(await power.state()).toBe('off');
    await power.on();
    await power.on();
    expect(await power.state()).toBe('on');
  });

  test('is cycled by an order of the BMC itself', async () => {
    await power.on();
    const { recording, runs } = recorded(deps);
    await (await openPower('dut-3', bmc.config, recording)).cycle();
    expect(orders(runs).filter((order) => order !== 'status')).toEqual(['cycle']);
    expect(await power.state()).toBe('on');
  });

  test('is on after a cycle of a machine that is off', async () => {
    await power.off();
    await power.cycle();
    expect(await power.state()).toBe('on');
  });

  test('that does not obey its BMC is reported after three orders', async () => {
    await power.on();
    bmc.obeys(false);
    const patient = timelessDeps();
    const deaf = await openPower('dut-3', bmc.config, patient);
    expect(await messageOf(deaf.off())).toBe(
      `${label} accepted the command to turn the machine off 3 times, but 30 s after the last one still reports that it is on; check the machine, and the BMC's event log.`,
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
    expect(await messageOf(none)).toBe(
      `${label} cannot be opened: PPSGATE_BMC_PASSWORD of the environment must have one line, the password.`,
    );
  });

  test('is not reached by a user that the BMC does not have', async () => {
    const refused = await openPower('dut-3', { ...bmc.config, user: 'stranger' }, deps);
    expect(await messageOf(refused.on())).toContain('refuses the user stranger: RAKP 2');
  });

  test('is not reached with a password longer than IPMI has them', async () => {
    const passwordPath = join(temporaryFolder(), 'password');
    writeFileSync(passwordPath, 'x'.repeat(21), { mode: 0o600 });
    const refused = await openPower('dut-3', { ...bmc.config, passwordPath }, deps);
    expect(await messageOf(refused.on())).toContain('password is longer than 20 bytes');
  });

  test('is not reached with a cipher suite that the BMC does not have', async () => {
    const refused = await openPower('dut-3', { ...bmc.config, cipherSuite: 17 }, deps);
    expect(await messageOf(refused.state())).toBe(
      `${label} refuses the user lab: Error in open session response message : invalid authentication algorithm.`,
    );
  });

  // Attack secret/process-list
  test('is switched without its password in any argument', async () => {
    await power.on();
    expect(bmc.argumentsSeen()).toContain('ipmitool -v -E -I lanplus');
    expect(bmc.argumentsSeen()).not.toContain(bmc.password);
  });

  test('is not reached if nothing responds, after a bounded number of tries', async () => {
    const { recording, runs } = recorded(hasty(deps));
    const port = await freeUdpPort();
    const gone = await openPower('dut-3', { ...bmc.config, port }, recording);
    expect(await messageOf(gone.state())).toBe(
      `PowerError: The BMC of dut-3 (IPMI at 127.0.0.1:${port}) cannot be queried: the last of 3 tries ended with "Error issuing Get Channel Authentication Capabilities request".`,
    );
    expect(orders(runs)).toEqual(['status', 'status', 'status']);
  });

  test('is not reached through a server that responds with nonsense', async () => {
    const nonsense = createSocket('udp4').bind(0, '127.0.0.1');
    await once(nonsense, 'listening');
    nonsense.on('message', (message, from) => nonsense.send(message, from.port));
    const { port } = nonsense.address();
    const power = await openPower('dut-3', { ...bmc.config, port }, hasty(deps));
    expect(await messageOf(power.state())).toContain('cannot be queried: the last of 3 tries ended with "');
    nonsense.close();
  });
});

test.each(['Chassis Power is ajar', '', 'Chassis Power is on and off'])(
  'an ipmitool that prints "%s" has reported no state',
  async (stdout) => {
    const { power } = await openWith([{ kind: 'exited', code: 0, stdout, stderr: '' }]);
    expect(await messageOf(power.state())).toContain(
      `does not report whether the machine is on: ${stdout || 'no output from ipmitool'}.`,
    );
  },
);

test('a BMC that loses a datagram in a session gets it again', async () => {
  // ipmitool 1.8.19 prints this if the replies come after it has given up.
  const lost = 'Unable to get Chassis Power Status\nIPMI Request Match NOT FOUND\n';
  const { power, left } = await openWith([
    { kind: 'exited', code: 1, stdout: '', stderr: lost },
    { kind: 'exited', code: 0, stdout: 'Chassis Power is on\n', stderr: '' },
  ]);
  expect(await power.state()).toBe('on');
  expect(left).toEqual([]);
});

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
  const { power } = await openWith([{ kind: 'exited', code: 1, stdout: '', stderr }]);
  expect(await messageOf(power.state())).toContain(`refuses the user lab: ${line}`);
});

// Attack secret/readable-secret
test('refuses a password file that others can read, with any owner', async () => {
  const passwordPath = join(temporaryFolder(), 'password');
  writeFileSync(passwordPath, 'secret', { mode: 0o644 });
  const message = await messageOf(openPower('dut-3', { ...config, passwordPath }, realPowerDeps));
  expect(message).toBe(
    `PowerError: The BMC of dut-3 (IPMI at bmc.lab:623) cannot be opened: ${passwordPath} has the mode 644, by which others than its owner can get at it: run 'chmod 600 ${passwordPath}'.`,
  );
});

const config = {
  kind: 'ipmi',
  host: 'bmc.lab',
  port: 623,
  user: 'lab',
  passwordPath: '/nowhere/password',
  cipherSuite: 3,
} as const;

/** Dependencies whose ipmitool ends with each of these outcomes in turn. */
async function openWith(endings: ProgramOutcome[]) {
  const left = [...endings];
  const run = async () => left.shift() ?? expect.fail('ipmitool was run too often.');
  const fake = { ...timelessDeps(), run, readSecret: async () => 'secret' };
  return { power: await openPower('dut-3', config, fake), left };
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
