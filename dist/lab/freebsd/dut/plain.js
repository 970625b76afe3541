import { lastLine } from "../../../model/first-plain.js";
import { commandText, shell } from "../../../system/shell.js";
import { HostError, ownFolder } from "../../../system/host/first-plain.js";
import { countersIn } from "../../plain.js";

// src/lab/freebsd/dut/slices.ts
const attributes = {
	MBR: "active",
	GPT: "bootme"
};
/** Throws if fstab and the table disagree. */
async function nextRoot(host) {
	const slices = await slicesOf(host);
	const expected = slices.providers.get(slices.root);
	const [active, ...more] = slices.active;
	if (active === expected && more.length === 0) return slices.root;
	const marked = slices.active.join(" and ") || "none";
	throw refusal(host, `/etc/fstab has its root on ${slices.root} (${expected}), and ${attributes[slices.scheme]} on ${slices.disk} is ${marked}`, "check `gpart show -p` there, and make one slice active manually");
}
/** Throws for any disk but an appliance's, as BSDRP installs it. */
async function slicesOf(host) {
	const fstab = await host.output(shell`cat /etc/fstab`);
	const root = fstab.split("\n").map(fieldsOf).find(([, path]) => path === "/")?.[0];
	if (root === void 0) throw noAppliance(host, "/etc/fstab names no root");
	const providers = providersOf(await host.output(shell`glabel status -s`));
	const [, disk] = /^([a-z]+\d+)[ps]\d+$/.exec(providers.get(root) ?? "") ?? [];
	if (disk === void 0) throw noAppliance(host, `glabel(8) shows no slice labelled as its root, ${root}`);
	const table = readTable(await host.output(shell`gpart show -p ${disk}`));
	if (table === void 0) throw noAppliance(host, `${disk} has neither an MBR nor a GPT with known attributes`);
	return {
		disk,
		root,
		fstab,
		providers,
		...table
	};
}
const fieldsOf = (line) => line.trim().split(/\s+/);
/** Reads `gpt/BSDRP1  N/A  ada0p3`; in a slice with partitions, the first is the root. */
const providersOf = (status) => new Map(status.split("\n").map(fieldsOf).flatMap(([label, , provider]) => provider === void 0 ? [] : [[`/dev/${label}`, provider.replace(/(s\d+)a$/, "$1")]]));
/** Reads `=> 40 31277152 ada0 GPT (15G)`, and rows like `3223 4194304 ada0p3 freebsd-ufs [bootme] (2.0G)`. */
function readTable(text) {
	const [, scheme] = /^=>\s+\d+\s+\d+\s+\S+\s+(\S+)/m.exec(text) ?? [];
	if (scheme !== "MBR" && scheme !== "GPT") return void 0;
	const marks = [...text.matchAll(/^ +\d+ +\d+ +(\S+) .*\[([^\]]*)\]/gm)].map(([, provider = "", words = ""]) => ({
		provider,
		words: words.split(",")
	}));
	return marks.every(({ words }) => words.every((word) => word === attributes[scheme])) ? {
		scheme,
		active: marks.map(({ provider }) => provider)
	} : void 0;
}
const noAppliance = (host, why) => refusal(host, why, "it is not an appliance built by nanobsd(8) or poudriere-image(8), so choose another boot method");
const refusal = (host, why, fix) => new HostError("command-failed", `${host.name} would boot an unknown system: ${why}; ${fix}.`);

