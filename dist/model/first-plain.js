const { isIPv4, isIPv6 } = globalThis.process.getBuiltinModule("node:net");
const { setTimeout } = globalThis.process.getBuiltinModule("node:timers/promises");

// src/model/conclusion.ts
const exitCodes = {
	pass: 0,
	patchAtFault: 1,
	usage: 2,
	undecided: 3,
	infrastructure: 4,
	cancelled: 130
};
function conclusionOfResult({ outcome }) {
	switch (outcome.kind) {
		case "judged": return conclusionOfVerdict(outcome.verdict);
		case "unchanged": return "pass";
		case "out-of-disk": return "infrastructure";
		default: return "patchAtFault";
	}
}
function conclusionOfBisection({ answer }) {
	switch (answer.kind) {
		case "culprit":
		case "group":
		case "several": return "pass";
		case "not-reproduced":
		case "slide":
		case "inconclusive": return "undecided";
	}
}
/** Returns the worst conclusion of several gates of one patch: the patch's own fault weighs most, a pass least. */
const worstConclusion = (conclusions) => byWeight.find((conclusion) => conclusions.includes(conclusion)) ?? "pass";
const byWeight = [
	"patchAtFault",
	"infrastructure",
	"undecided"
];
function conclusionOfVerdict(verdict) {
	switch (verdict) {
		case "no-regression":
		case "improvement": return "pass";
		case "regression": return "patchAtFault";
		case "inconclusive":
		case "invalid": return "undecided";
	}
}
/** Errors from outside the lab carry a property `conclusion`. */
function conclusionOfError(error) {
	if (!(error instanceof Error && "conclusion" in error)) return "infrastructure";
	const { conclusion } = error;
	return isConclusion(conclusion) ? conclusion : "infrastructure";
}
const isConclusion = (value) => typeof value === "string" && Object.hasOwn(exitCodes, value);
/** `regression`, `boot-failed`: the verdict, or the obstacle. */
const outcomeName = ({ outcome }) => outcome.kind === "judged" ? outcome.verdict : outcome.kind;

// src/model/usage-error.ts
var UsageError = class extends Error {
	name = "UsageError";
	conclusion = "usage";
};

