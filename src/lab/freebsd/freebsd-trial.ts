// Runs one trial on a FreeBSD testbed: boots the variant, installs the rules, sends packets, and reads the logs.
import type { Traffic } from '../../config/schema.ts';
import type { PlannedTrial } from '../../model/planned-trial.ts';
import type { OwnRules, Scenario } from '../../model/scenario.ts';
import { HostError } from '../../system/host/host-error.ts';
import type { Host } from '../../system/host/ssh.ts';
import { type Command, shell } from '../../system/shell.ts';
import type { ConsoleRecorder } from '../console/recorder.ts';
import { tallyOf } from '../fault-attribution.ts';
import { impossible, missed } from '../judge-profile.ts';
import type { KeepLog, ProfileOutcome, ProfileRequest, TrialOutcome } from '../testbed.ts';
import { markBoot } from './boot/boot-system.ts';
import {
  type Boot,
  type Boots,
  bootFor,
  bootOf,
  failed,
  pathProblem,
  portsOf,
  rejected,
  setReference,
  takeWarnings,
} from './boots.ts';
import { arrivedBetween, countersCommands, countersLog, sentBetween } from './dut/counters.ts';
import { limitsBetween } from './dut/limits.ts';
import { parseIfconfig } from './dut/network.ts';
import { freebsdLogNames, readFreebsdLogs } from './freebsd-logs.ts';
import type { Kernels, VariantKernel } from './kernels.ts';
import { afterLoss, afterRefusal, type RecoverableMachines, type TrialPhase } from './losses.ts';
import { readAll } from './preflight.ts';
import { droppingRules } from './rule-drops.ts';
import { installRules, proofOf, rulesFolder } from './rules.ts';
import { sampleUnderLoad } from './sample-under-load.ts';
import { type Firewall, provesScenario } from './scenario.ts';
import { starvationBetween, starvationCommands } from './starvation.ts';

export type FreebsdMachines = RecoverableMachines & {
  readonly traffic: Traffic;
  /** Firewalls that the DUT's rc.conf starts. */
  readonly firewallsOfSite: readonly Firewall[];
  readonly dutMac: string;
  /** Speed of the DUT's port towards the senders, in Gbit/s. */
  readonly lineGigabits: number | undefined;
  readonly console: Pick<ConsoleRecorder, 'open' | 'takeLog' | 'takeProblems'> | undefined;
  prepared: PreparedKernels | undefined;
};

type PreparedKernels = {
  kernels: Kernels;
  rules: Readonly<Record<string, OwnRules>>;
};

export async function trial(
  lab: FreebsdMachines,
  planned: PlannedTrial,
  keepLog: KeepLog,
  signal: AbortSignal,
): Promise<TrialOutcome> {
  const outcome = await recorded(lab, keepLog, () => send(lab, planned, keepLog, signal));
  const warnings = [...(lab.console?.takeProblems() ?? []), ...takeWarnings(lab.boots)];
  return warnings.length === 0 ? outcome : { ...outcome, warnings };
}

/** Keeps the console's output, even if the DUT is lost. */
async function recorded<Outcome>(
  { console }: FreebsdMachines,
  keepLog: KeepLog,
  work: () => Promise<Outcome>,
): Promise<Outcome> {
  try {
    return await work();
  } finally {
    if (console !== undefined) await keepLog(freebsdLogNames.console, console.takeLog());
  }
}

async function send(
  lab: FreebsdMachines,
  planned: PlannedTrial,
  keepLog: KeepLog,
  signal: AbortSignal,
): Promise<TrialOutcome> {
  const [run] = planned.runs;
  const { scenario } = planned.cell;
  if (run === undefined) return failed('no trial was planned');
  const { variant } = run;
  const kernel = await kernelOf(lab, variant, run.layout);
  if (kernel.kind === 'rejected') return rejected(variant, kernel.rejection);

  const { boots } = lab;
  const { flows } = lab.traffic;
  let phase: TrialPhase = 'after its boot';
  try {
    if (bootOf(boots, run) === undefined) await lab.generators.closePorts();
    const ready = await bootFor(boots, planned, run, kernel);
    if (ready.kind !== 'ready') return ready;
    signal.throwIfAborted();
    phase = 'at the rules';
    const refusal = await installRulesOf(lab, scenario);
    if (refusal !== undefined) return afterRefusal(boots, variant, scenario, refusal);
    phase = 'under load';
    const outcome = await measure(lab, planned, ready.boot, keepLog, signal);
    if (outcome.kind === 'measured') tallyOf(boots.tallies, variant).hasStoodTrial = true;
    lab.glitches.inARow = 0;
    return outcome;
  } catch (error) {
    if (!(error instanceof HostError) || signal.aborted) throw error;
    return afterLoss(lab, { variant, scenario, flows, phase, signal }, error);
  }
}

