// Tests the findings of `ppsgate phabricator check`: a correct set-up, and one sentence for each fault.

import { once } from 'node:events';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, onTestFinished, test, vi } from 'vitest';
import { diagnosticText, exitCodeOf, summary } from '../../src/cli/relay/phabricator.ts';
import type { OverlayPlace } from '../../src/config/overlay.ts';
import type { PhabricatorConfig, RelayConfig, StartConfig } from '../../src/config/phabricator.ts';
import { answersStep } from '../../src/relay/check-relay.ts';
import { inboxIn, openInbox } from '../../src/relay/inbox.ts';
import { startRelayServer } from '../../src/relay/server.ts';
import { checkPhabricator } from '../../src/relay/setup-check.ts';
import type { SetUpDiagnostic } from '../../src/relay/setup-check-item.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { type FakePhabricator, startPhabricator } from '../fakes/phabricator/server.ts';
import { commit, newRepository } from '../fakes/repository.ts';
import { describeWith, sharedFolder } from '../needs.ts';

const webhookKey = 'k'.repeat(32);
const buildPassword = 'harbormaster:open sesame';

type Scene = {
  phabricator: FakePhabricator;
  /** Folder of the secret files. */
  folder: string;
  config: PhabricatorConfig;
};

type Changes = Partial<Omit<PhabricatorConfig, 'relay'>> & { relay?: Partial<RelayConfig> };

function aClone(files: Record<string, string> = {}): string {
  const repository = newRepository();
  commit(repository, { 'sys/net/route.c': 'int fib;\n', ...files });
  return repository;
}

/** A Phabricator, a relay and a clone that fit together. */
async function aSetUp(repository = aClone()): Promise<Scene> {
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

/** Removes the differences between runs. */
function linesOf(diagnostics: readonly SetUpDiagnostic[], { url, relay }: PhabricatorConfig): string {
  return diagnostics
    .map((diagnostic) => diagnosticText(diagnostic, { write: () => true }))
    .join('\n')
    .replaceAll(url, 'https://reviews.example.org')
    .replaceAll(`:${relay.port}`, ':8642')
    .replaceAll(join(relay.directory, '..'), '/etc/ppsgate')
    .replaceAll(relay.start.kind === 'here' ? relay.start.repository : '', '/src')
    .replaceAll(/[0-9a-f]{12,40}/g, '1a2b3c4d5e6f')
    .replaceAll(/\d{4} s (?=behind|ahead)/g, '3600 s ')
    .replaceAll(/:\d{5}\b/g, ':8080');
}

test('a set-up that is right is so at every point, without a secret or a write', async () => {
  const { config, phabricator } = await aSetUp();
  const diagnostics = await diagnosticsOf(config);
  await expect(linesOf(diagnostics, config)).toMatchFileSnapshot('golden/set-up.txt');
  expect(exitCodeOf(diagnostics)).toBe(0);
  expect(phabricator.violations).toEqual([]);
  for (const secret of [phabricator.token, webhookKey, buildPassword, 'open sesame']) {
    expect(JSON.stringify(diagnostics)).not.toContain(secret);
  }
  const methods = phabricator.requests.map(({ method }) => method);
  expect(methods.filter((method) => !/\.(?:search|whoami|ping)$/.test(method))).toEqual([]);
});

type Fault = { changes?: Changes; overlay?: string; clock?: number };

const clone = (files: Record<string, string>): StartConfig => ({ kind: 'here', repository: aClone(files), most: 4 });
const overlaid = (files: Record<string, string>, overlay = 'dut'): Fault => ({
  changes: { relay: { start: clone(files) } },
  overlay,
});
const plan = ({ phabricator }: Scene) => phabricator.state.plans[0] ?? expect.fail('There is no plan.');
const filesIn = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`dut/${index}`, '']));

