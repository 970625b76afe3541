// `command: accept`: permanently accepts the level that a person with write access accepts in the issue of a change.
import { exitCodes } from '../model/conclusion.ts';
import { admitAcceptance } from './admit.ts';
import { acknowledge } from './admit-event.ts';
import { readEvent } from './inputs.ts';
import type { JobContext } from './job.ts';
import { log } from './log.ts';
import { acceptLevel } from './report-trend.ts';
import { triggerOf } from './trigger.ts';

/** Passes without a level to accept; throws where GitHub does not reply, or the data branch is not written. */
export async function runAccept(context: JobContext): Promise<number> {
  const { octokit, inputs } = context;
  const { job } = inputs;
  const event = { name: job.eventName, payload: await readEvent(job), commit: job.commit };
  const trigger = triggerOf(event, { patch: '', overrides: {} });
  if (trigger.kind !== 'acceptance') {
    log.info('Only a comment on an issue that says /ppsgate accept accepts anything.');
    return exitCodes.pass;
  }
  const acceptance = await admitAcceptance(trigger, { octokit, repositoryName: job.repository });
  log.info(acceptance.why);
  if (acceptance.kind === 'nothing') return exitCodes.pass;
  await acknowledge(trigger.id, context);
  await acceptLevel(context, await context.readConfig(job.commit), acceptance.id);
  return exitCodes.pass;
}
