// Builds one kernel from a tree on the builder, by make or by a site's own command, into one archive.

import type { BuilderConfig, CommandRecipe, KernelRecipe, MakeRecipe } from '../config/builder.ts';
import { type Command, shell } from '../host/shell.ts';
import type { Host } from '../host/ssh.ts';
import { readBuildFailure } from './build-log.ts';
import { BuilderError } from './builder-error.ts';
import { type Guarded, type GuardOptions, runGuarded } from './guard.ts';
import { buildFolder, inJail } from './jail.ts';
import { keepToolchain, keptToolchain, layToolchain } from './kept-toolchain.ts';
import { gitIn } from './kernel-tree.ts';

export type RecipeRequest = {
  readonly baseCommit: string;
  /** Git's id. */
  readonly tree: string;
  readonly diffPath: string | undefined;
  /** What the compiler and other programs of the builder are: objects of others are of no use. */
  readonly tools: string;
  /** A folder for this build alone. */
  readonly work: string;
  /** The links that are wanted, ascending. */
  readonly links: readonly WantedLink[];
};

type WantedLink = {
  /** See `Run`. */
  readonly number: number;
  /** Where its archive is to be. */
  readonly output: string;
};

export type Cooked =
  /** `uname` is how `uname -v` begins where the kernel runs. */
  | { readonly kind: 'built'; readonly log: string; readonly uname: string | undefined }
  | { readonly kind: 'build-failed'; readonly log: string; readonly errors: readonly string[] }
  | { readonly kind: 'out-of-disk'; readonly log: string };

/** Only in turn: all builds use the same folders, for a kernel holds their names, and those are not to differ between variants. */
export function cook(
  host: Host,
  config: BuilderConfig,
  request: RecipeRequest,
  guard: GuardOptions,
): Promise<Cooked> {
  const { recipe, repository, folder, jail } = config;
  const inHouse = { ...request, repository, folder, ...(jail !== undefined && { jail }) };
  return recipe.kind === 'make'
    ? cookByMake(host, recipe, inHouse, guard)
    : cookByCommand(host, recipe, inHouse, guard);
}

type MakeRequest = RecipeRequest &
  Pick<BuilderConfig, 'repository' | 'folder' | 'jail'> & {
    /** Where the toolchain is kept; undefined where none is. */
    readonly kept?: string | undefined;
    /** It is among the objects already. */
    readonly isKept?: boolean;
  };

async function cookByMake(
  host: Host,
  recipe: MakeRecipe,
  request: MakeRequest,
  guard: GuardOptions,
): Promise<Cooked> {
  const tree = `${request.folder}/tree`;
  await requireFilemon(host, recipe);
  let isGood = false;
  try {
    const isNew = await layTree(host, recipe, request, tree);
    const kept = await keptToolchain(host, recipe, request);
    const isKept = kept !== undefined && (await layToolchain(host, kept, `${tree}/obj`));
    const cooked = await makeKernel(host, recipe, { ...request, kept, isKept }, tree, guard);
    isGood = cooked.kind === 'built';
    if (isGood || (isNew && !isKept) || cooked.kind === 'out-of-disk') return cooked;
    // Old objects may be what is wrong; a patch is blamed only for what fails without them.
    await removeTree(host, request.repository, tree);
    await layTree(host, recipe, request, tree);
    const again = await makeKernel(host, recipe, { ...request, kept }, tree, guard);
    isGood = again.kind === 'built';
    return again;
  } finally {
    if (recipe.clean || !isGood) await removeTree(host, request.repository, tree);
    else await host.run(shell`rm -rf ${`${tree}/stage`}`);
  }
}

async function requireFilemon(host: Host, { metaMode }: MakeRecipe): Promise<void> {
  if (!metaMode) return;
  const outcome = await host.run(shell`kldstat -q -m filemon`);
  if (outcome.kind === 'exited' && outcome.code === 0) return;
  throw new BuilderError(
    `${host.name} has no filemon(4) loaded, which meta mode needs; run "kldload filemon" there, or set \`metaMode: false\`.`,
  );
}

/**
 * Checks the tree out, over the one that was left where builds are not clean: only files that differ are
 * written then, and make(1) goes by their times. Answers whether it started from nothing.
 */
