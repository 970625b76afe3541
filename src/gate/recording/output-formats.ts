// Checks the recorded output of each command for its expected format, since the parsers skip what they do not know.
import { unquoted } from '../../lab/check/diagnostic.ts';
import { parseCpuTimes, parseInterfaceCounters } from '../../lab/freebsd/dut/counters.ts';
import { parseArp, parseIfconfig, parseNdp, parseRoutes } from '../../lab/freebsd/dut/network.ts';
import { parsePktGenLog } from '../../lab/traffic/pkt-gen.ts';
import { shortened } from '../../model/one-line.ts';
import { outputOf, type RecordedRequest } from './read-recording.ts';

/** Returns a clause for output that the parsers would misread; undefined for good output, or output that is never read. */
export function unexpectedOutput(request: RecordedRequest): string | undefined {
  const { call, ended, cut } = request;
  if (call.what !== 'run' || cut.size > 0) return undefined;
  const command = unquoted(call.shown ?? call.command);
  if (isPktGen.test(command)) return pktGen(request);
  // Output of failed commands is not read.
  const isGood = ended?.outcome.kind === 'exited' && ended.outcome.code === 0;
  if (!isGood) return undefined;
  const text = outputOf(request, 'stdout');
  const reader = readers.find(([pattern]) => pattern.test(command));
  if (reader === undefined) return undefined;
  if (text !== '' && !text.endsWith('\n')) return 'its output ends in the middle of a line';
  return reader[1](text, command);
}

type Reader = (text: string, command: string) => string | undefined;

const isPktGen = /\bpkt-gen -N\b/;

