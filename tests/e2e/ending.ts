// Accepts the right verdict of a patch where real packets flow or, on a machine that is too busy, an inconclusive one; never a
// wrong one. bench/demo.ts measures how often it is the right one.
import { expect } from 'vitest';
import type { Job } from './act.ts';

/** By the CPU time for each packet. */
const endings = {
  'no-regression': { passes: true, says: '🟢 ppsgate: #7 ' },
  regression: { passes: false, says: '🔴 ppsgate: #7 takes ' },
  inconclusive: { passes: false, says: '🟡 ppsgate: #7 may take ' },
  invalid: { passes: false, says: '⚪ ppsgate: #7 was not measured' },
};

type Verdict = keyof typeof endings;

/** Expected conclusion of a job for each verdict, where this verdict is right. */
export function endingOf(
  { outputs, exitCode, log }: Job,
  right: 'no-regression' | 'regression',
): { verdict: Verdict; says: string; conclusion: 'success' | 'failure' } {
  const allowed = [right, 'inconclusive', 'invalid'] as const;
  const verdict = allowed.find((one) => one === outputs.verdict);
  if (verdict === undefined) expect.fail(`the verdict is ${outputs.verdict}:\n${log}`);
  const { passes, says } = endings[verdict];
  expect(exitCode === 0, `exit code ${exitCode} with ${verdict}`).toBe(passes);
  return { verdict, says, conclusion: passes ? 'success' : 'failure' };
}
