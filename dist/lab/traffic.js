import { destinationOf, flowSlices, formatPercent, formatPps, grouped, lastLine, netmapPort, parseCapture, shortened, sourceOf } from "../model.js";
import { defaultBounds, formatGeneral, holes, isSteady, median, secondsUntilSteady, steadyStretch } from "../analysis/stats.js";
import { shell } from "../system/host.js";
import { nsPerTick } from "./linux.js";
import { readFileSync } from "node:fs";

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
/** Far longer than any of pkt-gen's; the rest of a line is ignored. */
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
/** pkt-gen prints a duration since 1970, negated, where its threads never saw a start. */
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
		message: `no log of pkt-gen: it ${description(text.slice(0, longestLine))}`
	};
}
function description(start) {
	if (start.trim() === "") return "is empty";
	if (start.includes("\0")) return "is binary";
	if (/^CMD\b.{0,255}: equilibrium |using equilibrium throughput/m.test(start)) return "is equilibrium's, which varies the load that it offers";
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
const smallestFrameBytes$1 = 64;
/** Preamble, start delimiter and the gap between frames, IEEE 802.3. */
const wireBytesPerFrame = 20;
/** Clocks differ: a generator's second may be longer than its wire's. */
const clockTolerance = 1.001;
function lineAt(bitsPerSecond, frameBytesWithoutCrc) {
	return {
		bitsPerSecond,
		pps: bitsPerSecond / ((Math.max(smallestFrameBytes$1, frameBytesWithoutCrc + crcBytes$2) + wireBytesPerFrame) * 8)
	};
}
/** Returns the slowest standard Ethernet speed that carries that rate, and its maximum rate; undefined if none does. */
const lineRate = (pps, frameBytesWithoutCrc) => gigabitSpeeds.map((gigabits) => lineAt(gigabits * 1e9, frameBytesWithoutCrc)).find((line) => pps <= line.pps * clockTolerance);

// src/lab/traffic/pkt-gen-run.ts
/**
* Reads the receiver's log and any senders'. Validity depends on the steady stretch, for either median. A run counts with 0
* where the DUT received its packets, and forwarded none from the first second to the last.
*/
function pktGenRun(receiver, sender, options) {
	const { netbenchesTrim, requestedPps = [], egressPackets, ingressPackets } = options;
	const senders = namedSenders([sender ?? []].flat());
	const pps = ratesOf(receiver);
	const stretch = steadyStretch(pps);
	const counted = netbenchesTrim ? netbenchesRates(receiver) : ratesWithin(receiver, stretch);
	const seconds = sum(counted.map(({ intervalSeconds }) => intervalSeconds));
	const medianPps = median(counted.map(({ pps }) => pps));
	const offeredPps = offeredBy(senders);
	const steadyAfterSeconds = secondsUntilSteady(pps);
	const dut = {
		egressPackets,
		ingressPackets
	};
	const fault = isSilent(receiver) ? brokenLog(receiver, senders) ?? unlessDropped(receiver, senders, dut) ?? slowSender(senders, requestedPps) : brokenLog(receiver, senders) ?? unsteady(receiver, stretch) ?? tooShort(receiver, seconds) ?? hole(receiver, stretch) ?? unsteadySender(senders) ?? slowSender(senders, requestedPps) ?? receiverLimited(receiver, medianOf(stretch), senders, egressPackets) ?? generatorLimited(medianOf(stretch), offeredPps, senders, options);
	return {
		medianPps: netbenchesTrim ? asPrinted(medianPps) : medianPps,
		...offeredPps === void 0 ? {} : { offeredPps },
		seconds,
		...steadyAfterSeconds === void 0 ? {} : { steadyAfterSeconds },
		validity: fault ?? { kind: "valid" }
	};
}
const invalid = (cause, reason) => ({
	kind: "invalid",
	cause,
	reason
});
const ratesOf = (log) => log.rates.map(({ pps }) => pps);
const namedSenders = (logs) => logs.map((log, index) => ({
	name: logs.length === 1 ? "sender" : `sender ${index + 1}`,
	log,
	stretch: steadyStretch(ratesOf(log))
}));
const medianOf = (stretch) => stretch.kind === "steady" ? stretch.medianPps : void 0;
function offeredBy(senders) {
	const medians = senders.flatMap(({ stretch }) => medianOf(stretch) ?? []);
	return medians.length === 0 || medians.length < senders.length ? void 0 : sum(medians);
}
const firstLinesDropped = 15;
const lastLinesDropped = 10;
/**
* Selects rates as the archive's script does: it drops the first 15 and the last 10 lines of a file, of any content, and
* then rates of zero. It ignores a line without its newline, and gives no number for 25 lines or fewer.
*/
function netbenchesRates({ rates, lines }) {
	return rates.filter(({ line, pps }) => line > firstLinesDropped && line <= lines - lastLinesDropped && pps > 0);
}
/** The archive's script reads medians from ministat's rows, which have eight digits. */
const asPrinted = (pps) => Number(formatGeneral(pps, 8));
function ratesWithin({ rates }, stretch) {
	return stretch.kind === "unsteady" ? [] : rates.slice(stretch.from, stretch.to);
}
const sum = (values) => values.reduce((total, value) => total + value, 0);
/** A log that is only truncated, or ends in garbage, still counts. */
function brokenLog(receiver, senders) {
	const [fault] = [{
		name: "receiver",
		log: receiver
	}, ...senders].flatMap(({ name, log }) => {
		const message = decisiveFault(log);
		return message === void 0 ? [] : invalid("broken-log", `${name}: ${message}`);
	});
	return fault;
}
const decisiveFault = ({ faults, rates }) => faults.find(({ kind }) => kind === "unreadable" || kind === "not-pkt-gen" || kind === "crashed" || kind === "unread-rate" && rates.length === 0)?.message;
const isSilent = ({ rates }) => rates.length > 0 && rates.every(({ pps }) => pps === 0);
/** The DUT must have received this share of the sent packets: some cards count only a part of those they drop. */
const leastArrivedRatio = .5;
/** A larger share of the sent packets is not ARP or similar traffic. */
const mostBesideRatio = 1e-4;
/**
* Accepts silence only if the DUT's own ports prove it: packets came in, and none went out. A dead link looks alike.
*/
function unlessDropped({ rates }, senders, { egressPackets, ingressPackets }) {
	const seconds = sum(rates.map(({ intervalSeconds }) => intervalSeconds));
	const silence = `not one packet came through in ${seconds.toFixed(0)} s`;
	const sent = sum(senders.map(({ log }) => packetsOf(log)));
	if (sent > 0 && egressPackets !== void 0 && egressPackets > mostBesideRatio * sent) {
		const left = `although ${grouped(egressPackets)} left the DUT`;
		return invalid("unsteady", `no steady rate: ${silence}, ${left}`);
	}
	const arrived = sent > 0 && egressPackets !== void 0 ? ingressPackets ?? 0 : 0;
	if (!(arrived > 0 && arrived >= leastArrivedRatio * sent)) {
		const counted = portsCounted({
			ingressPackets,
			egressPackets
		});
		return invalid("unsteady", `no steady rate: ${silence}, ${counted}`);
	}
	if (seconds >= 10) return unsteadySender(senders);
	return invalid("too-short", `${silence}, at least ${10} s are needed`);
}
/** A clause; a link that is down looks like a DUT that forwards nothing. */
function portsCounted({ ingressPackets, egressPackets }) {
	if (ingressPackets === void 0 || egressPackets === void 0) return "and it is not known what the ports of the DUT counted";
	return `and the ports of the DUT counted ${grouped(ingressPackets)} in and ${grouped(egressPackets)} out`;
}
function unsteady(receiver, stretch) {
	if (stretch.kind === "steady") return void 0;
	return invalid("unsteady", `no steady rate: ${stretch.reason}${cutNote(receiver)}`);
}
/** A shorter stretch gives no reliable median of one-second rates, and hides holes and drift. */
const leastSeconds = 10;
function tooShort(receiver, seconds) {
	if (seconds >= 10) return void 0;
	const few = `only ${seconds.toFixed(1)} s of steady traffic`;
	return invalid("too-short", `${few}, at least ${10} s are needed${cutNote(receiver)}`);
}
function cutNote({ faults }) {
	const unread = faults.find(({ kind }) => kind === "unread-rate" || kind === "cut");
	return unread === void 0 ? "" : ` (${unread.message})`;
}
function hole(receiver, stretch) {
	if (stretch.kind === "unsteady") return void 0;
	const [first] = holes(ratesOf(receiver), stretch, stretch.medianPps);
	if (first === void 0) return void 0;
	const rates = receiver.rates.slice(first.from, first.to);
	const seconds = sum(rates.map(({ intervalSeconds }) => intervalSeconds));
	const until = rates.at(-1)?.seconds ?? 0;
	const lost = rates.every(({ pps }) => pps === 0) ? "no packet" : "hardly a packet";
	const when = `${seconds.toFixed(1)} s, until ${until.toFixed(0)} s after the log's first rate`;
	return invalid("hole", `${lost} came through for ${when}`);
}
/** With an unsteady sender the offered rate is not known. */
function unsteadySender(senders) {
	const [fault] = senders.flatMap(({ name, stretch }) => stretch.kind === "steady" ? [] : invalid("unsteady", `${name}: no steady rate: ${stretch.reason}`));
	return fault;
}
/** A DUT forwards another number of packets under another load. */
const leastOfRequested = .95;
function slowSender(senders, requestedPps) {
	const [fault] = senders.flatMap(({ name, stretch }, index) => {
		const [sent, requested] = [medianOf(stretch), requestedPps[index]];
		if (sent === void 0 || requested === void 0 || sent >= leastOfRequested * requested) return [];
		const share = `${formatPps(sent)} of ${formatPps(requested)} (${formatPercent(sent / requested)})`;
		return invalid("generator-limited", `${name}: slower than requested, it sent ${share}`);
	});
	return fault;
}
/**
* The receiver must count this share of the packets that the DUT sent: a smaller loss hides no change beyond the default
* margin. Other packets of that port, such as ARP, are far fewer.
*/
const leastCountedRatio = .98;
/**
* Compares packets and rates, and uses the better ratio. A link that comes up late loses packets which some cards count as
* sent, at the same rate; a rate that falls as the DUT gets warm has a mean above its median, and loses no packets. Only a
* slow receiver fails both.
*/
function receiverLimited(receiver, medianPps, senders, egressPackets) {
	const seconds = Math.max(...senders.map(({ log }) => secondsSent(log)));
	if (medianPps === void 0 || !egressPackets || !(seconds > 0)) return void 0;
	const egressPps = egressPackets / seconds;
	const packetRatio = packetsOf(receiver) / egressPackets;
	if (Math.max(packetRatio, medianPps / egressPps) >= leastCountedRatio) return void 0;
	const counted = `the receiver counted ${formatPps(medianPps)}`;
	return invalid("receiver-limited", `receiver-limited: the DUT sent ${formatPps(egressPps)} and ${counted}`);
}
const packetsOf = ({ summary, rates }) => summary?.packets ?? sum(rates.map(({ packets }) => packets));
const secondsSent = ({ summary, rates }) => summary?.seconds ?? sum(rates.map(({ pps, intervalSeconds }) => pps > 0 ? intervalSeconds : 0));
/** A DUT that forwards this share of the load was not its limit. */
const saturatedRatio = .98;
/** Not known without a sender's log. */
function generatorLimited(medianPps, offeredPps, senders, { requestedPps = [], lineGigabits }) {
	if (medianPps === void 0 || offeredPps === void 0) return void 0;
	const ratio = medianPps / offeredPps;
	if (ratio < saturatedRatio) return void 0;
	const through = `${formatPps(medianPps)} came through in a median second, of ${formatPps(offeredPps)} offered on average`;
	const limit = limitNote(offeredPps, lineOf(offeredPps, senders, lineGigabits), requestedPps);
	return invalid("generator-limited", `generator-limited: ${through} (${formatPercent(ratio)})${limit}`);
}
/** Without its speed, a line is known only if the senders fill it. */
function lineOf(offeredPps, senders, gigabits) {
	const [frameBytes] = senders.flatMap(({ log }) => log.frameBytesWithoutCrc ?? []);
	if (frameBytes === void 0) return void 0;
	if (gigabits !== void 0) return lineAt(gigabits * 1e9, frameBytes);
	const line = senders.length > 1 ? void 0 : lineRate(offeredPps, frameBytes);
	return line !== void 0 && isFull(line, offeredPps) ? line : void 0;
}
const isFull = ({ pps }, offeredPps) => offeredPps >= saturatedRatio * pps;
function limitNote(offeredPps, line, requestedPps) {
	if (requestedPps.length > 0 && !(line !== void 0 && isFull(line, offeredPps))) return `, and traffic.rate is ${formatPps(sum(requestedPps))}`;
	if (line === void 0) return "";
	return `, and the line carries ${formatPps(line.pps)} (${line.bitsPerSecond / 1e9} Gbit/s)`;
}

// src/lab/traffic/pkt-gen-command.ts
/** Counts until the interrupt; timeout(1) then exits with 124. Rates are on stderr, the summary on stdout. */
function receiverCommand(request) {
	return shell`${interrupted(request)} pkt-gen -N -f rx ${opened(request)}`;
}
/** Addresses count up in the networks of RFC 2544 and RFC 5180. Throws a RangeError for an impossible frame size. */
function senderCommand$1(request) {
	const { family, flows, ports, threads, sourceMac, destinationMac } = request;
	const version = family === "inet4" ? shell`-4` : shell`-6`;
	const range = ranges[family];
	return shell`${interrupted(request)} pkt-gen -N -f tx ${opened(request)} -l ${bytesWithoutCrc(request)} ${version} -p ${threads} -S ${sourceMac} -s ${range.sources(flows, ports?.source?.first)} -d ${range.destinations(flows, ports?.destination?.first)} -D ${[destinationMac, ...optional(request)]}`;
}
/**
* Prints its process id on stderr: sshd signals no process when its channel closes. The quoting is safe for csh, too.
*/
const printingProcessId = (command) => shell`sh -c 'echo process $$ >&2; exec "$@"' sh ${command}`;
/** Prints its process id on stderr: sshd signals no process when its channel closes. Its quoting is safe for csh. */
function processIdIn(log) {
	const [, digits] = /^process (\d+)\r?\n/m.exec(log) ?? [];
	return digits === void 0 ? void 0 : Number(digits);
}
const interruptCommand = (processId) => shell`kill -INT ${processId}`;
const interrupted = ({ seconds }) => shell`timeout -s INT ${seconds}`;
const opened = ({ interface: name, settleSeconds }) => shell`-i ${netmapPort(name)} -w ${settleSeconds}`;
function bytesWithoutCrc({ family, frameBytes }) {
	const least = smallestFrameBytes[family];
	if (Number.isInteger(frameBytes) && frameBytes >= least && frameBytes <= longestFrameBytes) return frameBytes - crcBytes$1;
	throw new RangeError(`A frame of ${frameBytes} bytes cannot carry ${family} over Ethernet: choose one of ${least} to ${longestFrameBytes} bytes.`);
}
const crcBytes$1 = 4;
const smallestFrameBytes = {
	inet4: 64,
	inet6: 66
};
const longestFrameBytes = 1518;
function optional({ ratePps, threads, packets, updatesChecksums }) {
	return [
		...ratePps === void 0 ? [] : ["-R", Math.max(1, Math.round(ratePps / threads))],
		...packets === void 0 ? [] : ["-n", packets],
		...updatesChecksums ? ["-U"] : []
	];
}
/** Without a port, pkt-gen uses 1234 on both sides; pf drops port 0. */
const ranges = {
	inet4: {
		sources: ({ sources, firstSource = 1 }, port = 2e3) => `${inet4(18, firstSource)}:${port}-${inet4(18, firstSource + sources - 1)}`,
		destinations: ({ destinations }, port = 2e3) => `${inet4(19, 1)}:${port}-${inet4(19, destinations)}`
	},
	inet6: {
		sources: ({ sources, firstSource = 1 }, port) => `${inet6("10", firstSource)}${colon(port)}-${inet6("10", firstSource + sources - 1)}`,
		destinations: ({ destinations }, port) => `${inet6("8010", 1)}${colon(port)}-${inet6("8010", destinations)}`
	}
};
const colon = (port) => port === void 0 ? "" : `:${port}`;
/** The addresses of 198.18.0.0/16 or 198.19.0.0/16 from .10.1 on, counted from 1. */
const inet4 = (network, index) => `198.${network}.${10 + Math.floor(index / 256)}.${index % 256}`;
/** The addresses of 2001:2::/49 or 2001:2:0:8000::/49 in one of their subnets, counted from 1. */
const inet6 = (subnet, index) => `[2001:2:0:${subnet}::${index.toString(16)}]`;
/** True once pkt-gen has opened its port and waited for the link, so that the sender may start. */
const isReady = (logSoFar) => /^\d+\.\d+ \w+ \[\d+\] (?:Ready\.\.\.|reading from .*)\r?$/m.test(logSoFar);

// src/lab/traffic/pkt-gen-process.ts
/** In characters; a second has about a hundred. */
const mostOutput = 16 * 1024 ** 2;
/** pkt-gen's rates and messages go to stderr, its summary to stdout. */
function startPktGen(host, command) {
	const waiters = /* @__PURE__ */ new Set();
	let output = "";
	let isOver = false;
	let isUntouched = true;
	const onStderr = (chunk) => {
		if (output.length < mostOutput) output += Buffer.from(chunk).toString();
		for (const check of waiters) check();
	};
	const log = host.run(printingProcessId(command), { onStderr }).then(({ stdout }) => output + stdout).finally(() => {
		isOver = true;
		for (const check of waiters) check();
	});
	log.catch(() => {});
	const until = (holds) => new Promise((resolve) => {
		const check = () => {
			const isSatisfied = holds(output);
			if (!isSatisfied && !isOver) return;
			waiters.delete(check);
			resolve(isSatisfied);
		};
		waiters.add(check);
		check();
	});
	return {
		log,
		output: () => output,
		until,
		async interrupt() {
			await until((text) => processIdIn(text) !== void 0);
			const processId = processIdIn(output);
			if (processId === void 0 || isOver) return;
			isUntouched = false;
			await host.run(interruptCommand(processId));
		},
		isUntouched: () => isUntouched,
		isOver: () => isOver
	};
}
/** Never rejects: a lost connection rejects the log. */
async function endPktGens(processes) {
	await Promise.allSettled(processes.map((one) => one.interrupt()));
	await Promise.allSettled(processes.map(({ log }) => log));
}

// src/lab/traffic/pkt-gen-trial.ts
/**
* Opens all ports at once, or none, and returns when their links have settled. A receiver, which sends nothing, holds each
* sender's port, so that senders come and go without a link flap: netmap changes a driver's mode, which takes the link
* down, only when the first program opens a ring or the last one closes it (`nm_kring_pending` in netmap_do_regif of
* FreeBSD's sys/dev/netmap/netmap.c), and several programs may open the same rings. Throws the signal's reason.
*/
async function openPorts(hosts, { settleSeconds, seconds, holdsSenders }, signal) {
	const open = ({ host, interface: name }) => {
		const command = receiverCommand({
			interface: name,
			settleSeconds,
			seconds: settleSeconds + seconds
		});
		return startPktGen(host, command);
	};
	const receiver = open(hosts.receiver);
	const holders = holdsSenders ? hosts.senders.map(open) : [];
	const all = [receiver, ...holders];
	const over = new AbortController();
	const ready = Promise.all(all.map(({ until }) => until(isReady)));
	await Promise.race([ready, aborted(signal, over.signal)]);
	over.abort();
	const unready = all.findIndex((one) => one.isOver() || !isReady(one.output()));
	if (unready === -1 && !signal.aborted) {
		const output = receiver.output();
		return {
			kind: "open",
			ports: {
				receiver,
				head: output.slice(0, output.lastIndexOf("\n") + 1),
				holders,
				settleSeconds: holdsSenders ? 0 : settleSeconds
			}
		};
	}
	await endPktGens(all);
	signal.throwIfAborted();
	const outputs = await Promise.all(all.map(({ log }) => log));
	const [name, port] = unready === 0 ? ["receiver", hosts.receiver] : ["sender", hosts.senders[unready - 1]];
	const why = lastComplaint(outputs[unready] ?? "");
	return {
		kind: "failed",
		logs: {
			receiver: outputs[0] ?? "",
			senders: []
		},
		reason: `the ${name} on ${port?.interface} of ${port?.host.name} did not get ready: ${why}`
	};
}
const areOpen = ({ receiver, holders }) => ![receiver, ...holders].some((one) => one.isOver());
const closePorts = ({ receiver, holders }) => endPktGens([receiver, ...holders]);
/**
* All senders have ended when this returns or throws; the ports stay open. Throws the signal's reason; a HostError for a
* lost connection, whose generator ends when its time is over; a RangeError for flows that the senders cannot share, or an
* impossible frame size.
*/
async function trialThrough({ receiver, head, holders, settleSeconds }, senders, request, signal) {
	const trial = planned(senders, request, settleSeconds);
	const over = new AbortController();
	const cancelled = aborted(signal, over.signal);
	const from = receiver.output().lastIndexOf("\n") + 1;
	const since = (output) => output.slice(from);
	const sending = [];
	try {
		if (!signal.aborted) {
			sending.push(...trial.sends.map(({ host, command }) => startPktGen(host, command)));
			const enough = enoughFor(request);
			const steady = enough === void 0 ? [] : [receiver.until((output) => enough(since(output)))];
			const ended = [
				receiver,
				...holders,
				...sending
			].map(({ log }) => log);
			await Promise.race([
				...ended,
				...steady,
				cancelled
			]);
		}
	} finally {
		const last = Promise.allSettled(sending.map(({ log }) => log)).then(() => receiver.output());
		await endPktGens(sending);
		over.abort();
		if (sending.length > 0) await receiver.until(anotherRate(await last));
	}
	signal.throwIfAborted();
	await Promise.all([receiver, ...holders].filter((one) => one.isOver()).map(({ log }) => log));
	const logs = {
		receiver: head + since(receiver.output()),
		senders: await Promise.all(sending.map(({ log }) => log))
	};
	const reason = whyNotStarted(senders, logs, sending);
	if (reason !== void 0) return {
		kind: "failed",
		logs,
		reason
	};
	return {
		kind: "measured",
		logs,
		run: pktGenRun(parsePktGenLog(logs.receiver), logs.senders.map((log) => parsePktGenLog(log)), {
			netbenchesTrim: false,
			requestedPps: trial.requestedPps
		})
	};
}
/** Between opening the ports and the senders' start, and after they have ended. */
const spareSeconds = 20;
/** Time that ports have to be open for one trial, whose senders may wait for their own links. */
const secondsFor = (settleSeconds, trafficSeconds) => settleSeconds + trafficSeconds + spareSeconds;
/** Runs a single trial: opens the ports for it, and closes them. Throws like `trialThrough`. */
async function pktGenTrial(hosts, { settleSeconds, ...request }, signal) {
	const opened = await openPorts(hosts, {
		settleSeconds,
		seconds: secondsFor(settleSeconds, request.trafficSeconds),
		holdsSenders: false
	}, signal);
	if (opened.kind === "failed") return opened;
	try {
		return await trialThrough(opened.ports, hosts.senders, request, signal);
	} finally {
		await closePorts(opened.ports);
	}
}
function planned(senders, request, settleSeconds) {
	const { flows, ratePps, trafficSeconds } = request;
	const seconds = settleSeconds + trafficSeconds;
	const slices = flowSlices(flows, senders.length);
	const shares = ratePps === void 0 ? [] : slices.map(({ sources }) => ratePps * sources / flows.sources);
	return {
		sends: senders.map(({ host, ...port }, index) => {
			const slice = {
				flows: slices[index] ?? flows,
				ratePps: shares[index]
			};
			const times = {
				settleSeconds,
				seconds
			};
			return {
				host,
				command: senderCommand$1({
					...request,
					...port,
					...slice,
					...times
				})
			};
		}),
		requestedPps: shares
	};
}
const aborted = (signal, until) => new Promise((resolve) => {
	if (signal.aborted) resolve(false);
	signal.addEventListener("abort", () => resolve(false), {
		once: true,
		signal: until
	});
});
function enoughFor({ atLeastSeconds, trafficSeconds }) {
	if (atLeastSeconds === void 0 || atLeastSeconds >= trafficSeconds) return void 0;
	const atLeast = Math.max(10, Math.ceil(atLeastSeconds));
	const bounds = {
		...defaultBounds,
		atLeast
	};
	return (output) => isSteady(ratesIn(output), bounds);
}
const ratesIn = (log) => parsePktGenLog(log).rates.map(({ pps }) => pps);
/** Waits for the receiver's next rate, by which all packets in flight have arrived. */
function anotherRate(outputBefore) {
	const before = ratesIn(outputBefore).length;
	return (output) => ratesIn(output).length > before;
}
/** Ignores senders that were interrupted before they were ready. */
function whyNotStarted(senders, logs, sending) {
	const index = logs.senders.findIndex((log, at) => !isReady(log) && sending[at]?.isUntouched());
	const sender = senders[index];
	if (sender === void 0) return void 0;
	const why = lastComplaint(logs.senders[index] ?? "");
	return `the sender on ${sender.interface} of ${sender.host.name} did not start: ${why}`;
}
/** pkt-gen prints its complaint before its usage; the shell and timeout(1) print theirs alone. */
function lastComplaint(log) {
	const text = log.replace(/^process \d+\r?\n/m, "");
	const complaints = [...text.matchAll(/^\d+\.\d+ \w+ \[\d+\] (.*\S)/gm)].map(([, message = ""]) => message).filter((message) => message !== "aborting");
	return lastLine(complaints.at(-1) ?? text) ?? "it said nothing";
}

// src/lab/traffic/headers.ts
/** RFC 1071: the ones' complement of the ones' complement sum of 16-bit words. */
function internetChecksum(bytes) {
	let sum = 0;
	for (let index = 0; index < bytes.length; index += 2) sum += (bytes[index] ?? 0) << 8 | (bytes[index + 1] ?? 0);
	while (sum > 65535) sum = (sum & 65535) + (sum >>> 16);
	return ~sum & 65535;
}
/** Counts up from .10.1 in RFC 2544's networks (RFC 5180 for IPv6). */
const ipAddress = (family, side, index) => family === "inet4" ? [
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
const word = (value) => [value >>> 8, value & 255];

// src/lab/traffic/replay.ts
const hopLimit = 64;
/**
* Returns the packets of a family, from the IP header on, in the order of the capture. The sources and the destinations
* get the addresses of the test networks in the order in which they come first; ports and payloads stay.
*/
function replayed(capture, family) {
	const read = parseCapture(Buffer.from(capture, "base64"));
	if (read.kind === "refused") throw new TypeError(`The capture ${read.why}.`);
	const sources = /* @__PURE__ */ new Map();
	const destinations = /* @__PURE__ */ new Map();
	return read.packets.filter((packet) => packet.family === family).map((packet) => rewritten(packet, [...ipAddress(family, "source", indexOf(sourceOf(packet), sources)), ...ipAddress(family, "destination", indexOf(destinationOf(packet), destinations))]));
}
function indexOf(address, known) {
	const index = known.get(address) ?? known.size;
	known.set(address, index);
	return index;
}
function rewritten(packet, addresses) {
	const bytes = Buffer.from(packet.bytes);
	const isOld = packet.family === "inet4";
	bytes.set(addresses, isOld ? 12 : 8);
	bytes[isOld ? 8 : 7] = hopLimit;
	const payload = bytes.subarray(packet.payloadAt);
	const checksumAt = checksumOffsets[packet.family].get(packet.protocol);
	const isUnsummed = packet.protocol === 17 && isOld && payload.readUInt16BE(6) === 0;
	if (checksumAt !== void 0 && payload.length >= checksumAt + 2 && !isUnsummed) {
		payload.writeUInt16BE(0, checksumAt);
		const pseudoHeader = [
			...addresses,
			0,
			packet.protocol,
			...word(payload.length)
		];
		const checksum = internetChecksum([...pseudoHeader, ...payload]);
		payload.writeUInt16BE(checksum === 0 ? 65535 : checksum, checksumAt);
	}
	if (isOld) {
		bytes.writeUInt16BE(0, 10);
		bytes.writeUInt16BE(internetChecksum([...bytes.subarray(0, packet.payloadAt)]), 10);
	}
	return [...bytes];
}
/** Checksums that cover the addresses: of TCP, UDP and ICMPv6. */
const checksumOffsets = {
	inet4: /* @__PURE__ */ new Map([[6, 16], [17, 6]]),
	inet6: /* @__PURE__ */ new Map([
		[6, 16],
		[17, 6],
		[58, 2]
	])
};

// src/lab/traffic/flows.ts
const destinationsPerSource = 100;
const usualPort = {
	first: 2e3,
	last: 2e3
};
const crcBytes = 4;
const ethernetBytes = 14;
/** Without CRC. */
const leastFrameBytes = 60;
/** Frames have at least the family's minimum, as have those of a capture. */
function trafgenFlows(request) {
	const { flows, frameBytes, captured } = request;
	if (captured !== void 0) return written(replayed(captured, request.family).map((packet) => ethernetFrame(request, packet)));
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
	return written(frames);
}
const written = (frames) => frames.map((bytes) => `{ ${bytes.join(",")} }\n`).join("");
/** Spreads each size evenly, so that a short stretch has the mean of all: smooth weighted round robin. */
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
	return ethernetFrame(request, (request.family === "inet4" ? ipv4 : ipv6)(bytes, flow, request.packets));
}
function ethernetFrame({ family, ...macs }, packet) {
	const type = family === "inet4" ? [8, 0] : [134, 221];
	const header = [
		...macBytes(macs.destinationMac),
		...macBytes(macs.sourceMac),
		...type
	];
	return padded([...header, ...packet], leastFrameBytes);
}
const addressesOf = (family, flow) => [...ipAddress(family, "source", Math.floor(flow / destinationsPerSource)), ...ipAddress(family, "destination", flow % destinationsPerSource)];
const portOf = (flow, { first, last } = usualPort) => first + flow % (last - first + 1);
/** RFC 791. */
function ipv4(totalBytes, flow, packets = {}) {
	const addresses = addressesOf("inet4", flow);
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
function ipv6(totalBytes, flow, packets = {}) {
	const addresses = addressesOf("inet6", flow);
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
/** The pseudo header of both families comes to the same sum. */
function payloadOf(bytes, addresses, flow, packets) {
	const { source, destination } = packets.ports ?? {};
	const ports = [...word(portOf(flow, source)), ...word(portOf(flow, destination))];
	const write = packets.protocol === "tcp" ? tcpSegment : udpDatagram;
	const length = Math.max(bytes, write(0, ports, 0).length);
	const sum = [
		...addresses,
		0,
		protocolOf(packets),
		...word(length),
		...write(length, ports, 0)
	];
	const checksum = internetChecksum(sum);
	return write(length, ports, checksum === 0 ? 65535 : checksum);
}
/** RFC 768. */
const udpDatagram = (length, ports, checksum) => padded([
	...ports,
	...word(length),
	...word(checksum)
], length);
/** RFC 9293: a SYN, which firewalls take for the first packet of a connection; data may follow its header. */
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

// src/lab/traffic/trafgen.ts
/** Sends until its standard input ends; then prints how long trafgen waited for its CPU, and trafgen's own log. */
const senderScript = readFileSync(new URL("../trafgen.sh", import.meta.url));
/** `script` is the path of `senderScript` on the sender. */
function senderCommand(request) {
	const { script, cpu, offeredPps, flows, limitSeconds } = request;
	return shell`bash ${script} ${request.interface} ${cpu} ${offeredPps} ${flows} ${limitSeconds}`;
}
/** Reads the line before trafgen's log and the summary at its end: packets handed to the kernel, and in how long. */
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

export { areOpen, closePorts, openPorts, parsePktGenLog, parseTrafgenLog, pktGenRun, pktGenTrial, secondsFor, senderCommand, senderScript, trafgenFlows, trialThrough };