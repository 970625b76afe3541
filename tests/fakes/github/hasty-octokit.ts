// The octokit of production with its waits made short, so that no test sleeps.
import type { Octokit } from 'octokit';
import { createOctokit } from '../../../src/publish/github.ts';
import { installationToken } from './server.ts';

type Settings = Parameters<typeof createOctokit>[0];
type Throttle = NonNullable<NonNullable<Settings['plugins']>['throttle']>;

/** `log` gets everything that is logged at any level. */
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
      throttle: {
        retryAfterBaseValue: millisecondsPerSecond,
        write: unpaced,
        notifications: unpaced,
      } as Throttle,
    },
  });
}

const millisecondsPerSecond = 0.1;

/** In production the plugin keeps seconds between two writes. */
const unpaced = {
  key: () => ({ schedule: (_options: object, job: () => unknown) => job() }),
};
