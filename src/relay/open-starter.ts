// Opens the starter of a relay's gates named in ppsgate.yml: this machine, GitHub or Jenkins.
import { resolve } from 'node:path';
import type { RelayConfig } from '../config/phabricator.ts';
import { readSecret } from '../config/secret.ts';
import { createOctokit } from '../forge/github/client.ts';
import { exitCodes } from '../model/conclusion.ts';
import { realPause } from '../model/pause.ts';
import { startOnGithub } from './start-github.ts';
import { type ProcessEnd, startHere } from './start-here.ts';
import { startOnJenkins } from './start-jenkins.ts';
import type { JobStatus, RelayStarter, Starter } from './starter.ts';

/**
 * Throws a `UsageError` for a missing token.
 * @param deps.program ppsgate, as a program and its first arguments; absent: the running one
 */
export async function openStarter(
  { start, directory }: Pick<RelayConfig, 'start' | 'directory'>,
  deps: { configPath: string; program?: readonly string[] },
): Promise<RelayStarter> {
  switch (start.kind) {
    case 'here': {
      const { configPath, program = thisProgram() } = deps;
      const { repository, most, site } = start;
      const gates = { configPath, repository, directory, most, site, program };
      const here = startHere({ ...gates, environment: process.env });
      return { ...here, ended: async (job) => statusOf(await here.ended(job)) };
    }
    case 'github': {
      const { repository, apiUrl, event, tokenPath: path } = start;
      const place = { what: 'The token for GitHub', path, variable: 'GITHUB_TOKEN' };
      const octokit = await createOctokit({ token: await readSecret(place), apiUrl, log: silent });
      return elsewhere(startOnGithub(octokit, { repository, apiUrl, event, pause: realPause }));
    }
    case 'jenkins': {
      const { url, user, tokenPath: path } = start;
      const place = { what: 'The token for Jenkins', path, variable: 'PPSGATE_JENKINS_TOKEN' };
      return elsewhere(startOnJenkins({ url, user, token: await readSecret(place) }));
    }
  }
}

const thisProgram = (): string[] => [process.execPath, resolve(process.argv[1] ?? '')];

function statusOf(end: ProcessEnd): JobStatus {
  if (end.kind !== 'ended') return end;
  const { exitCode } = end;
  return { kind: 'ended', how: outcomes.get(exitCode) ?? `it exited with ${exitCode}` };
}

const outcomes = new Map<number, string>([
  [exitCodes.pass, 'it passed'],
  [exitCodes.patchAtFault, 'the patch is at fault'],
  [exitCodes.usage, 'it could not be run as requested'],
  [exitCodes.undecided, 'it was undecided'],
  [exitCodes.infrastructure, 'the lab failed'],
  [exitCodes.cancelled, 'it was cancelled'],
]);

const elsewhere = (starter: Starter): RelayStarter => ({
  ...starter,
  hasRoom: async () => true,
  ended: async () => ({ kind: 'elsewhere' }),
});

/** Starters return their errors, and need no log. */
const silent = { debug() {}, info() {}, warn() {}, error() {} };
