import { int, object, string } from "../vendor/zod.js";
import { askSchema } from "../patch.js";

// src/relay/job.ts
const jobSchema = object({
	/** Of what asked for it: nothing with the same key is run twice. Letters, digits and `.:-`, so that it can name a folder or a run. */
	key: string().regex(/^\w[\w.:-]{0,119}$/),
	/** 27401 of D27401. */
	revision: int().positive(),
	/** Fixed when leave was given. */
	diff: int().positive(),
	ask: askSchema,
	/** PHID of the Harbormaster build that waits for the answer. */
	build: string().regex(/^PHID-HMBD-\w{1,40}$/).optional(),
	/** The user name of whoever asked, or `Harbormaster`. */
	by: string().max(100),
	/** Goes on with the experiment of that job, which stayed inconclusive. */
	extend: object({
		key: string().max(120),
		maxRuns: string().max(20).optional()
	}).optional()
});

export { jobSchema };