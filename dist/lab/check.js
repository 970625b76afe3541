import { UsageError, flowRanges, formatPps, grouped, isFlowControlUnknown, lastLine, netmapPort, reasonOf, shortened } from "../model/first-plain.js";
import { frameBytesFor } from "../config/first.js";
import { sum } from "../vendor/simple-statistics.js";
import { packagesOf } from "../model/plain.js";
import { LabInUseError, claimWhenFree } from "./netns/first-plain.js";
import { LabImpossibleError, ownerFile, requireLab } from "./netns/plain.js";
import { commandText, shell } from "../system/shell.js";
import { jailProblem, outsideOptions, socketsInJail } from "../kernel/first-plain.js";
import { HostError, isGood } from "../system/host/first-plain.js";
import { nextRoot } from "./freebsd/dut/first-plain.js";
import { fileSystemsOf, hasBootedSinceMark, isOurs, markBoot, runningSystem, whyUnfit } from "./freebsd/boot/first-plain.js";
import { PowerError } from "./power/first-plain.js";
import { KernelFilesError, NoOwnKernelError } from "./qemu/vm/plain.js";
import "./power.js";
import { gitIn, whyNoRoot } from "../kernel.js";
import { loadedModules } from "./freebsd/boot/plain.js";
import { advice, bounded, checkSettings, generatorPortSettings, inspectDut, minMtu, onceSettled, parseIfconfig, pathProblems, problemOf, readAll, readsOf, settingsCommands, settingsContext, shortMtu, waived } from "./freebsd/plain.js";
import { countersCommands, firewallWarnings, firewallsOn, interruptsCommand, proofOf, removalCommands, rulesFolder, sentBetween, siteFirewalls } from "./freebsd.js";
import { ConsoleError } from "./console.js";
import { parsePktGenLog } from "./traffic/plain.js";
import { pktGenRun, pktGenTrial } from "./traffic.js";
import { missingOn } from "../system/host/plain.js";
import { findLeftovers, whyUnrestorable } from "./linux/plain.js";
import { neededPrograms, ourFolder, ourPrograms } from "./netns.js";
import { lastWords } from "./console/plain.js";
import { guestImage } from "./qemu/plain.js";
import { bootTogether, isOfImage, openImage } from "./qemu.js";
import { GuestEndedError, guestCpu, virtualLabUp } from "./qemu/vm.js";
const { posix } = globalThis.process.getBuiltinModule("node:path");
const { readFile } = globalThis.process.getBuiltinModule("node:fs/promises");

// src/lab/check/diagnostic.ts
/** Runs the steps in order, and skips those whose needs have failed. Throws the signal's reason between two steps. */
async function* walk(steps, { signal, onStep = () => {}, failed }) {
	const blamed = /* @__PURE__ */ new Map();
	for (const { what, needs = [], run } of steps) {
		signal.throwIfAborted();
		const blame = needs.map((need) => blamed.get(need)).find((step) => step !== void 0);
		if (blame !== void 0) {
			blamed.set(what, blame);
			yield skipped(what, `skipped because of this fault: ${blame}`);
			continue;
		}
		onStep(what);
		try {
			for await (const diagnostic of await run(what)) {
				if (faults.includes(diagnostic.kind)) blamed.set(what, what);
				yield diagnostic;
			}
		} catch (error) {
			signal.throwIfAborted();
			blamed.set(what, what);
			yield failed(what, error);
		}
	}
}
const faults = ["wrong", "unreachable"];
const lookAgain = "fix that first, then run this check again";
function testbedFailed(what, error) {
	if (!(error instanceof HostError || error instanceof PowerError)) throw error;
	return wrong(what, error.message, lookAgain);
}
const ok = (what, why) => ({
	kind: "ok",
	what,
	why
});
const skipped = (what, why) => ({
	kind: "skipped",
	what,
	why
});
const wrong = (what, why, fix) => ({
	kind: "wrong",
	what,
	why,
	fix
});
const typed = (command) => `\`${unquoted(commandText(command))}\``;
const unquoted = (text) => text.replace(/'([\w@%+=:,./-]+)'/g, "$1");
const sshTo = ({ label }) => `ssh to ${label}`;
function on(machine, what, look) {
	return {
		what,
		needs: [sshTo(machine)],
		run: async () => machine.host === void 0 ? [] : look(machine.host, what)
	};
}
const limits = { timeoutSeconds: 60 };
const does = async (host, command) => isGood(await host.run(command, limits));
const inGigabytes = (bytes) => `${(bytes / 1e9).toFixed(1)} GB`;
function loginStep(machine, connect) {
	const what = sshTo(machine);
	const { label, config } = machine;
	const { user, host, port, privateKeyPath: key } = config;
	return {
		what,
		needs: [],
		async run() {
			try {
				machine.host = await connect(config, label.replace(/^the /, ""));
			} catch (error) {
				if (!(error instanceof HostError)) throw error;
				return [wrong(what, error.message, fixOfLogin(error, config))];
			}
			const by = key === void 0 ? "a key of the agent" : `the key ${key}`;
			return [ok(what, `${user}@${host}, port ${port}, with ${by}`)];
		}
	};
}
function fixOfLogin({ kind }, { host, port, user, knownHostsPath, privateKeyPath }) {
	if (kind === "host-key") return `compare the fingerprint with the machine's console, remove an old line of that machine, and run ${typed(shell`ssh-keyscan -p ${port} ${host} >> ${knownHostsPath}`)}`;
	if (kind !== "login" && kind !== "login-refused") return "switch it on, run `service sshd onestart` on its console, and check `host` and `port` in ppsgate.yml";
	if (privateKeyPath === void 0) return "load a key into the agent that is in its authorized_keys (see `ssh-add -l`), or name a `key` in ppsgate.yml";
	return `name a \`key\` without a passphrase, and run ${typed(shell`ssh-copy-id -i ${`${privateKeyPath}.pub`} -p ${port} ${`${user}@${host}`}`)}, with \`PermitRootLogin prohibit-password\` in its sshd_config`;
}

