// Caches the toolchain that `make kernel-toolchain` built for a base, for trees that would build the same one.
import { createHash } from 'node:crypto';
import type { BuildPlace, MakeRecipe } from '../config/builder.ts';
import { isGood } from '../system/host/execute.ts';
import type { Host } from '../system/host/ssh.ts';
import { shell } from '../system/shell.ts';
import { gitIn } from './kernel-tree.ts';

type ToolchainRequest = Pick<BuildPlace, 'repository' | 'folder' | 'jail'> & {
  readonly tree: string;
  readonly tools: string;
};

/**
 * Returns the folder of this toolchain's objects. Undefined without a jail, as a patch's build could change them, and
 * for builds that are not clean, which keep their own objects.
 */
export async function keptToolchain(
  host: Host,
  recipe: MakeRecipe,
  request: ToolchainRequest,
): Promise<string | undefined> {
  const { repository, folder, jail, tree, tools } = request;
  if (jail === undefined || !recipe.clean || !recipe.toolchain) return undefined;
  const list = (path: string) => host.output(gitIn(repository, shell`ls-tree ${tree} -- ${path}`));
  const [top, sys, assembler] = await Promise.all([
    host.output(gitIn(repository, shell`ls-tree ${tree}`)),
    list('sys/'),
    list('sys/dev/aic7xxx/'),
  ]);
  const sources = [
    ...top.split('\n').filter((line) => !line.endsWith('\tsys')),
    ...sys.split('\n').filter((line) => !kernelAlone.test(line)),
    assembler,
  ];
  const { kernelConfig, metaMode, options } = recipe;
  const parts = [sources, tools, jail, kernelConfig, metaMode, options];
  const name = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  return `${folder}/toolchains/${name}`;
}

/** Folders that contribute to no program of the build; all other folders count. */
const kernelAlone = /\tsys\/(?:dev|net|netgraph|netinet|netinet6|netipsec|netlink|netpfil)$/;

/** Returns false if none is cached. The jail's user still owns the files, but cannot enter the folder around them. */
export async function installToolchain(host: Host, kept: string, objects: string): Promise<boolean> {
  return isGood(await host.run(shell`test -d ${kept} && rm -rf ${objects} && cp -a ${kept} ${objects}`));
}

/** Caches only the toolchain of a base, as a patch may have changed its makefiles. Atomic. */
export async function keepToolchain(
  host: Host,
  { folder }: Pick<ToolchainRequest, 'folder'>,
  kept: string,
  objects: string,
): Promise<void> {
  const around = `${folder}/toolchains`;
  const partial = `${around}/partial`;
  await host.run(
    shell`mkdir -p ${around} && chmod 700 ${around} && rm -rf ${partial} && cp -a ${objects} ${partial} && rm -rf ${kept} && mv ${partial} ${kept} && touch ${kept}`,
  );
  const names = (await host.run(shell`ls -1t ${around}`)).stdout.split('\n').filter(Boolean);
  const rubbish = names.filter((name) => name !== 'partial').slice(maxKept);
  for (const name of ['partial', ...rubbish]) await host.run(shell`rm -rf ${`${around}/${name}`}`);
}

/** Few: one with a compiler needs several gigabytes. */
const maxKept = 2;
