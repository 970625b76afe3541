// Reads what `ppsgate init` writes from its flags, the repository and answers at the terminal.
import type { OperatingSystem } from '../../model/scenario.ts';
import { excerpt } from '../../model/units.ts';
import { UsageError } from '../../model/usage-error.ts';
import type { AskPerson } from '../prompt.ts';
import { type PublishedImage, parseImage } from './freebsd-tree.ts';
import { type FoundFiles, findFiles } from './init-overlay.ts';
import { type Clone, parseAction, parseBranch, parseRepository, parseRunner, type Runner } from './setting.ts';

export type InitOptions = {
  kind?: string;
  image?: string;
  sha512?: string;
  runner?: string;
  action?: string;
  branch?: string;
  repository?: string;
  force?: true;
  yes?: true;
  dryRun?: true;
  json?: true;
};

export type Selectors = {
  runner: Runner;
  /** Absent: there is no workflow. */
  action?: string;
  branch: string;
  repository: string | undefined;
  /** The image of FreeBSD's guests. */
  image?: PublishedImage;
  /** Files of the repository that a DUT loads. */
  found: FoundFiles;
  leftOut: readonly LeftOut[];
};

/** A file whose rules no gate measures, and a sentence on how to have that. */
type LeftOut = { path: string; why: string };

type Kind = { system: OperatingSystem } & Pick<Selectors, 'found' | 'leftOut'>;

/** By the flag; without it FreeBSD where the only rules are those of pf or ipfw. */
export async function kindOf(options: InitOptions, directory: string): Promise<Kind> {
  const { kind } = options;
  const linux = await findFiles(directory, 'linux');
  const freebsd = await findFiles(directory, 'freebsd');
  const usual = freebsd.size > 0 && !linux.has('nftables.conf') ? 'freebsd' : 'linux';
  const system = isFreebsd({ ...options, kind: kind ?? usual }) ? 'freebsd' : 'linux';
  if (system === 'linux') {
    const isChosen = kind === undefined;
    return { system, found: linux, leftOut: isChosen ? ofFreebsd(linux, freebsd) : [] };
  }
  if (kind === undefined && options.image === undefined && options.yes) {
    throw new UsageError(
      `${[...freebsd.values()].join(' and ')} is measured on FreeBSD guests: name their official image with --image and --sha512, or begin with other rules with \`--kind linux\`.`,
    );
  }
  // A scenario has one firewall.
  const [first, ...others] = [...freebsd];
  const found = new Map(first && [first]);
  const leftOut = others.map(([name, path]) => ({
    path,
    why: `${first?.[1]} is measured, and a scenario has one firewall; to measure this one, write \`overlay: { files: { ${name}: ${path} } }\` in ppsgate.yml`,
  }));
  return { system, found, leftOut };
}

/** Explains a choice that the user did not make. */
const ofFreebsd = (linux: FoundFiles, freebsd: FoundFiles): LeftOut[] =>
  [...freebsd.values()].map((path) => ({
    path,
    why: `is for FreeBSD, and ppsgate chose Linux because of ${linux.get('nftables.conf') ?? 'its files'}; to measure this one, run \`ppsgate init --kind freebsd\``,
  }));

export async function readSelectors(
  options: InitOptions,
  clone: Clone & Kind,
  { own, ask }: { own?: string | undefined; ask: AskPerson },
): Promise<Selectors> {
  const answer = async (flag: string | undefined, question: string, usual = '') =>
    flag ?? ((await ask?.(usual === '' ? `${question} ` : `${question} [${usual}] `)) || usual);

  const isGuest = clone.system === 'freebsd';
  const image = isGuest && {
    url: await answer(options.image, 'https address of the official FreeBSD image?'),
    sha512: await answer(options.sha512, 'Its SHA-512, from its CHECKSUM.SHA512?'),
  };
  // Instructions are counted with QEMU 7.2 to 11.1: a name that changes its release would change them.
  const usual = isGuest ? 'ubuntu-24.04' : 'ubuntu-latest';
  const runner = await answer(
    options.runner,
    `Runner for measurements: ${usual}, or self-hosted with its labels?`,
    usual,
  );
  const pin = await answer(options.action, 'Version of ppsgate, as OWNER/ppsgate@COMMIT?', own);
  const branch = await answer(options.branch, 'Default branch?', clone.branch);
  const repository = await answer(options.repository, 'Repository on GitHub, as OWNER/NAME?', clone.repository);
  const isPinned = pin !== '' || options.action !== undefined;
  return {
    runner: parseRunner(runner),
    // Adds the version of the running ppsgate to its commit.
    ...(isPinned && { action: own?.startsWith(`${parseAction(pin)} `) ? own : parseAction(pin) }),
    branch: parseBranch(branch),
    repository: repository === '' ? undefined : parseRepository(repository),
    found: clone.found,
    leftOut: clone.leftOut,
    ...(image && { image: parseImage(image.url, image.sha512) }),
  };
}

function isFreebsd({ kind = 'linux', image, sha512 }: InitOptions): boolean {
  if (kind !== 'linux' && kind !== 'freebsd') {
    throw new UsageError(`--kind: expected linux or freebsd, found "${excerpt(kind)}".`);
  }
  const stray = image === undefined ? sha512 && '--sha512' : '--image';
  if (kind === 'linux' && stray !== undefined) {
    throw new UsageError(`${stray}: requires --kind freebsd; add that, or drop it.`);
  }
  return kind === 'freebsd';
}