// src/lab/check/builder-check.ts
function builderSteps(builder) {
	if (builder === void 0) return [noBuilder];
	const { config } = builder;
	const { repository, folder, recipe } = config;
	const usesFilemon = recipe.kind === "make" && recipe.metaMode;
	return [
		on(builder, "git on the builder", async (host, what) => await does(host, shell`git --version`) ? [ok(what, "it is installed")] : [wrong(what, "it is not installed", "run `pkg install git` on the builder")]),
		{
			...on(builder, `the clone ${repository}`, (host, what) => clone(host, repository, what)),
			needs: [sshTo(builder), "git on the builder"]
		},
		on(builder, "the compiler on the builder", async (host, what) => {
			const outcome = await host.run(shell`cc --version`, limits);
			if (isGood(outcome)) return [ok(what, outcome.stdout.split("\n")[0]?.trim() ?? "")];
			return [wrong(what, "it has no cc", "install the base system with its compiler on the builder")];
		}),
		...usesFilemon ? [on(builder, "filemon on the builder", filemon)] : [],
		on(builder, "the builds on the builder", (host, what) => builds(host, config, what)),
		on(builder, "the space on the builder", async (host, what) => {
			const { path, bytes } = await spaceFor(host, folder);
			const free = `${inGigabytes(bytes)} free in ${path}`;
			if (bytes >= config.minFreeBytes) return [ok(what, free)];
			const why = `${free}, but a build needs ${inGigabytes(config.minFreeBytes)}`;
			return [wrong(what, why, "free some space there, or name another `folder` in ppsgate.yml")];
		})
	];
}
const noBuilder = {
	what: "the builder",
	needs: [],
	run: async () => [skipped("the builder", "`builder` is not configured: only prebuilt kernels can be measured")]
};
async function clone(host, repository, what) {
	const outcome = await host.run(gitIn(repository, shell`rev-parse --verify HEAD`), limits);
	if (isGood(outcome)) return [ok(what, `at ${outcome.stdout.trim().slice(0, 12)}`)];
	const why = `git says: ${lastLine(outcome.stderr) ?? "nothing"}`;
	const get = shell`git clone ${"https://git.freebsd.org/src.git"} ${repository}`;
	return [wrong(what, why, `${typed(get)} there`)];
}
/** Reports the user and the jail that confine a build, which runs code of the patch. */
async function builds(host, config, what) {
	const { jail, user, recipe } = config;
	const problem = await jailProblem(host, config, limits.timeoutSeconds);
	if (problem !== void 0) return [wrong(what, problem.why, problem.fix)];
	const confinement = jail === void 0 ? `as ${user}, who can change the whole machine: a jail would confine builds (\`jail\` in ppsgate.yml)` : `as ${jail.user} in the jail ${jail.name}, without network`;
	const diagnostics = [ok(what, confinement)];
	const [socket] = jail === void 0 ? [] : await socketsInJail(host, config, limits.timeoutSeconds);
	if (socket !== void 0) {
		const why = `builds can reach ${socket}, because their jail shares the folders of its host: give the jail its own /var/run and /tmp`;
		diagnostics.push(ok("the sockets on the builder", why));
	}
	const outside = outsideOptions(recipe);
	if (outside.length === 0) return diagnostics;
	const why = `it is not used, because ${outside.join(" and ")} may refer to files outside the tree`;
	return [...diagnostics, ok("the cache of kernels", why)];
}
async function filemon(host, what) {
	if (await does(host, shell`kldstat -q -m filemon`)) return [ok(what, "it is loaded")];
	return [wrong(what, "it is not loaded", "run `kldload filemon` and `sysrc kld_list+=filemon` on the builder")];
}
async function spaceFor(host, folder) {
	let path = folder;
	while (path !== "/" && !await does(host, shell`test -d ${path}`)) path = posix.dirname(path);
	const [disk] = await fileSystemsOf(host, [path]);
	return {
		path,
		bytes: disk?.availableBytes ?? 0
	};
}

// src/lab/check/console-check.ts
function consoleStep({ name, testbed, dut, deps }) {
	const what = "the console of the DUT";
	const { console } = testbed.dut;
	if (console === void 0) {
		const why = "`console` is not configured: a kernel that does not boot usually reports the cause only there";
		return {
			what,
			needs: [],
			run: async () => [skipped(what, why)]
		};
	}
	return on(dut, what, async (host) => [await consoleDiagnostic(host, {
		what,
		name,
		console,
		deps
	})]);
}
const maxSeconds = 10;
/** Writes a word to /dev/console, which proves that the console is the DUT's. */
async function consoleDiagnostic(host, { what, name, console, deps }) {
	let shown = "";
	const onOutput = (chunk) => {
		shown = (shown + chunk.toString("latin1")).slice(-65536);
	};
	const opened = await deps.openConsole(`the DUT of ${name}`, console, onOutput).catch((error) => {
		if (error instanceof ConsoleError) return error;
		throw error;
	});
	if (opened instanceof ConsoleError) return wrong(what, opened.message, fixes[console.kind]);
	try {
		const word = `ppsgate ${(await host.output(shell`uuidgen`, limits)).trim()}`;
		await host.output(shell`tee ${"/dev/console"}`, {
			...limits,
			stdin: `\r\n${word}\r\n`
		});
		for (let second = 0; second < maxSeconds && !shown.includes(word); second += 1) await deps.sleep(1);
		if (shown.includes(word)) return ok(what, "it shows what the DUT writes to /dev/console");
		return await unseen(host, what, shown);
	} finally {
		await opened.close();
	}
}
const fixes = {
	ipmi: "check with `ipmitool sol info` and `ipmitool channel getaccess 1` that Serial over LAN is enabled for operators and for this user; to enable it: `ipmitool sol set enabled true 1`, `ipmitool sol set privilege-level operator 1`, `ipmitool sol payload enable 1 ID`",
	conserver: "run `console -s` with its name here, as the user that runs ppsgate",
	command: "run the command here, as the user that runs ppsgate; it must keep running until it is stopped"
};
/** The kernel writes to all active consoles: in kern.console, `ttyu1,ttyv0,/…`, those before the slash. */
async function unseen(host, what, shown) {
	const active = ((lastLine(await host.output(shell`sysctl -n kern.console`, limits)) ?? "").split("/")[0] ?? "").split(",").filter(Boolean);
	const [first = "nothing"] = active;
	if (active.every(isScreen)) return wrong(what, `the DUT writes only to ${first}, not to a serial port`, serialFirst);
	if (isScreen(first)) {
		const why = `the DUT writes to ${first} first, and only kernel messages to its serial port`;
		return wrong(what, why, serialFirst);
	}
	const last = lastLine(shown);
	const instead = last === void 0 ? "and received nothing at all" : `but received "${shortened(last)}"`;
	return wrong(what, `it shows nothing of what the DUT writes to ${first}, ${instead}`, "compare `comconsole_port` and `comconsole_speed` in /boot/loader.conf of the DUT with the port and speed of the BMC or console server: Serial over LAN usually uses COM2, `comconsole_port=\"0x2f8\"`; it may also be the console of another machine");
}
const isScreen = (console) => console.startsWith("ttyv");
const serialFirst = "put `boot_multicons=\"YES\"`, `boot_serial=\"YES\"`, `console=\"comconsole,vidconsole\"` and `comconsole_speed=\"115200\"` into /boot/loader.conf of the DUT, for Serial over LAN usually also `comconsole_port=\"0x2f8\"`, and reboot it";

