// Tests a Harbormaster build that waits for a gate: the messages sent to it, their times, and its final state.

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openConduit } from '../../../src/forge/phabricator/conduit.ts';
import type { CellVerdict, Outcome } from '../../../src/model/result.ts';
import { type BuildOptions, draftWarning, openBuild } from '../../../src/publish/reporters/build.ts';
import {
  cancelledOutcome,
  outcomeOfFailure,
  outcomeOfResult,
  type ReportedOutcome,
} from '../../../src/publish/reporters/outcome.ts';
import { finish } from '../../fakes/phabricator/builds.ts';
import type { Fault } from '../../fakes/phabricator/faults.ts';
import { type FakePhabricator, startPhabricator } from '../../fakes/phabricator/server.ts';
import { type BuildPlan, existing, type Target } from '../../fakes/phabricator/state.ts';
import { aCell, aResult, unchanged } from '../../fakes/result.ts';
import { times } from '../../random.ts';

const raw = [
  'diff --git a/sys/netinet/ip_fw.c b/sys/netinet/ip_fw.c',
  '--- a/sys/netinet/ip_fw.c',
  '+++ b/sys/netinet/ip_fw.c',
  '@@ -1,2 +1,3 @@',
  ' int x;',
  '+int y;',
  ' int z;',
  '',
].join('\n');
const details = 'https://bench.example.org/D1';
const estimate = { place: 2, of: 3 };

let phabricator: FakePhabricator;
/** Receives Harbormaster's requests, like a relay. */
let relay: Server;
let said: string[];

beforeEach(async () => {
  phabricator = await startPhabricator();
  relay = createServer((_request, response) => response.end());
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  said = [];
});

afterEach(async () => {
  await phabricator.stop();
  relay.close();
  await once(relay, 'close');
  expect(phabricator.violations).toEqual([]);
});

type Settings = {
  holdDrafts?: BuildPlan['holdDrafts'];
  status?: 'draft';
  holdAsDraft?: boolean;
};

/** A revision with a build that has just requested a gate. */
async function aBuild({ holdDrafts = 'never', ...settings }: Settings = {}) {
  const author = phabricator.addUser('author');
  const title = 'ipfw: find states faster';
  const shown = phabricator.addRevision({ author, title, diff: { raw }, ...settings });
  const { port } = relay.address() as AddressInfo;
  const uri = `http://127.0.0.1:${port}/build`;
  const plan = phabricator.addBuildPlan({ uri, name: 'packets per second', holdDrafts });
  const target = await phabricator.startBuild(shown, plan);
  const revision = { number: shown.id, diff: 1 };
  const build = existing(phabricator.state.builds, target.buildPHID);
  return { author, shown, plan, target, build, revision };
}

/** An answer whose pauses end at once, except the last resort. */
function open(
  { build, revision }: Pick<Awaited<ReturnType<typeof aBuild>>, 'build' | 'revision'>,
  { onPause = () => {}, ...options }: Partial<BuildOptions> & { onPause?: (seconds: number) => unknown } = {},
) {
  const log = {
    info: (line: string) => said.push(line),
    warn: (line: string) => said.push(`warning: ${line}`),
  };
  const pause = async (seconds: number) => {
    await onPause(seconds);
  };
  const conduit = openConduit({ ...phabricator, log: { info: () => {} }, pause });
  const answer = openBuild(conduit, build.phid, revision, {
    run: '7',
    details,
    undecided: 'failure',
    log,
    pause: (seconds, signal) => (isLastResort(seconds) ? abortOf(signal) : pause(seconds)),
    ...options,
  });
  return { answer, conduit };
}

const isLastResort = (seconds: number) => [3, 30, 300].includes(seconds);

const abortOf = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));

const judged = (...verdicts: CellVerdict[]): ReportedOutcome =>
  ofOutcome({
    kind: 'judged',
    verdict: verdicts[0]?.kind ?? 'invalid',
    cells: verdicts.map((verdict) => aCell(verdict)),
  });

const ofOutcome = (outcome: Outcome): ReportedOutcome => outcomeOfResult(aResult({ outcome }), {});

const passed = judged({ kind: 'no-regression' });
const failed = judged({ kind: 'regression' });

const unitsOf = ({ units }: Target) => units.map(({ name, result }) => `${name}: ${result}`);
const messages = () =>
  phabricator.requests.filter(({ method }) => method === 'harbormaster.sendmessage').map(({ params }) => params.type);
