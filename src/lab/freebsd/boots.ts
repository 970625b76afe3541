// Boots the kernels of variants on the DUT, and checks each boot before anything is measured in it.
import type { FreebsdTestbed } from '../../config/freebsd-testbed.ts';
import { type Fingerprint, withoutKernelFacts } from '../../model/freebsd-machine.ts';
import type { PlannedRun, PlannedTrial } from '../../model/planned-trial.ts';
import type { Rejected, Rejection } from '../../model/rejection.ts';
import type { Family } from '../../model/scenario.ts';
import type { TestNetworks } from '../../model/traffic.ts';
import { isJudged } from '../../model/variant-name.ts';
import { describeScreen, type LastWords } from '../console/console-text.ts';
import { isAtFault, lacksControl, type Milestone, type Tallies, tallyOf } from '../fault-attribution.ts';
import type { TrialOutcome } from '../testbed.ts';
import { differences, flashed } from './dut/fingerprint.ts';
import type { FreebsdDut } from './dut/freebsd-dut.ts';
import type { SettingProblem } from './dut/setting.ts';
import type { FreebsdDeps } from './freebsd-deps.ts';
import type { VariantKernel } from './kernels.ts';
import { fingerprint, pathProblems, preflight, settingsContext } from './preflight.ts';

export type Boot = {
  variant: string;
  pair: number;
  kernel: string;
  fingerprint: Fingerprint;
  /** The boot was sampled: hwpmc(4) may have left traces, so nothing more is measured in it. */
  isSampled?: true;
};

export type Boots = {
  readonly config: FreebsdTestbed;
  readonly deps: FreebsdDeps;
  readonly dut: FreebsdDut;
  readonly tallies: Tallies;
  /** See `SettingsContext`. */
  readonly unread: ReadonlySet<string>;
  readonly addresses: TestNetworks | undefined;
  families: readonly Family[];
  /** The variants listed last: an installation removes all other variants' kernels from the DUT. */
  listed: ReadonlySet<string>;
  booted: Boot | undefined;
  /** The last boot unfit for measurements, and the trials that failed for it. */
  unfit: { variant: string; pair: number; reason: string; trials: Set<number> } | undefined;
  /** Settings that failed on the DUT's own kernel; any other failure came with a variant's kernel. */
  knownProblems: ReadonlySet<string>;
  original: Fingerprint | undefined;
  /** Reference for every boot: the first measured one of base or, in its absence, of patched. */
  reference: Boot | undefined;
  mayDiffer: boolean;
  differences: Set<string>;
  warnings: string[];
};

export const bootsOf = (
  config: FreebsdTestbed,
  dut: FreebsdDut,
  deps: FreebsdDeps,
  { tallies = new Map(), unread = new Set(), addresses }: Partial<Pick<Boots, 'tallies' | 'unread' | 'addresses'>> = {},
): Boots => ({
  config,
  dut,
  deps,
  tallies,
  unread,
  addresses,
  families: ['inet4'],
  listed: new Set(),
  booted: undefined,
  unfit: undefined,
  knownProblems: new Set(),
  original: undefined,
  reference: undefined,
  mayDiffer: false,
  differences: new Set(),
  warnings: [],
});

export function setListed(boots: Boots, variants: readonly string[]): void {
  boots.listed = new Set(variants);
}

/** Returns the settings that fail on the DUT's own kernel; later boots are not rejected for them. */
export async function inspectDut(boots: Boots, families: readonly Family[]): Promise<SettingProblem[]> {
  boots.families = families;
  const problems = await settingsThatFail(boots);
  boots.knownProblems = new Set(problems.map(({ setting }) => setting));
  return problems;
}

/** Reads the DUT's fingerprint before the first boot, without facts of its own kernel, which is not measured. */
export async function fingerprintOfDut(boots: Boots): Promise<Fingerprint> {
  boots.original = await fingerprint(boots.dut.host(), portsOf(boots));
  return withoutKernelFacts(boots.original);
}

export const portsOf = ({ config: { dut } }: Pick<Boots, 'config'>): string[] => [
  dut.ingress.interface,
  dut.egress.interface,
];

/** Fixes settings that the configuration allows to fix, and returns the rest. */
export const settingsThatFail = (
  { config, deps, dut, unread, addresses, ...boots }: Boots,
  families = boots.families,
): Promise<SettingProblem[]> =>
  preflight(dut.host(), {
    mode: config.preflight,
    waive: config.waive,
    context: { ...settingsContext(config, families), unread, addresses },
    sleep: deps.sleep,
  });

type Ready = { kind: 'ready'; boot: Boot };

/** Returns the current boot if such a run can use it; undefined if the DUT must boot. */
export const bootOf = ({ booted }: Boots, { variant, pair }: Pick<PlannedRun, 'variant' | 'pair'>): Boot | undefined =>
  booted?.variant === variant && booted.pair === pair && !booted.isSampled ? booted : undefined;

