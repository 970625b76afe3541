// Runs three Linux hosts as a testbed: trafgen on the sender, the DUT in between, counters on the receiver.
import { PassThrough } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { isSteady } from '../../analysis/stats/steady.ts';
import { frameBytesFor, type LinuxTestbed, type Traffic } from '../../config/schema.ts';
import { lastLine } from '../../model/one-line.ts';
import type { Program } from '../../model/packages.ts';
import type { PlannedTrial } from '../../model/planned-trial.ts';
import { type Cell, isLinuxScenario } from '../../model/scenario.ts';
import { stdoutOf } from '../../system/host/execute.ts';
import { HostError } from '../../system/host/host-error.ts';
import { requirePrograms } from '../../system/host/programs.ts';
import type { Host } from '../../system/host/ssh.ts';
import { shell } from '../../system/shell.ts';
import { connectTo } from '../connect.ts';
import { impossible, judgeProfile, missed } from '../judge-profile.ts';
import { type LinuxDut, linuxDut } from '../linux/linux-dut.ts';
import type { LinuxSample } from '../linux/linux-script.ts';
import { arrivalsAround } from '../linux/linux-script.ts';
import type { KeepLog, PrepareRequest, ProfileOutcome, ProfileRequest, Testbed, TrialOutcome } from '../testbed.ts';
import { trafgenFlows } from '../traffic/flows.ts';
import { senderCommand, senderScript } from '../traffic/trafgen.ts';
import { type Counters, type LinuxLogs, logNames, readLinuxLogs } from './netns-logs.ts';

export const ourFolder = '/run/ppsgate';
const senderFolder = `${ourFolder}/sender`;
const slicesPerRun = 3;
/** Above the rate of any card, so that trafgen sends as fast as it can. */
const maxPps = 1e9;
/** An installation lasts about 20 ms, many times longer on a busy machine. */
const installSeconds = 0.5;

/** Ends processes of a lost controller. Throws a HostError if a host is unreachable or lacks a needed program. */
export async function openLinuxTestbed(
  name: string,
  config: LinuxTestbed,
  traffic: Traffic,
  connect: typeof connectTo = connectTo,
): Promise<Testbed> {
  await using opened = new AsyncDisposableStack();
  const sender = opened.use(await connect(config.sender, 'sender'));
  await requirePrograms(sender, neededPrograms.sender, 'apt-get install');
  await endPrograms(sender);
  const dutHost = opened.use(await connect(config.dut, 'DUT'));
  await requirePrograms(dutHost, neededPrograms.dut, 'apt-get install');
  await endPrograms(dutHost);
  const receiver = opened.use(await connect(config.receiver, 'receiver'));
  const dut = linuxDut(dutHost, config.dut, traffic.packets?.addresses);
  const lab: NetnsLab = { config, traffic, sender, dutHost, receiver, dut };
  const connections = opened.move();
  let readied: Pick<PrepareRequest, 'variants' | 'cells'> | undefined;
  let warnings: string[] = [];

  return {
    name,
    async inspect() {
      const leftovers = await dut.leftovers([config.dut.ingress, config.dut.egress]);
      const warnings = leftovers.map(({ why, fix }) => `On the DUT ${why}: ${fix}.`);
      return { fingerprint: await dut.fingerprint(), warnings };
    },

    async prepare({ variants, cells, notify }) {
      if (isDeepStrictEqual(readied, { variants, cells })) return { kind: 'ready' };
      readied = undefined;
      notify('installing each variant once');
      await uploadSender(lab, cells);
      const scenarios = [...new Set(cells.map((cell) => cell.scenario))].filter(isLinuxScenario);
      const prepared = await dut.prepare(variants, scenarios);
      if (prepared.kind === 'rejected') return prepared;
      readied = { variants, cells };
      warnings = prepared.warnings;
      return { kind: 'ready' };
    },

    ready: () => new Set(readied?.variants.map(({ variant }) => variant)),

    async trial(planned, keepLog, signal) {
      const outcome = await trial(lab, planned, keepLog, signal);
      return warnings.length === 0 ? outcome : { ...outcome, warnings: warnings.splice(0) };
    },

    booted: () => undefined,

    profile: (request, keepLog, signal) => profile(lab, request, keepLog, signal),

    async restore() {
      if (connections.disposed) return;
      await using _closed = connections;
      await endPrograms(sender);
      await endPrograms(dutHost);
      await dut.restore();
      await sender.output(shell`rm -rf ${senderFolder}`);
    },
  };
}

