// Finds which of an appliance's two slices boots next, by fstab(5) and by the disk's table.
import { HostError } from '../../../system/host/host-error.ts';
import type { Host } from '../../../system/host/ssh.ts';
import { shell } from '../../../system/shell.ts';

export type Slices = {
  disk: string;
  scheme: Scheme;
  root: string;
  fstab: string;
  /** Names of gpart(8), by device. */
  providers: ReadonlyMap<string, string>;
  /** Providers that may boot: an MBR has one, and a GPT boots the first. */
  active: readonly string[];
};

type Scheme = keyof typeof attributes;

const attributes = { MBR: 'active', GPT: 'bootme' } as const;

/** Throws if fstab and the table disagree. */
export async function nextRoot(host: Host): Promise<string> {
  const slices = await slicesOf(host);
  const expected = slices.providers.get(slices.root);
  const [active, ...more] = slices.active;
  if (active === expected && more.length === 0) return slices.root;
  const marked = slices.active.join(' and ') || 'none';
  throw refusal(
    host,
    `/etc/fstab has its root on ${slices.root} (${expected}), and ${attributes[slices.scheme]} on ${slices.disk} is ${marked}`,
    'check `gpart show -p` there, and make one slice active manually',
  );
}

/** Throws for any disk but an appliance's, as BSDRP installs it. */
export async function slicesOf(host: Host): Promise<Slices> {
  const fstab = await host.output(shell`cat /etc/fstab`);
  const root = fstab
    .split('\n')
    .map(fieldsOf)
    .find(([, path]) => path === '/')?.[0];
  if (root === undefined) throw noAppliance(host, '/etc/fstab names no root');
  const providers = providersOf(await host.output(shell`glabel status -s`));
  const [, disk] = /^([a-z]+\d+)[ps]\d+$/.exec(providers.get(root) ?? '') ?? [];
  if (disk === undefined) {
    throw noAppliance(host, `glabel(8) shows no slice labelled as its root, ${root}`);
  }
  const table = readTable(await host.output(shell`gpart show -p ${disk}`));
  if (table === undefined) {
    throw noAppliance(host, `${disk} has neither an MBR nor a GPT with known attributes`);
  }
  return { disk, root, fstab, providers, ...table };
}

export const fieldsOf = (line: string): string[] => line.trim().split(/\s+/);

/** Reads `gpt/BSDRP1  N/A  ada0p3`; in a slice with partitions, the first is the root. */
const providersOf = (status: string): Map<string, string> =>
  new Map(
    status
      .split('\n')
      .map(fieldsOf)
      .flatMap(([label, , provider]) =>
        provider === undefined ? [] : [[`/dev/${label}`, provider.replace(/(s\d+)a$/, '$1')]],
      ),
  );

/** Reads `=> 40 31277152 ada0 GPT (15G)`, and rows like `3223 4194304 ada0p3 freebsd-ufs [bootme] (2.0G)`. */
function readTable(text: string): Pick<Slices, 'scheme' | 'active'> | undefined {
  const [, scheme] = /^=>\s+\d+\s+\d+\s+\S+\s+(\S+)/m.exec(text) ?? [];
  if (scheme !== 'MBR' && scheme !== 'GPT') return undefined;
  const rows = [...text.matchAll(/^ +\d+ +\d+ +(\S+) .*\[([^\]]*)\]/gm)];
  const marks = rows.map(([, provider = '', words = '']) => ({
    provider,
    words: words.split(','),
  }));
  const isComplete = marks.every(({ words }) => words.every((word) => word === attributes[scheme]));
  return isComplete ? { scheme, active: marks.map(({ provider }) => provider) } : undefined;
}

const noAppliance = (host: Host, why: string): HostError =>
  refusal(host, why, 'it is not an appliance built by nanobsd(8) or poudriere-image(8), so choose another boot method');

const refusal = (host: Host, why: string, fix: string): HostError =>
  new HostError('command-failed', `${host.name} would boot an unknown system: ${why}; ${fix}.`);
