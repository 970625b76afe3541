// Builds FreeBSD kernels on Linux: finds clang and lld, runs the tree's make.py, and checks that modules can be loaded.
import type { MakeRecipe } from '../config/builder.ts';
import { plainLine } from '../model/escape.ts';
import { lastLine } from '../model/one-line.ts';
import type { Host } from '../system/host/ssh.ts';
import { type Command, shell } from '../system/shell.ts';
import type { PlacedRequest } from './build-step.ts';
import { BuilderError } from './builder-error.ts';
import { inJail } from './jail.ts';

/** Paths on the builder. */
export type CrossTools = { readonly clang: string; readonly lld: string };

/** Throws a BuilderError if the given folder, or without one the whole builder, lacks clang or lld. */
export async function crossToolsOf(host: Host, { toolFolder }: NonNullable<MakeRecipe['cross']>): Promise<CrossTools> {
  const { stdout } = await host.run(shell`sh -c ${findToolsScript} tools ${toolFolder ?? ''}`);
  const folder = stdout.trim();
  if (folder !== '') return { clang: `${folder}/clang`, lld: `${folder}/ld.lld` };
  const where = toolFolder ?? '/usr/lib/llvm-*/bin or /usr/bin';
  throw new BuilderError(`${host.name} has no clang with ld.lld in ${where} to build FreeBSD kernels.`);
}

/** Debian and Ubuntu install each release of LLVM in its own folder. */
const findToolsScript = `
for folder in \${1:-$(ls -d /usr/lib/llvm-*/bin 2>/dev/null | sort -V -r) /usr/bin}; do
  if test -x "$folder/clang" && test -x "$folder/ld.lld"; then echo "$folder"; exit; fi
done
`;

/** make.py runs bmake's own tests, which write files next to themselves. git(1) removes those before the next build. */
export const bmakeTests = 'contrib/bmake/unit-tests';

/**
 * Runs the tree's make.py, which builds bmake first. bmake's own test fails if SIGINT is ignored, as in a shell's
 * background jobs.
 */
export function crossMake(source: string, { clang }: CrossTools): Command {
  const folder = clang.slice(0, clang.lastIndexOf('/'));
  const program = [`${source}/tools/build/make.py`, '--no-clean', `--cross-bindir=${folder}`];
  const words = ['TARGET=amd64', 'TARGET_ARCH=amd64', ...withoutCompiler];
  return shell`env --default-signal=INT,QUIT python3 ${program} ${words}`;
}

/**
 * Programs of the target that a kernel does not need; their generators take most of a toolchain's build
 * (Makefile.inc1).
 */
const withoutCompiler = ['CLANG', 'LLD', 'LLDB', 'LLVM_BINUTILS'].map((name) => `-DWITHOUT_${name}`);

/**
 * Returns the reasons why modules in a kernel's folder cannot be loaded, one sentence each. The kernel linker knows
 * only a few types of relocations (elf_machdep.c in FreeBSD's sys/amd64). It resolves symbols only from the kernel and
 * other modules.
 */
export async function whyNotLoadable(
  host: Host,
  place: Pick<PlacedRequest, 'jail' | 'folder' | 'repository'>,
  kernelFolder: string,
): Promise<string[]> {
  const command = shell`sh -c ${loadableScript} loadable ${kernelFolder} ${knownRelocations}`;
  const { stdout, stderr } = await host.run(inJail(place, command), { timeoutSeconds: 600 });
  const lines = stdout.split('\n').filter(Boolean);
  if (lines.at(-1) !== 'done') {
    throw new BuilderError(
      `The modules of a kernel could not be examined on ${host.name} (${lastLine(stderr) ?? 'no output'}): install binutils there.`,
    );
  }
  return lines.slice(0, -1).map((line) => {
    const [kind, module = '', name = '', symbol = ''] = plainLine(line, 200).split(' ');
    return kind === 'relocation'
      ? `${module} cannot be loaded: it references ${symbol} with ${name}, a relocation that FreeBSD's kernel linker refuses; build without stack protection (\`options: [-DWITHOUT_SSP]\`), or with another clang (\`tools\`).`
      : `${module} cannot be loaded: neither the kernel nor another built module defines ${name}.`;
  });
}

const knownRelocations = 'NONE|64|PC32|PLT32|32S|GLOB_DAT|JUMP_SLOT?|RELATIVE|IRELATIVE?';

/** Prints at most 20 faults. Symbols that the kernel linker creates itself are no faults. */
const loadableScript = `
set -e
cd "$1"
for module in *.ko; do
  test -e "$module" || continue
  readelf -rW "$module" |
    awk -v module="$module" -v known="^R_X86_64_($2)$" \\
      '$3 ~ /^R_/ && $3 !~ known && !seen[$3]++ { print "relocation", module, $3, $5 }'
done | head -n 20
{
  nm --defined-only kernel *.ko 2>/dev/null | awk 'NF == 3 { print "has", $3 }'
  for module in *.ko; do
    test -e "$module" || continue
    nm --undefined-only "$module" | awk -v module="$module" '$1 == "U" { print "wants", $2, module }'
  done
} | awk '
  $1 == "has" { has[$2] = 1 }
  $1 == "wants" && !($2 in has) && $2 !~ /^(__(start|stop)_set_|_GLOBAL_OFFSET_TABLE_$)/ { print "symbol", $3, $2 }
' | head -n 20
echo done
`;
