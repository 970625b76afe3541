// Tests the findings of `ppsgate phabricator check`: a correct set-up, and one sentence for each fault.

import { once } from 'node:events';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { diagnosticText, exitCodeOf, summary } from '../../src/cli/relay/phabricator.ts';
import type { OverlayPlace } from '../../src/config/overlay.ts';
import type { PhabricatorConfig, RelayConfig, StartConfig } from '../../src/config/phabricator.ts';
import { answersStep } from '../../src/relay/check-relay.ts';
import { inboxIn, openInbox } from '../../src/relay/inbox.ts';
import { startRelayServer } from '../../src/relay/server.ts';
import { checkPhabricator } from '../../src/relay/setup-check.ts';
import type { SetUpDiagnostic } from '../../src/relay/setup-check-item.ts';
import { makeAuthority } from '../fakes/authority.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { type FakePhabricator, startPhabricator } from '../fakes/phabricator/server.ts';
import { commit, newRepository } from '../fakes/repository.ts';
import { startHttps } from '../lab/power/https-server.ts';
import { describeWith, sharedFolder, testWith } from '../needs.ts';

const webhookKey = 'k'.repeat(32);
const buildPassword = 'harbormaster:open sesame';

type Scene = {
  phabricator: FakePhabricator;
  /** Folder of the secret files. */
  folder: string;
  config: PhabricatorConfig;
};

type Changes = Partial<Omit<PhabricatorConfig, 'relay'>> & { relay?: Partial<RelayConfig> };

/** A Phabricator, a relay and a clone that fit together. */
async function aSetUp(): Promise<Scene> {
  const phabricator = await startPhabricator();
  onTestFinished(() => phabricator.stop());
  const alice = phabricator.addUser('alice');
  phabricator.addUser('bob');
  phabricator.addProject('network', [alice]);
  phabricator.addRepository('SRC');
  phabricator.addBuildPlan({
    name: 'ppsgate',
    uri: 'https://relay.example.org',
    holdDrafts: 'never',
  });

  const folder = temporaryFolder();
  const tokenPath = secretIn(folder, 'token', phabricator.token);
  const webhookKeyPath = secretIn(folder, 'webhook-key', webhookKey);
  const buildPasswordPath = secretIn(folder, 'build-password', buildPassword);
  const repository = newRepository();
  commit(repository, { 'sys/net/route.c': 'int fib;\n' });
  const config: PhabricatorConfig = {
    url: phabricator.url,
    tokenPath,
    branch: 'main',
    repositories: ['SRC'],
    people: ['bob'],
    projects: ['network'],
    undecided: 'failure',
    relay: {
      directory: join(folder, 'relay'),
      host: '127.0.0.1',
      port: await aRelay({ webhookKey, buildPassword }),
      webhookKeyPath,
      buildPasswordPath,
      on: ['builds', 'comments'],
      start: { kind: 'here', repository, most: 4 },
    },
  };
  return { phabricator, folder, config };
}

function secretIn(folder: string, name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, `${text}\n`, { mode: 0o600 });
  return path;
}

/** Starts a relay and returns its port. */
async function aRelay(secrets: { webhookKey?: string; buildPassword?: string }): Promise<number> {
  const inbox = { countPending: () => 0, accept: () => expect.fail('nothing is to be queued') };
  const options = {
    host: '127.0.0.1',
    port: 0,
    inbox,
    now: () => new Date(),
    log: () => {},
    ...secrets,
  };
  const server = await startRelayServer(options);
  onTestFinished(() => server.close());
  return server.port;
}

async function diagnosticsOf(
  config: PhabricatorConfig,
  now = () => new Date(),
  overlay?: OverlayPlace,
): Promise<SetUpDiagnostic[]> {
  const deps = {
    ...(overlay !== undefined && { overlay }),
    now,
    log: { info: () => {} },
    pause: async () => {},
    signal: new AbortController().signal,
    onLook: () => {},
  };
  return Array.fromAsync(checkPhabricator(config, deps));
}

/** Diagnostics other than ok, in the form for programs. */
async function faultsOf({ config }: Scene, changes: Changes = {}): Promise<string[]> {
  const relay = { ...config.relay, ...changes.relay };
  const diagnostics = await diagnosticsOf({ ...config, ...changes, relay });
  return diagnostics
    .filter(({ kind }) => kind !== 'ok' && kind !== 'skipped')
    .map((diagnostic) => textOf(diagnostic, config));
}

