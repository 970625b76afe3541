// Creates the variants to measure, base, patched and earlier diffs, as files to install or kernels to boot.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import type { OverlayPlace } from '../config/overlay.ts';
import { type Config, systemOf } from '../config/schema.ts';
import type { Repository } from '../forge/patch/repository.ts';
import * as bounded from '../model/bounds.ts';
import { fileReasonOf } from '../model/one-line.ts';
import { isLoaded, overlayFiles } from '../model/overlay-files.ts';
import { commitId, type Patch } from '../model/patch.ts';
import type { OperatingSystem } from '../model/scenario.ts';
import { UsageError } from '../model/usage-error.ts';
import { buildOverlays, commitsOf, overlaySchema, type VariantCommit } from './overlay.ts';

const kernelSourceSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('tree'),
    baseCommit: commitId,
    /** Applied to the base commit; in base64, as it may hold any bytes. Absent: the base itself. */
    diff: z.base64().max(bounded.maxDocument).optional(),
    /** Layout variants to boot, ascending. Absent: linked once. */
    layouts: bounded.list(bounded.ordinal).min(1).optional(),
  }),
  /** Built earlier: a tar archive on this machine, with `kernel` and its modules at its top. */
  z.object({ kind: z.literal('archive'), path: bounded.path, sha256: bounded.name }),
]);

export const variantSchema = overlaySchema.extend({
  kernel: kernelSourceSchema.optional(),
});

export type KernelSource = z.infer<typeof kernelSourceSchema>;
export type Variant = z.infer<typeof variantSchema>;

/**
 * Paths of kernels on this machine that were built earlier. FreeBSD: tar archives with `kernel` and its modules at
 * their top. Virtual machines: packages with `boot/vmlinuz-*` and `lib/modules/*`.
 */
export type GivenKernels = { base: string; patched: string };

export type VariantRequest = 'overlay' | 'kernel';

/** Returns kernels on FreeBSD, and on virtual machines that are given or build some; otherwise files. */
export function makingOf(config: Config, testbed: string, kernels?: GivenKernels | undefined): VariantRequest {
  const one = config.testbeds[testbed];
  if (one?.kind === 'freebsd') return 'kernel';
  if (one?.kind !== 'virtual') return 'overlay';
  return kernels === undefined && one.builder === undefined ? 'overlay' : 'kernel';
}

type VariantsRequest = {
  patch: Patch;
  making: VariantRequest;
  overlayFolder: OverlayPlace;
  kernels?: GivenKernels | undefined;
};

/**
 * Creates base at the patch's merge base, patched, and earlier diffs of its revision on the same base. Throws a
 * `RepositoryError` if the repository lacks a commit, and a `UsageError` for a missing or unreadable kernel.
 */
export async function buildVariants(
  { patch, making, overlayFolder, kernels }: VariantsRequest,
  repository: Repository,
): Promise<Variant[]> {
  if (making === 'overlay') return buildOverlays(patch, overlayFolder, repository);
  const { base, changed } = await commitsOf(patch, repository);
  if (kernels === undefined) {
    return [
      { ...base, files: [], kernel: { kind: 'tree', baseCommit: base.commit } },
      ...(await Promise.all(changed.map((variant) => onBase(base.commit, variant, repository)))),
    ];
  }
  const [patched, lacking] = changed;
  if (lacking !== undefined) {
    throw new UsageError(
      `Kernels were supplied for base and patched, but none for ${lacking.variant}: leave out earlier diffs, or have all kernels built.`,
    );
  }
  return [
    { ...base, files: [], kernel: await givenKernel(kernels.base) },
    { ...patched, files: [], kernel: await givenKernel(kernels.patched) },
  ];
}

export async function variantsByMaking(
  {
    patch,
    config,
    kernels,
    testbeds,
  }: Omit<VariantsRequest, 'making' | 'overlayFolder'> & {
    config: Config;
    testbeds: readonly string[];
  },
  repository: Repository,
): Promise<Map<VariantRequest, Variant[]>> {
  const makings = [...new Set(testbeds.map((name) => makingOf(config, name, kernels)))];
  const built = makings.map(async (making) => {
    const request = { patch, making, overlayFolder: config.overlay, kernels };
    return [making, await buildVariants(request, repository)] as const;
  });
  const byMaking = new Map(await Promise.all(built));
  for (const name of testbeds) {
    if (makingOf(config, name, kernels) !== 'overlay') continue;
    requireLoaded(byMaking.get('overlay') ?? [], { name, system: systemOf(config, name) });
  }
  return byMaking;
}

/** Throws a UsageError for overlays of which the testbed loads no file: comparing nothing would pass. */
function requireLoaded(
  variants: readonly Variant[],
  { name, system }: { name: string; system: OperatingSystem },
): void {
  const paths = variants.flatMap(({ files }) => files.map(({ path }) => path));
  if (paths.some((path) => isLoaded(system, path))) return;
  throw new UsageError(
    `The overlay has ${[...new Set(paths)].slice(0, maxPathsShown).join(', ')}, and ${name} loads ${overlayFiles[system].join(' and ')}: correct \`overlay\` in ppsgate.yml.`,
  );
}

const maxPathsShown = 5;

async function onBase(
  baseCommit: string,
  { variant, commit }: VariantCommit,
  repository: Repository,
): Promise<Variant> {
  const diff = (await repository.diff(baseCommit, commit)).toString('base64');
  // In an A/A run the diff is empty, which no builder accepts.
  const changes = diff === '' ? {} : { diff };
  return { variant, commit, files: [], kernel: { kind: 'tree', baseCommit, ...changes } };
}

/** Size limit of a kernel with its modules, or of a whole image of nanobsd(8). */
const maxKernelBytes = 8 * 1024 ** 3;

/** Includes the file's current checksum. Throws a UsageError if the file cannot be read. */
export async function givenKernel(path: string): Promise<KernelSource> {
  const hash = createHash('sha256');
  try {
    const stats = await stat(path);
    if (!stats.isFile()) throw new Error('it is not a regular file');
    const { size } = stats;
    if (size > maxKernelBytes) {
      throw new Error(`it has ${size} bytes, but a kernel may have at most ${maxKernelBytes}`);
    }
    await pipeline(createReadStream(path), hash);
  } catch (error) {
    throw new UsageError(`The kernel ${path} cannot be read (${fileReasonOf(error)}).`);
  }
  return { kind: 'archive', path: resolve(path), sha256: hash.digest('hex') };
}
