// Tests machines behind a real Redfish service, and errors for services that are unusable or lie.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RedfishConfig } from '../../../src/config/power.ts';
import { openPower, type PowerDeps } from '../../../src/lab/power/power.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { describeWith } from '../../needs.ts';
import { type Certificate, makeCertificate, startHttps } from './https-server.ts';
import { depsWhere, messageOf, timelessDeps } from './power-deps.ts';
import { json, redirect, startBmc } from './redfish-bmc.ts';
import { type Sushy, startSushy } from './sushy.ts';

const machines = [
  '27946b59-9e44-4fa7-8e91-f3527a1ef091',
  '27946b59-9e44-4fa7-8e91-f3527a1ef092',
  '27946b59-9e44-4fa7-8e91-f3527a1ef093',
] as const;

describeWith(['sushy-emulator', 'openssl'], 'a machine behind sushy-emulator', () => {
  let certificate: Certificate;
  let sushy: Sushy;
  // Its machines take up to 11 s to obey, and get 15.
  const deps = depsWhere(0.5);

  beforeAll(async () => {
    certificate = makeCertificate();
    sushy = await startSushy(certificate, machines);
  });
  afterAll(async () => {
    await sushy[Symbol.asyncDispose]();
    certificate.remove();
  });

  test.concurrent('is turned on, and off', async () => {
    const power = await openPower('dut-3', sushy.config(machines[0]), deps);
    await power.on();
    expect(await power.state()).toBe('on');
    await power.off();
    expect(await power.state()).toBe('off');
  });

  test('is not reached with a wrong password', async () => {
    const passwordPath = join(temporaryFolder(), 'password');
    writeFileSync(passwordPath, 'not-this-one', { mode: 0o600 });
    const config = { ...sushy.config(machines[0]), passwordPath };
    const message = await messageOf((await openPower('dut-3', config, deps)).state());
    expect(message).toContain('refuses the login of the user lab (401 Incorrect username or password)');
    expect(message).not.toContain('not-this-one');
  });
});

