// FreeBSD machines as a testbed: kernels booted on the DUT, pkt-gen on the senders and the receiver around it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Host as HostConfig } from '../../config/fields.ts';
import type { FreebsdTestbed, Generator } from '../../config/freebsd-testbed.ts';
import { frameBytesFor, type Traffic } from '../../config/schema.ts';
import {
  DutLostError,
  type FreebsdDut,
  type FreebsdDutOptions,
  openFreebsdDut,
  wakeFreebsdDut,
} from '../../dut/freebsd.ts';
import { busyShare, countersCommands, countersLog } from '../../dut/freebsd-counters.ts';
import { differences, type Fingerprint, withoutKernel } from '../../dut/freebsd-fingerprint.ts';
import { parseIfconfig } from '../../dut/freebsd-network.ts';
import { stdoutOf } from '../../host/execute.ts';
import { HostError } from '../../host/host-error.ts';
import type { ConnectOptions } from '../../host/login.ts';
import { ownFolder } from '../../host/own-folder.ts';
import { commandText, shell } from '../../host/shell.ts';
import type { Host } from '../../host/ssh.ts';
import type { Power, PowerConfig } from '../../power/power.ts';
import {
  layScenario,
  type ProofOutputs,
  proofCommands,
  provesScenario,
  takeAwayCommands,
} from '../../scenario/freebsd.ts';
import {
  type PktGenBlast,
  type PktGenHosts,
  type PktGenRequest,
  pktGenBlast,
} from '../../traffic/pkt-gen-blast.ts';
import { flowRanges } from '../../words/flows.ts';
import { netmapPort } from '../../words/freebsd-port.ts';
import { lastLine } from '../../words/one-line.ts';
import type { PlannedBlast, PlannedRun } from '../../words/planned-blast.ts';
import type { Rejected, Rejection } from '../../words/rejection.ts';
import type { Cell, Family, OwnRules, Scenario } from '../../words/scenario.ts';
import { isJudged } from '../../words/variant-name.ts';
import { impossible, missed } from '../profile.ts';
import type { BlastOutcome, KeepLog, ProfileOutcome, ProfileRequest, Testbed } from '../testbed.ts';
import { isToBlame, type Tallies, tallyOf } from './blame.ts';
import { type Builder, type Kernel, type Kernels, startKernels } from './kernels.ts';
import { freebsdLogNames, readFreebsdLogs } from './logs.ts';
import { fingerprint, PreflightError, preflight, readAll, settingsContext } from './preflight.ts';
import { sampleUnderLoad } from './profile.ts';

/** All that the testbed touches of the world. */
export type FreebsdWorld = {
  /** Throws a HostError where a machine does not let us in. */
  connect(host: HostConfig, label: string, options?: ConnectOptions): Promise<Host>;
  openPower(name: string, config: PowerConfig): Promise<Pick<Power, 'state' | 'cycle'>>;
  sleep(seconds: number): Promise<void>;
  /** In seconds since 1970. */
  now(): number;
};

/** Connects to all machines, and ends what a lost controller left sending; one that cannot be reached is a `HostError`. */
export async function openFreebsdTestbed(
  name: string,
  config: FreebsdTestbed,
  traffic: Traffic,
  world: FreebsdWorld,
): Promise<Testbed> {
  await using opened = new AsyncDisposableStack();
  const cycles = { done: 0 };
  // First: the DUT is deaf for as long as somebody sends.
  const generators = await connectGenerators(config, world);
  opened.defer(() => closeGenerators(generators));
  const dut = await openFreebsdDut(await dutOptions(name, config, world, cycles));
  opened.defer(() => dut.host().close());
  const dutMac = await macOf(dut.host(), config.dut.ingress.interface);
  const folder = await mkdtemp(join(tmpdir(), 'ppsgate-kernels-'));
  const lab: Lab = {
    name,
    config,
    traffic,
    world,
    dut,
    generators,
    folder,
    dutMac,
    kernels: undefined,
    rules: {},
    variants: [],
    families: ['inet4'],
    booted: undefined,
    unfit: undefined,
    told: new Set(),
    reference: undefined,
    tallies: new Map(),
    losses: 0,
    cycles,
    over: new AbortController(),
  };
  opened.move();
  return {
    name,
    inspect: (cells) => inspect(lab, cells),

    async prepare(request) {
      const signal = AbortSignal.any([request.signal, lab.over.signal]);
      lab.rules = request.rules;
      lab.kernels = startKernels({ ...request, signal }, builderOf(lab), folder);
      lab.variants = request.variants.map(({ variant }) => variant);
      return { kind: 'ready' };
    },

    blast: (planned, keepLog, signal) => blast(lab, planned, keepLog, signal),

    profile: (request, keepLog, signal) => profile(lab, request, keepLog, signal),

    restore: () => restore(lab),
  };
}

