import { frameBytesFor } from "../config/first.js";
import { number, object } from "../vendor/zod.js";
import { BuilderError, noSums } from "../kernel/first-plain.js";
import { HostError, isGood, ownFolder, stdoutOf } from "../system/host/first-plain.js";
import { requirePrograms, thisMachine } from "../system/host/plain.js";
import { commandText, shell } from "../system/shell.js";
import { ConsoleRecorder } from "./console.js";
import { DutLostError, hasBootedSinceMark, isOurs, isSamePlace, markBoot, runningSystem, whyOther, whyUnfit } from "./freebsd/boot/first-plain.js";
import { PowerError } from "./power/first-plain.js";
import { bootEnvironment, loadedFiles, loadedModules, nanobsd, nextboot } from "./freebsd/boot/plain.js";
import { PreflightError, afterLoss, afterRefusal, bootFor, bootOf, bootsOf, bounded, droppingRules, failed, fingerprintOfDut, inspectDut, nameOfFirewallRule, otherFilters, panicSince, parseIfconfig, pathProblem, portsOf, readAll, rejected, requireMtu, setListed, setReference, takeWarnings, tracesOf, waitForDump } from "./freebsd/plain.js";
import { flowRanges, flowSlices, formatPercent, lastLine, layoutName, netmapPort, pathName, reasonOf } from "../model/first-plain.js";
import "./power.js";
import { impossible as impossible$1, judgeProfile, missed, tallyOf } from "./plain.js";
import { boundedLimits, cardDropOf, countersIn, mainDrop, minSilentRatio, ownAddressCause, packetsOf, uncountedCause, withEnds } from "./linux.js";
import { sum } from "../vendor/simple-statistics.js";
import { parsePktGenLog } from "./traffic/plain.js";
import { areOpen, closePorts, openPorts, pktGenRun, secondsFor, trialThrough } from "./traffic.js";
import { buildVariant, fetchKernel } from "../kernel.js";
const { join } = globalThis.process.getBuiltinModule("node:path");
const { createReadStream, rmSync } = globalThis.process.getBuiltinModule("node:fs");
const { isDeepStrictEqual } = globalThis.process.getBuiltinModule("node:util");
const { createHash } = globalThis.process.getBuiltinModule("node:crypto");
const { mkdtemp, open, rm, stat } = globalThis.process.getBuiltinModule("node:fs/promises");
const { tmpdir } = globalThis.process.getBuiltinModule("node:os");
const { pipeline } = globalThis.process.getBuiltinModule("node:stream/promises");

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
* Share of the busiest CPU's time between two readings that was not idle; undefined if a reading is missing, or the host
* has booted in between. Includes the time between readings and packets: a DUT that is busy for a trial of 60 s, and
* idle for 10 s around it, has 0.86.
*/
function busiestCpuRatio(before, after) {
	const ratios = timeBetween(before, after).flatMap(({ busy, idle }) => busy + idle > 0 ? busy / (busy + idle) : []);
	return ratios.length === 0 ? void 0 : Math.max(...ratios);
}
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

// src/lab/freebsd/dut/limits.ts
/** Returns undefined if the interfaces did not count, or were reset. */
function limitsBetween(before, after, { ingress, egress, pfInfo = "", rules = [] }) {
	const arrived = interfaceBetween(before, after, ingress);
	const left = interfaceBetween(before, after, egress);
	if (arrived === void 0 || left === void 0) return void 0;
	const card = cardDrops(before, after, ingress, arrived);
	const backlog = backlogDrops(before, after);
	const ip = ipCounts(before, after, arrived.received - packetsOf(backlog));
	const vanished = ip.vanishedPackets ?? 0;
	const filtered = filteredDrops(pfInfo, rules, vanished);
	const silent = vanished - packetsOf(filtered);
	return boundedLimits({
		offeredPackets: arrived.received + packetsOf(card),
		receivedPackets: left.sent,
		busiestCpuRatio: busiestCpuRatio(before, after),
		drops: [
			...card,
			...backlog,
			...ip.drops,
			...filtered,
			...silent > arrived.received * .005 ? [silentDrop(ip.vanishedCause, silent)] : [],
			{
				place: "driver",
				cause: `the driver of ${egress}`,
				packets: left.sendErrors
			}
		].filter(({ packets }) => packets > 0)
	});
}
const silentDrop = (cause, packets) => ({
	place: cause === expiredCause ? "ip" : "firewall",
	cause,
	packets
});
/** Prefers the card's own counters, which name the cause; the system counts the same packets again. */
function cardDrops(before, after, ingress, { receiveErrors, receiveDrops }) {
	const [first, last] = [cardCounters(before, ingress), cardCounters(after, ingress)];
	const own = [...last].flatMap(([name, value]) => {
		const cause = cardDropOf(name);
		const packets = value - (first.get(name) ?? value);
		return cause === void 0 || packets <= 0 ? [] : [{
			place: "card",
			cause: `${cause} at ${ingress} (${name})`,
			packets
		}];
	});
	if (packetsOf(own) >= receiveErrors + receiveDrops) return own;
	return [{
		place: "card",
		cause: `dropped on arrival at ${ingress}`,
		packets: receiveDrops
	}, {
		place: "card",
		cause: `receive errors of ${ingress}`,
		packets: receiveErrors
	}];
}
function backlogDrops(before, after) {
	const earlier = netisrDrops(before);
	return [...netisrDrops(after)].flatMap(([name, count]) => {
		const packets = count - (earlier.get(name) ?? count);
		const cause = `a full queue of netisr for ${name} (net.isr.defaultqlimit)`;
		return packets > 0 ? [{
			place: "backlog",
			cause,
			packets
		}] : [];
	});
}
const noRoute = "output packets discarded due to no route";
/** Counts packets without a route, too. */
const notForwardable = "packets not forwardable";
/**
* Lines of `netstat -s` that count packets which IP received but did not forward: see ip_tryforward() in FreeBSD's
* netinet/ip_fastfwd.c.
*/
const ipLines = [
	[
		notForwardable,
		"ip",
		"a DUT that does not forward, or a reject route"
	],
	[
		noRoute,
		"ip",
		"a missing route"
	],
	[
		"output packets dropped due to no bufs, etc.",
		"output-queue",
		"a full queue, or too few buffers"
	],
	[
		"datagrams that can't be fragmented",
		"ip",
		"the MTU of the next link"
	],
	[
		"bad header checksums",
		"ip",
		"a wrong header"
	],
	[
		"datagrams with bad address in header",
		"ip",
		"a wrong address"
	]
];
/** Ignores the counter of packets that IP received: ip_tryforward() of FreeBSD 14 counts them twice. */
function ipCounts(before, after, arrivedPackets) {
	const [first, last] = [protocolCounters(before), protocolCounters(after)];
	const grown = (name) => Math.max(0, (last.get(name) ?? 0) - (first.get(name) ?? 0));
	const both = (line) => grown(`ip: ${line}`) + grown(`ip6: ${line}`);
	const known = ipLines.flatMap(([line, place, cause]) => {
		const packets = both(line) - (line === notForwardable ? both(noRoute) : 0);
		return packets > 0 ? [{
			place,
			cause,
			packets
		}] : [];
	});
	const left = Math.max(0, arrivedPackets - both("packets forwarded") - packetsOf(known));
	const own = Math.min(left, both("packets for this host"));
	const kept = own > arrivedPackets * .005 ? own : 0;
	const isExpired = ["icmp", "icmp6"].some((one) => grown(`${one}: time exceeded`) > 0);
	return {
		drops: [...known, {
			place: "ip",
			cause: ownAddressCause,
			packets: kept
		}],
		vanishedPackets: last.has("ip: packets forwarded") ? left - kept : void 0,
		vanishedCause: isExpired ? expiredCause : uncountedCause
	};
}
const expiredCause = "an expired TTL, as in a routing loop";
/** pf(4)'s reasons to drop that concern its states; others concern the packet. */
const stateReasons = /* @__PURE__ */ new Set([
	"memory",
	"src-limit",
	"state-insert",
	"state-limit",
	"state-mismatch"
]);
/**
* Drops by pf's reasons, and by rules: pf's reason `match` counts passed packets, too. Rules count from their
* installation, and so slightly more than the packets of the trial.
*/
function filteredDrops(info, rules, vanishedPackets) {
	const drops = [...pfReasons(info).map(({ reason, packets }) => ({
		place: stateReasons.has(reason) ? "state-table" : "firewall",
		cause: `pf: ${reason}${fullReasons.has(reason) ? ", because its table is full (set limit states)" : ""}`,
		packets
	})), ...rules.map((rule) => ({
		place: "firewall",
		cause: nameOfFirewallRule(rule),
		packets: rule.packets
	}))];
	const scale = Math.min(1, vanishedPackets / Math.max(packetsOf(drops), 1));
	return drops.map((drop) => ({
		...drop,
		packets: Math.round(drop.packets * scale)
	}));
}
const pfReasons = (info) => (info.split(/^Counters/m)[1] ?? "").split("\n").flatMap((line) => {
	const [, reason = "", digits] = /^\s+([a-z-]{1,30})\s+(\d{1,15})\s/.exec(line) ?? [];
	const packets = Number(digits ?? 0);
	return packets === 0 || reason === "match" ? [] : [{
		reason,
		packets
	}];
});
/** Reasons of a limit by a rule's `max`, and by `set limit states`: see pf_create_state() in FreeBSD's pf.c. */
const fullReasons = /* @__PURE__ */ new Set(["state-limit", "memory"]);
/** Reads `pfctl -si`. */
const isPfTableFull = (info) => pfReasons(info).some(({ reason }) => fullReasons.has(reason));