// src/lab/check/freebsd-ceiling.ts
const ceiling = "the ceiling of the generators";
/**
* Sends past the DUT if `backToBack` joins ports, and through it: from each sender alone, and from all together. Only the
* last trial keeps to `traffic.rate`, as measurements do; the others find what a sender is capable of.
*/
function checkCeiling(check, needs) {
	if (check.sends) return {
		what: ceiling,
		needs,
		run: () => trials(check)
	};
	const run = async () => [skipped(ceiling, "sending packets is switched off")];
	return {
		what: ceiling,
		needs: [],
		run
	};
}
async function* trials(check) {
	await using opened = new AsyncDisposableStack();
	const { testbed, deps } = check;
	const connect = async (...[host, label]) => {
		const connected = await deps.connect(host, label);
		opened.defer(() => connected.close());
		return connected;
	};
	const dutHost = await connect(testbed.dut, "DUT");
	const dut = await portOn(dutHost, testbed.dut.ingress.interface);
	const receiver = await connect(testbed.receiver, "receiver");
	const senders = [];
	for (const [index, { interface: name, mac }] of testbed.senders.entries()) {
		const label = testbed.senders.length === 1 ? "sender" : `sender ${index + 1}`;
		const host = await connect(testbed.senders[index] ?? testbed.receiver, label);
		const { gigabits } = await portOn(host, netmapPort(name));
		const sender = {
			host,
			interface: name,
			sourceMac: mac,
			destinationMac: dut.mac ?? ""
		};
		senders.push({
			...sender,
			label,
			gigabits
		});
		const past = pastTheDut(label);
		const joined = testbed.senders[index]?.backToBack;
		if (joined === void 0) yield skipped(past, noPortsPastIt);
		else yield await backToBack(check, past, {
			...sender,
			label
		}, receiver, joined);
	}
	const through = {
		host: receiver,
		interface: testbed.receiver.interface,
		way: "through the DUT"
	};
	const line = (some) => lineOf(check, some, dut.gigabits);
	if (senders.length > 1) for (const sender of senders) yield aloneDiagnostic(`${sender.label} alone`, await trialOf(check, [sender], through), line([sender]));
	const what = senders.length > 1 ? "all senders together" : ceiling;
	const egress = testbed.dut.egress.interface;
	const before = await readAll(dutHost, countersCommands([]));
	const { offeredPps: ratePps } = check.traffic;
	const together = await trialOf(check, senders, through, ratePps);
	const after = await readAll(dutHost, countersCommands([]));
	yield togetherDiagnostic(what, together, ratePps === void 0 ? line(senders) : "rate");
	if (faultOf(what, together) === void 0) {
		yield receiverDiagnostic(together, egress, sentBetween(before, after, egress));
		yield queuesDiagnostic(before, after, testbed.dut.ingress);
	}
}
/** A queue with less than this share of its even part got none of the test's flows. */
const minEvenShare = .1;
/**
* Compares the interrupts of the receive queues; one interrupt may serve several packets. `queues` may be more than the
* system names: some versions leave out those without any interrupt. A test that reaches less than half of the queues
* leaves most of the DUT idle.
*/
function queuesDiagnostic(before, after, { interface: device, queues: configured = 0 }) {
	const what = "the receive queues of the DUT";
	const earlier = queueInterrupts(before, device);
	const counts = [...queueInterrupts(after, device)].map(([number, count]) => count - (earlier.get(number) ?? 0));
	const all = Math.max(configured, counts.length);
	const least = sum(counts) * minEvenShare / Math.max(all, 1);
	const reached = counts.filter((count) => count > 0 && count >= least).length;
	if (all < 2 || reached === 0) return skipped(what, `${device} has no counters for several queues`);
	const why = `the flows reach ${reached} of ${all} of ${device}`;
	if (reached * 2 >= all) return ok(what, why);
	return wrong(what, why, "offer more `flows`, change the RSS key of the card, or give it fewer queues");
}
/**
* Reads `vmstat -i` by the number of the queue: `ix0:rxq3` and `igb0:que 3` of iflib(9) and earlier; `t5nex0:1a3` of
* cxgbe(4) is the third queue of its port 1.
*/
function queueInterrupts(outputs, ingress) {
	const lines = (outputs.get(commandText(interruptsCommand)) ?? "").split("\n");
	return new Map(lines.flatMap((line) => {
		const [, name = "", count] = /^(?:irq\d+: )?(\S.{0,60}?)\s+(\d{1,15})\s+\d+\s*$/.exec(line) ?? [];
		const [, device, digits] = /^([a-z]+\d+):\s?(?:rxq|rx|que|q)\s?(\d{1,4})$/.exec(name) ?? [];
		if (device === ingress) return [[Number(digits), Number(count)]];
		const [, port, letters = ""] = /^t\dnex0:(\d)a([\da-f]{1,3})$/.exec(name) ?? [];
		const [, unit] = /^(?:cxgbe|cxl|cc)(\d)$/.exec(ingress) ?? [];
		return port !== void 0 && port === unit ? [[Number.parseInt(letters, 16), Number(count)]] : [];
	}));
}
const pastTheDut = (label) => `the ceiling of ${called(label)} past the DUT`;
const called = (label) => label === "sender" ? "the sender" : label;
const noPortsPastIt = "no `backToBack` in ppsgate.yml: the offered rate is only known from the port of the sender, and the receiver is only tested up to the rate of the DUT";
async function backToBack(check, what, sender, receiver, { from, to }) {
	const [near, far] = [await portOn(sender.host, netmapPort(from)), await portOn(receiver, netmapPort(to))];
	const joined = {
		...sender,
		interface: from,
		sourceMac: near.mac ?? "",
		destinationMac: far.mac ?? "",
		gigabits: near.gigabits
	};
	const way = `from ${netmapPort(from)} to ${netmapPort(to)} of the receiver`;
	const trial = await trialOf(check, [joined], {
		host: receiver,
		interface: to,
		way
	});
	const fix = "connect these two ports with a cable, or correct `backToBack` in ppsgate.yml";
	if (trial.kind === "measured" && trial.run.medianPps === 0) return wrong(what, `nothing came ${way}`, fix);
	const fault = faultOf(what, trial);
	if (fault !== void 0 || trial.kind !== "measured") return fault ?? skipped(what, way);
	const line = lineOf(check, [joined], far.gigabits);
	return ok(what, `${offers(trial, line)}, and the receiver counts ${formatPps(trial.run.medianPps)}`);
}
function receiverDiagnostic(trial, egress, egressPackets) {
	const what = "the receiver compared with the DUT";
	if (trial.kind !== "measured" || egressPackets === void 0) return skipped(what, `the DUT has no counter of the packets sent by ${egress}`);
	const { receiver, senders } = trial.logs;
	const { validity, medianPps } = pktGenRun(parsePktGenLog(receiver), senders.map(parsePktGenLog), {
		netbenchesTrim: false,
		egressPackets
	});
	if (!(validity.kind === "invalid" && validity.cause === "receiver-limited")) return ok(what, `it counted every packet, ${formatPps(medianPps)} from ${egress}`);
	return wrong(what, validity.reason, "give the receiver a faster card or CPU, or a machine of its own: a receiver slower than the DUT makes all variants look equal");
}
const portOn = async (host, name) => {
	const port = parseIfconfig(await host.output(shell`ifconfig ${name}`));
	return {
		mac: port?.mac,
		gigabits: port?.gigabits
	};
};
/** Long enough for ten steady seconds. */
const trafficSeconds = 15;
/** Seconds until a link comes up under netmap. */
const minSettleSeconds = 4;
async function trialOf({ families: [family = "inet4"], traffic, testbed, deps }, senders, { host, interface: name, way }, ratePps) {
	const split = flowRanges(traffic.flows, family, senders.length, traffic.packets?.addresses);
	if (split.kind === "refused") return split;
	const settleSeconds = Math.max(minSettleSeconds, traffic.settleSeconds);
	const seconds = 2 * settleSeconds + trafficSeconds;
	const names = senders.map(({ label }) => called(label)).join(" and ");
	deps.notify(`Sending ${family} from ${names} ${way} for about ${seconds} s.`);
	return pktGenTrial({
		senders,
		receiver: {
			host,
			interface: name
		}
	}, {
		family,
		frameBytes: frameBytesFor(traffic, { family }),
		flows: split.flows,
		ports: traffic.packets?.ports,
		addresses: traffic.packets?.addresses,
		ratePps,
		threads: testbed.senders[0]?.threads ?? 1,
		settleSeconds,
		trafficSeconds
	}, deps.signal);
}
/** Preamble, start delimiter and the gap between frames (IEEE 802.3). */
const wireBytesPerFrame = 20;
/** Capacity of the senders' links, or of the DUT's if that is less; undefined if either is unknown. */
function lineOf({ families: [family = "inet4"], traffic }, senders, dutGigabits) {
	const speeds = senders.flatMap(({ gigabits }) => gigabits ?? []);
	if (dutGigabits === void 0 || speeds.length < senders.length) return void 0;
	const gigabits = Math.min(dutGigabits, speeds.reduce((sum, each) => sum + each, 0));
	const bits = (frameBytesFor(traffic, { family }) + wireBytesPerFrame) * 8;
	return {
		gigabits,
		pps: gigabits * 1e9 / bits
	};
}
/** A single one of several senders need not reach the DUT's limit. */
function aloneDiagnostic(what, trial, line) {
	return faultOf(what, trial) ?? ok(what, throughput(trial, line));
}
function togetherDiagnostic(what, trial, limit) {
	const fault = faultOf(what, trial);
	if (fault !== void 0) return fault;
	const reason = whyLimited(trial);
	if (reason === void 0) return ok(what, throughput(trial, limit));
	if (limit === "rate") return wrong(what, reason, fixOfRate);
	const offeredPps = offeredOf(trial);
	const fix = limit !== void 0 && offeredPps >= .98 * limit.pps ? "the link is saturated: measure a firewall scenario, or use a faster card" : "give the sender more `threads` (and rings), or add a second sender";
	return wrong(what, `this generator does not reach the DUT's limit: it ${throughput(trial, limit)}`, fix);
}
const fixOfRate = "set `traffic.rate` between the limit of the DUT and that of the senders, or remove it";
const offeredOf = (trial) => trial.kind === "measured" ? trial.run.offeredPps ?? 0 : 0;
/** Undefined if the generators did not limit the rate. */
function whyLimited(trial) {
	if (trial.kind !== "measured" || trial.run.validity.kind !== "invalid") return void 0;
	const { cause, reason } = trial.run.validity;
	return cause === "generator-limited" ? reason : void 0;
}
/** Undefined for a valid trial. */
function faultOf(what, trial) {
	switch (trial.kind) {
		case "refused": return wrong(what, trial.message, "correct `flows` in ppsgate.yml");
		case "failed": return wrong(what, trial.reason, "fix that first, then run this check again");
		case "measured": {
			const { validity, medianPps } = trial.run;
			if (validity.kind !== "invalid" || whyLimited(trial) !== void 0) return void 0;
			const fix = medianPps === 0 ? "check cables and MAC addresses, look for a firewall on the DUT, and raise `traffic.settle`" : "run this check again when nothing else uses the machines";
			return wrong(what, validity.reason, fix);
		}
	}
}
function throughput(trial, limit) {
	if (trial.kind !== "measured") return "";
	return `${offers(trial, limit)}, and ${formatPps(trial.run.medianPps)} came through`;
}
function offers(trial, limit) {
	const offered = `offers ${formatPps(offeredOf(trial))}`;
	if (limit === void 0) return offered;
	if (limit === "rate") return `${offered}, as \`traffic.rate\` requests`;
	return `${offered} of ${formatPps(limit.pps)} (${limit.gigabits} Gbit/s)`;
}

