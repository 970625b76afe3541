// uname, sysctl, dmesg and pciconf: descriptions of a machine.
import { describeCards } from '../cards.ts';
import { clockRate, ticksOf } from '../cpu.ts';
import { hasUnsavedDump } from '../crash.ts';
import { textOf, writeFile } from '../file-system.ts';
import { hasOption } from '../getopt.ts';
import { hang, hasDebugger, panic } from '../lifecycle.ts';
import type { Machine } from '../machine.ts';
import { fail, notModelled, type Process, type Program } from '../process.ts';
import { isInteger, type Sysctl, stored, takes } from '../sysctls.ts';
import { readOptions, showUsage } from './options.ts';

export const systemPrograms: Readonly<Record<string, Program>> = {
  date,
  dmesg,
  pciconf,
  savecore,
  sysctl,
  sysrc,
  uname,
  uuidgen,
};

/** uuidgen(1), of the time and the machine. */
function uuidgen({ args, machine, out, deps }: Process): number {
  if (args.length > 0) return 1;
  const time = Math.floor(deps.clock.now() * 1000)
    .toString(16)
    .padStart(16, '0');
  const node = Buffer.from(machine.name.padEnd(6, '0')).toString('hex').slice(0, 12);
  out(`${time.slice(8)}-${time.slice(4, 8)}-11f0-8000-${node}\n`);
  return 0;
}

function date(process: Process): number {
  const { args, machine, deps, out } = process;
  if (args.length !== 1 || args[0] !== '+%s') return notModelled(process, 'this use of date');
  out(`${Math.floor(deps.clock.now() + machine.clockAhead)}\n`);
  return 0;
}

function uname(process: Process): number {
  const given = readOptions(process, {
    program: 'uname',
    spec: 'abiKmnoprsUv',
    usage: 'usage: uname [-abiKmnoprsUv]',
    code: 1,
  });
  if (given.kind === 'refused') return given.code;
  const { machine, out } = process;
  const kernel = machine.running?.kernel;
  const words = new Map([
    ['s', 'FreeBSD'],
    ['n', machine.name],
    ['r', kernel?.release ?? ''],
    ['v', kernel?.version ?? ''],
    ['m', 'amd64'],
    ['p', 'amd64'],
    ['i', configurationName],
    ['K', '1400097'],
    ['U', '1400097'],
    ['b', 'd1b54a32d192ed03'],
    ['o', 'FreeBSD'],
  ]);
  const asked = given.options.length === 0 ? ['s'] : given.options.map(({ name }) => name);
  const letters = asked.includes('a') ? ['s', 'n', 'r', 'v', 'm'] : asked;
  const isOverride = ([letter]: [string, string]) => letters.includes(letter);
  out(
    `${[...words]
      .filter(isOverride)
      .map(([, word]) => word)
      .join(' ')}\n`,
  );
  return 0;
}

const sysctlUsage = {
  program: 'sysctl',
  spec: 'AaB:bdeFf:hiJj:lNnoqRrTtVWwXx',
  usage:
    'usage: sysctl [-bdeFhilnoqTtVWx] [-j jail] [ -B <bufsize> ] [-f filename] name[=value] ...\n       sysctl [-bdeFhilnoqTtVWx] [-j jail] [ -B <bufsize> ] -a',
  code: 1,
};

function sysctl(process: Process): number {
  const given = readOptions(process, sysctlUsage);
  if (given.kind === 'refused') return given.code;
  const { options, operands } = given;
  if (options.some(({ name }) => !'niq'.includes(name))) {
    return notModelled(process, 'this option of sysctl');
  }
  if (operands.length === 0) return showUsage(process, sysctlUsage);
  const style = { isBare: hasOption(options, 'n'), ignoresUnknown: hasOption(options, 'i') };
  // It continues after errors, and exits with 1 if there was one.
  return Math.max(...operands.map((operand) => sysctlOne(process, operand, style)));
}

