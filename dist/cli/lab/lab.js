import { labDown, labLeftovers, labUp, requireLab } from "../../lab/netns/plain.js";
import { exitCodes } from "../../model/first-plain.js";
import { print } from "../table.js";

// src/cli/lab/lab.ts
async function up() {
	await requireLab();
	const { sender, dut, receiver } = await labUp();
	for (const [role, { host, user, privateKeyPath, knownHostsPath }] of Object.entries({
		sender,
		DUT: dut,
		receiver
	})) print(`${role}: ssh -i ${privateKeyPath} -o UserKnownHostsFile=${knownHostsPath} ${user}@${host}`);
	return exitCodes.pass;
}
async function down() {
	await requireLab("embedded-linux", ["ip"]);
	await labDown();
	return exitCodes.pass;
}
async function check() {
	await requireLab();
	const { namespaces, processes } = await labLeftovers();
	print("This machine can run the lab.");
	print(namespaces.length === 0 ? "No lab exists." : `The lab exists: ${namespaces.join(", ")}, with ${processes.length} processes.`);
	return exitCodes.pass;
}

export { check, down, up };