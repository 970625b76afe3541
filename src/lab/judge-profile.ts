// What a profile that was taken is worth: whether it has enough samples, and whether they fell into work.
import { gzipSync } from 'node:zlib';
import { foldedLines } from '../analysis/profile/fold.ts';
import { withoutIdle } from '../analysis/profile/idle.ts';
import { type Profile, samplesOf } from '../analysis/profile/profile.ts';
import { ProfileError } from '../analysis/profile/profile-error.ts';
import { foreignBounds, parseProfile } from '../analysis/profile/read-profile.ts';
import { formatPercent } from '../model/format.ts';
import type { KeepLog, ProfileOutcome } from './testbed.ts';

/** Among the logs of the profile's trial: what the DUT gave, and what of it is read again. */
const rawName = 'profile.txt.gz';
const stacksName = 'stacks.txt';

/** A function with a twentieth of them is known to a fifth of its share. */
const fewestSamples = 500;
/** A DUT with many CPUs may forward with few of them; one that only idles was not under load. */
const mostIdleRatio = 0.9;

/** Judges the text that the DUT gave, and keeps it; `told` is what else it said, where the text itself does not tell. */
export async function judgeProfile(
  text: string,
  told: { event: string; kernel: string },
  keepLog: KeepLog,
): Promise<ProfileOutcome> {
  await keepLog(rawName, gzipSync(text));
  const all = parseRaw(text);
  if (typeof all === 'string') return missed(all);
  const { event = told.event, kernel = told.kernel } = all;
  await keepLog(stacksName, stacksText(all, kernel));
  const { profile, idleSamples } = withoutIdle(all);
  const busySamples = samplesOf(profile.stacks);
  const idleRatio = idleSamples / (busySamples + idleSamples);
  if (idleRatio > mostIdleRatio) {
    return missed(`the DUT idled in ${formatPercent(idleRatio)} of the samples: no load was on it`);
  }
  if (busySamples < fewestSamples) {
    return missed(
      `only ${busySamples} samples fell into work, at least ${fewestSamples} are needed`,
    );
  }
  return { kind: 'profiled', event, kernel, busySamples, idleSamples, log: stacksName };
}

const stacksText = (profile: Profile, kernel: string): string =>
  [`# kernel: ${kernel}`, ...foldedLines(profile, { modules: true }), ''].join('\n');

function parseRaw(text: string): Profile | string {
  try {
    return parseProfile(text, 'the profile', foreignBounds);
  } catch (error) {
    if (!(error instanceof ProfileError)) throw error;
    return error.message;
  }
}

export const missed = (reason: string): ProfileOutcome => ({ kind: 'missed', reason });
export const impossible = (reason: string): ProfileOutcome => ({ kind: 'impossible', reason });
