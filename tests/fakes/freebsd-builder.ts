// Fakes FreeBSD's build programs on a Linux builder: scripts that come first on its PATH.
import { appendFileSync, chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type FreebsdBuilder = {
  readonly bin: string;
  /** Targets of make, in order: `buildkernel`, … */
  makes(): string[];
  /** Arguments of the last make for a target. */
  wordsOf(target: string): string[];
  /** Sets the version of cc(1). */
  setCompiler(version: string): void;
  /** Sets the LLVM version of the tree's linker, lld. */
  setLinker(version: number): void;
  /** True while filemon(4) is loaded. */
  setFilemon(loaded: boolean): void;
  /** Replaces a program by another file that reports the same version. */
  update(program: string): void;
  /** Module sources that ports have installed into /usr/local/sys/modules; buildkernel builds them, too. */
  setPortModules(modules: Readonly<Record<string, string>>): void;
  /** Starts a jail; `network` has ip4 and ip6 as printed by jls(8). */
  startJail(name: string, network?: string): void;
  /** Makes jails of this name share System V memory with their host. */
  shareMemory(name: string): void;
  reset(): void;
};

/** Installs the scripts below a folder. */
export function freebsdBuilder(folder: string): FreebsdBuilder {
  const bin = join(folder, 'bin');
  const state = join(folder, 'state');
  mkdirSync(bin);
  for (const [name, text] of Object.entries(scripts)) {
    writeFileSync(join(bin, name), `#!/bin/bash\nstate='${state}'\n${text}`);
    chmodSync(join(bin, name), 0o755);
  }
  const setCompiler = (version: string) => writeFileSync(join(state, 'cc'), version);
  const setLinker = (version: number) => writeFileSync(join(state, 'lld'), String(version));
  const reset = () => {
    rmSync(state, { recursive: true, force: true });
    mkdirSync(join(state, 'jails'), { recursive: true });
    // Builds in a jail are recorded as well.
    writeFileSync(join(state, 'makes'), '');
    chmodSync(join(state, 'makes'), 0o666);
    setCompiler('19.1.7');
    setLinker(19);
  };
  reset();
  const calls = () => readFileSync(join(state, 'makes'), 'utf8').split('\n').filter(Boolean);
  return {
    bin,
    makes: () => calls().map((line) => line.split('\t').at(-1) ?? ''),
    wordsOf: (target) =>
      calls()
        .findLast((line) => line.endsWith(`\t${target}`))
        ?.split('\t') ?? [],
    setCompiler,
    setLinker,
    update: (program) => appendFileSync(join(bin, program), '# another one\n'),
    setPortModules: (modules) => {
      const sources = join(state, 'port-modules');
      mkdirSync(sources, { recursive: true });
      for (const [name, text] of Object.entries(modules)) writeFileSync(join(sources, name), text);
    },
    startJail: (name, network = 'disable disable') => writeFileSync(join(state, 'jails', name), `${network}\n`),
    shareMemory: (name) => writeFileSync(join(state, 'jails', `${name}.sysvipc`), ''),
    setFilemon: (loaded) => writeFileSync(join(state, 'filemon'), loaded ? 'yes' : 'no'),
    reset,
  };
}

/**
 * Accepts the arguments of build(7) that kernels are built with, and rejects all others. "Compiles" every .c of sys/
 * that is newer than its object. `#error` fails like clang, `#pragma slow` lasts a minute, `#pragma full` finds the
 * disk full, `#pragma stale` fails if it finds an older object. `#pragma runs` is followed by a command, as a patch's
 * makefile may run any.
 */
const make = `
printf '%s\\t' "$@" | sed 's/\\t$/\\n/' >>"$state/makes"
die() { echo "$*"; exit 2; }
usage='usage: make [-BeikNnqrSstWwX] [-C directory] [-D variable] [-j max_jobs] [variable=value] [target ...]'
unset KERNFAST NO_MODULES KERNCONF KERNCONFDIR DESTDIR NO_CLEAN WITH_META_MODE NO_ROOT LOCAL_MODULES MODULES_OVERRIDE
targets=()
while (($#)); do
  case $1 in
  -C) directory=$2; shift ;;
  -j) [[ $2 =~ ^[0-9]+$ ]] || die "$usage"; shift ;;
  -DNO_CLEAN|-DKERNFAST|-DNO_MODULES|-DWITH_META_MODE|-DNO_ROOT|-DDB_FROM_SRC|-DWITHOUT_KERNEL_SYMBOLS|-DWITH_REPRODUCIBLE_BUILD|-DWITHOUT_SOMETHING)
    declare "\${1#-D}=yes" ;;
  -*) die "$usage" ;;
  MAKEOBJDIRPREFIX=*)
    die 'make: "Makefile" line 266: MAKEOBJDIRPREFIX can only be set in environment or src-env.conf(5), not as a global or command-line variable.' ;;
  KERNCONF=*|KERNCONFDIR=*|DESTDIR=*|LOCAL_MODULES=*|MODULES_OVERRIDE=*) declare "$1" ;;
  __MAKE_CONF=/dev/null|SRC_ENV_CONF=/dev/null|SRCCONF=/*|PORTS_MODULES=*|CFLAGS=*) ;;
  *=*) die "make: no such variable \${1%%=*}" ;;
  kernel-toolchain|buildkernel|installkernel) targets+=("$1") ;;
  *) die "make: don't know how to make $1. Stop" ;;
  esac
  shift
done
cd "$directory" || exit 2
here=$(pwd -P)
[[ $here == *[,:]* ]] && die '*** Error: path to source tree contains a comma or a colon'
[[ $MAKEOBJDIRPREFIX == /* ]] || die 'make: MAKEOBJDIRPREFIX is not set'
[[ -n $SSH_CONNECTION ]] && die 'make: the environment is not clean'
objects=$MAKEOBJDIRPREFIX$here/amd64.amd64
conf=\${KERNCONFDIR:-$here/sys/amd64/conf}/$KERNCONF
# Mirrors kern.post.mk: all modules that ports have installed, unless PORTS_MODULES says which.
ports=$state/port-modules
[[ -v LOCAL_MODULES || ! -d $ports ]] || LOCAL_MODULES=$(ls "$ports")
case \${targets[*]} in
kernel-toolchain)
  echo '>>> Kernel toolchain build started'
  mkdir -p "$objects/tmp"
  cat contrib/llvm-project/*.cpp >"$objects/tmp/cc" 2>/dev/null || : ;;
buildkernel)
  [[ -z $WITH_META_MODE || $(cat "$state/filemon" 2>/dev/null) == yes ]] || die 'ERROR: The filemon module (/dev/filemon) is not loaded.'
  [[ -f $conf ]] || die "make: \\"$here/Makefile.inc1\\" line 1579: Missing KERNCONF $conf"
  kernel=$objects/sys/$KERNCONF
  echo ">>> Kernel build for $KERNCONF started"
  [[ -n $NO_CLEAN$WITH_META_MODE$KERNFAST ]] || rm -rf "$kernel"
  mkdir -p "$kernel"
  echo '>>> stage 3.1: building everything'
  for source in $(cd sys && find . -name '*.c' | sort); do
    object=$kernel/$(basename "$source" .c).o
    [[ $object -nt sys/$source ]] && grep -q 'pragma stale' "$object" && die "$here/sys/\${source#./}:1:1: error: a file of before"
    [[ $object -nt sys/$source ]] && continue
    echo "cc -c sys/\${source#./}"
    if line=$(grep -n '#error' "sys/$source"); then
      echo "$here/sys/\${source#./}:\${line%%:*}:2: error: \${line#*#error }"
      echo '1 error generated.'
      echo '*** Error code 1'
      echo
      echo 'Stop.'
      echo "make[2]: stopped in $here"
      exit 2
    fi
    sed -n 's/^#pragma runs //p' "sys/$source" | sh
    grep -q 'pragma slow' "sys/$source" && { echo '===> waiting'; sleep 61 & wait; }
    grep -q 'pragma full' "sys/$source" && die "error: unable to open output file: 'No space left on device'"
    cp "sys/$source" "$object"
    touch "$object"
  done
  for folder in $MODULES_OVERRIDE; do
    [[ -d sys/modules/$folder ]] || die "cd: $here/sys/modules/$folder: No such file or directory"
  done
  grep -qs 'broken' "$objects/tmp/cc" && die "$here/sys/net/if.c:1:1: error: the compiler is broken"
  if [[ -f $kernel/kernel && -z $(find "$kernel" -name '*.o' -newer "$kernel/kernel") ]]; then exit 0; fi
  # Mirrors sys.mk: the flags that cc(1) would pass on go to ld(1) itself.
  option=\${LDFLAGS//-Wl,/}
  [[ -z $option || $option =~ ^--shuffle-sections=\\.text\\*=([0-9]+)$ ]] || die "ld: error: unknown argument '$option'"
  order=\${BASH_REMATCH[1]}
  [[ -z $order || $(cat "$state/lld") -ge 13 ]] || die "ld: error: --shuffle-sections=: expected a whole number, but got '.text*=$order'"
  { echo '@(#)FreeBSD 15.0-CURRENT #0 main-n1'; cat "$kernel"/*.o "$conf" "$objects/tmp/cc" 2>/dev/null || :; [[ -z $order ]] || echo "text in order $order"; } >"$kernel/kernel" ;;
installkernel)
  kernel=$objects/sys/$KERNCONF/kernel
  [[ -f $kernel ]] || die "ERROR: No kernel \\"$KERNCONF\\" to install."
  [[ -n $NO_ROOT ]] || die 'install: chown: Operation not permitted'
  [[ $DESTDIR == /* ]] || die 'install: /boot/kernel: Permission denied'
  mkdir -p "$DESTDIR/boot/kernel"
  cp "$kernel" "$DESTDIR/boot/kernel/kernel"
  echo module >"$DESTDIR/boot/kernel/if_test.ko"
  for makefile in $(cd sys/modules 2>/dev/null && find \${MODULES_OVERRIDE:-.} -name Makefile); do
    module=$(sed -n 's/^KMOD=[[:space:]]*//p' "sys/modules/$makefile")
    [[ -z $module ]] || echo "$module" >"$DESTDIR/boot/kernel/$module.ko"
  done
  for module in $LOCAL_MODULES; do
    cp "$ports/$module" "$DESTDIR/boot/kernel/$module.ko" || die "cd: can't cd to /usr/local/sys/modules/$module"
  done ;;
esac
`;

const scripts: Readonly<Record<string, string>> = {
  make,
  cc: `
[[ $* == --version ]] || exit 1
echo "FreeBSD clang version $(cat "$state/cc")"
echo 'Target: x86_64-unknown-freebsd15.0'
`,
  jls: `
if [[ $1 == -j && $3 == allow.sysvipc && $# == 3 ]]; then
  if [[ -f $state/jails/$2.sysvipc ]]; then echo true; else echo false; fi
  exit 0
fi
[[ $1 == -j && $3 == ip4 && $4 == ip6 && $# == 4 ]] || exit 1
cat "$state/jails/$2" 2>/dev/null || { echo "jls: jail "$2" not found" >&2; exit 1; }
`,
  jexec: `
[[ $1 == -u ]] || exit 1
[[ -f $state/jails/$3 ]] || { echo "jexec: jail "$3" not found" >&2; exit 1; }
id=$(id -u "$2" 2>/dev/null) || { echo "jexec: $2: no such user" >&2; exit 1; }
cd /
exec setpriv --reuid "$id" --regid "$id" --clear-groups "\${@:4}"
`,
  'freebsd-version': `
[[ $* == -u ]] || exit 1
echo '15.0-CURRENT'
`,
  ld: `
[[ $* == --version ]] || exit 1
echo 'LLD 19.1.7 (FreeBSD llvmorg-19.1.7-0-gcd708029e0b2-1500001) (compatible with GNU linkers)'
`,
  kldstat: `
[[ $1 == -q && $2 == -m && $# == 3 ]] || exit 64
[[ $(cat "$state/$3" 2>/dev/null) == yes ]]
`,
  lockf: `
[[ $1 == -k && $2 == -s && $3 == -t ]] || exit 64
exec flock -w "$4" -E 75 "\${@:5}"
`,
  sha256: `
case $1 in
-q) sum=$(sha256sum "$2") || exit; echo "\${sum%% *}" ;;
-r) sha256sum "\${@:2}" | sed 's/  / /' ;;
*) exit 1 ;;
esac
`,
  sysctl: `
[[ $* == '-n hw.ncpu' ]] && echo 2
`,
  tar: `
if [[ $1 == --zstd ]]; then
  [[ $2 == --uid && $4 == --gid && $6 == -cf && $8 == -C ]] || exit 1
  exec /usr/bin/tar --zstd --owner "$3" --group "$5" -cf "$7" -C "$9" "\${@:10}"
fi
exec /usr/bin/tar "$@"
`,
  what: `
[[ $1 == -q && $2 == -s ]] || exit 1
sed -n 's/.*@(#)//p' "$3" | head -n 1 | grep .
`,
};