// src/lab/freebsd/scenario.ts
/** Assumes a DUT without any scenario. Files go to `folder`, an absolute path. */
function scenarioInstallation(scenario, folder, own = {}) {
	const rules = rulesFor(scenario, own);
	if (rules === void 0) return {
		files: [],
		commands: []
	};
	const path = `${folder}/${scenario}.rules`;
	return {
		files: [{
			path,
			text: rules.text
		}],
		commands: installCommands[rules.firewall](path)
	};
}
/**
* Removes every scenario, in two rounds of parallel commands. A command fails if it finds nothing to remove; the proof
* of the next scenario checks the result. Disables ipfw before its flush, or its last rule would cut the connection.
*/
const removalCommands = [[
	shell`pfctl -d`,
	shell`sysctl net.inet.ip.fw.enable=0`,
	shell`sysctl net.inet6.ip6.fw.enable=0`
], [shell`pfctl -F all`, shell`ipfw -q -f flush`]];
const firewalls = ["pf", "ipfw"];
/** Each has a single accepting rule: see pf.conf(5) and ipfw(8). */
const usualRules = {
	forwarding: void 0,
	"pf-stateless": {
		firewall: "pf",
		text: "set skip on lo0\npass no state\n",
		printed: "pass all no state",
		keepsStates: false
	},
	"pf-stateful": {
		firewall: "pf",
		text: "set skip on lo0\npass\n",
		printed: "pass all flags S/SA keep state",
		keepsStates: true
	},
	"ipfw-stateless": {
		firewall: "ipfw",
		text: "add 3000 allow ip from any to any\n",
		printed: "03000 allow ip from any to any",
		keepsStates: false
	},
	"ipfw-stateful": {
		firewall: "ipfw",
		text: "add 3000 allow ip from any to any keep-state\n",
		printed: "03000 allow ip from any to any keep-state",
		keepsStates: true
	}
};
const rulesFor = (scenario, own) => own[scenario] ?? usualRules[scenario];
/** ipfw.ko drops every packet once loaded, unless the kernel's environment has the variable. */
const installCommands = {
	pf: (path) => [
		shell`kldload -n pf`,
		shell`pfctl -f ${path}`,
		shell`pfctl -e`
	],
	ipfw: (path) => [
		shell`kenv net.inet.ip.fw.default_to_accept=1`,
		shell`kldload -n ipfw`,
		shell`ipfw -q ${path}`,
		shell`sysctl net.inet.ip.fw.enable=1`,
		shell`sysctl net.inet6.ip6.fw.enable=1`
	]
};
/** Commands of a firewall that is not loaded fail. */
const proofCommands = {
	pfInfo: shell`pfctl -si`,
	pfRules: shell`pfctl -sr`,
	ipfwEnabled: shell`sysctl -n net.inet.ip.fw.enable`,
	ipfw6Enabled: shell`sysctl -n net.inet6.ip6.fw.enable`,
	ipfwRules: shell`ipfw list`,
	ipfwStates: shell`sysctl -n net.inet.ip.fw.dyn_count`
};
/**
* Proves that this scenario, and no other firewall, is in force. With `trial`, the outputs were read right after a
* trial, and a stateful scenario must have a state for each of its flows: one or two states are of our own connection.
* ipfw drops a UDP flow's state after 10 s of silence.
*/
function provesScenario(scenario, outputs, { trial, own = {} } = {}) {
	const required = rulesFor(scenario, own);
	const stranger = firewallsOn(outputs).find((name) => name !== required?.firewall);
	if (stranger !== void 0) return notInForce(`${stranger} is enabled`);
	if (required === void 0) return { kind: "in-force" };
	const { sees, rules, states } = firewallStates(outputs)[required.firewall];
	if (sees !== "everything") {
		const lack = sees === "nothing" ? "enabled" : "enabled for both families";
		return notInForce(`${required.firewall} is not ${lack}`);
	}
	if (required.printed === void 0 && rules === "") return notInForce(`${required.firewall} has no rules`);
	if (required.printed !== void 0 && rules !== required.printed) return notInForce(`${required.firewall} has the rules "${rules}" instead of "${required.printed}"`);
	if (trial === void 0 || !required.keepsStates || states >= trial.flows) return { kind: "in-force" };
	const why = required.firewall === "pf" && isPfTableFull(outputs.pfInfo ?? "") ? ", because its table is full: raise its limit with `set limit states`" : "";
	return notInForce(`${required.firewall} has created ${states} of the ${trial.flows} states that the flows need${why}`);
}
const firewallsOn = (outputs) => firewalls.filter((name) => firewallStates(outputs)[name].sees !== "nothing");
const firewallStates = (outputs) => ({
	pf: pfIn(outputs),
	ipfw: ipfwIn(outputs)
});
const notInForce = (reason) => ({
	kind: "not-in-force",
	reason
});
/** Counts all states since pf's counters were flushed, as some may have expired. */
function pfIn({ pfInfo = "", pfRules = "" }) {
	return {
		sees: /^Status: Enabled\b/m.test(pfInfo) ? "everything" : "nothing",
		rules: onOneLine(pfRules),
		states: Number(/^[ \t]+inserts[ \t]+(\d+)/m.exec(pfInfo)?.[1] ?? 0)
	};
}
/** A kernel without a family lacks that family's switch. */
function ipfwIn(outputs) {
	const { ipfwEnabled, ipfw6Enabled, ipfwRules = "", ipfwStates = "0" } = outputs;
	const switches = [ipfwEnabled, ipfw6Enabled].filter((value) => value !== void 0);
	return {
		sees: amount(switches.filter((value) => value.trim() === "1").length, switches.length),
		rules: onOneLine(ipfwRules.replace(lastRule, "").replaceAll(" :default", "")),
		states: Number(ipfwStates)
	};
}
function amount(some, all) {
	if (some === 0) return "nothing";
	return some < all ? "something" : "everything";
}
/** Applies to packets that no other rule matched; our rule matches all. */
const lastRule = /^65535 .*$/m;
const onOneLine = (rules) => rules.split("\n").map((line) => line.trim()).filter(Boolean).join("; ");

// src/lab/freebsd/rules.ts
const rulesFolder = "/var/tmp/ppsgate";
/**
* Installs the rules before every trial, which drops old states. Returns the reason if the scenario is not in force.
*/
async function installRules(host, scenario, own) {
	const { files, commands } = scenarioInstallation(scenario, rulesFolder, own);
	await Promise.all([removeRules(host), ...files.length > 0 ? [host.output(ownFolder(rulesFolder))] : []]);
	for (const { path, text } of files) await host.upload(Buffer.from(text), path, 384);
	for (const command of commands) {
		const outcome = await host.run(command);
		if (isGood(outcome)) continue;
		const message = lastLine(outcome.stderr) ?? "it said nothing";
		return `\`${commandText(command)}\` failed on the DUT: ${message}`;
	}
	const proof = provesScenario(scenario, await proofOf(host), { own });
	return proof.kind === "in-force" ? void 0 : `${scenario} is not active: ${proof.reason}`;
}
async function removeRules(host) {
	for (const round of removalCommands) await Promise.all(round.map((command) => host.run(command)));
}
/** Firewalls that rc.conf(5) starts: a trial disables them, and a boot enables them again. */
async function siteFirewalls(host) {
	const outcome = await host.run(shell`sysrc -n pf_enable firewall_enable`);
	if (!isGood(outcome)) return [];
	const isOn = outcome.stdout.split("\n").map((value) => /^(?:yes|true|on|1)$/i.test(value.trim()));
	return ["pf", "ipfw"].filter((_, index) => isOn[index]);
}
async function firewallWarnings(host, ofSite) {
	return [...firewallsOn(await proofOf(host)).map((name) => ofSite.includes(name) ? `${name} of the DUT is enabled in its rc.conf: each trial disables it, and the final boot of the DUT's own kernel enables it again.` : `${name} of the DUT is enabled, but not in its rc.conf: each trial disables it, and it stays disabled.`), ...await otherFilters(host)];
}
async function proofOf(host) {
	const outputs = await readAll(host, Object.values(proofCommands));
	const entries = Object.entries(proofCommands).map(([key, command]) => [key, outputs.get(commandText(command))]);
	return Object.fromEntries(entries);
}

