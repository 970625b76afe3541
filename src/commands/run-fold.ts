// Folds a profile at a shell: the stacks on stdout, what is to be known of them on stderr.

import { foldedLines, labels } from '../profile/fold.ts';
import { withoutIdle } from '../profile/idle.ts';
import type { ReadProfile } from '../profile/parser.ts';
import { samplesOf } from '../profile/profile.ts';
import { formatPercent, grouped } from '../words/format.ts';
import { exitCodes } from '../words/upshot.ts';
import type { FoldOptions } from './fold.ts';
import { printPieces } from './print-pieces.ts';
import { readProfileFile } from './profile-file.ts';

/** Of standard input where no file or `-` is named. Throws a `ProfileError` where that is no profile. */
export async function runFold(
  file: string | undefined,
  { idle: keepsIdle, modules = false, json }: FoldOptions,
  signal: AbortSignal,
): Promise<number> {
  const read = await readProfileFile(file ?? '-', signal);
  const shown: Shown = keepsIdle ? read : leaveOutIdle(read);
  for (const note of shown.notes) process.stderr.write(`ppsgate: ${note}\n`);
  await printPieces(json ? jsonPieces(shown, modules) : linePieces(shown, modules));
  return exitCodes.pass;
}

/** With what was left out of it. */
type Shown = ReadProfile & { idle?: { samples: number; frames: string[] } };

function leaveOutIdle({ profile: all, notes }: ReadProfile): Shown {
  const { profile, idleSamples, idleFrames } = withoutIdle(all);
  const samples = samplesOf(all.stacks);
  const share = formatPercent(samples === 0 ? 0 : idleSamples / samples);
  const note =
    idleSamples === 0
      ? 'no sample is of an idle processor, so none is left out.'
      : `left out as idle: ${grouped(idleSamples)} of ${grouped(samples)} samples (${share}), in ${idleFrames.join(', ')}.`;
  return { profile, notes: [...notes, note], idle: { samples: idleSamples, frames: idleFrames } };
}

function* linePieces({ profile }: Shown, modules: boolean): Iterable<string> {
  for (const line of foldedLines(profile, { modules })) yield `${line}\n`;
}

/** A stack a line, for those of a large profile are too many for one text. */
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