/** Boots for a run unless the current boot suffices: one boot serves all cells of a pair's variant. */
export async function bootFor(
  boots: Boots,
  planned: PlannedTrial,
  { variant, pair }: PlannedRun,
  kernel: Exclude<VariantKernel, { kind: 'rejected' }>,
): Promise<Ready | TrialOutcome> {
  const { dut, config } = boots;
  const booted = bootOf(boots, { variant, pair });
  if (booted !== undefined) return { kind: 'ready', boot: booted };
  const unfitBoot = boots.unfit;
  if (unfitBoot?.variant === variant && unfitBoot.pair === pair && !unfitBoot.trials.has(planned.number)) {
    unfitBoot.trials.add(planned.number);
    return failed(unfitBoot.reason);
  }
  boots.booted = undefined;
  if (kernel.kind === 'archive') {
    // Every boot may take another layout variant: /boot has space for two.
    const isOtherLayout = kernel.archive.variant !== variant;
    const installed = await dut.install(kernel.archive, isOtherLayout ? new Set() : boots.listed);
    if (installed.kind === 'no-space') {
      return rejected(variant, { kind: 'out-of-disk', message: `DUT: ${installed.reason}.` });
    }
    if (installed.kind === 'lacks-module') {
      return afterBootFailure(boots, variant, {
        reason: `it was not booted, because ${installed.reason}`,
      });
    }
  }
  const outcome = await dut.boot(kernel.kind === 'own' ? undefined : kernel.archive.variant);
  if (outcome.kind === 'boot-failed') return afterBootFailure(boots, variant, outcome);
  const tally = tallyOf(boots.tallies, variant);
  tally.hasBooted = true;
  tally.bootFailures = 0;

  const problems = await settingsThatFail(boots);
  const isStrict = config.preflight === 'fail';
  const problem = problems
    .filter(({ isWaived }) => !isWaived)
    .find(({ setting, isVital }) => isVital || isStrict || !boots.knownProblems.has(setting));
  if (problem !== undefined) return unfit(boots, planned, problem.message);
  const boot: Boot = {
    variant,
    pair,
    kernel: outcome.version,
    fingerprint: await fingerprint(dut.host(), portsOf(boots)),
  };
  const [flash] = flashed(boots.original ?? {}, boot.fingerprint);
  if (flash !== undefined) {
    const reason = `the firmware of the DUT's card changed during this gate (${flash}): a kernel has flashed it permanently, so numbers before and after are not comparable, in later gates too; put \`hw.cxgbe.fw_install="0"\` into its /boot/loader.conf, and flash the firmware that you want`;
    return unfit(boots, planned, reason);
  }
  const reference = boots.reference ?? boot;
  const found = differencesBetween(reference, boot);
  const [difference] = found;
  if (boots.mayDiffer && reference.variant !== variant) {
    warnOfDifferences(boots, variant, found);
  } else if (difference !== undefined) {
    const reason = `the DUT differs in more than its kernel: ${difference}`;
    return unfit(boots, planned, reason);
  }
  boots.booted = boot;
  return { kind: 'ready', boot };
}

/** Warns of each difference once, for all variants. */
function warnOfDifferences(boots: Boots, variant: string, found: readonly string[]): void {
  for (const difference of found) {
    const key = difference.replace(` on ${variant}`, '');
    if (boots.differences.has(key)) continue;
    boots.differences.add(key);
    boots.warnings.push(`the DUT differs in more than its kernel: ${difference}`);
  }
}

export const takeWarnings = (boots: Boots): string[] => boots.warnings.splice(0);

/** Checks the path right before every trial: a kernel may lose routes after its boot. */
export async function pathProblem({ config, dut, addresses }: Boots, family: Family): Promise<string | undefined> {
  const families = [family];
  const context = { ...settingsContext(config, families), addresses };
  const [problem] = await pathProblems(dut.host(), { context, families });
  return problem?.message;
}

/** Sets the reference after a trial that was measured without a fault. */
export function setReference(boots: Boots, boot: Boot): void {
  if (isJudged(boot.variant)) boots.reference ??= boot;
}

/** Fails every trial of that boot once; a repeated trial gets another boot. */
function unfit(boots: Boots, { number, runs }: PlannedTrial, reason: string): TrialOutcome {
  const [run] = runs;
  if (run !== undefined) {
    boots.unfit = { variant: run.variant, pair: run.pair, reason, trials: new Set([number]) };
  }
  return failed(reason);
}

const differencesBetween = (reference: Boot, boot: Boot): string[] =>
  boot.variant === 'base'
    ? differences(boot.fingerprint, reference.fingerprint)
    : differences(reference.fingerprint, boot.fingerprint, boot.variant);

/** Rejects the variant for a second failure, if base has booted. */
export function afterBootFailure(
  boots: Boots,
  variant: string,
  { reason, panic, console }: { reason: string } & LastWords,
): TrialOutcome {
  const { tallies } = boots;
  tallyOf(tallies, variant).bootFailures += 1;
  return isAtFault(tallies, variant, 'bootFailures', 'hasBooted')
    ? rejected(variant, {
        kind: 'boot-failed',
        message: `Twice in a row: ${reason}.`,
        ...(panic !== undefined && { panic }),
        ...(console !== undefined && { console }),
      })
    : suspected(
        { boots, variant, proof: 'hasBooted' },
        `${variant} did not boot: ${reason}${inBrackets({ panic, console })}`,
      );
}

function inBrackets({ panic, console }: { [Key in keyof LastWords]: LastWords[Key] | undefined }) {
  if (panic !== undefined) return ` (panic: ${panic})`;
  return console === undefined ? '' : ` (${consoleClause(console)})`;
}

export const consoleClause = (console: string): string => `its console ${describeScreen(console)}`;

export const failed = (reason: string): TrialOutcome => ({ kind: 'failed', reason });

export const suspected = (
  { boots, variant, proof }: { boots: Boots; variant: string; proof: Milestone },
  reason: string,
): TrialOutcome => ({
  kind: 'failed',
  reason,
  ...(lacksControl(boots.tallies, variant, proof) && { lacksControl: true }),
});

export const rejected = (variant: string, rejection: Rejection): Rejected => ({
  kind: 'rejected',
  variant,
  rejection,
});
