import { ignoredFiles, lastLine, linkAmong, mostCpus, mostQueues, pathName, shortened, shortenedTo, trialLimitsSchema } from "../model.js";
import { HostError, shell } from "../system/host.js";
import { sum } from "../vendor/simple-statistics.js";
import { readFileSync } from "node:fs";
import { PassThrough } from "node:stream";

// src/lab/map-interfaces.ts
/** Testbed's names by names in the files; an interface that no packet uses has none. */
function portNames(roles = {}, ports) {
	return new Map(Object.entries(roles).flatMap(([name, role]) => role === "unused" ? [] : [[name, ports[role]]]));
}
/** Returns rules for nft(8), in which whole words, quoted strings, and patterns like `eth*` are names. */
const mapNftables = (text, names) => names.size === 0 ? text : text.replaceAll(/#[^\n]*|"([^"]*)"|[\w./-]+\*?|./gs, (token, quoted) => quoted === void 0 ? mapped(token, names) : `"${mapped(quoted, names)}"`);
/** Returns rules of pf.conf(5) or ipfw(8), whose macros quote any text. */
const mapWords = (text, names) => names.size === 0 ? text : text.replaceAll(/#[^\n]*|[\w./-]+\*?|./gs, (token) => mapped(token, names));
/** Returns the rules of a site's own scenarios with the names of a testbed. */
const mapOwnRules = (rules, names) => Object.fromEntries(Object.entries(rules).map(([name, own]) => [name, {
	...own,
	text: mapWords(own.text, names)
}]));
/** Returns the path of a setting below /proc/sys. */
const mapSetting = (path, names) => path.replace(/^(net\/\w+\/(?:conf|neigh)\/)([^/]+)/, (_, folder, name) => folder + (names.get(name) ?? name));
function mapped(word, names) {
	if (!word.endsWith("*")) return names.get(word) ?? word;
	const prefix = word.slice(0, -1);
	const [first, second] = new Set([...names].flatMap(([name, port]) => name.startsWith(prefix) ? port : []));
	if (first === void 0 || prefix === "") return word;
	if (second === void 0) return first;
	const common = [...first].findIndex((letter, index) => letter !== second[index]);
	return common > 0 ? `${first.slice(0, common)}*` : word;
}

// src/lab/card-counters.ts
/**
* Drivers of Linux by `ethtool -S`: `rx_queue_0_packets` (igb, ixgbe, ice), `rx0_packets` (mlx5, virtio_net),
* `rx-0.packets` (i40e), `[0]: rx_ucast_packets` (bnxt), `rxq0_packets`, `queue_0_rx_cnt` (ena).
*/
const queueNames = [
	/^(?<way>rx|tx)(?:_queue_|-|q|_)?(?<number>\d{1,4})[._](?:ucast_)?packets$/,
	/^\[(?<number>\d{1,4})\]: (?<way>rx|tx)_ucast_packets$/,
	/^queue_(?<number>\d{1,4})_(?<way>rx|tx)_cnt$/
];
function queueOf(name) {
	for (const pattern of queueNames) {
		const { way, number } = pattern.exec(name)?.groups ?? {};
		if (number !== void 0) return {
			direction: way === "rx" ? "receive" : "send",
			number: Number(number)
		};
	}
}
/** Counters of a whole card for packets that found no descriptor, no buffer or no space in it. */
const cardDrops$1 = [
	[/^(rx_)?(no_dma_resources|no_desc\w*|out_of_buffer)$/, "no descriptor"],
	[/^(rx_|recv_)?(no_buff\w*|nobuf\w*)$/, "no buffer"],
	[/^(port\.)?(rx_)?(missed_?(errors|packets)?|ovflow\d|fifo_errors|over_errors|discards?(_phy|_pkts)?|discard_pkts)$/, "missed"]
];
const cardDropOf = (name) => cardDrops$1.find(([pattern]) => pattern.test(name))?.[1];
/** Lines `name: number` of `ethtool -S` or sysctl(8), as whole numbers. */
function countersIn(text) {
	const counters = /* @__PURE__ */ new Map();
	for (const line of text.split("\n").slice(0, mostLines$1)) {
		const [, name = "", digits = ""] = /^\s*(\S.{0,99}): (\d{1,16})\s*$/.exec(line) ?? [];
		const value = Number(digits);
		if (digits !== "" && Number.isSafeInteger(value)) counters.set(name.trim(), value);
	}
	return counters;
}
const mostLines$1 = 2e4;

// src/lab/trial-limits.ts
const packetsOf = (drops) => sum(drops.map(({ packets }) => packets));
/** Packets in flight between two counters are no drops: a smaller share of those that arrived does not count. */
const leastSilentRatio = .005;
/** Cause of packets that IP received and did not forward, for no reason that a counter has. */
const uncountedCause = "the kernel after IP received them, without a counter";
const ownAddressCause = "the DUT itself, to whose own address they lead";
/** Packets that a card missed never reached what forwards. */
const forwardingPlaces = /* @__PURE__ */ new Set([
	"backlog",
	"ip",
	"firewall",
	"state-table",
	"output-queue"
]);
/** A variant that forwards more has counters of other drops than those of its silent run. */
const mostForwardedRatio = .1;
/** Names the cause of most drops of a variant that lost nearly all packets; continues "dropped by". */
function mainDrop({ offeredPackets, receivedPackets, drops }) {
	if (receivedPackets > offeredPackets * mostForwardedRatio) return void 0;
	const [most] = drops.filter(({ place, cause }) => forwardingPlaces.has(place) && cause !== "the kernel after IP received them, without a counter").toSorted((one, other) => other.packets - one.packets);
	return most?.cause;
}
/** Undefined for numbers that no counter has. */
function boundedLimits(limits) {
	if (limits === void 0) return void 0;
	const parsed = trialLimitsSchema.safeParse({
		...limits,
		cpuBusyRatios: limits.cpuBusyRatios.slice(0, mostCpus).map(threeDecimals),
		queues: limits.queues.slice(0, mostQueues),
		drops: limits.drops.map(({ cause, ...drop }) => ({
			...drop,
			cause: shortenedTo(mostCauseCharacters, cause)
		})).toSorted((a, b) => b.packets - a.packets).slice(0, 200),
		notUnderstood: limits.notUnderstood.slice(0, 50)
	});
	return parsed.success ? parsed.data : void 0;
}
const mostCauseCharacters = 250;
const threeDecimals = (ratio) => Math.round(ratio * 1e3) / 1e3;
/** Counts of generators and a DUT cover slightly different stretches. */
const leastEndRatio = .002;
/**
* Adds losses before the DUT and behind it: `sentPackets` is the senders' count of the packets that the DUT's
* counts are of, `countedPackets` the receiver's.
*/
function withEnds(limits, { sentPackets, countedPackets }) {
	const { offeredPackets, receivedPackets, drops } = limits;
	const before = Math.round((sentPackets ?? 0) - offeredPackets);
	const behind = Math.round(receivedPackets - (countedPackets ?? receivedPackets));
	const isBefore = before > offeredPackets * leastEndRatio && Number.isSafeInteger(offeredPackets + before);
	const isBehind = behind > receivedPackets * leastEndRatio;
	return {
		...limits,
		offeredPackets: isBefore ? offeredPackets + before : offeredPackets,
		receivedPackets: isBehind ? receivedPackets - behind : receivedPackets,
		drops: [
			...drops,
			...isBefore ? [{
				place: "before-dut",
				cause: "sent, and not seen by the DUT",
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
	["Ip:InHdrErrors", "an expired time to live, or a wrong header"],
	["Ip:InAddrErrors", "a DUT that does not forward (net.ipv4.ip_forward), or not this address"],
	["IpExt:InNoRoutes", "a missing route"],
	["Ip:OutNoRoutes", "a missing route"],
	["TcpExt:IPReversePathFilter", "the reverse-path filter (net.ipv4.conf.….rp_filter)"],
	["Ip:InUnknownProtos", "an unknown protocol"],
	["IpExt:InTruncatedPkts", "a length beyond the frame"],
	["Ip:InDiscards", "the kernel on arrival"],
	["Ip:OutDiscards", "a missing neighbour, or too little memory to send"],
	["Ip:FragFails", "the MTU of the next link"],
	["Ip6InHdrErrors", "an expired hop limit, or a wrong header"],
	["Ip6InAddrErrors", "a DUT that does not forward (net.ipv6.conf.all.forwarding), or not this address"],
	["Ip6InNoRoutes", "a missing route"],
	["Ip6OutNoRoutes", "a missing route"],
	["Ip6InTooBigErrors", "the MTU of the next link"],
	["Ip6InUnknownProtos", "an unknown protocol"],
	["Ip6InTruncatedPkts", "a length beyond the frame"],
	["Ip6InDiscards", "the kernel on arrival"],
	["Ip6OutDiscards", "a missing neighbour, or too little memory to send"]
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
const mostLineCharacters = 4e3;
/** Lines of `nft list ruleset` with the chain and table of each. */
function rulesIn(text) {
	let [table, chain] = ["", ""];
	return text.split("\n").flatMap((whole) => {
		const line = whole.slice(0, mostLineCharacters);
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
	return `the rule "${shortenedTo(mostRuleCharacters, text)}" in ${where}`;
}
const mostRuleCharacters = 120;
/** Quoted text is a comment, a name, or the prefix of a log. */
const withoutQuoted = (line) => line.replaceAll(/"[^"]*"/g, "\"\"");
/** Packets dropped by rules with a counter, since their installation; reads `nft list ruleset`. */
const ruleDrops = (text) => rulesIn(text).flatMap(({ where, line }) => {
	const packets = Number(countedDrop.exec(withoutQuoted(line))?.[1] ?? 0);
	return packets === 0 ? [] : [{
		cause: nameOfRule(line, where),
		packets
	}];
});
/** A match after the counter would let packets pass that it counts. */
const countedDrop = /\bcounter packets (\d{1,16}) bytes \d+ (?:log [^;]{0,200})?(?:drop|reject\b)/;
/** Names rules and policies that drop without a counter. */
const silentRules = (text) => rulesIn(text).flatMap(({ where, line }) => {
	const rule = withoutQuoted(line);
	if (/\bpolicy drop\b/.test(rule)) return [`the policy of ${where}`];
	return /\b(?:drop|reject)\b/.test(rule) && !/\bcounter\b/.test(rule) ? [nameOfRule(line, where)] : [];
});
/** Packets dropped by the root discipline of an interface, and its kind. */
function disciplineDrops(text, name) {
	const lines = text.split("\n");
	return lines.flatMap((line, index) => {
		const [, kind = "", dev] = /^qdisc (\w{1,30}) \S+ dev (\S+) root\b/.exec(line) ?? [];
		const [, dropped] = /\(dropped (\d{1,16}),/.exec(lines[index + 1] ?? "") ?? [];
		return dev === name && dropped !== void 0 ? [{
			kind,
			packets: Number(dropped)
		}] : [];
	});
}

// src/lab/linux/linux-drops.ts
/**
* Returns a phrase that continues "dropped by". Names the rule that ended traced packets of the folder's variant, or the
* main drop among its counters.
*/
function droppedBy(log, folder, limits) {
	return tracedRule(tracesOf(log, folder)) ?? (limits && mainDrop(limits));
}
/** Lines after `drops FOLDER`. */
function tracesOf(log, folder) {
	let isOwn = false;
	return log.split("\n").filter((line) => {
		if (line.startsWith("drops ")) isOwn = line === `drops ${folder}`;
		return isOwn && line.startsWith("trace ");
	});
}
function tracedRule(lines) {
	const endings = [...Map.groupBy(lines.flatMap(eventOf), ({ packet }) => packet).values()].flatMap((events) => events.at(-1)?.drop ?? []);
	return byCount(Map.groupBy(endings, (drop) => drop))[0];
}
const byCount = (groups) => [...groups].toSorted(([, one], [, other]) => other.length - one.length).map(([key]) => key);
/** A packet's last event is its end in the rules. */
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

// src/lab/linux/linux-fit.ts
/**
* Leaves out settings of base that the DUT does not have, from all variants: a network namespace has no
* net.core.netdev_budget. One that only a patch adds is refused, and so are all of a variant that is alone.
*/
async function withoutMissing(host, script, variants) {
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
		warnings: [...missing].map((path) => `sysctl.conf line ${base.sysctl.lines.get(path)}: the DUT has no setting ${path}, so no variant gets it.`)
	};
}
/** Creates interfaces that rules name and no packet uses; `restore` deletes them. Returns why it could not. */
async function createInterfaces(host, script, variants) {
	const unused = [...new Set(variants.flatMap(({ unused }) => unused))];
	const [first] = variants;
	if (unused.length === 0 || first === void 0) return void 0;
	const outcome = await host.run(shell`bash ${script} interfaces ${unused}`);
	if (outcome.kind === "exited" && outcome.code === 0) return void 0;
	const why = lastLine(outcome.stderr) ?? "ip(8) said nothing";
	const message = `The DUT cannot create the unused interfaces ${unused.join(", ")} (${why}): leave them out of \`overlay.interfaces\`, or load the module dummy.`;
	return {
		variant: first.variant,
		message
	};
}

// src/system/clock-ticks.ts
/** /proc/stat counts hundredths of a second on every kernel: proc_stat(5), USER_HZ. */
const nsPerTick = 1e7;

// src/lab/linux/linux-script.ts
/** Read at startup: a gate restores its DUT with it hours later, when the files may be gone. */
const linuxDutScript = Buffer.concat([readFileSync(new URL("../linux-observe.sh", import.meta.url)), readFileSync(new URL("../linux-script.sh", import.meta.url))]);
/** Samples a trial's runs at a higher priority than everything else on the DUT's CPU. */
function observeCommand(request) {
	const { script, ingress, egress, cpu, scenario, variants, slices } = request;
	const live = request.live ? 1 : 0;
	const times = [
		request.warmUpSeconds,
		request.settleSeconds,
		request.sliceSeconds
	];
	return shell`chrt -f 20 taskset -c ${cpu} bash ${script} observe ${ingress} ${egress} ${cpu} ${scenario} ${times} ${slices} ${live} ${variants}`;
}
/** Parses the output of `observe`: converts counters at points in time to differences. */
function parseObservation(log) {
	const lines = log.trimEnd().split("\n");
	const last = lines.at(-1) ?? "";
	if (last !== "end") return {
		kind: "failed",
		reason: `the DUT’s log does not end with "end", but with "${shortened(last)}"`
	};
	const points = lines.filter((line) => line.startsWith("sample ")).map(parsePoint);
	const runs = Map.groupBy(points, (point) => point.run);
	const samplesPerRun = [...runs.values()].map(differences);
	const wrong = [...runs.values()].flatMap((points) => points.slice(1))[samplesPerRun.flat().findIndex((sample) => !goesForward(sample))];
	if (wrong === void 0) return {
		kind: "observed",
		samplesPerRun
	};
	return {
		kind: "failed",
		reason: `a line of the DUT’s log does not follow the one before: "${shortened(wrong.line)}"`
	};
}
/** Receives a run's log in pieces of any size, and returns the samples of all complete lines so far. */
function samplesAsTheyCome() {
	const samples = [];
	let unfinished = "";
	let before;
	return (piece) => {
		unfinished += piece;
		if (!piece.includes("\n")) return samples;
		const lines = unfinished.split("\n");
		unfinished = lines.pop() ?? "";
		for (const point of lines.filter((line) => line.startsWith("sample ")).map(parsePoint)) {
			if (before !== void 0) samples.push(difference(before, point));
			before = point;
		}
		return samples;
	};
}
function parsePoint(line) {
	const [, run = "", time, received, forwarded, busyNs, delayNs, stolenTicks] = line.split(" ");
	return {
		line,
		run,
		time: Number(time),
		received: Number(received),
		forwarded: Number(forwarded),
		busyNs: Number(busyNs),
		deniedNs: Number(delayNs) + Number(stolenTicks) * nsPerTick
	};
}
const differences = (points) => points.slice(1).map((point, index) => difference(points[index], point));
function difference(before, point) {
	const busySeconds = (point.busyNs - before.busyNs) / 1e9;
	const deniedSeconds = (point.deniedNs - before.deniedNs) / 1e9;
	return {
		seconds: point.time - before.time,
		receivedPackets: point.received - before.received,
		forwardedPackets: point.forwarded - before.forwarded,
		...Number.isNaN(busySeconds) ? {} : { busySeconds },
		...Number.isNaN(deniedSeconds) ? {} : { deniedSeconds }
	};
}
const goesForward = (sample) => sample.seconds > 0 && [sample.receivedPackets, sample.forwardedPackets].every((packets) => packets >= 0) && [sample.busySeconds, sample.deniedSeconds].every((seconds = 0) => seconds >= 0);

// src/lab/linux/linux-leftovers.ts
/** `interfaces` are those that forward. Changes nothing on the DUT, not even a file. */
async function findLeftovers(host, interfaces) {
	const command = shell`bash -s leftovers ${interfaces}`;
	return readLeftovers(await host.output(command, { stdin: linuxDutScript }));
}
/** Reads what the script's `leftovers` prints. */
const readLeftovers = (text) => text.split("\n").flatMap((line) => leftover(line.slice(0, mostShown$2).split(" ")) ?? []);
/** Returns why the DUT's own rules could not be restored; undefined if they could. */
async function whyUnrestorable(host) {
	const outcome = await host.run(shell`bash -s provable`, { stdin: linuxDutScript });
	if (outcome.kind === "exited" && outcome.code === 0) return void 0;
	return lastLine(outcome.stderr)?.replace(/^prove: /, "") ?? "the DUT said nothing";
}
const mostShown$2 = 300;
function leftover([kind, name = "", ...rest]) {
	const words = rest.join(" ");
	switch (kind) {
		case "legacy": return inForce(`the tables ${words} of ${name}tables-legacy`, "flush them, and unload their modules");
		case "owned": return inForce(`the nftables table ${name} ${words}, which a running program owns,`, "stop that program: firewalld, for one");
		case "xdp": return inForce(`an XDP program of ${name}`, `\`ip link set dev ${name} xdp off\``);
		case "tc": return inForce(`the discipline ${words} of ${name}`, `\`tc qdisc del dev ${name} …\``);
		case "tcx": return inForce(`a BPF program at the tcx ${words} of ${name}`, stopItsProgram);
		case "bpf": return inForce(`a BPF program of netfilter, at the ${hookNames[Number(words)] ?? words} hook of ${familyNames[name] ?? `family ${name}`},`, stopItsProgram);
		case "ipvs": return inForce("the service table of IPVS", "`ipvsadm --clear`");
		case "xfrm": return inForce("a policy of IPsec", "`ip xfrm policy flush`");
		case "unseen": return unseen[name];
		default: return;
	}
}
const stopItsProgram = "end the program that attached it: `bpftool link show` and `bpftool net show` of the kernel’s version list it";
/** By their numbers in <linux/netfilter.h>. */
const hookNames = [
	"prerouting",
	"input",
	"forward",
	"output",
	"postrouting"
];
const familyNames = {
	1: "inet",
	2: "ip",
	10: "ip6"
};
const unseenWithout = (program, what, itsPackage) => ({
	why: `${what} are not looked for, as the DUT lacks ${program}`,
	fix: `install ${itsPackage} there`
});
const unseen = {
	ip: unseenWithout("ip", "XDP programs and filters of tc(8)", "iproute2"),
	tc: unseenWithout("tc", "XDP programs and filters of tc(8)", "iproute2"),
	perl: unseenWithout("perl", "BPF programs of tcx and netfilter", "perl"),
	bpf: {
		why: "BPF programs of tcx and netfilter are not looked for, as the DUT’s kernel does not list them for this login",
		fix: "log in as root, and allow root the system call bpf(2)"
	}
};
const inForce = (what, fix) => ({
	why: `${what} stays in force beside the rules of every variant, and takes its time from every number`,
	fix
});

// src/lab/linux/linux-limits.ts
/** By variant; without variants that the log has no counters of. */
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
		const limits = whole && boundedLimits(limitsOf(whole, cpuBusyRatios(all)));
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
/** With fewer ticks of a CPU's clock, a share has no sense. */
const leastTicks = 25;
/** Busy share of each CPU over all stretches; empty where they are too short. */
function cpuBusyRatios(stretches) {
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
	return total.reduce((largest, ticks = 0) => Math.max(largest, ticks), 0) < leastTicks ? [] : ratios;
}
/** By CPU; stolen time is neither busy nor idle, see proc_stat(5). */
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
function limitsOf({ before, after }, cpuBusyRatios) {
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
	return {
		offeredPackets,
		receivedPackets: sent,
		cpuBusyRatios,
		queues: [
			...cardQueues(first, last, ingress, "receive"),
			...cardQueues(first, last, egress, "send"),
			...softnetQueues(first, last)
		],
		drops: [...card, ...known].filter(({ packets }) => packets > 0),
		stateTables: stateTables(last),
		notUnderstood: notUnderstood(last, [ingress, egress])
	};
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
/** Drivers name their counters differently, and the kernel's own sum is of the same packets. */
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
	return others.length > 0 ? `rules without a counter, as ${rule}` : `${rule}, without a counter`;
}
/**
* Rules count from their installation on, and so a little more than the packets of the same stretch: together they have
* dropped at most `lost` packets of it.
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
		cause: "connection tracking, whose table is full (net.netfilter.nf_conntrack_max)",
		packets: packets("drop")
	}, {
		place: "state-table",
		cause: "connection tracking, which could not insert a state",
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
function disciplines(first, last, egress) {
	const earlier = disciplineDrops(first.get("tc") ?? "", egress);
	return disciplineDrops(last.get("tc") ?? "", egress).map(({ kind, packets }) => ({
		place: "output-queue",
		cause: `${kind} on ${egress}`,
		packets: growth(earlier.find((one) => one.kind === kind)?.packets, packets) ?? 0
	}));
}
const cardQueues = (first, last, device, direction) => grown(first, last, `ethtool:${device}`).flatMap(([name, packets]) => {
	const queue = queueOf(name);
	return queue?.direction === direction ? [{
		device,
		...queue,
		packets
	}] : [];
});
/** Packets from a backlog or a card, by CPU; counters are of 32 bits. */
function softnetQueues(first, last) {
	const [before, after] = [first, last].map((one) => hexRows(one.get("softnet_stat") ?? ""));
	return (after ?? []).flatMap((row, index) => {
		const earlier = before?.[index];
		const [count, then] = [row[0], earlier?.[0]];
		if (count === void 0 || then === void 0) return [];
		return {
			device: "softnet",
			direction: "receive",
			number: row[12] ?? index,
			packets: (count - then + 2 ** 32) % 2 ** 32
		};
	});
}
function stateTables(last) {
	const [states, limit] = [numberIn(last, "table_count"), numberIn(last, "table_max")];
	return states === void 0 || limit === void 0 || limit === 0 ? [] : [{
		name: "nf_conntrack",
		states,
		limit
	}];
}
/** Blocks of the log that should have numbers, and have none of a known form. */
function notUnderstood(last, interfaces) {
	const cards = interfaces.map((name) => `ethtool:${name}`);
	const isUnknown = (name) => last.has(name) && ![...countersIn(last.get(name) ?? "").keys()].some((key) => queueOf(key));
	return [
		...hexRows(last.get("softnet_stat") ?? "").length === 0 ? ["softnet_stat"] : [],
		...last.has("snmp") ? [] : ["snmp"],
		...cards.filter(isUnknown)
	];
}

// src/lab/linux/inert-settings.ts
/** Returns the reason, which continues the setting's path; undefined for a setting that acts. */
const whyInert = (path) => ofNewInterfaces.test(path) ? "acts only on interfaces that are created after it" : void 0;
/** `net.ipv4.conf.default` may reach an existing interface, but only settings of it that were never written. */
const ofNewInterfaces = /^net\/(?:core\/(?:default_qdisc|rps_default_mask|devconf_inherit_init_net|fb_tunnels_only_for_init_net)|(?:ipv4|ipv6|mpls)\/conf\/default\/.*)$/;

// src/lab/linux/nft-tokens.ts
/**
* Returns the reason and the line; undefined if nft may read the rules. Between nft's keyword `include` and the path
* may be a blank, a comment or a continued line. So the word alone is refused, except in a comment or a quoted string.
*/
function whyUnsafe(text, file) {
	const control = controlCharacter.exec(text);
	if (control !== null) {
		const why = `a control character (U+${control[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}) stands here, which no rule needs: leave it out`;
		return at(file, text, control.index, why);
	}
	for (const { 0: token, index } of text.matchAll(tokens)) {
		if (token === "\"") return at(file, text, index, "this quote has no end: write the other one");
		if (mayBeInclude(token, text[index - 1])) return at(file, text, index, noInclude);
	}
}
/** Returns rules without what nft skips; a blank in a quoted string may go with it. */
const withoutComments = (text) => text.replaceAll(tokens, (token) => token.startsWith("#") ? "" : token).replace(/\s+/g, " ").trim();
/** Some versions of nft accept a Windows line ending, others report it themselves. */
const controlCharacter = /(?!\r\n)[^\P{Cc}\t\n]/u;
/**
* nft's longest matches, as far as they mark the start of a comment, a quoted string and a word. A comment ends with
* its line, even after a backslash; a quoted string may span lines.
*/
const tokens = /#[^\n]*|"[^"]*"|[\w./-]+|./gs;
/**
* nft takes the longest match of a word that begins with a letter: `my-include` and `include.x` are other words.
* Another first character may begin a number (`1include`), a sign (`-include`) or, after a colon, the end of an address
* (`fe80::cinclude`), after which nft starts a new token.
*/
function mayBeInclude(token, before) {
	if (!/^[\w./-]*include$/.test(token)) return false;
	return token === "include" || before === ":" || !/^[a-z]/i.test(token);
}
const noInclude = "the word include would have nft read another file, which could be any of the DUT: write the rules of that file here, and names that are or end with this word in quotes or otherwise";
const at = (file, text, index, why) => `${file}:${text.slice(0, index).split("\n").length}: Error: ${why}.`;

// src/lab/linux/sysctl.ts
/** Reads `key = value` lines, see sysctl.conf(5); `file` is its name in messages. */
function parseSysctl(text, file) {
	const settings = /* @__PURE__ */ new Map();
	const lines = /* @__PURE__ */ new Map();
	const skipped = [];
	for (const [index, line] of text.split("\n").entries()) {
		const content = line.trim();
		if (content === "" || /^[#;]/.test(content)) continue;
		const refused = (why) => ({
			kind: "refused",
			message: `${file} line ${index + 1}: ${why}.`
		});
		const [, key, value] = keyAndValue.exec(line) ?? [];
		if (key === void 0 || value === void 0) return refused(whyNoPair(content));
		const path = pathOf(key.replace(/^-/, ""));
		if (!networkSetting.test(path)) {
			skipped.push({
				line: index + 1,
				key: key.slice(0, mostShown$1)
			});
			continue;
		}
		if (value.length > mostCharacters) return refused(`the value of ${key} has more than ${mostCharacters} characters`);
		settings.delete(path);
		settings.set(path, value);
		lines.set(path, index + 1);
	}
	return {
		kind: "read",
		settings,
		lines,
		skipped,
		warnings: [...lines].flatMap(([path, line]) => {
			const why = whyInert(path);
			return why === void 0 ? [] : [`${file} line ${line}: ${path} ${why}.`];
		})
	};
}
/** ASCII only: sysctl(8) accepts no other blanks. */
const keyAndValue = /^[\t ]*([\w./-]+)[\t ]*=[\t ]*([!-~](?:[\t -~]*[!-~])?)[\t\r ]*$/;
/** systemd-sysctl(8) sets all settings whose path matches. */
function whyNoPair(content) {
	const text = `expected "key = value", found "${content.slice(0, mostShown$1)}"`;
	return /^[^=\s]*[*?[]/.test(content) ? `${text}, a pattern for several settings: write a line for each` : text;
}
const mostShown$1 = 100;
/** The kernel accepts at most a page. */
const mostCharacters = 4e3;
/** The first separator determines the meaning of `.` and `/` in the key, as in sysctl(8). */
function pathOf(key) {
	if (/[./]/.exec(key)?.[0] !== ".") return key;
	return key.replace(/[./]/g, (found) => found === "." ? "/" : ".");
}
/** Below /proc/sys/net; a star is the name of an interface, `all` or `default`. */
const folders = [
	"core",
	"unix",
	"ipv4",
	"ipv4/conf/*",
	"ipv4/neigh/*",
	"ipv4/route",
	"ipv4/vs",
	"ipv6",
	"ipv6/conf/*",
	"ipv6/neigh/*",
	"ipv6/route",
	"ipv6/icmp",
	"netfilter",
	"netfilter/nf_log",
	"bridge",
	"mpls",
	"mpls/conf/*",
	"mptcp",
	"sctp",
	"vrf"
];
const setting = String.raw`[a-zA-Z0-9][\w-]{0,63}`;
/** The kernel's limit, without `.` and `..`, which would be other folders. */
const interfaceName = String.raw`(?!\.{1,2}/)[\w.-]{1,15}`;
const networkSetting = new RegExp(`^net/(?:nf_conntrack_max|(?:${folders.join("|").replaceAll("*", interfaceName)})/${setting})$`);
const formatSettings = (settings) => [...settings].map(([path, value]) => `${path} = ${value}\n`).join("");
/** Reads the output of `formatSettings` or of the DUT's script, in which a value may be empty. */
const readSettings = (text) => new Map(text.split("\n").flatMap((line) => {
	const [, path, value] = /^(\S+) = (.*)$/.exec(line) ?? [];
	return path === void 0 || value === void 0 ? [] : [[path, value]];
}));

// src/lab/linux/linux-overlay.ts
/** Reads the files that a Linux DUT loads, with the names of its ports; `ignoredParts` describes all else. */
function loadable(overlay, ports) {
	const { variant, files } = overlay;
	const refused = (message) => ({
		kind: "refused",
		variant,
		message
	});
	const link = linkAmong(files, "linux");
	if (link !== void 0) return refused(`${link.path} is a link: an overlay has plain files.`);
	const content = (path) => files.find((file) => file.path === path)?.content ?? "";
	const sysctl = parseSysctl(content("sysctl.conf"), "sysctl.conf");
	if (sysctl.kind === "refused") return refused(sysctl.message);
	const names = portNames(overlay.interfaces, ports);
	const nftables = `${content("nftables.conf")}\n`;
	const unsafe = whyUnsafe(nftables, "nftables.conf");
	if (unsafe !== void 0) return refused(unsafe);
	return {
		kind: "loadable",
		variant,
		sysctl: {
			...sysctl,
			settings: withPorts(sysctl.settings, names),
			lines: withPorts(sysctl.lines, names)
		},
		nftables: mapNftables(nftables, names),
		unused: Object.keys(overlay.interfaces ?? {}).filter((name) => overlay.interfaces?.[name] === "unused")
	};
}
const withPorts = (byPath, names) => new Map([...byPath].map(([path, value]) => [mapSetting(path, names), value]));
/** Returns sentences on files, and lines of sysctl.conf, that are not installed on a Linux DUT. */
function ignoredParts(overlays) {
	const lines = overlays.flatMap(({ variant, files }) => {
		const content = files.find(({ path }) => path === "sysctl.conf")?.content ?? "";
		const sysctl = parseSysctl(content, "sysctl.conf");
		if (sysctl.kind === "refused" || sysctl.skipped.length === 0) return [];
		return [{
			variant,
			text: skippedLines(sysctl.skipped)
		}];
	});
	const ofLines = [...Map.groupBy(lines, ({ text }) => text)].map(([text, those]) => {
		return `In ${those.length === overlays.length ? "every variant" : variantsIn(those)} ${text}.`;
	});
	return [...ignoredFiles(overlays, "linux"), ...ofLines];
}
const variantsIn = (those) => those.map(({ variant }) => variant).join(" and ");
function skippedLines(skipped) {
	const shown = skipped.slice(0, mostLinesShown).map(({ line, key }) => `${line} (${key})`);
	const more = skipped.length - shown.length;
	const [last = "", ...others] = (more > 0 ? [...shown, `${more} more`] : shown).toReversed();
	const list = others.length === 0 ? last : `${others.toReversed().join(", ")} and ${last}`;
	return skipped.length === 1 ? `sysctl.conf line ${list} is no setting of a router's network, and is not installed` : `sysctl.conf lines ${list} are no settings of a router's network, and are not installed`;
}
const mostLinesShown = 20;
/**
* Refuses the first variant that differs from base, the first one, in nothing that can act: it would pass unmeasured.
* Returns warnings of changes that cannot act beside others that can. A variant may differ by its kernel, too.
*/
function findInertChanges(variants, { before, fixed }, hasOtherKernel = () => false) {
	const [base, ...others] = variants;
	const warnings = [];
	if (base === void 0) return {
		kind: "acts",
		warnings
	};
	for (const other of others) {
		const valueIn = ({ sysctl }, path) => (sysctl.settings.get(path) ?? before.get(path))?.split(/\s+/).join(" ");
		const changed = [.../* @__PURE__ */ new Set([...base.sysctl.settings.keys(), ...other.sysctl.settings.keys()])].filter((path) => valueIn(base, path) !== valueIn(other, path));
		const inert = changed.flatMap((path) => {
			const why = whyInert(path) ?? (fixed.has(path) ? sharedWithMachine : void 0);
			const line = other.sysctl.lines.get(path);
			const where = line === void 0 ? "sysctl.conf" : `sysctl.conf line ${line}`;
			return why === void 0 ? [] : [`${where}: ${path} ${why}`];
		});
		const acts = inert.length < changed.length || hasOtherKernel(other.variant) || withoutComments(base.nftables) !== withoutComments(other.nftables);
		const [first] = inert;
		if (first !== void 0 && !acts) {
			const message = `${first}, and ${other.variant} differs from ${base.variant} in nothing that acts: change a setting of an interface, or rules.`;
			return {
				kind: "refused",
				variant: other.variant,
				message
			};
		}
		warnings.push(...inert.map((text) => `${text}: what it does in ${other.variant} is not measured.`));
	}
	return {
		kind: "acts",
		warnings
	};
}
const sharedWithMachine = "belongs to the machine that the DUT is a namespace of, and keeps its value";

// src/lab/linux/linux-profile.ts
/** Samples a variant at a higher priority than the packets, on any CPU with time. */
function samplingCommand(request) {
	const { script, ingress, cpu, scenario, warmUpSeconds, seconds, event, variant } = request;
	const chosen = event === void 0 ? [] : ["--event", event];
	const perSecond = Math.min(mostPerSecond, Math.ceil(wantedSamples / seconds));
	return shell`chrt -f 20 bash ${script} profile ${ingress} ${cpu} ${scenario} ${warmUpSeconds} ${seconds} ${variant} --freq ${perSecond} ${chosen}`;
}
/** Enough to see a function that became 10 % slower; about 20 MB as perf prints them. */
const wantedSamples = 8e3;
/** More would slow the DUT down by several percent. */
const mostPerSecond = 3999;
/** Prints the samples after a header with their conditions. */
const printingCommand = (folder) => shell`perf script --header --input ${`${folder}/perf.data`}`;
/** Packets per second that arrived during the samples, and right after; undefined if the log has no counters. */
function arrivalsAround(log) {
	const [start, end, after] = [...log.matchAll(/^mark (\d+\.\d+) (\d+)$/gm)].map(([, seconds, packets]) => ({
		seconds: Number(seconds),
		packets: Number(packets)
	}));
	if (start === void 0 || end === void 0 || after === void 0) return void 0;
	return {
		withinPps: rate(start, end),
		afterPps: rate(end, after)
	};
}
const rate = (from, to) => (to.packets - from.packets) / (to.seconds - from.seconds);

// src/lab/linux/linux-refusal.ts
/**
* Returns nft's messages on the variant's own rules, with line numbers of the overlay. Source lines that nft prints,
* and folder names, are left out: they could be of any file of the DUT.
*/
function loadRefusal(failed) {
	const { folder, scenario, nftables, stderr, ending, lines } = failed;
	const setting = refusedSetting(stderr);
	if (setting !== void 0) {
		const line = lines?.get(setting.path);
		const who = line === void 0 ? "The" : `sysctl.conf line ${line}: the`;
		const fix = ofInterface.test(setting.path) && isMissing.test(setting.reason) ? `; ${toMap}` : "";
		return `${who} DUT does not take the setting ${setting.path}: ${setting.reason}${fix}.`;
	}
	const sources = nftables.split("\n");
	const errors = stderr.split("\n").flatMap((line) => {
		if (!line.startsWith(`${folder}/`)) return unplaced.exec(line)?.[1] ?? [];
		const [, file, number, first, last, words] = placed.exec(line.slice(folder.length + 1)) ?? [];
		if (file === `${scenario}.nft`) return `${file}:${number}: ${words}`;
		if (file !== "nftables.conf") return [];
		const columns = {
			first: Number(first),
			last: Number(last ?? first)
		};
		const source = shown(sources[Number(number) - 1] ?? "", columns);
		return [`${file}:${number}:${first}${last === void 0 ? "" : `-${last}`}: ${words}`, ...source];
	});
	if (errors.some((line) => line.endsWith("Interface does not exist"))) errors.push(`${toMap[0]?.toUpperCase()}${toMap.slice(1)}.`);
	if (errors.length > 0) return errors.slice(0, mostLines).join("\n");
	return `nft does not load nftables.conf, and names no line of it: it ${ending}.`;
}
const ofInterface = /^net\/\w+\/(?:conf|neigh)\//;
const isMissing = /No such file or directory$/;
const toMap = "map names of interfaces to those of the testbed with `overlay: { interfaces: { eth0: ingress } }` in ppsgate.yml";
/** Finds the setting that the DUT's script refused, and its reason; undefined if it refused something else. */
function refusedSetting(stderr) {
	const [, reason, path] = failedSetting.exec(stderr) ?? [];
	return reason === void 0 || path === void 0 ? void 0 : {
		path,
		reason
	};
}
/** The error of the script, or the system's as bash or cat(1) prints it, followed by the script's line on the setting. */
const failedSetting = /: ([\w ,'()/-]{1,200})\nsetting (net\/[\w./-]{1,200})$/m;
const placed = /^([\w.-]{1,100}):(\d{1,7}):(\d{1,7})(?:-(\d{1,7}))?: (Error: .{1,300})/;
/** Messages of nft without a line number. */
const unplaced = /^(?:internal:0:0-0|netlink): (Error: .{1,300})/;
/** nft stops after ten errors. */
const mostLines = 30;
/** The source line and, if the columns are known, a line of markers below it. */
function shown(source, { first, last }) {
	const line = source.slice(0, mostShown);
	if (last > line.length || first < 1 || last < first || /[^\t -~]/.test(line)) return [line];
	return [line, line.slice(0, first - 1).replace(/[^\t]/g, " ") + "^".repeat(last - first + 1)];
}
const mostShown = 200;

// src/lab/linux/nftables-scenario.ts
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

// src/lab/linux/linux-dut.ts
const folder = "/run/ppsgate/dut";
const script = `${folder}/dut.bash`;
/** `ports` are the interfaces that forward. */
function linuxDut(host, ports) {
	return {
		async prepare(overlays, scenarios) {
			await restore(host);
			await install(host);
			const scenario = scenarios[0] ?? "forwarding";
			const variants = overlays.map((overlay) => loadable(overlay, ports));
			const refused = variants.find((overlay) => overlay.kind === "refused");
			if (refused?.kind === "refused") return doesNotLoad(refused.variant, scenario, refused.message);
			const { read, warnings } = await withoutMissing(host, script, variants.filter((overlay) => overlay.kind === "loadable"));
			const remembered = await remember(host, read, scenario);
			if (remembered.kind === "rejected") return remembered;
			const compared = findInertChanges(read, remembered);
			if (compared.kind === "refused") return doesNotLoad(compared.variant, scenario, compared.message);
			const lacking = await createInterfaces(host, script, read);
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
		install: (variant, scenario) => installVariant(host, {
			variant,
			sysctl: noSettings,
			nftables: "",
			unused: []
		}, scenario),
		async observe(request, { isEnough, ...limits }) {
			const stdin = new PassThrough();
			const samplesWith = samplesAsTheyCome();
			let log = "";
			let asked = 0;
			const onStdout = (chunk) => {
				if (log.length > mostLogCharacters) return;
				const piece = Buffer.from(chunk).toString();
				log += piece;
				if (isEnough === void 0) return;
				const samples = samplesWith(piece);
				if (samples.length === asked || samples.length > request.slices) return;
				asked = samples.length;
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
			if (log.length > mostLogCharacters) {
				const reason = `the DUT wrote more than ${mostLogCharacters} characters where it was to sample`;
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
			const text = await host.output(printingCommand(folder), { maxOutputBytes: mostProfileBytes });
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
const noSettings = {
	settings: /* @__PURE__ */ new Map(),
	lines: /* @__PURE__ */ new Map(),
	skipped: [],
	warnings: []
};
/** A line has about 80, and a trial at most tens of thousands of lines. */
const mostLogCharacters = 16 * 1024 ** 2;
/** More than ten times the size of the wanted samples. */
const mostProfileBytes = 256 * 1024 ** 2;
async function install(host) {
	await host.output(shell`mkdir -p ${folder}`);
	await host.upload(linuxDutScript, script, 493);
}
/** Uploads the script again, as it also restores after an earlier experiment. */
async function restore(host) {
	await install(host);
	await host.output(shell`bash ${script} restore`);
	await host.output(shell`rm -rf ${folder} ${`${folder}.lock`}`);
}
/**
* Has the DUT keep its rules, and its own values of settings that any variant changes. Throws a HostError where the rules
* could not be restored.
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
	throw new HostError("command-failed", `The rules of ${host.name} are left alone, as they could not be restored: ${reasonIn(outcome)}. Remove them, install the program that manages them, stop the one that owns them, or use another machine.`);
}
const reasonIn = ({ stderr }) => lastLine(stderr)?.replace(/^\w+: /, "") ?? "it said nothing";
/** Refuses settings that change more than can be restored. */
async function check(host, variants, scenario) {
	for (const variant of variants) {
		const outcome = await host.run(shell`bash ${script} check ${folderOf(variant.variant)}`);
		if (outcome.kind === "signaled" || outcome.code !== 0) return refusalOf(variant, scenario, outcome);
	}
}
function refusalOf({ variant, sysctl, nftables }, scenario, outcome) {
	const target = folderOf(variant);
	const { stderr } = outcome;
	const { lines } = sysctl;
	const ending = endingOf(outcome);
	const message = loadRefusal({
		folder: target,
		scenario,
		nftables,
		stderr,
		ending,
		lines
	});
	return doesNotLoad(variant, scenario, message);
}
async function upload(host, { variant, sysctl, nftables }, scenarios) {
	const target = folderOf(variant);
	await host.output(shell`mkdir -p ${target}`);
	const files = new Map([
		["sysctl.conf", formatSettings(sysctl.settings)],
		["nftables.conf", nftables],
		...scenarios.map((scenario) => [`${scenario}.nft`, ruleset(target, scenario)])
	]);
	await Promise.all([...files].map(([name, text]) => host.upload(Buffer.from(text), `${target}/${name}`, 384)));
}
const folderOf = (variant) => `${folder}/${pathName(variant)}`;
const ruleset = (target, scenario) => `flush ruleset\ninclude "${target}/nftables.conf"\n${scenarioRules(scenario)}`;
async function prove(host, variants, scenarios) {
	for (const overlay of variants) for (const scenario of scenarios) {
		const installed = await installVariant(host, overlay, scenario);
		if (installed.kind === "rejected") return installed;
	}
	return { kind: "ready" };
}
async function installVariant(host, overlay, scenario) {
	const target = folderOf(overlay.variant);
	const outcome = await host.run(shell`timeout --kill-after=5 ${installSeconds} bash ${script} lay ${target} ${scenario}`);
	if (outcome.kind === "exited" && outcome.code === 0) return { kind: "ready" };
	return refusalOf(overlay, scenario, outcome);
}
/** Rules may hold a command that never ends, like `monitor`; a set of a million addresses loads in seconds. */
const installSeconds = 120;
function endingOf(outcome) {
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

export { arrivalsAround, boundedLimits, cardDropOf, countersIn, droppedBy, findInertChanges, findLeftovers, ignoredParts, leastSilentRatio, limitsInLinuxLog, linuxDut, loadable, mainDrop, mapOwnRules, mapWords, nsPerTick, ownAddressCause, packetsOf, parseObservation, portNames, uncountedCause, whyUnrestorable, withEnds };