// Runs `ppsgate testbeds check`.

import { loadConfig } from '../../config/load.ts';
import { whyNotSent } from '../../config/packets.ts';
import type { Config, TestbedConfig } from '../../config/schema.ts';
import { healthPurpose } from '../../gate/estimate/queue.ts';
import { openFlightLog } from '../../gate/flight-log.ts';
import { readLab } from '../../gate/reserve/records.ts';
import { realDeps } from '../../gate/testbeds/open-testbed.ts';
import { openReservations, whoami } from '../../gate/testbeds/reserve.ts';
import { type Diagnostic, skipped, wrong } from '../../lab/check/diagnostic.ts';
import { checkFreebsdTestbed, type FreebsdCheck } from '../../lab/check/freebsd-check.ts';
import { checkLinuxTestbed } from '../../lab/check/linux-check.ts';
import { checkVirtualTestbed } from '../../lab/check/virtual-check.ts';
import { exitCodes } from '../../model/conclusion.ts';
import { configPath, namedTestbed } from '../find-config.ts';
import type { Call } from '../run.ts';
import { hasColours, oneLine, print, printJson } from '../table.ts';
import { diagnosticText, summary } from './diagnostics-text.ts';

type CheckOptions = {
  config?: string;
  json?: true;
  traffic?: boolean;
  power?: true;
  record?: string;
};

/** Prints each diagnostic at once, or with `json` all at the end. */
export async function run(name: string, options: CheckOptions, { signal }: Call): Promise<number> {
  const path = configPath(options.config);
  const config = await loadConfig(path);
  const testbed = namedTestbed(config, path, name);
  const { json, traffic = true, power = false, record } = options;
  using flightLog = record === undefined ? undefined : await openFlightLog(record, config);
  const notify = (sentence: string) => void (json ? process.stderr : process.stdout).write(`… ${sentence}\n`);
  const diagnostics: Diagnostic[] = [];
  const look = async (signal: AbortSignal) => {
    const deps = { ...(flightLog?.wrap(realDeps) ?? realDeps), notify, signal };
    const check = { name, testbed, config, traffic, power, deps };
    for await (const diagnostic of diagnosticsOf(check)) {
      diagnostics.push(diagnostic);
      if (!json) print(diagnosticText(diagnostic, hasColours(process.stdout)));
    }
  };
  // Serial over LAN has one session: a gate that records it would lose its own.
  const isMeddling = testbed.kind === 'freebsd' && (traffic || power || testbed.dut.console?.kind === 'ipmi');
  await (isMeddling ? keptFromOthers({ name, config, notify, signal }, look) : look(signal));
  if (json) printJson({ testbed: name, diagnostics });
  else print(summary(diagnostics));
  return diagnostics.some(({ kind }) => kind === 'wrong') ? exitCodes.infrastructure : exitCodes.pass;
}

type Keeping = {
  name: string;
  config: Config;
  notify(sentence: string): void;
  signal: AbortSignal;
};

/** Waits until the testbed is free, unless it is in quarantine or reserved for this command. */
async function keptFromOthers(
  { name, config, notify, signal }: Keeping,
  look: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  if (process.env.PPSGATE_TESTBED === name) return look(signal);
  const onWait = (_: unknown, text: string) => notify(oneLine(text));
  await using reservations = await openReservations(config, { signal, notify, onWait });
  const { quarantines } = await readLab(reservations.store);
  if (quarantines.has(name)) return await look(signal);
  const holder = { who: whoami(), purpose: healthPurpose };
  const lease = await reservations.hold(name, { priority: 'patch', holder });
  try {
    await look(AbortSignal.any([signal, lease.signal]));
  } finally {
    const isClean = lease.holding.leftBy.length === 0;
    await lease.release({ outcome: 'was checked', isClean });
  }
}

type Check = {
  name: string;
  testbed: TestbedConfig;
  config: Config;
  traffic: boolean;
  power: boolean;
  deps: Parameters<typeof checkFreebsdTestbed>[1];
};

function diagnosticsOf(check: Check): AsyncIterable<Diagnostic> | Diagnostic[] {
  const { name, testbed, config, traffic, power, deps } = check;
  switch (testbed.kind) {
    case 'virtual':
      return checkVirtualTestbed(testbed, deps);
    case 'embedded-linux':
      return [skipped(name, 'nothing to check, because it is on this machine; see `ppsgate lab check`')];
    case 'linux':
      return checkLinuxTestbed(testbed, deps);
    case 'freebsd': {
      const { families, traffic: trial, frameSizes } = config;
      const unsent = whyNotSent(trial.packets);
      if (unsent !== undefined) {
        return [wrong('the packets of `traffic`', `${name} ${unsent.why}`, unsent.fix)];
      }
      const request: FreebsdCheck = {
        name,
        testbed,
        families,
        traffic: trial,
        sends: traffic,
        cycles: power,
        ...(frameSizes && { frameSizes }),
      };
      return checkFreebsdTestbed(request, deps);
    }
  }
}
