// Recovers from a trial that lost a machine or whose rules were refused, and attributes the fault.

import type { Scenario } from '../../model/scenario.ts';
import type { HostError } from '../../system/host/host-error.ts';
import type { Host } from '../../system/host/ssh.ts';
import { shell } from '../../system/shell.ts';
import type { LastWords } from '../console/console-text.ts';
import { isAtFault, tallyOf } from '../fault-attribution.ts';
import type { TrialOutcome } from '../testbed.ts';
import { type Boots, consoleClause, failed, rejected, suspected } from './boots.ts';
import type { Generators } from './generators.ts';

export type TrialPhase = 'after its boot' | 'at the rules' | 'under load' | 'while sampled';

type TrialLoss = {
  variant: string;
  scenario: Scenario;
  flows: number;
  phase: TrialPhase;
  signal: AbortSignal;
};

export type RecoverableMachines = {
  boots: Boots;
  generators: Generators;
  cycles: { readonly done: number };
  /** Consecutive trials lost without a variant's fault. */
  glitches: { inARow: number };
};

/** Throws if a machine does not come back, or machines are lost repeatedly. */
export async function afterLoss(
  machines: RecoverableMachines,
  loss: TrialLoss,
  error: HostError,
): Promise<TrialOutcome> {
  const { boots, generators, cycles } = machines;
  await generators.reconnect(loss.signal);
  const isStuck = error.kind === 'timeout';
  if (!isStuck && (await isReachable(boots.dut.host()))) return afterGlitch(machines, error);

  boots.booted = undefined;
  const cyclesBefore = cycles.done;
  const last = await boots.dut.recover();
  const { panic } = last;
  if (panic !== undefined) return afterDeath(boots, loss, `it panicked: ${panic}`, last);
  if (isStuck) return afterDeath(boots, loss, error.message, last);
  if (cycles.done === cyclesBefore) return afterGlitch(machines, error);
  return afterDeath(boots, loss, 'it stopped responding, and was power-cycled', last);
}

export function afterRefusal(boots: Boots, variant: string, scenario: Scenario, refusal: string): TrialOutcome {
  const { tallies } = boots;
  tallyOf(tallies, variant).refusals += 1;
  return isAtFault(tallies, variant, 'refusals', 'hasStoodTrial')
    ? rejected(variant, { kind: 'does-not-load', scenario, message: `Twice: ${refusal}.` })
    : suspected({ boots, variant, proof: 'hasStoodTrial' }, refusal);
}

const maxGlitchesInARow = 3;

function afterGlitch({ glitches }: RecoverableMachines, error: HostError): TrialOutcome {
  glitches.inARow += 1;
  if (glitches.inARow >= maxGlitchesInARow) throw error;
  return failed(error.message);
}

function afterDeath(boots: Boots, loss: TrialLoss, how: string, words: LastWords): TrialOutcome {
  const { panic, console } = words;
  const { tallies } = boots;
  const { variant, phase } = loss;
  const where = circumstances(loss);
  // hwpmc(4) may be at fault.
  if (phase === 'while sampled') return failed(`the DUT with ${variant} died ${where}: ${how}`);
  tallyOf(tallies, variant).deaths += 1;
  if (!isAtFault(tallies, variant, 'deaths', 'hasStoodTrial')) {
    const shown = panic === undefined && console !== undefined ? ` (${consoleClause(console)})` : '';
    const reason = `the DUT with ${variant} died ${where}: ${how}${shown}`;
    return suspected({ boots, variant, proof: 'hasStoodTrial' }, reason);
  }
  return rejected(variant, {
    kind: phase === 'after its boot' ? 'boot-failed' : 'panics-under-load',
    message: `Twice, ${where}${panic === undefined ? `: ${how}` : ''}.`,
    ...words,
  });
}

function circumstances({ flows, scenario, phase }: TrialLoss): string {
  switch (phase) {
    case 'after its boot':
      return 'right after its boot';
    case 'at the rules':
      return `while ${scenario} was installed`;
    case 'under load':
      return `under ${flows} flows`;
    case 'while sampled':
      return 'while samples were taken';
  }
}

const isReachable = (host: Host): Promise<boolean> =>
  host.output(shell`sysctl -n kern.boottime`, { timeoutSeconds: answerSeconds }).then(
    () => true,
    () => false,
  );

const answerSeconds = 10;
