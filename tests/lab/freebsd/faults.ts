// Faults of a FreeBSD testbed, each in a whole gate, and their outcomes.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { ExperimentEvent } from '../../../src/gate/experiment/experiment-event.ts';
import { gate } from '../../../src/gate/gate.ts';
import type { FreebsdDeps } from '../../../src/lab/freebsd/freebsd-deps.ts';
import { openFreebsdTestbed } from '../../../src/lab/freebsd/freebsd-testbed.ts';
import { unshared } from '../../../src/lab/testbed.ts';
import { conclusionOfError, conclusionOfResult, exitCodes } from '../../../src/model/conclusion.ts';
import type { Outcome } from '../../../src/model/result.ts';
import type { Host } from '../../../src/system/host/ssh.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { freebsdBuilder } from '../../fakes/freebsd-builder.ts';
import type { Fault } from '../../fakes/freebsd-lab/faults.ts';
import { type Behaviour, kernelArchive } from '../../fakes/freebsd-lab/kernel.ts';
import { type FreebsdLab, type FreebsdLabOptions, startFreebsdLab } from '../../fakes/freebsd-lab/lab.ts';
import { type Machine, setCutOff } from '../../fakes/freebsd-lab/machine.ts';
import { depsOf, labConsole, testbedOf } from '../../fakes/freebsd-testbed.ts';
import { memoryHistory } from '../../fakes/history.ts';
import { aConfig, gateConfig } from '../../fakes/plan.ts';
import { type Builds, builderOf, diffOf, repositoryOf } from '../../fakes/prepared-builder.ts';
import { pullRequest } from '../../fakes/result.ts';
import { type Sshd, startSshd } from '../../fakes/sshd.ts';
import { describeWith } from '../../needs.ts';

/** Boots, loads of rules and trials are those of base, patched, patched, base; then the DUT's own kernel is booted. */
type Setup = {
  faults?: readonly Fault[];
  lab?: FreebsdLabOptions;
  base?: Behaviour;
  patched?: Behaviour;
  hasNoPower?: true;
  /** Records the DUT's console. */
  hasConsole?: true;
  arrange?: (lab: FreebsdLab, cancel: () => void) => void;
  /** Forwarding rate of the patched kernel. */
  patchedBytes?: number;
  /** Kernels are built instead of brought along. */
  builds?: Builds;
};

type Case = Setup & {
  ending: Ending;
  exit: number;
  /** The DUT is lost, and the error reports that. */
  isLost?: true;
  /** Nothing was measured twice. */
  costsNothing?: true;
};

type Ending = Verdict | 'error' | Exclude<Outcome['kind'], 'judged'>;
type Verdict = Extract<Outcome, { kind: 'judged' }>['verdict'];

const passes = (setup: Setup): Case => ({ ...setup, ending: 'no-regression', exit: 0 });
const costsNothing = (setup: Setup): Case => ({ ...passes(setup), costsNothing: true });
const blamesPatch = (ending: Ending, setup: Setup): Case => ({ ...setup, ending, exit: 1 });
const undecided = (setup: Setup): Case => ({ ...setup, ending: 'invalid', exit: 3 });
const blamesLab = (setup: Setup, ending: Ending = 'error'): Case => ({ ...setup, ending, exit: 4 });
const losesDut = (setup: Setup): Case => ({ ...blamesLab(setup), isLost: true });
const cancelled = (setup: Setup): Case => ({ ...setup, ending: 'error', exit: 130 });

type SimpleKind = Exclude<Fault, { command: string } | { pps: number } | { afterBytes: number }>['kind'];

const at = (kind: SimpleKind, ...numbers: readonly number[]): { faults: Fault[] } => ({
  faults: numbers.map((number) => ({ kind, at: number })),
});
const from = (first: number): number[] => Array.from({ length: 60 }, (_, index) => first + index);
const always = from(1);

