import { addressText, destinationsPerSource, hostAt, knownNetwork, netmapPort, shortened } from "../../model/first-plain.js";
import { shell } from "../../system/shell.js";
import { nsPerTick } from "../../system/clock-ticks.js";
const { readFileSync } = globalThis.process.getBuiltinModule("node:fs");

// src/lab/traffic/pkt-gen.ts
/**
* Reads the formats of 2015 to 2026, with and without -N; skips and counts other lines, which kernels, shells and ssh write.
* Never throws.
*/
function parsePktGenLog(text) {
	const log = {
		rates: [],
		lines: 0,
		skipped: 0,
		faults: []
	};
	const unread = [];
	let isPktGen = false;
	let lastStamp;
	let isInterrupted = false;
	for (const { content, number, isWhole } of linesOf(text)) {
		const line = readLine(content);
		isPktGen ||= line.kind !== "foreign";
		if (line.kind === "foreign") log.skipped += 1;
		if (line.kind === "unread-rate" && isWhole) unread.push({
			number,
			content
		});
		if (isWhole) log.lines = number;
		if (line.kind === "interrupted") isInterrupted = true;
		if (line.kind === "crash" && isInterrupted) continue;
		if (line.kind === "rate") {
			log.rates.push({
				...line.rate,
				seconds: secondsAt(line, log.rates.at(-1), lastStamp),
				line: number
			});
			lastStamp = line.stamp;
		} else if (isWhole || line.kind === "crash") addLine(log, line, number);
		else addFault(log, {
			kind: "cut",
			message: `line ${number} of the log, its last, has no line break: "${shortened(content)}"`
		});
	}
	if (!isPktGen) return {
		...log,
		rates: [],
		faults: [notPktGen(text)]
	};
	addUnread(log, unread);
	return log;
}
/** Far longer than any line of pkt-gen; the rest of a line is ignored. */
const longestLine = 4096;
function* linesOf(text) {
	let number = 0;
	for (let start = 0; start < text.length;) {
		const newline = text.indexOf("\n", start);
		const end = newline === -1 ? text.length : newline;
		const content = text.slice(start, Math.min(end, start + longestLine)).trimEnd();
		number += 1;
		yield {
			content,
			number,
			isWhole: newline !== -1
		};
		start = end + 1;
	}
}
/** `seconds.microseconds function [line of its source] `, before the text of netmap's logging macro. */
const stamped = /^\d{1,9}\.\d{1,9} \w{1,40} \[\d{1,9}\] /;
/** Without -N, pkt-gen scales numbers to three decimals and a prefix (norm() of pkt-gen.c): `6.728 M`. */
const quantity = String.raw`(\d{1,15}(?:\.\d{1,9})? ?[kKMGT]?) ?`;
const batch = String.raw` [\d.]{1,18} avg_batch \d{1,18} min_space`;
const rateLine = new RegExp(String.raw`^(\d{1,9}\.\d{1,9}) main_thread \[\d{1,9}\] ${quantity}pps (?:\[avg/std [^\]]{1,80}\] )?` + String.raw`\(${quantity}pkts (?:in (\d{1,15}) usec\)(?:${batch})?|` + String.raw`[\d.]{1,18} ?[kKMGT]? ?bps in (\d{1,15}) usec\)${batch})$`);
const begunRate = /^\d{1,9}\.\d{1,9} main_thread \[\d{1,9}\] \d/;
const crash = /\] (poll err|ouch, thread \d{1,9} exited with error)$/;
const interrupt = /\] poll(?:\(\))? error(?: on queue \d{1,9})?: Interrupted system call$/;
const summaryLine = /^(?:Sent|Received) (\d{1,15}) packets,? (?:\d{1,18} bytes \d{1,15} events )?(\d{1,9}) bytes each,? in (-?\d{1,12}\.\d{1,9}) seconds\.$/;
const commandLine = /^CMD(?: on \S{1,255})?: (.*\bpkt-gen\b.*)$/;
function readLine(content) {
	const rate = rateLine.exec(content);
	if (rate !== null) return rateOf(rate);
	if (stamped.test(content)) return stampedLine(content);
	const [, packets, frameBytes, seconds] = summaryLine.exec(content) ?? [];
	if (packets !== void 0) return {
		kind: "summary",
		packets: Number(packets),
		frameBytesWithoutCrc: Number(frameBytes),
		seconds: Number(seconds)
	};
	const command = commandLine.exec(content)?.[1];
	return command === void 0 ? { kind: "foreign" } : commandOf(command);
}
function rateOf([, stamp, pps = "", packets = "", alone, afterBits]) {
	const intervalSeconds = Number(alone ?? afterBits) / 1e6;
	const rate = {
		pps: unscaled(pps),
		packets: unscaled(packets),
		intervalSeconds
	};
	return {
		kind: "rate",
		stamp: Number(stamp),
		rate
	};
}
function unscaled(text) {
	const [, digits, prefix = ""] = /^([\d.]+) ?(.?)$/.exec(text) ?? [];
	const scale = 1e3 ** (1 + "KMGT".indexOf(prefix.toUpperCase()));
	return prefix === "" ? Number(digits) : Math.round(Number(digits) * scale);
}
function stampedLine(content) {
	const text = crash.exec(content)?.[1];
	if (text !== void 0) return {
		kind: "crash",
		text
	};
	if (interrupt.test(content)) return { kind: "interrupted" };
	return { kind: begunRate.test(content) ? "unread-rate" : "other" };
}
const defaultFrameBytes = 60;
function commandOf(text) {
	const size = /\s-l\s*(\d{1,5})(?!\S)/.exec(text)?.[1];
	if (size !== void 0) return {
		kind: "command",
		text,
		frameBytesWithoutCrc: Number(size)
	};
	return {
		kind: "command",
		text,
		.../\s-f\s*tx(?!\S)/.test(text) ? { frameBytesWithoutCrc: defaultFrameBytes } : {}
	};
}
/** pkt-gen prints its clock modulo this many seconds. */
const stampCycle = 1e3;
/** Returns the time that fits the stamp and is nearest to the rate's own interval; never goes back. */
function secondsAt({ stamp, rate }, before, lastStamp) {
	if (before === void 0 || lastStamp === void 0) return 0;
	const step = stamp - lastStamp;
	const cycles = Math.round((rate.intervalSeconds - step) / stampCycle);
	return before.seconds + Math.max(0, step + cycles * stampCycle);
}
function addLine(log, line, number) {
	if (line.kind === "command") {
		const { text, frameBytesWithoutCrc: bytes } = line;
		log.command ??= text;
		if (bytes !== void 0) log.frameBytesWithoutCrc ??= bytes;
	}
	if (line.kind === "summary") addSummary(log, line);
	if (line.kind === "crash") addFault(log, {
		kind: "crashed",
		message: `pkt-gen crashed: "${line.text}" on line ${number}`
	});
}
function addUnread(log, unread) {
	const [first] = unread;
	if (first === void 0) return;
	addFault(log, {
		kind: "unread-rate",
		message: `${unread.length === 1 ? "line" : `${unread.length} rates, the first on line`} ${first.number} of the log cannot be read: "${shortened(first.content)}"`
	});
}
/** pkt-gen prints a negated duration since 1970 if its threads never started. */
function addSummary(log, { packets, frameBytesWithoutCrc, seconds }) {
	log.frameBytesWithoutCrc ??= frameBytesWithoutCrc;
	if (seconds < 0) addFault(log, {
		kind: "negative-duration",
		message: `pkt-gen's summary has a negative duration, ${seconds} s`
	});
	if (seconds > 0) log.summary = {
		packets,
		seconds,
		pps: packets / seconds
	};
}
function addFault(log, fault) {
	if (!log.faults.some(({ kind }) => kind === fault.kind)) log.faults.push(fault);
}
function notPktGen(text) {
	return {
		kind: "not-pkt-gen",
		message: `not a log of pkt-gen: it ${description(text.slice(0, longestLine))}`
	};
}
function description(start) {
	if (start.trim() === "") return "is empty";
	if (start.includes("\0")) return "is binary";
	if (/^CMD\b.{0,255}: equilibrium |using equilibrium throughput/m.test(start)) return "is from equilibrium, which varies the offered load";
	return `begins with "${shortened(start)}"`;
}
const gigabitSpeeds = [
	1,
	2.5,
	10,
	25,
	40,
	50,
	100,
	200,
	400
];
const crcBytes$2 = 4;
const smallestFrameBytes = 64;
/** Preamble, start delimiter and the gap between frames, IEEE 802.3. */
const wireBytesPerFrame = 20;
/** Allows for clocks that differ: a generator's second may be longer than its link's. */
const clockTolerance = 1.001;
function lineAt(bitsPerSecond, frameBytesWithoutCrc) {
	return {
		bitsPerSecond,
		pps: bitsPerSecond / ((Math.max(smallestFrameBytes, frameBytesWithoutCrc + crcBytes$2) + wireBytesPerFrame) * 8)
	};
}
/** Returns the slowest standard Ethernet speed that carries that rate, and its maximum rate; undefined if none does. */
const lineRate = (pps, frameBytesWithoutCrc) => gigabitSpeeds.map((gigabits) => lineAt(gigabits * 1e9, frameBytesWithoutCrc)).find((line) => pps <= line.pps * clockTolerance);