/** Removes the differences between runs. */
function textOf(diagnostic: SetUpDiagnostic, { url, relay }: PhabricatorConfig): string {
  return diagnosticText(diagnostic, { write: () => true })
    .replaceAll(url, 'https://reviews.example.org')
    .replaceAll(`:${relay.port}`, ':8642')
    .replaceAll(join(relay.directory, '..'), '/etc/ppsgate')
    .replaceAll(relay.start.kind === 'here' ? relay.start.repository : '', '/src')
    .replaceAll(/at [0-9a-f]{12}$/gm, 'at 1a2b3c4d5e6f');
}

test('a set-up that is right is so at every point', async () => {
  const { config, phabricator } = await aSetUp();
  const diagnostics = await diagnosticsOf(config);
  expect(diagnostics.map((diagnostic) => textOf(diagnostic, config)).join('\n')).toMatchInlineSnapshot(`
    "ok          the server: https://reviews.example.org is a Phabricator server
    ok          the clocks: the server and this machine differ by at most 60 s
    ok          tokenFile: /etc/ppsgate/token is readable only by its owner
    ok          the token: it belongs to perfbot
    ok          the account: perfbot is a bot and not an administrator
    ok          repositories: SRC exists, and may be edited by "admin"
    ok          projects: #network has 1 member
    ok          people: bob is there
    ok          build plans: "ppsgate" does not hold drafts
    skipped     the build step: its URI cannot be checked from here: https://reviews.example.org/harbormaster/plan/1/ must show POST to …/build?target=\${target.phid}&build=\${build.phid}&diff=\${buildable.diff}&revision=\${buildable.revision}, the user and password of \`relay.buildPasswordFile\` as credential, no other secrets, and that it waits for a message
    skipped     writing: this check writes nothing, so it does not detect a server in read-only mode
    ok          answers: none waits
    ok          relay.on: it measures builds, comments
    ok          the relay: it responds on http://127.0.0.1:8642 with 0 pending
    ok          relay.webhookKeyFile: /etc/ppsgate/webhook-key is readable only by its owner
    ok          POST /webhook: only a valid signature is accepted
    skipped     the webhook: it cannot be checked from here: https://reviews.example.org/herald/webhook/ must show one for this relay, enabled, with the key of /etc/ppsgate/webhook-key
    ok          relay.buildPasswordFile: /etc/ppsgate/build-password is readable only by its owner
    ok          POST /build: only the right user and password are accepted
    ok          relay.start.repository: /src has main, at 1a2b3c4d5e6f"
  `);
  expect(exitCodeOf(diagnostics)).toBe(0);
  expect(summary(diagnostics)).toBe('All checks passed.');
  expect(phabricator.violations).toEqual([]);
});

// Attack phabricator/token-in-reply
test('no secret is in the diagnostics', async () => {
  const { config, phabricator } = await aSetUp();
  const said = JSON.stringify(await diagnosticsOf(config));
  for (const secret of [phabricator.token, webhookKey, buildPassword, 'open sesame']) {
    expect(said).not.toContain(secret);
  }
});

test('nothing is written to the server', async () => {
  const { config, phabricator } = await aSetUp();
  await diagnosticsOf(config);
  const methods = phabricator.requests.map(({ method }) => method);
  expect(methods.filter((method) => !/\.(?:search|whoami|ping)$/.test(method))).toEqual([]);
  expect(methods).toContain('harbormaster.buildplan.search');
});

// Attack phabricator/other-host: A host that poses as the Phabricator of `ppsgate.yml` wants the token. Defence: The
// check sends it only to a server that speaks Conduit.
test('sends the token only to a server that has answered like Phabricator', async () => {
  const scene = await aSetUp();
  const heard: string[] = [];
  const url = await aPage(200, 'text/html', '<html>Hello</html>', (body) => heard.push(body));
  expect(await faultsOf(scene, { url })).toEqual([
    `wrong       the server: ${url} answers 200 and text/html, which is not Conduit’s JSON\n    fix: set \`url\` in ppsgate.yml to the address of a Phabricator, without a path`,
  ]);
  expect(heard).toEqual(['params=%7B%7D']);
});

