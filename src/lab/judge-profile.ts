// Judges a profile: it needs enough samples, most of them not idle.
import { gzipSync } from 'node:zlib';
import { foldedLines } from '../analysis/profile/fold.ts';
import { withoutIdle } from '../analysis/profile/idle.ts';
import { type Profile, samplesOf } from '../analysis/profile/profile.ts';
import { ProfileError } from '../analysis/profile/profile-error.ts';
import { foreignBounds, parseProfile } from '../analysis/profile/read-profile.ts';
import { formatPercent } from '../model/format.ts';
import type { KeepLog, ProfileOutcome } from './testbed.ts';

const rawName = 'profile.txt.gz';
const stacksName = 'stacks.txt';

/** With 500 samples, a function with 5 % of them is measured to a fifth of its share. */
const minSamples = 500;
/** A DUT with many CPUs may forward with only a few. A DUT that is idle for longer was not under load. */
const maxIdleRatio = 0.9;

/** Also stores the text as a log. `defaults` complete the text. */
export async function judgeProfile(
  text: string,
  defaults: { event: string; kernel: string },
  keepLog: KeepLog,
): Promise<ProfileOutcome> {
  await keepLog(rawName, gzipSync(text));
  const all = profileOrError(text);
  if (typeof all === 'string') return missed(all);
  const { event = defaults.event, kernel = defaults.kernel } = all;
  await keepLog(stacksName, stacksText(all, kernel));
  const { profile, idleSamples } = withoutIdle(all);
  const busySamples = samplesOf(profile.stacks);
  const idleRatio = idleSamples / (busySamples + idleSamples);
  if (idleRatio > maxIdleRatio) {
    return missed(`the DUT idled in ${formatPercent(idleRatio)} of the samples: it was not under load`);
  }
  if (busySamples < minSamples) {
    return missed(`only ${busySamples} samples are of a busy CPU, and at least ${minSamples} are needed`);
  }
  return { kind: 'profiled', event, kernel, busySamples, idleSamples, log: stacksName };
}

const stacksText = (profile: Profile, kernel: string): string =>
  [`# kernel: ${kernel}`, ...foldedLines(profile, { modules: true }), ''].join('\n');

function profileOrError(text: string): Profile | string {
  try {
    return parseProfile(text, 'the profile', foreignBounds);
  } catch (error) {
    if (!(error instanceof ProfileError)) throw error;
    return error.message;
  }
}

export const missed = (reason: string): ProfileOutcome => ({ kind: 'missed', reason });
export const impossible = (reason: string): ProfileOutcome => ({ kind: 'impossible', reason });
