// ipfw: its rules, as far as the benchmark's scenarios use them.
import { nodeAt, textOf } from '../file-system.ts';
import { defaultRule, type IpfwRule } from '../firewall.ts';
import { getopt, hasOption, type Option } from '../getopt.ts';
import { type Machine, tellWatchers } from '../machine.ts';
import { fail, notModelled, type Process, type Program } from '../process.ts';

export const ipfwPrograms: Readonly<Record<string, Program>> = { ipfw };

const spec = 'abcdDefhinNp:qs:STtv';
const usageCode = 64;
const systemCode = 71;
const unavailableCode = 69;

/** First request of a sub-command to the module; the others read its configuration. */
const socketOptions = new Map([
  ['add', 'getsockopt(IP_FW_XADD)'],
  ['delete', 'setsockopt(IP_FW_XDEL)'],
  ['flush', 'setsockopt(IP_FW_XDEL)'],
]);

/** A path as the only operand is a file of commands; it must be absolute. */
function ipfw(process: Process): number {
  const { args, machine } = process;
  const path = args.at(-1) ?? '';
  if (!path.startsWith('/')) return command(process, args, (message) => `ipfw: ${message}`);
  const text = textOf(machine.files, path);
  if (nodeAt(machine.files, path) === undefined || text === undefined) {
    return command(process, args, (message) => `ipfw: ${message}`);
  }
  const global = args.slice(0, -1);
  const lines = text.split('\n').map((line) => line.replace(/#.*/, '').trim());
  for (const [index, line] of lines.entries()) {
    if (line === '') continue;
    const words = line.replace(/^ipfw\s+/, '').split(/\s+/);
    const code = command(process, [...global, ...words], (message) => `Line ${index + 1}: ${message}`);
    if (code !== 0) return code;
  }
  return 0;
}

type Say = (message: string) => string;

function command(process: Process, args: readonly string[], say: Say): number {
  // Options may precede the command, and appear again in a file's line.
  const parsed = getopt('ipfw', spec, args);
  if (parsed.kind === 'refused') return fail(process, `${parsed.message}\n${usage}`, usageCode);
  const { options, operands } = parsed;
  const [name, ...words] = operands;
  if (name === undefined) return fail(process, usage, usageCode);
  const act = actions.get(name);
  if (act === undefined) return fail(process, say(`bad command \`${name}'`), usageCode);
  if (!process.machine.modules.has('ipfw')) {
    const socketOption = socketOptions.get(name);
    return socketOption === undefined
      ? fail(process, say('retrieving config failed: Protocol not available'), systemCode)
      : fail(process, say(`${socketOption}: Protocol not available`), unavailableCode);
  }
  const code = act(process, words, options, say);
  tellWatchers(process.machine);
  return code;
}

const usage = 'ipfw syntax summary (but please do read the ipfw(8) manpage):\n\n\tipfw [-abcdefhnNqStTv] <command>\n';

type Action = (process: Process, words: readonly string[], options: readonly Option[], say: Say) => number;

const actions = new Map<string, Action>([
  ['add', add],
  ['list', list],
  ['show', (process) => notModelled(process, 'ipfw show')],
  ['flush', flush],
  ['delete', remove],
]);

const ruleForm =
  /^(?:(\d+) )?(allow|accept|pass|permit|deny|drop) (ip|ip4|ip6|all|udp|tcp) from (\S+) to (\S+)((?: (?:in|out|via \S+|keep-state(?: :\w+)?))*)$/;

function add(process: Process, words: readonly string[], options: readonly Option[], say: Say) {
  const { machine, out } = process;
  const [matched, given, action = '', protocol = '', from, to, rest = ''] = ruleForm.exec(words.join(' ')) ?? [];
  if (matched === undefined) {
    return fail(process, say(`unrecognised option [-1] ${words.at(-1) ?? ''}`), usageCode);
  }
  const number = given === undefined ? nextNumber(machine) : Number(given);
  if (number < 1 || number > 65_534) return fail(process, say('bad rule number'), usageCode);
  const blocks = action === 'deny' || action === 'drop';
  const keepsState = rest.includes('keep-state');
  const tail = rest.replace(/keep-state(?! :)/, 'keep-state :default');
  const shown = protocol === 'all' ? 'ip' : protocol;
  const text = `${blocks ? 'deny' : 'allow'} ${shown} from ${from} to ${to}${tail}`;
  machine.ipfw.rules.set(number, { text, blocks, keepsState, packets: 0 });
  if (!hasOption(options, 'q')) out(`${numbered(number)} ${text}\n`);
  return 0;
}

/** A rule without a number comes 100 after the last. */
const nextNumber = ({ ipfw }: Machine): number => Math.max(0, ...ipfw.rules.keys()) + 100;

const numbered = (number: number): string => String(number).padStart(5, '0');

function list(process: Process, words: readonly string[], options: readonly Option[]): number {
  if (words.length > 0) return notModelled(process, 'ipfw list of some rules');
  const { ipfw } = process.machine;
  process.network.count();
  const rules: [number, IpfwRule][] = [...ipfw.rules].sort(([one], [other]) => one - other);
  for (const [number, { text, packets }] of [...rules, [65_535, defaultRule(ipfw)] as const]) {
    const counted = String(Math.round(packets)).padStart(9);
    const counters = hasOption(options, 'a') ? `${counted}        0` : '';
    process.out(`${numbered(number)}${counters} ${text}\n`);
  }
  if (hasOption(options, 'd') && ipfw.dynamicRules > 0) process.out(dynamicRules(ipfw.dynamicRules, rules));
  return 0;
}

function dynamicRules(count: number, rules: readonly [number, IpfwRule][]): string {
  const parent = numbered(rules.find(([, { keepsState }]) => keepsState)?.[0] ?? 0);
  const rows = Array.from({ length: count }, (_, index) => {
    const [source, destination] = [1 + (index % 20), 1 + Math.floor(index / 20)];
    return `${parent}        1        46 (9s) STATE udp 198.18.10.${source} 2000 <-> 198.19.10.${destination} 2000 :default\n`;
  });
  return `## Dynamic rules (${count} ${count * 72}):\n${rows.join('')}`;
}

function flush(process: Process, _: readonly string[], options: readonly Option[]): number {
  // It prompts first, and reads no reply from a closed stdin.
  if (!hasOption(options, 'f') && !hasOption(options, 'q')) {
    process.out('Are you sure? [yn] ');
    return 0;
  }
  process.machine.ipfw.rules.clear();
  process.machine.ipfw.dynamicRules = 0;
  if (!hasOption(options, 'q')) process.out('Flushed all rules.\n');
  return 0;
}

function remove(process: Process, words: readonly string[], _: readonly Option[], say: Say): number {
  const { rules } = process.machine.ipfw;
  const missing = words.find((word) => !rules.delete(Number(word)));
  return missing === undefined
    ? 0
    : fail(process, say(`rule ${missing}: setsockopt(IP_FW_XDEL): Invalid argument`), unavailableCode);
}
