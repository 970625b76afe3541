// Creates the git tree that a kernel is built from, the base's with the diff applied, without a checkout.

import { changesAsListed, checkDiff, rawChanges, whyGitRefuses } from '../forge/patch/diff.ts';
import { objectsAlone } from '../forge/patch/resolve-commit.ts';
import { lastLine } from '../model/one-line.ts';
import { isGood } from '../system/host/execute.ts';
import type { Host } from '../system/host/ssh.ts';
import { type Command, shell } from '../system/shell.ts';
import { BuilderError } from './builder-error.ts';

export type TreeRequest = {
  readonly baseCommit: string;
  /** A unified diff with the prefixes a/ and b/. Absent: the base itself. */
  readonly diff?: Uint8Array;
};

type KernelTree =
  | {
      readonly kind: 'tree';
      /** Git's id of the tree, which covers its whole content. */
      readonly id: string;
      readonly diffPath?: string;
    }
  | { readonly kind: 'does-not-apply'; readonly reason: string };

type TreeOptions = {
  readonly repository: string;
  readonly remote: string;
  readonly work: string;
  readonly signal: AbortSignal;
};

/** Writes only objects to the repository. Throws a BuilderError if the base is missing and cannot be fetched. */
export async function kernelTree(
  host: Host,
  { baseCommit, diff }: TreeRequest,
  { repository, remote, work, signal }: TreeOptions,
): Promise<KernelTree> {
  const checked = diff === undefined ? undefined : checkDiff(diff);
  if (checked?.kind === 'refused') return { kind: 'does-not-apply', reason: checked.reason };
  await fetchIfMissing(host, repository, remote, baseCommit, signal);
  if (diff === undefined || checked === undefined) {
    const id = await host.output(gitIn(repository, shell`rev-parse ${`${baseCommit}^{tree}`}`), {
      signal,
    });
    return { kind: 'tree', id: id.trim() };
  }
  const diffPath = `${work}/patch.diff`;
  const indexed = (command: Command) => shell`env GIT_INDEX_FILE=${`${work}/index`} ${gitIn(repository, command)}`;
  await host.upload(diff, diffPath, 0o644, { signal });
  await host.output(indexed(shell`read-tree ${baseCommit}`), { signal });
  const applied = await host.run(indexed(shell`apply --cached --whitespace=nowarn ${diffPath}`), {
    signal,
  });
  if (!isGood(applied)) {
    return { kind: 'does-not-apply', reason: whyGitRefuses(applied.stderr, checked.remarks) };
  }
  const changed = await host.output(indexed(shell`${rawChanges} ${baseCommit}`), { signal });
  const isAsListed = changesAsListed(checked.paths, changed);
  if (isAsListed.kind === 'refused') return { kind: 'does-not-apply', reason: isAsListed.reason };
  const id = await host.output(indexed(shell`write-tree`), { signal });
  return { kind: 'tree', id: id.trim(), diffPath };
}

/** Runs git without those user settings that could change its result or run a program. */
export const gitIn = (folder: string, command: Command): Command =>
  shell`env LC_ALL=C git -C ${folder} ${settings} ${command}`;

const settings = [
  // The clone may belong to another user.
  'safe.directory=*',
  'core.hooksPath=/dev/null',
  'core.autocrlf=false',
  'apply.ignoreWhitespace=no',
  'gc.auto=0',
].flatMap((setting) => ['-c', setting]);

async function fetchIfMissing(
  host: Host,
  repository: string,
  remote: string,
  commit: string,
  signal: AbortSignal,
): Promise<void> {
  const has = gitIn(repository, shell`cat-file -e ${`${commit}^{commit}`}`);
  if (isGood(await host.run(has, { signal }))) return;
  const fetch = gitIn(repository, shell`fetch ${objectsAlone} --end-of-options ${remote} ${commit}`);
  const fetched = await host.run(fetch, { signal, timeoutSeconds: fetchSeconds });
  if (isGood(await host.run(has, { signal }))) return;
  const why = lastLine(fetched.stderr) ?? 'git said nothing';
  throw new BuilderError(`${repository} on ${host.name} cannot fetch the commit ${commit} from ${remote}: ${why}.`);
}

const fetchSeconds = 1800;
