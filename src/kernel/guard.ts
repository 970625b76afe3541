// Runs a long command on the builder, and ends it with all its processes when cancelled or disconnected.
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
 * Returns after all processes of the command have ended. Throws the signal's reason where it was cancelled, and a
 * HostError for a lost connection, after which the builder still ends the command.
 */
export async function runGuarded(
  host: Host,
  command: Command,
  { limitSeconds, signal, onLine }: GuardOptions,
): Promise<Guarded> {
  signal.throwIfAborted();
  const stdin = new PassThrough();
  // Not the run's own signal, which would return before the command has ended.
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
    return timedOut.includes(code)
      ? { kind: 'timed-out', log: log.end() }
      : { kind: 'exited', code, log: log.end() };
  } finally {
    signal.removeEventListener('abort', cancel);
    stdin.end();
  }
}

const killSeconds = 10;

/** Added to the signal's number by a shell. */
const signaled = 128;
/** Exit codes of timeout(1) for a command that was late, or had to be killed. */
const timedOut: readonly number[] = [124, 137];

/**
 * timeout(1) passes SIGTERM on and kills the rest; on FreeBSD it reaps all descendants, among them the jobs of make(1),
 * which have process groups of their own. At first it would obey the signal itself, and leave the command running:
 * hence the wait.
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

// A kernel's whole log has about 20 MB.
const mostLogLetters = 32 * 1024 ** 2;
const mostLineLetters = 64 * 1024;

function collectLines(onLine: (line: string) => void) {
  const decoder = new TextDecoder();
  let log = '';
  let line = '';
  const give = (text: string) => {
    onLine(text);
    if (log.length < mostLogLetters) log += `${text}\n`;
  };
  const split = (text: string) => {
    const lines = (line + text).split('\n');
    line = lines.pop() ?? '';
    for (const each of lines) give(each);
    if (line.length > mostLineLetters) line = line.slice(0, mostLineLetters);
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
