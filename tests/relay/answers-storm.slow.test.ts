// Two hundred gates that end while Phabricator is well, ill or away, beside a relay, and all of them killed again and again.
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inboxIn, openInbox } from '../../src/relay/inbox.ts';
import type { AnsweringGatesPlan } from '../fakes/answering-gates.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import type { Fault } from '../fakes/phabricator/faults.ts';
import { type FakePhabricator, startPhabricator } from '../fakes/phabricator/server.ts';
import { startProgram } from '../fakes/program.ts';

const revisions = 20;
const gatesOfEach = 10;
/** Each has the gates of some revisions, one after another. */
const machines = 4;
/** Upper bound on the kills of a machine, or of the relay. */
const maxDeaths = 6;

test('each gate has one answer in the end, in the order in which those of its revision ended', async () => {
  await using phabricator = await startPhabricator();
  const directory = temporaryFolder();
  const gates = await gatesThatWait(phabricator);
  const random = fc.sample(fc.double({ min: 0, max: 1, noNaN: true }), { seed: 19, numRuns: 5000 });
  let at = 0;
  const chance = () => random[at++ % random.length] ?? 0;

  const { url, token } = phabricator;
  const shared = { url, token, directory, haste: 1000 };
  const run = (plan: AnsweringGatesPlan) => startProgram('answering-gates', plan);
  let isOver = false;
  let deaths = 0;
  /** Dies in the middle of its work, again and again, and then lives to its end. */
  const live = async (plan: AnsweringGatesPlan) => {
    for (let lives = 0; lives < maxDeaths && !isOver; lives++) {
      const program = run({ ...plan, diesAfter: Math.ceil(chance() * 80) });
      const { signal, stderr } = await program.ended;
      expect(stderr).toBe('');
      if (signal === null) return;
      deaths += 1;
    }
    const { code, stderr } = await run(plan).ended;
    expect([code, stderr]).toEqual([0, '']);
  };
  const weather = async () => {
    while (!isOver) {
      await become(phabricator, chance);
      await sleep(100 + chance() * 400);
    }
    await become(phabricator, () => 0);
  };

  const sky = weather();
  const lives = Array.from({ length: machines }, (_, machine) =>
    live({ ...shared, gates: gates.filter(({ revision }) => revision % machines === machine) }),
  );
  const relay = live({ ...shared, gates: [] });
  await Promise.all(lives);
  isOver = true;
  await sky;
  using inbox = openInbox(inboxIn(directory), () => new Date());
  // Waits as long as the test may last: by then the relay has every answer.
  await expect.poll(() => inbox.waitingAnswers(url), { timeout: 600_000 }).toEqual([]);
  writeFileSync(join(directory, 'over'), '');
  await relay;
  expect(deaths).toBeGreaterThan(machines);

  await phabricator.settled();
  for (const { id } of phabricator.state.revisions) {
    const ended = gates.filter(({ revision }) => revision === id).map(({ run }) => run);
    expect(runsToldTo(phabricator, id)).toEqual(ended);
  }
  for (const target of phabricator.state.targets) {
    expect(target).toMatchObject({ messages: ['fail'], units: [{ name: 'gate' }] });
  }
  expect(phabricator.violations).toEqual([]);
});

/** Creates gates, each with a build that waits for it. */
async function gatesThatWait(phabricator: FakePhabricator) {
  const gates: AnsweringGatesPlan['gates'] = [];
  const author = phabricator.addUser('author');
  const heard = createServer((_request, response) => response.end('queued\n'));
  await once(heard.listen(0, '127.0.0.1'), 'listening');
  const uri = `http://127.0.0.1:${(heard.address() as AddressInfo).port}/build`;
  const plan = phabricator.addBuildPlan({ name: 'ppsgate', uri, holdDrafts: 'never' });
  for (let each = 0; each < revisions; each++) {
    const shown = phabricator.addRevision({ author, title: 'ipfw', diff: { raw } });
    for (let count = 0; count < gatesOfEach; count++) {
      const { buildPHID: build } = await phabricator.startBuild(shown, plan);
      gates.push({ run: `${shown.id}-${count}`, revision: shown.id, diff: 1, build });
    }
  }
  heard.close();
  return gates;
}

const raw = `diff --git a/sys/netinet/ip_fw.c b/sys/netinet/ip_fw.c
--- a/sys/netinet/ip_fw.c
+++ b/sys/netinet/ip_fw.c
@@ -1 +1 @@
-slow
+fast
`;

const odds: readonly Fault[] = [
  { kind: 'reset' },
  { kind: 'reset', carriedOut: true },
  { kind: 'broken' },
  { kind: 'broken', carriedOut: true },
  { kind: 'rate-limit' },
  { kind: 'html' },
];

/** Well, in maintenance, away in one of two ways, slow, or answering half of the time. */
async function become({ state, faults }: FakePhabricator, chance: () => number): Promise<void> {
  faults.clear();
  state.isReadOnly = false;
  delete state.away;
  const which = Math.floor(chance() * 8);
  if (which === 1) state.isReadOnly = true;
  if (which === 2) state.away = 'database';
  if (which === 3) state.away = 'php';
  if (which === 4) faults.order(undefined, { kind: 'slow', milliseconds: 50 }, 200);
  if (which === 5) {
    for (const fault of odds) faults.order(() => chance() < 0.1, fault, 20);
  }
}

/** Reads the markers of the bot's comments, the oldest first. */
function runsToldTo({ state, bot }: FakePhabricator, revision: number): string[] {
  const { phid } = state.revisions.find(({ id }) => id === revision) ?? {};
  return state.transactions
    .filter(({ objectPHID, authorPHID }) => objectPHID === phid && authorPHID === bot.phid)
    .flatMap(({ comment }) => /run (\S+)`$/.exec(comment?.raw ?? '')?.[1] ?? []);
}