/**
 * What opening needs after a controller that died: a DUT that answers. Generators are ended first; a DUT that stays away
 * longer than a boot takes is power-cycled. Throws a HostError or a DutLostError where it does not come back.
 */
export async function wakeFreebsdTestbed(
  name: string,
  config: FreebsdTestbed,
  world: FreebsdWorld,
): Promise<void> {
  await closeGenerators(await connectGenerators(config, world));
  await wakeFreebsdDut(await dutOptions(name, config, world, { done: 0 }));
}

type Lab = {
  name: string;
  config: FreebsdTestbed;
  traffic: Traffic;
  world: FreebsdWorld;
  dut: FreebsdDut;
  generators: Generators;
  /** On this machine, for the kernels of this experiment. */
  folder: string;
  /** Of the port that packets come in by. */
  dutMac: string;
  kernels: Kernels | undefined;
  /** Of the scenarios that are the site's own. */
  rules: Readonly<Record<string, OwnRules>>;
  /** Whose kernels these are. */
  variants: readonly string[];
  families: readonly Family[];
  booted: Boot | undefined;
  /** The last boot in which nothing can be measured, and the blasts that have heard of it. */
  unfit: { variant: string; pair: number; reason: string; blasts: Set<number> } | undefined;
  /** Settings that do not hold, and that were warned of: what comes up beside them came with a kernel. */
  told: ReadonlySet<string>;
  /** What every boot is held against: the first of base or patched that was measured. */
  reference: Boot | undefined;
  /** By variant. */
  tallies: Tallies;
  /** Blasts in a row that were lost for no reason that a variant could have. */
  losses: number;
  /** Of the DUT's power. */
  cycles: { done: number };
  /** Aborted when the testbed is given back. */
  over: AbortController;
};

async function dutOptions(
  name: string,
  { dut }: FreebsdTestbed,
  world: FreebsdWorld,
  cycles: Lab['cycles'],
): Promise<FreebsdDutOptions> {
  return {
    // Deaf while packets flow: a sign of life is not asked of it.
    connect: async () => bounded(await world.connect(dut, 'DUT', { keepaliveSeconds: 0 })),
    power: dut.power && (await openPower(name, dut.power, world, cycles)),
    method: dut.boot.method,
    bootSeconds: dut.boot.limitSeconds,
    sleep: world.sleep,
    now: world.now,
  };
}

/** Counts what it does. */
async function openPower(
  name: string,
  config: PowerConfig,
  world: FreebsdWorld,
  cycles: Lab['cycles'],
): Promise<Pick<Power, 'cycle'>> {
  const power = await world.openPower(`the DUT of ${name}`, config);
  return {
    async cycle() {
      await power.cycle();
      cycles.done += 1;
    },
  };
}

type Boot = { variant: string; pair: number; kernel: string; fingerprint: Fingerprint };

type Generators = { senders: Host[]; receiver: Host };

/** No command takes so long, but one that a kernel has locked up. */
const stuckSeconds = 900;

/** A machine on which no command takes longer than that, where nothing else was said. */
export const bounded = (host: Host, timeoutSeconds = stuckSeconds): Host => ({
  ...host,
  run: (command, options) => host.run(command, { timeoutSeconds, ...options }),
  output: (command, options) => host.output(command, { timeoutSeconds, ...options }),
});