/** The address of a server with a fixed answer. */
function aPage(status: number, type: string, text: string, hear: (body: string) => void = () => {}): Promise<string> {
  return served(async (request, response) => {
    hear(await new Response(Readable.toWeb(request)).text());
    response.writeHead(status, { 'content-type': type, location: 'https://new.example.org/' });
    response.end(text);
  });
}

async function served(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}

test.each([
  [301, 'redirects to https://new.example.org/', 'the current address of the server', 2],
  [404, 'answers 404 and text/plain, which is not', 'without a path', 2],
  [500, 'answers 500', 'check the host name in `url`', 4],
  [429, 'answers 429', 'try later', 4],
])('a server that answers %d is not looked at further', async (status, why, fix, exitCode) => {
  const { config } = await aSetUp();
  const url = await aPage(status, 'text/plain', '{}');
  const diagnostics = await diagnosticsOf({ ...config, url });
  const [first, ...rest] = diagnostics.filter(({ kind }) => kind !== 'ok');
  expect(first).toMatchObject({ what: 'the server', why: expect.stringContaining(why) });
  expect(first).toHaveProperty('fix', expect.stringContaining(fix));
  expect(rest).toContainEqual({
    kind: 'skipped',
    what: 'people',
    why: 'skipped because of this fault: the server',
  });
  expect(exitCodeOf(diagnostics)).toBe(exitCode);
});

test('if the server does not reply, the relay and the clone are checked nevertheless', async () => {
  const { config, phabricator } = await aSetUp();
  await phabricator.stop();
  const diagnostics = await diagnosticsOf(config);
  expect(diagnostics[0]).toMatchObject({ kind: 'unreachable', what: 'the server' });
  const well = diagnostics.filter(({ kind }) => kind === 'ok').map(({ what }) => what);
  expect(well).toEqual([
    'tokenFile',
    'answers',
    'relay.on',
    'the relay',
    'relay.webhookKeyFile',
    'POST /webhook',
    'relay.buildPasswordFile',
    'POST /build',
    'relay.start.repository',
  ]);
  expect(exitCodeOf(diagnostics)).toBe(4);
  expect(summary(diagnostics)).toBe('One check failed.');
});

test('undelivered answers are reported, with the cause', async () => {
  const { config } = await aSetUp();
  const { url, relay } = config;
  const kept = new Date('2026-11-23T12:00:00Z');
  using inbox = openInbox(inboxIn(relay.directory), () => kept);
  for (const key of ['comment D7:12 1', 'build D7:12 1']) {
    inbox.keepAnswer({ key, server: url, revision: 7, text: '{}' });
  }
  inbox.postponeAnswer('comment D7:12 1', kept, 'The server is in read-only mode.');
  const later = new Date(kept.getTime() + 7_200_000);
  const found = await Array.fromAsync(await answersStep(config, () => later).run('answers'));
  expect(found).toEqual([
    {
      kind: 'warning',
      what: 'answers',
      why: '2 replies wait, the oldest for 2 h, to D7 (The server is in read-only mode.)',
      fix: `run \`ppsgate relay\` or \`ppsgate poll\` here: it posts them as soon as ${url} accepts them`,
    },
  ]);
});

