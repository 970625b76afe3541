// Reads a console's output, written by a kernel that is not trusted.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { describeScreen, lastWords, showsPanic } from '../../../src/lab/console/console-text.ts';
import { anyCharacter } from '../../random.ts';

const crash = [
  'Fatal trap 12: page fault while in kernel mode',
  'cpuid = 3; apic id = 06',
  'panic: page fault',
  'cpuid = 3',
  'KDB: stack backtrace:',
  '#0 0xffffffff80b9309d at kdb_backtrace+0x5d',
];
const ownBoot = ['---<<BOOT>>---', 'FreeBSD 14.3-RELEASE', 'FreeBSD/amd64 (dut) (ttyu1)', 'login: '];

describe('a panic', () => {
  test('is reported with the lines from there to the next boot', () => {
    const text = ['---<<BOOT>>---', 'FreeBSD 14.0', ...crash, ...ownBoot].join('\r\n');
    expect(lastWords(text, true)).toEqual({
      panic: 'page fault',
      console: crash.slice(2).join('\n'),
      consoleLines: 2 + crash.length + ownBoot.length,
    });
  });

  test.each([
    'panic: page fault',
    'Starting Network: lo0.panic: page fault',
    'login: panic: page fault',
    '\x1b[31mpanic: page fault\x1b[0m',
  ])('is seen behind any beginning of its line: %j', (line) => {
    expect(lastWords(`a line\n${line}\n`, false).panic).toBe('page fault');
  });
});

test.each([
  'savecore[81]: reboot after panic: page fault',
  'debug.debugger_on_panic: 1',
  'debug.kdb.panic: 0',
  'debug.kdb.panic: 0 -> 0',
  'kernel.panic: 10',
  'panic: ',
  'Command line: oops=panic panic=-1',
  '[    1.000000] kernel_panic_handler+0x10/0x20',
  '[    1.000000] audit: said "Kernel panic - not syncing: x"',
  '[    1.000000] WARNING: CPU: 0 PID: 1 at net/core/dev.c:1 x+0x1/0x2',
])('no panic is seen in %j', (line) => {
  expect(lastWords(`a line\n${line}\n`, false).panic).toBeUndefined();
});

test.each([
  ['[383490] ', 'Fatal trap 12: page fault while in kernel mode'],
  ['[383490.123456] ', 'Fatal trap 9: general protection fault while in kernel mode'],
  ['[    1.000001][  T31] ', 'Oops: 0000 [#1] PREEMPT SMP NOPTI'],
  ['<4>[    1.000001] ', 'kernel BUG at net/core/skbuff.c:112!'],
])('a stamp before a line hides no panic: %s', (stamp, message) => {
  expect(lastWords(`${stamp}\n${stamp}${message}\n${stamp}cpuid = 3\n`, false).panic).toBe(message);
});

/** Linux 6.1 prints this if a module reads through a null pointer. */
const oops = [
  '[   12.345678] BUG: kernel NULL pointer dereference, address: 0000000000000010',
  '[   12.345701] #PF: supervisor read access in kernel mode',
  '[   12.345733] Oops: 0000 [#1] PREEMPT SMP NOPTI',
  '[   12.345790] RIP: 0010:nft_do_chain+0x1c/0x560 [nf_tables]',
  '[   12.346012] Kernel panic - not syncing: Fatal exception in interrupt',
];

describe('a panic of Linux', () => {
  const started = '[    0.000000] Linux version 6.1.0-50-cloud-amd64\nppsgate: x is up\n';

  test('is reported by the bug that it began with, and with what follows', () => {
    expect(lastWords(`${started}${oops.join('\r\n')}\r\n`, false)).toEqual({
      panic: 'BUG: kernel NULL pointer dereference, address: 0000000000000010',
      console: oops.join('\n').replaceAll(/ +/g, ' '),
      consoleLines: 2 + oops.length,
    });
  });

  test.for([
    [oops[2] ?? '', 'Oops: 0000 [#1] PREEMPT SMP NOPTI'],
    ['[    9.000001] general protection fault, probably for non-canonical: 0000 [#1]'],
    ['[    9.000001] kernel BUG at net/core/skbuff.c:112!'],
    ['[12345.000001] BUG: unable to handle page fault for address: ffffc90000000000'],
    [oops[4] ?? '', 'Fatal exception in interrupt'],
    ['Kernel panic - not syncing: VFS: Unable to mount root fs', 'VFS: Unable to mount root fs'],
  ])('is told by %s', ([line = '', message = line.replace(/^\[ *[\d.]+\] /, '')]) => {
    const text = `${started}${line}\n[   99.000000] Rebooting in 1 seconds..\n`;
    expect(lastWords(text, false).panic).toBe(message);
  });

  test.for([
    ['watchdog: BUG: soft lockup - CPU#3 stuck for 23s! [ksoftirqd/3:31]'],
    ['NMI watchdog: BUG: soft lockup - CPU#3 stuck for 23s! [a:31]'],
    ['NMI watchdog: Watchdog detected hard LOCKUP on cpu 3'],
    ['divide error: 0000 [#1] PREEMPT SMP NOPTI'],
    ['invalid opcode: 0000 [#1] PREEMPT SMP NOPTI'],
    ['rcu: INFO: rcu_sched self-detected stall on CPU'],
    ['rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:'],
    ['INFO: rcu_sched self-detected stall on CPU { 2}'],
    ['Unable to handle kernel paging request at virtual address 0010'],
    ['Internal error: Oops: 0000000096000004 [#1] SMP'],
    ['SError Interrupt on CPU1, code 0xbf000002 -- SError'],
    ['WARNING: CPU: 0 PID: 1 at net/core/dev.c:1 x+0x1/0x2', 'panic_on_warn set ...'],
    ['INFO: task kworker/0:1:12 blocked for more than 120 seconds.', 'hung_task: blocked tasks'],
  ])('begins with its first cause: %s', ([cause = '', panic = 'Fatal exception']) => {
    const end = `[   50.2] CPU: 3\n[   50.3] Kernel panic - not syncing: ${panic}\n`;
    const words = lastWords(`${started}[   50.1] ${cause}\n${end}`, false);
    expect(words.panic).toBe(cause.replace(/^(?:(?:NMI )?watchdog|rcu): /, ''));
    expect(words.console?.startsWith(`[ 50.1] ${cause}`)).toBe(true);
  });

  test('the first of several causes is named, of whichever kind', () => {
    const lines = ['divide error: 0000 [#1]', 'BUG: kernel NULL pointer dereference', oops[4]];
    expect(lastWords(`${started}${lines.join('\n')}\n`, false).panic).toBe(lines[0]);
  });
});

