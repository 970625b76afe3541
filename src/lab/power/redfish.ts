// Controls power over Redfish, DMTF's JSON over HTTPS, by the reset action of one ComputerSystem.

import { z } from 'zod';
import type { RedfishConfig } from '../../config/power.ts';
import * as bounded from '../../model/bounds.ts';
import { parseJson } from '../../model/json.ts';
import { shortened } from '../../model/one-line.ts';
import type { Distrust, Trust } from '../../system/certificate.ts';
import type { HttpRequest, HttpResponse, NoResponse } from '../../system/http.ts';
import { type PowerController, PowerError, type PowerReading, type PowerReply } from './power-controller.ts';
import type { PowerDeps } from './power-deps.ts';
import { readFileFor, readPassword } from './secret-files.ts';

export async function openRedfish(name: string, config: RedfishConfig, deps: PowerDeps): Promise<PowerController> {
  const url = new URL(config.url);
  const label = `The BMC of ${name} (Redfish at ${url.host})`;
  const { user } = config;
  const password = await readPassword(label, config.passwordPath, deps);
  const trust = await trustOf(label, config, deps);
  const server: RedfishServer = { label, user, password, trust, deps };
  return {
    label,
    check: "the machine, and the BMC's event log",
    state: async () => readingOf(await readSystem(server, url), label),
    turn: (to) => reset(server, url, resetTypes[to]),
    cycle: () => reset(server, url, ['PowerCycle']),
  };
}

type RedfishServer = {
  label: string;
  user: string;
  password: string;
  trust: Trust;
  deps: PowerDeps;
};

async function trustOf(label: string, config: RedfishConfig, deps: PowerDeps): Promise<Trust> {
  const { certificateSha256, caPath } = config;
  if (certificateSha256 !== undefined) return { pinnedSha256: certificateSha256 };
  return caPath === undefined ? {} : { ca: await readFileFor(label, 'CA', caPath, deps) };
}

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

type RedfishSystem = z.infer<typeof systemDocument>;

function readingOf({ PowerState }: RedfishSystem, label: string): PowerReading {
  switch (PowerState) {
    case 'On':
      return 'on';
    case 'Off':
      return 'off';
    case 'Paused':
      throw new PowerError(`${label} reports that the machine is paused; continue or reset it there.`);
    default:
      return 'changing';
  }
}

async function reset(server: RedfishServer, url: URL, types: readonly string[]): Promise<PowerReply> {
  const { Actions } = await readSystem(server, url);
  const action = Actions?.['#ComputerSystem.Reset'];
  if (action === undefined) {
    return { kind: 'refused', why: `its system offers no reset action to ${server.user}` };
  }
  const allowed = action['ResetType@Redfish.AllowableValues'];
  const type = types.find((one) => allowed === undefined || allowed.includes(one));
  if (type === undefined) {
    const why = shortened(`it offers no ${types.join(' or ')}, only ${allowed?.join(', ')}`);
    return { kind: 'refused', why };
  }
  const target = onSameServer(server, url, action.target, 'its reset action is at');
  const { status, body } = await requestJson(server, target, { ResetType: type });
  return status < 300 ? { kind: 'accepted' } : { kind: 'refused', why: errorText(server, status, body) };
}

const maxRedirects = 3;

async function readSystem(server: RedfishServer, url: URL, redirects = 0): Promise<RedfishSystem> {
  const { label } = server;
  const { status, headers, body } = await requestJson(server, url);
  if (status >= 300 && status < 400 && redirects < maxRedirects) {
    const target = onSameServer(server, url, headers.get('location') ?? '', 'it redirects to');
    return readSystem(server, target, redirects + 1);
  }
  if (status !== 200) {
    throw new PowerError(
      `${label} reports no system at ${url.pathname} (${errorText(server, status, body)}); compare \`url\` with the list in /redfish/v1/Systems.`,
    );
  }
  const document = systemDocument.safeParse(parseJson(body));
  if (document.success) return document.data;
  throw new PowerError(
    `${label} answers at ${url.pathname} with ${shortened(headers.get('content-type') ?? 'something')} that describes no system; compare \`url\` with the list in /redfish/v1/Systems.`,
  );
}

/** Throws for any other server: it must not receive the credentials. */
function onSameServer({ label }: RedfishServer, url: URL, location: string, how: string): URL {
  const target = URL.parse(location, url.href);
  if (target?.origin === url.origin) return target;
  throw new PowerError(
    `${label} is not followed: ${how} "${shortened(location)}", but the password is only for ${url.host}; check \`url\`.`,
  );
}

