// Reads the traces of a panic on a FreeBSD machine: a dump's description, and lines in the message buffer.

import { isGood } from '../../../system/host/execute.ts';
import type { Host } from '../../../system/host/ssh.ts';
import { shell } from '../../../system/shell.ts';

/** Without this setting, a kernel with the debugger stops at its prompt, and the cause of the panic is lost. */
export const resetsAtPanic = {
  name: 'debug.debugger_on_panic',
  value: 0,
  /** The same setting as a line for the loader, or for nextboot(8). */
  line: 'debug.debugger_on_panic=0',
};

export type Traces = {
  /** Description of the newest dump; a dump over the network leaves none. */
  dump: string | undefined;
  /** Lines of the message buffer, which outlives a reboot on most machines: new lines replace the oldest. */
  messages: string[];
};

export async function tracesOf(host: Host): Promise<Traces> {
  const [messages, dump] = await Promise.all([
    host.output(shell`dmesg -a`),
    host.run(shell`cat ${'/var/crash/info.last'}`),
  ]);
  return {
    dump: isGood(dump) ? dump.stdout.trim() : undefined,
    messages: messages.trimEnd().split('\n'),
  };
}

/** Time limit, for sites without savecore(8) at boot. */
const maxSaveSeconds = 300;
const pollSeconds = 5;

/** Waits, as the first login may come before savecore(8) has saved a dump. `-C` succeeds while a dump is unsaved. */
export async function waitForDump(host: Host, sleep: (seconds: number) => Promise<void>): Promise<void> {
  for (let seconds = 0; seconds < maxSaveSeconds; seconds += pollSeconds) {
    const unsaved = await host.run(shell`savecore -C`);
    if (!isGood(unsaved)) return;
    await sleep(pollSeconds);
  }
}

/** Returns the first panic, which causes all later ones. */
export function panicSince(before: Traces, now: Traces): string | undefined {
  const dumped = /^[ \t]*Panic String: (.+)$/m.exec(now.dump ?? '')?.[1];
  if (now.dump !== before.dump && dumped !== undefined) return dumped;
  for (const line of newLines(before.messages, now.messages)) {
    // With kern.msgbuf_show_timestamp, a line begins with the seconds since boot.
    const panic = /^(?:\[\d+(?:\.\d+)?\] )?panic: (.+)$/.exec(line)?.[1];
    if (panic !== undefined) return panic;
  }
  return undefined;
}

/** Remaining old lines come first; without any, all lines are new. */
function newLines(before: readonly string[], now: readonly string[]): readonly string[] {
  const isLeft = (first: number) => before.slice(first).every((line, index) => line === now[index]);
  const first = before.findIndex((_, index) => isLeft(index));
  return first === -1 ? now : now.slice(before.length - first);
}