// src/model/one-line.ts
function reasonOf(error) {
	if (!(error instanceof Error)) return oneLine(String(error));
	if (error.message === "" && "code" in error) return String(error.code);
	return oneLine(error.message);
}
/** Returns the reason of a file's error for a sentence that names the file: Node's text repeats the call and the path. */
function fileReasonOf(error) {
	const text = reasonOf(error);
	return /^([A-Z]\w+: .+?), [a-z]\w*(?: '.*)?$/.exec(text)?.[1] ?? text;
}
const shortened$1 = (text) => shortenedTo(80, text);
function shortenedTo(most, text) {
	const line = oneLine(text);
	return line.length <= most ? line : `${line.slice(0, most - 1)}…`;
}
const lastLine = (text) => text.split("\n").map(oneLine).findLast(Boolean);
const oneLine = (text) => text.replace(/[\s\p{Cc}]+/gu, " ").trim();

// src/model/escape.ts
/** A code span, cut to `maxCharacters`: no mention, link, reference, markup or line break takes effect. */
function codeSpan(text, maxCharacters = 200) {
	const line = plainLine(text, maxCharacters);
	if (line === "") return "";
	const fence = fenceFor(line, 1);
	const padding = line.startsWith("`") || line.endsWith("`") ? " " : "";
	return `${fence}${padding}${line}${padding}${fence}`;
}
/** A fenced code block; a text that is too long loses its middle. */
function codeBlock(text, maxCharacters = 4e3) {
	const block = plainBlock(text, maxCharacters);
	const fence = fenceFor(block, 3);
	return `${fence}\n${block}\n${fence}`;
}
/** Removes control and format characters and joins lines; leaves markup as it is. */
const plainLine = (text, maxCharacters = 200) => cut(withoutControls(text).replace(/\s+/g, " ").trim(), maxCharacters);
/** Keeps line breaks; a text that is too long loses its middle. */
const plainBlock = (text, maxCharacters = 4e3) => shortened(withoutControls(text).trimEnd(), maxCharacters);
function fenceFor(text, least) {
	const runs = text.match(/`+/g) ?? [];
	return "`".repeat(Math.max(least, ...runs.map((run) => run.length + 1)));
}
/** Control and format characters can colour a terminal, and reverse or hide text. Tabs and line ends stay. */
function withoutControls(text) {
	return withoutSequences(text).replace(/(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}]/gu, "");
}
/** Removes terminal sequences; keeps single control characters. */
const withoutSequences = (text) => text.replace(sequences, "");
/**
* Terminal sequences of ECMA-48: control sequences, terminated strings, and character set selection. Node's
* stripVTControlCharacters needs hours for a megabyte of unterminated strings. Here no part can begin within another.
*/
const sequences = new RegExp([
	"(?:\\x1b\\[|\\x9b)[0-?]*[ -/]*[@-~]",
	"(?:\\x1b\\]|\\x9d)[^\\x07\\x1b\\x9c\\x9d]*(?:\\x07|\\x1b\\\\|\\x9c)",
	"\\x1b[()#]?[0-9A-PR-TZcf-nq-uy=><~]"
].join("|"), "g");
function shortened(text, maxCharacters) {
	if (text.length <= maxCharacters) return text;
	const half = Math.floor(maxCharacters / 2);
	const left = text.length - 2 * half;
	const [first, last] = [text.slice(0, half), text.slice(-half)].map(withoutHalves);
	return `${first}\n… ${left} characters left out …\n${last}`;
}
function cut(text, maxCharacters) {
	if (text.length <= maxCharacters) return text;
	return `${withoutHalves(text.slice(0, maxCharacters - 1)).trimEnd()}…`;
}
/** A cut may have split a surrogate pair. */
const withoutHalves = (text) => text.replace(/\p{Cs}/gu, "");
/** Returns undefined unless the address is a web page and holds nothing that could end it in markup. */
function pageUrl(address) {
	const url = URL.parse(address);
	if (url === null || !["http:", "https:"].includes(url.protocol)) return void 0;
	return url.href.replace(/[^\w:/?#&=.~%+-]/g, percentEncoded);
}
const percentEncoded = (character) => `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`;

// src/model/json.ts
/** Returns undefined for invalid JSON. No JSON value is undefined, so every schema rejects it. */
function parseJson(text) {
	try {
		return JSON.parse(text);
	} catch {
		return;
	}
}
/** Parses each line that may be an object, and stops after `maxLines`. Does not split the text into all its lines. */
function* jsonLines(text, maxLines) {
	let start = 0;
	for (let lines = 0; lines < maxLines && start < text.length; lines += 1) {
		const newline = text.indexOf("\n", start);
		const end = newline === -1 ? text.length : newline;
		if (text.startsWith("{", start)) yield parseJson(text.slice(start, end));
		start = end + 1;
	}
}

// src/model/pause.ts
/** Resolves on abort; Node's own function rejects. */
const realPause = (seconds, signal) => setTimeout(seconds * 1e3, void 0, { signal }).catch(() => {});

// src/model/priority.ts
const priorities = [
	"release",
	"patch",
	"rerun"
];

// src/model/networks.ts
const lengths = {
	inet4: 32,
	inet6: 128
};
const examples = {
	inet4: "192.168.1.0/24",
	inet6: "2001:db8:1::/64"
};
const networkForm = (family) => `a network of ${family} like "${examples[family]}"`;
/** Reads `192.168.1.0/24`, or an address as a network of one host; refuses one that no router forwards. */
function readNetwork(text, family) {
	const network = networkIn(text, family);
	if (network === void 0) return refused$1(`expected ${networkForm(family)}, found "${text}"`);
	const own = networkText(network);
	const start = networkText(masked(network));
	if (own !== start) return refused$1(`${own} is an address within a network: write ${start}`);
	const special = specials[family].find(([other]) => overlaps(network, knownNetwork(other, family)));
	if (special === void 0) return {
		kind: "read",
		network
	};
	const [other, what] = special;
	return refused$1(`${own} overlaps ${other}, ${what}: choose another network`);
}
const refused$1 = (why) => ({
	kind: "refused",
	why
});
/** Reads a network that `readNetwork` has read. Throws a TypeError for any other text. */
function knownNetwork(text, family) {
	const network = networkIn(text, family);
	if (network === void 0) throw new TypeError(`${text} is no network of ${family}.`);
	return network;
}
function networkIn(text, family) {
	const [address = "", length = String(lengths[family]), more] = text.split("/");
	const isAddress = family === "inet4" ? isIPv4(address) : /^[\da-f:.]+$/i.test(address) && isIPv6(address);
	const bits = /^\d{1,3}$/.test(length) ? Number(length) : Number.POSITIVE_INFINITY;
	if (!isAddress || more !== void 0 || bits > lengths[family]) return void 0;
	return {
		family,
		bits,
		bytes: bytesOf(address, family)
	};
}
function bytesOf(address, family) {
	if (family === "inet4") return address.split(".").map(Number);
	const [head = [], tail = []] = shortest(address).split("::").map((part) => part.split(":").filter(Boolean));
	const zeros = new Array(8 - head.length - tail.length).fill("0");
	return [
		...head,
		...zeros,
		...tail
	].flatMap((group) => {
		const value = Number.parseInt(group, 16);
		return [value >>> 8, value & 255];
	});
}
/** Writes an address as RFC 5952 does, without dots. */
const shortest = (address) => new URL(`http://[${address}]`).hostname.slice(1, -1);
/** Writes each network in one form. */
const networkText = ({ family, bits, bytes }) => `${addressText(bytes, family)}/${bits}`;
function addressText(bytes, family) {
	if (family === "inet4") return bytes.join(".");
	const groups = Array.from({ length: 8 }, (_, index) => ((bytes[2 * index] ?? 0) * 256 + (bytes[2 * index + 1] ?? 0)).toString(16));
	return shortest(groups.join(":"));
}
const masked = (network) => ({
	...network,
	bytes: network.bytes.map((byte, index) => byte & maskOf(network.bits, index))
});
const maskOf = (bits, index) => 255 & 65280 >> Math.min(8, Math.max(0, bits - 8 * index));
const overlaps = (a, b) => {
	const bits = Math.min(a.bits, b.bits);
	return networkText(masked({
		...a,
		bits
	})) === networkText(masked({
		...b,
		bits
	}));
};
/** Halves a network of more than one address. */
function halvesOf(network) {
	const bits = network.bits + 1;
	const bytes = network.bytes.map((byte, index) => index === Math.floor(network.bits / 8) ? byte | 128 >> network.bits % 8 : byte);
	return [networkText({
		...network,
		bits
	}), networkText({
		...network,
		bits,
		bytes
	})];
}
const isOneHost = ({ family, bits }) => bits === lengths[family];
/** Networks of no router's packets, and those of a testbed's own ports. */
const specials = {
	inet4: [
		["0.0.0.0/8", "which has unspecified addresses"],
		["127.0.0.0/8", "the loopback network"],
		["169.254.0.0/16", "whose link-local addresses no router forwards"],
		["224.0.0.0/4", "the multicast network"],
		["240.0.0.0/4", "the reserved network, with the broadcast address"],
		["198.18.0.0/15", "which has the addresses of the testbed's own ports"]
	],
	inet6: [
		["::/8", "which has the unspecified and the loopback address"],
		["fe80::/10", "whose link-local addresses no router forwards"],
		["ff00::/8", "the multicast network"],
		["2001:2::/48", "which has the addresses of the testbed's own ports"]
	]
};
/** Senders count up 16 bits. */
const maxHosts = 65534;
/** Hosts that packets may have: without the addresses of the network and of broadcasts. */
function hostsIn({ family, bits }) {
	const all = 2 ** Math.min(17, lengths[family] - bits);
	return Math.min(maxHosts, all > 2 ? all - 2 : all);
}
/** `index` is less than `hostsIn`. */
function hostAt(network, index) {
	const value = index + (lengths[network.family] - network.bits > 1 ? 1 : 0);
	const last = network.bytes.length - 1;
	return network.bytes.map((byte, at) => {
		if (at === last) return byte | value & 255;
		return at === last - 1 ? byte | value >>> 8 : byte;
	});
}

// src/model/flows.ts
/** Addresses that flows may have. pkt-gen increments the last 16 bits only: from 198.18.10.1 to 198.18.255.254. */
function hostsOf(family, side, addresses = {}) {
	const network = addresses[family]?.[side];
	if (network !== void 0) return hostsIn(knownNetwork(network, family));
	return family === "inet4" ? 62974 : 65535;
}
const usualDestinations = 100;
/** More than the usual number only where the sources are too few. */
const destinationsPerSource = (flows, family, addresses) => Math.min(hostsOf(family, "destination", addresses), Math.max(usualDestinations, Math.ceil(flows / hostsOf(family, "source", addresses))));
/** Undefined where the networks have an address pair for each flow. */
function whyTooFewAddresses(flows, family, addresses) {
	const sources = hostsOf(family, "source", addresses);
	const destinations = hostsOf(family, "destination", addresses);
	if (flows <= sources * destinations) return void 0;
	return `${flows} flows need as many pairs of addresses, and these networks have ${sources} × ${destinations}: lower \`traffic.flows\`, or name larger networks`;
}
/**
* Splits a number of flows exactly into sources × destinations: 2000 as 20 × 100. Picks the largest divisor up to 100
* for the destinations that leaves every sender a source, a larger one where the sources are too few. Rejects numbers
* that exceed their networks.
*/
function flowRanges(flows, family, senders = 1, addresses) {
	if (!Number.isSafeInteger(flows) || flows < senders) return refused(`${flows} is no number of flows: choose a whole number from ${senders} on.`);
	const hosts = hostsOf(family, "source", addresses);
	const most = Math.min(destinationsPerSource(flows, family, addresses), Math.floor(flows / senders));
	const destinations = greatestDivisor(flows, most);
	const sources = flows / destinations;
	if (sources <= hosts) return {
		kind: "split",
		flows: {
			sources,
			destinations
		}
	};
	return refused(`${flows} flows of ${family} need ${sources} sources, and their network has ${hosts}: choose a multiple of ${most}.`);
}
const refused = (message) => ({
	kind: "refused",
	message
});
function greatestDivisor(value, most) {
	let divisor = Math.floor(most);
	while (value % divisor !== 0) divisor -= 1;
	return divisor;
}
/** Slices the sources evenly, one slice per sender. */
function flowSlices({ sources, destinations }, senders) {
	const end = (slice) => Math.floor(slice * sources / senders);
	return Array.from({ length: senders }, (_, slice) => ({
		firstSource: end(slice) + 1,
		sources: end(slice + 1) - end(slice),
		destinations
	}));
}

// src/model/metric.ts
const metrics = [
	"pps",
	"nsPerPacket",
	"instructionsPerPacket"
];
const isCost = (metric) => metric !== "pps";

// src/model/freebsd-port.ts
/**
* The interface for pkt-gen. A Chelsio port has a second, virtual one for netmap: see `hw.cxgbe.num_vis` in cxgbe(4).
*/
const netmapPort = (name) => name.replace(/^(?:cxgbe|cxl|cc)\d+$/, "v$&");
/** Driver names as in ifconfig(8) and in the manual: `cxl` and `cxgbe`. */
function driversOf(port) {
	const driver = port.replace(/\d+$/, "");
	return [driver, driverOfPort[driver] ?? driver];
}
/** Drivers whose ports have another name; see section 4 of the manual. */
const driverOfPort = {
	cxl: "cxgbe",
	cc: "cxgbe",
	che: "cxgbe",
	cxlv: "cxgbev",
	ccv: "cxgbev",
	mce: "mlx5en",
	mlxen: "mlx4en",
	ix: "ixgbe",
	ixv: "ixgbe",
	ql: "qlxgbe"
};

// src/model/freebsd-drivers.ts
const chelsio = [
	"cxl",
	"cxgbe",
	"cc"
];
const holdsBack = "a full port then holds back its senders";
const queuesDecide = "the queues decide how many CPUs forward";
/** `hw.cxgbe.nrxq10g` is no sysctl since FreeBSD 12. em(4) keeps one `fc` for all of its ports. */
const driverSettings = [
	{
		ports: chelsio,
		name: "dev.PORT.N.pause_settings",
		expected: "0",
		why: holdsBack,
		fix: "sysctl",
		permanent: "hw.cxgbe.pause_settings=\"0\"",
		appliesToGenerators: true,
		source: "cxgbe(4)"
	},
	{
		ports: chelsio,
		name: "hw.cxgbe.toecaps_allowed",
		expected: "0",
		why: "the card then keeps resources for TCP offload",
		fix: { loader: "hw.cxgbe.toecaps_allowed" },
		source: "cxgbe(4)"
	},
	{
		ports: chelsio,
		name: "hw.cxgbe.fw_install",
		expected: "0",
		why: "a kernel with a newer firmware in it then flashes the card, for good and for all who come later",
		fix: { loader: "hw.cxgbe.fw_install" },
		isOptional: true,
		source: "cxgbe(4)"
	},
	{
		ports: chelsio,
		name: "dev.PORT.N.nrxq",
		expected: "queues",
		why: queuesDecide,
		fix: { loader: "hw.cxgbe.nrxq10g" },
		source: "cxgbe(4)"
	},
	{
		ports: chelsio,
		name: "dev.PORT.N.ntxq",
		expected: "queues",
		why: queuesDecide,
		fix: { loader: "hw.cxgbe.ntxq10g" },
		source: "cxgbe(4)"
	},
	{
		ports: ["mce"],
		name: "dev.PORT.N.rx_pauseframe_control",
		expected: "0",
		why: holdsBack,
		fix: { loader: "dev.PORT.N.rx_pauseframe_control" },
		appliesToGenerators: true,
		source: "sys/dev/mlx5/mlx5_en/mlx5_en_main.c"
	},
	{
		ports: ["mce"],
		name: "dev.PORT.N.tx_pauseframe_control",
		expected: "0",
		why: holdsBack,
		fix: { loader: "dev.PORT.N.tx_pauseframe_control" },
		appliesToGenerators: true,
		source: "sys/dev/mlx5/mlx5_en/mlx5_en_main.c"
	},
	{
		ports: ["mce"],
		name: "dev.PORT.N.conf.channels",
		expected: "queues",
		why: queuesDecide,
		fix: "sysctl",
		source: "sys/dev/mlx5/mlx5_en/mlx5_en_ethtool.c"
	},
	{
		ports: ["bnxt"],
		name: "dev.PORT.N.fc.rx",
		expected: "0",
		why: holdsBack,
		fix: "sysctl",
		appliesToGenerators: true,
		source: "sys/dev/bnxt/bnxt_en/bnxt_sysctl.c"
	},
	{
		ports: ["bnxt"],
		name: "dev.PORT.N.fc.tx",
		expected: "0",
		why: holdsBack,
		fix: "sysctl",
		appliesToGenerators: true,
		source: "sys/dev/bnxt/bnxt_en/bnxt_sysctl.c"
	},
	{
		ports: ["igc"],
		name: "dev.PORT.N.fc",
		expected: "0",
		why: holdsBack,
		fix: "sysctl",
		appliesToGenerators: true,
		source: "sys/dev/igc/if_igc.c"
	},
	{
		ports: ["igb", "em"],
		name: "dev.PORT.N.fc",
		expected: "0",
		why: holdsBack,
		fix: "sysctl",
		appliesToGenerators: true,
		source: "sys/dev/e1000/if_em.c"
	},
	{
		ports: ["ix"],
		name: "dev.PORT.N.fc",
		expected: "0",
		why: holdsBack,
		fix: "sysctl",
		appliesToGenerators: true,
		source: "sys/dev/ixgbe/if_ix.c"
	},
	{
		ports: ["ixl"],
		name: "dev.PORT.N.fc",
		expected: "0",
		why: holdsBack,
		fix: "sysctl",
		appliesToGenerators: true,
		source: "sys/dev/ixl/ixl_pf_main.c"
	},
	{
		ports: ["ice"],
		name: "dev.PORT.N.fc",
		expected: "0",
		why: holdsBack,
		fix: "sysctl",
		alias: "None",
		appliesToGenerators: true,
		source: "ice(4)"
	},
	{
		ports: ["mxge"],
		name: "dev.PORT.N.flow_control_enabled",
		expected: "0",
		why: holdsBack,
		fix: "sysctl",
		permanent: "hw.mxge.flow_control_enabled=\"0\"",
		appliesToGenerators: true,
		source: "mxge(4), sys/dev/mxge/if_mxge.c"
	},
	{
		ports: ["lio"],
		name: "dev.PORT.N.fc",
		expected: "0",
		why: holdsBack,
		fix: "sysctl",
		appliesToGenerators: true,
		source: "sys/dev/liquidio/lio_sysctl.c"
	}
];
/** Fills in the port's name and number. Empty for an unknown driver. */
function driverSettingsOf(port) {
	const [, driver = "", unit = ""] = /^(\D+)(\d+)$/.exec(port) ?? [];
	const named = (text) => text.replace("PORT.N", `${driver}.${unit}`);
	return driverSettings.filter(({ ports }) => ports.includes(driver)).map(({ name, fix, ...rest }) => ({
		...rest,
		name: named(name),
		fix: fix === "sysctl" ? fix : { loader: named(fix.loader) }
	}));
}
/** Virtual ports send no pause frames. */
const withoutPauseFrames = [
	"vtnet",
	"vmx",
	"ena",
	"gve",
	"hn",
	"xn",
	"epair",
	"tap",
	"ixv",
	"iavf"
];
/** Its pause frames, if it sends any, can be neither read nor fixed here. */
const isFlowControlUnknown = (port) => !withoutPauseFrames.includes(port.replace(/\d+$/, "")) && !driverSettingsOf(port).some(({ appliesToGenerators }) => appliesToGenerators);
/** Sysctls of the firmware. A Chelsio card has several ports, and a number of its own. */
function firmwareNames(port) {
	const [, driver = "", unit = ""] = /^(\D+)(\d+)$/.exec(port) ?? [];
	const nexus = (/* @__PURE__ */ new Map([
		["cxgbe", "t4nex"],
		["cxl", "t5nex"],
		["cc", "t6nex"]
	])).get(driver);
	if (nexus !== void 0) return [0, 1].map((card) => `dev.${nexus}.${card}.firmware_version`);
	return [driver === "mce" ? `dev.mlx5_core.${unit}.hw.fw_version` : `dev.${driver}.${unit}.fw_version`];
}

// src/model/freebsd-waivable.ts
const waivableSettings = (ports) => [...general, ...new Set(ports.flatMap((port) => [
	`${port}'s LRO and TSO`,
	`${port}'s link`,
	...driverSettingsOf(port).map(({ name }) => name)
]))];
const general = [
	"debug.debugger_on_panic",
	"kern.shutdown.dumpdevname",
	"kern.random.harvest.mask",
	"machdep.hyperthreading_allowed",
	"net.isr.maxthreads",
	"net.isr.bindthreads",
	"net.inet.ip.forwarding",
	"net.inet.ip.redirect",
	"net.inet6.ip6.forwarding",
	"net.inet6.ip6.redirect",
	"kern.cp_time",
	"kern.boottime"
];
/** Takes names as in messages; see freebsd-ports.ts. */
const isForwardingPathSetting = (name) => /^the (?:route|blackhole route|mac address|mtu) /i.test(name);

// src/model/overlay-files.ts
const overlayFiles = {
	linux: ["nftables.conf", "sysctl.conf"],
	freebsd: ["pf.conf", "ipfw.rules"]
};
/** A DUT loads no other file of an overlay, neither in base nor in patched. */
const isLoaded = (system, path) => overlayFiles[system].some((name) => name === path);
/** Git's modes; Debian's nftables.conf is executable. */
const plainModes = ["100644", "100755"];
/** False for a link or a submodule: its content is elsewhere. */
const isPlain = (mode) => plainModes.includes(mode);
/** Returns the first file that the DUT would load but that is a link, and so cannot be loaded. */
const linkAmong = (files, system) => files.find(({ path, mode }) => isLoaded(system, path) && !isPlain(mode));
/** Returns a sentence for each file of the variants' overlays that no DUT of the system loads. */
function ignoredFiles(variants, system) {
	const paths = variants.flatMap(({ folder, files }) => files.filter(({ path }) => !isLoaded(system, path)).map(({ path }) => [folder, path].filter(Boolean).join("/")));
	const names = overlayFiles[system].join(" and ");
	return [...new Set(paths)].map((path) => `${path} is not measured: of an overlay this testbed loads ${names}.`);
}
/** Names in an overlay's files stand for the ports of a testbed, or for an interface that no packet uses. */
const interfaceRoles = [
	"ingress",
	"egress",
	"unused"
];

// src/model/without-paths.ts
/**
* Replaces absolute paths, of this machine or the lab, by `[path]`: messages of Node, git and ssh do not distinguish
* them. Keeps URLs, commands to ppsgate, and paths within a tree.
*/
const withoutPaths = (text) => text.replace(quotedPath, "[path]").replace(barePath, (found) => `[path]${endOf(found)}`);
/** Line number and punctuation after a path, up to 40 characters. */
const endOf = (found) => /(?::\d+)*[.,;:!?…)\]}]*$/.exec(found.slice(-40))?.[0] ?? "";
const quotes = "'\"`‘’“”";
const start = "(?:file:/+|~[\\w.-]{0,64}/|/+)";
/** Excludes ppsgate's commands, and prefix lengths as in ::/0. */
const noPath = `(?!/(?:ppsgate|\\d{1,3})(?:[\\s${quotes}.,;:)]|$))`;
const letter = `[^\\s${quotes}]`;
/** May contain blanks, as in Node's `open '/home/alice/my lab/key'`. */
const quotedPath = new RegExp(`(?<=[${quotes}])${noPath}${start}[^${quotes}\\n]{1,4096}(?=[${quotes}])`, "gu");
/** A word with a slash after a blank continues the path. */
const barePath = new RegExp(`(?<![\\p{L}\\p{N}_./<~+-])(?!(?<=:)//)${noPath}${start}(?!/)${letter}+(?:(?<![.,;:!?)]) (?!/|~|${letter}*://)${letter}*/${letter}*)*`, "gu");