const faults: Record<string, (scene: Scene) => Fault | Promise<Fault>> = {
  'a server that redirects': async () => ({ changes: { url: await aPage(301, 'text/plain', '{}') } }),
  'a server that is none': async () => ({ changes: { url: await aPage(404, 'text/plain', '{}') } }),
  'a broken server': async () => ({ changes: { url: await aPage(500, 'text/plain', '{}') } }),
  'a busy server': async () => ({ changes: { url: await aPage(429, 'text/plain', '{}') } }),
  'a missing authority': ({ folder }) => ({ changes: { caPath: join(folder, 'no-ca') } }),
  'a slow clock': () => ({ clock: 3600 }),
  'a fast clock': () => ({ clock: -3600 }),
  'an unknown token': ({ folder }) => ({
    changes: { tokenPath: secretIn(folder, 'other-token', `api-${'x'.repeat(28)}`) },
  }),
  'missing files': ({ folder }) => ({
    changes: {
      tokenPath: join(folder, 'no-token'),
      relay: { webhookKeyPath: join(folder, 'no-key'), buildPasswordPath: join(folder, 'no-password') },
    },
  }),
  'a token that all can read': ({ config }) => {
    chmodSync(config.tokenPath ?? '', '644');
    return {};
  },
  'a token that the group can read': ({ config }) => {
    chmodSync(config.tokenPath ?? '', '640');
    return {};
  },
  'the token of a person': ({ phabricator }) => {
    phabricator.bot.isBot = false;
    return {};
  },
  'the token of an administrator': ({ phabricator }) => {
    phabricator.bot.isAdmin = true;
    return {};
  },
  'an unknown repository': () => ({ changes: { repositories: ['src', 'ports'] } }),
  'an unknown project': () => ({ changes: { projects: ['network', 'networking'] } }),
  'an unknown user': () => ({ changes: { people: ['bob', 'mallory'] } }),
  'no user at all': () => ({ changes: { people: [], projects: [] } }),
  'a project without members, and a disabled account': ({ phabricator }) => {
    phabricator.addProject('empty');
    phabricator.addUser('gone', { isDisabled: true });
    return { changes: { projects: ['empty'], people: ['gone'] } };
  },
  'a build plan that holds drafts': (scene) => {
    plan(scene).holdDrafts = 'always';
    return {};
  },
  'builds that are never requested': (scene) => {
    plan(scene).name = 'tinderbox';
    return {};
  },
  'builds that are not accepted': () => ({ changes: { relay: { on: ['comments'] } } }),
  'diffs that are measured twice': () => ({ changes: { relay: { on: ['builds', 'diffs', 'comments'] } } }),
  'no webhook': ({ config }) => {
    delete config.relay.webhookKeyPath;
    return {};
  },
  'a relay that does not run': () => ({ changes: { relay: { port: 2 } } }),
  'another server on the port of the relay': ({ phabricator }) => ({
    changes: { relay: { port: Number(new URL(phabricator.url).port) } },
  }),
  'a relay with another key': async () => ({
    changes: { relay: { port: await aRelay({ webhookKey: 'o'.repeat(32), buildPassword }) } },
  }),
  'a relay without a key': async () => ({ changes: { relay: { port: await aRelay({ buildPassword }) } } }),
  'a relay with another password': async () => ({
    changes: { relay: { port: await aRelay({ webhookKey, buildPassword: 'a:b' }) } },
  }),
  'a relay without a password': async () => ({ changes: { relay: { port: await aRelay({ webhookKey }) } } }),
  'a proxy that refuses no caller': async () => ({
    changes: { relay: { port: Number(new URL(await aPage(200, 'text/plain', '0 pending\n')).port) } },
  }),
  'a password without its user': ({ folder }) => ({
    changes: { relay: { buildPasswordPath: secretIn(folder, 'short', 'sesame') } },
  }),
  'a folder that is no repository': () => ({
    changes: { relay: { start: { kind: 'here', repository: temporaryFolder(), most: 4 } } },
  }),
  'a branch that the repository lacks': () => ({ changes: { branch: 'stable/15' } }),
  'no file in the overlay': () => overlaid({}),
  'too many files in the overlay': () => overlaid(filesIn(101)),
  'a file of the overlay that is too large': () => overlaid({ 'dut/x': 'x'.repeat(2 * 1024 * 1024 + 1) }),
  'a file of the overlay that git does not read': () => overlaid({ 'dut/x': 'x'.repeat(4 * 1024 * 1024 + 1) }),
  'an overlay outside of the repository': () => overlaid({}, '/srv/dut'),
};

test('each fault is reported with its fix, and nothing else is', async () => {
  const repository = aClone();
  const textOf = async (name: string, make: (scene: Scene) => Fault | Promise<Fault>) => {
    const scene = await aSetUp(repository);
    const { changes = {}, overlay, clock = 0 } = await make(scene);
    const config = { ...scene.config, ...changes, relay: { ...scene.config.relay, ...changes.relay } };
    const place = overlay === undefined ? undefined : { path: overlay, beside: '/usr/local/etc/ppsgate' };
    const diagnostics = await diagnosticsOf(config, () => new Date(Date.now() + clock * 1000), place);
    const found = diagnostics.filter(({ kind }) => kind !== 'ok' && kind !== 'skipped');
    return `# ${name}: ${exitCodeOf(diagnostics)}\n${linesOf(found, config)}\n`;
  };
  const texts: string[] = [];
  for (const [name, make] of Object.entries(faults)) texts.push(await textOf(name, make));
  await expect(texts.join('\n')).toMatchFileSnapshot('golden/set-up-faults.txt');
});

test('sends the token only to a server that has answered like Phabricator', async () => {
  const { config } = await aSetUp();
  const heard: string[] = [];
  const url = await aPage(200, 'text/html', '<html>Hello</html>', (body) => heard.push(body));
  expect(exitCodeOf(await diagnosticsOf({ ...config, url }))).toBe(2);
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
