// Runs `ppsgate comment`.
import { resolve } from 'node:path';
import type { Admission, AdmitDeps, PullRequestReader } from '../../action/admission.ts';
import { admit } from '../../action/admit.ts';
import { gateNames, selectorsFor } from '../../action/job.ts';
import { readerOn } from '../../action/pull-request-reader.ts';
import { applyOverrides } from '../../config/overrides.ts';
import { namingStyles } from '../../config/parameters.ts';
import { selectorCalled, testbedsFor } from '../../config/select-testbeds.ts';
import { createOctokit } from '../../forge/github/client.ts';
import { parseCommand } from '../../forge/patch/command.ts';
import { openRepository, type Repository, RepositoryError } from '../../forge/patch/repository.ts';
import { cellsOf } from '../../gate/experiment/plan.ts';
import { exitCodes } from '../../model/conclusion.ts';
import { patchName, shortId } from '../../model/patch.ts';
import { cellName } from '../../model/scenario.ts';
import { excerpt, expected } from '../../model/units.ts';
import { UsageError } from '../../model/usage-error.ts';
import { print } from '../table.ts';

type CommentOptions = {
  dryRun?: true;
  by: string;
  role: string;
  fork?: true;
  base: string;
  head: string;
  repository: string;
  config: string;
  pullRequest?: string;
};

export async function run(text: string, options: CommentOptions): Promise<number> {
  if (options.dryRun !== true) {
    throw new UsageError(
      'comment: add --dry-run: this command only tries comments; to measure a patch, comment on the pull request.',
    );
  }
  if (!['write', 'read'].includes(options.role)) {
    throw new UsageError(`--role: ${expected('write or read')({ input: options.role })}.`);
  }
  if (parseCommand(text) === undefined) {
    throw new UsageError(
      `"${excerpt(text)}" is not a command, so the workflow ignores it: begin with /ppsgate, like /ppsgate run.`,
    );
  }
  const deps = await depsFor(options);
  const [, number = '1'] = options.pullRequest?.split('#') ?? [];
  const at = new Date().toISOString();
  const admission = await admit({ kind: 'comment', number: Number(number), id: 0, by: options.by, at, text }, deps);
  print(admissionText(admission));
  return ['refused', 'mistaken', 'nothing'].includes(admission.kind) ? exitCodes.usage : exitCodes.pass;
}

async function depsFor(options: CommentOptions): Promise<AdmitDeps> {
  const repository = openRepository(resolve(options.repository));
  const nameOf: AdmitDeps['nameOf'] = (config, overrides) => {
    const selectors = selectorsFor(config, overrides, { overrides: {}, each: '' });
    const changed = applyOverrides(config, overrides, namingStyles.comment);
    const called = selectorCalled(overrides, namingStyles.comment);
    for (const selector of selectors) testbedsFor(changed, selector, called);
    return gateNames(selectors)[0] ?? 'ppsgate';
  };
  return {
    pullRequests: await readerFor(options, repository),
    repository,
    readConfig: async (commit) =>
      (await import('../../action/open-job.ts')).configAt(commit, options.config, repository),
    commit: await resolved('--base', options.base, repository),
    readRevision() {
      throw new UsageError('Only a pull request takes comments: it cannot name a revision.');
    },
    nameOf,
    checkBisection(config, overrides) {
      const changed = applyOverrides(config, overrides, namingStyles.comment);
      testbedsFor(changed, overrides.testbed, namingStyles.comment('testbed'));
    },
    naming: namingStyles.comment,
    priority: undefined,
  };
}

/** Reads GitHub only for a named pull request; otherwise the options replace one. */
async function readerFor(options: CommentOptions, repository: Repository): Promise<PullRequestReader> {
  const { pullRequest: named, by, role, fork, base, head } = options;
  if (named !== undefined) return githubReader(named);
  const [baseCommit, headCommit] = [
    await resolved('--base', base, repository),
    await resolved('--head', head, repository),
  ];
  const { subject, author } = await repository.describe(headCommit);
  const name = 'this/repository';
  const find = async () =>
    ({
      kind: 'found',
      pullRequest: {
        kind: 'pull-request',
        repository: name,
        number: 1,
        title: subject,
        author,
        url: 'https://github.com/this/repository/pull/1',
        baseCommit,
        headCommit,
      },
      headRepository: fork ? 'a-fork/repository' : name,
    }) as const;
  return {
    find,
    withHead: async () => [await find()],
    mayWrite: async (login) => login === by && role === 'write',
    // No comment of ppsgate has shown the head yet.
    commentOf: async () => undefined,
  };
}

const resolved = (option: string, name: string, repository: Repository): Promise<string> =>
  repository.resolve(name).catch((error: unknown) => {
    if (!(error instanceof RepositoryError)) throw error;
    throw new UsageError(`${option}: ${error.message}`);
  });

async function githubReader(named: string): Promise<PullRequestReader> {
  const [, repository = ''] = /^([\w.-]+\/[\w.-]+)#[1-9]\d{0,9}$/.exec(named) ?? [];
  if (repository === '') {
    throw new UsageError(`--pull-request: ${expected('a name like example/router#7')({ input: named })}.`);
  }
  const token = process.env.GITHUB_TOKEN ?? '';
  if (token === '') {
    throw new UsageError(
      '--pull-request: GITHUB_TOKEN is not set: set it to a token that may read pull requests, or drop the option.',
    );
  }
  const apiUrl = process.env.GITHUB_API_URL ?? 'https://api.github.com';
  const quiet = () => {};
  const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
  return readerOn(await createOctokit({ token, apiUrl, log }), repository);
}

/** Describes the decision, what would be measured, and why. */
function admissionText(admission: Admission): string {
  const { kind, why } = admission;
  switch (kind) {
    case 'gate': {
      const { config, request } = admission;
      const { patch, overrides, priority } = request;
      const changed = applyOverrides(config, overrides, namingStyles.comment);
      const testbeds = selectorsFor(config, overrides, { overrides: {}, each: '' }).map((selector) =>
        testbedsFor(changed, selector).join(' or '),
      );
      const cells = cellsOf(changed).map(cellName).join(', ');
      const range = `${shortId(patch.baseCommit)}..${shortId(patch.headCommit)}`;
      return [
        'approved',
        `would measure: ${cells}, on ${testbeds.join(' and on ')}, with priority ${priority}`,
        `patch: ${patchName(patch)}, ${range}, ${patch.title}`,
        `why: ${why}`,
      ].join('\n');
    }
    case 'bisect': {
      const { good, bad, cell } = admission.request;
      return [
        'approved',
        `would bisect: ${shortId(good)}..${shortId(bad)}, with ${cellName(cell)}`,
        `why: ${why}`,
      ].join('\n');
    }
    case 'refused':
      return `not approved\nwhy: ${why}`;
    case 'mistaken':
      return `not understood\nwhy: ${why}`;
    case 'nothing':
      return `ignored, without a reply\nwhy: ${why}`;
    case 'cancel':
      return `approved\nwould cancel all gates of the pull request\nwhy: ${why}`;
    case 'help':
      return 'would reply with the list of commands, and measure nothing';
  }
}
