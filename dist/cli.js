import { Command, Help } from "./vendor/commander.js";
import { description, version } from "./package.js";
import { runToExit } from "./exit.js";

// src/commands/commands.ts
/** In the order of --help. */
const commands = [
	{
		name: "demo",
		takes: "[options]",
		description: "judge three small patches with real packets in a lab inside this machine",
		load: () => import("./commands/demo.js")
	},
	{
		name: "gate",
		takes: "[options]",
		description: "judge a patch: base and patched side by side, a verdict for every cell",
		load: () => import("./commands/gate.js")
	},
	{
		name: "init",
		takes: "[options]",
		description: "write the workflow and ppsgate.yml into this repository, and make the label",
		load: () => import("./commands/init.js")
	},
	{
		name: "badge",
		takes: "[options]",
		description: "print Markdown that shows the badges of a configuration's testbeds",
		load: () => import("./commands/badge.js")
	},
	{
		name: "report",
		takes: "[options] <dir>",
		description: "render the report of a work directory again, as Markdown",
		load: () => import("./commands/report.js")
	},
	{
		name: "analyze",
		takes: "[options] <dir>",
		description: "judge runs that were measured before, by their raw logs",
		load: () => import("./commands/analyze.js")
	},
	{
		name: "ministat",
		takes: "[options] [FILE...]",
		description: "compare sets of numbers with the first, as FreeBSD's ministat(1) does and prints",
		load: () => import("./commands/ministat.js")
	},
	{
		name: "fold",
		takes: "[options] [FILE]",
		description: "print a profile of pmcstat -G or perf script as folded stacks, one a line",
		load: () => import("./commands/fold.js")
	},
	{
		name: "flamegraph",
		takes: "[options] <FILE>",
		description: "draw a profile as a flamegraph, alone or against a base, in an SVG that needs nothing else",
		load: () => import("./commands/flamegraph.js")
	},
	{
		name: "simulate",
		takes: "[options]",
		description: "how often a design errs, and how many runs it takes, on noise that is known",
		load: () => import("./commands/simulate.js")
	}
];
/**
* Gives a command its subcommands, and loads those that one of the words names: an option of its parent may have a value
* that is called like a command, which then is loaded for nothing.
*/
async function addCommands(parent, named, words) {
	const isCalled = ({ name }) => words.includes(name);
	const terms = new Map(named.map(({ name, takes }) => [name, [name, takes].filter(Boolean).join(" ")]));
	parent.configureHelp({ subcommandTerm: (command) => terms.get(command.name()) ?? new Help().subcommandTerm(command) });
	for (const one of named) {
		const { name, description, load, isDefault = false } = one;
		const command = parent.command(name, { isDefault }).description(description);
		if (isCalled(one) || isDefault && !named.some(isCalled)) await (await load()).define(command);
	}
}

// src/commands/lab.ts
function addLabCommand(program) {
	const lab = program.command("lab").description("bring the lab inside this machine up or down, or see whether it can be").exitOverride().addHelpText("after", "\nExample:\n  sudo ppsgate lab up && ip netns exec ppsgate-dut ip route");
	lab.command("up").description("make the three namespaces, their cables and their sshd; what was there is replaced").action(() => perform("up"));
	lab.command("down").description("take all of it away, and every process in it").action(() => perform("down"));
	lab.command("check").description("say whether this machine can carry the lab, and what of one is there").action(() => perform("check"));
	const perform = async (action) => {
		const commands = await import("./commands/run-lab.js");
		await runToExit(commands[action], program.opts());
	};
}

// src/commands/phabricator.ts
function addPhabricatorCommand(program) {
	program.command("phabricator").description("see whether the set-up for a Phabricator is right").exitOverride().addHelpText("after", example).command("check").description("look at the server, the bot, its leave and build plans, the relay and its starter").option("-c, --config <file>", "configuration", "ppsgate.yml").option("--json", "print the findings as JSON, at the end").addHelpText("after", details$1).action(async (options) => {
		const { checkSetUp } = await import("./commands/run-phabricator-check.js");
		await runToExit((signal) => checkSetUp(options, signal), program.opts());
	});
}
const example = "\nExample:\n  ppsgate phabricator check --config /usr/local/etc/ppsgate.yml";
const details$1 = `${example}

Nothing is written and nothing is started. Run it as the user that runs the relay.

As JSON: { "phabricator": "https://…", "findings": [{ "kind", "what", "why", "mend" }] }, where "kind" is "ok", "warning",
"wrong", "unreachable" or "skipped", and "mend" says what to do.

Exits 0 when all is right or worth a warning at most, 2 when something is wrong, 4 when all that is wrong is that the
server or the relay does not answer.`;

