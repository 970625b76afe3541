// pfctl: pf's rules, as far as the benchmark's scenarios use them.
import { fileErrorText, textOf } from '../file-system.ts';
import { noPf, type PfRule } from '../firewall.ts';
import { type Machine, tellWatchers } from '../machine.ts';
import { fail, type Process, type Program, print } from '../process.ts';
import { readOptions } from './options.ts';

export const pfPrograms: Readonly<Record<string, Program>> = {
  pfctl: load,
  'pfctl -d': withPf((process) => turn(process, false)),
  'pfctl -e': withPf((process) => turn(process, true)),
  'pfctl -F all': withPf(flush),
  'pfctl -si': withPf((process) => print(process, info(process.machine, process.deps.clock.now()))),
  'pfctl -sr': withPf((process) => print(process, process.machine.pf.rules.map(({ text }) => `${text}\n`).join(''))),
  'pfctl -vvsr': withPf((process) => print(process, process.machine.pf.rules.map(verboseRule).join(''))),
};

function withPf(act: (process: Process) => number): (process: Process) => number {
  return (process) => {
    const { machine, network } = process;
    if (!machine.modules.has('pf')) return fail(process, 'pfctl: /dev/pf: No such file or directory');
    network.count();
    const code = act(process);
    tellWatchers(machine);
    return code;
  };
}

function turn(process: Process, isOn: boolean): number {
  const { pf } = process.machine;
  if (pf.isEnabled === isOn) return fail(process, `pfctl: pf ${isOn ? 'already' : 'not'} enabled`);
  pf.isEnabled = isOn;
  pf.switchedAt = process.deps.clock.now();
  process.err(`pf ${isOn ? 'enabled' : 'disabled'}\n`);
  return 0;
}

function flush({ machine, err }: Process): number {
  const { states, isEnabled, switchedAt } = machine.pf;
  machine.pf = { ...noPf(), isEnabled, switchedAt };
  err(
    `Ethernet rules cleared\nrules cleared\nnat cleared\n0 tables deleted.\n${states} states cleared\nsource tracking entries cleared\npf: statistics cleared\npf: interface flags reset\n`,
  );
  return 0;
}

/** Loads the rules of a file. */
function load(process: Process): number {
  const { machine, args } = process;
  const file = readOptions(args, 'f:').value('f') ?? '';
  return withPf(() => {
    const text = textOf(machine.files, file);
    if (text === undefined) return fail(process, `pfctl: ${file}: ${fileErrorText.ENOENT}`);
    const lines = text.split('\n').map(readLine);
    const wrong = lines.flatMap((line, index) => (line.kind === 'wrong' ? `${file}:${index + 1}: syntax error\n` : []));
    if (wrong.length > 0) {
      return fail(process, `${wrong.join('')}pfctl: Syntax error in config file: pf rules not loaded`);
    }
    if (machine.running?.kernel.behaviour.kind === 'refuses-rules') {
      return fail(process, 'pfctl: DIOCADDRULE: Operation not supported by device');
    }
    machine.pf.rules = lines.flatMap((line) => (line.kind === 'rule' ? [line.rule] : []));
    machine.pf.stateLimit =
      lines.flatMap((line) => (line.kind === 'limit' ? line.states : [])).at(-1) ?? noPf().stateLimit;
    machine.pf.skips = lines.flatMap((line) => (line.kind === 'skip' ? [line.interface] : []));
    return 0;
  })(process);
}

type Line =
  | { kind: 'rule'; rule: PfRule }
  | { kind: 'skip'; interface: string }
  | { kind: 'limit'; states: number }
  | { kind: 'other' }
  | { kind: 'wrong' };

/** Words of pf.conf(5) that a benchmark's rules may use. */
const ruleWords =
  /^(?:in|out|log|quick|on|inet6?|proto|udp|tcp|icmp6?|ipv6-icmp|all|from|to|any|no|keep|state|flags|S\/SA|port|return|drop|if-bound|floating|\(|\)|[a-z]{2,8}\d+|[\d.:a-f/]+)$/;

function readLine(line: string): Line {
  const words = line.replace(/#.*/, '').trim().split(/\s+/);
  const [first = '', second = '', ...rest] = words;
  if (first === '') return { kind: 'other' };
  if (first === 'set') return readSetting(second, rest);
  if (/^\w+$/.test(first) && second === '=' && rest.length > 0) return { kind: 'other' };
  if (first !== 'pass' && first !== 'block') return { kind: 'wrong' };
  if (!words.slice(1).every((word) => ruleWords.test(word))) return { kind: 'wrong' };
  return { kind: 'rule', rule: ruleOf(first, words.slice(1).join(' ')) };
}

function readSetting(name: string, rest: readonly string[]): Line {
  if (name === 'skip') {
    return rest[0] === 'on' && rest[1] !== undefined ? { kind: 'skip', interface: rest[1] } : { kind: 'wrong' };
  }
  if (name === 'limit' && rest[0] === 'states') return { kind: 'limit', states: Number(rest[1]) };
  const known = ['limit', 'timeout', 'optimization', 'state-policy', 'block-policy', 'debug'];
  return { kind: known.includes(name) && rest.length > 0 ? 'other' : 'wrong' };
}

/** Rule as shown by `pfctl -sr`, with defaults written out. */
function ruleOf(action: 'pass' | 'block', rest: string): PfRule {
  const blocks = action === 'block';
  const stateless = /\bno state\b/.test(rest);
  const where = rest.replace(/ ?\b(?:no|keep) state\b| ?\bflags S\/SA\b/g, '').trim();
  const hosts = /\b(?:from|all)\b/.test(where) ? '' : ' all';
  const target = `${where === '' ? '' : ` ${where}`}${hosts}`;
  if (blocks) return { text: `block drop${target}`, blocks, keepsState: false, packets: 0 };
  const state = stateless ? 'no state' : 'flags S/SA keep state';
  return { text: `pass${target} ${state}`, blocks, keepsState: !stateless, packets: 0 };
}

/** As `-vv` shows it; FreeBSD also numbers the user that has installed it. */
const verboseRule = ({ text, packets }: PfRule, number: number): string =>
  `@${number} ${text}\n  [ Evaluations: 0         Packets: ${Math.round(packets)}  Bytes: 0  States: 0     ]\n`;

function info({ pf }: Machine, now: number): string {
  const seconds = Math.max(0, Math.floor(now - pf.switchedAt));
  const clock = new Date(seconds * 1000).toISOString().slice(11, 19);
  const since = pf.switchedAt > 0 ? ` for ${Math.floor(seconds / 86_400)} days ${clock}` : '';
  const status = `${pf.isEnabled ? 'Enabled' : 'Disabled'}${since}`;
  // In its first second there is nothing to divide by.
  const rate = (total: number) => (seconds > 0 ? `${(total / seconds).toFixed(1)}/s` : '');
  const row = (name: string, total: number) =>
    `  ${name.padEnd(25)} ${String(total).padStart(14)} ${rate(total).padStart(14)}\n`;
  return [
    `${`Status: ${status}`.padEnd(46)}Debug: Urgent\n\n`,
    'State Table                          Total             Rate\n',
    `  ${'current entries'.padEnd(25)} ${String(pf.states).padStart(14)}${' '.repeat(15)}\n`,
    row('searches', pf.states),
    row('inserts', pf.states),
    row('removals', 0),
    'Counters\n',
    row('match', pf.states),
    ...otherCounters.map((name) => row(name, name === 'memory' ? Math.round(pf.withoutState) : 0)),
  ].join('');
}

const otherCounters = ['bad-offset', 'memory', 'state-limit', 'map-failed'];