type Style = { isBare: boolean; ignoresUnknown: boolean };

function sysctlOne(process: Process, operand: string, style: Style): number {
  const { machine, out } = process;
  const [name = '', ...values] = operand.split('=');
  const sysctl = machine.sysctls.get(name);
  if (sysctl === undefined) {
    return style.ignoresUnknown ? 0 : fail(process, `sysctl: unknown oid '${name}'`);
  }
  const now = process.deps.clock.now();
  const before = `${style.isBare ? '' : `${name}: `}${readSysctl(machine, name, sysctl, now)}`;
  if (!operand.includes('=')) {
    out(`${before}\n`);
    return 0;
  }
  const value = values.join('=');
  const refusal = whyRefused(name, sysctl, value);
  if (refusal !== undefined) return fail(process, refusal);
  sysctl.value = stored(sysctl, value);
  out(`${before} -> ${sysctl.value}\n`);
  if (value !== '0') act(process, name);
  return 0;
}

/** Handlers of sys/kern/subr_kdb.c; entering a debugger has no effect if the kernel has none. */
function act({ machine, deps }: Process, name: string): void {
  const behaviour = machine.running?.kernel.behaviour;
  if (behaviour?.kind === 'panics-at-settings') panic(machine, deps, behaviour.panic);
  if (name === 'debug.kdb.panic') panic(machine, deps, 'kdb_sysctl_panic');
  if (name === 'debug.kdb.enter' && hasDebugger(machine)) hang(machine);
}

function whyRefused(name: string, { access, type }: Sysctl, value: string): string | undefined {
  if (access === 'read-only') return `sysctl: oid '${name}' is read only`;
  if (access === 'tunable') {
    return `sysctl: oid '${name}' is a read only tunable\nsysctl: Tunable values are set in /boot/loader.conf`;
  }
  if (type.kind === 'integer' && !isInteger(value)) return `sysctl: invalid integer '${value}'`;
  return takes(type, value) ? undefined : `sysctl: ${name}=${value}: Invalid argument`;
}

/** Load while a machine comes up; its averages fall with time. */
const loadOfBoot = 2;

/** Name of every kernel's configuration: base and patched are built from one. */
const configurationName = 'GENERIC';

/** Values that the kernel computes when they are read. */
function readSysctl(machine: Machine, name: string, { value }: Sysctl, now: number): string {
  const { running, ipfw, busyCpus, clockAhead, crashes } = machine;
  if (running === undefined) return value;
  const { kernel, file } = running;
  // tc_setclock() moves the time of the boot, and keeps the time since then.
  const startedAt = running.startedAt + clockAhead;
  switch (name) {
    case 'debug.kdb.current':
      return hasDebugger(machine) ? 'ddb' : '';
    case 'kern.bootfile':
      return file;
    case 'kern.boottime': {
      const seconds = Math.floor(startedAt);
      const date = new Date(seconds * 1000).toUTCString();
      const [, day, month, year, time] = /, (\d+) (\w+) (\d+) (\S+)/.exec(date) ?? [];
      const weekday = date.slice(0, 3);
      const text = `${weekday} ${month} ${day?.replace(/^0/, ' ')} ${time} ${year}`;
      return `{ sec = ${seconds}, usec = ${String(Math.round((startedAt % 1) * 1e6) % 1_000_000).padStart(6, '0')} } ${text}`;
    }
    case 'kern.conftxt':
      return [
        'options\tCONFIG_AUTOGENERATED',
        `ident\t${configurationName}`,
        'machine\tamd64',
        ...kernel.options.map((line) => line.replace(/ +/, '\t')),
        '',
      ].join('\n');
    case 'kern.cp_time': {
      const all = ticksOf(machine, now);
      const sum = [0, 1, 2, 3, 4].map((state) => all.reduce((total, ticks) => total + (ticks[state] ?? 0), 0));
      return sum.join(' ');
    }
    case 'kern.clockrate':
      return clockRate;
    case 'kern.cp_times':
      return ticksOf(machine, now).flat().join(' ');
    case 'vm.loadavg': {
      const averages = [60, 300, 900].map((seconds) => {
        const sinceBoot = Math.exp((startedAt - now) / seconds);
        return (loadOfBoot * sinceBoot + busyCpus * (1 - sinceBoot)).toFixed(2);
      });
      return `{ ${averages.join(' ')} }`;
    }
    case 'kern.ident':
      return configurationName;
    case 'kern.osrelease':
      return kernel.release;
    case 'kern.shutdown.dumpdevname':
      return { disk: 'ada0p3', network: 'igb5', nowhere: '' }[crashes.dumpsTo];
    case 'kern.version':
      return `${kernel.version}\n`;
    case 'net.inet.ip.fw.dyn_count':
      return String(ipfw.dynamicRules);
    default:
      return value;
  }
}

