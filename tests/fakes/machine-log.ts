// Machines that log the commands they obeyed: each a real ssh server and a real sh, all in this process.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HostConfig } from '../../src/config/fields.ts';
import { steadySeconds } from '../../src/gate/reserve/store/open.ts';
import { tokenFolder } from '../../src/lab/lease/fence.ts';
import { type Command, shell } from '../../src/system/shell.ts';
import { virtualClock } from './freebsd-lab/clock.ts';
import { faultsOf } from './freebsd-lab/faults.ts';
import { startUp } from './freebsd-lab/lifecycle.ts';
import { generatorOf } from './freebsd-lab/machines.ts';
import { newKey } from './freebsd-lab/open-machine.ts';
import type { Ending } from './freebsd-lab/process.ts';
import { type Execution, startSshd } from './freebsd-lab/sshd.ts';

export type LogEntry = {
  machine: string;
  /** Time of arrival, by `steadySeconds`. */
  at: number;
  token: number;
  act: 'raise' | 'use';
  /** False if there was a higher token. */
  isObeyed: boolean;
};

export type LoggingMachines<Name extends string> = AsyncDisposable & {
  hosts: Readonly<Record<Name, HostConfig>>;
  /** Commands, one at a time, in order. */
  log: readonly LogEntry[];
  /** Input that neither raised a fence nor was a use. */
  surprises: readonly string[];
};

/** The only command of such a machine; without a fence it obeys any sender. */
export const useBy = (token: number): Command => shell`echo used by ${token}`;

/** The folder has keys, host keys and the machines' state. */
export async function startLoggingMachines<Name extends string>(
  names: readonly Name[],
  folder: string,
): Promise<LoggingMachines<Name>> {
  const log: LogEntry[] = [];
  const surprises: string[] = [];
  const user = newKey();
  const privateKeyPath = join(folder, 'key');
  writeFileSync(privateKeyPath, user.private, { mode: 0o600 });
  const deps = { clock: virtualClock(), faults: faultsOf([]) };

  const start = async (name: Name) => {
    const machine = generatorOf(name, []);
    startUp(machine, deps);
    const hostKey = newKey();
    const tokens = join(folder, name, 'tokens');
    mkdirSync(tokens, { recursive: true });
    const sshd = await startSshd({
      machine,
      deps,
      hostKey: hostKey.private,
      userPublicKey: user.public,
      async execute(execution) {
        const done = obey(execution, tokens);
        const entry = readEntry(execution.line, done);
        if (entry === undefined) surprises.push(`${name}: ${execution.line}: ${done.stderr}`);
        else log.push({ machine: name, at: steadySeconds(), ...entry });
        return { kind: 'exited', code: done.status ?? 255 } satisfies Ending;
      },
    });
    const { host, port } = sshd;
    const knownHostsPath = join(folder, name, 'known_hosts');
    writeFileSync(knownHostsPath, `[${host}]:${port} ${hostKey.public}\n`);
    return { name, sshd, host: { host, port, user: 'root', privateKeyPath, knownHostsPath } };
  };
  const started = await Promise.all(names.map(start));
  return {
    hosts: Object.fromEntries(started.map(({ name, host }) => [name, host])) as Record<Name, HostConfig>,
    log,
    surprises,
    async [Symbol.asyncDispose]() {
      deps.clock.stop();
      await Promise.all(started.map(({ sshd }) => sshd.stop()));
    },
  };
}

/** Synchronous, so that the log is in the order of the acts. */
function obey({ line, say, complain }: Execution, tokens: string) {
  const script = line.replaceAll(tokenFolder, tokens);
  const done = spawnSync('sh', ['-c', script], { encoding: 'utf8', timeout: 10_000 });
  say(done.stdout);
  complain(done.stderr);
  return done;
}

type Done = { status: number | null; stdout: string; stderr: string };

/** A use prints its own word; a refusal prints the guard's. */
function readEntry(line: string, { status, stdout, stderr }: Done): Omit<LogEntry, 'machine' | 'at'> | undefined {
  const act = line.includes('used by') ? 'use' : 'raise';
  const [, used] = /^used by (\d+)$/m.exec(stdout) ?? [];
  if (act === 'use' && used !== undefined) return { act, token: Number(used), isObeyed: true };
  const [, refused] = /^ppsgate: token \d+ refuses (\d+)$/m.exec(stderr) ?? [];
  if (refused !== undefined) return { act, token: Number(refused), isObeyed: false };
  const [, raised] = / ppsgate '(\d+)'$/.exec(line) ?? [];
  if (act === 'use' || raised === undefined || status !== 0) return undefined;
  return { act, token: Number(raised), isObeyed: true };
}

/**
 * Commands that were obeyed after one with a higher token. If empty, the periods from each token's first to last
 * command do not overlap, and a machine's tokens only rise.
 */
export function overlapsIn(log: readonly LogEntry[]): LogEntry[] {
  const highest = new Map<string, number>();
  return log.filter(({ machine, token, isObeyed }) => {
    if (!isObeyed) return false;
    const before = highest.get(machine) ?? 0;
    highest.set(machine, Math.max(before, token));
    return token < before;
  });
}
