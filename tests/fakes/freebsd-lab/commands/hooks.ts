// pfilctl and ngctl: handlers of packets besides a scenario's rules.
import { majorOf } from '../machine.ts';
import { fail, notModelled, type Process, type Program } from '../process.ts';

export const hookPrograms: Readonly<Record<string, Program>> = { pfilctl, ngctl };

function pfilctl(process: Process): number {
  const { args, machine, out } = process;
  if (args.join(' ') !== 'heads') return notModelled(process, 'this use of pfilctl');
  if (majorOf(machine) < 13) return fail(process, 'pfilctl: Command not found.');
  const { modules, pf, otherFilters } = machine;
  const linked = [...(modules.has('ipfw') ? ['ipfw'] : []), ...(pf.isEnabled ? ['pf'] : []), ...otherFilters];
  out(`${' Intercept point'.padStart(16)} ${'Type'.padStart(8)}\n`);
  const points = { inet: 'IPv4', inet6: 'IPv6' };
  for (const [point, type] of Object.entries(points)) {
    out(`${point.padStart(16)} ${type.padStart(8)}\n`);
    for (const direction of ['In', 'Out']) {
      for (const module of linked) {
        out(`${direction.padStart(29)} ${module.padStart(16)} ${'default'.padStart(16)}\n`);
      }
    }
  }
  return 0;
}

function ngctl(process: Process): number {
  const { args, machine, out } = process;
  if (args.join(' ') !== 'list') return notModelled(process, 'this use of ngctl');
  const ports = machine.interfaces.map(({ name }) => name);
  out(`There are ${ports.length + 1} total nodes:\n`);
  const row = (name: string, type: string, id: number, hooks: number) =>
    out(
      `  Name: ${name.padEnd(15)} Type: ${type.padEnd(15)} ID: ${id.toString(16).padStart(8, '0')}   Num hooks: ${hooks}\n`,
    );
  for (const [index, name] of ports.entries()) {
    row(name, 'ether', index + 1, machine.netgraphHooks.get(name) ?? 0);
  }
  row('ngctl1234', 'socket', ports.length + 1, 0);
  return 0;
}
