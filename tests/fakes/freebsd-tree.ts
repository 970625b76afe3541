// A minimal tree that accepts the arguments of FreeBSD's make.py.

/**
 * Fails where FreeBSD's fails: without a target machine, without a decision on cleaning, without clang and lld in
 * `--cross-bindir`, and if SIGINT is ignored or tests cannot write next to themselves, like bmake's own tests.
 */
const makePy = `#!/usr/bin/env python3
import os, signal, subprocess, sys
from pathlib import Path

words = sys.argv[1:]
variables = dict(word.split('=', 1) for word in words if '=' in word and not word.startswith('-'))
source = Path(__file__).absolute().parent.parent.parent
objects = Path(os.environ['MAKEOBJDIRPREFIX'])
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    sys.exit('bmake: Error code 1 in test: SIGINT is ignored')
if 'TARGET' not in variables or 'TARGET_ARCH' not in variables:
    sys.exit('TARGET= and TARGET_ARCH= must be set explicitly when building on non-FreeBSD')
if '--no-clean' not in words:
    sys.exit('EOFError: Did you really mean to do a clean build?')
tools = [word.split('=', 1)[1] for word in words if word.startswith('--cross-bindir=')]
for tool in ['clang', 'ld.lld']:
    if not tools or not Path(tools[0], tool).is_file():
        sys.exit('Could not infer value for $XCC: ' + tool + ' does not exist')
target = words[-1]
print('--------------------------------------------------------------')
print('>>> ' + target + ' of ' + variables['KERNCONF'], flush=True)

def compiled(name):
    made = objects / (Path(name).stem + '.o')
    path = source / name
    if not made.exists() or made.stat().st_mtime < path.stat().st_mtime:
        print('cc ' + str(name), flush=True)
        subprocess.run(['cc', '-O1', '-fno-plt', '-fPIC', '-c', '-o', made, path], check=True)
    return made

if target == 'kernel-toolchain':
    (source / 'contrib/bmake/unit-tests/result').write_text('of a test')
    # Makefile.inc1 builds it for any program of LLVM that the target is to have.
    if any('-DWITHOUT_' + name not in words for name in ['CLANG', 'LLD', 'LLDB', 'LLVM_BINUTILS']):
        print('===> usr.bin/clang/llvm-tblgen')
    (objects / 'toolchain').write_text('made')
elif target == 'buildkernel':
    if not (objects / 'toolchain').exists():
        sys.exit('make: no toolchain')
    try:
        for path in sorted(source.glob('sys/*/*.c')):
            compiled(path.relative_to(source))
    except subprocess.CalledProcessError:
        sys.exit('*** [' + str(path.name) + '] Error code 1')
elif target == 'installkernel':
    folder = Path(variables['DESTDIR'], 'boot/kernel')
    folder.mkdir(parents=True)
    subprocess.run(['ld', '-r', '-o', folder / 'kernel', objects / 'core.o'], check=True)
    for path in sorted(source.glob('sys/modules/*.c')):
        subprocess.run(['ld', '-r', '-o', folder / (path.stem + '.ko'), objects / (path.stem + '.o')], check=True)
`;

export const freebsdTree: Readonly<Record<string, string>> = {
  'tools/build/make.py': makePy,
  'contrib/bmake/unit-tests/Makefile': 'TESTS=\n',
  'sys/conf/newvers.sh': 'REVISION="14.2"\n',
  'sys/kern/core.c': 'int core_called;\nvoid core(void) { core_called += 1; }\n',
  'sys/modules/pf.c': 'static int count;\nint pf_test(void) { return count += 1; }\n',
};
