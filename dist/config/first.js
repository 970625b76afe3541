import "./parameters.js";
import { UsageError, driversOf, flowRanges, interfaceRoles, isForwardingPathSetting, isOneHost, knownNetwork, metrics, netmapPort, networkForm, networkText, overlaps, overlayFiles, priorities, readNetwork, waivableSettings, whyNotText, whyTooFewAddresses } from "../model/first-plain.js";
import { NEVER, _enum, array, boolean, custom, discriminatedUnion, literal, number$1 as number, object, record, string, toJSONSchema, union, unknown, url } from "../vendor/zod.js";
import { designNames, duration, families, imix, meanFrameBytes, rate, ratio, scenarioSchema, scenarios, scenariosOf, size } from "../model/first.js";
import { excerpt, expected, sentence as sentence$1 } from "../model/excerpt.js";
import { require_fastest_levenshtein } from "../vendor/fastest-levenshtein.js";
import { didYouMean, meantBy, plainKey, wrongName } from "./did-you-mean.js";
import { require_dist } from "../vendor/yaml.js";
const { dirname, isAbsolute, join, resolve } = globalThis.process.getBuiltinModule("node:path");
const { BlockList, SocketAddress, isIPv4, isIPv6 } = globalThis.process.getBuiltinModule("node:net");
const { readFile } = globalThis.process.getBuiltinModule("node:fs/promises");
const { homedir } = globalThis.process.getBuiltinModule("node:os");

// src/config/fields.ts
/** Rejects unknown keys. Unlike `z.strictObject`, reports each with its own path, and thereby its line. */
function closed(shape) {
	const unknown = custom(() => false, {
		error: ({ path }) => unknownKey(String(path?.at(-1)), Object.keys(shape)),
		params: { isUnknownKey: true }
	});
	return object(shape, { error: expected("keys and values") }).catchall(unknown).meta({ additionalProperties: false });
}
function unknownKey(key, known) {
	const hint = didYouMean(key, known) || `; known here: ${known.join(", ")}`;
	return `unknown key \`${excerpt(key)}\`${hint}`;
}
/** The pattern may have the flag `u` only, as in JSON Schema. */
function text(pattern, what) {
	return string({ error: expected(what) }).regex(pattern, { error: expected(what) }).meta({ title: what });
}
function wholeNumber(least, most) {
	const what = `a whole number from ${least} to ${most}`;
	const error = expected(what);
	const limit = whole(least, most, "");
	return number({ error }).refine(limit.holds, { error }).meta({
		title: what,
		type: "integer",
		minimum: least,
		maximum: most
	});
}
function whole(least, most, unit) {
	return {
		description: `a whole number of ${unit} from ${least} to ${most}`,
		holds: (value) => Number.isInteger(value) && value >= least && value <= most
	};
}
function listOf(names) {
	return array(_enum(names, { error: wrongName(names) }), { error: expected(`a list like [${names[0]}]`) }).min(1, `expected at least one of ${names.join(", ")}, found an empty list`).refine((list) => new Set(list).size === list.length, "a name is in this list twice");
}
/** Unresolved; see `placed` in load.ts. */
const path$1 = text(/^(?!~[^/])\P{Cc}+$/u, "a path (of home folders only ~/ is known)");
const hostName = /^(?:[a-zA-Z0-9][\w.-]{0,252}|(?=.*:.*:)[0-9a-fA-F:.]{2,45}(?:%[\w.-]{1,15})?)$/;
const ssh = {
	host: text(hostName, "a host name or an address, without user or port"),
	port: wholeNumber(1, 65535).prefault(22).describe("The port of sshd."),
	user: text(/^[a-zA-Z_][\w.-]{0,31}$/, "a user name").prefault("root").describe("The login."),
	key: path$1.optional().describe("A private key; without it the ssh agent is used."),
	knownHosts: path$1.prefault("~/.ssh/known_hosts").describe("Trusted host keys.")
};
function withHost({ key, knownHosts, ...rest }) {
	return {
		...rest,
		knownHostsPath: knownHosts,
		...key !== void 0 && { privateKeyPath: key }
	};
}

// src/config/packets.ts
const protocols = ["udp", "tcp"];
const portForm = "a port from 1 to 65535, or a range like 1024-65535";
const ports = union([wholeNumber(1, 65535), text(/^\d{1,5}-\d{1,5}$/, portForm)], { error: expected(portForm) }).meta({ title: portForm }).transform((written) => {
	const [first = 0, last = first] = String(written).split("-").map(Number);
	return {
		first,
		last
	};
}).refine(({ first, last }) => first >= 1 && last >= first && last <= 65535, { error: `expected ${portForm}` });
/** A network in the one form that `networkText` writes. */
const network = (family) => string({ error: expected(networkForm(family)) }).meta({ title: networkForm(family) }).transform((written, { addIssue }) => {
	const source = readNetwork(written, family);
	if (source.kind === "read") return networkText(source.network);
	addIssue(source.why);
	return NEVER;
});
const networksOf = (family) => closed({
	source: network(family).optional().describe("Of the senders."),
	destination: network(family).optional().describe("Of the receivers.")
}).refine(({ source, destination }) => source === void 0 || destination === void 0 || !overlaps(knownNetwork(source, family), knownNetwork(destination, family)), {
	path: ["destination"],
	error: "overlaps the network of `source`"
}).optional().describe("Left out, 198.18.0.0/15 or 2001:2::/48.");
const frameSize = size(whole(64, 1518, "bytes"));
const mixForm = "a whole number of bytes from 64 to 1518, imix, or a list like [{ bytes: 64 bytes, weight: 7 }, { bytes: 1518 bytes, weight: 1 }]";
const mix = array(closed({
	bytes: frameSize,
	weight: wholeNumber(1, 100)
})).min(2, "expected at least two sizes; write one as `frameSize: 64 bytes`").max(10, `expected at most ${10} sizes`).refine((sizes) => new Set(sizes.map(({ bytes }) => bytes)).size === sizes.length, { error: "a size is in this list twice" });
/** Orders sizes, and divides their weights by a common factor, so that each mix has one form. */
function simplest(sizes) {
	const common = sizes.map(({ weight }) => weight).reduce(greatestCommonDivisor);
	return sizes.map(({ frameBytes, weight }) => ({
		frameBytes,
		weight: weight / common
	})).toSorted((a, b) => a.frameBytes - b.frameBytes);
}
const greatestCommonDivisor = (a, b) => b === 0 ? a : greatestCommonDivisor(b, a % b);
const frameSizeOrMix = union([
	frameSize,
	literal("imix"),
	mix
], { error: expected(mixForm) }).transform((written) => {
	if (written === "imix") return imix;
	if (typeof written === "number") return written;
	return simplest(written.map(({ bytes, weight }) => ({
		frameBytes: bytes,
		weight
	})));
});
/** Keys of `traffic`. */
const packetKeys = {
	frameSize: frameSizeOrMix.optional().describe("Frame size, including the 4 bytes of CRC; imix: 64, 594 and 1518 bytes as 7:4:1; or sizes by weight. FreeBSD testbeds send one size. Left out, 64 bytes."),
	protocol: _enum(protocols, { error: wrongName(protocols) }).optional().describe("udp, or tcp: SYN segments, none of which opens a connection; FreeBSD testbeds send UDP only. Left out, udp."),
	ports: closed({
		source: ports.optional().describe("Of the senders."),
		destination: ports.optional().describe("Of the receivers.")
	}).optional().describe("A port, or a range that the flows take in turn; FreeBSD testbeds send one port. Left out, 2000."),
	addresses: closed({
		inet4: networksOf("inet4"),
		inet6: networksOf("inet6")
	}).optional().describe("Networks that packets come from and go to: those that your rules name.")
};
/** Undefined for the usual packets. */
function packetsOf({ protocol, ports, addresses = {}, frameSize }) {
	const named = sidesOf(ports);
	const networks = Object.fromEntries(families.flatMap((family) => {
		const own = sidesOf(addresses[family]);
		return own === void 0 ? [] : [[family, own]];
	}));
	const packets = {
		...protocol === "tcp" && { protocol },
		...named !== void 0 && { ports: named },
		...Object.keys(networks).length > 0 && { addresses: networks },
		...Array.isArray(frameSize) && { sizes: frameSize }
	};
	return Object.keys(packets).length > 0 ? packets : void 0;
}
/** Undefined for none. */
function sidesOf({ source, destination } = {}) {
	if (source === void 0 && destination === void 0) return void 0;
	return {
		...source !== void 0 && { source },
		...destination !== void 0 && { destination }
	};
}
/** Mean of a mix, rounded. */
const frameBytesOf = ({ frameSize = 64 }) => Array.isArray(frameSize) ? Math.round(meanFrameBytes(frameSize)) : frameSize;
function withoutMix({ sizes: _, ...kept }) {
	return Object.keys(kept).length > 0 ? kept : void 0;
}
/** Completes a sentence about any testbed with FreeBSD, which routes the halves of a network, and drops the rest of it. */
function whyNotRouted({ addresses = {} } = {}) {
	const one = families.flatMap((family) => Object.values(addresses[family] ?? {}).map((text) => knownNetwork(text, family))).find(isOneHost);
	if (one === void 0) return void 0;
	return {
		why: `routes the halves of a network, and ${networkText(one)} has one address`,
		fix: "name a larger network in `traffic.addresses`"
	};
}
/** Completes a sentence about a FreeBSD testbed, whose pkt-gen(8) counts up ports within each flow. */
function whyNotSent(packets = {}) {
	const { protocol, ports = {}, sizes } = packets;
	const elsewhere = "or measure on Linux or virtual testbeds";
	if (protocol === "tcp") return {
		why: "sends with pkt-gen, which has UDP only",
		fix: `leave out \`traffic.protocol\`, ${elsewhere}`
	};
	if (sizes !== void 0) return {
		why: "sends with pkt-gen, which sends frames of one size",
		fix: `name one in \`traffic.frameSize\`, ${elsewhere}`
	};
	const ranged = ["source", "destination"].find((side) => {
		const range = ports[side];
		return range !== void 0 && range.first !== range.last;
	});
	if (ranged === void 0) return whyNotRouted(packets);
	return {
		why: "sends with pkt-gen, which would multiply the flows by the ports of a range",
		fix: `name one port in \`traffic.ports.${ranged}\`, ${elsewhere}`
	};
}

// src/config/testbed-selector.ts
const keywords = [
	"and",
	"or",
	"not"
];
const selectorWord = /^[a-zA-Z0-9][\w.+-]{0,62}$/;
/** `not` binds tighter than `and`, which binds tighter than `or`; case is ignored. */
function readSelector(text) {
	if (text.length > maxCharacters$1) return refused$2(text, `it has more than ${maxCharacters$1} characters`);
	const alternatives = splitAt(text.toLowerCase().trim().replace(/\s+/g, " ").replace(/ ?>= ?/g, ">=").split(" ").filter((token) => token !== ""), "or").map((part) => splitAt(part, "and").map(readCondition));
	const problem = alternatives.flat().find((condition) => typeof condition === "string");
	if (problem !== void 0) return refused$2(text, problem);
	return {
		kind: "read",
		selector: alternatives.map((part) => part.filter((one) => typeof one !== "string"))
	};
}
const maxCharacters$1 = 500;
function refused$2(text, problem) {
	return {
		kind: "refused",
		message: `${expected("words joined by and, or, not, like `mellanox and 40G` or `freebsd and not release`")({ input: text })}: ${problem}`
	};
}
function splitAt(tokens, separator) {
	const at = tokens.indexOf(separator);
	if (at === -1) return [[...tokens]];
	return [tokens.slice(0, at), ...splitAt(tokens.slice(at + 1), separator)];
}
/** Returns a text for an error. */
function readCondition(tokens) {
	const wanted = tokens[0] !== "not";
	const [token, next] = wanted ? tokens : tokens.slice(1);
	if (token === void 0 || token === "not") return `a word is missing${wanted ? "" : " after not"}`;
	if (next !== void 0) return `an and or an or is missing before \`${excerpt(next)}\``;
	const [, least] = /^cores>=([1-9]\d{0,3})$/.exec(token) ?? [];
	if (least !== void 0) return {
		kind: "cores",
		least: Number(least),
		wanted
	};
	if (selectorWord.test(token)) return {
		kind: "word",
		word: token,
		wanted
	};
	return token.includes(">=") ? "only cores are compared, like `cores>=8`" : `\`${excerpt(token)}\` is no word`;
}
/** Canonical form, which `readSelector` parses back. */
const selectorText = (selector) => selector.map((conditions) => conditions.map(conditionText).join(" and ")).join(" or ");
function conditionText(condition) {
	const text = condition.kind === "word" ? condition.word : `cores>=${condition.least}`;
	return condition.wanted ? text : `not ${text}`;
}
/** Conditions on unknown facts do not hold. */
const isFulfilled = (selector, described) => selector.some((conditions) => conditions.every((condition) => holds(condition, described) === condition.wanted));
const holds = (condition, { words, cores = 0 }) => condition.kind === "word" ? words.has(condition.word) : cores >= condition.least;

