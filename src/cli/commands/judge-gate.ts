// Runs the gates of `ppsgate gate`: one per testbed.

import { join, resolve } from 'node:path';
import { parseMaxRuns, parsePriority, parseSeed } from '../../config/overrides.ts';
import {
  type GateOptions,
  type NamingStyle,
  namingStyles,
  type TextOption,
} from '../../config/parameters.ts';
import type { Config } from '../../config/schema.ts';
import { selectorCalled, selectorsOf, testbedsFor } from '../../config/select-testbeds.ts';
import { patchOfRange, patchOfTypedRange, rangeLike } from '../../forge/patch/commit-range.ts';
import { named, ownChanges } from '../../forge/patch/own-changes.ts';
import {
  NoRepositoryError,
  openRepository,
  RepositoryError,
} from '../../forge/patch/repository.ts';
import { parseEarlier, patchOfRevision } from '../../forge/patch/revision.ts';
import { type Conduit, withPatience } from '../../forge/phabricator/conduit.ts';
import { openPhabricator, phabricatorOf } from '../../forge/phabricator/login.ts';
import {
  looksLikeRevision,
  parseRevisionName,
  type RevisionName,
} from '../../forge/phabricator/revision.ts';
import { historyFile } from '../../gate/experiment/history.ts';
import { hasMeasured } from '../../gate/experiment/journal.ts';
import { randomSeed, resumeAdvice } from '../../gate/experiment/plan.ts';
import { gate } from '../../gate/gate.ts';
import type { GateDeps } from '../../gate/gate-deps.ts';
import { gateLayoutNoise } from '../../gate/layout-noise-gate.ts';
import { labelled } from '../../gate/progress.ts';
import type { Recorder } from '../../gate/recording/recorder.ts';
import { resumeGate } from '../../gate/resume-gate.ts';
import { type GateSession, inSession } from '../../gate/session.ts';
import { whoami } from '../../gate/testbeds/reservations.ts';
import { MisconfiguredError } from '../../gate/testbeds/reserve.ts';
import type { WorkDirectory } from '../../gate/work-directory.ts';
import type { GivenKernels } from '../../kernel/variant.ts';
import { expectKernel, type KernelForm, kernelFormOf } from '../../lab/given-kernel.ts';
import { conclusionOfError } from '../../model/conclusion.ts';
import { type Patch, patchName, shortId } from '../../model/patch.ts';
import type { Result } from '../../model/result.ts';
import { excerpt, expected } from '../../model/units.ts';
import { UsageError } from '../../model/usage-error.ts';
import { outcomeOfResult } from '../../publish/reporters/outcome-text.ts';
import { type Reporter, reportOutcome } from '../../publish/reporters/reporter.ts';
import { usualConfig } from './find-config.ts';

export type GateCall = {
  config: Config;
  options: GateOptions;
  optionName: NamingStyle;
  signal: AbortSignal;
  work: WorkDirectory;
  /** Receives the way to resume each interrupted gate. */
  closingLines: string[];
  recorder?: Recorder | undefined;
  /** Absent: found by the options. */
  patch?: Patch;
};

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
  (conclusionOfError(error) !== 'usage' || error instanceof MisconfiguredError) &&
  (await hasMeasured(directory));

const commandOf = ({ options: { config = usualConfig } }: GateCall): string =>
  config === usualConfig ? 'ppsgate gate' : `ppsgate gate --config ${config}`;

export async function gatesOf(call: GateCall): Promise<OneGate[]> {
  const { config, options, optionName } = call;
  const { resume, maxRuns } = options;
  if (resume !== undefined) {
    const most = maxRuns === undefined ? undefined : parseMaxRuns(maxRuns, optionName('maxRuns'));
    await call.work.open({ resume });
    return [{ name: '', directory: resume, start: (deps) => resumeGate(resume, deps, most) }];
  }
  const seed =
    options.seed === undefined ? randomSeed() : parseSeed(options.seed, optionName('seed'));
  const kernels = givenKernels(call);
  const patch = call.patch ?? (await patchOf(call));
  const selectors = selectorsOf(config, options, optionName);
  const from = selectorCalled(options, optionName);
  const chosen = await Promise.all(
    selectors.map((selector) => bootable(kernels, testbedsFor(config, selector, from), call)),
  );
  if (options.record !== undefined && selectors.length > 1) {
    throw new UsageError(
      `${optionName('record')}: only one testbed can be recorded at a time; select one of them.`,
    );
  }
  const folder = await call.work.open(options);
  return selectors.map((selector, index): OneGate => {
    const isOnly = selectors.length === 1;
    const directory = isOnly ? folder : join(folder, selector.replace(/[^\w.-]+/g, '-'));
    const isMeasuredAnyway = options.measureAnyway === true;
    const gated = { patch, config, testbeds: chosen[index] ?? [], seed, kernels };
    const request = { ...gated, isMeasuredAnyway };
    const judged = options.layoutNoise === true ? gateLayoutNoise : gate;
    return {
      name: isOnly ? '' : selector,
      directory,
      start: (deps) => judged(request, directory, deps),
    };
  });
}

