// A relay as a whole: Phabricator's request starts `ppsgate gate`, which forwards packets, and the result reaches Phabricator.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parseDocument } from 'yaml';
import { labDown, labLeftovers } from '../../src/lab/netns/embedded-lab.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { startPhabricator } from '../fakes/phabricator/server.ts';
import { git } from '../fakes/repository.ts';
import { describeWith, labPrograms } from '../needs.ts';
import { makeExample, noOps } from './example.ts';

const credential = { user: 'harbormaster', password: 'sesame' };
const waiting = { timeout: 120_000 };

describeWith(['root', 'git', ...labPrograms], 'a relay with gates on this machine', () => {
  test('fails the build of a diff that costs packets, though it is killed meanwhile, and comments on the revision', async () => {
    const folder = temporaryFolder();
    const example = makeExample(join(folder, 'router'));
    const { directory, baseCommit } = example;
    onTestFinished(labDown);
    const phabricator = await startPhabricator();
    onTestFinished(() => phabricator[Symbol.asyncDispose]());
    const gates = join(folder, 'relay');
    const author = phabricator.addUser('author');
    phabricator.addProject('network', [author]);
    const raw = `${git(directory, 'diff', baseCommit, example.push(noOps(800)))}\n`;
    const diff = { raw, base: baseCommit };
    const revision = phabricator.addRevision({ author, title: 'Guard the router', diff });
    const config = configure();

    const first = startRelay();
    const uri = buildUri(await first.port());
    const plan = phabricator.addBuildPlan({ uri, credential, holdDrafts: 'never' });
    const target = await phabricator.startBuild(revision, plan);
    const isMeasuring = () =>
      existsSync(gates) && readdirSync(gates).some((name) => existsSync(join(gates, name, 'journal.jsonl')));
    await expect.poll(isMeasuring, { ...waiting, message: first.log() }).toBe(true);
    first.relay.kill('SIGKILL');
    await once(first.relay, 'close');
    const second = startRelay();
    await expect.poll(() => target.messages.at(-1), { ...waiting, message: second.log() }).toBe('fail');
    // A machine that is too busy for a verdict passes no patch either.
    const ended = /has ended: (the patch is at fault|it was undecided)/;
    await expect.poll(second.log, waiting).toMatch(ended);
    const isFound = ended.exec(second.log())?.[1] === 'the patch is at fault';

    const result = isFound ? 'fail' : expect.stringMatching(/^(unsound|broken)$/);
    expect(target.units).toEqual([expect.objectContaining({ name: 'forwarding inet4', result })]);
    const [gate = ''] = readdirSync(gates).filter((name) => existsSync(join(gates, name, 'report')));
    const comments = phabricator.state.transactions.flatMap(({ objectPHID, authorPHID, comment }) =>
      objectPHID === revision.phid && authorPHID === phabricator.bot.phid ? (comment?.raw ?? []) : [],
    );
    expect(comments).toEqual([
      expect.stringMatching(isFound ? /takes [\s\S]*\{F\d+, size=full/ : /may take|not measured/),
    ]);
    expect(comments[0]).toContain(`https://ci.example.org/ppsgate/${gate}/report/index.html`);
    expect(phabricator.violations).toEqual([]);
    expect(await labLeftovers()).toEqual({ namespaces: [], processes: [] });

    function configure(): string {
      const path = join(directory, 'docs/example/ppsgate.yml');
      const secret = (name: string, text: string): string => {
        writeFileSync(join(folder, name), `${text}\n`, { mode: 0o600 });
        return join(folder, name);
      };
      const document = parseDocument(readFileSync(path, 'utf8'));
      document.set('phabricator', {
        url: phabricator.url,
        tokenFile: secret('token', phabricator.token),
        projects: ['network'],
        relay: {
          directory: gates,
          port: 0,
          webhookKeyFile: secret('key', 'k'.repeat(32)),
          buildPasswordFile: secret('password', `${credential.user}:${credential.password}`),
          start: { repository: directory, site: 'https://ci.example.org/ppsgate' },
        },
      });
      writeFileSync(path, document.toString());
      return path;
    }

    function startRelay() {
      let said = '';
      const relay: ChildProcess = spawn(
        process.execPath,
        [join(directory, 'dist/cli.js'), 'relay', '--config', config],
        {
          stdio: ['ignore', 'pipe', 'inherit'],
          env: { ...process.env, HOME: temporaryFolder() },
        },
      );
      relay.stdout?.on('data', (bytes: Buffer) => {
        said += bytes;
      });
      onTestFinished(async () => {
        relay.kill('SIGTERM');
        if (relay.exitCode === null && relay.signalCode === null) await once(relay, 'close');
      });
      const log = () => said;
      const port = async () => {
        await expect.poll(log, waiting).toMatch(/port \d+\./);
        return Number(/port (\d+)\./.exec(said)?.[1]);
      };
      return { relay, log, port };
    }
  });
});

/** URI with the variables that Harbormaster fills in. */
const buildUri = (port: number): string =>
  `http://127.0.0.1:${port}/build?target=\${target.phid}&build=\${build.phid}&diff=\${buildable.diff}`;
