// Lets builds on one builder take turns, whichever controllers they come from.
import { PassThrough } from 'node:stream';
import { reasonOf } from '../model/one-line.ts';
import type { OperatingSystem } from '../model/scenario.ts';
import type { Host } from '../system/host/ssh.ts';
import { shell } from '../system/shell.ts';
import { BuilderError } from './builder-error.ts';
import { commandsOf, heldByOthers } from './system-commands.ts';

export type Turn = {
  readonly system: OperatingSystem;
  /** The file that is locked; the name of its owner is installed beside it, for people. */
  readonly lock: string;
  /** Owner and subject of the build, in a line. */
  readonly owner: string;
  readonly waitSeconds: number;
  readonly signal: AbortSignal;
};

/**
 * Does the work when no other build goes on. The lock is lockf(1)'s, or flock(1)'s: it ends with the connection that
 * holds it. Throws a BuilderError when it was not to be had in time.
 */
export async function inTurn<T>(host: Host, turn: Turn, work: () => Promise<T>): Promise<T> {
  const stdin = new PassThrough();
  const holding = hold(host, turn, stdin);
  try {
    await Promise.race([holding.held, holding.ended]);
    return await work();
  } finally {
    // After this word the next in turn need not wait for what a lost connection left to end.
    stdin.end('done\n');
    await holding.ended.catch(() => {});
  }
}

type SlotHolder = {
  readonly held: Promise<void>;
  /** Rejects where the lock was not to be had, or was lost. */
  readonly ended: Promise<void>;
};

function hold(host: Host, turn: Turn, stdin: PassThrough): SlotHolder {
  const { system, lock, owner, waitSeconds, signal } = turn;
  const held = Promise.withResolvers<void>();
  const waiting = new AbortController();
  const give = () => waiting.abort(signal.reason);
  signal.addEventListener('abort', give, { once: true });
  if (signal.aborted) give();
  const holding = shell`sh -c ${holdScript} hold ${lock}.owner ${owner}`;
  const running = host.run(commandsOf[system].locked(lock, Math.ceil(waitSeconds), holding), {
    stdin,
    signal: waiting.signal,
    onStdout: () => {
      // An abort cancels the work from here on, and the lock is given back after it.
      signal.removeEventListener('abort', give);
      held.resolve();
    },
  });
  const ended = running.then(async (outcome) => {
    if (outcome.kind === 'exited' && outcome.code === 0) return;
    throw await whyNot(host, turn, outcome.kind === 'exited' ? outcome.code : -1, outcome.stderr);
  });
  // The waiter for the lock gets the error; while the work goes on, its own next command does.
  ended.catch(() => {});
  return { held: held.promise, ended };
}

/**
 * A connection that ends without a word may have left a build that is being ended: the lock outlives it by
 * more than a guarded command does.
 */
const holdScript = `
printf '%s\\n' "$2" >"$1"
echo held
read -r word || sleep 15
`;

async function whyNot(
  host: Host,
  { lock, waitSeconds }: Turn,
  code: number,
  stderr: string,
): Promise<BuilderError> {
  if (code !== heldByOthers) {
    return new BuilderError(
      `${host.name} cannot lock ${lock}: it exited with ${code} ("${reasonOf(stderr)}"); check that the folder can be written.`,
    );
  }
  const owner = await host.run(shell`cat ${lock}.owner`, { timeoutSeconds: 20 });
  return new BuilderError(
    `Another build on ${host.name} did not end within ${Math.round(waitSeconds / 60)} min (${reasonOf(owner.stdout) || 'it left no name'}); wait for it, or allow more time for a turn.`,
  );
}
