// Gives each job of a workflow a token with the permissions of that job alone, as GitHub does: act has one token for all.
import { readFileSync, writeFileSync } from 'node:fs';
import { isMap, isSeq, parseDocument } from 'yaml';
import { z } from 'zod';
import type { Permissions } from '../fakes/github/permissions.ts';

const permissionsSchema = z.record(z.string(), z.enum(['read', 'write']));

/** Writes the tokens into the workflow file, as the input `token` of each step that runs the action; once more is no other. */
export function giveTokens(path: string, tokenWith: (permissions: Permissions) => string): void {
  const workflow = parseDocument(readFileSync(path, 'utf8'));
  const jobs = workflow.get('jobs');
  if (!isMap(jobs)) throw new Error(`${path} has no jobs.`);
  for (const { value: job } of jobs.items) {
    const steps = isMap(job) ? job.get('steps') : undefined;
    if (!isMap(job) || !isSeq(steps)) throw new Error(`${path} has a job without steps.`);
    const permissions = permissionsSchema.parse(job.toJSON().permissions);
    for (const step of steps.items) {
      if (isMap(step) && step.get('uses') === './') {
        step.setIn(['with', 'token'], tokenWith(permissions));
      }
    }
  }
  writeFileSync(path, workflow.toString({ lineWidth: 0 }));
}