// src/commands/quarantine.ts
function addQuarantineCommand(program) {
	program.command("quarantine").description("take a testbed out of use, or back into it").argument("<name>", "testbed of the configuration").option("--reason <text>", "why, for all who see it").option("--lift", "it is in use again").option("-c, --config <file>", "configuration", "ppsgate.yml").addHelpText("after", "\nExamples:\n  ppsgate quarantine hp-t540 --reason \"port 1 loses its link\"\n  ppsgate quarantine hp-t540 --lift\n\nExits 0 also when there was none to lift, 2 on wrong usage, 4 when the store cannot be used.").action(async (name, options) => {
		const { runQuarantine } = await import("./commands/run-quarantine.js");
		await runToExit(() => runQuarantine(name, options), program.opts());
	});
}

// src/commands/relay.ts
function addRelayCommands(program) {
	program.command("relay").description("take webhooks of Herald and builds of Harbormaster, and have revisions measured").option("-c, --config <file>", "configuration", "ppsgate.yml").addHelpText("after", `\nExample:\n  ppsgate relay --config /usr/local/etc/ppsgate.yml\n\n${ends}`).action(async (options) => {
		const { runRelay } = await import("./commands/run-relay.js");
		await runToExit((signal) => runRelay(options, signal), program.opts());
	});
	program.command("poll").description("the same without any set-up of the server: ask it what has changed").option("-c, --config <file>", "configuration", "ppsgate.yml").option("--every <seconds>", "between two looks, from 10 to 3600", "60").option("--once", "look once and start what there is to start").addHelpText("after", `\nExample:\n  ppsgate poll --every 120\n\n${ends}`).action(async (options) => {
		const { runPoll } = await import("./commands/run-relay.js");
		await runToExit((signal) => runPoll(options, signal), program.opts());
	});
}
const ends = "Runs until it is interrupted; gates that it has started go on. What is queued is there again at the next start.";

// src/commands/release.ts
function addReleaseCommand(program) {
	program.command("release").description("take a testbed from whoever has it, or give back what a gate left").argument("[name]", "testbed of the configuration").option("--force", "take it from its holder, whose measurement ends").option("--by <name>", "who you are, for the log (default: you are asked)").option("--yes", "do not ask").option("-d, --directory <dir>", "work directory of a gate that has ended: give back its testbed").option("-c, --config <file>", "configuration", "ppsgate.yml").addHelpText("after", "\nExamples:\n  ppsgate release hp-t540 --force\n  ppsgate release --directory ppsgate-gate-20261120-231655\n\nExits 0 also when nobody had it, 2 on wrong usage, 4 when the store cannot be used.").action(async (name, options) => {
		const { askOnTerminal, runRelease } = await import("./commands/run-release.js");
		await runToExit((signal) => runRelease(name, options, askOnTerminal(signal)), program.opts());
	});
}

// src/commands/reserve.ts
function addReserveCommand(program) {
	program.command("reserve").description("reserve a testbed and run a command of yours meanwhile").argument("<wish>", "a name, or what it has to be, like \"mellanox and 40G\"").argument("[command...]", "behind two dashes").option("--purpose <text>", "what others see that it is for", "by hand").option("--priority <name>", "in the queue: release, patch or rerun", "patch").option("-c, --config <file>", "configuration", "ppsgate.yml").addHelpText("after", details).action(async (wish, command, options) => {
		const { runReserve } = await import("./commands/run-reserve.js");
		await runToExit((signal) => runReserve(wish, command, options, signal), program.opts());
	});
}
const details = `
Examples:
  ppsgate reserve hp-t540 --purpose "new cables" -- ssh root@192.0.2.11
  ppsgate reserve "chelsio and 10G" -- sh -c 'ssh "root@$PPSGATE_DUT" pmcstat -T'

The command has these in its environment:
  PPSGATE_TESTBED  name of the testbed
  PPSGATE_DUT      host of its DUT; not set for the embedded lab
  PPSGATE_TOKEN    number of the reservation: higher than of any before

When the command ends, whatever came of it, the testbed is brought to its base and given back. When the testbed is
lost, the command gets SIGTERM, and SIGKILL 10 s later.

Exits with the code of the command, with 4 when nothing was reserved or the testbed was lost, with 2 on wrong usage.`;