// src/lab/traffic/pkt-gen-command.ts
/** Counts until the interrupt; timeout(1) then exits with 124. Rates are on stderr, the summary on stdout. */
function receiverCommand(request) {
	return shell`${interrupted(request)} pkt-gen -N -f rx ${opened(request)}`;
}
function senderCommand$1(request) {
	const { family, flows, threads, sourceMac, destinationMac } = request;
	const version = family === "inet4" ? shell`-4` : shell`-6`;
	return shell`${interrupted(request)} pkt-gen -N -f tx ${opened(request)} -l ${request.frameBytes - crcBytes$1} ${version} -p ${threads} -S ${sourceMac} -s ${rangeOf("source", request, flows.firstSource ?? 1, flows.sources)} -d ${rangeOf("destination", request, 1, flows.destinations)} -D ${[destinationMac, ...optional(request)]}`;
}
/**
* Prints its process id on stderr: sshd signals no process when its channel closes. The quoting is safe for csh, too.
*/
const printingProcessId = (command) => shell`sh -c 'echo process $$ >&2; exec "$@"' sh ${command}`;
/** Reads the process id that `printingProcessId` had the command print. */
function processIdIn(log) {
	const [, digits] = /^process (\d+)\r?\n/m.exec(log) ?? [];
	return digits === void 0 ? void 0 : Number(digits);
}
const interruptCommand = (processId) => shell`kill -INT ${processId}`;
const interrupted = ({ seconds }) => shell`timeout -s INT ${seconds}`;
const opened = ({ interface: name, settleSeconds }) => shell`-i ${netmapPort(name)} -w ${settleSeconds}`;
const crcBytes$1 = 4;
function optional({ ratePps, threads, packets, updatesChecksums }) {
	return [
		...ratePps === void 0 ? [] : ["-R", Math.max(1, Math.round(ratePps / threads))],
		...packets === void 0 ? [] : ["-n", packets],
		...updatesChecksums ? ["-U"] : []
	];
}
/** `first` counts from 1. Without a port, pkt-gen uses 1234 on both sides; pf drops port 0. */
function rangeOf(side, request, first, count) {
	const { family, ports } = request;
	const [from, to] = [first, first + count - 1].map((index) => addressOf(side, request, index));
	const port = ports?.[side]?.first;
	return family === "inet4" ? `${from}:${port ?? 2e3}-${to}` : `[${from}]${port === void 0 ? "" : `:${port}`}-[${to}]`;
}
/**
* Counts from 1 in a site's network; else from .10.1 on in 198.18.0.0/16 or 198.19.0.0/16, or in a subnet of 2001:2::/49 or
* 2001:2:0:8000::/49.
*/
function addressOf(side, { family, addresses = {} }, index) {
	const network = addresses[family]?.[side];
	if (network !== void 0) return addressText(hostAt(knownNetwork(network, family), index - 1), family);
	return family === "inet4" ? `198.${side === "source" ? 18 : 19}.${10 + Math.floor(index / 256)}.${index % 256}` : `2001:2:0:${side === "source" ? "10" : "8010"}::${index.toString(16)}`;
}
/** True once pkt-gen has opened its port and waited for the link, so that the sender may start. */
const isReady = (logSoFar) => /^\d+\.\d+ \w+ \[\d+\] (?:Ready\.\.\.|reading from .*)\r?$/m.test(logSoFar);

