// Takes the embedded lab down when the job is over: the step before may have been killed.
import * as core from '@actions/core';
import { labDown } from '../linux-lab/lab.ts';
import { rerunAsRoot } from '../linux-lab/requirements.ts';

export const labState = 'embedded-lab';

export async function cleanUp(): Promise<void> {
  if (core.getState(labState) === '') return;
  if ((await rerunAsRoot()) !== undefined) return;
  await labDown().catch((error: Error) => core.warning(error.message));
}
