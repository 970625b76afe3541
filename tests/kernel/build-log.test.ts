import { expect, test } from 'vitest';
import { readBuildFailure } from '../../src/kernel/build-log.ts';

const errorsOf = (...lines: string[]) => {
  const failure = readBuildFailure(`${lines.join('\n')}\n`, '/b/tree/src');
  return failure.kind === 'errors' ? failure.errors : failure.kind;
};

test("reports the compiler's errors by paths from the top of the tree, in order, without the noise", () => {
  const errors = errorsOf(
    'cc -target x86_64-unknown-freebsd15.0 -Werror -c /b/tree/src/sys/net/if.c',
    "/b/tree/src/sys/net/if.c:12:3: warning: unused variable 'x' [-Wunused]",
    "/b/tree/src/sys/net/if.c:30:2: error: use of undeclared identifier 'foo'",
    '        foo = 1;',
    '        ^',
    "/b/tree/src/sys/net/bar.c:1:10: fatal error: 'nope.h' file not found",
    '1 error generated.',
    '*** Error code 1',
    '',
    'Stop.',
    'make[2]: stopped in /b/tree/src',
  );
  expect(errors).toEqual([
    "sys/net/if.c:30:2: error: use of undeclared identifier 'foo'",
    "sys/net/bar.c:1:10: fatal error: 'nope.h' file not found",
  ]);
});

test('does not report generated files as files of the tree', () => {
  const made = '/b/tree/obj/b/tree/src/amd64.amd64/sys/GENERIC/opt_inet.h:1:1: error: no';
  expect(errorsOf(made)).toEqual([made]);
});

test.each([
  ['ld: error: undefined symbol: pf_nothing'],
  ['ld.lld: error: duplicate symbol: if_test'],
  ['x86_64-unknown-freebsd15.0-ld: error: unable to find library -lx'],
  ['clang: error: unable to execute command: Killed'],
  ['config: sys/amd64/conf/GENERIC:12: unknown option "RACK"'],
  ['cc1: error: unrecognized command-line option ‘-fnothing’'],
  ["arch/x86/entry/entry_64.S:12: Error: no such instruction: `nothing %rax'"],
  ["ld: net/core/dev.o: in function `netif_rx': dev.c:(.text+0x1): undefined reference to `nothing'"],
  ['net/Kconfig:12: syntax error'],
])('"%s" is the cause, not the make that stopped', (line) => {
  expect(errorsOf('*** Error code 1', line, 'make: stopped in /b')).toEqual([line]);
});

test.each([
  ["make[3]: don't know how to make nothing.c. Stop"],
  ['make: "Makefile.inc1" line 1579: Missing KERNCONF sys/amd64/conf/NONE'],
  ['ERROR: Missing kernel configuration file(s) (NONE).'],
  ['*** Error code 1'],
  ['ERROR: modpost: "nothing" [net/ipv4/ip_gre.ko] undefined!'],
  ["make[3]: *** No rule to make target 'net/nothing.o', needed by 'net/built-in.a'. Stop."],
  ['net/Makefile:3: *** missing separator. Stop.'],
])('"%s" is the cause where no tool says one', (line) => {
  expect(errorsOf('>>> stage 1', line, 'Stop.')).toEqual([line]);
});

test("reports gcc's errors by paths from the top of the tree, and not that make stops", () => {
  const errors = errorsOf(
    '  CC      net/core/dev.o',
    '/b/tree/src/net/core/dev.c: In function ‘netif_rx’:',
    '/b/tree/src/net/core/dev.c:30:2: error: ‘foo’ undeclared (first use in this function)',
    '   30 |  foo = 1;',
    '      |  ^~~',
    'make[4]: *** [/b/tree/src/scripts/Makefile.build:250: net/core/dev.o] Error 1',
    'make[3]: *** Waiting for unfinished jobs....',
    'make: *** [Makefile:222: __sub-make] Error 2',
  );
  expect(errors).toEqual(['net/core/dev.c:30:2: error: ‘foo’ undeclared (first use in this function)']);
});

test('of several makes that stop those that failed are reported', () => {
  const lines = ['make[2]: *** [Makefile:9: own] Error 1', 'make[2]: *** Waiting for unfinished jobs....'];
  expect(errorsOf(...lines)).toEqual(lines.slice(0, 1));
});

test('reports the last lines if nothing looks like a cause', () => {
  expect(errorsOf('one', 'two', '', 'three', 'four')).toEqual(['two', 'three', 'four']);
});

test('reports at most ten errors, each once', () => {
  const lines = Array.from({ length: 30 }, (_, index) => `a.c:${index >> 1}:1: error: no`);
  expect(errorsOf(...lines)).toEqual(lines.filter((_, index) => index % 2 === 0).slice(0, 10));
});

test('control characters and colours are left out, and long lines are cut', () => {
  const [line = ''] = errorsOf(`\x1b[1ma.c:1:1: \x1b[31merror: \x1b[0m\x07${'x'.repeat(1000)}\r`);
  expect(line).toMatch(/^a\.c:1:1: error: x+…$/);
  expect(line.length).toBe(300);
});

test('a full disk is no error of the source', () => {
  const line = "error: unable to open output file 'if.o': 'No space left on device'";
  expect(errorsOf('a.c:1:1: error: no', line)).toBe('out-of-disk');
});
