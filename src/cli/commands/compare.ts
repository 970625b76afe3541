// `ppsgate compare`: judges one rule file, overlay or kernel against another, without a repository of the user's.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { loadConfig } from '../../config/load.ts';
import { applyOverrides } from '../../config/overrides.ts';
import { type GateOptions, type NamingStyle, namingStyles } from '../../config/parameters.ts';
import { type Config, systemOf } from '../../config/schema.ts';
import { selectorCalled, selectorsOf, testbedsFor } from '../../config/select-testbeds.ts';
import { WorkDirectory } from '../../gate/work-directory.ts';
import { makingOf } from '../../kernel/variant.ts';
import { UsageError } from '../../model/usage-error.ts';
import { runToExit } from '../../system/exit.ts';
import { makeCompareRepository, overlayIn } from '../compare/compare-repository.ts';
import { type CompareFiles, isLoadedBy, labelOf, readCompared } from '../compare/compared.ts';
import { addGateOptions } from './gate-options.ts';
import { stderrLog } from './judge-gate.ts';
import { configPath } from './named-testbed.ts';
import { runGates } from './run-gates.ts';

/** Options of `ppsgate gate` on a repository, a revision, or a work directory of an earlier gate. */
const leftOut: ReadonlySet<string> = new Set([
  ...['patch', 'repository', 'earlier', 'baseKernel', 'patchedKernel', 'resume', 'record'],
  ...['layoutNoise', 'answer', 'run', 'build', 'details', 'site'],
]);

export function define(command: Command): void {
  command
    .argument('<old>', 'rule file, overlay folder or kernel')
    .argument('<new>', 'another one of the same kind');
  addGateOptions(command, (name) => !leftOut.has(name));
  command
    .addHelpText(
      'after',
      `
Examples:
  ppsgate compare /etc/nftables.conf new.nft
  ppsgate compare old-overlay new-overlay --scenarios forwarding
  ppsgate compare linux-6.1.deb linux-6.12.deb --testbed guests

Exits like ppsgate gate. Continue an interrupted comparison with
ppsgate gate --resume.`,
    )
    .action(async (old: string, other: string, options: GateOptions) => {
      const closingLines: string[] = [];
      await runToExit((signal) => compare([old, other], options, signal, closingLines), {
        ...command.optsWithGlobals(),
        closingLines: closingLines,
      });
    });
}

async function compare(
  [oldPath, newPath]: readonly [string, string],
  options: GateOptions,
  signal: AbortSignal,
  closingLines: string[],
): Promise<number> {
  const compared = await readCompared(oldPath, newPath);
  const written = applyOverrides(
    await loadConfig(configPath(options.config)),
    options,
    namingStyles.flag,
  );
  const config =
    compared.kind === 'files'
      ? withLoading(compared, [oldPath, newPath], written, options)
      : written;
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
function withLoading(
  compared: CompareFiles,
  paths: readonly string[],
  config: Config,
  options: GateOptions,
): Config {
  const loads = (name: string) =>
    makingOf(config, name) === 'overlay' && isLoadedBy(systemOf(config, name), compared);
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