const readers: readonly [RegExp, Reader][] = [
  [/^ifconfig -l$/, (text) => unlessLines(text, /^\w+(?: \w+)*$/, 'a list of interfaces')],
  [/^ifconfig (?!lo)[a-z]+\d+$/, ifconfig],
  [/^netstat -rn -f inet6?$/, routes],
  [/^netstat -i -b -n -W$/, counters],
  [/^netstat -s$/, (text) => unlessFound(text, /^ip6?:$\n^\t+\d+ /m, 'a protocol and its counters')],
  [
    /^vmstat -i$/,
    (text) => unlessFound(text, /^interrupt +total +rate\n(?:.*\d+ +\d+\n)*Total /, 'its header and interrupts'),
  ],
  [/^arp -an$/, (text) => neighbours(text, parseArp, /./)],
  [/^ndp -an$/, (text) => neighbours(text, parseNdp, /:\S* +\S+ +\S+/)],
  [
    /^sysctl -n kern\.cp_times$/,
    (text) => (parseCpuTimes(text).length > 0 ? undefined : no('five ticks for each CPU', text)),
  ],
  [
    /^sysctl -n kern\.vm_guest kern\.clockrate$/,
    (text) => unlessFound(text, /^\w+\n\{ hz = \d+, .*stathz = \d+ \}$/m, 'a guest or none, and its clock'),
  ],
  [/^sysctl -n kern\.boottime$/, (text) => unlessLines(text, boottime, '{ sec = …, usec = … } and an English date')],
  [
    /^sysctl -n vm\.loadavg$/,
    (text) => unlessLines(text, /^\{ \d+[.,]\d+ \d+[.,]\d+ \d+[.,]\d+ \}$/, 'three loads in braces'),
  ],
  [/^sh -c 'sysctl -n kern\.cp_time /, (text) => unlessLines(text, /^\d+(?: \d+){4}$/, 'five ticks, two times')],
  [/^date \+%s$/, (text) => unlessLines(text, /^\d+$/, 'seconds since 1970')],
  [/^kenv -N$/, (text) => unlessLines(text, /^[^\s=]+$/, 'names of the environment')],
  [/^uuidgen$/, (text) => unlessLines(text, /^[0-9a-f-]{36}$/i, 'a UUID')],
  [
    /^kldstat$/,
    (text) => unlessFound(text, /^Id Refs Address +Size +Name$/m, 'the header of Id, Refs, Address, Size and Name'),
  ],
  [/^gpart show -p \S+$/, (text) => unlessFound(text, /^=>\s+\d+\s+\d+\s+\S+\s+\S+/m, 'a disk and its scheme')],
  [/^glabel status -s$/, (text) => unlessLines(text, /^\s*\S+\s+\S+\s+\S+\s*$/, 'labels and their providers')],
  [/^sysctl -n kern\.bootfile$/, (text) => unlessLines(text, /^\/\S+$/, 'the path of a kernel')],
  [
    /^sysctl -n kern\.conftxt$/,
    (text) => (text.trim() === '' ? undefined : unlessFound(text, /^ident\s+\S+$/m, 'the line of `ident`')),
  ],
  [/^sysctl -n (?:kern\.hostname|hw\.model)$/, (text) => unlessLines(text, /^\S.*$/, 'a name')],
  [
    /^sysctl -n [a-z][\w.]*$/,
    (text, command) => (isNumber(command) ? unlessLines(text, /^-?\d+$/, 'a whole number') : undefined),
  ],
  [/^sysctl dev\.\S+$/, (text) => unlessLines(text, /^dev\.[\w.%]+: .*$/, 'lines of names and values')],
  [/^df -k -T /, fileSystems],
  [/^uname -s -r$/, (text) => unlessLines(text, /^FreeBSD \d+\.\d+-\S+$/, 'FreeBSD and its release')],
  [/^uname -r$/, (text) => unlessLines(text, /^\d+\.\d+-\S+$/, 'a release')],
  [/^uname -v$/, (text) => unlessLines(text, /^FreeBSD \S+.*$/, 'the version of a kernel')],
  [/^uname -p$/, (text) => unlessLines(text, /^\w+$/, 'an architecture')],
  [/^sha256 -q /, (text) => unlessLines(text, /^[0-9a-f]{64}$/, 'a sum of 64 digits')],
  [
    /^pciconf -lv$/,
    (text) =>
      unlessFound(text, /^\w+@pci\d+:\d+:\d+:\d+:\s+class=0x[0-9a-f]{6} /, 'cards with their places and classes'),
  ],
  [
    /^pfctl -si$/,
    (text) => unlessFound(text, /^Status: (?:Enabled|Disabled)\b[\s\S]*^[ \t]+inserts[ \t]+\d+/m, 'Status and inserts'),
  ],
  [
    /^pfctl -sr$/,
    (text) =>
      text === '' ? undefined : unlessLines(text, /^(?:scrub|block|pass|match|anchor|antispoof)\b.*$/, 'rules'),
  ],
  [/^ipfw list$/, (text) => unlessLines(text, /^\d{5} .+$/, 'numbered rules')],
  [/^bectl list -H$/, (text) => unlessLines(text, /^[^\t]+(?:\t[^\t]*){4,}$/, 'environments in columns with tabs')],
  [/^cat \/etc\/fstab$/, (text) => unlessFound(text, /^\S+\s+\/\s+\S+/m, 'the root')],
  [/^ls -1 \/boot$/, (text) => unlessFound(text, /^kernel$/m, 'kernel')],
];

const no = (expected: string, text: string): string => {
  const found = shortened(text);
  return `expected ${expected}, found ${found === '' ? 'nothing' : `"${found}"`}`;
};

function unlessFound(text: string, pattern: RegExp, expected: string): string | undefined {
  return pattern.test(text) ? undefined : no(expected, text);
}

/** Requires at least one line, and all lines to match. */
function unlessLines(text: string, pattern: RegExp, expected: string): string | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length === 0) return no(expected, '');
  const other = lines.find((line) => !pattern.test(line.trimEnd()));
  return other === undefined ? undefined : no(expected, other);
}

