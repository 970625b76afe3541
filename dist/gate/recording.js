import { version } from "../package.js";
import { UsageError, byName, count as count$1, document, facts, families, formatShortOrdinal, list, name as name$1, oneLine, packetsSchema, parseJson, path as path$1, reasonOf, seconds, share, shortened, total, variant } from "../model.js";
import { _enum, array, boolean, discriminatedUnion, literal as literal$1, looseObject, number$1 as number, object, partialRecord, union, unknown } from "../vendor/zod.js";
import { giveNew } from "../report.js";
import { HostError, commandText, hostFailures, shell, stdoutOf } from "../system/host.js";
import { PowerError } from "../lab/power.js";
import { ConsoleError, ConsoleTape } from "../lab/console.js";
import { openFreebsdTestbed, parseArp, parseCpuTimes, parseIfconfig, parseInterfaceCounters, parseNdp, parseRoutes } from "../lab/freebsd.js";
import { parsePktGenLog } from "../lab/traffic.js";
import { fencedDeps } from "../lab/lease.js";
import { KernelFilesError, portOf, wireAddress } from "../lab/qemu/vm.js";
import { imagesFolder, openVirtualTestbed } from "../lab/qemu.js";
import { checkFreebsdTestbed, unquoted } from "../lab/check.js";
import { journalIn, resumeJournal, runSelfTest, selfTestParts } from "./self-test.js";
import { basename, join } from "node:path";
import { closeSync, createReadStream, openSync, readFileSync, realpathSync, statSync, writeSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { isIPv4, isIPv6 } from "node:net";
import { constants as constants$1, crc32, deflateRawSync, gunzipSync } from "node:zlib";
import { createHash } from "node:crypto";
import { mkdtemp, open, readFile, rm, stat, writeFile } from "node:fs/promises";
import { homedir, hostname, tmpdir, userInfo } from "node:os";
import { pipeline } from "node:stream/promises";

// src/gate/recording/recordable-testbed.ts
const isRecordable = (testbed) => testbed.kind === "freebsd" || testbed.kind === "virtual";

// src/gate/recording/gzip-log.ts
/** RFC 1952: the deflate method, no name, no time, Unix. */
const header = Buffer.from([
	31,
	139,
	8,
	0,
	0,
	0,
	0,
	0,
	0,
	3
]);
/**
* Writes one stream of deflate, whose blocks refer to the texts before: with a member for each text, recordings were four to
* five times as large. The next text replaces the trailer in one write, so that a killed process leaves all of them.
*/
var GzipLog = class {
	#file;
	/** Offset of the trailer. */
	#end = 0;
	#window = Buffer.alloc(0);
	#sum = 0;
	#bytes = 0;
	/** Throws if the file exists or cannot be written. */
	constructor(path) {
		this.#file = openSync(path, "wx", 384);
		this.#write(header);
	}
	append(text) {
		const bytes = Buffer.from(text);
		const block = deflateRawSync(bytes, {
			level: constants$1.Z_BEST_COMPRESSION,
			memLevel: constants$1.Z_MAX_MEMLEVEL,
			finishFlush: constants$1.Z_SYNC_FLUSH,
			...this.#window.length > 0 && { dictionary: this.#window }
		});
		this.#window = Buffer.concat([this.#window, bytes]).subarray(-32768);
		this.#sum = crc32(bytes, this.#sum);
		this.#bytes += bytes.length;
		this.#write(block);
	}
	close() {
		closeSync(this.#file);
	}
	#write(piece) {
		const whole = Buffer.concat([piece, this.#trailer()]);
		for (let done = 0; done < whole.length;) done += writeSync(this.#file, whole, done, whole.length - done, this.#end + done);
		this.#end += piece.length;
	}
	/** An empty last block, the sum and the size. */
	#trailer() {
		const trailer = Buffer.alloc(10);
		trailer.writeUInt16LE(3, 0);
		trailer.writeUInt32LE(this.#sum, 2);
		trailer.writeUInt32LE(this.#bytes % 2 ** 32, 6);
		return trailer;
	}
};

// src/gate/recording/decode-escapes.ts
/** Decodes `%3A`, `\u003a` and `\/`, also if they were encoded several times. */
function decodeEscapes(original) {
	let decoded = {
		text: original,
		at: (index) => index
	};
	for (let round = 0; round < maxRounds && isEncoded.test(decoded.text); round += 1) decoded = decodeOnce(decoded);
	return decoded;
}
const maxRounds = 4;
/** Printable ASCII only, which names, addresses and keys consist of. */
const encoded = /%([2-7][0-9a-f])|\\u00([2-7][0-9a-f])|\\x([2-7][0-9a-f])|\\+(\/)/gi;
const isEncoded = new RegExp(encoded.source, "i");
function decodeOnce(before) {
	const pieces = [];
	/** From index `from` of the new text on, the old one is `by` characters longer. */
	const shifts = [];
	let length = 0;
	let read = 0;
	for (const match of before.text.matchAll(encoded)) {
		const [sequence, percent, json, hex, slash] = match;
		const code = percent ?? json ?? hex;
		const character = slash ?? String.fromCharCode(Number.parseInt(code ?? "", 16));
		pieces.push(before.text.slice(read, match.index), character);
		length += match.index - read + 1;
		read = match.index + sequence.length;
		shifts.push({
			from: length,
			by: read - length
		});
	}
	pieces.push(before.text.slice(read));
	const at = (index) => {
		let [low, high] = [0, shifts.length];
		while (low < high) {
			const middle = low + high >> 1;
			if ((shifts[middle]?.from ?? 0) <= index) low = middle + 1;
			else high = middle;
		}
		return before.at(index + (shifts[low - 1]?.by ?? 0));
	};
	return {
		text: pieces.join(""),
		at
	};
}

// src/gate/recording/mask-rule.ts
const anyMatch = (pattern, by) => (text) => [...text.matchAll(pattern)].map((match) => ({
	from: match.index,
	to: match.index + match[0].length,
	by: by(match[0])
}));
/** Replaces the group called `hidden`, or the first one. */
function firstGroup(pattern, by) {
	const indexed = new RegExp(pattern.source, `${pattern.flags}d`);
	return (text) => [...text.matchAll(indexed)].flatMap(({ indices }) => {
		const [from = 0, to = 0] = indices?.groups?.hidden ?? indices?.[1] ?? [];
		return from === to ? [] : [{
			from,
			to,
			by: by(text.slice(from, to))
		}];
	});
}
/** Prefers the longest text; matches whole words, unless `isAnywhere`. */
function literal(texts, by, { isAnywhere = false } = {}) {
	const distinct = [...new Set(texts)].filter(Boolean).toSorted((a, b) => b.length - a.length);
	if (distinct.length === 0) return () => [];
	const any = distinct.map((text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("|");
	return isAnywhere ? anyMatch(new RegExp(any, "g"), by) : anyMatch(new RegExp(`(?<![\\w-])(?:${any})(?![\\w-])`, "gi"), by);
}
/** Numbers texts from 0 in the order in which each is first seen. */
function numbering() {
	const known = /* @__PURE__ */ new Map();
	return (text) => {
		const number = known.get(text) ?? known.size;
		known.set(text, number);
		return number;
	};
}

// src/gate/recording/mask-addresses.ts
/**
* Keeps addresses of the benchmarking networks, guests, loopback, netmasks and well-known groups: they are the same in every
* lab, and the code depends on them.
*/
function addressRules() {
	const address = addressStandIns();
	return [
		ipv6(address),
		mac(address),
		ipv4(address)
	];
}
function addressStandIns() {
	const [numbers4, numbers6, numbersMac] = [
		numbering(),
		numbering(),
		numbering()
	];
	const inet4 = (address) => {
		const octets = address.split(".").map(Number);
		if (isAllowed4(octets)) return address;
		const number = numbers4(octets.join("."));
		return `${documentation4[Math.floor(number / 254) % 3]}.${number % 254 + 1}`;
	};
	return {
		inet4,
		inet6(address) {
			const groups = groupsOf(address);
			const mapped = mappedIn(groups);
			if (mapped !== void 0) {
				const by = inet4(mapped);
				return by === mapped ? address : `::ffff:${by}`;
			}
			if (isAllowed6(groups)) return address;
			const plain = groups.map((group) => group.toString(16)).join(":");
			const number = (numbers6(plain) + 1).toString(16);
			return groups[0] === 65152 ? `fe80::${number}` : `2001:db8::${number}`;
		},
		mac(address) {
			const bytes = address.split(/[:-]/).map((byte) => Number.parseInt(byte, 16));
			if (bytes.every((byte) => byte === 0) || bytes.every((byte) => byte === 255)) return address;
			if (isOfGuest(bytes)) return address;
			const number = numbersMac(bytes.join(":"));
			const text = [...number < 256 ? [
				0,
				0,
				94,
				0,
				83
			] : [
				1,
				0,
				94,
				144,
				16
			], number % 256].map((byte) => byte.toString(16).padStart(2, "0")).join(address.includes("-") ? "-" : ":");
			return /[A-F]/.test(address) ? text.toUpperCase() : text;
		}
	};
}
/** Ours of virtual testbeds; see qemu/vm/addresses.ts. */
const isOfGuest = ([a, b, c]) => a === 2 && b === 112 && c === 112;
/** RFC 5737. */
const documentation4 = [
	"192.0.2",
	"198.51.100",
	"203.0.113"
];
/** Loopback, the benchmarking networks of RFC 2544, netmasks, broadcast, and 0.0.0.0. */
const isAllowed4 = ([a = 0, b = 0, c = 0, d = 0]) => a === 127 || a === 198 && (b === 18 || b === 19) || a === 255 || a === 224 && b === 0 && c === 0 || a === 0 && b === 0 && c === 0 && d === 0;
/** Loopback, `::`, RFC 5180's network, well-known multicast groups, and fe80::. */
function isAllowed6(groups) {
	const [first = 0, second = 0, third = 0] = groups;
	const isAlone = groups.slice(1, 7).every((group) => group === 0);
	if (first === 8193 && second === 2 && third === 0) return true;
	if (first === 0 && isAlone) return (groups[7] ?? 0) < 2;
	return isAlone && ((first & 65520) === 65280 || first === 65152 && groups[7] === 0);
}
function groupsOf(address) {
	const [head = "", tail] = address.replace(/\d+\.\d+\.\d+\.\d+$/, (inet4) => {
		const [a = 0, b = 0, c = 0, d = 0] = inet4.split(".").map(Number);
		return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
	}).split("::");
	const numbers = (text) => text.split(":").filter(Boolean).map((group) => Number.parseInt(group, 16));
	const [before, after] = [numbers(head), numbers(tail ?? "")];
	return [
		...before,
		...Array(8 - before.length - after.length).fill(0),
		...after
	];
}
function mappedIn(groups) {
	const [high = 0, low = 0] = groups.slice(6);
	return groups.slice(0, 5).every((group) => group === 0) && groups[5] === 65535 ? [
		high >> 8,
		high & 255,
		low >> 8,
		low & 255
	].join(".") : void 0;
}
/** Matches also before a dot: netstat(1) writes the port after a fifth one. */
const ipv4 = (address) => anyMatch(/(?<!\d)(?:(?:25[0-5]|2[0-4]\d|[01]?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|[01]?\d?\d)(?!\d)/g, address.inet4);
const mac = (address) => anyMatch(/(?<![0-9a-f])[0-9a-f]{1,2}([:-])(?:[0-9a-f]{1,2}\1){4}[0-9a-f]{1,2}(?![0-9a-f])/gi, address.mac);
/** Finds the longest address from each group on; the end of a word may look like a short one. */
const ipv6 = (address) => (text) => [...text.matchAll(/[0-9a-f:.]{3,}/gi)].flatMap(({ 0: run, index }) => {
	if (!run.includes(":")) return [];
	const replacements = [];
	for (let start = 0; start < run.length;) {
		const end = endOfAddress(run, start);
		const glued = start === 0 && /[g-z_]/i.test(text[index - 1] ?? "");
		const groups = run.slice(start, end).split(":").filter(Boolean).length;
		if (end !== void 0 && (!glued || groups > 2)) {
			const [from, to] = [index + start, index + end];
			replacements.push({
				from,
				to,
				by: address.inet6(run.slice(start, end))
			});
			start = end;
		} else start = nextGroup(run, start);
	}
	return replacements;
});
const longestAddress = 46;
function endOfAddress(run, start) {
	const most = Math.min(run.length, start + longestAddress);
	for (let end = most; end > start + 1; end -= 1) if ((end === run.length || /[:.]/.test(run[end] ?? "")) && mayBeAddress(run.slice(start, end))) return end;
}
/** Rejects most texts by their colons, before the slower isIPv6. */
function mayBeAddress(text) {
	const groups = text.split(":").length;
	if (groups > 9 || text.includes(":::") || groups < 7 && !text.includes("::")) return false;
	return isIPv6(text);
}
/** Stops before a `::`, which may begin an address. */
function nextGroup(run, start) {
	const next = run.slice(start + 1).search(/[:.]/);
	if (next === -1) return run.length;
	const at = start + 1 + next;
	return run[at] === ":" && run[at + 1] === ":" ? at : at + 1;
}

// src/gate/recording/mask-patterns.ts
const secretName = "(?:pass(?:word|wd|phrase|code)?|secret|token|credentials?|api[_-]?key|authorization|psk|auth[_-]?key|shared[_-]?key)";
const secretPatterns = [
	/\b(?:Basic|Bearer) +([\w+/=.~-]{8,})/g,
	new RegExp(`${secretName}["']?[ \\t]*[:=][ \\t]*(["'])(?<hidden>(?:\\\\.|(?!\\1)[^\\\\\\n\\0]){3,200})\\1`, "gi"),
	new RegExp(`${secretName}(?:\\\\+["'])?[ \\t]*[:=][ \\t]*(\\\\+["'])(?<hidden>[^\\n\\0]{3,200}?)\\1`, "gi"),
	new RegExp(`${secretName}["']?[ \\t]*[:=][ \\t]*["']?(?!basic |bearer )([^\\s"'\\0]{3,200})`, "gi"),
	/\b(?:vhid|advskew|advbase|carp)\b[^\n\0]{0,200}?\bpass[ \t]+(?:\\*["'])?(?<hidden>[^\s"'\\\0]{1,200})/g,
	/\bpass[ \t]+(?<hidden>[^\s"'\\\0]{1,200})[ \t]+(?:vhid|advskew|advbase)\b/g,
	/[ \t]-[EA][ \t]+[a-z][\w-]{2,40}[ \t]+(?<hidden>"[^"\n\0]{1,400}"|0x[0-9a-f]{8,400})/gi,
	/\b(?:ipmitool|sshpass|mysql)\b[^\n\0]{0,200}?[ \t]-[pP][ \t]*(?<hidden>[^\s"'\0]{3,200})/g,
	/\bcurl\b[^\n\0]{0,200}?[ \t](?:-u|--user)[ \t]+["']?[^\s:"'\0]{1,64}:(?<hidden>[^\s"'\0]{1,200})/g,
	/\b(?:ro|rw|snmp)community[ \t]+"?(?<hidden>[^\s"'\0]{3,200})/g,
	/\b((?:gh[pousr]_|github_pat_|glpat-|api-|cli-|xox[a-z]-)[\w-]{16,})/g,
	/\b(AKIA[0-9A-Z]{16})\b/g,
	/\b(eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*)/g,
	/(\$(?:1|2[abxy]?|5|6|7|y)\$[\w./$+=,-]{12,})/g,
	/:\/\/[^\s/:@\0]{1,64}:([^\s/@\0]{1,200})@/g
];
const serialPatterns = [
	/(?:serial(?:[ _-]?(?:numbers?|no|num))?|asset[ _-]?tag|\bs\/n|\.(?:serial|sn|tag))["']?[ \t]*(?:[:=]|[ \t]\d+[ \t])[ \t]*["']?([\w./-][\w. /-]{1,60}[\w/-]|[\w-]+)/gi,
	/\bserial(?: number)? +(?=[a-z-]{0,20}\d)([0-9a-z][0-9a-z-]{5,60})/gi,
	/\bDISK-[ ]{0,40}([\w.+-]{3,80}?)(?=(?:[ps]\d{1,2}[a-h]?)?(?![\w.+-]))/g,
	/\bby-id\/([\w.:+-]{6,200})/g,
	/\b(?:ata|nvme|scsi|usb)-[\w.+-]{1,80}_([0-9A-Z-]{6,40})\b/g,
	/\bufsid\/([0-9a-f]{8,16})\b/g,
	/\bident:[ \t]*(?=[\w.-]{0,40}\d)([\w.-]{5,80})/g,
	/\b(?:lunid|lunname|wwn|wwpn|wwnn|nguid|eui64|nodename|portname)["']?[ \t]*[:=][ \t]*["']?(?:0x)?([\w. -]{4,80}[\w])/gi,
	/\bWWN Device Id:[ \t]*([0-9a-f][ 0-9a-f]{8,40}[0-9a-f])/gi,
	/\b(?:naa\.|eui\.|wwn-(?:0x)?|t10\.)([\w.-]{8,64})/gi,
	/\b0x(5[0-9a-f]{15})\b/gi,
	/(?<![0-9a-f:])((?:[0-9a-f]{2}:){7,31}[0-9a-f]{2})(?![0-9a-f:])/gi,
	/\b(?:pool_|vdev_|top_)?guid["']?[ \t]*[:=][ \t]*["']?(\d{6,20})\b/g,
	/\bhost ?id["']?(?:[ \t]*[:=]|[ \t]+is)?[ \t]*["']?((?:0x)?(?=[0-9a-f]{0,9}[1-9a-f])[0-9a-f]{4,10})\b/gi
];
/** Requires a known top-level domain: `net.inet.ip.forwarding` is no domain name. */
const domainName = /(?<![\w.-])(?:[a-z0-9](?:[\w-]{0,62})\.){1,8}(?:com|org|net|edu|gov|mil|int|info|biz|io|lan|local|localdomain|internal|intranet|corp|home|arpa|lab|test|cloud|de|uk|fr|nl|jp|ch|at|se|no|dk|fi|it|es|eu|us|ca|au|br|cz|pl|ru|cn|kr|tw|be|ie|nz|za|in|il|ua|pt|gr|hu|ro)(?![\w-]|\.\w)/gi;
const name = String.raw`([A-Za-z0-9](?:[\w-]{0,62}(?:\.[\w-]{1,63}){0,8}))`;
/** A machine's name in what it prints of itself: rc(8), getty(8), syslogd(8), savecore(8), uname(1), sendmail(8). */
const hostPatterns = [
	String.raw`\bhostname["'\\]{0,4}[ \t]*[:=][ \t]*["'\\]{0,4}${name}`,
	String.raw`^[A-Za-z]+\/\w+ \(${name}\) \(\w+\)`,
	String.raw`^${name} login: ?\r?$`,
	String.raw`^(?:<\d{1,3}>)?[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)? ${name} [\w./()-]{1,64}(?:\[\d+\])?:`,
	String.raw`^(?:<\d{1,3}>1? ?)?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S{0,16} ${name} `,
	String.raw`^(?:FreeBSD|Linux) ${name} \d{1,3}\.\d`,
	String.raw`\bhost ?name \(${name}\)`,
	String.raw`\bresolve hostname ${name}`,
	String.raw`^${name} dumped core\b`,
	String.raw`\bhost-name "${name}"`,
	String.raw`\bhost ${name} port \d`
].map((source) => new RegExp(source, "gm"));

// src/gate/recording/secret-forms.ts
/** Shorter ones occur in ordinary words. */
const shortestSecret = 5;
/** Longer texts are keys, which are no arguments of commands: few encodings keep the mask fast. */
const mostLinesOfPassword = 4;
/** Returns each line of a secret and the whole, plain and encoded; without the armour of a key. */
function secretForms(secret) {
	const lines = secret.split(/\r?\n/).map((line) => line.trim());
	const texts = [.../* @__PURE__ */ new Set([
		...lines,
		secret.trim(),
		secret
	])].filter((text) => text.length >= shortestSecret && !text.startsWith("-----"));
	const isPassword = lines.length <= mostLinesOfPassword;
	return texts.flatMap((text) => [
		text,
		...isPassword ? [...quotedForms(text), ...hexForms(text)] : [hexOf(text)],
		...base64Forms(text)
	]).filter(({ length }) => length >= shortestSecret);
}
/** Inside quotes of JSON, a shell, and XML. */
function quotedForms(text) {
	const json = JSON.stringify(text).slice(1, -1);
	const xml = text.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign);
	return [
		json,
		text.replaceAll("'", `'\\''`),
		text.replaceAll("'", `'"'"'`),
		xml
	];
}
const entities = {
	"&": "&amp;",
	"<": "&lt;",
	">": "&gt;",
	"\"": "&quot;",
	"'": "&#39;"
};
const hexOf = (text) => Buffer.from(text).toString("hex");
function hexForms(text) {
	const plain = hexOf(text);
	return [
		"",
		":",
		" ",
		"-"
	].map((by) => plain.replace(/..(?!$)/g, `$&${by}`)).flatMap((form) => [form, form.toUpperCase()]);
}
/** In the alphabet of files and of URLs, also within a longer text: there a secret may begin at any of three places. */
function base64Forms(text) {
	const bytes = Buffer.from(text);
	const inner = [
		0,
		1,
		2
	].map((offset) => {
		const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
		const bits = 8 * (offset + bytes.length);
		return encoded.slice(Math.ceil(8 * offset / 6), Math.floor(bits / 6));
	});
	return [bytes.toString("base64").replace(/=+$/, ""), ...inner].flatMap((form) => [form, form.replaceAll("+", "-").replaceAll("/", "_")]);
}

// src/gate/recording/mask.ts
const maskedKinds = [
	"secret",
	"key",
	"UUID",
	"serial number",
	"host name",
	"user name",
	"address",
	"path"
];
/**
* Replaces addresses by those of RFC 5737, RFC 3849 and RFC 7042. Addresses of the benchmarking networks, loopback,
* netmasks and root stay: they are the same in every lab, and the code depends on them. A name that a machine prints
* of itself is replaced everywhere from there on.
*/
function maskFor(terms) {
	const standIns = makeStandIns();
	const known = {
		secrets: /* @__PURE__ */ new Set(),
		hosts: /* @__PURE__ */ new Set(),
		users: /* @__PURE__ */ new Set(),
		serials: /* @__PURE__ */ new Set(),
		others: /* @__PURE__ */ new Map()
	};
	const counted = /* @__PURE__ */ new Map();
	let rules;
	const learn = (more) => {
		for (const kind of [
			"secrets",
			"hosts",
			"users",
			"serials"
		]) for (const text of more[kind] ?? []) known[kind].add(text);
		for (const [text, by] of more.others ?? []) known.others.set(text, by);
		rules = void 0;
	};
	learn(terms);
	const mask = (text) => {
		const { text: decoded, at } = decodeEscapes(text);
		const names = ownNamesIn(decoded).filter((name) => !known.hosts.has(name));
		if (names.length > 0) learn({ hosts: names });
		rules ??= rulesFor(known, standIns);
		const replacements = [];
		let remaining = decoded;
		for (const { kind, rule } of rules) {
			const more = rule(remaining);
			if (more.length === 0) continue;
			count(counted, kind, more, decoded);
			replacements.push(...more);
			remaining = blanked(remaining, more);
		}
		return replaced(text, at, replacements);
	};
	const counts = () => new Map([...counted].map(([kind, { times, standIns }]) => [kind, {
		times,
		distinct: standIns.size
	}]));
	return Object.assign(mask, {
		learn,
		counts
	});
}
function count(counted, kind, replacements, text) {
	for (const { from, to, by } of replacements) {
		if (by === text.slice(from, to)) continue;
		const entry = counted.get(kind) ?? {
			times: 0,
			standIns: /* @__PURE__ */ new Set()
		};
		counted.set(kind, entry);
		entry.times += 1;
		entry.standIns.add(by);
	}
}
function ownNamesIn(text) {
	return hostPatterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name = ""]) => name)).filter((name) => isIdentifying(name) && !isAddress(name)).flatMap(namesOf);
}
/** `dut3.lab.example.org`, its domain, and `dut3`. */
function namesOf(host) {
	if (isIPv4(host) || host.includes(":")) return [];
	const [first = "", ...domain] = host.split(".");
	return [
		host,
		first,
		...domain.length > 1 ? [domain.join(".")] : []
	];
}
const blank = "\0";
function blanked(text, replacements) {
	let rest = "";
	let read = 0;
	for (const { from, to } of replacements) {
		rest += text.slice(read, from) + blank.repeat(to - from);
		read = to;
	}
	return rest + text.slice(read);
}
function replaced(text, at, replacements) {
	let masked = "";
	let read = 0;
	for (const { from, to, by } of replacements.toSorted((one, other) => one.from - other.from)) {
		masked += text.slice(read, at(from)) + by;
		read = at(to);
	}
	return masked + text.slice(read);
}
function makeStandIns() {
	return {
		hostOf: standIns((number) => `host-${number}.example`),
		userOf: standIns((number) => `user-${number}`),
		secretOf: standIns((number) => `secret-${number}`),
		uuidOf: standIns((number) => `00000000-0000-4000-8000-${number.toString(16).padStart(12, "0")}`),
		serialOf: standIns((number) => `SERIAL${number}`),
		keyOf: standIns((number) => `AAAA-public-key-${number}`),
		addresses: addressRules()
	};
}
function rulesFor({ secrets, hosts, users, serials, others }, { hostOf, userOf, secretOf, uuidOf, serialOf, keyOf, addresses }) {
	const host = (name) => hostOf(name.toLowerCase());
	const of = (kind, ...rules) => rules.map((rule) => ({
		kind,
		rule
	}));
	return [
		...of("path", literal([...others.keys()], (text) => others.get(text) ?? "", { isAnywhere: true })),
		...of("secret", literal([...secrets].flatMap(secretForms), secretOf, { isAnywhere: true }), anyMatch(/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, secretOf), ...secretPatterns.map((pattern) => firstGroup(pattern, secretOf))),
		...of("key", firstGroup(/\b(?:ssh-[a-z0-9]+|ecdsa-sha2-\S{1,20}|sk-\S{1,40}) +(AAAA[\w+/=]{8,}(?: [^\n]{1,200})?)/g, keyOf), firstGroup(/\bSHA256:([\w+/]{43}=?)/g, keyOf)),
		...of("UUID", anyMatch(/(?<![0-9a-f])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?![0-9a-f])/gi, (text) => uuidOf(text.toLowerCase()))),
		...of("serial number", literal([...serials].filter(isSerial), serialOf, { isAnywhere: true }), ...serialPatterns.map((pattern) => firstGroup(pattern, serialOf))),
		...of("host name", literal([...hosts].filter((name) => isIdentifying(name) && !isAddress(name)), host), ...hostPatterns.map((pattern) => firstGroup(pattern, (name) => common.has(name.toLowerCase()) ? name : host(name)))),
		...of("address", ...addresses, cutOff),
		...of("user name", firstGroup(/(?<![\w.-])([\w.+-]{1,64})@(?!pci\d)[a-z][\w.-]{0,252}/gi, (name) => isIdentifying(name) ? userOf(name) : name)),
		...of("host name", firstGroup(/@(?!pci\d)([a-z][\w-]{0,62}(?:\.[\w-]{1,63}){0,8})/gi, host), anyMatch(domainName, (name) => isIdentifying(name) ? host(name) : name)),
		...of("user name", firstGroup(/\/(?:home|Users)\/([\w.-]{1,64})/g, (name) => isIdentifying(name) ? userOf(name) : name), literal([...users].filter(isIdentifying), userOf))
	];
}
/** Words that machines have in place of names, and the code in its commands: they identify no lab. */
const common = new Set("root toor admin operator freebsd nobody daemon ppsgate user host localhost dut sender receiver builder forwarding kernel active status boot example git.freebsd.org amnesiac generic base patched ipfw test guest main last".split(" "));
/** FreeBSD's `rc.conf.local` and `periodic.conf.local` look like domain names. */
const commonFile = /^(?:\w+\.)*(?:conf|rc)\.local$/;
const isIdentifying = (name) => name.length > 2 && !common.has(name.toLowerCase()) && !commonFile.test(name);
/** Texts of a firmware without a serial number are words alone. */
const isSerial = (text) => text.length >= 5 && /\d/.test(text) && !/^(?:0+|0?123456789\w*)$/.test(text);
const isAddress = (name) => isIPv4(name) || isIPv6(name) || isIPv6(name.replace(/%.*/, ""));
function standIns(make) {
	const number = numbering();
	return (text) => make(number(text) + 1);
}
/** Part of an address, before the ellipsis of a shortened text. */
const cutOff = anyMatch(/(?:[\w-]{1,64}[.:@%]){1,16}[\w-]{0,64}(?=…)/g, () => "");

// src/gate/recording/learn-machine.ts
/**
* Asks with plain commands that change nothing and are not recorded. What a machine does not answer is left out, and
* the first lost connection ends it: the mask then knows names and serial numbers by their form alone.
*/
async function learnFrom(host) {
	const learnt = {
		secrets: [],
		hosts: [],
		users: [],
		serials: []
	};
	for (const { command, learn } of questions) {
		const output = await answerOf(host, command);
		if (output === void 0) break;
		const { secrets = [], hosts = [], users = [], serials = [] } = learn(output);
		learnt.secrets = [...learnt.secrets, ...secrets];
		learnt.hosts = [...learnt.hosts, ...hosts];
		learnt.users = [...learnt.users, ...users];
		learnt.serials = [...learnt.serials, ...serials];
	}
	return learnt;
}
const timeoutSeconds = 20;
/** More than any of these files has on a testbed; a longer answer is read so far. */
const mostLetters = 262144;
async function answerOf(host, command) {
	try {
		const outcome = await host.run(command, { timeoutSeconds });
		return outcome.kind === "exited" && outcome.code === 0 ? outcome.stdout.slice(0, mostLetters) : "";
	} catch {
		return;
	}
}
const matches = (text, pattern) => [...text.matchAll(pattern)].flatMap(({ groups, 1: first }) => groups?.hidden ?? first ?? []);
const wordsOf = (text) => text.split(/\s+/).filter(Boolean);
/** Settings of rc.conf(5): the name, and secrets such as `pass` of carp(4). */
const learnSettings = (text) => ({
	hosts: matches(text, /^\s*hostname=["']?([\w.-]+)/gm).flatMap(namesOf),
	secrets: secretPatterns.flatMap((pattern) => matches(text, pattern))
});
const learnSerial = (text) => ({ serials: [text.trim()] });
const questions = [
	{
		command: shell`sysctl -n kern.hostname`,
		learn: (text) => ({ hosts: wordsOf(text).flatMap(namesOf) })
	},
	{
		command: shell`sysctl -n kern.hostid`,
		learn: (text) => ({ serials: hostIdForms(text.trim()) })
	},
	{
		command: shell`sysctl -n kern.hostuuid`,
		learn: learnSerial
	},
	...[
		"system",
		"planar",
		"chassis"
	].flatMap((part) => ["serial", "tag"].map((name) => ({
		command: shell`kenv -q ${`smbios.${part}.${name}`}`,
		learn: learnSerial
	}))),
	{
		command: shell`geom disk list`,
		learn: (text) => ({ serials: matches(text, /^\s*(?:ident|lunid|lunname):[ \t]*(\S.*\S)/gm) })
	},
	{
		command: shell`ls /dev/diskid`,
		learn: (text) => ({ serials: matches(text, /\bDISK-(\S+?)(?:[ps]\d{1,2}[a-h]?)?$/gm) })
	},
	{
		command: shell`cat /etc/rc.conf`,
		learn: learnSettings
	},
	{
		command: shell`cat /etc/rc.conf.local`,
		learn: learnSettings
	},
	{
		command: shell`cat /etc/hosts`,
		learn: (text) => ({ hosts: matches(text.replace(/#.*/g, ""), /^\s*[0-9a-f.:%\w]+[ \t]+(\S.*)/gm).flatMap(wordsOf).flatMap(namesOf) })
	},
	{
		command: shell`cat /etc/resolv.conf`,
		learn: (text) => ({ hosts: matches(text, /^(?:search|domain)[ \t]+(.*)/gm).flatMap(wordsOf) })
	},
	{
		command: shell`cat /etc/passwd`,
		learn: (text) => ({ users: matches(text, /^([\w.-]+):[^:]*:[1-5]\d{3,4}:/gm) })
	}
];
/** Returns the host id as gethostid(3) and rc(8) print it. */
function hostIdForms(text) {
	const id = Number(text);
	if (!/^\d{5,10}$/.test(text) || id > 4294967295) return [];
	return [text, id.toString(16).padStart(8, "0")];
}

// src/gate/recording/mask-summary.ts
function maskSummary(path, counts) {
	const lines = maskedKinds.flatMap((kind) => {
		const { times, distinct } = counts.get(kind) ?? {
			times: 0,
			distinct: 0
		};
		if (times === 0) return [];
		return `  ${distinct} ${distinct === 1 ? kind : plural[kind]} (${times === 1 ? "once" : `${times} times`})`;
	});
	return [
		`${path} is written. Replaced in it:`,
		...lines.length === 0 ? ["  nothing"] : lines,
		`The rest is as the machines printed it; look at it before you send it: ${commandText(shell`zcat ${path}`)} | less`,
		""
	].join("\n");
}
const plural = {
	secret: "secrets",
	key: "keys",
	UUID: "UUIDs",
	"serial number": "serial numbers",
	"host name": "host names",
	"user name": "user names",
	address: "addresses",
	path: "paths of keys and passwords"
};

// src/gate/recording/output-lines.ts
/** Limit per stream of a command: more than the graph of a profile has. */
const maxOutputBytes = 16 * 1024 ** 2;
/** A mask sees whole lines; a longer one is left out, with all that follows. */
const maxLineBytes = 1024 ** 2;
/** Holds back partial lines: half a line may end in half a secret. */
var OutputLines = class {
	#decoder = new StringDecoder("utf8");
	#omittedHash = createHash("sha256");
	#pending = "";
	#bytes = 0;
	#omittedBytes = 0;
	#isFull = false;
	add(chunk) {
		this.#bytes += chunk.byteLength;
		this.#isFull ||= this.#bytes > maxOutputBytes || chunk.includes(0);
		if (this.#isFull) {
			this.#omit(chunk);
			return "";
		}
		this.#pending += this.#decoder.write(Buffer.from(chunk));
		const end = isInKey(this.#pending) ? 0 : this.#pending.lastIndexOf("\n") + 1;
		const lines = this.#pending.slice(0, end);
		this.#pending = this.#pending.slice(end);
		if (this.#pending.length > maxLineBytes) {
			this.#omit(Buffer.from(this.#pending));
			this.#pending = "";
			this.#isFull = true;
		}
		return lines;
	}
	/** Returns the last partial line, unless output was omitted after it, and the size and sum of that output. */
	end() {
		const omitted = {
			bytes: this.#omittedBytes,
			sha256: this.#omittedHash.digest("hex")
		};
		return {
			rest: this.#isFull ? "" : this.#pending + this.#decoder.end(),
			omitted: omitted.bytes === 0 ? void 0 : omitted
		};
	}
	#omit(bytes) {
		this.#omittedBytes += bytes.byteLength;
		this.#omittedHash.update(bytes);
	}
};
/** A private key that is split can no longer be recognized by its first line. */
function isInKey(text) {
	const begin = text.lastIndexOf("-----BEGIN ");
	return begin !== -1 && !text.slice(begin).includes("-----END ");
}

// src/gate/recording/request-log.ts
function endStream(log, stream, lines) {
	const { rest, omitted } = lines.end();
	if (rest !== "") log.output(stream, rest);
	if (omitted !== void 0) log.omit(stream, omitted);
}
/** Records the end of a request that is not a command. */
async function logged(log, work) {
	try {
		const result = await work();
		log.end({
			kind: "done",
			...typeof result === "string" && { said: result }
		});
		return result;
	} catch (error) {
		log.end(failureOf(error));
		throw error;
	}
}
function failureOf(error) {
	return {
		kind: "failed",
		failure: error instanceof HostError ? error.kind : String(error?.name),
		message: reasonOf(error)
	};
}

// src/gate/recording/recorded-guests.ts
const thisMachine = "this machine";
const guestHost = (number) => `guest ${number}`;
function recordedGuests(lab, recording) {
	/** Records the result as JSON. */
	const call = async (host, order, work) => {
		const log = recording.request(host, {
			what: "guest",
			order
		});
		let result;
		await logged(log, async () => {
			result = await work();
			return JSON.stringify(result ?? null);
		});
		return result;
	};
	const recorded = (guest) => {
		const host = guestHost(guest.number);
		hear(guest, recording.request(host, {
			what: "console",
			order: "hear"
		}));
		return {
			...guest,
			interrupt: () => call(host, "interrupt", () => guest.interrupt()),
			reset: () => call(host, "reset", () => guest.reset())
		};
	};
	const recordedLab = (virtual) => ({
		...virtual,
		kernel: (archive) => call(thisMachine, "kernel", () => virtual.kernel(archive)),
		async boot(...request) {
			const host = guestHost(request[0]);
			let guest;
			await call(host, "boot", async () => {
				guest = await virtual.boot(...request);
				return { commandLine: guest.commandLine };
			});
			const booted = recorded(guest);
			const up = call(host, "up", () => booted.up);
			up.catch(() => {});
			return {
				...booted,
				up
			};
		},
		async bootImage(...request) {
			let guest;
			await call(guestHost(request[0]), "boot", async () => {
				guest = await virtual.bootImage(...request);
			});
			return recorded(guest);
		}
	});
	return {
		up: async (config) => recordedLab(await lab.up(config)),
		facts: (config) => call(thisMachine, "facts", () => lab.facts(config)),
		sendWindows: (wires, request) => call(thisMachine, "windows", () => lab.sendWindows(wires, request))
	};
}
/** Records a guest's console until its QEMU ends. */
function hear(guest, log) {
	const lines = new OutputLines();
	const receive = (piece) => {
		const text = lines.add(piece);
		if (text !== "") log.output("stdout", text);
	};
	receive(Buffer.from(guest.console()));
	const leave = guest.listen(receive);
	guest.ended.then((why) => {
		leave();
		endStream(log, "stdout", lines);
		log.end({
			kind: "done",
			said: why
		});
	});
}

// src/gate/recording/recording-entry.ts
const recordingVersion = 2;
const recordingFormat = "ppsgate recording";
const headSchema = object({
	kind: literal$1("head"),
	format: literal$1(recordingFormat),
	version: literal$1([1, 2]),
	ppsgate: name$1,
	command: document,
	date: name$1
});
/** Bounds an exit code, or an error of the system. */
const mostCode = 2 ** 32;
const at = number().min(-0xe8d4a51000).max(0xe8d4a51000);
const stream = _enum(["stdout", "stderr"]);
const asked = discriminatedUnion("what", [
	object({ what: literal$1("connect") }),
	object({
		what: literal$1("run"),
		command: document,
		shown: document.optional()
	}),
	object({
		what: literal$1("upload"),
		path: path$1,
		mode: count$1,
		bytes: total,
		sha256: name$1
	}),
	object({
		what: literal$1("power"),
		order: _enum([
			"open",
			"state",
			"cycle"
		])
	}),
	object({
		what: literal$1("console"),
		order: _enum(["open", "hear"])
	}),
	object({
		what: literal$1("sleep"),
		seconds
	}),
	object({
		what: literal$1("guest"),
		order: _enum([
			"boot",
			"up",
			"kernel",
			"facts",
			"windows",
			"interrupt",
			"reset"
		])
	})
]);
const answer = discriminatedUnion("kind", [
	object({
		kind: literal$1("exited"),
		code: number().min(-mostCode).max(mostCode)
	}),
	object({
		kind: literal$1("signaled"),
		signal: name$1
	}),
	object({
		kind: literal$1("done"),
		said: document.optional()
	}),
	object({
		kind: literal$1("failed"),
		failure: name$1,
		message: document
	})
]);
/** Times are in seconds since 1970, by the clock of the machine that recorded. */
const entrySchema = discriminatedUnion("kind", [
	object({
		kind: literal$1("begins"),
		at,
		part: name$1,
		request: unknown()
	}),
	object({
		kind: literal$1("tells"),
		at,
		part: name$1,
		outcome: unknown()
	}),
	object({
		kind: literal$1("asks"),
		at,
		id: total,
		host: name$1,
		asked
	}),
	object({
		kind: literal$1("hears"),
		at,
		id: total,
		stream,
		text: document,
		isOfSameTurn: literal$1(true).exactOptional()
	}),
	object({
		kind: literal$1("cut"),
		at,
		id: total,
		stream,
		bytes: total,
		sha256: name$1
	}),
	object({
		kind: literal$1("ends"),
		at,
		id: total,
		answer
	})
]);

// src/gate/recording/recorder.ts
/**
* Begins a recording; throws a UsageError if the file exists or cannot be written. Each entry is written before anything
* else happens, so that a killed process leaves all of them.
*/
function startRecording(path, options) {
	const { command, ppsgate, now, report } = options;
	const file = new RecordingFile(logAt(path), options);
	file.append({
		kind: "head",
		format: recordingFormat,
		version: 2,
		ppsgate,
		command,
		date: (/* @__PURE__ */ new Date(now() * 1e3)).toISOString()
	});
	return {
		deps: (deps) => recordedDeps(deps, file),
		guests: (lab) => recordedGuests(lab, file),
		begin: (part, request) => file.append({
			kind: "begins",
			at: now(),
			part,
			request
		}),
		log: (part, outcome) => file.append({
			kind: "tells",
			at: now(),
			part,
			outcome
		}),
		[Symbol.dispose]() {
			file.close();
			report(maskSummary(path, file.mask.counts()));
		}
	};
}
function logAt(path) {
	try {
		return new GzipLog(path);
	} catch (error) {
		throw new UsageError(`--record: ${path} cannot be written (${reasonOf(error)}); name a file that is not there yet.`);
	}
}
/** Limit of a whole recording, before compression: it ends there. */
const maxBytes$1 = 192 * 1024 ** 2;
var RecordingFile = class {
	#log;
	mask;
	now;
	#bytes = 0;
	#isOver = false;
	#lastId = 0;
	#learnt = /* @__PURE__ */ new Set();
	/** True from some output until the next microtask: promises have not gone on since. */
	#isInTurn = false;
	constructor(log, { sensitive, now }) {
		this.#log = log;
		this.mask = maskFor(sensitive);
		this.now = now;
	}
	append(entry) {
		const line = `${JSON.stringify(masked(entry, this.mask))}\n`;
		this.#bytes += line.length;
		if (this.#isOver || this.#bytes > maxBytes$1) return;
		try {
			this.#log.append(line);
		} catch (error) {
			this.#isOver = true;
			process.stderr.write(`warning: the recording ends here: ${reasonOf(error)}\n`);
		}
	}
	close() {
		this.#isOver = true;
		this.#log.close();
	}
	/** Masks the machine's own names, serial numbers and secrets from here on; queries each machine once. */
	async learn(host, label) {
		if (this.#learnt.has(label)) return;
		this.#learnt.add(label);
		this.mask.learn(await learnFrom(host));
	}
	request(host, asked) {
		this.#lastId += 1;
		const id = this.#lastId;
		this.append({
			kind: "asks",
			at: this.now(),
			id,
			host,
			asked
		});
		const common = () => ({
			at: this.now(),
			id
		});
		return {
			output: (stream, text) => this.append({
				kind: "hears",
				...common(),
				stream,
				text,
				...this.#turn()
			}),
			omit: (stream, omitted) => this.append({
				kind: "cut",
				...common(),
				stream,
				...omitted
			}),
			end: (answer) => this.append({
				kind: "ends",
				...common(),
				answer
			})
		};
	}
	#turn() {
		const isSame = this.#isInTurn;
		this.#isInTurn = true;
		queueMicrotask(() => {
			this.#isInTurn = false;
		});
		return isSame ? { isOfSameTurn: true } : {};
	}
};
function masked(value, mask) {
	if (typeof value === "string") return mask(value);
	if (Array.isArray(value)) return value.map((one) => masked(one, mask));
	if (typeof value !== "object" || value === null) return value;
	return Object.fromEntries(Object.entries(value).map(([key, one]) => [mask(key), masked(one, mask)]));
}
function recordedDeps(deps, file) {
	return {
		...deps,
		async connect(config, label, options) {
			const log = file.request(label, { what: "connect" });
			const host = await logged(log, () => deps.connect(config, label, options));
			await file.learn(host, label);
			return recordedHost(host, label, file);
		},
		async openPower(name, config) {
			const power = (order, work) => logged(file.request("power", {
				what: "power",
				order
			}), work);
			const opened = await power("open", () => deps.openPower(name, config));
			return {
				state: () => power("state", () => opened.state()),
				cycle: () => power("cycle", () => opened.cycle())
			};
		},
		openConsole: (name, config, onOutput) => recordedConsole(file, onOutput, (receive) => deps.openConsole(name, config, receive)),
		sleep: (seconds) => logged(file.request("clock", {
			what: "sleep",
			seconds
		}), () => deps.sleep(seconds))
	};
}
async function recordedConsole(file, onOutput, open) {
	const log = file.request("console", {
		what: "console",
		order: "hear"
	});
	const lines = new OutputLines();
	let isClosed = false;
	const end = (reason) => {
		if (isClosed) return;
		isClosed = true;
		endStream(log, "stdout", lines);
		log.end({
			kind: "done",
			...reason !== void 0 && { said: reason }
		});
	};
	const receive = (chunk) => {
		const text = lines.add(chunk);
		if (text !== "") log.output("stdout", text);
		onOutput(chunk);
	};
	try {
		const opening = file.request("console", {
			what: "console",
			order: "open"
		});
		const opened = await logged(opening, () => open(receive));
		opened.ended.then(end);
		return {
			...opened,
			async close() {
				await opened.close();
				end();
			}
		};
	} catch (error) {
		end();
		throw error;
	}
}
function recordedHost(host, label, file) {
	const run = async (command, options = {}) => {
		const text = commandText(command);
		const shown = options.shownAs === void 0 ? text : commandText(options.shownAs);
		const log = file.request(label, {
			what: "run",
			command: text,
			...shown !== text && { shown }
		});
		const lines = {
			stdout: new OutputLines(),
			stderr: new OutputLines()
		};
		const receive = (stream, chunk) => {
			const whole = lines[stream].add(chunk);
			if (whole !== "") log.output(stream, whole);
		};
		const end = (outcome) => {
			endStream(log, "stdout", lines.stdout);
			endStream(log, "stderr", lines.stderr);
			log.end(outcome);
		};
		try {
			const outcome = await host.run(command, tapped(options, receive));
			receive("stdout", Buffer.from(outcome.stdout));
			receive("stderr", Buffer.from(outcome.stderr));
			end(outcome.kind === "exited" ? {
				kind: "exited",
				code: outcome.code
			} : {
				kind: "signaled",
				signal: outcome.signal
			});
			return outcome;
		} catch (error) {
			end(failureOf(error));
			throw error;
		}
	};
	return {
		...host,
		run,
		output: async (command, options) => stdoutOf(await run(command, options), host.name, command),
		async upload(source, path, mode, options) {
			const content = await sizeAndSum(source);
			const log = file.request(label, {
				what: "upload",
				path,
				mode,
				...content
			});
			await logged(log, () => host.upload(source, path, mode, options));
		}
	};
}
/** Records the streams that the caller follows as they arrive; the others come with the outcome. */
function tapped(options, receive) {
	const { onStdout, onStderr } = options;
	const tap = (stream, onChunk) => (chunk) => {
		receive(stream, chunk);
		onChunk(chunk);
	};
	return {
		...options,
		...onStdout !== void 0 && { onStdout: tap("stdout", onStdout) },
		...onStderr !== void 0 && { onStderr: tap("stderr", onStderr) }
	};
}
/** Returns zero and no sum for an unreadable file: the upload itself reports it. */
async function sizeAndSum(source) {
	const hash = createHash("sha256");
	if (typeof source !== "string") return {
		bytes: source.byteLength,
		sha256: hash.update(source).digest("hex")
	};
	try {
		await pipeline(createReadStream(source), hash);
		return {
			bytes: (await stat(source)).size,
			sha256: hash.digest("hex")
		};
	} catch {
		return {
			bytes: 0,
			sha256: ""
		};
	}
}

// src/gate/recording/sensitive-terms.ts
/** Reads the key and password files of the testbed; skips unreadable ones. */
async function sensitiveTermsOf(testbed, environment = process.env) {
	const { machines, macs, paths, power, console, keys } = accessOf(testbed, environment);
	const passwords = [power, console].map((one) => one !== void 0 && "passwordPath" in one ? one.passwordPath : void 0);
	const files = [.../* @__PURE__ */ new Set([...keys, ...passwords.flatMap((path) => path ?? [])])];
	return {
		secrets: [
			...await Promise.all(files.map((path) => readFile(path, "utf8").catch(() => ""))),
			...secretsIn(environment),
			...commandSecrets(power),
			...secretWords(console?.kind === "command" ? console.command : [])
		],
		serials: macs.flatMap(otherForms),
		hosts: [
			...machines.map(({ host = "" }) => host),
			...[power, console].map(hostOf),
			hostname()
		].flatMap(namesOf),
		users: [
			...machines.map(({ user }) => user),
			...[power, console].map(userOf),
			userInfo().username
		],
		others: new Map([
			...files,
			...paths,
			...machines.map(({ knownHostsPath }) => knownHostsPath)
		].flatMap(writings).map((path) => [path, "/dev/null"]))
	};
}
function accessOf(testbed, environment) {
	const builders = testbed.builder === void 0 ? [] : [testbed.builder];
	const keysOf = (machines) => machines.flatMap(({ privateKeyPath }) => privateKeyPath ?? []);
	if (testbed.kind === "virtual") {
		const keys = keysOf(builders);
		if (testbed.system === "linux") {
			const { kernelPath } = testbed;
			return {
				machines: builders,
				keys,
				macs: [],
				paths: kernelPath === void 0 ? [] : [kernelPath]
			};
		}
		const { image } = testbed;
		const own = image.hostKey === void 0 ? void 0 : image.privateKeyPath;
		const all = own === void 0 ? keys : [...keys, own];
		const prepared = imagesFolder(environment, homedir());
		return {
			machines: builders,
			keys: all,
			macs: [],
			paths: [image.path, prepared]
		};
	}
	const { dut, senders, receiver } = testbed;
	const machines = [
		dut,
		...senders,
		receiver,
		...builders
	];
	const macs = [...senders, receiver].map(({ mac }) => mac);
	const { power, console } = dut;
	return {
		machines,
		keys: keysOf(machines),
		macs,
		paths: [],
		power,
		console
	};
}
/** Lists the forms in which ssh(1) may print a path: from the home folder, and with links followed. */
function writings(path) {
	const home = homedir();
	const short = path.startsWith(`${home}/`) ? [`~${path.slice(home.length)}`] : [];
	try {
		return [
			path,
			...short,
			realpathSync(path)
		];
	} catch {
		return [path, ...short];
	}
}
/** Values that are secrets by their variable's name, or look random. */
function secretsIn(environment) {
	return Object.entries(environment).flatMap(([name, value = ""]) => {
		const isNamed = /pass|secret|token|key|auth|cred|cookie/i.test(name) && !isPathOrUrl(value);
		if (/^(?:true|false)$/i.test(value)) return [];
		const isRandom = /^(?=.*\d)(?=.*[a-z])[\w+=.~-]{16,}$/i.test(value);
		return isNamed || isRandom ? [value] : [];
	});
}
const isPathOrUrl = (value) => /^[./]/.test(value) || /^https?:/.test(value);
/** Returns arguments that may be passwords; plain words occur in every output. */
function commandSecrets(power) {
	if (power?.kind !== "command") return [];
	const { on, off, state, cycle = [] } = power;
	return [
		on,
		off,
		state,
		cycle
	].flatMap(secretWords);
}
const secretWords = ([, ...words]) => words.filter((word) => word.length > 5 && !/^(?:[a-z]+|-.*|\/.*)$/.test(word));
/** Cisco's dotted form, and digits alone. */
function otherForms(mac) {
	const digits = mac.replaceAll(":", "");
	const dotted = digits.replace(/(.{4})(?!$)/g, "$1.");
	return [
		digits,
		dotted,
		digits.toUpperCase(),
		dotted.toUpperCase()
	];
}
function hostOf(config) {
	if (config !== void 0 && "url" in config) return new URL(config.url).hostname;
	return config !== void 0 && "host" in config ? config.host ?? "" : "";
}
const userOf = (config) => config !== void 0 && "user" in config ? config.user : "";

// src/gate/recording/record.ts
/** Masks the secrets of all these testbeds; `command` is like `testbeds check`. Throws a UsageError. */
async function recordTo(path, command, testbeds, now = () => Date.now() / 1e3, report = (summary) => void process.stderr.write(summary)) {
	const some = testbeds.filter((testbed) => isRecorded(testbed, command));
	if (some.length === 0) throw new UsageError(`--record: \`ppsgate ${command}\` records testbeds of ${command === "gate" ? "`kind: freebsd` or `kind: virtual`" : "`kind: freebsd`"} only; leave it out.`);
	const terms = await Promise.all(some.map((testbed) => sensitiveTermsOf(testbed)));
	const recorder = startRecording(path, {
		command,
		now,
		report,
		ppsgate: version,
		sensitive: {
			secrets: terms.flatMap(({ secrets }) => secrets),
			hosts: terms.flatMap(({ hosts }) => hosts),
			users: terms.flatMap(({ users }) => users),
			serials: terms.flatMap(({ serials = [] }) => serials),
			others: new Map(terms.flatMap(({ others }) => [...others ?? []]))
		}
	});
	await giveNew(path);
	return recorder;
}
/** A check of virtual machines makes its own. */
const isRecorded = (testbed, command) => isRecordable(testbed) && (testbed.kind === "freebsd" || command === "gate");
/** Removes the access data of power control and console, which may hold a password. */
const recordable = (request) => {
	const { testbed } = request;
	if (testbed.kind === "virtual") return request;
	const { power, console, ...dut } = testbed.dut;
	const kept = {
		...dut,
		...power !== void 0 && { power: { kind: power.kind } },
		...console !== void 0 && { console: { kind: console.kind } }
	};
	return {
		...request,
		testbed: {
			...testbed,
			dut: kept
		}
	};
};

// src/gate/recording/recording-schemas.ts
/** A replay opens no file that a recording names. */
const host = looseObject({
	host: name$1,
	port: count$1,
	user: name$1,
	privateKeyPath: path$1.optional(),
	knownHostsPath: literal$1("/dev/null")
});
const port = looseObject({ interface: name$1 });
const generator = host.extend({
	interface: name$1,
	mac: name$1,
	addresses: partialRecord(_enum(families), name$1),
	threads: count$1
});
const testbed = looseObject({
	kind: literal$1("freebsd"),
	dut: host.extend({
		ingress: port,
		egress: port,
		boot: looseObject({
			method: name$1,
			limitSeconds: seconds
		}),
		power: looseObject({ kind: name$1 }).optional()
	}),
	senders: array(generator).min(1).max(4),
	receiver: generator,
	builder: host.extend({
		folder: path$1,
		repository: path$1,
		recipe: looseObject({ kind: name$1 })
	}).optional(),
	preflight: document
});
const traffic = looseObject({
	flows: count$1,
	frameBytes: count$1.optional(),
	packets: packetsSchema.optional(),
	captured: document.optional(),
	windows: object({
		count: count$1,
		packets: total
	}).optional(),
	settleSeconds: seconds,
	measureSeconds: seconds
});
/** Keeps properties of other versions. */
const as = (schema) => schema;
const checkRequest = object({
	name: name$1,
	testbed: as(testbed),
	families: list(_enum(families), 10),
	traffic: as(traffic),
	sends: boolean(),
	cycles: boolean()
});
/** A replay opens no file that a recording names. */
const virtualTestbed = looseObject({
	kind: literal$1("virtual"),
	system: _enum(["linux", "freebsd"]),
	accelerator: name$1,
	memoryMebibytes: count$1,
	image: looseObject({
		path: literal$1("/dev/null"),
		privateKeyPath: literal$1("/dev/null").optional(),
		/** Absent for an official image, which a replay does not prepare. */
		hostKey: document.default(""),
		bootSeconds: seconds
	}).optional(),
	kernelPath: literal$1("/dev/null").optional()
});
const testbedRequest = object({
	name: name$1,
	testbed: union([as(testbed), as(virtualTestbed)]),
	traffic: as(traffic),
	/** Token of the lease, which is part of every command. */
	token: total.optional()
});
const cell = looseObject({
	scenario: name$1,
	family: _enum(families),
	frameBytes: count$1.optional()
});
const planned = looseObject({
	number: count$1,
	cell,
	runs: list(looseObject({
		number: count$1,
		variant,
		pair: count$1
	}))
});
const testbedCall = discriminatedUnion("call", [
	object({
		call: literal$1("inspect"),
		cells: list(as(cell)),
		outcome: unknown()
	}),
	object({
		call: literal$1("prepare"),
		variants: list(object({
			variant,
			boots: _enum(["own", "archive"])
		})),
		/** Absent in older recordings. */
		cells: list(as(cell)).default([]),
		rules: byName(unknown()),
		outcome: unknown()
	}),
	object({
		call: literal$1("trial"),
		planned: as(planned),
		outcome: unknown()
	}),
	object({
		call: literal$1("profile"),
		request: as(looseObject({
			cell,
			variant,
			seconds,
			attempt: count$1
		})),
		outcome: unknown()
	}),
	object({
		call: literal$1("restore"),
		outcome: unknown()
	})
]);
const selfTestRequest = object({
	name: name$1,
	testbed: as(testbed),
	config: as(looseObject({
		scenarios: list(name$1, 1e3),
		families: list(_enum(families), 10),
		traffic,
		gate: looseObject({
			metric: name$1,
			marginRatio: share
		})
	})),
	rules: byName(as(looseObject({ text: document }))),
	skip: list(_enum(selfTestParts), 100),
	journal: list(document),
	token: total.optional()
});
const selfTestReport = union([object({ diagnostic: looseObject({
	kind: name$1,
	what: document,
	why: document
}) }), object({ agreed: boolean() })]);
const thrown = (error) => ({ threw: reasonOf(error) });

// src/gate/recording/recorded-testbed.ts
async function recordedTestbed(recorder, request, open) {
	recorder.begin("testbed", recordable(request));
	const opened = await open();
	const logged = async (call, work) => {
		try {
			const outcome = await work();
			recorder.log("testbed", {
				...call,
				outcome: outcome ?? null
			});
			return outcome;
		} catch (error) {
			recorder.log("testbed", {
				...call,
				outcome: thrown(error)
			});
			throw error;
		}
	};
	return {
		...opened,
		inspect: (cells) => logged({
			call: "inspect",
			cells
		}, () => opened.inspect(cells)),
		prepare(prepare) {
			const variants = prepare.variants.map(({ variant, kernel }) => ({
				variant,
				boots: kernel === void 0 ? "own" : "archive"
			}));
			const { cells, rules } = prepare;
			return logged({
				call: "prepare",
				variants,
				cells,
				rules
			}, () => opened.prepare(prepare));
		},
		trial: (planned, ...rest) => logged({
			call: "trial",
			planned
		}, () => opened.trial(planned, ...rest)),
		profile: (profile, ...rest) => logged({
			call: "profile",
			request: profile
		}, () => opened.profile(profile, ...rest)),
		restore: () => logged({ call: "restore" }, () => opened.restore())
	};
}

// src/gate/recording/recording-version-1.ts
const names = /* @__PURE__ */ new Map([
	["blast", "trial"],
	["blasts", "trials"],
	["blastSeconds", "trialSeconds"],
	["runsPerBlast", "runsPerTrial"],
	["finding", "diagnostic"],
	["findings", "diagnostics"],
	["mend", "fix"],
	["rehearsal", "self-test"]
]);
/** Renames keys and whole strings; a line of a journal is JSON within a string. */
function fromVersion1(value) {
	if (typeof value === "string") {
		if (!value.startsWith("{")) return names.get(value) ?? value;
		return JSON.stringify(fromVersion1(parseJson(value)));
	}
	if (Array.isArray(value)) return value.map(fromVersion1);
	if (typeof value !== "object" || value === null) return value;
	return Object.fromEntries(Object.entries(value).map(([key, one]) => [names.get(key) ?? key, fromVersion1(one)]));
}

// src/gate/recording/read-recording.ts
/** Throws a UsageError if the file is no recording that can be read here. */
function readRecording(path) {
	const bytes = unpacked(path);
	const headEnd = endOfLine(bytes, 0);
	const head = headOf(path, textOf$2(path, bytes, 0, headEnd));
	const recording = {
		head,
		requests: [],
		events: [],
		isTorn: bytes.at(-1) !== newline
	};
	const byId = /* @__PURE__ */ new Map();
	let turn = 0;
	let line = 1;
	let parts = 0;
	for (let start = headEnd + 1, end = headEnd; start < bytes.length; start = end + 1) {
		end = endOfLine(bytes, start);
		line += 1;
		if (line > mostLines) throw tooMuch(path, mostLines, "lines");
		if (end === start) continue;
		const { data: entry } = entrySchema.safeParse(entryOf(textOf$2(path, bytes, start, end), head));
		if (entry !== void 0) {
			if (entry.kind !== "hears" || entry.isOfSameTurn === void 0) turn += 1;
			add(recording, byId, entry, {
				at: entry.at,
				line,
				turn
			});
			if (recording.requests.length > mostRequests) throw tooMuch(path, mostRequests, "requests");
			if (entry.kind === "begins") parts += 1;
			if (parts > mostParts) throw tooMuch(path, mostParts, "parts");
		} else if (end < bytes.length) throw new UsageError(`${path} is damaged in its line ${line}: have it recorded again, or send it as it came.`);
	}
	return recording;
}
/** More than a recorder writes: its lines have a hundred bytes or more. */
const mostLines = 2e6;
const mostRequests = 2e5;
const mostParts = 1e3;
/** Output comes in pieces of a few lines, of a mebibyte each at most, and six characters escape one. */
const mostLineBytes = 16 * 1024 ** 2;
const newline = 10;
function endOfLine(bytes, start) {
	const end = bytes.indexOf(newline, start);
	return end === -1 ? bytes.length : end;
}
/** A text of the whole would have to be split into as many texts as there are lines. */
function textOf$2(path, bytes, start, end) {
	if (end - start > mostLineBytes) throw tooMuch(path, mostLineBytes, "bytes in a line");
	return bytes.toString("utf8", start, end);
}
const tooMuch = (path, most, what) => new UsageError(`${path} has more than ${most.toLocaleString("en-US")} ${what}, and no recording has so many: it is not opened.`);
function entryOf(line, { version }) {
	const entry = parseJson(line);
	const isOfPart = typeof entry === "object" && entry !== null && "part" in entry;
	return version === 1 && isOfPart ? fromVersion1(entry) : entry;
}
/** More than a recorder writes. */
const maxBytes = 256 * 1024 ** 2;
/** Unpacks a recording up to its end, which a killed process may have cut short. */
function unpacked(path) {
	let packed;
	try {
		const stats = statSync(path);
		if (!stats.isFile()) throw new Error("it is no regular file");
		if (stats.size > maxBytes) throw tooMuch(path, maxBytes, "bytes");
		packed = readFileSync(path);
	} catch (error) {
		if (error instanceof UsageError) throw error;
		throw new UsageError(`The recording ${path} cannot be read (${reasonOf(error)}): name a file that --record has written.`);
	}
	try {
		return gunzipSync(packed, {
			finishFlush: constants$1.Z_SYNC_FLUSH,
			maxOutputLength: maxBytes
		});
	} catch (error) {
		throw error instanceof RangeError ? new UsageError(`${path} is more than ${maxBytes / 1024 ** 2} MiB once it is unpacked, and no recording is so big: it is not opened.`) : noRecording(path);
	}
}
const noRecording = (path) => new UsageError(`${path} is no recording: expected a file that \`--record\` has written.`);
function headOf(path, line) {
	const written = parseJson(line);
	const { data: head } = headSchema.safeParse(written);
	if (head !== void 0) return head;
	const { format, version } = written ?? {};
	if (format === "ppsgate recording" && typeof version === "number" && version > 2) throw new UsageError(`${path} is of a newer ppsgate (its format is ${version}, and this one reads ${2}): replay it with that one.`);
	throw noRecording(path);
}
function add({ requests, events }, byId, entry, moment) {
	switch (entry.kind) {
		case "begins":
		case "tells": {
			const { kind, part } = entry;
			const value = kind === "begins" ? entry.request : entry.outcome;
			events.push({
				kind,
				part,
				value,
				after: requests.length
			});
			return;
		}
		case "asks": {
			const { host, asked: call, at } = entry;
			const request = {
				number: requests.length + 1,
				host,
				call,
				at,
				output: [],
				cut: /* @__PURE__ */ new Set()
			};
			requests.push(request);
			byId.set(entry.id, request);
			return;
		}
		case "hears":
			byId.get(entry.id)?.output.push({
				...moment,
				stream: entry.stream,
				text: entry.text
			});
			return;
		case "cut":
			byId.get(entry.id)?.cut.add(entry.stream);
			return;
		case "ends": {
			const request = byId.get(entry.id);
			if (request !== void 0) request.ended ??= {
				...moment,
				outcome: entry.answer
			};
			return;
		}
	}
}
const outputOf = ({ output }, stream) => output.filter((chunk) => chunk.stream === stream).map(({ text }) => text).join("");
/** `netstat -rn -f inet` on the DUT, to follow "the recording's 57th question, ". */
function requestText({ host, call }) {
	switch (call.what) {
		case "run": return `\`${unquoted(call.shown ?? call.command)}\` on the ${host}`;
		case "connect": return `the login to the ${host}`;
		case "upload": return `the upload of ${call.path} to the ${host}`;
		case "power": return `the power's ${call.order}`;
		case "console": return call.order === "open" ? "the opening of the console" : "what the console printed";
		case "guest": return `${guestRequests[call.order]} of ${host}`;
		case "sleep": return `a sleep of ${call.seconds} s`;
	}
}
const guestRequests = {
	boot: "the start",
	up: "the boot",
	kernel: "the unpacking of a kernel",
	facts: "the facts",
	windows: "the windows of packets",
	interrupt: "the interrupt",
	reset: "the reset"
};

// src/gate/recording/output-formats.ts
/** Returns a clause for output that the parsers would misread; undefined for good output, or output that is never read. */
function unexpectedOutput(request) {
	const { call, ended, cut } = request;
	if (call.what !== "run" || cut.size > 0) return void 0;
	const command = unquoted(call.shown ?? call.command);
	if (isPktGen.test(command)) return pktGen(request);
	if (!(ended?.outcome.kind === "exited" && ended.outcome.code === 0)) return void 0;
	const text = outputOf(request, "stdout");
	const reader = readers.find(([pattern]) => pattern.test(command));
	if (reader === void 0) return void 0;
	if (text !== "" && !text.endsWith("\n")) return "what it wrote breaks off in the middle of a line";
	return reader[1](text, command);
}
const isPktGen = /\bpkt-gen -N\b/;
const readers = [
	[/^ifconfig -l$/, (text) => unlessLines(text, /^\w+(?: \w+)*$/, "a list of interfaces")],
	[/^ifconfig (?!lo)[a-z]+\d+$/, ifconfig],
	[/^netstat -rn -f inet6?$/, routes],
	[/^netstat -i -b -n -W$/, counters],
	[/^netstat -s$/, (text) => unlessFound(text, /^ip6?:$\n^\t+\d+ /m, "a protocol and its counters")],
	[/^vmstat -i$/, (text) => unlessFound(text, /^interrupt +total +rate\n(?:.*\d+ +\d+\n)*Total /, "its header and interrupts")],
	[/^arp -an$/, (text) => neighbours(text, parseArp, /./)],
	[/^ndp -an$/, (text) => neighbours(text, parseNdp, /:\S* +\S+ +\S+/)],
	[/^sysctl -n kern\.cp_times$/, (text) => parseCpuTimes(text).length > 0 ? void 0 : no("five ticks for each CPU", text)],
	[/^sysctl -n kern\.vm_guest kern\.clockrate$/, (text) => unlessFound(text, /^\w+\n\{ hz = \d+, .*stathz = \d+ \}$/m, "a guest or none, and its clock")],
	[/^sysctl -n kern\.boottime$/, (text) => unlessLines(text, boottime, "{ sec = …, usec = … } and an English date")],
	[/^sysctl -n vm\.loadavg$/, (text) => unlessLines(text, /^\{ \d+[.,]\d+ \d+[.,]\d+ \d+[.,]\d+ \}$/, "three loads in braces")],
	[/^sh -c 'sysctl -n kern\.cp_time /, (text) => unlessLines(text, /^\d+(?: \d+){4}$/, "five ticks, two times")],
	[/^date \+%s$/, (text) => unlessLines(text, /^\d+$/, "seconds since 1970")],
	[/^kenv -N$/, (text) => unlessLines(text, /^[^\s=]+$/, "names of the environment")],
	[/^uuidgen$/, (text) => unlessLines(text, /^[0-9a-f-]{36}$/i, "a UUID")],
	[/^kldstat$/, (text) => unlessFound(text, /^Id Refs Address +Size +Name$/m, "the header of Id, Refs, Address, Size and Name")],
	[/^gpart show -p \S+$/, (text) => unlessFound(text, /^=>\s+\d+\s+\d+\s+\S+\s+\S+/m, "a disk and its scheme")],
	[/^glabel status -s$/, (text) => unlessLines(text, /^\s*\S+\s+\S+\s+\S+\s*$/, "labels and their providers")],
	[/^sysctl -n kern\.bootfile$/, (text) => unlessLines(text, /^\/\S+$/, "the path of a kernel")],
	[/^sysctl -n kern\.conftxt$/, (text) => text.trim() === "" ? void 0 : unlessFound(text, /^ident\s+\S+$/m, "the line of `ident`")],
	[/^sysctl -n (?:kern\.hostname|hw\.model)$/, (text) => unlessLines(text, /^\S.*$/, "a name")],
	[/^sysctl -n [a-z][\w.]*$/, (text, command) => isNumber(command) ? unlessLines(text, /^-?\d+$/, "a whole number") : void 0],
	[/^sysctl dev\.\S+$/, (text) => unlessLines(text, /^dev\.[\w.%]+: .*$/, "lines of names and values")],
	[/^df -k -T /, fileSystems],
	[/^uname -s -r$/, (text) => unlessLines(text, /^FreeBSD \d+\.\d+-\S+$/, "FreeBSD and its release")],
	[/^uname -r$/, (text) => unlessLines(text, /^\d+\.\d+-\S+$/, "a release")],
	[/^uname -v$/, (text) => unlessLines(text, /^FreeBSD \S+.*$/, "the version of a kernel")],
	[/^uname -p$/, (text) => unlessLines(text, /^\w+$/, "an architecture")],
	[/^sha256 -q /, (text) => unlessLines(text, /^[0-9a-f]{64}$/, "a sum of 64 digits")],
	[/^pciconf -lv$/, (text) => unlessFound(text, /^\w+@pci\d+:\d+:\d+:\d+:\s+class=0x[0-9a-f]{6} /, "cards with their places and classes")],
	[/^pfctl -si$/, (text) => unlessFound(text, /^Status: (?:Enabled|Disabled)\b[\s\S]*^[ \t]+inserts[ \t]+\d+/m, "Status and inserts")],
	[/^pfctl -sr$/, (text) => text === "" ? void 0 : unlessLines(text, /^(?:scrub|block|pass|match|anchor|antispoof)\b.*$/, "rules")],
	[/^ipfw list$/, (text) => unlessLines(text, /^\d{5} .+$/, "numbered rules")],
	[/^bectl list -H$/, (text) => unlessLines(text, /^[^\t]+(?:\t[^\t]*){4,}$/, "environments in columns with tabs")],
	[/^cat \/etc\/fstab$/, (text) => unlessFound(text, /^\S+\s+\/\s+\S+/m, "the root")],
	[/^ls -1 \/boot$/, (text) => unlessFound(text, /^kernel$/m, "kernel")]
];
const no = (expected, text) => {
	const found = shortened(text);
	return `expected ${expected}, found ${found === "" ? "nothing" : `"${found}"`}`;
};
function unlessFound(text, pattern, expected) {
	return pattern.test(text) ? void 0 : no(expected, text);
}
/** Requires at least one line, and all lines to match. */
function unlessLines(text, pattern, expected) {
	const lines = text.split("\n").filter((line) => line.trim() !== "");
	if (lines.length === 0) return no(expected, "");
	const other = lines.find((line) => !pattern.test(line.trimEnd()));
	return other === void 0 ? void 0 : no(expected, other);
}
const boottime = /^\{ sec = \d+, usec = \d+ \} (?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d \d{4}$/;
const texts = [
	"kern.version",
	"kern.ident",
	"kern.osrelease",
	"dispatch",
	"algo",
	"firmware",
	"fw_version"
];
/** True for sysctls that are known to be whole numbers. */
const isNumber = (command) => /^sysctl -n (?:net\.inet6?\.|net\.isr\.(?:max|bind)threads|hw\.ncpu|hw\.cxgbe\.|machdep\.|kern\.random\.harvest\.mask|dev\.\w+\.\d+\.(?:n[rt]xq|conf\.channels))/.test(command) && !texts.some((name) => command.includes(name));
/** Expects an Ethernet port; no others are read. */
function ifconfig(text, command) {
	const port = parseIfconfig(text);
	const [, name] = command.split(" ");
	if (port === void 0 || port.name !== name) return no(`${name}, its flags and its mtu`, text);
	const lacking = [
		port.mac === void 0 && "ether",
		port.media === void 0 && "media",
		!/^[ \t]+status: (?:active|no carrier|associated|no network|inserted)$/m.test(text) && "status"
	].filter((field) => field !== false);
	return lacking.length === 0 ? void 0 : `nothing is known in it of ${lacking.join(", ")}`;
}
function routes(text) {
	const rows = text.split("\n").filter((line) => /\S/.test(line));
	const head = rows.findIndex((line) => /^Destination\s+Gateway\s+Flags\s+Netif(?:\s+Expire)?\s*$/.test(line) || /^Destination\s+Gateway\s+Flags\s.*\bNetif\b/.test(line));
	if (head === -1) return no("the header of Destination, Gateway, Flags and Netif", text);
	const found = parseRoutes(text);
	if (found.length < rows.length - head - 1) return no("as many columns in each row as in the header", rows.at(-1) ?? "");
	const odd = found.find(({ destination, flags, interface: name }) => !/^(?:default|[0-9a-f.:]+(?:%\w+)?(?:\/\d+)?)$/i.test(destination) || !/^[A-Z][A-Za-z0-9]*$/.test(flags) || !/^[a-z]\w*$/.test(name));
	return odd === void 0 ? void 0 : no("a destination, flags and an interface", Object.values(odd).join(" "));
}
function counters(text) {
	const [head = ""] = text.split("\n");
	const lacking = [
		"Name",
		"Mtu",
		"Network",
		"Address",
		"Ipkts",
		"Ierrs",
		"Idrop",
		"Opkts",
		"Oerrs"
	].filter((column) => !head.split(/\s+/).includes(column));
	if (lacking.length > 0) return no(`a header with ${lacking.join(", ")}`, head);
	const links = text.split("\n").filter((line) => line.includes("<Link#"));
	const read = parseInterfaceCounters(text).size;
	return read === links.length && read > 0 ? void 0 : no("numbers in each row of a link", links.find((line) => /[^\d\s]\s*\d*$/.test(line)) ?? links.at(-1) ?? "");
}
function neighbours(text, parse, isRow) {
	const odd = text.split("\n").filter((line) => line.trim() !== "" && isRow.test(line)).find((row) => {
		const [found] = parse(`${row}\n`);
		if (found === void 0) return true;
		const { address, mac, interface: name } = found;
		return !(mac === void 0 ? row.includes("(incomplete)") : macAddress.test(mac)) || !/^[a-z]\w*$/.test(name) || !/^[0-9a-f.:]+(?:%\w+)?$/i.test(address);
	});
	return odd === void 0 ? void 0 : no("an address, a MAC address and an interface in each line", odd);
}
const macAddress = /^(?:[0-9a-f]{1,2}:){5}[0-9a-f]{1,2}$/;
function fileSystems(text, command) {
	const [head = "", ...rows] = text.trim().split("\n");
	if (!/^Filesystem\s+Type\s+(?:1024|1K)-blocks\s+Used\s+Avail\S*\s+Capacity\s+Mounted on$/.test(head)) return no("the header of Filesystem, Type, 1024-blocks, Used and Avail", head);
	const paths = command.split(" ").filter((word) => word.startsWith("/")).length;
	const odd = rows.find((row) => !/^\S+\s+\w+\s+\d+\s+-?\d+\s+-?\d+\s+\d+%\s+\/\S*$/.test(row.trim()));
	if (odd !== void 0) return no("numbers in columns", odd);
	return rows.length === paths ? void 0 : no("a row for each path", text);
}
/** Accepts the log of a generator that died. */
function pktGen(request) {
	const text = outputOf(request, "stderr") + outputOf(request, "stdout");
	if (text.replace(/^process \d+\n/, "").trim() === "") return void 0;
	const log = parsePktGenLog(text);
	const strange = log.faults.find(({ kind }) => kind === "not-pkt-gen" || kind === "unread-rate" || kind === "cut" || kind === "unreadable");
	if (strange !== void 0) return strange.message;
	const lines = text.split("\n");
	const rates = lines.filter((line) => /\bmain_thread\b.*\bpps\b/.test(line));
	if (rates.length > log.rates.length) return no("rates as pkt-gen writes them", rates.find((line) => parsePktGenLog(`${line}\n`).rates.length === 0) ?? "");
	const summary = lines.find((line) => /^(?:Sent|Received) \S+ packets/.test(line));
	const isRead = log.summary !== void 0 || log.faults.length > 0;
	if (summary !== void 0 && !isRead && !/ in 0\.0+ seconds/.test(summary)) return no("its summary", summary);
}

// src/gate/recording/replay-difference.ts
const differenceAt = (kind, request, why) => ({
	kind,
	number: request.number,
	sentence: oneLine(`the recording's ${formatShortOrdinal(request.number)} question, ${requestText(request)}: ${why}`)
});
const unreadable = (part) => ({
	diagnostics: [],
	differences: [{
		kind: "incomplete",
		sentence: `what the recording says of its ${part} cannot be read here, so that it is not done again`
	}]
});
const broken = (error) => ({
	kind: "made-otherwise",
	sentence: oneLine(`the code of today breaks on it: ${reasonOf(error)}`)
});
function requestDifferences({ unrecorded, incomplete }) {
	return [...unrecorded.map(({ text, after }) => {
		const position = after === void 0 ? "first of all" : `after the recording's ${formatShortOrdinal(after.number)} question`;
		return {
			kind: "asked-otherwise",
			...after !== void 0 && { number: after.number },
			sentence: oneLine(`${position} the code of today asks what the recording has not: ${text}`)
		};
	}), ...incomplete.map((request) => differenceAt("incomplete", request, request.ended === void 0 ? "the recording ends before it did" : "a part of what it wrote is not in the recording"))];
}
/** Compares diagnostics in their order for each `what`; `normalized` removes texts that may differ. */
function diagnosticDifferences(then, now, normalized = (text) => text) {
	const unmatched = [...now];
	return then.flatMap((recorded) => {
		const index = unmatched.findIndex(({ what }) => what === recorded.what);
		const [replayed] = index === -1 ? [] : unmatched.splice(index, 1);
		const before = textOf$1(recorded);
		const after = replayed === void 0 ? "not looked at" : textOf$1(replayed);
		if (normalized(before) === normalized(after)) return [];
		return [{
			kind: "made-otherwise",
			sentence: oneLine(`${recorded.what} was ${before} then, and is ${after} now`)
		}];
	});
}
const textOf$1 = ({ kind, why }) => `${kind} (${why})`;

// src/gate/recording/replay-machines.ts
/** Equal requests to one host are served in their order, even if they overlap with others. */
var ReplayedMachines = class {
	deps;
	/** Requests that the recording lacks, each with the recorded one before it. */
	unrecorded = [];
	/** Requests with an incomplete recorded outcome or output. */
	incomplete = [];
	#clock;
	#pending;
	#last;
	constructor(requests) {
		const clock = new ReplayClock(requests[0]?.at ?? 0);
		this.#clock = clock;
		this.#pending = Map.groupBy(requests, keyOf);
		this.deps = {
			connect: ({ host, port }, label) => this.#connect(label, `${label} (${host}:${port})`),
			openPower: () => this.#openPower(),
			openConsole: async (_name, _config, onOutput) => {
				const ended = this.hear("console", onOutput);
				await this.#result("console", {
					what: "console",
					order: "open"
				});
				return {
					ended,
					close: async () => {}
				};
			},
			sleep: (seconds) => clock.until({
				at: clock.now + seconds,
				line: Number.MAX_SAFE_INTEGER,
				turn: NaN
			}),
			now: () => clock.now
		};
	}
	/** Drops the requests up to this number that were not made, except the builder's, which works ahead of trials. */
	skipTo(number) {
		for (const [key, requests] of this.#pending) this.#pending.set(key, requests.filter((request) => request.number > number || request.host === "builder"));
	}
	#take(request) {
		const recorded = this.#pending.get(keyOf(request))?.shift();
		const text = requestText(request);
		if (recorded === void 0) {
			this.unrecorded.push({
				text,
				after: this.#last
			});
			throw new HostError("command-failed", `The recording has no answer to ${text}.`);
		}
		this.#last = recorded;
		const { ended, cut } = recorded;
		if (ended === void 0 || cut.size > 0) this.incomplete.push(recorded);
		if (ended === void 0) throw new HostError("lost", `The recording ends before ${requestText(recorded)} did.`);
		return {
			...recorded,
			ended
		};
	}
	async #result(host, call) {
		const { ended } = this.#take({
			host,
			call
		});
		await this.#clock.until(ended);
		return resultOf(ended.outcome);
	}
	async #run(host, command, options) {
		const { onStdout, onStderr, shownAs = command } = options;
		const call = {
			what: "run",
			command: commandText(command),
			shown: commandText(shownAs)
		};
		const request = this.#take({
			host,
			call
		});
		for (const chunk of request.output) {
			const receive = chunk.stream === "stdout" ? onStdout : onStderr;
			if (receive !== void 0) this.#clock.at(chunk, () => receive(Buffer.from(chunk.text)));
		}
		await this.#clock.until(request.ended);
		const streams = {
			stdout: onStdout === void 0 ? outputOf(request, "stdout") : "",
			stderr: onStderr === void 0 ? outputOf(request, "stderr") : ""
		};
		const { outcome } = request.ended;
		if (outcome.kind === "exited" || outcome.kind === "signaled") return {
			...outcome,
			...streams
		};
		resultOf(outcome);
		throw new TypeError("A command was done without having ended.");
	}
	async #connect(label, name) {
		await this.#result(label, { what: "connect" });
		const run = (command, options = {}) => this.#run(label, command, options);
		const close = async () => {};
		return {
			name,
			run,
			output: async (command, options) => stdoutOf(await run(command, options), name, command),
			upload: async (_, path, mode) => {
				await this.#result(label, {
					what: "upload",
					path,
					mode,
					bytes: 0,
					sha256: ""
				});
			},
			close,
			[Symbol.asyncDispose]: close
		};
	}
	async #openPower() {
		const power = (order) => this.#result("power", {
			what: "power",
			order
		});
		await power("open");
		return {
			state: async () => await power("state") === "off" ? "off" : "on",
			cycle: async () => void await power("cycle")
		};
	}
	/** Returns the result of a request about guests. */
	async ofGuest(host, order) {
		return parseJson(await this.#result(host, {
			what: "guest",
			order
		}));
	}
	/** Passes on a recorded console at its time; resolves with the reason of its end. */
	hear(host, onOutput) {
		const output = {
			host,
			call: {
				what: "console",
				order: "hear"
			}
		};
		const printed = this.#pending.get(keyOf(output))?.shift();
		const chunks = [...printed?.output ?? []];
		const ended = Promise.withResolvers();
		this.#clock.watch((now) => {
			while (chunks[0] !== void 0 && chunks[0].at <= now) onOutput(Buffer.from(chunks.shift()?.text ?? ""));
			if (printed?.ended !== void 0 && printed.ended.at <= now) ended.resolve(resultOf(printed.ended.outcome));
		});
		return ended.promise;
	}
};
/** Ignores the random parts of paths, and the length of sleeps. */
function keyOf({ host, call }) {
	const text = textOf(call).replace(/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/gi, "…");
	return `${host}\n${call.what}\n${text}`;
}
function textOf(call) {
	switch (call.what) {
		case "run": return call.command;
		case "upload": return call.path;
		case "power":
		case "console":
		case "guest": return call.order;
		default: return "";
	}
}
function resultOf(outcome) {
	if (outcome.kind === "done") return outcome.said ?? "";
	if (outcome.kind !== "failed") return "";
	const { failure, message } = outcome;
	if (failure === "PowerError") throw new PowerError(message);
	if (failure === "ConsoleError") throw new ConsoleError(message);
	if (failure === "KernelFilesError") throw new KernelFilesError(message);
	const kind = hostFailures.find((one) => one === failure);
	throw kind === void 0 ? new Error(message) : new HostError(kind, message);
}
/** Runs each event once the code has reacted to the one before; one turn stays one turn. Time never runs back. */
var ReplayClock = class {
	now;
	#isRunning = false;
	#events = [];
	#watchers = [];
	constructor(start) {
		this.now = start;
	}
	/** Calls `onTime` before each event. */
	watch(onTime) {
		this.#watchers.push(onTime);
	}
	until(moment) {
		return new Promise((resolve) => this.at(moment, resolve));
	}
	at(moment, act) {
		this.#events.push({
			...moment,
			act
		});
		this.#run();
	}
	async #run() {
		if (this.#isRunning) return;
		this.#isRunning = true;
		while (this.#events.length > 0) {
			for (let turn = 0; turn < turnsToSettle; turn += 1) await nextTurn();
			this.#events.sort((one, other) => one.at - other.at || one.line - other.line);
			const turn = this.#events[0]?.turn;
			do {
				const next = this.#events.shift();
				if (next === void 0) break;
				this.now = Math.max(this.now, next.at);
				for (const onTime of this.#watchers) onTime(this.now);
				next.act();
			} while (this.#events[0]?.turn === turn && turn !== void 0);
		}
		this.#isRunning = false;
	}
};
/** Chained promises have settled by then. */
const turnsToSettle = 4;
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

// src/gate/recording/stand-in-kernels.ts
/** Runs `work` on the recorded machines, and returns how its requests differ from the recorded ones. */
async function replayWork(requests, { testbed, token }, variants, work) {
	const folder = await mkdtemp(join(tmpdir(), "ppsgate-replay-"));
	try {
		if (variants.length > mostVariants) throw new UsageError(`The recording has kernels of ${variants.length} variants, and no experiment has more than ${mostVariants}: it is not replayed.`);
		const kernels = [];
		let freeBytes = mostBytesOfAll;
		for (const variant of variants) {
			const uploaded = uploadedKernel(variant, requests);
			const same = kernels.find(({ recordedSha256 }) => recordedSha256 !== "" && recordedSha256 === uploaded.sha256);
			if (same !== void 0) {
				kernels.push({
					...same,
					variant
				});
				continue;
			}
			const path = join(folder, `${kernels.length}.tar`);
			const sha256 = await makeStandIn(path, Math.min(uploaded.bytes, freeBytes, mostBytes));
			kernels.push({
				variant,
				path,
				sha256,
				recordedSha256: uploaded.sha256
			});
			freeBytes -= (await stat(path)).size;
		}
		const machines = new ReplayedMachines(withStandInSums(requests, kernels));
		const lease = {
			token: token ?? 0,
			assertHeld() {},
			prove: async () => {}
		};
		const deps = token === void 0 || testbed.kind === "virtual" ? machines.deps : fencedDeps(machines.deps, testbed, lease);
		const differences = [];
		try {
			await work({
				machines,
				deps,
				kernels,
				folder
			});
		} catch (error) {
			differences.push(broken(error));
		}
		return [...differences, ...requestDifferences(machines)];
	} finally {
		await rm(folder, {
			recursive: true,
			force: true
		});
	}
}
/** The name of the file makes its sum unique; returns that. */
async function makeStandIn(path, bytes) {
	await using file = await open(path, "w");
	await file.write(basename(path));
	await file.truncate(bytes);
	const hash = createHash("sha256");
	await pipeline(createReadStream(path), hash);
	return hash.digest("hex");
}
/** Stand-ins are sparse, but hashed. */
const mostBytes = 1024 ** 3;
const mostBytesOfAll = 2 * mostBytes;
const mostVariants = 100;
/** Recognizes a kernel's upload by the folder or boot environment that its machine's next command names. */
function uploadedKernel(variant, requests) {
	const name = `ppsgate.${variant.replace(/[^\w.-]+/g, "-")}`;
	const isNamed = new RegExp(`${name.replaceAll(".", "\\.")}(?![\\w-])`);
	/** By host, as machines are prepared concurrently. */
	const next = /* @__PURE__ */ new Map();
	let found = {
		sha256: "",
		bytes: 1
	};
	for (const { host, call } of requests.toReversed()) {
		const text = commandOf(call);
		if (/\bppsgate\.(?!sha256)/.test(text)) next.set(host, text);
		const sha256 = call.what === "upload" ? kernelPath.exec(call.path)?.[1] : void 0;
		if (sha256 === void 0 || call.what !== "upload") continue;
		if (isNamed.test(next.get(host) ?? "")) found = {
			sha256,
			bytes: call.bytes
		};
	}
	return found;
}
const kernelPath = /\/([0-9a-f]{64})\.tar$/;
const commandOf = (call) => call.what === "run" ? call.shown ?? call.command : "";
/** Replaces the sums of recorded kernels by those of their stand-ins. */
const replaceSums = (text, kernels) => kernels.reduce((replaced, { recordedSha256: recorded, sha256 }) => recorded === "" ? replaced : replaced.replaceAll(recorded, sha256), text);
const withStandInSums = (requests, kernels) => requests.map((request) => ({
	...request,
	call: JSON.parse(replaceSums(JSON.stringify(request.call), kernels)),
	output: request.output.map((chunk) => ({
		...chunk,
		text: replaceSums(chunk.text, kernels)
	}))
}));

// src/gate/recording/replay-check.ts
async function replayCheck({ request, requests, outcomes }) {
	const { data: check } = checkRequest.safeParse(request);
	if (check === void 0) return unreadable("check");
	const diagnostics = [];
	const differences = await replayWork(requests, { testbed: check.testbed }, [], async ({ deps }) => {
		const checkDeps = {
			...deps,
			notify() {},
			signal: new AbortController().signal
		};
		for await (const diagnostic of checkFreebsdTestbed(check, checkDeps)) diagnostics.push(diagnostic);
	});
	const recorded = outcomes.map(({ value }) => value);
	differences.push(...diagnosticDifferences(recorded, diagnostics));
	return {
		diagnostics,
		differences
	};
}

// src/gate/recording/replay-self-test.ts
async function replaySelfTest({ request, requests, outcomes }) {
	const { data: selfTest } = selfTestRequest.safeParse(request);
	if (selfTest === void 0) return unreadable("self-test");
	const reports = outcomes.flatMap(({ value, after }) => {
		const { data } = selfTestReport.safeParse(value);
		return data === void 0 ? [] : [{
			...data,
			after
		}];
	});
	const consents = reports.flatMap((report) => "agreed" in report ? report.agreed : []);
	const recorded = reports.flatMap((report) => "diagnostic" in report ? report : []);
	const diagnostics = [];
	const differences = await replayWork(requests, selfTest, ["base"], async (run) => {
		const { machines, deps, kernels, folder } = run;
		const { name, testbed, config, rules, skip, journal } = selfTest;
		await writeFile(journalIn(folder), journal.join("\n"));
		const replayed = runSelfTest({
			name,
			testbed,
			config,
			rules,
			directory: folder,
			baseKernel: kernels[0]?.path,
			skip: new Set(skip),
			journal: resumeJournal(folder, name)
		}, {
			...deps,
			agrees: async () => consents.shift() ?? false,
			notify() {},
			keepLog: async () => {},
			history: { append: async () => {} },
			signal: new AbortController().signal
		});
		for await (const diagnostic of replayed) {
			diagnostics.push(diagnostic);
			const same = recorded.find(({ diagnostic: { what } }) => what === diagnostic.what);
			if (same !== void 0) machines.skipTo(same.after);
		}
	});
	const then = recorded.map(({ diagnostic }) => diagnostic);
	const isReplayed = ({ what }) => what !== "the kernel of base";
	differences.push(...diagnosticDifferences(then.filter(isReplayed), diagnostics.filter(isReplayed), withoutDurations));
	return {
		diagnostics,
		differences
	};
}
/** A replay does not keep the time between two requests. */
const withoutDurations = (text) => text.replace(/\b(?:under )?\d+ (?:min|s|h|days)\b/g, "…");

// src/gate/recording/replay-guests.ts
const kernelFiles = object({
	image: path$1,
	modules: path$1,
	atBoot: list(name$1, 1e3),
	version: document
});
const windowsOutcome = discriminatedUnion("kind", [object({
	kind: literal$1("sent"),
	log: document
}), object({
	kind: literal$1("broken"),
	log: document,
	lastLine: document
})]);
const booted = object({ commandLine: document });
const mostConsoleBytes = 1024 ** 2;
function replayedGuests(machines) {
	const guestOf = (number) => {
		const host = guestHost(number);
		const tape = new ConsoleTape(mostConsoleBytes);
		const listeners = /* @__PURE__ */ new Set();
		const ended = machines.hear(host, (piece) => {
			tape.write(piece);
			for (const onOutput of listeners) onOutput(piece);
		});
		return {
			number,
			address: {
				host: wireAddress,
				port: portOf(number)
			},
			interfaces: {
				sender: "",
				receiver: ""
			},
			counts: void 0,
			consoleInput: void 0,
			cpuThread: "",
			ended,
			console: () => tape.text(),
			listen(onOutput) {
				listeners.add(onOutput);
				return () => void listeners.delete(onOutput);
			},
			async pinTo() {},
			async interrupt() {
				await machines.ofGuest(host, "interrupt");
			},
			async reset() {
				await machines.ofGuest(host, "reset");
			},
			async stop() {}
		};
	};
	const lab = {
		folder: "",
		kernel: async () => kernelFiles.parse(await machines.ofGuest(thisMachine, "kernel")),
		async boot(number) {
			const answer = await machines.ofGuest(guestHost(number), "boot");
			const { commandLine } = booted.parse(answer);
			const up = machines.ofGuest(guestHost(number), "up").then(() => {});
			up.catch(() => {});
			return {
				...guestOf(number),
				commandLine,
				up
			};
		},
		async bootImage(number) {
			await machines.ofGuest(guestHost(number), "boot");
			return guestOf(number);
		},
		login: ({ address }) => ({
			...address,
			...access$1
		}),
		loginTo: async (_, { address }) => ({
			...address,
			...access$1
		}),
		async down() {}
	};
	return {
		up: async () => lab,
		facts: async () => facts.parse(await machines.ofGuest(thisMachine, "facts")),
		sendWindows: async () => windowsOutcome.parse(await machines.ofGuest(thisMachine, "windows"))
	};
}
const access$1 = {
	user: "root",
	knownHostsPath: "/dev/null"
};

// src/gate/recording/replay-testbed.ts
async function replayTestbed({ request, requests, outcomes }) {
	const { data: opened } = testbedRequest.safeParse(request);
	if (opened === void 0) return unreadable("testbed");
	const calls = outcomes.flatMap(({ value, after }) => {
		const { data: call } = testbedCall.safeParse(value);
		return call === void 0 ? [] : [{
			call,
			after
		}];
	});
	const variants = new Set(calls.flatMap(({ call }) => archivesOf(call)));
	const differences = [];
	const work = await replayWork(requests, opened, [...variants], async (run) => {
		const { machines, deps, kernels } = run;
		const { name, testbed, traffic } = opened;
		const replayed = testbed.kind === "virtual" ? await openVirtualTestbed(name, testbed, traffic, deps, replayedGuests(machines)) : await openFreebsdTestbed(name, testbed, traffic, deps);
		for (const { call, after } of calls) {
			if (testbed.kind === "virtual" && call.call === "profile") {
				machines.skipTo(after);
				continue;
			}
			const outcome = await outcomeOf(replayed, call, kernels);
			differences.push(...outcomeDifference(call, outcome, kernels));
			const isAhead = call.call === "inspect" || call.call === "prepare";
			if (testbed.kind !== "virtual" || !isAhead) machines.skipTo(after);
		}
	});
	return {
		diagnostics: [],
		differences: [...differences, ...work]
	};
}
const archivesOf = (call) => call.call === "prepare" ? call.variants.flatMap(({ variant, boots }) => boots === "archive" ? variant : []) : [];
const signal = new AbortController().signal;
const keepLog = async () => {};
async function outcomeOf(testbed, call, kernels) {
	try {
		switch (call.call) {
			case "inspect": return await testbed.inspect(call.cells);
			case "prepare": {
				const variants = call.variants.map(({ variant }) => variantOf(variant, kernels));
				const rules = call.rules;
				return await testbed.prepare({
					variants,
					cells: call.cells,
					rules,
					keepLog,
					notify() {},
					signal
				});
			}
			case "trial": return await testbed.trial(call.planned, keepLog, signal);
			case "profile": return await testbed.profile(call.request, keepLog, signal);
			case "restore": return await testbed.restore();
		}
	} catch (error) {
		return thrown(error);
	}
}
function variantOf(variant, kernels) {
	const kernel = kernels.find((one) => one.variant === variant);
	const common = {
		variant,
		commit: "",
		files: []
	};
	if (kernel === void 0) return common;
	return {
		...common,
		kernel: {
			kind: "archive",
			path: kernel.path,
			sha256: kernel.sha256
		}
	};
}
function outcomeDifference({ call, outcome: then }, now, kernels) {
	const text = (value) => JSON.stringify(value ?? null, (key, one) => key === "startedAt" || key === "bootSeconds" ? void 0 : one);
	const before = replaceSums(text(then), kernels);
	const after = text(JSON.parse(text(now)));
	if (before === after) return [];
	const at = firstDifference(before, after);
	const excerpt = (json) => shortened(json.slice(Math.max(0, at - 30), at + 50));
	return [{
		kind: "made-otherwise",
		sentence: oneLine(`what came of \`${call}\` was "…${excerpt(before)}" then, and is "…${excerpt(after)}" now`)
	}];
}
function firstDifference(one, other) {
	let at = 0;
	while (at < one.length && one[at] === other[at]) at += 1;
	return at;
}

// src/gate/recording/replay.ts
async function replay(recording) {
	const { head, isTorn, requests } = recording;
	const differences = requests.flatMap((request) => {
		const why = unexpectedOutput(request);
		return why === void 0 ? [] : [differenceAt("not-understood", request, why)];
	});
	const diagnostics = [];
	for (const part of partsOf(recording)) {
		const replayed = await replayPart(part);
		diagnostics.push(...replayed.diagnostics);
		differences.push(...replayed.differences);
	}
	return {
		head,
		isTorn,
		diagnostics,
		questions: requests.filter(({ call }) => call.what !== "sleep").length,
		hosts: [...new Set(requests.map(({ host }) => host))].filter((host) => host !== "clock"),
		differences: differences.toSorted((one, other) => (one.number ?? Number.MAX_VALUE) - (other.number ?? Number.MAX_VALUE))
	};
}
async function replayPart(part) {
	switch (part.name) {
		case "check": return replayCheck(part);
		case "self-test": return replaySelfTest(part);
		case "testbed": return replayTestbed(part);
		default: return {
			diagnostics: [],
			differences: []
		};
	}
}
/** Outcomes of a part come before the next part begins; its requests may come until it begins again. */
function partsOf({ events, requests }) {
	return events.flatMap(({ kind, part, value, after }, index) => {
		if (kind !== "begins") return [];
		const later = events.slice(index + 1);
		const next = later.findIndex((event) => event.kind === "begins");
		const own = next === -1 ? later : later.slice(0, next);
		const again = later.find((event) => event.kind === "begins" && event.part === part);
		return [{
			name: part,
			request: value,
			outcomes: own.filter((event) => event.part === part),
			requests: requests.slice(after, again?.after)
		}];
	});
}

// src/gate/recording/recorded-self-test.ts
/** Runs the self-test; `deps` are the recorder's, `token` is that of the lease. */
async function* recordedSelfTest(recorder, request, deps, token) {
	const { name, testbed, config, rules, skip, journal } = request;
	const { scenarios, families, frameSizes, traffic, profile, gate } = config;
	recorder.begin("self-test", {
		...recordable({
			name,
			testbed
		}),
		config: {
			scenarios,
			families,
			frameSizes,
			traffic,
			profile,
			gate
		},
		rules,
		skip: [...skip],
		journal: journal.lines(),
		token
	});
	const agrees = async (question) => {
		const agreed = await deps.agrees(question);
		recorder.log("self-test", { agreed });
		return agreed;
	};
	for await (const diagnostic of runSelfTest(request, {
		...deps,
		agrees
	})) {
		recorder.log("self-test", { diagnostic });
		yield diagnostic;
	}
}

export { isRecordable, readRecording, recordTo, recordable, recordedSelfTest, recordedTestbed, replay };