import { isOnThisMachine } from "../config/first.js";
const { SocketAddress, isIPv6 } = globalThis.process.getBuiltinModule("node:net");
const { hostname } = globalThis.process.getBuiltinModule("node:os");

// src/lab/machines.ts
/** Machines that a lease reserves: `host:port`, or `embedded@` and this machine's name. Builders are shared. */
function machinesOf(testbed, thisMachine = hostname()) {
	if (isOnThisMachine(testbed)) return [`embedded@${thisMachine.toLowerCase()}`];
	const names = rolesOf(testbed).map(({ config: { host, port } }) => `${hostText(host.toLowerCase())}:${port}`);
	return [...new Set(names)];
}
/** The DUT comes first. Empty for the embedded testbed. */
function rolesOf(testbed) {
	switch (testbed.kind) {
		case "embedded-linux":
		case "virtual": return [];
		case "linux": return [
			{
				config: testbed.dut,
				label: "DUT"
			},
			{
				config: testbed.sender,
				label: "sender"
			},
			{
				config: testbed.receiver,
				label: "receiver"
			}
		];
		case "freebsd": return [{
			config: testbed.dut,
			label: "DUT"
		}, ...generatorsOf(testbed)];
	}
}
const generatorsOf = ({ senders, receiver }) => [...senders.map((config, index) => ({
	config,
	label: senders.length === 1 ? "sender" : `sender ${index + 1}`
})), {
	config: receiver,
	label: "receiver"
}];
function hostText(host) {
	if (!host.includes(":")) return host;
	const [address = "", zone] = host.split("%");
	const plain = isIPv6(address) ? new SocketAddress({
		address,
		family: "ipv6"
	}).address : address;
	return zone === void 0 ? `[${plain}]` : `[${plain}%${zone}]`;
}

export { generatorsOf, machinesOf, rolesOf };