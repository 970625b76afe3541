import { loadConfig, whyNotSent } from "../../config/first.js";
import { healthPurpose } from "../../gate/estimate/first.js";
import { openFlightLog } from "../../gate/plain.js";
import { readLab } from "../../gate/reserve/first.js";
import { openReservations, realDeps, whoami } from "../../gate/testbeds/first.js";
import { checkFreebsdTestbed, checkLinuxTestbed, checkVirtualTestbed, skipped, wrong } from "../../lab/check.js";
import { exitCodes } from "../../model/first-plain.js";
import { configPath, namedTestbed } from "../find-config.js";
import { hasColours, oneLine, print, printJson } from "../table.js";
import { diagnosticText, summary } from "./diagnostics-text.js";

// src/cli/lab/check.ts
/** Prints each diagnostic at once, or with `json` all at the end. */
async function run(name, options, { signal }) {
	const path = configPath(options.config);
	const config = await loadConfig(path);
	const testbed = namedTestbed(config, path, name);
	const { json, traffic = true, power = false, record } = options;
	using flightLog = record === void 0 ? void 0 : await openFlightLog(record, config);
	const notify = (sentence) => void (json ? process.stderr : process.stdout).write(`… ${sentence}\n`);
	const diagnostics = [];
	const look = async (signal) => {
		const deps = {
			...flightLog?.wrap(realDeps) ?? realDeps,
			notify,
			signal
		};
		const check = {
			name,
			testbed,
			config,
			traffic,
			power,
			deps
		};
		for await (const diagnostic of diagnosticsOf(check)) {
			diagnostics.push(diagnostic);
			if (!json) print(diagnosticText(diagnostic, hasColours(process.stdout)));
		}
	};
	await (testbed.kind === "freebsd" && (traffic || power || testbed.dut.console?.kind === "ipmi") ? keptFromOthers({
		name,
		config,
		notify,
		signal
	}, look) : look(signal));
	if (json) printJson({
		testbed: name,
		diagnostics
	});
	else print(summary(diagnostics));
	return diagnostics.some(({ kind }) => kind === "wrong") ? exitCodes.infrastructure : exitCodes.pass;
}
/** Waits until the testbed is free, unless it is in quarantine or reserved for this command. */
async function keptFromOthers({ name, config, notify, signal }, look) {
	if (process.env.PPSGATE_TESTBED === name) return look(signal);
	const onWait = (_, text) => notify(oneLine(text));
	await using reservations = await openReservations(config, {
		signal,
		notify,
		onWait
	});
	const { quarantines } = await readLab(reservations.store);
	if (quarantines.has(name)) return await look(signal);
	const holder = {
		who: whoami(),
		purpose: healthPurpose
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
			outcome: "was checked",
			isClean
		});
	}
}
function diagnosticsOf(check) {
	const { name, testbed, config, traffic, power, deps } = check;
	switch (testbed.kind) {
		case "virtual": return checkVirtualTestbed(testbed, deps);
		case "embedded-linux": return [skipped(name, "nothing to check, because it is on this machine; see `ppsgate lab check`")];
		case "linux": return checkLinuxTestbed(testbed, deps);
		case "freebsd": {
			const { families, traffic: trial, frameSizes } = config;
			const unsent = whyNotSent(trial.packets);
			if (unsent !== void 0) return [wrong("the packets of `traffic`", `${name} ${unsent.why}`, unsent.fix)];
			const request = {
				name,
				testbed,
				families,
				traffic: trial,
				sends: traffic,
				cycles: power,
				...frameSizes && { frameSizes }
			};
			return checkFreebsdTestbed(request, deps);
		}
	}
}

export { run };