describe('the last lines', () => {
  test('are twenty, without those that are empty', () => {
    const lines = Array.from({ length: 50 }, (_, number) => `line ${number}`);
    const { console } = lastWords(lines.join('\r\n\r\n'), false);
    expect(console?.split('\n')).toEqual(lines.slice(-20));
  });

  test('show nothing of what a spinner painted over', () => {
    expect(lastWords('Loading kernel...\n|\b/\b-\b\\\b|\b done\n', false).console).toBe('Loading kernel...\ndone');
  });

  test('are bounded, single-line, and without control characters, for any output', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 1000 }), fc.boolean(), (text, isUp) => {
        const { panic = '', console = '' } = lastWords(text, isUp);
        const lines = console.split('\n');
        expect(lines.length).toBeLessThanOrEqual(20);
        for (const line of [...lines, panic]) {
          expect(line.length).toBeLessThanOrEqual(200);
          expect(line).not.toMatch(/\p{Cc}|\p{Cf}/u);
        }
        expect(describeScreen(text)).not.toMatch(/\p{Cc}/u);
      }),
    );
  });
});

test.each([
  ['KDB: enter: panic\ndb> ', "the prompt of the kernel's debugger"],
  ['Mounting failed\nmountroot> ', 'the kernel found no root file system'],
  ['Enter full pathname of shell or RETURN for /bin/sh: ', 'single user mode'],
  ["can't load 'kernel'\nOK ", "the loader's prompt"],
  ['FreeBSD/amd64 (dut) (ttyu1)\n\nlogin: ', 'a login prompt, so check its network'],
])('a machine that waits for input is known by its prompt: %j', (text, words) => {
  expect(describeScreen(text)).toContain(`shows ${words.startsWith('the kernel ') ? 'that ' : ''}${words}`);
});

test('lines before the newest megabyte are counted, though not read', () => {
  const early = ['panic: long ago', 'a'.repeat(1024 ** 2), 'b'.repeat(1024 ** 2)];
  const text = [...early, 'panic: now', 'cpuid = 3', ''].join('\r\n');
  expect(lastWords(text, false)).toEqual({
    panic: 'now',
    console: 'panic: now\ncpuid = 3',
    consoleLines: 5,
  });
});

describe('every line of a console is shown, or is before or after the shown ones', () => {
  const causes = [
    'panic: page fault',
    'Fatal trap 12: page fault while in kernel mode',
    '[12.345678] watchdog: BUG: soft lockup - CPU#3 stuck for 23s! [ksoftirqd/3:31]',
    'rcu: INFO: rcu_sched self-detected stall on CPU 3',
    'Kernel panic - not syncing: panic_on_warn set ...',
  ];
  const line = fc.oneof(
    fc.stringMatching(/^[a-z0-9:#.]{1,30}$/),
    fc.constantFrom(...causes, 'debug.kdb.panic: 0', 'login:', 'WARNING: CPU: 0 PID: 1 at x.c:1'),
  );

  test('a cause is named where a line has one, from which on lines are shown, and the last ones elsewhere', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 60 }), (lines) => {
        const { panic, console = '', consoleLines } = lastWords(lines.join('\r\n'), false);
        const shown = console === '' ? [] : console.split('\n');
        expect(consoleLines ?? shown.length).toBe(lines.length);
        expect(panic !== undefined).toBe(lines.some(showsPanic));
        if (panic === undefined) {
          expect(shown).toEqual(lines.slice(-20));
          return;
        }
        const [first = ''] = shown;
        expect(showsPanic(first) || first.startsWith('WARNING: ')).toBe(true);
        const starts = lines.flatMap((one, index) => (one === first ? index : []));
        expect(starts.map((start) => lines.slice(start, start + 20))).toContainEqual(shown);
        expect(first).toContain(panic);
      }),
    );
  });
});
