import { defaultBounds, holes, isSteady, secondsUntilSteady, steadyStretch } from "../analysis/stats.js";
import { flowSlices, formatPercent, formatPps, grouped, lastLine } from "../model/first-plain.js";
import { interruptCommand, isReady, lineAt, lineRate, parsePktGenLog, printingProcessId, processIdIn, receiverCommand, senderCommand$1 as senderCommand } from "./traffic/plain.js";
import { formatGeneral } from "../analysis/stats/plain.js";
import { median } from "../analysis/stats/first.js";

// src/lab/traffic/pkt-gen-run.ts
/**
* Reads the receiver's log and any senders' logs. The steady stretch decides validity, for either median. A run counts
* with 0 if the DUT received its packets, and forwarded none from the first second to the last.
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
const minArrivedRatio = .5;
/** A larger share of the sent packets is not ARP or similar traffic. */
const maxBesideRatio = 1e-4;
/**
* Accepts silence only if the DUT's own ports prove it: packets came in, and none went out. A dead link looks the same.
*/
function unlessDropped({ rates }, senders, { egressPackets, ingressPackets }) {
	const seconds = sum(rates.map(({ intervalSeconds }) => intervalSeconds));
	const silence = `no packet was received in ${seconds.toFixed(0)} s`;
	const sent = sum(senders.map(({ log }) => packetsOf(log)));
	if (sent > 0 && egressPackets !== void 0 && egressPackets > maxBesideRatio * sent) {
		const left = `although ${grouped(egressPackets)} left the DUT`;
		return invalid("unsteady", `no steady rate: ${silence}, ${left}`);
	}
	const arrived = sent > 0 && egressPackets !== void 0 ? ingressPackets ?? 0 : 0;
	if (!(arrived > 0 && arrived >= minArrivedRatio * sent)) {
		const counted = portsCounted({
			ingressPackets,
			egressPackets
		});
		return invalid("unsteady", `no steady rate: ${silence}, ${counted}`);
	}
	if (seconds >= 10) return unsteadySender(senders);
	return invalid("too-short", `${silence}, at least ${10} s are needed`);
}
/** Returns a clause, as a link that is down looks like a DUT that forwards nothing. */
function portsCounted({ ingressPackets, egressPackets }) {
	if (ingressPackets === void 0 || egressPackets === void 0) return "and the packet counters of the DUT are unknown";
	return `and the ports of the DUT counted ${grouped(ingressPackets)} in and ${grouped(egressPackets)} out`;
}
function unsteady(receiver, stretch) {
	if (stretch.kind === "steady") return void 0;
	return invalid("unsteady", `no steady rate: ${stretch.reason}${cutNote(receiver)}`);
}
/** A shorter stretch gives no reliable median of one-second rates, and hides holes and drift. */
const minSeconds = 10;
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
	const lost = rates.every(({ pps }) => pps === 0) ? "no packet" : "hardly any packet";
	const when = `${seconds.toFixed(1)} s, until ${until.toFixed(0)} s after the log's first rate`;
	return invalid("hole", `${lost} was received for ${when}`);
}
/** Without a steady sender, the offered rate is unknown. */
function unsteadySender(senders) {
	const [fault] = senders.flatMap(({ name, stretch }) => stretch.kind === "steady" ? [] : invalid("unsteady", `${name}: no steady rate: ${stretch.reason}`));
	return fault;
}
/** A DUT forwards a different number of packets under a different load. */
const minRequestedRatio = .95;
function slowSender(senders, requestedPps) {
	const [fault] = senders.flatMap(({ name, stretch }, index) => {
		const [sent, requested] = [medianOf(stretch), requestedPps[index]];
		if (sent === void 0 || requested === void 0 || sent >= minRequestedRatio * requested) return [];
		const share = `${formatPps(sent)} of ${formatPps(requested)} (${formatPercent(sent / requested)})`;
		return invalid("generator-limited", `${name}: it sent slower than requested, ${share}`);
	});
	return fault;
}
/**
* The receiver must count this share of the packets that the DUT sent: a smaller loss hides no change beyond the default
* margin. Other packets of that port, such as ARP, are far fewer.
*/
const minCountedRatio = .98;
/**
* Compares both packets and rates, and uses the better ratio. A link that comes up late loses packets that some cards
* count as sent, at the same rate. The rate of a DUT that warms up has a mean above its median, without any loss. Only
* a slow receiver fails both.
*/
function receiverLimited(receiver, medianPps, senders, egressPackets) {
	const seconds = Math.max(...senders.map(({ log }) => secondsSent(log)));
	if (medianPps === void 0 || !egressPackets || !(seconds > 0)) return void 0;
	const egressPps = egressPackets / seconds;
	const packetRatio = packetsOf(receiver) / egressPackets;
	if (Math.max(packetRatio, medianPps / egressPps) >= minCountedRatio) return void 0;
	const counted = `the receiver counted ${formatPps(medianPps)}`;
	return invalid("receiver-limited", `receiver-limited: the DUT sent ${formatPps(egressPps)} and ${counted}`);
}
const packetsOf = ({ summary, rates }) => summary?.packets ?? sum(rates.map(({ packets }) => packets));
const secondsSent = ({ summary, rates }) => summary?.seconds ?? sum(rates.map(({ pps, intervalSeconds }) => pps > 0 ? intervalSeconds : 0));
/** A DUT that forwards this share of the load did not limit the rate. */
const saturatedRatio = .98;
/** Returns undefined without a sender's log. */
function generatorLimited(medianPps, offeredPps, senders, { requestedPps = [], lineGigabits }) {
	if (medianPps === void 0 || offeredPps === void 0) return void 0;
	const ratio = medianPps / offeredPps;
	if (ratio < saturatedRatio) return void 0;
	const through = `${formatPps(medianPps)} came through in a median second, of ${formatPps(offeredPps)} offered on average`;
	const limit = limitNote(offeredPps, lineOf(offeredPps, senders, lineGigabits), requestedPps);
	return invalid("generator-limited", `generator-limited: ${through} (${formatPercent(ratio)})${limit}`);
}
/** Without the link's speed, finds the line rate only if the senders fill it. */
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