const boottime =
  /^\{ sec = \d+, usec = \d+ \} (?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d \d{4}$/;

const texts = ['kern.version', 'kern.ident', 'kern.osrelease', 'dispatch', 'algo', 'firmware', 'fw_version'];

/** True for sysctls that are known to be whole numbers. */
const isNumber = (command: string): boolean =>
  /^sysctl -n (?:net\.inet6?\.|net\.isr\.(?:max|bind)threads|hw\.ncpu|hw\.cxgbe\.|machdep\.|kern\.random\.harvest\.mask|dev\.\w+\.\d+\.(?:n[rt]xq|conf\.channels))/.test(
    command,
  ) && !texts.some((name) => command.includes(name));

/** Expects an Ethernet port; no others are read. */
function ifconfig(text: string, command: string): string | undefined {
  const port = parseIfconfig(text);
  const [, name] = command.split(' ');
  if (port === undefined || port.name !== name) return no(`${name}, its flags and its mtu`, text);
  const lacking = [
    port.mac === undefined && 'ether',
    port.media === undefined && 'media',
    !/^[ \t]+status: (?:active|no carrier|associated|no network|inserted)$/m.test(text) && 'status',
  ].filter((field) => field !== false);
  return lacking.length === 0 ? undefined : `it has no ${lacking.join(', ')}`;
}

function routes(text: string): string | undefined {
  const rows = text.split('\n').filter((line) => /\S/.test(line));
  const head = rows.findIndex(
    (line) =>
      /^Destination\s+Gateway\s+Flags\s+Netif(?:\s+Expire)?\s*$/.test(line) ||
      /^Destination\s+Gateway\s+Flags\s.*\bNetif\b/.test(line),
  );
  if (head === -1) return no('the header of Destination, Gateway, Flags and Netif', text);
  const found = parseRoutes(text);
  if (found.length < rows.length - head - 1)
    return no('as many columns in each row as in the header', rows.at(-1) ?? '');
  const odd = found.find(
    ({ destination, flags, interface: name }) =>
      !/^(?:default|[0-9a-f.:]+(?:%\w+)?(?:\/\d+)?)$/i.test(destination) ||
      !/^[A-Z][A-Za-z0-9]*$/.test(flags) ||
      !/^[a-z]\w*$/.test(name),
  );
  return odd === undefined ? undefined : no('a destination, flags and an interface', Object.values(odd).join(' '));
}

function counters(text: string): string | undefined {
  const [head = ''] = text.split('\n');
  const columns = ['Name', 'Mtu', 'Network', 'Address', 'Ipkts', 'Ierrs', 'Idrop', 'Opkts', 'Oerrs'];
  const lacking = columns.filter((column) => !head.split(/\s+/).includes(column));
  if (lacking.length > 0) return no(`a header with ${lacking.join(', ')}`, head);
  const links = text.split('\n').filter((line) => line.includes('<Link#'));
  const read = parseInterfaceCounters(text).size;
  return read === links.length && read > 0
    ? undefined
    : no('numbers in each row of a link', links.find((line) => /[^\d\s]\s*\d*$/.test(line)) ?? links.at(-1) ?? '');
}

function neighbours(text: string, parse: typeof parseArp, isRow: RegExp): string | undefined {
  const rows = text.split('\n').filter((line) => line.trim() !== '' && isRow.test(line));
  const odd = rows.find((row) => {
    const [found] = parse(`${row}\n`);
    if (found === undefined) return true;
    const { address, mac, interface: name } = found;
    const hasMac = mac === undefined ? row.includes('(incomplete)') : macAddress.test(mac);
    return !hasMac || !/^[a-z]\w*$/.test(name) || !/^[0-9a-f.:]+(?:%\w+)?$/i.test(address);
  });
  return odd === undefined ? undefined : no('an address, a MAC address and an interface in each line', odd);
}

const macAddress = /^(?:[0-9a-f]{1,2}:){5}[0-9a-f]{1,2}$/;

function fileSystems(text: string, command: string): string | undefined {
  const [head = '', ...rows] = text.trim().split('\n');
  if (!/^Filesystem\s+Type\s+(?:1024|1K)-blocks\s+Used\s+Avail\S*\s+Capacity\s+Mounted on$/.test(head)) {
    return no('the header of Filesystem, Type, 1024-blocks, Used and Avail', head);
  }
  const paths = command.split(' ').filter((word) => word.startsWith('/')).length;
  const odd = rows.find((row) => !/^\S+\s+\w+\s+\d+\s+-?\d+\s+-?\d+\s+\d+%\s+\/\S*$/.test(row.trim()));
  if (odd !== undefined) return no('numbers in columns', odd);
  return rows.length === paths ? undefined : no('a row for each path', text);
}

/** Accepts the log of a generator that died. */
function pktGen(request: RecordedRequest): string | undefined {
  const text = outputOf(request, 'stderr') + outputOf(request, 'stdout');
  if (text.replace(/^process \d+\n/, '').trim() === '') return undefined;
  const log = parsePktGenLog(text);
  const strange = log.faults.find(
    ({ kind }) => kind === 'not-pkt-gen' || kind === 'unread-rate' || kind === 'cut' || kind === 'unreadable',
  );
  if (strange !== undefined) return strange.message;
  const lines = text.split('\n');
  const rates = lines.filter((line) => /\bmain_thread\b.*\bpps\b/.test(line));
  if (rates.length > log.rates.length)
    return no(
      'rates as pkt-gen writes them',
      rates.find((line) => parsePktGenLog(`${line}\n`).rates.length === 0) ?? '',
    );
  const summary = lines.find((line) => /^(?:Sent|Received) \S+ packets/.test(line));
  const isRead = log.summary !== undefined || log.faults.length > 0;
  if (summary !== undefined && !isRead && !/ in 0\.0+ seconds/.test(summary)) return no('its summary', summary);
  return undefined;
}
