import { checkFreebsdTestbed, checkLinuxTestbed, skipped } from "../checkup.js";
import { loadConfig } from "../config.js";
import { openReservations, realWorld, whoami } from "../controller.js";
import { runToExit } from "../exit.js";
import { version } from "../package.js";
import { UsageError, exitCodes, reasonOf } from "../words.js";
import { HostError, commandText, stdoutOf } from "../host.js";
import { recordingFormat } from "../recording/entry.js";
import { lookPurpose, readLab } from "../reservation.js";
import { findingText, summary } from "./findings.js";
import { configPath, namedTestbed } from "./named-testbed.js";
import { hasColours, oneLine, print, printJson } from "./table.js";
import { appendFileSync, createReadStream, writeFileSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { isIPv4, isIPv6 } from "node:net";
import { gzipSync } from "node:zlib";
import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { hostname, userInfo } from "node:os";
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
	const { power } = dut;
	const passwords = power === void 0 || power.kind === "command" ? [] : [power.passwordPath];
	const files = [.../* @__PURE__ */ new Set([...keys, ...passwords.flatMap((path) => path ?? [])])];
	const macs = [...senders, receiver].map(({ mac }) => mac);
	return {
		secrets: [
			...await Promise.all(files.map((path) => readFile(path, "utf8").catch(() => ""))),
			...secretsIn(environment),
			...wordsOf(power),
			...macs.flatMap(otherForms)
		],
		hosts: [
			...machines.map(({ host }) => host),
			hostOf(power),
			hostname()
		].flatMap(namesOf),
		users: [
			...machines.map(({ user }) => user),
			userOf(power),
			userInfo().username
		],
		others: new Map(machines.map(({ knownHostsPath }) => [knownHostsPath, "/dev/null"]))
	};
}
/** By their names, or because nobody would write such a thing by hand. */
function secretsIn(environment) {
	return Object.entries(environment).flatMap(([name, value = ""]) => {
		const isNamed = /pass|secret|token|key|auth|cred|cookie/i.test(name) && !isPlace(value);
		const isRandom = /^(?=.*\d)(?=.*[a-z])[\w+=.~-]{16,}$/i.test(value);
		return isNamed || isRandom ? [value] : [];
	});
}
const isPlace = (value) => /^[./]/.test(value) || /^https?:/.test(value);
/** An argument may be a password; one that is a plain word would be found in every output. */
function wordsOf(power) {
	if (power?.kind !== "command") return [];
	const { on, off, state, cycle = [] } = power;
	return [
		on,
		off,
		state,
		cycle
	].flatMap(([, ...words]) => words).filter((word) => word.length > 5 && !/^(?:[a-z]+|-.*|\/.*)$/.test(word));
}
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
function hostOf(power) {
	if (power === void 0 || power.kind === "command") return "";
	return power.kind === "ipmi" ? power.host : new URL(power.url).hostname;
}
const userOf = (power) => power === void 0 || power.kind === "command" ? "" : power.user;
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
/** In the place of what was found: no rule knows it. */
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
/** Of several lines each is a secret of its own; an encoding has the same secret in it. */
function forms(secret) {
	const lines = secret.split(/\r?\n/).map((line) => line.trim());
	const encodings = [...lines, secret].map((line) => Buffer.from(line).toString("base64"));
	return [...lines, ...encodings.map((text) => text.replace(/=+$/, ""))].filter((line) => !line.startsWith("-----"));
}
/** Names that everybody has. */
const common = new Set("root toor admin operator freebsd nobody daemon ppsgate user host localhost dut sender receiver builder forwarding kernel active status boot example git.freebsd.org".split(" "));
const isTelling = (name) => name.length > 2 && !common.has(name.toLowerCase());
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
/** Its first group alone is replaced, of which there is one. */
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
/** Of networks' own names those that end as such names do: `net.inet.ip.forwarding` is none. */
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
/** Of each stream of each command: more than a profile's graph has. */
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
	let last = 0;
	const write = (entry, flag = "a") => {
		const line = `${JSON.stringify(masked(entry, mask))}\n`;
		bytes += line.length;
		if (bytes > mostBytes) return;
		appendFileSync(path, gzipSync(line), { flag });
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
		}),
		console: (host, text) => write({
			kind: "console",
			at: now(),
			host,
			text
		})
	};
}
/** Of a whole recording, before it is compressed: it ends there. */
const mostBytes = 192 * 1024 ** 2;
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
/** Of a file that cannot be read the upload itself tells. */
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
/** As a recording has it: what controls the power is nobody's business, and an argument of it may be a password. */
const recordable = (request) => {
	const { testbed } = request;
	const { power, ...dut } = testbed.dut;
	const kept = power === void 0 ? dut : {
		...dut,
		power: { kind: power.kind }
	};
	return {
		...request,
		testbed: {
			...testbed,
			dut: kept
		}
	};
};

