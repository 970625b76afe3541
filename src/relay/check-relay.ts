// Checks that this machine's relay replies, and accepts requests only from Phabricator.
import { createHmac } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { PhabricatorConfig, RelayConfig } from '../config/phabricator.ts';
import { readSecret } from '../config/secret.ts';
import { ok, skipped, wrong } from '../lab/check/diagnostic.ts';
import { reasonOf } from '../model/one-line.ts';
import { type HttpRequest, type HttpResponse, sendRequest } from '../system/http.ts';
import { waitingText } from './answers.ts';
import { checkAgent, checkObject } from './delivery.ts';
import { inboxIn, openInbox } from './inbox.ts';
import {
  type SetUpCheckDeps,
  type SetUpDiagnostic,
  type SetUpStep,
  secretStep,
  unreachable,
  warning,
} from './setup-check-item.ts';

/** Reads the undelivered answers of this machine's relay, poller and gates. */
export const answersStep = ({ url, relay: { directory } }: PhabricatorConfig, now: () => Date): SetUpStep => ({
  what: 'answers',
  async run(what) {
    const path = inboxIn(directory);
    if (!existsSync(path)) return [ok(what, 'none waits')];
    using inbox = openInbox(path, now);
    const waiting = inbox.waitingAnswers(url);
    const [oldest] = waiting;
    if (oldest === undefined) return [ok(what, 'none waits')];
    const why = `${waitingText(waiting, now())} (${oldest.why ?? 'not tried yet'})`;
    const fix = `run \`ppsgate relay\` or \`ppsgate poll\` here: it posts them as soon as ${url} accepts them`;
    return [warning(what, why, fix)];
  },
});

export function relaySteps(config: PhabricatorConfig, deps: SetUpCheckDeps): SetUpStep[] {
  const { relay } = config;
  const { webhookKeyPath, buildPasswordPath } = relay;
  if (webhookKeyPath === undefined && buildPasswordPath === undefined) {
    const why = 'neither `relay.webhookKeyFile` nor `relay.buildPasswordFile` is set: use `ppsgate poll`';
    return [{ what: 'the relay', run: async (what) => [skipped(what, why)] }];
  }
  const client = relayClient(relay, deps.signal);
  return [
    { what: 'relay.on', run: async (what) => occasions(what, relay) },
    { what: 'the relay', run: (what) => health(what, relay, client) },
    ...(webhookKeyPath === undefined ? [] : webhookSteps(webhookKeyPath, config, client)),
    ...(buildPasswordPath === undefined ? [] : buildSteps(buildPasswordPath, client)),
  ];
}

function occasions(what: string, { on, buildPasswordPath, webhookKeyPath }: RelayConfig) {
  const isBuilt = buildPasswordPath !== undefined && on.includes('builds');
  if (isBuilt && on.includes('diffs')) {
    const why = 'builds and diffs are both measured, so a diff with a build is measured twice';
    return [warning(what, why, 'remove `diffs` or `builds`')];
  }
  if (webhookKeyPath === undefined && (on.includes('diffs') || on.includes('comments'))) {
    const why = 'without `relay.webhookKeyFile` only `ppsgate poll` receives diffs and comments';
    return [warning(what, why, 'set it, or run `ppsgate poll` beside the relay')];
  }
  return [ok(what, `it measures ${on.join(', ')}`)];
}

type RelayClient = (
  path: string,
  request?: Partial<Pick<HttpRequest, 'method' | 'headers' | 'body'>>,
) => Promise<HttpResponse>;

const maxSeconds = 10;
const maxBytes = 1024 ** 2;

const relayClient =
  (relay: RelayConfig, signal: AbortSignal): RelayClient =>
  async (path, request = {}) => {
    const limits = { answerSeconds: maxSeconds, maxBytes, signal };
    // Marks the check's requests in the relay's log.
    const headers = { ...request.headers, 'user-agent': checkAgent };
    const answer = await sendRequest(`${baseOf(relay)}${path}`, {
      ...request,
      headers,
      ...limits,
    });
    if (answer.kind === 'no-answer') throw new Error(answer.why);
    return answer;
  };