const newestTarget = () => phabricator.state.targets.at(-1);

/** Simulates a user on the build's web page. */
async function send(type: 'restart' | 'abort', { build }: Awaited<ReturnType<typeof aBuild>>) {
  const token = phabricator.tokenOf(phabricator.addUser('maintainer'));
  const params = JSON.stringify({ receiver: build.phid, type, __conduit__: { token } });
  const body = new URLSearchParams({ params });
  await fetch(`${phabricator.url}/api/harbormaster.sendmessage`, { method: 'POST', body });
  await phabricator.settled();
}

const queued = async (answer: ReturnType<typeof open>['answer']) => {
  answer.queued('waits for approval');
  await expect.poll(messages).toEqual(['work']);
};

describe('a build', () => {
  test('starts work with the first update of the gate, once, and passes with its cells and its link', async () => {
    const scene = await aBuild();
    const { answer } = open(scene);
    await queued(answer);
    answer.waiting(estimate, 'waiting for hp-t540');
    answer.measuring('hp-t540', 'run 3');
    await answer.conclude(passed);
    answer.measuring('hp-t540');
    await answer.conclude(failed);

    expect(scene.target.messages).toEqual(['work', 'pass']);
    expect(scene.build.status).toBe('passed');
    const unit = { engine: 'ppsgate', name: 'forwarding inet4', result: 'pass', duration: 2, format: 'text' };
    expect(scene.target.units).toMatchObject([unit]);
    const data = { uri: details, name: 'ppsgate', 'ui.external': true };
    const { phid: targetPHID } = scene.target;
    expect(phabricator.state.artifacts).toMatchObject([{ targetPHID, type: 'uri', key: 'ppsgate-7', data }]);
    expect(said).toEqual([]);
  });

  test('is left open for another job, which keeps its link', async () => {
    const scene = await aBuild();
    const first = open(scene).answer;
    await queued(first);
    await first.leaveOpen();
    expect(scene.build.status).toBe('building');
    await open(scene).answer.conclude(passed);
    expect(phabricator.state.artifacts).toHaveLength(1);
    expect(scene.build.status).toBe('passed');
    expect(said).toEqual([]);
  });

  test('ends without a link if that is refused, with one warning', async () => {
    const scene = await aBuild();
    const { answer } = open(scene, { details: 'ftp://bench.example.org/D1' });
    await queued(answer);
    await answer.conclude(passed);
    expect(scene.build.status).toBe('passed');
    expect(said).toEqual([expect.stringContaining('ftp:')]);
  });
});

test.each<[string, ReportedOutcome, string, string, string[]]>([
  ['a gain', judged({ kind: 'improvement' }), 'passed', 'passed', ['forwarding inet4: pass']],
  ['a loss', failed, 'failed', 'failed', ['forwarding inet4: fail']],
  ['too few runs to tell', judged({ kind: 'inconclusive' }), 'failed', 'passed', ['forwarding inet4: unsound']],
  [
    'an invalid cell',
    judged({ kind: 'invalid', reason: 'the generator is the limit' }),
    'failed',
    'passed',
    ['forwarding inet4: broken'],
  ],
  ['a broken lab', outcomeOfFailure('infrastructure', 'No power.'), 'failed', 'failed', ['gate: broken']],
  ['a diff that does not apply', outcomeOfFailure('patchAtFault', 'no such file'), 'failed', 'failed', ['gate: fail']],
  ['being cancelled', cancelledOutcome, 'failed', 'failed', ['gate: skip']],
  ['no change of what is installed', outcomeOfResult(unchanged, {}), 'passed', 'passed', ['unchanged: skip']],
])(
  '%s ends the build, where undecided is a failure or neutral, with units',
  async (_, ending, usual, neutral, units) => {
    for (const [undecided, status] of [
      ['failure', usual],
      ['neutral', neutral],
    ] as const) {
      const scene = await aBuild();
      await open(scene, { undecided }).answer.conclude(ending);
      expect(scene.build.status).toBe(status);
      expect(unitsOf(scene.target)).toEqual(units);
    }
    expect(said).toEqual([]);
  },
);

test('a gate without a valid cell is one unit, with the reasons in the three visible lines', async () => {
  const scene = await aBuild();
  const reason = '0 of 8 pairs of runs count: the machine was too busy';
  const invalid: CellVerdict = { kind: 'invalid', reason };
  await open(scene).answer.conclude(judged(...new Array<CellVerdict>(7).fill(invalid)));
  expect(unitsOf(scene.target)).toEqual(['gate: broken']);
  const shown = scene.target.units[0]?.details?.split('\n').slice(1, 3);
  expect(shown).toEqual(Array(2).fill(expect.stringContaining(reason)));
});

