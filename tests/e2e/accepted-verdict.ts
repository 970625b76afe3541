// Reads the verdict of a job that forwards real packets: the right one or, on a machine that is too busy, an undecided one. A
// wrong verdict fails the test. bench/demo.ts measures how often it is the right one.
import { expect } from 'vitest';
import type { Job } from './act.ts';

type Verdict = 'no-regression' | 'regression' | 'inconclusive' | 'invalid';

/** Beginning of the report of #7, if the metric is CPU time per packet. */
const headlines: Record<Verdict, string> = {
  'no-regression': '🟢 ppsgate: #7 ',
  regression: '🔴 ppsgate: #7 takes ',
  inconclusive: '🟡 ppsgate: #7 may take ',
  invalid: '⚪ ppsgate: #7 was not measured',
};

/** Returns what must follow from the verdict; fails unless it is `right`, or undecided, and the exit code matches. */
export function acceptedVerdict(
  { outputs, exitCode, log }: Job,
  right: 'no-regression' | 'regression',
): { verdict: Verdict; headline: string; conclusion: 'success' | 'failure' } {
  const accepted = [right, 'inconclusive', 'invalid'] as const;
  const verdict = accepted.find((one) => one === outputs.verdict);
  if (verdict === undefined) expect.fail(`the verdict is ${outputs.verdict}:\n${log}`);
  const passes = verdict === 'no-regression';
  expect(exitCode === 0, `exit code ${exitCode} with ${verdict}`).toBe(passes);
  const conclusion = passes ? 'success' : 'failure';
  return { verdict, headline: headlines[verdict], conclusion };
}
