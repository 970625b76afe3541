import { checkFreebsdTestbed, checkLinuxTestbed, checkVirtualTestbed, skipped } from "../checkup.js";
import { loadConfig } from "../config.js";
import { openReservations, realWorld, whoami } from "../controller.js";
import { runToExit } from "../exit.js";
import { recordTo, recordable } from "../recording.js";
import { lookPurpose, readLab } from "../reservation.js";
import { exitCodes } from "../words.js";
import { findingText, summary } from "./findings.js";
import { configPath, namedTestbed } from "./named-testbed.js";
import { hasColours, oneLine, print, printJson } from "./table.js";

// src/commands/testbeds-check.ts
function define(command) {
	command.argument("<name>", "testbed of the configuration").option("-c, --config <file>", "configuration", "ppsgate.yml").option("--no-traffic", "send no packets").option("--power", "switch the DUT off and on, and wait until it is up again").option("--record <file>", "write down what the machines are asked and say, to be replayed").option("--json", "print the findings as JSON, at the end").addHelpText("after", `
Example:
  ppsgate testbeds check hp-t540 --no-traffic

Exits 0 when all is well, 2 for an unknown name, 4 when something is wrong.`).action(async (name, options) => {
		await runToExit((signal) => checkTestbed(name, options, signal), command.optsWithGlobals());
	});
}
/** Prints each finding as it is made, or with `json` all of them at the end. */
async function checkTestbed(name, options, signal) {
	const path = configPath(options.config);
	const config = await loadConfig(path);
	const testbed = namedTestbed(config, path, name);
	const { json, traffic = true, power = false, record } = options;
	const recorder = record === void 0 ? void 0 : await recordTo(record, "testbeds check", [testbed]);
	const tell = (sentence) => void (json ? process.stderr : process.stdout).write(`… ${sentence}\n`);
	const findings = [];
	const look = async (signal) => {
		const world = {
			...recorder?.world(realWorld) ?? realWorld,
			tell,
			signal
		};
		const check = {
			name,
			testbed,
			config,
			traffic,
			power,
			world,
			recorder
		};
		for await (const finding of findingsOf(check)) {
			recorder?.tells("check", finding);
			findings.push(finding);
			if (!json) print(findingText(finding, hasColours(process.stdout)));
		}
	};
	await (testbed.kind === "freebsd" && (traffic || power || testbed.dut.console?.kind === "ipmi") ? keptFromOthers({
		name,
		config,
		tell,
		signal
	}, look) : look(signal));
	if (json) printJson({
		testbed: name,
		findings
	});
	else print(summary(findings));
	return findings.some(({ kind }) => kind === "wrong") ? exitCodes.infrastructure : exitCodes.pass;
}
/** Waits until nobody measures there, unless nobody else can take it: it is in quarantine, or reserved for this command. */
async function keptFromOthers({ name, config, tell, signal }, look) {
	if (process.env.PPSGATE_TESTBED === name) return look(signal);
	const onWait = (_, text) => tell(oneLine(text));
	await using reservations = await openReservations(config, {
		signal,
		tell,
		onWait
	});
	const { quarantines } = await readLab(reservations.store);
	if (quarantines.has(name)) return await look(signal);
	const holder = {
		who: whoami(),
		purpose: lookPurpose
	};
	const lease = await reservations.hold(name, {
		priority: "patch",
		holder
	});
	try {
		await look(AbortSignal.any([signal, lease.signal]));
	} finally {
		const isClean = lease.holding.leftBy.length === 0;
		await lease.release({
			outcome: "was looked at",
			isClean
		});
	}
}
function findingsOf(check) {
	const { name, testbed, config, traffic, power, world, recorder } = check;
	switch (testbed.kind) {
		case "virtual": return checkVirtualTestbed(testbed, world);
		case "embedded-linux": return [skipped(name, "nothing to check: this machine carries it; see `ppsgate lab check`")];
		case "linux": return checkLinuxTestbed(testbed, world);
		case "freebsd": {
			const { families, traffic: blast, frameSizes } = config;
			const request = {
				name,
				testbed,
				families,
				traffic: blast,
				sends: traffic,
				cycles: power,
				...frameSizes && { frameSizes }
			};
			recorder?.begins("check", recordable(request));
			return checkFreebsdTestbed(request, world);
		}
	}
}

export { define };