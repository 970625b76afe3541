import { ignoredFiles, lastLine, linkAmong, shortened } from "../../model/first-plain.js";
import { shell } from "../../system/shell.js";
import { mapNftables, mapSetting, portNames } from "../first-plain.js";
import { nsPerTick } from "../../system/clock-ticks.js";
const { readFileSync } = globalThis.process.getBuiltinModule("node:fs");

// src/lab/linux/linux-script.ts
/** Read at startup: a gate restores its DUT with it hours later, when the files may be gone. */
const linuxDutScript = Buffer.concat([
	readFileSync(new URL("../../linux-counters.sh", import.meta.url)),
	readFileSync(new URL("../../linux-install.sh", import.meta.url)),
	readFileSync(new URL("../../linux-observe.sh", import.meta.url)),
	readFileSync(new URL("../../linux-script.sh", import.meta.url))
]);
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
/** Samples a variant at a higher priority than the packets, on any CPU with spare time. */
function samplingCommand(request) {
	const { script, ingress, cpu, scenario, warmUpSeconds, seconds, event, variant } = request;
	const chosen = event === void 0 ? [] : ["--event", event];
	const perSecond = Math.min(maxPerSecond, Math.ceil(wantedSamples / seconds));
	return shell`chrt -f 20 bash ${script} profile ${ingress} ${cpu} ${scenario} ${warmUpSeconds} ${seconds} ${variant} --freq ${perSecond} ${chosen}`;
}
/** Enough to see a function that became 10 % slower; about 20 MB as perf prints them. */
const wantedSamples = 8e3;
/** More would slow the DUT down by several percent. */
const maxPerSecond = 3999;
/** Prints the samples after a header with their conditions. */
const printingCommand = (folder) => shell`perf script --header --input ${`${folder}/perf.data`}`;
/** Packets per second that arrived during the samples, and right after; undefined if the log has no counters. */
function arrivalsAround(log) {
	const [start, end, after] = [...log.matchAll(/^mark (\d+\.\d+) (\d+)$/gm)].map(([, seconds, packets]) => ({
		seconds: Number(seconds),
		packets: Number(packets)
	}));
	if (start === void 0 || end === void 0 || after === void 0) return void 0;
	const rate = (from, to) => (to.packets - from.packets) / (to.seconds - from.seconds);
	return {
		withinPps: rate(start, end),
		afterPps: rate(end, after)
	};
}

// src/lab/linux/linux-leftovers.ts
/** `interfaces` are those that forward. Changes nothing on the DUT, not even a file. */
async function findLeftovers(host, interfaces) {
	const command = shell`bash -s leftovers ${interfaces}`;
	return readLeftovers(await host.output(command, { stdin: linuxDutScript }));
}
/** Reads what the script's `leftovers` prints. */
const readLeftovers = (text) => text.split("\n").flatMap((line) => leftover(line.slice(0, maxShown$2).split(" ")) ?? []);
/** Returns why the DUT's own rules could not be restored; undefined if they could. */
async function whyUnrestorable(host) {
	const outcome = await host.run(shell`bash -s provable`, { stdin: linuxDutScript });
	if (outcome.kind === "exited" && outcome.code === 0) return void 0;
	return lastLine(outcome.stderr)?.replace(/^prove: /, "") ?? "the DUT said nothing";
}
const maxShown$2 = 300;
function leftover([kind, name = "", ...rest]) {
	const words = rest.join(" ");
	switch (kind) {
		case "legacy": return inForce(`the tables ${words} of ${name}tables-legacy`, "flush them, and unload their modules");
		case "owned": return inForce(`the nftables table ${name} ${words}, owned by a running program,`, "stop that program, for example firewalld");
		case "xdp": return inForce(`an XDP program on ${name}`, `\`ip link set dev ${name} xdp off\``);
		case "tc": return inForce(`the queueing discipline ${words} on ${name}`, `\`tc qdisc del dev ${name} …\``);
		case "tcx": return inForce(`a BPF program at the tcx ${words} of ${name}`, stopItsProgram);
		case "bpf": return inForce(`a netfilter BPF program, at the ${hookNames[Number(words)] ?? words} hook of ${familyNames[name] ?? `family ${name}`},`, stopItsProgram);
		case "ipvs": return inForce("the IPVS service table", "`ipvsadm --clear`");
		case "xfrm": return inForce("an IPsec policy", "`ip xfrm policy flush`");
		case "unseen": return unseen[name];
		default: return;
	}
}
const stopItsProgram = "stop the program that attached it: `bpftool link show` and `bpftool net show` of the kernel’s version list it";
/** Names hooks by their numbers in <linux/netfilter.h>. */
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
	why: `${what} are not checked, because the DUT lacks ${program}`,
	fix: `install ${itsPackage} on it`
});
const unseen = {
	ip: unseenWithout("ip", "XDP programs and filters of tc(8)", "iproute2"),
	tc: unseenWithout("tc", "XDP programs and filters of tc(8)", "iproute2"),
	perl: unseenWithout("perl", "BPF programs of tcx and netfilter", "perl"),
	bpf: {
		why: "BPF programs of tcx and netfilter are not checked, because the DUT’s kernel does not list them for this login",
		fix: "log in as root, with the system call bpf(2) allowed"
	}
};
const inForce = (what, fix) => ({
	why: `${what} stays active beside the rules of every variant and slows every measurement`,
	fix
});