// src/lab/check/power-check.ts
const powerControl = "power control of the DUT";
const powerCycled = "a power cycle of the DUT";
/** Needs the login to the DUT, whose connection a power cycle renews. */
function powerSteps(lab) {
	const { dut, testbed, cycles } = lab;
	const { power } = testbed.dut;
	if (power === void 0) {
		const why = "`power` is not configured: a DUT that hangs must be reset by hand";
		return [{
			what: powerControl,
			needs: [],
			run: async () => [skipped(powerControl, why)]
		}];
	}
	const what = powerCycled;
	return [{
		what: powerControl,
		needs: [],
		run: () => powerState(lab, power)
	}, ...cycles ? [{
		what,
		needs: [sshTo(dut), powerControl],
		run: () => powerCycle(lab, power, what)
	}] : []];
}
async function powerState({ name, dut, deps }, config) {
	if (await (await deps.openPower(`the DUT of ${name}`, config)).state() === "on") return [ok(powerControl, "it reports that the DUT is on")];
	return [dut.host === void 0 ? wrong(powerControl, "it reports that the DUT is off", "switch the DUT on") : wrong(powerControl, "it reports that the DUT is off, but the DUT answers over ssh", "correct `power` in ppsgate.yml: it may control another machine")];
}
async function powerCycle(lab, config, what) {
	const { name, dut, deps, testbed } = lab;
	if (dut.host === void 0) return [];
	await markBoot(dut.host);
	const power = await deps.openPower(`the DUT of ${name}`, config);
	deps.notify("Power-cycling the DUT: it takes a few minutes to come up again.");
	const begun = deps.now();
	await power.cycle();
	const back = await reachAgain(lab);
	if (back === void 0) {
		const minutes = Math.round(testbed.dut.boot.limitSeconds / 60);
		return [wrong(what, `the DUT did not come up within ${minutes} min`, "check its console; if it only boots slowly, raise `boot.limit`")];
	}
	await dut.host.close();
	dut.host = back;
	if (!await hasBootedSinceMark(back)) return [wrong(what, "it reports that the DUT was off and on again, but the DUT never went down", "correct `power` in ppsgate.yml: it may control another machine")];
	return [ok(what, `up again after ${Math.round(deps.now() - begun)} s`)];
}
const pollSeconds = 5;
/** Undefined if no login succeeds within the time limit of a boot. */
async function reachAgain({ deps, testbed }) {
	const deadline = deps.now() + testbed.dut.boot.limitSeconds;
	while (deps.now() < deadline) {
		deps.signal.throwIfAborted();
		await deps.sleep(pollSeconds);
		const host = await deps.connect(testbed.dut, "DUT").catch((error) => {
			if (error instanceof HostError) return void 0;
			throw error;
		});
		if (host !== void 0) return host;
	}
}