const kernelOf = async ({ prepared }: FreebsdMachines, variant: string, layout?: number): Promise<VariantKernel> =>
  (await prepared?.kernels.get(variant, layout)) ?? { kind: 'own' };

const rulesOf = ({ prepared }: FreebsdMachines): PreparedKernels['rules'] => prepared?.rules ?? {};

async function installRulesOf(lab: FreebsdMachines, scenario: Scenario): Promise<string | undefined> {
  const host = lab.boots.dut.host();
  // Disables the site's own firewalls, too; the next boot enables them again.
  if (lab.firewallsOfSite.length > 0) await markBoot(host);
  return installRules(host, scenario, rulesOf(lab));
}

async function measure(
  lab: FreebsdMachines,
  planned: PlannedTrial,
  boot: Boot,
  keepLog: KeepLog,
  signal: AbortSignal,
): Promise<TrialOutcome> {
  const { traffic, boots, generators, dutMac } = lab;
  const { cell } = planned;
  const { scenario } = cell;
  const { dut, deps } = boots;
  const ports = portsOf(boots);
  const { measureSeconds: trafficSeconds, measureAtLeastSeconds: atLeastSeconds } = traffic;
  const unopened = await generators.openPorts(trafficSeconds, signal);
  if (unopened?.kind === 'failed') {
    await keepLog(freebsdLogNames.receiver, unopened.logs.receiver);
    return failed(unopened.reason);
  }
  const dutCommands = new Set([...countersCommands(ports), ...starvationCommands]);
  const readMachines = async () =>
    new Map(
      await Promise.all([
        readNamed(dut.host(), [...dutCommands]),
        ...generators.hosts().map((host) => readNamed(host, starvationCommands)),
      ]),
    );
  const [readBefore, astray] = await Promise.all([readMachines(), pathProblem(boots, cell.family)]);
  if (astray !== undefined) return failed(astray);
  const startedAt = new Date(deps.now() * 1000).toISOString();
  const request = { cell, dutMac, trafficSeconds, atLeastSeconds };
  const outcome = await generators.send(request, signal);
  const { logs } = outcome;
  await keepLog(freebsdLogNames.receiver, logs.receiver);
  for (const [index, log] of logs.senders.entries()) {
    await keepLog(freebsdLogNames.sender(index), log);
  }
  // Reads states first, as they live for seconds. Drivers that read their cards once a second, such as mlx5en(4), have
  // counted everything by now: the receiver printed another rate after the senders had ended.
  const [proofs, rules, readAfter] = await Promise.all([
    proofOf(dut.host()),
    droppingRules(dut.host()),
    readMachines(),
  ]);
  const [before = new Map(), after = new Map()] = [readBefore, readAfter].map((read) => read.get(roleOf(dut.host())));
  const starvation = starvationBetween(readBefore, readAfter);
  await keepLog(freebsdLogNames.counters, countersLog(before, after));
  const { ingress, egress } = boots.config.dut;
  const egressPackets = sentBetween(before, after, egress.interface);
  const ingressPackets = arrivedBetween(before, after, ingress.interface);
  const limits = limitsBetween(before, after, {
    ingress: ingress.interface,
    egress: egress.interface,
    pfInfo: proofs.pfInfo,
    rules,
  });
  if (outcome.kind === 'failed') return failed(outcome.reason);
  const measured = readFreebsdLogs(planned, logs, {
    startedAt,
    traffic,
    summary: {
      kernel: boot.kernel,
      ...(egressPackets !== undefined && { egressPackets }),
      ...(ingressPackets !== undefined && { ingressPackets }),
      ...(lab.lineGigabits !== undefined && { lineGigabits: lab.lineGigabits }),
      ...(starvation !== undefined && { starvation }),
      ...(limits && { limits: { [boot.variant]: limits } }),
    },
  });
  // A fault of the packets is more specific than their missing states.
  if (!isValid(measured)) return measured;
  const isSilent = measured.kind === 'measured' && measured.runs.every(({ pps }) => pps === 0);
  if (isSilent) {
    const down = await linkThatIsDown(boots);
    if (down !== undefined) return failed(`no packet was received, and ${down}`);
  }
  const proof = provesScenario(scenario, proofs, {
    // A DUT that forwards no packet creates no states.
    ...(!isSilent && { trial: { flows: traffic.flows } }),
    own: rulesOf(lab),
  });
  if (proof.kind !== 'in-force') return failed(`${scenario} was not active: ${proof.reason}`);
  setReference(boots, boot);
  return measured;
}

