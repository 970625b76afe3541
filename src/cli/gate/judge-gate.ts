// Runs the gates of `ppsgate gate`: one per testbed.

import { join, resolve } from 'node:path';
import { parseMaxRuns, parsePriority, parseSeed } from '../../config/overrides.ts';
import { type NamingStyle, namingStyles } from '../../config/parameters.ts';
import { selectorCalled, selectorsOf, testbedsFor } from '../../config/select-testbeds.ts';
import { patchOfCommits } from '../../forge/patch/commit-range.ts';
import { named, ownChanges } from '../../forge/patch/own-changes.ts';
import { historyFile } from '../../gate/experiment/history.ts';
import { hasMeasured } from '../../gate/experiment/journal.ts';
import { randomSeed, resumeAdvice } from '../../gate/experiment/plan.ts';
import { gate } from '../../gate/gate.ts';
import type { GateDeps } from '../../gate/gate-deps.ts';
import { labelled } from '../../gate/progress.ts';
import { type GateSession, inSession } from '../../gate/session.ts';
import { MisconfiguredError, whoami } from '../../gate/testbeds/reserve.ts';
import type { GivenKernels } from '../../kernel/variant.ts';
import type { KernelForm } from '../../lab/given-kernel.ts';
import { conclusionOfError } from '../../model/conclusion.ts';
import { type Patch, patchName, shortId } from '../../model/patch.ts';
import type { Result } from '../../model/result.ts';
import { excerpt } from '../../model/units.ts';
import { UsageError } from '../../model/usage-error.ts';
import { outcomeOfResult } from '../../publish/reporters/outcome.ts';
import { type Reporter, reportOutcome } from '../../publish/reporters/reporter.ts';
import { usualConfig } from '../find-config.ts';
import { asUsageError, type GateCall, type PatchCall, repositoryOf, required, stderrLog } from './gate-call.ts';

export type OneGate = {
  /** Distinguishes the gate from others; empty for a single one. */
  name: string;
  directory: string;
  start(deps: GateDeps): Promise<Result>;
};

export type Judged = OneGate & { result: Result };

/** Runs gates concurrently, each to its end. */
export const judgeAll = (
  gates: readonly OneGate[],
  call: GateCall,
  answerOf: (index: number) => Reporter,
): Promise<PromiseSettledResult<Judged>[]> =>
  Promise.allSettled(
    gates.map(async (one, index) => {
      try {
        return { ...one, result: await judge(one, call, answerOf(index)) };
      } catch (error) {
        if (await isWorthResuming(error, one.directory)) {
          call.closingLines.push(resumeAdvice(one.directory, commandOf(call)));
        }
        throw error;
      }
    }),
  );

/** True if the directory has measurements, and the command itself was correct. */
export const isWorthResuming = async (error: unknown, directory: string): Promise<boolean> =>
  (conclusionOfError(error) !== 'usage' || error instanceof MisconfiguredError) && (await hasMeasured(directory));

const commandOf = ({ options: { config = usualConfig } }: GateCall): string =>
  config === usualConfig ? 'ppsgate gate' : `ppsgate gate --config ${config}`;

export async function gatesOf(call: GateCall): Promise<OneGate[]> {
  const { config, options, optionName } = call;
  const { resume, maxRuns } = options;
  if (resume !== undefined) {
    const most = maxRuns === undefined ? undefined : parseMaxRuns(maxRuns, optionName('maxRuns'));
    await call.work.open({ resume });
    const { resumeGate } = await import('../../gate/resume-gate.ts');
    return [{ name: '', directory: resume, start: (deps) => resumeGate(resume, deps, most) }];
  }
  const seed = options.seed === undefined ? randomSeed() : parseSeed(options.seed, optionName('seed'));
  const kernels = givenKernels(call);
  const patch = call.patch ?? (await patchOf(call));
  const selectors = selectorsOf(config, options, optionName);
  const from = selectorCalled(options, optionName);
  const chosen = await Promise.all(
    selectors.map((selector) => bootable(kernels, testbedsFor(config, selector, from), call)),
  );
  const folder = await call.work.open(options);
  const judged =
    options.layoutNoise === true ? (await import('../../gate/layout-noise-gate.ts')).gateLayoutNoise : gate;
  return selectors.map((selector, index): OneGate => {
    const isOnly = selectors.length === 1;
    const directory = isOnly ? folder : join(folder, selector.replace(/[^\w.-]+/g, '-'));
    const isMeasuredAnyway = options.measureAnyway === true;
    const gated = { patch, config, testbeds: chosen[index] ?? [], seed, kernels };
    const request = { ...gated, isMeasuredAnyway };
    return {
      name: isOnly ? '' : selector,
      directory,
      start: (deps) => judged(request, directory, deps),
    };
  });
}