// src/lab/check/freebsd-check.ts
/** Changes nothing on any machine, except for the DUT's power cycle. */
async function* checkFreebsdTestbed(check, deps) {
	await using opened = new AsyncDisposableStack();
	const lab = checkedTestbed(check, deps);
	for (const machine of allOf(lab)) opened.defer(async () => machine.host?.close());
	yield* walk(stepsOf$1(lab), {
		signal: deps.signal,
		failed: testbedFailed
	});
}
const allOf = ({ dut, generators, builder }) => [
	dut,
	...generators,
	...builder === void 0 ? [] : [builder]
];
function checkedTestbed(check, deps) {
	const { builder } = check.testbed;
	return {
		...check,
		deps,
		...machinesOf(check.testbed),
		builder: builder && {
			label: "the builder",
			config: builder,
			host: void 0
		}
	};
}
function machinesOf({ dut, senders, receiver }) {
	const roles = [...senders.map((port, index) => ({
		port,
		label: senders.length === 1 ? "the sender" : `sender ${index + 1}`
	})), {
		port: receiver,
		label: "the receiver"
	}];
	const login = ({ port }) => `${port.user}@${port.host.toLowerCase()} ${port.port}`;
	const generators = [...Map.groupBy(roles, login).values()].map((same) => ({
		label: same.map(({ label }) => label).join(" and "),
		config: same[0]?.port ?? receiver,
		roles: same,
		host: void 0
	}));
	return {
		dut: {
			label: "the DUT",
			config: dut,
			host: void 0
		},
		generators
	};
}
function stepsOf$1(lab) {
	const { dut, generators, builder, deps, testbed } = lab;
	const dutPorts = dutPortSteps(testbed, dut, deps);
	const generatorSteps = generators.flatMap((machine) => [
		...generatorPortSteps(machine, deps),
		on(machine, `the flow control of ${machine.label}`, (host, what) => flowControl(host, machine, what)),
		on(machine, `pkt-gen on ${machine.label}`, pktGen$1),
		on(machine, `netmap on ${machine.label}`, netmap)
	]);
	const mtus = mtuSteps(lab);
	const ports = dutPorts.map(({ what }) => what);
	const paths = {
		...on(dut, "the routes and neighbours of the DUT", (host, what) => pathsOf(lab, host, what)),
		needs: [sshTo(dut), ...ports]
	};
	const trafficNeeds = [
		sshTo(dut),
		...ports,
		paths.what,
		powerCycled,
		...[...generatorSteps, ...mtus].map(({ what }) => what)
	];
	return [
		...allOf(lab).map((machine) => loginStep(machine, deps.connect)),
		...allOf(lab).map((machine) => on(machine, `FreeBSD on ${machine.label}`, release)),
		...dutPorts,
		...generatorSteps,
		...mtus,
		paths,
		{
			...on(dut, "the settings of the DUT", (host, what) => settingsOf(lab, host, what)),
			needs: [sshTo(dut), ...ports]
		},
		on(dut, "the firewalls of the DUT", firewalls$1),
		...bootSteps(lab),
		...builderSteps(builder),
		...moduleSteps(lab),
		...powerSteps(lab),
		consoleStep(lab),
		checkCeiling(lab, trafficNeeds)
	];
}
const oldestRelease = 12;
async function release(host, what) {
	const system = lastLine(await host.output(shell`uname -s -r`, limits)) ?? "";
	const [, major] = /^FreeBSD (\d+)/.exec(system) ?? [];
	if (major === void 0) return [wrong(what, `it runs ${system}`, "install FreeBSD on it")];
	if (Number(major) >= oldestRelease) return [ok(what, system)];
	return [wrong(what, `it runs ${system}`, `install FreeBSD ${oldestRelease} or later`)];
}
const dutPortSteps = ({ dut }, machine, deps) => [dut.ingress, dut.egress].map(({ interface: name }) => on(machine, `${name} of the DUT`, (host, what) => dutPort(host, name, what, deps)));
const generatorPortSteps = (machine, deps) => machine.roles.map((role) => {
	const what = `${netmapPort(role.port.interface)} of ${role.label}`;
	return on(machine, what, (host) => generatorPort(host, role, what, deps));
});
async function dutPort(host, name, what, deps) {
	const port = await settledInterface(host, name, deps);
	if (port === void 0) return [await noInterface(host, name, what)];
	return [linkOf(port, "the DUT", what)];
}
/** Seconds without a link, at both ends of the cable, after pkt-gen had the port open. */
const settleSeconds = 5;
async function settledInterface(host, name, deps) {
	const port = await interfaceOn(host, name);
	if (port === void 0 || port.isActive || !port.flags.includes("UP")) return port;
	await deps.sleep(settleSeconds);
	return interfaceOn(host, name);
}
async function interfaceOn(host, name) {
	const outcome = await host.run(shell`ifconfig ${name}`, limits);
	return isGood(outcome) ? parseIfconfig(outcome.stdout) : void 0;
}
async function noInterface(host, name, what) {
	const why = `there is no ${name}: ifconfig lists ${lastLine(await host.output(shell`ifconfig -l`, limits)) ?? "nothing"}`;
	return wrong(what, why, "correct `interface` in ppsgate.yml, or load the driver of its card");
}
const speedOf = ({ gigabits, media }) => gigabits === void 0 ? media ?? "it is active" : `${gigabits} Gbit/s`;
async function generatorPort(host, { label, port: { interface: name, mac } }, what, deps) {
	const opened = netmapPort(name);
	const port = await settledInterface(host, opened, deps);
	const native = opened === name ? void 0 : await interfaceOn(host, name);
	if (port === void 0 && native !== void 0) {
		const fix = `put \`hw.cxgbe.num_vis="2"\` into /boot/loader.conf of ${label}, and reboot it`;
		return [wrong(what, `${name} exists, but its interface for netmap, ${opened}, does not`, fix)];
	}
	if (port === void 0) return [await noInterface(host, opened, what)];
	return [linkOf(port, label, what), macOf(port, mac, native, what)];
}
function linkOf(port, label, what) {
	const { name, flags } = port;
	if (!flags.includes("UP")) {
		const fix = `run ${typed(shell`ifconfig ${name} up`)} on ${label}, and add a line \`ifconfig_${name}\` to its /etc/rc.conf for every boot`;
		return wrong(what, "it is down", fix);
	}
	if (port.isActive) return ok(what, speedOf(port));
	return wrong(what, "it has no link", "check its cable, its transceiver and the port at the other end");
}
function macOf({ mac }, configured, native, port) {
	const what = `the MAC address of ${port}`;
	if (mac === configured) return ok(what, configured);
	const whose = native?.mac === configured ? `, the address of ${native.name}` : "";
	const why = `it is ${mac ?? "none"}, but ppsgate.yml has ${configured}${whose}`;
	return wrong(what, why, `write \`mac: "${mac}"\` in ppsgate.yml, and into static_arp and static_ndp of the DUT`);
}
async function flowControl(host, { roles }, what) {
	const diagnostics = (await Promise.all(roles.map(async ({ label, port }) => {
		const settings = generatorPortSettings(port.interface);
		const outputs = await readAll(host, readsOf(settings));
		return settings.flatMap((setting) => problemOf(setting, outputs, label)).map((problem) => diagnosticOf(problem, label));
	}))).flat();
	const unknown = unknownFlowControl(roles.map(({ port }) => port.interface));
	return [...diagnostics.length > 0 ? diagnostics : [ok(what, "none is enabled")], ...unknown];
}
const unknownFlowControl = (ports) => [...new Set(ports)].filter(isFlowControlUnknown).map((port) => skipped(`the flow control of ${port}`, "the setting of its driver is unknown; turn pause frames off as described in its manual page, or a congested port slows its senders"));
/** Prints the usage, as it has no arguments. timeout(1) exits with 126 or 127 if it cannot start the program. */
async function pktGen$1(host, what) {
	const outcome = await host.run(shell`timeout 5 pkt-gen`, limits);
	if (outcome.kind === "exited" && outcome.code !== 126 && outcome.code !== 127) return [ok(what, "it is installed")];
	return [wrong(what, "it is not installed", "run `pkg install pkt-gen` on it")];
}
async function netmap(host, what) {
	if (await does(host, shell`test -e /dev/netmap`)) return [ok(what, "/dev/netmap is there")];
	return [wrong(what, "there is no /dev/netmap", "run `kldload netmap` on it, or boot a kernel with `device netmap` in its configuration")];
}
/** Smaller frames fit any MTU that IPv6 allows. */
const maxBytesOfAnyMtu = 1280;
function mtuSteps({ dut, generators, testbed, traffic, frameSizes }) {
	const frameBytes = Math.max(...frameSizes ?? [traffic.frameBytes]);
	if (frameBytes <= maxBytesOfAnyMtu) return [];
	const step = (machine, label, port, role) => on(machine, `frames of ${frameBytes} bytes on ${port} of ${label}`, async (host, what) => {
		const short = await shortMtu(host, port, minMtu[role](frameBytes));
		return [short === void 0 ? ok(what, "they fit its MTU") : wrong(what, `it ${short.is}`, short.fix)];
	});
	const { ingress, egress } = testbed.dut;
	return [...[ingress, egress].map((port) => step(dut, dut.label, port.interface, "dut")), ...generators.flatMap((machine) => machine.roles.map(({ label, port }) => step(machine, label, netmapPort(port.interface), port === testbed.receiver ? "receiver" : "sender")))];
}
const contextOf = ({ testbed, families, traffic }) => ({
	...settingsContext(testbed, families),
	addresses: traffic.packets?.addresses
});
/** Separate from other settings, as a trial without routes would use the default route. */
async function pathsOf(lab, host, what) {
	const { families } = lab;
	const problems = await pathProblems(host, {
		context: contextOf(lab),
		families
	});
	return problems.length === 0 ? [ok(what, `both ways, ${lab.families.join(" and ")}`)] : problems.map((problem) => diagnosticOf(problem));
}
async function settingsOf(lab, host, what) {
	const context = contextOf(lab);
	const { waive = {} } = lab.testbed;
	const read = async () => waived(checkSettings(await readAll(host, settingsCommands(context)), context), waive);
	const problems = (await onceSettled(read, lab.deps.sleep)).filter(({ isVital }) => !isVital);
	const superfluous = Object.keys(waive).filter((name) => problems.every(({ setting }) => setting !== name)).map((name) => ok(name, "it passes, so remove it from `waive` in ppsgate.yml"));
	const but = problems.length === 0 ? "" : " except the waived ones";
	return [
		...problems.every(({ isWaived }) => isWaived) ? [ok(what, `all pass${but}`)] : [],
		...problems.map((problem) => diagnosticOf(problem)),
		...unknownFlowControl([lab.testbed.dut.ingress, lab.testbed.dut.egress].map((port) => port.interface)),
		...superfluous
	];
}
async function firewalls$1(host, what) {
	const warnings = await firewallWarnings(host, await siteFirewalls(host));
	if (warnings.length === 0) return [ok(what, "none is enabled")];
	return warnings.map((sentence) => ok(what, sentence.replace(/\.$/, "")));
}
function diagnosticOf({ setting, message, fix, isWaived }, where = "the DUT") {
	if (isWaived) return ok(setting, message.replace(`${setting} `, "").replace(/\.$/, ""));
	const fixed = advice(fix, where);
	const why = message.replace(`${setting} `, "").replace(`: ${fixed}.`, "");
	return wrong(setting, unquoted(why), unquoted(fixed));
}
function bootSteps({ dut, testbed }) {
	const { method } = testbed.dut.boot;
	const boots = on(dut, `the boot method, ${method}`, (host, what) => bootMethod(host, method, what));
	if (method === "nanobsd") return [boots];
	return [boots, on(dut, "the space in /boot of the DUT", bootSpace)];
}
const tools = {
	nextboot: "/sbin/nextboot",
	"boot-environment": "/sbin/bectl",
	nanobsd: "/usr/local/sbin/upgrade"
};
/** Does not call the tools, as each would change the next boot. */
async function bootMethod(host, method, what) {
	const tool = tools[method];
	if (!await does(host, shell`test -e ${tool}`)) return [wrong(what, `the DUT has no ${tool}`, "choose another `boot.method` in ppsgate.yml")];
	const unfit = await whyUnfit(host, method);
	if (unfit !== void 0) return [wrong(what, unfit.why, unfit.fix)];
	const [root] = await fileSystemsOf(host, ["/"]);
	const device = root?.device;
	return [ok(what, `${tool} is there, and the root is on ${device}`)];
}
/** Checks that kernels are built with the modules that the DUT needs to find its root. */
function moduleSteps({ dut, testbed: { builder } }) {
	if (builder?.recipe.kind !== "make") return [];
	const { recipe } = builder;
	const run = async (host, what) => {
		const loaded = await loadedModules(host);
		const why = whyNoRoot(recipe, loaded);
		if (why !== void 0) return [wrong(what, why, "add zfs to it, or remove it")];
		return [ok(what, `${loaded.names.join(" ") || "none"} of FreeBSD ${loaded.release}`)];
	};
	return [on(dut, "the modules that the DUT has loaded", run)];
}
const minBootBytes = 1e9;
async function bootSpace(host, what) {
	const [boot] = await fileSystemsOf(host, ["/boot"]);
	const bytes = boot?.availableBytes ?? 0;
	if (bytes >= minBootBytes) return [ok(what, `${inGigabytes(bytes)} free`)];
	const why = `${inGigabytes(bytes)} free, and two kernels need ${inGigabytes(minBootBytes)}`;
	return [wrong(what, why, "remove old kernels such as kernel.old; `ls /boot` lists them")];
}

