// Simulates gates that have ended and report one after another, or a relay that delivers their answers. The plan is its
// only argument.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openConduit } from '../../src/forge/phabricator/conduit.ts';
import type { Pause } from '../../src/model/pause.ts';
import { outcomeOfFailure } from '../../src/publish/reporters/outcome.ts';
import { combineReporters } from '../../src/publish/reporters/reporter.ts';
import { type AnswersDeps, giveAnswers, keeping, keptOf } from '../../src/relay/answers.ts';
import { inboxIn, openInbox } from '../../src/relay/inbox.ts';

export type AnsweringGatesPlan = {
  url: string;
  token: string;
  /** Contains the queue, and a file for each gate that has ended. */
  directory: string;
  /** In order of their ends. If empty, delivers answers until there is a file `over` in `directory`. */
  gates: { run: string; revision: number; diff: number; build: string }[];
  /** Factor by which time runs faster: pauses are shorter. */
  haste: number;
  /** Number of requests to Phabricator and responses after which it is killed; absent: never. */
  diesAfter?: number;
};

const plan: AnsweringGatesPlan = JSON.parse(process.argv[2] ?? '');
const { url, token, directory, gates, haste, diesAfter = Number.POSITIVE_INFINITY } = plan;

const pause: Pause = (seconds, signal) => sleep((seconds * 1000) / haste, undefined, { signal }).catch(() => {});
let steps = 0;
const around = async <T>(asked: Promise<T>): Promise<T> => {
  step();
  return asked.finally(step);
};
const step = (): void => {
  steps += 1;
  // In half of the cases the message in transit still arrives.
  if (steps > diesAfter) setTimeout(() => process.kill(process.pid, 'SIGKILL'), (steps % 2) * 5);
};

const log = { info() {}, warn() {} };
using inbox = openInbox(inboxIn(directory), () => new Date());
const conduit = openConduit({ url, token, log, pause });
const deps: AnswersDeps = {
  conduit: {
    url,
    call: (...question) => around(conduit.call(...question)),
    search: (...question) => around(conduit.search(...question)),
  },
  inbox,
  log,
  pause,
  now: () => new Date(),
  signal: new AbortController().signal,
};

for (const gate of gates) {
  const ended = join(directory, `${gate.run}.ended`);
  if (existsSync(ended)) continue;
  const { run, build } = gate;
  const revision = { number: gate.revision, diff: gate.diff };
  const ending = outcomeOfFailure('infrastructure', `The gate ${run} has ended.`);
  const shared = { revision, run, ending: keptOf(ending) };
  const comment = { ...shared, kind: 'comment', takesCommands: true } as const;
  const end = { ...shared, kind: 'build', build, undecided: 'failure' } as const;
  const answers = [comment, end].map((kept) => keeping(combineReporters([]), () => kept, deps));
  await combineReporters(answers).conclude(ending);
  // Notifies the starter of its end.
  writeFileSync(ended, '');
}
while (gates.length === 0 && !existsSync(join(directory, 'over'))) {
  await giveAnswers(deps);
  await pause(10, deps.signal);
}
