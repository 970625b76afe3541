// Runs the builds of all controllers on a builder one after the other.
import { PassThrough } from 'node:stream';
import { reasonOf } from '../model/one-line.ts';
import type { OperatingSystem } from '../model/scenario.ts';
import { isGood } from '../system/host/execute.ts';
import type { Host } from '../system/host/ssh.ts';
import { shell } from '../system/shell.ts';
import { BuilderError } from './builder-error.ts';
import { commandsOf, heldByOthers } from './system-commands.ts';

type Turn = {
  readonly system: OperatingSystem;
  /** Lock file. Its owner's name is stored next to it, for people. */
  readonly lock: string;
  /** Owner and subject of the build, on one line. */
  readonly owner: string;
  readonly waitSeconds: number;
  readonly signal: AbortSignal;
};

/**
 * lockf(1) or flock(1) holds the lock as long as its connection lives. Throws a BuilderError if the lock stays busy.
 */
export async function inTurn<T>(host: Host, turn: Turn, work: () => Promise<T>): Promise<T> {
  const stdin = new PassThrough();
  const holding = hold(host, turn, stdin);
  try {
    await Promise.race([holding.held, holding.ended]);
    return await work();
  } finally {
    // After this line, the next build need not wait for leftovers of a lost connection.
    stdin.end('done\n');
    await holding.ended.catch(() => {});
  }
}

/** `ended` rejects if the lock is not free in time, or is lost. */
function hold(host: Host, turn: Turn, stdin: PassThrough): { held: Promise<void>; ended: Promise<void> } {
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
      // From here on, an abort cancels the work; the lock is released afterwards.
      signal.removeEventListener('abort', give);
      held.resolve();
    },
  });
  const ended = running.then(async (outcome) => {
    if (isGood(outcome)) return;
    throw await whyNot(host, turn, outcome.kind === 'exited' ? outcome.code : -1, outcome.stderr);
  });
  // The error reaches the caller that waits for the lock or, during the work, its next command.
  ended.catch(() => {});
  return { held: held.promise, ended };
}

/**
 * A connection that ends without that line may leave a build that is still being stopped. So the lock outlives it
 * longer than a guarded command does.
 */
const holdScript = `
printf '%s\\n' "$2" >"$1"
echo held
read -r word || sleep 15
`;

async function whyNot(host: Host, { lock, waitSeconds }: Turn, code: number, stderr: string): Promise<BuilderError> {
  if (code !== heldByOthers) {
    return new BuilderError(`${host.name} cannot lock ${lock}: it exited with ${code} ("${reasonOf(stderr)}").`);
  }
  const owner = await host.run(shell`cat ${lock}.owner`, { timeoutSeconds: 20 });
  return new BuilderError(
    `Another build on ${host.name} was still running after ${Math.round(waitSeconds / 60)} min (${reasonOf(owner.stdout) || 'its owner is unknown'}).`,
  );
}