// src/lab/check/linux-check.ts
async function* checkLinuxTestbed(testbed, { connect, signal }) {
	await using opened = new AsyncDisposableStack();
	const { sender, dut, receiver } = linuxMachinesOf(testbed);
	const machines = [
		sender,
		dut,
		receiver
	];
	for (const machine of machines) opened.defer(async () => machine.host?.close());
	const steps = [
		...machines.map((machine) => loginStep(machine, connect)),
		programsStep(sender, neededPrograms.sender),
		programsStep(dut, neededPrograms.dut),
		...machines.flatMap((machine) => machine.names.map((name) => interfaceStep(machine, name))),
		rulesStep(dut),
		leftoversStep(dut)
	];
	yield* walk(steps, {
		signal,
		failed: testbedFailed
	});
}
function linuxMachinesOf({ sender, dut, receiver }) {
	const machine = (label, config, ...names) => ({
		label,
		config,
		host: void 0,
		names
	});
	return {
		sender: machine("the sender", sender, sender.interface),
		dut: machine("the DUT", dut, dut.ingress, dut.egress),
		receiver: machine("the receiver", receiver, receiver.interface)
	};
}
const withPrograms = (machine, what, look) => ({
	...on(machine, what, look),
	needs: [sshTo(machine), programsOf(machine)]
});
const programsOf = ({ label }) => `the programs of ${label}`;
const programsStep = (machine, programs) => on(machine, programsOf(machine), async (host, what) => {
	const missing = await missingOn(host, programs);
	if (missing.length === 0) return [ok(what, "all are installed")];
	const fix = `\`apt-get install ${packagesOf(missing).join(" ")}\` on it, or the equivalent packages of its system`;
	return [wrong(what, `${missing.join(" and ")} not found`, fix)];
});
const rulesStep = (dut) => withPrograms(dut, "preexisting rules of the DUT", async (host, what) => {
	const why = await whyUnrestorable(host);
	if (why === void 0) return [ok(what, "a gate can restore them")];
	return [wrong(what, why, "remove them, install the program that manages them, stop the program that owns them, or use another machine as the DUT")];
});
const leftoversStep = (dut) => withPrograms(dut, "other filters of the DUT", async (host, what) => {
	const found = await findLeftovers(host, dut.names);
	if (found.length === 0) return [ok(what, "none is active")];
	return found.map(({ why, fix }) => wrong(what, why, fix));
});
function interfaceStep(machine, name) {
	const what = `${name} of ${machine.label}`;
	return {
		what,
		needs: [sshTo(machine)],
		async run() {
			const outcome = await machine.host?.run(shell`test -e ${`/sys/class/net/${name}`}`);
			if (outcome?.kind === "exited" && outcome.code === 0) return [ok(what, "it exists")];
			const fix = `correct \`${name}\` in ppsgate.yml: \`ip link\` on ${machine.label} lists its interfaces`;
			return [wrong(what, "there is no such interface", fix)];
		}
	};
}