// src/config/capabilities.ts
const words = (what) => text(/^(?=.*[a-zA-Z0-9])\P{C}{1,63}$/u, what);
const speed = text(/^(?:1|2\.5|5|10|25|40|50|100|200|400) ?Gbit\/s$/, "a speed of Ethernet like 10 Gbit/s").transform(Number.parseFloat);
const nic = closed({
	vendor: words("a vendor like Chelsio").exactOptional(),
	model: words("a model like T540-CR, a number in quotes").exactOptional(),
	speed: speed.exactOptional(),
	driver: words("a driver like cxgbe").exactOptional()
}).transform(({ speed, ...rest }) => ({
	...rest,
	...speed !== void 0 && { gigabits: speed }
}));
const cpu$1 = closed({
	model: words("a model like Xeon E5-2650").exactOptional(),
	cores: wholeNumber(1, 4096).exactOptional()
});
const label = text(selectorWord, "a word like quiet").refine((word) => !keywords.includes(word.toLowerCase()), { error: expected(`a word other than ${keywords.join(", ")}`) });
const labels = array(label, { error: expected("a list like [quiet, release]") }).refine((list) => new Set(list).size === list.length, "a label is in this list twice");
const capabilityKeys = {
	nic: nic.optional().describe("The DUT's network card, for selectors like `mellanox and 25G`."),
	cpu: cpu$1.optional().describe("The DUT's processor, for selectors like `cores>=8`."),
	labels: labels.optional().describe("Your own labels, for selectors like `not release`.")
};
function withCapabilities({ nic, cpu, labels, ...rest }) {
	if (nic === void 0 && cpu === void 0 && labels === void 0) return rest;
	const capabilities = {
		...nic !== void 0 && { nic },
		...cpu !== void 0 && { cpu },
		labels: labels ?? []
	};
	return {
		...rest,
		capabilities
	};
}

// src/config/builder.ts
var import_fastest_levenshtein = require_fastest_levenshtein();
const buildFolder = text(/^(?:\/(?!\.\.?(?:\/|$))[\w.+-]+)+$/, "an absolute path of plain letters");
const kernelConfig$1 = text(/^[a-zA-Z0-9][\w.-]{0,62}$/, "the name of a kernel configuration");
/** Keys of kernels by `make buildkernel`, on any builder. */
const makeKeys = {
	kernelConfig: kernelConfig$1.prefault("GENERIC").describe("KERNCONF."),
	jobs: wholeNumber(1, 1024).optional().describe("Left out, as many as the builder has CPUs."),
	clean: boolean().prefault(true).describe("Every build starts from nothing, or from the objects of the one before."),
	modules: _enum(["all", "needed"], { error: wrongName(["all", "needed"]) }).describe("All that the tree has, or those that the DUT has loaded and measuring loads."),
	options: array(text(/^(?:-D\w+|\w+=[^\p{Cc}]*)$/u, "an option of make like -DNAME or NAME=value")).prefault([]).describe("`-DNAME` and `NAME=value` for make.")
};
const make$1 = closed({
	kind: literal("make"),
	...makeKeys,
	kernelConfigFolder: buildFolder.optional().describe("KERNCONFDIR, a folder on the builder; left out, the tree's own."),
	metaMode: boolean().prefault(false).describe("WITH_META_MODE of src.conf(5); needs filemon(4), and `clean: false`."),
	toolchain: boolean().prefault(true).describe("Runs `make kernel-toolchain` first, for a builder with another version of FreeBSD."),
	modules: makeKeys.modules.prefault("all")
}).refine(({ clean, metaMode }) => !(clean && metaMode), {
	path: ["metaMode"],
	error: "meta mode saves time only from one build to the next; set `clean: false`"
}).refine(({ modules, options }) => modules === "all" || !options.some((option) => /^(?:-D)?(?:NO_MODULES|MODULES_OVERRIDE)\b/.test(option)), {
	path: ["modules"],
	error: "`options` says which modules are built already; leave one of the two out"
}).transform(({ kernelConfigFolder, jobs, ...rest }) => ({
	...rest,
	...kernelConfigFolder !== void 0 && { kernelConfigFolder },
	...jobs !== void 0 && { jobs }
}));
const commandRecipe = closed({
	kind: literal("command"),
	argv: array(text(/^[^\0]+$/, "a word of a command")).min(1, "expected a command").describe("Run on the builder with BASE_COMMIT, DIFF, KERNCONF, LAYOUT and OUTPUT in its environment."),
	kernelConfig: kernelConfig$1.prefault("GENERIC").describe("KERNCONF.")
});
const recipe$1 = discriminatedUnion("kind", [make$1, commandRecipe], { error: "expected `kind: make` or `kind: command`" });
const minutes = (least, most) => ({
	description: `a duration from ${least} min to ${most} min`,
	holds: (seconds) => seconds >= least * 60 && seconds <= most * 60
});
const diskSize = text(/^\d{1,5} ?GB$/, "a size like 20 GB").transform((written) => Number.parseInt(written, 10) * 1e9);
const jail = closed({
	name: text(/^[a-zA-Z_][\w-]{0,62}$/, "the name of a jail"),
	user: text(/^(?!root$|toor$)[a-zA-Z_][\w.-]{0,31}$/, "a user of the builder other than root")
});
const buildingUser = text(/^(?!root$|toor$)[a-zA-Z_][\w.-]{0,31}$/, "a user of the builder other than root").describe("User for builds: on this machine the only one, without network; on another machine, its login.");
const builderKeys = {
	remote: text(/^[a-zA-Z0-9][\w.-]*$/, "the name of a remote").prefault("origin").describe("The clone's remote, from which a missing base is fetched."),
	limit: duration(minutes(1, 720)).prefault("120 min").describe("One make of a build, at most."),
	turn: duration(minutes(1, 1440)).prefault("240 min").describe("Longest wait for other builds on the builder."),
	freeSpace: diskSize.prefault("10 GB").describe("Less than this, and no build is started."),
	keep: closed({
		kernels: wholeNumber(2, 1e4).prefault(50),
		size: diskSize.prefault("20 GB")
	}).prefault({}).describe("Kernels stay in the cache, up to the first of these bounds.")
};
function withBounds(written) {
	const { limit, turn, freeSpace, keep, ...rest } = written;
	return {
		...rest,
		limitSeconds: limit,
		turnSeconds: turn,
		minFreeBytes: freeSpace,
		cache: {
			maxKernels: keep.kernels,
			maxBytes: keep.size
		}
	};
}
/** The default number of booted runs per variant: more layouts would never be booted. */
const maxLayouts = 20;
/** Paths stay as written. */
const builderSchema = closed({
	...ssh,
	folder: buildFolder.prefault("/var/db/ppsgate").describe("On the builder; everything of ours is below it."),
	repository: buildFolder.prefault("/usr/src").describe("A clone of FreeBSD's src on the builder; only objects are added to it."),
	...builderKeys,
	jail: jail.optional().describe("A jail(8) without network for builds, whose user owns nothing else."),
	kernel: recipe$1.prefault({ kind: "make" }).describe("The recipe of a kernel."),
	layoutVariants: wholeNumber(1, 20).prefault(1).describe("Number of layouts that each kernel is linked in; its runs boot them in turn.")
}).refine(({ jail, user }) => jail === void 0 || user === "root", {
	path: ["jail"],
	error: "only root enters a jail; log in as root, `user: root`"
}).refine(({ layoutVariants, keep }) => 2 * layoutVariants <= keep.kernels, {
	path: ["layoutVariants"],
	error: "the cache is to hold all layouts of two kernels; set `keep: { kernels: }` to twice as many"
}).transform(withHost).transform(withBounds).transform(({ kernel, jail, ...rest }) => ({
	...rest,
	system: "freebsd",
	recipe: kernel,
	...jail !== void 0 && { jail }
}));

// src/config/power.ts
const kinds$1 = [
	"redfish",
	"ipmi",
	"command"
];
const account = {
	user: text(/^[^\p{C}\s:]{1,64}$/u, "a user name"),
	passwordFile: path$1.optional().describe("Left out, it is PPSGATE_BMC_PASSWORD in the environment.")
};
const ipmiSchema = closed({
	kind: literal("ipmi"),
	host: text(hostName, "a host name or an address, without user or port"),
	port: wholeNumber(1, 65535).prefault(623),
	...account,
	cipherSuite: wholeNumber(1, 17).prefault(3).describe("Number in IPMI 2.0: 3 is SHA-1 with AES-128, 17 is SHA-256 with AES-128.")
}).transform(({ passwordFile, ...rest }) => ({
	...rest,
	...passwordFile !== void 0 && { passwordPath: passwordFile }
}));
const systemUrl = { error: expected("a URL like https://bmc.lab/redfish/v1/Systems/1") };
const fingerprint = text(/^(?:[0-9a-fA-F]{2}:?){31}[0-9a-fA-F]{2}$/, "a SHA-256 fingerprint of 64 hexadecimal digits");
const redfish = closed({
	kind: literal("redfish"),
	url: string(systemUrl).refine(isSystemUrl, systemUrl).describe("The URL of the system, like https://bmc.lab/redfish/v1/Systems/1."),
	...account,
	certificateSha256: fingerprint.optional().describe("This certificate is trusted and no other."),
	ca: path$1.optional().describe("PEM of the authority that is trusted; left out, those that Node knows.")
}).refine(({ certificateSha256, ca }) => certificateSha256 === void 0 || ca === void 0, {
	path: ["ca"],
	error: "with `certificateSha256` no other certificate is trusted; leave one of the two out"
}).transform(({ kind, url, user, passwordFile, certificateSha256, ca }) => ({
	kind,
	url,
	user,
	...passwordFile !== void 0 && { passwordPath: passwordFile },
	...certificateSha256 !== void 0 && { certificateSha256: certificateSha256.replaceAll(":", "").toLowerCase() },
	...ca !== void 0 && { caPath: ca }
}));
const likeAList$1 = { error: expected("a list of words like [pdu, off, \"4\"]") };
const argvSchema = array(text(/^[^\0]+$/, "a word in quotes"), likeAList$1).min(1, likeAList$1);
const command$1 = closed({
	kind: literal("command"),
	on: argvSchema,
	off: argvSchema,
	state: argvSchema.describe("Prints `on` or `off`."),
	cycle: argvSchema.optional().describe("Left out, off and on.")
}).transform(({ cycle, ...rest }) => ({
	...rest,
	...cycle !== void 0 && { cycle }
}));
/** Paths stay as written. */
const powerSchema = discriminatedUnion("kind", [
	redfish,
	ipmiSchema,
	command$1
], { error: wrongPower });
/** Requires HTTPS, which protects the password. */
function isSystemUrl(written) {
	const url = URL.parse(written);
	const extras = [
		url?.username,
		url?.password,
		url?.search,
		url?.hash
	].join("");
	return url?.protocol === "https:" && extras === "" && url.pathname !== "/";
}
function wrongPower({ code, input }) {
	if (code !== "invalid_union") return expected("keys and values")({ input });
	return wrongName(kinds$1)({ input: input.kind });
}

// src/config/console.ts
const kinds = [
	"ipmi",
	"conserver",
	"command"
];
const conserver = closed({
	kind: literal("conserver"),
	console: text(/^[\w.@:+][\w.@:+-]{0,63}$/, "the name of a console of conserver"),
	host: text(hostName, "a host name or an address, that of conserver's server").optional().describe("The server; left out, as in the client's own configuration."),
	port: wholeNumber(1, 65535).optional().describe("Left out, 782.")
}).transform(({ host, port, ...rest }) => ({
	...rest,
	...host !== void 0 && { host },
	...port !== void 0 && { port }
}));
const command = closed({
	kind: literal("command"),
	command: argvSchema.describe("Its standard output is the console.")
});
const consoleSchema = discriminatedUnion("kind", [
	ipmiSchema,
	conserver,
	command
], { error: wrongConsole });
function wrongConsole({ code, input }) {
	if (code !== "invalid_union") return expected("keys and values")({ input });
	return wrongName(kinds)({ input: input.kind });
}

