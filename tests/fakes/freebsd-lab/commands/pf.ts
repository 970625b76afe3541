// pfctl: pf's rules, as far as the benchmark's scenarios use them.
import { fileErrorText, textOf } from '../file-system.ts';
import type { PfRule } from '../firewall.ts';
import { noPf } from '../firewall.ts';
import { hasOption, optionValue } from '../getopt.ts';
import { type Machine, majorOf, tellWatchers } from '../machine.ts';
import { fail, notModelled, type Process, type Program } from '../process.ts';
import { readOptions, showUsage } from './options.ts';

export const pfPrograms: Readonly<Record<string, Program>> = { pfctl };

const usage = {
  program: 'pfctl',
  spec: 'a:AdD:eqf:F:ghi:k:K:mMnNOo:p:PqrRs:St:T:vx:z',
  usage:
    'usage: pfctl [-AdeghMmNnOPqRrSvz] [-a anchor] [-D macro=value] [-F modifier]\n\t[-f file] [-i interface] [-K host | network]\n\t[-k host | network | gateway | label | id] [-o level] [-p device]\n\t[-s modifier] [-t table -T command [address ...]] [-x level]',
  code: 1,
};

/** Works in pfctl's own order: off, flush, load, show, on. */
function pfctl(process: Process): number {
  const given = readOptions(process, usage);
  if (given.kind === 'refused') return given.code;
  const { options, operands } = given;
  if (options.length === 0 || operands.length > 0) return showUsage(process, usage);
  if (options.some(({ name }) => !'denqfFsv'.includes(name))) {
    return notModelled(process, 'this option of pfctl');
  }
  const isDryRun = hasOption(options, 'n');
  if (!isDryRun && !process.machine.modules.has('pf')) {
    return fail(process, 'pfctl: /dev/pf: No such file or directory');
  }
  const file = optionValue(options, 'f');
  const flushed = optionValue(options, 'F');
  const shown = optionValue(options, 's');
  const steps = [
    () => (hasOption(options, 'd') && !isDryRun ? disable(process) : 0),
    () => (flushed !== undefined && !isDryRun ? flush(process, flushed) : 0),
    () => (file !== undefined ? load(process, file, isDryRun) : 0),
    () => (shown !== undefined ? show(process, shown, hasOption(options, 'v')) : 0),
    () => (hasOption(options, 'e') && !isDryRun ? enable(process) : 0),
  ];
  const code = steps.reduce((before, step) => (before === 0 ? step() : before), 0);
  tellWatchers(process.machine);
  return code;
}

function disable(process: Process): number {
  const { pf } = process.machine;
  if (!pf.isEnabled) return fail(process, 'pfctl: pf not enabled');
  pf.isEnabled = false;
  pf.switchedAt = process.deps.clock.now();
  process.err('pf disabled\n');
  return 0;
}

function enable(process: Process): number {
  const { pf } = process.machine;
  if (pf.isEnabled) return fail(process, 'pfctl: pf already enabled');
  pf.isEnabled = true;
  pf.switchedAt = process.deps.clock.now();
  process.err('pf enabled\n');
  return 0;
}

/** A modifier may be abbreviated unless ambiguous: `-F all`, `-F a`. */
function flush(process: Process, modifier: string): number {
  const { machine, err } = process;
  const { pf } = machine;
  switch (modifier) {
    case 'rules':
      pf.rules = [];
      err('rules cleared\n');
      return 0;
    case 'states':
      err(`${pf.states} states cleared\n`);
      pf.states = 0;
      return 0;
    case 'all': {
      const { states, isEnabled, switchedAt } = pf;
      machine.pf = { ...noPf(), isEnabled, switchedAt };
      if (majorOf(machine) >= 14) err('Ethernet rules cleared\n');
      err(
        `rules cleared\nnat cleared\n0 tables deleted.\n${states} states cleared\nsource tracking entries cleared\npf: statistics cleared\npf: interface flags reset\n`,
      );
      return 0;
    }
    default:
      return notModelled(process, `pfctl -F ${modifier}`);
  }
}

function load(process: Process, file: string, isDryRun: boolean): number {
  const { machine } = process;
  const text = textOf(machine.files, file);
  if (text === undefined) {
    return fail(
      process,
      `pfctl: ${file}: ${fileErrorText.ENOENT}\npfctl: cannot open the main config file!: ${fileErrorText.ENOENT}\npfctl: Syntax error in config file: pf rules not loaded`,
    );
  }
  const lines = text.split('\n').map(readLine);
  const wrong = lines.flatMap((line, index) => (line.kind === 'wrong' ? [index + 1] : []));
  if (wrong.length > 0) {
    const errors = wrong.map((number) => `${file}:${number}: syntax error\n`).join('');
    return fail(process, `${errors}pfctl: Syntax error in config file: pf rules not loaded`);
  }
  if (isDryRun) return 0;
  if (machine.running?.kernel.behaviour.kind === 'refuses-rules') {
    return fail(process, 'pfctl: DIOCADDRULE: Operation not supported by device');
  }
  machine.pf.rules = lines.flatMap((line) => (line.kind === 'rule' ? [line.rule] : []));
  machine.pf.stateLimit =
    lines.flatMap((line) => (line.kind === 'limit' ? line.states : [])).at(-1) ?? noPf().stateLimit;
  machine.pf.skips = lines.flatMap((line) => (line.kind === 'skip' ? [line.interface] : []));
  return 0;
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

function show(process: Process, modifier: string, isVerbose: boolean): number {
  const { machine, network, out, deps } = process;
  network.count();
  switch (modifier) {
    case 'r':
    case 'rules':
      out(machine.pf.rules.map(isVerbose ? verboseRule : ({ text }) => `${text}\n`).join(''));
      return 0;
    case 'i':
    case 'info':
      out(info(machine, deps.clock.now()));
      return 0;
    case 's':
    case 'states':
      out(states(machine));
      return 0;
    default:
      return notModelled(process, `pfctl -s ${modifier}`);
  }
}

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

const otherCounters = [
  'bad-offset',
  'fragment',
  'short',
  'normalize',
  'memory',
  'bad-timestamp',
  'congestion',
  'ip-option',
  'proto-cksum',
  'state-mismatch',
  'state-insert',
  'state-limit',
  'src-limit',
  'synproxy',
  'map-failed',
];

const states = ({ pf }: Machine): string =>
  Array.from({ length: pf.states }, (_, index) => {
    const [source, destination] = [1 + (index % 20), 1 + Math.floor(index / 20)];
    return `all udp 198.19.10.${destination}:2000 <- 198.18.10.${source}:2000       NO_TRAFFIC:SINGLE\n`;
  }).join('');