// src/lab/traffic/pkt-gen-trial.ts
/**
* Opens all ports at once, or none, and returns when their links have settled. A receiver, which sends nothing, holds
* each sender's port, so that senders start and end without a link flap.
* netmap changes a driver's mode, which takes the link down, only when the first program opens a ring or the last one
* closes it (`nm_kring_pending` in netmap_do_regif of FreeBSD's sys/dev/netmap/netmap.c). Several programs may open the
* same rings. Throws the signal's reason.
*/
async function openPorts(hosts, { settleSeconds, seconds, holdsSenders }, signal) {
	const open = ({ host, interface: name }) => {
		return startPktGen(host, receiverCommand({
			interface: name,
			settleSeconds,
			seconds: settleSeconds + seconds
		}));
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
		reason: `the ${name} on ${port?.interface} of ${port?.host.name} did not become ready: ${why}`
	};
}
const areOpen = ({ receiver, holders }) => ![receiver, ...holders].some((one) => one.isOver());
const closePorts = ({ receiver, holders }) => endPktGens([receiver, ...holders]);
/**
* Returns or throws only after all senders have ended; the ports stay open. Throws the signal's reason; a HostError for
* a lost connection, whose generator ends when its time is over.
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
/** Spare time between opening the ports and the start of the senders, and after their end. */
const spareSeconds = 20;
/** Time for which one trial needs its ports open; its senders may wait for their own links. */
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
				command: senderCommand({
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
/** In characters; a second has about 100. */
const maxOutput = 16 * 1024 ** 2;
/** pkt-gen's rates and messages go to stderr, its summary to stdout. */
function startPktGen(host, command) {
	const waiters = /* @__PURE__ */ new Set();
	let output = "";
	let isOver = false;
	let isUntouched = true;
	const onStderr = (chunk) => {
		if (output.length < maxOutput) output += Buffer.from(chunk).toString();
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

export { areOpen, closePorts, openPorts, pktGenRun, pktGenTrial, secondsFor, trialThrough };