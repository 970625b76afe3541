import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { inboxIn, openInbox } from '../../../src/relay/inbox.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { type FakePhabricator, startPhabricator } from '../../fakes/phabricator/server.ts';
import { startIn } from '../../fakes/place.ts';
import { commit, git, newRepository } from '../../fakes/repository.ts';

const raw = `diff --git a/sys/net/if.c b/sys/net/if.c
new file mode 100644
--- /dev/null
+++ b/sys/net/if.c
@@ -0,0 +1 @@
+int if_fast;
`;

let phabricator: FakePhabricator;
let repository: string;
let folder: string;

beforeEach(async () => {
  phabricator = await startPhabricator();
  repository = newRepository();
  const base = commit(repository, { 'dut/sysctl.conf': '' });
  const author = phabricator.addUser('author');
  phabricator.addRevision({ author, title: 'if: faster', diff: { raw, base } });
  folder = temporaryFolder();
  writeFileSync(join(folder, 'token'), phabricator.token, { mode: 0o600 });
  const config = {
    testbeds: { here: { kind: 'embedded-linux' } },
    phabricator: {
      url: phabricator.url,
      tokenFile: 'token',
      people: ['author'],
      relay: { directory: 'relay', start: { repository } },
    },
  };
  writeFileSync(join(folder, 'ppsgate.yml'), JSON.stringify(config));
});

afterEach(async () => {
  await phabricator.stop();
  expect(phabricator.violations).toEqual([]);
});

const ppsgate = (...args: string[]) => startIn(folder)(...args).ended;

const comments = (): string[] => phabricator.state.transactions.flatMap(({ comment }) => comment?.raw ?? []);

const theQueue = () => openInbox(inboxIn(join(folder, 'relay')), () => new Date());

test('a gate with nothing to measure is reported, and again from its work directory', async () => {
  const gate = ['gate', '--answer', '--repository', repository];
  const first = await ppsgate(...gate, '--patch', 'D1', '--directory', 'work', '--run', 'first');
  expect(first.stdout).toContain('changes nothing that the testbed installs');
  expect(first.status, first.stderr).toBe(0);
  const again = await ppsgate(...gate, '--resume', 'work', '--run', 'again');
  expect(again.status, again.stderr).toBe(0);
  expect(comments()).toEqual([
    expect.stringMatching(/changes nothing that the testbed installs.*run first`$/s),
    expect.stringMatching(/changes nothing that the testbed installs.*run again`$/s),
  ]);
  using queue = theQueue();
  expect(queue.waitingAnswers(phabricator.url)).toEqual([]);
});

test.each([
  ['a poll', ['poll', '--once']],
  ['the next gate', ['gate', '--patch', 'D1', '--answer', '--run', 'next']],
])('%s gives the answers that wait, before its own', async (_, args) => {
  using queue = theQueue();
  const kept = { kind: 'reply', of: 1, to: 'PHID-XACT-DREV-1', text: '**ppsgate: not measured**' };
  const about = { key: 'reply D1', server: phabricator.url, revision: 1 };
  queue.keepAnswer({ ...about, text: JSON.stringify(kept) });
  const inRepository = args[0] === 'gate' ? ['--repository', repository] : [];
  const { status, stderr } = await ppsgate(...args, ...inRepository);
  expect(status, stderr).toBe(0);
  expect(comments()[0]).toBe('**ppsgate: not measured**\n\n`ppsgate D1 reply PHID-XACT-DREV-1`');
  expect(queue.waitingAnswers(phabricator.url)).toEqual([]);
});

test('the diffs of a revision are bisected as commits, and an obstacle is reported on the revision', async () => {
  const bisect = ['bisect', '--repository', repository, '--patch', 'D1'];
  const one = await ppsgate(...bisect, '--answer', '--run', 'first');
  expect(one.status).toBe(2);
  expect(one.stderr).toMatch(/D1 has no earlier diff than \d+ that applies/);
  expect(comments()).toEqual([expect.stringMatching(/not measured.*has no earlier diff.*run first`$/s)]);
  const base = git(repository, 'rev-parse', 'HEAD');
  const installed = (text: string) => raw.replaceAll('sys/net/if.c', 'dut/a.conf').replace('fast', text);
  const [revision] = phabricator.state.revisions;
  if (revision === undefined) throw new Error('There is D1.');
  for (const text of ['slow', 'slower']) {
    phabricator.updateRevision(revision, { raw: installed(text), base });
  }
  const several = await ppsgate(...bisect, '--dry-run', '--json');
  expect(several.status, several.stderr).toBe(0);
  const { range } = JSON.parse(several.stdout);
  // The first installs nothing, and so is the same as the base.
  expect(range.revisions).toMatchObject([
    { commit: base, alike: 1 },
    { subject: 'D1 diff 2' },
    { subject: 'D1 diff 3' },
  ]);
});
