// Builds a kernel from a tree on the builder, by make or by a site's own command, into one archive.

import type { CommandRecipe, MakeRecipe } from '../config/builder.ts';
import { isGood } from '../system/host/execute.ts';
import type { Host } from '../system/host/ssh.ts';
import { type Command, shell } from '../system/shell.ts';
import {
  type BuildOutput,
  cleanEnvironment,
  type KernelBuilder,
  type PlacedRequest,
  type RecipeRequest,
  stepsOf,
  take,
} from './build-step.ts';
import { inTree } from './build-tree.ts';
import { BuilderError } from './builder-error.ts';
import { bmakeTests, crossMake, crossToolsOf, whyNotLoadable } from './cross-build.ts';
import type { GuardOptions } from './guard.ts';
import { buildFolder, inJail } from './jail.ts';
import { installToolchain, keepToolchain, keptToolchain } from './kept-toolchain.ts';
import { buildLinux } from './kernel-recipe-linux.ts';
import { commandsOf } from './system-commands.ts';

/** Requires the build slot: all builds use the same folders, as kernels contain the folders' names. */
export function buildByRecipe(
  host: Host,
  config: KernelBuilder,
  request: RecipeRequest,
  guard: GuardOptions,
): Promise<BuildOutput> {
  const { recipe, system, repository, folder, jail } = config;
  const inHouse = { ...request, system, repository, folder, ...(jail !== undefined && { jail }) };
  switch (recipe.kind) {
    case 'make':
      return buildByMake(host, recipe, inHouse, guard);
    case 'linux':
      return buildLinux(host, recipe, inHouse, guard);
    case 'command':
      return buildByCommand(host, recipe, inHouse, guard);
  }
}

type MakeRequest = PlacedRequest & {
  readonly kept: string | undefined;
  /** True if the objects already include the toolchain. */
  readonly isKept: boolean;
};

async function buildByMake(
  host: Host,
  recipe: MakeRecipe,
  request: PlacedRequest,
  guard: GuardOptions,
): Promise<BuildOutput> {
  if (recipe.metaMode && !isGood(await host.run(shell`kldstat -q -m filemon`))) {
    throw new BuilderError(
      `${host.name} has not loaded filemon(4), which meta mode needs: run "kldload filemon" there.`,
    );
  }
  const kept = await keptToolchain(host, recipe, request);
  return inTree(host, recipe, request, async (tree, mayReuse) => {
    const isKept = mayReuse && kept !== undefined && (await installToolchain(host, kept, `${tree}/obj`));
    const built = await makeKernel(host, recipe, { ...request, kept, isKept }, tree, guard);
    return { built, isOfOld: isKept };
  });
}

async function makeKernel(
  host: Host,
  recipe: MakeRecipe,
  request: MakeRequest,
  tree: string,
  guard: GuardOptions,
): Promise<BuildOutput> {
  const { sha256, cpus, rootArchive } = commandsOf[request.system];
  const jobs = recipe.jobs ?? Number(await host.output(cpus));
  const stage = `${tree}/stage`;
  // Allows only these folders: a build that could change sources would change the next build.
  const ofTests = recipe.cross === undefined ? [] : [`${tree}/src/${bmakeTests}`];
  for (const path of [`${tree}/obj`, stage, ...ofTests]) {
    await host.output(buildFolder(request, path));
  }
  const install = [
    `DESTDIR=${stage}`,
    ...['NO_ROOT', 'DB_FROM_SRC', 'WITHOUT_KERNEL_SYMBOLS'].map((name) => `-D${name}`),
  ];
  const { kept, isKept, diffPath } = request;
  const make = await makeFor(host, recipe, tree);
  const heading = isKept ? 'The kernel-toolchain of an earlier base with the same sources is reused.\n' : '';
  const steps = stepsOf(host, request, `${tree}/src`, guard, heading);
  if (recipe.toolchain && !isKept) {
    const failed = await steps.run(make(jobs, 'kernel-toolchain'));
    if (failed !== undefined) return failed;
    const isBase = diffPath === undefined;
    if (isBase && kept !== undefined) await keepToolchain(host, request, kept, `${tree}/obj`);
  }
  const failed = await steps.run(make(jobs, 'buildkernel'));
  if (failed !== undefined) return failed;
  const kernel = `${stage}/boot/kernel`;
  const kernelsSeen: string[] = [];
  for (const [index, { number, output }] of request.layouts.entries()) {
    if (number !== 1) {
      await removeLinked(host, recipe, request, tree);
      const notLinked = await steps.run(linkAgain(make, jobs, number));
      if (notLinked?.kind === 'out-of-disk') return notLinked;
      requireLinked(notLinked, host);
    }
    if (index > 0) await host.output(inJail(request, shell`rm -rf ${`${stage}/boot`}`));
    const notInstalled = await steps.run(make(1, 'installkernel', install));
    if (notInstalled !== undefined) return notInstalled;
    kernelsSeen.push(await host.output(inJail(request, sha256(`${kernel}/kernel`))));
    const packed = `${stage}/packed`;
    if (recipe.cross !== undefined) {
      const unloadable = await whyNotLoadable(host, request, kernel);
      if (unloadable.length > 0) return { kind: 'build-failed', log: steps.log, errors: unloadable };
    }
    await host.output(inJail(request, rootArchive(packed, kernel)));
    await take(host, request, packed, output);
  }
  requireDistinct(kernelsSeen, host);
  // The next build would reuse the last linked kernel, which is newer than every object.
  if (request.layouts.some(({ number }) => number !== 1)) {
    await removeLinked(host, recipe, request, tree);
  }
  // newvers.sh writes the version into the kernel for what(1). Some kernels have none.
  const found = await host.run(inJail(request, shell`what -q -s ${`${kernel}/kernel`}`));
  const [uname = ''] = found.stdout.trim().split('\n');
  return { kind: 'built', log: steps.log, uname: isGood(found) && uname !== '' ? uname : undefined };
}