/** All of them or none, and none with a pkt-gen that runs. */
async function connectGenerators(config: FreebsdTestbed, world: FreebsdWorld): Promise<Generators> {
  await using opened = new AsyncDisposableStack();
  const connect = async (host: HostConfig, label: string) =>
    opened.use(await world.connect(host, label));
  const receiver = await connect(config.receiver, 'receiver');
  const senders: Host[] = [];
  for (const [index, sender] of config.senders.entries()) {
    const label = config.senders.length === 1 ? 'sender' : `sender ${index + 1}`;
    senders.push(await connect(sender, label));
  }
  await Promise.all([...senders, receiver].map((host) => endPktGen(host, world)));
  opened.move();
  return { senders, receiver };
}

const secondsToSignal = 60;
const timesToInterrupt = 5;
const timesToEnd = 10;

/** The machines are leased as one, so whatever pkt-gen runs there is ours. Its own summary, and its port, need a moment. */
async function endPktGen(host: Host, { sleep }: FreebsdWorld): Promise<void> {
  for (let time = 0; time < timesToEnd; time += 1) {
    const signal = time < timesToInterrupt ? shell`-INT` : shell`-KILL`;
    const command = shell`pkill ${signal} -x pkt-gen`;
    const outcome = await host.run(command, { timeoutSeconds: secondsToSignal });
    // There was none.
    if (outcome.kind === 'exited' && outcome.code === 1) return;
    stdoutOf(outcome, host.name, command);
    await sleep(1);
  }
  throw new HostError(
    'command-failed',
    `A pkt-gen on ${host.name} does not end: see what it waits for, or reboot that machine.`,
  );
}

const closeGenerators = async ({ senders, receiver }: Generators): Promise<void> => {
  await Promise.all([...senders, receiver].map((host) => host.close()));
};

async function macOf(host: Host, name: string): Promise<string> {
  const mac = parseIfconfig(await host.output(shell`ifconfig ${name}`))?.mac;
  if (mac !== undefined) return mac;
  throw new HostError('command-failed', `${name} on ${host.name} has no MAC address.`);
}

function builderOf({ config, world, name }: Lab): Builder | undefined {
  const { builder } = config;
  if (builder === undefined) return undefined;
  return {
    config: builder,
    connect: () => world.connect(builder, 'builder'),
    now: world.now,
    owner: `ppsgate on ${name}`,
  };
}

const portsOf = ({ config }: Lab): string[] => [
  config.dut.ingress.interface,
  config.dut.egress.interface,
];

async function inspect(lab: Lab, cells: readonly Cell[]) {
  lab.families = [...new Set(cells.map(({ family }) => family))];
  const { dut, config, generators } = lab;
  const problems = await preflight(dut.host(), preflightOf(lab));
  if (problems.length > 0 && config.preflight === 'fail') {
    throw new PreflightError(lab.name, problems);
  }
  lab.told = new Set(problems.map(({ setting }) => setting));
  const around = await Promise.all([
    ...config.senders.map((sender, index) =>
      generatorFacts(`sender ${index + 1}`, sender, generators.senders[index]),
    ),
    generatorFacts('receiver', config.receiver, generators.receiver),
  ]);
  return {
    fingerprint: {
      // What runs now is the DUT's own kernel, which is not measured.
      ...withoutKernel(await fingerprint(dut.host(), portsOf(lab))),
      ...Object.fromEntries(around),
    },
    warnings: problems.map(({ message }) => message),
  };
}

async function generatorFacts(
  label: string,
  generator: Generator,
  host: Host | undefined,
): Promise<[string, string]> {
  const port = netmapPort(generator.interface);
  const [version, ifconfig] = [shell`uname -s -r`, shell`ifconfig ${port}`];
  const said = host === undefined ? new Map() : await readAll(host, [version, ifconfig]);
  const media = parseIfconfig(said.get(commandText(ifconfig)) ?? '')?.media ?? 'unknown media';
  return [label, `${(said.get(commandText(version)) ?? '').trim()}, ${port} ${media}`];
}

const preflightOf = ({ config, families, world }: Lab) => ({
  mode: config.preflight,
  context: settingsContext(config, families),
  now: world.now,
  sleep: world.sleep,
});

const failed = (reason: string): BlastOutcome => ({ kind: 'failed', reason });

