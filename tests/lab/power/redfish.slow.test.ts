// Tests machines behind a real Redfish service, and errors for services that are unusable or lie.
import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RedfishConfig } from '../../../src/config/power.ts';
import { openPower, type Power, type PowerDeps } from '../../../src/lab/power/power.ts';
import { describeWith } from '../../needs.ts';
import { type Certificate, makeCertificate, startHttps } from './https-server.ts';
import { depsWhere, messageOf, timelessDeps } from './power-deps.ts';
import { json, redirect, startBmc } from './redfish-bmc.ts';
import { startSushy } from './sushy.ts';

const password = 'no-word-of-mine';

let certificate: Certificate;
beforeAll(() => {
  certificate = makeCertificate();
});
afterAll(() => certificate.remove());

describeWith(['sushy-emulator', 'openssl'], 'a machine behind sushy-emulator', () => {
  test('is turned on, and off', async () => {
    await using sushy = await startSushy(certificate);
    // Its machine takes up to 11 s to obey, and gets 15.
    const power = await openPower('dut-3', sushy.config, depsWhere(0.5));
    await power.on();
    expect(await power.state()).toBe('on');
    await power.off();
    expect(await power.state()).toBe('off');
  });
});

type Unusable = {
  answer: RequestListener;
  /** Absent: its state. */
  asked?: (power: Power) => Promise<unknown>;
  requests: number;
  slept?: number[];
};

const turnOff = (power: Power) => power.off();
const error = (message: string) => ({ error: { message } });
const changing = (PowerState: string | null): Unusable => ({
  answer: json(200, { PowerState }),
  requests: 31,
  slept: Array(30).fill(1),
});
const actionAt = (target: string) => ({ PowerState: 'On', Actions: { '#ComputerSystem.Reset': { target } } });

/** Refused logins are not repeated, as they might lock the user out; the password goes to no other server. */
const unusable: Record<string, Unusable> = {
  'is turning off': changing('PoweringOff'),
  'is turning on': changing('PoweringOn'),
  'has no state': changing(null),
  'refuses the login': { answer: json(401, error('No')), requests: 1 },
  'refuses the user': { answer: json(403, error('No')), requests: 1 },
  'repeats the password': {
    answer: (request, response) =>
      json(401, error(`I do not like ${request.headers.authorization} and ${password}\n`))(request, response),
    requests: 1,
  },
  'has its reset action elsewhere': {
    answer: json(200, actionAt('https://198.51.100.7/reset')),
    asked: turnOff,
    requests: 1,
  },
  'redirects elsewhere': { answer: redirect('https://198.51.100.7/redfish'), requests: 1 },
  'responds with its web page': {
    answer: (_, response) => response.setHeader('content-type', 'text/html').end('<html>Please log in</html>'),
    requests: 1,
  },
  'is never ready': { answer: json(503, error('Booting')), requests: 4, slept: [3, 3, 3] },
  'sends 10 MB': {
    answer: (_, response) => response.end(Buffer.alloc(10_000_000, ' ')),
    requests: 4,
    slept: [3, 3, 3],
  },
};

describeWith(['openssl'], 'a Redfish service', () => {
  test('that is unusable is reported, and requested no more than it bears', async () => {
    let text = '';
    const seen: Record<string, object> = {};
    for (const [name, { answer, asked = (power: Power) => power.state() }] of Object.entries(unusable)) {
      let requests = 0;
      await using bmc = await startHttps(certificate, (request, response) => {
        requests += 1;
        answer(request, response);
      });
      const deps = timelessDeps();
      const message = await messageOf(asked(await open(bmc, {}, deps)));
      text += `${name}: ${message.replaceAll(new URL(bmc.origin).host, 'HOST')}\n`;
      seen[name] = { requests, slept: deps.slept };
    }
    const expected = Object.entries(unusable).map(([name, { requests, slept = [] }]) => [name, { requests, slept }]);
    expect(seen).toEqual(Object.fromEntries(expected));
    await expect(text).toMatchFileSnapshot('golden/redfish.txt');
  });

  test('that has PowerCycle cycles by one order', async () => {
    await using bmc = await startBmc(certificate, { cycle: ['On', 'On', 'Off', 'PoweringOn'] });
    await (await open(bmc)).cycle();
    expect(bmc.resets).toEqual(['PowerCycle']);
  });

  test.each([400, 404, 405, 409, 501])('that responds to PowerCycle with %d gets ForceOff and On', async (status) => {
    await using bmc = await startBmc(certificate, { refuses: { PowerCycle: status } });
    await (await open(bmc)).cycle();
    expect(bmc.resets).toEqual(['PowerCycle', 'ForceOff', 'On']);
  });

  test('that refuses an order is reported with its own words', async () => {
    await using bmc = await startBmc(certificate, { refuses: { ForceOff: 400 } });
    expect(await messageOf((await open(bmc)).off())).toContain(' refuses to turn the machine off: 400 No; ');
  });

  test.each([
    ['On and ForceOn', ['ForceOff', 'ForceOn', 'On'], 'On'],
    ['ForceOn alone', ['ForceOff', 'ForceOn'], 'ForceOn'],
  ])('that has %s is turned on by what it has', async (_, allowed, reset) => {
    await using bmc = await startBmc(certificate, { allowed });
    await (await open(bmc)).on();
    expect(bmc.resets).toEqual([reset]);
  });

  test('that redirects to itself is followed', async () => {
    await using bmc = await startHttps(certificate, (request, response) => {
      if (request.url?.endsWith('/')) response.end('{"PowerState":"Off"}');
      else redirect('/redfish/v1/Systems/1/')(request, response);
    });
    expect(await (await open(bmc)).state()).toBe('off');
  });

  test('that is not ready is requested again after the named wait', async () => {
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

  test('that shows a self-signed certificate gets no password before it is pinned', async () => {
    let asked = 0;
    await using bmc = await startHttps(certificate, () => {
      asked += 1;
    });
    const power = await openPower('dut-3', unpinned(bmc), withPassword(timelessDeps()));
    const why = `SHA-256 ${certificate.sha256}, which is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT)`;
    expect(await messageOf(power.state())).toContain(why);
    expect(asked).toBe(0);
  });

  test('that shows another certificate than the one pinned is reported', async () => {
    await using bmc = await startBmc(certificate);
    const power = await open(bmc, { certificateSha256: '0'.repeat(64) });
    expect(await messageOf(power.state())).toContain('is not trusted (not the one that is pinned)');
  });

  test('that shows a certificate of the authority given is trusted', async () => {
    await using bmc = await startBmc(certificate);
    const pem = readFileSync(certificate.certificatePath, 'utf8');
    const deps = { ...withPassword(timelessDeps()), readFile: async () => pem };
    const power = await openPower('dut-3', { ...unpinned(bmc), caPath: '/run/ca.pem' }, deps);
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
});

const withPassword = (deps: PowerDeps): PowerDeps => ({ ...deps, readSecret: async () => password });
