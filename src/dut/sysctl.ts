// An overlay's sysctl.conf: only settings of the DUT's network, because the rest may belong to the whole machine.

export type SysctlOutcome =
  | { kind: 'read'; settings: Map<string, string> }
  | { kind: 'refused'; message: string };

/** Reads `key = value` lines, see sysctl.conf(5); `file` is the name that messages give it. */
export function parseSysctl(text: string, file: string): SysctlOutcome {
  const settings = new Map<string, string>();
  for (const [index, line] of text.split('\n').entries()) {
    const place = `${file} line ${index + 1}`;
    const content = line.trim();
    if (content === '' || /^[#;]/.test(content)) continue;

    const [, key, value] = /^([\w./-]+)\s*=\s*(\S.*)$/.exec(content) ?? [];
    if (key === undefined || value === undefined) {
      return { kind: 'refused', message: `${place}: expected "key = value", found "${content}".` };
    }
    if (!/^net[./]/.test(key) || key.includes('..')) {
      return { kind: 'refused', message: `${place}: ${key} is no setting of the network (net.…).` };
    }
    settings.set(key, value);
  }
  return { kind: 'read', settings };
}

/** The text of a sysctl.conf(5) with these settings. */
export const formatSysctl = (settings: ReadonlyMap<string, string>): string =>
  [...settings].map(([key, value]) => `${key} = ${value}\n`).join('');
