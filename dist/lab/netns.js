import { isSteady, steadyStretch } from "../analysis/stats.js";
import { object } from "../vendor/zod.js";
import { frameBytesFor } from "../config/first.js";
import { formatPercent, formatPps, lastLine, pathName, shortened } from "../model/first-plain.js";
import { isLinuxScenario, total } from "../model/first.js";
import { HostError, stdoutOf } from "../system/host/first-plain.js";
import { requirePrograms } from "../system/host/plain.js";
import { shell } from "../system/shell.js";
import { connectTo } from "./first-plain.js";
import { impossible, judgeProfile, missed } from "./plain.js";
import { droppedBy, limitsInLinuxLog, linuxDut, withEnds } from "./linux.js";
import { arrivalsAround, parseObservation } from "./linux/plain.js";
import { parseTrafgenLog, senderCommand, senderScript, trafgenFlows } from "./traffic/plain.js";
import { median } from "../analysis/stats/first.js";
const { isDeepStrictEqual } = globalThis.process.getBuiltinModule("node:util");
const { PassThrough } = globalThis.process.getBuiltinModule("node:stream");
const { setTimeout } = globalThis.process.getBuiltinModule("node:timers/promises");

// src/lab/netns/netns-run.ts
/** A DUT is not the limit if it forwards the whole load, or is busy for less than this share of the time. */
const minOfferedRatio = 1.02;
const minBusyRatio = .9;
/**
* Computes the medians of the samples. A hole, or a generator that was the limit, makes a run invalid. A DUT that
* received packets but forwarded none from the first sample to the last is valid, with 0.
*/
function measuredRun(planned, trial, samples, load) {
	const rates = samples.map((sample) => sample.forwardedPackets / sample.seconds);
	const stretch = samples.length < minForStretch ? {
		kind: "steady",
		from: 0,
		to: samples.length,
		medianPps: median(rates)
	} : steadyStretch(rates);
	if (stretch.kind === "unsteady" && rates.some((rate) => rate > 0)) {
		const validity = tooBusy(samples, load) ?? invalid("unsteady", `no steady rate: ${stretch.reason}`);
		return {
			...planned,
			trial,
			pps: median(rates),
			samples,
			validity
		};
	}
	const steady = stretch.kind === "steady" ? samples.slice(stretch.from, stretch.to) : samples;
	const pps = stretch.kind === "steady" ? stretch.medianPps : 0;
	const costs = steady.flatMap(nsPerPacket);
	return {
		...planned,
		trial,
		pps,
		...costs.length === steady.length ? { nsPerPacket: median(costs) } : {},
		samples,
		validity: validity(steady, pps, load)
	};
}
/** With fewer slices, a ramp looks like noise. */
const minForStretch = 10;
function nsPerPacket({ busySeconds, receivedPackets }) {
	return busySeconds && receivedPackets > 0 ? [busySeconds * 1e9 / receivedPackets] : [];
}
function validity(samples, pps, load) {
	if (samples.length === 0) return invalid("too-short", "no sample was taken");
	const holes = samples.filter((sample) => sample.forwardedPackets === 0);
	const isSilent = holes.length === samples.length;
	if (isSilent && samples.some((sample) => sample.receivedPackets > 0)) return { kind: "valid" };
	const isWhole = holes.length === 0;
	if (isWhole && isLimit(busyRatio(samples), pps, load)) return { kind: "valid" };
	if (isWhole) {
		const limited = generatorLimited(samples, pps, load);
		return waitedLong("sender", load.waitedRatio) ?? invalid("generator-limited", limited);
	}
	const silence = isSilent ? `no packet arrived for ${milliseconds(holes)} ms` : `no packet was forwarded for ${milliseconds(holes.slice(0, 1))} ms`;
	return tooBusy(samples, load) ?? invalid("hole", silence);
}
const tooBusy = (samples, { waitedRatio }) => waitedLong("sender", waitedRatio) ?? waitedLong("DUT", deniedRatio(samples));
/** Explains an invalid run: a process that was runnable without a CPU is not slow. */
function waitedLong(who, ratio = 0) {
	if (!(ratio >= minWaitedRatio)) return void 0;
	const waited = `the ${who} waited for a CPU ${Math.round(ratio * 100)} % of the time`;
	return invalid("machine-busy", `machine too busy: ${waited}; stop other programs on its machine, or wait until they end`);
}
/** On a quiet machine the sender waits for 2 % of the time. */
const minWaitedRatio = .05;
const milliseconds = (samples) => Math.round(sum(samples.map(({ seconds }) => seconds)) * 1e3);
/** Uses the DUT's own idle time: a sender that waits for the DUT offers no more than the DUT accepts. */
const isLimit = (busy, pps, { offeredPps }) => busy === void 0 ? offeredPps > pps * minOfferedRatio : busy > minBusyRatio;
/** Names no share of the offered load, which is known only for the whole trial. */
function generatorLimited(samples, pps, load) {
	const { offeredPps, forwardedPps } = load;
	const busy = busyRatio(samples);
	const share = formatPercent(forwardedPps / offeredPps);
	const trial = `${formatPps(forwardedPps)} of ${formatPps(offeredPps)} offered (${share}) in its whole trial`;
	const rates = `generator-limited: ${formatPps(pps)} came through in this run, ${trial}`;
	return busy === void 0 ? rates : `${rates}, and the DUT was busy for ${formatPercent(busy)} of the time`;
}
/** Share of the time in which the forwarding thread ran or was runnable; undefined if the DUT does not report it. */
function busyRatio(samples) {
	const busy = samples.flatMap(({ busySeconds, deniedSeconds = 0 }) => busySeconds === void 0 ? [] : busySeconds + deniedSeconds);
	if (busy.length < samples.length) return void 0;
	return sum(busy) / sum(samples.map((sample) => sample.seconds));
}
function deniedRatio(samples) {
	const seconds = sum(samples.map((sample) => sample.seconds));
	return Math.min(1, sum(samples.map(({ deniedSeconds = 0 }) => deniedSeconds)) / seconds);
}
const sum = (values) => values.reduce((total, value) => total + value, 0);
const invalid = (cause, reason) => ({
	kind: "invalid",
	cause,
	reason
});

