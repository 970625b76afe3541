import { parseJson, reasonOf } from "../../model/first-plain.js";
import { commandText, shell } from "../../system/shell.js";
import { HostError } from "../../system/host/first-plain.js";
import { imagesFolder } from "../../lab/qemu/first-plain.js";
const { closeSync, openSync, realpathSync, writeSync } = globalThis.process.getBuiltinModule("node:fs");
const { homedir, hostname, userInfo } = globalThis.process.getBuiltinModule("node:os");
const { StringDecoder } = globalThis.process.getBuiltinModule("node:string_decoder");
const { isIPv4, isIPv6 } = globalThis.process.getBuiltinModule("node:net");
const { constants: constants$2, crc32, deflateRawSync } = globalThis.process.getBuiltinModule("node:zlib");
const { createHash } = globalThis.process.getBuiltinModule("node:crypto");
const { readFile } = globalThis.process.getBuiltinModule("node:fs/promises");

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
* Writes one stream of deflate, whose blocks refer to earlier texts: with a member for each text, recordings were four
* to five times as large. The next text replaces the trailer in one write, so that a killed process leaves all earlier
* texts.
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
			level: constants$2.Z_BEST_COMPRESSION,
			memLevel: constants$2.Z_MAX_MEMLEVEL,
			finishFlush: constants$2.Z_SYNC_FLUSH,
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
	/** Returns an empty last block, the checksum and the size. */
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
/** Matches printable ASCII only, as names, addresses and keys consist of it. */
const encoded = /%([2-7][0-9a-f])|\\u00([2-7][0-9a-f])|\\x([2-7][0-9a-f])|\\+(\/)/gi;
const isEncoded = new RegExp(encoded.source, "i");
function decodeOnce(before) {
	const pieces = [];
	/** From index `from` of the new text, the old text is `by` characters longer. */
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
/** True for our addresses in virtual testbeds; see qemu/vm/addresses.ts. */
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
/** Also matches before a dot: netstat(1) writes the port after a fifth one. */
const ipv4 = (address) => anyMatch(/(?<!\d)(?:(?:25[0-5]|2[0-4]\d|[01]?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|[01]?\d?\d)(?!\d)/g, address.inet4);
const mac = (address) => anyMatch(/(?<![0-9a-f])[0-9a-f]{1,2}([:-])(?:[0-9a-f]{1,2}\1){4}[0-9a-f]{1,2}(?![0-9a-f])/gi, address.mac);
/** Finds the longest address from each group, as the end of a word may look like a short one. */
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
/** Finds a machine's own name in the output of rc(8), getty(8), syslogd(8), savecore(8), uname(1) and sendmail(8). */
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
/** Shorter secrets occur in ordinary words. */
const shortestSecret = 5;
/** Longer texts are keys, which are no arguments of commands: few encodings keep the mask fast. */
const maxLinesOfPassword = 4;
/** Returns each line of a secret and the whole, plain and encoded; without the armour of a key. */
function secretForms(secret) {
	const lines = secret.split(/\r?\n/).map((line) => line.trim());
	const texts = [.../* @__PURE__ */ new Set([
		...lines,
		secret.trim(),
		secret
	])].filter((text) => text.length >= shortestSecret && !text.startsWith("-----"));
	const isPassword = lines.length <= maxLinesOfPassword;
	return texts.flatMap((text) => [
		text,
		...isPassword ? [...quotedForms(text), ...hexForms(text)] : [hexOf(text)],
		...base64Forms(text)
	]).filter(({ length }) => length >= shortestSecret);
}
/** Encodes for quotes of JSON, a shell, and XML. */
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
/**
* Encodes in the alphabets of files and of URLs, also within a longer text, where a secret may begin at any of three
* positions.
*/
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
* netmasks and root stay: they are the same in every lab, and the code depends on them. Once a machine prints its own
* name, replaces that name everywhere from there on.
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
/** Words that machines use as names, and words of the code in its commands: they identify no lab. */
const common = new Set("root toor admin operator freebsd nobody daemon ppsgate user host localhost dut sender receiver builder forwarding kernel active status boot example git.freebsd.org amnesiac generic base patched ipfw test guest main last".split(" "));
/** FreeBSD's `rc.conf.local` and `periodic.conf.local` look like domain names. */
const commonFile = /^(?:\w+\.)*(?:conf|rc)\.local$/;
const isIdentifying = (name) => name.length > 2 && !common.has(name.toLowerCase()) && !commonFile.test(name);
/** Rejects placeholders of a firmware without a serial number, which are only words. */
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
* Runs plain commands that change nothing and are not recorded. Omits anything that the machine does not answer; the
* first lost connection ends it. The mask then knows names and serial numbers only by their form.
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
/** Exceeds each of these files on a testbed; a longer answer is truncated. */
const maxLetters = 262144;
async function answerOf(host, command) {
	try {
		const outcome = await host.run(command, { timeoutSeconds });
		return outcome.kind === "exited" && outcome.code === 0 ? outcome.stdout.slice(0, maxLetters) : "";
	} catch {
		return;
	}
}
const matches = (text, pattern) => [...text.matchAll(pattern)].flatMap(({ groups, 1: first }) => groups?.hidden ?? first ?? []);
const wordsOf = (text) => text.split(/\s+/).filter(Boolean);
/** Reads settings of rc.conf(5): the name, and secrets such as `pass` of carp(4). */
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
/** Limit per stream of a command: exceeds the graph of a profile. */
const maxOutputBytes = 16 * 1024 ** 2;
/** The mask needs whole lines; a longer line is omitted, with everything after it. */
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
/** A split private key can no longer be recognized by its first line. */
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
		logConsole(guest, recording.request(host, {
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
function logConsole(guest, log) {
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
/** Returns values that are secrets by their variable's name, or look random. */
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
/** Returns Cisco's dotted form, and only the digits. */
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

export { GzipLog, OutputLines, endStream, failureOf, fromVersion1, guestHost, learnFrom, logged, maskFor, maskSummary, recordedGuests, sensitiveTermsOf, thisMachine };