// src/commands/testbeds-check.ts
function define(command) {
	command.argument("<name>", "testbed of the configuration").option("-c, --config <file>", "configuration", "ppsgate.yml").option("--no-traffic", "send no packets").option("--power", "switch the DUT off and on, and wait until it is up again").option("--record <file>", "write down what the machines are asked and say, to be replayed").option("--json", "print the findings as JSON, at the end").addHelpText("after", `
Example:
  ppsgate testbeds check hp-t540 --no-traffic

Exits 0 when all is well, 2 for an unknown name, 4 when something is wrong.`).action(async (name, options) => {
		await runToExit((signal) => checkTestbed(name, options, signal), command.optsWithGlobals());
	});
}
/** Prints each finding as it is made, or with `json` all of them at the end. */
async function checkTestbed(name, options, signal) {
	const path = configPath(options.config);
	const config = await loadConfig(path);
	const testbed = namedTestbed(config, path, name);
	const { json, traffic = true, power = false, record } = options;
	const recorder = record === void 0 ? void 0 : await recordTo(record, "testbeds check", [testbed]);
	const tell = (sentence) => void (json ? process.stderr : process.stdout).write(`… ${sentence}\n`);
	const findings = [];
	const look = async (signal) => {
		const world = {
			...recorder?.world(realWorld) ?? realWorld,
			tell,
			signal
		};
		const check = {
			name,
			testbed,
			config,
			traffic,
			power,
			world,
			recorder
		};
		for await (const finding of findingsOf(check)) {
			recorder?.tells("check", finding);
			findings.push(finding);
			if (!json) print(findingText(finding, hasColours(process.stdout)));
		}
	};
	await (testbed.kind === "freebsd" && (traffic || power || testbed.dut.console?.kind === "ipmi") ? keptFromOthers({
		name,
		config,
		tell,
		signal
	}, look) : look(signal));
	if (json) printJson({
		testbed: name,
		findings
	});
	else print(summary(findings));
	return findings.some(({ kind }) => kind === "wrong") ? exitCodes.infrastructure : exitCodes.pass;
}
/** Waits until nobody measures there, unless nobody else can take it: it is in quarantine, or reserved for this command. */
async function keptFromOthers({ name, config, tell, signal }, look) {
	if (process.env.PPSGATE_TESTBED === name) return look(signal);
	const onWait = (_, text) => tell(oneLine(text));
	await using reservations = await openReservations(config, {
		signal,
		tell,
		onWait
	});
	const { quarantines } = await readLab(reservations.store);
	if (quarantines.has(name)) return await look(signal);
	const holder = {
		who: whoami(),
		purpose: lookPurpose
	};
	const lease = await reservations.hold(name, {
		priority: "patch",
		holder
	});
	try {
		await look(AbortSignal.any([signal, lease.signal]));
	} finally {
		const isClean = lease.holding.leftBy.length === 0;
		await lease.release({
			outcome: "was looked at",
			isClean
		});
	}
}
function findingsOf(check) {
	const { name, testbed, config, traffic, power, world, recorder } = check;
	switch (testbed.kind) {
		case "embedded-linux": return [skipped(name, "nothing to check: this machine carries it; see `ppsgate lab check`")];
		case "linux": return checkLinuxTestbed(testbed, world);
		case "freebsd": {
			const { families, traffic: blast, frameSizes } = config;
			const request = {
				name,
				testbed,
				families,
				traffic: blast,
				sends: traffic,
				cycles: power,
				...frameSizes && { frameSizes }
			};
			recorder?.begins("check", recordable(request));
			return checkFreebsdTestbed(request, world);
		}
	}
}

export { define };