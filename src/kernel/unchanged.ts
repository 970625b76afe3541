// Finds patches that need no measurement, as their installed files or booted kernels equal the base's.
import type { AnyBuilder } from '../config/linux-builder.ts';
import { type Config, systemOf } from '../config/schema.ts';
import type { Repository } from '../forge/patch/repository.ts';
import { isLoaded, isPlain } from '../model/overlay-files.ts';
import type { OperatingSystem } from '../model/scenario.ts';
import { mayChangeKernel } from './kernel-sources.ts';
import { submodule } from './overlay.ts';
import { placeLeftAlone } from './touched.ts';
import { type GivenKernels, makingOf, type Variant, type VariantRequest } from './variant.ts';

type UnchangedRequest = {
  testbeds: readonly string[];
  config: Config;
  variants: ReadonlyMap<VariantRequest, readonly Variant[]>;
  kernels?: GivenKernels | undefined;
};

/** Returns the testbeds on which a variant may differ from base, as far as is known before a build. */
export async function testbedsThatDiffer(
  { testbeds, config, variants, kernels }: UnchangedRequest,
  repository: Repository,
): Promise<string[]> {
  const differ = await Promise.all(
    testbeds.map(async (name) => {
      const [base, ...others] = variants.get(makingOf(config, name, kernels)) ?? [];
      if (base === undefined) return true;
      const on = { config, testbed: name };
      const each = others.map((variant) => differs(base, variant, on, repository));
      return (await Promise.all(each)).includes(true);
    }),
  );
  return testbeds.filter((_, index) => differ[index]);
}

/** Places of changed kernel files that have no effect on testbeds without a difference; empty if no kernel differs. */
export async function placesLeftAlone(
  testbed: string,
  { config, variants, kernels }: Omit<UnchangedRequest, 'testbeds'>,
  repository: Repository,
): Promise<string[]> {
  const [base, ...others] = variants.get(makingOf(config, testbed, kernels)) ?? [];
  if (base?.kernel?.kind !== 'tree') return [];
  const all = others.map(async ({ commit }) => {
    const paths = await repository.changedPaths(base.commit, commit);
    return paths.flatMap((path) => placeLeftAlone(path, { config, testbed }) ?? []);
  });
  return [...new Set((await Promise.all(all)).flat())].toSorted();
}

/** Undefined if the DUT boots more than a kernel, too: an image of nanobsd(8) has a userland. */
export function builderOf({ testbeds }: Config, name: string): AnyBuilder | undefined {
  const testbed = testbeds[name];
  if (testbed?.kind === 'virtual') return testbed.builder;
  if (testbed?.kind !== 'freebsd' || testbed.dut.boot.method === 'nanobsd') return undefined;
  return testbed.builder;
}

async function differs(
  base: Variant,
  variant: Variant,
  on: { config: Config; testbed: string },
  repository: Repository,
): Promise<boolean> {
  if (!isSameOverlay(base, variant, systemOf(on.config, on.testbed))) return true;
  if (base.kernel === undefined || variant.kernel === undefined) {
    return base.kernel !== variant.kernel;
  }
  if (base.kernel.kind === 'archive' || variant.kernel.kind === 'archive') {
    return sumOf(base) !== sumOf(variant);
  }
  return (await pathsThatCount(base, variant, on, repository)).length > 0;
}

/** Paths that differ between two variants' trees, without files that cannot affect the testbed. */
export async function pathsThatCount(
  base: Variant,
  variant: Variant,
  on: { config: Config; testbed: string },
  repository: Repository,
): Promise<string[]> {
  const changed = await repository.changedPaths(base.commit, variant.commit);
  const paths = changed.filter((path) => placeLeftAlone(path, on) === undefined);
  const builder = builderOf(on.config, on.testbed);
  if (paths.length === 0 || builder === undefined) return paths;
  const makefile = await repository.read(`${base.commit}:Makefile.inc1`).catch(() => undefined);
  return paths.filter((path) => mayChangeKernel(path, builder, makefile));
}

/** Compares the loaded files. A submodule counts as changed, as its content is not read. */
function isSameOverlay(base: Variant, other: Variant, system: OperatingSystem): boolean {
  const ofBase = base.files.filter(({ path }) => isLoaded(system, path));
  const others = other.files.filter(({ path }) => isLoaded(system, path));
  return (
    ofBase.length === others.length &&
    ofBase.every(({ path, mode, sha256 }) => {
      const same = others.find((file) => file.path === path);
      if (same === undefined || mode === submodule) return false;
      const isSameKind = same.mode === mode || (isPlain(same.mode) && isPlain(mode));
      return isSameKind && same.sha256 === sha256;
    })
  );
}

const sumOf = ({ kernel }: Variant): string | undefined => (kernel?.kind === 'archive' ? kernel.sha256 : undefined);
