// Exercises everything that a gate does to a FreeBSD testbed, including accidents, before the first patch.

import type { Traffic } from '../../config/schema.ts';
import { BuilderError } from '../../kernel/builder-error.ts';
import {
  type CheckStep,
  type Diagnostic,
  ok,
  skipped,
  testbedFailed,
  walk,
  wrong,
} from '../../lab/check/diagnostic.ts';
import { checkFreebsdTestbed } from '../../lab/check/freebsd-check.ts';
import { healthOf } from '../../lab/check/health.ts';
import { BootMethodError, DutLostError } from '../../lab/freebsd/boot/boot.ts';
import { runningSystem } from '../../lab/freebsd/boot/boot-system.ts';
import { fingerprintOfDut, inspectDut } from '../../lab/freebsd/boots.ts';
import { type OpenFreebsd, openFreebsdMachines } from '../../lab/freebsd/freebsd-testbed.ts';
import { profile, trial } from '../../lab/freebsd/freebsd-trial.ts';
import { installRules, proofOf, removeRules } from '../../lab/freebsd/rules.ts';
import { provesScenario } from '../../lab/freebsd/scenario.ts';
import type { KeepLog, TrialOutcome } from '../../lab/testbed.ts';
import { formatDuration, formatPps } from '../../model/format.ts';
import { type Cell, cellName, type Scenario } from '../../model/scenario.ts';
import { HostError } from '../../system/host/host-error.ts';
import { cellsOf } from '../experiment/plan.ts';
import { hang, panic } from './accidents.ts';
import { baseName, bootBase, folderOf, plannedFor, readyBase, whyNot } from './base-variant.ts';
import { measureNoise } from './noise.ts';
import {
  goOn,
  type SelfTest,
  type SelfTestDeps,
  type SelfTestPart,
  type SelfTestRequest,
} from './self-test-request.ts';

/**
 * Yields each diagnostic as it is made; repeats those that passed in an earlier process from the journal. Always undoes
 * its changes. Throws the signal's reason, and errors that no machine caused.
 */
export async function* runSelfTest(request: SelfTestRequest, deps: SelfTestDeps): AsyncGenerator<Diagnostic> {
  let opened: OpenFreebsd | undefined;
  let isLost = false;
  const selfTest: SelfTest = {
    ...request,
    deps,
    cells: cellsOf(request.config),
    commit: '',
    async open() {
      if (opened !== undefined) return opened;
      const { name, testbed, config } = request;
      opened = await openFreebsdMachines(name, testbed, config.traffic, deps);
      // The check reports problems of the DUT's own kernel.
      await inspectDut(opened.lab.boots, config.families);
      await fingerprintOfDut(opened.lab.boots);
      return opened;
    },
  };
  const wayBack: CheckStep = {
    what: 'the way back',
    needs: [],
    async *run(what) {
      const machines = opened;
      opened = undefined;
      yield* goBack(selfTest, machines, what);
    },
  };
  const failed = (what: string, error: unknown): Diagnostic => {
    if (error instanceof BootMethodError || error instanceof BuilderError) {
      return wrong(what, error.message, goOn);
    }
    if (!(error instanceof DutLostError)) return testbedFailed(what, error);
    isLost = true;
    return wrong(what, error.message, 'check its console, and boot its own kernel');
  };
  const steps = stepsOf(selfTest).map((step): CheckStep => {
    const { what, run } = step;
    return {
      ...step,
      async *run() {
        if (isLost) yield skipped(what, 'skipped because the DUT is lost');
        else yield* recovered(what, run, opened);
      },
    };
  });
  try {
    yield* walk([...steps, wayBack], { signal: deps.signal, failed });
  } finally {
    await opened?.restore();
  }
}

/** Fails a step that loses a machine; the next step recovers it. */
async function* recovered(
  what: string,
  run: CheckStep['run'],
  machines: OpenFreebsd | undefined,
): AsyncGenerator<Diagnostic> {
  try {
    yield* await run(what);
  } catch (error) {
    if (!(error instanceof HostError) || machines === undefined) throw error;
    machines.lab.boots.booted = undefined;
    const { panic: message } = await machines.dut.recover();
    if (message === undefined) throw error;
    yield wrong(what, `the DUT panicked: ${message}`, goOn);
  }
}

