// Explains a result to first readers, with the next step.

import { formatPercent, grouped } from '../model/format.ts';
import type { Metric } from '../model/metric.ts';
import { callOnGithub, callOnPhabricator, comparedNames, type Patch } from '../model/patch.ts';
import type { Rejection } from '../model/rejection.ts';
import type { CellResult, Outcome, Policy, Result } from '../model/result.ts';
import { packetsText } from '../model/traffic.ts';
import { isProfiled } from './change-reason.ts';
import {
  type Cause,
  causeOf,
  droppedBy,
  isSilent,
  lossThatMatters,
  marginsOf,
  smallLosses,
  smallLossText,
  stoppedCells,
  withVerdict,
} from './headline.ts';

/** A trusted plain sentence; undefined if a rejection explains itself. */
export function meaningOf({ outcome, policy, patch }: Result): string | undefined {
  const names = namesOf(patch);
  if (outcome.kind === 'unchanged') return unchangedMeaning(outcome, names);
  if (outcome.kind !== 'judged') return undefined;

  const { cells, verdict } = outcome;
  const those = withVerdict(cells, verdict);
  const where = whereText(those, cells);
  const did = deeds[policy.metric];
  const margin = formatPercent(Math.abs(marginsOf(policy).loss));
  switch (verdict) {
    case 'regression':
      return `${lossText(those, cells, did.loss, names)}${stopText(cells)}`;
    case 'improvement':
      return `${names.router} ${did.gain} than ${names.base}${where}, beyond what chance explains, and nowhere does it ${lossThatMatters(policy)}.`;
    case 'no-regression':
      return passText(cells, policy, margin, names);
    case 'inconclusive':
      return `The runs differ too much among themselves${where} to decide whether ${names.patch} costs ${margin} or nothing.`;
    case 'invalid':
      return `Too few runs can be used${where} for a verdict, which is not held against ${names.patch}.`;
  }
}

/** Names the sides in sentences; uses a comparison's own names. */
type Names = Readonly<Record<'router' | 'base' | 'patch' | 'both' | 'again' | 'excuse' | 'use', string>>;

const usualNames: Names = {
  router: 'The patched router',
  base: 'base',
  patch: 'the patch',
  both: 'base and patched',
  again: 'update the patch',
  excuse: '; or justify the loss in it',
  use: 'merging the patch',
};

function namesOf(patch: Patch): Names {
  const names = comparedNames(patch);
  if (names === undefined) return usualNames;
  return {
    router: `The router with ${names.patched}`,
    base: `that with ${names.base}`,
    patch: names.patched,
    both: `${names.base} and ${names.patched}`,
    again: 'compare again',
    excuse: '',
    use: `using ${names.patched}`,
  };
}

function lossText(losing: readonly CellResult[], cells: readonly CellResult[], loss: string, names: Names): string {
  const silent = losing.filter(isSilent);
  const moving = losing.filter((cell) => !isSilent(cell));
  const slower =
    moving.length === 0
      ? ''
      : `${names.router} ${loss} than ${names.base}${whereText(moving, cells)}, beyond what chance explains.`;
  return [silenceText(silent, cells, names), slower].filter(Boolean).join(' ');
}

/** Counts what the silent runs received, which excludes a sender that was not heard. */
function silenceText(silent: readonly CellResult[], cells: readonly CellResult[], { router, base }: Names): string {
  if (silent.length === 0) return '';
  const runs = silent.flatMap((cell) =>
    cell.runs.filter(({ variant, validity, pps }) => variant === 'patched' && validity.kind === 'valid' && pps === 0),
  );
  const received = runs
    .flatMap(({ samples }) => samples)
    .reduce((sum, { receivedPackets }) => sum + receivedPackets, 0);
  const those = runs.length === 1 ? 'the run' : `the ${runs.length} runs`;
  const counted = received > 0 ? `: in ${those} without a packet forwarded, ${grouped(received)} were received` : '';
  return `${router} forwards no packet${whereText(silent, cells)}, where ${base} forwards them${counted}.`;
}