type RedfishReply = RedfishResponse | NoResponse;

type RedfishResponse = Omit<HttpResponse, 'body'> & { body: string };

const tries = 4;

/** Sends GET, or POST of a `payload`, and retries, as any reset may be requested twice. Throws without a response. */
async function requestJson(server: RedfishServer, url: URL, payload?: object): Promise<RedfishResponse> {
  const { label, deps } = server;
  let reply = await tryOnce(server, url, payload);
  for (let attempt = 1; attempt < tries && isTransient(reply); attempt += 1) {
    await deps.sleep(secondsToWait(reply));
    reply = await tryOnce(server, url, payload);
  }
  if (reply.kind === 'answered') return acceptedResponse(server, reply);
  if (reply.distrust !== undefined) throw new PowerError(distrusted(label, reply.code, reply.distrust));
  throw new PowerError(
    `${label} cannot be queried: the last of ${tries} tries ended with "${shortened(reply.why)}"; check that it has power and network, and \`url\`.`,
  );
}

/** A system's document has about 10 kB. */
const maxBytes = 1024 ** 2;

const answerSeconds = 30;

async function tryOnce(server: RedfishServer, url: URL, payload: object | undefined): Promise<RedfishReply> {
  const { trust, deps } = server;
  const request = requestOf(server, payload);
  const reply = await deps.sendRequest(url, { ...request, trust });
  if (reply.kind === 'no-answer') return reply;
  if (reply.body !== undefined) return { ...reply, body: reply.body.toString() };
  const why = `a response of more than ${maxBytes} bytes`;
  return { kind: 'no-answer', why, code: '', wasSent: true };
}

/**
 * Uses basic authentication: every Redfish service supports it (DSP0266, "Authentication"), and it leaves no session.
 */
function requestOf({ user, password }: RedfishServer, payload: object | undefined): HttpRequest {
  const headers = {
    accept: 'application/json',
    'odata-version': '4.0',
    authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
  };
  const limits = { answerSeconds, connectSeconds: answerSeconds, maxBytes };
  if (payload === undefined) return { ...limits, method: 'GET', headers };
  const withType = { ...headers, 'content-type': 'application/json' };
  return { ...limits, method: 'POST', headers: withType, body: JSON.stringify(payload) };
}

/** Never true for a refused password, as a BMC locks out a user after several. */
function isTransient(reply: RedfishReply): boolean {
  if (reply.kind === 'no-answer') return reply.distrust === undefined;
  return reply.status === 429 || (reply.status >= 500 && reply.status !== 501);
}

/** Reads `Retry-After` in seconds, at most 60. BMCs send no dates (RFC 9110, section 10.2.3). */
function secondsToWait(reply: RedfishReply): number {
  const after = reply.kind === 'answered' ? reply.headers.get('retry-after') : undefined;
  return /^\d+$/.test(after ?? '') ? Math.min(Number(after), 60) : 3;
}

function acceptedResponse(server: RedfishServer, reply: RedfishResponse): RedfishResponse {
  const { label, user } = server;
  const { status, body } = reply;
  if (status === 401 || status === 403) {
    throw new PowerError(
      `${label} refuses the login of the user ${user} (${errorText(server, status, body)}); check \`user\`, its password file, and its permission to control power.`,
    );
  }
  if (!isTransient(reply)) return reply;
  throw new PowerError(
    `${label} refused ${tries} attempts, the last with "${errorText(server, status, body)}"; wait until it is ready, or restart the BMC.`,
  );
}

function distrusted(label: string, code: string, { sha256, fault, reason }: Distrust): string {
  const why = fault === 'pin' ? reason : code;
  const shown = sha256 === '' ? 'no certificate' : `the certificate with SHA-256 ${sha256}`;
  return `${label} shows ${shown}, which is not trusted (${why}); compare the fingerprint on the BMC itself, then set \`certificateSha256\` to it, or \`ca\` to its authority.`;
}

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

/** Masks our credentials, in case a BMC repeats them. */
function errorText({ user, password }: RedfishServer, status: number, body: string): string {
  const { data } = errorDocument.safeParse(parseJson(body));
  const message = data?.error['@Message.ExtendedInfo']?.[0]?.Message ?? data?.error.message ?? body.trim();
  if (message === '') return String(status);
  const encoded = Buffer.from(`${user}:${password}`).toString('base64');
  return `${status} ${shortened(message.replaceAll(encoded, '…').replaceAll(password, '…'))}`;
}