// src/config/freebsd-testbed.ts
const bootMethods = [
	"nextboot",
	"nanobsd",
	"boot-environment"
];
const preflights = [
	"warn",
	"fix",
	"fail"
];
/** Interface names of FreeBSD's Ethernet drivers on usual test benches, see section 4 of its manual. */
const usualDrivers = [
	"cxl",
	"cc",
	"che",
	"cxgbe",
	"mce",
	"mlxen",
	"ix",
	"ixl",
	"ice",
	"igb",
	"igc",
	"em",
	"bnxt",
	"vtnet",
	"vmx",
	"re",
	"bge",
	"ena",
	"iavf",
	"ixlv",
	"ixv",
	"ql",
	"mxge"
];
const otherDrivers = [
	"ae",
	"age",
	"al",
	"alc",
	"ale",
	"aq",
	"atse",
	"awg",
	"ax",
	"axp",
	"bce",
	"bfe",
	"bxe",
	"cas",
	"ccv",
	"cgem",
	"cpsw",
	"cxgb",
	"cxgbev",
	"cxlv",
	"dc",
	"dpni",
	"dtsec",
	"dwc",
	"enetc",
	"enic",
	"eqos",
	"et",
	"ffec",
	"fxp",
	"gem",
	"genet",
	"gve",
	"hn",
	"jme",
	"lem",
	"lge",
	"lio",
	"mgb",
	"mge",
	"msk",
	"mvneta",
	"nf10bmac",
	"nfe",
	"nge",
	"oce",
	"ptnet",
	"rge",
	"rl",
	"sfxge",
	"sge",
	"sis",
	"sk",
	"ste",
	"stge",
	"sume",
	"ti",
	"tsec",
	"ue",
	"vge",
	"vr",
	"vte",
	"xl",
	"xn"
];
const drivers = /* @__PURE__ */ new Set([...usualDrivers, ...otherDrivers]);
const expectedPort = expected("an Ethernet port of FreeBSD like cxl0 or mce1");
const port = string({ error: expectedPort }).superRefine((name, { addIssue }) => {
	const [, driver, unit] = /^(.*\D)(\d{1,4})$/.exec(name) ?? [];
	if (driver !== void 0 && drivers.has(driver)) return;
	addIssue(wrongPort(name, driver, unit));
}).meta({ title: "an Ethernet port of FreeBSD like cxl0 or mce1" });
function wrongPort(name, driver, unit) {
	const plain = name.replace(/^v/, "");
	if (netmapPort(plain) === name && plain !== name) return `expected the port itself, \`${plain}\`: the generator opens \`${name}\` automatically`;
	const nearest = driver === void 0 ? void 0 : nearestDriver(driver);
	const hint = nearest === void 0 ? "" : `; did you mean \`${nearest}${unit}\`?`;
	return expectedPort({ input: name }) + hint;
}
function nearestDriver(driver) {
	const sorted = (word) => [...word.toLowerCase()].sort().join("");
	return usualDrivers.find((known) => sorted(known) === sorted(driver)) ?? usualDrivers.find((known) => (0, import_fastest_levenshtein.distance)(known, driver) === 1 && driver.length > 2);
}
const dutPort = closed({
	interface: port,
	speed: speed.optional().describe("The required link speed; left out, any."),
	queues: wholeNumber(1, 128).optional().describe("The required number of receive queues, and of send queues; left out, any.")
}).transform(({ interface: name, speed, queues }) => ({
	interface: name,
	...speed !== void 0 && { gigabits: speed },
	...queues !== void 0 && { queues }
}));
const boot = closed({
	method: _enum(bootMethods, { error: wrongName(bootMethods) }).prefault("nextboot").describe("The method that boots a kernel once."),
	limit: duration({
		description: "a duration from 1 min to 60 min",
		holds: (seconds) => seconds >= 60 && seconds <= 3600
	}).prefault("10 min").describe("Longest time from the order to reboot until the DUT is up.")
}).transform(({ method, limit }) => ({
	method,
	limitSeconds: limit
}));
const dut = closed({
	...ssh,
	ingress: dutPort.describe("The port that receives packets from the senders."),
	egress: dutPort.describe("The port that sends packets to the receiver."),
	boot: boot.prefault({}),
	power: powerSchema.optional().describe("The DUT's power control; without it a DUT that hangs stays lost."),
	console: consoleSchema.optional().describe("The DUT's console; without it a failed boot usually has no reason.")
}).transform(withHost).transform(({ power, console, ...rest }) => ({
	...rest,
	...power !== void 0 && { power },
	...console !== void 0 && { console }
}));
const mac = text(/^(?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}$/, "a MAC address like \"00:07:43:2e:e5:92\"").transform((written) => written.toLowerCase()).refine((written) => written !== "00:00:00:00:00:00", { error: "expected the port's own MAC address, found only zeros" }).refine((written) => Number.parseInt(written.slice(0, 2), 16) % 2 === 0, { error: "expected the port's own MAC address, found one of a group: its first byte is odd" });
/** The networks of freebsd-ports.ts, with an example like those of published benches. */
const networks = {
	sender: {
		inet4: {
			prefix: "198.18.0.0",
			bits: 16,
			example: "198.18.0.110"
		},
		inet6: {
			prefix: "2001:2::",
			bits: 49,
			example: "2001:2::110"
		}
	},
	receiver: {
		inet4: {
			prefix: "198.19.0.0",
			bits: 16,
			example: "198.19.0.110"
		},
		inet6: {
			prefix: "2001:2:0:8000::",
			bits: 49,
			example: "2001:2:0:8000::110"
		}
	}
};
function addressOf(role, family) {
	const { prefix, bits, example } = networks[role][family];
	const version = family === "inet4" ? "ipv4" : "ipv6";
	const network = new BlockList();
	network.addSubnet(prefix, bits, version);
	const error = expected(`an address of ${family} like "${example}"`);
	return string({ error }).refine(isOf[family], {
		error,
		abort: true
	}).refine((written) => network.check(written, version), { error: expected(`an address of ${prefix}/${bits}, the ${role}'s network`) }).transform((written) => new SocketAddress({
		address: written,
		family: version
	}).address);
}
const isOf = {
	inet4: isIPv4,
	inet6: (written) => isIPv6(written) && !written.includes("%")
};
const generatorKeys = (role) => ({
	...ssh,
	interface: port.describe("The port that is wired to the DUT."),
	mac: mac.describe("The MAC address of the port that pkt-gen opens, like vcxl0."),
	inet4: addressOf(role, "inet4").optional(),
	inet6: addressOf(role, "inet6").optional(),
	threads: wholeNumber(1, 128).prefault(1).describe("Threads of pkt-gen, one per netmap ring.")
});
function withAddresses({ inet4, inet6, ...rest }) {
	return {
		...rest,
		addresses: {
			...inet4 !== void 0 && { inet4 },
			...inet6 !== void 0 && { inet6 }
		}
	};
}
const backToBack = closed({
	from: port.describe("A port of this machine."),
	to: port.describe("A port of the receiver's machine.")
});
const sender = closed({
	...generatorKeys("sender"),
	backToBack: backToBack.optional().describe("Ports that a cable or a switch joins without the DUT; left out, there are none.")
}).transform(withHost).transform(withAddresses).transform(({ backToBack, ...rest }) => ({
	...rest,
	...backToBack !== void 0 && { backToBack }
}));
const receiver = closed(generatorKeys("receiver")).transform(withHost).transform((written) => withAddresses(written));
const oneToFour = "expected a list of 1 to 4 senders";
/** Single line, repeated in the report. */
const reason = text(/^(?=.*\S)\P{Cc}{1,200}$/u, "a reason of one line, at most 200 letters");
/** Parses `kind: freebsd`; paths stay as written. */
const freebsdTestbedSchema = closed({
	kind: literal("freebsd"),
	dut: dut.describe("The router that is measured."),
	senders: array(sender, { error: expected("a list of 1 to 4 senders") }).min(1, `${oneToFour}, found none`).max(4, `${oneToFour}, found more`).describe("Machines that send at the same time."),
	receiver,
	builder: builderSchema.optional().describe("The machine that builds kernels; without it only given kernels are measured."),
	preflight: _enum(preflights, { error: wrongName(preflights) }).prefault("warn").describe("The response to a wrong setting of the DUT."),
	waive: record(string(), reason, { error: expected("reasons by the names of settings") }).optional().describe("Wrong settings that are accepted, each with a reason for the report."),
	...capabilityKeys
}).transform(withCapabilities).transform(({ builder, waive, ...rest }) => ({
	...rest,
	...builder !== void 0 && { builder },
	...waive !== void 0 && { waive }
})).superRefine((testbed, { addIssue }) => {
	const problems = [...doubles(testbed), ...wrongWaivers(testbed)];
	for (const { path, message } of problems) addIssue({
		code: "custom",
		path,
		message
	});
});
function lacksAddresses(testbed, families) {
	return placesOf(testbed).flatMap(({ generator, role, path }) => families.filter((family) => generator.addresses[family] === void 0).map((family) => ({
		path: [...path, family],
		message: `missing; \`families\` asks for ${family}, so this ${role} needs an address like "${networks[role][family].example}"`
	})));
}
const placesOf = ({ senders, receiver }) => [...senders.map((generator, index) => ({
	generator,
	role: "sender",
	path: ["senders", index],
	name: `senders[${index}]`
})), {
	generator: receiver,
	role: "receiver",
	path: ["receiver"],
	name: "receiver"
}];
/** Rejects unknown names, which would waive nothing, and settings of the packets' path, which must hold. */
function wrongWaivers({ dut, waive = {} }) {
	const known = waivableSettings([dut.ingress.interface, dut.egress.interface]);
	const problem = (name) => isForwardingPathSetting(name) ? "cannot be waived: without it a trial could leave by the admin network, or not leave at all" : `unknown setting${didYouMean(name, known) || `; known here: ${known.join(", ")}`}`;
	return Object.keys(waive).filter((name) => !known.includes(name)).map((name) => ({
		path: ["waive", name],
		message: problem(name)
	}));
}
/** Reports ports that share an address, a MAC or a machine's port. */
function doubles(testbed) {
	const { dut } = testbed;
	const places = placesOf(testbed);
	const samePort = {
		path: [
			"dut",
			"egress",
			"interface"
		],
		message: `${dut.egress.interface} is the ingress already; expected the port that is wired to the receiver`
	};
	return [
		...dut.ingress.interface === dut.egress.interface ? [samePort] : [],
		...places.filter(({ generator }) => machineOf(generator) === machineOf(dut)).map(({ role, path }) => ({
			path: [...path, "host"],
			message: `${dut.host} is the DUT; expected another machine as the ${role}`
		})),
		...joinedToThemselves(testbed),
		...places.flatMap((place, index) => places.slice(0, index).flatMap((earlier) => sharedBy$1(earlier, place)))
	];
}
const joinedToThemselves = ({ senders, receiver }) => senders.flatMap((sender, index) => {
	const { from, to } = sender.backToBack ?? {};
	if (to === void 0 || from !== to || machineOf(sender) !== machineOf(receiver)) return [];
	const message = `${to} is the other end already; expected another port of that machine`;
	return {
		path: [
			"senders",
			index,
			"backToBack",
			"to"
		],
		message
	};
});
function sharedBy$1(earlier, { generator, path }) {
	const other = earlier.generator;
	const shared = (key, value) => ({
		path: [...path, key],
		message: `${earlier.name} has ${value} already; expected that of another port`
	});
	const isSamePort = machineOf(generator) === machineOf(other) && generator.interface === other.interface;
	const { inet4, inet6 } = generator.addresses;
	return [
		...isSamePort ? [shared("interface", generator.interface)] : [],
		...generator.mac === other.mac ? [shared("mac", generator.mac)] : [],
		...inet4 !== void 0 && inet4 === other.addresses.inet4 ? [shared("inet4", inet4)] : [],
		...inet6 !== void 0 && inet6 === other.addresses.inet6 ? [shared("inet6", inet6)] : []
	];
}
const machineOf = ({ host, port }) => `${host.toLowerCase()} ${port}`;

// src/config/github.ts
const login = text(/^[a-zA-Z\d](?:[a-zA-Z\d-]{0,38})(?:\[[bB][oO][tT]\])?$/, "a login on GitHub, without the @");
const days = (least, most) => ({
	description: `a duration from ${least} d to ${most} d`,
	holds: (seconds) => seconds >= least * 86400 && seconds <= most * 86400
});
const mebibytes = (least, most) => ({
	description: `a size from ${least} MiB to ${most} MiB`,
	holds: (bytes) => bytes >= least * 2 ** 20 && bytes <= most * 2 ** 20
});
const branch = text(/^(?!.*(?:\.\.|\/\/|\.[lL][oO][cC][kK](?:\/|$)))[a-zA-Z\d][\w./-]{0,99}(?<![/.])$/, "the name of a branch like ppsgate-data");
const pages = url({
	protocol: /^https$/,
	error: expected("a URL like https://example.github.io/router")
}).transform((url) => url.replace(/\/+$/, ""));
const keep = closed({
	results: wholeNumber(1, 1e5).prefault(1e3),
	age: duration(days(1, 3650)).prefault("365 d"),
	size: size(mebibytes(1, 1024)).prefault("100 MiB")
}).transform(({ results, age, size }) => ({
	results,
	seconds: age,
	bytes: size
}));
const data = closed({
	branch: union([literal(false), branch], { error: expected("the name of a branch like ppsgate-data, or false for none") }).prefault("ppsgate-data").describe("A branch for results, badges and the history of testbeds; false for none."),
	directory: path$1.optional().describe("A folder for the same on the publishing machine; left out, none."),
	pages: pages.optional().describe("The web site of that branch; left out, links lead to GitHub's own pages."),
	keep: keep.prefault({}).describe("The newest results stay, up to the first of these bounds."),
	stale: duration(days(1, 3650)).prefault("30 d").describe("A badge no longer shows a verdict older than this.")
}).transform(({ branch, directory, pages, keep, stale }) => ({
	keep,
	staleSeconds: stale,
	...directory !== void 0 && { directory },
	...branch !== false && { branch },
	...pages !== void 0 && { pages }
}));
const conclusions$1 = ["failure", "neutral"];
const unaskedChecks = ["none", "neutral"];
const githubSchema = closed({
	people: array(login, { error: expected("a list like [alice, bob]") }).prefault([]).describe("Logins that may have patches measured, besides those who may write."),
	label: text(/^[^\p{Cc},]{1,50}$/u, "the name of a label like ppsgate").prefault("ppsgate").describe("Put on a pull request, it approves the commits that are there then."),
	undecided: _enum(conclusions$1, { error: wrongName(conclusions$1) }).prefault("failure").describe("Conclusion of an inconclusive check; branch rules take neutral for a pass."),
	unasked: _enum(unaskedChecks, { error: wrongName(unaskedChecks) }).prefault("none").describe("Conclusion of the check while a patch waits for approval; neutral only if a merge queue measures it."),
	status: boolean({ error: expected("true or false") }).prefault(false).describe("A commit status besides the check."),
	data: data.prefault({}).describe("Storage of results, badges and history.")
});

