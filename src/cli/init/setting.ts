// Derives the settings of `ppsgate init` from its flags or from git.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import packageJson from '../../../package.json' with { type: 'json' };
import { expected } from '../../model/units.ts';
import { UsageError } from '../../model/usage-error.ts';

/** GitHub's own runner contains the embedded lab; a lab's own runner is beside the testbeds. */
export type Runner = { kind: 'hosted' | 'self-hosted'; labels: string[] };

export type Clone = {
  directory: string;
  /** Branch, as far as git can guess it. */
  branch: string;
  /** `OWNER/NAME` on GitHub. Absent: no `origin`. */
  repository?: string;
};

const run = promisify(execFile);

/** Parses labels with commas, such as `ubuntu-latest` or `self-hosted,lab`; throws a UsageError for others. */
export function parseRunner(text: string): Runner {
  const labels = text.split(',').map((label) => label.trim());
  const [first = ''] = labels;
  const isPlain = labels.every((label) => /^[a-z\d][\w.-]{0,99}$/i.test(label));
  if (isPlain && first === 'self-hosted') return { kind: 'self-hosted', labels };
  if (isPlain && /^ubuntu-/.test(first) && labels.length === 1) return { kind: 'hosted', labels };
  throw refused('--runner', 'ubuntu-latest, or labels like self-hosted,lab', text);
}

/** Parses `OWNER/NAME@COMMIT`, or with its version `… # v0.1.0`; throws a UsageError without a full commit. */
export function parseAction(text: string): string {
  if (/^[\w.-]+\/[\w.-]+@[\da-f]{40}(?: # v\d+\.\d+\.\d+)?$/.test(text)) return text;
  if (text === '') {
    throw new UsageError(
      '--action: the running ppsgate is not a clone from GitHub: name the version for the workflows as OWNER/ppsgate@COMMIT.',
    );
  }
  const name = /^[\w.-]+\/[\w.-]+@([\w./-]+)$/.exec(text)?.[1];
  if (name === undefined) {
    throw refused('--action', 'OWNER/ppsgate@COMMIT, a commit with all 40 digits', text);
  }
  throw new UsageError(
    `--action: ${name} is not a full 40-digit commit, and a tag or branch can be moved: pin the commit that it names now.`,
  );
}

export function parseBranch(text: string): string {
  // git-check-ref-format(1), without characters that GitHub's branch filters treat as patterns.
  if (/^(?!.*(?:\.\.|\/\/))[a-z\d][\w./-]{0,99}(?<![/.])$/i.test(text)) return text;
  throw refused('--branch', 'the name of a branch like main', text);
}

export function parseRepository(text: string): string {
  if (/^[\w.-]+\/[\w.-]+$/.test(text)) return text;
  throw refused('--repository', 'OWNER/NAME', text);
}

export async function readClone(folder: string): Promise<Clone> {
  const directory = await gitLine(folder, 'rev-parse', '--show-toplevel');
  if (directory === undefined) {
    throw new UsageError(
      `${folder} is not in a git repository: run \`ppsgate init\` in the repository with the patches.`,
    );
  }
  const remoteHead = await gitLine(directory, 'symbolic-ref', '--short', 'refs/remotes/origin/HEAD');
  const head = await gitLine(directory, 'symbolic-ref', '--short', 'HEAD');
  const repository = await repositoryOf(directory);
  return {
    directory,
    branch: remoteHead?.replace(/^origin\//, '') ?? head ?? 'main',
    ...(repository !== undefined && { repository }),
  };
}

/** Returns the running ppsgate as an action, if it is a GitHub clone; with the version if HEAD is tagged. */
export async function ownAction(folder: string): Promise<string | undefined> {
  const repository = await repositoryOf(folder);
  const commit = await gitLine(folder, 'rev-parse', 'HEAD');
  // An installed package is inside another project's repository.
  if (commit === undefined || !repository?.endsWith('/ppsgate')) return undefined;
  const tag = `v${packageJson.version}`;
  const tagged = await gitLine(folder, 'rev-parse', '--verify', `refs/tags/${tag}^{commit}`);
  return `${repository}@${commit}${tagged === commit ? ` # ${tag}` : ''}`;
}

async function repositoryOf(folder: string): Promise<string | undefined> {
  const url = await gitLine(folder, 'remote', 'get-url', 'origin');
  return /(?:^|[/@])github\.com[:/]+([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/.exec(url ?? '')?.[1];
}

async function gitLine(folder: string, ...args: string[]): Promise<string | undefined> {
  const answer = await run('git', ['-C', folder, ...args]).catch(() => undefined);
  return answer?.stdout.trim() || undefined;
}

const refused = (flag: string, what: string, text: string): UsageError =>
  new UsageError(`${flag}: ${expected(what)({ input: text || undefined })}.`);
