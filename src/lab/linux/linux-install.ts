// Fits variants to a Linux DUT, installs their rules and settings on it, and counts the packets that follow.
import { PassThrough } from 'node:stream';
import type { TrialLimits } from '../../model/limits.ts';
import { lastLine } from '../../model/one-line.ts';
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

/**
 * Removes base's settings that the DUT lacks from all variants: a network namespace has no net.core.netdev_budget.
 * Refuses a missing setting that only a patch adds, and every missing one of a single variant.
 */
export async function withoutMissing(
  host: Host,
  variants: readonly LoadableOverlay[],
): Promise<{ read: LoadableOverlay[]; warnings: string[] }> {
  const [base, ...others] = variants;
  if (base === undefined || others.length === 0) return { read: [...variants], warnings: [] };
  const stdin = [...base.sysctl.settings.keys(), ''].join('\n');
  const printed = await host.output(shell`bash ${script} missing`, { stdin });
  const missing = new Set(printed.split('\n').filter((path) => base.sysctl.settings.has(path)));
  const read = variants.map(({ sysctl, ...variant }) => ({
    ...variant,
    sysctl: {
      ...sysctl,
      settings: new Map([...sysctl.settings].filter(([path]) => !missing.has(path))),
    },
  }));
  const warnings = [...missing].map(
    (path) =>
      `sysctl.conf line ${base.sysctl.lines.get(path)}: the DUT has no setting ${path}, so it is ignored in every variant.`,
  );
  return { read, warnings };
}

/** Creates interfaces that rules name and no packet uses; `restore` deletes them. Returns the reason of a failure. */
export async function createInterfaces(
  host: Host,
  variants: readonly LoadableOverlay[],
): Promise<{ variant: string; message: string } | undefined> {
  const unused = [...new Set(variants.flatMap(({ unused }) => unused))];
  const [first] = variants;
  if (unused.length === 0 || first === undefined) return undefined;
  const outcome = await host.run(shell`bash ${script} interfaces ${unused}`);
  if (outcome.kind === 'exited' && outcome.code === 0) return undefined;
  const why = lastLine(outcome.stderr) ?? 'ip(8) said nothing';
  const message = `The DUT cannot create the unused interfaces ${unused.join(', ')} (${why}): remove them from \`overlay.interfaces\`, or load the module dummy.`;
  return { variant: first.variant, message };
}
