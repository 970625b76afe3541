import { object, string } from "../vendor/zod.js";
import { requestSchema } from "./request.js";

// src/action/left.ts
const labState = "embedded-lab";
/** The folder that has the lease, and is uploaded. */
const leaseState = "lease";
/** What is shown at the patch of a gate that has not ended. */
const answerState = "answer";
/** What it takes to end that; `name` is that of the comment and the check. */
const openAnswerSchema = object({
	name: string(),
	request: requestSchema
});
const openAnswerText = (answer) => JSON.stringify(answer);
const readOpenAnswer = (text) => openAnswerSchema.parse(JSON.parse(text));

export { answerState, labState, leaseState, openAnswerText, readOpenAnswer };