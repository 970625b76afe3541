// Defines the commands on testbeds and on the lab inside this machine.
import type { Command } from 'commander';
import { run } from '../run.ts';

export function addLabCommands(program: Command): void {
  const lab = program
    .command('lab')
    .description('set up, remove or check the lab inside this machine')
    .addHelpText('after', '\nExample:\n  sudo ppsgate lab up && ip netns exec ppsgate-dut ip route');
  lab
    .command('up')
    .description('set up the three namespaces, their cables and their sshd; replaces an earlier lab')
    .action(run(async () => ({ run: (await import('./lab.ts')).up })));
  lab
    .command('down')
    .description('remove the lab, and every process in it')
    .action(run(async () => ({ run: (await import('./lab.ts')).down })));
  lab
    .command('check')
    .description('check that this machine can run the lab, and show what exists of one')
    .action(run(async () => ({ run: (await import('./lab.ts')).check })));

  const testbeds = program
    .command('testbeds')
    .description('show the holders of testbeds; list, check and maintain those of ppsgate.yml')
    .addHelpText('after', overviewDetails);
  testbeds
    .command('show', { isDefault: true })
    .description('print holders, their expected ends, and the queue (the default)')
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .option('-w, --watch', 'show it again at each change, until Ctrl-C')
    .option('--json', 'print it as JSON; with --watch, one line per change')
    .addHelpText('after', overviewDetails)
    .action(run(() => import('./show.ts')));

  testbeds
    .command('list')
    .description('print name, kind, DUT, ports and capabilities, one line each')
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .option('--json', 'print them as JSON')
    .addHelpText('after', '\nExample:\n  ppsgate testbeds list')
    .action(run(() => import('./list.ts')));

  testbeds
    .command('check')
    .description('check logins, ports, settings, routes, kernels, builder, power and speed')
    .argument('<name>', 'testbed of the configuration')
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .option('--no-traffic', 'send no packets')
    .option('--power', 'turn the DUT off and on, and wait until it is up again')
    .option('--record <file>', 'log all commands and replies of the machines')
    .option('--json', 'print the diagnostics as JSON, at the end')
    .addHelpText(
      'after',
      `
Example:
  ppsgate testbeds check hp-t540 --no-traffic

Exits 0 if all is well, 2 for an unknown name, and 4 if something is wrong.`,
    )
    .action(run(() => import('./check.ts')));

  testbeds
    .command('self-test')
    .description('test everything that a gate does on a FreeBSD testbed, accidents included')
    .argument('<name>', 'testbed of the configuration')
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .option('--yes', 'cause the accidents without asking')
    .option(
      '--skip <parts>',
      'parts to leave out, separated by commas: check, scenarios, trials, profile, panic, hang, noise',
    )
    .option(
      '--base-kernel <file>',
      "archive of the kernel to try, for nanobsd an image (default: the builder's, or the DUT's own)",
    )
    .option('--resume <dir>', 'continue an interrupted self-test')
    .option('--record <file>', 'log all commands and replies of the machines')
    .option('--json', 'print the diagnostics as JSON, at the end')
    .addHelpText(
      'after',
      `
Boots a kernel under another name, installs each scenario, measures each cell,
takes a profile, makes the DUT panic and hang (each only after asking), measures
the noise of six boots, and undoes all of it.

Example:
  ppsgate testbeds self-test hp-t540
  ppsgate testbeds self-test hp-t540 --yes --skip hang,noise

Exits 0 if all is well, 2 on wrong usage, and 4 if something is wrong.`,
    )
    .action(run(() => import('./self-test.ts')));

  testbeds
    .command('health')
    .description('check that free testbeds are ready for the next patch')
    .argument('[names...]', 'testbeds of the configuration (default: all)')
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .option('--json', 'print the diagnostics as JSON, at the end')
    .addHelpText(
      'after',
      `
Example:
  ppsgate testbeds health hp-t540 --json

Reserves each testbed for its check, and skips one that is held or waited for.
Puts a faulty testbed into quarantine. Lifts a quarantine if all is well and
ppsgate itself had set it; one set by a person stays.

As JSON:
  [{ "testbed", "kind": "well" | "wrong", "diagnostics": […],
     "quarantine": { "kind": "none" | "lifted" | "stands" } }]
Or "kind": "in-use" with "why".

Exits 0 if every checked testbed is well, 2 for an unknown name, and 4 if
something is wrong.`,
    )
    .action(run(() => import('./health.ts')));

  testbeds
    .command('log')
    .description('print past reservations: holder, duration and outcome')
    .argument('[name]', 'one testbed alone')
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .option('--json', 'print it as JSON')
    .addHelpText('after', '\nExample:\n  ppsgate testbeds log hp-t540 | tail')
    .action(run(() => import('./log.ts')));

  program
    .command('reserve')
    .description('reserve a testbed while a command of yours runs')
    .argument('<selector>', 'name, or required properties like "mellanox and 40G"')
    .argument('[command...]', 'after two dashes')
    .option('--purpose <text>', 'purpose, visible to others', 'by hand')
    .option('--priority <name>', 'priority in the queue: release, patch or rerun', 'patch')
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .addHelpText(
      'after',
      `
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
and 2 on wrong usage.`,
    )
    .action(run(() => import('./reserve.ts')));

  program
    .command('release')
    .description('take a testbed from its holder, or release one that a gate left')
    .argument('[name]', 'testbed of the configuration')
    .option('--force', 'take it from its holder, and so end the measurement')
    .option('--by <name>', 'your name, for the log (default: prompts for it)')
    .option('--yes', 'do not ask')
    .option('-d, --directory <dir>', 'work directory of an ended gate: release its testbed')
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .addHelpText(
      'after',
      `
Examples:
  ppsgate release hp-t540 --force
  ppsgate release --directory ppsgate-gate-20261120-231655

Exits 0 even if it was free, 2 on wrong usage, and 4 if the store cannot be
used.`,
    )
    .action(run(() => import('./release.ts')));

  program
    .command('quarantine')
    .description('put a testbed into quarantine, or lift it')
    .argument('<name>', 'testbed of the configuration')
    .option('--reason <text>', 'reason, visible to all')
    .option('--lift', 'lift the quarantine')
    .option('-c, --config <file>', 'configuration', 'ppsgate.yml')
    .addHelpText(
      'after',
      `
Examples:
  ppsgate quarantine hp-t540 --reason "port 1 loses its link"
  ppsgate quarantine hp-t540 --lift

Exits 0 even if there was none to lift, 2 on wrong usage, and 4 if the store
cannot be used.`,
    )
    .action(run(() => import('./quarantine.ts')));
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
        "held": { "who": "alice@lab1", "purpose": "gate", "patch": "#12",
                  "url": "https://…", "testbed": "hp-t540",
                  "priority": "patch", "token": 1763647351207,
                  "since": "2026-11-20T14:02:31.207Z",
                  "expectedUntil": "2026-11-20T14:55:31.207Z" } },
      { "name": "rcc-ve", "kind": "freebsd", "state": "quarantine",
        "quarantine": { "reason": "…", "by": "ppsgate",
                        "since": "2026-11-20T13:10:02.114Z" } },
      { "name": "shelf", "kind": "linux", "state": "left-behind",
        "leftBy": [{ "who": "carol@lab2", "purpose": "by hand",
                     "testbed": "shelf", "since": "…" }] },
      { "name": "rack-4", "kind": "linux", "state": "free" }
    ],
    "queue": [
      { "place": 1, "of": 1, "expectedSeconds": 2100, "who": "bob@lab2",
        "purpose": "gate", "patch": "#14", "priority": "patch",
        "wants": ["hp-t540"], "since": "2026-11-20T14:11:09.530Z" }
    ]
  }`;
