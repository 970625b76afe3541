import { exitCodes } from "../model/first-plain.js";
import { admitAcceptance } from "./pull-request-reader.js";
import { acknowledge, triggerOf } from "./admit-event.js";
import { readEvent } from "./inputs.js";
import { log } from "./log.js";
import { acceptLevel } from "./report-trend.js";

// src/action/run-accept.ts
/** Passes if there is no level to accept. Throws if GitHub does not reply, or the data branch cannot be written. */
async function runAccept(context) {
	const { octokit, inputs } = context;
	const { job } = inputs;
	const event = {
		name: job.eventName,
		payload: await readEvent(job),
		commit: job.commit
	};
	const trigger = triggerOf(event, {
		patch: "",
		overrides: {}
	});
	if (trigger.kind !== "acceptance") {
		log.info("Only the comment /ppsgate accept on an issue accepts a level.");
		return exitCodes.pass;
	}
	const acceptance = await admitAcceptance(trigger, {
		octokit,
		repositoryName: job.repository
	});
	log.info(acceptance.why);
	if (acceptance.kind === "nothing") return exitCodes.pass;
	await acknowledge(trigger.id, context);
	await acceptLevel(context, await context.readConfig(job.commit), acceptance.id);
	return exitCodes.pass;
}

export { runAccept };