/** The receiver needs no program, as its kernel counts. perf(1) is optional. */
export const neededPrograms = {
  sender: ['bash', 'pkill', 'taskset', 'trafgen'],
  dut: ['bash', 'flock', 'nft', 'pkill', 'sysctl', 'taskset'],
} as const satisfies Record<string, readonly Program[]>;

/** Pattern for pgrep and pkill. Embedded hosts share one machine, but every match in their namespace is ours. */
export const ourPrograms = shell`--ns $$ --nslist net -f ${`^(bash ${ourFolder}/|trafgen )`}`;

const timesToTerminate = 20;
const timesToEnd = 50;
const secondsBetweenTimes = 0.1;
const secondsToSignal = 60;

/** A generator's script ends with its connection, which a controller that lost power never closes. */
async function endPrograms(host: Host): Promise<void> {
  for (let time = 0; time < timesToEnd; time += 1) {
    const signal = time < timesToTerminate ? shell`-TERM` : shell`-KILL`;
    const command = shell`pkill ${signal} ${ourPrograms}`;
    const outcome = await host.run(command, { timeoutSeconds: secondsToSignal });
    if (outcome.kind === 'exited' && outcome.code === 1) return;
    stdoutOf(outcome, host.name, command);
    await setTimeout(secondsBetweenTimes * 1000);
  }
  throw new HostError(
    'command-failed',
    `Programs of an experiment on ${host.name} do not exit: check what they wait for, or reboot it.`,
  );
}

type NetnsLab = {
  config: LinuxTestbed;
  traffic: Traffic;
  sender: Host;
  dutHost: Host;
  receiver: Host;
  dut: LinuxDut;
};

const flowsPath = (cell: Cell, traffic: Traffic): string =>
  `${senderFolder}/${cell.family}.${frameBytesFor(traffic, cell)}.flows`;
const senderScriptPath = `${senderFolder}/send.bash`;

async function uploadSender(lab: NetnsLab, cells: readonly Cell[]): Promise<void> {
  const { sender, dutHost, config, traffic } = lab;
  await sender.output(shell`mkdir -p ${senderFolder}`);
  await sender.upload(senderScript, senderScriptPath, 0o755);
  const [sourceMac, destinationMac] = await Promise.all([
    macAddress(sender, config.sender.interface),
    macAddress(dutHost, config.dut.ingress),
  ]);
  const { flows, packets } = traffic;
  const byPath = new Map(cells.map((cell) => [flowsPath(cell, traffic), cell]));
  for (const [path, cell] of byPath) {
    const frameBytes = frameBytesFor(traffic, cell);
    const { family } = cell;
    const macs = { sourceMac, destinationMac };
    const frames = trafgenFlows({ family, flows, frameBytes, packets, ...macs });
    await sender.upload(Buffer.from(frames), path, 0o600);
  }
}

async function macAddress(host: Host, name: string): Promise<string> {
  return (await host.output(shell`cat ${`/sys/class/net/${name}/address`}`)).trim();
}

async function trial(
  lab: NetnsLab,
  planned: PlannedTrial,
  keepLog: KeepLog,
  signal: AbortSignal,
): Promise<TrialOutcome> {
  const { traffic, config } = lab;
  const secondsPerRun = installSeconds + traffic.settleSeconds + traffic.measureSeconds;
  const limitSeconds = Math.ceil(30 + traffic.warmUpSeconds + planned.runs.length * secondsPerRun);

  const before = await counters(lab);
  const startedAt = new Date().toISOString();
  const sending = startSender(lab, planned.cell, limitSeconds, signal);
  const observing = lab.dut.observe(
    {
      ingress: config.dut.ingress,
      egress: config.dut.egress,
      cpu: config.dut.cpu,
      scenario: planned.cell.scenario,
      warmUpSeconds: traffic.warmUpSeconds,
      settleSeconds: traffic.settleSeconds,
      ...slicesOf(traffic),
      variants: planned.runs.map((run) => run.variant),
    },
    { timeoutSeconds: limitSeconds, signal, isEnough: enoughFor(traffic) },
  );
  const { log, observation } = await observing.finally(() => sending.stop());
  const senderLog = await sending.log;
  const after = await counters(lab);

  const logs: LinuxLogs = {
    dut: log,
    sender: senderLog,
    counters: `${JSON.stringify({ before, after }, null, 2)}\n`,
  };
  for (const which of ['dut', 'sender', 'counters'] as const) {
    await keepLog(logNames[which], logs[which]);
  }
  return readLinuxLogs(planned, startedAt, logs, observation);
}