const atRules = (
  kind: 'panic-at-command' | 'cut-off' | 'command-fails',
  ...loads: readonly number[]
): { faults: Fault[] } => ({
  faults: loads.map((at) => {
    const says = 'pfctl: DIOCADDRULE: Operation not supported by device';
    return { kind, says, at, machine: 'dut', command: 'pfctl -f' };
  }),
});

const inTrial = (machine: string, seconds?: number): Setup => ({
  lab: { cabling: { generators: 'separate' } },
  faults: [
    {
      kind: 'cut-off',
      at: 1,
      machine,
      command: machine === 'dut' ? 'kern.cp_times' : 'pkt-gen -N',
      afterSeconds: 12,
      ...(seconds !== undefined && { seconds }),
    },
  ],
});

const cutAt = (command: string, ...numbers: readonly number[]): { faults: Fault[] } => ({
  faults: numbers.map((at) => ({ kind: 'cut-off', at, machine: 'dut', command, seconds: 20 })),
});

/** Traffic without noise, because the report has its numbers, which must be the same in each run. */
const calm = { noise: { perBoot: 0, perSecond: 0 } } as const;
const slowReceiver = (at: number): Setup => ({
  lab: calm,
  faults: [{ kind: 'slow-receiver', at, pps: 3e6 }],
});

const noPower = { hasNoPower: true } as const;
/** A panic leaves nothing on the DUT, and shows only on its console. */
const seenOnConsole = {
  hasConsole: true,
  lab: { crashes: { dumpsTo: 'nowhere', keepsMessages: false } },
} as const satisfies Setup;
/** It does not even reset the DUT. */
const stuckOnConsole = {
  hasConsole: true,
  lab: { ...seenOnConsole.lab, timing: { bootSeconds: 20, dumpSeconds: 1e6 } },
} as const satisfies Setup;
const panicsAtBoot: Behaviour = { kind: 'panics-at-boot', panic: 'page fault in pf_test' };
const panicsUnderLoad: Behaviour = { kind: 'panics-under-load', panic: 'page fault in pf_test' };
const hangsAtBoot: Behaviour = { kind: 'hangs-at-boot' };

const diskWith = (freeBytes: number) => ({ totalBytes: 5e9, usedBytes: 5e9 - freeBytes });

/** Acts when the DUT is for the first time in such a state. */
const when =
  (isSo: (dut: Machine) => boolean) =>
  ({ dut: { machine } }: FreebsdLab, act: () => void): void => {
    const look = () => {
      if (!isSo(machine)) return;
      machine.watchers.delete(look);
      act();
    };
    machine.watchers.add(look);
  };

