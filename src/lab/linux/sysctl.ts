// An overlay's sysctl.conf: only settings of a router's network, because the rest may belong to the whole machine.

/** The value of each setting, which is known by its path below /proc/sys, in the order in which they are made. */
export type Settings = ReadonlyMap<string, string>;

type SysctlOutcome = { kind: 'read'; settings: Settings } | { kind: 'refused'; message: string };

/** Reads `key = value` lines, see sysctl.conf(5); `file` is the name that messages give it. */
export function parseSysctl(text: string, file: string): SysctlOutcome {
  const settings = new Map<string, string>();
  for (const [index, line] of text.split('\n').entries()) {
    const content = line.trim();
    if (content === '' || /^[#;]/.test(content)) continue;

    const refused = (why: string): SysctlOutcome => ({
      kind: 'refused',
      message: `${file} line ${index + 1}: ${why}.`,
    });
    const [, key, value] = keyAndValue.exec(line) ?? [];
    if (key === undefined || value === undefined) {
      return refused(`expected "key = value", found "${content.slice(0, mostShown)}"`);
    }
    const path = pathOf(key);
    if (!networkSetting.test(path)) return refused(whyStrange(key, path));
    if (value.length > mostCharacters) {
      return refused(`the value of ${key} has more than ${mostCharacters} characters`);
    }
    // The last one holds, and in its own place: one setting may change others.
    settings.delete(path);
    settings.set(path, value);
  }
  return { kind: 'read', settings };
}

/** Nothing but ASCII: what else looks like a blank is none to sysctl(8). */
const keyAndValue = /^[\t ]*([\w./-]+)[\t ]*=[\t ]*([!-~](?:[\t -~]*[!-~])?)[\t\r ]*$/;

const mostShown = 100;

/** The kernel takes no more than a page. */
const mostCharacters = 4000;

/** The first separator says which of the two is the other's place holder: sysctl(8), whose own this is. */
function pathOf(key: string): string {
  const separator = /[./]/.exec(key)?.[0];
  if (separator !== '.') return key;
  return key.replace(/[./]/g, (found) => (found === '.' ? '/' : '.'));
}

/** Below /proc/sys/net; a star is the name of an interface, `all` or `default`. */
const folders = [
  'core',
  'unix',
  'ipv4',
  'ipv4/conf/*',
  'ipv4/neigh/*',
  'ipv4/route',
  'ipv4/vs',
  'ipv6',
  'ipv6/conf/*',
  'ipv6/neigh/*',
  'ipv6/route',
  'ipv6/icmp',
  'netfilter',
  'netfilter/nf_log',
  'bridge',
  'mpls',
  'mpls/conf/*',
  'mptcp',
  'sctp',
  'vrf',
];

const setting = String.raw`[a-zA-Z0-9][\w-]{0,63}`;
/** As long as the kernel has them at most, and no `.` or `..`, which would be other folders. */
const interfaceName = String.raw`(?!\.{1,2}/)[\w.-]{1,15}`;
const networkSetting = new RegExp(
  `^net/(?:nf_conntrack_max|(?:${folders.join('|').replaceAll('*', interfaceName)})/${setting})$`,
);

function whyStrange(key: string, path: string): string {
  const shown = key.slice(0, mostShown);
  if (!path.startsWith('net/') || path.split('/').includes('..')) {
    return `${shown} is no setting of the network (net.…)`;
  }
  const known = folders.map((folder) => `net.${folder.replaceAll('/', '.')}`).join(', ');
  return `${shown} is none of the settings of a router's network, which lie in ${known}; a dot in the name of an interface is written as a slash (net.ipv4.conf.eth0/1.rp_filter)`;
}

/** A line for each setting, in the form that the DUT's program reads and writes. */
export const formatSettings = (settings: Settings): string =>
  [...settings].map(([path, value]) => `${path} = ${value}\n`).join('');

/** Reads what `formatSettings`, or the DUT's program, has written: a value may be empty there. */
export const readSettings = (text: string): Settings =>
  new Map(
    text.split('\n').flatMap((line) => {
      const [, path, value] = /^(\S+) = (.*)$/.exec(line) ?? [];
      return path === undefined || value === undefined ? [] : [[path, value] as const];
    }),
  );
