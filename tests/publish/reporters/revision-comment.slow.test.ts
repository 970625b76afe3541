// The comment on a revision: one for each gate despite failures, with its plot and without mentions.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Conduit, openConduit } from '../../../src/forge/phabricator/conduit.ts';
import { cancelledOutcome, outcomeOfResult } from '../../../src/publish/reporters/outcome.ts';
import {
  openRevisionComment,
  openRevisionReporter,
  postReply,
  type RevisionReporterOptions,
} from '../../../src/publish/reporters/revision-comment.ts';
import { mellanoxBroken } from '../../fakes/bisect-result.ts';
import type { Fault } from '../../fakes/phabricator/faults.ts';
import { type FakePhabricator, startPhabricator } from '../../fakes/phabricator/server.ts';
import { existing, type Revision } from '../../fakes/phabricator/state.ts';
import { aResult } from '../../fakes/result.ts';
import { times } from '../../random.ts';

const raw = 'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n';
const details = 'https://bench.example.org/D1';
const failed = outcomeOfResult(aResult(), {});
const estimate = { place: 2, of: 3 };

let phabricator: FakePhabricator;
let shown: Revision;
let said: string[];

beforeEach(async () => {
  phabricator = await startPhabricator();
  const author = phabricator.addUser('author');
  shown = phabricator.addRevision({ author, title: 'ipfw: find states faster', diff: { raw } });
  said = [];
});

afterEach(async () => {
  await phabricator.stop();
  expect(phabricator.violations).toEqual([]);
});

type Settings = Partial<RevisionReporterOptions> & { rerun?: string; onPause?: () => void };

/** Pauses end at once, except the last resort. */
function settings({ onPause = () => {}, ...options }: Settings = {}) {
  const log = {
    info: (line: string) => said.push(line),
    warn: (line: string) => said.push(`warning: ${line}`),
  };
  const conduit = openConduit({
    ...phabricator,
    log: { info: () => {} },
    pause: async () => onPause(),
  });
  const pause = async (seconds: number, signal: AbortSignal) => {
    if (seconds === 30 || seconds === 300) await abortOf(signal);
    else onPause();
  };
  return {
    conduit,
    options: { run: '7', details, undecided: 'failure' as const, log, pause, ...options },
  };
}

const abortOf = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));

function open(asked: Settings = {}) {
  const { conduit, options } = settings(asked);
  return openRevisionComment(conduit, { number: shown.id, diff: 1 }, options);
}

const aConduit = (): Conduit => settings().conduit;

const comments = () =>
  phabricator.state.transactions
    .filter(({ authorPHID }) => authorPHID === phabricator.bot.phid)
    .flatMap(({ comment }) => comment?.raw ?? []);
const edits = () => phabricator.requests.filter(({ method }) => method === 'differential.revision.edit');

describe('a bisection', () => {
  const request = { good: 'v1', bad: 'v2', scenarios: 'forwarding', families: 'inet4' };
  const bisected = { kind: 'bisected', result: mellanoxBroken, request, links: {} } as const;

  test('comments once at its end, with its plot, and with the commands for its proposals', async () => {
    await open({ takesCommands: true }).conclude(bisected);
    const [comment = '', ...more] = comments();
    expect(more).toEqual([]);
    expect(comment).toMatch(/one of these .*\n\n`ppsgate D1:1 run 7`$/s);
    expect(comment).toContain('@ppsgate bisect v1 v2 forwarding inet4 fix-up=431980466ff0');
    expect(comment).toContain(`{F${phabricator.state.files[0]?.id}`);
  });
});

