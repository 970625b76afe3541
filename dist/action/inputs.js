import { getInput } from "../vendor/actions-core.js";
import { wrongName } from "../config/did-you-mean.js";
import { bisectOverrideNames, kebabCase, overrideNames } from "../config/parameters.js";
import { sentence } from "../model/excerpt.js";
import { number, object, string, url } from "../vendor/zod.js";
import { UsageError } from "../model/first-plain.js";
import { mask } from "./log.js";
const { readFile } = globalThis.process.getBuiltinModule("node:fs/promises");

// src/action/inputs.ts
/**
* `gate` and `bisect` do everything in one job. With `admit` and `publish`, three jobs each have their own permissions.
*/
const commands = [
	"gate",
	"bisect",
	"admit",
	"publish",
	"accept"
];
/** See "Variables reference" in GitHub's documentation of Actions. */
const jobSchema = object({
	GITHUB_API_URL: url(),
	GITHUB_SERVER_URL: url(),
	GITHUB_REPOSITORY: string().regex(/^[^/]+\/[^/]+$/),
	GITHUB_WORKSPACE: string(),
	GITHUB_EVENT_NAME: string(),
	GITHUB_EVENT_PATH: string(),
	GITHUB_RUN_ID: number(),
	GITHUB_SHA: string().prefault(""),
	GITHUB_ACTION_REPOSITORY: string().prefault(""),
	GITHUB_RUN_ATTEMPT: number().prefault(1),
	GITHUB_WORKFLOW: string().prefault(""),
	GITHUB_ACTOR: string().prefault("unknown"),
	RUNNER_NAME: string().prefault("a runner"),
	RUNNER_TEMP: string()
}).transform((variables) => ({
	apiUrl: variables.GITHUB_API_URL,
	repository: variables.GITHUB_REPOSITORY,
	workspace: variables.GITHUB_WORKSPACE,
	eventName: variables.GITHUB_EVENT_NAME,
	eventPath: variables.GITHUB_EVENT_PATH,
	temporary: variables.RUNNER_TEMP,
	serverUrl: variables.GITHUB_SERVER_URL,
	runId: variables.GITHUB_RUN_ID,
	commit: variables.GITHUB_SHA,
	/** The action is in the repository itself, so a patch may change it. */
	isOwnAction: variables.GITHUB_ACTION_REPOSITORY === "",
	isRerun: variables.GITHUB_RUN_ATTEMPT > 1,
	workflow: variables.GITHUB_WORKFLOW,
	who: `${variables.GITHUB_ACTOR} on ${variables.RUNNER_NAME}`,
	runUrl: `${variables.GITHUB_SERVER_URL}/${variables.GITHUB_REPOSITORY}/actions/runs/${variables.GITHUB_RUN_ID}`
}));
function readInputs(environment) {
	const token = getInput("token", { required: true });
	mask(token);
	const conduitToken = getInput("conduit-token");
	if (conduitToken !== "") mask(conduitToken);
	const command = getInput("command") || "gate";
	return {
		command: oneOf("command", commands, command),
		request: getInput("request"),
		patch: getInput("patch"),
		config: getInput("config", { required: true }),
		each: getInput("each"),
		priority: getInput("priority"),
		overrides: inputsBy(overrideNames),
		bisectOverrides: inputsBy(bisectOverrideNames),
		token,
		conduitToken,
		job: jobSchema.parse(environment)
	};
}
const inputsBy = (names) => Object.fromEntries(names.map((name) => [name, getInput(kebabCase(name))]));
function oneOf(input, names, text) {
	const name = names.find((one) => one === text);
	if (name !== void 0) return name;
	throw new UsageError(`${input}: ${sentence(wrongName(names)({ input: text }))}`);
}
const readEvent = async ({ eventPath }) => JSON.parse(await readFile(eventPath, "utf8"));

export { readEvent, readInputs };