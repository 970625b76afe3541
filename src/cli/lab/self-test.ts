// Runs `ppsgate testbeds self-test`.

import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { FreebsdTestbed } from '../../config/freebsd-testbed.ts';
import { loadConfig } from '../../config/load.ts';
import { whyNotSent } from '../../config/packets.ts';
import type { Config } from '../../config/schema.ts';
import { historyFile } from '../../gate/experiment/history.ts';
import { readRules } from '../../gate/experiment/plan.ts';
import { type FlightLog, openFlightLog } from '../../gate/flight-log.ts';
import { readLab } from '../../gate/reserve/records.ts';
import { runSelfTest } from '../../gate/self-test/self-test.ts';
import { beginJournal, resumeJournal } from '../../gate/self-test/self-test-journal.ts';
import {
  type SelfTestDeps,
  type SelfTestPart,
  type SelfTestRequest,
  selfTestParts,
} from '../../gate/self-test/self-test-request.ts';
import { realDeps } from '../../gate/testbeds/open-testbed.ts';
import { openReservations, whoami } from '../../gate/testbeds/reserve.ts';
import { selfTestDirectory } from '../../gate/work-directory.ts';
import type { Diagnostic } from '../../lab/check/diagnostic.ts';
import type { FreebsdDeps } from '../../lab/freebsd/freebsd-deps.ts';
import { expectKernel, kernelFormOf } from '../../lab/given-kernel.ts';
import type { KeepLog } from '../../lab/testbed.ts';
import { exitCodes } from '../../model/conclusion.ts';
import { endedEarly } from '../../model/lease-outcome.ts';
import { expected } from '../../model/units.ts';
import { UsageError } from '../../model/usage-error.ts';
import { configPath, namedTestbed } from '../find-config.ts';
import { askOnTerminal } from '../prompt.ts';
import type { Call } from '../run.ts';
import { hasColours, oneLine, print, printJson } from '../table.ts';
import { diagnosticText, summary } from './diagnostics-text.ts';

type SelfTestOptions = {
  config?: string;
  yes?: true;
  skip?: string;
  baseKernel?: string;
  resume?: string;
  record?: string;
  json?: true;
};

/** Prints each diagnostic at once, or with `json` all at the end. */
export async function run(name: string, options: SelfTestOptions, { signal, closingLines }: Call): Promise<number> {
  const { json, yes = false, baseKernel, resume, record } = options;
  const skip = partsOf(options.skip);
  const path = configPath(options.config);
  const config = await loadConfig(path);
  const testbed = freebsdOnly(namedTestbed(config, path, name), name);
  const form = kernelFormOf(testbed);
  if (baseKernel !== undefined && form) await expectKernel('--base-kernel', baseKernel, form);
  const unsent = whyNotSent(config.traffic.packets);
  if (unsent !== undefined) throw new UsageError(`${name} ${unsent.why}: ${unsent.fix}.`);
  const rules = await readRules(config);
  const earlier = resume === undefined ? undefined : resumeJournal(resolve(resume), name);
  const notify = (sentence: string) => void (json ? process.stderr : process.stdout).write(`… ${oneLine(sentence)}\n`);
  using flightLog = record === undefined ? undefined : await openFlightLog(record, config);
  await using place = selfTestDirectory(notify);
  const directory = resolve(await place.open({ resume }));
  const diagnostics: Diagnostic[] = [];
  const resumeAdvice = `Continue with 'ppsgate testbeds self-test ${name}${sameWords(options)} --resume ${directory}'.`;

  const work = async (machines: FreebsdDeps, held: AbortSignal) => {
    const journal = earlier ?? (await begun(directory, name));
    closingLines.push(resumeAdvice);
    const request = { name, testbed, config, rules, skip, baseKernel, directory, journal };
    const deps: SelfTestDeps = {
      ...machines,
      notify,
      signal: held,
      agrees: agreement(yes, held),
      keepLog: keepIn(directory),
      history: historyFile(config.history),
    };
    for await (const diagnostic of runSelfTest(request, deps)) {
      diagnostics.push(diagnostic);
      if (!json) print(diagnosticText(diagnostic, hasColours(process.stdout)));
    }
  };
  await onTestbed({ name, testbed, config, notify, signal, flightLog }, work);
  const isWell = diagnostics.every(({ kind }) => kind !== 'wrong');
  if (json) printJson({ testbed: name, directory, diagnostics });
  else print(isWell ? summary(diagnostics) : `${summary(diagnostics)} ${resumeAdvice}`);
  return isWell ? exitCodes.pass : exitCodes.infrastructure;
}

