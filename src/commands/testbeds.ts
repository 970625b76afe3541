// `ppsgate testbeds`: who has which, what there are, and whether they are well.
import type { Command } from 'commander';
import { runToExit } from '../exit.ts';

export function addTestbedsCommand(program: Command): void {
  const testbeds = program
    .command('testbeds')
    .description('show who has which testbed; list, check or look after those of ppsgate.yml')
    // The subcommands take it over: wrong usage is 2 for them, too.
    .exitOverride()
    .addHelpText('after', overviewDetails);

  testbeds
    .command('show', { isDefault: true })
    .description(
      'print who has which, until when, and who waits: what happens without a subcommand',
    )
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .option('-w, --watch', 'show it anew whenever it changes, until Ctrl-C')
    .option('--json', 'print it as JSON; with --watch one line each time')
    .addHelpText('after', overviewDetails)
    .action(async (options: object) => {
      const { showTestbeds } = await import('./run-overview.ts');
      await runToExit((signal) => showTestbeds(options, signal), program.opts());
    });

  testbeds
    .command('list')
    .description('print name, kind, DUT, ports and capabilities, one line each')
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .option('--json', 'print them as JSON')
    .addHelpText('after', '\nExample:\n  ppsgate testbeds list')
    .action(async (options: object) => {
      const { listTestbeds } = await import('./run-testbeds.ts');
      await runToExit(() => listTestbeds(options), program.opts());
    });

  testbeds
    .command('check')
    .description('look at logins, ports, settings, routes, kernels, builder, power and speed')
    .argument('<name>', 'testbed of the configuration')
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .option('--no-traffic', 'send no packets')
    .option('--power', 'switch the DUT off and on, and wait until it is up again')
    .option('--json', 'print the findings as JSON, at the end')
    .addHelpText(
      'after',
      '\nExample:\n  ppsgate testbeds check hp-t540 --no-traffic\n\nExits 0 when all is well, 2 for an unknown name, 4 when something is wrong.',
    )
    .action(async (name: string, options: object) => {
      const { checkTestbed } = await import('./run-testbeds.ts');
      await runToExit((signal) => checkTestbed(name, options, signal), program.opts());
    });

  testbeds
    .command('health')
    .description('see whether testbeds that nobody has are as they should be before the next patch')
    .argument('[names...]', 'testbeds of the configuration (default: all)')
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .option('--json', 'print the findings as JSON, at the end')
    .addHelpText('after', healthDetails)
    .action(async (names: string[], options: object) => {
      const { checkHealth } = await import('./run-health.ts');
      await runToExit((signal) => checkHealth(names, options, signal), program.opts());
    });

  testbeds
    .command('log')
    .description('print what was reserved, by whom, for how long, and what came of it')
    .argument('[name]', 'one testbed alone')
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .option('--json', 'print it as JSON')
    .addHelpText('after', '\nExample:\n  ppsgate testbeds log hp-t540 | tail')
    .action(async (name: string | undefined, options: object) => {
      const { showLog } = await import('./run-log.ts');
      await runToExit(() => showLog(name, options), program.opts());
    });
}

const overviewDetails = `
Examples:
  ppsgate testbeds --watch
  ppsgate testbeds --json | jq -r '.testbeds[] | select(.state == "free").name'

As JSON, keys that do not apply are left out:
  {
    "at": "2026-11-20T14:20:31.000Z",
    "testbeds": [
      { "name": "hp-t540", "kind": "freebsd", "state": "held",
        "held": { "who": "alice@lab1", "purpose": "gate", "patch": "#12", "url": "https://…",
                  "testbed": "hp-t540", "priority": "patch", "token": 1763647351207,
                  "since": "2026-11-20T14:02:31.207Z", "expectedUntil": "2026-11-20T14:55:31.207Z" } },
      { "name": "rcc-ve", "kind": "freebsd", "state": "quarantine",
        "quarantine": { "reason": "…", "by": "ppsgate", "since": "2026-11-20T13:10:02.114Z" } },
      { "name": "shelf", "kind": "linux", "state": "left-behind",
        "leftBy": [{ "who": "carol@lab2", "purpose": "by hand", "testbed": "shelf", "since": "…" }] },
      { "name": "rack-4", "kind": "linux", "state": "free" }
    ],
    "queue": [
      { "place": 1, "of": 1, "expectedSeconds": 2100, "who": "bob@lab2", "purpose": "gate",
        "patch": "#14", "priority": "patch", "wants": ["hp-t540"], "since": "2026-11-20T14:11:09.530Z" }
    ]
  }`;

const healthDetails = `
Example:
  ppsgate testbeds health hp-t540 --json

Each is reserved for the look; one that somebody has or waits for is left alone. One that is not well goes into
quarantine. What ppsgate itself put there is lifted when all is well; what a person put there never is.

As JSON: [{ "testbed", "kind": "well" | "wrong", "findings": […], "quarantine": { "kind": "none" | "lifted" | "stands" } }],
or "kind": "in-use" with "why".

Exits 0 when all that was looked at is well, 2 for an unknown name, 4 when something is wrong.`;
