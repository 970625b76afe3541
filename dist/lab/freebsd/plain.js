import { driverSettingsOf, firmwareNames, halvesOf, isJudged, knownNetwork } from "../../model/first-plain.js";
import { kernelDependentFacts, volatileFacts, withoutKernelFacts } from "../../model/plain.js";
import { commandText, shell } from "../../system/shell.js";
import { HostError, isGood } from "../../system/host/first-plain.js";
import { isAtFault, lacksControl, tallyOf } from "../plain.js";
import { describeScreen } from "../console/plain.js";
const { BlockList, isIPv4, isIPv6 } = globalThis.process.getBuiltinModule("node:net");

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
	const rows = filledLines(text).map(words);
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
	return filledLines(text).map(words).filter(([first = ""]) => first.includes(":")).map(([address = "", mac = "", name = "", expires]) => neighbour(address, mac, name, expires === "permanent"));
}
/** An unresolved address has `(incomplete)` as its MAC address. */
const neighbour = (address, mac, name, isPermanent) => ({
	address,
	...mac.includes(":") && { mac: mac.toLowerCase() },
	interface: name,
	isPermanent
});
/** Drops empty lines: megabytes of them would become gigabytes of arrays. */
const filledLines = (text) => text.split("\n").filter(Boolean);
const words = (line) => line.trim().split(/\s+/);