function passText(cells: readonly CellResult[], policy: Policy, margin: string, { router }: Names): string {
  const losses = smallLosses(cells, policy);
  if (losses.length === 0) {
    return `No loss was found${whereText(cells, cells)}, and a loss of ${margin} or more is excluded.`;
  }
  return `${router} is ${smallLossText(losses, policy)}${whereText(losses, cells)}: a small loss, beyond what chance explains.`;
}

const deeds: Record<Metric, { loss: string; gain: string }> = {
  pps: { loss: 'forwards fewer packets per second', gain: 'forwards more packets per second' },
  nsPerPacket: {
    loss: 'takes more CPU time for each packet',
    gain: 'takes less CPU time for each packet',
  },
  instructionsPerPacket: {
    loss: 'takes more instructions for each packet',
    gain: 'takes fewer instructions for each packet',
  },
};

function stopText(cells: readonly CellResult[]): string {
  const stopped = stoppedCells(cells).length;
  if (stopped === 0) return '';
  return ` That ended the experiment, as requested: ${stopped} of ${cells.length} cells ${stopped === 1 ? 'is' : 'are'} not decided yet.`;
}

export function unchangedMeaning({ ignoredPaths }: Unchanged, names = usualNames): string {
  if (ignoredPaths === undefined) {
    return `Nothing was measured: nothing installed on this testbed differs between ${names.both}.`;
  }
  return `Nothing was measured: no packet of this testbed passes the changed code. The patch changes ${ignoredPaths.join(', ').replaceAll('*', '…')}: drivers of other ports, files of other machines, or what ppsgate.yml leaves out.`;
}

type Unchanged = Extract<Outcome, { kind: 'unchanged' }>;

/** ` in 1 of 4 cells`; empty with a single cell. */
function whereText(those: readonly CellResult[], cells: readonly CellResult[]): string {
  if (cells.length === 1) return '';
  return those.length === cells.length
    ? ` in all ${cells.length} cells`
    : ` in ${those.length} of ${cells.length} cells`;
}

/** Backticks mark typed text. `goOn` requests more runs at the place of the report. */
export function nextStep(result: Result, goOn = '`ppsgate gate --resume DIR --max-runs N`'): string {
  const { outcome, patch } = result;
  if (outcome.kind === 'unchanged') return afterUnchanged(outcome, patch);
  const names = namesOf(patch);
  if (outcome.kind !== 'judged') return afterRejection(outcome, names);
  switch (outcome.verdict) {
    case 'regression': {
      const losing = withVerdict(outcome.cells, 'regression');
      if (losing.every(isSilent)) return afterSilence(losing, names);
      const where = outcome.cells.some((cell) => isProfiled(cell) && !isSilent(cell))
        ? 'See below which functions cost more'
        : `See what ${names.patch} does for each packet`;
      const others = stoppedCells(outcome.cells).length > 0 ? ` To decide the other cells too, use ${goOn}.` : '';
      return `${where}, make that cheaper, and ${names.again}${names.excuse}.${others}`;
    }
    case 'improvement':
      return 'Nothing. The numbers below can go into the commit message.';
    case 'no-regression':
      return `Nothing: forwarding speed is no obstacle to ${names.use}.`;
    case 'inconclusive':
      return `Allow more runs with ${goOn}; a quieter testbed or a wider margin needs fewer.`;
    case 'invalid':
      return afterInvalid(outcome.cells, result);
  }
}

function afterSilence(silent: readonly CellResult[], { patch, again }: Names): string {
  if (silent.every((cell) => droppedBy(cell) !== undefined)) {
    return `Correct the rule or setting named above, and ${again}.`;
  }
  const [family = ''] = silent.flatMap(({ cell }) => cell.scenario.split('-')[0] ?? []);
  const counters = dropCounters[family] ?? '`nft list ruleset`, `pfctl -vs rules`, `ipfw -a list`';
  return `Load ${patch} on a test router, send it packets, and check which rule, chain or hook counts them (${counters}, and \`netstat -s\`). Correct that rule, and ${again}.`;
}

