// Runs `ppsgate reserve`.

import { loadConfig } from '../../config/load.ts';
import { parsePriority } from '../../config/overrides.ts';
import { type Config, isOnThisMachine } from '../../config/schema.ts';
import { testbedsFor } from '../../config/select-testbeds.ts';
import { showProgress } from '../../gate/progress.ts';
import { type LeasedTestbed, openReservations, whoami } from '../../gate/testbeds/reserve.ts';
import { reasonOf } from '../../model/one-line.ts';
import { UsageError } from '../../model/usage-error.ts';
import { configPath } from '../find-config.ts';
import type { Call } from '../run.ts';
import { oneLine } from '../table.ts';
import { type CommandEnd, runInForeground } from './foreground.ts';

type ReserveOptions = { config?: string; purpose?: string; priority?: string };

/** Returns the command's exit code; throws if nothing was reserved, or the testbed was lost. */
export async function run(
  selector: string,
  command: readonly string[],
  { config: path, purpose = 'by hand', priority: named }: ReserveOptions,
  { signal }: Call,
): Promise<number> {
  // A gate accepts an empty name for any testbed; here it is probably an unset variable.
  if (selector.trim() === '') {
    throw new UsageError('<selector> is empty: name a testbed, or required properties like "mellanox and 40G".');
  }
  if (command.length === 0) {
    throw new UsageError(
      `There is no command to run on ${selector}: put one after two dashes, like \`ppsgate reserve ${selector} -- ssh root@dut\`.`,
    );
  }
  const config = await loadConfig(configPath(path));
  const priority = parsePriority(named, '--priority');
  const names = namesOf(config, selector);
  const { show, notify, end } = describeTraffic(config);
  await using reservations = await openReservations(config, {
    signal,
    notify,
    onWait: (_, text) => show(oneLine(text)),
  });
  const holder = { who: whoami(), purpose };
  const reserved = await reservations.reserve(names, { priority, holder }).finally(end);

  let outcome = 'its command was not run';
  try {
    signal.throwIfAborted();
    notify(`${reserved.name} is reserved.`);
    const commandEnd = await runInForeground(command, {
      environment: environmentOf(reserved, config),
      signal: reserved.signal,
      graceSeconds: 10,
    });
    outcome = outcomeOf(commandEnd);
    reserved.signal.throwIfAborted();
    return codeOf(commandEnd, command);
  } finally {
    await giveBack(reserved, config, outcome, notify);
  }
}

/** A testbed named explicitly need not support the whole configuration. */
const namesOf = (config: Config, selector: string): string[] =>
  Object.hasOwn(config.testbeds, selector) ? [selector] : testbedsFor(config, selector, '<selector>');

function describeTraffic({ gate }: Config) {
  const progress = showProgress(process.stderr, gate.metric, () => performance.now());
  return {
    show: (text: string) => progress.onEvent({ kind: 'preparing', text }),
    notify(sentence: string) {
      progress.end();
      process.stderr.write(`ppsgate: ${oneLine(sentence)}\n`);
    },
    end: progress.end,
  };
}

function environmentOf({ name, lease }: LeasedTestbed, { testbeds }: Config): NodeJS.ProcessEnv {
  const testbed = testbeds[name];
  const isElsewhere = testbed !== undefined && !isOnThisMachine(testbed);
  return {
    ...process.env,
    PPSGATE_TESTBED: name,
    PPSGATE_TOKEN: String(lease.token),
    PPSGATE_DUT: isElsewhere ? testbed.dut.host : undefined,
  };
}

const outcomeOf = (commandEnd: CommandEnd): string =>
  commandEnd.kind === 'exited'
    ? `its command ended with ${commandEnd.code}`
    : `its command could not be started: ${commandEnd.why}`;

function codeOf(commandEnd: CommandEnd, [program = '']: readonly string[]): number {
  if (commandEnd.kind === 'exited') return commandEnd.code;
  throw new UsageError(
    `The command ${program} cannot be started (${commandEnd.why}): name an existing program after the two dashes.`,
  );
}

/** Restores the base before the check, as users leave traces. */
async function giveBack(
  reserved: LeasedTestbed,
  config: Config,
  outcome: string,
  notify: (sentence: string) => void,
): Promise<void> {
  const { name, signal, lease } = reserved;
  if (signal.aborted) return;
  try {
    await restore(reserved, config, notify);
  } catch (error) {
    notify(`${name} could not be restored to its base (${reasonOf(error)}): its next holder restores it.`);
    await lease.release({ outcome, isClean: false }).catch((error) => notify(reasonOf(error)));
    return;
  }
  const trouble = await reserved.giveBack(outcome);
  if (trouble !== undefined) notify(trouble);
}

async function restore(
  { name, open }: LeasedTestbed,
  { testbeds, traffic }: Config,
  notify: (sentence: string) => void,
): Promise<void> {
  // An embedded lab is started anew for each use.
  if (isOnThisMachine(testbeds[name])) return;
  notify(`Restoring the base of ${name}.`);
  await (await open(traffic)).restore();
}
