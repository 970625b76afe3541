// The production octokit with short waits, so that no test sleeps.
import { createOctokit, type Octokit } from '../../../src/forge/github/client.ts';
import { installationToken } from './tokens.ts';

/** `log` receives everything that is logged, at any level. */
export function hastyOctokit(
  github: { url: string },
  settings: { token?: string; log?: (message: string) => void; answerSeconds?: number } = {},
): Promise<Octokit> {
  const { token = installationToken, log = () => {}, ...others } = settings;
  return createOctokit({
    ...others,
    token,
    apiUrl: github.url,
    log: { debug: log, info: log, warn: log, error: log },
    plugins: {
      retry: { retryAfterBaseValue: millisecondsPerSecond },
      throttle: { retryAfterBaseValue: millisecondsPerSecond },
    },
  });
}

const millisecondsPerSecond = 0.1;