// src/lab/freebsd/dut/counters.ts
const interfaceCounters = shell`netstat -i -b -n -W`;
const protocolStatistics = shell`netstat -s`;
const cpuTimesCommand = shell`sysctl -n kern.cp_times`;
const interruptsCommand = shell`vmstat -i`;
const netisrCommand = shell`netstat -Q`;
/** All that count packets of every DUT. */
const packetCounters = [interfaceCounters, protocolStatistics];
/** Includes the statistics of cards whose drivers are listed below. */
function countersCommands(interfaces) {
	return [
		...packetCounters,
		netisrCommand,
		cpuTimesCommand,
		interruptsCommand,
		...interfaces.flatMap(cardStatistics)
	];
}
/** Nodes of the card's own counters, by driver. */
const statisticsNodes = {
	cc: ["stats"],
	cxgbe: ["stats"],
	cxl: ["stats"],
	em: ["mac_stats"],
	igb: ["mac_stats"],
	igc: ["mac_stats"],
	ix: ["mac_stats"],
	ixl: ["mac"],
	mce: ["pstats", "vstats"]
};
function cardStatistics(name) {
	const [, driver = "", unit] = /^([a-z]+)(\d+)$/.exec(name) ?? [];
	return (statisticsNodes[driver] ?? []).map((node) => shell`sysctl ${`dev.${driver}.${unit}.${node}`}`);
}
/** Formats both readings for people: each command with its output before and after the trial. */
function countersLog(before, after) {
	return [.../* @__PURE__ */ new Set([...before.keys(), ...after.keys()])].flatMap((command) => [section(`before: ${command}`, before.get(command)), section(`after: ${command}`, after.get(command))]).join("\n");
}
const section = (title, output = "failed") => `==> ${title}\n${output.trimEnd()}\n`;
/**
* Share of the CPUs' time between two readings that was not idle; undefined if a reading is missing, or the host has
* booted in between. Includes the time between readings and packets: a DUT that is busy for a trial of 60 s, and idle
* for 10 s around it, has 0.86.
*/
function busyShare(before, after) {
	const running = timeBetween(before, after).filter(({ busy, idle }) => busy + idle > 0);
	if (running.length === 0) return void 0;
	return {
		overallRatio: shareOf(sumOf(running)),
		busiestCpuRatio: running.reduce((most, cpu) => Math.max(most, shareOf(cpu)), 0)
	};
}
/** Busy share of each CPU, 0 for a disabled one; empty if a reading is missing, or the host has booted in between. */
const cpuBusyRatios = (before, after) => timeBetween(before, after).map((cpu) => cpu.busy + cpu.idle > 0 ? shareOf(cpu) : 0);
function timeBetween(before, after) {
	const earlier = parseCpuTimes(before.get(commandText(cpuTimesCommand)) ?? "");
	const spent = parseCpuTimes(after.get(commandText(cpuTimesCommand)) ?? "").map((cpu, index) => difference(cpu, earlier[index]));
	const isBooted = spent.some(({ busy, idle }) => busy < 0 || idle < 0);
	return spent.length !== earlier.length || isBooted ? [] : spent;
}
/** A CPU is in user mode, niced, in the kernel, in interrupts or idle: see `CPUSTATES` in FreeBSD's sys/resource.h. */
const cpuStates = 5;
/** Reads `sysctl -n kern.cp_times`, CPU by CPU; empty for any other text. */
function parseCpuTimes(text) {
	const ticks = text.trim().split(/\s+/).map(Number);
	if (text.trim() === "" || ticks.length % cpuStates !== 0 || !ticks.every(Number.isFinite)) return [];
	return Array.from({ length: ticks.length / cpuStates }, (_, cpu) => {
		const states = ticks.slice(cpu * cpuStates, (cpu + 1) * cpuStates);
		const idle = states.at(-1) ?? 0;
		return {
			busy: states.reduce((total, state) => total + state, 0) - idle,
			idle
		};
	});
}
const difference = (after, before = {
	busy: 0,
	idle: 0
}) => ({
	busy: after.busy - before.busy,
	idle: after.idle - before.idle
});
const sumOf = (times) => ({
	busy: times.reduce((total, { busy }) => total + busy, 0),
	idle: times.reduce((total, { idle }) => total + idle, 0)
});
const shareOf = ({ busy, idle }) => busy / (busy + idle);
/** Packets sent by an interface between two readings; undefined if either is missing, or the interface was reset. */
const sentBetween = (before, after, name) => countedBetween([before, after], name, ({ sent }) => sent);
/** Packets that reached an interface between two readings, including dropped ones; undefined as for `sentBetween`. */
const arrivedBetween = (before, after, name) => countedBetween([before, after], name, ({ received, receiveErrors, receiveDrops }) => received + receiveErrors + receiveDrops);
function countedBetween(readings, name, countOf) {
	const [first, last] = readings.map((outputs) => {
		const counters = countersOf(outputs, name);
		return counters && countOf(counters);
	});
	return first === void 0 || last === void 0 || last < first ? void 0 : last - first;
}
const countersOf = (outputs, name) => parseInterfaceCounters(outputs.get(commandText(interfaceCounters)) ?? "").get(name);
/** All counters of an interface between two readings; undefined as for `sentBetween`. */
function interfaceBetween(before, after, name) {
	const [first, last] = [countersOf(before, name), countersOf(after, name)];
	if (first === void 0 || last === void 0) return void 0;
	const counted = {
		received: last.received - first.received,
		receiveErrors: last.receiveErrors - first.receiveErrors,
		receiveDrops: last.receiveDrops - first.receiveDrops,
		sent: last.sent - first.sent,
		sendErrors: last.sendErrors - first.sendErrors
	};
	return Object.values(counted).every((count) => count >= 0) ? counted : void 0;
}
/**
* Reads `netstat -s` by protocol and words, without text in brackets: `ip: packets forwarded`, or `icmp: time exceeded`
* of its histograms.
*/
function protocolCounters(outputs) {
	const counters = /* @__PURE__ */ new Map();
	let protocol = "";
	for (const line of (outputs.get(commandText(protocolStatistics)) ?? "").split("\n")) {
		protocol = /^(\w+):$/.exec(line)?.[1] ?? protocol;
		const [, digits, words] = /^\t(\d{1,15}) ([^(]{1,100}?)(?: \(.*)?$/.exec(line) ?? [];
		const [, message, times] = /^\t\t([a-z ]{1,40}): (\d{1,15})$/.exec(line) ?? [];
		if (words !== void 0) counters.set(`${protocol}: ${words}`, Number(digits));
		if (message !== void 0) counters.set(`${protocol}: ${message}`, Number(times));
	}
	return counters;
}
/** Queues of netisr(9) that packets pass on their way. */
const netisrQueues = /* @__PURE__ */ new Set([
	"ether",
	"ip",
	"ip6",
	"ip_direct",
	"ip6_direct"
]);
/** Reads `netstat -Q`: packets dropped by the full queues of each protocol, over all workstreams. */
function netisrDrops(outputs) {
	const drops = /* @__PURE__ */ new Map();
	for (const line of (outputs.get(commandText(netisrCommand)) ?? "").split("\n")) {
		const [, , name = "", , , , , digits, queued, handled, ...more] = line.trim().split(/\s+/);
		if (!(netisrQueues.has(name) && handled !== void 0 && more.length === 0) || ![
			digits,
			queued,
			handled
		].every((one) => /^\d{1,15}$/.test(one ?? ""))) continue;
		drops.set(name, (drops.get(name) ?? 0) + Number(digits));
	}
	return drops;
}
/** Reads `vmstat -i`: totals by the interrupt's name, as `ix0:rxq3`. */
function interrupts(outputs) {
	const lines = (outputs.get(commandText(interruptsCommand)) ?? "").split("\n");
	return new Map(lines.flatMap((line) => {
		const [, name = "", digits] = /^(?:irq\d+: )?(\S.{0,60}?)\s+(\d{1,15})\s+\d+\s*$/.exec(line) ?? [];
		return digits === void 0 ? [] : [[name, Number(digits)]];
	}));
}
/** Reads a card's counters, by the last part of their sysctl(8) names. */
function cardCounters(outputs, interfaceName) {
	const texts = cardStatistics(interfaceName).map((one) => outputs.get(commandText(one)) ?? "");
	return new Map([...countersIn(texts.join("\n"))].map(([name, value]) => [name.split(".").at(-1) ?? "", value]));
}
/** Reads `netstat -i -b -n -W`: the rows of interfaces, not of their addresses. */
function parseInterfaceCounters(text) {
	const [head = "", ...lines] = text.split("\n");
	const columns = words(head);
	const [ipkts = 0, ierrs = 0, idrop = 0, opkts = 0, oerrs = 0] = [
		"Ipkts",
		"Ierrs",
		"Idrop",
		"Opkts",
		"Oerrs"
	].map((column) => columns.indexOf(column) - columns.length);
	const counters = /* @__PURE__ */ new Map();
	for (const line of lines) {
		if (!line.includes("<Link#")) continue;
		const row = words(line);
		const [name = "", , network = ""] = row;
		if (!network.startsWith("<Link#")) continue;
		const values = {
			received: Number(row.at(ipkts)),
			receiveErrors: Number(row.at(ierrs)),
			receiveDrops: Number(row.at(idrop)),
			sent: Number(row.at(opkts)),
			sendErrors: Number(row.at(oerrs))
		};
		if (Object.values(values).every(Number.isFinite)) counters.set(name.replace(/\*$/, ""), values);
	}
	return counters;
}
const words = (line) => line.trim().split(/\s+/);

// src/lab/freebsd/dut/profile.ts
const sampleFile = (folder) => `${folder}/pmc.out`;
const graphFile = (folder) => `${folder}/pmc.graph`;
/** Loads hwpmc(4) for deep call chains, and finds an event that counts this CPU's cycles, or tries only `requested`. */
async function readySampling(host, folder, requested) {
	await host.output(ownFolder(folder));
	await host.run(shell`kenv ${`kern.hwpmc.callchaindepth=${maxFrames}`}`);
	const loaded = await host.run(shell`kldload -n hwpmc`);
	if (loaded.kind !== "exited" || loaded.code !== 0) return impossible(`hwpmc cannot be loaded on the DUT: ${lastLine(loaded.stderr) ?? "it said nothing"}`);
	let message = "";
	for (const event of requested === void 0 ? cycleEvents : [requested]) {
		const tried = await host.run(samplingOnly(event, 1, folder));
		if (tried.kind === "exited" && tried.code === 0) return {
			kind: "ready",
			event
		};
		message ||= lastLine(tried.stderr) ?? "";
	}
	return impossible(`the DUT's CPU samples ${requested ?? "none of the known cycle events"} (${message}): set \`profile.event\` to an event that \`pmccontrol -L\` lists`);
}
const impossible = (reason) => ({
	kind: "impossible",
	reason
});
/** Depth of stacks in hwpmc(4), if set before it is loaded, and in pmcstat's output. */
const maxFrames = 100;
/**
* Events of Intel, Intel's Atoms, AMD since Zen, AMD before, Arm; and the older name on all of x86: see pmc(3), related
* pages, and libpmc's tables. An Atom has no hardware threads; `unhalted-cycles` counts the cycles of one.
*/
const cycleEvents = [
	"cpu_clk_unhalted.thread_p",
	"cpu_clk_unhalted.core_p",
	"ls_not_halted_cyc",
	"BU_CPU_CLK_UNHALTED",
	"CPU_CYCLES",
	"unhalted-cycles"
];
const samplingOnly = (event, seconds, folder) => shell`pmcstat -S ${event} -l ${seconds} -O ${sampleFile(folder)}`;
/** Waits, and reads the counters of the interfaces before and after the command given as arguments. */
const windowScript = "sleep \"$1\"; shift; netstat -i -b -n -W; \"$@\" || exit; netstat -i -b -n -W";
/** Under load, the command's output arrives only after the load has ended. */
const windowCommand = ({ event, delaySeconds, seconds }, folder) => shell`sh -c ${windowScript} sh ${delaySeconds} ${samplingOnly(event, seconds, folder)}`;
/** Packets that an interface sent within the window; undefined if the log has no counters. */
function sentWithin(log, interfaceName) {
	const [before, after] = log.split(/^(?=Name\s)/m).map((text) => parseInterfaceCounters(text).get(interfaceName)?.sent);
	return before === void 0 || after === void 0 ? void 0 : after - before;
}
/** Returns the call graph of the samples, after a line that names the running kernel. */
async function collectSamples(host, folder) {
	const graph = graphFile(folder);
	const kernel = (await host.output(shell`uname -v`)).trim();
	await host.output(shell`pmcstat -R ${sampleFile(folder)} -z ${maxFrames} -G ${graph}`);
	const text = await host.output(shell`cat ${graph}`, { maxOutputBytes: maxGraphBytes });
	return `# kernel: ${kernel.replace(/\s+/g, " ")}\n${text}`;
}
async function endSampling(host, folder) {
	const commands = [shell`kldunload hwpmc`, shell`rm -f ${[sampleFile(folder), graphFile(folder)]}`];
	const limits = { timeoutSeconds: secondsToEnd };
	await Promise.allSettled(commands.map((command) => host.run(command, limits)));
}
const secondsToEnd = 60;
const maxGraphBytes = 256 * 1024 ** 2;

export { arrivedBetween, busyShare, cardCounters, collectSamples, countersCommands, countersLog, cpuBusyRatios, cpuTimesCommand, endSampling, fieldsOf, interfaceBetween, interrupts, interruptsCommand, netisrCommand, netisrDrops, nextRoot, packetCounters, parseCpuTimes, parseInterfaceCounters, protocolCounters, readySampling, sentBetween, sentWithin, slicesOf, windowCommand };