// Fences a machine against a controller whose lease is over: the machine refuses lower tokens than it has seen.
import { type RunOptions, stdoutOf } from '../../system/host/execute.ts';
import { ownFolder } from '../../system/host/own-folder.ts';
import type { Host } from '../../system/host/ssh.ts';
import { type Command, commandText, shell } from '../../system/shell.ts';

export type Fence = {
  /** An integer; later leases have higher ones. */
  token: number;
  /** Throws if this process knows that the lease is over. */
  assertHeld(): void;
};

/** Has an empty file for each token that the machine has seen, named by it. Most machines keep it over a reboot. */
export const tokenFolder = '/var/tmp/ppsgate-tokens';

/**
 * Throws a FencedError for every task once the machine has seen a higher token. Uploads check only at their beginning.
 */
export function fencedHost(host: Host, fence: Fence, folder = tokenFolder): Host {
  const word = tokenWord(fence.token);
  const guarded = (command: Command): Command =>
    shell`sh -c ${guardIn(folder)} ppsgate ${word} ${commandText(command)}`;

  const run = async (command: Command, options: RunOptions = {}) => {
    fence.assertHeld();
    const outcome = await host.run(guarded(command), { ...options, shownAs: command });
    if (outcome.kind !== 'exited' || outcome.code !== refusalCode) return outcome;
    // The command itself may exit with that code, so only the guard's message decides.
    const stderr = options.onStderr === undefined ? outcome.stderr : await checkAgain(options);
    refuse(host, stderr, fence.token, folder);
    return outcome;
  };
  const checkAgain = async ({ signal, timeoutSeconds }: RunOptions): Promise<string> => {
    const limits = {
      ...(signal !== undefined && { signal }),
      ...(timeoutSeconds !== undefined && { timeoutSeconds }),
    };
    return (await host.run(guarded(shell`:`), { ...limits, shownAs: shell`:` })).stderr;
  };
  const output: Host['output'] = async (command, options) => stdoutOf(await run(command, options), host.name, command);
  return {
    ...host,
    run,
    output,
    async upload(source, remotePath, mode, options) {
      await output(shell`: upload ${remotePath}`, options);
      fence.assertHeld();
      await host.upload(source, remotePath, mode, options);
    },
  };
}

/** Makes the machine refuse lower tokens. Throws a FencedError if it has seen a higher one, or a HostError. */
export async function raiseFence(host: Host, token: number, folder = tokenFolder): Promise<void> {
  const raising = shell`sh -c ${raiseIn(folder)} ppsgate ${tokenWord(token)}`;
  const shownAs = shell`touch ${`${folder}/${token}`}`;
  const outcome = await host.run(raising, { timeoutSeconds: raiseSeconds, shownAs });
  refuse(host, outcome.stderr, token, folder);
  stdoutOf(outcome, host.name, shownAs);
}

/** A later lease has the machine. Nothing was done there, and a retry has no use. */
export class FencedError extends Error {
  override readonly name = 'FencedError';
}

/** Time limit for a machine that dies right after the login. */
const raiseSeconds = 60;

/** No program here uses this code. The guard's message confirms a refusal. */
const refusalCode = 213;

/** Runs the command unless the folder has a higher token. One line without `!`, as root's login shell may be csh. */
export const guardIn = (folder: string): string => commandText(shell`${refuseHigherIn(folder)}; exec sh -c "$2"`);

/** Writes its own token before it looks for a higher one. In a race, the lower token always sees the higher one. */
export const raiseIn = (folder: string): string =>
  commandText(
    shell`${ownFolder(folder)} && : >${folder}/"$1" || exit 1; ${refuseHigherIn(folder)}; for file in ${folder}/[0-9]*; do if test "\${file##*/}" -lt "$1" 2>/dev/null; then rm -f "$file"; fi; done`,
  );

/** test(1) fails for a name that is not a number. */
const refuseHigherIn = (folder: string): Command =>
  shell`for file in ${folder}/[0-9]*; do seen=\${file##*/}; if test "$seen" -gt "$1" 2>/dev/null; then echo "ppsgate: token $seen refuses $1" >&2; exit ${refusalCode}; fi; done`;

function refuse(host: Host, stderr: string, token: number, folder: string): void {
  const [, seen, refused] = /^ppsgate: token (\d+) refuses (\d+)$/m.exec(stderr) ?? [];
  if (seen === undefined || refused !== String(token)) return;
  throw new FencedError(
    `Nothing was done on ${host.name}: a later lease (token ${seen}) has replaced ours (token ${token}) on the testbed; if the reservation store was recreated, with lower tokens, remove ${folder} there.`,
  );
}

/** A fraction or `1e+21` is no number to test(1), and would pass every guard. */
function tokenWord(token: number): string {
  if (Number.isSafeInteger(token) && token >= 0) return String(token);
  throw new TypeError(`${token} is not a fencing token: expected a whole number.`);
}
