import { object, string } from "../vendor/zod.js";
import { anyRequestSchema } from "./request.js";

// src/action/left.ts
const labState = "embedded-lab";
/** The folder that has the lease, and is uploaded. */
const leaseState = "lease";
/** What is shown at the patch of a gate that has not ended. */
const answerState = "answer";
/** What it takes to end that; `name` is that of a gate's comment and check. */
const openAnswerSchema = object({
	name: string(),
	request: anyRequestSchema
});
const openAnswerText = (answer) => JSON.stringify(answer);
const readOpenAnswer = (text) => openAnswerSchema.parse(JSON.parse(text));

export { answerState, labState, leaseState, openAnswerText, readOpenAnswer };