async function profile(
  lab: NetnsLab,
  { cell, variant, seconds, event }: ProfileRequest,
  keepLog: KeepLog,
  signal: AbortSignal,
): Promise<ProfileOutcome> {
  const why = await whyNoPerf(lab.dutHost);
  if (why !== undefined) return impossible(why);
  const { ingress, cpu } = lab.config.dut;
  const { warmUpSeconds } = lab.traffic;
  const timeoutSeconds = Math.ceil(30 + warmUpSeconds + seconds);
  const { scenario } = cell;
  const sending = startSender(lab, cell, timeoutSeconds, signal);
  const sampled = await lab.dut
    .sample({ ingress, cpu, scenario, warmUpSeconds, seconds, event, variant }, { timeoutSeconds, signal })
    .finally(() => sending.stop());
  await keepLog(logNames.sender, await sending.log);
  await keepLog(logNames.dut, sampled.stdout + sampled.stderr);
  if (sampled.kind === 'signaled' || sampled.code !== 0) {
    return missed(`the DUT could not be sampled: ${lastLine(sampled.stderr) ?? 'it said nothing'}`);
  }
  const arrivals = arrivalsAround(sampled.stdout);
  if (arrivals === undefined || !(arrivals.withinPps > 0 && arrivals.afterPps > 0)) {
    return missed('packets did not flow during the whole sampling window');
  }
  const text = await lab.dut.printSamples();
  return judgeProfile(text, { event: event ?? 'cycles', kernel: 'an unknown kernel' }, keepLog);
}

async function whyNoPerf(dut: Host): Promise<string | undefined> {
  const outcome = await dut.run(shell`perf --version`);
  if (outcome.kind === 'exited' && outcome.code === 0) return undefined;
  const reason = lastLine(outcome.stderr) ?? 'it said nothing';
  return `perf does not run on the DUT (${reason}): install it, for example from linux-perf or linux-tools`;
}

/** Samples runs of several seconds once per second, like pkt-gen. */
function slicesOf({ measureSeconds }: Traffic): { sliceSeconds: number; slices: number } {
  const slices = Math.max(slicesPerRun, Math.floor(measureSeconds));
  return { sliceSeconds: measureSeconds / slices, slices };
}

function enoughFor({ measureAtLeastSeconds, measureSeconds }: Traffic) {
  if (measureAtLeastSeconds >= measureSeconds) return undefined;
  const bounds = { atLeast: Math.ceil(measureAtLeastSeconds), toleranceRatio: 0.005 };
  return (samples: readonly LinuxSample[]) =>
    isSteady(
      samples.map(({ forwardedPackets, seconds }) => forwardedPackets / seconds),
      bounds,
    );
}

function startSender(lab: NetnsLab, cell: Cell, limitSeconds: number, signal: AbortSignal) {
  const stdin = new PassThrough();
  const command = senderCommand({
    script: senderScriptPath,
    interface: lab.config.sender.interface,
    cpu: lab.config.sender.cpu,
    offeredPps: lab.traffic.offeredPps ?? maxPps,
    flows: flowsPath(cell, lab.traffic),
    limitSeconds,
  });
  const log = lab.sender.output(command, { stdin, timeoutSeconds: limitSeconds + 10, signal });
  log.catch(() => {});
  return { log, stop: () => stdin.end() };
}

async function counters(lab: NetnsLab): Promise<Counters> {
  const { dutHost, receiver, config } = lab;
  const [forwarded, received] = await Promise.all([
    counter(dutHost, config.dut.egress, 'tx_packets'),
    counter(receiver, config.receiver.interface, 'rx_packets'),
  ]);
  return { forwarded, received };
}

async function counter(host: Host, name: string, kind: string): Promise<number> {
  return Number(await host.output(shell`cat ${`/sys/class/net/${name}/statistics/${kind}`}`));
}