/** Names the machine without its address, which a report should not disclose. */
const roleOf = ({ name }: Host): string => name.replace(/ \(.*$/, '');

const readNamed = async (host: Host, commands: readonly Command[]) =>
  [roleOf(host), await readAll(host, commands)] as const;

/** Time for a link to come up after a generator has closed its port. */
const linkSeconds = 15;

/** Returns a clause: a pulled cable looks like a kernel that forwards nothing. */
async function linkThatIsDown({ dut, deps, config }: Boots): Promise<string | undefined> {
  for (const { interface: name } of [config.dut.ingress, config.dut.egress]) {
    const isActive = async () => parseIfconfig(await dut.host().output(shell`ifconfig ${name}`))?.isActive === true;
    for (let seconds = 0; !(await isActive()); seconds += 1) {
      if (seconds === linkSeconds) return `the link of the DUT's ${name} is down`;
      await deps.sleep(1);
    }
  }
  return undefined;
}

const isValid = (outcome: TrialOutcome): boolean =>
  outcome.kind === 'measured' && outcome.runs.every(({ validity }) => validity.kind === 'valid');

export const profile = (
  lab: FreebsdMachines,
  request: ProfileRequest,
  keepLog: KeepLog,
  signal: AbortSignal,
): Promise<ProfileOutcome> => recorded(lab, keepLog, () => sample(lab, request, keepLog, signal));

async function sample(
  lab: FreebsdMachines,
  request: ProfileRequest,
  keepLog: KeepLog,
  signal: AbortSignal,
): Promise<ProfileOutcome> {
  const { cell, variant } = request;
  const { scenario } = cell;
  const kernel = await kernelOf(lab, variant);
  if (kernel.kind === 'rejected') return impossible(kernel.rejection.message);

  const { boots, generators, dutMac, traffic } = lab;
  let phase: TrialPhase = 'after its boot';
  try {
    if (boots.booted?.variant !== variant) {
      const run = { number: 0, variant, pair: 0 };
      await generators.closePorts();
      const ready = await bootFor(boots, { number: 0, cell, runs: [run] }, run, kernel);
      if (ready.kind !== 'ready') return missed(whyNot(ready));
    }
    if (boots.booted !== undefined) boots.booted = { ...boots.booted, isSampled: true };
    signal.throwIfAborted();
    phase = 'at the rules';
    const refusal = await installRulesOf(lab, scenario);
    if (refusal !== undefined) return missed(refusal);
    const astray = await pathProblem(boots, cell.family);
    if (astray !== undefined) return missed(astray);
    phase = 'while sampled';
    return await sampleUnderLoad(
      request,
      {
        dut: boots.dut.host(),
        folder: rulesFolder,
        egress: boots.config.dut.egress.interface,
        open: (trafficSeconds) => generators.openPorts(trafficSeconds, signal),
        send: (trafficSeconds) => generators.send({ cell, dutMac, trafficSeconds }, signal),
      },
      keepLog,
    );
  } catch (error) {
    if (!(error instanceof HostError) || signal.aborted) throw error;
    const { flows } = traffic;
    return missed(whyNot(await afterLoss(lab, { variant, scenario, flows, phase, signal }, error)));
  }
}

function whyNot(outcome: TrialOutcome): string {
  if (outcome.kind === 'rejected') return outcome.rejection.message;
  return outcome.kind === 'failed' ? outcome.reason : 'no sample was taken';
}
