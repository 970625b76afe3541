// Verifies the result of a bisection by an untrusted job against its request and git.

import type { Config } from '../config/schema.ts';
import type { BisectAnswer, BisectResult } from '../model/bisect-result.ts';
import { reasonOf } from '../model/one-line.ts';
import { cellName } from '../model/scenario.ts';
import type { BisectRequest } from './approved-request.ts';
import { bisectPlan } from './bisect-plan.ts';
import { type JobContext, restoreCommits } from './job.ts';

type Verified = { kind: 'verified'; result: BisectResult } | { kind: 'refused'; why: string };

/** Reads commits' descriptions from git. A job that forges numbers can blame another commit, but not pass one. */
export async function verifiedBisection(
  result: BisectResult,
  request: BisectRequest,
  written: Config,
  context: JobContext,
): Promise<Verified> {
  const refused = (why: string): Verified => ({ kind: 'refused', why: `The result is ${why}.` });
  const { config, testbeds } = bisectPlan(request, written, context);
  const [frameBytes] = config.frameSizes ?? [];
  const cell = { ...request.cell, ...(frameBytes !== undefined && { frameBytes }) };
  if (result.good !== request.good || result.bad !== request.bad) {
    return refused('of commits other than the requested ones');
  }
  if (!testbeds.includes(result.testbed.name)) return refused('of another testbed');
  if (cellName(result.cell) !== cellName(cell) || result.metric !== config.gate.metric) {
    return refused('of another cell or metric');
  }
  if (indicesIn(result.answer).some((index) => index >= result.revisions.length)) {
    return refused('of commits that it does not contain');
  }
  try {
    await restoreCommits(request, written, context);
    const commits = await commitsOf(request, context);
    const revisions = result.revisions.flatMap((revision) => {
      const { place, ...rest } = commits.get(revision.commit) ?? {};
      return place === revision.place ? [{ ...revision, ...rest }] : [];
    });
    const isAscending = revisions.every(({ place }, index) => place > (revisions[index - 1]?.place ?? -1));
    if (revisions.length < result.revisions.length || !isAscending) {
      return refused('of commits of another range');
    }
    return { kind: 'verified', result: { ...result, revisions } };
  } catch (error) {
    return refused(`of commits that cannot be read here (${reasonOf(error)})`);
  }
}

type CommitInRange = { place: number; subject: string; author: string };

async function commitsOf(
  { good, bad }: BisectRequest,
  { repository }: JobContext,
): Promise<Map<string, CommitInRange>> {
  await repository.resolve(bad);
  const commits = new Map([[good, { place: 0, ...(await repository.describe(good)) }]]);
  for await (const { commit, subject, author } of repository.firstParents(good, bad)) {
    commits.set(commit, { place: commits.size, subject, author });
  }
  return commits;
}

function indicesIn(answer: BisectAnswer): number[] {
  switch (answer.kind) {
    case 'culprit':
      return [answer.revision];
    case 'group':
      return [answer.after, answer.last];
    case 'several':
      return [...answer.found.flatMap(indicesIn), ...answer.open.flatMap(({ after, last }) => [after, last])];
    case 'not-reproduced':
      return answer.fault === undefined ? [] : [answer.fault.revision];
    case 'slide':
      return answer.steps;
    case 'inconclusive':
      return answer.best.map(({ revision }) => revision);
  }
}
