import { array, object, string } from "../vendor/zod.js";
import { anyRequestSchema } from "./request.js";

// src/action/left.ts
const labState = "embedded-lab";
/** The folder that is uploaded, in which the leases lie. */
const leaseState = "lease";
/** What is shown at the patch of gates that have not ended. */
const answerState = "answer";
/** What it takes to end that; `name` is that of a gate's comment and check. */
const openAnswerSchema = object({
	name: string(),
	request: anyRequestSchema
});
const openAnswersText = (answers) => JSON.stringify(answers);
/** None of an empty text: nothing was shown. */
const readOpenAnswers = (text) => text === "" ? [] : array(openAnswerSchema).parse(JSON.parse(text));

export { answerState, labState, leaseState, openAnswersText, readOpenAnswers };