test('words of others are plain text without controls, shortened, and never half a character', async () => {
  const scene = await aBuild();
  const message = `@author **bold** \u001b[31mred\u202e\nsecond line ${'𝕏'.repeat(2000)}`;
  await open(scene).answer.conclude(ofOutcome({ kind: 'build-failed', message }));
  const [unit] = scene.target.units;
  expect(unit?.format).toBe('text');
  expect(unit?.details).toMatch(/^@author \*\*bold\*\* red\nsecond line 𝕏/u);
  expect(unit?.details?.length).toBeLessThan(2100);
  expect(unit?.details?.isWellFormed()).toBe(true);
  expect(unit?.details).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
});

describe('a user', () => {
  test('restarts the build while it is measured: the newest target is answered', async () => {
    const scene = await aBuild();
    const { answer } = open(scene);
    answer.queued('waits for approval');
    await expect.poll(() => scene.target.messages).toEqual(['work']);
    await send('restart', scene);
    await answer.conclude(passed);
    expect(newestTarget()).toMatchObject({ generation: 2, messages: ['pass'] });
    expect(scene.target).toMatchObject({ status: 'target/waiting', messages: ['work'] });
    expect(scene.build.status).toBe('passed');
    expect(said).toEqual([]);
  });

  test('restarts it just as the end is on its way: the newest target gets the end as well', async () => {
    const scene = await aBuild();
    // Harbormaster has begun the restart, and ignores messages to the old target.
    scene.build.generation = 2;
    const { answer } = open(scene, {
      async onPause(seconds) {
        if (seconds === 4) await send('restart', scene);
      },
    });
    await answer.conclude(passed);
    expect(messages()).toEqual(['pass', 'restart', 'pass']);
    expect(newestTarget()).toMatchObject({ generation: 3, messages: ['pass'] });
    expect(scene.build.status).toBe('passed');
    expect(said).toEqual([]);
  });

  test('aborts it: it gets nothing more, with one warning', async () => {
    const scene = await aBuild();
    const { answer } = open(scene);
    await queued(answer);
    await send('abort', scene);
    answer.measuring('hp-t540');
    answer.measuring('hp-t540', 'run 2');
    await expect.poll(() => said).toHaveLength(1);
    await answer.conclude(passed);
    expect(messages()).toEqual(['work', 'abort']);
    expect(scene.build.status).toBe('aborted');
  });

  test('has passed it meanwhile: the end of the gate does not change it', async () => {
    const scene = await aBuild();
    finish(phabricator.state, scene.target, 'passed');
    await open(scene).answer.conclude(failed);
    expect(messages()).toEqual([]);
    expect(said).toHaveLength(1);
  });

  test('sends another diff: the cancelled build of the old one names that of the new one', async () => {
    const scene = await aBuild();
    const { answer } = open(scene);
    await queued(answer);
    phabricator.updateRevision(scene.shown, { raw: raw.replace('int y', 'long y') });
    const other = phabricator.addBuildPlan({ uri: 'http://127.0.0.1:1/', name: 'another' });
    await phabricator.startBuild(scene.shown, other);
    const newer = await phabricator.startBuild(scene.shown, scene.plan);
    await answer.conclude(cancelledOutcome);
    expect(scene.build.status).toBe('failed');
    expect(unitsOf(scene.target)).toEqual(['gate: skip']);
    expect(scene.target.units[0]?.details).toContain(`${phabricator.state.baseUri}/B2`);
    expect(newer).toMatchObject({ status: 'target/waiting', messages: [] });
  });
});

