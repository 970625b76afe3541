// pmcstat: samples how a machine spends its time, and writes the call graph of the samples.
import { fileErrorText, textOf, writeFile } from '../file-system.ts';
import { scenarioInForce } from '../firewall.ts';
import type { Machine } from '../machine.ts';
import { fail, type Process, type Program } from '../process.ts';
import { readOptions } from './options.ts';

export const profilePrograms: Readonly<Record<string, Program>> = { pmcstat };

function pmcstat(process: Process): number | Promise<number> {
  const { value } = readOptions(process.args, 'G:O:R:S:l:z:');
  const log = value('R');
  if (log !== undefined) return convert(process, log, value('G') ?? '');
  const [event = '', file = ''] = [value('S'), value('O')];
  if (!process.machine.modules.has('hwpmc')) {
    const said = 'pmcstat: ERROR: Initialization of the pmc(3) library failed: No such file or directory';
    return fail(process, said, 69);
  }
  const isKnown = hasCounters(process.machine) && eventsOf(process.machine).test(event);
  if (event !== softwareClock && !isKnown) {
    const said = `pmcstat: ERROR: Cannot allocate system-mode pmc with specification "${event}": Invalid argument`;
    return fail(process, said, 71);
  }
  return sample(process, { event, file, seconds: Number(value('l')) });
}

/** A virtual machine whose CPU QEMU emulates has no counters. */
const hasCounters = ({ hardware }: Machine): boolean => hardware['hw.model']?.startsWith('QEMU') !== true;

/**
 * Events of lib/libpmc/pmu-events of FreeBSD. All of Intel's cores have inst_retired, but an Atom counts cycles by
 * another name; only the others know the alias `unhalted-cycles`.
 */
const eventsOf = ({ sysctls }: Machine): RegExp =>
  /\bAtom\b/.test(String(sysctls.get('hw.model')?.value))
    ? /^(?:cpu_clk_unhalted\.(?:core(?:_p)?|ref(?:_tsc)?)|inst_retired\.any(?:_p)?)$/i
    : /^(?:cpu_clk_unhalted\.(?:thread|ref_)|inst_retired\.|unhalted-cycles$)/i;

/** Every machine has it, but some virtual ones take no sample: pmcstat succeeds, and its graph is empty. */
const softwareClock = 'CLOCK.HARD';

/** Output as in every recording of a virtual machine. */
const discarded =
  'pmcstat: WARNING: at least 16 events were discarded while running.\nPlease consider tuning the "kern.hwpmc.nbuffers_pcpu" tunable.\n';

type Sampling = { event: string; file: string; seconds: number };

/** Its log, in a format of our own: the number of samples in each scenario, or in none. */
type SampleLog = { event: string; kernel: string; samples: Record<string, number> };

async function sample(process: Process, { event, file, seconds }: Sampling): Promise<number> {
  const { machine, interrupted } = process;
  const samples: Record<string, number> = {};
  const kernel = machine.running?.file ?? '';
  for (let second = 0; second < seconds && !interrupted.aborted; second++) {
    await process.sleep(Math.min(1, seconds - second));
    const place = machine.isOverloaded ? scenarioInForce(machine) : 'idle';
    if (event !== softwareClock) samples[place] = (samples[place] ?? 0) + samplesPerSecond;
  }
  const log: SampleLog = { event, kernel, samples };
  if (event === softwareClock) process.err(discarded);
  return wrote(process, file, JSON.stringify(log));
}

const samplesPerSecond = 1000;

function convert(process: Process, file: string, graph: string): number {
  const text = textOf(process.machine.files, file);
  if (text === undefined) return fail(process, `pmcstat: ERROR: Cannot open "${file}": ${fileErrorText.ENOENT}`, 71);
  process.out('CONVERSION STATISTICS:\n');
  return wrote(process, graph, callgraph(JSON.parse(text) as SampleLog));
}

function wrote(process: Process, path: string, text: string): number {
  const error = writeFile(process.machine.files, path, text);
  return error === undefined ? 0 : fail(process, `pmcstat: ERROR: Cannot open "${path}": ${fileErrorText[error]}`, 71);
}

/** Format of pmcstat(8): the sampled function, and its callers below, each indented by one more space. */
function callgraph({ event, kernel, samples }: SampleLog): string {
  const total = Object.values(samples).reduce((sum, some) => sum + some, 0);
  if (total === 0) return '';
  const blocks = Object.entries(samples).map(([place, count]) => {
    const [first = '', ...callers] =
      place === 'idle' ? ['cpu_idle', 'sched_idletd'] : [place.replace('-', '_'), ...interruptFrames];
    const share = `${((100 * count) / total).toFixed(2).padStart(5, '0')}%`;
    const rows = callers.map(
      (caller, depth) => `${' '.repeat(depth + 1)}100.0%  [${count}]${' '.repeat(6 + depth)}${caller}`,
    );
    return [`${share}  [${count}]     ${first} @ ${kernel}`, ...rows].join('\n');
  });
  return `@ ${event} [${total} samples]\n\n${blocks.join('\n\n')}\n`;
}

const interruptFrames = ['ether_demux', 'ether_input', 't4_eth_rx', 'service_iq', 'ithread_loop', 'fork_exit'];