function freebsdOnly(testbed: Config['testbeds'][string], name: string): FreebsdTestbed {
  if (testbed.kind === 'freebsd') return testbed;
  throw new UsageError(
    `${name} is of kind ${testbed.kind}, which boots no kernel: self-test a testbed of kind freebsd, or see \`ppsgate testbeds check ${name}\`.`,
  );
}

function sameWords({ config = 'ppsgate.yml', skip, baseKernel }: SelfTestOptions): string {
  return [
    config === 'ppsgate.yml' ? '' : ` --config ${config}`,
    skip === undefined ? '' : ` --skip ${skip}`,
    baseKernel === undefined ? '' : ` --base-kernel ${baseKernel}`,
  ].join('');
}

function partsOf(text = ''): ReadonlySet<SelfTestPart> {
  const words = text.split(',').flatMap((word) => word.trim() || []);
  return new Set(
    words.map((word) => {
      const part = selfTestParts.find((known) => known === word);
      if (part !== undefined) return part;
      throw new UsageError(`--skip: ${expected(`one of ${selfTestParts.join(', ')}`)({ input: word })}.`);
    }),
  );
}

async function begun(directory: string, name: string): Promise<SelfTestRequest['journal']> {
  await mkdir(directory, { recursive: true });
  return beginJournal(directory, name, new Date());
}

function agreement(yes: boolean, signal: AbortSignal): SelfTestDeps['agrees'] {
  const ask = askOnTerminal(signal);
  return async (question) => {
    if (yes) return true;
    return /^y(es)?$/i.test((await ask?.(`${question} [y/N] `)) ?? '');
  };
}

const keepIn =
  (directory: string): KeepLog =>
  async (name, content) => {
    const path = join(directory, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  };

type Keeping = {
  name: string;
  testbed: FreebsdTestbed;
  config: Config;
  notify(sentence: string): void;
  signal: AbortSignal;
  flightLog: FlightLog | undefined;
};

/** Waits until the testbed is free; within `ppsgate reserve` it is held already. */
async function onTestbed(
  { name, testbed, config, notify, signal, flightLog }: Keeping,
  work: (machines: FreebsdDeps, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  if (process.env.PPSGATE_TESTBED === name) {
    return work(flightLog?.wrap(realDeps) ?? realDeps, signal);
  }
  const onWait = (_: unknown, text: string) => notify(text);
  await using reservations = await openReservations(config, { signal, notify, onWait, flightLog });
  const quarantine = (await readLab(reservations.store)).quarantines.get(name);
  if (quarantine !== undefined) {
    throw new UsageError(
      `${name} is in quarantine (${oneLine(quarantine.reason)}): lift it with \`ppsgate quarantine ${name} --lift\`, and run the self-test again.`,
    );
  }
  const holder = { who: whoami(), purpose: 'self-test' };
  const reserved = await reservations.reserve([name], { priority: 'patch', holder });
  let outcome = endedEarly('its self-test did not finish');
  try {
    const held = AbortSignal.any([signal, reserved.signal]);
    await work(reserved.depsOf(testbed), held);
    outcome = 'was self-tested';
  } finally {
    const trouble = await reserved.giveBack(outcome);
    if (trouble !== undefined) notify(trouble);
  }
}