describe('a draft', () => {
  test.each(['always', 'building'] as const)(
    'that its build keeps from review (%s) is let go at once, and never returns to its author',
    async (holdDrafts) => {
      const scene = await aBuild({ status: 'draft', holdDrafts });
      const { answer } = open(scene);
      answer.queued('waits for approval');
      await expect.poll(() => scene.build.status).toBe('passed');
      expect(scene.shown.status).toBe('needs-review');
      answer.measuring('hp-t540');
      await answer.conclude(failed);
      expect(scene.shown.status).toBe('needs-review');
      expect(messages()).toEqual(['pass']);
      expect(unitsOf(scene.target)).toEqual(['result comes as a comment: skip']);
      expect(said).toEqual([expect.stringContaining('"Hold Drafts"')]);
    },
  );

  test('is let go at the end at the latest, with the true results of the cells', async () => {
    const scene = await aBuild({ status: 'draft', holdDrafts: 'always' });
    await open(scene).answer.conclude(failed);
    expect(scene.shown.status).toBe('needs-review');
    expect(unitsOf(scene.target)).toEqual(['passed for the draft: skip', 'forwarding inet4: fail']);
  });

  test('whose author holds it waits for no build, and its build has the result', async () => {
    const scene = await aBuild({ status: 'draft', holdAsDraft: true, holdDrafts: 'always' });
    const { answer } = open(scene);
    await queued(answer);
    await answer.conclude(failed);
    expect(scene.build.status).toBe('failed');
    expect(scene.shown).toMatchObject({ status: 'draft', holdAsDraft: true });
    expect(said).toEqual([]);
  });

  test('is warned of in a sentence, and what is in review is not', async () => {
    const scene = await aBuild({ status: 'draft', holdDrafts: 'always' });
    const { conduit } = open(scene);
    const { build, revision } = scene;
    expect(await draftWarning(conduit, build.phid, revision)).toContain('"Hold Drafts"');
    scene.shown.status = 'needs-review';
    expect(await draftWarning(conduit, build.phid, revision)).toBeUndefined();
  });
});

describe('Harbormaster', () => {
  test.each([
    ['', undefined],
    [', though its answer is lost', { kind: 'reset', carriedOut: true } as const],
  ])('obeys some seconds later%s: the end is sent once, after that', async (_, fault) => {
    const scene = await aBuild();
    if (fault !== undefined) phabricator.faults.order('harbormaster.sendmessage', fault);
    scene.build.generation = 2;
    const { answer } = open(scene, {
      onPause(seconds) {
        if (seconds !== 4) return;
        scene.build.generation = 1;
        finish(phabricator.state, scene.target, 'passed');
      },
    });
    await answer.conclude(passed);
    expect(messages()).toEqual(['pass']);
    expect(scene.build.status).toBe('passed');
    expect(said).toEqual([]);
  });

  test('never obeys: that is one warning, and the end is still sent once', async () => {
    const scene = await aBuild();
    scene.build.generation = 2;
    await open(scene).answer.conclude(passed);
    expect(messages()).toEqual(['pass']);
    expect(said).toEqual([expect.stringContaining('none of its targets accepted it')]);
  });

  test('has no target that waits yet, for it restarts the build: it is waited for', async () => {
    const scene = await aBuild();
    scene.target.status = 'target/building';
    const { answer } = open(scene, {
      onPause() {
        scene.target.status = 'target/waiting';
      },
    });
    await answer.conclude(passed);
    expect(scene.target.messages).toEqual(['pass']);
  });

  test('does not show the build to the bot: one line, and nothing is sent', async () => {
    const scene = await aBuild();
    scene.shown.viewPolicy = scene.author.phid;
    const { answer } = open(scene);
    answer.queued('waits for approval');
    await expect.poll(() => said).toHaveLength(1);
    await answer.conclude(passed);
    expect(messages()).toEqual([]);
  });

  test('fails at random: the build shows its end and its units once despite lost messages', async () => {
    const scene = await aBuild();
    const faults = fc.constantFrom<Fault>(
      { kind: 'rate-limit' },
      { kind: 'broken' },
      { kind: 'broken', carriedOut: true },
      { kind: 'reset' },
      { kind: 'reset', carriedOut: true },
      { kind: 'read-only' },
    );
    const ofEachCall = fc.array(fc.option(faults, { freq: 3 }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(ofEachCall, fc.boolean(), async (ordered, isShownBefore) => {
        const target = await phabricator.startBuild(scene.shown, scene.plan);
        const build = existing(phabricator.state.builds, target.buildPHID);
        const { answer } = open({ ...scene, build });
        const before = phabricator.requests.length;
        phabricator.faults.clear();
        for (const [at, fault] of ordered.entries()) {
          const isThis = () => phabricator.requests.length - before === at;
          if (fault !== null) phabricator.faults.order(isThis, fault);
        }
        if (isShownBefore) answer.measuring('hp-t540');
        await answer.conclude(passed);
        expect(build.status).toBe('passed');
        expect(unitsOf(target)).toEqual(['forwarding inet4: pass']);
      }),
      { numRuns: times(10) },
    );
  });
});
