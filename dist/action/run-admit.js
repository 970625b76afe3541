import { exitCodes } from "../model/first-plain.js";
import { admitEvent, exitCodeOf } from "./admit-event.js";
import { requestText, subjectOf } from "./approved-request.js";
import { reporterNames } from "./job.js";
import { setOutput } from "./log.js";
import { openReporter } from "./reporters.js";

// src/action/run-admit.ts
async function runAdmit(context) {
	const { inputs } = context;
	const admission = await admitEvent(context);
	setOutput("go", admission.kind === "gate");
	setOutput("bisect", admission.kind === "bisect");
	setOutput("cancel", admission.kind === "cancel");
	if (admission.kind === "cancel") setOutput("subject", `#${admission.pullRequest.number}`);
	if (!("request" in admission)) return exitCodeOf(admission);
	const { request, config } = admission;
	const { runId } = inputs.job;
	setOutput("request", requestText(request));
	setOutput("subject", subjectOf(request));
	for (const name of reporterNames(request, config, inputs)) {
		const reporter = await openReporter(context, request, config, {
			name,
			runId
		});
		reporter.queued("waits for a runner of the lab");
		await reporter.leaveOpen();
	}
	return exitCodes.pass;
}

export { runAdmit };