// src/commands/testbeds.ts
function addTestbedsCommand(program) {
	const testbeds = program.command("testbeds").description("show who has which testbed; list, check or look after those of ppsgate.yml").exitOverride().addHelpText("after", overviewDetails);
	testbeds.command("show", { isDefault: true }).description("print who has which, until when, and who waits: what happens without a subcommand").option("-c, --config <file>", "configuration", "ppsgate.yml").option("-w, --watch", "show it anew whenever it changes, until Ctrl-C").option("--json", "print it as JSON; with --watch one line each time").addHelpText("after", overviewDetails).action(async (options) => {
		const { showTestbeds } = await import("./commands/run-overview.js");
		await runToExit((signal) => showTestbeds(options, signal), program.opts());
	});
	testbeds.command("list").description("print name, kind, DUT, ports and capabilities, one line each").option("-c, --config <file>", "configuration", "ppsgate.yml").option("--json", "print them as JSON").addHelpText("after", "\nExample:\n  ppsgate testbeds list").action(async (options) => {
		const { listTestbeds } = await import("./commands/run-testbeds.js");
		await runToExit(() => listTestbeds(options), program.opts());
	});
	testbeds.command("check").description("look at logins, ports, settings, routes, kernels, builder, power and speed").argument("<name>", "testbed of the configuration").option("-c, --config <file>", "configuration", "ppsgate.yml").option("--no-traffic", "send no packets").option("--power", "switch the DUT off and on, and wait until it is up again").option("--json", "print the findings as JSON, at the end").addHelpText("after", "\nExample:\n  ppsgate testbeds check hp-t540 --no-traffic\n\nExits 0 when all is well, 2 for an unknown name, 4 when something is wrong.").action(async (name, options) => {
		const { checkTestbed } = await import("./commands/run-testbeds.js");
		await runToExit((signal) => checkTestbed(name, options, signal), program.opts());
	});
	testbeds.command("health").description("see whether testbeds that nobody has are as they should be before the next patch").argument("[names...]", "testbeds of the configuration (default: all)").option("-c, --config <file>", "configuration", "ppsgate.yml").option("--json", "print the findings as JSON, at the end").addHelpText("after", healthDetails).action(async (names, options) => {
		const { checkHealth } = await import("./commands/run-health.js");
		await runToExit((signal) => checkHealth(names, options, signal), program.opts());
	});
	testbeds.command("log").description("print what was reserved, by whom, for how long, and what came of it").argument("[name]", "one testbed alone").option("-c, --config <file>", "configuration", "ppsgate.yml").option("--json", "print it as JSON").addHelpText("after", "\nExample:\n  ppsgate testbeds log hp-t540 | tail").action(async (name, options) => {
		const { showLog } = await import("./commands/run-log.js");
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

// src/cli.ts
const program = new Command("ppsgate").description(description).version(version).option("--debug", "show where an error came from").addHelpText("after", "\nExample:\n  sudo ppsgate demo\n  ppsgate gate --patch main..my-branch").exitOverride();
await addCommands(program, commands, process.argv.slice(2));
for (const add of [
	addLabCommand,
	addTestbedsCommand,
	addReserveCommand,
	addReleaseCommand,
	addQuarantineCommand,
	addRelayCommands,
	addPhabricatorCommand
]) add(program);
try {
	await program.parseAsync();
} catch (error) {
	const { code, exitCode } = error;
	if (code === void 0) throw error;
	process.exitCode = exitCode === 0 ? 0 : 2;
}

export {  };