/**
 * Links a kernel again from its objects. sys.mk passes LDFLAGS to ld(1) without `-Wl,`, and KERNFAST of build(7) skips
 * configuration and cleaning. Only code is reordered. Linker sets, such as those of SYSINIT(9), keep their order. So do
 * modules: they are linked with -r, for which ld.lld keeps the order.
 */
const linkAgain = (make: Make, jobs: number, seed: number): Command =>
  make(jobs, 'buildkernel', ['-DKERNFAST', '-DNO_MODULES'], [`LDFLAGS=-Wl,--shuffle-sections=.text*=${seed}`]);

/** Removes files that make(1) would consider already linked. */
async function removeLinked(
  host: Host,
  { kernelConfig }: MakeRecipe,
  request: MakeRequest,
  tree: string,
): Promise<void> {
  const where = ['-type', 'f', '-path', `*/sys/${kernelConfig}/kernel*`];
  const names = ['(', '-name', 'kernel', '-o', '-name', 'kernel.full', ')'];
  await host.output(inJail(request, shell`find ${`${tree}/obj`} ${[...where, ...names]} -delete`));
}

/** The kernel was linked once before, so the patch is not to blame for a failure. */
function requireLinked(failed: BuildOutput | undefined, host: Host): asserts failed is undefined {
  if (failed === undefined) return;
  const why = failed.kind === 'build-failed' ? failed.errors.join('; ') : failed.kind;
  throw new BuilderError(
    `A kernel could not be relinked on ${host.name} (${why}): fix that, or set \`layoutVariants: 1\`.`,
  );
}

function requireDistinct(kernels: readonly string[], host: Host): void {
  if (new Set(kernels).size === kernels.length) return;
  throw new BuilderError(
    `A kernel relinked on ${host.name} is identical to the first one: its build must reorder code by $LAYOUT, or set \`layoutVariants: 1\`.`,
  );
}

type Make = (jobs: number, target: string, more?: readonly string[], environment?: readonly string[]) => Command;

/**
 * Switches: build(7), src.conf(5) and Makefile.inc1. NO_ROOT lets any user install. MAKEOBJDIRPREFIX counts only in the
 * environment. Excludes the builder's make.conf, src.conf and modules of ports, so that ppsgate.yml alone defines a
 * build.
 */
async function makeFor(host: Host, recipe: MakeRecipe, tree: string): Promise<Make> {
  const { kernelConfig, kernelConfigFolder, clean, metaMode, options, cross } = recipe;
  const program =
    cross === undefined ? shell`make -C ${`${tree}/src`}` : crossMake(`${tree}/src`, await crossToolsOf(host, cross));
  return (jobs, target, more = [], environment = []) => {
    const words = [
      ...['__MAKE_CONF', 'SRCCONF', 'SRC_ENV_CONF'].map((name) => `${name}=/dev/null`),
      'LOCAL_MODULES=',
      '-DWITH_REPRODUCIBLE_BUILD',
      `KERNCONF=${kernelConfig}`,
      ...(kernelConfigFolder === undefined ? [] : [`KERNCONFDIR=${kernelConfigFolder}`]),
      // A clean build of make.py starts without objects.
      ...(clean && cross === undefined ? [] : ['-DNO_CLEAN']),
      ...(metaMode ? ['-DWITH_META_MODE'] : []),
      ...options,
      ...more,
      target,
    ];
    const variables = [`MAKEOBJDIRPREFIX=${tree}/obj`, ...environment];
    return shell`${cleanEnvironment} ${variables} ${program} -j ${jobs} ${words}`;
  };
}

async function buildByCommand(
  host: Host,
  recipe: CommandRecipe,
  request: PlacedRequest,
  guard: GuardOptions,
): Promise<BuildOutput> {
  const { work, folder, system } = request;
  const written = `${work}/out/kernel`;
  await host.output(buildFolder(request, `${work}/out`));
  const steps = stepsOf(host, request, folder, guard);
  const archives: string[] = [];
  for (const [index, { number, output }] of request.layouts.entries()) {
    await host.run(inJail(request, shell`rm -f ${written}`));
    const variables = [
      `BASE_COMMIT=${request.baseCommit}`,
      `DIFF=${request.diffPath ?? ''}`,
      `KERNCONF=${recipe.kernelConfig}`,
      `LAYOUT=${number}`,
      `OUTPUT=${written}`,
    ];
    const command = shell`${cleanEnvironment} ${variables} ${recipe.argv}`;
    const failed = await steps.run(command);
    if (failed?.kind === 'out-of-disk') return failed;
    if (index > 0) requireLinked(failed, host);
    if (failed !== undefined) return failed;
    if (!isGood(await host.run(inJail(request, shell`test -s ${written}`)))) {
      throw new BuilderError(`"${recipe.argv[0]}" on ${host.name} succeeded but wrote no kernel to $OUTPUT.`);
    }
    await take(host, request, written, output);
    archives.push(await host.output(commandsOf[system].sha256(output)));
  }
  requireDistinct(archives, host);
  return { kind: 'built', log: steps.log, uname: undefined };
}
