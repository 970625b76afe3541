// Checks out the tree to build at one path for all builds, as kernels contain that path.

import { isGood } from '../system/host/execute.ts';
import type { Host } from '../system/host/ssh.ts';
import { shell } from '../system/shell.ts';
import type { BuildOutput, PlacedRequest } from './build-step.ts';
import { gitIn } from './kernel-tree.ts';

type BuildAttempt = {
  readonly built: BuildOutput;
  /** True if the folder holds objects of earlier builds from outside the tree. */
  readonly isOfOld: boolean;
};

/**
 * Builds in a folder with sources in `src`. The build may write to `obj` and `stage` and, with `mayReuse`, use objects
 * of earlier builds. Old objects can cause a failure, so only a build without them blames the patch.
 */
export async function inTree(
  host: Host,
  { clean }: { readonly clean: boolean },
  request: PlacedRequest,
  build: (tree: string, mayReuse: boolean) => Promise<BuildAttempt>,
): Promise<BuildOutput> {
  const tree = `${request.folder}/tree`;
  let isBuilt = false;
  try {
    const isNew = await checkOutTree(host, clean, request, tree);
    const { built, isOfOld } = await build(tree, true);
    isBuilt = built.kind === 'built';
    if (isBuilt || (isNew && !isOfOld) || built.kind === 'out-of-disk') return built;
    await removeTree(host, request.repository, tree);
    await checkOutTree(host, clean, request, tree);
    const again = await build(tree, false);
    isBuilt = again.built.kind === 'built';
    return again.built;
  } finally {
    if (clean || !isBuilt) await removeTree(host, request.repository, tree);
    else await host.run(shell`rm -rf ${`${tree}/stage`}`);
  }
}

/**
 * Writes only files that differ from the previous tree, as make(1) compares times. Returns whether the folder was
 * empty.
 */
async function checkOutTree(
  host: Host,
  clean: boolean,
  { repository, baseCommit, tree: id, tools }: PlacedRequest,
  tree: string,
): Promise<boolean> {
  const source = `${tree}/src`;
  const stamp = await host.run(shell`cat ${`${tree}/tools`}`);
  const checkOut = gitIn(source, shell`read-tree --reset -u ${id}`);
  if (!clean && stamp.stdout === tools) {
    const head = gitIn(source, shell`update-ref --no-deref HEAD ${baseCommit}`);
    const reset = await host.run(
      shell`${head} && ${checkOut} && ${gitIn(source, shell`clean -ffdxq`)} && rm -rf ${`${tree}/stage`}`,
    );
    if (isGood(reset)) return false;
  }
  await removeTree(host, repository, tree);
  await host.output(shell`mkdir -p ${`${tree}/obj`}`);
  const add = shell`worktree add --quiet --detach --no-checkout ${source} ${baseCommit}`;
  await host.output(gitIn(repository, add));
  await host.output(checkOut);
  await host.upload(Buffer.from(tools), `${tree}/tools`, 0o644);
  return true;
}

async function removeTree(host: Host, repository: string, tree: string): Promise<void> {
  await host.run(shell`rm -rf ${tree}`);
  await host.run(gitIn(repository, shell`worktree prune`));
}