/** Commands that show the counters of rules, by the first word of a scenario. */
const dropCounters: Readonly<Record<string, string>> = {
  nftables: '`nft list ruleset`',
  pf: '`pfctl -vs rules`',
  ipfw: '`ipfw -a list`',
};

function afterUnchanged({ ignoredPaths }: Unchanged, { kind }: Patch): string {
  const call = calls[kind];
  const inComment = call === undefined ? '' : `, or write \`${call} run measure-anyway\` in a comment`;
  const way = `run the gate with \`--measure-anyway\`${inComment}`;
  return ignoredPaths === undefined
    ? `Nothing: packets are forwarded as before. To measure it anyway, ${way}.`
    : `Select a testbed that has such ports, if there is one. To measure it here anyway, ${way}.`;
}

/** First words of commands, by the patch's forge. */
const calls: Partial<Record<Patch['kind'], string>> = {
  'pull-request': callOnGithub,
  revision: callOnPhabricator,
};

/** Suggests to fix the main cause of invalid runs first; if unknown, to check the testbed. */
function afterInvalid(cells: readonly CellResult[], { testbed, traffic }: Result): string {
  if (withVerdict(cells, 'invalid').some((cell) => droppedBy(cell, 'base') !== undefined)) {
    const { packets } = traffic;
    const sent = packets === undefined ? 'UDP to port 2000' : packetsText(packets);
    return `Let the rules of base pass the test traffic: map the names of their interfaces with \`overlay.interfaces\`, and let them accept ${sent}, as docs/how-to/overlay.md describes it. Or send packets that they accept, with \`traffic.addresses\` and \`traffic.ports\`: see docs/how-to/traffic.md.`;
  }
  const cause = causeOf(withVerdict(cells, 'invalid'));
  // The result may be untrusted.
  const name = /^[\w.-]{1,64}$/.test(testbed.name) ? ` ${testbed.name}` : '';
  const check = `\`ppsgate testbeds check${name}\``;
  const fix = cause === undefined ? undefined : fixes[cause];
  return `${fix ?? `Fix what ${check} finds wrong`}, and run it again.`;
}

/** Fixes by the main cause of invalid runs; for other causes the testbed is checked. */
const fixes: Partial<Record<Cause, string>> = {
  'generator-limited':
    'Offer the DUT more than it can forward: a higher `traffic.rate`, a second sender, or fewer cores of the DUT',
  'receiver-limited':
    'Give the receiver a faster card or CPU, or a machine of its own, until it counts everything that the DUT sends',
  'machine-busy': 'Stop other programs on that machine, or wait until they end',
  'too-short': 'Measure for longer, with `traffic.measure`',
};

function afterRejection({ kind }: Rejection, { again }: Names): string {
  switch (kind) {
    case 'does-not-apply':
      return 'Rebase the patch onto the head of its branch, and update it.';
    case 'build-failed':
      return 'Build the patched kernel, fix the first error, and update the patch. The full log is in `builds/`, beside `result.json`.';
    case 'out-of-disk':
      return 'Ask a maintainer of the lab to free space on the disk named above, then run the same patch again.';
    case 'does-not-load':
      return `Load the files on a test machine, for example with \`pfctl -nf\`, \`nft -c -f\` or \`ipfw -n\`, fix the error above, and ${again}.`;
    case 'boot-failed':
      return `Boot the patched kernel on a machine with a console, fix the cause, and ${again}.`;
    case 'panics-under-load':
      return `Send packets through the patched kernel on a machine with a console: the same trial crashes it each time. Fix the panic, and ${again}.`;
  }
}
