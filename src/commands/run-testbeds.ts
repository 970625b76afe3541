// Testbeds as a person at a shell meets them: a line for each, or a line for each thing that was looked at.

import { type Finding, skipped } from '../checkup/check.ts';
import { checkFreebsdTestbed } from '../checkup/freebsd-check.ts';
import { checkLinuxTestbed } from '../checkup/linux-check.ts';
import type { Capabilities } from '../config/capabilities.ts';
import { loadConfig } from '../config/load.ts';
import type { Config, Testbed } from '../config/schema.ts';
import { realWorld } from '../controller/open.ts';
import { openReservations, whoami } from '../controller/reservations.ts';
import { lookPurpose } from '../reservation/outlook.ts';
import { readLab } from '../reservation/records.ts';
import { exitCodes } from '../words/upshot.ts';
import { findingText, summary } from './findings.ts';
import { configPath, namedTestbed } from './named-testbed.ts';
import { columns, hasColours, oneLine, print } from './table.ts';

export type ListOptions = { config?: string; json?: true };

export async function listTestbeds({ config: path, json }: ListOptions): Promise<number> {
  const { testbeds } = await loadConfig(configPath(path));
  const rows = Object.entries(testbeds).map(([name, testbed]) => rowOf(name, testbed));
  print(json ? JSON.stringify(rows, null, 2) : columns(rows.map(textsOf)).join('\n'));
  return exitCodes.pass;
}

export type CheckOptions = ListOptions & { traffic?: boolean; power?: true };

/** Prints each finding as it is made, or with `json` all of them at the end. */
export async function checkTestbed(
  name: string,
  options: CheckOptions,
  signal: AbortSignal,
): Promise<number> {
  const path = configPath(options.config);
  const config = await loadConfig(path);
  const testbed = namedTestbed(config, path, name);
  const { json, traffic = true, power = false } = options;
  const tell = (sentence: string) =>
    void (json ? process.stderr : process.stdout).write(`… ${sentence}\n`);
  const findings: Finding[] = [];
  const look = async (signal: AbortSignal) => {
    const world = { ...realWorld, tell, signal };
    for await (const finding of findingsOf({ name, testbed, config, traffic, power, world })) {
      findings.push(finding);
      if (!json) print(findingText(finding, hasColours(process.stdout)));
    }
  };
  const isMeddling = testbed.kind === 'freebsd' && (traffic || power);
  await (isMeddling ? keptFromOthers({ name, config, tell, signal }, look) : look(signal));
  print(json ? JSON.stringify({ testbed: name, findings }, null, 2) : summary(findings));
  return findings.some(({ kind }) => kind === 'wrong') ? exitCodes.infrastructure : exitCodes.pass;
}

type Keeping = {
  name: string;
  config: Config;
  tell(sentence: string): void;
  signal: AbortSignal;
};

/** Waits until nobody measures there, unless nobody else can take it: it is in quarantine, or reserved for this command. */
async function keptFromOthers(
  { name, config, tell, signal }: Keeping,
  look: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  if (process.env.PPSGATE_TESTBED === name) return look(signal);
  const onWait = (_: unknown, text: string) => tell(oneLine(text));
  await using reservations = await openReservations(config, { signal, tell, onWait });
  const { quarantines } = await readLab(reservations.store);
  if (quarantines.has(name)) return await look(signal);
  const holder = { who: whoami(), purpose: lookPurpose };
  const lease = await reservations.hold(name, { priority: 'patch', holder });
  try {
    await look(AbortSignal.any([signal, lease.signal]));
  } finally {
    const isClean = lease.holding.leftBy.length === 0;
    await lease.release({ outcome: 'was looked at', isClean });
  }
}

type Check = {
  name: string;
  testbed: Testbed;
  config: Config;
  traffic: boolean;
  power: boolean;
  world: Parameters<typeof checkFreebsdTestbed>[1];
};

function findingsOf(check: Check): AsyncIterable<Finding> | Finding[] {
  const { name, testbed, config, traffic, power, world } = check;
  switch (testbed.kind) {
    case 'embedded-linux':
      return [skipped(name, 'nothing to check: this machine carries it; see `ppsgate lab check`')];
    case 'linux':
      return checkLinuxTestbed(testbed, world);
    case 'freebsd': {
      const { families, traffic: blast } = config;
      const request = { name, testbed, families, traffic: blast, sends: traffic, cycles: power };
      return checkFreebsdTestbed(request, world);
    }
  }
}

type Row = Partial<Capabilities> & {
  name: string;
  kind: Testbed['kind'];
  dut?: string;
  ingress?: string;
  egress?: string;
};

function rowOf(name: string, testbed: Testbed): Row {
  const { kind, capabilities } = testbed;
  if (kind === 'embedded-linux') return { name, kind, ...capabilities };
  const { host: dut, ingress, egress } = testbed.dut;
  return { name, kind, dut, ingress: portName(ingress), egress: portName(egress), ...capabilities };
}

const portName = (port: string | { interface: string }): string =>
  typeof port === 'string' ? port : port.interface;

const textsOf = (row: Row): string[] => [
  row.name,
  row.kind,
  row.dut === undefined ? 'this machine' : `${row.dut}: ${row.ingress} → ${row.egress}`,
  capabilitiesText(row),
];

/** `Chelsio T540-CR 10 Gbit/s cxgbe, Xeon E5-2650 8 cores, quiet`. */
function capabilitiesText({ nic, cpu, labels = [] }: Row): string {
  const speed = nic?.gigabits === undefined ? undefined : `${nic.gigabits} Gbit/s`;
  const cores = cpu?.cores === undefined ? undefined : `${cpu.cores} cores`;
  const parts = [
    [nic?.vendor, nic?.model, speed, nic?.driver],
    [cpu?.model, cores],
    ...labels.map((label) => [label]),
  ];
  return parts
    .map((words) => words.filter((word) => word !== undefined).join(' '))
    .filter((text) => text !== '')
    .join(', ');
}