// src/lab/netns/netns-logs.ts
/** Counted since the interfaces came up. */
const countersSchema = object({
	forwarded: total,
	received: total
});
const beforeAndAfter = object({
	before: countersSchema,
	after: countersSchema
});
const logNames = {
	dut: "dut.log",
	sender: "sender.log",
	counters: "counters.json"
};
/** The receiver must count more than this share of the DUT's forwarded packets. */
const minReceivedShare = .99;
/**
* A DUT that drops all traffic still sends packets of its own, such as neighbour discovery. One of them can arrive
* between the two readings of the counters.
*/
const maxUncountedPackets = 100;
/** `observation` has the reason of a stop, which its log lacks. */
function readLinuxLogs(planned, startedAt, logs, observation = parseObservation(logs.dut)) {
	const sent = parseTrafgenLog(logs.sender);
	if (sent.kind === "failed") return sent;
	if (observation.kind === "failed") return observation;
	const counted = countersOf(logs.counters);
	if (counted === void 0) return {
		kind: "failed",
		reason: `the counters cannot be read: "${shortened(logs.counters)}"`
	};
	const loss = lossBehindTheDut(counted);
	if (loss !== void 0) return {
		kind: "failed",
		reason: loss
	};
	const load = {
		...sent,
		forwardedPps: counted.forwarded / sent.seconds
	};
	const read = limitsInLinuxLog(logs.dut, planned.runs);
	const variants = new Set(planned.runs.map(({ variant }) => variant));
	const drops = new Map([...variants].map((one) => [one, droppedBy(logs.dut, pathName(one), read[one])]));
	const runs = planned.runs.map((run, index) => {
		const samples = observation.samplesPerRun[index] ?? [];
		const measured = measuredRun(run, planned.number, samples, load);
		const by = measured.pps === 0 ? drops.get(run.variant) : void 0;
		return by === void 0 ? measured : {
			...measured,
			droppedBy: by
		};
	});
	const { number, cell } = planned;
	const { seconds: trafficSeconds, offeredPps } = sent;
	const limits = Object.entries(read).map(([variant, one]) => {
		const share = Math.min(1, counted.received / Math.max(1, counted.forwarded));
		return [variant, withEnds(one, { countedPackets: one.receivedPackets * share })];
	});
	return {
		kind: "measured",
		runs,
		summary: {
			number,
			cell,
			startedAt,
			trafficSeconds,
			offeredPps,
			...limits.length > 0 && { limits: Object.fromEntries(limits) }
		}
	};
}
function lossBehindTheDut({ forwarded, received }) {
	return received < forwarded * minReceivedShare && forwarded - received > maxUncountedPackets ? `the receiver counted ${received} packets of the ${forwarded} that the DUT forwarded` : void 0;
}
function countersOf(text) {
	try {
		const { before, after } = beforeAndAfter.parse(JSON.parse(text));
		return {
			forwarded: after.forwarded - before.forwarded,
			received: after.received - before.received
		};
	} catch {
		return;
	}
}

