import { formatPercent, reasonOf } from "./model.js";
import { isOnThisMachine } from "./config.js";
import { ProfileError, foldedLines, foreignBounds, parseProfile, samplesOf, withoutIdle } from "./analysis/profile.js";
import { HostError, connect as connect$1 } from "./system/host.js";
import { SocketAddress, isIPv6 } from "node:net";
import { gzipSync } from "node:zlib";
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";

// src/lab/connect.ts
/** `label` is the machine's name for people. Throws a HostError. */
async function connectTo(config, label, options = { keepaliveSeconds: 5 }) {
	const { host, port, user, privateKeyPath, knownHostsPath } = config;
	const name = `${label} (${host}:${port})`;
	const knownHosts = await readFile(knownHostsPath, "utf8").catch((error) => {
		const make = `make it with 'ssh-keyscan -p ${port} ${host} >> ${knownHostsPath}', and compare the fingerprint with the machine's console`;
		throw new HostError("host-key", `The key of ${name} cannot be checked, because ${knownHostsPath} cannot be read (${codeOf(error)}): ${fixOf(error, make)}.`, { cause: error });
	});
	const identity = privateKeyPath === void 0 ? { agent: true } : { privateKey: await readPrivateKey(privateKeyPath, name) };
	return connect$1({
		host,
		port,
		user,
		knownHosts,
		label,
		...identity
	}, options);
}
const readPrivateKey = (path, name) => readFile(path, "utf8").catch((error) => {
	const make = `make it with 'ssh-keygen -t ed25519 -f ${path}' and append ${path}.pub to that machine's authorized_keys, or correct \`key\` in ppsgate.yml`;
	throw new HostError("login", `Cannot log in to ${name}, because the key ${path} cannot be read (${codeOf(error)}): ${fixOf(error, make)}.`, { cause: error });
});
const fixOf = (error, make) => codeOf(error) === "ENOENT" ? make : "see to it that it is a file that you may read";
const codeOf = (error) => error instanceof Error && "code" in error ? String(error.code) : reasonOf(error);

// src/lab/fault-attribution.ts
function tallyOf(tallies, variant) {
	const tally = tallies.get(variant) ?? {
		hasBooted: false,
		bootFailures: 0,
		hasStoodTrial: false,
		deaths: 0,
		refusals: 0
	};
	tallies.set(variant, tally);
	return tally;
}
/** Blames a patch only after base has reached the milestone here, and the patch has failed twice more than base. */
function isToBlame(tallies, variant, fault, proof) {
	const [own, base] = [tallyOf(tallies, variant), tallyOf(tallies, "base")];
	if (variant === "base") return own[fault] >= 2;
	return base[proof] && own[fault] >= 2 + base[fault];
}
/** True while base has not reached the milestone in this process, so that no number of failures blames the variant. */
const lacksControl = (tallies, variant, proof) => variant !== "base" && !tallyOf(tallies, "base")[proof];

// src/lab/judge-profile.ts
const rawName = "profile.txt.gz";
const stacksName = "stacks.txt";
/** With 500 samples a function with 5 % of them is measured to a fifth of its share. */
const fewestSamples = 500;
/** A DUT with many CPUs may forward with few of them; one that idles more was not under load. */
const mostIdleRatio = .9;
/** Keeps the text as a log, too. `defaults` complete the text. */
async function judgeProfile(text, defaults, keepLog) {
	await keepLog(rawName, gzipSync(text));
	const all = profileOrError(text);
	if (typeof all === "string") return missed(all);
	const { event = defaults.event, kernel = defaults.kernel } = all;
	await keepLog(stacksName, stacksText(all, kernel));
	const { profile, idleSamples } = withoutIdle(all);
	const busySamples = samplesOf(profile.stacks);
	const idleRatio = idleSamples / (busySamples + idleSamples);
	if (idleRatio > mostIdleRatio) return missed(`the DUT idled in ${formatPercent(idleRatio)} of the samples: no load was on it`);
	if (busySamples < fewestSamples) return missed(`only ${busySamples} samples fell into work, at least ${fewestSamples} are needed`);
	return {
		kind: "profiled",
		event,
		kernel,
		busySamples,
		idleSamples,
		log: stacksName
	};
}
const stacksText = (profile, kernel) => [
	`# kernel: ${kernel}`,
	...foldedLines(profile, { modules: true }),
	""
].join("\n");
function profileOrError(text) {
	try {
		return parseProfile(text, "the profile", foreignBounds);
	} catch (error) {
		if (!(error instanceof ProfileError)) throw error;
		return error.message;
	}
}
const missed = (reason) => ({
	kind: "missed",
	reason
});
const impossible = (reason) => ({
	kind: "impossible",
	reason
});

// src/lab/machines.ts
/** The machines that a lease reserves: `host:port`, or `embedded@` and this machine's name. Builders are shared. */
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

// src/lab/testbed.ts
/** A testbed that only this process can use. */
const unshared = (name, open) => ({
	name,
	open,
	signal: new AbortController().signal,
	giveBack: async () => void 0
});

export { connectTo, generatorsOf, impossible, isToBlame, judgeProfile, lacksControl, machinesOf, missed, rolesOf, tallyOf, unshared };