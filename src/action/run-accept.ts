// `command: accept`: takes the level for good that somebody accepts in the issue of a change, and ends the issue.
import { placeOf } from '../forge/github/client.ts';
import { exitCodes } from '../model/conclusion.ts';
import { admitAcceptance } from './admit.ts';
import { readEvent } from './inputs.ts';
import type { JobContext } from './job.ts';
import { log } from './log.ts';
import { acceptLevel } from './report-trend.ts';
import { triggerOf } from './trigger.ts';

/** Passes where there is nothing to accept; throws where GitHub does not tell, or the data branch is not written. */
export async function runAccept(context: JobContext): Promise<number> {
  const { octokit, inputs } = context;
  const { job } = inputs;
  const event = { name: job.eventName, payload: await readEvent(job), commit: job.commit };
  const trigger = triggerOf(event, { patch: '', ask: {} });
  if (trigger.kind !== 'acceptance') {
    log.info('Only a comment on an issue that says /ppsgate accept accepts anything.');
    return exitCodes.pass;
  }
  const acceptance = await admitAcceptance(trigger, { octokit, repositoryName: job.repository });
  log.info(acceptance.why);
  if (acceptance.kind === 'nothing') return exitCodes.pass;
  await octokit
    .request('POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions', {
      ...placeOf(job.repository),
      comment_id: trigger.id,
      content: 'eyes',
    })
    .catch((error: Error) => log.info(`The command got no reaction (${error.message}).`));
  await acceptLevel(context, await context.readConfig(job.commit), acceptance.id);
  return exitCodes.pass;
}
