// Reads a console's output, written by a kernel that is not trusted.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { describeScreen, lastWords, showsPanic } from '../../../src/lab/console/console-text.ts';

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
    ['a line of its own', 'panic: page fault'],
    ['what rc(8) was about to say', 'Starting Network: lo0.panic: page fault'],
    ['the prompt of getty(8)', 'login: panic: page fault'],
    ['colours', '\x1b[31mpanic: page fault\x1b[0m'],
  ])('is seen behind %s', (_, line) => {
    expect(lastWords(`a line\n${line}\n`, false).panic).toBe('page fault');
  });

  test.each([
    ['of the boot before', 'savecore[81]: reboot after panic: page fault'],
    ['by name alone', 'debug.debugger_on_panic: 1'],
    ['as a setting', 'debug.kdb.panic: 0'],
    ['as a setting that changes', 'debug.kdb.panic: 0 -> 0'],
    ['as the seconds until a reboot', 'kernel.panic: 10'],
    ['without a message', 'panic: '],
  ])('is not what is reported %s', (_, line) => {
    expect(lastWords(`a line\n${line}\n`, false).panic).toBeUndefined();
  });
});

describe('a stamp before a line hides no panic', () => {
  test.each([
    ['[383490] ', 'Fatal trap 12: page fault while in kernel mode'],
    ['[383490.123456] ', 'Fatal trap 9: general protection fault while in kernel mode'],
    ['[    1.000001][  T31] ', 'Oops: 0000 [#1] PREEMPT SMP NOPTI'],
    ['<4>[    1.000001] ', 'kernel BUG at net/core/skbuff.c:112!'],
  ])('%s', (stamp, message) => {
    expect(lastWords(`${stamp}\n${stamp}${message}\n${stamp}cpuid = 3\n`, false).panic).toBe(message);
  });
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
    ['an oops', oops[2], 'Oops: 0000 [#1] PREEMPT SMP NOPTI'],
    [
      'a fault',
      '[    9.000001] general protection fault, probably for non-canonical address 0xdead: 0000 [#1]',
      'general protection fault, probably for non-canonical address 0xdead: 0000 [#1]',
    ],
    ['what asserted', '[    9.000001] kernel BUG at net/core/skbuff.c:112!', 'kernel BUG at net/core/skbuff.c:112!'],
    [
      'a page that is not there',
      '[12345.000001] BUG: unable to handle page fault for address: ffffc90000000000',
      'BUG: unable to handle page fault for address: ffffc90000000000',
    ],
    ['nothing but itself', oops[4], 'Fatal exception in interrupt'],
    [
      'nothing but itself, before clocks are read',
      'Kernel panic - not syncing: VFS: Unable to mount root fs',
      'VFS: Unable to mount root fs',
    ],
  ] as const)('is told by %s', ([, line, message]) => {
    const text = `${started}${line}\n[   99.000000] Rebooting in 1 seconds..\n`;
    expect(lastWords(text, false).panic).toBe(message);
  });

  test.each([
    ['watchdog: BUG: soft lockup - CPU#3 stuck for 23s! [ksoftirqd/3:31]', 'softlockup: hung tasks'],
    ['NMI watchdog: BUG: soft lockup - CPU#3 stuck for 23s! [a:31]', 'softlockup: hung tasks'],
    ['NMI watchdog: Watchdog detected hard LOCKUP on cpu 3', 'Hard LOCKUP'],
    ['divide error: 0000 [#1] PREEMPT SMP NOPTI', 'Fatal exception in interrupt'],
    ['invalid opcode: 0000 [#1] PREEMPT SMP NOPTI', 'Fatal exception'],
    ['rcu: INFO: rcu_sched self-detected stall on CPU', 'RCU Stall'],
    ['rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:', 'RCU Stall'],
    ['INFO: rcu_sched self-detected stall on CPU { 2}', 'RCU Stall'],
    ['Unable to handle kernel paging request at virtual address 0010', 'Oops: Fatal exception'],
    ['Unable to handle kernel NULL pointer dereference at virtual address 0', 'Oops: Fatal'],
    ['Internal error: Oops: 0000000096000004 [#1] SMP', 'Oops: Fatal exception in interrupt'],
    ['SError Interrupt on CPU1, code 0xbf000002 -- SError', 'Asynchronous SError Interrupt'],
    ['WARNING: CPU: 0 PID: 1 at net/core/dev.c:1 x+0x1/0x2', 'panic_on_warn set ...'],
    ['INFO: task kworker/0:1:12 blocked for more than 120 seconds.', 'hung_task: blocked tasks'],
  ])('begins with its first cause: %s', (cause, panic) => {
    const message = cause.replace(/^(?:(?:NMI )?watchdog|rcu): /, '');
    const text = `${started}[   50.1] ${cause}\n[   50.2] CPU: 3\n[   50.3] Kernel panic - not syncing: ${panic}\n`;
    expect(lastWords(text, false).panic).toBe(message);
    const words = lastWords(text, false).console ?? '';
    expect(words.startsWith(`[ 50.1] ${cause}`)).toBe(true);
  });

  test('the first of several causes is named, of whichever kind', () => {
    const lines = ['divide error: 0000 [#1]', 'BUG: kernel NULL pointer dereference', oops[4]];
    expect(lastWords(`${started}${lines.join('\n')}\n`, false).panic).toBe(lines[0]);
  });

  test.for([
    ['of a kernel that was told to stop at an oops', 'Command line: oops=panic panic=-1'],
    ['of a symbol', '[    1.000000] kernel_panic_handler+0x10/0x20'],
    ['of a panic within a line', '[    1.000000] audit: said "Kernel panic - not syncing: x"'],
    ['of a warning', '[    1.000000] WARNING: CPU: 0 PID: 1 at net/core/dev.c:1 x+0x1/0x2'],
  ] as const)('is not what is told %s', ([, line]) => {
    expect(lastWords(`${started}${line}\n`, false).panic).toBeUndefined();
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

  // A kernel paints, hides or fakes console output, or prints endlessly. Defence: The newest 16
  // MiB are kept; reports show 20 plain lines of 200 characters, as code.
  test('are bounded, single-line, and without control characters, for any output', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 1000 }), fc.boolean(), (text, isUp) => {
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

describe('a machine that waits for input', () => {
  test.each([
    ['KDB: enter: panic\ndb> ', "shows the prompt of the kernel's debugger, and ends with"],
    ['Mounting failed\nmountroot> ', 'shows that the kernel found no root file system, and ends'],
    [
      'Enter full pathname of shell or RETURN for /bin/sh: ',
      'shows single user mode, as after a file system check that failed, and ends',
    ],
    ["can't load 'kernel'\nOK ", "shows the loader's prompt, as without a kernel, and"],
    ['FreeBSD/amd64 (dut) (ttyu1)\n\nlogin: ', 'shows a login prompt, so check its network'],
  ])('is known by its prompt: %j', (text, words) => {
    expect(describeScreen(text)).toContain(words);
  });
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