// src/lab/freebsd/dut/setting.ts
function readsOf(settings) {
	const commands = settings.flatMap(({ reads }) => reads);
	return [...new Map(commands.map((command) => [commandText(command), command])).values()];
}
/** Returns an empty text if the setting holds. `where` is the machine's name for people. */
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
			what: `check why \`${failed}\` fails on ${where}`
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
	why: "a router must neither merge nor split packets",
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
	why: "the trial needs the full speed",
	reads: [shell`ifconfig ${name}`],
	check: onInterface((port) => {
		const inspect = {
			kind: "person",
			what: `check its cable, its transceiver and "ifconfig ${name}"`
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
				what: "check the output of ifconfig"
			}
		};
	};
}
/** Covers both directions: a DUT without a route back to a sender may drop its packets. */
function pathSettings(family, ports) {
	const { ingress, egress, addresses } = ports;
	const { wholes, sources, destinations } = routedNetworks(family, addresses);
	return [
		...wholes.map((whole) => blackhole(family, ports, whole)),
		...sources.map((network) => route(family, network, ingress)),
		staticNeighbour(family, ingress),
		...destinations.map((network) => route(family, network, egress)),
		staticNeighbour(family, egress)
	].map((setting) => ({
		...setting,
		isVital: true
	}));
}
/**
* Networks with a blackhole route, and those with routes to the senders and the receivers. A network has one route, so
* these are halves: of RFC 2544's and RFC 5180's for each side, or both halves of a site's.
*/
function routedNetworks(family, addresses = {}) {
	const { whole, halves } = benchmarkingNetworks[family];
	const { source, destination } = addresses[family] ?? {};
	return {
		wholes: [
			source === void 0 || destination === void 0 ? whole : [],
			source ?? [],
			destination ?? []
		].flat(),
		sources: source === void 0 ? [halves[0]] : halvesOf(knownNetwork(source, family)),
		destinations: destination === void 0 ? [halves[1]] : halvesOf(knownNetwork(destination, family))
	};
}
const benchmarkingNetworks = {
	inet4: {
		whole: "198.18.0.0/15",
		halves: ["198.18.0.0/16", "198.19.0.0/16"]
	},
	inet6: {
		whole: "2001:2::/48",
		halves: ["2001:2::/49", "2001:2:0:8000::/49"]
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
function blackhole(family, { ingress, egress, addresses }, whole) {
	const { netstat, flag, loopback } = tools[family];
	const { sources, destinations } = routedNetworks(family, addresses);
	const leadsPast = (route) => ![ingress.interface, egress.interface].includes(route.interface) && ![...sources, ...destinations].includes(route.destination) && !isLoopback(route) && !discards(route);
	return {
		name: `The blackhole route for ${whole}`,
		why: "test packets without another route would leave through the management network",
		reads: [netstat],
		check: (output) => {
			const routes = parseRoutes(output);
			const past = routes.filter(leadsPast);
			const inside = past.find(({ destination }) => isWithin(destination, whole, family));
			if (inside !== void 0) {
				const { destination, interface: name } = inside;
				const what = `remove that route with \`${commandText(shell`route delete ${flag} ${destination}`)}\` on the DUT`;
				return {
					is: `does not cover packets to ${destination} through ${name}`,
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
				is: `is missing: ${wider} leads to ${around?.interface}`,
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
/** Reads a destination without a length as one host; undefined for no address. */
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
		why: "test packets need it",
		reads: [netstat],
		check: (output) => {
			const found = parseRoutes(output).find(({ destination }) => destination === network);
			const isRight = found?.gateway === gateway && found.interface === port.interface && !discards(found);
			const change = found === void 0 ? shell`add` : shell`change`;
			return unless(isRight, {
				is: found === void 0 ? "is missing" : `goes to ${found.gateway} through ${found.interface}`,
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
		why: "resolving it during a trial would fail",
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
/** Without this setting, a kernel with the debugger stops at its prompt, and the cause of the panic is lost. */
const resetsAtPanic = {
	name: "debug.debugger_on_panic",
	value: 0,
	/** The same setting as a line for the loader, or for nextboot(8). */
	line: "debug.debugger_on_panic=0"
};
async function tracesOf(host) {
	const [messages, dump] = await Promise.all([host.output(shell`dmesg -a`), host.run(shell`cat ${"/var/crash/info.last"}`)]);
	return {
		dump: isGood(dump) ? dump.stdout.trim() : void 0,
		messages: messages.trimEnd().split("\n")
	};
}
/** Time limit, for sites without savecore(8) at boot. */
const maxSaveSeconds = 300;
const pollSeconds = 5;
/** Waits, as the first login may come before savecore(8) has saved a dump. `-C` succeeds while a dump is unsaved. */
async function waitForDump(host, sleep) {
	for (let seconds = 0; seconds < maxSaveSeconds; seconds += pollSeconds) {
		const unsaved = await host.run(shell`savecore -C`);
		if (!isGood(unsaved)) return;
		await sleep(pollSeconds);
	}
}
/** Returns the first panic, which causes all later ones. */
function panicSince(before, now) {
	const dumped = /^[ \t]*Panic String: (.+)$/m.exec(now.dump ?? "")?.[1];
	if (now.dump !== before.dump && dumped !== void 0) return dumped;
	for (const line of newLines(before.messages, now.messages)) {
		const panic = /^(?:\[\d+(?:\.\d+)?\] )?panic: (.+)$/.exec(line)?.[1];
		if (panic !== void 0) return panic;
	}
}
/** Remaining old lines come first; without any, all lines are new. */
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
/** Missing from kernels without `options KDB`. */
const debuggerOnPanic = {
	...sysctl(resetsAtPanic.name, resetsAtPanic.value, "a kernel with the debugger would stop at its prompt after a panic"),
	isOptional: true
};
const dumpDevice = {
	name: "kern.shutdown.dumpdevname",
	why: "otherwise the cause of a panic is lost",
	reads: [readSysctl("kern.shutdown.dumpdevname")],
	check: (device) => unless(device !== "" && device !== "/dev/null", {
		is: "has no dump device",
		fix: {
			kind: "person",
			what: "put `dumpdev=\"AUTO\"` into the /etc/rc.conf of the DUT (this needs swap space), and run `service dumpon start`"
		}
	}),
	isOptional: true
};
/** Bits of sys/random.h's sources. Other sources are the machine's choice: those of hardware cannot even be cleared. */
const perPacketSources = 160;
const harvestMask = {
	name: "kern.random.harvest.mask",
	why: "it would gather entropy from each frame or interrupt",
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
	...tunable("machdep.hyperthreading_allowed", 0, "queues bound to two threads of one core share that core"),
	isOptional: true
};
/** `options RSS` uses all of netisr's threads. A kernel without its configuration may have that option. */
const netisr = [{
	name: "net.isr.maxthreads",
	why: "with options RSS, only that many threads carry all traffic",
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
	why: "with options RSS, a thread must stay on the CPU of its queue",
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
	inet4: [sysctl("net.inet.ip.forwarding", 1, "the DUT would forward nothing"), sysctl("net.inet.ip.redirect", 0, "packets are checked for redirects")],
	inet6: [sysctl("net.inet6.ip6.forwarding", 1, "the DUT would forward nothing"), sysctl("net.inet6.ip6.redirect", 0, "packets are checked for redirects")]
};
/** A process that never sleeps counts 1. */
const maxBusyCpus = .5;
/** Accepts a load average below 0.5. It falls for minutes after a boot; until then, measures for 5 s. */
const idleScript = "case $(sysctl -n vm.loadavg) in \"{ 0\"[.,][0-4]*) ;; *) sysctl -n kern.cp_time && sleep 5 && sysctl -n kern.cp_time;; esac";
const idleness = {
	name: "kern.cp_time",
	why: "other programs take CPU time from forwarding",
	reads: [shell`sh -c ${idleScript}`, readSysctl("hw.ncpu")],
	check: (samples, cpus) => {
		if (samples === "") return void 0;
		const busy = busyCpus(samples, Number(cpus));
		return unless(busy <= maxBusyCpus, {
			is: Number.isNaN(busy) ? "cannot be determined" : `shows ${busy.toFixed(1)} busy CPUs, more than ${maxBusyCpus}`,
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
const minSecondsUp = 60;
/** Reads only the DUT's clock: it need not agree with any other, and both values move when it is set. */
const timeSinceBoot = {
	name: "kern.boottime",
	why: "services may still be starting",
	reads: [readSysctl("kern.boottime"), shell`date +%s`],
	check: (boot, now) => {
		const bootSeconds = Number(/^\{ sec = (\d+),/.exec(boot)?.[1] ?? NaN);
		const up = Number(now) - bootSeconds;
		if (up < 0) return {
			is: "is in the future",
			fix: {
				kind: "wait",
				seconds: minSecondsUp
			}
		};
		const seconds = Math.ceil(minSecondsUp - up);
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
	what: "check `sysctl -n kern.boottime` and `date +%s` on the DUT"
};
const isWhole = (value) => /^\d+$/.test(value);

// src/lab/freebsd/mtu.ts
/** Ethernet's header has 14 bytes, its checksum 4. pkt-gen compares the frame without the checksum with the MTU. */
const minMtu = {
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
	const short = await shortMtu(host, port, minMtu[role](frameBytes));
	if (short === void 0) return;
	const { is, fix } = short;
	throw new HostError("command-failed", `${port} on ${host.name} ${is} (${frameBytes} bytes each): run ${fix}.`);
}

// src/lab/freebsd/dut/fingerprint.ts
/** Lists commands for `fingerprintOf`, which omits any that fail. */
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
/** Returns a line for each differing fact that the kernel does not explain; none if the two boots are comparable. */
function differences(base, other, variant = "patched") {
	return [.../* @__PURE__ */ new Set([...Object.keys(base), ...Object.keys(other)])].filter((name) => !kernelDependentFacts.has(name) && !volatileFacts.has(name)).filter((name) => base[name] !== other[name]).map((name) => `${name}: ${quoted(base[name])} on base, ${quoted(other[name])} on ${variant}`);
}
/** Returns a line for each card whose firmware a kernel has flashed in between; flashing is permanent. */
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

// src/lab/freebsd/preflight.ts
var PreflightError = class extends Error {
	name = "PreflightError";
	constructor(testbed, problems) {
		const otherwise = problems.some((problem) => problem.isVital) ? "which every `preflight` requires" : "or set `preflight` to fix or warn";
		super([`${testbed} is not ready for measurements; fix this, ${otherwise}:`, ...problems.map(({ message }) => `- ${message}`)].join("\n"));
	}
};
/** With several senders, the DUT's route back leads to the first one. */
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
/** Returns the remaining problems. Waits for those that only need time, and runs commands in the mode `fix`. */
async function preflight(host, { mode, waive, context, sleep }) {
	const read = async () => waived(checkSettings(await readAll(host, settingsCommands(context)), context), waive);
	const problems = await onceSettled(read, sleep);
	if (mode !== "fix") return problems;
	const commands = problems.flatMap(({ fix, isWaived }) => fix.kind === "command" && !isWaived ? fix.command : []);
	for (const command of commands) await host.run(command);
	return commands.length > 0 ? await read() : problems;
}
/** Waits for problems that only need time: a machine that is busy while it comes up is mostly idle soon after. */
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
/** Finds problems that would keep packets from the receiver, or let others reach it; runs right before a trial. */
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
		return isGood(outcome) ? [[commandText(command), outcome.stdout]] : [];
	}));
	return new Map(outputs.flat());
}

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
		...[...nodes].map(([, port]) => inForce(`netgraph of ${port} of the DUT`, `\`ngctl show ${port}:\` lists its hooks, and \`rmhook\``))
	];
}
/** Matches lines of pfilctl(8), in FreeBSD since 13.0: direction, module and ruleset below each point. */
const linkedHook = /^ +(?:In|Out) +([\w.-]{1,63}) +\S+ *$/gm;
/** Trials remove pf and ipfw; a setting, which older releases have, too, shows ipf. */
const isUnknown = (module) => ![
	"pf",
	"ipfw",
	"ipfilter"
].includes(module);
/** Matches a line of ngctl(8). */
const connectedPort = /^ +Name: ([\w.-]{1,31}) +Type: ether +ID: [0-9a-f]+ +Num hooks: [1-9]\d*$/gm;
/** Lists nothing without both modules, as ngctl(8) would load ng_socket. */
async function netgraphNodes(host) {
	for (const module of ["ng_ether", "ng_socket"]) {
		const loaded = await host.run(shell`kldstat -q -m ${module}`);
		if (!isGood(loaded)) return "";
	}
	return outputOf(host, shell`ngctl list`);
}
async function outputOf(host, command) {
	const outcome = await host.run(command);
	return isGood(outcome) ? outcome.stdout : "";
}
const inForce = (what, fix) => `${what} stays active in every scenario and slows every measurement: ${fix} removes it.`;

// src/lab/freebsd/rule-drops.ts
/** Continues "dropped by". */
const nameOfFirewallRule = ({ firewall, rule }) => `the rule "${rule}" of ${firewall}`;
/**
* Finds, while the rules are in force, the one that dropped most of the packets sent; the name continues "dropped by".
*/
async function droppedByRules(host) {
	const [first] = await droppingRules(host);
	return first && `${nameOfFirewallRule(first)}, which counted ${first.packets} packets`;
}
/** Lists dropping rules, those with most packets first. */
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

// src/lab/freebsd/boots.ts
const bootsOf = (config, dut, deps, { tallies = /* @__PURE__ */ new Map(), unread = /* @__PURE__ */ new Set(), addresses } = {}) => ({
	config,
	dut,
	deps,
	tallies,
	unread,
	addresses,
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
/** Reads the DUT's fingerprint before the first boot, without facts of its own kernel, which is not measured. */
async function fingerprintOfDut(boots) {
	boots.original = await fingerprint(boots.dut.host(), portsOf(boots));
	return withoutKernelFacts(boots.original);
}
const portsOf = ({ config: { dut } }) => [dut.ingress.interface, dut.egress.interface];
/** Fixes settings that the configuration allows to fix, and returns the rest. */
const settingsThatFail = ({ config, deps, dut, unread, addresses, ...boots }, families = boots.families) => preflight(dut.host(), {
	mode: config.preflight,
	waive: config.waive,
	context: {
		...settingsContext(config, families),
		unread,
		addresses
	},
	sleep: deps.sleep
});
/** Returns the current boot if such a run can use it; undefined if the DUT must boot. */
const bootOf = ({ booted }, { variant, pair }) => booted?.variant === variant && booted.pair === pair && !booted.isSampled ? booted : void 0;
/** Boots for a run unless the current boot suffices: one boot serves all cells of a pair's variant. */
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
		if (installed.kind === "lacks-module") return afterBootFailure(boots, variant, { reason: `it was not booted, because ${installed.reason}` });
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
	if (flash !== void 0) return unfit(boots, planned, `the firmware of the DUT's card changed during this gate (${flash}): a kernel has flashed it permanently, so numbers before and after are not comparable, in later gates too; put \`hw.cxgbe.fw_install="0"\` into its /boot/loader.conf, and flash the firmware that you want`);
	const reference = boots.reference ?? boot;
	const found = differencesBetween(reference, boot);
	const [difference] = found;
	if (boots.mayDiffer && reference.variant !== variant) warnOfDifferences(boots, variant, found);
	else if (difference !== void 0) return unfit(boots, planned, `the DUT differs in more than its kernel: ${difference}`);
	boots.booted = boot;
	return {
		kind: "ready",
		boot
	};
}
/** Warns of each difference once, for all variants. */
function warnOfDifferences(boots, variant, found) {
	for (const difference of found) {
		const key = difference.replace(` on ${variant}`, "");
		if (boots.differences.has(key)) continue;
		boots.differences.add(key);
		boots.warnings.push(`the DUT differs in more than its kernel: ${difference}`);
	}
}
const takeWarnings = (boots) => boots.warnings.splice(0);
/** Checks the path right before every trial: a kernel may lose routes after its boot. */
async function pathProblem({ config, dut, addresses }, family) {
	const families = [family];
	const context = {
		...settingsContext(config, families),
		addresses
	};
	const [problem] = await pathProblems(dut.host(), {
		context,
		families
	});
	return problem?.message;
}
/** Sets the reference after a trial that was measured without a fault. */
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
/** Rejects the variant for a second failure, if base has booted. */
function afterBootFailure(boots, variant, { reason, panic, console }) {
	const { tallies } = boots;
	tallyOf(tallies, variant).bootFailures += 1;
	return isAtFault(tallies, variant, "bootFailures", "hasBooted") ? rejected(variant, {
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

// src/lab/freebsd/freebsd-deps.ts
/** Longer than any command, unless a kernel has locked it up. */
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

// src/lab/freebsd/losses.ts
/** Throws if a machine does not come back, or machines are lost repeatedly. */
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
	return afterDeath(boots, loss, "it stopped responding, and was power-cycled", last);
}
function afterRefusal(boots, variant, scenario, refusal) {
	const { tallies } = boots;
	tallyOf(tallies, variant).refusals += 1;
	return isAtFault(tallies, variant, "refusals", "hasStoodTrial") ? rejected(variant, {
		kind: "does-not-load",
		scenario,
		message: `Twice: ${refusal}.`
	}) : suspected({
		boots,
		variant,
		proof: "hasStoodTrial"
	}, refusal);
}
const maxGlitchesInARow = 3;
function afterGlitch({ glitches }, error) {
	glitches.inARow += 1;
	if (glitches.inARow >= maxGlitchesInARow) throw error;
	return failed(error.message);
}
function afterDeath(boots, loss, how, words) {
	const { panic, console } = words;
	const { tallies } = boots;
	const { variant, phase } = loss;
	const where = circumstances(loss);
	if (phase === "while sampled") return failed(`the DUT with ${variant} died ${where}: ${how}`);
	tallyOf(tallies, variant).deaths += 1;
	if (!isAtFault(tallies, variant, "deaths", "hasStoodTrial")) {
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
		case "after its boot": return "right after its boot";
		case "at the rules": return `while ${scenario} was installed`;
		case "under load": return `under ${flows} flows`;
		case "while sampled": return "while samples were taken";
	}
}
const isReachable = (host) => host.output(shell`sysctl -n kern.boottime`, { timeoutSeconds: answerSeconds }).then(() => true, () => false);
const answerSeconds = 10;

export { PreflightError, advice, afterBootFailure, afterLoss, afterRefusal, bootFor, bootOf, bootsOf, bounded, checkSettings, droppedByRules, droppingRules, failed, fingerprintOfDut, generatorPortSettings, inspectDut, minMtu, nameOfFirewallRule, onceSettled, otherFilters, panicSince, parseIfconfig, pathProblem, pathProblems, portsOf, problemOf, readAll, readsOf, rejected, requireMtu, resetsAtPanic, routedNetworks, setListed, setReference, settingsCommands, settingsContext, settingsThatFail, shortMtu, takeWarnings, tracesOf, waitForDump, waived };