const steps = {
  check: 'the check',
  kernel: 'the kernel of base',
  boot: 'a boot of that kernel',
  again: 'a second boot of that kernel',
  home: 'the boot after that',
} as const;

function stepsOf(selfTest: SelfTest): CheckStep[] {
  const { skip, cells, journal } = selfTest;
  const { scenarios } = selfTest.config;
  const has = (part: SelfTestPart) => !skip.has(part);
  const first = has('check') ? [steps.check] : [];
  const booted = [...first, steps.kernel, steps.boot];
  const remembered = (step: CheckStep): CheckStep => journal.remembered(step);
  return [
    ...(has('check') ? [remembered({ what: steps.check, needs: [], run: () => check(selfTest) })] : []),
    { what: steps.kernel, needs: first, run: (what) => readyBase(selfTest, what) },
    remembered({
      what: steps.boot,
      needs: [...first, steps.kernel],
      run: (what) => bootOnce(selfTest, 1, what),
    }),
    ...(has('scenarios') ? scenarios : []).map((scenario) =>
      remembered({
        what: `the rules of ${scenario}`,
        needs: booted,
        run: (what) => installAndRemove(selfTest, scenario, what),
      }),
    ),
    ...(has('trials') ? cells : []).map((cell) =>
      remembered({
        what: `${shortSeconds} s of ${cellName(cell)}`,
        needs: booted,
        run: (what) => shortTrial(selfTest, cell, what),
      }),
    ),
    ...(has('profile')
      ? [remembered({ what: 'a profile', needs: booted, run: (what) => sample(selfTest, what) })]
      : []),
    remembered({
      what: steps.again,
      needs: booted,
      run: (what) => bootOnce(selfTest, 2, what),
    }),
    remembered({ what: steps.home, needs: booted, run: (what) => bootHome(selfTest, what) }),
    ...(has('panic') ? [remembered({ what: 'a panic', needs: booted, run: (what) => panic(selfTest, what) })] : []),
    ...(has('hang') ? [remembered({ what: 'a hang', needs: booted, run: (what) => hang(selfTest, what) })] : []),
    ...(has('noise')
      ? [
          remembered({
            what: 'the noise of the lab',
            needs: booted,
            run: () => measureNoise(selfTest),
          }),
        ]
      : []),
  ];
}

const check = ({ name, testbed, config, skip, deps }: SelfTest): AsyncIterable<Diagnostic> => {
  const { families, traffic, frameSizes } = config;
  const what = { name, testbed, families, traffic, ...(frameSizes && { frameSizes }) };
  return checkFreebsdTestbed({ ...what, sends: !skip.has('trials'), cycles: false }, deps);
};

async function bootOnce(selfTest: SelfTest, boot: number, what: string): Promise<Diagnostic[]> {
  const { deps, testbed } = selfTest;
  deps.notify(`Booting it by ${testbed.dut.boot.method}: it takes a few minutes to come up again.`);
  const begun = deps.now();
  const trouble = await bootBase(selfTest, boot);
  if (trouble !== undefined) return [wrong(what, trouble, goOn)];
  const { dut, lab } = await selfTest.open();
  const { root, kernel } = await runningSystem(dut.host());
  const durations = formatDuration(deps.now() - begun);
  return [ok(what, `${kernel} of ${root} after ${durations}, ${lab.boots.booted?.kernel ?? ''}`)];
}

async function installAndRemove(selfTest: SelfTest, scenario: Scenario, what: string): Promise<Diagnostic[]> {
  const trouble = await bootBase(selfTest, 1);
  if (trouble !== undefined) return [wrong(what, trouble, goOn)];
  const host = (await selfTest.open()).dut.host();
  const refusal = await installRules(host, scenario, selfTest.rules);
  await removeRules(host);
  if (refusal !== undefined) {
    return [wrong(what, refusal, 'build the kernel and its modules with that firewall')];
  }
  const left = provesScenario('forwarding', await proofOf(host), { own: selfTest.rules });
  if (left.kind === 'in-force') return [ok(what, 'active, and removed again')];
  return [wrong(what, `a part of it remains: ${left.reason}`, 'reboot the DUT, and check it there')];
}

/** A receiver's rates must be steady for ten seconds. */
const shortSeconds = 10;