/** URL of the relay on this machine: the loopback address if it listens on all addresses. */
function baseOf({ host, port }: RelayConfig): string {
  const near = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return `http://${near.includes(':') ? `[${near}]` : near}:${port}`;
}

async function health(what: string, relay: RelayConfig, client: RelayClient): Promise<SetUpDiagnostic[]> {
  const base = baseOf(relay);
  let reply: HttpResponse;
  try {
    reply = await client('/health');
  } catch (error) {
    const why = `nothing responds on ${base} (${reasonOf(error)})`;
    return [unreachable(what, why, 'start `ppsgate relay`, and check its log')];
  }
  const text = String(reply.body);
  if (reply.status === 200 && /^\d+ pending$/m.test(text)) {
    return [ok(what, `it responds on ${base} with ${text.trim()}`)];
  }
  const fix = 'stop that program, or set another `relay.port` in ppsgate.yml and restart the relay';
  return [wrong(what, `another program responds on ${base} with ${reply.status}`, fix)];
}

const restart = 'restart the relay, because it reads its files only at its start';

function webhookSteps(path: string, { url }: PhabricatorConfig, client: RelayClient): SetUpStep[] {
  const place = { what: 'The key of the webhook', path };
  return [
    secretStep('relay.webhookKeyFile', place),
    {
      what: 'POST /webhook',
      needs: ['the relay'],
      async run(what) {
        const signed = (signature: string) =>
          client('/webhook', {
            method: 'POST',
            body: testWebhook,
            headers: { 'x-phabricator-webhook-signature': signature },
          });
        const strange = await signed('0'.repeat(64));
        if (strange.status !== 401) return [open(what, 'a wrong signature', strange)];
        const key = await readSecret(place).catch(() => undefined);
        if (key === undefined) return [ok(what, 'an invalid signature is refused')];
        const ours = await signed(createHmac('sha256', key).update(testWebhook).digest('hex'));
        if (ours.status === 200) return [ok(what, 'only a valid signature is accepted')];
        const why = `the relay responds with ${ours.status} to a request signed with the key of ${path}`;
        return [wrong(what, why, restart)];
      },
    },
    {
      what: 'the webhook',
      run: async (what) => [
        skipped(
          what,
          `it cannot be checked from here: ${url}/herald/webhook/ must show one for this relay, enabled, with the key of ${path}`,
        ),
      ],
    },
  ];
}

/** Marked as sent manually with Herald's `test`, so it has no effect. */
const testWebhook = JSON.stringify({
  object: { type: 'DREV', phid: checkObject },
  triggers: [],
  action: { test: true, silent: false, secure: false, epoch: 0 },
  transactions: [],
});

function buildSteps(path: string, client: RelayClient): SetUpStep[] {
  const place = { what: 'The user and password of builds', path };
  return [
    secretStep('relay.buildPasswordFile', place),
    {
      what: 'POST /build',
      needs: ['the relay'],
      async run(what) {
        const strange = await client('/build', { method: 'POST' });
        if (strange.status !== 401) return [open(what, 'no password', strange)];
        const password = await readSecret(place).catch(() => undefined);
        if (password === undefined) return [ok(what, 'a request without a password is refused')];
        if (!/^[^:]+:./.test(password)) {
          const fix = `write a user, a colon and a password into ${path}, the same as in Passphrase`;
          return [wrong(what, `${path} does not have the form user:password`, fix)];
        }
        const authorization = `Basic ${Buffer.from(password).toString('base64')}`;
        // Without a query, the relay refuses the request only after it has accepted the password.
        const ours = await client('/build', { method: 'POST', headers: { authorization } });
        if (ours.status === 400) return [ok(what, 'only the right user and password are accepted')];
        const why = `the relay responds with ${ours.status} to the user and password of ${path}`;
        return [wrong(what, why, restart)];
      },
    },
  ];
}

function open(what: string, credential: string, { status }: HttpResponse): SetUpDiagnostic {
  if (status === 404) {
    const why = 'the running relay does not accept these, as without the file in ppsgate.yml';
    return wrong(what, why, restart);
  }
  const why = `the relay responds with ${status} instead of 401 to ${credential}`;
  return wrong(what, why, 'check that no proxy responds for it');
}
