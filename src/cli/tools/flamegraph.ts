// `ppsgate flamegraph`: draws a profile, alone or against another one.

import { writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { getSystemErrorMessage } from 'node:util';
import { flamegraph } from '../../analysis/profile/flamegraph.ts';
import { withoutIdle } from '../../analysis/profile/idle.ts';
import { type Profile, samplesOf } from '../../analysis/profile/profile.ts';
import { exitCodes } from '../../model/conclusion.ts';
import { formatPercent, grouped } from '../../model/format.ts';
import { UsageError } from '../../model/usage-error.ts';
import { giveNew } from '../../system/give-to-caller.ts';
import { printPieces } from './print-chunks.ts';
import { readProfileFile } from './profile-file.ts';

type FlamegraphOptions = {
  readonly base?: string;
  readonly output: string;
  readonly title?: string;
  readonly idle?: boolean;
};

/** Throws a `ProfileError` for an invalid profile, a `UsageError` if there is nothing to draw or no place to write. */
export async function run(
  file: string,
  { base: baseFile, output, title, idle: keepsIdle = false }: FlamegraphOptions,
): Promise<number> {
  refuseTerminal(output);
  if (file === '-' && baseFile === '-') {
    throw new UsageError('--base: standard input already supplies the profile; name a file.');
  }
  const shown = await read(file, keepsIdle);
  const base = baseFile === undefined ? undefined : await read(baseFile, keepsIdle);
  if (base) noteEvents(shown.profile, base.profile);

  const svg = flamegraph(shown.profile, {
    title: title ?? (base ? `${shown.name} against ${base.name}` : shown.name),
    subtitle: base ? `${shown.about}; base: ${base.about}` : shown.about,
    base: base?.profile,
  });
  await write(svg, output);
  return exitCodes.pass;
}

function refuseTerminal(output: string): void {
  if (output !== '-' || !process.stdout.isTTY) return;
  throw new UsageError('--output: a terminal cannot show a flamegraph; name a file, as -o OUT.svg.');
}

type Shown = { profile: Profile; name: string; about: string };

async function read(file: string, keepsIdle: boolean): Promise<Shown> {
  const { profile: all, notes } = await readProfileFile(file);
  for (const note of notes) process.stderr.write(`ppsgate: ${note}\n`);
  const fileName = file === '-' ? 'standard input' : basename(file);
  const name = all.kernel ?? fileName;
  if (keepsIdle) return { profile: all, name, about: samplesText(all) };

  const { profile, idleSamples, idleFrames } = withoutIdle(all);
  if (profile.stacks.length === 0) {
    throw new UsageError(`${fileName}: all samples are of idle CPUs; draw them with --idle.`);
  }
  const share = formatPercent(idleSamples / samplesOf(all.stacks));
  const leftOut = `idle left out: ${idleFrames.join(', ')} (${share})`;
  const about = samplesText(profile);
  return { profile, name, about: idleSamples === 0 ? about : `${about} · ${leftOut}` };
}

function samplesText({ stacks, event }: Profile): string {
  const samples = `${grouped(samplesOf(stacks))} samples`;
  return event === undefined ? samples : `${samples} of ${event}`;
}

function noteEvents({ event }: Profile, base: Profile): void {
  if (event === undefined || base.event === undefined || event === base.event) return;
  process.stderr.write(
    `ppsgate: the profile counts ${event}, its base ${base.event}, so their shares are not comparable.\n`,
  );
}

async function write(svg: string, output: string): Promise<void> {
  if (output === '-') return printPieces([svg]);
  try {
    await writeFile(output, svg);
    await giveNew(output);
  } catch (error) {
    if (!(error instanceof Error && 'errno' in error && typeof error.errno === 'number')) throw error;
    const reason = getSystemErrorMessage(error.errno);
    throw new UsageError(`--output: cannot write ${output}: ${reason}; name another file.`);
  }
}