/** The cases of each fault, in parts with a file of tests each, which run concurrently. */
export const parts = {
  machines: {
    'A machine cannot be reached': {
      'the DUT, at first': losesDut({ arrange: ({ dut }) => setCutOff(dut.machine, true) }),
      'the receiver, at first': blamesLab({
        lab: { cabling: { generators: 'separate' } },
        arrange: ({ receiver }) => setCutOff(receiver.machine, true),
      }),
      'the receiver, in a trial, for two minutes': passes(inTrial('receiver', 120)),
      'the receiver, in a trial, for good': blamesLab(inTrial('receiver')),
      'the builder': blamesLab({ builds: { isAway: true } }),
      'the DUT, in a trial, until it boots': passes(inTrial('dut')),
      'the DUT, in a trial, until it boots, without power control': losesDut({
        ...inTrial('dut'),
        ...noPower,
      }),
    },
    'ssh to the DUT is lost': {
      'while the kernel of base is uploaded': costsNothing({
        faults: [{ kind: 'upload-lost', at: 1, afterBytes: 1000 }],
      }),
      'whenever a kernel is uploaded': blamesLab({
        faults: always.map((at) => ({ kind: 'upload-lost', at, afterBytes: 1000 })),
      }),
      'while the next boot is ordered': passes(cutAt('nextboot -k', 2)),
      'when it is told to reboot': costsNothing(cutAt('shutdown', 2)),
      // Both kernels were installed.
      'while it is restored': costsNothing(cutAt('ls -1 /boot', 3)),
      'whenever it is restored': losesDut(cutAt('ls -1 /boot', ...from(3))),
    },
    'The receiver crashes': {
      'with patched, once': passes(at('receiver-crash', 2)),
      always: undecided(at('receiver-crash', ...always)),
    },
    'A link is dead': {
      'with patched, once': passes(at('dead-link', 2)),
      'with patched, always': undecided(at('dead-link', 2, 3, 5, 6, 7, 8)),
    },
    'The kernel forwards nothing': {
      'patched, once': passes(at('forwards-nothing', 2)),
      'base, always': undecided({ lab: { truth: ({ ident }) => (ident === 'base' ? 0 : 5e6) } }),
      'patched, always': blamesPatch('regression', {
        lab: { truth: ({ ident }) => (ident === 'patched' ? 0 : 5e6) },
      }),
    },
    'The generator is too slow': {
      'with patched, once': passes({ faults: [{ kind: 'slow-generator', at: 2, pps: 3e6 }] }),
      always: undecided({ lab: { generatorPps: 3e6 } }),
    },
    'The receiver is too slow': {
      'with patched, once': passes(slowReceiver(2)),
      always: undecided({ lab: { ...calm, receiverPps: 3e6 } }),
    },
    'Ctrl-C is pressed': {
      'while patched boots': cancelled({
        arrange: when(({ stage, boots }) => stage === 'booting' && boots === 2),
      }),
      'in a trial': cancelled({ arrange: when(({ isOverloaded }) => isOverloaded) }),
      'while the DUT is restored, and all is measured': costsNothing({
        arrange: when(({ stage, boots }) => stage === 'booting' && boots === 5),
      }),
    },
  },
  kernels: {
    'There is no kernel': {
      'base does not compile': blamesLab({ builds: { base: 'fails' } }),
      'the patch does not apply': blamesPatch('does-not-apply', {
        builds: { diff: diffOf('int other;', 'int if_patched;') },
      }),
      'the patch does not compile': blamesPatch('build-failed', { builds: { patched: 'fails' } }),
      'the disk of the builder is full, for patched': blamesLab(
        { builds: { patched: 'finds a full disk' } },
        'out-of-disk',
      ),
      'the disk of the DUT is full, for patched': blamesLab(
        { lab: { disk: diskWith(1e6) }, patchedBytes: 1e6 },
        'out-of-disk',
      ),
    },
    'The kernel panics at boot': {
      'patched, once': passes(at('panic-at-boot', 2)),
      "the DUT's own, at restore, once": costsNothing(at('panic-at-boot', 5)),
      'base, always': blamesLab({ base: panicsAtBoot }),
      'patched, always': blamesPatch('boot-failed', { patched: panicsAtBoot }),
      "every one, the DUT's own too": losesDut(at('panic-at-boot', ...always)),
      'patched, always, seen on the console alone': blamesPatch('boot-failed', {
        patched: panicsAtBoot,
        ...seenOnConsole,
      }),
      'patched, always, without a reset, seen on the console': blamesPatch('boot-failed', {
        patched: panicsAtBoot,
        ...stuckOnConsole,
      }),
    },
    'The kernel hangs at boot': {
      'patched, once': passes(at('hang-at-boot', 2)),
      'patched, always': blamesPatch('boot-failed', { patched: hangsAtBoot }),
      "the DUT's own, at restore, always": losesDut(at('hang-at-boot', ...from(5))),
      'patched, once, without power control': losesDut({ ...at('hang-at-boot', 2), ...noPower }),
      'patched, and the BMC lies once': passes({
        faults: [...at('hang-at-boot', 2).faults, ...at('power-lies', 1).faults],
      }),
      'patched, and the BMC never answers': losesDut({
        faults: [...at('hang-at-boot', 2).faults, ...at('power-times-out', ...always).faults],
      }),
    },
    'Another kernel comes up': {
      'instead of patched, once': passes(at('wrong-kernel', 2)),
      always: blamesLab(at('wrong-kernel', ...always)),
    },
  },
  rules: {
    'The kernel panics when rules are loaded': {
      'patched, once': passes(atRules('panic-at-command', 2)),
      'base, always': blamesLab(atRules('panic-at-command', 1, 4)),
      'patched, always': blamesPatch('panics-under-load', atRules('panic-at-command', 2, 3)),
    },
    'The rules are refused': {
      'by patched, once': passes(atRules('command-fails', 2)),
      'by patched, always': blamesPatch('does-not-load', atRules('command-fails', 2, 3)),
    },
    'The rules cut the management network of the DUT': {
      'patched, once': passes(atRules('cut-off', 2)),
      'base, without power control': losesDut({ ...atRules('cut-off', 1), ...noPower }),
    },
    'The kernel panics under load': {
      'patched, once': passes(at('panic-under-load', 2)),
      'base, always': blamesLab({ base: panicsUnderLoad }),
      'patched, always': blamesPatch('panics-under-load', { patched: panicsUnderLoad }),
    },
  },
} satisfies Record<string, Record<string, Record<string, Case>>>;

