import { LabImpossibleError, labDown, labLeftovers, labUp, missingPackages, requireRights } from "../linux-lab.js";
import { exitCodes } from "../words.js";

// src/commands/run-lab.ts
async function up() {
	await requireAll();
	const { sender, dut, receiver } = await labUp();
	for (const [role, { host, user, privateKeyPath, knownHostsPath }] of Object.entries({
		sender,
		DUT: dut,
		receiver
	})) say(`${role}: ssh -i ${privateKeyPath} -o UserKnownHostsFile=${knownHostsPath} ${user}@${host}`);
	return exitCodes.pass;
}
async function down() {
	await requireRights();
	await labDown();
	return exitCodes.pass;
}
async function check() {
	await requireAll();
	const { namespaces, processes } = await labLeftovers();
	say("This machine can carry the lab.");
	say(namespaces.length === 0 ? "Nothing of a lab is there." : `There are ${namespaces.join(", ")}, with ${processes.length} processes.`);
	return exitCodes.pass;
}
async function requireAll() {
	await requireRights();
	const packages = await missingPackages();
	if (packages.length === 0) return;
	const names = packages.join(" ");
	throw new LabImpossibleError(`The embedded lab needs ${names}: run 'apt-get install ${names}', or 'ppsgate demo', which does.`);
}
const say = (line) => void process.stdout.write(`${line}\n`);

export { check, down, up };