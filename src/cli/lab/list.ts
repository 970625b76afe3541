// Runs `ppsgate testbeds list`.

import type { Capabilities } from '../../config/capabilities.ts';
import { loadConfig } from '../../config/load.ts';
import { isOnThisMachine, type TestbedConfig } from '../../config/schema.ts';
import { exitCodes } from '../../model/conclusion.ts';
import { columns } from '../columns.ts';
import { configPath } from '../find-config.ts';
import { print, printJson } from '../table.ts';

type ListOptions = { config?: string; json?: true };

export async function run({ config: path, json }: ListOptions): Promise<number> {
  const { testbeds } = await loadConfig(configPath(path));
  const rows = Object.entries(testbeds).map(([name, testbed]) => rowOf(name, testbed));
  if (json) printJson(rows);
  else print(columns(rows.map(textsOf)).join('\n'));
  return exitCodes.pass;
}

type Row = Partial<Capabilities> & {
  name: string;
  kind: TestbedConfig['kind'];
  dut?: string;
  ingress?: string;
  egress?: string;
};

function rowOf(name: string, testbed: TestbedConfig): Row {
  const { kind, capabilities } = testbed;
  if (isOnThisMachine(testbed)) return { name, kind, ...capabilities };
  const { host: dut, ingress, egress } = testbed.dut;
  return { name, kind, dut, ingress: portName(ingress), egress: portName(egress), ...capabilities };
}

const portName = (port: string | { interface: string }): string => (typeof port === 'string' ? port : port.interface);

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
  const parts = [[nic?.vendor, nic?.model, speed, nic?.driver], [cpu?.model, cores], ...labels.map((label) => [label])];
  return parts
    .map((words) => words.filter((word) => word !== undefined).join(' '))
    .filter((text) => text !== '')
    .join(', ');
}
