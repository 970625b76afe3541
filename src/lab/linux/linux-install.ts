// Installs a variant's rules and settings on a Linux DUT, and counts the packets that follow.
import { PassThrough } from 'node:stream';
import type { TrialLimits } from '../../model/limits.ts';
import type { PrepareOutcome, Rejected } from '../../model/rejection.ts';
import type { LinuxScenario } from '../../model/scenario.ts';
import { pathName } from '../../model/variant-name.ts';
import type { CommandOutcome } from '../../system/host/execute.ts';
import { HostError } from '../../system/host/host-error.ts';
import type { Host } from '../../system/host/ssh.ts';
import { shell } from '../../system/shell.ts';
import type { Ports } from '../map-interfaces.ts';
import { limitsInLinuxLog } from './linux-limits.ts';
import type { LoadableOverlay } from './linux-overlay.ts';
import { loadRefusal } from './linux-refusal.ts';

export const folder = '/run/ppsgate/dut';
export const script = `${folder}/dut.bash`;

export const folderOf = (variant: string): string => `${folder}/${pathName(variant)}`;

export async function installVariant(
  host: Host,
  overlay: LoadableOverlay,
  scenario: LinuxScenario,
): Promise<PrepareOutcome> {
  const target = folderOf(overlay.variant);
  const outcome = await host.run(
    shell`timeout --kill-after=5 ${installSeconds} bash ${script} lay ${target} ${scenario}`,
  );
  if (outcome.kind === 'exited' && outcome.code === 0) return { kind: 'ready' };
  return refusalOf(overlay, scenario, outcome);
}

/** Rules may hold a command that never ends, like `monitor`; a set of a million addresses loads in seconds. */
const installSeconds = 120;

function exitText(outcome: CommandOutcome): string {
  if (outcome.kind === 'signaled') return `was ended by ${outcome.signal}`;
  // See timeout(1).
  return outcome.code === 124 ? `ran for more than ${installSeconds} s` : `exited with ${outcome.code}`;
}

export const doesNotLoad = (variant: string, scenario: LinuxScenario, message: string): Rejected => ({
  kind: 'rejected',
  variant,
  rejection: { kind: 'does-not-load', scenario, message },
});

export function refusalOf(
  { variant, sysctl, nftables }: LoadableOverlay,
  scenario: LinuxScenario,
  outcome: CommandOutcome,
): Rejected {
  const target = folderOf(variant);
  const { stderr } = outcome;
  const { lines } = sysctl;
  const exit = exitText(outcome);
  const message = loadRefusal({
    folder: target,
    scenario,
    nftables,
    stderr,
    exitText: exit,
    lines,
  });
  return doesNotLoad(variant, scenario, message);
}

/** A DUT that counts packets between two readings. */
export type LinuxCounting = {
  kind: 'counting';
  /** Reads the counters again; undefined limits where they are not understood. Throws a HostError. */
  end(): Promise<{ log: string; limits: TrialLimits | undefined }>;
  cancel(): void;
};

/** Installs a variant and reads the DUT's counters with one program, as starting another takes longer in a guest. */
export async function installCounting(
  host: Host,
  overlay: LoadableOverlay,
  scenario: LinuxScenario,
  { ingress, egress }: Ports,
): Promise<LinuxCounting | Rejected> {
  const { variant } = overlay;
  const stdin = new PassThrough();
  const stop = new AbortController();
  const [begun, over] = [Promise.withResolvers<'begun'>(), Promise.withResolvers<'over'>()];
  let log = '';
  const onStdout = (chunk: Uint8Array) => {
    log += Buffer.from(chunk).toString();
    if (log.length > maxCounterCharacters) stop.abort(new Error('it wrote too much'));
    else if (log === 'begun\n') begun.resolve('begun');
    else if (log.endsWith('\nend\n')) over.resolve('over');
  };
  const counting = host.run(
    shell`bash ${script} count ${installSeconds} ${folderOf(variant)} ${scenario} ${ingress} ${egress}`,
    { stdin, onStdout, signal: stop.signal },
  );
  counting.catch(() => {});
  const within = async <T>(seconds: number, work: Promise<T>): Promise<T> => {
    const late = () => stop.abort(new Error(`it needed more than ${seconds} s`));
    const timer = setTimeout(late, seconds * 1000);
    return await work.finally(() => clearTimeout(timer));
  };
  const first = await within(2 * installSeconds, Promise.race([begun.promise, counting]));
  if (first !== 'begun') return refusalOf(overlay, scenario, first);
  return {
    kind: 'counting',
    async end() {
      stdin.end('\n');
      // The program's own end would take as long as its readings.
      const ended = await within(endSeconds, Promise.race([over.promise, counting]));
      if (ended !== 'over' && (ended.kind !== 'exited' || ended.code !== 0)) {
        throw new HostError('command-failed', `Counting on ${host.name} ${exitText(ended)}.`);
      }
      return { log, limits: limitsInLinuxLog(log, [{ variant }])[variant] };
    },
    cancel: () => void stdin.end(),
  };
}

/** A hundred times what the counters of a guest have. */
const maxCounterCharacters = 4 * 1024 ** 2;

/** A guest that does not answer in this time is considered dead. */
const endSeconds = 10;
