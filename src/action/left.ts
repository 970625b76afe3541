// What a step leaves behind for the end of its job, which comes even where the step is killed: names of state, and its text.
import { z } from 'zod';
import { anyRequestSchema } from './request.ts';

export const labState = 'embedded-lab';
/** The folder that has the lease, and is uploaded. */
export const leaseState = 'lease';
/** What is shown at the patch of a gate that has not ended. */
export const answerState = 'answer';

/** What it takes to end that; `name` is that of a gate's comment and check. */
const openAnswerSchema = z.object({ name: z.string(), request: anyRequestSchema });

type OpenAnswer = z.infer<typeof openAnswerSchema>;

export const openAnswerText = (answer: OpenAnswer): string => JSON.stringify(answer);

export const readOpenAnswer = (text: string): OpenAnswer =>
  openAnswerSchema.parse(JSON.parse(text));