describe('a gate', () => {
  test('comments once at its end, with its plot, and posts nothing before', async () => {
    const answer = open();
    answer.queued('waits for approval');
    answer.waiting(estimate, 'waiting for hp-t540');
    answer.measuring('hp-t540', 'run 3');
    expect(phabricator.requests).toEqual([]);
    await answer.conclude(failed);
    expect(comments()).toEqual([expect.stringMatching(/ 10\.4 %.*\n\n`ppsgate D1:1 run 7`$/s)]);
    expect(comments()[0]).toContain(details);
    const [file] = phabricator.state.files;
    expect(file).toMatchObject({ name: 'ppsgate-D1-1.png', viewPolicy: 'public' });
    expect(file?.bytes.subarray(1, 4).toString()).toBe('PNG');
    expect(comments()[0]).toContain(`{F${file?.id}`);
    expect(said).toEqual([]);
  });

  test('comments without its plot where that cannot be uploaded', async () => {
    phabricator.faults.order('file.upload', { kind: 'html' }, 1000);
    await open().conclude(failed);
    expect(comments()).toEqual([expect.stringContaining(' 10.4 %')]);
    expect(comments()[0]).not.toContain('{F');
    expect(said).toHaveLength(1);
  });

  test('uploads its plot once, however often the comment is tried', async () => {
    phabricator.faults.order('differential.revision.edit', { kind: 'reset' }, 3);
    await open().conclude(failed);
    expect(comments()).toHaveLength(1);
    expect(phabricator.state.files).toHaveLength(1);
  });

  test('that is cancelled posts nothing, because every follower would get mail', async () => {
    await open().conclude(cancelledOutcome);
    expect(comments()).toEqual([]);
  });

  test('is answered again where it runs again, and each diff for itself', async () => {
    await open().conclude(failed);
    await open({ run: '71' }).conclude(failed);
    const { conduit, options } = settings();
    await openRevisionComment(conduit, { number: 1, diff: 2 }, options).conclude(failed);
    expect(comments().map((comment) => comment.split('\n').at(-1))).toEqual([
      '`ppsgate D1:1 run 7`',
      '`ppsgate D1:1 run 71`',
      '`ppsgate D1:2 run 7`',
    ]);
  });

  test('posts its comment although another user wrote its marker or made us quote it', async () => {
    const author = existing(phabricator.state.users, shown.authorPHID);
    phabricator.comment(shown, author, 'Well.\n\n`ppsgate D1:1 run 7`');
    phabricator.comment(shown, phabricator.bot, 'They write `ppsgate D1:1 run 7` there.');
    await open().conclude(failed);
    expect(comments()).toHaveLength(2);
  });
});

describe('Phabricator', () => {
  const faults = fc.constantFrom<Fault>(
    { kind: 'rate-limit' },
    { kind: 'broken' },
    { kind: 'broken', carriedOut: true },
    { kind: 'html' },
    { kind: 'reset' },
    { kind: 'reset', carriedOut: true },
    { kind: 'read-only' },
  );

  test('fails by chance for as long as it likes: the comment is there at most once, or a warning is', async () => {
    const ofEachCall = fc.array(fc.option(faults, { freq: 8 }), { minLength: 60, maxLength: 60 });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(ofEachCall, async (ordered) => {
        run += 1;
        said = [];
        const before = phabricator.requests.length;
        phabricator.faults.clear();
        for (const [at, fault] of ordered.entries()) {
          const isThis = () => phabricator.requests.length - before === at;
          if (fault !== null) phabricator.faults.order(isThis, fault);
        }
        await open({ run: `${run}` }).conclude(failed);
        const found = comments().filter((comment) => comment.endsWith(`\`ppsgate D1:1 run ${run}\``)).length;
        expect(found).toBeLessThanOrEqual(1);
        if (found === 0) expect(said).toContainEqual(expect.stringMatching(/^warning: The comment/));
        else expect(said.filter((line) => !line.includes('without its plot')).length).toBeLessThan(2);
      }),
      { numRuns: times(10) },
    );
  });
});

describe('a reply', () => {
  test('is posted once for each key', async () => {
    const conduit = aConduit();
    for (const key of ['PHID-XACT-1', 'PHID-XACT-1', 'PHID-XACT-12']) {
      expect(await postReply(conduit, 1, 'No such scenario.', key)).toEqual({ kind: 'delivered' });
    }
    expect(comments()).toEqual([
      'No such scenario.\n\n`ppsgate D1 reply PHID-XACT-1`',
      'No such scenario.\n\n`ppsgate D1 reply PHID-XACT-12`',
    ]);
  });

  test('that may have been lost is tried again, after a search', async () => {
    phabricator.faults.order('differential.revision.edit', { kind: 'reset', carriedOut: true });
    expect(await postReply(aConduit(), 1, 'Help.', 'k')).toMatchObject({ kind: 'failed' });
    expect(await postReply(aConduit(), 1, 'Help.', 'k')).toEqual({ kind: 'delivered' });
    expect(edits()).toHaveLength(1);
  });

  test('to a revision that is not there is refused', async () => {
    expect(await postReply(aConduit(), 99, 'Help.', 'k')).toMatchObject({ kind: 'refused' });
  });
});

test('the outcome on a revision is a comment and the build that waits for it', async () => {
  const relay = createServer((_request, response) => response.end()).listen(0, '127.0.0.1');
  await once(relay, 'listening');
  const { port } = relay.address() as AddressInfo;
  const plan = phabricator.addBuildPlan({ uri: `http://127.0.0.1:${port}/`, holdDrafts: 'never' });
  const target = await phabricator.startBuild(shown, plan);
  relay.close();
  const { conduit, options } = settings({ build: target.buildPHID });
  const answer = openRevisionReporter(conduit, { number: 1, diff: 1 }, options);
  await answer.conclude(failed);
  expect(comments()).toHaveLength(1);
  expect(target).toMatchObject({ status: 'target/failed' });
  expect(said).toEqual([]);
});