export async function patchOf(call: PatchCall): Promise<Patch> {
  const { options, optionName } = call;
  if (/^(?:[a-z][a-z+]*:\/\/|[\w.-]+@[\w.-]+:)/.test(options.repository ?? '')) {
    const address = excerpt(options.repository ?? '');
    throw new UsageError(`${optionName('repository')}: "${address}" is an address: clone it, and name the folder.`);
  }
  // A job that names no patch has forgotten it: only at a shell, the checkout replaces one.
  if (options.patch === undefined && optionName === namingStyles.flag) return patchOfOwnChanges(call);
  const { patchNamed } = await import('./named-patch.ts');
  return patchNamed(call);
}

/** Judges the changes of the checkout, and describes them. */
async function patchOfOwnChanges({ options, optionName }: PatchCall): Promise<Patch> {
  const found = await ownChanges(resolve(options.repository ?? '.')).catch(asUsageError(optionName));
  const { since, baseCommit, headCommit, uncommitted, untracked } = found;
  stderrLog.info(`Patch: changes since ${since} (${shortId(baseCommit)}).`);
  if (uncommitted.length > 0) {
    stderrLog.warn(`measured with uncommitted changes: ${named(uncommitted)}`);
  }
  if (untracked.length > 0) {
    stderrLog.warn(`not measured, as git does not track it: ${named(untracked)}`);
  }
  return patchOfCommits(repositoryOf(options), baseCommit, headCommit);
}

async function judge(
  { name, directory, start }: OneGate,
  { config, options, optionName, signal, flightLog }: GateCall,
  answer: Reporter,
): Promise<Result> {
  const priority = parsePriority(options.priority, optionName('priority'));
  const session: GateSession = {
    config,
    signal,
    repository: repositoryOf(options),
    history: historyFile(config.history),
    output: labelled(process.stderr, name),
    observer: options.answer && answer,
    requestFor: (patch) => ({
      priority,
      holder: { who: whoami(), purpose: 'gate', patch: patchName(patch) },
    }),
    leaseFolder: directory,
    flightLog,
  };
  const work = async () => outcomeOfResult(await inSession(session, start), {});
  const { result } = await reportOutcome(answer, signal, work);
  return result;
}

function givenKernels(call: GateCall): GivenKernels | undefined {
  const { baseKernel, patchedKernel } = call.options;
  if (!baseKernel && !patchedKernel) return undefined;
  return { base: required('baseKernel', call), patched: required('patchedKernel', call) };
}

/** Returns the testbeds that boot the given kernels; throws a UsageError, which names the option, if there is none. */
async function bootable(
  kernels: GivenKernels | undefined,
  testbeds: readonly string[],
  { config, optionName }: GateCall,
): Promise<readonly string[]> {
  if (kernels === undefined) return testbeds;
  const { kernelFormOf } = await import('../../lab/given-kernel.ts');
  const formOf = (testbed: string) => kernelFormOf(config.testbeds[testbed]);
  const forms = [...new Set(testbeds.map(formOf))].filter((form) => form !== undefined);
  if (forms.length === 0) {
    throw new UsageError(
      `${optionName('baseKernel')}: ${testbeds.join(', ')} installs files and boots no kernels: choose a testbed of kind freebsd or virtual, or drop both kernels.`,
    );
  }
  const fitting = new Set<KernelForm>();
  const failures: UsageError[] = [];
  for (const form of forms) {
    const failure = await whyUnbootable(kernels, form, optionName);
    if (failure === undefined) fitting.add(form);
    else failures.push(failure);
  }
  const [failure] = failures;
  if (fitting.size === 0 && failure !== undefined) throw failure;
  return testbeds.filter((testbed) => {
    const form = formOf(testbed);
    return form !== undefined && fitting.has(form);
  });
}

async function whyUnbootable(
  kernels: GivenKernels,
  form: KernelForm,
  optionName: NamingStyle,
): Promise<UsageError | undefined> {
  const { expectKernel } = await import('../../lab/given-kernel.ts');
  try {
    await expectKernel(optionName('baseKernel'), kernels.base, form);
    await expectKernel(optionName('patchedKernel'), kernels.patched, form);
    return undefined;
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
}
