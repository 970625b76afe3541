// Stores the plan of a work directory: written atomically, and for one command only.
import { access, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { z } from 'zod';
import { readForeignText } from '../../system/foreign-files.ts';
import { makeFolders } from '../../system/make-folders.ts';

const planFiles = {
  'experiment.json': { of: 'an experiment', command: 'ppsgate gate' },
  'bisect.json': { of: 'a bisection', command: 'ppsgate bisect' },
} as const;

/** A plan has about a hundred bytes per trial, and a thousand per commit of a bisection. */
const maxBytes = 64 * 1024 ** 2;

type PlanFile = keyof typeof planFiles;

/** Writes the plan atomically. Throws a `PlanError` if the directory already has one. */
export async function beginPlanFile(directory: string, file: PlanFile, plan: unknown): Promise<void> {
  await refuseUsed(directory);
  await makeFolders(directory);
  await replacePlanFile(directory, file, plan);
}

/** Throws a PlanError if the directory already has an experiment or a bisection. */
export async function refuseUsed(directory: string): Promise<void> {
  for (const [file, { of, command }] of Object.entries(planFiles)) {
    if (await isThere(join(directory, file))) {
      throw new PlanError(
        `${directory} already has ${of}: resume it with '${command} --resume ${directory}', or name another directory.`,
      );
    }
  }
}

export async function replacePlanFile(directory: string, file: PlanFile, plan: unknown): Promise<void> {
  const draft = join(directory, `.${file}`);
  await writeFile(draft, `${JSON.stringify(plan, null, 2)}\n`, { flush: true });
  await rename(draft, join(directory, file));
}

/** Reads the plan of an earlier process. Throws a `PlanError` if there is none, or it belongs to the other command. */
export async function readPlanFile<Schema extends z.ZodType>(
  directory: string,
  file: PlanFile,
  schema: Schema,
): Promise<z.output<Schema>> {
  const path = join(directory, file);
  try {
    return schema.parse(JSON.parse((await readForeignText(directory, file, maxBytes)) ?? ''));
  } catch {
    const { of, command } = planFiles[file];
    if (!(await isThere(path))) await refuseUsed(directory);
    throw new PlanError(`${path} has no plan of ${of}: name the directory of an earlier '${command}'.`);
  }
}

export const hasPlanFile = (directory: string, file: PlanFile): Promise<boolean> => isThere(join(directory, file));

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

export class PlanError extends Error {
  override readonly name = 'PlanError';
  readonly conclusion = 'usage';
}