async function layTree(
  host: Host,
  recipe: MakeRecipe,
  { repository, baseCommit, tree: id, tools }: MakeRequest,
  tree: string,
): Promise<boolean> {
  const source = `${tree}/src`;
  const stamp = await host.run(shell`cat ${`${tree}/tools`}`);
  const checkOut = gitIn(source, shell`read-tree --reset -u ${id}`);
  if (!recipe.clean && stamp.stdout === tools) {
    const head = gitIn(source, shell`update-ref --no-deref HEAD ${baseCommit}`);
    const reset = await host.run(
      shell`${head} && ${checkOut} && ${gitIn(source, shell`clean -ffdxq`)} && rm -rf ${`${tree}/stage`}`,
    );
    if (reset.kind === 'exited' && reset.code === 0) return false;
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

async function makeKernel(
  host: Host,
  recipe: MakeRecipe,
  request: MakeRequest,
  tree: string,
  guard: GuardOptions,
): Promise<Cooked> {
  const jobs = recipe.jobs ?? Number(await host.output(shell`sysctl -n hw.ncpu`));
  const stage = `${tree}/stage`;
  // Only these: sources that a build could change would be those of the next one.
  for (const path of [`${tree}/obj`, stage]) await host.output(buildFolder(request, path));
  const install = [
    `DESTDIR=${stage}`,
    ...['NO_ROOT', 'DB_FROM_SRC', 'WITHOUT_KERNEL_SYMBOLS'].map((name) => `-D${name}`),
  ];
  const { kept, isKept = false, diffPath } = request;
  let log = isKept
    ? 'The kernel-toolchain is the one of an earlier base, of the same sources.\n'
    : '';
  const step = async (command: Command): Promise<Cooked | undefined> => {
    const done = await runGuarded(host, inJail(request, command), guard);
    log += done.log;
    return failureOf(done, log, `${tree}/src`, guard);
  };
  if (recipe.toolchain && !isKept) {
    const failed = await step(make(recipe, tree, jobs, 'kernel-toolchain'));
    if (failed !== undefined) return failed;
    const isBase = diffPath === undefined;
    if (isBase && kept !== undefined) await keepToolchain(host, request, kept, `${tree}/obj`);
  }
  const failed = await step(make(recipe, tree, jobs, 'buildkernel'));
  if (failed !== undefined) return failed;
  const kernel = `${stage}/boot/kernel`;
  const kernelsSeen: string[] = [];
  for (const [index, { number, output }] of request.links.entries()) {
    if (number !== 1) {
      await removeLinked(host, recipe, request, tree);
      const notLinked = await step(linkAgain(recipe, tree, jobs, number));
      if (notLinked?.kind === 'out-of-disk') return notLinked;
      requireLinked(notLinked, host, recipe);
    }
    if (index > 0) await host.output(inJail(request, shell`rm -rf ${`${stage}/boot`}`));
    const notInstalled = await step(make(recipe, tree, 1, 'installkernel', install));
    if (notInstalled !== undefined) return notInstalled;
    kernelsSeen.push(await host.output(inJail(request, shell`sha256 -q ${`${kernel}/kernel`}`)));
    const packed = `${stage}/packed`;
    const pack = shell`tar --zstd --uid 0 --gid 0 -cf ${packed} -C ${kernel} .`;
    await host.output(inJail(request, pack));
    await take(host, request, packed, output);
  }
  requireDistinct(kernelsSeen, host, recipe);
  // The next build would take what was linked last for its own, as it is newer than every object.
  if (request.links.some(({ number }) => number !== 1)) {
    await removeLinked(host, recipe, request, tree);
  }
  return { kind: 'built', log, uname: await unameOf(host, request, `${kernel}/kernel`) };
}

/**
 * Links a kernel again of the objects that are there: sys.mk hands LDFLAGS to ld(1) without `-Wl,`, and KERNFAST of
 * build(7) leaves configuration and cleaning out. Only code changes places. Linker sets such as those of SYSINIT(9) keep
 * their order, and so do modules: they are linked with -r, in which ld.lld leaves the order as it is.
 */
const linkAgain = (recipe: MakeRecipe, tree: string, jobs: number, seed: number): Command =>
  make(
    recipe,
    tree,
    jobs,
    'buildkernel',
    ['-DKERNFAST', '-DNO_MODULES'],
    [`LDFLAGS=-Wl,--shuffle-sections=.text*=${seed}`],
  );

/** Whatever make(1) would take for linked already. */
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

/** The kernel was linked before: what fails now is no fault of a patch. */
function requireLinked(
  failed: Cooked | undefined,
  host: Host,
  recipe: KernelRecipe,
): asserts failed is undefined {
  if (failed === undefined) return;
  const why = failed.kind === 'build-failed' ? failed.errors.join('; ') : failed.kind;
  throw new BuilderError(
    `A kernel could not be linked again on ${host.name} (${why}); ${mending[recipe.kind]}, or set \`relink: 1\`.`,
  );
}

function requireDistinct(kernels: readonly string[], host: Host, recipe: KernelRecipe): void {
  if (new Set(kernels).size === kernels.length) return;
  throw new BuilderError(
    `A kernel that was linked again on ${host.name} came out as it was before; ${mending[recipe.kind]}, or set \`relink: 1\`.`,
  );
}

const mending: Readonly<Record<KernelRecipe['kind'], string>> = {
  make: 'let the tree be linked by ld.lld of LLVM 13 or newer',
  command: 'let the command link in another order for each $LINK',
};

/**
 * The switches are those of build(7), src.conf(5) and Makefile.inc1: NO_ROOT lets anybody install, and
 * MAKEOBJDIRPREFIX counts only in the environment. The builder's own make.conf and src.conf do not count, nor
 * the modules of ports that kern.post.mk finds there, so that what was built is known from ppsgate.yml.
 */
function make(
  recipe: MakeRecipe,
  tree: string,
  jobs: number,
  target: string,
  more: readonly string[] = [],
  environment: readonly string[] = [],
): Command {
  const { kernelConfig, kernelConfigFolder, clean, metaMode, options } = recipe;
  const words = [
    ...['__MAKE_CONF', 'SRCCONF', 'SRC_ENV_CONF'].map((name) => `${name}=/dev/null`),
    'LOCAL_MODULES=',
    '-DWITH_REPRODUCIBLE_BUILD',
    `KERNCONF=${kernelConfig}`,
    ...(kernelConfigFolder === undefined ? [] : [`KERNCONFDIR=${kernelConfigFolder}`]),
    ...(clean ? [] : ['-DNO_CLEAN']),
    ...(metaMode ? ['-DWITH_META_MODE'] : []),
    ...options,
    ...more,
    target,
  ];
  const variables = [`MAKEOBJDIRPREFIX=${tree}/obj`, ...environment];
  return shell`${cleanEnvironment} ${variables} make -C ${`${tree}/src`} -j ${jobs} ${words}`;
}

const cleanEnvironment = shell`env -i PATH="$PATH" HOME="$HOME" LC_ALL=C`;

function failureOf(
  done: Guarded,
  log: string,
  source: string,
  { limitSeconds }: GuardOptions,
): Cooked | undefined {
  if (done.kind === 'timed-out') {
    const error = `The build did not end within ${limitSeconds} s.`;
    return { kind: 'build-failed', log, errors: [error] };
  }
  if (done.code === 0) return undefined;
  const failure = readBuildFailure(done.log, source);
  return failure.kind === 'out-of-disk'
    ? { kind: 'out-of-disk', log }
    : { kind: 'build-failed', log, errors: failure.errors };
}

/** Read by who has written it: a link could lead to what only root may read. */
async function take(
  host: Host,
  request: MakeRequest,
  archive: string,
  output: string,
): Promise<void> {
  await host.output(shell`${inJail(request, shell`cat ${archive}`)} > ${output}`);
}

/** what(1) finds the version that newvers.sh laid into the kernel; not every kernel has it. */
async function unameOf(
  host: Host,
  request: MakeRequest,
  kernel: string,
): Promise<string | undefined> {
  const outcome = await host.run(inJail(request, shell`what -q -s ${kernel}`));
  const [line = ''] = outcome.stdout.trim().split('\n');
  return outcome.kind === 'exited' && outcome.code === 0 && line !== '' ? line : undefined;
}

async function cookByCommand(
  host: Host,
  recipe: CommandRecipe,
  request: MakeRequest,
  guard: GuardOptions,
): Promise<Cooked> {
  const { work, folder } = request;
  const written = `${work}/out/kernel`;
  await host.output(buildFolder(request, `${work}/out`));
  let log = '';
  const archives: string[] = [];
  for (const [index, { number, output }] of request.links.entries()) {
    await host.run(inJail(request, shell`rm -f ${written}`));
    const command = shell`${cleanEnvironment} ${variablesOf(recipe, request, number, written)} ${recipe.argv}`;
    const done = await runGuarded(host, inJail(request, command), guard);
    log += done.log;
    const failed = failureOf(done, log, folder, guard);
    if (failed?.kind === 'out-of-disk') return failed;
    if (index > 0) requireLinked(failed, host, recipe);
    if (failed !== undefined) return failed;
    const isThere = await host.run(inJail(request, shell`test -s ${written}`));
    if (isThere.kind !== 'exited' || isThere.code !== 0) {
      throw new BuilderError(
        `"${recipe.argv[0]}" on ${host.name} succeeded without a kernel at $OUTPUT; let it write a tar archive of the kernel and its modules there.`,
      );
    }
    await take(host, request, written, output);
    archives.push(await host.output(shell`sha256 -q ${output}`));
  }
  requireDistinct(archives, host, recipe);
  return { kind: 'built', log, uname: undefined };
}

const variablesOf = (
  { kernelConfig }: CommandRecipe,
  { baseCommit, diffPath }: MakeRequest,
  link: number,
  output: string,
): string[] => [
  `BASE_COMMIT=${baseCommit}`,
  `DIFF=${diffPath ?? ''}`,
  `KERNCONF=${kernelConfig}`,
  `LINK=${link}`,
  `OUTPUT=${output}`,
];