const needs = ['sshd', 'ssh-keygen', 'git', 'flock'];

/** Runs a whole gate for each case of a part. */
export function survives(part: keyof typeof parts): void {
  describeWith(needs, 'a FreeBSD testbed survives', () => {
    let home: string;
    let buildHost: Sshd;

    beforeAll(async () => {
      home = mkdtempSync(join(tmpdir(), 'ppsgate-builder-'));
      buildHost = await startSshd(undefined, [freebsdBuilder(home).bin, process.env.PATH].join(delimiter));
    });
    afterAll(async () => {
      await buildHost.stop();
      rmSync(home, { recursive: true });
    });

    describe.each(Object.entries<Record<string, Case>>(parts[part]))('%s', (_, cases) => {
      test.each(Object.entries(cases))('%s', async (_name, one) => {
        const { repeated, ...seen } = await judge(one, buildHost);
        const { ending, exit, costsNothing, isLost } = one;
        expect(seen).toEqual({
          ending,
          exit,
          error: isLost ? expect.stringMatching(/\bDUT\b/) : expect.anything(),
          left: { dut: isLost ? 'lost' : 'as it was', programs: 0, connections: 0 },
        });
        if (exit === 0) expect(repeated).toBe(costsNothing ? 0 : 1);
      });
    });
  });
}

const traffic = {
  flows: 2000,
  frameBytes: 64,
  warmUpSeconds: 0,
  settleSeconds: 4,
  measureSeconds: 20,
  measureAtLeastSeconds: 12,
  runsPerTrial: 1,
};

