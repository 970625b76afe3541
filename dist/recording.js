import { version } from "./package.js";
import { UsageError, families, fromJson, oneLine, reasonOf, shortened } from "./words.js";
import { _enum, array, boolean, discriminatedUnion, literal as literal$1, looseObject, number$1 as number, object, partialRecord, record, string, union, unknown } from "./vendor/zod.js";
import { HostError, commandText, stdoutOf } from "./host.js";
import { PowerError } from "./power.js";
import { ConsoleError } from "./console.js";
import { fencedWorld, openFreebsdTestbed } from "./testbed.js";
import { parseArp, parseCpuTimes, parseIfconfig, parseInterfaceCounters, parseNdp, parseRoutes } from "./dut.js";
import { parsePktGenLog } from "./traffic.js";
import { checkFreebsdTestbed } from "./checkup.js";
import { journalIn, rehearsalParts, rehearse, resumeJournal } from "./rehearsal.js";
import { join } from "node:path";
import { appendFileSync, createReadStream, readFileSync, writeFileSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { isIPv4, isIPv6 } from "node:net";
import { constants as constants$1, gunzipSync, gzipSync } from "node:zlib";
import { createHash } from "node:crypto";
import { mkdtemp, open, readFile, rm, stat, writeFile } from "node:fs/promises";
import { hostname, tmpdir, userInfo } from "node:os";
import { pipeline } from "node:stream/promises";

// src/recording/known.ts
/** Reads the files of secrets that the testbed names; one that cannot be read has none. */
async function knownOf({ dut, senders, receiver, builder }, environment = process.env) {
	const machines = [
		dut,
		...senders,
		receiver,
		...builder === void 0 ? [] : [builder]
	];
	const keys = machines.flatMap(({ privateKeyPath }) => privateKeyPath ?? []);
	const { power, console } = dut;
	const passwords = [power, console].map((one) => one !== void 0 && "passwordPath" in one ? one.passwordPath : void 0);
	const files = [.../* @__PURE__ */ new Set([...keys, ...passwords.flatMap((path) => path ?? [])])];
	const macs = [...senders, receiver].map(({ mac }) => mac);
	return {
		secrets: [
			...await Promise.all(files.map((path) => readFile(path, "utf8").catch(() => ""))),
			...secretsIn(environment),
			...wordsOf$1(power),
			...secretWords(console?.kind === "command" ? console.command : []),
			...macs.flatMap(otherForms)
		],
		hosts: [
			...machines.map(({ host }) => host),
			...[power, console].map(hostOf),
			hostname()
		].flatMap(namesOf),
		users: [
			...machines.map(({ user }) => user),
			...[power, console].map(userOf),
			userInfo().username
		],
		others: new Map(machines.map(({ knownHostsPath }) => [knownHostsPath, "/dev/null"]))
	};
}
/** Values that are secrets by their names, or because nobody would write such a thing by hand. */
function secretsIn(environment) {
	return Object.entries(environment).flatMap(([name, value = ""]) => {
		const isNamed = /pass|secret|token|key|auth|cred|cookie/i.test(name) && !isPlace(value);
		if (/^(?:true|false)$/i.test(value)) return [];
		const isRandom = /^(?=.*\d)(?=.*[a-z])[\w+=.~-]{16,}$/i.test(value);
		return isNamed || isRandom ? [value] : [];
	});
}
const isPlace = (value) => /^[./]/.test(value) || /^https?:/.test(value);
/** An argument may be a password; one that is a plain word would be found in every output. */
function wordsOf$1(power) {
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
/** Cisco's, and none at all between the digits. */
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
function hostOf(one) {
	if (one !== void 0 && "url" in one) return new URL(one.url).hostname;
	return one !== void 0 && "host" in one ? one.host ?? "" : "";
}
const userOf = (one) => one !== void 0 && "user" in one ? one.user : "";
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

// src/recording/entry.ts
const recordingVersion = 1;
/** What makes a file one of ours, in its first line. */
const recordingFormat = "ppsgate recording";
const headSchema = object({
	kind: literal$1("head"),
	format: literal$1(recordingFormat),
	version: literal$1(1),
	/** Version of what recorded. */
	ppsgate: string(),
	/** `testbeds check`. */
	command: string(),
	date: string()
});
const at = number();
const stream = _enum(["stdout", "stderr"]);
/** What was asked of the world: by a connection of that label, of the power, or of the console. */
const asked = discriminatedUnion("what", [
	object({ what: literal$1("connect") }),
	object({
		what: literal$1("run"),
		command: string(),
		shown: string().optional()
	}),
	object({
		what: literal$1("upload"),
		path: string(),
		mode: number(),
		bytes: number(),
		sha256: string()
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
		seconds: number()
	})
]);
const answer = discriminatedUnion("kind", [
	object({
		kind: literal$1("exited"),
		code: number()
	}),
	object({
		kind: literal$1("signaled"),
		signal: string()
	}),
	object({
		kind: literal$1("done"),
		said: string().optional()
	}),
	object({
		kind: literal$1("failed"),
		failure: string(),
		message: string()
	})
]);
/** Times are in seconds since 1970, by the clock of the machine that recorded. */
const entrySchema = discriminatedUnion("kind", [
	object({
		kind: literal$1("begins"),
		at,
		part: string(),
		request: unknown()
	}),
	object({
		kind: literal$1("tells"),
		at,
		part: string(),
		outcome: unknown()
	}),
	object({
		kind: literal$1("asks"),
		at,
		id: number(),
		host: string(),
		asked
	}),
	object({
		kind: literal$1("hears"),
		at,
		id: number(),
		stream,
		text: string()
	}),
	object({
		kind: literal$1("cut"),
		at,
		id: number(),
		stream,
		bytes: number(),
		sha256: string()
	}),
	object({
		kind: literal$1("ends"),
		at,
		id: number(),
		answer
	})
]);

// src/recording/decoded.ts
/** Reads `%3A`, `\u003a` and `\/`, also where that was done several times over. */
function decoded(original) {
	let found = {
		text: original,
		at: (index) => index
	};
	for (let round = 0; round < mostRounds; round += 1) {
		if (!isEncoded.test(found.text)) return found;
		found = decodedOnce(found);
	}
	return found;
}
const mostRounds = 4;
/** Printable ASCII alone: all that a name, an address or a key is made of. */
const encoded = /%([2-7][0-9a-f])|\\u00([2-7][0-9a-f])|\\x([2-7][0-9a-f])|\\+(\/)/gi;
const isEncoded = new RegExp(encoded.source, "i");
function decodedOnce(before) {
	const pieces = [];
	/** Index in the new text from which on so many characters were left out of the old one. */
	const shifts = [];
	let length = 0;
	let read = 0;
	for (const match of before.text.matchAll(encoded)) {
		const [whole, percent, json, hex, slash] = match;
		const code = percent ?? json ?? hex;
		const character = slash ?? String.fromCharCode(Number.parseInt(code ?? "", 16));
		pieces.push(before.text.slice(read, match.index), character);
		length += match.index - read + 1;
		read = match.index + whole.length;
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

// src/recording/mask.ts
/**
* What counts: addresses of the benchmarking networks, loopback, netmasks and root stay, as all that depends on them is
* the same for everybody. Addresses become those of RFC 5737, RFC 3849 and RFC 7042.
*/
function maskFor(known) {
	const rules = rulesFor(known);
	return (text) => {
		const { text: readable, at } = decoded(text);
		const found = [];
		let left = readable;
		for (const rule of rules) {
			const now = rule(left);
			if (now.length === 0) continue;
			found.push(...now);
			left = without(left, now);
		}
		return replaced(text, at, found);
	};
}
/** What stands in the place of what was found: no rule knows it. */
const blank = "\0";
function without(text, found) {
	let rest = "";
	let read = 0;
	for (const { from, to } of found) {
		rest += text.slice(read, from) + blank.repeat(to - from);
		read = to;
	}
	return rest + text.slice(read);
}
function replaced(text, at, found) {
	let masked = "";
	let read = 0;
	for (const { from, to, by } of found.toSorted((one, other) => one.from - other.from)) {
		masked += text.slice(read, at(from)) + by;
		read = at(to);
	}
	return masked + text.slice(read);
}
function rulesFor({ secrets, hosts, users, others = /* @__PURE__ */ new Map() }) {
	const hostOf = standIns((number) => `host-${number}.example`);
	const userOf = standIns((number) => `user-${number}`);
	const secretOf = standIns((number) => `secret-${number}`);
	const uuidOf = standIns((number) => `00000000-0000-4000-8000-${number.toString(16).padStart(12, "0")}`);
	const serialOf = standIns((number) => `SERIAL${number}`);
	const keyOf = standIns((number) => `AAAA-public-key-${number}`);
	const address = addressStandIns();
	const longSecrets = secrets.flatMap(forms).filter(({ length }) => length >= shortestSecret);
	return [
		literal([...others.keys()], (text) => others.get(text) ?? ""),
		literal(longSecrets, secretOf, { isAnywhere: true }),
		whole(/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, secretOf),
		...tokens.map((pattern) => firstGroup(pattern, secretOf)),
		firstGroup(/\b(?:ssh-[a-z0-9]+|ecdsa-sha2-\S{1,20}|sk-\S{1,40}) +(AAAA[\w+/=]{8,}(?: [^\n]{1,200})?)/g, keyOf),
		firstGroup(/\bSHA256:([\w+/]{43}=?)/g, keyOf),
		whole(/(?<![0-9a-f])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?![0-9a-f])/gi, (text) => uuidOf(text.toLowerCase())),
		...serials.map((pattern) => firstGroup(pattern, serialOf)),
		literal(hosts.filter((name) => isTelling(name) && !isAddress(name)), (name) => hostOf(name.toLowerCase())),
		ipv6(address),
		mac(address),
		ipv4(address),
		cutOff,
		firstGroup(/(?<![\w.-])([\w.+-]{1,64})@(?!pci\d)[a-z][\w.-]{0,252}/gi, (name) => isTelling(name) ? userOf(name) : name),
		firstGroup(/@(?!pci\d)([a-z][\w-]{0,62}(?:\.[\w-]{1,63}){0,8})/gi, (name) => hostOf(name.toLowerCase())),
		whole(domainName, (name) => isTelling(name) ? hostOf(name.toLowerCase()) : name),
		firstGroup(/\/(?:home|Users)\/([\w.-]{1,64})/g, (name) => isTelling(name) ? userOf(name) : name),
		literal(users.filter(isTelling), userOf)
	];
}
/** Shorter ones would be found in every other word. */
const shortestSecret = 5;
/** Each line of a secret that has several is one by itself; an encoding has the same secret in it. */
function forms(secret) {
	const lines = secret.split(/\r?\n/).map((line) => line.trim());
	const encodings = [...lines, secret].map((line) => Buffer.from(line).toString("base64"));
	return [...lines, ...encodings.map((text) => text.replace(/=+$/, ""))].filter((line) => !line.startsWith("-----"));
}
/** Names that everybody has. */
const common = new Set("root toor admin operator freebsd nobody daemon ppsgate user host localhost dut sender receiver builder forwarding kernel active status boot example git.freebsd.org".split(" "));
/** Files of every FreeBSD, like `rc.conf.local` and `periodic.conf.local`, have the form of a domain. */
const commonFile = /^(?:\w+\.)*(?:conf|rc)\.local$/;
const isTelling = (name) => name.length > 2 && !common.has(name.toLowerCase()) && !commonFile.test(name);
const isAddress = (name) => isIPv4(name) || isIPv6(name) || isIPv6(name.replace(/%.*/, ""));
/** Numbered in the order in which they are met. */
function standIns(make) {
	const known = /* @__PURE__ */ new Map();
	return (text) => {
		const standIn = known.get(text) ?? make(known.size + 1);
		known.set(text, standIn);
		return standIn;
	};
}
/** The longest of them first; whole words, unless they are to be found anywhere. */
function literal(texts, by, { isAnywhere = false } = {}) {
	const known = [...new Set(texts)].filter(Boolean).toSorted((a, b) => b.length - a.length);
	if (known.length === 0) return () => [];
	const any = known.map((text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("|");
	return isAnywhere ? whole(new RegExp(any, "g"), by) : whole(new RegExp(`(?<![\\w-])(?:${any})(?![\\w-])`, "gi"), by);
}
const whole = (pattern, by) => (text) => [...text.matchAll(pattern)].map((match) => ({
	from: match.index,
	to: match.index + match[0].length,
	by: by(match[0])
}));
/** Only what the pattern's first group matches is replaced. */
function firstGroup(pattern, by) {
	const indexed = new RegExp(pattern.source, `${pattern.flags}d`);
	return (text) => [...text.matchAll(indexed)].flatMap(({ indices }) => {
		const [from = 0, to = 0] = indices?.[1] ?? [];
		return from === to ? [] : [{
			from,
			to,
			by: by(text.slice(from, to))
		}];
	});
}
/** What is secret by its own form, or by the word before it. */
const tokens = [
	/\b(?:Basic|Bearer) +([\w+/=.~-]{8,})/g,
	/(?:pass(?:word|wd|phrase)?|secret|token|credentials?|api[_-]?key|authorization)["']?[ \t]*[:=][ \t]*["']?(?!basic |bearer )([^\s"'\0]{3,200})/gi,
	/\b((?:gh[pousr]_|github_pat_|glpat-|api-|cli-|xox[a-z]-)[\w-]{16,})/g,
	/\b(AKIA[0-9A-Z]{16})\b/g,
	/\b(eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*)/g,
	/(\$(?:1|2[abxy]?|5|6|7|y)\$[\w./$+=,-]{12,})/g,
	/:\/\/[^\s/:@\0]{1,64}:([^\s/@\0]{1,200})@/g
];
const serials = [/(?:serial(?:[ _-]?(?:numbers?|no|num))?|asset[ _-]?tag|\bs\/n|\.(?:serial|sn|tag))["']?[ \t]*(?:[:=]|[ \t]\d+[ \t])[ \t]*["']?([\w./-][\w. /-]{1,60}[\w/-]|[\w-]+)/gi, /\bserial(?: number)? +(?=[a-z-]{0,20}\d)([0-9a-z][0-9a-z-]{5,60})/gi];
/** Names that end as those of networks do: `net.inet.ip.forwarding` is none. */
const domainName = /(?<![\w.-])(?:[a-z0-9](?:[\w-]{0,62})\.){1,8}(?:com|org|net|edu|gov|mil|int|info|biz|io|lan|local|localdomain|internal|intranet|corp|home|arpa|lab|test|cloud|de|uk|fr|nl|jp|ch|at|se|no|dk|fi|it|es|eu|us|ca|au|br|cz|pl|ru|cn|kr|tw|be|ie|nz|za|in|il|ua|pt|gr|hu|ro)(?![\w-]|\.\w)/gi;
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
function numbering() {
	const known = /* @__PURE__ */ new Map();
	return (text) => {
		const number = known.get(text) ?? known.size;
		known.set(text, number);
		return number;
	};
}
/** RFC 5737. */
const documentation4 = [
	"192.0.2",
	"198.51.100",
	"203.0.113"
];
/** Loopback, the benchmarking networks of RFC 2544, netmasks and broadcast, and nothing at all. */
const isAllowed4 = ([a = 0, b = 0, c = 0, d = 0]) => a === 127 || a === 198 && (b === 18 || b === 19) || a === 255 || a === 224 && b === 0 && c === 0 || a === 0 && b === 0 && c === 0 && d === 0;
/** Loopback, nothing, RFC 5180's network, groups that everybody is in, and the network of links. */
function isAllowed6(groups) {
	const [first = 0, second = 0, third = 0] = groups;
	const isAlone = groups.slice(1, 7).every((group) => group === 0);
	if (first === 8193 && second === 2 && third === 0) return true;
	if (first === 0 && isAlone) return (groups[7] ?? 0) < 2;
	return isAlone && ((first & 65520) === 65280 || first === 65152 && groups[7] === 0);
}
/** The eight groups of a valid address. */
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
/** Four numbers in a row are one, whatever follows: netstat(1) writes a port behind a fifth dot. */
const ipv4 = (address) => whole(/(?<!\d)(?:(?:25[0-5]|2[0-4]\d|[01]?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|[01]?\d?\d)(?!\d)/g, address.inet4);
const mac = (address) => whole(/(?<![0-9a-f])[0-9a-f]{1,2}([:-])(?:[0-9a-f]{1,2}\1){4}[0-9a-f]{1,2}(?![0-9a-f])/gi, address.mac);
/** The longest address that each run of its letters has from its first group on; a word's end may look like a short one. */
const ipv6 = (address) => (text) => [...text.matchAll(/[0-9a-f:.]{3,}/gi)].flatMap(({ 0: run, index }) => {
	if (!run.includes(":")) return [];
	const found = [];
	for (let start = 0; start < run.length;) {
		const end = endOfAddress(run, start);
		const glued = start === 0 && /[g-z_]/i.test(text[index - 1] ?? "");
		const groups = run.slice(start, end).split(":").filter(Boolean).length;
		if (end !== void 0 && (!glued || groups > 2)) {
			const [from, to] = [index + start, index + end];
			found.push({
				from,
				to,
				by: address.inet6(run.slice(start, end))
			});
			start = end;
		} else start = nextGroup(run, start);
	}
	return found;
});
const longestAddress = 46;
function endOfAddress(run, start) {
	const most = Math.min(run.length, start + longestAddress);
	for (let end = most; end > start + 1; end -= 1) if ((end === run.length || /[:.]/.test(run[end] ?? "")) && mayBeAddress(run.slice(start, end))) return end;
}
/** Asks nobody where there are too few colons. */
function mayBeAddress(text) {
	const groups = text.split(":").length;
	if (groups > 9 || text.includes(":::") || groups < 7 && !text.includes("::")) return false;
	return isIPv6(text);
}
/** Also a colon that begins an address, and may end what stands before it. */
function nextGroup(run, start) {
	const next = run.slice(start + 1).search(/[:.]/);
	if (next === -1) return run.length;
	const at = start + 1 + next;
	return run[at] === ":" && run[at + 1] === ":" ? at : at + 1;
}
/** Half an address, as a long text has it where it was cut. */
const cutOff = whole(/(?:[\w-]{1,64}[.:@%]){1,16}[\w-]{0,64}(?=…)/g, () => "");

// src/recording/output-lines.ts
/** Most bytes of each stream of each command: more than a profile's graph has. */
const mostOutputBytes = 16 * 1024 ** 2;
/** A mask sees whole lines; a longer one is left out, with all that follows. */
const longestLineBytes = 1024 ** 2;
/** Half a line may hold half a secret, and half a key is none that is known again. */
function outputLines() {
	const decoder = new StringDecoder("utf8");
	let held = "";
	let kept = 0;
	let isOver = false;
	let leftBytes = 0;
	const hash = createHash("sha256");
	const leaveOut = (bytes) => {
		leftBytes += bytes.byteLength;
		hash.update(bytes);
	};
	return {
		take(chunk) {
			kept += chunk.byteLength;
			isOver ||= kept > mostOutputBytes || chunk.includes(0);
			if (isOver) {
				leaveOut(chunk);
				return "";
			}
			held += decoder.write(Buffer.from(chunk));
			const end = isInKey(held) ? 0 : held.lastIndexOf("\n") + 1;
			const lines = held.slice(0, end);
			held = held.slice(end);
			if (held.length > longestLineBytes) {
				leaveOut(Buffer.from(held));
				held = "";
				isOver = true;
			}
			return lines;
		},
		end: () => ({
			rest: isOver ? "" : held + decoder.end(),
			left: leftBytes === 0 ? void 0 : {
				bytes: leftBytes,
				sha256: hash.digest("hex")
			}
		})
	};
}
/** A private key is known by its first line, as far as it goes. */
function isInKey(text) {
	const begun = text.lastIndexOf("-----BEGIN ");
	return begun !== -1 && !text.slice(begun).includes("-----END ");
}

// src/recording/recorder.ts
/**
* Begins a recording; throws a UsageError where the file cannot be written, or is there. Each entry is a member of a
* gzip file of its own, and is in the file before anything else happens: whoever is killed leaves all of them.
*/
function startRecording(path, options) {
	const { command, ppsgate, known, now } = options;
	const mask = maskFor(known);
	let bytes = 0;
	let isOver = false;
	let last = 0;
	const write = (entry, flag = "a") => {
		const line = `${JSON.stringify(masked(entry, mask))}\n`;
		bytes += line.length;
		if (isOver || bytes > mostBytes$2) return;
		try {
			appendFileSync(path, gzipSync(line), { flag });
		} catch (error) {
			isOver = true;
			process.stderr.write(`warning: the recording ends here: ${reasonOf(error)}\n`);
		}
	};
	try {
		writeFileSync(path, "", {
			flag: "wx",
			mode: 384
		});
	} catch (error) {
		throw new UsageError(`--record: ${path} cannot be written (${reasonOf(error)}); name a file that is not there yet.`);
	}
	write({
		kind: "head",
		format: recordingFormat,
		version: 1,
		ppsgate,
		command,
		date: (/* @__PURE__ */ new Date(now() * 1e3)).toISOString()
	});
	const ask = (host, asked) => {
		last += 1;
		const id = last;
		write({
			kind: "asks",
			at: now(),
			id,
			host,
			asked
		});
		return {
			hears: (stream, text) => write({
				kind: "hears",
				at: now(),
				id,
				stream,
				text
			}),
			cut: (stream, left) => write({
				kind: "cut",
				at: now(),
				id,
				stream,
				...left
			}),
			ends: (answer) => write({
				kind: "ends",
				at: now(),
				id,
				answer
			})
		};
	};
	return {
		world: (world) => recorded(world, ask),
		begins: (part, request) => write({
			kind: "begins",
			at: now(),
			part,
			request
		}),
		tells: (part, outcome) => write({
			kind: "tells",
			at: now(),
			part,
			outcome
		})
	};
}
/** Most bytes of a whole recording, before it is compressed: it ends there. */
const mostBytes$2 = 192 * 1024 ** 2;
/** Every text in it, names of keys too. */
function masked(value, mask) {
	if (typeof value === "string") return mask(value);
	if (Array.isArray(value)) return value.map((one) => masked(one, mask));
	if (typeof value !== "object" || value === null) return value;
	return Object.fromEntries(Object.entries(value).map(([key, one]) => [mask(key), masked(one, mask)]));
}
function recorded(world, ask) {
	return {
		...world,
		async connect(config, label, options) {
			return recordedHost(await told(ask(label, { what: "connect" }), () => world.connect(config, label, options)), label, ask);
		},
		async openPower(name, config) {
			const opened = await told(ask("power", {
				what: "power",
				order: "open"
			}), () => world.openPower(name, config));
			return {
				state: () => told(ask("power", {
					what: "power",
					order: "state"
				}), () => opened.state()),
				cycle: () => told(ask("power", {
					what: "power",
					order: "cycle"
				}), () => opened.cycle())
			};
		},
		async openConsole(name, config, hears) {
			const printed = ask("console", {
				what: "console",
				order: "hear"
			});
			const lines = outputLines();
			let isOver = false;
			const end = (said) => {
				if (isOver) return;
				isOver = true;
				const { rest, left } = lines.end();
				if (rest !== "") printed.hears("stdout", rest);
				if (left !== void 0) printed.cut("stdout", left);
				printed.ends({
					kind: "done",
					...said !== void 0 && { said }
				});
			};
			const heard = (chunk) => {
				const text = lines.take(chunk);
				if (text !== "") printed.hears("stdout", text);
				hears(chunk);
			};
			try {
				const opened = await told(ask("console", {
					what: "console",
					order: "open"
				}), () => world.openConsole(name, config, heard));
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
		},
		sleep: (seconds) => told(ask("clock", {
			what: "sleep",
			seconds
		}), () => world.sleep(seconds))
	};
}
/** What is no command: done, or failed. */
async function told(question, work) {
	try {
		const said = await work();
		question.ends({
			kind: "done",
			...typeof said === "string" && { said }
		});
		return said;
	} catch (error) {
		question.ends(failure(error));
		throw error;
	}
}
function failure(error) {
	return {
		kind: "failed",
		failure: error instanceof HostError ? error.kind : String(error?.name),
		message: reasonOf(error)
	};
}
function recordedHost(host, label, ask) {
	const run = async (command, options = {}) => {
		const text = commandText(command);
		const shown = options.shownAs === void 0 ? text : commandText(options.shownAs);
		const question = ask(label, {
			what: "run",
			command: text,
			...shown !== text && { shown }
		});
		const streams = {
			stdout: outputLines(),
			stderr: outputLines()
		};
		const heard = (stream, chunk) => {
			const lines = streams[stream].take(chunk);
			if (lines !== "") question.hears(stream, lines);
		};
		const end = (answer) => {
			for (const stream of ["stdout", "stderr"]) {
				const { rest, left } = streams[stream].end();
				if (rest !== "") question.hears(stream, rest);
				if (left !== void 0) question.cut(stream, left);
			}
			question.ends(answer);
		};
		try {
			const outcome = await host.run(command, listening(options, heard));
			heard("stdout", Buffer.from(outcome.stdout));
			heard("stderr", Buffer.from(outcome.stderr));
			end(outcome.kind === "exited" ? {
				kind: "exited",
				code: outcome.code
			} : {
				kind: "signaled",
				signal: outcome.signal
			});
			return outcome;
		} catch (error) {
			end(failure(error));
			throw error;
		}
	};
	return {
		...host,
		run,
		output: async (command, options) => stdoutOf(await run(command, options), host.name, command),
		async upload(source, path, mode, options) {
			await told(ask(label, {
				what: "upload",
				path,
				mode,
				...await sizeAndSum(source)
			}), () => host.upload(source, path, mode, options));
		}
	};
}
/** Streams that the caller follows are heard as they come; the others come with the outcome. */
function listening(options, heard) {
	const { onStdout, onStderr } = options;
	return {
		...options,
		...onStdout !== void 0 && { onStdout: (chunk) => {
			heard("stdout", chunk);
			onStdout(chunk);
		} },
		...onStderr !== void 0 && { onStderr: (chunk) => {
			heard("stderr", chunk);
			onStderr(chunk);
		} }
	};
}
/** That a file cannot be read is told by the upload itself. */
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

// src/recording/record.ts
/**
* A recorder that knows the secrets of all these testbeds; `command` is what is run, like `testbeds check`. Its `world`
* is the one to be used from then on. Throws a UsageError where nothing can be recorded.
*/
async function recordTo(path, command, testbeds, now = () => Date.now() / 1e3) {
	const recordable = testbeds.filter((testbed) => testbed.kind === "freebsd");
	if (recordable.length === 0) throw new UsageError("--record: only testbeds of `kind: freebsd` can be recorded; leave it out.");
	const known = await Promise.all(recordable.map((testbed) => knownOf(testbed)));
	return startRecording(path, {
		command,
		now,
		ppsgate: version,
		known: {
			secrets: known.flatMap(({ secrets }) => secrets),
			hosts: known.flatMap(({ hosts }) => hosts),
			users: known.flatMap(({ users }) => users),
			others: new Map(known.flatMap(({ others }) => [...others ?? []]))
		}
	});
}
/** A request as a recording has it: how the power and the console are reached is nobody's business, and may hold a password. */
const recordable = (request) => {
	const { testbed } = request;
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

// src/recording/request.ts
/** Nothing that a recording names is opened here. */
const host = looseObject({
	host: string(),
	port: number(),
	user: string(),
	privateKeyPath: string().optional(),
	knownHostsPath: literal$1("/dev/null")
});
const port = looseObject({ interface: string() });
const generator = host.extend({
	interface: string(),
	mac: string(),
	addresses: partialRecord(_enum(families), string()),
	threads: number()
});
const testbed = looseObject({
	kind: literal$1("freebsd"),
	dut: host.extend({
		ingress: port,
		egress: port,
		boot: looseObject({
			method: string(),
			limitSeconds: number()
		}),
		power: looseObject({ kind: string() }).optional()
	}),
	senders: array(generator).min(1).max(4),
	receiver: generator,
	builder: host.extend({
		folder: string(),
		repository: string(),
		recipe: looseObject({ kind: string() })
	}).optional(),
	preflight: string()
});
const traffic = looseObject({
	flows: number(),
	settleSeconds: number(),
	measureSeconds: number()
});
/** The shapes of another day may have more in them, and are given on as they are. */
const as = (schema) => schema;
const checkRequest = object({
	name: string(),
	testbed: as(testbed),
	families: array(_enum(families)),
	traffic: as(traffic),
	sends: boolean(),
	cycles: boolean()
});
const testbedRequest = object({
	name: string(),
	testbed: as(testbed),
	traffic: as(traffic),
	/** The token of the lease, which stands in every command. */
	token: number().optional()
});
const cell = looseObject({
	scenario: string(),
	family: _enum(families)
});
const planned = looseObject({
	number: number(),
	cell,
	runs: array(looseObject({
		number: number(),
		variant: string(),
		pair: number()
	}))
});
/** What a testbed was asked for, one after the other, and what came of it. */
const testbedCall = discriminatedUnion("call", [
	object({
		call: literal$1("inspect"),
		cells: array(as(cell)),
		outcome: unknown()
	}),
	object({
		call: literal$1("prepare"),
		/** How each variant's kernel comes to the DUT. */
		variants: array(object({
			variant: string(),
			boots: _enum(["own", "archive"])
		})),
		rules: record(string(), unknown()),
		outcome: unknown()
	}),
	object({
		call: literal$1("blast"),
		planned: as(planned),
		outcome: unknown()
	}),
	object({
		call: literal$1("profile"),
		request: as(looseObject({
			cell,
			variant: string(),
			seconds: number(),
			attempt: number()
		})),
		outcome: unknown()
	}),
	object({
		call: literal$1("restore"),
		outcome: unknown()
	})
]);
const rehearsalRequest = object({
	name: string(),
	testbed: as(testbed),
	config: as(looseObject({
		scenarios: array(string()),
		families: array(_enum(families)),
		traffic,
		gate: looseObject({
			metric: string(),
			marginRatio: number()
		})
	})),
	rules: record(string(), as(looseObject({ text: string() }))),
	skip: array(_enum(rehearsalParts)),
	/** What its journal held when it was gone on with. */
	journal: array(string()),
	/** The token of the lease, which stands in every command. */
	token: number().optional()
});
/** A finding, or what was answered to the question for an accident. */
const rehearsalTold = union([object({ finding: looseObject({
	kind: string(),
	what: string(),
	why: string()
}) }), object({ agreed: boolean() })]);
/** What is recorded of a call that threw. */
const thrown = (error) => ({ threw: reasonOf(error) });

// src/recording/recorded-testbed.ts
/** Opens it as `open` does. */
async function recordedTestbed(recorder, opening, open) {
	recorder.begins("testbed", recordable(opening));
	const opened = await open();
	const told = async (call, work) => {
		try {
			const outcome = await work();
			recorder.tells("testbed", {
				...call,
				outcome: outcome ?? null
			});
			return outcome;
		} catch (error) {
			recorder.tells("testbed", {
				...call,
				outcome: thrown(error)
			});
			throw error;
		}
	};
	return {
		...opened,
		inspect: (cells) => told({
			call: "inspect",
			cells
		}, () => opened.inspect(cells)),
		prepare(request) {
			const call = {
				call: "prepare",
				variants: request.variants.map(({ variant, kernel }) => ({
					variant,
					boots: kernel === void 0 ? "own" : "archive"
				})),
				rules: request.rules
			};
			return told(call, () => opened.prepare(request));
		},
		blast: (planned, ...rest) => told({
			call: "blast",
			planned
		}, () => opened.blast(planned, ...rest)),
		profile: (request, ...rest) => told({
			call: "profile",
			request
		}, () => opened.profile(request, ...rest)),
		restore: () => told({ call: "restore" }, () => opened.restore())
	};
}

// src/recording/recorded-rehearsal.ts
/** See `rehearse`; `world` is one of the recorder's, and `token` that of the lease. */
async function* recordedRehearsal(recorder, request, world, token) {
	const { name, testbed, config, rules, skip, journal } = request;
	const { scenarios, families, frameSizes, traffic, profile, gate } = config;
	recorder.begins("rehearsal", {
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
		const agreed = await world.agrees(question);
		recorder.tells("rehearsal", { agreed });
		return agreed;
	};
	for await (const finding of rehearse(request, {
		...world,
		agrees
	})) {
		recorder.tells("rehearsal", { finding });
		yield finding;
	}
}

// src/recording/read.ts
/** Throws a UsageError where the file is no recording that can be read here. */
function readRecording(path) {
	const [first = "", ...lines] = unpacked(path).split("\n");
	const recording = {
		head: headOf(path, first),
		questions: [],
		marks: [],
		isTorn: lines.at(-1) !== ""
	};
	const byId = /* @__PURE__ */ new Map();
	for (const [index, line] of lines.entries()) {
		if (line === "") continue;
		const { data: entry, error } = entrySchema.safeParse(fromJson(line));
		if (entry !== void 0) add(recording, byId, entry);
		else if (error !== void 0 && index < lines.length - 1) throw new UsageError(`${path} is damaged in its line ${index + 2}: have it recorded again, or send it as it came.`);
	}
	return recording;
}
/** Far more than a recorder writes. */
const mostBytes$1 = 256 * 1024 ** 2;
/** The text of a recording as far as it goes: whoever recorded may have been killed. */
function unpacked(path) {
	let packed;
	try {
		packed = readFileSync(path);
	} catch (error) {
		throw new UsageError(`The recording ${path} cannot be read (${reasonOf(error)}).`);
	}
	const { Z_SYNC_FLUSH: finishFlush } = constants$1;
	try {
		return gunzipSync(packed, {
			finishFlush,
			maxOutputLength: mostBytes$1
		}).toString();
	} catch (error) {
		throw error instanceof RangeError ? new UsageError(`${path} is more than ${mostBytes$1 / 1024 ** 2} MiB once it is unpacked, and no recording is so big: it is not opened.`) : noRecording(path);
	}
}
const noRecording = (path) => new UsageError(`${path} is no recording: expected a file that \`--record\` has written.`);
function headOf(path, line) {
	const written = fromJson(line);
	const { data: head } = headSchema.safeParse(written);
	if (head !== void 0) return head;
	const { format, version } = written ?? {};
	if (format === "ppsgate recording" && typeof version === "number" && version > 1) throw new UsageError(`${path} is of a newer ppsgate (its format is ${version}, and this one reads ${1}): replay it with that one.`);
	throw noRecording(path);
}
function add(recording, byId, entry) {
	const { questions, marks } = recording;
	switch (entry.kind) {
		case "begins":
		case "tells": {
			const { kind, part } = entry;
			const value = kind === "begins" ? entry.request : entry.outcome;
			marks.push({
				kind,
				part,
				value,
				after: questions.length
			});
			return;
		}
		case "asks": {
			const { host, asked, at } = entry;
			const question = {
				number: questions.length + 1,
				host,
				asked,
				at,
				pieces: [],
				cut: /* @__PURE__ */ new Set()
			};
			questions.push(question);
			byId.set(entry.id, question);
			return;
		}
		case "hears":
			byId.get(entry.id)?.pieces.push(entry);
			return;
		case "cut":
			byId.get(entry.id)?.cut.add(entry.stream);
			return;
		case "ends": {
			const question = byId.get(entry.id);
			if (question !== void 0) question.ended ??= {
				at: entry.at,
				answer: entry.answer
			};
			return;
		}
	}
}
/** All that a stream of a command wrote, as far as it was kept. */
const writtenTo = ({ pieces }, stream) => pieces.filter((piece) => piece.stream === stream).map(({ text }) => text).join("");
/** ``the recording's 57th command, `netstat -rn -f inet` on the DUT`` without its first words. */
function questionText({ host, asked }) {
	switch (asked.what) {
		case "run": return `\`${(asked.shown ?? asked.command).replace(/'([\w@%+=:,./-]+)'/g, "$1")}\` on the ${host}`;
		case "connect": return `the login to the ${host}`;
		case "upload": return `the upload of ${asked.path} to the ${host}`;
		case "power": return `the power's ${asked.order}`;
		case "console": return asked.order === "open" ? "the opening of the console" : "what the console printed";
		case "sleep": return `a sleep of ${asked.seconds} s`;
	}
}

// src/recording/replay-world.ts
/** Questions to one host with the same text are answered in their order, however they overlap with others. */
function replayWorld(questions) {
	const time = replayTime(questions[0]?.at ?? 0);
	const waiting = Map.groupBy(questions, (question) => keyOf(question));
	const replay = {
		strangers: [],
		unanswered: []
	};
	let before;
	const find = (question) => {
		const found = waiting.get(keyOf(question))?.shift();
		if (found === void 0) {
			const text = questionText({ ...question });
			replay.strangers.push({
				text,
				after: before
			});
			throw new HostError("command-failed", `The recording has no answer to ${text}.`);
		}
		before = found;
		if (found.ended === void 0 || found.cut.size > 0) replay.unanswered.push(found);
		if (found.ended === void 0) throw new HostError("lost", `The recording ends before ${questionText(found)} did.`);
		return found;
	};
	/** Answers at the time of then. */
	const answered = async (question) => {
		const { ended } = find(question);
		await time.until(ended?.at ?? 0);
		return saidBy(ended?.answer);
	};
	const run = async (host, command, shown, { onStdout, onStderr }) => {
		const found = find({
			host,
			asked: {
				what: "run",
				command,
				shown
			}
		});
		for (const { at, stream, text } of found.pieces) {
			const hear = stream === "stdout" ? onStdout : onStderr;
			if (hear === void 0) continue;
			await time.until(at);
			hear(Buffer.from(text));
		}
		const { ended } = found;
		await time.until(ended?.at ?? 0);
		const streams = {
			stdout: onStdout === void 0 ? writtenTo(found, "stdout") : "",
			stderr: onStderr === void 0 ? writtenTo(found, "stderr") : ""
		};
		const answer = ended?.answer;
		if (answer?.kind === "exited") return {
			kind: "exited",
			code: answer.code,
			...streams
		};
		if (answer?.kind === "signaled") return {
			...answer,
			...streams
		};
		saidBy(answer);
		throw new TypeError("A command was done without having ended.");
	};
	const world = {
		async connect({ host, port }, label) {
			await answered({
				host: label,
				asked: { what: "connect" }
			});
			const name = `${label} (${host}:${port})`;
			const close = async () => {};
			const runHere = (command, options = {}) => {
				const text = commandText(command);
				const shown = options.shownAs === void 0 ? text : commandText(options.shownAs);
				return run(label, text, shown, options);
			};
			return {
				name,
				run: runHere,
				output: async (command, options) => stdoutOf(await runHere(command, options), name, command),
				async upload(_, path, mode) {
					await answered({
						host: label,
						asked: {
							what: "upload",
							path,
							mode,
							bytes: 0,
							sha256: ""
						}
					});
				},
				close,
				[Symbol.asyncDispose]: close
			};
		},
		async openPower() {
			const ask = (order) => answered({
				host: "power",
				asked: {
					what: "power",
					order
				}
			});
			await ask("open");
			return {
				state: async () => await ask("state") === "off" ? "off" : "on",
				cycle: async () => void await ask("cycle")
			};
		},
		async openConsole(_name, _config, hears) {
			const printed = waiting.get(keyOf(hearing))?.shift();
			const pieces = [...printed?.pieces ?? []];
			const ended = Promise.withResolvers();
			time.watch((now) => {
				while (pieces[0] !== void 0 && pieces[0].at <= now) hears(Buffer.from(pieces.shift()?.text ?? ""));
				if (printed?.ended !== void 0 && printed.ended.at <= now) ended.resolve(saidBy(printed.ended.answer));
			});
			await answered({
				host: "console",
				asked: {
					what: "console",
					order: "open"
				}
			});
			return {
				ended: ended.promise,
				close: async () => {}
			};
		},
		sleep: (seconds) => time.until(time.now() + seconds),
		now: time.now
	};
	const skipTo = (number) => {
		for (const [key, of] of waiting) waiting.set(key, of.filter((question) => question.number > number || question.host === "builder"));
	};
	return {
		world,
		...replay,
		skipTo
	};
}
/** Random parts of paths are not the same twice, and how long is slept is no question to anybody. */
function keyOf({ host, asked }) {
	const text = textOf$1(asked).replace(/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/gi, "…");
	return `${host}\n${asked.what}\n${text}`;
}
function textOf$1(asked) {
	switch (asked.what) {
		case "run": return asked.command;
		case "upload": return asked.path;
		case "power":
		case "console": return asked.order;
		default: return "";
	}
}
/** Throws what was thrown then. */
function saidBy(answer) {
	if (answer?.kind === "done") return answer.said ?? "";
	if (answer?.kind !== "failed") return "";
	const { failure, message } = answer;
	if (failure === "PowerError") throw new PowerError(message);
	if (failure === "ConsoleError") throw new ConsoleError(message);
	if (failures.has(failure)) throw new HostError(failure, message);
	throw new Error(message);
}
const failures = /* @__PURE__ */ new Set([...[
	"unreachable",
	"host-key",
	"login",
	"lost",
	"timeout",
	"aborted"
], ...[
	"session-refused",
	"too-much-output",
	"command-failed",
	"upload-failed"
]]);
const hearing = {
	host: "console",
	asked: {
		what: "console",
		order: "hear"
	}
};
/**
* Whatever happens next happens when all that came before has been taken in: what the code does about it is asked before,
* as it was then. Time never runs back.
*/
function replayTime(start) {
	let now = start;
	let isRunning = false;
	const events = [];
	const watchers = [];
	let planned = 0;
	const runOn = async () => {
		if (isRunning) return;
		isRunning = true;
		while (events.length > 0) {
			for (let turn = 0; turn < turnsToSettle; turn += 1) await nextTurn();
			events.sort((one, other) => one.at - other.at || one.order - other.order);
			const next = events.shift();
			now = Math.max(now, next?.at ?? now);
			for (const look of watchers) look(now);
			next?.act();
		}
		isRunning = false;
	};
	return {
		now: () => now,
		watch: (look) => void watchers.push(look),
		until: (at) => new Promise((resolve) => {
			planned += 1;
			events.push({
				at,
				order: planned,
				act: resolve
			});
			runOn();
		})
	};
}
/** Promises that wait for promises are through by then. */
const turnsToSettle = 4;
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

// src/recording/replay-check.ts
async function replayCheck({ request, questions, told }) {
	const { data: check } = checkRequest.safeParse(request);
	if (check === void 0) return {
		findings: [],
		differences: [unreadable("check")]
	};
	const replayed = replayWorld(questions);
	const findings = [];
	const differences = [];
	const world = {
		...replayed.world,
		tell() {},
		signal: new AbortController().signal
	};
	try {
		for await (const finding of checkFreebsdTestbed(check, world)) findings.push(finding);
	} catch (error) {
		differences.push(broken(error));
	}
	return {
		findings,
		differences: [
			...differences,
			...differencesOf(replayed),
			...changes(told, findings)
		]
	};
}
const unreadable = (part) => ({
	kind: "incomplete",
	sentence: `what the recording says of its ${part} cannot be read here, so that it is not done again`
});
const broken = (error) => ({
	kind: "made-otherwise",
	sentence: oneLine(`the code of today breaks on it: ${reasonOf(error)}`)
});
/** What was asked otherwise, or cannot be answered whole. */
function differencesOf({ strangers, unanswered }) {
	return [...strangers.map(({ text, after }) => {
		const place = after === void 0 ? "first of all" : `after the recording's ${ordinal(after.number)} question`;
		return {
			kind: "asked-otherwise",
			...after !== void 0 && { number: after.number },
			sentence: oneLine(`${place} the code of today asks what the recording has not: ${text}`)
		};
	}), ...unanswered.map((question) => differenceAt("incomplete", question, question.ended === void 0 ? "the recording ends before it did" : "a part of what it wrote is not in the recording"))];
}
/** What is found otherwise now, for each thing and each time that it was looked at. */
function changes(then, now, compared = (words) => words) {
	const left = [...now];
	return then.flatMap((finding) => {
		const index = left.findIndex(({ what }) => what === finding.what);
		const [found] = index === -1 ? [] : left.splice(index, 1);
		if (found !== void 0 && compared(wordsOf(found)) === compared(wordsOf(finding))) return [];
		const is = found === void 0 ? "not looked at" : wordsOf(found);
		return [{
			kind: "made-otherwise",
			sentence: oneLine(`${finding.what} was ${wordsOf(finding)} then, and is ${is} now`)
		}];
	});
}
const wordsOf = ({ kind, why }) => `${kind} (${why})`;

// src/recording/replay-testbed.ts
async function replayTestbed({ request, questions, told, toldAfter }) {
	const { data: opened } = testbedRequest.safeParse(request);
	if (opened === void 0) return {
		findings: [],
		differences: [unreadable("testbed")]
	};
	const ended = told.flatMap((value, index) => {
		const { data: call } = testbedCall.safeParse(value);
		return call === void 0 ? [] : [{
			call,
			after: toldAfter[index] ?? 0
		}];
	});
	const calls = ended.map(({ call }) => call);
	const folder = await mkdtemp(join(tmpdir(), "ppsgate-replay-"));
	const differences = [];
	try {
		const kernels = await standInKernels(questions, calls, folder);
		const replayed = replayWorld(renamed(questions, kernels));
		const { name, testbed, traffic, token } = opened;
		const lease = {
			token: token ?? 0,
			assertHeld() {},
			prove: async () => {}
		};
		const world = token === void 0 ? replayed.world : fencedWorld(replayed.world, testbed, lease);
		try {
			const again = await openFreebsdTestbed(name, testbed, traffic, world);
			for (const { call, after } of ended) {
				const change = changed(call, await outcomeOf(again, call, kernels), kernels);
				if (change !== void 0) differences.push(change);
				replayed.skipTo(after);
			}
		} catch (error) {
			differences.push(broken(error));
		}
		differences.push(...differencesOf(replayed));
	} finally {
		await rm(folder, {
			recursive: true,
			force: true
		});
	}
	return {
		findings: [],
		differences
	};
}
/** Kernels are not in a recording; the sum of each is in the name under which it was laid. */
async function standInKernels(questions, calls, folder) {
	const archives = calls.flatMap((call) => call.call === "prepare" ? call.variants : []).filter(({ boots }) => boots === "archive");
	const kernels = [];
	for (const variant of new Set(archives.map(({ variant }) => variant))) kernels.push(await standInKernel(variant, questions, folder, kernels.length));
	return kernels;
}
/** `number` tells it from the others. */
async function standInKernel(variant, questions, folder, number) {
	const laid = laidFor(variant, questions);
	const path = join(folder, `${number}.tar`);
	await using file = await open(path, "w");
	await file.write(`${number}`);
	await file.truncate(Math.min(laid.bytes, mostBytes));
	const hash = createHash("sha256");
	await pipeline(createReadStream(path), hash);
	return {
		variant,
		path,
		sha256: hash.digest("hex"),
		was: laid.sha256
	};
}
/** More than any kernel, and no more than is read in a moment. */
const mostBytes = 1024 ** 3;
/** A kernel's upload is known by the folder or the environment that is named first after it. */
function laidFor(variant, questions) {
	const place = `ppsgate.${variant.replace(/[^\w.-]+/g, "-")}`;
	const uploads = questions.flatMap(({ asked }, index) => {
		const sha256 = asked.what === "upload" ? kernelPath.exec(asked.path)?.[1] : void 0;
		return sha256 === void 0 || asked.what !== "upload" ? [] : [{
			sha256,
			index,
			bytes: asked.bytes
		}];
	});
	const isOwn = new RegExp(`${place.replaceAll(".", "\\.")}(?![\\w-])`);
	return uploads.find(({ index }) => {
		const next = questions.slice(index).map(({ asked }) => asked.what === "run" ? textOf(asked) : "").find((text) => /\bppsgate\.(?!sha256)/.test(text));
		return next !== void 0 && isOwn.test(next);
	}) ?? {
		sha256: "",
		bytes: 1
	};
}
const kernelPath = /\/([0-9a-f]{64})\.tar$/;
const textOf = ({ command, shown }) => shown ?? command;
/** The sums of the stand-ins in the place of those of then, wherever they stand. */
function renamed(questions, kernels) {
	const to = (text) => kernels.reduce((now, { was, sha256 }) => was === "" ? now : now.replaceAll(was, sha256), text);
	return questions.map((question) => ({
		...question,
		asked: JSON.parse(to(JSON.stringify(question.asked))),
		pieces: question.pieces.map((piece) => ({
			...piece,
			text: to(piece.text)
		}))
	}));
}
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
					cells: [],
					rules,
					keepLog,
					tell() {},
					signal
				});
			}
			case "blast": return await testbed.blast(call.planned, keepLog, signal);
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
function changed({ call, outcome: then }, now, kernels) {
	const text = (value) => JSON.stringify(value ?? null, (key, one) => key === "startedAt" ? void 0 : one);
	const before = kernels.reduce((words, { was, sha256 }) => was === "" ? words : words.replaceAll(was, sha256), text(then));
	const after = text(JSON.parse(text(now)));
	if (before === after) return void 0;
	const at = firstDifference(before, after);
	const piece = (words) => shortened(words.slice(Math.max(0, at - 30), at + 50));
	return {
		kind: "made-otherwise",
		sentence: oneLine(`what came of \`${call}\` was "…${piece(before)}" then, and is "…${piece(after)}" now`)
	};
}
function firstDifference(one, other) {
	let at = 0;
	while (at < one.length && one[at] === other[at]) at += 1;
	return at;
}

// src/recording/replay-rehearsal.ts
/** A stand-in takes the place of the kernel, which no recording holds: how that came to be is not done again. */
async function replayRehearsal({ request, questions, told, toldAfter }) {
	const { data: asked } = rehearsalRequest.safeParse(request);
	if (asked === void 0) return {
		findings: [],
		differences: [unreadable("rehearsal")]
	};
	const said = told.flatMap((value, index) => {
		const { data } = rehearsalTold.safeParse(value);
		return data === void 0 ? [] : [{
			...data,
			after: toldAfter[index] ?? 0
		}];
	});
	const agreed = said.flatMap((one) => "agreed" in one ? one.agreed : []);
	const found = said.flatMap((one) => "finding" in one ? one : []);
	const then = found.map(({ finding }) => finding);
	const directory = await mkdtemp(join(tmpdir(), "ppsgate-replay-"));
	const findings = [];
	const differences = [];
	try {
		const kernel = await standInKernel("base", questions, directory, 0);
		const replayed = replayWorld(renamed(questions, [kernel]));
		const { name, testbed, config, rules, skip, journal, token } = asked;
		const lease = {
			token: token ?? 0,
			assertHeld() {},
			prove: async () => {}
		};
		const machines = token === void 0 ? replayed.world : fencedWorld(replayed.world, testbed, lease);
		await writeFile(journalIn(directory), journal.join("\n"));
		const again = rehearse({
			name,
			testbed,
			config,
			rules,
			directory,
			baseKernel: kernel.path,
			skip: new Set(skip),
			journal: resumeJournal(directory, name)
		}, {
			...machines,
			agrees: async () => agreed.shift() ?? false,
			tell() {},
			keepLog: async () => {},
			history: { append: async () => {} },
			signal: new AbortController().signal
		});
		try {
			for await (const finding of again) {
				findings.push(finding);
				const before = found.find(({ finding: { what } }) => what === finding.what);
				if (before !== void 0) replayed.skipTo(before.after);
			}
		} catch (error) {
			differences.push(broken(error));
		}
		const isHere = ({ what }) => what !== "the kernel of base";
		differences.push(...differencesOf(replayed));
		differences.push(...changes(then.filter(isHere), findings.filter(isHere), withoutTimes));
	} finally {
		await rm(directory, {
			recursive: true,
			force: true
		});
	}
	return {
		findings,
		differences
	};
}
/** The time between two questions is not that of then. */
const withoutTimes = (words) => words.replace(/\b(?:under )?\d+ (?:min|s|h|days)\b/g, "…");

// src/recording/understood.ts
/** Why a machine's answer is not understood, as a clause; undefined where it is, or where nobody reads it. */
function whyNotUnderstood(question) {
	const { asked, ended, cut } = question;
	if (asked.what !== "run" || cut.size > 0) return void 0;
	const command = plain(asked.shown ?? asked.command);
	if (isPktGen.test(command)) return pktGen(question);
	if (!(ended?.answer.kind === "exited" && ended.answer.code === 0)) return void 0;
	const text = writtenTo(question, "stdout");
	const reader = readers.find(([pattern]) => pattern.test(command));
	if (reader === void 0) return void 0;
	if (text !== "" && !text.endsWith("\n")) return "what it wrote breaks off in the middle of a line";
	return reader[1](text, command);
}
/** A command without the quotes that no shell needs. */
const plain = (command) => command.replace(/'([\w@%+=:,./-]+)'/g, "$1");
const isPktGen = /\bpkt-gen -N\b/;
const readers = [
	[/^ifconfig -l$/, (text) => unlessLines(text, /^\w+(?: \w+)*$/, "a list of interfaces")],
	[/^ifconfig [a-z]+\d+$/, ifconfig],
	[/^netstat -rn -f inet6?$/, routes],
	[/^netstat -i -b -n -W$/, counters],
	[/^netstat -s$/, (text) => unlessFound(text, /^ip6?:$\n^\t+\d+ /m, "a protocol and its counters")],
	[/^vmstat -i$/, (text) => unlessFound(text, /^interrupt +total +rate\n(?:.*\d+ +\d+\n)*Total /, "its header and interrupts")],
	[/^arp -an$/, (text) => neighbours(text, parseArp, /./)],
	[/^ndp -an$/, (text) => neighbours(text, parseNdp, /:\S* +\S+ +\S+/)],
	[/^sysctl -n kern\.cp_times$/, (text) => parseCpuTimes(text).length > 0 ? void 0 : no("five ticks for each CPU", text)],
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
/** Every line is as it has to be, and there is one. */
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
/** Whether the value is a whole number, as far as that is known here. */
const isNumber = (command) => /^sysctl -n (?:net\.inet6?\.|net\.isr\.(?:max|bind)threads|hw\.ncpu|hw\.cxgbe\.|machdep\.|kern\.random\.harvest\.mask|dev\.\w+\.\d+\.(?:n[rt]xq|conf\.channels))/.test(command) && !texts.some((name) => command.includes(name));
/** A port of Ethernet, which is all that is looked at. */
function ifconfig(text, command) {
	const port = parseIfconfig(text);
	const [, name] = command.split(" ");
	if (port === void 0 || port.name !== name) return no(`${name}, its flags and its mtu`, text);
	const lacking = [
		port.mac === void 0 && "ether",
		port.media === void 0 && "media",
		!/^[ \t]+status: (?:active|no carrier|associated|no network|inserted)$/m.test(text) && "status"
	].filter((what) => what !== false);
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
/** What its own lines must say; a generator that dies is understood. */
function pktGen(question) {
	const text = writtenTo(question, "stderr") + writtenTo(question, "stdout");
	if (text.replace(/^process \d+\n/, "").trim() === "") return void 0;
	const log = parsePktGenLog(text);
	const strange = log.faults.find(({ kind }) => kind === "not-pkt-gen" || kind === "cut" || kind === "unreadable");
	if (strange !== void 0) return strange.message;
	const lines = text.split("\n");
	const rates = lines.filter((line) => /\bmain_thread\b.*\bpps\b/.test(line));
	if (rates.length > log.rates.length) return no("rates as pkt-gen writes them", rates.find((line) => parsePktGenLog(`${line}\n`).rates.length === 0) ?? "");
	const summary = lines.find((line) => /^(?:Sent|Received) \S+ packets/.test(line));
	const isRead = log.summary !== void 0 || log.faults.length > 0;
	if (summary !== void 0 && !isRead && !/ in 0\.0+ seconds/.test(summary)) return no("its summary", summary);
}

// src/recording/replay.ts
/** Does again what was recorded, part by part. */
async function replay(recording) {
	const { head, isTorn, questions } = recording;
	const differences = questions.flatMap((question) => {
		const why = whyNotUnderstood(question);
		return why === void 0 ? [] : [differenceAt("not-understood", question, why)];
	});
	const findings = [];
	for (const part of partsOf(recording)) {
		const again = await partAgain(part);
		findings.push(...again.findings);
		differences.push(...again.differences);
	}
	return {
		head,
		isTorn,
		findings,
		questions: questions.filter(({ asked }) => asked.what !== "sleep").length,
		hosts: [...new Set(questions.map(({ host }) => host))].filter((host) => host !== "clock"),
		differences: differences.toSorted((one, other) => (one.number ?? 1e9) - (other.number ?? 1e9))
	};
}
const differenceAt = (kind, question, why) => ({
	kind,
	number: question.number,
	sentence: oneLine(`the recording's ${ordinal(question.number)} question, ${questionText(question)}: ${why}`)
});
function ordinal(number) {
	return `${number}${(number % 100 > 10 && number % 100 < 14 ? void 0 : [
		"th",
		"st",
		"nd",
		"rd"
	][number % 10]) ?? "th"}`;
}
function partAgain(part) {
	switch (part.name) {
		case "check": return replayCheck(part);
		case "rehearsal": return replayRehearsal(part);
		case "testbed": return replayTestbed(part);
		default: return {
			findings: [],
			differences: []
		};
	}
}
/** A part lasts until its last word, or until the next one begins. */
function partsOf({ marks, questions }) {
	return marks.filter(({ kind }) => kind === "begins").map((mark) => {
		const own = marks.slice(marks.indexOf(mark) + 1);
		const next = own.findIndex(({ kind }) => kind === "begins");
		const mine = (next === -1 ? own : own.slice(0, next)).filter(({ part }) => part === mark.part);
		const end = ends(mark, own, questions.length);
		return {
			name: mark.part,
			request: mark.value,
			told: mine.map(({ value }) => value),
			toldAfter: mine.map(({ after }) => after),
			questions: questions.slice(mark.after, end)
		};
	});
}
const ends = (mark, own, last) => own.find(({ kind, part }) => kind === "begins" && part === mark.part)?.after ?? last;

export { readRecording, recordTo, recordable, recordedRehearsal, recordedTestbed, replay };