// ipfw: its rules, as far as the benchmark's scenarios use them.
import { textOf } from '../file-system.ts';
import { defaultRule, type IpfwRule } from '../firewall.ts';
import { tellWatchers } from '../machine.ts';
import { fail, type Process, type Program } from '../process.ts';

export const ipfwPrograms: Readonly<Record<string, Program>> = { ipfw };

const usageCode = 64;
const systemCode = 71;
const unavailableCode = 69;

/** A path as the only operand is a file of commands. */
function ipfw(process: Process): number {
  const { args, machine } = process;
  const text = textOf(machine.files, args.at(-1) ?? '');
  if (text === undefined) return command(process, args, 'ipfw: ');
  const lines = text.split('\n').map((line) => line.replace(/#.*/, '').trim());
  for (const [index, line] of lines.entries()) {
    if (line === '') continue;
    const words = line.replace(/^ipfw\s+/, '').split(/\s+/);
    const code = command(process, [...args.slice(0, -1), ...words], `Line ${index + 1}: `);
    if (code !== 0) return code;
  }
  return 0;
}

/** `prefix` begins its messages. Options precede the command. */
function command(process: Process, args: readonly string[], prefix: string): number {
  const { modules, ipfw } = process.machine;
  const [name = '', ...words] = args.filter((word) => !/^-[aqf]$/.test(word));
  if (!['add', 'list', 'flush'].includes(name)) {
    return fail(process, `${prefix}bad command \`${name}'`, usageCode);
  }
  if (!modules.has('ipfw')) {
    if (name === 'list') return fail(process, `${prefix}retrieving config failed: Protocol not available`, systemCode);
    const call = name === 'add' ? 'getsockopt(IP_FW_XADD)' : 'setsockopt(IP_FW_XDEL)';
    return fail(process, `${prefix}${call}: Protocol not available`, unavailableCode);
  }
  if (name === 'list') return list(process, args.includes('-a'));
  if (name === 'add') return add(process, words, prefix);
  ipfw.rules.clear();
  ipfw.dynamicRules = 0;
  tellWatchers(process.machine);
  return 0;
}

const ruleForm =
  /^(?:(\d+) )?(allow|accept|pass|permit|deny|drop) (ip|ip4|ip6|all|udp|tcp) from (\S+) to (\S+)((?: (?:in|out|via \S+|keep-state(?: :\w+)?))*)$/;

function add(process: Process, words: readonly string[], prefix: string): number {
  const { rules } = process.machine.ipfw;
  const [matched, given, action = '', protocol = '', from, to, rest = ''] = ruleForm.exec(words.join(' ')) ?? [];
  if (matched === undefined) return fail(process, `${prefix}unrecognised option [-1] ${words.at(-1) ?? ''}`, usageCode);
  const blocks = action === 'deny' || action === 'drop';
  const keepsState = rest.includes('keep-state');
  const tail = rest.replace(/keep-state(?! :)/, 'keep-state :default');
  const shown = protocol === 'all' ? 'ip' : protocol;
  const text = `${blocks ? 'deny' : 'allow'} ${shown} from ${from} to ${to}${tail}`;
  // A rule without a number comes 100 after the last.
  rules.set(Number(given ?? Math.max(0, ...rules.keys()) + 100), { text, blocks, keepsState, packets: 0 });
  tellWatchers(process.machine);
  return 0;
}

function list(process: Process, isWithCounters: boolean): number {
  const { ipfw } = process.machine;
  process.network.count();
  const rules: [number, IpfwRule][] = [...ipfw.rules].sort(([one], [other]) => one - other);
  for (const [number, { text, packets }] of [...rules, [65_535, defaultRule(ipfw)] as const]) {
    const counters = isWithCounters ? `${String(Math.round(packets)).padStart(9)}        0` : '';
    process.out(`${String(number).padStart(5, '0')}${counters} ${text}\n`);
  }
  return 0;
}