// src/model/variant-name.ts
/** Base and patched have a verdict; any other variant is shown next to them. */
const isJudged = (variant) => variant === "base" || variant === "patched";
/** `diff 80345`: an earlier diff of a revision. */
const diffName = (diff) => `diff ${diff}`;
/** Names a kernel that was linked several times; see `Run`. */
const layoutName = (variant, layout) => layout === void 0 ? variant : `${variant} layout ${layout}`;
const pathName = (variant) => variant.replaceAll(" ", "-");

// src/model/format.ts
/** `4.982 Mpps`, `805.3 kpps`. */
function formatPps(pps) {
	if (pps >= 1e6) return `${fourDigits(pps / 1e6)} Mpps`;
	return pps >= 1e3 ? `${fourDigits(pps / 1e3)} kpps` : `${fourDigits(pps)} pps`;
}
/** `1,057 ns`. */
const formatNanoseconds = (ns) => `${grouped(Number(ns.toPrecision(4)))} ns`;
/** `8,314`, of instructions. */
const formatCount = (count) => grouped(count < 1e3 ? Number(count.toPrecision(4)) : Math.round(count));
const formatMetric = (value, metric) => formats[metric](value);
const formats = {
	pps: formatPps,
	nsPerPacket: formatNanoseconds,
	instructionsPerPacket: (count) => `${formatCount(count)} instructions`
};
/** Omits the unit, for axes: `8,314`. */
const formatTick = (value, metric) => metric === "instructionsPerPacket" ? formatCount(value) : formatMetric(value, metric);
const metricNouns = {
	pps: "packets per second",
	nsPerPacket: "CPU time per packet",
	instructionsPerPacket: "instructions per packet"
};
/** Includes the better direction. */
const metricName = (metric) => `${metricNouns[metric]} (${isCost(metric) ? "less" : "more"} is better)`;
/** A ratio as a signed percentage with three digits: `+8.33 %`, `−26.4 %`. */
const formatChange = (ratio) => `${signedPercent(ratio)} %`;
/** Omits the sign, where words give the direction: `8.33 %`. */
const formatSize = (ratio) => `${percentDigits(ratio)} %`;
/** `55.9 ± 0.2 %`, where words give the direction; the error has one digit, at most two decimals. */
const formatSizeAndError = (ratio, error) => {
	const [percent, errorPercent] = [Math.abs(ratio) * 100, error * 100];
	const digits = Math.min(Math.max(-(errorPercent > 0 ? Math.floor(Math.log10(errorPercent)) : -1), 0), 2);
	return `${percent.toFixed(digits)} ± ${errorPercent.toFixed(digits)} %`;
};
/** `+0.1 ± 0.3 %`. */
function formatChangeAndError(ratio, error) {
	const shown = formatSizeAndError(ratio, error);
	if (Number.parseFloat(shown) === 0) return shown;
	return `${ratio < 0 ? "−" : "+"}${shown}`;
}
/** `> 0.999`, `0.987`, `< 0.001`. */
function formatProbability(probability) {
	if (probability > .999) return "> 0.999";
	return probability < .001 ? "< 0.001" : probability.toFixed(3);
}
/** `+6.79 … +9.86`, in percent. */
const formatInterval = (low, high) => `${signedPercent(low)} … ${signedPercent(high)}`;
const formatPercent = (ratio) => `${Number((ratio * 100).toPrecision(3))} %`;
/** `−5 %`, `+5.26 %`, `0`: limits and ticks. */
function formatSigned(ratio) {
	if (ratio === 0) return "0";
	return `${ratio < 0 ? "−" : "+"}${formatPercent(Math.abs(ratio))}`;
}
/** `9.3`: a share in percent, without its sign, next to another one. */
const formatShare = (ratio) => (ratio * 100).toFixed(1);
function formatDifference(difference) {
	const shown = Math.abs(difference).toFixed(1);
	if (Number(shown) === 0) return `±${shown}`;
	return `${difference < 0 ? "−" : "+"}${shown}`;
}
/** `+38`, `−1,400`, `+0.85`: two significant digits. */
function formatTwoDigits(difference) {
	const shown = Number(Math.abs(difference).toPrecision(2));
	if (shown === 0) return "±0";
	return `${difference < 0 ? "−" : "+"}${grouped(shown)}`;
}
/** `24 + 24 of 26 + 26`: counted runs of base and patched, and the runs made if there were more. */
function formatRuns(counted, made) {
	const isMore = made.some((count, index) => count > (counted[index] ?? 0));
	return `${counted.join(" + ")}${isMore ? ` of ${made.join(" + ")}` : ""}`;
}
const grouped = (value) => value.toLocaleString("en-US");
/** `41 s`, `2 min 5 s`. */
/** `1 run`, `1,200 runs`; the noun takes an s. */
const counted = (count, noun) => `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;
function formatDuration(seconds) {
	const whole = Math.round(seconds);
	return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
/** `about 25 min`: an estimate. */
const formatEstimate = (seconds) => seconds < 30 ? formatRoughly(seconds) : `about ${formatRoughly(seconds)}`;
/** `25 min`: omits the seconds. */
function formatRoughly(seconds) {
	const minutes = Math.round(seconds / 60);
	if (minutes < 1) return "under 1 min";
	if (minutes < 120) return `${minutes} min`;
	const hours = Math.round(minutes / 60);
	return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}
function signedPercent(ratio) {
	const shown = percentDigits(ratio);
	if (Number(shown) === 0) return `±${shown}`;
	return `${ratio < 0 ? "−" : "+"}${shown}`;
}
function percentDigits(ratio) {
	const percent = Math.abs(ratio * 100);
	return percent.toFixed(percent < 10 ? 2 : percent < 100 ? 1 : 0);
}
function fourDigits(value) {
	if (value === 0) return "0";
	return value < 1e3 ? value.toPrecision(4) : value.toFixed(0);
}
const numerals = [
	"one",
	"two",
	"three",
	"four",
	"five",
	"six",
	"seven",
	"eight",
	"nine",
	"ten"
];
/** In words up to ten. */
const formatNumeral = (count) => numerals[count - 1] ?? grouped(count);
const ordinals = [
	"first",
	"second",
	"third",
	"fourth",
	"fifth",
	"sixth",
	"seventh",
	"eighth",
	"ninth",
	"tenth"
];
/** In words up to the tenth. */
const formatOrdinal = (number) => ordinals[number - 1] ?? formatShortOrdinal(number);
/** `1st`, `12th`. */
function formatShortOrdinal(number) {
	return `${number}${(number % 100 > 10 && number % 100 < 14 ? void 0 : [
		"th",
		"st",
		"nd",
		"rd"
	][number % 10]) ?? "th"}`;
}

// src/model/text-file.ts
/** Returns a clause on a file in UTF-16, or on a binary one; undefined for text. */
function whyNotText(bytes) {
	const [first, second] = bytes;
	if (first === 255 && second === 254 || first === 254 && second === 255) return "has the encoding UTF-16: save it as UTF-8";
	return bytes.includes(0) ? "is binary: name a text file" : void 0;
}
const byteOrderMark = [
	239,
	187,
	191
];
/** Editors of Windows begin UTF-8 with a byte order mark. */
const withoutMark = (bytes) => byteOrderMark.every((byte, index) => bytes[index] === byte) ? bytes.subarray(byteOrderMark.length) : bytes;

// src/model/lease-outcome.ts
const notUsed = (why) => `not used: ${why}`;
const endedEarly = (why) => `ended: ${why}`;
/** Only completed uses count towards the usual duration of a lease. */
const isCompleted = (outcome) => ![notUsed(""), endedEarly("")].some((start) => outcome?.startsWith(start));

export { UsageError, addressText, codeBlock, codeSpan, conclusionOfBisection, conclusionOfError, conclusionOfResult, conclusionOfVerdict, counted, destinationsPerSource, diffName, driverSettingsOf, driversOf, endedEarly, exitCodes, fileReasonOf, firmwareNames, flowRanges, flowSlices, formatChange, formatChangeAndError, formatDifference, formatDuration, formatEstimate, formatInterval, formatMetric, formatNumeral, formatOrdinal, formatPercent, formatPps, formatProbability, formatRoughly, formatRuns, formatShare, formatSigned, formatSize, formatSizeAndError, formatTick, formatTwoDigits, grouped, halvesOf, hostAt, ignoredFiles, interfaceRoles, isCompleted, isCost, isFlowControlUnknown, isForwardingPathSetting, isJudged, isLoaded, isOneHost, isPlain, jsonLines, knownNetwork, lastLine, layoutName, linkAmong, metricName, metricNouns, metrics, netmapPort, networkForm, networkText, notUsed, oneLine, outcomeName, overlaps, overlayFiles, pageUrl, parseJson, pathName, plainBlock, plainLine, priorities, readNetwork, realPause, reasonOf, shortened$1 as shortened, shortenedTo, waivableSettings, whyNotText, whyTooFewAddresses, withoutMark, withoutPaths, withoutSequences, worstConclusion };