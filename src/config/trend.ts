// Parses `trend` of ppsgate.yml: the reactions to lasting changes of the default branch.
import { z } from 'zod';
import { expected } from '../model/units.ts';
import { closed } from './fields.ts';

export type TrendConfig = {
  bisect: boolean;
  issues: boolean;
  /** Page of the commits between `{from}` and `{to}`; absent: GitHub's, if there is one. */
  compare?: string | undefined;
};

const trueOrFalse = z.boolean({ error: expected('true or false') });

const notAPage = {
  error: expected('a URL like https://cgit.example.org/src/log/?qt=range&q={from}..{to}'),
};

export const trendSchema = closed({
  bisect: trueOrFalse
    .prefault(false)
    .describe('Bisects a lasting loss of several commits once a gate has confirmed it.'),
  issues: trueOrFalse.prefault(true).describe('Each lasting change has an issue on GitHub.'),
  compare: z
    .url({ protocol: /^https?$/, ...notAPage })
    .refine((page) => ['{from}', '{to}'].every((end) => page.includes(end)), notAPage)
    .optional()
    .describe("Page of the commits from {from} to {to}; left out, GitHub's."),
}) satisfies z.ZodType<TrendConfig>;
