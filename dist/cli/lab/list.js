import { isOnThisMachine, loadConfig } from "../../config/first.js";
import { exitCodes } from "../../model/first-plain.js";
import { columns } from "../init/plain.js";
import { configPath } from "../find-config.js";
import { print, printJson } from "../table.js";

// src/cli/lab/list.ts
async function run({ config: path, json }) {
	const { testbeds } = await loadConfig(configPath(path));
	const rows = Object.entries(testbeds).map(([name, testbed]) => rowOf(name, testbed));
	if (json) printJson(rows);
	else print(columns(rows.map(textsOf)).join("\n"));
	return exitCodes.pass;
}
function rowOf(name, testbed) {
	const { kind, capabilities } = testbed;
	if (isOnThisMachine(testbed)) return {
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

export { run };