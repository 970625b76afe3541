// Decisions on each event of Phabricator: a job, a reply, or nothing. The golden file has the whole of each decision.
import { expect, test } from 'vitest';
import { phabricatorSchema } from '../../src/config/phabricator.ts';
import type { Job } from '../../src/forge/patch/job-key.ts';
import { openConduit } from '../../src/forge/phabricator/conduit.ts';
import { UsageError } from '../../src/model/usage-error.ts';
import { type Decision, decide, type Occurrence } from '../../src/relay/decide.ts';
import type { JobRecord } from '../../src/relay/inbox.ts';
import { smallDiff } from '../fakes/phabricator/calling.ts';
import { startPhabricator } from '../fakes/phabricator/server.ts';

/** Diffs as Phabricator returns those that were made without prefixes. */
const edit = '@@ -1 +1 @@\n-x\n+y\n';
const moved = (path: string, to: string) => `diff --git a/${path} b/${to}\n--- a/${path}\n+++ b/${to}\n${edit}`;
const unprefixed = (path: string) => moved(path, path.replace(/^[^/]+\//, ''));
const created = (path: string) =>
  `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+y\n`;
const raws: Record<string, string> = {
  changed: unprefixed('sys/net/if.c'),
  both: unprefixed('sys/x.c') + created('net/a.c'),
  mnemonic: moved('i/sys/net/if.c', 'sys/net/if.c'),
  other: unprefixed('usr.bin/netstat/main.c'),
  'new other': created('netstat/new.c'),
  new: created('net/new.c'),
  malformed: 'not a diff',
};

type Story = {
  /** Author of D1 and its diff 1. Alice is on the list, Bob is a member of the project, Eve is a stranger. */
  author?: 'alice' | 'bob' | 'eve';
  /**
   * Acts on D1 in turn, separated by ` / `. The last event is decided; earlier jobs are queued. `bob+30: text` is a
   * comment 30 s after what was before it (by default 120 s, so that its author could read that).
   */
  acts: string;
  /** Changes of `phabricator` in ppsgate.yml. */
  config?: object;
};

async function follow({ author = 'alice', acts, config = {} }: Story) {
  await using phabricator = await startPhabricator();
  const { state, bot, url, token, send } = phabricator;
  const names = ['alice', 'bob', 'eve'] as const;
  const [alice, bob, eve] = [...names].map((name) => phabricator.addUser(name));
  if (!alice || !bob || !eve) throw new Error('A user is missing.');
  const users = { alice, bob, eve, perfbot: bot };
  phabricator.addProject('network', [bob]);
  const repositories = { DOC: phabricator.addRepository('DOC'), SRC: phabricator.addRepository('SRC') };
  const revision = phabricator.addRevision({ author: users[author], title: 'x', diff: { raw: smallDiff } });
  const newest = () => state.diffs.find(({ phid }) => phid === revision.diffPHID) ?? expect.fail();
  const jobs: JobRecord[] = [];
  const keys: string[] = [];
  const warnings: string[] = [];
  let pending: Occurrence | undefined;
  const deps = {
    conduit: openConduit({ url, token, send, log: { info() {} }, pause: async () => {} }),
    inbox: { jobsOf: () => jobs.toReversed() },
    config: phabricatorSchema.parse({ url, people: ['alice'], projects: ['network'], ...config }),
    me: bot.phid,
    check({ scenarios, maxRuns }: { scenarios?: string; maxRuns?: string }) {
      if (scenarios?.includes('forwading')) throw new UsageError('scenarios: no "forwading".');
      if (maxRuns === '0') throw new UsageError('maxRuns: expected 2 or more, found "0".');
    },
    warn: (sentence: string) => warnings.push(sentence),
  };
  const queue = (job: Job) => jobs.push({ job, queuedAt: new Date(), tries: 0, state: { kind: 'started', where: '' } });
  const settle = async () => {
    const decision = pending && (await decide(pending, deps));
    if (decision?.kind === 'run') queue(decision.job);
    pending = undefined;
  };
  const event = async (occurrence: Occurrence) => {
    await settle();
    pending = occurrence;
    keys.push(occurrence.key);
  };
  const aJob = { key: 'D1:1', revision: 1, diff: 1, overrides: {}, by: 'alice' };

  for (const act of acts.split(' / ')) {
    const [, name, seconds = 120, text] = /^(\w+)(?:\+(\d+))?: (.*)$/s.exec(act) ?? [];
    const [word = '', ...words] = act.split(' ');
    const rest = words.join(' ');
    if (name !== undefined && text !== undefined) {
      phabricator.letPass(Number(seconds));
      const by = users[name as keyof typeof users];
      const { id, phid: key, date } = phabricator.comment(revision, by, text);
      await event({ kind: 'comment', key, id, of: 1, by: by.phid, at: new Date(date * 1000), text });
    } else if (word === 'sent') {
      await event({ kind: 'diff', key: `PHID-XACT-DREV-${keys.length}`, of: 1, diff: Number(rest || newest().id) });
    } else if (word === 'build') {
      const diff = newest().id;
      await event({ kind: 'build', key: `PHID-HMBT-${keys.length}`, build: 'PHID-HMBD-a', of: 1, diff });
    } else if (word === 'diff') {
      for (let count = 0; count < Number(rest || 1); count += 1)
        phabricator.updateRevision(revision, { raw: smallDiff });
    } else if (word === 'old') {
      phabricator.updateRevision(revision, { raw: smallDiff, dateCreated: 1_700_000_000 });
    } else if (word === 'wait') phabricator.letPass(Number(rest));
    else if (word === 'raw') newest().raw = raws[rest] ?? expect.fail();
    else if (word === 'in') revision.repositoryPHID = repositories[rest as keyof typeof repositories].phid;
    else if (word === 'sender') newest().authorPHID = users[rest as keyof typeof users].phid;
    else if (word === 'abandoned' || word === 'published') revision.status = word;
    else if (word === 'lost') queue({ ...aJob, phids: { revision: 'PHID-DREV-lost', diff: 'PHID-DIFF-lost' } });
    else if (word === 'gone') queue({ ...aJob, key: 'gone', overrides: { scenarios: 'forwading' } });
    else if (word === 'ended' || word === 'dropped') {
      await settle();
      const state = word === 'ended' ? ({ kind: word, how: rest } as const) : ({ kind: word, why: rest } as const);
      Object.assign(jobs.at(-1) ?? expect.fail(), { state });
    } else if (word === 'refused') {
      const body = JSON.stringify({ result: null, error_code: 'ERR-CONDUIT-CORE', error_info: 'No.' });
      const fault = { kind: 'answer', status: 200, contentType: 'application/json', body } as const;
      phabricator.faults.order('differential.getrawdiff', fault);
    } else throw new Error(`There is no act "${act}".`);
  }
  const decision = await decide(pending ?? expect.fail(), deps);
  expect(phabricator.violations).toEqual([]);
  // Each ignored event is in the log, with its revision.
  if (decision.kind === 'nothing') expect(decision.why).toContain('D1');
  if (decision.kind === 'run') {
    const diff = state.diffs.find(({ id }) => id === decision.job.diff)?.phid;
    expect(decision.job.phids).toEqual({ revision: revision.phid, diff });
  }
  const methods = phabricator.requests.map(({ method }) => method);
  return { decision, text: textOf(decision, warnings, keys), methods };
}

/** The decision with keys of events by their place. */
function textOf(decision: Decision, warnings: readonly string[], keys: readonly string[]): string {
  const whole = JSON.stringify(decision, (name, value) => (name === 'phids' ? undefined : value));
  const named = keys.reduce((text, key, place) => text.replaceAll(key, `event ${place + 1}`), whole);
  return [named, ...warnings]
    .join('\n  ')
    .replaceAll(/PHID-(\w+)-[\w-]+/g, 'PHID-$1')
    .replaceAll(/127.0.0.1:\d+/g, 'host');
}

const src = { repositories: ['src'] };
const on = (...events: string[]) => ({ relay: { on: events } });
const below = (...paths: string[]) => ({ paths });
const run = 'alice: @ppsgate run';

const stories: readonly [fact: string, outcome: string, story: Story][] = [
  ['a diff of an approved author', 'run', { acts: 'sent' }],
  ['a diff after which a newer one came', 'nothing', { acts: 'diff / sent 1' }],
  ['the newer diff', 'run', { acts: 'diff / sent' }],
  ['a diff whose author is a stranger', 'nothing', { author: 'eve', acts: 'sent' }],
  ['a diff whose sender is a stranger', 'nothing', { acts: 'sender eve / sent' }],
  ['a diff of an abandoned revision', 'nothing', { acts: 'abandoned / sent' }],
  ['a diff of a published revision', 'nothing', { acts: 'published / sent' }],
  ['a diff of another repository', 'nothing', { acts: 'in DOC / sent', config: src }],
  ['a diff of no repository where some are named', 'nothing', { acts: 'sent', config: src }],
  ['a diff of our repository', 'run', { acts: 'in SRC / sent', config: src }],
  [
    'a diff with its author and repository in another case',
    'run',
    { acts: 'in SRC / sent', config: { people: ['aLICE'], projects: [], repositories: ['sRc'] } },
  ],
  ['a diff that changes nothing below the paths', 'nothing', { acts: 'sent', config: below('sys/net/', 'sys/dev/') }],
  ['a diff below one of the paths', 'run', { acts: 'sent', config: below('sys/net/', 'sys/netinet/') }],
  ['a malformed diff, which a gate reports', 'run', { acts: 'raw malformed / sent', config: below('sys/dev/') }],
  ['a diff that Phabricator does not show', 'run', { acts: 'refused / sent', config: below('sys/dev/') }],
  ['a diff without prefixes', 'run', { acts: 'raw changed / sent', config: below('sys/net/') }],
  ['a new file beside a changed one', 'run', { acts: 'raw both / sent', config: below('sys/net/') }],
  ['a diff with mnemonic prefixes', 'run', { acts: 'raw mnemonic / sent', config: below('sys/net/') }],
  ['a diff without prefixes elsewhere', 'nothing', { acts: 'raw other / sent', config: below('sys/net/') }],
  ['a new file elsewhere', 'nothing', { acts: 'raw new other / sent', config: below('sys/net/') }],
  ['a new file that is perhaps ours', 'refused', { acts: 'raw new / sent', config: below('sys/dev/', 'sys/net/') }],
  ['a diff that Harbormaster requested', 'nothing', { acts: 'build / sent' }],
  ['a newer diff than Harbormaster requested', 'run', { acts: 'build / diff / sent' }],
  ['a diff where diffs are not measured', 'nothing', { acts: 'sent', config: on('builds', 'comments') }],
  ['a diff with the number that a lost one had before a restore', 'run', { acts: 'lost / sent' }],
  [
    'a diff of a member of a project that is unknown',
    'nothing',
    { author: 'bob', acts: 'sent', config: { projects: ['netwrok'] } },
  ],

  ['a build of a diff of a member', 'run', { author: 'bob', acts: 'build' }],
  ['a build that is restarted while it is measured', 'nothing', { acts: 'build / build' }],
  ['a build that is restarted later', 'run', { acts: 'build / ended it passed / build' }],
  ['a build of a stranger', 'refuse-build', { author: 'eve', acts: 'build' }],
  ['a build of a closed revision', 'refuse-build', { acts: 'abandoned / build' }],
  ['a build of another repository', 'refuse-build', { acts: 'build', config: src }],
  ['a build where builds are not measured', 'refuse-build', { acts: 'build', config: on('diffs') }],

  ['praise', 'nothing', { acts: 'alice: Looks good.' }],
  ['the call of GitHub', 'nothing', { acts: 'alice: /ppsgate run' }],
  ['a command of the bot itself', 'nothing', { acts: 'perfbot: @ppsgate run', config: { people: ['perfbot'] } }],
  ['a command where comments are none', 'nothing', { acts: run, config: on('diffs') }],
  ['a call alone', 'help', { acts: 'eve: @ppsgate' }],
  ['a call for help', 'help', { acts: 'eve: @ppsgate help' }],
  ['an unknown command', 'mistaken', { acts: 'alice: @ppsgate rnu' }],
  ['an invalid list', 'mistaken', { acts: 'alice: @ppsgate run earlier=some' }],
  ['an unknown scenario', 'mistaken', { acts: 'alice: @ppsgate run forwading' }],
  ['an unknown diff', 'mistaken', { acts: 'alice: @ppsgate run 9999' }],
  ['a command on a closed revision', 'refused', { acts: `published / ${run}` }],
  ['a command on a revision of another repository', 'refused', { acts: run, config: src }],

  [
    'a request of a member',
    'run',
    { author: 'eve', acts: 'bob: @ppsgate run forwarding inet6 margin=1% runs=20 earlier=all' },
  ],
  // Diffs are pinned by id when the command is read; those of unapproved senders must be named.
  ['all earlier diffs of a stranger', 'refused', { author: 'eve', acts: 'diff 2 / bob: @ppsgate run earlier=all' }],
  ['named diffs of a stranger', 'run', { author: 'eve', acts: 'diff 2 / bob+1: @ppsgate run 3 earlier=1,2' }],
  ['a later diff as an earlier one', 'mistaken', { author: 'eve', acts: 'diff 2 / bob: @ppsgate run 2 earlier=3' }],
  ['all earlier diffs of an approved person', 'run', { acts: 'diff / bob: @ppsgate run earlier=all' }],
  [
    'a rerun with the diffs of the first',
    'run',
    { acts: 'diff / bob: @ppsgate run earlier=all / diff / bob: @ppsgate rerun' },
  ],
  ['a rerun of one of them', 'run', { acts: 'diff / bob: @ppsgate run earlier=all / bob: @ppsgate rerun 1' }],
  ['too many earlier diffs', 'mistaken', { acts: 'diff 31 / bob: @ppsgate run earlier=all' }],
  ['the newest diff at the time of writing', 'run', { author: 'eve', acts: 'bob: @ppsgate run / diff' }],
  ['a diff that was guessed, and came later', 'mistaken', { author: 'eve', acts: 'bob: @ppsgate run 2 / diff' }],
  ['a hasty request', 'refused', { author: 'eve', acts: 'wait 3600 / diff / bob+59: @ppsgate run' }],
  ['a request a minute after the diff', 'run', { author: 'eve', acts: 'wait 3600 / diff / bob+60: @ppsgate run' }],
  ['a hasty request for an old diff', 'refused', { author: 'eve', acts: 'wait 3600 / old / bob+30: @ppsgate run' }],

  ['run of a stranger', 'refused', { acts: 'eve: @ppsgate run' }],
  ['bisect of a stranger', 'refused', { acts: 'diff / eve: @ppsgate bisect 2' }],
  ['cancel of a stranger', 'not-cancelled', { acts: 'eve: @ppsgate cancel' }],
  ['a request of a stranger after a gate', 'refused', { acts: `${run} / ended it passed / eve: @ppsgate run` }],

  [
    'a rerun with the last overrides',
    'run',
    { acts: `${run} margin=5% / bob: @ppsgate run inet6 earlier=none / diff / alice: @ppsgate rerun` },
  ],
  ['a rerun of what is not in ppsgate.yml anymore', 'mistaken', { acts: 'gone / alice: @ppsgate rerun' }],
  ['an extension', 'run', { acts: `${run} margin=1% / ended unknown / alice: @ppsgate extend runs=40` }],
  [
    'an extension of an extension',
    'run',
    { acts: `${run} / ended unknown / alice: @ppsgate extend / ended unknown / alice: @ppsgate extend` },
  ],
  ['an extension of nothing', 'mistaken', { acts: 'alice: @ppsgate extend' }],
  ['an extension of what is being measured', 'mistaken', { acts: 'sent / alice: @ppsgate extend' }],
  ['an extension of what was cancelled', 'mistaken', { acts: 'sent / dropped cancelled / alice: @ppsgate extend' }],
  ['an extension of an earlier diff', 'mistaken', { acts: `${run} / ended unknown / diff / alice: @ppsgate extend` }],
  ['an invalid extension', 'mistaken', { acts: `${run} / ended unknown / alice: @ppsgate extend runs=0` }],

  ['a bisection of diffs of a stranger', 'refused', { author: 'eve', acts: 'diff / bob: @ppsgate bisect forwarding' }],
  ['a bisection of named diffs', 'run', { author: 'eve', acts: 'diff / bob: @ppsgate bisect 2 forwarding earlier=1' }],
  [
    'a bisection up to an earlier diff',
    'run',
    { author: 'eve', acts: 'diff 2 / alice+1: @ppsgate bisect 2 earlier=1' },
  ],
  ['a bisection of one diff', 'mistaken', { acts: 'alice: @ppsgate bisect' }],
  [
    'a bisection of named commits',
    'run',
    { author: 'eve', acts: 'bob+1: @ppsgate bisect v1 v2 inet6 fix-up=1a2b3c4 max-boots=30' },
  ],
  [
    'a rerun after a bisection',
    'run',
    { acts: `${run} margin=1% / diff / alice: @ppsgate bisect / ended it passed / alice: @ppsgate rerun` },
  ],
  [
    'an extension of a bisection',
    'mistaken',
    { acts: 'diff / alice: @ppsgate bisect / ended it passed / alice: @ppsgate extend' },
  ],

  ['a cancellation however soon after a diff', 'cancel', { author: 'eve', acts: 'bob+0: @ppsgate cancel' }],
  ['a cancellation on a closed revision', 'cancel', { acts: 'abandoned / alice: @ppsgate cancel' }],
];

test('decides on each event, with the job or the reason', async () => {
  const texts: string[] = [];
  for (const [fact, outcome, story] of stories) {
    const { decision, text } = await follow(story);
    expect(decision.kind === 'reply' ? decision.topic : decision.kind, fact).toBe(outcome);
    texts.push(`${fact}\n  ${text}`);
  }
  await expect(`${texts.join('\n')}\n`).toMatchFileSnapshot('golden/decisions.txt');
});

test('the diff of a stranger is not even fetched', async () => {
  const { methods } = await follow({ author: 'eve', acts: 'sent', config: below('sys/dev/') });
  expect(methods).not.toContain('differential.getrawdiff');
});
