// Names the folders of raw logs in a work directory, and writes the logs.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KeepLog } from '../../lab/testbed.ts';
import type { PlannedTrial } from '../../model/planned-trial.ts';
import { cellName } from '../../model/scenario.ts';
import { makeFolders } from '../../system/make-folders.ts';

/** `trials/003-forwarding-inet4`; for a second attempt, `trials/003-forwarding-inet4.2`. */
export function trialFolder(trial: PlannedTrial, attempt: number): string {
  const number = String(trial.number).padStart(3, '0');
  const name = `${number}-${cellName(trial.cell).replaceAll(' ', '-')}`;
  return join('trials', attempt === 1 ? name : `${name}.${attempt}`);
}

export function keepLogIn(directory: string, folder: string): KeepLog {
  return async (name, content) => {
    await makeFolders(join(directory, folder));
    await writeFile(join(directory, folder, name), content);
  };
}
