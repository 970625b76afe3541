// Parses `builder:` of ppsgate.yml for FreeBSD's kernels, and the keys shared by all builders.
import { z } from 'zod';
import type { OperatingSystem } from '../model/scenario.ts';
import { duration, type QuantityLimit } from '../model/units.ts';
import { closed, type HostConfig, ssh, text, wholeNumber, withHost, wrongName } from './fields.ts';

export type BuilderConfig = HostConfig &
  BuildPlace & {
    system: 'freebsd';
    recipe: MakeRecipe | CommandRecipe;
    /** Number of a kernel's layouts, each with another order of sections; 1: only the usual one. */
    layoutVariants: number;
  };

export type BuildPlace = {
  system: OperatingSystem;
  /** Absent: this machine. */
  host?: string;
  port: number;
  /** Absolute path on the builder for all of ppsgate's files. */
  folder: string;
  /** A clone of the system's sources on the builder, bare or not; ppsgate only adds objects. */
  repository: string;
  remote: string;
  /** Absent: builds run as the login user and may write to all that user's files. */
  jail?: BuildJail;
  limitSeconds: number;
  /** Limit of the wait for other builds on the same builder. */
  turnSeconds: number;
  minFreeBytes: number;
  cache: CacheBounds;
};

type BuildJail = {
  /** Name of a jail(8) on the builder; absent on Linux, where a build gets its own namespaces. */
  name?: string;
  user: string;
};

export type CacheBounds = { maxKernels: number; maxBytes: number };

/** `make buildkernel`, see build(7). */
export type MakeRecipe = {
  kind: 'make';
  kernelConfig: string;
  /** KERNCONFDIR: a folder on the builder; absent: the tree's own. */
  kernelConfigFolder?: string;
  /** Absent: the number of the builder's CPUs. */
  jobs?: number;
  /** Starts every build from scratch instead of the previous objects. */
  clean: boolean;
  /** WITH_META_MODE of src.conf(5); needs filemon(4), and applies only without `clean`. */
  metaMode: boolean;
  /** Runs `make kernel-toolchain` first, for a builder whose world differs in age from base. */
  toolchain: boolean;
  /** All modules of the tree, or those loaded on the DUT and needed for measuring. */
  modules: 'all' | 'needed';
  options: string[];
  /** Builds on Linux by the tree's tools/build/make.py; without a folder, the newest clang of the builder. */
  cross?: { toolFolder?: string };
};

/** A site's own command: its words must include all dependencies, as they are the cache key. */
export type CommandRecipe = {
  kind: 'command';
  /** Environment: BASE_COMMIT, DIFF (empty for base), KERNCONF, LAYOUT (from 1) and OUTPUT. */
  argv: string[];
  kernelConfig: string;
};

// make(1) splits PATH at colons, and build(7) at commas; the other characters are excluded for safety.
export const buildFolder = text(/^(?:\/(?!\.\.?(?:\/|$))[\w.+-]+)+$/, 'an absolute path of plain letters');
const kernelConfig = text(/^[a-zA-Z0-9][\w.-]{0,62}$/, 'the name of a kernel configuration');

/** Keys of kernels by `make buildkernel`, on any builder. */
export const makeKeys = {
  kernelConfig: kernelConfig.prefault('GENERIC').describe('KERNCONF.'),
  jobs: wholeNumber(1, 1024).optional().describe('Left out, as many as the builder has CPUs.'),
  clean: z.boolean().prefault(true).describe('Every build starts from nothing, or from the objects of the one before.'),
  modules: z
    .enum(['all', 'needed'], { error: wrongName(['all', 'needed']) })
    .describe('All that the tree has, or those that the DUT has loaded and measuring loads.'),
  options: z
    .array(text(/^(?:-D\w+|\w+=[^\p{Cc}]*)$/u, 'an option of make like -DNAME or NAME=value'))
    .prefault([])
    .describe('`-DNAME` and `NAME=value` for make.'),
};

const make = closed({
  kind: z.literal('make'),
  ...makeKeys,
  kernelConfigFolder: buildFolder
    .optional()
    .describe("KERNCONFDIR, a folder on the builder; left out, the tree's own."),
  metaMode: z
    .boolean()
    .prefault(false)
    .describe('WITH_META_MODE of src.conf(5); needs filemon(4), and `clean: false`.'),
  toolchain: z
    .boolean()
    .prefault(true)
    .describe('Runs `make kernel-toolchain` first, for a builder with another version of FreeBSD.'),
  modules: makeKeys.modules.prefault('all'),
})
  .refine(({ clean, metaMode }) => !(clean && metaMode), {
    path: ['metaMode'],
    error: 'meta mode saves time only from one build to the next; set `clean: false`',
  })
  .refine(
    ({ modules, options }) =>
      modules === 'all' || !options.some((option) => /^(?:-D)?(?:NO_MODULES|MODULES_OVERRIDE)\b/.test(option)),
    {
      path: ['modules'],
      error: '`options` says which modules are built already; leave one of the two out',
    },
  )
  .transform(
    ({ kernelConfigFolder, jobs, ...rest }): MakeRecipe => ({
      ...rest,
      ...(kernelConfigFolder !== undefined && { kernelConfigFolder }),
      ...(jobs !== undefined && { jobs }),
    }),
  );