const rejected = (variant: string, rejection: Rejection): Rejected => ({
  kind: 'rejected',
  variant,
  rejection,
});

async function blast(
  lab: Lab,
  planned: PlannedBlast,
  keepLog: KeepLog,
  signal: AbortSignal,
): Promise<BlastOutcome> {
  const [run] = planned.runs;
  const { scenario } = planned.cell;
  if (run === undefined) return failed('nothing was planned');
  const { variant } = run;
  const kernel = (await lab.kernels?.get(variant)) ?? { kind: 'own' };
  if (kernel.kind === 'rejected') return rejected(variant, kernel.rejection);

  let when: When = 'after its boot';
  try {
    const ready = await bootFor(lab, planned, run, kernel);
    if (ready.kind !== 'ready') return ready;
    signal.throwIfAborted();
    when = 'at the rules';
    const refusal = await lay(lab, scenario);
    if (refusal !== undefined) return afterRefusal(lab, variant, scenario, refusal);
    when = 'under load';
    const outcome = await measure(lab, planned, { scenario, boot: ready.boot }, keepLog, signal);
    if (outcome.kind === 'measured') tallyOf(lab.tallies, variant).hasStoodBlast = true;
    lab.losses = 0;
    return outcome;
  } catch (error) {
    if (!(error instanceof HostError) || signal.aborted) throw error;
    return afterLoss(lab, { variant, scenario, when, signal }, error);
  }
}

type When = 'after its boot' | 'at the rules' | 'under load';
type Ready = { kind: 'ready'; boot: Boot };

/** One boot serves all cells of a pair's variant; what boots badly is tried once more before it is told. */
async function bootFor(
  lab: Lab,
  planned: PlannedBlast,
  { variant, pair }: PlannedRun,
  kernel: Exclude<Kernel, { kind: 'rejected' }>,
): Promise<Ready | BlastOutcome> {
  const { dut, config } = lab;
  if (lab.booted?.variant === variant && lab.booted.pair === pair) {
    return { kind: 'ready', boot: lab.booted };
  }
  const known = lab.unfit;
  if (known?.variant === variant && known.pair === pair && !known.blasts.has(planned.number)) {
    known.blasts.add(planned.number);
    return failed(known.reason);
  }
  lab.booted = undefined;
  if (kernel.kind === 'archive') {
    const laid = await dut.lay(kernel.archive);
    if (laid.kind === 'no-space') {
      return rejected(variant, { kind: 'out-of-disk', message: `DUT: ${laid.reason}.` });
    }
  }
  const outcome = await dut.boot(kernel.kind === 'own' ? undefined : variant);
  if (outcome.kind === 'boot-failed') return afterBootFailure(lab, variant, outcome);
  const tally = tallyOf(lab.tallies, variant);
  tally.hasBooted = true;
  tally.bootFailures = 0;

  const problems = await preflight(dut.host(), preflightOf(lab));
  const problem = problems.find(
    ({ setting }) => config.preflight === 'fail' || !lab.told.has(setting),
  );
  if (problem !== undefined) return unfit(lab, planned, problem.message);
  const boot: Boot = {
    variant,
    pair,
    kernel: outcome.version,
    fingerprint: await fingerprint(dut.host(), portsOf(lab)),
  };
  const [difference] = differencesBetween(lab.reference ?? boot, boot);
  if (difference !== undefined) {
    const reason = `the DUT is not the same in more than its kernel: ${difference}`;
    return unfit(lab, planned, reason);
  }
  lab.booted = boot;
  return { kind: 'ready', boot };
}

/** Whoever is to be measured in that boot hears of it; who comes again gets another boot. */
function unfit(lab: Lab, { number, runs }: PlannedBlast, reason: string): BlastOutcome {
  const [run] = runs;
  if (run !== undefined) {
    lab.unfit = { variant: run.variant, pair: run.pair, reason, blasts: new Set([number]) };
  }
  return failed(reason);
}

const differencesBetween = (reference: Boot, boot: Boot): string[] =>
  boot.variant === 'base'
    ? differences(boot.fingerprint, reference.fingerprint)
    : differences(reference.fingerprint, boot.fingerprint, boot.variant);

