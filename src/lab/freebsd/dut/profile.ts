// Samples a FreeBSD DUT's CPUs with pmcstat(8), in a window that is fixed before packets flow and block the DUT's
// replies.

import { lastLine } from '../../../model/one-line.ts';
import { isGood } from '../../../system/host/execute.ts';
import { ownFolder } from '../../../system/host/own-folder.ts';
import type { Host } from '../../../system/host/ssh.ts';
import { type Command, shell } from '../../../system/shell.ts';
import { parseInterfaceCounters } from './counters.ts';

const sampleFile = (folder: string): string => `${folder}/pmc.out`;
const graphFile = (folder: string): string => `${folder}/pmc.graph`;

type Sampling = { kind: 'ready'; event: string } | { kind: 'impossible'; reason: string };

/** Loads hwpmc(4) for deep call chains, and finds an event that counts this CPU's cycles, or tries only `requested`. */
export async function readySampling(host: Host, folder: string, requested: string | undefined): Promise<Sampling> {
  await host.output(ownFolder(folder));
  await host.run(shell`kenv ${`kern.hwpmc.callchaindepth=${maxFrames}`}`);
  const loaded = await host.run(shell`kldload -n hwpmc`);
  if (!isGood(loaded)) {
    return impossible(`hwpmc cannot be loaded on the DUT: ${lastLine(loaded.stderr) ?? 'it said nothing'}`);
  }
  let message = '';
  for (const event of requested === undefined ? cycleEvents : [requested]) {
    const tried = await host.run(samplingOnly(event, 1, folder));
    if (isGood(tried)) return { kind: 'ready', event };
    message ||= lastLine(tried.stderr) ?? '';
  }
  return impossible(
    `the DUT's CPU samples ${requested ?? 'none of the known cycle events'} (${message}): set \`profile.event\` to an event that \`pmccontrol -L\` lists`,
  );
}

const impossible = (reason: string): Sampling => ({ kind: 'impossible', reason });

/** Depth of stacks in hwpmc(4), if set before it is loaded, and in pmcstat's output. */
const maxFrames = 100;

/**
 * Events of Intel, Intel's Atoms, AMD since Zen, AMD before, Arm; and the older name on all of x86: see pmc(3), related
 * pages, and libpmc's tables. An Atom has no hardware threads; `unhalted-cycles` counts the cycles of one.
 */
const cycleEvents = [
  'cpu_clk_unhalted.thread_p',
  'cpu_clk_unhalted.core_p',
  'ls_not_halted_cyc',
  'BU_CPU_CLK_UNHALTED',
  'CPU_CYCLES',
  'unhalted-cycles',
];

const samplingOnly = (event: string, seconds: number, folder: string): Command =>
  shell`pmcstat -S ${event} -l ${seconds} -O ${sampleFile(folder)}`;

/** Waits, and reads the counters of the interfaces before and after the command given as arguments. */
export const windowScript = 'sleep "$1"; shift; netstat -i -b -n -W; "$@" || exit; netstat -i -b -n -W';

type SampleWindow = {
  event: string;
  delaySeconds: number;
  seconds: number;
};

/** Under load, the command's output arrives only after the load has ended. */
export const windowCommand = ({ event, delaySeconds, seconds }: SampleWindow, folder: string): Command =>
  shell`sh -c ${windowScript} sh ${delaySeconds} ${samplingOnly(event, seconds, folder)}`;

/** Packets that an interface sent within the window; undefined if the log has no counters. */
export function sentWithin(log: string, interfaceName: string): number | undefined {
  const [before, after] = log
    .split(/^(?=Name\s)/m)
    .map((text) => parseInterfaceCounters(text).get(interfaceName)?.sent);
  return before === undefined || after === undefined ? undefined : after - before;
}

/** Returns the call graph of the samples, after a line that names the running kernel. */
export async function collectSamples(host: Host, folder: string): Promise<string> {
  const graph = graphFile(folder);
  const kernel = (await host.output(shell`uname -v`)).trim();
  await host.output(shell`pmcstat -R ${sampleFile(folder)} -z ${maxFrames} -G ${graph}`);
  const text = await host.output(shell`cat ${graph}`, { maxOutputBytes: maxGraphBytes });
  return `# kernel: ${kernel.replace(/\s+/g, ' ')}\n${text}`;
}

export async function endSampling(host: Host, folder: string): Promise<void> {
  const commands = [shell`kldunload hwpmc`, shell`rm -f ${[sampleFile(folder), graphFile(folder)]}`];
  const limits = { timeoutSeconds: secondsToEnd };
  await Promise.allSettled(commands.map((command) => host.run(command, limits)));
}

const secondsToEnd = 60;

const maxGraphBytes = 256 * 1024 ** 2;