export const commandRecipe = closed({
  kind: z.literal('command'),
  argv: z
    .array(text(/^[^\0]+$/, 'a word of a command'))
    .min(1, 'expected a command')
    .describe('Run on the builder with BASE_COMMIT, DIFF, KERNCONF, LAYOUT and OUTPUT in its environment.'),
  kernelConfig: kernelConfig.prefault('GENERIC').describe('KERNCONF.'),
}) satisfies z.ZodType<CommandRecipe>;

const recipe = z.discriminatedUnion('kind', [make, commandRecipe], {
  error: 'expected `kind: make` or `kind: command`',
});

const minutes = (least: number, most: number): QuantityLimit => ({
  description: `a duration from ${least} min to ${most} min`,
  holds: (seconds) => seconds >= least * 60 && seconds <= most * 60,
});

const diskSize = text(/^\d{1,5} ?GB$/, 'a size like 20 GB').transform((written) => Number.parseInt(written, 10) * 1e9);

const jail = closed({
  name: text(/^[a-zA-Z_][\w-]{0,62}$/, 'the name of a jail'),
  user: text(/^(?!root$|toor$)[a-zA-Z_][\w.-]{0,31}$/, 'a user of the builder other than root'),
}) satisfies z.ZodType<BuildJail>;

export const buildingUser = text(
  /^(?!root$|toor$)[a-zA-Z_][\w.-]{0,31}$/,
  'a user of the builder other than root',
).describe('User for builds: on this machine the only one, without network; on another machine, its login.');

export const builderKeys = {
  remote: text(/^[a-zA-Z0-9][\w.-]*$/, 'the name of a remote')
    .prefault('origin')
    .describe("The clone's remote, from which a missing base is fetched."),
  limit: duration(minutes(1, 720)).prefault('120 min').describe('One make of a build, at most.'),
  turn: duration(minutes(1, 1440)).prefault('240 min').describe('Longest wait for other builds on the builder.'),
  freeSpace: diskSize.prefault('10 GB').describe('Less than this, and no build is started.'),
  keep: closed({
    kernels: wholeNumber(2, 10_000).prefault(50),
    size: diskSize.prefault('20 GB'),
  })
    .prefault({})
    .describe('Kernels stay in the cache, up to the first of these bounds.'),
};

type WrittenBounds = {
  limit: number;
  turn: number;
  freeSpace: number;
  keep: { kernels: number; size: number };
};

export function withBounds<Rest extends WrittenBounds>(written: Rest) {
  const { limit, turn, freeSpace, keep, ...rest } = written;
  return {
    ...rest,
    limitSeconds: limit,
    turnSeconds: turn,
    minFreeBytes: freeSpace,
    cache: { maxKernels: keep.kernels, maxBytes: keep.size },
  };
}

/** The default number of booted runs per variant: more layouts would never be booted. */
export const maxLayouts = 20;

/** Paths stay as written. */
export const builderSchema = closed({
  ...ssh,
  folder: buildFolder.prefault('/var/db/ppsgate').describe('On the builder; everything of ours is below it.'),
  repository: buildFolder
    .prefault('/usr/src')
    .describe("A clone of FreeBSD's src on the builder; only objects are added to it."),
  ...builderKeys,
  jail: jail.optional().describe('A jail(8) without network for builds, whose user owns nothing else.'),
  kernel: recipe.prefault({ kind: 'make' }).describe('The recipe of a kernel.'),
  layoutVariants: wholeNumber(1, maxLayouts)
    .prefault(1)
    .describe('Number of layouts that each kernel is linked in; its runs boot them in turn.'),
})
  .refine(({ jail, user }) => jail === undefined || user === 'root', {
    path: ['jail'],
    error: 'only root enters a jail; log in as root, `user: root`',
  })
  .refine(({ layoutVariants, keep }) => 2 * layoutVariants <= keep.kernels, {
    path: ['layoutVariants'],
    error: 'the cache is to hold all layouts of two kernels; set `keep: { kernels: }` to twice as many',
  })
  .transform(withHost)
  .transform(withBounds)
  .transform(
    ({ kernel, jail, ...rest }): BuilderConfig => ({
      ...rest,
      system: 'freebsd',
      recipe: kernel,
      ...(jail !== undefined && { jail }),
    }),
  );
