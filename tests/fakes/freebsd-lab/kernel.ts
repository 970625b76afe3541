// Kernels of the fake lab: a text with its version and its faults.
import { createHash } from 'node:crypto';
import { makeTar } from './tar.ts';

export type Kernel = {
  /** As `uname -v` prints it: `FreeBSD 14.0-CURRENT #0 base`. */
  version: string;
  /** As `uname -r` prints it: `14.0-CURRENT`. */
  release: string;
  /** Key of the table of rates: `base`. */
  ident: string;
  /** Lines of its configuration, such as `options RSS`. */
  options: readonly string[];
  behaviour: Behaviour;
  /** Checksum of all bytes: another layout of the same objects is another build. */
  build: number;
};

export type Behaviour =
  | { kind: 'works' }
  /** At boot: before rc.d/dumpon; in rc: after it. */
  | {
      kind: 'panics-at-boot' | 'panics-in-rc' | 'panics-under-load';
      panic: string;
    }
  /** With interrupts off, for example in `pf_test+0x1c`. */
  | { kind: 'hangs-under-load'; at: string }
  /** It is up, but all routes of rc.conf except the default one are lost. */
  | { kind: 'hangs-at-boot' | 'loses-routes-at-boot' }
  /** Its pf takes none. */
  | { kind: 'refuses-rules' };

export type KernelText = {
  ident: string;
  release?: string;
  options?: readonly string[];
  behaviour?: Behaviour;
  /** Another layout has another order; absent: the linker's own. */
  layout?: number;
};

/** Beginning of a FreeBSD ELF file, 64-bit and little-endian: see elf(5). */
const elfIdent = '\x7fELF\x02\x01\x01\x09';

/** The bytes of a `kernel` file. */
export function kernelText({
  ident,
  release = '14.0-CURRENT',
  options = [],
  behaviour = { kind: 'works' },
  layout,
}: KernelText): string {
  const words = 'panic' in behaviour ? behaviour.panic : 'at' in behaviour ? behaviour.at : undefined;
  const how = words === undefined ? '' : `: ${words}`;
  const mark = behaviour.kind === 'works' ? [] : [`${behaviour.kind}${how}`];
  const order = layout === undefined ? [] : [`text in order ${layout}`];
  return [elfIdent, `FreeBSD ${release} #0 ${ident}`, ...options, ...mark, ...order, ''].join('\n');
}

/** A kernel and its modules in a tar archive, as `installkernel` installs them into one folder. */
export function kernelArchive(kernel: KernelText, modules: readonly string[] = allModules): Buffer {
  const files = new Map([['kernel', kernelText(kernel)]]);
  for (const name of modules) files.set(`${name}.ko`, `module ${name} of ${kernel.ident}\n`);
  return makeTar(files);
}

/** Modules of a kernel's folder that the fake lab can load. */
export const allModules = ['hwpmc', 'if_cxgbe', 'ipfw', 'ksyms', 'netmap', 'pf', 'zfs'] as const;

/**
 * Undefined for bytes that no loader would start. The version comes first, with or without what(1)'s mark, then options
 * and marks, one per line. A `#pragma ident` of its sources is its ident.
 */
export function readKernel(bytes: Uint8Array | undefined): Kernel | undefined {
  const all = Buffer.from(bytes ?? [])
    .toString()
    .split('\n');
  // Kernels that the tests compile are texts without it.
  const [version = '', ...lines] = all[0] === elfIdent ? all.slice(1) : all;
  const [, release, ident] = /^(?:@\(#\))?FreeBSD (\S+) #\d+ ([^\s:]+)/.exec(version) ?? [];
  if (release === undefined || ident === undefined) return undefined;
  const pragma = lines.find((line) => line.startsWith(identPragma));
  return {
    version: version.replace('@(#)', ''),
    release,
    ident: pragma?.slice(identPragma.length) ?? ident,
    build: createHash('sha256')
      .update(bytes ?? '')
      .digest()
      .readInt32LE(),
    options: lines.filter((line) => line.startsWith('options')),
    behaviour: lines.map(behaviourOf).find((behaviour) => behaviour !== undefined) ?? {
      kind: 'works',
    },
  };
}

const identPragma = '#pragma ident ';

const behaviours =
  /^(?:(panics-at-boot|panics-in-rc|panics-under-load)|(hangs-under-load)|(hangs-at-boot|loses-routes-at-boot|refuses-rules))(?:: (.+))?$/;

function behaviourOf(line: string): Behaviour | undefined {
  const [, panics, hangs, other, words] = behaviours.exec(line) ?? [];
  if (panics !== undefined) return { kind: panics, panic: words ?? 'page fault' } as Behaviour;
  if (hangs !== undefined) return { kind: 'hangs-under-load', at: words ?? 'cpu_spinwait+0x2' };
  return other === undefined ? undefined : ({ kind: other } as Behaviour);
}