/** Needs no work directory. */
type PatchCall = Omit<GateCall, 'work'>;

export async function patchOf(call: PatchCall): Promise<Patch> {
  const { config, options, optionName, signal } = call;
  if (/^(?:[a-z][a-z+]*:\/\/|[\w.-]+@[\w.-]+:)/.test(options.repository ?? '')) {
    const address = excerpt(options.repository ?? '');
    throw new UsageError(
      `${optionName('repository')}: "${address}" is an address: clone it, and name the folder.`,
    );
  }
  // A job that names no patch has forgotten it: only at a shell, the checkout replaces one.
  if (options.patch === undefined && optionName === namingStyles.flag)
    return patchOfOwnChanges(call);
  const text = required('patch', call);
  const repository = repositoryOf(options);
  const earlier = parseEarlier(options.earlier || 'none', optionName('earlier'));
  if (text.includes('..')) {
    if (earlier === 'none') {
      return patchOfTypedRange(repository, text, mayBeOneCommit(options)).catch(
        asUsageError(optionName),
      );
    }
    throw new UsageError(
      `${optionName('earlier')}: "${excerpt(text)}" is not a revision, and only revisions have earlier diffs.`,
    );
  }
  if (!looksLikeRevision(text)) {
    const range = await rangeLike(repository, text);
    const what = `commits as BASE..HEAD, like ${range}, or a revision like D27401 or D27401:80677`;
    throw new UsageError(`${optionName('patch')}: ${expected(what)({ input: text })}.`);
  }
  const name = revisionNamed(text, call);
  const phabricator = phabricatorOf(config);
  const conduit = patientIfAnswered(
    await openPhabricator(phabricator, { log: stderrLog, signal }),
    { ...options, signal },
  );
  return patchOfRevision(name, earlier, { conduit, repository, config: phabricator });
}

/** Judges the changes of the checkout, and describes them. */
async function patchOfOwnChanges({ options, optionName }: PatchCall): Promise<Patch> {
  const found = await ownChanges(resolve(options.repository ?? '.')).catch(
    asUsageError(optionName),
  );
  const { since, baseCommit, headCommit, uncommitted, untracked } = found;
  stderrLog.info(`Patch: changes since ${since} (${shortId(baseCommit)}).`);
  if (uncommitted.length > 0) {
    stderrLog.warn(`measured with uncommitted changes: ${named(uncommitted)}`);
  }
  if (untracked.length > 0) {
    stderrLog.warn(`not measured, as git does not track it: ${named(untracked)}`);
  }
  return patchOfRange(repositoryOf(options), `${baseCommit}..${headCommit}`);
}

/** Kernels may differ while commits do not, and a commit can be measured against itself. */
const mayBeOneCommit = ({
  measureAnyway,
  layoutNoise,
  baseKernel,
  patchedKernel,
}: GateOptions): boolean => Boolean(measureAnyway || layoutNoise || baseKernel || patchedKernel);

/** Lets a relay's gate wait for the server, as its answer would. By hand, a person corrects what the server refuses. */
export const patientIfAnswered = (
  conduit: Conduit,
  {
    answer,
    run,
    signal,
  }: { answer?: boolean | undefined; run?: string | undefined; signal: AbortSignal },
): Conduit =>
  answer === true
    ? withPatience(conduit, {
        log: stderrLog,
        signal,
        mayWait: ({ kind }) => run !== undefined || kind !== 'refused',
      })
    : conduit;

const asUsageError =
  (optionName: NamingStyle) =>
  (error: unknown): never => {
    if (!(error instanceof RepositoryError)) throw error;
    const which = error instanceof NoRepositoryError ? 'repository' : 'patch';
    throw new UsageError(`${optionName(which)}: ${error.message}`);
  };

export function revisionNamed(
  text: string,
  { config, optionName }: Pick<GateCall, 'config' | 'optionName'>,
): RevisionName {
  const name = parseRevisionName(text, phabricatorOf(config).url);
  if (name !== undefined) return name;
  const what = 'a revision like D27401 or D27401:80677';
  throw new UsageError(`${optionName('patch')}: ${expected(what)({ input: text })}.`);
}

export const stderrLog = {
  info: (sentence: string) => process.stderr.write(`${sentence}\n`),
  warn: (sentence: string) => process.stderr.write(`warning: ${sentence}\n`),
};

const repositoryOf = ({ repository }: GateOptions) => openRepository(resolve(repository ?? '.'));

async function judge(
  { name, directory, start }: OneGate,
  { config, options, optionName, signal, recorder }: GateCall,
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
    recorder,
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
  try {
    await expectKernel(optionName('baseKernel'), kernels.base, form);
    await expectKernel(optionName('patchedKernel'), kernels.patched, form);
    return undefined;
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
}

/** Treats an empty option as absent. */
export function required(name: TextOption, { options, optionName }: PatchCall): string {
  const text = options[name];
  if (text) return text;
  throw new UsageError(`${optionName(name)} is missing: see \`ppsgate gate --help\`.`);
}