// src/lab/traffic/flows.ts
const usualPort = {
	first: 2e3,
	last: 2e3
};
const crcBytes = 4;
const ethernetBytes = 14;
/** Excludes the CRC. */
const minFrameBytes = 60;
/** Frames have at least the family's minimum size. */
function trafgenFlows(request) {
	const { flows, frameBytes } = request;
	const frames = [];
	const sizes = inTurn(request.packets?.sizes ?? [{
		frameBytes,
		weight: 1
	}]);
	const count = Math.ceil(flows / sizes.length) * sizes.length;
	for (let index = 0; index < count; index++) {
		const size = sizes[(index + Math.floor(index / sizes.length)) % sizes.length] ?? frameBytes;
		frames.push(frame({
			...request,
			frameBytes: size
		}, index % flows));
	}
	return frames.map((bytes) => `{ ${bytes.join(",")} }\n`).join("");
}
/** Spreads each size evenly, so that even a short stretch has the overall mean: smooth weighted round robin. */
function inTurn(sizes) {
	const all = sizes.reduce((sum, { weight }) => sum + weight, 0);
	const credits = sizes.map(({ frameBytes, weight }) => ({
		frameBytes,
		weight,
		credit: 0
	}));
	return Array.from({ length: all }, () => {
		for (const one of credits) one.credit += one.weight;
		const next = credits.reduce((most, one) => one.credit > most.credit ? one : most);
		next.credit -= all;
		return next.frameBytes;
	});
}
function frame(request, flow) {
	const bytes = request.frameBytes - crcBytes - ethernetBytes;
	const write = request.family === "inet4" ? ipv4 : ipv6;
	const addresses = addressesOf(request, flow);
	const type = request.family === "inet4" ? [8, 0] : [134, 221];
	const header = [
		...macBytes(request.destinationMac),
		...macBytes(request.sourceMac),
		...type
	];
	return padded([...header, ...write(bytes, flow, addresses, request.packets)], minFrameBytes);
}
function addressesOf({ family, flows, packets }, flow) {
	const { addresses } = packets ?? {};
	const perSource = destinationsPerSource(flows, family, addresses);
	return [...ipAddress(family, "source", Math.floor(flow / perSource), addresses), ...ipAddress(family, "destination", flow % perSource, addresses)];
}
const portOf = (flow, { first, last } = usualPort) => first + flow % (last - first + 1);
/** RFC 791. */
function ipv4(totalBytes, flow, addresses, packets = {}) {
	const payload = payloadOf(totalBytes - 20, addresses, flow, packets);
	const header = (checksum) => [
		69,
		0,
		...word(20 + payload.length),
		0,
		0,
		0,
		0,
		64,
		protocolOf(packets),
		...word(checksum),
		...addresses
	];
	const withChecksum = [...header(internetChecksum(header(0))), ...payload];
	return padded(withChecksum, totalBytes);
}
/** RFC 8200. */
function ipv6(totalBytes, flow, addresses, packets = {}) {
	const payload = payloadOf(totalBytes - 40, addresses, flow, packets);
	return [
		...[
			96,
			0,
			0,
			0,
			...word(payload.length),
			protocolOf(packets),
			64
		],
		...addresses,
		...payload
	];
}
const protocolOf = ({ protocol }) => protocol === "tcp" ? 6 : 17;
/** The pseudo headers of both families have the same sum. */
function payloadOf(bytes, addresses, flow, packets) {
	const { source, destination } = packets.ports ?? {};
	const ports = [...word(portOf(flow, source)), ...word(portOf(flow, destination))];
	const write = packets.protocol === "tcp" ? tcpSegment : udpDatagram;
	const length = Math.max(bytes, write(0, ports, 0).length);
	const checksum = internetChecksum([
		...addresses,
		0,
		protocolOf(packets),
		...word(length),
		...write(length, ports, 0)
	]);
	return write(length, ports, checksum === 0 ? 65535 : checksum);
}
/** RFC 768. */
const udpDatagram = (length, ports, checksum) => padded([
	...ports,
	...word(length),
	...word(checksum)
], length);
/** RFC 9293: a SYN, which firewalls accept as the first packet of a connection; data may follow its header. */
const tcpSegment = (length, ports, checksum) => padded([
	...ports,
	...tcpNumbers,
	80,
	tcpSyn,
	...tcpWindow,
	...word(checksum),
	0,
	0
], length);
const tcpNumbers = [
	0,
	0,
	0,
	1,
	0,
	0,
	0,
	0
];
const tcpSyn = 2;
const tcpWindow = [255, 255];
const macBytes = (mac) => mac.split(":").map((byte) => Number.parseInt(byte, 16));
const padded = (bytes, length) => [...bytes, ...new Array(Math.max(0, length - bytes.length)).fill(0)];
/** RFC 1071: the ones' complement of the ones' complement sum of 16-bit words. */
function internetChecksum(bytes) {
	let sum = 0;
	for (let index = 0; index < bytes.length; index += 2) sum += (bytes[index] ?? 0) << 8 | (bytes[index + 1] ?? 0);
	while (sum > 65535) sum = (sum & 65535) + (sum >>> 16);
	return ~sum & 65535;
}
/** Counts up in the site's network; else from .10.1 in RFC 2544's networks (RFC 5180 for IPv6). */
function ipAddress(family, side, index, addresses = {}) {
	const network = addresses[family]?.[side];
	if (network !== void 0) return hostAt(knownNetwork(network, family), index);
	return family === "inet4" ? [
		198,
		side === "source" ? 18 : 19,
		...word(2561 + index)
	] : [
		8193,
		2,
		0,
		side === "source" ? 0 : 32768,
		0,
		0,
		10,
		1 + index
	].flatMap(word);
}
const word = (value) => [value >>> 8, value & 255];

