import { checkFreebsdTestbed, checkLinuxTestbed, skipped } from "../checkup.js";
import { loadConfig } from "../config.js";
import { openReservations, realWorld, whoami } from "../controller.js";
import { lookPurpose, readLab } from "../reservation.js";
import { exitCodes } from "../words.js";
import { findingText, summary } from "./findings.js";
import { configPath, namedTestbed } from "./named-testbed.js";
import { columns, hasColours, oneLine, print } from "./table.js";

// src/commands/run-testbeds.ts
async function listTestbeds({ config: path, json }) {
	const { testbeds } = await loadConfig(configPath(path));
	const rows = Object.entries(testbeds).map(([name, testbed]) => rowOf(name, testbed));
	print(json ? JSON.stringify(rows, null, 2) : columns(rows.map(textsOf)).join("\n"));
	return exitCodes.pass;
}
/** Prints each finding as it is made, or with `json` all of them at the end. */
async function checkTestbed(name, options, signal) {
	const path = configPath(options.config);
	const config = await loadConfig(path);
	const testbed = namedTestbed(config, path, name);
	const { json, traffic = true, power = false } = options;
	const tell = (sentence) => void (json ? process.stderr : process.stdout).write(`… ${sentence}\n`);
	const findings = [];
	const look = async (signal) => {
		const world = {
			...realWorld,
			tell,
			signal
		};
		for await (const finding of findingsOf({
			name,
			testbed,
			config,
			traffic,
			power,
			world
		})) {
			findings.push(finding);
			if (!json) print(findingText(finding, hasColours(process.stdout)));
		}
	};
	await (testbed.kind === "freebsd" && (traffic || power) ? keptFromOthers({
		name,
		config,
		tell,
		signal
	}, look) : look(signal));
	print(json ? JSON.stringify({
		testbed: name,
		findings
	}, null, 2) : summary(findings));
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
	const { name, testbed, config, traffic, power, world } = check;
	switch (testbed.kind) {
		case "embedded-linux": return [skipped(name, "nothing to check: this machine carries it; see `ppsgate lab check`")];
		case "linux": return checkLinuxTestbed(testbed, world);
		case "freebsd": {
			const { families, traffic: blast } = config;
			return checkFreebsdTestbed({
				name,
				testbed,
				families,
				traffic: blast,
				sends: traffic,
				cycles: power
			}, world);
		}
	}
}
function rowOf(name, testbed) {
	const { kind, capabilities } = testbed;
	if (kind === "embedded-linux") return {
		name,
		kind,
		...capabilities
	};
	const { host: dut, ingress, egress } = testbed.dut;
	return {
		name,
		kind,
		dut,
		ingress: portName(ingress),
		egress: portName(egress),
		...capabilities
	};
}
const portName = (port) => typeof port === "string" ? port : port.interface;
const textsOf = (row) => [
	row.name,
	row.kind,
	row.dut === void 0 ? "this machine" : `${row.dut}: ${row.ingress} → ${row.egress}`,
	capabilitiesText(row)
];
/** `Chelsio T540-CR 10 Gbit/s cxgbe, Xeon E5-2650 8 cores, quiet`. */
function capabilitiesText({ nic, cpu, labels = [] }) {
	const speed = nic?.gigabits === void 0 ? void 0 : `${nic.gigabits} Gbit/s`;
	const cores = cpu?.cores === void 0 ? void 0 : `${cpu.cores} cores`;
	return [
		[
			nic?.vendor,
			nic?.model,
			speed,
			nic?.driver
		],
		[cpu?.model, cores],
		...labels.map((label) => [label])
	].map((words) => words.filter((word) => word !== void 0).join(" ")).filter((text) => text !== "").join(", ");
}

export { checkTestbed, listTestbeds };