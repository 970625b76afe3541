// Runs a long command on the builder, and ends it and all its processes on an abort or a lost connection.
import { PassThrough } from 'node:stream';
import type { Host } from '../system/host/ssh.ts';
import { type Command, shell } from '../system/shell.ts';

type Guarded =
  | { readonly kind: 'exited'; readonly code: number; readonly log: string }
  | { readonly kind: 'timed-out'; readonly log: string };

export type GuardOptions = {
  readonly limitSeconds: number;
  readonly signal: AbortSignal;
  readonly onLine: (line: string) => void;
};

/**
 * Returns after all processes of the command have ended. Throws the signal's reason after an abort, and a HostError for
 * a lost connection. The builder ends the command in that case, too.
 */
export async function runGuarded(
  host: Host,
  command: Command,
  { limitSeconds, signal, onLine }: GuardOptions,
): Promise<Guarded> {
  signal.throwIfAborted();
  const stdin = new PassThrough();
  // The run's own signal would return before the command has ended.
  const cancel = () => stdin.end();
  signal.addEventListener('abort', cancel, { once: true });
  const log = collectLines(onLine);
  try {
    const outcome = await host.run(shell`sh -c ${guardScript} guard ${limitSeconds} ${command}`, {
      stdin,
      onStdout: log.take,
      timeoutSeconds: limitSeconds + killSeconds + 60,
    });
    signal.throwIfAborted();
    const code = outcome.kind === 'exited' ? outcome.code : signaled;
    return timedOut.includes(code) ? { kind: 'timed-out', log: log.end() } : { kind: 'exited', code, log: log.end() };
  } finally {
    signal.removeEventListener('abort', cancel);
    stdin.end();
  }
}

const killSeconds = 10;

/** A shell adds this to a signal's number. */
const signaled = 128;
/** Exit codes of timeout(1) for a command that timed out, or had to be killed. */
const timedOut: readonly number[] = [124, 137];

/**
 * timeout(1) passes SIGTERM on and kills the rest. On FreeBSD it reaps all descendants, including jobs of make(1) with
 * process groups of their own. Until it is ready, it would obey the signal itself and leave the command running, so the
 * script waits first.
 */
const guardScript = `
limit=$1
shift
exec 3<&0
timeout -k ${killSeconds} "$limit" "$@" </dev/null 3<&- 2>&1 &
command=$!
{ read -r _; sleep 1; kill -TERM "$command"; } <&3 >/dev/null 2>&1 &
watch=$!
wait "$command"
code=$?
kill "$watch" 2>/dev/null
exit "$code"
`;

// The complete log of a kernel build has about 20 MB.
const maxLogLetters = 32 * 1024 ** 2;
const maxLineLetters = 64 * 1024;

function collectLines(onLine: (line: string) => void) {
  const decoder = new TextDecoder();
  let log = '';
  let line = '';
  const give = (text: string) => {
    onLine(text);
    if (log.length < maxLogLetters) log += `${text}\n`;
  };
  const split = (text: string) => {
    const lines = (line + text).split('\n');
    line = lines.pop() ?? '';
    for (const each of lines) give(each);
    if (line.length > maxLineLetters) line = line.slice(0, maxLineLetters);
  };
  return {
    take: (chunk: Uint8Array) => split(decoder.decode(chunk, { stream: true })),
    end: () => {
      split(decoder.decode());
      if (line !== '') give(line);
      return log;
    },
  };
}
