// Why a Linux DUT did not load a variant, from what nft and its program said: told to everybody who sees the report.

type Failed = {
  /** The variant's on the DUT. */
  folder: string;
  scenario: string;
  nftables: string;
  stderr: string;
  ending: string;
};

/**
 * nft's words for places in the variant's own rules, with their lines as the overlay has them. The lines that nft itself
 * shows are left out, because they could be of any file of the DUT, and so are the names of folders there.
 */
export function loadRefusal({ folder, scenario, nftables, stderr, ending }: Failed): string {
  const [, reason, setting] = failedSetting.exec(stderr) ?? [];
  if (setting !== undefined) return `The DUT does not take the setting ${setting}: ${reason}.`;

  const sources = nftables.split('\n');
  const errors = stderr.split('\n').flatMap((line) => {
    if (!line.startsWith(`${folder}/`)) return unplaced.exec(line)?.[1] ?? [];
    const [, file, number, first, last, words] = placed.exec(line.slice(folder.length + 1)) ?? [];
    if (file === `${scenario}.nft`) return `${file}:${number}: ${words}`;
    if (file !== 'nftables.conf') return [];
    const columns = { first: Number(first), last: Number(last ?? first) };
    const source = shown(sources[Number(number) - 1] ?? '', columns);
    return [
      `${file}:${number}:${first}${last === undefined ? '' : `-${last}`}: ${words}`,
      ...source,
    ];
  });
  if (errors.length > 0) return errors.slice(0, mostLines).join('\n');
  return `nft does not load nftables.conf, and names no line of it: it ${ending}.`;
}

/** Matches the system's error as bash or cat(1) prints it, and then the DUT's program on the setting. */
const failedSetting = /: ([\w ,'()/-]{1,100})\nsetting (net\/[\w./-]{1,200})$/m;

const placed = /^([\w.-]{1,100}):(\d{1,7}):(\d{1,7})(?:-(\d{1,7}))?: (Error: .{1,300})/;

/** The message for a command that nft gave the kernel without a line to it. */
const unplaced = /^(?:internal:0:0-0|netlink): (Error: .{1,300})/;

/** nft gives up after ten errors. */
const mostLines = 30;

/** The source line, and where it can be told a line below that points at the columns. */
function shown(source: string, { first, last }: { first: number; last: number }): string[] {
  const line = source.slice(0, mostShown);
  // nft counts bytes.
  if (last > line.length || first < 1 || last < first || /[^\t -~]/.test(line)) return [line];
  const blank = line.slice(0, first - 1).replace(/[^\t]/g, ' ');
  return [line, blank + '^'.repeat(last - first + 1)];
}

const mostShown = 200;
