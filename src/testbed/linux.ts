// Three Linux hosts as a testbed: trafgen on the sender, the DUT between, counters on the receiver.
import { readFile } from 'node:fs/promises';
import { PassThrough } from 'node:stream';
import {
  frameBytesFor,
  type Host as HostConfig,
  type LinuxTestbed,
  type Traffic,
} from '../config/schema.ts';
import { type LinuxDut, linuxDut } from '../dut/linux.ts';
import type { PlannedBlast } from '../experiment/schedule.ts';
import { shell } from '../host/shell.ts';
import { connect, type Host } from '../host/ssh.ts';
import type { Family } from '../scenario/scenario.ts';
import { trafgenFlows } from '../traffic/flows.ts';
import { parseTrafgenLog, senderCommand, senderScript } from '../traffic/trafgen.ts';
import { measuredRun } from './run.ts';
import type { BlastOutcome, KeepLog, Testbed } from './testbed.ts';

const senderFolder = '/run/ppsgate/sender';
const slicesPerRun = 3;
/** Laying a variant takes some 20 ms; a busy machine may need many times that. */
const secondsToLay = 0.5;
/** More than this share of what the DUT forwarded must reach the receiver. */
const leastReceivedShare = 0.99;

/** Connects to all three hosts and readies the sender; a host that cannot be reached is a `HostError`. */
export async function openLinuxTestbed(
  name: string,
  config: LinuxTestbed,
  traffic: Traffic,
): Promise<Testbed> {
  const [sender, dutHost, receiver] = await Promise.all([
    connectTo(config.sender, 'sender'),
    connectTo(config.dut, 'DUT'),
    connectTo(config.receiver, 'receiver'),
  ]);
  const dut = linuxDut(dutHost);
  const lab: Lab = { config, traffic, sender, dutHost, receiver, dut };

  return {
    name,
    fingerprint: () => dut.fingerprint(),

    async prepare(variants, cells) {
      await uploadSender(lab, new Set(cells.map((cell) => cell.family)));
      const scenarios = [...new Set(cells.map((cell) => cell.scenario))];
      return dut.prepare(variants, scenarios);
    },

    blast: (planned, keepLog, signal) => blast(lab, planned, keepLog, signal),

    async restore() {
      await dut.restore();
      await sender.output(shell`rm -rf ${senderFolder}`);
      await Promise.all([sender, dutHost, receiver].map((host) => host.close()));
    },
  };
}

type Lab = {
  config: LinuxTestbed;
  traffic: Traffic;
  sender: Host;
  dutHost: Host;
  receiver: Host;
  dut: LinuxDut;
};

async function connectTo(config: HostConfig, label: string): Promise<Host> {
  const { host, port, user, privateKeyPath, knownHostsPath } = config;
  const knownHosts = await readFile(knownHostsPath, 'utf8');
  const identity =
    privateKeyPath === undefined
      ? { agent: true }
      : { privateKey: await readFile(privateKeyPath, 'utf8') };
  // A busy CPU answers late: only a host that is silent for 15 s is lost.
  const options = { keepaliveSeconds: 5 };
  return connect({ host, port, user, knownHosts, label, ...identity }, options);
}

const flowsPath = (family: Family): string => `${senderFolder}/${family}.flows`;
const senderScriptPath = `${senderFolder}/send.bash`;

async function uploadSender(lab: Lab, families: ReadonlySet<Family>): Promise<void> {
  const { sender, dutHost, config, traffic } = lab;
  await sender.output(shell`mkdir -p ${senderFolder}`);
  await sender.upload(Buffer.from(senderScript), senderScriptPath, 0o755);
  const [sourceMac, destinationMac] = await Promise.all([
    macAddress(sender, config.sender.interface),
    macAddress(dutHost, config.dut.ingress),
  ]);
  const { flows } = traffic;
  for (const family of families) {
    const frameBytes = frameBytesFor(traffic, family);
    const packets = trafgenFlows({ family, flows, frameBytes, sourceMac, destinationMac });
    await sender.upload(Buffer.from(packets), flowsPath(family), 0o600);
  }
}

async function macAddress(host: Host, name: string): Promise<string> {
  return (await host.output(shell`cat ${`/sys/class/net/${name}/address`}`)).trim();
}

async function blast(
  lab: Lab,
  planned: PlannedBlast,
  keepLog: KeepLog,
  signal: AbortSignal,
): Promise<BlastOutcome> {
  const { traffic, config } = lab;
  const secondsPerRun = secondsToLay + traffic.settleSeconds + traffic.measureSeconds;
  const limitSeconds = Math.ceil(30 + traffic.warmUpSeconds + planned.runs.length * secondsPerRun);

  const before = await counters(lab);
  const startedAt = new Date().toISOString();
  const sending = startSender(lab, planned.cell.family, limitSeconds, signal);
  const observing = lab.dut.observe(
    {
      ingress: config.dut.ingress,
      egress: config.dut.egress,
      cpu: config.dut.cpu,
      scenario: planned.cell.scenario,
      warmUpSeconds: traffic.warmUpSeconds,
      settleSeconds: traffic.settleSeconds,
      sliceSeconds: traffic.measureSeconds / slicesPerRun,
      slices: slicesPerRun,
      variants: planned.runs.map((run) => run.variant),
    },
    { timeoutSeconds: limitSeconds, signal },
  );
  const { log, observation } = await observing.finally(() => sending.stop());
  const senderLog = await sending.log;
  const after = await counters(lab);

  await keepLog('dut.log', log);
  await keepLog('sender.log', senderLog);
  await keepLog('counters.json', `${JSON.stringify({ before, after }, null, 2)}\n`);

  const sent = parseTrafgenLog(senderLog);
  if (sent.kind === 'failed') return sent;
  if (observation.kind === 'failed') return observation;
  const forwarded = after.forwarded - before.forwarded;
  const received = after.received - before.received;
  if (received < forwarded * leastReceivedShare) {
    return {
      kind: 'failed',
      reason: `the receiver counted ${received} packets of the ${forwarded} that the DUT forwarded`,
    };
  }
  const runs = planned.runs.map((run, index) =>
    measuredRun(run, planned.number, observation.samplesPerRun[index] ?? [], sent.offeredPps),
  );
  const { number, cell } = planned;
  const summary = {
    number,
    cell,
    startedAt,
    trafficSeconds: sent.seconds,
    offeredPps: sent.offeredPps,
  };
  return { kind: 'measured', runs, summary };
}

function startSender(lab: Lab, family: Family, limitSeconds: number, signal: AbortSignal) {
  const stdin = new PassThrough();
  const command = senderCommand({
    script: senderScriptPath,
    interface: lab.config.sender.interface,
    cpu: lab.config.sender.cpu,
    offeredPps: lab.traffic.offeredPps,
    flows: flowsPath(family),
    limitSeconds,
  });
  const log = lab.sender.output(command, { stdin, timeoutSeconds: limitSeconds + 10, signal });
  log.catch(() => {});
  return { log, stop: () => stdin.end() };
}

/** Packets that left the DUT, and that reached the receiver, since their interfaces came up. */
async function counters(lab: Lab): Promise<{ forwarded: number; received: number }> {
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