function afterBootFailure(
  lab: Lab,
  variant: string,
  { reason, panic }: { reason: string; panic?: string },
): BlastOutcome {
  tallyOf(lab.tallies, variant).bootFailures += 1;
  const died = panic === undefined ? '' : ` (panic: ${panic})`;
  return isToBlame(lab.tallies, variant, 'bootFailures', 'hasBooted')
    ? rejected(variant, {
        kind: 'boot-failed',
        message: `Twice in a row: ${reason}.`,
        ...(panic !== undefined && { panic }),
      })
    : failed(`${variant} did not boot: ${reason}${died}`);
}

function afterRefusal(
  lab: Lab,
  variant: string,
  scenario: Scenario,
  refusal: string,
): BlastOutcome {
  tallyOf(lab.tallies, variant).refusals += 1;
  return isToBlame(lab.tallies, variant, 'refusals', 'hasStoodBlast')
    ? rejected(variant, { kind: 'does-not-load', scenario, message: `Twice: ${refusal}.` })
    : failed(refusal);
}

/** On the DUT. */
export const rulesFolder = '/var/tmp/ppsgate';

/** Anew for every blast, so that no state of the one before is left; undefined where the scenario is in force. */
async function lay({ dut, rules: own }: Lab, scenario: Scenario): Promise<string | undefined> {
  const host = dut.host();
  await takeAway(host);
  const { files, commands } = layScenario(scenario, rulesFolder, own);
  if (files.length > 0) await host.output(ownFolder(rulesFolder));
  for (const { path, text } of files) await host.upload(Buffer.from(text), path, 0o600);
  for (const command of commands) {
    const outcome = await host.run(command);
    if (outcome.kind === 'exited' && outcome.code === 0) continue;
    const said = lastLine(outcome.stderr) ?? 'it said nothing';
    return `\`${commandText(command)}\` failed on the DUT: ${said}`;
  }
  const proof = provesScenario(scenario, await proofOf(host), { own });
  return proof.kind === 'in-force' ? undefined : `${scenario} is not in force: ${proof.reason}`;
}

async function takeAway(host: Host): Promise<void> {
  for (const round of takeAwayCommands) {
    await Promise.all(round.map((command) => host.run(command)));
  }
}

/** What the DUT says of its firewalls. */
export async function proofOf(host: Host): Promise<ProofOutputs> {
  const said = await readAll(host, Object.values(proofCommands));
  const entries = Object.entries(proofCommands).map(([key, command]) => [
    key,
    said.get(commandText(command)),
  ]);
  return Object.fromEntries(entries);
}

type Readied = { scenario: Scenario; boot: Boot };

async function measure(
  lab: Lab,
  planned: PlannedBlast,
  { scenario, boot }: Readied,
  keepLog: KeepLog,
  signal: AbortSignal,
): Promise<BlastOutcome> {
  const { traffic, dut, world } = lab;
  const ports = portsOf(lab);
  const before = await readAll(dut.host(), countersCommands(ports));
  const startedAt = new Date(world.now() * 1000).toISOString();
  const { measureSeconds: trafficSeconds, measureAtLeastSeconds: atLeastSeconds } = traffic;
  const outcome = await send(lab, planned.cell, { trafficSeconds, atLeastSeconds }, signal);
  const { logs } = outcome;
  await keepLog(freebsdLogNames.receiver, logs.receiver);
  for (const [index, log] of logs.senders.entries()) {
    await keepLog(freebsdLogNames.sender(index), log);
  }
  // States live for seconds: they are asked for first.
  const [proofs, after] = await Promise.all([
    proofOf(dut.host()),
    readAll(dut.host(), countersCommands(ports)),
  ]);
  const proof = provesScenario(scenario, proofs, {
    blast: { flows: traffic.flows },
    own: lab.rules,
  });
  await keepLog(freebsdLogNames.counters, countersLog(before, after));
  const busy = busyShare(before, after);
  if (outcome.kind === 'failed') return failed(outcome.reason);
  const measured = readFreebsdLogs(planned, logs, {
    startedAt,
    traffic,
    told: {
      kernel: boot.kernel,
      ...(busy && { busiestCpuRatio: busy.busiestCpuRatio }),
    },
  });
  // What is wrong with the packets says more than states that were not made of them.
  if (!isValid(measured)) return measured;
  if (proof.kind !== 'in-force') return failed(`${scenario} was not in force: ${proof.reason}`);
  if (isJudged(boot.variant)) lab.reference ??= boot;
  return measured;
}

