import type { RequestError } from '@octokit/request-error';
import { z } from 'zod';
import * as bounded from '../../model/bounds.ts';

/** `said` is one line for people: the message of GitHub or the network, cut to a readable length. */
export type GithubFailure =
  | { kind: 'no-answer'; detail: string }
  | { kind: 'rate-limited'; until: string; detail: string }
  | { kind: 'answered'; status: number; detail: string };

/** Returns undefined for errors that are not octokit's, which are bugs of ppsgate. */
export function githubFailure(error: unknown): GithubFailure | undefined {
  if (!isRequestError(error)) return graphqlFailure(error);
  const detail = oneLine(error.message);
  if (error.response === undefined) return { kind: 'no-answer', detail: detail };
  const until = endOfRateLimit(error);
  if (until !== undefined) return { kind: 'rate-limited', until, detail: detail };
  return { kind: 'answered', status: error.status, detail: `${error.status} ${detail}` };
}

/** GitHub or the network failed: the request may have been carried out, and a retry may help. */
export const isBreakdown = (failure: GithubFailure | undefined): boolean =>
  failure?.kind === 'no-answer' || (failure?.kind === 'answered' && failure.status >= 500);

/** True for a failure of GitHub or the network, or a rate limit: each may end within an hour. */
export const mayPassSoon = (failure: GithubFailure | undefined): boolean =>
  isBreakdown(failure) || failure?.kind === 'rate-limited';

type Fixes = {
  /** Act to repeat after GitHub's recovery: `publish the result`, `run the job`. */
  again: string;
  permission: string;
  otherwise: string;
};

export function whyNotDone(what: string, failure: GithubFailure, { again, permission, otherwise }: Fixes): string {
  const { kind, detail } = failure;
  switch (kind) {
    case 'no-answer':
      return `${what} because GitHub cannot be reached (${detail}): ${again} again later.`;
    case 'rate-limited':
      return `${what} because GitHub's rate limit blocks this token ${failure.until}: ${again} again then.`;
    case 'answered':
      break;
  }
  switch (failure.status) {
    case 401:
      return `${what} because GitHub rejects the token (${detail}): check the input that holds it.`;
    case 403:
      return `${what} because the token lacks the permission (${detail}): ${permission}.`;
    default:
      return `${what} because GitHub answered ${detail}${otherwise}.`;
  }
}

/** Checks the name instead of the class, for which it would have to load all of octokit. */
function isRequestError(error: unknown): error is RequestError {
  return error instanceof Error && error.name === 'HttpError' && 'request' in error;
}

const errors = bounded.list(z.object({ message: bounded.prose(), type: bounded.word.optional() }));

const graphqlError = z.union([
  z.object({ name: z.literal('GraphqlResponseError'), errors }),
  // Matches a plain Error of octokit's throttling plugin, which sees rate limits first.
  z
    .object({ message: z.literal('GraphQL Rate Limit Exceeded'), data: z.object({ errors }) })
    .transform(({ data }) => data),
]);

/** GraphQL reports errors with status 200. */
function graphqlFailure(error: unknown): GithubFailure | undefined {
  const parsed = graphqlError.safeParse(error);
  if (!parsed.success) return undefined;
  const { errors } = parsed.data;
  const detail = oneLine(errors.map(({ message }) => message).join(' '));
  if (!errors.some(({ type }) => type === 'RATE_LIMITED')) {
    return { kind: 'answered', status: 200, detail: detail };
  }
  return { kind: 'rate-limited', until: 'for up to an hour', detail: detail };
}

function oneLine(message: string): string {
  const line = message.replaceAll(/\p{Cc}+/gu, ' ').trim();
  return line.length <= 300 ? line : `${line.slice(0, 300)}…`;
}

/**
 * Reads the end of a used-up quota from `x-ratelimit-reset` (seconds since 1970), and a secondary limit's wait from
 * `retry-after` (seconds, optional): "Rate limits for the REST API" at docs.github.com.
 */
function endOfRateLimit({ status, message, response }: RequestError): string | undefined {
  if (status !== 403 && status !== 429) return undefined;
  const headers = response?.headers ?? {};
  if (headers['x-ratelimit-remaining'] === '0') {
    return `until ${new Date(Number(headers['x-ratelimit-reset']) * 1000).toISOString()}`;
  }
  if (status !== 429 && !/\bsecondary rate\b/i.test(message)) return undefined;
  return `for ${headers['retry-after'] ?? '60'} s`;
}
