// Creates a GitHub client for a token.
import type { RetryOptions } from '@octokit/plugin-retry';
import type { ThrottlingOptions } from '@octokit/plugin-throttling';
import { z } from 'zod';
import * as bounded from '../../model/bounds.ts';
import { fetchWithin } from '../../system/http.ts';
import type { Client } from './octokit.ts';

export type Octokit = InstanceType<typeof Client>;

/** GitHub's ids may exceed the safe integers. */
export type Id = number | bigint;

type Log = Record<'debug' | 'info' | 'warn' | 'error', (message: string) => unknown>;

/** Longest wait for a rate limit, in seconds, and number of waits per request. */
const longestWait = 60;
const maxWaits = 2;

/**
 * Creates a client that retries failed requests and waits for short rate limits, by octokit's own plugins.
 *
 * @param settings.apiUrl as in `GITHUB_API_URL`.
 * @param settings.log never gets the token.
 * @param settings.answerSeconds time limit of one response, including its body.
 * @param settings.plugins overrides settings of the plugins; tests use it to wait less.
 */
export async function createOctokit(settings: {
  token: string;
  apiUrl: string;
  log: Log;
  answerSeconds?: number;
  plugins?: { retry?: RetryOptions; throttle?: Partial<ThrottlingOptions> };
}): Promise<Octokit> {
  const { token, apiUrl, log, answerSeconds = 30, plugins } = settings;
  const { Client } = await import('./octokit.ts');
  return new Client({
    auth: token,
    baseUrl: apiUrl,
    userAgent: 'ppsgate',
    log,
    request: { fetch: fetchWithin(answerSeconds) },
    // The throttling plugin handles 429, as it knows how long to wait.
    retry: { doNotRetry: [400, 401, 403, 404, 410, 422, 429, 451], ...plugins?.retry },
    throttle: {
      onRateLimit: waitWhenShort(log),
      onSecondaryRateLimit: waitWhenShort(log),
      ...(!keepsPace(apiUrl) && unpaced),
      ...plugins?.throttle,
    },
  });
}

/**
 * True for GitHub's own hosts, for which octokit's plugin leaves a second between two writes and three between two
 * comments. A GitHub Enterprise Server has only the limits that its administrator switched on, and reports when one is
 * reached:
 * https://docs.github.com/enterprise-server/admin/configuration/configuring-your-enterprise/configuring-rate-limits.
 */
function keepsPace(apiUrl: string): boolean {
  const { hostname } = new URL(apiUrl);
  return hostname === 'api.github.com' || hostname.endsWith('.ghe.com');
}

const atOnce = {
  key: () => ({ schedule: (_options: object, job: () => unknown) => job() }),
};
/** The plugin also accepts these groups, which its types omit. */
const unpaced = { write: atOnce, notifications: atOnce } as object;

/** Called when GitHub requests a wait. Returning true waits, and then sends the request again. */
function waitWhenShort(log: Log) {
  return (seconds: number, _request: object, _octokit: object, waits: number): boolean => {
    if (seconds > longestWait || waits >= maxWaits) return false;
    log.info(`GitHub's rate limit is reached: continuing in ${seconds} s.`);
    return true;
  };
}

const viewer = z.object({ viewer: z.object({ login: bounded.word }) });

/** GET /user fails for apps; GraphQL works for people and apps. */
export async function ownLogin(octokit: Octokit): Promise<string> {
  return viewer.parse(await octokit.graphql('{ viewer { login } }')).viewer.login;
}

export function placeOf(repository: string): { owner: string; repo: string } {
  const [owner = '', repo = ''] = repository.split('/');
  return { owner, repo };
}