// src/config/overlay.ts
const file = text(/^(?![/~])\P{Cc}{1,500}$/u, "a path in the repository like etc/nftables.conf");
const [nftables, sysctl, pf, ipfw] = [...overlayFiles.linux, ...overlayFiles.freebsd];
const files = closed({
	[nftables]: file.exactOptional(),
	[sysctl]: file.exactOptional(),
	[pf]: file.exactOptional(),
	[ipfw]: file.exactOptional()
}).refine((named) => Object.keys(named).length > 0, "expected at least one file, found none").meta({ minProperties: 1 }).describe("Paths in the repository, by the names that the files have in the overlay.");
const maxInterfaces = 100;
const interfaces = record(string().regex(/^[a-zA-Z0-9][\w.-]{0,14}$/), _enum(interfaceRoles, { error: wrongName(interfaceRoles) }), { error: wrongInterfaces }).refine((named) => Object.keys(named).length <= maxInterfaces, { error: `expected at most ${maxInterfaces} interfaces` }).describe("Names in the files, and the testbed's interfaces that they stand for: `ingress` and `egress`, or `unused` for one that rules need and packets do not.");
function wrongInterfaces({ code, input }) {
	return code === "invalid_key" ? "expected names of interfaces like eth0, of up to 15 letters" : expected("names of interfaces like `{ eth0: ingress, eth1: egress }`")({ input });
}
const folder = path$1.describe("A folder, of which every file is taken.");
const overlaySchema = union([path$1, closed({
	folder: folder.exactOptional(),
	files: files.exactOptional(),
	interfaces: interfaces.exactOptional()
})], { error: expected("a folder like dut, or `{ files: { nftables.conf: etc/nftables.conf } }`") }).superRefine((written, { addIssue }) => {
	if (typeof written === "string") return;
	if ("folder" in written && "files" in written) addIssue("expected either `folder` or `files`, found both");
}).transform((written) => {
	if (typeof written === "string") return {
		path: written,
		beside: ""
	};
	const { folder: path = "dut", files, interfaces } = written;
	return {
		...files === void 0 ? {
			path,
			beside: ""
		} : {
			files,
			beside: ""
		},
		...interfaces !== void 0 && { interfaces }
	};
});
/** Beside ppsgate.yml. */
const usualFolder = "dut";

// src/config/paths.ts
const place = text(/^(?!\/)(?!(?:.*\/)?\.{1,2}(?:\/|$))[\w+.*@/-]{1,200}$/, "a place in the tree like sys/netpfil/pf/");
const places = array(place, { error: expected("a list like [sys/netpfil/pf/]") }).min(1, "expected at least one place, found an empty list");
const driverName = string().regex(/^[a-z][a-z\d]{0,14}$/);
const pathsSchema = closed({
	everything: places.optional().describe("Files that can change every cell, first of all."),
	nothing: places.optional().describe("Files that can change no cell."),
	byDriver: record(driverName, places, { error: expected("places by the drivers of ports, like cxl") }).prefault({}).describe("Files that can change cells only where the DUT forwards through such a port."),
	byScenario: record(scenarioSchema, places, { error: expected("places by the names of scenarios") }).prefault({}).describe("Files for which the cells of a scenario come first."),
	byFamily: closed({
		inet4: places.exactOptional(),
		inet6: places.exactOptional()
	}).prefault({}).describe("Files for which the cells of a family come first.")
}).transform(({ everything = [], nothing = [], ...rest }) => ({
	everything,
	nothing,
	...rest
}));