/** On whichever boot of the variant there is. */
async function profile(
  lab: Lab,
  request: ProfileRequest,
  keepLog: KeepLog,
  signal: AbortSignal,
): Promise<ProfileOutcome> {
  const { cell, variant } = request;
  const { scenario } = cell;
  const kernel = (await lab.kernels?.get(variant)) ?? { kind: 'own' };
  if (kernel.kind === 'rejected') return impossible(kernel.rejection.message);

  let when: When = 'after its boot';
  try {
    if (lab.booted?.variant !== variant) {
      const run = { number: 0, variant, pair: 0 };
      const ready = await bootFor(lab, { number: 0, cell, runs: [run] }, run, kernel);
      if (ready.kind !== 'ready') return missed(whyNot(ready));
    }
    signal.throwIfAborted();
    when = 'at the rules';
    const refusal = await lay(lab, scenario);
    if (refusal !== undefined) return missed(refusal);
    when = 'under load';
    const { config, traffic } = lab;
    return await sampleUnderLoad(
      request,
      {
        dut: lab.dut.host(),
        folder: rulesFolder,
        egress: config.dut.egress.interface,
        settleSeconds: traffic.settleSeconds,
        send: (trafficSeconds) => send(lab, cell, { trafficSeconds }, signal),
      },
      keepLog,
    );
  } catch (error) {
    if (!(error instanceof HostError) || signal.aborted) throw error;
    return missed(whyNot(await afterLoss(lab, { variant, scenario, when, signal }, error)));
  }
}

function whyNot(outcome: BlastOutcome): string {
  if (outcome.kind === 'rejected') return outcome.rejection.message;
  return outcome.kind === 'failed' ? outcome.reason : 'nothing was sampled';
}

async function send(
  lab: Lab,
  cell: Cell,
  howLong: Pick<PktGenRequest, 'trafficSeconds' | 'atLeastSeconds'>,
  signal: AbortSignal,
): Promise<PktGenBlast> {
  const { config, traffic } = lab;
  const { family } = cell;
  const split = flowRanges(traffic.flows, family, config.senders.length);
  if (split.kind === 'refused') {
    return { kind: 'failed', logs: { receiver: '', senders: [] }, reason: split.message };
  }
  const request: PktGenRequest = {
    family,
    frameBytes: frameBytesFor(traffic, cell),
    flows: split.flows,
    ratePps: traffic.offeredPps,
    threads: config.senders[0]?.threads ?? 1,
    settleSeconds: traffic.settleSeconds,
    ...howLong,
  };
  return pktGenBlast(hostsOf(lab), request, signal);
}

const isValid = (outcome: BlastOutcome): boolean =>
  outcome.kind === 'measured' && outcome.runs.every(({ validity }) => validity.kind === 'valid');

function hostsOf({ config, generators, dutMac }: Lab): PktGenHosts {
  return {
    senders: config.senders.flatMap(({ interface: name, mac }, index) => {
      const host = generators.senders[index];
      return host === undefined
        ? []
        : { host, interface: name, sourceMac: mac, destinationMac: dutMac };
    }),
    receiver: { host: generators.receiver, interface: config.receiver.interface },
  };
}

type Loss = { variant: string; scenario: Scenario; when: When; signal: AbortSignal };

/** Finds out who was lost, and has all back; throws where somebody does not come back, or somebody is lost time and again. */
async function afterLoss(lab: Lab, loss: Loss, error: HostError): Promise<BlastOutcome> {
  await reconnectGenerators(lab, loss.signal);
  const isStuck = error.kind === 'timeout';
  if (!isStuck && (await answers(lab.dut.host()))) return afterGlitch(lab, error);

  lab.booted = undefined;
  const cyclesBefore = lab.cycles.done;
  const { panic } = await lab.dut.recover();
  if (panic !== undefined) return afterDeath(lab, loss, `it panicked: ${panic}`, panic);
  if (isStuck) return afterDeath(lab, loss, error.message);
  if (lab.cycles.done === cyclesBefore) return afterGlitch(lab, error);
  return afterDeath(lab, loss, 'it did not answer any more, and was power-cycled');
}

