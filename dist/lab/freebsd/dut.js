import { driverSettingsOf, firmwareNames, kernelDependentFacts, lastLine, pathName, reasonOf, shortened, volatileFacts } from "../../model.js";
import { HostError, commandText, ownFolder, shell, stdoutOf, uploadOverBreaks } from "../../system/host.js";
import { PowerError } from "../power.js";
import { once } from "node:events";
import { spawn } from "node:child_process";
import { createReadStream } from "node:fs";
import { BlockList, isIPv4, isIPv6 } from "node:net";
import { Readable } from "node:stream";
import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { basename, dirname } from "node:path/posix";

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
const isOurs = ({ root, kernel }) => kernel.startsWith("/boot/ppsgate.") || basename(root).startsWith("ppsgate.");
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
/** Files loaded beside the running kernel: `zfs.ko`, `if_cxgbe.ko`. */
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
/** Known only where the kernel was built with its configuration in it. */
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
		flags: listed(flags),
		options: listed(options),
		mtu: Number(mtu),
		...mac !== void 0 && { mac: mac.toLowerCase() },
		...media !== void 0 && { media },
		...gigabits !== void 0 && { gigabits },
		isActive: /^[ \t]+status: active$/m.test(text)
	};
}
const listed = (names) => names.split(",").filter(Boolean);
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
/** Empty where the setting holds. `where` is the machine's name for people. */
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
const fingerprintCommands = (request) => factsOf(request).map(({ reads }) => reads);
function fingerprintOf(outputs, request) {
	const entries = factsOf(request).flatMap(({ reads, entries }) => {
		const output = outputs.get(commandText(reads))?.trim() ?? "";
		return output === "" ? [] : entries(output);
	});
	return Object.fromEntries(entries.map(([name, value]) => [name, value.slice(0, longestValue)]));
}
/** In characters; the longest values are the names of cards. */
const longestValue = 2e3;
/** Returns a line for each differing fact that the kernel does not explain; none where the two boots are comparable. */
function differences(base, other, variant = "patched") {
	return [.../* @__PURE__ */ new Set([...Object.keys(base), ...Object.keys(other)])].filter((name) => !kernelDependentFacts.has(name) && !volatileFacts.has(name)).filter((name) => base[name] !== other[name]).map((name) => `${name}: ${quoted(base[name])} on base, ${quoted(other[name])} on ${variant}`);
}
/** Returns a line for each card whose firmware a kernel in between has flashed, permanently. */
function flashed(before, now) {
	return Object.entries(before).filter(([name, value]) => isFirmware(name) && now[name] !== void 0 && now[name] !== value).map(([name, value]) => `${name} was ${quoted(value)} and is ${quoted(now[name])}`);
}
const isFirmware = (name) => /^dev\..*\.(?:firmware|fw)_version$/.test(name);
const quoted = (value) => value === void 0 ? "nothing" : `"${value}"`;
const factsOf = ({ interfaces, bootFile }) => [
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
const sysctlNames = (interfaces) => /* @__PURE__ */ new Set([...recorded, ...interfaces.flatMap((port) => [...driverSettingsOf(port).map(({ name }) => name), ...firmwareNames(port)])]);
const fact = (name, reads) => ({
	reads,
	entries: (output) => [[name, output.slice(0, longestValue).replace(/\s+/g, " ")]]
});
const recorded = [
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
/** A load average below 0.5 suffices. It takes minutes to fall after a boot: until then, 5 s are measured. */
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
				await host().output(shell`bectl create -e ${basename(own.root)} ${name}`);
				const filled = await fill(machine, name, archive);
				if (filled.kind !== "filled") {
					await destroy(host(), name);
					return filled;
				}
				const system = {
					...own,
					root: `${dirname(own.root)}/${name}`,
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
			await host().output(shell`bectl activate -t ${basename(system.root)}`);
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
		const gone = others.filter((name) => name !== basename(root?.device ?? ""));
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
	const target = `${mounted}${dirname(own.kernel)}`;
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
			reason: reason.replace(target, dirname(own.kernel))
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
	const dataset = `${dirname(own.root)}/${name}`;
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
/** Undefined where it can; throws a HostError where the machine is no appliance. Changes nothing. */
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
			const name = dirname(system.kernel).replace("/boot/", "");
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
		const running = dirname((await host().output(shell`sysctl -n kern.bootfile`)).trim());
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
/** The command fails where no order was ever left there. */
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
	* variants outside of `kept` are removed, except for the running one; none where `kept` is absent.
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
	/** Keeps the connection where it still carries a command. */
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

// src/lab/freebsd/dut/counters.ts
const interfaceCounters = shell`netstat -i -b -n -W`;
const cpuTimesCommand = shell`sysctl -n kern.cp_times`;
const interruptsCommand = shell`vmstat -i`;
/** Includes the statistics of cards whose drivers are listed below. */
function countersCommands(interfaces) {
	return [
		interfaceCounters,
		shell`netstat -s`,
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
	const earlier = parseCpuTimes(before.get(commandText(cpuTimesCommand)) ?? "");
	const spent = parseCpuTimes(after.get(commandText(cpuTimesCommand)) ?? "").map((cpu, index) => difference(cpu, earlier[index]));
	if (spent.length !== earlier.length || spent.some(({ busy, idle }) => busy < 0 || idle < 0)) return;
	const running = spent.filter(({ busy, idle }) => busy + idle > 0);
	if (running.length === 0) return void 0;
	return {
		overallRatio: shareOf(sumOf(running)),
		busiestCpuRatio: running.reduce((most, cpu) => Math.max(most, shareOf(cpu)), 0)
	};
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
		const counters = parseInterfaceCounters(outputs.get(commandText(interfaceCounters)) ?? "").get(name);
		return counters && countOf(counters);
	});
	return first === void 0 || last === void 0 || last < first ? void 0 : last - first;
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
/** Packets that an interface sent within the window; undefined where the log has no counters. */
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

export { BootMethodError, DutLostError, FreebsdDut, advice, arrivedBetween, benchmarkingNetworks, busyShare, checkSettings, collectSamples, countersCommands, countersLog, cpuTimesCommand, differences, endSampling, fileSystemsOf, fingerprintCommands, fingerprintOf, flashed, generatorPortSettings, hasBootedSinceMark, interruptsCommand, isOurs, loadedModules, markBoot, nextRoot, parseArp, parseCpuTimes, parseIfconfig, parseInterfaceCounters, parseNdp, parseRoutes, pathSettings, problemOf, readsOf, readySampling, runningSystem, sentBetween, sentWithin, settingsCommands, waived, wakeFreebsdDut, whyUnfit, windowCommand };