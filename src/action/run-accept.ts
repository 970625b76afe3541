// Implements `command: accept`: permanently accepts a level, for a person with write access, in the issue of a change.
import { exitCodes } from '../model/conclusion.ts';
import { admitAcceptance } from './admit.ts';
import { acknowledge } from './admit-event.ts';
import { readEvent } from './inputs.ts';
import type { JobContext } from './job.ts';
import { log } from './log.ts';
import { acceptLevel } from './report-trend.ts';
import { triggerOf } from './trigger.ts';

/** Passes if there is no level to accept. Throws if GitHub does not reply, or the data branch cannot be written. */
export async function runAccept(context: JobContext): Promise<number> {
  const { octokit, inputs } = context;
  const { job } = inputs;
  const event = { name: job.eventName, payload: await readEvent(job), commit: job.commit };
  const trigger = triggerOf(event, { patch: '', overrides: {} });
  if (trigger.kind !== 'acceptance') {
    log.info('Only the comment /ppsgate accept on an issue accepts a level.');
    return exitCodes.pass;
  }
  const acceptance = await admitAcceptance(trigger, { octokit, repositoryName: job.repository });
  log.info(acceptance.why);
  if (acceptance.kind === 'nothing') return exitCodes.pass;
  await acknowledge(trigger.id, context);
  await acceptLevel(context, await context.readConfig(job.commit), acceptance.id);
  return exitCodes.pass;
}
