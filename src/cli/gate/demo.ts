// Runs `ppsgate demo`.

import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { styleText } from 'node:util';
import { overrideGate, parseSeed } from '../../config/overrides.ts';
import { namingStyles } from '../../config/parameters.ts';
import { hasMeasured } from '../../gate/experiment/journal.ts';
import { randomSeed, resumeAdvice } from '../../gate/experiment/plan.ts';
import { showProgress } from '../../gate/progress.ts';
import { WorkDirectory } from '../../gate/work-directory.ts';
import type { GivenKernels } from '../../kernel/variant.ts';
import { expectKernel } from '../../lab/given-kernel.ts';
import { readyMachine } from '../../lab/netns/requirements.ts';
import { exitCodes, outcomeName } from '../../model/conclusion.ts';
import { formatDuration, formatPercent } from '../../model/format.ts';
import { fileReasonOf } from '../../model/one-line.ts';
import type { Result } from '../../model/result.ts';
import { excerpt } from '../../model/units.ts';
import { UsageError } from '../../model/usage-error.ts';
import { bisectHeadline } from '../../report/bisect-headline.ts';
import { headline } from '../../report/headline.ts';
import { busyWarning } from '../demo/busyness.ts';
import {
  type DemoSubject,
  embeddedDemo,
  freebsdDemo,
  type Judged,
  runDemo,
  trafficSeconds,
  virtualDemo,
} from '../demo/demo.ts';
import { type BisectDemo, bisectNames, runBisectDemo } from '../demo/demo-bisection.ts';
import { fetchKernels } from '../demo/demo-kernels.ts';
import { demoNames } from '../demo/demo-names.ts';
import { bisectCommits, culpritSubject } from '../demo/demo-repository.ts';
import type { Call } from '../run.ts';
import { printJson } from '../table.ts';

type Options = {
  directory?: string;
  resume?: string;
  seed?: string;
  design?: string;
  bisect?: true;
  kernels?: string | true;
  freebsd?: string | true;
  json?: true;
};

/** Returns 0 if all outcomes are as expected, else 1; throws if this machine cannot run the lab. */
export async function run(options: Options, { signal, closingLines }: Call): Promise<number> {
  const print = (line: string) => void process.stderr.write(`${line}\n`);
  const seed = options.seed === undefined ? randomSeed() : parseSeed(options.seed, '--seed');
  // Rejects a wrong design before anything is installed or written.
  overrideGate(undefined, { design: options.design }, namingStyles.flag);
  if (options.bisect && options.design !== undefined) {
    throw new UsageError('--design: applies to judging patches; drop it, or --bisect.');
  }
  if (options.bisect && options.kernels !== undefined) {
    throw new UsageError('--kernels: virtual machines judge patches; drop it, or --bisect.');
  }
  if (options.bisect && options.freebsd !== undefined) {
    throw new UsageError('--freebsd: virtual machines judge patches; drop it, or --bisect.');
  }
  await requireImage(options);
  await requireKernels(options);
  const isVirtual = options.kernels !== undefined || options.freebsd !== undefined;
  const exitCode = await readyMachine(print, [isVirtual ? 'virtual' : 'embedded-linux']);
  if (exitCode !== undefined) return exitCode;

  const warn = (sentence: string) => print(`warning: ${sentence}`);
  await using work = new WorkDirectory('ppsgate-demo', warn, demoNames);
  const directory = resolve(await work.open(options));
  print(`${whatOf(options)} on this machine; all files are in ${directory}`);
  const warning = await busyWarning();
  if (warning !== undefined) warn(warning);
  const { isAsExpected } = await (options.bisect ? bisectNow : judgeNow)(
    { directory, seed, options, signal },
    print,
  ).catch(async (error: unknown) => {
    const command = options.bisect ? 'ppsgate demo --bisect' : 'ppsgate demo';
    if (await hasMeasured(directory)) closingLines.push(resumeAdvice(directory, command));
    throw error;
  });
  return isAsExpected ? exitCodes.pass : exitCodes.patchAtFault;
}

/** Throws a UsageError before anything is installed. */
async function requireImage({ freebsd, kernels }: Options): Promise<void> {
  if (freebsd === undefined) return;
  if (freebsd === true) {
    throw new UsageError(
      '--freebsd: name an image of FreeBSD for amd64, such as FreeBSD-14.3-RELEASE-amd64-BASIC-CI-ufs.raw.xz of its VM images (https://www.freebsd.org/where/), as downloaded.',
    );
  }
  if (kernels === true) {
    throw new UsageError('--kernels: with --freebsd, name two kernels of FreeBSD, base first, separated by a comma.');
  }
  await access(freebsd, constants.R_OK).catch((error: unknown) => {
    throw new UsageError(`--freebsd: ${freebsd} cannot be read (${fileReasonOf(error)}): name an existing image.`);
  });
}

/** Throws a UsageError before anything is installed. */
async function requireKernels({ freebsd, kernels }: Options): Promise<void> {
  if (typeof kernels !== 'string') return;
  const { base, patched } = twoKernels(kernels);
  for (const path of [base, patched]) {
    await expectKernel('--kernels', path, freebsd === undefined ? 'linux' : 'freebsd');
  }
}