// src/lab/traffic/trafgen.ts
/** Sends until its standard input ends; then prints how long trafgen waited for its CPU, and trafgen's own log. */
const senderScript = readFileSync(new URL("../../trafgen.sh", import.meta.url));
/** `script` is the path of `senderScript` on the sender. */
function senderCommand(request) {
	const { script, cpu, offeredPps, flows, limitSeconds } = request;
	return shell`bash ${script} ${request.interface} ${cpu} ${offeredPps} ${flows} ${limitSeconds}`;
}
/**
* Reads the line before trafgen's log and the summary at its end: the packets handed to the kernel, and the duration.
*/
function parseTrafgenLog(log) {
	const packets = /^[ \t]*(\d+) packets outgoing$/m.exec(log)?.[1];
	const time = /^[ \t]*(\d+) sec, (\d+) usec on CPU/m.exec(log);
	const seconds = Number(time?.[1]) + Number(time?.[2]) / 1e6;
	if (packets === void 0 || !(seconds > 0)) {
		const lastLine = log.trim().split("\n").at(-1) ?? "";
		return {
			kind: "failed",
			reason: `trafgen ended without its summary: "${shortened(lastLine)}"`
		};
	}
	const waitedRatio = waitedShare(log);
	return {
		kind: "sent",
		packets: Number(packets),
		seconds,
		offeredPps: Number(packets) / seconds,
		...waitedRatio === void 0 ? {} : { waitedRatio }
	};
}
/** A share of one CPU. Only the first line counts, which trafgen cannot forge. */
function waitedShare(log) {
	const [, ns, ticks, start, end] = waitingLine.exec(log) ?? [];
	const seconds = Number(end) - Number(start);
	if (!(seconds > 0)) return void 0;
	return Math.min(1, (Number(ns) + Number(ticks) * nsPerTick) / 1e9 / seconds);
}
const waitingLine = /^waited (\d{1,15}) ns and (\d{1,9}) ticks from (\d{1,10}\.\d{6}) to (\d{1,10}\.\d{6})\n/;

export { interruptCommand, ipAddress, isReady, lineAt, lineRate, parsePktGenLog, parseTrafgenLog, printingProcessId, processIdIn, receiverCommand, senderCommand, senderCommand$1, senderScript, trafgenFlows };