// src/lab/netns/netns-testbed.ts
const ourFolder = "/run/ppsgate";
const senderFolder = `${ourFolder}/sender`;
const slicesPerRun = 3;
/** Above the rate of any card, so that trafgen sends as fast as it can. */
const maxPps = 1e9;
/** An installation lasts about 20 ms, many times longer on a busy machine. */
const installSeconds = .5;
/** Ends processes of a lost controller. Throws a HostError if a host is unreachable or lacks a needed program. */
async function openLinuxTestbed(name, config, traffic, connect = connectTo) {
	await using opened = new AsyncDisposableStack();
	const sender = opened.use(await connect(config.sender, "sender"));
	await requirePrograms(sender, neededPrograms.sender, "apt-get install");
	await endPrograms(sender);
	const dutHost = opened.use(await connect(config.dut, "DUT"));
	await requirePrograms(dutHost, neededPrograms.dut, "apt-get install");
	await endPrograms(dutHost);
	const receiver = opened.use(await connect(config.receiver, "receiver"));
	const dut = linuxDut(dutHost, config.dut, traffic.packets?.addresses);
	const lab = {
		config,
		traffic,
		sender,
		dutHost,
		receiver,
		dut
	};
	const connections = opened.move();
	let readied;
	let warnings = [];
	return {
		name,
		async inspect() {
			const warnings = (await dut.leftovers([config.dut.ingress, config.dut.egress])).map(({ why, fix }) => `On the DUT ${why}: ${fix}.`);
			return {
				fingerprint: await dut.fingerprint(),
				warnings
			};
		},
		async prepare({ variants, cells, notify }) {
			if (isDeepStrictEqual(readied, {
				variants,
				cells
			})) return { kind: "ready" };
			readied = void 0;
			notify("installing each variant once");
			await uploadSender(lab, cells);
			const scenarios = [...new Set(cells.map((cell) => cell.scenario))].filter(isLinuxScenario);
			const prepared = await dut.prepare(variants, scenarios);
			if (prepared.kind === "rejected") return prepared;
			readied = {
				variants,
				cells
			};
			warnings = prepared.warnings;
			return { kind: "ready" };
		},
		ready: () => new Set(readied?.variants.map(({ variant }) => variant)),
		async trial(planned, keepLog, signal) {
			const outcome = await trial(lab, planned, keepLog, signal);
			return warnings.length === 0 ? outcome : {
				...outcome,
				warnings: warnings.splice(0)
			};
		},
		booted: () => void 0,
		profile: (request, keepLog, signal) => profile(lab, request, keepLog, signal),
		async restore() {
			if (connections.disposed) return;
			await using _closed = connections;
			await endPrograms(sender);
			await endPrograms(dutHost);
			await dut.restore();
			await sender.output(shell`rm -rf ${senderFolder}`);
		}
	};
}
/** The receiver needs no program, as its kernel counts. perf(1) is optional. */
const neededPrograms = {
	sender: [
		"bash",
		"pkill",
		"taskset",
		"trafgen"
	],
	dut: [
		"bash",
		"flock",
		"nft",
		"pkill",
		"sysctl",
		"taskset"
	]
};
/** Pattern for pgrep and pkill. Embedded hosts share one machine, but every match in their namespace is ours. */
const ourPrograms = shell`--ns $$ --nslist net -f ${`^(bash ${ourFolder}/|trafgen )`}`;
const timesToTerminate = 20;
const timesToEnd = 50;
const secondsBetweenTimes = .1;
const secondsToSignal = 60;
/** A generator's script ends with its connection, which a controller that lost power never closes. */
async function endPrograms(host) {
	for (let time = 0; time < timesToEnd; time += 1) {
		const signal = time < timesToTerminate ? shell`-TERM` : shell`-KILL`;
		const command = shell`pkill ${signal} ${ourPrograms}`;
		const outcome = await host.run(command, { timeoutSeconds: secondsToSignal });
		if (outcome.kind === "exited" && outcome.code === 1) return;
		stdoutOf(outcome, host.name, command);
		await setTimeout(secondsBetweenTimes * 1e3);
	}
	throw new HostError("command-failed", `Programs of an experiment on ${host.name} do not exit: check what they wait for, or reboot it.`);
}
const flowsPath = (cell, traffic) => `${senderFolder}/${cell.family}.${frameBytesFor(traffic, cell)}.flows`;
const senderScriptPath = `${senderFolder}/send.bash`;
async function uploadSender(lab, cells) {
	const { sender, dutHost, config, traffic } = lab;
	await sender.output(shell`mkdir -p ${senderFolder}`);
	await sender.upload(senderScript, senderScriptPath, 493);
	const [sourceMac, destinationMac] = await Promise.all([macAddress(sender, config.sender.interface), macAddress(dutHost, config.dut.ingress)]);
	const { flows, packets } = traffic;
	const byPath = new Map(cells.map((cell) => [flowsPath(cell, traffic), cell]));
	for (const [path, cell] of byPath) {
		const frameBytes = frameBytesFor(traffic, cell);
		const { family } = cell;
		const frames = trafgenFlows({
			family,
			flows,
			frameBytes,
			packets,
			sourceMac,
			destinationMac
		});
		await sender.upload(Buffer.from(frames), path, 384);
	}
}
async function macAddress(host, name) {
	return (await host.output(shell`cat ${`/sys/class/net/${name}/address`}`)).trim();
}
async function trial(lab, planned, keepLog, signal) {
	const { traffic, config } = lab;
	const secondsPerRun = installSeconds + traffic.settleSeconds + traffic.measureSeconds;
	const limitSeconds = Math.ceil(30 + traffic.warmUpSeconds + planned.runs.length * secondsPerRun);
	const before = await counters(lab);
	const startedAt = (/* @__PURE__ */ new Date()).toISOString();
	const sending = startSender(lab, planned.cell, limitSeconds, signal);
	const { log, observation } = await lab.dut.observe({
		ingress: config.dut.ingress,
		egress: config.dut.egress,
		cpu: config.dut.cpu,
		scenario: planned.cell.scenario,
		warmUpSeconds: traffic.warmUpSeconds,
		settleSeconds: traffic.settleSeconds,
		...slicesOf(traffic),
		variants: planned.runs.map((run) => run.variant)
	}, {
		timeoutSeconds: limitSeconds,
		signal,
		isEnough: enoughFor(traffic)
	}).finally(() => sending.stop());
	const senderLog = await sending.log;
	const after = await counters(lab);
	const logs = {
		dut: log,
		sender: senderLog,
		counters: `${JSON.stringify({
			before,
			after
		}, null, 2)}\n`
	};
	for (const which of [
		"dut",
		"sender",
		"counters"
	]) await keepLog(logNames[which], logs[which]);
	return readLinuxLogs(planned, startedAt, logs, observation);
}
async function profile(lab, { cell, variant, seconds, event }, keepLog, signal) {
	const why = await whyNoPerf(lab.dutHost);
	if (why !== void 0) return impossible(why);
	const { ingress, cpu } = lab.config.dut;
	const { warmUpSeconds } = lab.traffic;
	const timeoutSeconds = Math.ceil(30 + warmUpSeconds + seconds);
	const { scenario } = cell;
	const sending = startSender(lab, cell, timeoutSeconds, signal);
	const sampled = await lab.dut.sample({
		ingress,
		cpu,
		scenario,
		warmUpSeconds,
		seconds,
		event,
		variant
	}, {
		timeoutSeconds,
		signal
	}).finally(() => sending.stop());
	await keepLog(logNames.sender, await sending.log);
	await keepLog(logNames.dut, sampled.stdout + sampled.stderr);
	if (sampled.kind === "signaled" || sampled.code !== 0) return missed(`the DUT could not be sampled: ${lastLine(sampled.stderr) ?? "it said nothing"}`);
	const arrivals = arrivalsAround(sampled.stdout);
	if (arrivals === void 0 || !(arrivals.withinPps > 0 && arrivals.afterPps > 0)) return missed("packets did not flow during the whole sampling window");
	const text = await lab.dut.printSamples();
	return judgeProfile(text, {
		event: event ?? "cycles",
		kernel: "an unknown kernel"
	}, keepLog);
}
async function whyNoPerf(dut) {
	const outcome = await dut.run(shell`perf --version`);
	if (outcome.kind === "exited" && outcome.code === 0) return void 0;
	return `perf does not run on the DUT (${lastLine(outcome.stderr) ?? "it said nothing"}): install it, for example from linux-perf or linux-tools`;
}
/** Samples runs of several seconds once per second, like pkt-gen. */
function slicesOf({ measureSeconds }) {
	const slices = Math.max(slicesPerRun, Math.floor(measureSeconds));
	return {
		sliceSeconds: measureSeconds / slices,
		slices
	};
}
function enoughFor({ measureAtLeastSeconds, measureSeconds }) {
	if (measureAtLeastSeconds >= measureSeconds) return void 0;
	const bounds = {
		atLeast: Math.ceil(measureAtLeastSeconds),
		toleranceRatio: .005
	};
	return (samples) => isSteady(samples.map(({ forwardedPackets, seconds }) => forwardedPackets / seconds), bounds);
}
function startSender(lab, cell, limitSeconds, signal) {
	const stdin = new PassThrough();
	const command = senderCommand({
		script: senderScriptPath,
		interface: lab.config.sender.interface,
		cpu: lab.config.sender.cpu,
		offeredPps: lab.traffic.offeredPps ?? maxPps,
		flows: flowsPath(cell, lab.traffic),
		limitSeconds
	});
	const log = lab.sender.output(command, {
		stdin,
		timeoutSeconds: limitSeconds + 10,
		signal
	});
	log.catch(() => {});
	return {
		log,
		stop: () => stdin.end()
	};
}
async function counters(lab) {
	const { dutHost, receiver, config } = lab;
	const [forwarded, received] = await Promise.all([counter(dutHost, config.dut.egress, "tx_packets"), counter(receiver, config.receiver.interface, "rx_packets")]);
	return {
		forwarded,
		received
	};
}
async function counter(host, name, kind) {
	return Number(await host.output(shell`cat ${`/sys/class/net/${name}/statistics/${kind}`}`));
}

export { logNames, neededPrograms, openLinuxTestbed, ourFolder, ourPrograms, readLinuxLogs };