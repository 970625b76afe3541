// A relay as a whole: Phabricator's request starts `ppsgate gate`, which forwards packets, and the result reaches Phabricator.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseDocument } from 'yaml';
import { labDown, labLeftovers } from '../../src/lab/netns/embedded-lab.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { type FakePhabricator, startPhabricator } from '../fakes/phabricator/server.ts';
import { describeWith, labPrograms } from '../needs.ts';
import { type Example, makeExample, noOps } from './example.ts';

describeWith(['root', 'git', ...labPrograms], 'a relay with gates on this machine', () => {
  let example: Example;
  let phabricator: FakePhabricator;
  let relay: ChildProcess;
  let said: string;
  let config: string;
  let gates: string;

  beforeEach(async () => {
    const folder = temporaryFolder();
    example = makeExample(join(folder, 'router'));
    phabricator = await startPhabricator();
    gates = join(folder, 'relay');
    config = join(example.directory, 'docs/example/ppsgate.yml');
    const secrets = join(folder, 'secrets');
    mkdirSync(secrets);
    for (const [name, secret] of [
      ['token', phabricator.token],
      ['key', key],
      ['password', `${credential.user}:${credential.password}`],
    ] as const) {
      writeFileSync(join(secrets, name), `${secret}\n`, { mode: 0o600 });
    }
    const document = parseDocument(readFileSync(config, 'utf8'));
    document.set('phabricator', {
      url: phabricator.url,
      tokenFile: join(secrets, 'token'),
      projects: ['network'],
      relay: {
        directory: gates,
        port: 0,
        webhookKeyFile: join(secrets, 'key'),
        buildPasswordFile: join(secrets, 'password'),
        start: { repository: example.directory, site: 'https://ci.example.org/ppsgate' },
      },
    });
    writeFileSync(config, document.toString());
  });
  afterEach(async () => {
    relay.kill('SIGTERM');
    if (relay.exitCode === null) await once(relay, 'close');
    await phabricator[Symbol.asyncDispose]();
    await labDown();
  });

  async function startRelay(): Promise<number> {
    const program = join(example.directory, 'dist/cli.js');
    relay = spawn(process.execPath, [program, 'relay', '--config', config], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, HOME: temporaryFolder() },
    });
    said = '';
    relay.stdout?.on('data', (bytes: Buffer) => {
      said += bytes;
    });
    const port = () => Number(/port (\d+)\./.exec(said)?.[1]);
    await expect.poll(port, { timeout: 120_000 }).toBeGreaterThan(0);
    return port();
  }

  /** A revision whose diff adds rules. */
  function revisionWith(rules: readonly string[]) {
    const author = phabricator.addUser('author');
    phabricator.addProject('network', [author]);
    const head = example.push(rules);
    const raw = execFileSync('git', ['-C', example.directory, 'diff', example.baseCommit, head], {
      encoding: 'utf8',
    });
    const diff = { raw, base: example.baseCommit };
    return phabricator.addRevision({ author, title: 'Guard the router', diff });
  }

  test('fails the build of a diff that costs packets, and comments on the revision', async () => {
    const port = await startRelay();
    const revision = revisionWith(noOps(800));
    const uri = buildUri(port);
    const plan = phabricator.addBuildPlan({ uri, credential, holdDrafts: 'never' });
    const target = await phabricator.startBuild(revision, plan);
    await expect.poll(() => target.messages.at(-1), { timeout: 120_000, message: said }).toBe('fail');
    // A machine that is too busy for a verdict passes no patch either.
    const ended = /has ended: (the patch is at fault|it was undecided)/;
    await expect.poll(() => said, { timeout: 120_000 }).toMatch(ended);
    const isFound = ended.exec(said)?.[1] === 'the patch is at fault';

    const result = isFound ? 'fail' : expect.stringMatching(/^(unsound|broken)$/);
    expect(target.units).toEqual([expect.objectContaining({ name: 'forwarding inet4', result })]);
    expect(commentsOn(phabricator, revision)).toEqual([
      expect.stringMatching(isFound ? /takes [\s\S]*\{F\d+, size=full/ : /may take|not measured/),
    ]);
    expect(phabricator.violations).toEqual([]);
    expect(await labLeftovers()).toEqual({ namespaces: [], processes: [] });
  });

  test('that is killed leaves the gate to its end, which the next relay reports', async () => {
    const port = await startRelay();
    phabricator.addWebhook({ uri: `http://127.0.0.1:${port}/webhook`, hmacKey: key });
    const revision = revisionWith(['# Packets that must not even be tracked are dropped here.']);
    const journal = () =>
      existsSync(gates) && readdirSync(gates).some((name) => existsSync(join(gates, name, 'journal.jsonl')));
    await expect.poll(journal, { timeout: 120_000, message: said }).toBe(true);
    relay.kill('SIGKILL');
    await once(relay, 'close');
    await startRelay();
    await expect.poll(() => said, { timeout: 120_000 }).toMatch(/D\d+:\d+ has ended: (it passed|it was undecided)/);

    const [gate = ''] = readdirSync(gates).filter((name) => existsSync(join(gates, name, 'report')));
    expect(commentsOn(phabricator, revision)).toEqual([
      expect.stringContaining(`https://ci.example.org/ppsgate/${gate}/report/index.html`),
    ]);
    expect(phabricator.violations).toEqual([]);
    expect(await labLeftovers()).toEqual({ namespaces: [], processes: [] });
  });
});

const key = 'k'.repeat(32);
const credential = { user: 'harbormaster', password: 'sesame' };

/** URI with the variables that Harbormaster fills in. */
const buildUri = (port: number): string =>
  `http://127.0.0.1:${port}/build?target=\${target.phid}&build=\${build.phid}&diff=\${buildable.diff}`;

const commentsOn = ({ state, bot }: FakePhabricator, revision: { phid: string }): string[] =>
  state.transactions.flatMap((one) =>
    one.objectPHID === revision.phid && one.authorPHID === bot.phid ? (one.comment?.raw ?? []) : [],
  );
