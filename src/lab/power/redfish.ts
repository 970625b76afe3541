// Controls power over Redfish, DMTF's JSON over HTTPS, by the reset action of one ComputerSystem.

import { z } from 'zod';
import type { RedfishConfig } from '../../config/power.ts';
import * as bounded from '../../model/bounds.ts';
import { parseJson } from '../../model/json.ts';
import { shortened } from '../../model/one-line.ts';
import type { Trust } from '../../system/certificate.ts';
import { type PowerController, PowerError, type PowerReply, readFileFor, readPassword } from './power-controller.ts';
import type { PowerDeps } from './power-deps.ts';

/** Values of `ResetType` in DMTF's Resource schema, preferred first. */
const resetTypes = { on: ['On', 'ForceOn'], off: ['ForceOff'] } as const;

/** The properties in use of DMTF's ComputerSystem schema. While a BMC starts, the state is null. */
const systemDocument = z.object({
  PowerState: z.enum(['On', 'Off', 'PoweringOn', 'PoweringOff', 'Paused']).nullable(),
  Actions: z
    .object({
      '#ComputerSystem.Reset': z
        .object({
          target: bounded.word,
          'ResetType@Redfish.AllowableValues': bounded.list(bounded.word).optional(),
        })
        .optional(),
    })
    .optional(),
});

/** Error response of DSP0266: the first of its messages, or the summary. */
const errorDocument = z.object({
  error: z.object({
    message: bounded.prose().optional(),
    '@Message.ExtendedInfo': bounded
      .list(z.object({ Message: bounded.prose().optional() }))
      .optional()
      .catch(undefined),
  }),
});

const tries = 4;
const maxRedirects = 3;
/** A system's document has about 10 kB. */
const maxBytes = 1024 ** 2;
const answerSeconds = 30;

export async function openRedfish(name: string, config: RedfishConfig, deps: PowerDeps): Promise<PowerController> {
  const systemUrl = new URL(config.url);
  const label = `The BMC of ${name} (Redfish at ${systemUrl.host})`;
  const { user, certificateSha256, caPath } = config;
  const password = await readPassword(label, config.passwordPath, deps);
  // Every Redfish service supports basic authentication (DSP0266, "Authentication"), which leaves no session.
  const credentials = Buffer.from(`${user}:${password}`).toString('base64');
  const ca = caPath === undefined ? {} : { ca: await readFileFor(label, caPath, deps) };
  const trust: Trust = certificateSha256 === undefined ? ca : { pinnedSha256: certificateSha256 };

  /** Masks our credentials, in case a BMC repeats them. */
  const errorText = (status: number, body: string): string => {
    const { data } = errorDocument.safeParse(parseJson(body));
    const message = data?.error['@Message.ExtendedInfo']?.[0]?.Message ?? data?.error.message ?? body.trim();
    if (message === '') return String(status);
    return `${status} ${shortened(message.replaceAll(credentials, '…').replaceAll(password, '…'))}`;
  };

  /** Sends GET, or POST of a `payload`, and retries, as any reset may be requested twice. Throws without a response. */
  const request = async (url: URL, payload?: object) => {
    let trouble = '';
    for (let attempt = 1; attempt <= tries; attempt += 1) {
      const reply = await deps.sendRequest(url, {
        method: payload === undefined ? 'GET' : 'POST',
        headers: {
          accept: 'application/json',
          'odata-version': '4.0',
          authorization: `Basic ${credentials}`,
          ...(payload !== undefined && { 'content-type': 'application/json' }),
        },
        ...(payload !== undefined && { body: JSON.stringify(payload) }),
        answerSeconds,
        connectSeconds: answerSeconds,
        maxBytes,
        trust,
      });
      let secondsToWait = 3;
      if (reply.kind === 'no-answer') {
        if (reply.distrust !== undefined) {
          const { sha256, fault, reason } = reply.distrust;
          const shown = sha256 === '' ? 'no certificate' : `the certificate with SHA-256 ${sha256}`;
          const why = fault === 'pin' ? reason : reply.code;
          throw new PowerError(
            `${label} shows ${shown}, which is not trusted (${why}); compare the fingerprint on the BMC itself, then set \`certificateSha256\` to it, or \`ca\` to its authority.`,
          );
        }
        trouble = shortened(reply.why);
      } else if (reply.body === undefined) {
        trouble = `a response of more than ${maxBytes} bytes`;
      } else {
        const { status, headers } = reply;
        const body = reply.body.toString();
        // A BMC locks out a user after several refused logins.
        if (status === 401 || status === 403) {
          throw new PowerError(`${label} refuses the login of the user ${user} (${errorText(status, body)}).`);
        }
        if (status !== 429 && (status < 500 || status === 501)) return { status, headers, body };
        trouble = errorText(status, body);
        // BMCs send no dates (RFC 9110, section 10.2.3).
        const after = headers.get('retry-after') ?? '';
        if (/^\d+$/.test(after)) secondsToWait = Math.min(Number(after), 60);
      }
      if (attempt < tries) await deps.sleep(secondsToWait);
    }
    throw new PowerError(`${label} cannot be queried: the last of ${tries} tries ended with "${trouble}".`);
  };

  /** Throws for any other server: it must not receive the credentials. */
  const onSameServer = (url: URL, location: string): URL => {
    const target = URL.parse(location, url.href);
    if (target?.origin === url.origin) return target;
    throw new PowerError(`${label} refers to "${shortened(location)}", but the password is only for ${url.host}.`);
  };

  const readSystem = async () => {
    let url = systemUrl;
    let reply = await request(url);
    for (let redirects = 0; reply.status >= 300 && reply.status < 400 && redirects < maxRedirects; redirects += 1) {
      url = onSameServer(url, reply.headers.get('location') ?? '');
      reply = await request(url);
    }
    const document = systemDocument.safeParse(parseJson(reply.body));
    if (reply.status === 200 && document.success) return { url, ...document.data };
    const why = reply.status === 200 ? `its ${reply.headers.get('content-type')}` : errorText(reply.status, reply.body);
    throw new PowerError(
      `${label} reports no system at ${url.pathname} (${shortened(why)}); compare \`url\` with the list in /redfish/v1/Systems.`,
    );
  };

  const reset = async (types: readonly string[]): Promise<PowerReply> => {
    const { url, Actions } = await readSystem();
    const action = Actions?.['#ComputerSystem.Reset'];
    if (action === undefined) return { kind: 'refused', why: `its system offers no reset action to ${user}` };
    const allowed = action['ResetType@Redfish.AllowableValues'];
    const type = types.find((one) => allowed === undefined || allowed.includes(one));
    if (type === undefined) {
      return { kind: 'refused', why: shortened(`it offers no ${types.join(' or ')}, only ${allowed?.join(', ')}`) };
    }
    const { status, body } = await request(onSameServer(url, action.target), { ResetType: type });
    return status < 300 ? { kind: 'accepted' } : { kind: 'refused', why: errorText(status, body) };
  };

  return {
    label,
    check: "the machine, and the BMC's event log",
    async state() {
      const { PowerState } = await readSystem();
      if (PowerState === 'On') return 'on';
      if (PowerState === 'Off') return 'off';
      if (PowerState === 'Paused') throw new PowerError(`${label} reports that the machine is paused.`);
      return 'changing';
    },
    turn: (to) => reset(resetTypes[to]),
    cycle: () => reset(['PowerCycle']),
  };
}
