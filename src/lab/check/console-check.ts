// Checks the DUT's console: it must open, and show the DUT's output.
import type { FreebsdTestbed } from '../../config/freebsd-testbed.ts';
import { lastLine, shortened } from '../../model/one-line.ts';
import type { Host } from '../../system/host/ssh.ts';
import { shell } from '../../system/shell.ts';
import { type ConsoleConfig, ConsoleError } from '../console/console.ts';
import { type CheckedMachine, type CheckStep, type Diagnostic, limits, ok, on, skipped, wrong } from './diagnostic.ts';
import type { CheckDeps } from './power-check.ts';

type ConsoleCheck = { name: string; testbed: FreebsdTestbed; dut: CheckedMachine; deps: CheckDeps };

export function consoleStep({ name, testbed, dut, deps }: ConsoleCheck): CheckStep {
  const what = 'the console of the DUT';
  const { console } = testbed.dut;
  if (console === undefined) {
    const why = '`console` is not configured: a kernel that does not boot usually reports the cause only there';
    return { what, needs: [], run: async () => [skipped(what, why)] };
  }
  return on(dut, what, async (host) => [await consoleDiagnostic(host, { what, name, console, deps })]);
}

type OpenCheck = { what: string; name: string; console: ConsoleConfig; deps: CheckDeps };

const maxCharacters = 65_536;
const maxSeconds = 10;

/** Writes a word to /dev/console, which proves that the console is the DUT's. */
async function consoleDiagnostic(host: Host, { what, name, console, deps }: OpenCheck): Promise<Diagnostic> {
  let shown = '';
  const onOutput = (chunk: Buffer) => {
    shown = (shown + chunk.toString('latin1')).slice(-maxCharacters);
  };
  const opened = await deps.openConsole(`the DUT of ${name}`, console, onOutput).catch((error: unknown) => {
    if (error instanceof ConsoleError) return error;
    throw error;
  });
  if (opened instanceof ConsoleError) return wrong(what, opened.message, fixes[console.kind]);
  try {
    const word = `ppsgate ${(await host.output(shell`uuidgen`, limits)).trim()}`;
    await host.output(shell`tee ${'/dev/console'}`, { ...limits, stdin: `\r\n${word}\r\n` });
    for (let second = 0; second < maxSeconds && !shown.includes(word); second += 1) {
      await deps.sleep(1);
    }
    if (shown.includes(word)) return ok(what, 'it shows what the DUT writes to /dev/console');
    return await unseen(host, what, shown);
  } finally {
    await opened.close();
  }
}

const fixes: Record<ConsoleConfig['kind'], string> = {
  ipmi: 'check with `ipmitool sol info` and `ipmitool channel getaccess 1` that Serial over LAN is enabled for operators and for this user; to enable it: `ipmitool sol set enabled true 1`, `ipmitool sol set privilege-level operator 1`, `ipmitool sol payload enable 1 ID`',
  conserver: 'run `console -s` with its name here, as the user that runs ppsgate',
  command: 'run the command here, as the user that runs ppsgate; it must keep running until it is stopped',
};

/** The kernel writes to all active consoles: in kern.console, `ttyu1,ttyv0,/…`, those before the slash. */
async function unseen(host: Host, what: string, shown: string): Promise<Diagnostic> {
  const consoles = lastLine(await host.output(shell`sysctl -n kern.console`, limits)) ?? '';
  const active = (consoles.split('/')[0] ?? '').split(',').filter(Boolean);
  const [first = 'nothing'] = active;
  if (active.every(isScreen)) {
    return wrong(what, `the DUT writes only to ${first}, not to a serial port`, serialFirst);
  }
  if (isScreen(first)) {
    const why = `the DUT writes to ${first} first, and only kernel messages to its serial port`;
    return wrong(what, why, serialFirst);
  }
  const last = lastLine(shown);
  const instead = last === undefined ? 'and received nothing at all' : `but received "${shortened(last)}"`;
  return wrong(
    what,
    `it shows nothing of what the DUT writes to ${first}, ${instead}`,
    'compare `comconsole_port` and `comconsole_speed` in /boot/loader.conf of the DUT with the port and speed of the BMC or console server: Serial over LAN usually uses COM2, `comconsole_port="0x2f8"`; it may also be the console of another machine',
  );
}

const isScreen = (console: string): boolean => console.startsWith('ttyv');

const serialFirst =
  'put `boot_multicons="YES"`, `boot_serial="YES"`, `console="comconsole,vidconsole"` and `comconsole_speed="115200"` into /boot/loader.conf of the DUT, for Serial over LAN usually also `comconsole_port="0x2f8"`, and reboot it';