const lossesInARow = 3;

function afterGlitch(lab: Lab, error: HostError): BlastOutcome {
  lab.losses += 1;
  if (lab.losses >= lossesInARow) throw error;
  return failed(error.message);
}

function afterDeath(
  lab: Lab,
  { variant, scenario, when }: Loss,
  how: string,
  panic?: string,
): BlastOutcome {
  tallyOf(lab.tallies, variant).deaths += 1;
  const where = circumstances(lab, scenario, when);
  if (!isToBlame(lab.tallies, variant, 'deaths', 'hasStoodBlast')) {
    return failed(`the DUT with ${variant} died ${where}: ${how}`);
  }
  return rejected(variant, {
    kind: when === 'after its boot' ? 'boot-failed' : 'panics-under-load',
    message: `Twice, ${where}${panic === undefined ? `: ${how}` : ''}.`,
    ...(panic !== undefined && { panic }),
  });
}

function circumstances({ traffic }: Lab, scenario: Scenario, when: When): string {
  switch (when) {
    case 'after its boot':
      return 'right after it had booted';
    case 'at the rules':
      return `while ${scenario} was laid`;
    case 'under load':
      return `under ${traffic.flows} flows`;
  }
}

/** As long as a machine takes to boot. */
const generatorSeconds = 600;
const secondsBetweenTries = 10;

async function reconnectGenerators(lab: Lab, signal: AbortSignal): Promise<void> {
  const { config, world } = lab;
  await closeGenerators(lab.generators);
  const deadline = world.now() + generatorSeconds;
  for (;;) {
    try {
      lab.generators = await connectGenerators(config, world);
      return;
    } catch (error) {
      const isPatient = isAbsence(error) && world.now() < deadline && !signal.aborted;
      if (!isPatient) throw error;
    }
    await world.sleep(secondsBetweenTries);
  }
}

const isAbsence = (error: unknown): boolean =>
  error instanceof HostError && ['unreachable', 'lost', 'timeout'].includes(error.kind);

const answers = (host: Host): Promise<boolean> =>
  host.output(shell`sysctl -n kern.boottime`, { timeoutSeconds: answerSeconds }).then(
    () => true,
    () => false,
  );

const answerSeconds = 10;

/** The DUT on its own kernel, with nothing of ours on it or around it; throws where it cannot be brought back. */
async function restore(lab: Lab): Promise<void> {
  const { dut, kernels, variants } = lab;
  lab.over.abort(new Error('the testbed is given back'));
  try {
    await silence(lab);
    await giveBack(lab);
  } finally {
    await Promise.allSettled([
      dut.host().close(),
      closeGenerators(lab.generators),
      ...variants.map((variant) => kernels?.get(variant)),
    ]);
    await rm(lab.folder, { recursive: true, force: true });
  }
}

/** The DUT comes first: a generator that is out of reach ends by its own time, or by whoever opens the testbed next. */
async function silence(lab: Lab): Promise<void> {
  const { world, config, generators } = lab;
  const hosts = [...generators.senders, generators.receiver];
  const ended = await Promise.allSettled(hosts.map((host) => endPktGen(host, world)));
  if (ended.every(({ status }) => status === 'fulfilled')) return;
  await closeGenerators(generators);
  lab.generators = await connectGenerators(config, world).catch(() => generators);
}

const timesToGiveBack = 3;

/** A connection that breaks here costs a repetition, and not the DUT. */
async function giveBack({ dut, name }: Lab): Promise<void> {
  for (let time = 1; ; time += 1) {
    try {
      await dut.restore();
      await takeAway(dut.host());
      await dut.host().output(shell`rm -rf ${rulesFolder}`);
      return;
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      if (time < timesToGiveBack) continue;
      throw new DutLostError(
        `The DUT of ${name} may still run a kernel of ours: ${time} times it could not be restored, at last for this: ${error.message}`,
        { cause: error },
      );
    }
  }
}
