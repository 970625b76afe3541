// Runs the steps of a check. Each yields diagnostics, with a fix for everything that is wrong.
import type { HostConfig } from '../../config/fields.ts';
import { isGood } from '../../system/host/execute.ts';
import { HostError } from '../../system/host/host-error.ts';
import type { Host } from '../../system/host/ssh.ts';
import { type Command, commandText, shell } from '../../system/shell.ts';
import { PowerError } from '../power/power.ts';

export type Diagnostic =
  /** `why` states what was observed. */
  | { kind: 'ok'; what: string; why: string }
  /** `fix` is a command, or an instruction to a person. */
  | { kind: 'wrong'; what: string; why: string; fix: string }
  | { kind: 'skipped'; what: string; why: string };

export type CheckStep<Found = Diagnostic> = {
  what: string;
  /** Earlier steps, by their `what`, that must succeed first. */
  needs?: readonly string[];
  run(what: string): Promise<Found[]> | AsyncIterable<Found>;
};

type Walk<Found> = {
  signal: AbortSignal;
  onStep?(what: string): void;
  failed(what: string, error: unknown): Found;
};

/** Runs the steps in order, and skips those whose needs have failed. Throws the signal's reason between two steps. */
export async function* walk<Found extends { kind: string }>(
  steps: readonly CheckStep<Found>[],
  { signal, onStep = () => {}, failed }: Walk<Found>,
): AsyncGenerator<Found | Skipped> {
  const blamed = new Map<string, string>();
  for (const { what, needs = [], run } of steps) {
    signal.throwIfAborted();
    const blame = needs.map((need) => blamed.get(need)).find((step) => step !== undefined);
    if (blame !== undefined) {
      blamed.set(what, blame);
      yield skipped(what, `skipped because of this fault: ${blame}`);
      continue;
    }
    onStep(what);
    try {
      for await (const diagnostic of await run(what)) {
        if (faults.includes(diagnostic.kind)) blamed.set(what, what);
        yield diagnostic;
      }
    } catch (error) {
      signal.throwIfAborted();
      blamed.set(what, what);
      yield failed(what, error);
    }
  }
}

const faults: readonly string[] = ['wrong', 'unreachable'];

export const lookAgain = 'fix that first, then run this check again';

export function testbedFailed(what: string, error: unknown): Diagnostic {
  if (!(error instanceof HostError || error instanceof PowerError)) throw error;
  return wrong(what, error.message, lookAgain);
}

export const ok = (what: string, why: string): Diagnostic => ({ kind: 'ok', what, why });

type Skipped = Extract<Diagnostic, { kind: 'skipped' }>;

export const skipped = (what: string, why: string): Skipped => ({ kind: 'skipped', what, why });

export const wrong = (what: string, why: string, fix: string): Diagnostic => ({
  kind: 'wrong',
  what,
  why,
  fix,
});

export const typed = (command: Command): string => `\`${unquoted(commandText(command))}\``;

export const unquoted = (text: string): string => text.replace(/'([\w@%+=:,./-]+)'/g, '$1');

export type CheckedMachine = {
  /** Names the machine to people: `the DUT`, `the sender and the receiver`. */
  label: string;
  config: HostConfig;
  host: Host | undefined;
};

export const sshTo = ({ label }: CheckedMachine): string => `ssh to ${label}`;

export function on(
  machine: CheckedMachine,
  what: string,
  look: (host: Host, what: string) => Promise<Diagnostic[]>,
): CheckStep {
  return {
    what,
    needs: [sshTo(machine)],
    run: async () => (machine.host === undefined ? [] : look(machine.host, what)),
  };
}

export const limits = { timeoutSeconds: 60 };

export const does = async (host: Host, command: Command): Promise<boolean> => isGood(await host.run(command, limits));

export const inGigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`;

export type Connect = (host: HostConfig, label: string) => Promise<Host>;

export function loginStep(machine: CheckedMachine, connect: Connect): CheckStep {
  const what = sshTo(machine);
  const { label, config } = machine;
  const { user, host, port, privateKeyPath: key } = config;
  return {
    what,
    needs: [],
    async run() {
      try {
        machine.host = await connect(config, label.replace(/^the /, ''));
      } catch (error) {
        if (!(error instanceof HostError)) throw error;
        return [wrong(what, error.message, fixOfLogin(error, config))];
      }
      const by = key === undefined ? 'a key of the agent' : `the key ${key}`;
      return [ok(what, `${user}@${host}, port ${port}, with ${by}`)];
    },
  };
}

function fixOfLogin({ kind }: HostError, { host, port, user, knownHostsPath, privateKeyPath }: HostConfig): string {
  if (kind === 'host-key') {
    const scan = typed(shell`ssh-keyscan -p ${port} ${host} >> ${knownHostsPath}`);
    return `compare the fingerprint with the machine's console, remove an old line of that machine, and run ${scan}`;
  }
  if (kind !== 'login' && kind !== 'login-refused') {
    return 'switch it on, run `service sshd onestart` on its console, and check `host` and `port` in ppsgate.yml';
  }
  if (privateKeyPath === undefined) {
    return 'load a key into the agent that is in its authorized_keys (see `ssh-add -l`), or name a `key` in ppsgate.yml';
  }
  const copy = typed(shell`ssh-copy-id -i ${`${privateKeyPath}.pub`} -p ${port} ${`${user}@${host}`}`);
  return `name a \`key\` without a passphrase, and run ${copy}, with \`PermitRootLogin prohibit-password\` in its sshd_config`;
}
