// Implements `command: admit`: decides whether the event's patch may be measured, and passes the request to the next
// job.

import { exitCodes } from '../model/conclusion.ts';
import { admitEvent, exitCodeOf } from './admit-event.ts';
import { requestText, subjectOf } from './approved-request.ts';
import { type JobContext, reporterNames } from './job.ts';
import { setOutput } from './log.ts';
import { openReporter } from './reporters.ts';

export async function runAdmit(context: JobContext): Promise<number> {
  const { inputs } = context;
  const admission = await admitEvent(context);
  setOutput('go', admission.kind === 'gate');
  setOutput('bisect', admission.kind === 'bisect');
  setOutput('cancel', admission.kind === 'cancel');
  if (admission.kind === 'cancel') setOutput('subject', `#${admission.pullRequest.number}`);
  if (!('request' in admission)) return exitCodeOf(admission);
  const { request, config } = admission;
  const { runId } = inputs.job;
  setOutput('request', requestText(request));
  setOutput('subject', subjectOf(request));
  for (const name of reporterNames(request, config, inputs)) {
    const reporter = await openReporter(context, request, config, { name, runId });
    reporter.queued('waits for a runner of the lab');
    await reporter.leaveOpen();
  }
  return exitCodes.pass;
}