// src/lab/freebsd/dut/freebsd-dut.ts
const methods = {
	/** Installs into a folder in /boot; the boot after the next is the machine's own again. */
	nextboot,
	/** Installs into a clone of the machine's own environment on ZFS, activated for one boot. */
	"boot-environment": bootEnvironment,
	/** Installs a whole image into the other slice of an appliance, where nothing falls back automatically. */
	nanobsd
};
/** A machine whose own kernel ran when it was opened; `restore` goes back to that kernel. */
var FreebsdDut = class FreebsdDut {
	#options;
	#method;
	#own;
	#host;
	#traces;
	constructor(options, start) {
		const { host, own, modules, traces } = start;
		this.#options = options;
		this.#host = host;
		this.#own = own;
		this.#traces = traces;
		this.#method = methods[options.method]({
			own,
			modules,
			host: () => this.#host,
			reconnect: () => this.#reconnect()
		});
	}
	/** Connects to the machine; reboots it first if a dead controller left one of our kernels running. */
	static async open(options) {
		const host = await leaveTestKernel(await options.connect(), options);
		await using opened = new AsyncDisposableStack();
		opened.defer(() => host.close());
		const unfit = await whyUnfit(host, options.method);
		if (unfit !== void 0) throw new HostError("command-failed", `${host.name} cannot boot with the method ${options.method}: ${unfit.why}; ${unfit.fix}.`);
		const own = await runningSystem(host);
		const modules = await loadedFiles(host);
		const traces = await tracesOf(host);
		const dut = new FreebsdDut(options, {
			host,
			own,
			modules,
			traces
		});
		opened.move();
		return dut;
	}
	/**
	* Copies a kernel to the machine under one of our names, unless the same content is there. First removes kernels of
	* variants outside `kept`, except for the running one; removes none if `kept` is absent.
	*/
	install(kernel, kept) {
		return this.#method.install(kernel, kept);
	}
	/** Boots an installed kernel once, or the machine's own for `undefined`, and proves which one came up. */
	async boot(variant) {
		if (variant !== void 0 && this.#method.needsOwn?.(variant, await runningSystem(this.#host))) await this.#bootOwn();
		const ordered = await this.#method.arm(variant);
		return this.#rebootTo(ordered, variant === void 0);
	}
	/** Reboots without an order for the next boot, and proves that the machine's own kernel came up. */
	rebootUnordered() {
		return this.#rebootTo(this.#own, true);
	}
	host() {
		return this.#host;
	}
	/** Recovers from a lost trial: boots the machine's own kernel, and returns the panic since the last boot. */
	async recover() {
		await this.#reach();
		await waitForDump(this.#host, this.#options.sleep);
		const traces = await tracesOf(this.#host);
		const shown = this.#options.console?.lastWords() ?? {};
		const panic = panicSince(this.#traces, traces) ?? shown.panic;
		this.#traces = traces;
		await this.#bootOwn();
		return {
			...shown,
			...panic !== void 0 && { panic }
		};
	}
	/** Boots the machine's own kernel, and removes every installed one; has no effect a second time. */
	async restore() {
		await this.#reach();
		await this.#bootOwn();
		await this.#method.arm(void 0);
		await this.#method.clear();
	}
	/** After a kernel that fails to come up, the machine boots its own, unless that one failed. */
	async #rebootTo(ordered, isOwn) {
		const { console, now, bootSeconds } = this.#options;
		this.#traces = await tracesOf(this.#host);
		await console?.beginBoot();
		const orderedAt = now();
		await orderReboot(this.#host);
		const up = await waitForUp("has booted", this.#options);
		const seconds = now() - orderedAt;
		this.#host = up.host;
		const proof = await prove(this.#host, ordered);
		if (isOwn) return {
			...proof,
			seconds
		};
		if (up.wasCycled) return {
			kind: "boot-failed",
			reason: `it did not come up within ${bootSeconds} s, and was power-cycled`,
			seconds,
			...await this.recover()
		};
		if (proof.kind === "booted") return {
			...proof,
			seconds
		};
		return {
			...proof,
			seconds,
			...await this.recover()
		};
	}
	async #bootOwn() {
		if (isSamePlace(await runningSystem(this.#host), this.#own)) return;
		const outcome = await this.boot(void 0);
		if (outcome.kind === "boot-failed") throw new DutLostError(outcome.reason);
	}
	/** Keeps the connection if it still carries a command. */
	async #reach() {
		try {
			await this.#host.output(shell`uname`, { timeoutSeconds: answerSeconds });
		} catch {
			await this.#reconnect();
		}
	}
	async #reconnect() {
		await this.#host.close();
		this.#host = (await waitForUp("answers", this.#options)).host;
		return this.#host;
	}
};
/** Treats a machine that is lost again as a failed boot: a kernel may panic just after the machine is up. */
async function prove(host, expected) {
	try {
		const [running, version] = await Promise.all([runningSystem(host), host.output(shell`uname -v`)]);
		const reason = whyOther(running, expected);
		if (reason !== void 0) return {
			kind: "boot-failed",
			reason
		};
		return {
			kind: "booted",
			version: version.trim()
		};
	} catch (error) {
		ifNotUp(error);
		return {
			kind: "boot-failed",
			reason: "it was lost again right after it came up"
		};
	}
}
/** Returns when the machine accepts a login. Waits while it boots, and power-cycles a machine that stays away. */
async function wakeFreebsdDut(options) {
	const host = await options.connect().catch(ifNotUp);
	if (host === void 0) await options.console?.beginBoot();
	await (host ?? (await waitForUp("answers", options)).host).close();
}
/** A dead controller may have ordered another of our kernels while one was running; each order is for one boot. */
const maxBootsOfOurs = 2;
async function leaveTestKernel(first, options) {
	let host = first;
	for (let boots = 0;; boots += 1) {
		const running = await runningSystem(host);
		if (!isOurs(running)) return host;
		if (boots === maxBootsOfOurs) {
			await host.close();
			throw new DutLostError(`The DUT runs ${running.kernel} of an earlier experiment, even after two reboots; boot its own kernel.`);
		}
		await options.console?.beginBoot();
		await orderReboot(host);
		host = (await waitForUp("has booted", options)).host;
	}
}
const answerSeconds = 10;
/** The connection usually breaks before the command reports its success. */
async function orderReboot(host) {
	await markBoot(host);
	try {
		await host.output(shell`shutdown -r now`);
	} catch (error) {
		if (!(error instanceof HostError) || error.kind === "command-failed") throw error;
	}
	await host.close();
}
const pollSeconds = 2;
/** Power-cycles a late machine, up to twice. */
async function waitForUp(wanted, { connect, power, console, bootSeconds, sleep, now }) {
	let powerFailure;
	for (const cycles of [
		0,
		1,
		2
	]) {
		if (cycles > 0 && power === void 0) break;
		if (cycles > 0) powerFailure = await power?.cycle().then(noFailure, asFailure);
		const deadline = now() + bootSeconds;
		while (powerFailure === void 0 && now() < deadline) {
			await sleep(pollSeconds);
			const host = await connectOnceUp(connect, wanted).catch(ifNotUp);
			if (host !== void 0) return {
				host,
				wasCycled: cycles > 0
			};
		}
	}
	const shown = console?.describe();
	throw new DutLostError(`The DUT did not come up within ${bootSeconds} s, ${powerAttempts(power, powerFailure)}; ${shown === void 0 ? "check its console" : `its console ${shown}`}.`);
}
const noFailure = () => void 0;
/** Rethrows a FencedError: without the lease the controller stops. */
const asFailure = (error) => {
	if (error instanceof PowerError) return error;
	throw error;
};
function powerAttempts(power, failure) {
	if (power === void 0) return "and has no power control";
	return failure === void 0 ? "even after two power cycles" : `and could not be power-cycled in two tries (${reasonOf(failure)})`;
}
/** Returns undefined while the machine still shuts down. */
async function connectOnceUp(connect, wanted) {
	const host = await connect();
	try {
		if (wanted === "answers" || await hasBootedSinceMark(host)) return host;
	} catch (error) {
		await host.close();
		throw error;
	}
	await host.close();
}
function ifNotUp(error) {
	if (error instanceof HostError && [
		"unreachable",
		"lost",
		"timeout"
	].includes(error.kind)) return;
	throw error;
}

// src/lab/freebsd/freebsd-logs.ts
const freebsdLogNames = {
	receiver: "receiver.log",
	sender: (index) => `sender-${index + 1}.log`,
	counters: "dut-counters.log",
	/** Output of the DUT's console since the previous trial, including boots. */
	console: "dut-console.log"
};
/** Reads a trial of one run: testbeds that boot their variants have no others. */
function readFreebsdLogs({ number, cell, runs }, { receiver, senders }, { startedAt, traffic, summary = {} }) {
	const log = parsePktGenLog(receiver);
	const requestedPps = requestedRates(traffic, cell.family, senders.length);
	const sent = senders.map(parsePktGenLog);
	const measured = pktGenRun(log, sent, {
		netbenchesTrim: false,
		requestedPps,
		egressPackets: summary.egressPackets,
		ingressPackets: summary.ingressPackets,
		lineGigabits: summary.lineGigabits
	});
	const isBusy = ({ pps }) => pps > 0;
	const from = Math.max(0, log.rates.findIndex(isBusy));
	const to = log.rates.findLastIndex(isBusy) + 1 || log.rates.length;
	const seconds = log.rates.slice(from, to).reduce((sum, { intervalSeconds }) => sum + intervalSeconds, 0);
	const dropping = (variant) => {
		const limits = measured.medianPps === 0 ? summary.limits?.[variant] : void 0;
		const droppedBy = limits && mainDrop(limits);
		return droppedBy === void 0 ? {} : { droppedBy };
	};
	return {
		kind: "measured",
		runs: runs.map((run) => ({
			...run,
			trial: number,
			pps: measured.medianPps,
			samples: [],
			validity: starved(summary.starvation) ?? measured.validity,
			...dropping(run.variant)
		})),
		summary: {
			number,
			cell,
			startedAt,
			trafficSeconds: seconds,
			offeredPps: measured.offeredPps ?? 0,
			...summary,
			...summary.limits && { limits: withEndsOf(summary.limits, log, sent) }
		}
	};
}
function withEndsOf(limits, receiver, senders) {
	const countedPackets = packetsIn(receiver);
	const sentPackets = sum(senders.map(packetsIn));
	return Object.fromEntries(Object.entries(limits).map(([variant, one]) => [variant, withEnds(one, {
		sentPackets,
		countedPackets
	})]));
}
const packetsIn = ({ rates, summary }) => summary?.packets ?? sum(rates.map(({ pps, intervalSeconds }) => pps * intervalSeconds));
function starved(starvation) {
	if (starvation === void 0) return void 0;
	const share = formatPercent(starvation.deniedRatio);
	return {
		kind: "invalid",
		cause: "machine-busy",
		reason: `machine too busy: the ${starvation.machine} is a guest that waited for its host's CPUs for ${share} of the trial; give it dedicated CPUs`
	};
}
/** Returns the requested rate of each sender, shared like the flows; none if senders send at their maximum. */
function requestedRates({ flows, offeredPps, packets }, family, senders) {
	const split = flowRanges(flows, family, senders, packets?.addresses);
	if (offeredPps === void 0 || split.kind === "refused") return [];
	const all = split.flows;
	return flowSlices(all, senders).map(({ sources }) => offeredPps * sources / all.sources);
}

// src/lab/freebsd/dut/profile.ts
const sampleFile = (folder) => `${folder}/pmc.out`;
const graphFile = (folder) => `${folder}/pmc.graph`;
/** Loads hwpmc(4) for deep call chains, and finds an event that counts this CPU's cycles, or tries only `requested`. */
async function readySampling(host, folder, requested) {
	await host.output(ownFolder(folder));
	await host.run(shell`kenv ${`kern.hwpmc.callchaindepth=${maxFrames}`}`);
	const loaded = await host.run(shell`kldload -n hwpmc`);
	if (!isGood(loaded)) return impossible(`hwpmc cannot be loaded on the DUT: ${lastLine(loaded.stderr) ?? "it said nothing"}`);
	let message = "";
	for (const event of requested === void 0 ? cycleEvents : [requested]) {
		const tried = await host.run(samplingOnly(event, 1, folder));
		if (isGood(tried)) return {
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

// src/lab/freebsd/sample-under-load.ts
/** Time from the order to send until packets flow; the same time remains after the window. */
const spareSeconds = 6;
/** The DUT must send this share of the received rate during the samples. */
const minForwardedRatio = .9;
/**
* Starts sampling under load. A second attempt starts before the load, as some DUTs under load have no time for a new
* program.
*/
async function sampleUnderLoad(request, load, keepLog) {
	try {
		return await sampled(request, load, keepLog);
	} finally {
		await endSampling(load.dut, load.folder);
	}
}
async function sampled({ seconds, event: requested, attempt }, { dut, folder, egress, open, send }, keepLog) {
	const sampling = await readySampling(dut, folder, requested);
	if (sampling.kind === "impossible") return sampling;
	const { event } = sampling;
	const trafficSeconds = seconds + 12;
	const unopened = await open(trafficSeconds);
	if (unopened?.kind === "failed") return missed(unopened.reason);
	const window = attempt === 1 ? {
		event,
		delaySeconds: spareSeconds,
		seconds
	} : {
		event,
		delaySeconds: 0,
		seconds: spareSeconds + seconds
	};
	const [samples, trial] = await Promise.all([dut.run(windowCommand(window, folder)), send(trafficSeconds)]);
	const { receiver, senders } = trial.logs;
	await keepLog(freebsdLogNames.receiver, receiver);
	for (const [index, log] of senders.entries()) await keepLog(freebsdLogNames.sender(index), log);
	await keepLog(freebsdLogNames.counters, samples.stdout + samples.stderr);
	if (trial.kind === "failed") return missed(trial.reason);
	if (!isGood(samples)) return missed(`pmcstat failed on the DUT: ${lastLine(samples.stderr) ?? "it said nothing"}`);
	const text = await collectSamples(dut, folder);
	const forwarded = sentWithin(samples.stdout, egress) ?? 0;
	const expected = trial.run.medianPps * seconds;
	if (forwarded < minForwardedRatio * expected) {
		const share = formatPercent(forwarded / expected);
		return missed(`the sampling window missed the trial: only ${share} of its packets were forwarded during it`);
	}
	if (hasNoSample(text)) return impossible$1(`the DUT recorded no sample of ${event} under load, which many virtual machines do not support: set \`profile.event\` to another event that \`pmccontrol -L\` lists, or remove \`profile\``);
	return judgeProfile(text, {
		event,
		kernel: "an unknown kernel"
	}, keepLog);
}
/** Without samples, pmcstat(8) writes only its heading, and succeeds. */
const hasNoSample = (graph) => graph.split("\n").every((line) => line.trim() === "" || line.startsWith("#"));

// src/lab/freebsd/starvation.ts
/** `kern.vm_guest` is "none" on bare metal. */
const clock = shell`sysctl -n kern.vm_guest kern.clockrate`;
const starvationCommands = [
	clock,
	cpuTimesCommand,
	interruptsCommand
];
/** Finds the machine that waited longest for its host, if the wait spoils a trial; reads outputs by machine name. */
function starvationBetween(before, after) {
	const [worst] = [...after].map(([machine, outputs]) => ({
		machine,
		deniedRatio: deniedRatio(before.get(machine) ?? /* @__PURE__ */ new Map(), outputs) ?? 0
	})).sort((a, b) => b.deniedRatio - a.deniedRatio);
	return worst !== void 0 && worst.deniedRatio >= minDeniedRatio ? worst : void 0;
}
/** Guests on an otherwise idle host reach 0.14. */
const minDeniedRatio = .2;
/**
* The largest share of time, from 0 to 1, for which a busy CPU of a guest waited for its host between two readings;
* undefined on bare metal, or if no CPU was busy or a reading is missing.
* kern.cp_times hides it: handleevents() of sys/kern/kern_clocksource.c makes up for missed ticks. It does so with one
* interrupt, so a busy CPU gets fewer than hz + stathz timer interrupts a second. A guest of FreeBSD 13.2 that was
* stopped for half of the time (by 5, 30 and 200 ms) showed 0.46, 0.58 and 0.51; one of 14.2 on an otherwise idle host
* at most 0.14.
*/
function deniedRatio(before, after) {
	const rates = parseClock(after.get(commandText(clock)) ?? "");
	const [earlier, later] = [before, after].map((outputs) => ({
		cpus: parseCpuTimes(outputs.get(commandText(cpuTimesCommand)) ?? ""),
		timers: parseTimers(outputs.get(commandText(interruptsCommand)) ?? "")
	}));
	if (rates === void 0 || earlier === void 0 || later === void 0) return void 0;
	const denied = later.cpus.flatMap((cpu, index) => {
		const start = earlier.cpus[index];
		const interrupts = (later.timers.get(index) ?? NaN) - (earlier.timers.get(index) ?? NaN);
		if (start === void 0 || !(interrupts >= 0)) return [];
		const [busy, idle] = [cpu.busy - start.busy, cpu.idle - start.idle];
		if (!(busy >= minBusyRatio * (busy + idle) && idle >= 0) || busy < minBusySeconds * rates.stathz) return [];
		const expected = busy / rates.stathz * (rates.hz + rates.stathz);
		return Math.max(0, 1 - interrupts / expected);
	});
	return denied.length === 0 ? void 0 : Math.max(...denied);
}
/** An idle CPU skips its ticks. */
const minBusyRatio = .5;
const minBusySeconds = 2;
const clockRates = object({
	hz: number().int().min(1).max(1e5),
	stathz: number().int().min(1).max(1e5)
});
/** Reads `generic\n{ hz = 100, tick = 10000, profhz = 8128, stathz = 127 }`; undefined on bare metal and for other text. */
function parseClock(text) {
	const [, guest, hz, stathz] = /^(\w{1,40})\n\{ hz = (\d{1,6}),.{0,80} stathz = (\d{1,6}) \}\s*$/.exec(text) ?? [];
	if (guest === void 0 || guest === "none") return void 0;
	return clockRates.safeParse({
		hz,
		stathz
	}).data;
}
/** Reads rows of `vmstat -i` such as `cpu0:timer   4243   148`, by CPU. */
function parseTimers(text) {
	const rows = text.matchAll(/^cpu(\d{1,4}):timer +(\d{1,15}) /gm);
	return new Map([...rows].map(([, cpu, total]) => [Number(cpu), Number(total)]));
}

// src/lab/freebsd/freebsd-trial.ts
async function trial(lab, planned, keepLog, signal) {
	const outcome = await recorded(lab, keepLog, () => send(lab, planned, keepLog, signal));
	const warnings = [...lab.console?.takeProblems() ?? [], ...takeWarnings(lab.boots)];
	return warnings.length === 0 ? outcome : {
		...outcome,
		warnings
	};
}
/** Keeps the console's output, even if the DUT is lost. */
async function recorded({ console }, keepLog, work) {
	try {
		return await work();
	} finally {
		if (console !== void 0) await keepLog(freebsdLogNames.console, console.takeLog());
	}
}
async function send(lab, planned, keepLog, signal) {
	const [run] = planned.runs;
	const { scenario } = planned.cell;
	if (run === void 0) return failed("no trial was planned");
	const { variant } = run;
	const kernel = await kernelOf(lab, variant, run.layout);
	if (kernel.kind === "rejected") return rejected(variant, kernel.rejection);
	const { boots } = lab;
	const { flows } = lab.traffic;
	let phase = "after its boot";
	try {
		if (bootOf(boots, run) === void 0) await lab.generators.closePorts();
		const ready = await bootFor(boots, planned, run, kernel);
		if (ready.kind !== "ready") return ready;
		signal.throwIfAborted();
		phase = "at the rules";
		const refusal = await installRulesOf(lab, scenario);
		if (refusal !== void 0) return afterRefusal(boots, variant, scenario, refusal);
		phase = "under load";
		const outcome = await measure(lab, planned, ready.boot, keepLog, signal);
		if (outcome.kind === "measured") tallyOf(boots.tallies, variant).hasStoodTrial = true;
		lab.glitches.inARow = 0;
		return outcome;
	} catch (error) {
		if (!(error instanceof HostError) || signal.aborted) throw error;
		return afterLoss(lab, {
			variant,
			scenario,
			flows,
			phase,
			signal
		}, error);
	}
}
const kernelOf = async ({ prepared }, variant, layout) => await prepared?.kernels.get(variant, layout) ?? { kind: "own" };
const rulesOf = ({ prepared }) => prepared?.rules ?? {};
async function installRulesOf(lab, scenario) {
	const host = lab.boots.dut.host();
	if (lab.firewallsOfSite.length > 0) await markBoot(host);
	return installRules(host, scenario, rulesOf(lab));
}
async function measure(lab, planned, boot, keepLog, signal) {
	const { traffic, boots, generators, dutMac } = lab;
	const { cell } = planned;
	const { scenario } = cell;
	const { dut, deps } = boots;
	const ports = portsOf(boots);
	const { measureSeconds: trafficSeconds, measureAtLeastSeconds: atLeastSeconds } = traffic;
	const unopened = await generators.openPorts(trafficSeconds, signal);
	if (unopened?.kind === "failed") {
		await keepLog(freebsdLogNames.receiver, unopened.logs.receiver);
		return failed(unopened.reason);
	}
	const dutCommands = /* @__PURE__ */ new Set([...countersCommands(ports), ...starvationCommands]);
	const readMachines = async () => new Map(await Promise.all([readNamed(dut.host(), [...dutCommands]), ...generators.hosts().map((host) => readNamed(host, starvationCommands))]));
	const [readBefore, astray] = await Promise.all([readMachines(), pathProblem(boots, cell.family)]);
	if (astray !== void 0) return failed(astray);
	const startedAt = (/* @__PURE__ */ new Date(deps.now() * 1e3)).toISOString();
	const request = {
		cell,
		dutMac,
		trafficSeconds,
		atLeastSeconds
	};
	const outcome = await generators.send(request, signal);
	const { logs } = outcome;
	await keepLog(freebsdLogNames.receiver, logs.receiver);
	for (const [index, log] of logs.senders.entries()) await keepLog(freebsdLogNames.sender(index), log);
	const [proofs, rules, readAfter] = await Promise.all([
		proofOf(dut.host()),
		droppingRules(dut.host()),
		readMachines()
	]);
	const [before = /* @__PURE__ */ new Map(), after = /* @__PURE__ */ new Map()] = [readBefore, readAfter].map((read) => read.get(roleOf(dut.host())));
	const starvation = starvationBetween(readBefore, readAfter);
	await keepLog(freebsdLogNames.counters, countersLog(before, after));
	const { ingress, egress } = boots.config.dut;
	const egressPackets = sentBetween(before, after, egress.interface);
	const ingressPackets = arrivedBetween(before, after, ingress.interface);
	const limits = limitsBetween(before, after, {
		ingress: ingress.interface,
		egress: egress.interface,
		pfInfo: proofs.pfInfo,
		rules
	});
	if (outcome.kind === "failed") return failed(outcome.reason);
	const measured = readFreebsdLogs(planned, logs, {
		startedAt,
		traffic,
		summary: {
			kernel: boot.kernel,
			...egressPackets !== void 0 && { egressPackets },
			...ingressPackets !== void 0 && { ingressPackets },
			...lab.lineGigabits !== void 0 && { lineGigabits: lab.lineGigabits },
			...starvation !== void 0 && { starvation },
			...limits && { limits: { [boot.variant]: limits } }
		}
	});
	if (!isValid(measured)) return measured;
	const isSilent = measured.kind === "measured" && measured.runs.every(({ pps }) => pps === 0);
	if (isSilent) {
		const down = await linkThatIsDown(boots);
		if (down !== void 0) return failed(`no packet was received, and ${down}`);
	}
	const proof = provesScenario(scenario, proofs, {
		...!isSilent && { trial: { flows: traffic.flows } },
		own: rulesOf(lab)
	});
	if (proof.kind !== "in-force") return failed(`${scenario} was not active: ${proof.reason}`);
	setReference(boots, boot);
	return measured;
}
/** Names the machine without its address, which a report should not disclose. */
const roleOf = ({ name }) => name.replace(/ \(.*$/, "");
const readNamed = async (host, commands) => [roleOf(host), await readAll(host, commands)];
/** Time for a link to come up after a generator has closed its port. */
const linkSeconds = 15;
/** Returns a clause: a pulled cable looks like a kernel that forwards nothing. */
async function linkThatIsDown({ dut, deps, config }) {
	for (const { interface: name } of [config.dut.ingress, config.dut.egress]) {
		const isActive = async () => parseIfconfig(await dut.host().output(shell`ifconfig ${name}`))?.isActive === true;
		for (let seconds = 0; !await isActive(); seconds += 1) {
			if (seconds === linkSeconds) return `the link of the DUT's ${name} is down`;
			await deps.sleep(1);
		}
	}
}
const isValid = (outcome) => outcome.kind === "measured" && outcome.runs.every(({ validity }) => validity.kind === "valid");
const profile = (lab, request, keepLog, signal) => recorded(lab, keepLog, () => sample(lab, request, keepLog, signal));
async function sample(lab, request, keepLog, signal) {
	const { cell, variant } = request;
	const { scenario } = cell;
	const kernel = await kernelOf(lab, variant);
	if (kernel.kind === "rejected") return impossible$1(kernel.rejection.message);
	const { boots, generators, dutMac, traffic } = lab;
	let phase = "after its boot";
	try {
		if (boots.booted?.variant !== variant) {
			const run = {
				number: 0,
				variant,
				pair: 0
			};
			await generators.closePorts();
			const ready = await bootFor(boots, {
				number: 0,
				cell,
				runs: [run]
			}, run, kernel);
			if (ready.kind !== "ready") return missed(whyNot(ready));
		}
		if (boots.booted !== void 0) boots.booted = {
			...boots.booted,
			isSampled: true
		};
		signal.throwIfAborted();
		phase = "at the rules";
		const refusal = await installRulesOf(lab, scenario);
		if (refusal !== void 0) return missed(refusal);
		const astray = await pathProblem(boots, cell.family);
		if (astray !== void 0) return missed(astray);
		phase = "while sampled";
		return await sampleUnderLoad(request, {
			dut: boots.dut.host(),
			folder: rulesFolder,
			egress: boots.config.dut.egress.interface,
			open: (trafficSeconds) => generators.openPorts(trafficSeconds, signal),
			send: (trafficSeconds) => generators.send({
				cell,
				dutMac,
				trafficSeconds
			}, signal)
		}, keepLog);
	} catch (error) {
		if (!(error instanceof HostError) || signal.aborted) throw error;
		const { flows } = traffic;
		return missed(whyNot(await afterLoss(lab, {
			variant,
			scenario,
			flows,
			phase,
			signal
		}, error)));
	}
}
function whyNot(outcome) {
	if (outcome.kind === "rejected") return outcome.rejection.message;
	return outcome.kind === "failed" ? outcome.reason : "no sample was taken";
}

// src/lab/freebsd/generators.ts
/**
* Keeps ports open for this time beyond a trial, since one boot serves several cells; then they close automatically.
*/
const heldSeconds = 600;
var Generators = class Generators {
	#config;
	#traffic;
	#deps;
	#hosts;
	/** `until` is the closing time, in seconds since 1970. */
	#opened;
	/** False once a sender did not start beside the program that holds its port. */
	#holdsSenders = true;
	/** Connects to all generators, and ends those of a lost controller. Throws a HostError if one is unreachable. */
	static async open(config, traffic, deps) {
		return new Generators(config, traffic, deps, await connectAll(config, deps));
	}
	constructor(config, traffic, deps, hosts) {
		this.#config = config;
		this.#traffic = traffic;
		this.#deps = deps;
		this.#hosts = hosts;
	}
	/**
	* Returns system, port and media of each generator, by its label. Throws a HostError without pkt-gen, or for too
	* small an MTU.
	*/
	async facts(largestFrameBytes) {
		await Promise.all(allOf(this.#hosts).map((host) => requirePrograms(host, ["pkt-gen"], "pkg install")));
		await requireMtus(this.#config, this.#hosts, largestFrameBytes);
		return factsOf(this.#config, this.#hosts);
	}
	/** Opens the ports for that long, and waits for their links; returns the failed trial if a port does not open. */
	async openPorts(trafficSeconds, signal) {
		const ports = await this.#portsFor(trafficSeconds, signal);
		return "kind" in ports ? ports : void 0;
	}
	async send({ cell, dutMac, ...times }, signal) {
		const config = this.#config;
		const { flows, packets } = this.#traffic;
		const split = flowRanges(flows, cell.family, config.senders.length, packets?.addresses);
		if (split.kind === "refused") return {
			kind: "failed",
			logs: {
				receiver: "",
				senders: []
			},
			reason: split.message
		};
		const request = {
			family: cell.family,
			frameBytes: frameBytesFor(this.#traffic, cell),
			flows: split.flows,
			ports: packets?.ports,
			addresses: packets?.addresses,
			ratePps: this.#traffic.offeredPps,
			threads: config.senders[0]?.threads ?? 1,
			...times
		};
		const senders = this.#hosts.senders.map(({ host, config: { interface: name, mac } }) => ({
			host,
			interface: name,
			sourceMac: mac,
			destinationMac: dutMac
		}));
		const ports = await this.#portsFor(times.trafficSeconds, signal);
		if ("kind" in ports) return ports;
		const outcome = await trialThrough(ports.ports, senders, request, signal);
		if (outcome.kind === "measured") return outcome;
		this.#holdsSenders = false;
		await this.closePorts();
		return outcome;
	}
	/** Closes the ports before the DUT boots, which takes the links down at its end. */
	async closePorts() {
		if (this.#opened !== void 0) await closePorts(this.#opened.ports);
		this.#opened = void 0;
	}
	/** Reconnects to all generators, for as long as a machine needs to boot. */
	async reconnect(signal) {
		this.#opened = void 0;
		await closeAll(this.#hosts);
		this.#hosts = await connectPatiently(this.#config, this.#deps, signal);
	}
	/** Ends all traffic. An unreachable generator ends when its time is over, or when the testbed is opened next. */
	async silence() {
		this.#opened = void 0;
		if ((await Promise.allSettled(allOf(this.#hosts).map((host) => endPktGen(host, this.#deps)))).every(({ status }) => status === "fulfilled")) return;
		await closeAll(this.#hosts);
		this.#hosts = await connectAll(this.#config, this.#deps).catch(() => this.#hosts);
	}
	/** Lists all senders, then the receiver. */
	hosts() {
		return allOf(this.#hosts);
	}
	close() {
		return closeAll(this.#hosts);
	}
	async #portsFor(trafficSeconds, signal) {
		const { settleSeconds } = this.#traffic;
		const seconds = secondsFor(settleSeconds, trafficSeconds);
		const opened = this.#opened;
		if (opened !== void 0 && this.#deps.now() + seconds < opened.until && areOpen(opened.ports)) return opened;
		await this.closePorts();
		const { senders, receiver } = this.#hosts;
		const outcome = await openPorts({
			senders: senders.map(({ host, config }) => ({
				host,
				interface: config.interface
			})),
			receiver: {
				host: receiver,
				interface: this.#config.receiver.interface
			}
		}, {
			settleSeconds,
			seconds: heldSeconds + seconds,
			holdsSenders: this.#holdsSenders
		}, signal);
		if (outcome.kind === "failed") return outcome;
		this.#opened = {
			ports: outcome.ports,
			until: this.#deps.now() + heldSeconds + seconds
		};
		return this.#opened;
	}
};
const silenceGenerators = async (config, deps) => closeAll(await connectAll(config, deps));
const allOf = ({ senders, receiver }) => [...senders.map(({ host }) => host), receiver];
async function connectAll(config, deps) {
	await using opened = new AsyncDisposableStack();
	const connect = async (host, label) => opened.use(await deps.connect(host, label));
	const hosts = {
		senders: [],
		receiver: await connect(config.receiver, "receiver")
	};
	for (const [index, sender] of config.senders.entries()) {
		const label = config.senders.length === 1 ? "sender" : `sender ${index + 1}`;
		hosts.senders.push({
			config: sender,
			host: await connect(sender, label)
		});
	}
	await Promise.all(allOf(hosts).map((host) => endPktGen(host, deps)));
	opened.move();
	return hosts;
}
const closeAll = async (hosts) => {
	await Promise.all(allOf(hosts).map((host) => host.close()));
};
const patienceSeconds = 600;
const secondsBetweenTries = 10;
async function connectPatiently(config, deps, signal) {
	const deadline = deps.now() + patienceSeconds;
	for (;;) {
		try {
			return await connectAll(config, deps);
		} catch (error) {
			if (!(isAbsence(error) && deps.now() < deadline && !signal.aborted)) throw error;
		}
		await deps.sleep(secondsBetweenTries);
	}
}
const isAbsence = (error) => error instanceof HostError && [
	"unreachable",
	"lost",
	"timeout"
].includes(error.kind);
const secondsToSignal = 60;
const timesToInterrupt = 5;
const timesToEnd = 10;
/** Ends every pkt-gen there: the machines are leased as one. Its summary and its port need a moment. */
async function endPktGen(host, { sleep }) {
	for (let time = 0; time < timesToEnd; time += 1) {
		const signal = time < timesToInterrupt ? shell`-INT` : shell`-KILL`;
		const command = shell`pkill ${signal} -x pkt-gen`;
		const outcome = await host.run(command, { timeoutSeconds: secondsToSignal });
		if (outcome.kind === "exited" && outcome.code === 1) return;
		stdoutOf(outcome, host.name, command);
		await sleep(1);
	}
	throw new HostError("command-failed", `A pkt-gen on ${host.name} does not exit: check what it waits for, or reboot that machine.`);
}
async function requireMtus({ receiver }, hosts, frameBytes) {
	for (const { config, host } of hosts.senders) await requireMtu(host, netmapPort(config.interface), frameBytes, "sender");
	await requireMtu(hosts.receiver, netmapPort(receiver.interface), frameBytes, "receiver");
}
async function factsOf({ receiver }, hosts) {
	const around = await Promise.all([...hosts.senders.map(async ({ config, host }, index) => [`sender ${index + 1}`, await factOf(config, host)]), factOf(receiver, hosts.receiver).then((fact) => ["receiver", fact])]);
	return Object.fromEntries(around);
}
async function factOf(generator, host) {
	const port = netmapPort(generator.interface);
	const [version, ifconfig] = [shell`uname -s -r`, shell`ifconfig ${port}`];
	const outputs = await readAll(host, [version, ifconfig]);
	const media = parseIfconfig(outputs.get(commandText(ifconfig)) ?? "")?.media ?? "unknown media";
	return `${(outputs.get(commandText(version)) ?? "").trim()}, ${port} ${media}`;
}

// src/lab/freebsd/kernels.ts
/** Builds the listed kernels one after the other, and keeps the archives in a folder of this machine. */
var Kernels = class {
	#folder;
	#builder;
	#givenUp = /* @__PURE__ */ new Set();
	#listed = /* @__PURE__ */ new Map();
	#newest;
	#building;
	#work = Promise.resolve();
	constructor(folder, builder) {
		this.#folder = folder;
		this.#builder = builder;
	}
	/**
	* Replaces the list of kernels. Finished kernels stay. A running build continues unless the first of the list has no
	* kernel: that one is built now, and the other later in its turn. Gives up kernels that are no longer listed.
	*/
	list(request) {
		this.#newest = request;
		const list = request.variants.map((variant) => {
			const before = this.#listed.get(variant.variant);
			return before && isDeepStrictEqual(before.variant, variant) ? before : listed(variant);
		});
		const gone = [...this.#listed.values()].filter((one) => !list.includes(one));
		this.#listed = new Map(list.map((one) => [nameOf(one), one]));
		for (const one of gone) this.#giveUp(one);
		for (const name of this.#listed.keys()) this.#givenUp.delete(name);
		const [first] = list;
		const building = this.#building;
		const isPassed = first !== void 0 && !first.isSettled && first !== building?.listed;
		if (building !== void 0 && (isPassed || gone.includes(building.listed))) building.drop.abort(/* @__PURE__ */ new Error(`the kernel of ${nameOf(building.listed)} is no longer needed`));
		this.#work = this.#work.then(() => this.#buildAll());
	}
	/**
	* Waits for a kernel, and for the layout variant `layout` if it has several. An unlisted variant runs the DUT's own
	* kernel.
	*/
	async get(variant, layout) {
		const one = this.#listed.get(variant);
		if (one !== void 0) return layoutOf(await one.kernel.promise, variant, layout);
		if (this.#givenUp.has(variant)) throw notListed(variant);
		return { kind: "own" };
	}
	ready() {
		return new Set([...this.#listed.values()].filter(({ isSettled }) => isSettled).map(nameOf));
	}
	/** Resolves when no build runs, soon after the signals of all requests are aborted. */
	ended() {
		return this.#work;
	}
	#giveUp(one) {
		this.#givenUp.add(nameOf(one));
		one.kernel.reject(notListed(nameOf(one)));
		this.#removeArchives(one);
	}
	async #buildAll() {
		for (;;) {
			const one = [...this.#listed.values()].find(({ isSettled }) => !isSettled);
			if (one === void 0 || this.#newest === void 0) return;
			const drop = new AbortController();
			this.#building = {
				listed: one,
				drop
			};
			const signal = AbortSignal.any([this.#newest.signal, drop.signal]);
			try {
				one.kernel.resolve(await this.#build(one, {
					...this.#newest,
					signal
				}));
				one.isSettled = true;
			} catch (error) {
				one.isSettled = !drop.signal.aborted;
				if (one.isSettled) one.kernel.reject(error);
			}
			this.#building = void 0;
			if (this.#listed.get(nameOf(one)) !== one) this.#removeArchives(one);
		}
	}
	async #build({ variant: { variant, kernel } }, { signal, notify, keepLog }) {
		const builder = this.#builder;
		if (kernel?.kind !== "tree") return { kind: "own" };
		if (builder === void 0) throw new BuilderError("The testbed has no builder: configure one in ppsgate.yml, or supply prebuilt kernels.");
		signal.throwIfAborted();
		notify(`building the kernel of ${variant}`);
		await using host = await builder.connect();
		const built = await buildVariant(host, builder.config, {
			...builder,
			variant,
			kernel,
			keepLog,
			notify,
			signal
		});
		if (built.kind === "rejected") return built;
		const archives = /* @__PURE__ */ new Map();
		for (const [index, each] of [built, ...built.further].entries()) {
			const name = layoutName(variant, kernel.layouts?.[index]);
			const path = this.#pathOf(name);
			await fetchKernel(host, each, path, signal);
			const { sha256, unpackedBytes } = each;
			const archive = {
				variant: name,
				path,
				sha256,
				unpackedBytes
			};
			if (kernel.layouts === void 0) return {
				kind: "archive",
				archive
			};
			archives.set(kernel.layouts[index] ?? 1, archive);
		}
		return {
			kind: "layouts",
			archives
		};
	}
	#removeArchives({ variant: { variant, kernel } }) {
		const layouts = kernel?.kind === "tree" ? kernel.layouts : void 0;
		for (const layout of layouts ?? [void 0]) rmSync(this.#pathOf(layoutName(variant, layout)), { force: true });
	}
	#pathOf(name) {
		return join(this.#folder, `${pathName(name)}.tar`);
	}
};
function listed(variant) {
	const kernel = Promise.withResolvers();
	kernel.promise.catch(() => {});
	const isSettled = variant.kernel?.kind !== "tree";
	if (isSettled) givenKernel(variant).then(kernel.resolve, kernel.reject);
	return {
		variant,
		kernel,
		isSettled
	};
}
const nameOf = ({ variant }) => variant.variant;
function layoutOf(kernel, variant, layout) {
	if (kernel.kind !== "layouts") return kernel;
	const [first] = kernel.archives.keys();
	const archive = kernel.archives.get(layout ?? first ?? 1);
	if (archive === void 0) throw new TypeError(`${variant} has no layout ${layout}.`);
	return {
		kind: "archive",
		archive
	};
}
const notListed = (variant) => /* @__PURE__ */ new TypeError(`The kernel of ${variant} was dropped; list it again to have it built.`);
async function givenKernel({ variant, kernel }) {
	if (kernel?.kind !== "archive") return { kind: "own" };
	return {
		kind: "archive",
		archive: await verifiedArchive(variant, kernel)
	};
}
async function verifiedArchive(variant, { path, sha256 }) {
	const hash = createHash("sha256");
	await pipeline(createReadStream(path), hash);
	if (hash.digest("hex") !== sha256) throw new BuilderError(`${path} no longer has the SHA-256 ${sha256}: the file has changed.`);
	const { size } = await stat(path);
	return {
		variant,
		path,
		sha256,
		unpackedBytes: await isPlainTar(path) ? size : 4 * size
	};
}
/** A plain archive is as big as its content; a compressed kernel has at least a quarter of it. */
async function isPlainTar(path) {
	await using file = await open(path);
	const magic = Buffer.alloc(5);
	await file.read(magic, 0, 5, 257);
	return magic.toString() === "ustar";
}

// src/lab/freebsd/freebsd-testbed.ts
/**
* Connects to all machines, and ends generators of a lost controller. Throws a HostError if a machine is unreachable.
*/
async function openFreebsdTestbed(name, config, traffic, deps) {
	const { lab, prepare, restore } = await openFreebsdMachines(name, config, traffic, deps);
	return {
		name,
		inspect: (cells) => inspect$1(name, lab, cells),
		async prepare(request) {
			await prepare(request);
			return { kind: "ready" };
		},
		ready: () => lab.prepared?.kernels.ready() ?? /* @__PURE__ */ new Set(),
		trial: (planned, keepLog, signal) => trial(lab, planned, keepLog, signal),
		booted: () => config.dut.power === void 0 ? void 0 : lab.boots.booted?.variant,
		profile: (request, keepLog, signal) => profile(lab, request, keepLog, signal),
		restore
	};
}
/** Opens the machines of a testbed, for callers that do more than measure. */
async function openFreebsdMachines(name, config, traffic, deps) {
	await using opened = new AsyncDisposableStack();
	const cycles = { done: 0 };
	const generators = await Generators.open(config, traffic, deps);
	opened.defer(() => generators.close());
	const console = consoleOf(name, config, deps);
	opened.defer(async () => console?.close());
	const dut = await FreebsdDut.open(await dutOptions(name, config, {
		deps,
		cycles,
		console
	}));
	opened.defer(() => dut.host().close());
	const { mac: dutMac, gigabits } = await ingressOf(dut.host(), config.dut.ingress.interface);
	const folder = await mkdtemp(join(tmpdir(), "ppsgate-kernels-"));
	const boots = bootsOf(config, dut, deps, { addresses: traffic.packets?.addresses });
	const firewallsOfSite = await siteFirewalls(dut.host());
	const lab = {
		boots,
		generators,
		cycles,
		console,
		glitches: { inARow: 0 },
		firewallsOfSite,
		traffic,
		dutMac,
		lineGigabits: gigabits,
		prepared: void 0
	};
	const over = new AbortController();
	opened.move();
	return {
		lab,
		dut,
		async prepare(request) {
			const { rules, variants } = request;
			if (lab.prepared === void 0) {
				const builder = await builderFor(dut.host(), {
					name,
					builder: config.builder
				}, deps);
				lab.prepared = {
					kernels: new Kernels(folder, builder),
					rules
				};
			}
			lab.prepared.rules = rules;
			boots.mayDiffer = request.mayDiffer === true;
			setListed(boots, variants.map(({ variant }) => variant));
			const signal = AbortSignal.any([request.signal, over.signal]);
			lab.prepared.kernels.list({
				...request,
				signal
			});
		},
		async restore() {
			over.abort(/* @__PURE__ */ new Error("the testbed is released"));
			try {
				await generators.silence();
				await giveBack(name, dut, firewallsOfSite);
			} finally {
				await Promise.allSettled([
					dut.host().close(),
					generators.close(),
					console?.close(),
					lab.prepared?.kernels.ended()
				]);
				await rm(folder, {
					recursive: true,
					force: true
				});
			}
		}
	};
}
/** Recovers the DUT after a dead controller, by a power cycle if needed. Throws a HostError or a DutLostError. */
async function wakeFreebsdTestbed(name, config, deps) {
	await silenceGenerators(config, deps);
	const console = consoleOf(name, config, deps);
	try {
		await wakeFreebsdDut(await dutOptions(name, config, {
			deps,
			cycles: { done: 0 },
			console
		}));
	} finally {
		await console?.close();
	}
}
function consoleOf(name, { dut }, deps) {
	const { console } = dut;
	if (console === void 0) return void 0;
	const machine = `the DUT of ${name}`;
	return new ConsoleRecorder(machine, (onOutput) => deps.openConsole(machine, console, onOutput));
}
async function dutOptions(name, { dut }, { deps, cycles, console }) {
	return {
		connect: async () => bounded(await deps.connect(dut, "DUT", { keepaliveSeconds: 0 })),
		power: dut.power && await openPower(name, dut.power, {
			deps,
			cycles,
			console
		}),
		console,
		method: dut.boot.method,
		bootSeconds: dut.boot.limitSeconds,
		sleep: deps.sleep,
		now: deps.now
	};
}
/** Counts power cycles, and ends the recorded boot at each. Reopens a console that ends with it. */
async function openPower(name, config, { deps, cycles, console }) {
	const power = await deps.openPower(`the DUT of ${name}`, config);
	return { async cycle() {
		await (console?.whileCycled(() => power.cycle()) ?? power.cycle());
		cycles.done += 1;
	} };
}
async function ingressOf(host, name) {
	const port = parseIfconfig(await host.output(shell`ifconfig ${name}`));
	if (port?.mac !== void 0) return {
		mac: port.mac,
		gigabits: port.gigabits
	};
	throw new HostError("command-failed", `${name} on ${host.name} has no MAC address.`);
}
/** Runs while the DUT runs its own kernel. Returns undefined if only prebuilt kernels can be measured. */
async function builderFor(dut, { name, builder }, deps) {
	if (builder === void 0) return void 0;
	return {
		config: builder,
		async connect() {
			const { host } = builder;
			return host === void 0 ? thisMachine() : deps.connect({
				...builder,
				host
			}, "builder");
		},
		now: deps.now,
		sums: deps.kernelSums ?? noSums,
		owner: `ppsgate on ${name}`,
		...builder.recipe.kind === "make" && { loaded: await loadedModules(dut) }
	};
}
async function inspect$1(name, { boots, generators, console, traffic, firewallsOfSite }, cells) {
	const families = [...new Set(cells.map(({ family }) => family))];
	const firewalls = await firewallWarnings(boots.dut.host(), firewallsOfSite);
	const problems = await inspectDut(boots, families);
	const isStrict = boots.config.preflight === "fail";
	const grave = problems.filter(({ isVital, isWaived }) => isVital || isStrict && !isWaived);
	if (grave.length > 0) throw new PreflightError(name, grave);
	const largest = Math.max(...cells.map((cell) => frameBytesFor(traffic, cell)));
	for (const port of portsOf(boots)) await requireMtu(boots.dut.host(), port, largest, "dut");
	const around = await generators.facts(largest);
	await console?.open();
	return {
		fingerprint: {
			...await fingerprintOfDut(boots),
			...around
		},
		warnings: [
			...problems.map(({ message }) => message),
			...firewalls,
			...console?.takeProblems() ?? []
		]
	};
}
const maxRestores = 3;
async function giveBack(name, dut, firewallsOfSite) {
	for (let time = 1;; time += 1) try {
		await dut.restore();
		if (firewallsOfSite.length === 0) await removeRules(dut.host());
		else await bringFirewallsBack(dut);
		await dut.host().output(shell`rm -rf ${rulesFolder}`);
		return;
	} catch (error) {
		if (!(error instanceof HostError)) throw error;
		if (time < maxRestores) continue;
		throw new DutLostError(`The DUT of ${name} may still run an experiment's kernel: restoring it failed ${time} times, most recently because of this: ${error.message}`, { cause: error });
	}
}
/** Boots, as only rc.conf loads the site's rules; `installRulesOf` has marked the boot. */
async function bringFirewallsBack(dut) {
	if (await hasBootedSinceMark(dut.host())) return;
	await removeRules(dut.host());
	const outcome = await dut.boot(void 0);
	if (outcome.kind === "boot-failed") throw new DutLostError(outcome.reason);
}

export { FreebsdDut, Kernels, builderFor, countersCommands, countersLog, firewallWarnings, firewallsOn, freebsdLogNames, installRules, interfaceBetween, interruptsCommand, limitsBetween, openFreebsdMachines, openFreebsdTestbed, packetCounters, profile, proofCommands, proofOf, provesScenario, readFreebsdLogs, removalCommands, removeRules, rulesFolder, sentBetween, siteFirewalls, trial, wakeFreebsdDut, wakeFreebsdTestbed };