async function shortTrial(selfTest: SelfTest, cell: Cell, what: string): Promise<Diagnostic[]> {
  const { lab } = await selfTest.open();
  const { deps, config } = selfTest;
  deps.notify(`Sending ${cellName(cell)} for ${shortSeconds} s.`);
  const traffic: Traffic = {
    ...config.traffic,
    measureSeconds: shortSeconds + secondsToRise,
    measureAtLeastSeconds: shortSeconds + secondsToRise,
  };
  const planned = plannedFor(cell, 1, selfTest.cells.indexOf(cell) + 1);
  const keepLog: KeepLog = (name, text) => deps.keepLog(`short/${folderOf(cell)}/${name}`, text);
  const outcome = await trial({ ...lab, traffic }, planned, keepLog, deps.signal);
  return [trialDiagnostic(outcome, what)];
}

/** Seconds at each end of a trial with partial rates. */
const secondsToRise = 5;

function trialDiagnostic(outcome: TrialOutcome, what: string): Diagnostic {
  if (outcome.kind !== 'measured') return wrong(what, whyNot(outcome), goOn);
  const [run] = outcome.runs;
  if (run === undefined) return wrong(what, 'nothing was measured', goOn);
  const { validity, pps } = run;
  if (validity.kind === 'invalid') return wrong(what, validity.reason, goOn);
  if (pps === 0) return wrong(what, whyNot(outcome), goOn);
  return ok(what, `${formatPps(pps)} of ${formatPps(outcome.summary.offeredPps)} offered`);
}

const maxTries = 2;

async function sample(selfTest: SelfTest, what: string): Promise<Diagnostic[]> {
  const { config, cells, deps } = selfTest;
  const [cell] = cells;
  if (cell === undefined || config.profile === undefined) {
    return [skipped(what, '`profile` is switched off in ppsgate.yml')];
  }
  const trouble = await bootBase(selfTest, 1);
  if (trouble !== undefined) return [wrong(what, trouble, goOn)];
  const { lab } = await selfTest.open();
  const { seconds, event } = config.profile;
  deps.notify(`Sampling ${cellName(cell)} for ${seconds} s.`);
  let reason = '';
  for (let attempt = 1; attempt <= maxTries; attempt += 1) {
    const request = { cell, variant: baseName, seconds, event, attempt };
    const keepLog: KeepLog = (name, text) => deps.keepLog(`profile-${attempt}/${name}`, text);
    const outcome = await profile(lab, request, keepLog, deps.signal);
    if (outcome.kind === 'profiled') {
      const { event: sampled, busySamples } = outcome;
      return [ok(what, `${busySamples} busy samples of ${sampled}`)];
    }
    ({ reason } = outcome);
    if (outcome.kind === 'impossible') break;
  }
  return [wrong(what, reason, 'see docs/how-to/profiles.md, or set `profile: { enabled: false }`')];
}

async function bootHome(selfTest: SelfTest, what: string): Promise<Diagnostic[]> {
  const trouble = await bootBase(selfTest, 2);
  if (trouble !== undefined) return [wrong(what, trouble, goOn)];
  const { dut, lab } = await selfTest.open();
  const { deps, testbed } = selfTest;
  const { method } = testbed.dut.boot;
  deps.notify('Rebooting it once more: its own kernel must come up.');
  lab.boots.booted = undefined;
  // An image stays active until the machine's own is made active again.
  const outcome = await (method === 'nanobsd' ? dut.boot(undefined) : dut.rebootUnordered());
  if (outcome.kind === 'boot-failed') {
    const fix = `choose another \`boot.method\` than ${method}: a patch that panics would boot again and again`;
    return [wrong(what, outcome.reason, fix)];
  }
  const home = await runningSystem(dut.host());
  const byItself = method === 'nanobsd' ? '' : ' automatically';
  return [ok(what, `${home.kernel} of ${home.root} came up${byItself}`)];
}

async function* goBack(
  { testbed, deps }: SelfTest,
  machines: OpenFreebsd | undefined,
  what: string,
): AsyncGenerator<Diagnostic> {
  if (machines === undefined) {
    yield skipped(what, 'nothing was begun');
    return;
  }
  deps.notify('Restoring the original state.');
  await machines.restore();
  const found = await Array.fromAsync(healthOf(testbed, deps));
  const faults = found.filter(({ kind }) => kind === 'wrong');
  if (faults.length > 0) {
    yield* faults;
    return;
  }
  yield ok(what, 'its own kernel; no rules, files or programs of ppsgate');
}
