import { parseRevisionName, phabricatorOf, withPatience } from "../../forge/phabricator.js";
import { expected } from "../../model/excerpt.js";
import { UsageError } from "../../model/first-plain.js";
import { stderrLog } from "./gate-call.js";

// src/cli/gate/revision-named.ts
/** Lets a relay's gate wait for the server, as its answer would. By hand, a person corrects what the server refuses. */
const patientIfAnswered = (conduit, { answer, run, signal }) => answer === true ? withPatience(conduit, {
	log: stderrLog,
	signal,
	mayWait: ({ kind }) => run !== void 0 || kind !== "refused"
}) : conduit;
function revisionNamed(text, { config, optionName }) {
	const name = parseRevisionName(text, phabricatorOf(config).url);
	if (name !== void 0) return name;
	throw new UsageError(`${optionName("patch")}: ${expected("a revision like D27401 or D27401:80677")({ input: text })}.`);
}

export { patientIfAnswered, revisionNamed };