// Deliberately causes accidents that a patch may cause on a DUT: a panic, and a hang that only a power cycle ends.
import { type Diagnostic, ok, skipped, wrong } from '../../lab/check/diagnostic.ts';
import { formatDuration } from '../../model/format.ts';
import { lastLine } from '../../model/one-line.ts';
import { type CommandOutcome, isGood } from '../../system/host/execute.ts';
import { HostError } from '../../system/host/host-error.ts';
import type { Host } from '../../system/host/ssh.ts';
import { type Command, shell } from '../../system/shell.ts';
import { bootBase } from './base-variant.ts';
import { goOn, type SelfTest } from './self-test-request.ts';

const notAgreed = 'not approved: answer the question with y, or add --yes';

/** Panics with the sysctl from sys/kern/subr_kdb.c. */
export async function panic(selfTest: SelfTest, what: string): Promise<Diagnostic[]> {
  const { deps, name, testbed } = selfTest;
  const question = `Make the DUT of ${name} panic, and check that it comes back?`;
  if (!(await deps.agrees(question))) return [skipped(what, notAgreed)];
  const happened = await accident(selfTest, panicNow);
  if (happened.kind === 'did-not') return [wrong(what, happened.why, happened.fix)];
  const { seconds, cycles, panic: message } = happened;
  const durations = formatDuration(seconds);
  if (cycles > 0) {
    const limit = formatDuration(testbed.dut.boot.limitSeconds);
    return [
      wrong(
        what,
        `it did not reboot automatically within ${limit}, and was power-cycled: a panic would be reported as a hang`,
        'set debug.debugger_on_panic=0 in its /etc/sysctl.conf and /boot/loader.conf, and raise `boot.limit` if a dump takes longer',
      ),
    ];
  }
  if (message === undefined) {
    return [
      wrong(
        what,
        `on its own kernel again after ${durations}, but its panic message is unknown`,
        'set dumpdev="AUTO" in its /etc/rc.conf, with a swap partition as large as a dump',
      ),
    ];
  }
  return [ok(what, `on its own kernel again after ${durations}, with the panic message: ${message}`)];
}

/** Hangs the DUT in the kernel debugger if it has one; otherwise blocks every login. */
export async function hang(selfTest: SelfTest, what: string): Promise<Diagnostic[]> {
  const { deps, name, testbed } = selfTest;
  if (testbed.dut.power === undefined) {
    const why = '`power` is not configured: a DUT that hangs stays lost until a person walks to it';
    return [skipped(what, why)];
  }
  const limit = formatDuration(testbed.dut.boot.limitSeconds);
  const question = `Make the DUT of ${name} hang, and check that power control recovers it? It takes ${limit} and a boot.`;
  if (!(await deps.agrees(question))) return [skipped(what, notAgreed)];
  const happened = await accident(selfTest, hangNow);
  if (happened.kind === 'did-not') return [wrong(what, happened.why, happened.fix)];
  const durations = formatDuration(happened.seconds);
  if (happened.cycles === 0) {
    const fix = 'find out what rebooted it: a watchdog that is faster than a trial also ends good runs';
    return [wrong(what, `it came back after ${durations} without its power control`, fix)];
  }
  return [ok(what, `${happened.how}; power-cycled, and on its own kernel again after ${durations}`)];
}

type AccidentOutcome =
  | { kind: 'happened'; how: string; seconds: number; cycles: number; panic?: string | undefined }
  | { kind: 'did-not'; why: string; fix: string };

/** Returns how the accident was caused, or why it was impossible. */
type AccidentCause = (host: Host) => Promise<{ how: string } | { why: string }>;

/** Boots our kernel for the accident, so that the next boot is the machine's own. */
async function accident(selfTest: SelfTest, cause: AccidentCause): Promise<AccidentOutcome> {
  const { deps } = selfTest;
  const trouble = await bootBase(selfTest, 2);
  if (trouble !== undefined) return { kind: 'did-not', why: trouble, fix: goOn };
  const { lab, dut } = await selfTest.open();
  lab.boots.booted = undefined;
  const [begun, cyclesBefore] = [deps.now(), lab.cycles.done];
  const caused = await cause(dut.host());
  if ('why' in caused) {
    const fix = 'check its kernel messages with `dmesg -a`';
    return { kind: 'did-not', why: caused.why, fix };
  }
  const { how } = caused;
  deps.notify(`It ${how}. Waiting until it runs its own kernel again.`);
  const { panic } = await dut.recover();
  const cycles = lab.cycles.done - cyclesBefore;
  return { kind: 'happened', how, seconds: deps.now() - begun, cycles, panic };
}

const panicNow: AccidentCause = async (host) => {
  const outcome = await survived(host, shell`sysctl debug.kdb.panic=1`);
  if (outcome === undefined) return { how: 'panicked' };
  return { why: `it did not panic: ${lastLineOf(outcome)}` };
};

const hangNow: AccidentCause = async (host) => {
  const { stdout: backend } = await host.run(shell`sysctl -n debug.kdb.current`, answers);
  if (backend.trim() !== '') {
    const outcome = await survived(host, shell`sysctl debug.kdb.enter=1`);
    if (outcome === undefined) return { how: 'stopped in its debugger' };
    return { why: `it did not stop: ${lastLineOf(outcome)}` };
  }
  // `-a` includes its own ancestors: the listener and, up to OpenSSH 9.7, this session.
  const outcome = await survived(host, shell`pkill -STOP -a -x sshd`);
  if (outcome !== undefined && !isGood(outcome)) {
    return { why: `its sshd did not stop: ${lastLineOf(outcome)}` };
  }
  await host.close();
  return { how: 'blocked all logins, with its sshd stopped' };
};

const answers = { timeoutSeconds: 30 };

/** Returns the command's outcome, or undefined if the machine died first. */
async function survived(host: Host, command: Command): Promise<CommandOutcome | undefined> {
  try {
    return await host.run(command, answers);
  } catch (error) {
    if (error instanceof HostError && error.kind !== 'command-failed') return undefined;
    throw error;
  }
}

const lastLineOf = ({ stdout, stderr }: CommandOutcome): string =>
  lastLine(stderr) ?? lastLine(stdout) ?? 'it said nothing';