/** Returns the address of a server that is verified by its authority's certificate, and that authority. */
async function trusted(days?: number): Promise<{ url: string; caPath: string }> {
  const authority = await makeAuthority(temporaryFolder(), 'site');
  const certificate = await authority.issue('server', '127.0.0.1', days);
  const server = await startHttps(certificate, (_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end('{"result":"vm","error_code":null,"error_info":null}');
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  return { url: server.origin, caPath: authority.caPath };
}

// Attack phabricator/certificate
testWith(['openssl'], 'a certificate that is not trusted is wrong, and the token is kept', async () => {
  const { config } = await aSetUp();
  const { url } = await trusted();
  const diagnostics = await diagnosticsOf({ ...config, url });
  expect(diagnostics[0]).toEqual({
    kind: 'wrong',
    what: 'the server',
    why: `${url} shows a certificate that no authority trusted by this machine has signed (UNABLE_TO_VERIFY_LEAF_SIGNATURE)`,
    fix: 'set `phabricator.ca` to the certificate of the authority, or set NODE_EXTRA_CA_CERTS',
  });
  expect(diagnostics).toContainEqual({
    kind: 'skipped',
    what: 'the token',
    why: 'skipped because of this fault: the server',
  });
  expect(exitCodeOf(diagnostics)).toBe(2);
});

testWith(['openssl'], 'a certificate that has expired is wrong, and told until when it was good', async () => {
  const { config } = await aSetUp();
  const [, server] = await diagnosticsOf({ ...config, ...(await trusted(-1)) });
  expect(server).toMatchObject({
    kind: 'wrong',
    why: expect.stringMatching(
      /shows a certificate that expired on \d{4}-\d\d-\d\d \d\d:\d\d UTC \(CERT_HAS_EXPIRED\)$/,
    ),
  });
});

testWith(['openssl'], 'the authority that is named is trusted', async () => {
  const { config } = await aSetUp();
  const site = await trusted();
  const diagnostics = await diagnosticsOf({ ...config, ...site });
  expect(diagnostics.slice(0, 2)).toEqual([
    { kind: 'ok', what: 'ca', why: `${site.caPath} has the certificate of an authority` },
    { kind: 'ok', what: 'the server', why: `${site.url} is a Phabricator server` },
  ]);
});

test('a missing authority is wrong, and the server is not contacted', async () => {
  const { config, folder } = await aSetUp();
  const diagnostics = await diagnosticsOf({ ...config, caPath: join(folder, 'no-ca') });
  expect(diagnostics[0]).toMatchObject({
    kind: 'wrong',
    what: 'ca',
    why: expect.stringMatching(/^`phabricator\.ca` cannot be read \(\S+no-ca: ENOENT/),
  });
  expect(diagnostics[1]).toEqual({
    kind: 'skipped',
    what: 'the server',
    why: 'skipped because of this fault: ca',
  });
  expect(exitCodeOf(diagnostics)).toBe(2);
});

test('a server that is temporarily too busy is tried again, and abandoned if it stays so', async () => {
  const scene = await aSetUp();
  scene.phabricator.faults.order('user.search', { kind: 'rate-limit' }, 2);
  expect(await faultsOf(scene)).toEqual([]);
  scene.phabricator.faults.order('user.search', { kind: 'rate-limit' }, 100);
  const diagnostics = await diagnosticsOf(scene.config);
  expect(diagnostics.find(({ what }) => what === 'people')).toMatchObject({ kind: 'unreachable' });
  expect(diagnostics.find(({ what }) => what === 'build plans')).toMatchObject({ kind: 'ok' });
  expect(exitCodeOf(diagnostics)).toBe(4);
});

test.each([
  [3600, 'behind'],
  [-3600, 'ahead of'],
])('a clock that is %d s off is reported', async (seconds, where) => {
  const { config } = await aSetUp();
  const diagnostics = await diagnosticsOf(config, () => new Date(Date.now() + seconds * 1000));
  const clocks = diagnostics.find(({ what }) => what === 'the clocks');
  expect(clocks).toMatchObject({ kind: 'warning' });
  expect(clocks?.why).toMatch(new RegExp(`^the server’s is (?:36|35)\\d\\d s ${where} ours$`));
});

test('a token unknown to the server is reported without the token', async () => {
  const scene = await aSetUp();
  const token = `api-${'x'.repeat(28)}`;
  const tokenPath = secretIn(scene.folder, 'other-token', token);
  const faults = await faultsOf(scene, { tokenPath });
  expect(faults).toEqual([expect.stringMatching(/^wrong {7}the token: .*ERR-INVALID-AUTH/)]);
  expect(faults[0]).not.toContain(token);
});

test('a missing file is reported by the key that names it', async () => {
  const scene = await aSetUp();
  const { folder } = scene;
  const tokenPath = join(folder, 'no-token');
  const webhookKeyPath = join(folder, 'no-key');
  const buildPasswordPath = join(folder, 'no-password');
  const faults = await faultsOf(scene, { tokenPath, relay: { webhookKeyPath, buildPasswordPath } });
  const missing = (what: string) => expect.stringMatching(new RegExp(`^wrong {7}${what}: .*ENOENT`));
  expect(faults).toEqual([
    missing('tokenFile'),
    missing('the token'),
    missing('relay.webhookKeyFile'),
    missing('relay.buildPasswordFile'),
  ]);
});

// Attack phabricator/readable-token: Every user of the machine can read the token. Defence: The check reports it.
test.each([
  [
    '644',
    'wrong       tokenFile: /etc/ppsgate/token has the mode 644, so all on this machine can read it',
    [expect.stringMatching(/^wrong {7}the token: The Conduit token is refused: /)],
  ],
  ['640', 'warning     tokenFile: /etc/ppsgate/token has the mode 640, so its group can read it', []],
])('a token in a file of mode %s is not for its owner alone', async (mode, sentence, others) => {
  const scene = await aSetUp();
  chmodSync(scene.config.tokenPath ?? '', mode);
  expect(await faultsOf(scene)).toEqual([`${sentence}\n    fix: \`chmod 600 /etc/ppsgate/token\``, ...others]);
});

test('an administrator’s token is wrong, and a person’s is a warning', async () => {
  const scene = await aSetUp();
  const { bot } = scene.phabricator;
  bot.isBot = false;
  expect(await faultsOf(scene)).toEqual([
    'warning     the account: perfbot is the account of a person, in whose name ppsgate would comment\n    fix: create a bot on https://reviews.example.org/people/new/bot/, which has no login',
  ]);
  bot.isAdmin = true;
  expect(await faultsOf(scene)).toEqual([
    'wrong       the account: perfbot is an administrator, so every holder of its token is one too\n    fix: create a bot on https://reviews.example.org/people/new/bot/, and use its token',
  ]);
});

test.each<[string, Changes, string]>([
  [
    'a repository by another name',
    { repositories: ['src', 'ports'] },
    'wrong       repositories: there is no ports, or it is hidden from the bot\n    fix: correct `phabricator.repositories` in ppsgate.yml, or make it visible to the bot',
  ],
  [
    'a project by another name',
    { projects: ['network', 'networking'] },
    'wrong       projects: there is no #networking, or it is hidden from the bot\n    fix: correct `phabricator.projects` in ppsgate.yml, or make it visible to the bot',
  ],
  [
    'an unknown user',
    { people: ['bob', 'mallory'] },
    'wrong       people: there is no user mallory\n    fix: correct `phabricator.people` in ppsgate.yml, or make it visible to the bot',
  ],
  [
    'no user at all',
    { people: [], projects: [] },
    'wrong       projects: no diff may be measured: `projects` and `people` are empty\n    fix: name a project or a person under `phabricator` in ppsgate.yml',
  ],
])('%s is told', async (_, changes, fault) => {
  expect(await faultsOf(await aSetUp(), changes)).toEqual([fault]);
});

test('a project without members and a disabled account are warnings', async () => {
  const scene = await aSetUp();
  scene.phabricator.addProject('empty');
  scene.phabricator.addUser('gone', { isDisabled: true });
  expect(await faultsOf(scene, { projects: ['empty'], people: ['gone'] })).toEqual([
    expect.stringMatching(/^warning {5}projects: #empty has no members/),
    expect.stringMatching(/^warning {5}people: the account of gone is disabled/),
  ]);
});

test('a build plan that holds drafts is a warning, with the page to change it', async () => {
  const scene = await aSetUp();
  const [plan] = scene.phabricator.state.plans;
  if (plan !== undefined) plan.holdDrafts = 'always';
  expect(await faultsOf(scene)).toEqual([
    'warning     build plans: "ppsgate" holds drafts (always), so their builds pass at once, and only comments show the results\n    fix: set "Hold Drafts" to "Never" on https://reviews.example.org/harbormaster/plan/1/',
  ]);
});

test('warns of builds that are never requested', async () => {
  const scene = await aSetUp();
  const [plan] = scene.phabricator.state.plans;
  if (plan !== undefined) plan.name = 'tinderbox';
  expect(await faultsOf(scene)).toEqual([
    expect.stringMatching(/^warning {5}build plans: there is no plan named ppsgate/),
  ]);
});

test('builds that are requested but not accepted are wrong', async () => {
  const scene = await aSetUp();
  expect(await faultsOf(scene, { relay: { on: ['comments'] } })).toEqual([
    expect.stringMatching(/^wrong {7}build plans: "ppsgate" requests builds, but none are accepted/),
  ]);
});

test('a diff that would be started twice is a warning', async () => {
  const scene = await aSetUp();
  expect(await faultsOf(scene, { relay: { on: ['builds', 'diffs', 'comments'] } })).toEqual([
    'warning     relay.on: builds and diffs are both measured, so a diff with a build is measured twice\n    fix: remove `diffs` or `builds`',
  ]);
});

test('if only builds are accepted, a poll finds comments', async () => {
  const scene = await aSetUp();
  const { webhookKeyPath: _, ...relay } = scene.config.relay;
  const diagnostics = await diagnosticsOf({ ...scene.config, relay });
  const fault = diagnostics.find(({ kind }) => kind === 'warning');
  expect(fault).toMatchObject({ what: 'relay.on', fix: expect.stringContaining('ppsgate poll') });
});

test('without a webhook and builds there is no relay to look at', async () => {
  const { config } = await aSetUp();
  const { webhookKeyPath: _, buildPasswordPath: __, ...relay } = config.relay;
  const diagnostics = await diagnosticsOf({ ...config, relay: { ...relay, port: 1 } });
  expect(diagnostics.find(({ what }) => what === 'the relay')).toMatchObject({ kind: 'skipped' });
});

test('a relay that does not run is out of reach', async () => {
  const scene = await aSetUp();
  const diagnostics = await diagnosticsOf({
    ...scene.config,
    relay: { ...scene.config.relay, port: 2 },
  });
  expect(diagnostics.find(({ what }) => what === 'the relay')).toMatchObject({
    kind: 'unreachable',
    why: expect.stringContaining('nothing responds on http://127.0.0.1:2 (connect ECONNREFUSED'),
  });
  expect(diagnostics.find(({ what }) => what === 'POST /build')).toMatchObject({ kind: 'skipped' });
  expect(exitCodeOf(diagnostics)).toBe(4);
});

test('another server on the relay’s port is not taken for it', async () => {
  const scene = await aSetUp();
  const port = Number(new URL(scene.phabricator.url).port);
  expect(await faultsOf(scene, { relay: { port } })).toEqual([
    expect.stringMatching(/^wrong {7}the relay: another program responds on .* with 200/),
  ]);
});

test.each([
  ['with another key', { webhookKey: 'o'.repeat(32), buildPassword }, 'POST /webhook', 'responds with 401'],
  ['without a key', { buildPassword }, 'POST /webhook', 'does not accept these'],
  ['with another password', { webhookKey, buildPassword: 'a:b' }, 'POST /build', 'responds with 401'],
  ['without a password', { webhookKey }, 'POST /build', 'does not accept these'],
])('a relay that was started %s is to be started again', async (_, secrets, what, why) => {
  const scene = await aSetUp();
  const faults = await faultsOf(scene, { relay: { port: await aRelay(secrets) } });
  expect(faults).toHaveLength(1);
  expect(faults[0]).toMatch(new RegExp(`^wrong       ${what}: the (?:running )?relay`));
  expect(faults[0]).toContain(why);
  expect(faults[0]).toContain('fix: restart the relay');
});

// Attack phabricator/open-relay: The relay is open by mistake. Defence: `ppsgate phabricator check` sends a request
// without a key.
test('reports a proxy that responds for the relay and refuses no caller', async () => {
  const scene = await aSetUp();
  const open = await aPage(200, 'text/plain', '0 pending\n');
  expect(await faultsOf(scene, { relay: { port: Number(new URL(open).port) } })).toEqual([
    expect.stringContaining('POST /webhook: the relay responds with 200 instead of 401 to a wrong signature'),
    expect.stringContaining('POST /build: the relay responds with 200 instead of 401 to no password'),
  ]);
});

test('a password without its user is wrong', async () => {
  const scene = await aSetUp();
  const buildPasswordPath = secretIn(scene.folder, 'short', 'sesame');
  expect(await faultsOf(scene, { relay: { buildPasswordPath } })).toEqual([
    expect.stringContaining('POST /build: /etc/ppsgate/short does not have the form user:password'),
  ]);
});

test('a relay that listens on all addresses is contacted on this machine’s own', async () => {
  const scene = await aSetUp();
  const relay = { ...scene.config.relay, host: '0.0.0.0' };
  const diagnostics = await diagnosticsOf({ ...scene.config, relay });
  expect(diagnostics.find(({ what }) => what === 'the relay')).toMatchObject({
    kind: 'ok',
    why: `it responds on http://127.0.0.1:${relay.port} with 0 pending`,
  });
});

test('a folder that is no repository is reported, with the command that creates one', async () => {
  const scene = await aSetUp();
  const start: StartConfig = { kind: 'here', repository: temporaryFolder(), most: 4 };
  const [fault] = await faultsOf(scene, { relay: { start } });
  expect(fault).toContain('is not a git repository with a commit');
  expect(fault).toContain('fix: name a clone, or create one with `git clone ');
});

test('a branch that the repository lacks is reported', async () => {
  expect(await faultsOf(await aSetUp(), { branch: 'stable/15' })).toEqual([
    'wrong       relay.start.repository: /src has no branch stable/15\n    fix: set `phabricator.branch` to the branch that revisions are based on',
  ]);
});

describe('the files that the Linux testbeds install', () => {
  const files = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`dut/${index}`, '']));

  /** Diagnostics of the overlay that a ppsgate.yml in `/usr/local/etc` names. */
  async function overlayOf(inRepository: Record<string, string>, path = 'dut') {
    const { config } = await aSetUp();
    const repository = newRepository();
    commit(repository, { file: '', ...inRepository });
    const relay = { ...config.relay, start: { kind: 'here', repository, most: 4 } as const };
    const place = { path, beside: '/usr/local/etc/ppsgate' };
    const changed = { ...config, relay };
    const diagnostics = await diagnosticsOf(changed, () => new Date(), place);
    const found = diagnostics.find(({ what }) => what === 'relay.start.repository');
    if (found === undefined) throw new Error('The repository was not looked at.');
    return textOf(found, changed).replace(/[0-9a-f]{12,40}/g, '1a2b3c4d5e6f');
  }

  test.each<[string, Record<string, string>, string, string]>([
    ['one file', files(1), 'dut', 'with 1 file in dut'],
    ['some', files(2), 'dut', 'with 2 files in dut'],
    ['files of another folder', { 'lab/dut/x': '' }, 'lab/dut', 'with 1 file in lab/dut'],
    ['files of the top', {}, '.', 'with 1 file in its top'],
    ['as many as may be', files(100), 'dut', 'with 100 files in dut'],
  ])('is there: %s', async (_, inRepository, path, found) => {
    expect(await overlayOf(inRepository, path)).toBe(
      `ok          relay.start.repository: /src has main, at 1a2b3c4d5e6f, ${found}`,
    );
  });

  test('are reported if missing', async () => {
    expect(await overlayOf({})).toBe(
      `wrong       relay.start.repository: /src has main, at 1a2b3c4d5e6f, with no file in dut
    fix: set \`overlay\` to the folder with the files of a Linux DUT, or commit some to it`,
    );
  });

  test.each<[string, Record<string, string>, string, string]>([
    [
      'has too many files',
      files(101),
      'dut',
      'The folder dut holds 101 files at 1a2b3c4d5e6f, but an overlay may have at most 100: move other files elsewhere',
    ],
    [
      'has a file that is too large',
      { 'dut/x': 'x'.repeat(2 * 1024 * 1024 + 1) },
      'dut',
      'The file x holds 2097153 bytes at 1a2b3c4d5e6f, but a file of an overlay may have at most 2 MiB: make it smaller',
    ],
    [
      'has a file that git does not even read',
      { 'dut/x': 'x'.repeat(4 * 1024 * 1024 + 1) },
      'dut',
      'git cannot read the object 1a2b3c4d5e6f in /src: it must be a file of at most 4 MiB',
    ],
    [
      'leads outside',
      {},
      '/srv/dut',
      'The overlay /srv/dut of ppsgate.yml is /srv/dut, outside the repository /src: name a folder in it',
    ],
  ])('is told where it %s', async (_, inRepository, path, why) => {
    expect(await overlayOf(inRepository, path)).toBe(
      `wrong       relay.start.repository: ${why}
    fix: set \`overlay\` to a folder of that repository with at most 100 files`,
    );
  });
});

test.each<[string, (tokenPath: string) => StartConfig]>([
  [
    'github',
    (tokenPath) => ({
      kind: 'github',
      repository: 'example/src',
      event: 'ppsgate',
      tokenPath,
      apiUrl: 'http://127.0.0.1:1',
    }),
  ],
  ['jenkins', (tokenPath) => ({ kind: 'jenkins', url: 'http://127.0.0.1:1', user: 'u', tokenPath })],
])('checks only the token of %s, without a request', async (_, startWith) => {
  const { config, folder } = await aSetUp();
  const look = async (tokenPath: string) => {
    const relay = { ...config.relay, start: startWith(tokenPath) };
    const diagnostics = await diagnosticsOf({ ...config, relay });
    return diagnostics.find(({ what }) => what === 'relay.start.tokenFile');
  };
  expect(await look(secretIn(folder, 'starter', 'secret'))).toMatchObject({ kind: 'ok' });
  expect(await look(join(folder, 'nothing'))).toMatchObject({ kind: 'wrong' });
});

test('on a terminal there are signs instead of words, and colours unless they are unwanted', () => {
  const diagnostic: SetUpDiagnostic = {
    kind: 'warning',
    what: 'people',
    why: 'why\nit is',
    fix: 'do this',
  };
  const terminal = { write: () => true, isTTY: true };
  vi.stubEnv('NO_COLOR', '');
  expect(diagnosticText(diagnostic, terminal)).toBe('\x1b[33m!\x1b[0m people: why it is\n    fix: do this');
  vi.stubEnv('NO_COLOR', '1');
  expect(diagnosticText(diagnostic, terminal)).toBe('! people: why it is\n    fix: do this');
  expect(diagnosticText({ kind: 'ok', what: 'people', why: 'all' }, terminal)).toBe('✔ people: all');
  vi.unstubAllEnvs();
});

const one = (kind: 'wrong' | 'warning' | 'unreachable'): SetUpDiagnostic => ({
  kind,
  what: 'a',
  why: 'b',
  fix: 'c',
});

test.each<[SetUpDiagnostic[], string, number]>([
  [[one('warning')], 'No check failed; one warning.', 0],
  [[one('warning'), one('warning')], 'No check failed; 2 warnings.', 0],
  [[one('unreachable')], 'One check failed.', 4],
  [[one('unreachable'), one('wrong')], '2 checks failed.', 2],
  [[one('wrong'), one('warning')], 'One check failed; one warning.', 2],
])('%j ends with its sum and exit code', (diagnostics, sum, exitCode) => {
  expect(summary(diagnostics)).toBe(sum);
  expect(exitCodeOf(diagnostics)).toBe(exitCode);
});

describeWith(['shared/phabricator/calls'], 'a Phorge as it was recorded', () => {
  test('is understood at every point', async () => {
    const { config } = await aSetUp();
    const url = await aRecording({
      'conduit.ping': 'conduit.ping-noauth',
      'user.whoami': 'user.whoami',
      'diffusion.repository.search': 'diffusion.repository.search-by-shortName',
      'project.search': 'project.search-by-slug-members',
      'user.search': 'user.search',
      'harbormaster.buildplan.search': 'harbormaster.buildplan.search',
      'harbormaster.step.search': 'harbormaster.step.search',
    });
    const diagnostics = await diagnosticsOf({
      ...config,
      url,
      repositories: ['src'],
      projects: ['network_performance'],
      people: ['author'],
    });
    expect(diagnostics.slice(0, 9).map((one) => `${one.kind} ${one.what}: ${one.why}`)).toEqual([
      expect.stringMatching(/^ok the server/),
      expect.stringMatching(/^ok the clocks/),
      expect.stringMatching(/^ok tokenFile/),
      'ok the token: it belongs to perfbot',
      'ok the account: perfbot is a bot and not an administrator',
      'ok repositories: src exists, and may be edited by "admin"',
      'ok projects: #network_performance has 1 member',
      'ok people: author is there',
      'warning build plans: there is no plan named ppsgate, or it is hidden from the bot',
    ]);
  });
});

/** The address of a server that returns each method's recorded answer. */
function aRecording(fileOf: Readonly<Record<string, string>>): Promise<string> {
  return served((request, response) => {
    const method = request.url?.replace('/api/', '') ?? '';
    const text = readFileSync(join(sharedFolder('phabricator/calls'), `${fileOf[method]}.json`), 'utf8');
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(JSON.parse(text).response_json));
  });
}
