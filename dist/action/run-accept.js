import { placeOf } from "../github.js";
import { exitCodes } from "../words.js";
import { admitAcceptance, triggerOf } from "./trigger.js";
import { readEvent } from "./inputs.js";
import { log } from "./log.js";
import { acceptLevel } from "./tell-trend.js";

// src/action/run-accept.ts
/** Passes where there is nothing to accept; throws where GitHub does not tell, or the data branch is not written. */
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
		ask: {}
	});
	if (trigger.kind !== "acceptance") {
		log.info("Only a comment on an issue that says /ppsgate accept accepts anything.");
		return exitCodes.pass;
	}
	const acceptance = await admitAcceptance(trigger, {
		octokit,
		repositoryName: job.repository
	});
	log.info(acceptance.why);
	if (acceptance.kind === "nothing") return exitCodes.pass;
	await octokit.request("POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions", {
		...placeOf(job.repository),
		comment_id: trigger.id,
		content: "eyes"
	}).catch((error) => log.info(`The command got no reaction (${error.message}).`));
	await acceptLevel(context, await context.readConfig(job.commit), acceptance.id);
	return exitCodes.pass;
}

export { runAccept };