describeWith(['openssl'], 'a Redfish service that', () => {
  let certificate: Certificate;

  beforeAll(() => {
    certificate = makeCertificate();
  });
  afterAll(() => certificate.remove());

  test('has PowerCycle is cycled by one order', async () => {
    await using bmc = await startBmc(certificate, { cycle: ['On', 'On', 'Off', 'PoweringOn'] });
    await (await open(bmc)).cycle();
    expect(bmc.resets).toEqual(['PowerCycle']);
  });

  test.each([400, 404, 405, 409, 501])('responds to PowerCycle with %d gets ForceOff and On', async (status) => {
    await using bmc = await startBmc(certificate, { refuses: { PowerCycle: status } });
    await (await open(bmc)).cycle();
    expect(bmc.resets).toEqual(['PowerCycle', 'ForceOff', 'On']);
  });

  test('accepts an order and does nothing is reported after three orders', async () => {
    await using bmc = await startBmc(certificate, { lies: true });
    const deps = timelessDeps();
    expect(await messageOf((await open(bmc, {}, deps)).off())).toBe(
      `${label(bmc)} accepted the command to turn the machine off 3 times, but 30 s after the last one still reports that it is on; check the machine, and the BMC's event log.`,
    );
    expect(bmc.resets).toEqual(['ForceOff', 'ForceOff', 'ForceOff']);
    expect(deps.slept).toEqual(Array(90).fill(1));
  });

  test('refuses an order is reported with its own words', async () => {
    await using bmc = await startBmc(certificate, { refuses: { ForceOff: 400 } });
    expect(await messageOf((await open(bmc)).off())).toBe(
      `${label(bmc)} refuses to turn the machine off: 400 No; check the machine, and the BMC's event log.`,
    );
  });

  test.each([
    ['has On and ForceOn', ['ForceOff', 'ForceOn', 'On'], 'On'],
    ['has ForceOn alone', ['ForceOff', 'ForceOn'], 'ForceOn'],
  ])('%s is turned on by what it has', async (_, allowed, reset) => {
    await using bmc = await startBmc(certificate, { allowed });
    await (await open(bmc)).on();
    expect(bmc.resets).toEqual([reset]);
  });

  test('puts its reset action on another server does not get the password there', async () => {
    const target = 'https://198.51.100.7/reset';
    const system = { PowerState: 'On', Actions: { '#ComputerSystem.Reset': { target } } };
    await using bmc = await startHttps(certificate, json(200, system));
    expect(await messageOf((await open(bmc)).off())).toBe(
      `${label(bmc)} refers to "https://198.51.100.7/reset", but the password is only for ${new URL(bmc.origin).host}.`,
    );
  });

  test('redirects to another server is not followed there', async () => {
    let strayed = 0;
    await using other = await startHttps(certificate, (_, response) => {
      strayed += 1;
      response.end('{"PowerState":"On"}');
    });
    await using bmc = await startHttps(certificate, redirect(`${other.origin}/redfish`));
    expect(await messageOf((await open(bmc)).state())).toContain(`refers to "${other.origin}/redfish"`);
    expect(strayed).toBe(0);
  });

  test('redirects to itself is followed', async () => {
    await using bmc = await startHttps(certificate, (request, response) => {
      if (request.url?.endsWith('/')) response.end('{"PowerState":"Off"}');
      else redirect('/redfish/v1/Systems/1/')(request, response);
    });
    expect(await (await open(bmc)).state()).toBe('off');
  });

  test.each(['PoweringOff', 'PoweringOn', null])('returns %s is awaited, but not forever', async (PowerState) => {
    await using bmc = await startHttps(certificate, json(200, { PowerState }));
    const deps = timelessDeps();
    expect(await messageOf((await open(bmc, {}, deps)).state())).toContain(
      'has reported for 30 s that the machine is turning on or off',
    );
    expect(deps.slept).toEqual(Array(30).fill(1));
  });

  test('responds with its web page is no Redfish service', async () => {
    await using bmc = await startHttps(certificate, (_, response) => {
      response.setHeader('content-type', 'text/html').end('<html>Please log in</html>');
    });
    expect(await messageOf((await open(bmc)).state())).toBe(
      `${label(bmc)} reports no system at /redfish/v1/Systems/1 (its text/html); compare \`url\` with the list in /redfish/v1/Systems.`,
    );
  });

  test.each([401, 403])('responds with %d is requested once, as it might lock the user out', async (status) => {
    let times = 0;
    await using bmc = await startHttps(certificate, (request, response) => {
      times += 1;
      json(status, { error: { message: 'No' } })(request, response);
    });
    expect(await messageOf((await open(bmc)).on())).toContain(`refuses the login of the user lab (${status} No).`);
    expect(times).toBe(1);
  });

  test('repeats the password does not get it into a message', async () => {
    await using bmc = await startHttps(certificate, (request, response) => {
      const message = `I do not like ${request.headers.authorization} and ${password}\n`;
      json(401, { error: { message } })(request, response);
    });
    expect(await messageOf((await open(bmc)).on())).toContain('(401 I do not like Basic … and …)');
  });

  test('is not ready is requested again after the named wait', async () => {
    const answers = [
      json(503, {}, { 'retry-after': '7' }),
      json(500, {}),
      json(429, {}, { 'retry-after': '999999' }),
      json(200, { PowerState: 'On' }),
    ];
    await using bmc = await startHttps(certificate, (request, response) => answers.shift()?.(request, response));
    const deps = timelessDeps();
    expect(await (await open(bmc, {}, deps)).state()).toBe('on');
    expect(deps.slept).toEqual([7, 3, 60]);
  });

  test('is never ready is given up', async () => {
    await using bmc = await startHttps(certificate, json(503, { error: { message: 'Booting' } }));
    const deps = timelessDeps();
    expect(await messageOf((await open(bmc, {}, deps)).state())).toContain(
      'cannot be queried: the last of 4 tries ended with "503 Booting".',
    );
    expect(deps.slept).toEqual([3, 3, 3]);
  });

  test('sends 10 MB is not listened to', async () => {
    await using bmc = await startHttps(certificate, (_, response) => {
      response.end(Buffer.alloc(10_000_000, ' '));
    });
    expect(await messageOf((await open(bmc)).state())).toContain(
      'cannot be queried: the last of 4 tries ended with "a response of more than 1048576 bytes".',
    );
  });

  test('shows a self-signed certificate gets no password before it is pinned', async () => {
    let asked = 0;
    await using bmc = await startHttps(certificate, () => {
      asked += 1;
    });
    const power = await openPower('dut-3', unpinned(bmc), withPassword(timelessDeps()));
    expect(await messageOf(power.state())).toBe(
      `${label(bmc)} shows the certificate with SHA-256 ${certificate.sha256}, which is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT); compare the fingerprint on the BMC itself, then set \`certificateSha256\` to it, or \`ca\` to its authority.`,
    );
    expect(asked).toBe(0);
  });

  test('shows another certificate than the one pinned is reported', async () => {
    await using bmc = await startBmc(certificate);
    const power = await open(bmc, { certificateSha256: '0'.repeat(64) });
    expect(await messageOf(power.state())).toContain('is not trusted (not the one that is pinned)');
  });

  test('shows a certificate of the authority given is trusted', async () => {
    await using bmc = await startBmc(certificate);
    const pem = readFileSync(certificate.certificatePath, 'utf8');
    const readFile = async (path: string) => (path === '/run/ca.pem' ? pem : password);
    const readSecret = async () => password;
    const config = { ...unpinned(bmc), caPath: '/run/ca.pem' };
    const power = await openPower('dut-3', config, {
      ...timelessDeps(),
      readFile,
      readSecret,
    });
    expect(await power.state()).toBe('on');
  });

  const unpinned = ({ origin }: { origin: string }): RedfishConfig => ({
    kind: 'redfish',
    url: `${origin}/redfish/v1/Systems/1`,
    user: 'lab',
    passwordPath: '/run/password',
  });

  const open = (bmc: { origin: string }, config: object = {}, deps = timelessDeps()) => {
    const pinned = { ...unpinned(bmc), certificateSha256: certificate.sha256 };
    return openPower('dut-3', { ...pinned, ...config }, withPassword(deps));
  };

  const label = ({ origin }: { origin: string }) => `PowerError: The BMC of dut-3 (Redfish at ${new URL(origin).host})`;
});

const password = 'no-word-of-mine';

const withPassword = (deps: PowerDeps): PowerDeps => ({
  ...deps,
  readSecret: async () => password,
});