// src/lab/linux/linux-refusal.ts
/**
* Returns nft's messages on the variant's own rules, with line numbers of the overlay. Omits source lines that nft
* prints, and folder names: they could come from any file of the DUT.
*/
function loadRefusal(failed) {
	const { folder, scenario, nftables, stderr, exitText, lines } = failed;
	const setting = refusedSetting(stderr);
	if (setting !== void 0) {
		const line = lines?.get(setting.path);
		const who = line === void 0 ? "The" : `sysctl.conf line ${line}: the`;
		const fix = ofInterface.test(setting.path) && isMissing.test(setting.reason) ? `; ${toMap}` : "";
		return `${who} DUT refuses the setting ${setting.path}: ${setting.reason}${fix}.`;
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
	if (errors.length > 0) return errors.slice(0, maxLines).join("\n");
	return `nft does not load nftables.conf, and reports no line of it: it ${exitText}.`;
}
const ofInterface = /^net\/\w+\/(?:conf|neigh)\//;
const isMissing = /No such file or directory$/;
const toMap = "map interface names to those of the testbed with `overlay: { interfaces: { eth0: ingress } }` in ppsgate.yml";
/** Finds the setting that the DUT's script refused, and its reason; undefined if it refused something else. */
function refusedSetting(stderr) {
	const [, reason, path] = failedSetting.exec(stderr) ?? [];
	return reason === void 0 || path === void 0 ? void 0 : {
		path,
		reason
	};
}
/**
* Matches an error of the script, or of the system as bash or cat(1) prints it, and then the script's line on the
* setting.
*/
const failedSetting = /: ([\w ,'()/-]{1,200})\nsetting (net\/[\w./-]{1,200})$/m;
const placed = /^([\w.-]{1,100}):(\d{1,7}):(\d{1,7})(?:-(\d{1,7}))?: (Error: .{1,300})/;
/** Messages of nft without a line number. */
const unplaced = /^(?:internal:0:0-0|netlink): (Error: .{1,300})/;
/** nft stops after ten errors. */
const maxLines = 30;
/** Returns the source line and, if the columns are known, a line of markers below it. */
function shown(source, { first, last }) {
	const line = source.slice(0, maxShown$1);
	if (last > line.length || first < 1 || last < first || /[^\t -~]/.test(line)) return [line];
	return [line, line.slice(0, first - 1).replace(/[^\t]/g, " ") + "^".repeat(last - first + 1)];
}
const maxShown$1 = 200;

// src/lab/linux/nft-tokens.ts
/**
* Returns the reason and the line; undefined if nft may read the rules. Between nft's keyword `include` and the path
* may be a blank, a comment or a continued line, so the word alone is refused, except in a comment or a quoted string.
*/
function whyUnsafe(text, file) {
	const control = controlCharacter.exec(text);
	if (control !== null) {
		const why = `a control character (U+${control[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}) is not allowed in rules: remove it`;
		return at(file, text, control.index, why);
	}
	for (const { 0: token, index } of text.matchAll(tokens)) {
		if (token === "\"") return at(file, text, index, "this quotation mark is unmatched: add the closing one");
		if (mayBeInclude(token, text[index - 1])) return at(file, text, index, noInclude);
	}
}
/** Returns rules without the parts that nft skips, which may include blanks in quoted strings. */
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
* Another first character may be a number (`1include`), a sign (`-include`) or, after a colon, the end of an address
* (`fe80::cinclude`); nft then starts a new token.
*/
function mayBeInclude(token, before) {
	if (!/^[\w./-]*include$/.test(token)) return false;
	return token === "include" || before === ":" || !/^[a-z]/i.test(token);
}
const noInclude = "include would make nft read another file, possibly any file of the DUT: write the rules of that file here, and quote or rename names that end with this word";
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
				key: key.slice(0, maxShown)
			});
			continue;
		}
		if (value.length > maxCharacters) return refused(`the value of ${key} has more than ${maxCharacters} characters`);
		settings.delete(path);
		settings.set(path, value);
		lines.set(path, index + 1);
	}
	return {
		kind: "read",
		settings,
		lines,
		skipped
	};
}
/** ASCII only: sysctl(8) accepts no other blanks. */
const keyAndValue = /^[\t ]*([\w./-]+)[\t ]*=[\t ]*([!-~](?:[\t -~]*[!-~])?)[\t\r ]*$/;
/** systemd-sysctl(8) sets all settings whose path matches. */
function whyNoPair(content) {
	const text = `expected "key = value", found "${content.slice(0, maxShown)}"`;
	return /^[^=\s]*[*?[]/.test(content) ? `${text}, a pattern for several settings: write one line for each setting` : text;
}
const maxShown = 100;
/** The kernel accepts at most a page. */
const maxCharacters = 4e3;
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
/** Reads the files that a Linux DUT loads, with the names of its ports; `ignoredParts` describes the rest. */
function loadable(overlay, ports) {
	const { variant, files } = overlay;
	const refused = (message) => ({
		kind: "refused",
		variant,
		message
	});
	const link = linkAmong(files, "linux");
	if (link !== void 0) return refused(`${link.path} is a symbolic link: an overlay may contain only regular files.`);
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
	const shown = skipped.slice(0, maxLinesShown).map(({ line, key }) => `${line} (${key})`);
	const more = skipped.length - shown.length;
	const [last = "", ...others] = (more > 0 ? [...shown, `${more} more`] : shown).toReversed();
	const list = others.length === 0 ? last : `${others.toReversed().join(", ")} and ${last}`;
	return skipped.length === 1 ? `sysctl.conf line ${list} is not a network setting of a router, and is not installed` : `sysctl.conf lines ${list} are not network settings of a router, and are not installed`;
}
const maxLinesShown = 20;
/**
* Refuses the first variant without any effective change from base (the first one), as it would pass unmeasured.
* Returns warnings of ineffective changes beside effective ones. A variant may also differ by its kernel.
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
			const why = ofNewInterfaces.test(path) ? "affects only interfaces that are created later" : fixed.has(path) && "belongs to the host of the namespace, and keeps its value";
			const line = other.sysctl.lines.get(path);
			const where = line === void 0 ? "sysctl.conf" : `sysctl.conf line ${line}`;
			return why ? [`${where}: ${path} ${why}`] : [];
		});
		const acts = inert.length < changed.length || hasOtherKernel(other.variant) || withoutComments(base.nftables) !== withoutComments(other.nftables);
		const [first] = inert;
		if (first !== void 0 && !acts) {
			const message = `${first}, and ${other.variant} does not differ from ${base.variant} in any effective setting: change a setting of an interface, or rules.`;
			return {
				kind: "refused",
				variant: other.variant,
				message
			};
		}
		warnings.push(...inert.map((text) => `${text}: its effect in ${other.variant} is not measured.`));
	}
	return {
		kind: "acts",
		warnings
	};
}
/** `net.ipv4.conf.default` may reach an existing interface, but only settings of it that were never written. */
const ofNewInterfaces = /^net\/(?:core\/(?:default_qdisc|rps_default_mask|devconf_inherit_init_net|fb_tunnels_only_for_init_net)|(?:ipv4|ipv6|mpls)\/conf\/default\/.*)$/;

export { arrivalsAround, findInertChanges, findLeftovers, formatSettings, ignoredParts, linuxDutScript, loadRefusal, loadable, observeCommand, parseObservation, printingCommand, readSettings, refusedSetting, samplesAsTheyCome, samplingCommand, whyUnrestorable };