function whatOf({ bisect, kernels, freebsd }: Options): string {
  if (freebsd !== undefined) {
    const what = kernels === undefined ? 'A rule set of pf' : 'A rule set of pf and a kernel';
    return `${what}, judged on FreeBSD with real boots and packets`;
  }
  if (kernels) return 'A rule and a kernel, judged with real boots and packets';
  if (!bisect) return 'Three patches, judged with real packets';
  return `${bisectCommits.length} commits, one of which lost performance: ppsgate finds it with real packets`;
}

/** Two files separated by a comma, or apt's newest kernels. */
async function subjectOf({ kernels, freebsd }: Options, directory: string, print: Print): Promise<DemoSubject> {
  if (typeof freebsd === 'string') {
    const given = typeof kernels === 'string' ? twoKernels(kernels) : undefined;
    return freebsdDemo(resolve(freebsd), given);
  }
  if (kernels === undefined) return embeddedDemo;
  if (kernels === true) return virtualDemo(await fetchKernels(join(directory, 'kernels'), print));
  return virtualDemo(twoKernels(kernels));
}

function twoKernels(kernels: string): GivenKernels {
  const [base, patched, ...more] = kernels.split(',');
  if (!base || !patched || more.length > 0) {
    throw new UsageError(`--kernels: expected two files separated by a comma, found "${excerpt(kernels)}".`);
  }
  return { base: resolve(base), patched: resolve(patched) };
}

type Demo = { directory: string; seed: number; options: Options; signal: AbortSignal };
type Print = (line: string) => void;

async function judgeNow({ directory, seed, options, signal }: Demo, print: Print) {
  const startedAt = performance.now();
  const subject = await subjectOf(options, directory, print);
  const { patches, metric } = subject;
  const judged = await runDemo({
    directory,
    subject,
    seed,
    design: options.design,
    onPatch(patch, index) {
      const title = `${index + 1} of ${patches.length}  ${patch.title}`;
      print(styleText('bold', title, { stream: process.stderr }));
      return showProgress(process.stderr, metric, () => performance.now());
    },
    signal,
  });
  const seconds = (performance.now() - startedAt) / 1000;
  if (options.json) printJson(summaries(judged));
  else process.stdout.write(`\n${table(judged)}\n\n${closing(judged, directory, seconds)}\n`);
  return { isAsExpected: judged.every((one) => one.asExpected) };
}

async function bisectNow({ directory, seed, options, signal }: Demo) {
  const startedAt = performance.now();
  const { onEvent, end } = showProgress(process.stderr, 'nsPerPacket', () => performance.now());
  const demo = await runBisectDemo({ directory, seed, onEvent, signal }).finally(end);
  const seconds = (performance.now() - startedAt) / 1000;
  if (options.json) printJson(demo.result);
  else process.stdout.write(`\n${bisectionText(demo)}\n\n${where(demo, directory, seconds)}\n`);
  return { isAsExpected: demo.asExpected };
}

function bisectionText({ result, asExpected }: BisectDemo): string {
  const must = `${asExpected ? 'as expected' : 'but expected'}: "${culpritSubject}"`;
  const color = asExpected ? 'green' : 'red';
  return `${bisectHeadline(result)}\n${styleText(color, `  ${must}`, { stream: process.stdout })}`;
}

const where = ({ directory: work }: BisectDemo, directory: string, seconds: number): string =>
  [
    `${formatDuration(seconds)}.`,
    `Report: ${work}/report/index.html`,
    `The repository of the commits: ${directory}/${bisectNames.repository}`,
  ].join('\n');

const summaries = (judged: Judged[]) =>
  judged.map(({ patch, directory, result, asExpected }) => ({
    branch: patch.branch,
    expected: patch.expected,
    verdict: outcomeName(result),
    asExpected,
    headline: headline(result),
    ...runCounts(result),
    directory,
  }));

/** Counts measured runs, and those of five trials per cell: the lab's 5 + 5. */
function runCounts({ outcome }: Result): { runs: number; fixedRuns: number } {
  const cells = outcome.kind === 'judged' ? outcome.cells : [];
  return {
    runs: sum(cells.map((cell) => cell.runs.length)),
    fixedRuns: sum(cells.map((cell) => 2 * (cell.design.budgets.at(-1) ?? 0))),
  };
}

const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);

function table(judged: Judged[]): string {
  return judged
    .map(({ patch, result, asExpected }) => {
      const { expected = 'reported, with any outcome' } = patch;
      const must = asExpected ? `as expected: ${expected}` : `but expected ${expected}`;
      const color = asExpected ? 'green' : 'red';
      const verdict = styleText(color, `  ${must}`, { stream: process.stdout });
      const { runs, fixedRuns } = runCounts(result);
      const counts = fixedRuns > 0 ? `, after ${runs} runs; a fixed 5 + 5 needs ${fixedRuns}` : '';
      return `${patch.branch}\n  ${headline(result)}\n${verdict}${counts}`;
    })
    .join('\n');
}

function closing(judged: Judged[], directory: string, seconds: number): string {
  const traffic = sum(judged.map(({ result }) => trafficSeconds(result)));
  return [
    `${formatDuration(seconds)}, in ${formatPercent(traffic / seconds)} of which was traffic.`,
    ...judged.map((one) => `Report: ${one.directory}/report/index.html`),
    `The repository of the patches: ${directory}/repository`,
    'Next, in a git repository with rules of your own: `ppsgate init`, then `ppsgate gate`.',
  ].join('\n');
}