// src/config/phabricator.ts
const relayOccasions = [
	"builds",
	"diffs",
	"comments"
];
const serverUrl = (example) => url({
	protocol: /^https?$/,
	error: expected(`a URL like ${example}`)
}).refine((url) => !/[?#]|:\/\/[^/]*@/.test(url), { error: expected(`a URL like ${example}, without a user or a query`) }).transform((url) => url.replace(/\/+$/, ""));
const listWith = (item, example) => array(item, { error: expected(`a list like [${example}]`) });
const someOf = (item, example) => listWith(item, example).min(1, `expected at least one, like [${example}], found an empty list`);
const userName = text(/^[\w.-]{1,64}$/, "a user name of Phabricator, without the @");
const hashtag = text(/^[^\s#@,]{1,128}$/, "the hashtag of a project, without the #");
const repositoryName = text(/^[\w.-]{1,64}$/, "the callsign or short name of a repository");
const pathPrefix = text(/^(?!\/)[^\p{Cc}]{1,200}$/u, "a folder of the repository like sys/net/");
const here = closed({
	kind: literal("here").optional(),
	repository: path$1.prefault(".").describe("A git repository that has the branch."),
	most: wholeNumber(1, 100).prefault(4).describe("Most gates at once."),
	site: serverUrl("https://ci.example.org/ppsgate").optional().describe("The URL at which a web server shows `directory`, for links; left out, none.")
}).transform(({ repository, most, site }) => ({
	kind: "here",
	repository,
	most,
	...site !== void 0 && { site }
}));
const github = closed({
	kind: literal("github"),
	repository: text(/^[\w.-]+\/[\w.-]+$/, "a repository of GitHub like freebsd/freebsd-src"),
	tokenFile: path$1.optional().describe("Left out, it is GITHUB_TOKEN in the environment."),
	api: serverUrl("https://api.github.com").prefault("https://api.github.com"),
	event: text(/^[\w.-]{1,100}$/, "the type of an event like ppsgate").prefault("ppsgate").describe("The event type of the repository_dispatch that starts the workflow.")
}).transform(({ tokenFile, api, ...rest }) => ({
	...rest,
	apiUrl: api,
	...tokenFile !== void 0 && { tokenPath: tokenFile }
}));
const jenkins = closed({
	kind: literal("jenkins"),
	job: serverUrl("https://ci.example.org/job/ppsgate"),
	user: text(/^[^\p{C}\s:]{1,64}$/u, "a user of Jenkins"),
	tokenFile: path$1.optional().describe("Left out, it is PPSGATE_JENKINS_TOKEN in the environment.")
}).transform(({ kind, job, user, tokenFile }) => ({
	kind,
	url: job,
	user,
	...tokenFile !== void 0 && { tokenPath: tokenFile }
}));
const start = discriminatedUnion("kind", [
	here,
	github,
	jenkins
], { error: ({ input }) => typeof input === "object" && input !== null && "kind" in input ? wrongName([
	"here",
	"github",
	"jenkins"
])({ input: input.kind }) : expected("keys and values like { kind: here }")({ input }) });
const conclusions = ["failure", "neutral"];
const relay = closed({
	directory: path$1.prefault("~/.local/state/ppsgate/relay").describe("The queue and the work directories: on a local disk."),
	host: text(hostName, "a host name or an address").prefault("127.0.0.1").describe("The address that `ppsgate relay` listens on."),
	port: wholeNumber(0, 65535).prefault(8642).describe("The port that `ppsgate relay` listens on."),
	webhookKeyFile: path$1.optional().describe("The key of Herald's webhook; left out, there is no webhook."),
	buildPasswordFile: path$1.optional().describe("`user:password` of Harbormaster's build requests; left out, there are none."),
	on: listOf(relayOccasions).prefault([...relayOccasions]).describe("Triggers: builds of Harbormaster, new diffs, and commands in comments."),
	start: start.prefault({}).describe("The place that runs the gates: this machine, GitHub or Jenkins.")
}).transform(({ webhookKeyFile, buildPasswordFile, ...rest }) => ({
	...rest,
	...webhookKeyFile !== void 0 && { webhookKeyPath: webhookKeyFile },
	...buildPasswordFile !== void 0 && { buildPasswordPath: buildPasswordFile }
}));
const phabricatorSchema = closed({
	url: serverUrl("https://reviews.freebsd.org"),
	tokenFile: path$1.optional().describe("The bot's Conduit token; left out, it is PPSGATE_CONDUIT_TOKEN in the environment."),
	ca: path$1.optional().describe("Certificate of the authority that signed the server's; left out, those that Node knows are trusted."),
	branch: text(/^(?!-)[\w./-]{1,100}$/, "the name of a branch like main").prefault("main").describe("The base of a diff that names none."),
	repositories: someOf(repositoryName, "src").optional().describe("Callsigns or short names; left out, revisions of any repository, and of none."),
	paths: someOf(pathPrefix, "sys/net/").optional().describe("New diffs are measured automatically if they change a file below one of these; left out, all are."),
	people: listWith(userName, "alice, bob").prefault([]).describe("User names that may approve and start measurements."),
	projects: listWith(hashtag, "network").prefault([]).describe("Hashtags of projects whose members may do the same."),
	undecided: _enum(conclusions, { error: wrongName(conclusions) }).prefault("failure").describe("Status of an inconclusive build; neutral passes it."),
	relay: relay.prefault({}).describe("Settings of `ppsgate relay` and `ppsgate poll`.")
}).transform(({ tokenFile, ca, repositories, paths, ...rest }) => ({
	...rest,
	...tokenFile !== void 0 && { tokenPath: tokenFile },
	...ca !== void 0 && { caPath: ca },
	...repositories !== void 0 && { repositories },
	...paths !== void 0 && { paths }
}));

// src/config/reservations.ts
const stores = ["sqlite", "etcd"];
const lease = duration({
	description: "a whole number of seconds from 5 s to 10 min",
	holds: (seconds) => Number.isInteger(seconds) && seconds >= 5 && seconds <= 600
}).prefault("30 s").describe("A holder that is silent for this long loses the testbed.");
const sqlite = closed({
	store: literal("sqlite").optional().describe("A file, for all who use one machine."),
	file: path$1.prefault("~/.local/state/ppsgate/reservations.sqlite"),
	lease
}).transform(({ file, lease }) => ({
	store: "sqlite",
	path: file,
	leaseSeconds: lease
}));
const endpointUrl = { error: expected("a URL of etcd like https://etcd1.lab:2379") };
const endpoint = string(endpointUrl).refine(isEndpoint, endpointUrl).transform((written) => new URL(written).origin);
const endpoints = array(endpoint, { error: expected("a list like [https://etcd1.lab:2379]") }).min(1, "expected at least one endpoint, found an empty list").refine((list) => new Set(list).size === list.length, "an endpoint is in this list twice");
const etcd = closed({
	store: literal("etcd").describe("A cluster, for those of several machines."),
	endpoints: endpoints.describe("Members of one cluster."),
	prefix: text(/^\/(?:[\w.-]+\/)*$/, "a prefix of keys that begins and ends with a slash like /ppsgate/").prefault("/ppsgate/").describe("Prefix of all keys."),
	ca: path$1.optional().describe("PEM of the trusted authority; left out, those that Node knows."),
	certificate: path$1.optional().describe("The client's, with its key."),
	key: path$1.optional().describe("The key of the client's certificate."),
	user: text(/^[^\p{C}\s]{1,64}$/u, "a user name").optional().describe("The user of etcd; requires `passwordFile`."),
	passwordFile: path$1.optional(),
	lease
}).superRefine((written, { addIssue }) => {
	for (const { path, message } of lacks(written)) addIssue({
		code: "custom",
		path,
		message
	});
}).transform(({ ca, certificate, key, user, passwordFile, lease, ...rest }) => ({
	...rest,
	...ca !== void 0 && { caPath: ca },
	...certificate !== void 0 && { certificatePath: certificate },
	...key !== void 0 && { keyPath: key },
	...user !== void 0 && { user },
	...passwordFile !== void 0 && { passwordPath: passwordFile },
	leaseSeconds: lease
}));
const reservationsSchema = discriminatedUnion("store", [sqlite, etcd], { error: wrongStore });
function isEndpoint(written) {
	const url = URL.parse(written);
	const extras = [
		url?.username,
		url?.password,
		url?.search,
		url?.hash
	].join("");
	return /^https?:$/.test(url?.protocol ?? "") && extras === "" && url?.pathname === "/";
}
function lacks({ endpoints, certificate, key, user, passwordFile }) {
	const halves = [
		{
			name: "certificate",
			value: certificate,
			other: "key",
			otherValue: key
		},
		{
			name: "key",
			value: key,
			other: "certificate",
			otherValue: certificate
		},
		{
			name: "user",
			value: user,
			other: "passwordFile",
			otherValue: passwordFile
		},
		{
			name: "passwordFile",
			value: passwordFile,
			other: "user",
			otherValue: user
		}
	].filter(({ value, otherValue }) => value !== void 0 && otherValue === void 0).map(({ name, other }) => ({
		path: [other],
		message: `missing; \`${name}\` requires \`${other}\``
	}));
	const readable = passwordFile === void 0 ? [] : endpoints.flatMap(readableOnItsWay);
	return [...halves, ...readable];
}
function readableOnItsWay(endpoint, index) {
	const url = URL.parse(endpoint);
	if (url === null || url.protocol === "https:" || isLoopback(url.hostname)) return [];
	return [{
		path: ["endpoints", index],
		message: "the password could be read on its way by http; expected https"
	}];
}
/** URL normalizes hosts: `127.1` and `0x7f000001` are equal. */
const isLoopback = (hostname) => /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
function wrongStore({ code, input }) {
	if (code !== "invalid_union") return expected("keys and values")({ input });
	return wrongName(stores)({ input: input.store });
}

// src/config/trend.ts
const trueOrFalse = boolean({ error: expected("true or false") });
const notAPage = { error: expected("a URL like https://cgit.example.org/src/log/?qt=range&q={from}..{to}") };
const trendSchema = closed({
	bisect: trueOrFalse.prefault(false).describe("Bisects a lasting loss of several commits once a gate has confirmed it."),
	issues: trueOrFalse.prefault(true).describe("Each lasting change has an issue on GitHub."),
	compare: url({
		protocol: /^https?$/,
		...notAPage
	}).refine((page) => ["{from}", "{to}"].every((end) => page.includes(end)), notAPage).optional().describe("Page of the commits from {from} to {to}; left out, GitHub's.")
});

// src/config/cross-builder.ts
const { kernelConfig, jobs, clean, options } = makeKeys;
/** Paths stay as written. */
const crossBuilderSchema = closed({
	kind: literal("cross", { error: "expected `kind: cross`; a builder with FreeBSD has its `kind` below `kernel`" }).describe("FreeBSD's kernels on Linux, by the tree's tools/build/make.py with clang and lld."),
	...ssh,
	host: ssh.host.optional().describe("Left out, kernels are built on this machine."),
	user: buildingUser,
	folder: buildFolder.prefault("/var/lib/ppsgate-builds").describe("On the builder; everything of ours is below it."),
	repository: buildFolder.prefault("/usr/src").describe("A clone of FreeBSD's src on the builder; only objects are added to it."),
	...builderKeys,
	kernelConfig,
	jobs,
	clean,
	modules: makeKeys.modules.prefault("needed"),
	options: options.refine((words) => !words.some((word) => /^TARGET(?:_ARCH)?=/.test(word)), { error: "a cross builder builds kernels for amd64 only; remove TARGET and TARGET_ARCH" }),
	tools: buildFolder.optional().describe("The folder of clang and ld.lld; left out, the newest /usr/lib/llvm-*/bin that has both, or /usr/bin.")
}).transform(withHost).transform(withBounds).transform((written) => {
	const { host, kind: _, kernelConfig, jobs, clean, modules, options, tools, ...rest } = written;
	return {
		...rest,
		system: "linux",
		recipe: {
			kind: "make",
			kernelConfig,
			...jobs !== void 0 && { jobs },
			clean,
			metaMode: false,
			toolchain: true,
			modules,
			options,
			cross: tools === void 0 ? {} : { toolFolder: tools }
		},
		...host === void 0 ? { jail: { user: rest.user } } : { host }
	};
});

// src/config/linux-builder.ts
const make = closed({
	kind: literal("linux"),
	config: path$1.describe("A .config of the kernel on this machine, or a part of one: `make olddefconfig` completes it."),
	jobs: wholeNumber(1, 1024).optional().describe("Left out, as many as the builder has CPUs."),
	clean: boolean().prefault(true).describe("Every build starts from nothing, or from the objects of the one before."),
	options: array(text(/^\w+=[^\p{Cc}]*$/u, "an option of make like LLVM=1")).prefault([]).describe("`NAME=value` for make.")
}).transform(({ config, jobs, ...rest }) => ({
	...rest,
	configPath: config,
	...jobs !== void 0 && { jobs }
}));
const recipe = discriminatedUnion("kind", [make, commandRecipe], { error: "expected `kind: linux` or `kind: command`" });
/** Parses `builder:` of a testbed that boots Linux; paths stay as written. */
const linuxBuilderSchema = closed({
	...ssh,
	host: ssh.host.optional().describe("Left out, kernels are built on this machine."),
	user: buildingUser,
	folder: buildFolder.prefault("/var/lib/ppsgate-builds").describe("On the builder; everything of ours is below it."),
	repository: buildFolder.prefault("/usr/src/linux").describe("A clone of Linux's sources on the builder; only objects are added to it."),
	...builderKeys,
	kernel: recipe.describe("The recipe of a kernel.")
}).transform(withHost).transform(withBounds).transform(({ host, kernel, ...rest }) => ({
	...rest,
	system: "linux",
	recipe: kernel,
	...host === void 0 ? { jail: { user: rest.user } } : { host }
}));

// src/config/virtual-testbed.ts
/** QEMU's accelerators: `tcg` translates a guest's instructions and counts them, `kvm` runs them on the CPU. */
const accelerators = ["tcg", "kvm"];
const moduleName = text(/^[a-zA-Z0-9][\w-]{0,62}$/, "the name of a kernel module like act_mirred");
const image = closed({
	path: path$1.describe("A disk of FreeBSD's, raw or qcow2, or an official image as it is published (.raw.xz too); it is never written to."),
	sha512: text(/^[0-9a-fA-F]{128}$/, "a SHA-512 of 128 hexadecimal digits").optional().describe("Checksum of an official image, as in its CHECKSUM.SHA512; another file is refused."),
	key: path$1.optional().describe("A private key for root, for an image with `hostKey`; without it the ssh agent is used."),
	hostKey: text(/^(?:ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(?:256|384|521)) [A-Za-z0-9+/]{40,2000}={0,3}$/, "the public host key of the image's sshd, like `ssh-ed25519 AAAA…` of its /etc/ssh/ssh_host_ed25519_key.pub, without the comment").optional().describe("The host key of the image: the first two words of its /etc/ssh/ssh_host_ed25519_key.pub. Left out, the image is prepared once over its serial console, and kept."),
	limit: duration({
		description: "a duration from 1 min to 60 min",
		holds: (seconds) => seconds >= 60 && seconds <= 3600
	}).prefault("10 min").describe("Longest boot of a guest.")
}).superRefine(({ key, hostKey, sha512 }, context) => {
	const refuse = (stray, message) => context.addIssue({
		code: "custom",
		path: [stray],
		message
	});
	if (hostKey === void 0 && key !== void 0) refuse("key", "goes with `hostKey`: give both, or neither for an official image");
	if (hostKey !== void 0 && sha512 !== void 0) refuse("sha512", "is of an official image, which has no `hostKey`: leave one of them out");
}).transform(({ path, key, hostKey, sha512, limit }) => hostKey === void 0 ? {
	path,
	bootSeconds: limit,
	...sha512 !== void 0 && { sha512: sha512.toLowerCase() }
} : {
	path,
	hostKey,
	bootSeconds: limit,
	...key !== void 0 && { privateKeyPath: key }
});
/** Parsed once the rest of the testbed determines the system. */
const builder = unknown().optional().meta({
	description: "Builds the kernels of base and patched, if the repository has their sources.",
	get anyOf() {
		return [
			linuxBuilderSchema,
			builderSchema,
			crossBuilderSchema
		].map((schema) => {
			const { $schema: _, ...json } = toJSONSchema(schema, {
				io: "input",
				unrepresentable: "any"
			});
			return json;
		});
	}
});
function builtBy(schema, written, context) {
	if (written === void 0) return {};
	const read = schema.safeParse(written);
	if (read.success) return { builder: read.data };
	for (const issue of read.error.issues) {
		const { message, path } = issue;
		context.addIssue({
			code: "custom",
			message,
			path: ["builder", ...path],
			...issue.code === "custom" && issue.params !== void 0 && { params: issue.params }
		});
	}
	return {};
}
const isCross = (builder) => typeof builder === "object" && builder !== null && "kind" in builder;
/** Paths stay as written. */
const virtualTestbedSchema = closed({
	kind: literal("virtual").describe("Virtual machines on this machine, which boot kernels."),
	accelerator: _enum(accelerators, { error: wrongName(accelerators) }).prefault("tcg").describe("tcg counts instructions, on any machine; kvm measures CPU time."),
	memory: wholeNumber(128, 65536).optional().describe("Memory of each guest in MiB; left out, 256, and 1024 with an `image`."),
	kernel: path$1.optional().describe("A kernel with its modules, a .deb or a tar archive, that guests boot where none is built or given; left out, the newest one of this machine's /boot."),
	modules: array(moduleName).optional().describe("Modules that a guest loads beside those that forwarding needs."),
	image: image.optional().describe("A disk that guests boot, of FreeBSD; left out, they are Linux."),
	builder,
	...capabilityKeys
}).superRefine(({ image, ...written }, context) => {
	const stray = ["kernel", "modules"].find((key) => written[key] !== void 0);
	if (image === void 0 || stray === void 0) return;
	context.addIssue({
		code: "custom",
		path: [stray],
		message: "only Linux is booted without a disk; leave this out, or `image`"
	});
}).transform(withCapabilities).transform((written, context) => {
	const { memory, kernel, modules = [], image, builder, ...rest } = written;
	if (image !== void 0) return {
		...rest,
		system: "freebsd",
		image,
		memoryMebibytes: memory ?? 1024,
		...builtBy(isCross(builder) ? crossBuilderSchema : builderSchema, builder, context)
	};
	return {
		...rest,
		system: "linux",
		modules,
		memoryMebibytes: memory ?? 256,
		...kernel !== void 0 && { kernelPath: kernel },
		...builtBy(linuxBuilderSchema, builder, context)
	};
});

// src/config/schema.ts
/** Returns the requested size, the mean of a mix, or the minimum for the headers and a CRC. */
const frameBytesFor = (traffic, { family, frameBytes }) => Math.max(frameBytes ?? traffic.frameBytes, smallestFrameBytes[family][traffic.packets?.protocol ?? "udp"]);
const smallestFrameBytes = {
	inet4: {
		udp: 64,
		tcp: 64
	},
	inet6: {
		udp: 66,
		tcp: 78
	}
};
const interfaceName = text(/^[a-zA-Z0-9][\w.-]{0,14}$/, "the name of a network interface like eth0");
const cpu = wholeNumber(0, 8191);
const linuxTestbed = closed({
	kind: literal("linux").describe("Three Linux hosts that are wired and routed already."),
	sender: closed({
		...ssh,
		interface: interfaceName,
		cpu: cpu.describe("The CPU that makes frames.")
	}).transform(withHost),
	dut: closed({
		...ssh,
		ingress: interfaceName,
		egress: interfaceName,
		cpu: cpu.describe("The CPU that forwards packets.")
	}).transform(withHost),
	receiver: closed({
		...ssh,
		interface: interfaceName
	}).transform(withHost),
	...capabilityKeys
}).transform(withCapabilities);
const embeddedTestbed = closed({
	kind: literal("embedded-linux").describe("Three network namespaces on this machine."),
	...capabilityKeys
}).transform(withCapabilities);
const testbed = discriminatedUnion("kind", [
	embeddedTestbed,
	linuxTestbed,
	freebsdTestbedSchema,
	virtualTestbedSchema
], { error: wrongTestbed });
const testbedName = string().regex(/^[a-zA-Z0-9][\w.-]{0,62}$/);
const testbeds = record(testbedName, testbed, { error: wrongTestbeds }).refine((byName) => Object.keys(byName).length > 0, "expected at least one testbed, found none");
const notSoManyRuns = { error: expected("1, 2, or a multiple of 4 from 4 to 1000") };
const runsPerTrial = number(notSoManyRuns).refine((runs) => runs === 1 || runs === 2 || runs % 4 === 0 && runs >= 4 && runs <= 1e3, notSoManyRuns).meta({ title: "1, 2, or a multiple of 4 from 4 to 1000" });
const traffic = closed({
	flows: wholeNumber(1, 65536).prefault(2e3).describe("Source × destination addresses."),
	...packetKeys,
	frameSizes: array(frameSize, { error: expected("a list like [64 bytes, 1518 bytes]") }).min(1, "expected at least one size").refine((sizes) => new Set(sizes).size === sizes.length, "a size is in this list twice").optional().describe("Several sizes instead of `frameSize`, each with its own cells."),
	rate: rate(whole(1, 1e9, "pps")).optional().describe("The offered rate, which must exceed what the DUT forwards."),
	warmUp: duration(between(0, 600)).optional(),
	settle: duration(between(0, 60)).optional().describe("After a variant was installed, before its run is measured."),
	measure: duration(between(.01, 600)).optional().describe("Longest run."),
	measureAtLeast: duration(between(6, 600)).optional().describe("A run ends from here on, when its median is known to 0.5%; with `runsPerTrial: 1`."),
	runsPerTrial: runsPerTrial.optional().describe("Runs that follow each other in one trial of traffic, the variants in turn."),
	windows: wholeNumber(2, 1e3).optional().describe("Windows of a run, on virtual testbeds."),
	windowPackets: wholeNumber(1e3, 1e5).optional().describe("Packets of a window, on virtual testbeds.")
}).refine(({ frameSize, frameSizes }) => frameSize === void 0 || frameSizes === void 0, {
	path: ["frameSizes"],
	error: "instead of `frameSize`, not beside it"
});
/** Linux variants change within a trial; FreeBSD boots between trials, which may end early; guests have no rate. */
const trafficDefaults = {
	virtual: {
		warmUpSeconds: 0,
		settleSeconds: 0,
		measureSeconds: 2,
		measureAtLeastSeconds: 2,
		runsPerTrial: 2,
		windows: {
			count: 8,
			packets: 1e4
		}
	},
	linux: {
		offeredPps: 3e6,
		warmUpSeconds: .5,
		settleSeconds: .005,
		measureSeconds: .03,
		measureAtLeastSeconds: Number.POSITIVE_INFINITY,
		runsPerTrial: 52
	},
	freebsd: {
		warmUpSeconds: 0,
		settleSeconds: 4,
		measureSeconds: 60,
		measureAtLeastSeconds: 12,
		runsPerTrial: 1
	}
};
function withDefaults(written, kind) {
	const usual = trafficDefaults[kind];
	const measureSeconds = written.measure ?? usual.measureSeconds;
	const runsPerTrial = written.runsPerTrial ?? usual.runsPerTrial;
	const offeredPps = written.rate ?? usual.offeredPps;
	const packets = packetsOf(written);
	return {
		flows: written.flows,
		frameBytes: written.frameSizes?.[0] ?? frameBytesOf(written),
		warmUpSeconds: written.warmUp ?? usual.warmUpSeconds,
		settleSeconds: written.settle ?? usual.settleSeconds,
		measureSeconds,
		measureAtLeastSeconds: written.measureAtLeast ?? Math.min(usual.measureAtLeastSeconds, measureSeconds),
		runsPerTrial,
		...offeredPps !== void 0 && { offeredPps },
		...packets !== void 0 && { packets },
		...usual.windows !== void 0 && { windows: {
			count: written.windows ?? usual.windows.count,
			packets: written.windowPackets ?? usual.windows.packets
		} }
	};
}
/** Limits the cells to one size, which replaces a mix. */
function withFrameSize(config, bytes) {
	const one = {
		...config,
		frameSizes: [bytes]
	};
	const { packets, ...traffic } = config.traffic;
	if (packets?.sizes === void 0) return one;
	const kept = withoutMix(packets);
	return {
		...one,
		traffic: {
			...traffic,
			frameBytes: bytes,
			...kept && { packets: kept }
		}
	};
}
const gate = closed({
	metric: _enum(metrics, { error: wrongName(metrics) }).optional().describe("The compared metric; left out, pps, and on virtual testbeds instructionsPerPacket, which only they count. nsPerPacket is steadier than pps on a shared machine."),
	margin: ratio({
		description: "a percentage above 0% and up to 50%",
		holds: (value) => value > 0 && value <= .5
	}).optional().describe("The loss that matters: a smaller one is not a regression. Left out, 2 %, and on virtual testbeds 1 %."),
	confidence: ratio({
		description: "one of 80%, 90%, 95%, 98%, 99%, 99.5%",
		holds: (value) => [
			.8,
			.9,
			.95,
			.98,
			.99,
			.995
		].includes(value)
	}).optional().describe("Confidence of the shown interval, equivalent to `power`; the stricter one counts."),
	falseAlarms: ratio({
		description: "a percentage from 0.01% to 20%",
		holds: (value) => value >= 1e-4 && value <= .2
	}).prefault("1%").describe("Largest share of harmless patches that may be called a regression."),
	power: ratio({
		description: "a percentage from 50% to 99.9%",
		holds: (value) => value >= .5 && value <= .999
	}).prefault("95%").describe("Smallest share of cells with a loss of the margin that are found."),
	design: _enum(designNames, { error: wrongName(designNames) }).optional().describe("The default is group-sequential."),
	maxRuns: wholeNumber(2, 1e4).optional().describe("Most runs of each variant and cell; left out, five trials of runs, or 20 if each run has its own trial."),
	stopAtFirst: boolean({ error: expected("true or false") }).prefault(false).describe("A cell with a regression ends the runs of all others.")
}).transform(({ metric, margin, falseAlarms, design, maxRuns, stopAtFirst, ...sureness }) => ({
	...metric !== void 0 && { metric },
	...margin !== void 0 && { marginRatio: margin },
	...confidenceOf(sureness),
	falseAlarmRatio: falseAlarms,
	...design !== void 0 && { design },
	...maxRuns !== void 0 && { maxRunsPerVariant: maxRuns },
	...stopAtFirst && { stopsAtFirst: true }
}));
/**
* The displayed interval also excludes a loss of the margin, so that no number contradicts its verdict: as in two
* one-sided tests (Schuirmann, J. Pharmacokinetics and Biopharmaceutics 15, 1987), each side omits the permitted
* misses. Of confidence and power, the stricter one counts.
*/
function confidenceOf({ power, confidence = 0 }) {
	const missRatio = exact(Math.min(1 - power, (1 - confidence) / 2));
	return {
		missRatio,
		confidenceRatio: exact(1 - 2 * missRatio)
	};
}
/** Rounds a decimal to the digits that were written. */
const exact = (ratio) => Number(ratio.toPrecision(12));
const profile = closed({
	enabled: boolean({ error: expected("true or false") }).prefault(true),
	window: duration(between(.5, 60)).optional().describe("Duration of sampling."),
	event: text(/^\w[\w.,:=/@-]{0,199}$/, "the name of an event like cpu_clk_unhalted.thread_p").optional().describe("The event, as pmcstat(8) or perf(1) names it; left out, CPU cycles.")
});
/**
* On Linux, perf samples more often; for mixed kinds its number suffices for both. It ends at whole seconds after its
* start: 2 s would last three.
*/
const usualProfileSeconds = (config) => usualKind(config) === "freebsd" ? 10 : 1.8;
const likeAList = { error: expected("a list like [forwarding]") };
/** Known names depend on the testbeds, and on the site's own rules. */
const namedScenarios$1 = array(string({ error: expected("the name of a scenario") }).meta({ examples: [...scenarios] }), likeAList).min(1, "expected at least one scenario, found an empty list").refine((list) => new Set(list).size === list.length, "a name is in this list twice");
const firewalls = ["pf", "ipfw"];
const ownRules = closed({
	firewall: _enum(firewalls, { error: wrongName(firewalls) }),
	file: path$1.describe("A file of pf.conf(5), or of ipfw(8) commands without the word ipfw."),
	keepsStates: boolean({ error: expected("true or false") }).prefault(false).describe("A trial counts only if it leaves a state for each of its flows.")
}).transform(({ file, ...rest }) => ({
	...rest,
	path: file
}));
const selector = string({ error: expected("a selector like `mellanox and 40G`") }).superRefine((text, { addIssue }) => {
	const source = readSelector(text);
	if (source.kind === "refused") addIssue(source.message);
});
const selectors = array(selector, { error: expected("a list like [chelsio, mellanox]") }).min(1, "expected at least one selector, found an empty list").refine((list) => new Set(list.map(plainSelector)).size === list.length, { error: "a selector is in this list twice" });
function plainSelector(text) {
	const source = readSelector(text);
	return source.kind === "read" ? selectorText(source.selector) : text;
}
const configKeys = closed({
	overlay: overlaySchema.prefault("dut").describe("A folder whose files are installed over the DUT's, or such files by their names. Paths begin at this file, or at the repository's top if this file is outside."),
	testbeds: testbeds.describe("Testbeds by their names."),
	each: selectors.optional().describe("A patch is judged on one testbed of each; left out, on the first of the testbeds."),
	scenarios: namedScenarios$1.prefault(["forwarding"]).describe("Every scenario is measured with every family."),
	rules: record(scenarioSchema, ownRules, { error: expected("rules by the names of their scenarios") }).prefault({}).describe("Scenarios of your own for FreeBSD testbeds."),
	families: listOf(families).prefault(["inet4"]).describe("Every scenario is measured with every family."),
	paths: pathsSchema.optional().describe("Files that can change a measurement, in addition to those known of FreeBSD."),
	traffic: traffic.prefault({}).describe("Packets to send, and durations."),
	gate: gate.prefault({}).describe("The compared metric and the error rates of a verdict."),
	profile: profile.prefault({}).describe("Profiles of each variant."),
	history: path$1.prefault("~/.local/state/ppsgate/history.jsonl").describe("The file that stores the noise of testbeds and past gates."),
	reservations: reservationsSchema.prefault({}).describe("The store of reservations, shared by all users of a testbed."),
	github: githubSchema.prefault({}).describe("Approvals and reports on GitHub."),
	trend: trendSchema.prefault({}).describe("Responses to a lasting change of the default branch."),
	phabricator: phabricatorSchema.optional().describe("Approvals and reports on Phabricator or Phorge.")
});
const configSchema = configKeys.transform((written, context) => {
	const { overlay, traffic: writtenTraffic, gate: writtenGate, each, paths, phabricator, profile, ...rest } = written;
	const traffic = withDefaults(writtenTraffic, usualKind(written));
	const refuse = (path, message) => context.addIssue({
		code: "custom",
		path,
		message
	});
	const stray = strayTraffic(writtenTraffic, usualKind(written));
	if (stray !== void 0) refuse(["traffic", stray.key], stray.message);
	const { measureAtLeast } = writtenTraffic;
	if (measureAtLeast !== void 0 && traffic.runsPerTrial > 1) refuse(["traffic", "measureAtLeast"], "only a run that has a trial of its own can end early; set `runsPerTrial: 1`");
	else if ((measureAtLeast ?? 0) > traffic.measureSeconds) refuse(["traffic", "measureAtLeast"], "expected at most what `measure` allows");
	for (const [index, scenario] of written.scenarios.entries()) {
		const known = scenariosIn(written);
		if (!known.includes(scenario)) refuse(["scenarios", index], wrongScenario(known)({ input: scenario }));
	}
	for (const name of Object.keys(written.rules)) if (scenarios.includes(name)) refuse(["rules", name], "ppsgate has a scenario of that name");
	for (const name of Object.keys(paths?.byScenario ?? {})) {
		const known = scenariosIn(written);
		if (!known.includes(name)) refuse([
			"paths",
			"byScenario",
			name
		], wrongScenario(known)({ input: name }));
	}
	for (const [name, testbed] of Object.entries(written.testbeds)) {
		if (testbed.kind !== "freebsd") continue;
		for (const { path, message } of lacksAddresses(testbed, written.families)) refuse([
			"testbeds",
			name,
			...path
		], message);
	}
	const { frameSizes } = writtenTraffic;
	const { addresses } = traffic.packets ?? {};
	for (const family of families) {
		if (addresses?.[family] === void 0) continue;
		const why = whyTooFewAddresses(traffic.flows, family, addresses);
		if (why !== void 0) refuse([
			"traffic",
			"addresses",
			family
		], why);
	}
	return {
		...rest,
		overlay,
		traffic,
		gate: wholeGate(writtenGate, written),
		...profile.enabled && { profile: {
			seconds: profile.window ?? usualProfileSeconds(written),
			...profile.event !== void 0 && { event: profile.event }
		} },
		...frameSizes !== void 0 && { frameSizes },
		...each !== void 0 && { each },
		...paths !== void 0 && { paths },
		...phabricator !== void 0 && { phabricator }
	};
});
const scenariosIn = ({ testbeds, rules }) => [...new Set(Object.values(testbeds).flatMap((one) => carriedBy(systemOfKind(one), rules)))];
/** Comments list scenarios and families together, so users confuse them elsewhere too. */
const wrongScenario = (known) => ({ input }) => {
	const message = wrongName(known)({ input });
	const [family] = typeof input === "string" && !message.endsWith("?") ? meantBy(input, families) : [];
	return family === void 0 ? message : `${message}; did you mean the family \`${family}\`?`;
};
const carriedBy = (system, rules) => [...scenariosOf[system], ...system === "freebsd" ? Object.keys(rules) : []];
/** Returns the kind that sets the defaults: FreeBSD or virtual machines only if there is no other. */
function usualKind({ testbeds }) {
	const all = Object.values(testbeds);
	return ["freebsd", "virtual"].find((kind) => all.every((one) => one.kind === kind)) ?? "linux";
}
function strayTraffic(written, kind) {
	const key = (kind === "virtual" ? ofTime : ofPackets).find((name) => written[name] !== void 0);
	if (key === void 0) return void 0;
	return {
		key,
		message: kind === "virtual" ? "virtual testbeds send a fixed number of packets instead of measuring for a time: set `windows` and `windowPackets`" : "only virtual testbeds send a fixed number of packets: set `measure`"
	};
}
const ofTime = [
	"rate",
	"warmUp",
	"settle",
	"measure",
	"measureAtLeast"
];
const ofPackets = ["windows", "windowPackets"];
/** Fills in the metric: a guest's instructions vary by a few thousandths. With KVM, its time is used instead. */
function wholeGate(written, config) {
	const usual = {
		metric: "pps",
		marginRatio: .02
	};
	if (config === void 0 || usualKind(config) !== "virtual") return {
		...usual,
		...written
	};
	return Object.values(config.testbeds).every(countsInstructions) ? {
		metric: "instructionsPerPacket",
		marginRatio: .01,
		...written
	} : {
		...usual,
		metric: "nsPerPacket",
		...written
	};
}
const countsInstructions = (testbed) => testbed.kind === "virtual" && testbed.accelerator === "tcg";
/** True for a testbed that ppsgate creates here; no other program reaches its machines. */
const isOnThisMachine = (testbed) => testbed?.kind === "embedded-linux" || testbed?.kind === "virtual";
const systemOfKind = (testbed) => {
	if (testbed.kind === "virtual") return testbed.system;
	return testbed.kind === "freebsd" ? "freebsd" : "linux";
};
/** Undefined for a testbed that the configuration does not have. */
function testbedKindOf({ testbeds }, name) {
	const testbed = testbeds[name];
	return testbed?.kind === "virtual" ? `virtual-${testbed.system}` : testbed?.kind;
}
function systemOf(config, name) {
	const testbed = config.testbeds[name];
	return testbed === void 0 ? "linux" : systemOfKind(testbed);
}
/** Returns a reason in one sentence. Called only for the chosen testbed, as others may be fit. */
function whyUnfit(config, name) {
	const testbed = config.testbeds[name];
	const system = systemOf(config, name);
	const carried = carriedBy(system, config.rules);
	const stranger = config.scenarios.find((scenario) => !carried.includes(scenario));
	if (stranger !== void 0) return `\`scenarios\` on ${name}: ${sentence$1(wrongScenario(carried)({ input: stranger }))}`;
	if (testbed?.kind === "virtual" && config.traffic.windows === void 0) return `${name} sends a fixed number of packets, while the other testbeds of this configuration measure for a time: give virtual testbeds a separate ppsgate.yml.`;
	if (config.gate.metric === "instructionsPerPacket" && testbed !== void 0 && !countsInstructions(testbed)) return `${name} counts no instructionsPerPacket, unlike virtual testbeds with \`accelerator: tcg\`: judge it by pps or nsPerPacket.`;
	const { flows, packets } = config.traffic;
	const unrouted = system === "freebsd" ? whyNotRouted(packets) : void 0;
	if (unrouted !== void 0) return `${name} ${unrouted.why}: ${unrouted.fix}.`;
	if (testbed?.kind !== "freebsd") return void 0;
	if (config.traffic.runsPerTrial !== 1) return `${name} boots its variants, so each run has its own trial: set \`traffic.runsPerTrial: 1\`, and \`measure: 60 s\` or so.`;
	if (config.traffic.measureSeconds < 6) return `${name} is sampled once per second, and a run of ${config.traffic.measureSeconds} s has too few samples: set \`traffic.measure: 60 s\` or so.`;
	if (config.gate.metric !== "pps") return `${name} measures no ${config.gate.metric}: judge it by pps.`;
	const unsent = whyNotSent(packets);
	if (unsent !== void 0) return `${name} ${unsent.why}: ${unsent.fix}.`;
	return config.families.map((family) => flowRanges(flows, family, testbed.senders.length, packets?.addresses)).find((split) => split.kind === "refused")?.message ?? lacksAddresses(testbed, config.families)[0]?.message;
}
function between(minSeconds, maxSeconds) {
	return {
		description: `a duration from ${minSeconds} s to ${maxSeconds} s`,
		holds: (value) => value >= minSeconds && value <= maxSeconds
	};
}
function wrongTestbed({ code, input }) {
	if (code !== "invalid_union") return expected("keys and values")({ input });
	return wrongName([
		"embedded-linux",
		"linux",
		"freebsd",
		"virtual"
	])({ input: input.kind });
}
function wrongTestbeds({ code, input }) {
	return code === "invalid_key" ? "expected a name of up to 63 letters, digits, dots, dashes and underscores" : expected("testbeds by their names")({ input });
}

// src/config/overrides.ts
/** Throws a `UsageError` that names the first wrong override in the style of `calledAs`. */
function applyOverrides(config, texts, calledAs) {
	const { shape } = configKeys;
	const { scenarios, families, profile: profileText } = texts;
	const { profile: written, ...rest } = config;
	const profile = profileText ? profileFrom(config, profileText, calledAs("profile")) : written;
	return {
		...rest,
		...profile && { profile },
		...scenarios && { scenarios: namedScenarios(config, scenarios, calledAs("scenarios")) },
		...families && { families: parse(calledAs("families"), shape.families, list(families, calledAs("families"))) },
		gate: overrideGate(config.gate, texts, calledAs)
	};
}
function profileFrom(config, text, called) {
	const usual = config.profile ?? { seconds: usualProfileSeconds(config) };
	if (text === "on") return usual;
	if (text === "off") return void 0;
	if (!/^\d/.test(text)) throw refused$1(called, expected("on, off or a duration like 20 s")({ input: text }));
	const { window } = parse(called, configKeys.shape.profile, { window: text });
	return {
		...usual,
		seconds: window ?? usual.seconds
	};
}
function namedScenarios(config, text, called) {
	const named = parse(called, configKeys.shape.scenarios, list(text, called));
	const known = scenariosIn(config);
	const stranger = named.find((name) => !known.includes(name));
	if (stranger === void 0) return named;
	throw refused$1(called, wrongScenario(known)({ input: stranger }));
}
/** Overrides only the parameters of a verdict; uses defaults without a configuration. */
function overrideGate(gate, texts, calledAs) {
	const schema = configKeys.shape.gate;
	const { metric, margin, falseAlarms, power, design, maxRuns, stopAtFirst } = texts;
	const read = (name, value) => wholeGate(parse(calledAs(name), schema, { [name]: value }));
	const { stopsAtFirst, ...written } = gate ?? wholeGate(schema.parse({}));
	const isEndedEarly = stopAtFirst ? isOn(stopAtFirst, calledAs("stopAtFirst")) : stopsAtFirst === true;
	return {
		...written,
		...isEndedEarly && { stopsAtFirst: true },
		...metric && { metric: read("metric", metric).metric },
		...margin && { marginRatio: read("margin", margin).marginRatio },
		...falseAlarms && { falseAlarmRatio: read("falseAlarms", falseAlarms).falseAlarmRatio },
		...power && { missRatio: read("power", power).missRatio },
		...design && { design: read("design", design).design },
		...maxRuns && { maxRunsPerVariant: parseMaxRuns(maxRuns, calledAs("maxRuns")) }
	};
}
function isOn(text, called) {
	if (text === "on" || text === "off") return text === "on";
	throw refused$1(called, expected("on or off")({ input: text }));
}
/** Whole, from 0 to 2³¹ − 1; seeds the order of runs. */
function parseSeed(text, called) {
	const seed = Number(text);
	if (/^\d+$/.test(text) && seed < 2 ** 31) return seed;
	throw refused$1(called, expected("a whole number from 0 to 2147483647")({ input: text }));
}
/** Absent: the priority of a patch. */
function parsePriority(text, called) {
	const named = text || "patch";
	const priority = priorities.find((one) => one === named);
	if (priority !== void 0) return priority;
	throw refused$1(called, wrongName(priorities)({ input: named }));
}
function parseSwitch(text, called) {
	if (!text || text === "true" || text === "false") return text === "true";
	throw refused$1(called, expected("true or false")({ input: text }));
}
/** Per variant and cell. */
function parseMaxRuns(text, called) {
	const maxRuns = /^\d+$/.test(text) ? Number(text) : text;
	const { maxRunsPerVariant } = parse(called, configKeys.shape.gate, { maxRuns });
	return maxRunsPerVariant ?? 0;
}
/** Two boots of each end, and two of the neighbours. */
const leastBoots = 6;
/** Absent: the default. */
function parseMostBoots(text, called) {
	if (!text) return 60;
	const boots = Number(text);
	if (/^\d{1,5}$/.test(text) && boots >= leastBoots && boots <= 1e4) return boots;
	throw refused$1(called, expected(`a whole number from ${leastBoots} to 10000`)({ input: text }));
}
const parseFrameSize = (text, called) => parse(called, frameSize, text);
const parseEach = (text, called) => parse(called, configKeys.shape.each.unwrap(), list(text, called));
function list(text, called) {
	const items = text.split(",").map((item) => item.trim());
	if (items.length === 1 || items.every(Boolean)) return items;
	throw refused$1(called, expected("names with one comma in between")({ input: text }));
}
function parse(called, schema, value) {
	const parsed = schema.safeParse(value);
	if (parsed.success) return parsed.data;
	throw refused$1(called, parsed.error.issues[0]?.message ?? "cannot be used");
}
const refused$1 = (called, message) => new UsageError(`${called}: ${sentence$1(message)}`);

// src/config/select-testbeds.ts
/**
* Returns at least one, in the configuration's order; an empty selector means the first. Throws a `UsageError`, which
* names the option or key that the selector came from.
*/
function testbedsFor(config, selector = "", called = "") {
	const found = matching(config, selector.trim(), called);
	const fit = found.filter((name) => whyUnfit(config, name) === void 0);
	if (fit.length > 0) return fit;
	const [first] = found;
	const unfit = first === void 0 ? void 0 : whyUnfit(config, first);
	throw new UsageError(unfit ?? nothingLike(config, selector, called));
}
/** Names where a selector of `selectorsOf` came from. */
function selectorCalled({ testbed, each }, calledAs) {
	if (testbed) return calledAs("testbed");
	return each ? calledAs("each") : "each";
}
function matching(config, selector, called) {
	const names = Object.keys(config.testbeds);
	if (selector === "") return names.slice(0, 1);
	if (names.includes(selector)) return [selector];
	const parsed = parseSelector(selector, called);
	return names.filter((name) => isFulfilled(parsed, describe(config, name)));
}
/** `called` names the option or key that has the text. */
function parseSelector(text, called = "") {
	const source = readSelector(text);
	if (source.kind === "refused") throw new UsageError(`${called || "Selector for a testbed"}: ${source.message}.`);
	return source.selector;
}
/** Returns the requested selectors, or those configured; each gets its own testbed. */
function selectorsOf(config, { testbed, each }, calledAs) {
	if (testbed) return [testbed];
	return each ? parseEach(each, calledAs("each")) : config.each ?? [""];
}
function describe(config, name) {
	const words = wordsOf(config, name).map((word) => word.toLowerCase());
	return {
		words: new Set(words),
		cores: config.testbeds[name]?.capabilities?.cpu?.cores
	};
}
/** In the spelling of ppsgate.yml. */
function wordsOf(config, name) {
	const testbed = config.testbeds[name];
	if (testbed === void 0) return [];
	const { nic, cpu, labels = [] } = testbed.capabilities ?? {};
	const { drivers, gigabits } = ofIngress(testbed);
	const texts = [
		nic?.vendor,
		nic?.model,
		nic?.driver,
		...drivers,
		cpu?.model
	];
	return [
		name,
		testbed.kind,
		systemOf(config, name),
		...texts.flatMap((text) => text?.match(/[a-z0-9][\w.+-]*/gi) ?? []),
		...[nic?.gigabits, gigabits].flatMap((speed) => speed === void 0 ? [] : [`${speed}G`]),
		...labels
	];
}
function ofIngress(testbed) {
	if (testbed.kind !== "freebsd") return { drivers: [] };
	const { interface: port, gigabits } = testbed.dut.ingress;
	return {
		drivers: driversOf(port),
		gigabits
	};
}
function nothingLike(config, selector, called) {
	const written = Object.keys(config.testbeds).flatMap((name) => wordsOf(config, name));
	const known = new Map(written.map((word) => [word.toLowerCase(), word]));
	const [hint = ""] = parseSelector(selector).flat().flatMap((condition) => condition.kind === "word" && condition.wanted ? [condition.word] : []).filter((word) => !known.has(word) && !/^\d/.test(word)).map((word) => didYouMean(word, [...known.values()])).filter((hint) => hint !== "");
	const words = [...known.values()].join(", ");
	return `${called === "" ? "No" : `${called}: no`} testbed of the configuration is "${excerpt(selector)}": known here are ${words}${hint || "."}`;
}

// src/config/problem.ts
/** `traffic.flows`, `scenarios[1]`. */
function keyName(path) {
	return path.map((segment) => typeof segment === "number" ? `[${segment}]` : `.${excerpt(String(segment))}`).join("").replace(/^\./, "");
}
const seeExample = "write one, see docs/example/ppsgate.yml";

// src/config/config-paths.ts
let schema;
function belongsIn(written) {
	schema ??= toJSONSchema(configKeys, {
		io: "input",
		unrepresentable: "any"
	});
	const places = [...placesIn(schema, written, [])];
	return (path) => {
		const key = String(path.at(-1));
		const known = places.flatMap((place) => {
			const name = place.keys.find((one) => plainKey(one) === plainKey(key));
			return name === void 0 ? [] : [{
				...place,
				name,
				shared: sharedBy(place.path, path)
			}];
		});
		const nearest = Math.max(...known.map(({ shared }) => shared));
		const [first, ...more] = known.filter(({ shared }) => shared === nearest);
		const isOwn = nearest === path.length - 1 && first?.path.length === nearest;
		const isOfItem = nearest === 0 && path.some((segment) => typeof segment === "number");
		if (first === void 0 || isOwn || isOfItem) return void 0;
		const named = [...new Set([first, ...more].map((place) => placeName(place.path)))].slice(0, 3).join(" or ");
		const it = first.name === key ? "it" : `\`${first.name}\``;
		return `unknown key \`${excerpt(key)}\`; ${it} belongs ${named}`;
	};
}
const placeName = (path) => path.length === 0 ? "at the top of the file" : `under \`${keyName(path)}\``;
function sharedBy(one, other) {
	const parting = one.findIndex((segment, index) => segment !== other[index]);
	return parting === -1 ? one.length : parting;
}
/** Follows the lists and names as written; among several kinds, those that the object can be. */
function* placesIn(schema, written, path) {
	if (typeof schema === "boolean") return;
	const { properties, additionalProperties, items, oneOf = [], anyOf = [] } = schema;
	for (const one of [...oneOf, ...anyOf]) if (canBe(one, written)) yield* placesIn(one, written, path);
	if (Array.isArray(written) && items !== void 0 && !Array.isArray(items)) for (const [index, item] of written.entries()) yield* placesIn(items, item, [...path, index]);
	if (properties !== void 0) {
		yield {
			path,
			keys: Object.keys(properties)
		};
		for (const [key, value] of Object.entries(properties)) yield* placesIn(value, valueAt(written, key), [...path, key]);
	} else if (additionalProperties !== void 0 && isObject(written)) for (const [key, value] of Object.entries(written)) yield* placesIn(additionalProperties, value, [...path, key]);
}
/** False if the object names another kind. */
function canBe(schema, written) {
	if (typeof schema === "boolean") return false;
	return Object.entries(schema.properties ?? {}).every(([key, of]) => {
		const value = valueAt(written, key);
		const only = typeof of === "boolean" ? void 0 : of.const;
		return only === void 0 || value === void 0 || value === only;
	});
}
const valueAt = (written, key) => isObject(written) && Object.hasOwn(written, key) ? written[key] : void 0;
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

// src/config/yaml.ts
var import_dist = require_dist();
/** Stricter than the library: rejects duplicate keys, empty files and long ones. Never throws. */
function readYaml(text) {
	if (text.length > maxCharacters) return refused(0, `the file has more than ${maxCharacters} characters; check that it is the right one`);
	try {
		return understoodYaml(text);
	} catch {
		return refused(0, "the file nests too deeply, or an alias (*name) in it multiplies or has no anchor; write it out plainly");
	}
}
const maxCharacters = 65536;
function understoodYaml(text) {
	const lines = new import_dist.LineCounter();
	const lineAt = (offset) => lines.linePos(offset).line;
	const document = (0, import_dist.parseDocument)(text, {
		lineCounter: lines,
		prettyErrors: false,
		schema: "core",
		resolveKnownTags: false,
		stringKeys: true,
		uniqueKeys: false
	});
	const [mistake] = [...document.errors, ...document.warnings];
	if (mistake !== void 0) return refused(lineAt(mistake.pos[0]), mistakes[mistake.code] ?? "this is not YAML; fix it");
	const duplicates = duplicateKeys(document, lineAt);
	if (duplicates.length > 0) return {
		kind: "refused",
		problems: duplicates
	};
	const value = document.toJS();
	if (value === null) return refused(0, `the file is empty; ${seeExample}`);
	return {
		kind: "read",
		value,
		lineOf: (path) => lineAt(offsetOf(document, path))
	};
}
const refused = (line, message) => ({
	kind: "refused",
	problems: [{
		line,
		key: "",
		message
	}]
});
const mistakes = {
	BAD_ALIAS: "an alias (*name) has no anchor (&name) before it; write the value out",
	BAD_INDENT: "this line is not indented like its neighbours, or a bracket before it is open; align or close it",
	BAD_SCALAR_START: "a value cannot start with this character; put the value in quotes",
	BLOCK_AS_IMPLICIT_KEY: "this value runs into another key; align the next line with this one, or quote the value if a colon is part of it",
	BLOCK_IN_FLOW: "a comma is missing between the keys in these braces; write one",
	MISSING_CHAR: "a colon, quote or bracket is missing on or before this line; write it",
	MULTILINE_IMPLICIT_KEY: "this line has no key; write `name: value` with a space after the colon",
	MULTIPLE_DOCS: "a second YAML document starts here; keep one",
	NON_STRING_KEY: "a key has to be plain text; write `name: value`",
	RESOURCE_EXHAUSTION: "this nests too deeply; write it out plainly",
	TAB_AS_INDENT: "a tab indents this line; use spaces",
	TAG_RESOLVE_FAILED: "a tag (!name) means nothing here; remove it",
	UNEXPECTED_TOKEN: "a bracket, comma or sign is in the wrong place here; remove it or quote the text"
};
function duplicateKeys(document, lineAt) {
	const problems = [];
	(0, import_dist.visit)(document, { Map: (_, map, ancestors) => {
		const firstLines = /* @__PURE__ */ new Map();
		const parents = ancestors.filter(import_dist.isPair).map((pair) => keyText(pair.key));
		for (const pair of map.items) {
			const key = keyText(pair.key);
			const line = lineAt(startOf(pair.key) ?? 0);
			const firstLine = firstLines.get(key);
			if (firstLine === void 0) firstLines.set(key, line);
			else problems.push(duplicateKey([...parents, key], line, firstLine));
		}
	} });
	return problems;
}
function duplicateKey(path, line, firstLine) {
	const message = `duplicate key \`${excerpt(path.at(-1) ?? "")}\`; it is on line ${firstLine} already`;
	return {
		line,
		key: keyName(path),
		message
	};
}
/** Falls back to the longest existing part of the path. */
function offsetOf(document, path) {
	let node = document.contents;
	let offset = startOf(node) ?? 0;
	for (const segment of path) {
		const { at, child } = step((0, import_dist.isAlias)(node) ? node.resolve(document) : node, segment);
		offset = startOf(at) ?? offset;
		node = child;
	}
	return offset;
}
function step(node, segment) {
	if ((0, import_dist.isSeq)(node)) {
		const item = node.items[Number(segment)];
		return {
			at: item,
			child: item
		};
	}
	const pair = (0, import_dist.isMap)(node) && node.items.find(({ key }) => keyText(key) === segment);
	return pair ? {
		at: pair.key,
		child: pair.value
	} : {};
}
const keyText = (key) => (0, import_dist.isScalar)(key) ? String(key.value) : "";
function startOf(node) {
	return (0, import_dist.isScalar)(node) || (0, import_dist.isMap)(node) || (0, import_dist.isSeq)(node) || (0, import_dist.isAlias)(node) ? node.range?.[0] : void 0;
}

// src/config/load.ts
/** An invalid ppsgate.yml; the message has one line per problem, in the order of the file. */
var ConfigError = class extends Error {
	name = "ConfigError";
	conclusion = "usage";
	problems;
	constructor(path, problems) {
		super(problems.map((problem) => sentence(path, problem)).join("\n"));
		this.problems = problems;
	}
};
/** Throws a ConfigError, also for an unreadable file. */
async function loadConfig(path, home = homedir()) {
	const config = parseConfig(await readText(path), {
		path,
		home
	});
	return {
		...config,
		overlay: {
			...config.overlay,
			beside: resolve(dirname(path))
		}
	};
}
/** Throws only ConfigErrors. `path` is for messages; relative paths in the text start at its folder, `~/` at `home`. */
function parseConfig(text, { path, home }) {
	const source = readYaml(text);
	if (source.kind === "refused") throw new ConfigError(path, source.problems);
	const parsed = configSchema.safeParse(source.value);
	if (parsed.success) return withPlacedPaths(parsed.data, {
		folder: dirname(path),
		home
	});
	const issues = parsed.error.issues.flatMap(innermost);
	const belongs = issues.some(isUnknownKey) ? belongsIn(source.value) : () => void 0;
	const problems = issues.map((issue) => ({
		line: source.lineOf(issue.path),
		key: keyName(issue.path),
		message: isUnknownKey(issue) && belongs(issue.path) || issue.message
	}));
	throw new ConfigError(path, problems.toSorted((a, b) => a.line - b.line));
}
/** Replaces the issue of a value with several forms by those within the form of the file. */
function innermost(issue) {
	if (issue.code !== "invalid_union") return [issue];
	const written = issue.errors.find((form) => form.every(({ path }) => path.length > 0));
	if (written === void 0 || written.length === 0) return [issue];
	return written.map((inner) => ({
		...inner,
		path: [...issue.path, ...inner.path]
	}));
}
const isUnknownKey = (issue) => issue.code === "custom" && issue.params?.isUnknownKey === true;
function sentence(path, { line, key, message }) {
	const place = line === 0 ? path : `${path}:${line}`;
	return key === "" ? `${place}: ${message}` : `${place}: ${key}: ${message}`;
}
async function readText(path) {
	const refused = (message) => new ConfigError(path, [{
		line: 0,
		key: "",
		message
	}]);
	const bytes = await readFile(path).catch((error) => {
		throw refused(whyUnreadable(error));
	});
	const why = whyNotText(bytes);
	if (why !== void 0) throw refused(`the file ${why}`);
	return bytes.toString();
}
function whyUnreadable(error) {
	const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
	return code === "ENOENT" ? "there is no such file; write one with `ppsgate init`, or name yours" : `the file cannot be read (${code}); check that it is a file and that this user may read it`;
}
function withPlacedPaths(config, places) {
	const testbeds = Object.entries(config.testbeds).map(([name, testbed]) => [name, placedTestbed(testbed, places)]);
	const { phabricator } = config;
	return {
		...config,
		overlay: placedOverlay(config.overlay, places),
		history: placed(config.history, places),
		reservations: placedReservations(config.reservations, places),
		github: placedGithub(config.github, places),
		...phabricator !== void 0 && { phabricator: placedPhabricator(phabricator, places) },
		testbeds: Object.fromEntries(testbeds),
		rules: Object.fromEntries(Object.entries(config.rules).map(([name, rules]) => [name, {
			...rules,
			path: placed(rules.path, places)
		}]))
	};
}
const placedOverlay = (overlay, places) => ({
	...overlay,
	..."path" in overlay && { path: fromHome(overlay.path, places) },
	beside: places.folder
});
function placedImage(image, places) {
	const path = placed(image.path, places);
	if (image.hostKey === void 0) return {
		...image,
		path
	};
	const { privateKeyPath } = image;
	return {
		...image,
		path,
		...privateKeyPath !== void 0 && { privateKeyPath: placed(privateKeyPath, places) }
	};
}
function placedTestbed(testbed, places) {
	if (testbed.kind === "embedded-linux") return testbed;
	if (testbed.kind === "virtual" && testbed.system === "freebsd") {
		const { image, builder } = testbed;
		return {
			...testbed,
			image: placedImage(image, places),
			...builder !== void 0 && { builder: placedHost(builder, places) }
		};
	}
	if (testbed.kind === "virtual") {
		const { kernelPath, builder } = testbed;
		return {
			...testbed,
			...kernelPath !== void 0 && { kernelPath: placed(kernelPath, places) },
			...builder !== void 0 && { builder: placedBuilder(builder, places) }
		};
	}
	if (testbed.kind === "freebsd") {
		const { dut, senders, receiver, builder } = testbed;
		const { power, console } = dut;
		return {
			...testbed,
			dut: {
				...placedHost(dut, places),
				...power !== void 0 && { power: placedPower(power, places) },
				...console !== void 0 && { console: placedConsole(console, places) }
			},
			senders: senders.map((sender) => placedHost(sender, places)),
			receiver: placedHost(receiver, places),
			...builder !== void 0 && { builder: placedHost(builder, places) }
		};
	}
	return {
		...testbed,
		sender: placedHost(testbed.sender, places),
		dut: placedHost(testbed.dut, places),
		receiver: placedHost(testbed.receiver, places)
	};
}
function placedBuilder(builder, places) {
	const { recipe } = builder;
	return {
		...placedHost(builder, places),
		...recipe.kind === "linux" && { recipe: {
			...recipe,
			configPath: placed(recipe.configPath, places)
		} }
	};
}
function placedHost(machine, places) {
	const { privateKeyPath, knownHostsPath } = machine;
	return {
		...machine,
		knownHostsPath: placed(knownHostsPath, places),
		...privateKeyPath !== void 0 && { privateKeyPath: placed(privateKeyPath, places) }
	};
}
function placedPower(power, places) {
	if (power.kind === "command") return power;
	if (power.kind === "ipmi") return withPassword(power, places);
	const { caPath } = power;
	return {
		...withPassword(power, places),
		...caPath !== void 0 && { caPath: placed(caPath, places) }
	};
}
const placedConsole = (console, places) => console.kind === "ipmi" ? withPassword(console, places) : console;
function withPassword(bmc, places) {
	const { passwordPath } = bmc;
	if (passwordPath === void 0) return bmc;
	return {
		...bmc,
		passwordPath: placed(passwordPath, places)
	};
}
function placedReservations(store, places) {
	if (store.store === "sqlite") return {
		...store,
		path: placed(store.path, places)
	};
	const { caPath, certificatePath, keyPath, passwordPath } = store;
	return {
		...store,
		...caPath !== void 0 && { caPath: placed(caPath, places) },
		...certificatePath !== void 0 && { certificatePath: placed(certificatePath, places) },
		...keyPath !== void 0 && { keyPath: placed(keyPath, places) },
		...passwordPath !== void 0 && { passwordPath: placed(passwordPath, places) }
	};
}
function placedGithub(github, places) {
	const { directory } = github.data;
	if (directory === void 0) return github;
	return {
		...github,
		data: {
			...github.data,
			directory: placed(directory, places)
		}
	};
}
function placedPhabricator(phabricator, places) {
	const { relay, tokenPath, caPath } = phabricator;
	const { start, webhookKeyPath, buildPasswordPath } = relay;
	return {
		...phabricator,
		...tokenPath !== void 0 && { tokenPath: placed(tokenPath, places) },
		...caPath !== void 0 && { caPath: placed(caPath, places) },
		relay: {
			...relay,
			directory: placed(relay.directory, places),
			start: placedStart(start, places),
			...webhookKeyPath !== void 0 && { webhookKeyPath: placed(webhookKeyPath, places) },
			...buildPasswordPath !== void 0 && { buildPasswordPath: placed(buildPasswordPath, places) }
		}
	};
}
function placedStart(start, places) {
	if (start.kind === "here") return {
		...start,
		repository: placed(start.repository, places)
	};
	const { tokenPath } = start;
	return {
		...start,
		...tokenPath !== void 0 && { tokenPath: placed(tokenPath, places) }
	};
}
function placed(written, places) {
	const path = fromHome(written, places);
	return isAbsolute(path) ? path : join(places.folder, path);
}
const fromHome = (path, { home }) => /^~(\/|$)/.test(path) ? join(home, path.slice(1)) : path;

export { applyOverrides, frameBytesFor, isOnThisMachine, loadConfig, overrideGate, parseConfig, parseFrameSize, parseMaxRuns, parseMostBoots, parsePriority, parseSeed, parseSwitch, scenariosIn, selectorCalled, selectorsOf, systemOf, testbedKindOf, testbedsFor, whyNotSent, withFrameSize };