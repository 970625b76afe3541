// `trend` of ppsgate.yml: what is made of a change of the default branch that lasts.
import { z } from 'zod';
import { expected } from '../model/units.ts';
import { closed } from './fields.ts';

export type TrendConfig = {
  /** Bisects a loss that a gate has confirmed, where several commits may have it. */
  bisect: boolean;
  /** Opens an issue on GitHub for each. */
  issues: boolean;
  /** Page of the commits between two, which stand in it as `{from}` and `{to}`; absent: GitHub's, where there is one. */
  compare?: string | undefined;
};

const trueOrFalse = z.boolean({ error: expected('true or false') });

const notAPage = {
  error: expected('a URL like https://cgit.example.org/src/log/?qt=range&q={from}..{to}'),
};

export const trendSchema = closed({
  bisect: trueOrFalse
    .prefault(false)
    .describe('A lasting loss that a gate confirms is bisected, where it is of several commits.'),
  issues: trueOrFalse.prefault(true).describe('Each lasting change has an issue on GitHub.'),
  compare: z
    .url({ protocol: /^https?$/, ...notAPage })
    .refine((page) => ['{from}', '{to}'].every((end) => page.includes(end)), notAPage)
    .optional()
    .describe("Page of the commits from {from} to {to}; left out, GitHub's."),
}) satisfies z.ZodType<TrendConfig>;
