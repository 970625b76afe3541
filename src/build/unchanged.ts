// Where a patch is worth measuring: where all that would be laid or booted is what base is, nobody has to.
import type { BuilderConfig } from '../config/builder.ts';
import { type Config, systemOf } from '../config/schema.ts';
import type { Repository } from '../patch/repository.ts';
import type { System } from '../words/scenario.ts';
import { mayChangeKernel } from './kernel-sources.ts';
import { submodule } from './overlay.ts';
import type { Variant } from './variant.ts';

type Question = {
  /** Names of testbeds of the configuration. */
  testbeds: readonly string[];
  config: Config;
  /** As they were built for each system, base first. */
  variants: ReadonlyMap<System, readonly Variant[]>;
};

/** Those of the testbeds on which some variant is not what base is, as far as anybody can say before it is built. */
export async function testbedsThatDiffer(
  { testbeds, config, variants }: Question,
  repository: Repository,
): Promise<string[]> {
  const differ = await Promise.all(
    testbeds.map(async (name) => {
      const [base, ...others] = variants.get(systemOf(config, name)) ?? [];
      if (base === undefined) return true;
      const builder = builderOf(config, name);
      const each = others.map((variant) => differs(base, variant, builder, repository));
      return (await Promise.all(each)).includes(true);
    }),
  );
  return testbeds.filter((_, index) => differ[index]);
}

/** Undefined as well where what is booted is more than a kernel: an image of nanobsd(8) has a userland. */
export function builderOf({ testbeds }: Config, name: string): BuilderConfig | undefined {
  const testbed = testbeds[name];
  if (testbed?.kind !== 'freebsd' || testbed.dut.boot.method === 'nanobsd') return undefined;
  return testbed.builder;
}

async function differs(
  base: Variant,
  variant: Variant,
  builder: BuilderConfig | undefined,
  repository: Repository,
): Promise<boolean> {
  if (!isSameOverlay(base, variant)) return true;
  if (base.kernel === undefined || variant.kernel === undefined) {
    return base.kernel !== variant.kernel;
  }
  if (base.kernel.kind === 'archive' || variant.kernel.kind === 'archive') {
    return sumOf(base) !== sumOf(variant);
  }
  const paths = await repository.changedPaths(base.commit, variant.commit);
  if (paths.length === 0 || builder === undefined) return paths.length > 0;
  const makefile = await repository.read(`${base.commit}:Makefile.inc1`).catch(() => undefined);
  return paths.some((path) => mayChangeKernel(path, builder, makefile));
}

/** A submodule counts as changed: nothing was read of it, so nobody knows. */
function isSameOverlay({ files }: Variant, other: Variant): boolean {
  const others = new Map(other.files.map((file) => [file.path, file]));
  return (
    files.length === others.size &&
    files.every(({ path, mode, sha256 }) => {
      const same = others.get(path);
      return mode !== submodule && same?.mode === mode && same.sha256 === sha256;
    })
  );
}

const sumOf = ({ kernel }: Variant): string | undefined =>
  kernel?.kind === 'archive' ? kernel.sha256 : undefined;
