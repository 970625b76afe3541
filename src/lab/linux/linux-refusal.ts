// Explains in the report why a Linux DUT did not load a variant, from the output of nft and the DUT's script.

type Failed = {
  folder: string;
  scenario: string;
  nftables: string;
  stderr: string;
  exitText: string;
  /** The lines of the variant's settings, by path. */
  lines?: ReadonlyMap<string, number> | undefined;
};

/**
 * Returns nft's messages on the variant's own rules, with line numbers of the overlay. Omits source lines that nft
 * prints, and folder names: they could come from any file of the DUT.
 */
export function loadRefusal(failed: Failed): string {
  const { folder, scenario, nftables, stderr, exitText, lines } = failed;
  const setting = refusedSetting(stderr);
  if (setting !== undefined) {
    const line = lines?.get(setting.path);
    const who = line === undefined ? 'The' : `sysctl.conf line ${line}: the`;
    const fix = ofInterface.test(setting.path) && isMissing.test(setting.reason) ? `; ${toMap}` : '';
    return `${who} DUT refuses the setting ${setting.path}: ${setting.reason}${fix}.`;
  }

  const sources = nftables.split('\n');
  const errors = stderr.split('\n').flatMap((line) => {
    if (!line.startsWith(`${folder}/`)) return unplaced.exec(line)?.[1] ?? [];
    const [, file, number, first, last, words] = placed.exec(line.slice(folder.length + 1)) ?? [];
    if (file === `${scenario}.nft`) return `${file}:${number}: ${words}`;
    if (file !== 'nftables.conf') return [];
    const columns = { first: Number(first), last: Number(last ?? first) };
    const source = shown(sources[Number(number) - 1] ?? '', columns);
    return [`${file}:${number}:${first}${last === undefined ? '' : `-${last}`}: ${words}`, ...source];
  });
  if (errors.some((line) => line.endsWith('Interface does not exist'))) {
    errors.push(`${toMap[0]?.toUpperCase()}${toMap.slice(1)}.`);
  }
  if (errors.length > 0) return errors.slice(0, maxLines).join('\n');
  return `nft does not load nftables.conf, and reports no line of it: it ${exitText}.`;
}

const ofInterface = /^net\/\w+\/(?:conf|neigh)\//;
const isMissing = /No such file or directory$/;
const toMap =
  'map interface names to those of the testbed with `overlay: { interfaces: { eth0: ingress } }` in ppsgate.yml';

/** Finds the setting that the DUT's script refused, and its reason; undefined if it refused something else. */
export function refusedSetting(stderr: string): { path: string; reason: string } | undefined {
  const [, reason, path] = failedSetting.exec(stderr) ?? [];
  return reason === undefined || path === undefined ? undefined : { path, reason };
}

/**
 * Matches an error of the script, or of the system as bash or cat(1) prints it, and then the script's line on the
 * setting.
 */
const failedSetting = /: ([\w ,'()/-]{1,200})\nsetting (net\/[\w./-]{1,200})$/m;

const placed = /^([\w.-]{1,100}):(\d{1,7}):(\d{1,7})(?:-(\d{1,7}))?: (Error: .{1,300})/;

/** Messages of nft without a line number. */
const unplaced = /^(?:internal:0:0-0|netlink): (Error: .{1,300})/;

/** nft stops after ten errors. */
const maxLines = 30;

/** Returns the source line and, if the columns are known, a line of markers below it. */
function shown(source: string, { first, last }: { first: number; last: number }): string[] {
  const line = source.slice(0, maxShown);
  if (last > line.length || first < 1 || last < first || /[^\t -~]/.test(line)) return [line];
  const blank = line.slice(0, first - 1).replace(/[^\t]/g, ' ');
  return [line, blank + '^'.repeat(last - first + 1)];
}

const maxShown = 200;
