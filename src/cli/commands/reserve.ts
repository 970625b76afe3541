// `ppsgate reserve`: reserves a testbed while a command runs.
import type { Command } from 'commander';
import { loadConfig } from '../../config/load.ts';
import { parsePriority } from '../../config/overrides.ts';
import { type Config, isOnThisMachine } from '../../config/schema.ts';
import { testbedsFor } from '../../config/select-testbeds.ts';
import { showProgress } from '../../gate/progress.ts';
import { openReservations, whoami } from '../../gate/testbeds/reservations.ts';
import type { LeasedTestbed } from '../../gate/testbeds/reserve.ts';
import { reasonOf } from '../../model/one-line.ts';
import { UsageError } from '../../model/usage-error.ts';
import { runToExit } from '../../system/exit.ts';
import { type CommandEnd, runInForeground } from './foreground.ts';
import { configPath } from './named-testbed.ts';
import { oneLine } from './table.ts';

export function define(reserve: Command): void {
  reserve
    .argument('<selector>', 'name, or required properties like "mellanox and 40G"')
    .argument('[command...]', 'after two dashes')
    .option('--purpose <text>', 'purpose, visible to others', 'by hand')
    .option('--priority <name>', 'priority in the queue: release, patch or rerun', 'patch')
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .addHelpText('after', details)
    .action(async (selector: string, command: string[], options: object) => {
      await runToExit(
        (signal) => runReserve(selector, command, options, signal),
        reserve.optsWithGlobals(),
      );
    });
}

const details = `
Examples:
  ppsgate reserve hp-t540 --purpose "new cables" -- ssh root@192.0.2.11
  ppsgate reserve "chelsio and 10G" -- \\
    sh -c 'ssh "root@$PPSGATE_DUT" pmcstat -T'

The command has these in its environment:
  PPSGATE_TESTBED  name of the testbed
  PPSGATE_DUT      host of its DUT; not set for the embedded lab
  PPSGATE_TOKEN    number of the reservation: higher than of any before

After any end of the command, the testbed's base is restored, and the testbed is
released. If the testbed is lost, the command gets SIGTERM, and SIGKILL 10 s
later.

Exits with the code of the command, 4 if no testbed was reserved or it was lost,
and 2 on wrong usage.`;

type ReserveOptions = { config?: string; purpose?: string; priority?: string };

/** Returns the command's exit code; throws if nothing was reserved, or the testbed was lost. */
async function runReserve(
  selector: string,
  command: readonly string[],
  { config: path, purpose = 'by hand', priority: named }: ReserveOptions,
  signal: AbortSignal,
): Promise<number> {
  // A gate accepts an empty name for any testbed; here it is probably an unset variable.
  if (selector.trim() === '') {
    throw new UsageError(
      '<selector> is empty: name a testbed, or required properties like "mellanox and 40G".',
    );
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
  Object.hasOwn(config.testbeds, selector)
    ? [selector]
    : testbedsFor(config, selector, '<selector>');

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
    notify(
      `${name} could not be restored to its base (${reasonOf(error)}): its next holder restores it.`,
    );
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
