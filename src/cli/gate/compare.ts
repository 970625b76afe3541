// Runs `ppsgate compare`.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { loadConfig } from '../../config/load.ts';
import { applyOverrides } from '../../config/overrides.ts';
import { type GateOptions, type NamingStyle, namingStyles } from '../../config/parameters.ts';
import { type Config, systemOf } from '../../config/schema.ts';
import { selectorCalled, selectorsOf, testbedsFor } from '../../config/select-testbeds.ts';
import { WorkDirectory } from '../../gate/work-directory.ts';
import { makingOf } from '../../kernel/variant.ts';
import { UsageError } from '../../model/usage-error.ts';
import { makeCompareRepository, overlayIn } from '../compare/compare-repository.ts';
import { type CompareFiles, isLoadedBy, labelOf, readCompared } from '../compare/compared.ts';
import { configPath } from '../find-config.ts';
import type { Call } from '../run.ts';
import { stderrLog } from './gate-call.ts';
import { runGates } from './run-gates.ts';

export async function run(
  oldPath: string,
  newPath: string,
  options: GateOptions,
  { signal, closingLines }: Call,
): Promise<number> {
  const compared = await readCompared(oldPath, newPath);
  const written = applyOverrides(await loadConfig(configPath(options.config)), options, namingStyles.flag);
  const config = compared.kind === 'files' ? withLoading(compared, [oldPath, newPath], written, options) : written;
  const repository = await mkdtemp(join(tmpdir(), 'ppsgate-compare-'));
  try {
    const patch = await makeCompareRepository(repository, compared, labelOf(oldPath, newPath));
    await using work = new WorkDirectory('ppsgate-compare', stderrLog.warn);
    return await runGates({
      config: { ...config, overlay: overlayIn(repository, config.overlay) },
      options: {
        ...options,
        repository,
        ...(compared.kind === 'kernels' && {
          baseKernel: resolve(oldPath),
          patchedKernel: resolve(newPath),
        }),
      },
      optionName: calledHere,
      signal,
      work,
      closingLines: closingLines,
      patch,
    });
  } finally {
    await rm(repository, { recursive: true, force: true });
  }
}

const calledHere: NamingStyle = (name) => {
  if (name === 'baseKernel') return 'OLD';
  return name === 'patchedKernel' ? 'NEW' : namingStyles.flag(name);
};

/** Excludes testbeds that would boot kernels, or load none of the files; throws if a selector has no other. */
function withLoading(compared: CompareFiles, paths: readonly string[], config: Config, options: GateOptions): Config {
  const loads = (name: string) => makingOf(config, name) === 'overlay' && isLoadedBy(systemOf(config, name), compared);
  for (const selector of selectorsOf(config, options, namingStyles.flag)) {
    const names = testbedsFor(config, selector, selectorCalled(options, namingStyles.flag));
    if (names.some(loads)) continue;
    const others = Object.keys(config.testbeds).filter(loads);
    const advice =
      others.length > 0
        ? `name one that does with --testbed, like ${others.join(' or ')}`
        : 'add one that does to ppsgate.yml, like `lab: { kind: embedded-linux }` for Linux';
    throw new UsageError(
      `${names.join(' and ')} does not load ${paths.join(' and ')}, which are ${compared.what}: ${advice}.`,
    );
  }
  const testbeds = Object.entries(config.testbeds).filter(([name]) => loads(name));
  return { ...config, testbeds: Object.fromEntries(testbeds) };
}