/** Writes rc.conf(5), or reads its two switches for firewalls. */
function sysrc(process: Process): number {
  const { args, machine, out } = process;
  const assignments = args.map((word) => /^(\w+)=([^"$`\\]*)$/.exec(word));
  if (args.length > 0 && assignments.every((match) => match !== null)) {
    for (const [, name = '', value = ''] of assignments) assign(process, name, value);
    return 0;
  }
  if (args.join(' ') !== '-n pf_enable firewall_enable') return notModelled(process, 'this sysrc');
  for (const name of ['pf', 'ipfw'] as const) {
    out(machine.ownFirewalls.includes(name) ? 'YES\n' : 'NO\n');
  }
  return 0;
}

/** Replaces an existing line, or appends a new one. */
function assign({ machine: { files }, out }: Process, name: string, value: string): void {
  const text = textOf(files, '/etc/rc.conf') ?? '';
  const line = new RegExp(`^${name}="([^"]*)"$`, 'm');
  const made = `${name}="${value}"`;
  const isThere = line.test(text);
  out(`${name}: ${line.exec(text)?.[1] ?? ''} -> ${value}\n`);
  const whole = text === '' || text.endsWith('\n') ? text : `${text}\n`;
  writeFile(files, '/etc/rc.conf', isThere ? text.replace(line, () => made) : `${whole}${made}\n`);
}

function dmesg(process: Process): number {
  const given = readOptions(process, {
    program: 'dmesg',
    spec: 'acM:N:',
    usage: 'usage: dmesg [-ac] [-M core [-N system]]',
    code: 1,
  });
  if (given.kind === 'refused') return given.code;
  if (given.options.some(({ name }) => name !== 'a')) return notModelled(process, 'this dmesg');
  process.out(`${process.machine.messages.join('\n')}\n`);
  return 0;
}

/** Only `-C`, which reports an unsaved dump. */
function savecore(process: Process): number {
  const { args, machine, out } = process;
  if (args.length !== 1 || args[0] !== '-C') return notModelled(process, 'this use of savecore');
  if (machine.crashes.dumpsTo !== 'disk') return fail(process, 'savecore: No dump device');
  out(hasUnsavedDump(machine) ? 'A dump exists on /dev/ada0p3\n' : '');
  return hasUnsavedDump(machine) ? 0 : 1;
}

function pciconf(process: Process): number {
  const usage = {
    program: 'pciconf',
    spec: 'aBbceD:hlrvVwDC',
    usage: 'usage: pciconf -l [-BbceVv] [device]\n       pciconf -a device',
    code: 1,
  };
  const given = readOptions(process, usage);
  if (given.kind === 'refused') return given.code;
  if (!hasOption(given.options, 'l')) return showUsage(process, usage);
  const isVerbose = hasOption(given.options, 'v');
  const { interfaces, hasPciNames: hasNames } = process.machine;
  for (const text of describeCards(interfaces, { isVerbose, hasNames })) process.out(text);
  return 0;
}
