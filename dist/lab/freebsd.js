import { frameBytesFor } from "../config.js";
import { number, object } from "../vendor/zod.js";
import { BuilderError, buildVariant, fetchKernel, noSums } from "../kernel.js";
import { HostError, commandText, ownFolder, requirePrograms, shell, stdoutOf, thisMachine, uploadOverBreaks } from "../system/host.js";
import { ConsoleRecorder, describeScreen } from "./console.js";
import { driverSettingsOf, firmwareNames, flowRanges, flowSlices, formatPercent, isJudged, kernelDependentFacts, lastLine, layoutName, netmapPort, pathName, reasonOf, shortened, volatileFacts, withoutKernelFacts } from "../model.js";
import { isToBlame, lacksControl, tallyOf } from "../lab.js";
import { PowerError } from "./power.js";
import { impossible as impossible$1, judgeProfile, missed } from "./netns.js";
import { boundedLimits, cardDropOf, countersIn, leastSilentRatio, mainDrop, ownAddressCause, packetsOf, uncountedCause, withEnds } from "./linux.js";
import { sum } from "../vendor/simple-statistics.js";
import { areOpen, closePorts, openPorts, parsePktGenLog, pktGenRun, secondsFor, trialThrough } from "./traffic.js";
import { once } from "node:events";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createReadStream, rmSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { BlockList, isIPv4, isIPv6 } from "node:net";
import { Readable } from "node:stream";
import { createHash } from "node:crypto";
import { mkdtemp, open, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { pipeline } from "node:stream/promises";
import { basename as basename$1, dirname as dirname$1 } from "node:path/posix";

// src/lab/freebsd/boot/boot-system.ts
async function runningSystem(host) {
	const [bootfile, [root]] = await Promise.all([host.output(shell`sysctl -n kern.bootfile`), fileSystemsOf(host, ["/"])]);
	const kernel = bootfile.trim();
	return {
		root: root?.device ?? "",
		kernel,
		sha256: await sha256Of(host, kernel)
	};
}
function whyOther(running, expected) {
	const name = ({ root, kernel }) => running.root === expected.root ? kernel : `${kernel} of ${root}`;
	if (!isSamePlace(running, expected)) return `${name(running)} came up instead of ${name(expected)}`;
	if (running.sha256 === expected.sha256) return void 0;
	return `${name(running)} has another checksum than before the boot`;
}
/** Installed by an experiment: by nextboot(8) in a folder, by bectl(8) in an environment of that name. */
const isOurs = ({ root, kernel }) => kernel.startsWith("/boot/ppsgate.") || basename$1(root).startsWith("ppsgate.");
const isSamePlace = (one, other) => one.root === other.root && one.kernel === other.kernel;
const sha256Of = async (host, file) => (await host.output(shell`sha256 -q ${file}`)).trim();
async function fileSystemsOf(host, paths) {
	const [, ...rows] = (await host.output(shell`df -k -T ${paths}`)).trim().split("\n");
	return rows.map((row) => {
		const [device = "", type = "", , , kibibytes, , ...path] = row.split(/\s+/);
		return {
			device,
			type,
			availableBytes: Number(kibibytes) * 1024,
			mountedOn: path.join(" ")
		};
	});
}
/** A variable in the kernel's environment, which every boot makes again. */
const mark = "ppsgate.boot";
/** A reboot loses the mark. kern.boottime moves with the clock, and FreeBSD 12 has no kern.boot_id. */
const markBoot = async (host) => {
	await host.output(shell`kenv ${`${mark}=1`}`);
};
/** An empty environment proves nothing. */
async function hasBootedSinceMark(host) {
	const names = (await host.output(shell`kenv -N`)).split("\n").filter(Boolean);
	return names.length > 0 && !names.includes(mark);
}

// src/lab/freebsd/boot/boot-modules.ts
/** Files loaded in addition to the running kernel: `zfs.ko`, `if_cxgbe.ko`. */
async function loadedFiles(host) {
	const names = (await host.output(shell`kldstat`)).split("\n").map((row) => row.split(/\s+/).at(-1));
	return new Set(names.flatMap((name) => name?.endsWith(".ko") ? name : []));
}
/** Call while the DUT runs its own kernel. Includes modules of loader.conf and rc.conf, and dependencies. */
async function loadedModules(host) {
	const listed = await host.run(shell`ls ${"/boot/modules"}`);
	const elsewhere = new Set(listed.stdout.split("\n"));
	const files = [...await loadedFiles(host)].filter((file) => !elsewhere.has(file));
	const [root] = await fileSystemsOf(host, ["/"]);
	return {
		names: files.map((file) => file.replace(/\.ko$/, "")),
		release: (await host.output(shell`uname -r`)).trim(),
		isRootOnZfs: root?.type === "zfs"
	};
}
/** Returns a clause on the first missing module; modules that the own kernel lacks, or has built in, are not needed. */
async function lackingModule(host, folder, { loaded, rootType }) {
	const files = [...await loadedByLoader(host), ...rootType === "zfs" ? ["zfs.ko"] : []];
	for (const file of new Set(files)) {
		if (!loaded.has(file) || await isThere(host, file, [folder, "/boot/modules"])) continue;
		if (await isInKernel(host, `${folder}/kernel`, file)) continue;
		return `${file} is neither in ${folder} nor in /boot/modules, and the loader needs it before the kernel is up: build it with the kernel, or install it in /boot/modules`;
	}
}
async function loadedByLoader(host) {
	const folder = "/boot/loader.conf.d";
	const more = (await textOf(host, shell`ls -1 ${folder}`)).split("\n").filter((name) => name.endsWith(".conf")).map((name) => `${folder}/${name}`);
	const settings = /* @__PURE__ */ new Map();
	for (const path of [
		"/boot/loader.conf",
		...more,
		"/boot/loader.conf.local"
	]) {
		const text = await textOf(host, shell`cat ${path}`);
		for (const [, name = "", value = ""] of text.matchAll(/^\s*([\w.-]+)\s*=\s*"?([^"\s#]*)/gm)) settings.set(name, value);
	}
	return [...settings].flatMap(([setting, value]) => {
		const name = /^(.+)_load$/.exec(setting)?.[1];
		if (name === void 0 || settings.has(`${name}_type`) || !/^yes$/i.test(value)) return [];
		return `${(settings.get(`${name}_name`) ?? name).replace(/\.ko$/, "")}.ko`;
	});
}
async function textOf(host, command) {
	const outcome = await host.run(command);
	return outcome.kind === "exited" && outcome.code === 0 ? outcome.stdout : "";
}
async function isThere(host, file, folders) {
	for (const folder of folders) {
		const outcome = await host.run(shell`test -e ${`${folder}/${file}`}`);
		if (outcome.kind === "exited" && outcome.code === 0) return true;
	}
	return false;
}
/** Known only if the kernel was built with its configuration included. */
async function isInKernel(host, kernel, file) {
	const name = file.replace(/^if_|\.ko$/g, "").toLowerCase();
	return (await textOf(host, shell`config -x ${kernel}`)).split("\n").some((line) => {
		const [kind = "", option, more] = line.trim().split(/\s+/);
		return /^(?:device|options)$/.test(kind) && option?.toLowerCase() === name && more === void 0;
	});
}

// src/lab/freebsd/dut/network.ts
/** Reads `ifconfig INTERFACE`; undefined for any other text. */
function parseIfconfig(text) {
	const [, name, flags = "", mtu] = /^(\S+): flags=[0-9a-f]+<([^>]*)>.* mtu (\d+)/m.exec(text) ?? [];
	if (name === void 0) return void 0;
	const options = /^[ \t]+options=[0-9a-f]+<([^>]*)>/m.exec(text)?.[1] ?? "";
	const mac = /^[ \t]+ether (\S+)/m.exec(text)?.[1];
	const media = /^[ \t]+media: (.*\S)/m.exec(text)?.[1];
	const gigabits = gigabitsOf(media ?? "");
	return {
		name,
		flags: listed$1(flags),
		options: listed$1(options),
		mtu: Number(mtu),
		...mac !== void 0 && { mac: mac.toLowerCase() },
		...media !== void 0 && { media },
		...gigabits !== void 0 && { gigabits },
		isActive: /^[ \t]+status: active$/m.test(text)
	};
}
const listed$1 = (names) => names.split(",").filter(Boolean);
function gigabitsOf(media) {
	const [start, end] = [media.indexOf("("), media.lastIndexOf(")")];
	const active = start !== -1 && start < end ? media.slice(start + 1, end) : media;
	const [, digits, giga] = /\b(\d+)(G?)base/i.exec(active) ?? [];
	if (digits === void 0) return void 0;
	return giga === "" ? Number(digits) / 1e3 : Number(digits);
}
/** Reads `netstat -rn -f FAMILY` by its header. */
function parseRoutes(text) {
	const rows = filledLines(text).map(words$1);
	const head = rows.findIndex(([first]) => first === "Destination");
	const [destination = -1, gateway = -1, flags = -1, netif = -1] = [
		"Destination",
		"Gateway",
		"Flags",
		"Netif"
	].map((column) => (rows[head] ?? []).indexOf(column));
	return rows.slice(head + 1).filter((row) => head !== -1 && row.length > netif).map((row) => ({
		destination: row[destination] ?? "",
		gateway: row[gateway] ?? "",
		flags: row[flags] ?? "",
		interface: row[netif] ?? ""
	}));
}
function parseArp(text) {
	return [...text.matchAll(/^\S+ \((\S+)\) at (\S+) on (\S+)( permanent)?/gm)].map(([, address = "", mac = "", name = "", permanent]) => neighbour(address, mac, name, permanent !== void 0));
}
function parseNdp(text) {
	return filledLines(text).map(words$1).filter(([first = ""]) => first.includes(":")).map(([address = "", mac = "", name = "", expires]) => neighbour(address, mac, name, expires === "permanent"));
}
/** An address that is being resolved has `(incomplete)` as its MAC address. */
const neighbour = (address, mac, name, isPermanent) => ({
	address,
	...mac.includes(":") && { mac: mac.toLowerCase() },
	interface: name,
	isPermanent
});
/** Drops empty lines: megabytes of them would become gigabytes of arrays. */
const filledLines = (text) => text.split("\n").filter(Boolean);
const words$1 = (line) => line.trim().split(/\s+/);

// src/lab/freebsd/dut/setting.ts
function readsOf(settings) {
	const commands = settings.flatMap(({ reads }) => reads);
	return [...new Map(commands.map((command) => [commandText(command), command])).values()];
}
/** Empty if the setting holds. `where` is the machine's name for people. */
function problemOf(setting, outputs, where = "the DUT") {
	const { name, why, isVital = false } = setting;
	const fault = faultOf(setting, outputs, where);
	if (fault === void 0) return [];
	const { is } = fault;
	return [{
		setting: name,
		message: `${name} ${is}, and ${why}: ${advice(fault.fix, where)}.`,
		fix: fault.fix,
		isVital,
		is
	}];
}
function faultOf({ reads, check, isOptional = false }, outputs, where) {
	const texts = reads.map(commandText);
	const failed = texts.find((text) => !outputs.has(text));
	if (failed === void 0) return check(...texts.map((text) => (outputs.get(text) ?? "").trim()));
	if (isOptional) return void 0;
	return {
		is: "cannot be read",
		fix: {
			kind: "person",
			what: `see why \`${failed}\` fails on ${where}`
		}
	};
}
/** Replaces the advice of waived problems by the reason of the waiver. */
const waived = (problems, waive = {}) => problems.map((problem) => {
	const { setting, is, isVital } = problem;
	const reason = Object.hasOwn(waive, setting) && !isVital ? waive[setting] : void 0;
	if (reason === void 0) return problem;
	const message = `${setting} ${is}: waived, because ${reason.replace(/\.$/, "")}.`;
	return {
		...problem,
		message,
		isWaived: true
	};
});
function advice(fix, where = "the DUT") {
	switch (fix.kind) {
		case "command": return `run \`${commandText(fix.command)}\` on ${where}`;
		case "loader": return `put \`${fix.line}\` into its /boot/loader.conf and reboot it`;
		case "wait": return `wait ${fix.seconds} s`;
		case "person": return fix.what;
	}
}
/** Requires one value, which can be set at any time. */
const sysctl = (name, required, why) => oneValue(name, required, why, {
	kind: "command",
	command: shell`sysctl ${`${name}=${required}`}`
});
/** Requires one value, which the loader passes to the kernel. */
const tunable = (name, required, why, loaderName = name) => oneValue(name, required, why, {
	kind: "loader",
	line: `${loaderName}="${required}"`
});
const oneValue = (name, required, why, fix) => ({
	name,
	why,
	reads: [readSysctl(name)],
	check: (value) => unless(value === String(required), {
		is: `is ${value} instead of ${required}`,
		fix
	})
});
const readSysctl = (name) => shell`sysctl -n ${name}`;
const unless = (isRight, fault) => isRight ? void 0 : fault;

// src/lab/freebsd/dut/fingerprint.ts
/** Commands for `fingerprintOf`; any may fail, and is then left out. */
const fingerprintCommands = (request) => factsOf$1(request).map(({ reads }) => reads);
function fingerprintOf(outputs, request) {
	const entries = factsOf$1(request).flatMap(({ reads, entries }) => {
		const output = outputs.get(commandText(reads))?.trim() ?? "";
		return output === "" ? [] : entries(output);
	});
	return Object.fromEntries(entries.map(([name, value]) => [name, value.slice(0, longestValue)]));
}
/** In characters; the longest values are the names of cards. */
const longestValue = 2e3;
/** Returns a line for each differing fact that the kernel does not explain; none if the two boots are comparable. */
function differences(base, other, variant = "patched") {
	return [.../* @__PURE__ */ new Set([...Object.keys(base), ...Object.keys(other)])].filter((name) => !kernelDependentFacts.has(name) && !volatileFacts.has(name)).filter((name) => base[name] !== other[name]).map((name) => `${name}: ${quoted(base[name])} on base, ${quoted(other[name])} on ${variant}`);
}
/** Returns a line for each card whose firmware a kernel in between has flashed, permanently. */
function flashed(before, now) {
	return Object.entries(before).filter(([name, value]) => isFirmware(name) && now[name] !== void 0 && now[name] !== value).map(([name, value]) => `${name} was ${quoted(value)} and is ${quoted(now[name])}`);
}
const isFirmware = (name) => /^dev\..*\.(?:firmware|fw)_version$/.test(name);
const quoted = (value) => value === void 0 ? "nothing" : `"${value}"`;
const factsOf$1 = ({ interfaces, bootFile }) => [
	fact("kernel", shell`uname -v`),
	fact("cpu", readSysctl("hw.model")),
	fact("machine", shell`kenv -q smbios.system.product`),
	fact("kernel sha256", shell`sha256 -q ${bootFile}`),
	{
		reads: readSysctl("kern.conftxt"),
		entries: configuration
	},
	fact("release", shell`uname -r`),
	fact("architecture", shell`uname -p`),
	{
		reads: shell`pciconf -lv`,
		entries: networkCards
	},
	...interfaces.map((name) => ({
		reads: shell`ifconfig ${name}`,
		entries: port
	})),
	...[...sysctlNames(interfaces)].map((name) => fact(name, readSysctl(name)))
];
const sysctlNames = (interfaces) => /* @__PURE__ */ new Set([...recorded$1, ...interfaces.flatMap((port) => [...driverSettingsOf(port).map(({ name }) => name), ...firmwareNames(port)])]);
const fact = (name, reads) => ({
	reads,
	entries: (output) => [[name, output.slice(0, longestValue).replace(/\s+/g, " ")]]
});
const recorded$1 = [
	"kern.hostname",
	"kern.bootfile",
	"kern.boottime",
	"hw.ncpu",
	"machdep.hyperthreading_allowed",
	"kern.random.harvest.mask",
	"net.inet.ip.forwarding",
	"net.inet.ip.redirect",
	"net.inet6.ip6.forwarding",
	"net.inet6.ip6.redirect",
	"net.isr.maxthreads",
	"net.isr.bindthreads",
	"net.isr.dispatch",
	"net.route.algo.inet.algo",
	"net.route.algo.inet6.algo",
	"vm.pmap.pti",
	"hw.ibrs_active",
	"dev.cpu.0.freq"
];
/** Reads config(5)'s text, as `options INCLUDE_CONFIG_FILE` keeps it. */
function configuration(text) {
	const ident = /^ident\s+(\S+)/m.exec(text)?.[1];
	const rss = /^options\s+RSS\s*$/m.test(text) ? "yes" : "no";
	return [["ident", ident ?? "unknown"], ["RSS", rss]];
}
/**
* `DRIVER@pciN:…: class=0x02….. …`, followed by indented `vendor = '…'` and `device = '…'`, which a machine without
* /usr/share/misc/pci_vendors lacks: the ids stand for them.
*/
function networkCards(text) {
	return text.split(/\n(?=\S)/).filter((card) => /\sclass=0x02/.test(card)).map((card) => {
		const driver = card.replace(/@.*/s, "");
		const names = [...card.matchAll(/^[ \t]+(?:vendor|device)[ \t]+= '(.*)'$/gm)];
		const ids = /\b(?:vendor=\S+ device=\S+|chip=\S+)/.exec(card)?.[0] ?? "unknown";
		return [`NIC ${driver}`, names.map(([, name]) => name).join(" ") || ids];
	});
}
function port(text) {
	const state = parseIfconfig(text);
	if (state === void 0) return [];
	const { name, options, media, mtu } = state;
	return [
		[`${name} options`, options.toSorted().join(" ")],
		[`${name} media`, media ?? "unknown"],
		[`${name} MTU`, String(mtu)]
	];
}

// src/lab/freebsd/dut/ports.ts
const portSettings = ({ ingress, egress }) => {
	const ports = [ingress, egress];
	return [...ports.flatMap((port) => [noOffloads(port), link(port)]), ...onceEach(ports.flatMap(ofDriver))];
};
const generatorPortSettings = (name) => driverSettingsOf(name).filter(({ appliesToGenerators }) => appliesToGenerators).flatMap((setting) => driverSetting(setting, void 0));
const ofDriver = ({ interface: name, queues }) => driverSettingsOf(name).flatMap((setting) => driverSetting(setting, queues));
function driverSetting(setting, queues) {
	const { name, why, fix, alias, isOptional = false } = setting;
	const required = setting.expected === "queues" ? queues : Number(setting.expected);
	if (required === void 0) return [];
	const made = fix === "sysctl" ? sysctl(name, required, why) : tunable(name, required, why, fix.loader);
	const check = (value = "") => value === alias ? void 0 : made.check(value);
	return [{
		...made,
		check,
		isOptional
	}];
}
/** Some settings of a driver apply to all its ports. */
const onceEach = (settings) => [...new Map(settings.map((setting) => [setting.name, setting])).values()];
const routersOffloads = [
	"TSO4",
	"TSO6",
	"LRO",
	"VLAN_HWTSO"
];
const noOffloads = ({ interface: name }) => ({
	name: `${name}'s LRO and TSO`,
	why: "a router must neither join packets nor split them",
	reads: [shell`ifconfig ${name}`],
	check: onInterface((port) => {
		const on = port.options.filter((option) => routersOffloads.includes(option));
		return unless(on.length === 0, {
			is: `are on (${on.join(", ")})`,
			fix: {
				kind: "command",
				command: shell`ifconfig ${name} -tso4 -tso6 -lro -vlanhwtso`
			}
		});
	})
});
const link = ({ interface: name, gigabits }) => ({
	name: `${name}'s link`,
	why: "the trial needs all of it",
	reads: [shell`ifconfig ${name}`],
	check: onInterface((port) => {
		const inspect = {
			kind: "person",
			what: `check its cable, its module and "ifconfig ${name}"`
		};
		if (!port.flags.includes("UP")) return {
			is: "is down",
			fix: {
				kind: "command",
				command: shell`ifconfig ${name} up`
			}
		};
		if (!port.isActive) return {
			is: "is not active",
			fix: inspect
		};
		const isFast = gigabits === void 0 || port.gigabits === gigabits;
		return unless(isFast, {
			is: `is "${port.media}" instead of ${gigabits} Gbit/s`,
			fix: inspect
		});
	})
});
function onInterface(check) {
	return (output) => {
		const port = parseIfconfig(output);
		if (port !== void 0) return check(port);
		return {
			is: "cannot be read",
			fix: {
				kind: "person",
				what: "see what ifconfig says of it"
			}
		};
	};
}
/** Covers both directions: a DUT without a route back to a sender may drop its packets. */
function pathSettings(family, ports) {
	const { ingress, egress } = ports;
	const { sources, destinations } = benchmarkingNetworks[family];
	return [
		blackhole(family, ports),
		route(family, sources, ingress),
		staticNeighbour(family, ingress),
		route(family, destinations, egress),
		staticNeighbour(family, egress)
	].map((setting) => ({
		...setting,
		isVital: true
	}));
}
/** Networks of RFC 2544 and RFC 5180, and their halves for the senders and the receivers. */
const benchmarkingNetworks = {
	inet4: {
		whole: "198.18.0.0/15",
		sources: "198.18.0.0/16",
		destinations: "198.19.0.0/16"
	},
	inet6: {
		whole: "2001:2::/48",
		sources: "2001:2::/49",
		destinations: "2001:2:0:8000::/49"
	}
};
const tools = {
	inet4: {
		netstat: shell`netstat -rn -f inet`,
		flag: shell`-inet`,
		loopback: "127.0.0.1",
		neighbours: shell`arp -an`
	},
	inet6: {
		netstat: shell`netstat -rn -f inet6`,
		flag: shell`-inet6`,
		loopback: "::1",
		neighbours: shell`ndp -an`
	}
};
/** Without a blackhole, a boot that loses a route would send the trial to the site's router at line rate. */
function blackhole(family, { ingress, egress }) {
	const { netstat, flag, loopback } = tools[family];
	const { whole, sources, destinations } = benchmarkingNetworks[family];
	const leadsPast = (route) => ![ingress.interface, egress.interface].includes(route.interface) && ![sources, destinations].includes(route.destination) && !isLoopback(route) && !discards(route);
	return {
		name: `The blackhole route for ${whole}`,
		why: "what no other route takes of the trial would leave by the admin network",
		reads: [netstat],
		check: (output) => {
			const routes = parseRoutes(output);
			const past = routes.filter(leadsPast);
			const inside = past.find(({ destination }) => isWithin(destination, whole, family));
			if (inside !== void 0) {
				const { destination, interface: name } = inside;
				const what = `remove that route with \`${commandText(shell`route delete ${flag} ${destination}`)}\` on the DUT`;
				return {
					is: `does not hold what goes to ${destination} by ${name}`,
					fix: {
						kind: "person",
						what
					}
				};
			}
			const around = past.find(({ destination }) => isWithin(whole, destination, family));
			const wider = around?.destination === "default" ? "the default route" : `the route to ${around?.destination}`;
			const isHeld = routes.some((route) => route.destination === whole && discards(route));
			return unless(around === void 0 || isHeld, {
				is: `is missing beside ${wider} by ${around?.interface}`,
				fix: {
					kind: "command",
					command: shell`route add ${flag} ${whole} ${loopback} -blackhole`
				}
			});
		}
	};
}
const isLoopback = ({ interface: name }) => /^lo\d/.test(name);
/** True for routes made with -reject or -blackhole. */
const discards = ({ flags }) => /[RB]/.test(flags);
/** Compares destinations as netstat(1) prints them. */
function isWithin(inner, outer, family) {
	const [one, other] = [prefixOf(inner, family), prefixOf(outer, family)];
	if (one === void 0 || other === void 0 || one.bits < other.bits) return false;
	const list = new BlockList();
	const version = family === "inet4" ? "ipv4" : "ipv6";
	list.addSubnet(other.address, other.bits, version);
	return list.check(one.address, version);
}
/** A destination without a length is one host; undefined for no address. */
function prefixOf(destination, family) {
	const [any, isAddress, longest] = family === "inet4" ? [
		"0.0.0.0",
		isIPv4,
		32
	] : [
		"::",
		isIPv6,
		128
	];
	if (destination === "default") return {
		address: any,
		bits: 0
	};
	const [written = "", length = String(longest)] = destination.split("/");
	const address = written.replace(/%.*$/, "");
	const bits = /^\d{1,3}$/.test(length) ? Number(length) : NaN;
	return isAddress(address) && bits <= longest ? {
		address,
		bits
	} : void 0;
}
function route(family, network, port) {
	const { netstat, flag } = tools[family];
	const gateway = port.neighbour.addresses[family];
	return {
		name: `The route to ${network}`,
		why: "the trial follows it",
		reads: [netstat],
		check: (output) => {
			const found = parseRoutes(output).find(({ destination }) => destination === network);
			const isRight = found?.gateway === gateway && found.interface === port.interface && !discards(found);
			const change = found === void 0 ? shell`add` : shell`change`;
			return unless(isRight, {
				is: found === void 0 ? "is missing" : `goes to ${found.gateway} by ${found.interface}`,
				fix: {
					kind: "command",
					command: shell`route ${change} ${flag} ${network} ${gateway}`
				}
			});
		}
	};
}
/** A saturated DUT resolves no addresses. */
function staticNeighbour(family, port) {
	const { mac, addresses } = port.neighbour;
	const address = addresses[family];
	const parse = family === "inet4" ? parseArp : parseNdp;
	const set = family === "inet4" ? shell`arp -S ${address} ${mac}` : shell`ndp -s ${address} ${mac}`;
	return {
		name: `The MAC address of ${address}`,
		why: "one that is asked for during a trial is not found",
		reads: [tools[family].neighbours],
		check: (output) => {
			const isRight = parse(output).filter((entry) => entry.address === address).some((entry) => isStatic(entry, port));
			return unless(isRight, {
				is: `is not set permanently to ${mac} on ${port.interface}`,
				fix: {
					kind: "command",
					command: set
				}
			});
		}
	};
}
const isStatic = (entry, { interface: name, neighbour }) => entry.isPermanent && entry.interface === name && entry.mac === neighbour.mac.toLowerCase();

// src/lab/freebsd/dut/panic.ts
/** Otherwise a kernel with the debugger stops at its prompt, and the cause of the panic is lost. */
const resetsAtPanic = {
	name: "debug.debugger_on_panic",
	value: 0,
	/** The same setting as a line for the loader, or for nextboot(8). */
	line: "debug.debugger_on_panic=0"
};
async function tracesOf(host) {
	const [messages, dump] = await Promise.all([host.output(shell`dmesg -a`), host.run(shell`cat ${"/var/crash/info.last"}`)]);
	return {
		dump: dump.kind === "exited" && dump.code === 0 ? dump.stdout.trim() : void 0,
		messages: messages.trimEnd().split("\n")
	};
}
/** Time limit, for sites without savecore(8) at boot. */
const mostSaveSeconds = 300;
const pollSeconds$1 = 5;
/** The first login may come before savecore(8) has saved a dump. `-C` succeeds while a dump is unsaved. */
async function waitForDump(host, sleep) {
	for (let seconds = 0; seconds < mostSaveSeconds; seconds += pollSeconds$1) {
		const unsaved = await host.run(shell`savecore -C`);
		if (unsaved.kind !== "exited" || unsaved.code !== 0) return;
		await sleep(pollSeconds$1);
	}
}
/** The first panic is the cause of all that follow. */
function panicSince(before, now) {
	const dumped = /^[ \t]*Panic String: (.+)$/m.exec(now.dump ?? "")?.[1];
	if (now.dump !== before.dump && dumped !== void 0) return dumped;
	for (const line of newLines(before.messages, now.messages)) {
		const panic = /^(?:\[\d+(?:\.\d+)?\] )?panic: (.+)$/.exec(line)?.[1];
		if (panic !== void 0) return panic;
	}
}
/** Old lines that remain are at the beginning; without any, all lines are new. */
function newLines(before, now) {
	const isLeft = (first) => before.slice(first).every((line, index) => line === now[index]);
	const first = before.findIndex((_, index) => isLeft(index));
	return first === -1 ? now : now.slice(before.length - first);
}

// src/lab/freebsd/dut/settings.ts
function settingsCommands(context) {
	return readsOf(settingsOf(context));
}
/** Returns the settings that do not hold, in the best order to fix them. */
function checkSettings(outputs, context) {
	return settingsOf(context).flatMap((setting) => problemOf(setting, outputs));
}
function settingsOf(context) {
	const { families, unread } = context;
	return [
		debuggerOnPanic,
		dumpDevice,
		harvestMask,
		hyperthreading,
		...netisr,
		...families.flatMap((family) => kernelForwards[family]),
		...portSettings(context),
		...families.flatMap((family) => pathSettings(family, context)),
		idleness,
		timeSinceBoot
	].filter(({ name }) => unread?.has(name) !== true);
}
/** Missing in kernels without `options KDB`. */
const debuggerOnPanic = {
	...sysctl(resetsAtPanic.name, resetsAtPanic.value, "a kernel with the debugger in it then stops at its prompt where it panics"),
	isOptional: true
};
const dumpDevice = {
	name: "kern.shutdown.dumpdevname",
	why: "the cause of a panic is then lost",
	reads: [readSysctl("kern.shutdown.dumpdevname")],
	check: (device) => unless(device !== "" && device !== "/dev/null", {
		is: "names no dump device",
		fix: {
			kind: "person",
			what: "put `dumpdev=\"AUTO\"` into the /etc/rc.conf of the DUT, which needs swap for it, and run `service dumpon start`"
		}
	}),
	isOptional: true
};
/** Bits of sys/random.h's sources. Others are the machine's choice: those of hardware cannot even be cleared. */
const perPacketSources = 160;
const harvestMask = {
	name: "kern.random.harvest.mask",
	why: "entropy is then gathered from each frame or interrupt",
	reads: [readSysctl("kern.random.harvest.mask")],
	check: (value) => unless(isWhole(value) && (Number(value) & perPacketSources) === 0, {
		is: `is ${value}`,
		fix: {
			kind: "command",
			command: shell`sysctl kern.random.harvest.mask=351`
		}
	})
};
const hyperthreading = {
	...tunable("machdep.hyperthreading_allowed", 0, "queues that land on two threads of one core share it"),
	isOptional: true
};
/** `options RSS` uses all of netisr's threads. A kernel without its configuration may have that option. */
const netisr = [{
	name: "net.isr.maxthreads",
	why: "with options RSS that many threads carry all traffic",
	reads: [
		"kern.conftxt",
		"net.isr.maxthreads",
		"hw.ncpu"
	].map(readSysctl),
	check: (configuration, threads, cpus) => unless(!mayHaveRss(configuration) || threads === "-1" || threads === cpus, {
		is: `is ${threads} on ${cpus} CPUs`,
		fix: {
			kind: "loader",
			line: "net.isr.maxthreads=\"-1\""
		}
	})
}, {
	name: "net.isr.bindthreads",
	why: "with options RSS a thread must stay on the CPU of its queue",
	reads: ["kern.conftxt", "net.isr.bindthreads"].map(readSysctl),
	check: (configuration, bound) => unless(!mayHaveRss(configuration) || bound === "1", {
		is: `is ${bound} instead of 1`,
		fix: {
			kind: "loader",
			line: "net.isr.bindthreads=\"1\""
		}
	})
}];
const mayHaveRss = (configuration) => configuration === "" || /^options\s+RSS\s*$/m.test(configuration);
const kernelForwards = {
	inet4: [sysctl("net.inet.ip.forwarding", 1, "the DUT then forwards nothing"), sysctl("net.inet.ip.redirect", 0, "packets are then looked at for redirects")],
	inet6: [sysctl("net.inet6.ip6.forwarding", 1, "the DUT then forwards nothing"), sysctl("net.inet6.ip6.redirect", 0, "packets are then looked at for redirects")]
};
/** A process that never sleeps counts 1. */
const mostBusyCpus = .5;
/** A load average below 0.5 suffices. It falls for minutes after a boot: until then, 5 s are measured. */
const idleScript = "case $(sysctl -n vm.loadavg) in \"{ 0\"[.,][0-4]*) ;; *) sysctl -n kern.cp_time && sleep 5 && sysctl -n kern.cp_time;; esac";
const idleness = {
	name: "kern.cp_time",
	why: "other programs take time from forwarding",
	reads: [shell`sh -c ${idleScript}`, readSysctl("hw.ncpu")],
	check: (samples, cpus) => {
		if (samples === "") return void 0;
		const busy = busyCpus(samples, Number(cpus));
		return unless(busy <= mostBusyCpus, {
			is: Number.isNaN(busy) ? "cannot be made out" : `shows ${busy.toFixed(1)} busy CPUs, more than ${mostBusyCpus}`,
			fix: {
				kind: "wait",
				seconds: 60
			}
		});
	}
};
/** Reads two lines of ticks of all CPUs: user, nice, system, interrupt and idle; NaN for any other text. */
function busyCpus(samples, cpus) {
	const [before, after] = samples.split("\n").map((line) => line.trim().split(/\s+/).map(Number));
	if (before?.length !== 5 || after?.length !== 5) return NaN;
	const ticks = after.map((tick, state) => tick - (before[state] ?? NaN));
	const all = ticks.reduce((sum, some) => sum + some, 0);
	return (1 - (ticks[4] ?? NaN) / all) * cpus;
}
/** Daemons start, and entropy and crash dumps are saved, for a while after the first possible login. */
const leastSecondsUp = 60;
/** Reads the DUT's clock alone: it need not agree with any other, and both values move when it is set. */
const timeSinceBoot = {
	name: "kern.boottime",
	why: "what starts at boot still runs",
	reads: [readSysctl("kern.boottime"), shell`date +%s`],
	check: (boot, now) => {
		const bootSeconds = Number(/^\{ sec = (\d+),/.exec(boot)?.[1] ?? NaN);
		const up = Number(now) - bootSeconds;
		if (up < 0) return {
			is: "is yet to come",
			fix: {
				kind: "wait",
				seconds: leastSecondsUp
			}
		};
		const seconds = Math.ceil(leastSecondsUp - up);
		return unless(seconds <= 0, {
			is: Number.isNaN(up) ? `is ${boot}` : `is ${up} s ago`,
			fix: Number.isNaN(up) ? unreadable : {
				kind: "wait",
				seconds
			}
		});
	}
};
const unreadable = {
	kind: "person",
	what: "see what `sysctl -n kern.boottime` and `date +%s` say on the DUT"
};
const isWhole = (value) => /^\d+$/.test(value);

// src/lab/freebsd/preflight.ts
var PreflightError = class extends Error {
	name = "PreflightError";
	constructor(testbed, problems) {
		const otherwise = problems.some((problem) => problem.isVital) ? "at any `preflight`" : "or set `preflight` to fix or warn";
		super([`${testbed} is not fit to measure on; fix this, ${otherwise}:`, ...problems.map(({ message }) => `- ${message}`)].join("\n"));
	}
};
/** With several senders, the DUT's route back leads to the first. */
function settingsContext({ dut, senders, receiver }, families) {
	const port = (own, far = receiver) => ({
		...own,
		neighbour: {
			addresses: {
				inet4: far.addresses.inet4 ?? "",
				inet6: far.addresses.inet6 ?? ""
			},
			mac: far.mac
		}
	});
	return {
		ingress: port(dut.ingress, senders[0]),
		egress: port(dut.egress),
		families
	};
}
/** Returns the remaining problems: waits for those that need only time, and runs commands in the mode `fix`. */
async function preflight(host, { mode, waive, context, sleep }) {
	const read = async () => waived(checkSettings(await readAll(host, settingsCommands(context)), context), waive);
	const problems = await onceSettled(read, sleep);
	if (mode !== "fix") return problems;
	const commands = problems.flatMap(({ fix, isWaived }) => fix.kind === "command" && !isWaived ? fix.command : []);
	for (const command of commands) await host.run(command);
	return commands.length > 0 ? await read() : problems;
}
/** Waits for what needs only time: a machine that is busy while it comes up is mostly idle once it is up. */
async function onceSettled(read, sleep) {
	let problems = await read();
	for (const name of ["kern.boottime", "kern.cp_time"]) {
		const fix = problems.find(({ setting, isWaived }) => setting === name && !isWaived)?.fix;
		if (fix?.kind !== "wait") continue;
		await sleep(fix.seconds);
		problems = await read();
	}
	return problems;
}
/** Problems by which packets would not reach the receiver, or others would; checked right before a trial. */
async function pathProblems(host, { context, families }) {
	const settings = families.flatMap((family) => pathSettings(family, context));
	const outputs = await readAll(host, readsOf(settings));
	return settings.flatMap((setting) => problemOf(setting, outputs));
}
async function fingerprint(host, interfaces) {
	const request = {
		interfaces,
		bootFile: (await host.output(shell`sysctl -n kern.bootfile`)).trim()
	};
	return fingerprintOf(await readAll(host, fingerprintCommands(request)), request);
}
async function readAll(host, commands) {
	const outputs = await Promise.all(commands.map(async (command) => {
		const outcome = await host.run(command);
		return outcome.kind === "exited" && outcome.code === 0 ? [[commandText(command), outcome.stdout]] : [];
	}));
	return new Map(outputs.flat());
}

// src/lab/freebsd/boots.ts
const bootsOf = (config, dut, deps, { tallies = /* @__PURE__ */ new Map(), unread = /* @__PURE__ */ new Set() } = {}) => ({
	config,
	dut,
	deps,
	tallies,
	unread,
	families: ["inet4"],
	listed: /* @__PURE__ */ new Set(),
	booted: void 0,
	unfit: void 0,
	knownProblems: /* @__PURE__ */ new Set(),
	original: void 0,
	reference: void 0,
	mayDiffer: false,
	differences: /* @__PURE__ */ new Set(),
	warnings: []
});
function setListed(boots, variants) {
	boots.listed = new Set(variants);
}
/** Returns the settings that fail on the DUT's own kernel; later boots are not rejected for them. */
async function inspectDut(boots, families) {
	boots.families = families;
	const problems = await settingsThatFail(boots);
	boots.knownProblems = new Set(problems.map(({ setting }) => setting));
	return problems;
}
/** Called before the first boot: the DUT's own kernel is not measured, and left out. */
async function fingerprintOfDut(boots) {
	boots.original = await fingerprint(boots.dut.host(), portsOf(boots));
	return withoutKernelFacts(boots.original);
}
const portsOf = ({ config: { dut } }) => [dut.ingress.interface, dut.egress.interface];
/** Fixes what the configuration allows to fix, and returns the rest. */
const settingsThatFail = ({ config, deps, dut, unread, ...boots }, families = boots.families) => preflight(dut.host(), {
	mode: config.preflight,
	waive: config.waive,
	context: {
		...settingsContext(config, families),
		unread
	},
	sleep: deps.sleep
});
/** The current boot, if it can carry such a run; undefined if the DUT must boot for it. */
const bootOf = ({ booted }, { variant, pair }) => booted?.variant === variant && booted.pair === pair && !booted.isSampled ? booted : void 0;
/** Boots for a run unless the current boot serves: one boot carries all cells of a pair's variant. */
async function bootFor(boots, planned, { variant, pair }, kernel) {
	const { dut, config } = boots;
	const booted = bootOf(boots, {
		variant,
		pair
	});
	if (booted !== void 0) return {
		kind: "ready",
		boot: booted
	};
	const unfitBoot = boots.unfit;
	if (unfitBoot?.variant === variant && unfitBoot.pair === pair && !unfitBoot.trials.has(planned.number)) {
		unfitBoot.trials.add(planned.number);
		return failed(unfitBoot.reason);
	}
	boots.booted = void 0;
	if (kernel.kind === "archive") {
		const isOtherLayout = kernel.archive.variant !== variant;
		const installed = await dut.install(kernel.archive, isOtherLayout ? /* @__PURE__ */ new Set() : boots.listed);
		if (installed.kind === "no-space") return rejected(variant, {
			kind: "out-of-disk",
			message: `DUT: ${installed.reason}.`
		});
		if (installed.kind === "lacks-module") return afterBootFailure(boots, variant, { reason: `it was not booted, as ${installed.reason}` });
	}
	const outcome = await dut.boot(kernel.kind === "own" ? void 0 : kernel.archive.variant);
	if (outcome.kind === "boot-failed") return afterBootFailure(boots, variant, outcome);
	const tally = tallyOf(boots.tallies, variant);
	tally.hasBooted = true;
	tally.bootFailures = 0;
	const problems = await settingsThatFail(boots);
	const isStrict = config.preflight === "fail";
	const problem = problems.filter(({ isWaived }) => !isWaived).find(({ setting, isVital }) => isVital || isStrict || !boots.knownProblems.has(setting));
	if (problem !== void 0) return unfit(boots, planned, problem.message);
	const boot = {
		variant,
		pair,
		kernel: outcome.version,
		fingerprint: await fingerprint(dut.host(), portsOf(boots))
	};
	const [flash] = flashed(boots.original ?? {}, boot.fingerprint);
	if (flash !== void 0) return unfit(boots, planned, `the DUT's card has another firmware than before this gate (${flash}): a kernel has flashed it permanently, so numbers of before and after cannot be compared, of later gates neither; put \`hw.cxgbe.fw_install="0"\` into its /boot/loader.conf, and flash the card as you want it`);
	const reference = boots.reference ?? boot;
	const found = differencesBetween(reference, boot);
	const [difference] = found;
	if (boots.mayDiffer && reference.variant !== variant) warnOfDifferences(boots, variant, found);
	else if (difference !== void 0) return unfit(boots, planned, `the DUT is not the same in more than its kernel: ${difference}`);
	boots.booted = boot;
	return {
		kind: "ready",
		boot
	};
}
/** Warns of each difference once, whichever variants show it. */
function warnOfDifferences(boots, variant, found) {
	for (const difference of found) {
		const key = difference.replace(` on ${variant}`, "");
		if (boots.differences.has(key)) continue;
		boots.differences.add(key);
		boots.warnings.push(`the DUT is not the same in more than its kernel: ${difference}`);
	}
}
const takeWarnings = (boots) => boots.warnings.splice(0);
/** Checked right before every trial: a kernel may lose routes after its boot. */
async function pathProblem({ config, dut }, family) {
	const families = [family];
	const context = settingsContext(config, families);
	const [problem] = await pathProblems(dut.host(), {
		context,
		families
	});
	return problem?.message;
}
/** Called after a trial that was measured without a fault. */
function setReference(boots, boot) {
	if (isJudged(boot.variant)) boots.reference ??= boot;
}
/** Fails every trial of that boot once; a repeated trial gets another boot. */
function unfit(boots, { number, runs }, reason) {
	const [run] = runs;
	if (run !== void 0) boots.unfit = {
		variant: run.variant,
		pair: run.pair,
		reason,
		trials: /* @__PURE__ */ new Set([number])
	};
	return failed(reason);
}
const differencesBetween = (reference, boot) => boot.variant === "base" ? differences(boot.fingerprint, reference.fingerprint) : differences(reference.fingerprint, boot.fingerprint, boot.variant);
/** Rejects the variant for a second failure, where base has booted. */
function afterBootFailure(boots, variant, { reason, panic, console }) {
	const { tallies } = boots;
	tallyOf(tallies, variant).bootFailures += 1;
	return isToBlame(tallies, variant, "bootFailures", "hasBooted") ? rejected(variant, {
		kind: "boot-failed",
		message: `Twice in a row: ${reason}.`,
		...panic !== void 0 && { panic },
		...console !== void 0 && { console }
	}) : suspected({
		boots,
		variant,
		proof: "hasBooted"
	}, `${variant} did not boot: ${reason}${inBrackets({
		panic,
		console
	})}`);
}
function inBrackets({ panic, console }) {
	if (panic !== void 0) return ` (panic: ${panic})`;
	return console === void 0 ? "" : ` (${consoleClause(console)})`;
}
const consoleClause = (console) => `its console ${describeScreen(console)}`;
const failed = (reason) => ({
	kind: "failed",
	reason
});
const suspected = ({ boots, variant, proof }, reason) => ({
	kind: "failed",
	reason,
	...lacksControl(boots.tallies, variant, proof) && { lacksControl: true }
});
const rejected = (variant, rejection) => ({
	kind: "rejected",
	variant,
	rejection
});

// src/lab/freebsd/boot/boot-archive.ts
/** Keeps a partial archive when the machine is lost: the next upload of the same archive resumes it. */
const archiveFolder = "/var/tmp/ppsgate";
async function withArchive(machine, kernel, use) {
	const reason = await tooLittleSpace(machine.host(), kernel);
	if (reason !== void 0) return {
		kind: "no-space",
		reason
	};
	const archive = `${archiveFolder}/${kernel.sha256}.tar`;
	await machine.host().output(ownFolder(archiveFolder));
	await uploadOverBreaks(machine.host(), {
		path: kernel.path,
		remotePath: archive,
		mode: 384,
		sha256: kernel.sha256,
		sumOf: sha256Of,
		reconnect: machine.reconnect
	});
	const outcome = await use(archive);
	await machine.host().output(shell`rm -rf ${archive}`);
	return outcome;
}
/** Unpacks into an existing folder; throws a HostError for an archive that tar(1) cannot read. */
async function unpack(host, archive, folder) {
	const unpacked = await host.run(shell`tar -x -p -f ${archive} -C ${folder}`);
	if (unpacked.kind === "exited" && unpacked.code === 0) return { kind: "installed" };
	const noSpace = /^.*No space left on device.*$/m.exec(unpacked.stderr)?.[0];
	if (noSpace !== void 0) return {
		kind: "no-space",
		reason: noSpace
	};
	throw new HostError("command-failed", `tar cannot unpack ${archive} on ${host.name}: ${lastLine(unpacked.stderr) ?? "it said nothing"}`);
}
async function tooLittleSpace(host, kernel) {
	const [boot, temporary] = await fileSystemsOf(host, ["/boot", "/var/tmp"]);
	if (boot === void 0 || temporary === void 0) return void 0;
	const archiveBytes = (await stat(kernel.path)).size;
	const isShared = diskOf(boot.device) === diskOf(temporary.device);
	const bootBytes = kernel.unpackedBytes + (isShared ? archiveBytes : 0);
	return lackOf("/boot", boot.availableBytes, bootBytes) ?? lackOf("/var/tmp", temporary.availableBytes, archiveBytes);
}
/** The datasets of a pool share its space. */
const diskOf = (device) => device.startsWith("/") ? device : device.split("/")[0];
function lackOf(folder, availableBytes, neededBytes) {
	if (availableBytes >= neededBytes) return void 0;
	const mebibytes = (bytes) => `${Math.ceil(bytes / 2 ** 20)} MiB`;
	return `${folder} has ${mebibytes(availableBytes)} left and a kernel needs ${mebibytes(neededBytes)}`;
}

// src/lab/freebsd/boot/boot-environment.ts
function bootEnvironment(machine) {
	const { own, host } = machine;
	/** By variant; `archive` is the SHA-256 of the archive. */
	const installed = /* @__PURE__ */ new Map();
	return {
		async install({ variant, ...kernel }, kept) {
			if (installed.get(variant)?.archive === kernel.sha256) return { kind: "installed" };
			if (kept !== void 0) await destroyOthers([variant, ...kept]);
			const name = environmentOf(variant);
			return withArchive(machine, {
				variant,
				...kernel
			}, async (archive) => {
				installed.delete(variant);
				if ((await ourEnvironments(host())).includes(name)) await destroy(host(), name);
				await host().output(shell`bectl create -e ${basename$1(own.root)} ${name}`);
				const filled = await fill(machine, name, archive);
				if (filled.kind !== "filled") {
					await destroy(host(), name);
					return filled;
				}
				const system = {
					...own,
					root: `${dirname$1(own.root)}/${name}`,
					sha256: filled.sha256
				};
				installed.set(variant, {
					archive: kernel.sha256,
					system
				});
				return { kind: "installed" };
			});
		},
		async arm(variant) {
			if (variant === void 0) {
				await host().output(shell`bectl activate -T`);
				return own;
			}
			const system = installed.get(variant)?.system;
			if (system === void 0) throw new TypeError(`The variant ${variant} was never installed.`);
			await host().output(shell`bectl activate -t ${basename$1(system.root)}`);
			return system;
		},
		async clear() {
			for (const name of await ourEnvironments(host())) await destroy(host(), name);
			await host().output(shell`rm -rf ${archiveFolder}`);
			installed.clear();
		}
	};
	async function destroyOthers(variants) {
		const kept = new Set(variants.map(environmentOf));
		const others = (await ourEnvironments(host())).filter((name) => !kept.has(name));
		if (others.length === 0) return;
		const [root] = await fileSystemsOf(host(), ["/"]);
		const gone = others.filter((name) => name !== basename$1(root?.device ?? ""));
		for (const name of gone) await destroy(host(), name);
		for (const variant of installed.keys()) if (gone.includes(environmentOf(variant))) installed.delete(variant);
	}
}
const prefix$1 = "ppsgate.";
const environmentOf = (variant) => `${prefix$1}${pathName(variant)}`;
async function ourEnvironments(host) {
	return (await host.output(shell`bectl list -H`)).split("\n").map((row) => row.split("	")[0] ?? "").filter((name) => name.startsWith(prefix$1));
}
async function destroy(host, name) {
	await host.output(shell`bectl destroy -F -o ${name}`);
}
/** Replaces the machine's own kernel in the clone, as both have the same loader.conf. */
async function fill(machine, name, archive) {
	const { own, modules } = machine;
	const host = machine.host();
	const mounted = await mount(host, own, name);
	const target = `${mounted}${dirname$1(own.kernel)}`;
	try {
		await host.output(shell`rm -rf ${target}`);
		await host.output(shell`mkdir -p ${target}`);
		const outcome = await unpack(host, archive, target);
		if (outcome.kind !== "installed") return outcome;
		const reason = await lackingModule(host, target, {
			loaded: modules,
			rootType: "zfs"
		});
		if (reason !== void 0) return {
			kind: "lacks-module",
			reason: reason.replace(target, dirname$1(own.kernel))
		};
		await addLoaderLine(host, `${mounted}/boot/loader.conf.local`);
		return {
			kind: "filled",
			sha256: await sha256Of(host, `${target}/kernel`)
		};
	} finally {
		await host.output(shell`bectl unmount ${name}`);
		await host.output(shell`rmdir ${mounted}`);
	}
}
/** Proves the mount point with df(1): `fill` removes a folder there, which elsewhere could be the running kernel. */
async function mount(host, own, name) {
	const path = (await host.output(shell`bectl mount ${name}`)).trim();
	const dataset = `${dirname$1(own.root)}/${name}`;
	const [fileSystem] = /^\/[\w./-]+$/.test(path) ? await fileSystemsOf(host, [path]) : [];
	if (fileSystem?.device === dataset && fileSystem.mountedOn === path) return path;
	throw new HostError("command-failed", `"bectl mount ${name}" on ${host.name} says ${JSON.stringify(shortened(path))}, where ${dataset} is not mounted, so nothing was installed: see what \`mount\` lists there.`);
}
async function addLoaderLine(host, file) {
	const there = await host.run(shell`cat ${file}`);
	const text = [
		there.kind === "exited" && there.code === 0 ? there.stdout.trimEnd() : "",
		resetsAtPanic.line,
		""
	].filter((line, at) => at > 0 || line !== "");
	await host.upload(Buffer.from(text.join("\n")), file, 420);
}

// src/lab/freebsd/dut/slices.ts
const attributes = {
	MBR: "active",
	GPT: "bootme"
};
/** Throws unless fstab and the table agree. */
async function nextRoot(host) {
	const slices = await slicesOf(host);
	const expected = slices.providers.get(slices.root);
	const [active, ...more] = slices.active;
	if (active === expected && more.length === 0) return slices.root;
	const marked = slices.active.join(" and ") || "none";
	throw refusal(host, `/etc/fstab has its root on ${slices.root} (${expected}), and ${attributes[slices.scheme]} on ${slices.disk} is ${marked}`, "see `gpart show -p` there, and make one slice the active one by hand");
}
/** Throws for any disk but an appliance's, as BSDRP installs it. */
async function slicesOf(host) {
	const fstab = await host.output(shell`cat /etc/fstab`);
	const root = fstab.split("\n").map(fieldsOf).find(([, path]) => path === "/")?.[0];
	if (root === void 0) throw noAppliance(host, "/etc/fstab names no root");
	const providers = providersOf(await host.output(shell`glabel status -s`));
	const [, disk] = /^([a-z]+\d+)[ps]\d+$/.exec(providers.get(root) ?? "") ?? [];
	if (disk === void 0) throw noAppliance(host, `glabel(8) has no slice with the name of its root, ${root}`);
	const table = readTable(await host.output(shell`gpart show -p ${disk}`));
	if (table === void 0) throw noAppliance(host, `${disk} has neither an MBR nor a GPT whose attributes are known`);
	return {
		disk,
		root,
		fstab,
		providers,
		...table
	};
}
const fieldsOf = (line) => line.trim().split(/\s+/);
/** Reads `gpt/BSDRP1  N/A  ada0p3`; of a slice with partitions the first is the root. */
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
const noAppliance = (host, why) => refusal(host, why, "it is no appliance that nanobsd(8) or poudriere-image(8) made, so choose another boot method");
const refusal = (host, why, fix) => new HostError("command-failed", `${host.name} would boot an unknown system: ${why}; ${fix}.`);

// src/lab/freebsd/boot/boot-fit.ts
/** Before 13, nextboot(8) leaves an order on ZFS that the loader cannot cancel. */
const oldestOnZfs = 13;
/** Undefined if it can; throws a HostError if the machine is no appliance. Changes nothing. */
async function whyUnfit(host, method) {
	if (method === "nanobsd") {
		await slicesOf(host);
		return;
	}
	const other = "choose another `boot.method` in ppsgate.yml";
	const [root, boot] = await fileSystemsOf(host, ["/", "/boot"]);
	if (method === "boot-environment" && root?.type !== "zfs") return {
		why: `its root is on ${root?.device}, not on ZFS`,
		fix: other
	};
	if (boot?.type !== "ufs" && boot?.type !== "zfs") return {
		why: `/boot is on ${boot?.type} (${boot?.device}), where no loader can cancel an order: a kernel that panics would be booted again and again`,
		fix: `boot it from UFS or ZFS, as nextboot(8) requires`
	};
	const major = Number.parseInt(await host.output(shell`uname -r`), 10);
	if (boot.type === "zfs" && major < oldestOnZfs) return {
		why: `on ZFS it needs FreeBSD ${oldestOnZfs} or later, and the DUT runs ${major}`,
		fix: `install FreeBSD ${oldestOnZfs} or later on the DUT`
	};
}

// src/lab/freebsd/boot/boot-nanobsd.ts
/**
* The other slice holds the image booted last, and boots until the machine's own is active again: nothing falls back
* automatically, and a kernel without ssh needs a person at the boot menu. The configuration is never saved.
*/
function nanobsd({ own, host }) {
	const images = /* @__PURE__ */ new Map();
	let other;
	return {
		needsOwn: (variant, running) => other?.sha256 !== images.get(variant)?.sha256 || other?.system.root !== running.root,
		async install(image) {
			await refuseTorn(image);
			images.set(image.variant, image);
			return { kind: "installed" };
		},
		async arm(variant) {
			if (variant === void 0) {
				await goBack(host(), own.root);
				return own;
			}
			const image = images.get(variant);
			if (image === void 0) throw new TypeError(`The variant ${variant} was never installed.`);
			const [running] = await fileSystemsOf(host(), ["/"]);
			if (running?.device !== own.root) {
				if (other?.sha256 === image.sha256 && await nextRoot(host()) === running?.device) return other.system;
				throw new TypeError("An upgrade from there would write over its own slice.");
			}
			other = void 0;
			await nextRoot(host());
			await upgrade(host(), image.path);
			const root = await nextRoot(host());
			const sha256 = await sumOn(host(), root, own.kernel);
			other = {
				sha256: image.sha256,
				system: {
					root,
					kernel: own.kernel,
					sha256
				}
			};
			return other.system;
		},
		async clear() {
			images.clear();
			other = void 0;
		}
	};
}
async function refuseTorn({ path, sha256 }) {
	const hash = createHash("sha256");
	await pipeline(createReadStream(path), hash);
	const actual = hash.digest("hex");
	if (actual === sha256) return;
	throw new Error(`The image ${path} has the SHA-256 ${actual} and not ${sha256}; build it again.`);
}
async function upgrade(host, path) {
	const image = Readable.from(decompressed(path), { objectMode: false });
	try {
		await host.output(shell`upgrade`, { stdin: image });
	} finally {
		image.destroy();
	}
}
/** Runs xz(1), which Node lacks. Throws before the end of the stream where xz fails, so that no partial image counts. */
async function* decompressed(path) {
	const xz = spawn("xz", [
		"-d",
		"-c",
		"--",
		path
	], { stdio: [
		"ignore",
		"pipe",
		"ignore"
	] });
	const ended = once(xz, "close").then(([code]) => code === 0 ? void 0 : `it exited with ${code}`, reasonOf);
	try {
		for await (const chunk of xz.stdout) yield chunk;
		const failure = await ended;
		if (failure === void 0) return;
		throw new Error(`xz cannot decompress ${path}: ${failure}; install xz here or build the image again.`);
	} finally {
		xz.kill();
	}
}
/** On an MBR only the appliance's own command changes all that belongs to a slice. */
async function goBack(host, ownRoot) {
	const slices = await slicesOf(host);
	const [root] = await fileSystemsOf(host, ["/"]);
	if (slices.scheme === "GPT") await makeActive(host, slices, ownRoot);
	else if (root?.device !== ownRoot && slices.root !== ownRoot) await host.output(shell`system rollback`, { stdin: "y\n" });
	const next = await nextRoot(host);
	if (next === ownRoot) return;
	throw new HostError("command-failed", `${host.name} would boot from ${next} and not from its own ${ownRoot}: make that slice active by hand.`);
}
/** Replaces `system rollback` on a GPT, which dies with both slices active. Each step may be repeated. */
async function makeActive(host, slices, ownRoot) {
	const { providers, active, disk } = slices;
	const own = providers.get(ownRoot) ?? "";
	if (slices.root === ownRoot && active.length === 1 && active[0] === own) return;
	const pair = [...providers].filter(([device]) => stemOf(device) === stemOf(ownRoot));
	const [ownIndex, otherIndex] = [pair.find(([device]) => device === ownRoot), pair.find(([device]) => device !== ownRoot)].map((slice) => /p(\d+)$/.exec(slice?.[1] ?? "")?.[1]);
	const isPair = pair.length === 2 && ownIndex !== void 0 && otherIndex !== void 0;
	const isOfPair = active.every((provider) => pair.some(([, one]) => one === provider));
	if (!isPair || !isOfPair) throw new HostError("command-failed", `${host.name} has other slices than two of its own, or others are active: make ${ownRoot} active by hand, see \`gpart show -p ${disk}\` there.`);
	await writeFstab(host, slices.fstab, ownRoot);
	await host.output(shell`gpart set -a bootme -i ${ownIndex} ${disk}`);
	if (active.some((provider) => provider !== own)) await host.output(shell`gpart unset -a bootme -i ${otherIndex} ${disk}`);
}
const stemOf = (device) => device.replace(/[12]$/, "");
/** Every boot makes /etc again, and copies /cfg over it. */
async function writeFstab(host, fstab, root) {
	const lines = fstab.split("\n").map((line) => {
		const [device = "", path] = fieldsOf(line);
		return path === "/" ? line.replace(device, () => root) : line;
	});
	const bytes = Buffer.from(lines.join("\n"));
	await host.upload(bytes, "/etc/fstab", 420);
	const [cfg] = await fileSystemsOf(host, ["/cfg"]);
	const wasMounted = cfg?.mountedOn === "/cfg";
	if (!wasMounted) await host.output(shell`mount /cfg`);
	try {
		await host.upload(bytes, "/cfg/fstab", 420);
	} finally {
		if (!wasMounted) await host.output(shell`umount /cfg`);
	}
}
async function sumOn(host, device, file) {
	await host.output(shell`mount -t ufs -o ro ${device} /mnt`);
	try {
		return await sha256Of(host, `/mnt${file}`);
	} finally {
		await host.output(shell`umount /mnt`);
	}
}

// src/lab/freebsd/boot/boot.ts
/** The machine's own tools do not support a method, so that no kernel can be booted. */
var BootMethodError = class extends Error {
	name = "BootMethodError";
};

// src/lab/freebsd/boot/boot-nextboot.ts
function nextboot(machine) {
	const { own, host } = machine;
	const installed = /* @__PURE__ */ new Map();
	return {
		async install(kernel, kept) {
			if (!await isInstalled(host(), kernel)) {
				if (kept !== void 0) await removeOthers([kernel.variant, ...kept]);
				const outcome = await installFolder(machine, kernel);
				if (outcome.kind !== "installed") return outcome;
			}
			const file = `${folderOf(kernel.variant)}/kernel`;
			const sha256 = await sha256Of(host(), file);
			installed.set(kernel.variant, {
				root: own.root,
				kernel: file,
				sha256
			});
			return { kind: "installed" };
		},
		async arm(variant) {
			if (variant === void 0) {
				await cancelNextBoot(host());
				return own;
			}
			const system = installed.get(variant);
			if (system === void 0) throw new TypeError(`The variant ${variant} was never installed.`);
			const name = dirname$1(system.kernel).replace("/boot/", "");
			await order(host(), name);
			return system;
		},
		async clear() {
			await host().output(shell`rm -rf ${[archiveFolder, ...await ourFolders(host())]}`);
			installed.clear();
		}
	};
	/** Keeps the running kernel's folder, as modules may yet be loaded from it. */
	async function removeOthers(variants) {
		const kept = new Set(variants.map(folderOf));
		const others = (await ourFolders(host())).filter((folder) => !kept.has(folder));
		if (others.length === 0) return;
		const running = dirname$1((await host().output(shell`sysctl -n kern.bootfile`)).trim());
		const gone = others.filter((folder) => folder !== running);
		for (const folder of gone) await host().output(shell`rm -rf ${[markIn(folder), folder]}`);
		for (const variant of installed.keys()) if (gone.includes(folderOf(variant))) installed.delete(variant);
	}
}
const prefix = "ppsgate.";
const folderOf = (variant) => `/boot/${prefix}${pathName(variant)}`;
async function ourFolders(host) {
	return (await host.output(shell`ls -1 /boot`)).split("\n").filter((name) => name.startsWith(prefix)).map((name) => `/boot/${name}`);
}
const markIn = (folder) => `${folder}/ppsgate.sha256`;
async function isInstalled(host, { variant, sha256 }) {
	return (await host.run(shell`cat ${markIn(folderOf(variant))}`)).stdout === sha256;
}
async function installFolder(machine, kernel) {
	const folder = folderOf(kernel.variant);
	return withArchive(machine, kernel, async (archive) => {
		const host = machine.host();
		const part = `${folder}.part`;
		await host.output(shell`rm -rf ${part} ${folder}`);
		await host.output(shell`mkdir -p ${part}`);
		const unpacked = await unpack(host, archive, part);
		const outcome = unpacked.kind === "installed" ? await checkedModules(machine, part, folder) : unpacked;
		if (outcome.kind !== "installed") {
			await host.output(shell`rm -rf ${part}`);
			return outcome;
		}
		await host.output(shell`mv -f ${part} ${folder}`);
		await host.upload(Buffer.from(kernel.sha256), markIn(folder), 384);
		return outcome;
	});
}
async function checkedModules(machine, part, folder) {
	const host = machine.host();
	const [root] = await fileSystemsOf(host, ["/"]);
	const needs = {
		loaded: machine.modules,
		rootType: root?.type ?? ""
	};
	const reason = await lackingModule(host, part, needs);
	if (reason === void 0) return { kind: "installed" };
	return {
		kind: "lacks-module",
		reason: reason.replace(part, folder)
	};
}
async function order(host, name) {
	const command = shell`nextboot -k ${name} -e ${resetsAtPanic.line}`;
	const outcome = await host.run(command);
	const failure = /^.*zfsbootcfg.*$/m.exec(outcome.stderr)?.[0];
	if (outcome.kind === "exited" && outcome.code !== 0 && failure !== void 0) throw new BootMethodError(`The nextboot(8) of ${host.name} cannot order a boot on ZFS (${failure}): choose \`boot.method: boot-environment\` in ppsgate.yml, or update the FreeBSD there.`);
	stdoutOf(outcome, host.name, command);
}
/** Without an order nextboot(8) may fail. On ZFS it removes the file, but leaves the loader's order in the pool. */
async function cancelNextBoot(host) {
	await host.run(shell`nextboot -D`);
	const [boot] = await fileSystemsOf(host, ["/boot"]);
	const pool = boot?.type === "zfs" ? boot.device.split("/")[0] : void 0;
	if (pool !== void 0 && await isOrderedIn(host, pool)) await host.output(shell`zfsbootcfg ${inPool(pool)} -k nextboot_enable -v NO`);
	const test = await host.run(shell`test -e ${"/boot/nextboot.conf"}`);
	const hasFile = test.kind !== "exited" || test.code === 0;
	if (!hasFile && (pool === void 0 || !await isOrderedIn(host, pool))) return;
	const remains = hasFile ? "/boot/nextboot.conf" : `nextboot_enable in the pool ${pool}`;
	throw new HostError("command-failed", `"nextboot -D" on ${host.name} leaves ${remains} behind: remove it, or the next boot is not its own.`);
}
/** The command fails if no order was ever left there. */
async function isOrderedIn(host, pool) {
	const outcome = await host.run(shell`zfsbootcfg ${inPool(pool)} -p`);
	return /\bnextboot_enable\b.*\bYES\b/.test(outcome.stdout);
}
const inPool = (pool) => [
	"-z",
	pool,
	"-n",
	"freebsd:nvstore"
];

// src/lab/freebsd/dut/freebsd-dut.ts
const methods = {
	/** A folder in /boot; the boot after the next is the machine's own again. */
	nextboot,
	/** A clone of the machine's own environment on ZFS, activated for one boot. */
	"boot-environment": bootEnvironment,
	/** A whole image in the other slice of an appliance, where nothing falls back automatically. */
	nanobsd
};
/** The machine does not come back, and needs a person before anything can be measured on it. */
var DutLostError = class extends Error {
	name = "DutLostError";
};
/** A machine whose own kernel ran when it was opened: `restore` goes back to that one. */
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
	/** Connects to the machine; reboots it first where a dead controller left a kernel of ours running. */
	static async open(options) {
		const host = await leaveOurs(await options.connect(), options);
		await using opened = new AsyncDisposableStack();
		opened.defer(() => host.close());
		const unfit = await whyUnfit(host, options.method);
		if (unfit !== void 0) throw new HostError("command-failed", `${host.name} is not to be booted by the method ${options.method}: ${unfit.why}; ${unfit.fix}.`);
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
	* Copies a kernel to the machine under a name of ours, unless the same content is there. Before that, kernels of
	* variants outside `kept` are removed, except for the running one; none where `kept` is absent.
	*/
	install(kernel, kept) {
		return this.#method.install(kernel, kept);
	}
	/** Boots an installed kernel once, or with `undefined` the machine's own, and proves which one came up. */
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
	/** After a lost trial: boots the machine's own kernel, and returns the panic since the last boot. */
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
	/** Boots the machine's own kernel, and removes every installed one; does nothing a second time. */
	async restore() {
		await this.#reach();
		await this.#bootOwn();
		await this.#method.arm(void 0);
		await this.#method.clear();
	}
	/** A kernel that fails to come up is followed by the machine's own, unless that one failed. */
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
			reason: `it was not up after ${bootSeconds} s, and was power-cycled`,
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
	/** Keeps a connection that still carries a command. */
	async #reach() {
		try {
			await this.#host.output(shell`uname`, { timeoutSeconds: answerSeconds$1 });
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
/** A kernel may panic just after the machine is up. */
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
			reason: "it was lost again as soon as it was up"
		};
	}
}
/** Returns when the machine accepts a login: waits for one that boots, and power-cycles one that stays away. */
async function wakeFreebsdDut(options) {
	const host = await options.connect().catch(ifNotUp);
	if (host === void 0) await options.console?.beginBoot();
	await (host ?? (await waitForUp("answers", options)).host).close();
}
/** A dead controller may have ordered one more kernel while one of ours ran; each order is for one boot. */
const mostBootsOfOurs = 2;
async function leaveOurs(first, options) {
	let host = first;
	for (let boots = 0;; boots += 1) {
		const running = await runningSystem(host);
		if (!isOurs(running)) return host;
		if (boots === mostBootsOfOurs) {
			await host.close();
			throw new DutLostError(`The DUT runs ${running.kernel} of an earlier experiment, after two reboots too; boot its own kernel.`);
		}
		await options.console?.beginBoot();
		await orderReboot(host);
		host = (await waitForUp("has booted", options)).host;
	}
}
const answerSeconds$1 = 10;
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
	throw new DutLostError(`The DUT was not up after ${bootSeconds} s, ${powerAttempts(power, powerFailure)}; ${shown === void 0 ? "look at its console" : `its console ${shown}`}.`);
}
const noFailure = () => void 0;
/** Rethrows a FencedError: without the lease the controller stops. */
const asFailure = (error) => {
	if (error instanceof PowerError) return error;
	throw error;
};
function powerAttempts(power, failure) {
	if (power === void 0) return "and has no power control";
	return failure === void 0 ? "not even power-cycled twice" : `and could not be power-cycled in two tries (${reasonOf(failure)})`;
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

// src/lab/freebsd/freebsd-deps.ts
/** Only a command that a kernel has locked up lasts longer. */
const stuckSeconds = 900;
const bounded = (host, timeoutSeconds = stuckSeconds) => ({
	...host,
	run: (command, options) => host.run(command, {
		timeoutSeconds,
		...options
	}),
	output: (command, options) => host.output(command, {
		timeoutSeconds,
		...options
	})
});

// src/lab/freebsd/dut/counters.ts
const interfaceCounters = shell`netstat -i -b -n -W`;
const protocolStatistics = shell`netstat -s`;
const cpuTimesCommand = shell`sysctl -n kern.cp_times`;
const interruptsCommand = shell`vmstat -i`;
/** Includes the statistics of cards whose drivers are listed below. */
function countersCommands(interfaces) {
	return [
		interfaceCounters,
		protocolStatistics,
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
* Share of the CPUs' time between two readings that was not idle; undefined where either is missing, or the host has
* booted between them. The time between readings and packets counts: a DUT that is busy for a trial of 60 s, and idle for
* 10 s around it, has 0.86.
*/
function busyShare(before, after) {
	const running = timeBetween(before, after).filter(({ busy, idle }) => busy + idle > 0);
	if (running.length === 0) return void 0;
	return {
		overallRatio: shareOf(sumOf(running)),
		busiestCpuRatio: running.reduce((most, cpu) => Math.max(most, shareOf(cpu)), 0)
	};
}
/** Busy share of each CPU, 0 for one that is off; empty as above. */
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
/** Packets sent by an interface between two readings; undefined where either is missing, or it was reset. */
const sentBetween = (before, after, name) => countedBetween([before, after], name, ({ sent }) => sent);
/** Packets that reached an interface between two readings, dropped ones included; undefined as above. */
const arrivedBetween = (before, after, name) => countedBetween([before, after], name, ({ received, receiveErrors, receiveDrops }) => received + receiveErrors + receiveDrops);
function countedBetween(readings, name, countOf) {
	const [first, last] = readings.map((outputs) => {
		const counters = countersOf(outputs, name);
		return counters && countOf(counters);
	});
	return first === void 0 || last === void 0 || last < first ? void 0 : last - first;
}
const countersOf = (outputs, name) => parseInterfaceCounters(outputs.get(commandText(interfaceCounters)) ?? "").get(name);
/** All counters of an interface between two readings; undefined as above. */
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
* Reads `netstat -s` by protocol and words, without what is in brackets: `ip: packets forwarded`, or
* `icmp: time exceeded` of its histograms.
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
/** Reads `vmstat -i`: totals by the interrupt's name, as `ix0:rxq3`. */
function interrupts(outputs) {
	const lines = (outputs.get(commandText(interruptsCommand)) ?? "").split("\n");
	return new Map(lines.flatMap((line) => {
		const [, name = "", digits] = /^(?:irq\d+: )?(\S.{0,60}?)\s+(\d{1,15})\s+\d+\s*$/.exec(line) ?? [];
		return digits === void 0 ? [] : [[name, Number(digits)]];
	}));
}
/** Counters of a card by the last part of their sysctl(8) names. */
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

// src/lab/freebsd/rule-drops.ts
/** Continues "dropped by". */
const nameOfFirewallRule = ({ firewall, rule }) => `the rule "${rule}" of ${firewall}`;
/** Called after packets, while the rules are in force; names the rule with most, to continue "dropped by". */
async function droppedByRules(host) {
	const [first] = await droppingRules(host);
	return first && `${nameOfFirewallRule(first)}, which counted ${first.packets} packets`;
}
/** Those with most packets first. */
async function droppingRules(host) {
	const [pf, ipfw] = await Promise.all([host.run(shell`pfctl -vvsr`), host.run(shell`ipfw -a list`)]);
	return [...pfDrops(pf.stdout), ...ipfwDrops(ipfw.stdout)].toSorted((one, other) => other.packets - one.packets);
}
/** Reads `pfctl -vvsr`: each rule after its number, and its counters on the next line. */
function pfDrops(text) {
	const lines = text.split("\n");
	return lines.flatMap((line, index) => {
		const [, rule] = /^@\d{1,10}(?:\(\d{1,10}\))? (block .*)$/.exec(line) ?? [];
		const counts = /^\s+\[ Evaluations: \d+\s+Packets: (\d{1,15})\s/.exec(lines[index + 1] ?? "");
		const packets = Number(counts?.[1] ?? 0);
		return rule === void 0 || packets === 0 ? [] : [{
			firewall: "pf",
			rule: rule.slice(0, 300).trim(),
			packets
		}];
	});
}
/** Reads `ipfw -a list`: number, packets, bytes and rule. */
function ipfwDrops(text) {
	return [...text.matchAll(/^(\d{5})\s+(\d{1,15})\s+\d{1,20}\s+((?:deny|drop|reject|reset6?|unreach6?|abort6?) .{1,300}).*$/gm)].flatMap(([, number, packets, rule = ""]) => Number(packets) > 0 ? [{
		firewall: "ipfw",
		rule: `${number} ${rule.trim()}`,
		packets: Number(packets)
	}] : []);
}

// src/lab/freebsd/dut/limits.ts
/** Undefined where the interfaces did not count, or were reset. */
function limitsBetween(before, after, { ingress, egress, pfInfo = "", rules = [] }) {
	const arrived = interfaceBetween(before, after, ingress);
	const left = interfaceBetween(before, after, egress);
	if (arrived === void 0 || left === void 0) return void 0;
	const card = cardDrops(before, after, ingress, arrived);
	const ip = ipCounts(before, after, arrived.received);
	const vanished = ip.vanishedPackets ?? 0;
	const filtered = filteredDrops(pfInfo, rules, vanished);
	const silent = vanished - packetsOf(filtered);
	const queues = queuesOf(before, after, ingress);
	return boundedLimits({
		offeredPackets: arrived.received + packetsOf(card),
		receivedPackets: left.sent,
		cpuBusyRatios: cpuBusyRatios(before, after),
		queues,
		drops: [
			...card,
			...ip.drops,
			...filtered,
			...silent > arrived.received * .005 ? [silentDrop(ip.vanishedCause, silent)] : [],
			{
				place: "driver",
				cause: `the driver of ${egress}`,
				packets: left.sendErrors
			}
		].filter(({ packets }) => packets > 0),
		stateTables: pfTable(pfInfo),
		notUnderstood: [...queues.length === 0 ? ["vmstat -i"] : [], ...ip.vanishedPackets === void 0 ? ["netstat -s"] : []]
	});
}
const silentDrop = (cause, packets) => ({
	place: cause === expiredCause ? "ip" : "firewall",
	cause,
	packets
});
/** The card's own counters have the cause; the system counts the same packets once more. */
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
const noRoute = "output packets discarded due to no route";
/** Counts packets without a route, too. */
const notForwardable = "packets not forwardable";
/**
* Lines of `netstat -s` that count packets which IP received and did not forward, see ip_tryforward() in FreeBSD's
* netinet/ip_fastfwd.c.
*/
const ipLines = [
	[
		notForwardable,
		"ip",
		"a DUT that does not forward, or a route that rejects"
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
/** The count of packets that IP received is of no use: ip_tryforward() of FreeBSD 14 counts them once more. */
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
const expiredCause = "an expired time to live, as in a routing loop";
/** Reasons of pf(4) to drop that concern its states; others concern the packet. */
const stateReasons = /* @__PURE__ */ new Set([
	"memory",
	"src-limit",
	"state-insert",
	"state-limit",
	"state-mismatch"
]);
/**
* Drops by pf's reasons, and by rules: its reason `match` counts passed packets, too. Rules count from their installation
* on, and so a little more than the packets of the trial.
*/
function filteredDrops(info, rules, vanishedPackets) {
	const drops = [...pfReasons(info).map(({ reason, packets }) => ({
		place: stateReasons.has(reason) ? "state-table" : "firewall",
		cause: `pf: ${reason}`,
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
/** Of `max` of a rule, and of `set limit states`, see pf_create_state() in FreeBSD's pf.c. */
const fullReasons = /* @__PURE__ */ new Set(["state-limit", "memory"]);
/** Reads `pfctl -si`. */
const isPfTableFull = (info) => pfReasons(info).some(({ reason }) => fullReasons.has(reason));
/** pf counts states, but prints no limit: a reached one is the number of states. */
function pfTable(info) {
	const states = Number(/^[ \t]+current entries[ \t]+(\d{1,15})/m.exec(info)?.[1] ?? 0);
	return isPfTableFull(info) && states > 0 ? [{
		name: "pf states",
		states,
		limit: states
	}] : [];
}
/** Interrupts of each receive queue; several packets share one. */
function queuesOf(before, after, ingress) {
	const earlier = interrupts(before);
	return [...interrupts(after)].flatMap(([name, count]) => {
		const number = queueNumber(name, ingress);
		const packets = count - (earlier.get(name) ?? 0);
		return number === void 0 || packets < 0 ? [] : [{
			device: ingress,
			direction: "receive",
			number,
			packets
		}];
	});
}
/** `ix0:rxq3` and `igb0:que 3` of iflib(9) and before; `t5nex0:1a3` of cxgbe(4): the third queue of its port 1. */
function queueNumber(name, ingress) {
	const [, device, digits] = /^([a-z]+\d+):\s?(?:rxq|rx|que|q)\s?(\d{1,4})$/.exec(name) ?? [];
	if (device === ingress) return Number(digits);
	const [, port, letters] = /^t\dnex0:(\d)a([\da-f]{1,3})$/.exec(name) ?? [];
	const [, unit] = /^(?:cxgbe|cxl|cc)(\d)$/.exec(ingress) ?? [];
	return port !== void 0 && port === unit ? Number.parseInt(letters ?? "", 16) : void 0;
}

// src/lab/freebsd/freebsd-logs.ts
const freebsdLogNames = {
	receiver: "receiver.log",
	sender: (index) => `sender-${index + 1}.log`,
	counters: "dut-counters.log",
	/** Output of the DUT's console since the trial before, boots included. */
	console: "dut-console.log"
};
/** Reads a trial of one run: a testbed that boots its variants has no others. */
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
		reason: `machine too busy: the ${starvation.machine} is a guest that waited for its host's CPUs for ${share} of the trial; give it CPUs of its own`
	};
}
/** The requested rate of each sender, shared as the flows are; none where they send as fast as they can. */
function requestedRates({ flows, offeredPps }, family, senders) {
	const split = flowRanges(flows, family, senders);
	if (offeredPps === void 0 || split.kind === "refused") return [];
	const all = split.flows;
	return flowSlices(all, senders).map(({ sources }) => offeredPps * sources / all.sources);
}

// src/lab/freebsd/losses.ts
/** Throws if a machine does not come back, or machines are lost again and again. */
async function afterLoss(machines, loss, error) {
	const { boots, generators, cycles } = machines;
	await generators.reconnect(loss.signal);
	const isStuck = error.kind === "timeout";
	if (!isStuck && await isReachable(boots.dut.host())) return afterGlitch(machines, error);
	boots.booted = void 0;
	const cyclesBefore = cycles.done;
	const last = await boots.dut.recover();
	const { panic } = last;
	if (panic !== void 0) return afterDeath(boots, loss, `it panicked: ${panic}`, last);
	if (isStuck) return afterDeath(boots, loss, error.message, last);
	if (cycles.done === cyclesBefore) return afterGlitch(machines, error);
	return afterDeath(boots, loss, "it did not answer any more, and was power-cycled", last);
}
function afterRefusal(boots, variant, scenario, refusal) {
	const { tallies } = boots;
	tallyOf(tallies, variant).refusals += 1;
	return isToBlame(tallies, variant, "refusals", "hasStoodTrial") ? rejected(variant, {
		kind: "does-not-load",
		scenario,
		message: `Twice: ${refusal}.`
	}) : suspected({
		boots,
		variant,
		proof: "hasStoodTrial"
	}, refusal);
}
const mostGlitchesInARow = 3;
function afterGlitch({ glitches }, error) {
	glitches.inARow += 1;
	if (glitches.inARow >= mostGlitchesInARow) throw error;
	return failed(error.message);
}
function afterDeath(boots, loss, how, words) {
	const { panic, console } = words;
	const { tallies } = boots;
	const { variant, phase } = loss;
	const where = circumstances(loss);
	if (phase === "while sampled") return failed(`the DUT with ${variant} died ${where}: ${how}`);
	tallyOf(tallies, variant).deaths += 1;
	if (!isToBlame(tallies, variant, "deaths", "hasStoodTrial")) {
		const reason = `the DUT with ${variant} died ${where}: ${how}${panic === void 0 && console !== void 0 ? ` (${consoleClause(console)})` : ""}`;
		return suspected({
			boots,
			variant,
			proof: "hasStoodTrial"
		}, reason);
	}
	return rejected(variant, {
		kind: phase === "after its boot" ? "boot-failed" : "panics-under-load",
		message: `Twice, ${where}${panic === void 0 ? `: ${how}` : ""}.`,
		...words
	});
}
function circumstances({ flows, scenario, phase }) {
	switch (phase) {
		case "after its boot": return "right after it had booted";
		case "at the rules": return `while ${scenario} was installed`;
		case "under load": return `under ${flows} flows`;
		case "while sampled": return "while samples were taken";
	}
}
const isReachable = (host) => host.output(shell`sysctl -n kern.boottime`, { timeoutSeconds: answerSeconds }).then(() => true, () => false);
const answerSeconds = 10;

// src/lab/freebsd/other-filters.ts
/** Returns a warning for each. Loads no module. */
async function otherFilters(host) {
	const ipf = await outputOf(host, shell`sysctl -n net.inet.ipf.fr_running`);
	const hooks = (await outputOf(host, shell`pfilctl heads`)).matchAll(linkedHook);
	const modules = new Set([...hooks].map(([, module = ""]) => module).filter(isUnknown));
	const nodes = (await netgraphNodes(host)).matchAll(connectedPort);
	return [
		...Number(ipf) > 0 ? [inForce("ipf of the DUT, with the rules of ipnat,", "`ipf -D`")] : [],
		...[...modules].map((module) => inForce(`the packet filter ${module} of the DUT`, `\`kldunload ${module}\``)),
		...[...nodes].map(([, port]) => inForce(`netgraph of ${port} of the DUT`, `\`ngctl show ${port}:\` lists its hooks: \`rmhook\``))
	];
}
/** Lines of pfilctl(8), which FreeBSD has since 13.0: direction, module and ruleset below each point. */
const linkedHook = /^ +(?:In|Out) +([\w.-]{1,63}) +\S+ *$/gm;
/** Trials remove pf and ipfw, and ipf shows by a setting that older releases have, too. */
const isUnknown = (module) => ![
	"pf",
	"ipfw",
	"ipfilter"
].includes(module);
/** A line of ngctl(8). */
const connectedPort = /^ +Name: ([\w.-]{1,31}) +Type: ether +ID: [0-9a-f]+ +Num hooks: [1-9]\d*$/gm;
/** ngctl(8) would load ng_socket. */
async function netgraphNodes(host) {
	for (const module of ["ng_ether", "ng_socket"]) {
		const loaded = await host.run(shell`kldstat -q -m ${module}`);
		if (loaded.kind !== "exited" || loaded.code !== 0) return "";
	}
	return outputOf(host, shell`ngctl list`);
}
async function outputOf(host, command) {
	const outcome = await host.run(command);
	return outcome.kind === "exited" && outcome.code === 0 ? outcome.stdout : "";
}
const inForce = (what, fix) => `${what} stays in force beside every scenario, and takes its time from every number: ${fix} removes it.`;

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
* Remove every scenario, in two rounds, each all at once. A command fails where there is nothing to remove; the proof of
* the next scenario checks the result. ipfw is disabled before its flush, or its last rule would cut the connection.
*/
const removalCommands = [[
	shell`pfctl -d`,
	shell`sysctl net.inet.ip.fw.enable=0`,
	shell`sysctl net.inet6.ip6.fw.enable=0`
], [shell`pfctl -F all`, shell`ipfw -q -f flush`]];
const firewalls = ["pf", "ipfw"];
/** Each has a single accepting rule, see pf.conf(5) and ipfw(8). */
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
/** The commands of a firewall that is not loaded fail. */
const proofCommands = {
	pfInfo: shell`pfctl -si`,
	pfRules: shell`pfctl -sr`,
	ipfwEnabled: shell`sysctl -n net.inet.ip.fw.enable`,
	ipfw6Enabled: shell`sysctl -n net.inet6.ip6.fw.enable`,
	ipfwRules: shell`ipfw list`,
	ipfwStates: shell`sysctl -n net.inet.ip.fw.dyn_count`
};
/**
* Proves that this scenario, and no other firewall, is in force. With `trial` the outputs were read right after one, and a
* stateful scenario must have a state for each of its flows: one or two states are of our own connection. ipfw drops a
* UDP flow's state after 10 s of silence.
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
	const why = required.firewall === "pf" && isPfTableFull(outputs.pfInfo ?? "") ? ", as its table is full: raise its limit with `set limit states`" : "";
	return notInForce(`${required.firewall} has made ${states} of the ${trial.flows} states that the flows need${why}`);
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
/** A kernel without a family lacks its switch. */
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
/** Called before every trial, which drops old states. Returns why the scenario is not in force. */
async function installRules(host, scenario, own) {
	const { files, commands } = scenarioInstallation(scenario, rulesFolder, own);
	await Promise.all([removeRules(host), ...files.length > 0 ? [host.output(ownFolder(rulesFolder))] : []]);
	for (const { path, text } of files) await host.upload(Buffer.from(text), path, 384);
	for (const command of commands) {
		const outcome = await host.run(command);
		if (outcome.kind === "exited" && outcome.code === 0) continue;
		const message = lastLine(outcome.stderr) ?? "it said nothing";
		return `\`${commandText(command)}\` failed on the DUT: ${message}`;
	}
	const proof = provesScenario(scenario, await proofOf(host), { own });
	return proof.kind === "in-force" ? void 0 : `${scenario} is not in force: ${proof.reason}`;
}
async function removeRules(host) {
	for (const round of removalCommands) await Promise.all(round.map((command) => host.run(command)));
}
/** Firewalls that rc.conf(5) starts: a trial disables them, and a boot enables them again. */
async function siteFirewalls(host) {
	const outcome = await host.run(shell`sysrc -n pf_enable firewall_enable`);
	if (outcome.kind !== "exited" || outcome.code !== 0) return [];
	const isOn = outcome.stdout.split("\n").map((value) => /^(?:yes|true|on|1)$/i.test(value.trim()));
	return ["pf", "ipfw"].filter((_, index) => isOn[index]);
}
async function firewallWarnings(host, ofSite) {
	return [...firewallsOn(await proofOf(host)).map((name) => ofSite.includes(name) ? `${name} of the DUT is on by its rc.conf: each trial takes it off, and a boot of its own kernel at the end brings it back.` : `${name} of the DUT is on, and not by its rc.conf: each trial takes it off, and nothing brings it back.`), ...await otherFilters(host)];
}
async function proofOf(host) {
	const outputs = await readAll(host, Object.values(proofCommands));
	const entries = Object.entries(proofCommands).map(([key, command]) => [key, outputs.get(commandText(command))]);
	return Object.fromEntries(entries);
}

// src/lab/freebsd/dut/profile.ts
const sampleFile = (folder) => `${folder}/pmc.out`;
const graphFile = (folder) => `${folder}/pmc.graph`;
/** Loads hwpmc(4) for deep call chains, and finds an event that counts this CPU's cycles; or tries only `requested`. */
async function readySampling(host, folder, requested) {
	await host.output(ownFolder(folder));
	await host.run(shell`kenv ${`kern.hwpmc.callchaindepth=${mostFrames}`}`);
	const loaded = await host.run(shell`kldload -n hwpmc`);
	if (loaded.kind !== "exited" || loaded.code !== 0) return impossible(`hwpmc does not load on the DUT: ${lastLine(loaded.stderr) ?? "it said nothing"}`);
	let message = "";
	for (const event of requested === void 0 ? cycleEvents : [requested]) {
		const tried = await host.run(samplingOnly(event, 1, folder));
		if (tried.kind === "exited" && tried.code === 0) return {
			kind: "ready",
			event
		};
		message ||= lastLine(tried.stderr) ?? "";
	}
	return impossible(`the DUT's CPU samples ${requested ?? "none of the events that count cycles elsewhere"} (${message}): name one of \`pmccontrol -L\` as \`profile.event\``);
}
const impossible = (reason) => ({
	kind: "impossible",
	reason
});
/** Depth of stacks in hwpmc(4), if set before it is loaded, and in pmcstat's output. */
const mostFrames = 100;
/**
* Intel, Intel's Atoms, AMD since Zen, AMD before, Arm; and the older name on all of x86: see pmc(3), its relatives, and
* libpmc's tables. An Atom has no threads, and `unhalted-cycles` counts those of one.
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
/** Waits, and reads the counters of the interfaces before and after the command in its arguments. */
const windowScript = "sleep \"$1\"; shift; netstat -i -b -n -W; \"$@\" || exit; netstat -i -b -n -W";
/** Under load, its output arrives when the load has ended. */
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
	await host.output(shell`pmcstat -R ${sampleFile(folder)} -z ${mostFrames} -G ${graph}`);
	const text = await host.output(shell`cat ${graph}`, { maxOutputBytes: mostGraphBytes });
	return `# kernel: ${kernel.replace(/\s+/g, " ")}\n${text}`;
}
async function endSampling(host, folder) {
	const commands = [shell`kldunload hwpmc`, shell`rm -f ${[sampleFile(folder), graphFile(folder)]}`];
	const limits = { timeoutSeconds: secondsToEnd };
	await Promise.allSettled(commands.map((command) => host.run(command, limits)));
}
const secondsToEnd = 60;
const mostGraphBytes = 256 * 1024 ** 2;

// src/lab/freebsd/sample-under-load.ts
/** Time from the order to send until packets flow; as much remains after the window. */
const spareSeconds = 6;
/** The DUT must send this share of the received rate during the samples. */
const leastForwardedRatio = .9;
/** Starts sampling under load; a second attempt starts before it, as some DUTs then have no time for a new program. */
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
	if (samples.kind !== "exited" || samples.code !== 0) return missed(`pmcstat failed on the DUT: ${lastLine(samples.stderr) ?? "it said nothing"}`);
	const text = await collectSamples(dut, folder);
	const forwarded = sentWithin(samples.stdout, egress) ?? 0;
	const expected = trial.run.medianPps * seconds;
	if (forwarded < leastForwardedRatio * expected) {
		const share = formatPercent(forwarded / expected);
		return missed(`the window missed the trial: ${share} of its packets were forwarded meanwhile`);
	}
	if (hasNoSample(text)) return impossible$1(`the DUT gave no sample of ${event} under load, as many virtual machines cannot: name another one of \`pmccontrol -L\` as \`profile.event\`, or leave \`profile\` out`);
	return judgeProfile(text, {
		event,
		kernel: "an unknown kernel"
	}, keepLog);
}
/** pmcstat(8) writes only its heading then, and succeeds. */
const hasNoSample = (graph) => graph.split("\n").every((line) => line.trim() === "" || line.startsWith("#"));

// src/lab/freebsd/starvation.ts
/** `kern.vm_guest` is "none" on bare metal. */
const clock = shell`sysctl -n kern.vm_guest kern.clockrate`;
const starvationCommands = [
	clock,
	cpuTimesCommand,
	interruptsCommand
];
/** The machine that waited longest for its host, if that spoils a trial; reads outputs by machine name. */
function starvationBetween(before, after) {
	const [worst] = [...after].map(([machine, outputs]) => ({
		machine,
		deniedRatio: deniedRatio(before.get(machine) ?? /* @__PURE__ */ new Map(), outputs) ?? 0
	})).sort((a, b) => b.deniedRatio - a.deniedRatio);
	return worst !== void 0 && worst.deniedRatio >= leastDeniedRatio ? worst : void 0;
}
/** Guests on an otherwise idle host reach 0.14. */
const leastDeniedRatio = .2;
/**
* The largest share of time, from 0 to 1, for which a busy CPU of a guest waited for its host between two readings;
* undefined on bare metal, and where no CPU was busy or a reading is missing.
*
* kern.cp_times hides it: handleevents() of sys/kern/kern_clocksource.c makes up the ticks that were missed. It does so with
* one interrupt, so a CPU at work takes fewer than hz + stathz timer interrupts a second. A guest of FreeBSD 13.2 that was
* stopped for half of the time (by 5, 30 and 200 ms) showed 0.46, 0.58 and 0.51; one of 14.2 beside nothing else at most 0.14.
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
		if (!(busy >= leastBusyRatio * (busy + idle) && idle >= 0) || busy < leastBusySeconds * rates.stathz) return [];
		const expected = busy / rates.stathz * (rates.hz + rates.stathz);
		return Math.max(0, 1 - interrupts / expected);
	});
	return denied.length === 0 ? void 0 : Math.max(...denied);
}
/** An idle CPU skips its ticks. */
const leastBusyRatio = .5;
const leastBusySeconds = 2;
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
/** Keeps the console's output, also where the DUT is lost. */
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
	if (run === void 0) return failed("nothing was planned");
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
	const busy = busyShare(before, after);
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
			...busy && { busiestCpuRatio: busy.busiestCpuRatio },
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
		if (down !== void 0) return failed(`not one packet came through, and ${down}`);
	}
	const proof = provesScenario(scenario, proofs, {
		...!isSilent && { trial: { flows: traffic.flows } },
		own: rulesOf(lab)
	});
	if (proof.kind !== "in-force") return failed(`${scenario} was not in force: ${proof.reason}`);
	setReference(boots, boot);
	return measured;
}
/** Names the machine without its address, which is no business of a report's readers. */
const roleOf = ({ name }) => name.replace(/ \(.*$/, "");
const readNamed = async (host, commands) => [roleOf(host), await readAll(host, commands)];
/** Time in which a link comes up after a generator has closed its port. */
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
	return outcome.kind === "failed" ? outcome.reason : "nothing was sampled";
}

// src/lab/freebsd/mtu.ts
/** Ethernet's header has 14 bytes, its checksum 4. pkt-gen compares the frame without the checksum with the MTU. */
const leastMtu = {
	sender: (frameBytes) => frameBytes - 4,
	receiver: (frameBytes) => frameBytes - 18,
	dut: (frameBytes) => frameBytes - 18
};
/** Undefined if the MTU suffices; `is` completes the name of the port. */
async function shortMtu(host, port, least) {
	const found = parseIfconfig(await host.output(shell`ifconfig ${port}`));
	if (found === void 0 || found.mtu >= least) return void 0;
	return {
		is: `has an MTU of ${found.mtu}, and these frames need at least ${least}`,
		fix: `\`ifconfig ${port} mtu ${least}\` there, and \`mtu ${least}\` in its ifconfig_${port} in /etc/rc.conf`
	};
}
/** Throws a HostError: pkt-gen would exit in each trial, or the DUT drop each packet. */
async function requireMtu(host, port, frameBytes, role) {
	const short = await shortMtu(host, port, leastMtu[role](frameBytes));
	if (short === void 0) return;
	const { is, fix } = short;
	throw new HostError("command-failed", `${port} on ${host.name} ${is} (${frameBytes} bytes each): run ${fix}.`);
}

// src/lab/freebsd/generators.ts
/** Ports stay open that long beyond a trial, since one boot serves several cells; then they close automatically. */
const heldSeconds = 600;
var Generators = class Generators {
	#config;
	#traffic;
	#deps;
	#hosts;
	/** `until` is the time at which they close, in seconds since 1970. */
	#opened;
	/** False once a sender did not start beside the program that holds its port. */
	#holdsSenders = true;
	/** Connects to all, and ends what a lost controller left sending. Throws a HostError for one out of reach. */
	static async open(config, traffic, deps) {
		return new Generators(config, traffic, deps, await connectAll(config, deps));
	}
	constructor(config, traffic, deps, hosts) {
		this.#config = config;
		this.#traffic = traffic;
		this.#deps = deps;
		this.#hosts = hosts;
	}
	/** System, port and media of each, by its label. Throws a HostError without pkt-gen, or for an MTU too small. */
	async facts(largestFrameBytes) {
		await Promise.all(allOf(this.#hosts).map((host) => requirePrograms(host, ["pkt-gen"], "pkg install")));
		await requireMtus(this.#config, this.#hosts, largestFrameBytes);
		return factsOf(this.#config, this.#hosts);
	}
	/** Opens the ports for that long, and waits for their links; returns the failed trial where a port does not open. */
	async openPorts(trafficSeconds, signal) {
		const ports = await this.#portsFor(trafficSeconds, signal);
		return "kind" in ports ? ports : void 0;
	}
	async send({ cell, dutMac, ...times }, signal) {
		const config = this.#config;
		const split = flowRanges(this.#traffic.flows, cell.family, config.senders.length);
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
			ports: this.#traffic.packets?.ports,
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
	/** Before the DUT boots, at whose end the links go down. */
	async closePorts() {
		if (this.#opened !== void 0) await closePorts(this.#opened.ports);
		this.#opened = void 0;
	}
	/** Connects to all of them again, for as long as a machine takes to boot. */
	async reconnect(signal) {
		this.#opened = void 0;
		await closeAll(this.#hosts);
		this.#hosts = await connectPatiently(this.#config, this.#deps, signal);
	}
	/** Ends all traffic; a generator out of reach ends when its time is over, or when the testbed is opened next. */
	async silence() {
		this.#opened = void 0;
		if ((await Promise.allSettled(allOf(this.#hosts).map((host) => endPktGen(host, this.#deps)))).every(({ status }) => status === "fulfilled")) return;
		await closeAll(this.#hosts);
		this.#hosts = await connectAll(this.#config, this.#deps).catch(() => this.#hosts);
	}
	/** All senders, then the receiver. */
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
/** The machines are leased as one, so every pkt-gen there is ours. Its summary, and its port, need a moment. */
async function endPktGen(host, { sleep }) {
	for (let time = 0; time < timesToEnd; time += 1) {
		const signal = time < timesToInterrupt ? shell`-INT` : shell`-KILL`;
		const command = shell`pkill ${signal} -x pkt-gen`;
		const outcome = await host.run(command, { timeoutSeconds: secondsToSignal });
		if (outcome.kind === "exited" && outcome.code === 1) return;
		stdoutOf(outcome, host.name, command);
		await sleep(1);
	}
	throw new HostError("command-failed", `A pkt-gen on ${host.name} does not end: see what it waits for, or reboot that machine.`);
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
/** Builds one listed kernel after the other, and keeps the archives in a folder of this machine. */
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
	* Replaces the list of kernels. A finished kernel stays, and a running build continues unless the first of the list has no
	* kernel: that one is built now, and the other again in its turn. A kernel that is not listed any more is given up.
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
		if (building !== void 0 && (isPassed || gone.includes(building.listed))) building.drop.abort(/* @__PURE__ */ new Error(`the kernel of ${nameOf(building.listed)} is not wanted now`));
		this.#work = this.#work.then(() => this.#buildAll());
	}
	/** Waits for a kernel, and of several layout variants for `layout`. An unlisted variant runs the DUT's own kernel. */
	async get(variant, layout) {
		const one = this.#listed.get(variant);
		if (one !== void 0) return layoutOf(await one.kernel.promise, variant, layout);
		if (this.#givenUp.has(variant)) throw notListed(variant);
		return { kind: "own" };
	}
	ready() {
		return new Set([...this.#listed.values()].filter(({ isSettled }) => isSettled).map(nameOf));
	}
	/** Resolves when no build runs: soon after the signals of all requests are aborted. */
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
		if (builder === void 0) throw new BuilderError("The testbed has no builder: give it one in ppsgate.yml, or kernels that are built already.");
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
	if (isSettled) broughtKernel(variant).then(kernel.resolve, kernel.reject);
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
const notListed = (variant) => /* @__PURE__ */ new TypeError(`The kernel of ${variant} was given up; list it again to have it built.`);
async function broughtKernel({ variant, kernel }) {
	if (kernel?.kind !== "archive") return { kind: "own" };
	return {
		kind: "archive",
		archive: await verifiedArchive(variant, kernel)
	};
}
async function verifiedArchive(variant, { path, sha256 }) {
	const hash = createHash("sha256");
	await pipeline(createReadStream(path), hash);
	if (hash.digest("hex") !== sha256) throw new BuilderError(`${path} is not the kernel with the SHA-256 ${sha256}: it was changed.`);
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
/** Connects to all machines, and ends what a lost controller left sending. Throws a HostError for one out of reach. */
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
	const boots = bootsOf(config, dut, deps);
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
			over.abort(/* @__PURE__ */ new Error("the testbed is given back"));
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
/** Counts power cycles, and ends the recorded boot at each; a console that ends with it continues. */
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
/** Call while the DUT runs its own kernel. Returns undefined if only kernels that are built already can be measured. */
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
const mostRestores = 3;
async function giveBack(name, dut, firewallsOfSite) {
	for (let time = 1;; time += 1) try {
		await dut.restore();
		if (firewallsOfSite.length === 0) await removeRules(dut.host());
		else await bringFirewallsBack(dut);
		await dut.host().output(shell`rm -rf ${rulesFolder}`);
		return;
	} catch (error) {
		if (!(error instanceof HostError)) throw error;
		if (time < mostRestores) continue;
		throw new DutLostError(`The DUT of ${name} may still run a kernel of ours: ${time} times it could not be restored, at last for this: ${error.message}`, { cause: error });
	}
}
/** Boots, since only rc.conf loads the site's rules; `installRulesOf` has marked the boot. */
async function bringFirewallsBack(dut) {
	if (await hasBootedSinceMark(dut.host())) return;
	await removeRules(dut.host());
	const outcome = await dut.boot(void 0);
	if (outcome.kind === "boot-failed") throw new DutLostError(outcome.reason);
}

export { BootMethodError, DutLostError, FreebsdDut, Kernels, advice, afterBootFailure, benchmarkingNetworks, bootFor, bootsOf, bounded, builderFor, checkSettings, countersCommands, droppedByRules, failed, fileSystemsOf, fingerprintOfDut, firewallWarnings, firewallsOn, freebsdLogNames, generatorPortSettings, hasBootedSinceMark, inspectDut, installRules, isOurs, leastMtu, limitsBetween, loadedModules, markBoot, nextRoot, onceSettled, openFreebsdMachines, openFreebsdTestbed, parseArp, parseCpuTimes, parseIfconfig, parseInterfaceCounters, parseNdp, parseRoutes, pathProblem, pathProblems, problemOf, profile, proofOf, provesScenario, readAll, readFreebsdLogs, readsOf, rejected, removalCommands, removeRules, rulesFolder, runningSystem, sentBetween, setListed, settingsCommands, settingsContext, settingsThatFail, shortMtu, siteFirewalls, trial, waived, wakeFreebsdDut, wakeFreebsdTestbed, whyUnfit };