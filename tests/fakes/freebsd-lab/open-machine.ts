// Starts a machine's sshd, for root to run commands with one key.
import { generateKeyPairSync } from 'node:crypto';
import ssh2 from 'ssh2';
import type { SshTarget } from '../../../src/system/host/login.ts';
import { type DirectConnect, type DirectOptions, directConnections, type OnWrite } from './direct-host.ts';
import type { CommandFault } from './faults.ts';
import { takeGuard } from './fence.ts';
import { panic, startUp } from './lifecycle.ts';
import { type Deps, type Machine, setCutOff } from './machine.ts';
import type { Network } from './network.ts';
import { type Ending, Killed, NotModelled, runProgram } from './process.ts';
import { findProgram } from './programs.ts';
import { splitWords } from './shell.ts';
import { type Execution, type Sshd, startSshd } from './sshd.ts';

/** Without the guard of a fence, if any; a command that a fence refuses was not run. */
export type JournalEntry = { at: number; command: string };

export type LabMachine = {
  /** Its whole state, for tests to read and change. */
  readonly machine: Machine;
  /** Target for `connect` of src/system/host/ssh.ts. */
  readonly target: SshTarget;
  /** Connects without ssh. */
  readonly connect: DirectConnect;
  /** Every command that it ran, with its time in seconds of the clock. */
  readonly journal: readonly JournalEntry[];
};

type Opening = {
  machine: Machine;
  deps: Deps;
  network: Network;
  /** Collects uses of what the lab lacks. */
  complaints: string[];
  user: Key;
  /** Host key of its sshd; absent: a new one. */
  hostKey?: Key;
  /** Start-up; absent: an uptime of a day. */
  start?: (machine: Machine, deps: Deps) => void;
  beginUpload: () => OnWrite;
  faultsAt: (command: string) => CommandFault[];
};

/** Starts the machine, and its sshd. */
export async function openMachine(opening: Opening): Promise<LabMachine & { sshd: Sshd }> {
  const { machine, deps, user, hostKey = newKey(), beginUpload, faultsAt } = opening;
  const { start = startUp } = opening;
  const journal: JournalEntry[] = [];
  start(machine, deps);
  const options: DirectOptions = {
    machine,
    deps,
    hostKey: hostKey.private,
    userPublicKey: user.public,
    beginUpload,
    execute(execution) {
      const guarded = takeGuard(machine, execution.line);
      if (guarded.kind === 'refused') {
        execution.complain(`${guarded.complaint}\n`);
        return Promise.resolve({ kind: 'exited', code: guarded.code });
      }
      const { line } = guarded;
      journal.push({ at: deps.clock.now(), command: line });
      for (const fault of faultsAt(line)) {
        if (fault.kind === 'command-fails') {
          execution.complain(`${fault.says}\n`);
          return Promise.resolve({ kind: 'exited', code: 1 });
        }
        if (fault.kind === 'command-lies') {
          execution.say(fault.says);
          return Promise.resolve({ kind: 'exited', code: 0 });
        }
        strike(fault, opening);
      }
      if (machine.stage === 'panicked') return Promise.resolve(killed);
      return execute({ ...execution, line }, opening);
    },
  };
  const sshd = await startSshd(options);
  const { host, port } = sshd;
  const target: SshTarget = {
    host,
    port,
    user: 'root',
    privateKey: user.private,
    knownHosts: `[${host}]:${port} ${hostKey.public}\n`,
    label: machine.name,
  };
  return { machine, target, journal, sshd, connect: directConnections(options, { host, port }) };
}

const killed: Ending = { kind: 'signaled', signal: 'KILL' };

function strike(fault: Exclude<CommandFault, { says: string }>, { machine, deps }: Opening): void {
  const { clock } = deps;
  const act = () => {
    if (fault.kind === 'panic-at-command') return panic(machine, deps, 'page fault');
    const { boots } = machine;
    setCutOff(machine, true);
    if (fault.seconds === undefined) return;
    clock.after(fault.seconds, () => {
      if (machine.boots === boots) setCutOff(machine, false);
    });
  };
  if (fault.afterSeconds === undefined) act();
  else clock.after(fault.afterSeconds, act);
}

/** A key pair, in the formats of PEM and OpenSSH. */
export type Key = { private: string; public: string };

export function newKey(): Key {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = privateKey.export({ type: 'sec1', format: 'pem' }).toString();
  const parsed = ssh2.utils.parseKey(pem);
  if (parsed instanceof Error) throw parsed;
  return {
    private: pem,
    public: `ecdsa-sha2-nistp256 ${parsed.getPublicSSH().toString('base64')}`,
  };
}

async function execute({ line, stdin, say, complain, unheard }: Execution, opening: Opening): Promise<Ending> {
  const { machine, complaints } = opening;
  const exited = (code: number, complaint: string): Ending => {
    complain(`${complaint}\n`);
    return { kind: 'exited', code };
  };
  const split = splitWords(line);
  if (split.kind === 'refused') {
    complaints.push(`${machine.name} got ${JSON.stringify(line)}: ${split.reason}`);
    return exited(1, `freebsd-lab: ${split.reason}`);
  }
  const [name = '', ...args] = split.words;
  const found = machine.lacks.has(name) ? undefined : findProgram(name);
  // Message of csh.
  if (found === undefined) return exited(1, `${name}: Command not found.`);
  const kill = new AbortController();
  const end = () => kill.abort();
  // A writer without a reader gets SIGPIPE.
  const heard =
    <Text>(write: (text: Text) => void) =>
    (text: Text) =>
      unheard.aborted ? end() : write(text);
  machine.programs.add(end);
  const context = { ...opening, stdin, out: heard(say), err: heard(complain) };
  try {
    const signals = { interrupted: new AbortController().signal, killed: kill.signal };
    return await runProgram(found.program, context, args, signals);
  } catch (error) {
    if (!(error instanceof Killed)) complaints.push(`${machine.name} cannot run "${line}": ${String(error)}`);
    return error instanceof NotModelled ? exited(99, 'freebsd-lab: not modelled') : killed;
  } finally {
    machine.programs.delete(end);
  }
}
