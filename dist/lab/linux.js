import { UsageError, addressText, lastLine, pathName, shortenedTo } from "../model/first-plain.js";
import { families, trialLimitsSchema } from "../model/first.js";
import { HostError } from "../system/host/first-plain.js";
import { shell } from "../system/shell.js";
import { ipAddress } from "./traffic/plain.js";
import { sum } from "../vendor/simple-statistics.js";
import { findInertChanges, findLeftovers, formatSettings, ignoredParts, linuxDutScript, loadRefusal, loadable, observeCommand, parseObservation, printingCommand, readSettings, refusedSetting, samplesAsTheyCome, samplingCommand } from "./linux/plain.js";
const { PassThrough } = globalThis.process.getBuiltinModule("node:stream");

// src/lab/trial-limits.ts
const packetsOf = (drops) => sum(drops.map(({ packets }) => packets));
/** Ignores a smaller share of the arrived packets: packets in flight between two counters are no drops. */
const minSilentRatio = .005;
/** Cause of packets that IP received and did not forward, for no reason that a counter has. */
const uncountedCause = "the kernel after IP input, without a counter";
const ownAddressCause = "the DUT itself, because they are addressed to it";
/** Excludes the card: packets that it missed never reached the forwarding code. */
const forwardingPlaces = /* @__PURE__ */ new Set([
	"backlog",
	"ip",
	"firewall",
	"state-table",
	"output-queue"
]);
/** A variant that forwards more also has counters of other drops than those of its silent run. */
const maxForwardedRatio = .1;
/** Names the cause of most drops of a variant that lost nearly all packets; continues "dropped by". */
function mainDrop({ offeredPackets, receivedPackets, drops }) {
	if (receivedPackets > offeredPackets * maxForwardedRatio) return void 0;
	const [most] = drops.filter(({ place, cause }) => forwardingPlaces.has(place) && cause !== "the kernel after IP input, without a counter").toSorted((one, other) => other.packets - one.packets);
	return most?.cause;
}
/** Returns undefined for numbers that no counter can have. */
function boundedLimits({ busiestCpuRatio, ...limits }) {
	const parsed = trialLimitsSchema.safeParse({
		...limits,
		...busiestCpuRatio !== void 0 && { busiestCpuRatio: Math.round(busiestCpuRatio * 1e3) / 1e3 },
		drops: limits.drops.map(({ cause, ...drop }) => ({
			...drop,
			cause: shortenedTo(maxCauseCharacters, cause)
		})).toSorted((a, b) => b.packets - a.packets).slice(0, 200)
	});
	return parsed.success ? parsed.data : void 0;
}
const maxCauseCharacters = 250;
/** Counters of generators and a DUT cover slightly different stretches. */
const minEndRatio = .002;
/**
* Adds losses before and after the DUT: `sentPackets` is the senders' count of the packets that the DUT counted,
* `countedPackets` the receiver's.
*/
function withEnds(limits, { sentPackets, countedPackets }) {
	const { offeredPackets, receivedPackets, drops } = limits;
	const before = Math.round((sentPackets ?? 0) - offeredPackets);
	const behind = Math.round(receivedPackets - (countedPackets ?? receivedPackets));
	const isBefore = before > offeredPackets * minEndRatio && Number.isSafeInteger(offeredPackets + before);
	const isBehind = behind > receivedPackets * minEndRatio;
	return {
		...limits,
		offeredPackets: isBefore ? offeredPackets + before : offeredPackets,
		receivedPackets: isBehind ? receivedPackets - behind : receivedPackets,
		drops: [
			...drops,
			...isBefore ? [{
				place: "before-dut",
				cause: "sent, but not seen by the DUT",
				packets: before
			}] : [],
			...isBehind ? [{
				place: "after-dut",
				cause: "not counted by the receiver",
				packets: behind
			}] : []
		].slice(0, 200)
	};
}
/** Counters of a whole card for packets that found no descriptor, no buffer or no space in it. */
const cardDrops$1 = [
	[/^(rx_)?(no_dma_resources|no_desc\w*|out_of_buffer)$/, "no descriptor"],
	[/^(rx_|recv_)?(no_buff\w*|nobuf\w*)$/, "no buffer"],
	[/^(port\.)?(rx_)?(missed_?(errors|packets)?|ovflow\d|fifo_errors|over_errors|discards?(_phy|_pkts)?|discard_pkts)$/, "missed"]
];
const cardDropOf = (name) => cardDrops$1.find(([pattern]) => pattern.test(name))?.[1];
/** Reads lines `name: number` of `ethtool -S` or sysctl(8), with whole numbers only. */
function countersIn(text) {
	const counters = /* @__PURE__ */ new Map();
	for (const line of text.split("\n").slice(0, maxLines)) {
		const [, name = "", digits = ""] = /^\s*(\S.{0,99}): (\d{1,16})\s*$/.exec(line) ?? [];
		const value = Number(digits);
		if (digits !== "" && Number.isSafeInteger(value)) counters.set(name.trim(), value);
	}
	return counters;
}
const maxLines = 2e4;

