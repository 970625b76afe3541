// Where a FreeBSD DUT's time goes: pmcstat(8) on it, in a window that is set before packets flow and it turns deaf.

import { lastLine } from '../../../model/one-line.ts';
import { ownFolder } from '../../../system/host/own-folder.ts';
import type { Host } from '../../../system/host/ssh.ts';
import { type Command, shell } from '../../../system/shell.ts';
import { parseInterfaceCounters } from './counters.ts';

/** Both lie in the folder that is given. */
const sampleFile = (folder: string): string => `${folder}/pmc.out`;
const graphFile = (folder: string): string => `${folder}/pmc.graph`;

type Sampling = { kind: 'ready'; event: string } | { kind: 'impossible'; reason: string };

/**
 * Loads hwpmc(4), for call chains that reach from the card's interrupt to the far end of a firewall, and finds the event
 * that counts cycles on this CPU by trying; `asked` is the only one tried where it is given.
 */
export async function readySampling(
  host: Host,
  folder: string,
  asked: string | undefined,
): Promise<Sampling> {
  await host.output(ownFolder(folder));
  await host.run(shell`kenv ${`kern.hwpmc.callchaindepth=${mostFrames}`}`);
  const loaded = await host.run(shell`kldload -n hwpmc`);
  if (loaded.kind !== 'exited' || loaded.code !== 0) {
    return impossible(
      `hwpmc does not load on the DUT: ${lastLine(loaded.stderr) ?? 'it said nothing'}`,
    );
  }
  let said = '';
  for (const event of asked === undefined ? cycleEvents : [asked]) {
    const tried = await host.run(samplingOnly(event, 1, folder));
    if (tried.kind === 'exited' && tried.code === 0) return { kind: 'ready', event };
    said ||= lastLine(tried.stderr) ?? '';
  }
  return impossible(
    `the DUT's CPU samples ${asked ?? 'none of the events that count cycles elsewhere'} (${said}): name one of \`pmccontrol -L\` as \`profile.event\``,
  );
}

const impossible = (reason: string): Sampling => ({ kind: 'impossible', reason });

/** What hwpmc(4) keeps of a stack when told so before it is loaded, and what pmcstat prints of it. */
const mostFrames = 100;

/**
 * Intel, Intel's Atoms, AMD since Zen, AMD before, Arm; and what older systems call it on all of x86: see pmc(3), its
 * relatives, and what libpmc knows of each CPU. An Atom has no threads, and what `unhalted-cycles` stands for is of one.
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

/** Waits, reads the counters of the interfaces, runs the words behind, and reads the counters again. */
export const windowScript =
  'sleep "$1"; shift; netstat -i -b -n -W; "$@" || exit; netstat -i -b -n -W';

type SampleWindow = {
  event: string;
  /** Before samples are taken. */
  delaySeconds: number;
  seconds: number;
};

/** Takes the samples; under load its answer comes when that has ended. */
export const windowCommand = (
  { event, delaySeconds, seconds }: SampleWindow,
  folder: string,
): Command =>
  shell`sh -c ${windowScript} sh ${delaySeconds} ${samplingOnly(event, seconds, folder)}`;

/** Packets that an interface sent within the window; undefined where the log does not tell. */
export function sentWithin(log: string, interfaceName: string): number | undefined {
  const [before, after] = log
    .split(/^(?=Name\s)/m)
    .map((text) => parseInterfaceCounters(text).get(interfaceName)?.sent);
  return before === undefined || after === undefined ? undefined : after - before;
}

/** The call graph of the samples, with the kernel that runs at its head. */
export async function collectSamples(host: Host, folder: string): Promise<string> {
  const graph = graphFile(folder);
  const kernel = (await host.output(shell`uname -v`)).trim();
  await host.output(shell`pmcstat -R ${sampleFile(folder)} -z ${mostFrames} -G ${graph}`);
  const text = await host.output(shell`cat ${graph}`, { maxOutputBytes: mostGraphBytes });
  return `# kernel: ${kernel.replace(/\s+/g, ' ')}\n${text}`;
}

/** Nothing of it stays on the DUT; a host that was lost has a boot before it that takes the module away. */
export async function endSampling(host: Host, folder: string): Promise<void> {
  const commands = [
    shell`kldunload hwpmc`,
    shell`rm -f ${[sampleFile(folder), graphFile(folder)]}`,
  ];
  const limits = { timeoutSeconds: secondsToEnd };
  await Promise.allSettled(commands.map((command) => host.run(command, limits)));
}

const secondsToEnd = 60;

const mostGraphBytes = 256 * 1024 ** 2;