/** Judges a patch by the production path: one cell, two runs of each variant. */
async function judge(one: Case, buildHost: Sshd) {
  const lab = await startFreebsdLab({
    kernel: { ident: 'own' },
    noise: { perBoot: 0.0005, perSecond: 0.001 },
    timing: { bootSeconds: 20, dumpSeconds: 5 },
    ...one.lab,
    faults: one.faults ?? [],
  });
  onTestFinished(() => lab.stop());
  const folder = temporaryFolder();
  const kernels = kernelsOf(one, folder);
  const testbed = testbedOf(lab, folder);
  testbed.dut.boot.limitSeconds = 120;
  if (one.hasNoPower) delete testbed.dut.power;
  if (one.hasConsole) testbed.dut.console = labConsole;
  const builder = one.builds && builderOf(one.builds, kernels, buildHost, folder);
  if (builder) testbed.builder = builder.config;
  const config = aConfig({
    testbeds: { shelf: testbed },
    scenarios: ['pf-stateful'],
    traffic,
    gate: { ...gateConfig, design: 'fixed', maxRunsPerVariant: 2 },
  });
  const deps = watched(depsOf(lab));
  const cancel = new AbortController();
  const events: ExperimentEvent[] = [];
  one.arrange?.(lab, () => cancel.abort(new Error('cancelled')));
  const end = await gate(
    {
      patch: pullRequest,
      config,
      testbeds: ['shelf'],
      seed: 1,
      kernels: builder ? undefined : kernels,
    },
    join(folder, 'work'),
    {
      repository: builder?.repository ?? repositoryOf('', ''),
      history: memoryHistory(),
      now: () => new Date(lab.clock.now() * 1000),
      onEvent: (event) => events.push(event),
      reserve: async ([name = '']) => unshared(name, (traffic) => openFreebsdTestbed(name, testbed, traffic, deps)),
      signal: cancel.signal,
    },
  ).then(
    ({ outcome }): End => ({ outcome, exit: exitCodes[conclusionOfResult({ outcome })] }),
    (error: unknown): End => ({
      error,
      exit: cancel.signal.aborted ? exitCodes.cancelled : exitCodes[conclusionOfError(error)],
    }),
  );
  const generators = new Set([...lab.senders, lab.receiver]);
  const programs = [...generators].reduce((sum, { machine }) => sum + machine.programs.size, 0);
  return {
    ending: 'error' in end ? 'error' : end.outcome.kind === 'judged' ? end.outcome.verdict : end.outcome.kind,
    exit: end.exit,
    error: 'error' in end && end.error instanceof Error ? end.error.message : '',
    repeated: repeatedRuns(events),
    left: { dut: stateOfDut(lab), programs, connections: deps.open.size },
  };
}

function kernelsOf({ base, patched, patchedBytes = 0 }: Case, folder: string) {
  const write = (ident: string, behaviour: Behaviour = { kind: 'works' }, bytes = 0): string => {
    const path = join(folder, `${ident}.tar`);
    const options = [`options PADDING="${'x'.repeat(bytes)}"`];
    writeFileSync(path, kernelArchive({ ident, behaviour, options }));
    return path;
  };
  return { base: write('base', base), patched: write('patched', patched, patchedBytes) };
}

/** Counts the open connections. */
function watched(deps: FreebsdDeps): FreebsdDeps & { open: Set<Host> } {
  const open = new Set<Host>();
  return {
    ...deps,
    open,
    async connect(config, label) {
      const host = await deps.connect(config, label);
      const close = async () => {
        open.delete(host);
        await host.close();
      };
      open.add(host);
      return { ...host, close, [Symbol.asyncDispose]: close };
    },
  };
}

type End = { outcome: Outcome; exit: number } | { error: unknown; exit: number };

/** Counts the runs that failed or did not count. */
const repeatedRuns = (events: readonly ExperimentEvent[]): number =>
  events.reduce((sum, event) => {
    if (event.kind !== 'ended') return sum;
    if (event.entry.kind === 'failed') return sum + 1;
    if (event.entry.kind !== 'measured') return sum;
    return sum + event.entry.runs.filter(({ validity, pps }) => validity.kind === 'invalid' || pps === 0).length;
  }, 0);

/** A DUT that was never reached was never touched. */
function stateOfDut(lab: FreebsdLab): string {
  const { stage, power, kernel, leftovers, nextboot, scenario, pf, ipfw } = lab.state();
  if (stage !== 'up' || lab.dut.machine.isCutOff) return 'lost';
  const isOwn = power === 'on' && kernel === 'own' && nextboot === undefined;
  const isBare = !pf.isEnabled && pf.rules.length + ipfw.rules.length === 0;
  return isOwn && isBare && scenario === 'forwarding' && leftovers.length === 0
    ? 'as it was'
    : JSON.stringify(lab.state());
}
