// What a step leaves behind for the end of its job, which comes even where the step is killed: names of state, and its text.
import { z } from 'zod';
import { anyRequestSchema } from './approved-request.ts';

export const labState = 'embedded-lab';
/** The folder that is uploaded, in which the leases lie. */
export const leaseState = 'lease';
/** What is shown at the patch of gates that have not ended. */
export const answerState = 'answer';

/** What it takes to end that; `name` is that of a gate's comment and check. */
const openAnswerSchema = z.object({ name: z.string(), request: anyRequestSchema });

export type OpenAnswer = z.infer<typeof openAnswerSchema>;

export const openAnswersText = (answers: readonly OpenAnswer[]): string => JSON.stringify(answers);

/** None of an empty text: nothing was shown. */
export const readOpenAnswers = (text: string): OpenAnswer[] =>
  text === '' ? [] : z.array(openAnswerSchema).parse(JSON.parse(text));
