// `ppsgate fold`: prints a profile as folded stacks, for people, flamegraph tools and grep.
import { FoldedText, foldedPieces, labels } from '../../analysis/profile/fold.ts';
import { withoutIdle } from '../../analysis/profile/idle.ts';
import type { ReadProfile } from '../../analysis/profile/parser.ts';
import { samplesOf } from '../../analysis/profile/profile.ts';
import { exitCodes } from '../../model/conclusion.ts';
import { formatPercent, grouped } from '../../model/format.ts';
import { printBytes, printPieces } from './print-chunks.ts';
import { readProfileFile } from './profile-file.ts';

type FoldOptions = {
  readonly idle: boolean;
  readonly modules?: boolean;
  readonly json?: true;
};

/** Reads standard input without a file, or for `-`. Throws a `ProfileError` for an invalid profile. */
export async function run(
  file: string | undefined,
  { idle: keepsIdle, modules = false, json }: FoldOptions,
): Promise<number> {
  const text = keepsIdle && !json ? new FoldedText({ modules }) : undefined;
  const read = await readProfileFile(file ?? '-', text);
  const shown: Shown = keepsIdle ? read : leaveOutIdle(read);
  for (const note of shown.notes) process.stderr.write(`ppsgate: ${note}\n`);
  if (json) await printPieces(jsonPieces(shown, modules));
  else await printBytes(text?.pieces(read.profile) ?? foldedPieces(shown.profile, { modules }));
  return exitCodes.pass;
}

type Shown = ReadProfile & { idle?: { samples: number; frames: string[] } };

function leaveOutIdle({ profile: all, notes }: ReadProfile): Shown {
  const { profile, idleSamples, idleFrames } = withoutIdle(all);
  const samples = samplesOf(all.stacks);
  const share = formatPercent(samples === 0 ? 0 : idleSamples / samples);
  const note =
    idleSamples === 0
      ? 'no sample is of an idle CPU, so none is omitted.'
      : `omitted as idle: ${grouped(idleSamples)} of ${grouped(samples)} samples (${share}), in ${idleFrames.join(', ')}.`;
  return { profile, notes: [...notes, note], idle: { samples: idleSamples, frames: idleFrames } };
}

/** Prints a stack per line: large profiles exceed a single string. */
function* jsonPieces({ profile, notes, idle }: Shown, modules: boolean): Iterable<string> {
  const { stacks, ...about } = profile;
  const labelOf = labels(modules);
  const head = JSON.stringify({ ...about, samples: samplesOf(stacks), notes, idle }, null, 2);
  yield `${head.replace(/\n}$/, '')},\n  "stacks": [`;
  for (const [index, { frames, samples }] of stacks.entries()) {
    const stack = JSON.stringify({ frames: frames.map(labelOf), samples });
    yield `${index === 0 ? '' : ','}\n    ${stack}`;
  }
  yield '\n  ]\n}\n';
}
