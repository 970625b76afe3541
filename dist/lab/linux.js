import { ignoredFiles, lastLine, linkAmong, pathName, shortened } from "../model.js";
import { HostError, shell } from "../system/host.js";
import { readFileSync } from "node:fs";
import { PassThrough } from "node:stream";

// src/lab/linux/linux-drops.ts
/** Returns a phrase that continues "dropped by", by the folder of each variant that forwarded nothing. */
function dropsIn(log) {
	const drops = /* @__PURE__ */ new Map();
	let lines;
	let folder = "";
	const close = () => {
		const phrase = lines && phraseOf(lines);
		if (phrase !== void 0) drops.set(folder, phrase);
		lines = void 0;
	};
	for (const line of log.split("\n")) {
		if (/^(?:trace|counted) /.test(line)) lines?.push(line);
		else close();
		const [, variant] = /^drops (\S+)$/.exec(line) ?? [];
		if (variant === void 0) continue;
		folder = variant;
		lines = [];
	}
	close();
	return drops;
}
function phraseOf(lines) {
	const endings = [...Map.groupBy(lines.flatMap(eventOf), ({ packet }) => packet).values()].flatMap((events) => events.at(-1)?.drop ?? []);
	const [rule] = byCount(Map.groupBy(endings, (drop) => drop));
	if (rule !== void 0) return rule;
	const [first] = lines.flatMap(countOf).toSorted((one, other) => other.count - one.count);
	return first === void 0 ? void 0 : `${first.cause} (${first.name} counted ${first.count})`;
}
const byCount = (groups) => [...groups].toSorted(([, one], [, other]) => other.length - one.length).map(([key]) => key);
/** A packet's last event is its end in the rules. */
function eventOf(line) {
	const [, packet, table, chain, event = ""] = traceLine.exec(line) ?? [];
	if (packet === void 0 || table === void 0 || chain === void 0) return [];
	const where = `chain ${chain} of table ${table}`;
	const [, rule] = /^rule (.*) \(verdict drop\)$/.exec(event) ?? [];
	if (rule !== void 0) return [{
		packet,
		drop: `the rule "${rule.replace(/counter packets \d+ bytes \d+/, "counter")}" in ${where}`
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
function countOf(line) {
	const [, name = "", count] = /^counted (\w{1,64}) (\d{1,15})$/.exec(line) ?? [];
	const cause = causes[name];
	return cause === void 0 ? [] : [{
		name,
		count: Number(count),
		cause
	}];
}
/** By the counters' names in nstat(8); those of IPv6 differ by one digit. */
const causes = {
	ConntrackDrop: "connection tracking, whose table is full (net.netfilter.nf_conntrack_max)",
	TcpExtIPReversePathFilter: "the reverse-path filter (net.ipv4.conf.….rp_filter)",
	IpInAddrErrors: "a DUT that does not forward (net.ipv4.ip_forward)",
	Ip6InAddrErrors: "a DUT that does not forward (net.ipv6.conf.all.forwarding)",
	IpExtInNoRoutes: "a DUT without a route to their destination",
	Ip6InNoRoutes: "a DUT without a route to their destination",
	IpOutNoRoutes: "a DUT without a route to their destination",
	IpInHdrErrors: "a DUT that takes their header for wrong, or their time to live for over",
	Ip6InHdrErrors: "a DUT that takes their header for wrong, or their hop limit for reached",
	IpInDelivers: "the DUT itself, to whose own address the rules lead them",
	Ip6InDelivers: "the DUT itself, to whose own address the rules lead them",
	IpInDiscards: "the kernel",
	Ip6InDiscards: "the kernel"
};

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

// src/lab/map-interfaces.ts
/** Names of the testbed by names in the files; none for interfaces that no packet uses. */
function portNames(roles = {}, ports) {
	return new Map(Object.entries(roles).flatMap(([name, role]) => role === "unused" ? [] : [[name, ports[role]]]));
}
/** Returns rules for nft(8): whole words and quoted strings are names, and patterns like `eth*`. */
const mapNftables = (text, names) => names.size === 0 ? text : text.replaceAll(/#[^\n]*|"([^"]*)"|[\w./-]+\*?|./gs, (token, quoted) => quoted === void 0 ? mapped(token, names) : `"${mapped(quoted, names)}"`);
/** Returns rules of pf.conf(5) or ipfw(8), whose macros quote any text. */
const mapWords = (text, names) => names.size === 0 ? text : text.replaceAll(/#[^\n]*|[\w./-]+\*?|./gs, (token) => mapped(token, names));
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
/** Packets per second that arrived while samples were taken, and right after; undefined if the log has no counters. */
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
/** Finds the setting that the DUT's script refused, and its reason; undefined where it refused something else. */
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
/** In a table of their own, with one accepting rule, like the single `pass` of the FreeBSD scenarios. */
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
				reason: outcome.stderr.trim() || "the DUT’s sampler was ended"
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
		async droppedBy(ingress, seconds) {
			const lines = await host.output(shell`bash ${script} drops ${ingress} ${seconds}`);
			return dropsIn(`drops all\n${lines}`).get("all");
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

export { arrivalsAround, dropsIn, findInertChanges, findLeftovers, ignoredParts, linuxDut, loadable, mapWords, nsPerTick, parseObservation, portNames, whyUnrestorable };