// src/lab/check/virtual-check.ts
const thisMachine = {
	require: () => requireLab("virtual"),
	async up(testbed, wait) {
		await claimWhenFree(ownerFile, wait);
		return virtualLabUp(testbed);
	}
};
async function* checkVirtualTestbed(testbed, { signal, ...deps }, machine = thisMachine) {
	await using opened = new AsyncDisposableStack();
	yield* walk([{
		what: programs$1,
		async run(what) {
			await machine.require();
			return [ok(what, "all are installed, and this process may use them")];
		}
	}, {
		what: "a guest",
		needs: [programs$1],
		async run(what) {
			const lab = await machine.up(testbed, {
				...deps,
				signal
			});
			opened.defer(() => lab.down());
			return testbed.system === "linux" ? bootLinux(what, lab, testbed, {
				signal,
				deps
			}) : bootImage(what, lab, testbed, deps);
		}
	}], {
		signal,
		failed
	});
}
const programs$1 = "the programs of this machine";
async function bootLinux(what, lab, testbed, { signal, deps }) {
	const kernel = await lab.kernel(testbed.kernelPath).catch(unlessOthersBoot(testbed));
	if (kernel === void 0) return [skipped(what, withoutKernel(testbed))];
	const startedAt = performance.now();
	const variant = {
		variant: "base",
		commit: "",
		files: []
	};
	const [booted] = await bootTogether({
		...deps,
		lab,
		cpus: [guestCpu],
		signal
	}, [{
		variant,
		kernel
	}]);
	if (booted?.kind !== "booted") {
		const why = booted === void 0 ? "no guest was booted" : `it did not boot: ${booted.reason}`;
		return [wrong(what, why, lookAgain)];
	}
	const { guest, host } = booted;
	return [
		ok(what, `${booted.kernel} was up after ${secondsSince(startedAt)} s`),
		await counted(guest, testbed),
		await panicked(guest, host, shell`echo c > /proc/sysrq-trigger`)
	];
}
/** Returns undefined if this machine has no kernel: gates may build theirs, or get them by options. */
const unlessOthersBoot = ({ kernelPath }) => (error) => {
	if (error instanceof NoOwnKernelError) return void 0;
	if (!(error instanceof KernelFilesError) || kernelPath === void 0) throw error;
	throw new KernelFilesError(`the kernel ${kernelPath} ${error.message}`);
};
const withoutKernel = ({ builder }) => builder === void 0 ? "this machine has no kernel in /boot to try: pass --base-kernel and --patched-kernel to each gate, or set `kernel` in ppsgate.yml" : "this machine has no kernel in /boot to try; the `builder` builds the kernels of a gate. Set `kernel` in ppsgate.yml to test a boot";
async function bootImage(what, lab, testbed, deps) {
	const image = await guestImage(testbed.image, lab, deps);
	const startedAt = performance.now();
	const guest = await lab.bootImage(1, image, guestCpu);
	const opened = {
		image,
		accelerator: testbed.accelerator
	};
	const { dut, boots, console } = await openImage(guest, opened, {
		lab,
		deps
	});
	const seconds = secondsSince(startedAt);
	const version = (await dut.host().output(shell`uname -v`)).trim();
	const problems = await inspectDut(boots, ["inet4", "inet6"]);
	const diagnostics = [
		ok(what, `${version} was up after ${seconds} s`),
		await counted(guest, testbed),
		...problems.filter(isOfImage).map(({ setting, message }) => wrong(`its ${setting}`, message, lookAgain))
	];
	const again = await dut.rebootUnordered();
	if (again.kind === "boot-failed") return [...diagnostics, wrong("its reboot", again.reason, lookAgain)];
	diagnostics.push(ok("its reboot", `it was up again after ${Math.round(again.seconds)} s`));
	diagnostics.push(await panicked(guest, dut.host(), shell`sysctl debug.debugger_on_panic=0 debug.kdb.panic=1`));
	await console.close();
	return diagnostics;
}
const secondsSince = (startedAt) => ((performance.now() - startedAt) / 1e3).toFixed(1);
async function counted(guest, { accelerator }) {
	const what = "its instructions";
	if (guest.counts === void 0) return {
		kind: "skipped",
		what,
		why: `\`accelerator: ${accelerator}\` does not count them: CPU time is reported instead`
	};
	const executed = Number((await readFile(guest.counts)).readBigUInt64LE());
	return ok(what, `${grouped(executed)} were counted so far`);
}
/** The command ends the guest, and so the connection. */
async function panicked(guest, host, command) {
	await host.run(command, { timeoutSeconds: 120 }).catch(() => {});
	await host.close();
	const { panic } = lastWords(guest.console(), false);
	await guest.stop();
	return panic === void 0 ? wrong("its console", "it was made to panic, but shows no panic", lookAgain) : ok("its console", `after a forced panic it shows "${panic}"`);
}
function failed(what, error) {
	if (![
		LabImpossibleError,
		LabInUseError,
		KernelFilesError,
		GuestEndedError,
		UsageError
	].some((kind) => error instanceof kind)) throw error;
	return wrong(what, reasonOf(error), lookAgain);
}

