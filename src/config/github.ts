// Parses `github` of ppsgate.yml: whose patches may be measured, and how results are reported.
import { z } from 'zod';
import { duration, expected, type QuantityLimit, size } from '../model/units.ts';
import { closed, path, text, wholeNumber, wrongName } from './fields.ts';

export type GithubConfig = {
  /** Authorized logins besides those with write permission. */
  people: string[];
  /** Label by which a maintainer approves a pull request at its current head. */
  label: string;
  /** Conclusion of the check for an inconclusive patch; branch rules accept `neutral` as a pass. */
  undecided: 'failure' | 'neutral';
  /** Conclusion in a merge queue for patches without a request, so that a required check does not wait. */
  unasked: 'none' | 'neutral';
  status: boolean;
  data: DataConfig;
};

export type DataConfig = {
  /** Absent: results, badges and history are not kept on GitHub. */
  branch?: string;
  /** Keeps the same in a folder of the publishing machine. */
  directory?: string;
  /** URL of the branch's web site, without a trailing slash. Absent: GitHub's own pages. */
  pages?: string;
  keep: Retention;
  staleSeconds: number;
};

/** Oldest results beyond any of these bounds are removed from the branch. */
export type Retention = { results: number; seconds: number; bytes: number };

const login = text(/^[a-zA-Z\d](?:[a-zA-Z\d-]{0,38})(?:\[[bB][oO][tT]\])?$/, 'a login on GitHub, without the @');

const days = (least: number, most: number): QuantityLimit => ({
  description: `a duration from ${least} d to ${most} d`,
  holds: (seconds) => seconds >= least * 86_400 && seconds <= most * 86_400,
});

const mebibytes = (least: number, most: number): QuantityLimit => ({
  description: `a size from ${least} MiB to ${most} MiB`,
  holds: (bytes) => bytes >= least * 2 ** 20 && bytes <= most * 2 ** 20,
});

// git-check-ref-format(1), without unusual names.
const branch = text(
  /^(?!.*(?:\.\.|\/\/|\.[lL][oO][cC][kK](?:\/|$)))[a-zA-Z\d][\w./-]{0,99}(?<![/.])$/,
  'the name of a branch like ppsgate-data',
);

const pages = z
  .url({ protocol: /^https$/, error: expected('a URL like https://example.github.io/router') })
  .transform((url) => url.replace(/\/+$/, ''));

const keep = closed({
  results: wholeNumber(1, 100_000).prefault(1000),
  age: duration(days(1, 3650)).prefault('365 d'),
  size: size(mebibytes(1, 1024)).prefault('100 MiB'),
}).transform(({ results, age, size }): Retention => ({ results, seconds: age, bytes: size }));

const data = closed({
  branch: z
    .union([z.literal(false), branch], {
      error: expected('the name of a branch like ppsgate-data, or false for none'),
    })
    .prefault('ppsgate-data')
    .describe('A branch for results, badges and the history of testbeds; false for none.'),
  directory: path.optional().describe('A folder for the same on the publishing machine; left out, none.'),
  pages: pages.optional().describe("The web site of that branch; left out, links lead to GitHub's own pages."),
  keep: keep.prefault({}).describe('The newest results stay, up to the first of these bounds.'),
  stale: duration(days(1, 3650)).prefault('30 d').describe('A badge no longer shows a verdict older than this.'),
}).transform(
  ({ branch, directory, pages, keep, stale }): DataConfig => ({
    keep,
    staleSeconds: stale,
    ...(directory !== undefined && { directory }),
    ...(branch !== false && { branch }),
    ...(pages !== undefined && { pages }),
  }),
);

const conclusions = ['failure', 'neutral'] as const;
const unaskedChecks = ['none', 'neutral'] as const;

export const githubSchema = closed({
  people: z
    .array(login, { error: expected('a list like [alice, bob]') })
    .prefault([])
    .describe('Logins that may have patches measured, besides those who may write.'),
  label: text(/^[^\p{Cc},]{1,50}$/u, 'the name of a label like ppsgate')
    .prefault('ppsgate')
    .describe('Put on a pull request, it approves the commits that are there then.'),
  undecided: z
    .enum(conclusions, { error: wrongName(conclusions) })
    .prefault('failure')
    .describe('Conclusion of an inconclusive check; branch rules take neutral for a pass.'),
  unasked: z
    .enum(unaskedChecks, { error: wrongName(unaskedChecks) })
    .prefault('none')
    .describe('Conclusion of the check while a patch waits for approval; neutral only if a merge queue measures it.'),
  status: z
    .boolean({ error: expected('true or false') })
    .prefault(false)
    .describe('A commit status besides the check.'),
  data: data.prefault({}).describe('Storage of results, badges and history.'),
}) satisfies z.ZodType<GithubConfig>;
