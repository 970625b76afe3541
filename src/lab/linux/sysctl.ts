// Parses an overlay's sysctl.conf; accepts only network settings of a router, as others may affect the whole machine.

/** Values by the settings' paths below /proc/sys, in the order of installation. */
export type Settings = ReadonlyMap<string, string>;

export type ReadSettings = {
  settings: Settings;
  /** Line numbers of the settings, from 1. */
  lines: ReadonlyMap<string, number>;
  /** Lines, from 1, without a network setting of a router; these belong to the machine. */
  skipped: readonly { line: number; key: string }[];
};

type SysctlOutcome = ({ kind: 'read' } & ReadSettings) | { kind: 'refused'; message: string };

/** Reads `key = value` lines, see sysctl.conf(5); `file` is its name in messages. */
export function parseSysctl(text: string, file: string): SysctlOutcome {
  const settings = new Map<string, string>();
  const lines = new Map<string, number>();
  const skipped: { line: number; key: string }[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    const content = line.trim();
    if (content === '' || /^[#;]/.test(content)) continue;

    const refused = (why: string): SysctlOutcome => ({
      kind: 'refused',
      message: `${file} line ${index + 1}: ${why}.`,
    });
    const [, key, value] = keyAndValue.exec(line) ?? [];
    if (key === undefined || value === undefined) return refused(whyNoPair(content));
    // sysctl(8) ignores errors of a key with "-"; here every setting must be in force.
    const path = pathOf(key.replace(/^-/, ''));
    if (!networkSetting.test(path)) {
      skipped.push({ line: index + 1, key: key.slice(0, maxShown) });
      continue;
    }
    if (value.length > maxCharacters) {
      return refused(`the value of ${key} has more than ${maxCharacters} characters`);
    }
    // The last line of a setting wins, at its own position: one setting may change others.
    settings.delete(path);
    settings.set(path, value);
    lines.set(path, index + 1);
  }
  return { kind: 'read', settings, lines, skipped };
}

/** ASCII only: sysctl(8) accepts no other blanks. */
const keyAndValue = /^[\t ]*([\w./-]+)[\t ]*=[\t ]*([!-~](?:[\t -~]*[!-~])?)[\t\r ]*$/;

/** systemd-sysctl(8) sets all settings whose path matches. */
function whyNoPair(content: string): string {
  const text = `expected "key = value", found "${content.slice(0, maxShown)}"`;
  const isPattern = /^[^=\s]*[*?[]/.test(content);
  return isPattern ? `${text}, a pattern for several settings: write one line for each setting` : text;
}

const maxShown = 100;

/** The kernel accepts at most a page. */
const maxCharacters = 4000;

/** The first separator determines the meaning of `.` and `/` in the key, as in sysctl(8). */
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
/** The kernel's limit, without `.` and `..`, which would be other folders. */
const interfaceName = String.raw`(?!\.{1,2}/)[\w.-]{1,15}`;
const networkSetting = new RegExp(
  `^net/(?:nf_conntrack_max|(?:${folders.join('|').replaceAll('*', interfaceName)})/${setting})$`,
);

export const formatSettings = (settings: Settings): string =>
  [...settings].map(([path, value]) => `${path} = ${value}\n`).join('');

/** Reads the output of `formatSettings` or of the DUT's script, in which a value may be empty. */
export const readSettings = (text: string): Settings =>
  new Map(
    text.split('\n').flatMap((line) => {
      const [, path, value] = /^(\S+) = (.*)$/.exec(line) ?? [];
      return path === undefined || value === undefined ? [] : [[path, value] as const];
    }),
  );