// src/lab/check/health.ts
async function* healthOf(testbed, deps) {
	await using opened = new AsyncDisposableStack();
	const connect = async (host, label) => {
		const connected = opened.use(await deps.connect(host, label));
		return bounded(connected, limits.timeoutSeconds);
	};
	yield* walk(stepsOf(testbed, {
		...deps,
		connect
	}), {
		signal: deps.signal,
		failed: testbedFailed
	});
}
function whyUnhealthy(diagnostics) {
	const [first, ...others] = diagnostics.filter(({ kind }) => kind === "wrong");
	if (first === void 0) return void 0;
	const sentence = `${first.what}: ${first.why.replace(/\.$/, "")}`;
	if (others.length === 0) return `${sentence}.`;
	return `${sentence} (and ${others.length === 1 ? "one more check" : `${others.length} more checks`} failed).`;
}
function stepsOf(testbed, deps) {
	switch (testbed.kind) {
		case "embedded-linux":
		case "virtual": return [embedded];
		case "linux": return linuxSteps(testbed, deps);
		case "freebsd": return freebsdSteps(testbed, deps);
	}
}
const embedded = {
	what: "the embedded lab",
	needs: [],
	run: async () => [skipped("the embedded lab", "none exists between two experiments: each experiment creates its own")]
};
function freebsdSteps(testbed, deps) {
	const { dut, generators } = machinesOf(testbed);
	const { method } = testbed.dut.boot;
	const name = testbed.dut.host;
	return [
		...[dut, ...generators].map((machine) => loginStep(machine, deps.connect)),
		on(dut, "the kernel of the DUT", ownKernel),
		on(dut, "the next boot of the DUT", (host, what) => nextBoot(host, method, what)),
		on(dut, "the firewalls of the DUT", firewalls),
		on(dut, "the files of the DUT", files),
		...method === "boot-environment" ? [on(dut, "the boot environments of the DUT", environments)] : [],
		...generators.map((machine) => on(machine, `the programs on ${machine.label}`, pktGen)),
		...dutPortSteps(testbed, dut, deps),
		...generators.flatMap((machine) => generatorPortSteps(machine, deps)),
		...powerSteps({
			name,
			testbed,
			dut,
			cycles: false,
			deps
		})
	];
}
async function ownKernel(host, what) {
	const system = await runningSystem(host);
	const kernel = `${system.kernel} of ${system.root}`;
	if (!isOurs(system)) return [ok(what, `it runs ${kernel}`)];
	const fix = `${typed(shell`shutdown -r now`)} on the DUT to boot its own kernel`;
	return [wrong(what, `it still runs ${kernel} of an experiment`, fix)];
}
async function nextBoot(host, method, what) {
	if (method === "nanobsd") return [await nextSlice(host, what)];
	if (await does(host, shell`test -e ${"/boot/nextboot.conf"}`)) {
		const fix = `${typed(shell`nextboot -D`)} on the DUT`;
		return [wrong(what, "/boot/nextboot.conf selects another kernel for it", fix)];
	}
	const once = method === "boot-environment" ? await activatedOnce(host) : void 0;
	if (once === void 0) return [ok(what, "no other kernel is selected")];
	const fix = `${typed(shell`bectl activate -T`)} on the DUT`;
	return [wrong(what, `the boot environment ${once} is activated for the next boot`, fix)];
}
/** Compares the next boot with the current one, as an appliance does not know its own slice. */
async function nextSlice(host, what) {
	const [{ root }, next] = [await runningSystem(host), await nextRoot(host)];
	if (next === root) return ok(what, `from ${root}, the running slice`);
	const fix = `make the slice of ${root} active again manually`;
	return wrong(what, `it will boot from ${next}, but the DUT runs from ${root}`, fix);
}
async function environmentsOn(host) {
	return (await host.output(shell`bectl list -H`)).trim().split("\n").map((row) => {
		const [name = "", flags = ""] = row.split("	");
		return {
			name,
			flags
		};
	});
}
const activatedOnce = async (host) => (await environmentsOn(host)).find(({ flags }) => flags.includes("T"))?.name;
const isOurName = (name) => name.startsWith("ppsgate.");
async function environments(host, what) {
	const names = (await environmentsOn(host)).map(({ name }) => name).filter(isOurName);
	if (names.length === 0) return [ok(what, "nothing of an experiment is left")];
	const destroy = names.map((name) => typed(shell`bectl destroy -F -o ${name}`));
	return [wrong(what, `left behind: ${names.join(", ")}`, `${destroy.join(", ")} on the DUT`)];
}
async function files(host, what) {
	const names = (await host.output(shell`ls -1 /boot`)).split("\n").filter(isOurName);
	const hasRules = await does(host, shell`test -e ${rulesFolder}`);
	const leftovers = [...names.map((name) => `/boot/${name}`), ...hasRules ? [rulesFolder] : []];
	if (leftovers.length === 0) return [ok(what, "nothing of an experiment is left")];
	const fix = `${typed(shell`rm -rf ${leftovers}`)} on the DUT`;
	return [wrong(what, `left behind: ${leftovers.join(", ")}`, fix)];
}
async function firewalls(host, what) {
	const ofSite = await siteFirewalls(host);
	const on = firewallsOn(await proofOf(host));
	const stranger = on.find((name) => !ofSite.includes(name));
	if (stranger === void 0) return [ok(what, on.length === 0 ? "none filters packets" : `${on.join(" and ")} of its own`)];
	const fix = `run ${removalCommands.flat().map(typed).join(", ")} on the DUT; commands of an absent firewall fail`;
	return [wrong(what, `${stranger} is enabled`, fix)];
}
const pktGen = (host, what) => programs(host, what, shell`pgrep -x pkt-gen`);
/** pgrep(1) exits with 1 if nothing matches. */
async function programs(host, what, pgrep) {
	const outcome = await host.run(pgrep, limits);
	if (outcome.kind === "exited" && outcome.code === 1) return [ok(what, "nothing of an experiment is left")];
	if (!isGood(outcome)) return [wrong(what, `${typed(pgrep)} fails`, "run it there and fix the error")];
	const ids = outcome.stdout.trim().split("\n");
	const fix = `${typed(shell`kill ${ids}`)} there`;
	return [wrong(what, `still running, with process IDs ${ids.join(", ")}`, fix)];
}
function linuxSteps(testbed, deps) {
	const machines = linuxMachinesOf(testbed);
	const { sender, dut } = machines;
	const all = Object.values(machines);
	return [
		...all.map((machine) => loginStep(machine, deps.connect)),
		...[sender, dut].flatMap((machine) => [on(machine, `the programs on ${machine.label}`, linuxPrograms), on(machine, `the files of ${machine.label}`, linuxFiles)]),
		...all.flatMap((machine) => machine.names.flatMap((name) => [interfaceStep(machine, name), linkStep(machine, name)]))
	];
}
const linuxPrograms = (host, what) => programs(host, what, shell`pgrep ${ourPrograms}`);
/** The DUT's files contain its former rules and settings. */
async function linuxFiles(host, what) {
	const outcome = await host.run(shell`ls -A ${ourFolder}`, limits);
	const names = isGood(outcome) ? outcome.stdout.split("\n").filter(Boolean) : [];
	if (names.length === 0) return [ok(what, "nothing of an experiment is left")];
	const leftovers = names.map((name) => `${ourFolder}/${name}`);
	const script = `${ourFolder}/dut/dut.bash`;
	const fix = `${names.includes("dut") ? `${typed(shell`bash ${script} restore`)} and then ` : ""}${typed(shell`rm -rf ${ourFolder}`)} there`;
	return [wrong(what, `left behind: ${leftovers.join(", ")}`, fix)];
}
/** The kernel reports no carrier for an interface that is down. */
function linkStep(machine, name) {
	const what = `the link of ${name} of ${machine.label}`;
	const readCarrier = shell`cat ${`/sys/class/net/${name}/carrier`}`;
	return {
		...on(machine, what, async (host) => {
			const outcome = await host.run(readCarrier, limits);
			if (!isGood(outcome)) {
				const up = typed(shell`ip link set ${name} up`);
				return [wrong(what, "the interface is down", `${up} on ${machine.label}`)];
			}
			if (outcome.stdout.trim() === "1") return [ok(what, "it is up")];
			return [wrong(what, "it does not exist", "check its cable, its transceiver and the port at the other end")];
		}),
		needs: [interfaceStep(machine, name).what]
	};
}

export { checkFreebsdTestbed, checkLinuxTestbed, checkVirtualTestbed, healthOf, lookAgain, ok, skipped, testbedFailed, typed, walk, whyUnhealthy, wrong };