// src/lab/linux/linux-counters.ts
/** Growth of a counter; undefined where an edge lacks it, or where it ran backwards. */
const growth = (before, after) => before === void 0 || after === void 0 || after < before ? void 0 : after - before;
/** Reads `/proc/net/snmp` or `netstat`, where each line of names precedes its line of values. */
function mibOf(text) {
	const lines = text.split("\n").map((line) => line.trim().split(/\s+/));
	const values = /* @__PURE__ */ new Map();
	for (const [index, names] of lines.entries()) {
		const numbers = lines[index + 1];
		if (index % 2 === 1 || numbers === void 0 || names[0] !== numbers[0]) continue;
		for (const [column, name] of names.entries()) {
			const value = Number(numbers[column]);
			if (column > 0 && Number.isSafeInteger(value)) values.set(`${names[0]}${name}`, value);
		}
	}
	return values;
}
/** Reads `/proc/net/snmp6`: a name and a value on each line. */
const mib6Of = (text) => new Map(text.split("\n").flatMap((line) => {
	const [, name = "", digits] = /^(\w+)\s+(\d{1,16})$/.exec(line.trim()) ?? [];
	return digits === void 0 ? [] : [[name, Number(digits)]];
}));
/** Counters of packets that IP dropped, each once; every cause continues "dropped by". */
const ipDrops = [
	["Ip:InHdrErrors", "an expired TTL, or an invalid header"],
	["Ip:InAddrErrors", "a DUT that does not forward (net.ipv4.ip_forward), or a wrong destination MAC address"],
	["IpExt:InNoRoutes", "a missing route"],
	["Ip:OutNoRoutes", "a missing route"],
	["TcpExt:IPReversePathFilter", "the reverse-path filter (net.ipv4.conf.….rp_filter)"],
	["Ip:InUnknownProtos", "an unknown protocol"],
	["IpExt:InTruncatedPkts", "a length that exceeds the frame"],
	["Ip:InDiscards", "the kernel on receipt"],
	["Ip:OutDiscards", "a missing neighbour entry, or too little memory to send"],
	["Ip:FragFails", "the MTU of the next link"],
	["Ip6InHdrErrors", "an expired hop limit, or an invalid header"],
	["Ip6InAddrErrors", "a DUT that does not forward (net.ipv6.conf.all.forwarding), or a wrong destination MAC address"],
	["Ip6InNoRoutes", "a missing route"],
	["Ip6OutNoRoutes", "a missing route"],
	["Ip6InTooBigErrors", "the MTU of the next link"],
	["Ip6InUnknownProtos", "an unknown protocol"],
	["Ip6InTruncatedPkts", "a length that exceeds the frame"],
	["Ip6InDiscards", "the kernel on receipt"],
	["Ip6OutDiscards", "a missing neighbour entry, or too little memory to send"]
];
const allMibs = (blocks) => new Map([
	...mibOf(blocks.get("snmp") ?? ""),
	...mibOf(blocks.get("netstat") ?? ""),
	...mib6Of(blocks.get("snmp6") ?? "")
]);
function ipCounts(before, after) {
	const [first, last] = [allMibs(before), allMibs(after)];
	const grown = (name) => growth(first.get(name), last.get(name));
	const drops = ipDrops.flatMap(([name, cause]) => {
		const packets = grown(name) ?? 0;
		return packets > 0 ? [{
			place: "ip",
			cause,
			packets
		}] : [];
	});
	const total = (...names) => names.reduce((all, name) => {
		const packets = grown(name);
		return all === void 0 || packets === void 0 ? void 0 : all + packets;
	}, 0);
	const arrived = total("Ip:InReceives", "Ip6InReceives");
	const delivered = total("Ip:InDelivers", "Ip6InDelivers");
	const forwarded = total("Ip:ForwDatagrams", "Ip6OutForwDatagrams");
	if (arrived === void 0 || delivered === void 0 || forwarded === void 0) return {
		drops,
		vanishedPackets: void 0
	};
	const vanishedPackets = Math.max(0, arrived - delivered - forwarded - packetsOf(drops));
	const kept = delivered > arrived * .005 ? delivered : 0;
	return {
		drops: [...drops, {
			place: "ip",
			cause: ownAddressCause,
			packets: kept
		}],
		vanishedPackets
	};
}
const maxLineCharacters = 4e3;
/** Splits `nft list ruleset` into lines, each with its chain and table. */
function rulesIn(text) {
	let [table, chain] = ["", ""];
	return text.split("\n").flatMap((whole) => {
		const line = whole.slice(0, maxLineCharacters);
		table = /^table (\S+ \S+) \{/.exec(line)?.[1] ?? table;
		const [, own] = /^\s+chain (\S+) \{/.exec(line) ?? [];
		chain = own ?? chain;
		return own === void 0 && chain !== "" ? [{
			where: placeOfRule(chain, table),
			line
		}] : [];
	});
}
const placeOfRule = (chain, table) => `chain ${chain} of table ${table}`;
/** Continues "dropped by"; without counts, so that it is the same in each trial. */
function nameOfRule(rule, where) {
	const text = rule.replace(/\bcounter packets \d+ bytes \d+/, "counter").trim();
	return `the rule "${shortenedTo(maxRuleCharacters, text)}" in ${where}`;
}
const maxRuleCharacters = 120;
/** Quoted text is a comment, a name, or the prefix of a log. */
const withoutQuoted = (line) => line.replaceAll(/"[^"]*"/g, "\"\"");
/** Reads packets dropped by rules with a counter, since their installation, from `nft list ruleset`. */
const ruleDrops = (text) => rulesIn(text).flatMap(({ where, line }) => {
	const packets = Number(countedDrop.exec(withoutQuoted(line))?.[1] ?? 0);
	return packets === 0 ? [] : [{
		cause: nameOfRule(line, where),
		packets
	}];
});
/** Allows no match after the counter, which would let counted packets pass. */
const countedDrop = /\bcounter packets (\d{1,16}) bytes \d+ (?:log [^;]{0,200})?(?:drop|reject\b)/;
/** Names rules and policies that drop without a counter. */
const silentRules = (text) => rulesIn(text).flatMap(({ where, line }) => {
	const rule = withoutQuoted(line);
	if (/\bpolicy drop\b/.test(rule)) return [`the policy of ${where}`];
	return /\b(?:drop|reject)\b/.test(rule) && !/\bcounter\b/.test(rule) ? [nameOfRule(line, where)] : [];
});
/** Packets dropped by the root discipline of an interface. */
function disciplineDrops(text, name) {
	const lines = text.split("\n");
	return lines.flatMap((line, index) => {
		const [, kind = "", number, dev] = /^qdisc (\w{1,30}) (\S{1,30}) dev (\S+) root\b/.exec(line) ?? [];
		const [, dropped] = /\(dropped (\d{1,16}),/.exec(lines[index + 1] ?? "") ?? [];
		return dev === name && dropped !== void 0 ? [{
			id: `${kind} ${number}`,
			kind,
			packets: Number(dropped)
		}] : [];
	});
}

// src/lab/linux/linux-limits.ts
/** Returns limits by variant; omits variants without counters in the log. */
function limitsInLinuxLog(log, runs) {
	const byRun = Map.groupBy(readingsIn(log), ({ run }) => run);
	const stretches = runs.flatMap(({ variant }, index) => {
		const before = byRun.get(index)?.find(({ edge }) => edge === "begin");
		const after = byRun.get(index)?.find(({ edge }) => edge === "end");
		return before && after ? {
			variant,
			stretch: {
				before,
				after
			}
		} : [];
	});
	const byVariant = Map.groupBy(stretches, ({ variant }) => variant);
	return Object.fromEntries([...byVariant].flatMap(([variant, own]) => {
		const all = own.map(({ stretch }) => stretch);
		const whole = all.findLast(({ after }) => after.blocks.has("dev"));
		const limits = whole && limitsOf(whole, busiestCpuRatio(all));
		return limits === void 0 ? [] : [[variant, limits]];
	}));
}
const head = /^limits (\d{1,7}) (begin|end) (\d{1,12}\.\d{1,9}) (\S+) (\S+)$/;
function readingsIn(log) {
	const readings = [];
	for (const line of log.split("\n")) {
		const [, run, edge = "", time, ingress = "", egress = ""] = head.exec(line) ?? [];
		const [, name, text = ""] = /^= (\S+)(?: (.*))?$/.exec(line) ?? [];
		if (run !== void 0) {
			const [lines, blocks] = [/* @__PURE__ */ new Map(), /* @__PURE__ */ new Map()];
			const at = {
				run: Number(run),
				edge,
				seconds: Number(time)
			};
			readings.push({
				...at,
				ingress,
				egress,
				lines,
				blocks
			});
		} else if (name !== void 0) {
			const lines = readings.at(-1)?.lines;
			const own = lines?.get(name);
			if (own === void 0) lines?.set(name, [text]);
			else own.push(text);
		}
	}
	return readings.map(({ lines, ...reading }) => ({
		...reading,
		blocks: new Map([...lines].map(([name, own]) => [name, own.join("\n")]))
	}));
}
/** With fewer ticks of a CPU's clock, a share means nothing. */
const minTicks = 25;
/** Over all stretches; undefined if they are too short. */
function busiestCpuRatio(stretches) {
	const busy = [];
	const total = [];
	for (const { before, after } of stretches) {
		const [first, last] = [cpuTicks(before.blocks), cpuTicks(after.blocks)];
		for (const [cpu, ticks] of last) {
			const earlier = first.get(cpu);
			if (earlier === void 0) continue;
			busy[cpu] = (busy[cpu] ?? 0) + Math.max(0, ticks.busy - earlier.busy);
			total[cpu] = (total[cpu] ?? 0) + Math.max(0, ticks.total - earlier.total);
		}
	}
	const ratios = Array.from(total, (all = 0, cpu) => all === 0 ? 0 : (busy[cpu] ?? 0) / all);
	return total.reduce((largest, ticks = 0) => Math.max(largest, ticks), 0) < minTicks ? void 0 : Math.max(...ratios);
}
/** Reads the ticks of each CPU. Stolen time is neither busy nor idle, see proc_stat(5). */
function cpuTicks(blocks) {
	return new Map((blocks.get("stat") ?? "").split("\n").flatMap((line) => {
		const [, cpu, fields = ""] = /^cpu(\d{1,4}) ([\d ]+)$/.exec(line) ?? [];
		const [user = 0, nice = 0, system = 0, idle = 0, waiting = 0, hard = 0, soft = 0] = fields.split(" ").map(Number);
		const busy = user + nice + system + hard + soft;
		return cpu === void 0 ? [] : [[Number(cpu), {
			busy,
			total: busy + idle + waiting
		}]];
	}));
}
function limitsOf({ before, after }, busiestCpuRatio) {
	const { ingress, egress } = after;
	const [first, last] = [before.blocks, after.blocks];
	const arrived = growthOf(first, last, (blocks) => deviceCounters(blocks, ingress)?.received);
	const sent = growthOf(first, last, (blocks) => deviceCounters(blocks, egress)?.sent);
	if (arrived === void 0 || sent === void 0) return void 0;
	const card = cardDrops(first, last, ingress);
	const offeredPackets = arrived + packetsOf(card);
	const known = otherDrops(first, last, {
		ingress,
		egress,
		arrived,
		sent
	});
	const drops = [...card, ...known].filter(({ packets }) => packets > 0);
	return boundedLimits({
		offeredPackets,
		receivedPackets: sent,
		busiestCpuRatio,
		drops
	});
}
const growthOf = (first, last, read) => growth(read(first), read(last));
/** Reads `/proc/net/dev`: the eight columns of received packets, then those of sent ones. */
function deviceCounters(blocks, name) {
	for (const line of (blocks.get("dev") ?? "").split("\n")) {
		const [own = "", rest = ""] = line.split(/:(.*)/);
		const numbers = rest.trim().split(/\s+/).map(Number);
		const [, received, , , , , , , , sent, , sendDrops] = numbers;
		if (own.trim() !== name || !numbers.every(Number.isSafeInteger)) continue;
		if (received === void 0 || sent === void 0 || sendDrops === void 0) continue;
		return {
			received,
			sent,
			sendDrops
		};
	}
}
/**
* Reads the card's own counters, by names that differ between drivers, or else the kernel's sum of the same packets.
*/
function cardDrops(first, last, ingress) {
	const own = grown(first, last, `ethtool:${ingress}`).flatMap(([name, packets]) => {
		const cause = cardDropOf(name);
		return cause === void 0 || packets === 0 ? [] : [{
			place: "card",
			cause: `${cause} at ${ingress}`,
			packets
		}];
	});
	if (own.length > 0) return own;
	const missed = growthOf(first, last, (blocks) => numberIn(blocks, `missed:${ingress}`)) ?? 0;
	return [{
		place: "card",
		cause: `missed at ${ingress}`,
		packets: missed
	}];
}
const grown = (first, last, name) => {
	const earlier = countersIn(first.get(name) ?? "");
	return [...countersIn(last.get(name) ?? "")].flatMap(([key, value]) => {
		const packets = growth(earlier.get(key), value);
		return packets === void 0 ? [] : [[key, packets]];
	});
};
function numberIn(blocks, name) {
	const text = blocks.get(name)?.trim() ?? "";
	return /^\d{1,16}$/.test(text) ? Number(text) : void 0;
}
function otherDrops(first, last, path) {
	const { egress, arrived, sent } = path;
	const sendDrops = growthOf(first, last, (one) => deviceCounters(one, egress)?.sendDrops) ?? 0;
	const backlog = growthOf(first, last, (one) => hexColumnSum(one.get("softnet_stat"), 1)) ?? 0;
	const states = stateDrops(first, last);
	const ip = ipCounts(first, last);
	const counted = [
		{
			place: "driver",
			cause: `the driver of ${egress}`,
			packets: sendDrops
		},
		{
			place: "backlog",
			cause: "the backlog of a CPU",
			packets: backlog
		},
		...ip.drops,
		...states,
		...disciplines(first, last, egress)
	];
	const rules = ruleDropsOf(first, last, path, Math.max(0, arrived - sent - packetsOf(counted)));
	const silent = (ip.vanishedPackets ?? 0) - packetsOf([...states, ...rules]);
	return [
		...counted,
		...rules,
		...silent > arrived * .005 ? [{
			place: "firewall",
			cause: silentCause(last),
			packets: silent
		}] : []
	];
}
function silentCause(last) {
	const [rule, ...others] = silentRules(last.get("nft") ?? "");
	if (rule === void 0) return uncountedCause;
	return others.length > 0 ? `rules without a counter, such as ${rule}` : `${rule}, without a counter`;
}
/**
* Scales the rules' counters down: they count from the installation, slightly longer than the stretch, in which all
* rules together dropped at most `lost` packets.
*/
function ruleDropsOf(first, last, { ingress, arrived }, lost) {
	const begin = deviceCounters(first, ingress)?.received;
	const counted = growth(begin, numberIn(last, "received")) ?? 0;
	const rules = counted === 0 ? [] : ruleDrops(last.get("nft") ?? "");
	const all = packetsOf(rules);
	const scale = Math.min(arrived / Math.max(counted, 1), lost / Math.max(all, 1));
	return rules.map(({ cause, packets }) => {
		return {
			place: "firewall",
			cause,
			packets: Math.round(packets * scale)
		};
	});
}
function stateDrops(first, last) {
	const names = (first.get("nf_conntrack") ?? "").split("\n")[0]?.trim().split(/\s+/) ?? [];
	const packets = (name) => names.includes(name) ? growthOf(first, last, (one) => hexColumnSum(one.get("nf_conntrack"), names.indexOf(name))) ?? 0 : 0;
	return [{
		place: "state-table",
		cause: "connection tracking, because its table is full (net.netfilter.nf_conntrack_max)",
		packets: packets("drop")
	}, {
		place: "state-table",
		cause: "connection tracking, because a state could not be inserted",
		packets: packets("insert_failed")
	}];
}
/** Sums a column of hexadecimal numbers over the CPUs; ignores a line of names. */
function hexColumnSum(text = "", column) {
	const values = hexRows(text).map((row) => row[column]);
	return values.every((value) => value !== void 0) && values.length > 0 ? sum(values) : void 0;
}
const hexRows = (text) => text.split("\n").flatMap((line) => {
	const row = line.trim().split(/\s+/);
	return row.every((word) => /^[\da-f]{1,13}$/.test(word)) ? [row.map((word) => Number.parseInt(word, 16))] : [];
});
/** Counts all drops of a discipline that the first reading lacks: it was installed in between. */
function disciplines(first, last, egress) {
	const before = first.get("tc");
	const earlier = disciplineDrops(before ?? "", egress);
	const unknown = before === void 0 ? void 0 : 0;
	return disciplineDrops(last.get("tc") ?? "", egress).map(({ id, kind, packets }) => {
		const known = earlier.find((one) => one.id === id);
		const dropped = growth(known === void 0 ? unknown : known.packets, packets) ?? 0;
		return {
			place: "output-queue",
			cause: `${kind} on ${egress}`,
			packets: dropped
		};
	});
}
/**
* Returns a phrase that continues "dropped by". Names the rule that ended traced packets of the folder's variant, or the
* main drop among its counters.
*/
function droppedBy(log, folder, limits) {
	return tracedRule(tracesOf(log, folder)) ?? (limits && mainDrop(limits));
}
/** Returns the lines after `drops FOLDER`. */
function tracesOf(log, folder) {
	let isOwn = false;
	return log.split("\n").filter((line) => {
		if (line.startsWith("drops ")) isOwn = line === `drops ${folder}`;
		return isOwn && line.startsWith("trace ");
	});
}
function tracedRule(lines) {
	const lastDrops = [...Map.groupBy(lines.flatMap(eventOf), ({ packet }) => packet).values()].flatMap((events) => events.at(-1)?.drop ?? []);
	return byCount(Map.groupBy(lastDrops, (drop) => drop))[0];
}
const byCount = (groups) => [...groups].toSorted(([, one], [, other]) => other.length - one.length).map(([key]) => key);
/** A packet's last event shows where its way through the rules ended. */
function eventOf(line) {
	const [, packet, table, chain, event = ""] = traceLine.exec(line) ?? [];
	if (packet === void 0 || table === void 0 || chain === void 0) return [];
	const where = placeOfRule(chain, table);
	const [, rule] = /^rule (.*) \(verdict drop\)$/.exec(event) ?? [];
	if (rule !== void 0) return [{
		packet,
		drop: nameOfRule(rule, where)
	}];
	if (/^policy drop\s*$/.test(event)) return [{
		packet,
		drop: `the policy of ${where}`
	}];
	return [event.startsWith("rule ") && !event.endsWith(")") ? {
		packet,
		drop: `a rule in ${where}`
	} : { packet }];
}
/** See nft(8), MONITOR; the family and name of the table, and the chain. */
const traceLine = /^trace trace id (\w{1,16}) (\w{1,16} \S{1,128}) (\S{1,128}) (.*)$/;

// src/lab/linux/linux-install.ts
const folder = "/run/ppsgate/dut";
const script = `${folder}/dut.bash`;
const folderOf = (variant) => `${folder}/${pathName(variant)}`;
async function installVariant(host, overlay, scenario) {
	const target = folderOf(overlay.variant);
	const outcome = await host.run(shell`timeout --kill-after=5 ${installSeconds} bash ${script} lay ${target} ${scenario}`);
	if (outcome.kind === "exited" && outcome.code === 0) return { kind: "ready" };
	return refusalOf(overlay, scenario, outcome);
}
/** Rules may hold a command that never ends, like `monitor`; a set of a million addresses loads in seconds. */
const installSeconds = 120;
function exitText(outcome) {
	if (outcome.kind === "signaled") return `was ended by ${outcome.signal}`;
	return outcome.code === 124 ? `ran for more than ${installSeconds} s` : `exited with ${outcome.code}`;
}
const doesNotLoad = (variant, scenario, message) => ({
	kind: "rejected",
	variant,
	rejection: {
		kind: "does-not-load",
		scenario,
		message
	}
});
function refusalOf({ variant, sysctl, nftables }, scenario, outcome) {
	const target = folderOf(variant);
	const { stderr } = outcome;
	const { lines } = sysctl;
	const exit = exitText(outcome);
	const message = loadRefusal({
		folder: target,
		scenario,
		nftables,
		stderr,
		exitText: exit,
		lines
	});
	return doesNotLoad(variant, scenario, message);
}
/** Installs a variant and reads the DUT's counters with one program, as starting another takes longer in a guest. */
async function installCounting(host, overlay, scenario, { ingress, egress }) {
	const { variant } = overlay;
	const stdin = new PassThrough();
	const stop = new AbortController();
	const [begun, over] = [Promise.withResolvers(), Promise.withResolvers()];
	let log = "";
	const onStdout = (chunk) => {
		log += Buffer.from(chunk).toString();
		if (log.length > maxCounterCharacters) stop.abort(/* @__PURE__ */ new Error("it wrote too much"));
		else if (log === "begun\n") begun.resolve("begun");
		else if (log.endsWith("\nend\n")) over.resolve("over");
	};
	const counting = host.run(shell`bash ${script} count ${installSeconds} ${folderOf(variant)} ${scenario} ${ingress} ${egress}`, {
		stdin,
		onStdout,
		signal: stop.signal
	});
	counting.catch(() => {});
	const within = async (seconds, work) => {
		const late = () => stop.abort(/* @__PURE__ */ new Error(`it needed more than ${seconds} s`));
		const timer = setTimeout(late, seconds * 1e3);
		return await work.finally(() => clearTimeout(timer));
	};
	const first = await within(240, Promise.race([begun.promise, counting]));
	if (first !== "begun") return refusalOf(overlay, scenario, first);
	return {
		kind: "counting",
		async end() {
			stdin.end("\n");
			const ended = await within(endSeconds, Promise.race([over.promise, counting]));
			if (ended !== "over" && (ended.kind !== "exited" || ended.code !== 0)) throw new HostError("command-failed", `Counting on ${host.name} ${exitText(ended)}.`);
			return {
				log,
				limits: limitsInLinuxLog(log, [{ variant }])[variant]
			};
		},
		cancel: () => void stdin.end()
	};
}
/** A hundred times what the counters of a guest have. */
const maxCounterCharacters = 4 * 1024 ** 2;
/** A guest that does not answer in this time is considered dead. */
const endSeconds = 10;
/**
* Removes base's settings that the DUT lacks from all variants: a network namespace has no net.core.netdev_budget.
* Refuses a missing setting that only a patch adds, and every missing one of a single variant.
*/
async function withoutMissing(host, variants) {
	const [base, ...others] = variants;
	if (base === void 0 || others.length === 0) return {
		read: [...variants],
		warnings: []
	};
	const stdin = [...base.sysctl.settings.keys(), ""].join("\n");
	const printed = await host.output(shell`bash ${script} missing`, { stdin });
	const missing = new Set(printed.split("\n").filter((path) => base.sysctl.settings.has(path)));
	return {
		read: variants.map(({ sysctl, ...variant }) => ({
			...variant,
			sysctl: {
				...sysctl,
				settings: new Map([...sysctl.settings].filter(([path]) => !missing.has(path)))
			}
		})),
		warnings: [...missing].map((path) => `sysctl.conf line ${base.sysctl.lines.get(path)}: the DUT has no setting ${path}, so it is ignored in every variant.`)
	};
}
/** Creates interfaces that rules name and no packet uses; `restore` deletes them. Returns the reason of a failure. */
async function createInterfaces(host, variants) {
	const unused = [...new Set(variants.flatMap(({ unused }) => unused))];
	const [first] = variants;
	if (unused.length === 0 || first === void 0) return void 0;
	const outcome = await host.run(shell`bash ${script} interfaces ${unused}`);
	if (outcome.kind === "exited" && outcome.code === 0) return void 0;
	const why = lastLine(outcome.stderr) ?? "ip(8) said nothing";
	const message = `The DUT cannot create the unused interfaces ${unused.join(", ")} (${why}): remove them from \`overlay.interfaces\`, or load the module dummy.`;
	return {
		variant: first.variant,
		message
	};
}

// src/lab/linux/linux-dut.ts
/** `ports` are the interfaces that forward, and `addresses` the networks of test packets. */
function linuxDut(host, ports, addresses = {}) {
	return {
		async prepare(overlays, scenarios) {
			await restore(host);
			await install(host);
			await addRoutes(host, addresses);
			const scenario = scenarios[0] ?? "forwarding";
			const variants = overlays.map((overlay) => loadable(overlay, ports));
			const refused = variants.find((overlay) => overlay.kind === "refused");
			if (refused?.kind === "refused") return doesNotLoad(refused.variant, scenario, refused.message);
			const { read, warnings } = await withoutMissing(host, variants.filter((overlay) => overlay.kind === "loadable"));
			const remembered = await remember(host, read, scenario);
			if (remembered.kind === "rejected") return remembered;
			const compared = findInertChanges(read, remembered);
			if (compared.kind === "refused") return doesNotLoad(compared.variant, scenario, compared.message);
			const lacking = await createInterfaces(host, read);
			if (lacking !== void 0) return doesNotLoad(lacking.variant, scenario, lacking.message);
			for (const overlay of read) await upload(host, overlay, scenarios);
			const unsafe = await check(host, read, scenario);
			if (unsafe !== void 0) return unsafe;
			const proved = await prove(host, read, scenarios);
			if (proved.kind === "rejected") return proved;
			return {
				kind: "ready",
				warnings: [
					...ignoredParts(overlays),
					...warnings,
					...compared.warnings
				]
			};
		},
		async prepareToDiscard(overlay, scenarios, toProve) {
			const scenario = scenarios[0] ?? "forwarding";
			const read = loadable(overlay, ports);
			if (read.kind === "refused") return doesNotLoad(read.variant, scenario, read.message);
			await uploadAtOnce(host, read, scenarios);
			await addRoutes(host, addresses);
			const lacking = await createInterfaces(host, [read]);
			if (lacking !== void 0) return doesNotLoad(lacking.variant, scenario, lacking.message);
			return prove(host, [read], toProve);
		},
		install: (variant, scenario) => installVariant(host, {
			...uploaded,
			variant
		}, scenario),
		installCounting: (variant, scenario) => installCounting(host, {
			...uploaded,
			variant
		}, scenario, ports),
		async observe(request, { isEnough, ...limits }) {
			const stdin = new PassThrough();
			const samplesWith = samplesAsTheyCome();
			let log = "";
			let checkedRuns = 0;
			const onStdout = (chunk) => {
				if (log.length > maxLogCharacters) return;
				const piece = Buffer.from(chunk).toString();
				log += piece;
				if (isEnough === void 0) return;
				const samples = samplesWith(piece);
				if (samples.length === checkedRuns || samples.length > request.slices) return;
				checkedRuns = samples.length;
				if (isEnough(samples)) stdin.write("\n");
			};
			const variants = request.variants.map(pathName);
			const live = isEnough !== void 0;
			const command = observeCommand({
				...request,
				variants,
				script,
				live
			});
			const outcome = await host.run(command, {
				...limits,
				stdin,
				onStdout
			});
			stdin.end();
			if (log.length > maxLogCharacters) {
				const reason = `the DUT wrote more than ${maxLogCharacters} characters while sampling`;
				return {
					log,
					observation: {
						kind: "failed",
						reason
					}
				};
			}
			const observation = outcome.kind === "exited" && outcome.code === 0 ? parseObservation(log) : {
				kind: "failed",
				reason: outcome.stderr.trim() || "the DUT’s sampler ended early"
			};
			return {
				log,
				observation
			};
		},
		async sample(request, limits) {
			const stdin = new PassThrough();
			const variant = pathName(request.variant);
			try {
				return await host.run(samplingCommand({
					...request,
					variant,
					script
				}), {
					...limits,
					stdin
				});
			} finally {
				stdin.end();
			}
		},
		async printSamples() {
			const text = await host.output(printingCommand(folder), { maxOutputBytes: maxProfileBytes });
			await host.output(shell`rm -f ${`${folder}/perf.data`}`);
			return text;
		},
		async droppedBy(seconds) {
			const { ingress, egress } = ports;
			const log = await host.output(shell`bash ${script} drops ${ingress} ${egress} ${seconds}`);
			const all = "all";
			return droppedBy(log, all, limitsInLinuxLog(log, [{ variant: all }])[all]);
		},
		fingerprint: () => fingerprint(host),
		leftovers: (interfaces) => findLeftovers(host, interfaces),
		restore: () => restore(host)
	};
}
/** An overlay that is on the DUT. */
const uploaded = {
	sysctl: {
		settings: /* @__PURE__ */ new Map(),
		lines: /* @__PURE__ */ new Map(),
		skipped: []
	},
	nftables: "",
	unused: []
};
/** A line has about 80 characters, and a trial at most tens of thousands of lines. */
const maxLogCharacters = 16 * 1024 ** 2;
/** More than ten times the size of the wanted samples. */
const maxProfileBytes = 256 * 1024 ** 2;
async function install(host) {
	await host.output(shell`mkdir -p ${folder}`);
	await host.upload(linuxDutScript, script, 493);
}
/** Gives the networks the routes of the usual packets. Throws a UsageError for one that the DUT routes already. */
async function addRoutes(host, addresses) {
	for (const family of families) for (const side of ["source", "destination"]) {
		const network = addresses[family]?.[side];
		if (network === void 0) continue;
		const like = addressText(ipAddress(family, side, 0), family);
		const outcome = await host.run(shell`bash ${script} routes ${network} ${like}`);
		if (outcome.kind === "exited" && outcome.code === 0) continue;
		throw new UsageError(`traffic.addresses: ${host.name} cannot route ${network}: ${reasonIn(outcome)}. Name another network, or change its routes.`);
	}
}
/** Uploads the script again, as it also restores after an earlier experiment. */
async function restore(host) {
	await install(host);
	await host.output(shell`bash ${script} restore`);
	await host.output(shell`rm -rf ${folder} ${`${folder}.lock`}`);
}
/**
* Makes the DUT save its rules, and its own values of settings that any variant changes. Throws a HostError if the
* rules could not be restored.
*/
async function remember(host, variants, scenario) {
	const paths = new Set(variants.flatMap(({ sysctl }) => [...sysctl.settings.keys()]));
	const outcome = await host.run(shell`bash ${script} remember`, { stdin: [...paths, ""].join("\n") });
	if (outcome.kind === "exited" && outcome.code === 0) return {
		kind: "remembered",
		before: readSettings(await host.output(shell`cat ${`${folder}/before/sysctl.conf`}`)),
		fixed: new Set(outcome.stdout.split("\n"))
	};
	const path = refusedSetting(outcome.stderr)?.path ?? "";
	const variant = variants.find(({ sysctl }) => sysctl.settings.has(path));
	if (variant !== void 0) return refusalOf(variant, scenario, outcome);
	throw new HostError("command-failed", `The rules of ${host.name} are left unchanged, because they could not be restored later: ${reasonIn(outcome)}. Remove them, install the program that manages them, stop the program that owns them, or use another machine.`);
}
const reasonIn = ({ stderr }) => lastLine(stderr)?.replace(/^\w+: /, "") ?? "it said nothing";
/** Refuses settings that change more than can be restored. */
async function check(host, variants, scenario) {
	for (const variant of variants) {
		const outcome = await host.run(shell`bash ${script} check ${folderOf(variant.variant)}`);
		if (outcome.kind === "signaled" || outcome.code !== 0) return refusalOf(variant, scenario, outcome);
	}
}
async function upload(host, overlay, scenarios) {
	await host.output(shell`mkdir -p ${folderOf(overlay.variant)}`);
	await Promise.all(filesOf(overlay, scenarios).map(([path, text]) => host.upload(Buffer.from(text), path, 384)));
}
/** Uploads the script, too. No file contains a zero byte; see `whyUnsafe` and `parseSysctl`. */
async function uploadAtOnce(host, overlay, scenarios) {
	const stdin = [[script, linuxDutScript.toString()], ...filesOf(overlay, scenarios)].flat().join("\0");
	await host.output(shell`bash -c ${unpackFiles} bash ${folderOf(overlay.variant)}`, { stdin });
}
/** Bash would read a pipe by the byte, and reads a file in blocks. */
const unpackFiles = `umask 077
mkdir -p "$1" && cat >"$1/files" && mapfile -d '' -t words <"$1/files" && rm "$1/files" || exit
for ((at = 0; at < \${#words[@]}; at += 2)); do
  printf %s "\${words[at + 1]}" >"\${words[at]}" || exit
done`;
function filesOf({ variant, sysctl, nftables }, scenarios) {
	const target = folderOf(variant);
	return [
		[`${target}/sysctl.conf`, formatSettings(sysctl.settings)],
		[`${target}/nftables.conf`, nftables],
		...scenarios.map((scenario) => [`${target}/${scenario}.nft`, ruleset(target, scenario)])
	];
}
const ruleset = (target, scenario) => `flush ruleset\ninclude "${target}/nftables.conf"\n${scenarioRules(scenario)}`;
/** A separate table with one accepting rule, like the single `pass` of the FreeBSD scenarios. */
function scenarioRules(scenario) {
	switch (scenario) {
		case "forwarding": return "";
		case "nftables-stateless": return forwardChain(["meta l4proto udp accept"]);
		case "nftables-stateful": return forwardChain(["ct state established,related accept", "ct state new accept"]);
	}
}
const forwardChain = (rules) => `table inet ppsgate {
  chain forward {
    type filter hook forward priority filter; policy drop;
${rules.map((rule) => `    ${rule}`).join("\n")}
  }
}
`;
async function prove(host, variants, scenarios) {
	for (const overlay of variants) for (const scenario of scenarios) {
		const installed = await installVariant(host, overlay, scenario);
		if (installed.kind === "rejected") return installed;
	}
	return { kind: "ready" };
}
async function fingerprint(host) {
	const [kernel, build, architecture, models, cpus, nftables, ...settings] = await Promise.all([
		host.output(shell`uname -sr`),
		host.output(shell`uname -v`),
		host.output(shell`uname -m`),
		host.output(shell`sed -n 's/^model name[^:]*: //p' /proc/cpuinfo`),
		host.output(shell`nproc`),
		host.output(shell`nft --version`),
		...recordedSettings.map((key) => host.output(shell`sysctl -n ${key}`))
	]);
	return {
		kernel: kernel.trim(),
		build: build.trim(),
		cpu: `${models.split("\n")[0] || architecture.trim()} × ${cpus.trim()}`,
		nftables: nftables.trim(),
		...Object.fromEntries(recordedSettings.map((key, index) => [key, settings[index]?.trim() ?? ""]))
	};
}
const recordedSettings = [
	"net.ipv4.ip_forward",
	"net.ipv6.conf.all.forwarding",
	"net.ipv4.conf.all.send_redirects"
];

export { boundedLimits, cardDropOf, countersIn, droppedBy, limitsInLinuxLog, linuxDut, mainDrop, minSilentRatio, ownAddressCause, packetsOf, uncountedCause, withEnds };