import { frameBytesFor } from "../config/first.js";
import { trafgenFlows } from "./traffic/plain.js";
import { UsageError, ignoredFiles, lastLine, oneLine, pathName, reasonOf } from "../model/first-plain.js";
import { describeScreen, lastWords } from "./console/plain.js";
import { impossible, isAtFault, judgeProfile, lacksControl, missed, tallyOf } from "./plain.js";
import { DutLostError } from "./freebsd/boot/first-plain.js";
import { afterBootFailure, bootFor, bootsOf, bounded, droppedByRules, droppingRules, failed, fingerprintOfDut, inspectDut, parseIfconfig, pathProblem, readAll, rejected as rejected$1, setListed, settingsThatFail } from "./freebsd/plain.js";
import { FreebsdDut, Kernels, builderFor, countersLog, installRules as installRules$1, interfaceBetween, limitsBetween, packetCounters, proofCommands, proofOf, provesScenario, wakeFreebsdDut } from "./freebsd.js";
import { mapOwnRules, portNames } from "./first-plain.js";
import { HostError } from "../system/host/first-plain.js";
import { shell } from "../system/shell.js";
import { ConsoleRecorder } from "./console.js";
import { PowerError } from "./power/first-plain.js";
import { guestImage, overlayRules, setUp, whyNotInstallable } from "./qemu/plain.js";
import { KernelFilesError, guestMac, linuxGuestPorts, neighbours, receiverMac, senderMac } from "./qemu/vm/plain.js";
import { linuxDut, minSilentRatio, withEnds } from "./linux.js";
import { guestCpu, kernelCommandLine, virtualLabUp } from "./qemu/vm.js";
import { noSums } from "../kernel/first-plain.js";
import { buildLinuxKernel } from "../kernel.js";
import { givenKernel } from "../kernel/first.js";
import { isLinuxScenario } from "../model/first.js";
import { findInertChanges, ignoredParts, loadable } from "./linux/plain.js";
import { sum } from "../vendor/simple-statistics.js";
import { median } from "../analysis/stats/first.js";
const { once } = globalThis.process.getBuiltinModule("node:events");
const { join } = globalThis.process.getBuiltinModule("node:path");
const { readFileSync } = globalThis.process.getBuiltinModule("node:fs");
const { isDeepStrictEqual, promisify } = globalThis.process.getBuiltinModule("node:util");
const { mkdtemp, readFile, rm, writeFile } = globalThis.process.getBuiltinModule("node:fs/promises");
const { release, tmpdir } = globalThis.process.getBuiltinModule("node:os");
const { execFile } = globalThis.process.getBuiltinModule("node:child_process");

// src/lab/qemu/freebsd-image.ts
const isHostError = (error) => error instanceof HostError;
/** True if another copy of the image may succeed. */
const isOfOneCopy = (error) => error instanceof DutLostError || isHostError(error) || error instanceof UsageError;
/** Waits until the image is up, and opens it as a DUT. Throws a UsageError for an unsuitable image. */
async function openImage(guest, { image, accelerator }, { lab, deps, tallies = /* @__PURE__ */ new Map(), addresses }) {
	const login = await lab.loginTo(image, guest);
	await using opened = new AsyncDisposableStack();
	const console = new ConsoleRecorder("a guest", async (onOutput) => {
		const leave = guest.listen(onOutput);
		return {
			ended: guest.ended.then((why) => `QEMU has ended (${why}).`),
			close: async () => leave()
		};
	});
	opened.defer(() => console.close());
	await console.open();
	const ended = guest.ended.then((why) => {
		throw new QemuEndedError(why);
	});
	ended.catch(() => {});
	let failures = 0;
	const options = {
		method: "nextboot",
		connect: async () => {
			const timeoutSeconds = loginSeconds[failures % loginSeconds.length] ?? 20;
			failures += 1;
			const options = {
				keepaliveSeconds: 5,
				timeoutSeconds
			};
			const host = bounded(await deps.connect(login, `guest ${guest.number}`, options));
			failures = 0;
			return host;
		},
		power: { async cycle() {
			console.endBoot();
			await guest.reset().catch((error) => {
				throw new PowerError(reasonOf(error));
			});
		} },
		console,
		bootSeconds: image.bootSeconds,
		sleep: (seconds) => Promise.race([deps.sleep(seconds), ended]),
		now: deps.now
	};
	const { power: _, ...withoutPower } = options;
	const unfit = (why) => new UsageError(`The image ${image.path} cannot be used for guests: ${why.replace(/\.$/, "")}; see docs/how-to/virtual.md for what it needs.`);
	await wakeFreebsdDut(withoutPower).catch((error) => {
		if (!isOfOneCopy(error)) throw error;
		throw unfit(whyNotIn(error, image, guest.console()));
	});
	const dut = await FreebsdDut.open(options).catch((error) => {
		if (!isHostError(error) || error.kind !== "command-failed") throw error;
		throw unfit(reasonOf(error));
	});
	opened.defer(() => dut.host().close());
	const ports = await portsOf(dut.host());
	if (!("ingress" in ports)) throw unfit(ports.why);
	await setUp(dut.host(), ports, addresses);
	opened.move();
	const unread = new Set(accelerator === "tcg" ? unreadIfCounted : unreadOfGuests);
	return {
		dut,
		boots: bootsOf(asTestbed(image, ports, login), dut, deps, {
			tallies,
			unread,
			addresses
		}),
		console
	};
}
/**
* Time limits of successive logins. QEMU accepts a connection before its guest is up; a connection from that time may
* stay silent. The long limit is for a machine so busy that a login takes longer.
*/
const loginSeconds = [
	20,
	5,
	5,
	5
];
var QemuEndedError = class extends DutLostError {
	lastLine;
	constructor(lastLine) {
		super(`QEMU has ended (${lastLine}).`);
		this.lastLine = lastLine;
	}
};
/** Explains in a clause why root cannot log in to a booted image, and the fix. */
function whyNotIn(error, { privateKeyPath = "of the ssh agent", bootSeconds }, shown) {
	if (error instanceof QemuEndedError) return `its QEMU ended before root could log in (${error.lastLine}), for example because it powered itself off`;
	if (isHostError(error) && error.kind === "host-key") return `its sshd shows ${/shows (the \S+ key \S+),/.exec(error.message)?.[1] ?? "no key of its type"} instead of the \`hostKey\` in ppsgate.yml: set that to the first two fields of its /etc/ssh/ssh_host_ed25519_key.pub`;
	if (isHostError(error) && error.kind === "login-refused") return `its sshd refuses root with the key ${privateKeyPath}: append the public half to root's authorized_keys, and set \`PermitRootLogin prohibit-password\` in its /etc/ssh/sshd_config`;
	if (!(error instanceof DutLostError)) return reasonOf(error);
	const hint = shown.includes("<<BOOT>>") ? "" : " (set `console=\"comconsole\"` in its /boot/loader.conf to see its kernel there)";
	return `root could not log in within ${bootSeconds} s, and its console ${describeScreen(shown)}${hint}`;
}
async function portsOf(host) {
	const names = (await host.output(shell`ifconfig -l`)).trim().split(/\s+/);
	const found = /* @__PURE__ */ new Map();
	for (const name of names) {
		const mac = parseIfconfig(await host.output(shell`ifconfig ${name}`))?.mac;
		if (mac !== void 0) found.set(mac, name);
	}
	const [ingress, egress] = [found.get(guestMac.ingress), found.get(guestMac.egress)];
	if (ingress !== void 0 && egress !== void 0) return {
		ingress,
		egress
	};
	return { why: `the virtio card with the MAC address ${ingress === void 0 ? guestMac.ingress : guestMac.egress} is missing; it has ${names.join(", ")}: its kernel needs vtnet(4) for all three cards, and its settings must not change their addresses` };
}
/** Presents a guest as a testbed's machines: the other ends of its wires have addresses, but are no hosts. */
function asTestbed({ bootSeconds }, ports, login) {
	const far = {
		...login,
		interface: "none",
		threads: 1
	};
	return {
		kind: "freebsd",
		dut: {
			...login,
			ingress: { interface: ports.ingress },
			egress: { interface: ports.egress },
			boot: {
				method: "nextboot",
				limitSeconds: bootSeconds
			}
		},
		senders: [{
			...far,
			mac: senderMac,
			addresses: neighbours.sender
		}],
		receiver: {
			...far,
			mac: receiverMac,
			addresses: neighbours.receiver
		},
		preflight: "fix"
	};
}
/**
* Settings that do not matter to a guest. It has one CPU, and its console shows a panic's cause. A run is the median of
* windows, and programs that start at boot affect only a few of them.
*/
const unreadOfGuests = [
	"kern.boottime",
	"kern.shutdown.dumpdevname",
	"machdep.hyperthreading_allowed",
	"net.isr.maxthreads",
	"net.isr.bindthreads"
];
/**
* Idleness is measured for 5 s after each boot, and awaited for up to a minute on a busy host, as a guest takes stolen
* time for its own. It only protects rates: a packet's instructions are the same however many other programs run, and
* theirs affect only a few windows.
*/
const unreadIfCounted = [...unreadOfGuests, "kern.cp_time"];

// src/lab/qemu/freebsd-copies.ts
var ImageCopies = class {
	#config;
	#resources;
	#assigned = /* @__PURE__ */ new Map();
	/** Copies that are booting or up, not yet assigned to a variant. */
	#spares = [];
	/** By number; undefined until QEMU has started. */
	#guests = /* @__PURE__ */ new Map();
	#isFit = false;
	#isClosed = false;
	families = ["inet4"];
	constructor(config, resources) {
		this.#config = config;
		this.#resources = resources;
	}
	/** True once a copy of the image was up. */
	get isFit() {
		return this.#isFit;
	}
	/** Starts to boot this many copies, including existing ones, without waiting for them. */
	begin(count) {
		while (this.#assigned.size + this.#spares.length < count) this.#spares.push(this.#boot());
	}
	/** Waits for the first copy that is up; throws one copy's error if all have failed. */
	async first() {
		const [assigned] = this.#assigned.values();
		if (assigned !== void 0) return assigned;
		this.begin(1);
		try {
			return await Promise.any(this.#spares);
		} catch (error) {
			this.#spares.length = 0;
			throw error instanceof AggregateError ? error.errors[0] : error;
		}
	}
	get(variant) {
		return this.#assigned.get(variant);
	}
	async guestFor(variant) {
		const own = this.#assigned.get(variant);
		if (own !== void 0 && own.lastLine() === void 0) return own;
		await this.stop(variant);
		const copy = await (this.#spares.shift() ?? this.#boot());
		this.#assigned.set(variant, copy);
		return copy.lastLine() === void 0 ? copy : await this.guestFor(variant);
	}
	cpuOf(number) {
		const { cpus } = this.#resources;
		return cpus[(number - 1) % cpus.length] ?? 0;
	}
	async stop(variant) {
		const copy = this.#assigned.get(variant);
		this.#assigned.delete(variant);
		if (copy !== void 0) await this.#switchOff(copy);
	}
	async stopOthers(variants) {
		for (const variant of this.#assigned.keys()) if (!variants.has(variant)) await this.stop(variant);
	}
	async close() {
		this.#isClosed = true;
		await this.stopOthers(/* @__PURE__ */ new Set());
		for (const guest of this.#guests.values()) await guest?.stop();
		for (const spare of await Promise.allSettled(this.#spares.splice(0))) if (spare.status === "fulfilled") await this.#switchOff(spare.value);
	}
	#boot() {
		const booting = this.#bootImage();
		booting.catch(() => {});
		return booting;
	}
	async #bootImage() {
		const { lab } = this.#resources;
		let number = 1;
		while (this.#guests.has(number)) number += 1;
		this.#guests.set(number, void 0);
		await using opened = new AsyncDisposableStack();
		opened.defer(() => void this.#guests.delete(number));
		const guest = await lab.bootImage(number, this.#config.image, this.cpuOf(number));
		opened.defer(() => guest.stop());
		if (this.#isClosed) throw new Error("The testbed is released.");
		this.#guests.set(number, guest);
		let lastLine;
		guest.ended.then((line) => {
			lastLine = line;
		});
		const { dut, boots, console } = await openImage(guest, this.#config, this.#resources);
		opened.defer(async () => {
			await dut.host().close();
			await console.close();
		});
		const problems = await inspectDut(boots, this.families);
		const fingerprint = await fingerprintOfDut(boots);
		this.#isFit = true;
		opened.move();
		return {
			number,
			guest,
			dut,
			boots,
			console,
			problems,
			fingerprint,
			lastLine: () => lastLine
		};
	}
	async #switchOff({ number, guest, dut, console }) {
		await dut.host().close().catch(() => {});
		await guest.stop();
		await console.close();
		this.#guests.delete(number);
	}
};

// src/lab/qemu/freebsd-counting.ts
/** Called once the rules are installed. Of one CPU, neither its ticks nor its interrupts show a limit. */
async function countPackets(host, ports) {
	const before = await readAll(host, packetCounters);
	return {
		end: () => countsSince(host, before, ports),
		cancel() {}
	};
}
async function countsSince(host, before, ports) {
	const after = await readAll(host, packetCounters);
	const log = countersLog(before, after);
	const arrived = interfaceBetween(before, after, ports.ingress);
	const left = interfaceBetween(before, after, ports.egress);
	if (arrived === void 0 || left === void 0) return {
		log,
		limits: void 0
	};
	if (!(arrived.received - left.sent > arrived.received * .005)) return {
		log,
		limits: limitsBetween(before, after, ports)
	};
	const [info, rules] = await Promise.all([host.run(proofCommands.pfInfo), droppingRules(host)]);
	return {
		log,
		limits: limitsBetween(before, after, {
			...ports,
			pfInfo: info.stdout,
			rules
		})
	};
}

// src/lab/qemu/guests.ts
/** Rejects a variant that is to blame; otherwise the trial has failed. */
function blameOrFail(tallies, variant, [fault, proof], { rejection, reason }) {
	if (isAtFault(tallies, variant, fault, proof)) return rejected$1(variant, rejection);
	return {
		kind: "failed",
		reason,
		...lacksControl(tallies, variant, proof) && { lacksControl: true }
	};
}
/** A distribution's kernel has about 150,000 symbols in 7 MB. */
const maxSymbolBytes = 64 * 1024 ** 2;
/**
* Returns the location of a stuck guest, as `, stood in pf_test+0x1c`; the console shows the reply to an interrupt, not
* a panic.
*/
async function interrupted(guest) {
	await guest.interrupt().catch(() => {});
	const { console, consoleLines } = lastWords(guest.console(), false);
	const location = stackPatterns.map((pattern) => pattern.exec(console ?? "")?.[1]).find(Boolean);
	return {
		where: location === void 0 ? "" : `, stood in ${location}`,
		words: {
			...console !== void 0 && { console },
			...consoleLines !== void 0 && { consoleLines }
		}
	};
}
/**
* Match Linux's registers, and FreeBSD's debugger, which its nmi_call_kdb() enters; without `options DDB` FreeBSD
* continues and prints no location. The last matches FreeBSD's stack below trap 19 (T_NMI), if the interrupt makes it
* panic.
*/
const stackPatterns = [
	/^(?:\[.*\] )?RIP: \S+?:(\w+\+0x\w+)/m,
	/^Stopped at\s+([\w.]+(?:\+0x[0-9a-f]+)?):/m,
	/^--- trap 0x13,.*\n\w+\(\) at (\w+\+0x[0-9a-f]+)/m
];
const run = promisify(execFile);
async function factsOf({ accelerator, memoryMebibytes, system }) {
	const { stdout } = await run("qemu-system-x86_64", ["--version"]);
	const model = accelerator === "tcg" ? "max" : "host";
	const machine = `virtual: ${stdout.split("\n")[0]?.trim()}, ${accelerator}, q35, CPU model ${model}, 1 CPU, ${memoryMebibytes} MiB`;
	if (system === "freebsd") return { machine };
	const nftables = await run("nft", ["--version"]);
	return {
		machine,
		"kernel command line": kernelCommandLine("…"),
		nftables: nftables.stdout.trim(),
		"kernel of this machine": release()
	};
}

// src/lab/qemu/freebsd-symbols.ts
/**
* Reads ksyms(4), unless the modules are still those of `known`, as it takes seconds. Uses readelf(1): nm(1) needs the
* symbols' sections, which the file lacks.
*/
async function symbolsOf(host, known) {
	const copy = "/var/tmp/ppsgate.ksyms";
	await host.output(shell`kldload -n ksyms`);
	const modules = await host.output(shell`kldstat`);
	if (known?.modules === modules) return known;
	await host.output(shell`cp ${"/dev/ksyms"} ${copy}`);
	const options = { maxOutputBytes: maxSymbolBytes };
	return {
		modules,
		table: tableOf(await host.output(shell`readelf -sW ${copy}`, options), modules)
	};
}
function tableOf(table, modules) {
	const ranges = rangesIn(modules);
	return [...table.matchAll(functionRow)].map(([, address = "0", name]) => {
		const at = BigInt(`0x${address}`);
		const own = ranges.find(({ from, to }) => at >= from && at < to);
		return `${address} t ${name}${own === void 0 ? "" : `\t[${own.file}]`}\n`;
	}).join("");
}
/** Number, address, size, type, binding, visibility, section and name. */
const functionRow = /^ *\d+: ([0-9a-f]{16}) +\S+ FUNC +\S+ +\S+ +\S+ (\S+)$/gm;
/** Omits the kernel's own range. */
function rangesIn(modules) {
	return [...modules.matchAll(moduleRow)].map(([, address, size, file = ""]) => {
		const from = BigInt(`0x${address}`);
		return {
			from,
			to: from + BigInt(`0x${size}`),
			file
		};
	});
}
/** Id, references, address, size and name of a module: ` 2    1 0xffffffff81a18000     22a8 virtio_random.ko`. */
const moduleRow = /^ *\d+ +\d+ 0x([0-9a-f]{1,16}) +([0-9a-f]{1,16}) (\S{1,60}\.ko)$/gm;

// src/lab/qemu/freebsd-guests.ts
/** Base and patched; more variants are booted once they are known. */
const guestsOfPair = 2;
var FreebsdGuests = class {
	#name;
	#config;
	#resources;
	#copies;
	#loadedByBase = /* @__PURE__ */ new Set();
	#symbols = /* @__PURE__ */ new WeakMap();
	#prepared;
	#request;
	#warnings = [];
	#closed = new AbortController();
	constructor(name, config, resources) {
		this.#name = name;
		this.#config = config;
		this.#resources = resources;
		this.#copies = new ImageCopies(config, resources);
	}
	async inspect(cells) {
		this.#copies.families = familiesOf(cells);
		this.#copies.begin(guestsOfPair);
		const { problems, fingerprint } = await this.#copies.first();
		return {
			fingerprint: {
				...fingerprint,
				...await this.#resources.facts()
			},
			warnings: problems.filter(isOfImage).map(({ message }) => message)
		};
	}
	async prepare(request) {
		const refusal = whyNotInstallable(request);
		if (refusal !== void 0) throw new UsageError(refusal);
		this.#warnings = ignoredFiles(request.variants, "freebsd");
		this.#request = request;
		this.#copies.families = familiesOf(request.cells);
		const names = new Set(request.variants.map(({ variant }) => variant));
		await this.#copies.stopOthers(names);
		this.#copies.begin(names.size);
		this.#prepared ??= await this.#openKernels();
		const signal = AbortSignal.any([request.signal, this.#closed.signal]);
		this.#prepared.kernels.list({
			...request,
			signal
		});
		return { kind: "ready" };
	}
	ready() {
		return this.#prepared?.kernels.ready() ?? /* @__PURE__ */ new Set();
	}
	takeWarnings() {
		return this.#warnings.splice(0);
	}
	async boot({ pair, runs, signal }) {
		signal.throwIfAborted();
		const all = await Promise.allSettled(runs.map((run) => this.#bootVariant({
			...run,
			pair
		})));
		signal.throwIfAborted();
		return all.map((one) => {
			if (one.status === "rejected") throw one.reason;
			return one.value;
		});
	}
	/** Does nothing: rules are installed for each trial, which reports a refusal. */
	async tryRules() {}
	async installRules({ variant, host }, { scenario, family }) {
		const boots = this.#copies.get(variant)?.boots;
		if (boots === void 0) throw new TypeError(`${variant} was not booted here.`);
		const refusal = await this.#loadRules(host, scenario, variant);
		if (refusal !== void 0) return this.#afterRefusal(variant, scenario, refusal);
		if (variant === "base") this.#loadedByBase.add(scenario);
		if (await pathProblem(boots, family) === void 0) return void 0;
		await settingsThatFail(boots, [family]);
		const astray = await pathProblem(boots, family);
		return astray === void 0 ? void 0 : failed(astray);
	}
	/** Installs them one after the other: a refusal tries the same rules on base. */
	async installCounting(booted, cell) {
		for (const one of booted) {
			const outcome = await this.installRules(one, cell);
			if (outcome !== void 0) return {
				kind: "refused",
				outcome
			};
		}
		return {
			kind: "counting",
			counting: await Promise.all(booted.map(({ host, variant }) => countPackets(host, this.#portsOf(variant))))
		};
	}
	async whyNotInForce({ host, variant }, { scenario }, { isSilent }) {
		const { flows } = this.#resources;
		const proof = provesScenario(scenario, await proofOf(host), {
			...!isSilent && { trial: { flows } },
			own: this.#rulesOf(variant)
		});
		if (proof.kind === "in-force") return void 0;
		return `${scenario} was not in force on ${variant}: ${proof.reason}`;
	}
	/** The rules' counters need no further packets. */
	droppedBy({ host }) {
		return droppedByRules(host);
	}
	async symbols(booted) {
		const symbols = await symbolsOf(booted.host, this.#symbols.get(booted));
		this.#symbols.set(booted, symbols);
		return symbols.table;
	}
	/** Keeps the guests for the next pair, with their installed kernels. */
	async release() {}
	async stop(booted) {
		for (const { variant } of booted) await this.#copies.stop(variant);
	}
	async close() {
		this.#closed.abort(/* @__PURE__ */ new Error("the testbed is released"));
		await this.#copies.close();
		await this.#prepared?.kernels.ended();
		if (this.#prepared !== void 0) await rm(this.#prepared.folder, {
			recursive: true,
			force: true
		});
	}
	async #openKernels() {
		const { dut } = await this.#copies.first();
		const { builder } = this.#config;
		const folder = await mkdtemp(join(tmpdir(), "ppsgate-kernels-"));
		const builds = await builderFor(dut.host(), {
			name: this.#name,
			builder
		}, this.#resources.deps);
		return {
			kernels: new Kernels(folder, builds),
			folder
		};
	}
	#loadRules(...[host, scenario, variant]) {
		return installRules$1(host, scenario, this.#rulesOf(variant));
	}
	/** Returns the rules of the site's own scenarios, and the variant's own for the scenario without rules. */
	#rulesOf(variant) {
		const { rules = {}, variants = [] } = this.#request ?? {};
		const overlaid = variants.find((one) => one.variant === variant);
		if (this.#copies.get(variant) === void 0) return rules;
		const ports = this.#portsOf(variant);
		const names = portNames(overlaid?.interfaces, ports);
		return {
			...mapOwnRules(rules, names),
			...overlayRules(overlaid, ports)
		};
	}
	#portsOf(variant) {
		const dut = this.#copies.get(variant)?.boots.config.dut;
		if (dut === void 0) throw new TypeError(`${variant} was not booted here.`);
		return {
			ingress: dut.ingress.interface,
			egress: dut.egress.interface
		};
	}
	/** Tries base where it has not loaded the same rules yet, which the trial itself may never reach. */
	async #afterRefusal(variant, scenario, refusal) {
		const { tallies } = this.#resources;
		tallyOf(tallies, variant).refusals += 1;
		const base = this.#copies.get("base");
		if (variant !== "base" && !this.#loadedByBase.has(scenario) && base !== void 0) {
			if (await this.#loadRules(base.dut.host(), scenario, "base") === void 0) this.#loadedByBase.add(scenario);
		}
		if (!(variant === "base" || this.#loadedByBase.has(scenario))) return {
			kind: "failed",
			reason: refusal,
			lacksControl: true
		};
		if (!isAtFault(tallies, variant, "refusals", "hasBooted")) return failed(refusal);
		return rejected$1(variant, {
			kind: "does-not-load",
			scenario,
			message: `Twice: ${refusal}.`
		});
	}
	async #bootVariant(run) {
		const { variant, layout } = run;
		const assigned = this.#copies.guestFor(variant);
		assigned.catch(() => {});
		const kernel = await this.#prepared?.kernels.get(variant, layout);
		const notBooted = (outcome, console = "") => ({
			kind: "not-booted",
			variant,
			outcome,
			console
		});
		if (kernel === void 0) throw new TypeError(`${variant} was not prepared.`);
		if (kernel.kind === "rejected") return notBooted(rejected$1(variant, kernel.rejection));
		const imageGuest = await assigned.then(() => this.#copies.guestFor(variant)).catch((error) => {
			if (this.#copies.isFit && isOfOneCopy(error)) return reasonOf(error);
			throw error;
		});
		if (typeof imageGuest === "string") return notBooted(failed(imageGuest));
		const { guest, boots, dut, number } = imageGuest;
		setListed(boots, [variant]);
		boots.families = this.#copies.families;
		boots.mayDiffer = this.#request?.mayDiffer === true;
		await guest.pinTo(this.#copies.cpuOf(number));
		const outcome = await bootKernel(imageGuest, {
			number: 1,
			...run
		}, kernel);
		if (outcome.kind === "ready") return {
			kind: "booted",
			variant,
			guest,
			host: dut.host(),
			kernel: outcome.boot.kernel
		};
		const console = guest.console();
		await this.#copies.stop(variant);
		return notBooted(outcome, console);
	}
};
const familiesOf = (cells) => [...new Set(cells.map(({ family }) => family))];
/** True for settings of the image itself; vital settings are checked before each cell. */
const isOfImage = ({ isVital }) => !isVital;
/** Any cell will do: a boot serves all cells of a pair. */
const anyCell = {
	scenario: "forwarding",
	family: "inet4"
};
/** Blames the variant for a failure: the image's own kernel boots here, and only this machine could interfere. */
async function bootKernel({ boots, guest, console: recorder, lastLine }, run, kernel) {
	const planned = {
		number: 1,
		cell: anyCell,
		runs: [run]
	};
	try {
		return await bootFor(boots, planned, run, kernel);
	} catch (error) {
		if (!isOfOneCopy(error)) throw error;
		const { variant } = run;
		if (error instanceof DutLostError || lastLine() !== void 0) {
			const words = lastWords(guest.console(), false);
			return afterBootFailure(boots, variant, {
				reason: whyGone(lastLine()),
				...words
			});
		}
		if (!isHostError(error) || !isConnectionLost(error)) return failed(reasonOf(error));
		return afterEarlyDeath(boots.tallies, variant, recorder.lastWords());
	}
}
const whyGone = (lastLine) => lastLine === void 0 ? "it did not come up, and neither did its image after it, even after two power cycles" : `its QEMU has ended (${lastLine})`;
/**
* Counts a death, not a boot failure, as the guest was up; base, which runs beside it, has proven that guests can be
* up.
*/
function afterEarlyDeath(tallies, variant, words) {
	tallyOf(tallies, variant).deaths += 1;
	const how = "it was lost again right after it came up";
	if (!isAtFault(tallies, variant, "deaths", "hasBooted")) {
		const why = words.panic === void 0 ? "" : ` (panic: ${words.panic})`;
		return failed(`the guest with ${variant} died right after its boot: ${how}${why}`);
	}
	return rejected$1(variant, {
		kind: "boot-failed",
		message: `Twice: ${how}.`,
		...words
	});
}
const isConnectionLost = ({ kind }) => [
	"unreachable",
	"lost",
	"timeout"
].includes(kind);

// src/lab/qemu/linux-boots.ts
/** Longer than any successful boot, even on a busy machine. */
const maxBootSeconds = 120;
/** A guest that needs this many times longer than another one is considered dead. */
const maxTimesSlower = 4;
const minSecondsBeside = 20;
async function bootTogether(deps, bootables) {
	const together = {
		startedAt: deps.now(),
		firstUpSeconds: void 0
	};
	return Promise.all(bootables.map((bootable, index) => boot(deps, bootable, index + 1, together)));
}
function limitSeconds({ firstUpSeconds }) {
	if (firstUpSeconds === void 0) return maxBootSeconds;
	return Math.max(firstUpSeconds * maxTimesSlower, firstUpSeconds + minSecondsBeside);
}
async function boot({ lab, connect, sleep, now, cpus, addresses, signal }, { variant, kernel }, number, together) {
	signal.throwIfAborted();
	const guest = await lab.boot(number, kernel, cpus[(number - 1) % cpus.length] ?? 0);
	const notBooted = (reason) => ({
		kind: "not-booted",
		variant,
		reason,
		words: lastWords(guest.console(), false),
		console: guest.console()
	});
	const aborted = Promise.withResolvers();
	const abort = () => aborted.reject(signal.reason);
	signal.addEventListener("abort", abort);
	const elapsedSeconds = () => now() - together.startedAt;
	try {
		let how;
		const upOrEnded = guest.up.then(() => {
			how = "up";
		}, () => {
			how = "ended";
		});
		while (how === void 0 && elapsedSeconds() < limitSeconds(together)) await Promise.race([
			upOrEnded,
			sleep(1),
			aborted.promise
		]);
		if (how === "ended") return notBooted("it reset itself before it came up");
		if (how === void 0) {
			const { where, words } = await interrupted(guest);
			return {
				...notBooted(`it did not come up within ${Math.round(limitSeconds(together))} s${where}, and was power-cycled`),
				words
			};
		}
		together.firstUpSeconds ??= elapsedSeconds();
		const host = await connect(lab.login(guest), variant.variant, { keepaliveSeconds: 5 });
		const found = await identify(host, guest, kernel);
		if (found.kind === "other") {
			await host.close();
			return notBooted(found.reason);
		}
		return {
			kind: "booted",
			variant,
			guest,
			host,
			dut: linuxDut(host, linuxGuestPorts, addresses),
			kernel: found.kernel
		};
	} catch (error) {
		signal.throwIfAborted();
		if (!(error instanceof HostError)) throw error;
		return notBooted(`no login was possible (${reasonOf(error)})`);
	} finally {
		signal.removeEventListener("abort", abort);
	}
}
/** Proves which kernel runs: by its version, its command line, and the modules that it loaded. */
async function identify(host, { commandLine }, { version, atBoot }) {
	const [release, build, bootedLine, notes, ...modules] = (await host.output(shell`uname -r && uname -v && cat /proc/cmdline && od -A n -v -t x1 /sys/kernel/notes | tr -d ' \n' && echo && cut -d ${" "} -f 1 /proc/modules`)).split("\n");
	if (!version.startsWith(`${release} `) || !version.includes(` ${build}`)) return {
		kind: "other",
		reason: `${release} ${build} came up instead of ${version}`
	};
	if (bootedLine !== commandLine) return {
		kind: "other",
		reason: `its kernel command line is "${bootedLine}"`
	};
	const missing = atBoot.filter((name) => !modules.includes(name));
	if (missing.length > 0) return {
		kind: "other",
		reason: `it loaded no ${missing.join(" and no ")}`
	};
	const id = buildIdIn(notes ?? "");
	return {
		kind: "same",
		kernel: `${release} ${build}${id === void 0 ? "" : `, build ${id}`}`
	};
}
/** Hexadecimal note of type 3, owner `GNU`; see elf(5), NT_GNU_BUILD_ID. */
const buildIdIn = (notes) => /04000000(14000000)03000000474e5500([0-9a-f]{40})/.exec(notes)?.[2];

// src/lab/qemu/trial-logs.ts
const windowsLogName = (pair) => `windows-${pair}.log`;
/** Groups the runs of a trial by pair: each pair has its own boots, of base and patched in parallel. */
const pairsOf = ({ runs }) => [...Map.groupBy(runs, ({ pair }) => pair)];
/** Takes the median of a run's windows without the first, which fills caches of the guest and of QEMU. */
function readVirtualLogs(planned, startedAt, packets, logs) {
	const runs = [];
	let trafficSeconds = 0;
	let sentPackets = 0;
	for (const [pair, pairRuns] of pairsOf(planned)) {
		const log = logs.get(pair);
		if (log === void 0) return {
			kind: "failed",
			reason: `pair ${pair} was not measured`
		};
		const windows = windowsIn(log, packets);
		if (typeof windows === "string") return {
			kind: "failed",
			reason: windows
		};
		trafficSeconds += sum(windows.map(({ seconds }) => seconds));
		sentPackets += packets * windows.length;
		const stuck = stuckIn(log);
		const drops = dropsIn(log);
		for (const [index, run] of pairRuns.entries()) {
			const own = windows.filter(({ guest }) => guest === index + 1);
			const isStuck = stuck.has(index + 1);
			const measured = measuredRun(run, planned.number, isStuck ? own : own.slice(1), isStuck);
			const droppedBy = measured.pps === 0 ? drops.get(index + 1) : void 0;
			runs.push(droppedBy === void 0 ? measured : {
				...measured,
				droppedBy
			});
		}
	}
	const { number, cell } = planned;
	const offeredPps = trafficSeconds > 0 ? sentPackets / trafficSeconds : 0;
	return {
		kind: "measured",
		runs,
		summary: {
			number,
			cell,
			startedAt,
			trafficSeconds,
			offeredPps
		}
	};
}
/** Returns a sentence for an incomplete log. */
function windowsIn(log, packets) {
	const lines = log.trimEnd().split("\n");
	if (lines.pop() !== "end") return "the windows ended too early";
	const windows = [];
	for (const line of lines.filter((one) => !stuckLine.test(one) && !droppedLine.test(one))) {
		const window = windowOf(line, packets);
		if (window === void 0) return `a window cannot be read: "${line.slice(0, 200)}"`;
		windows.push(window);
	}
	return windows;
}
const stuckLine = /^stuck ([1-9]\d{0,3})$/;
const droppedLine = /^dropped ([1-9]\d{0,3}) (.{1,1000})$/;
const windowLine = /^window [1-9]\d{0,3}(?: \d{1,15}(?:\.\d{1,6})? \d{1,15} (?:-|\d{1,15}) \d{1,18} \d{1,18}){2}$/;
/**
* Reads ten numbers after the guest's number: twice time, packets, instructions, and the CPU's own time and waiting in
* ns.
*/
function windowOf(line, receivedPackets) {
	if (!windowLine.test(line)) return void 0;
	const [guest, ...counts] = line.split(" ").slice(1);
	const before = counts.slice(0, 5).map(Number);
	const [seconds = 0, forwardedPackets = 0, instructions = 0, ran = 0, waited = 0] = counts.slice(5).map((text, index) => Number(text) - (before[index] ?? 0));
	const isCounted = counts[2] !== "-";
	if (isCounted !== (counts[7] !== "-")) return void 0;
	const goesForward = [
		forwardedPackets,
		ran,
		waited,
		isCounted ? instructions : 0
	].every((one) => one >= 0);
	if (!(seconds > 0) || !goesForward || forwardedPackets > 0 && (ran === 0 || isCounted && instructions === 0)) return void 0;
	return {
		guest: Number(guest),
		seconds,
		receivedPackets,
		forwardedPackets,
		busySeconds: ran / 1e9,
		deniedSeconds: waited / 1e9,
		...isCounted && { instructions }
	};
}
/** Guests that accepted no more packets, and so got no further windows. */
const stuckIn = (log) => new Set(log.split("\n").flatMap((line) => stuckLine.exec(line)?.[1] ?? []).map(Number));
/** Adds the causes of drops in silent guests, by the guests' numbers. */
function withDrops(log, drops) {
	const lines = [...drops].map(([guest, text]) => `dropped ${guest} ${oneLine(text).slice(0, 1e3)}\n`);
	return log.replace(/^end\s*$/m, () => `${lines.join("")}end\n`);
}
const dropsIn = (log) => new Map(log.split("\n").flatMap((line) => {
	const [, guest, text] = droppedLine.exec(line) ?? [];
	return text === void 0 ? [] : [[Number(guest), text]];
}));
/** Guests that forwarded nothing in their last window, and may be dead. */
function silentIn(log, packets) {
	const windows = windowsIn(log, packets);
	const last = /* @__PURE__ */ new Map();
	for (const window of typeof windows === "string" ? [] : windows) last.set(window.guest, window);
	const silent = [...last.values()].filter(({ forwardedPackets }) => forwardedPackets === 0);
	return /* @__PURE__ */ new Set([...stuckIn(log), ...silent.map(({ guest }) => guest)]);
}
/** Packets of all windows that were sent into each guest, and that came out, by its number; without stuck guests. */
function endsIn(log, packets) {
	const windows = windowsIn(log, packets);
	const byGuest = Map.groupBy(typeof windows === "string" ? [] : windows, ({ guest }) => guest);
	const stuck = stuckIn(log);
	return new Map([...byGuest].flatMap(([guest, own]) => {
		const ends = {
			sentPackets: sum(own.map(({ receivedPackets }) => receivedPackets)),
			countedPackets: sum(own.map(({ forwardedPackets }) => forwardedPackets))
		};
		return stuck.has(guest) ? [] : [[guest, ends]];
	}));
}
function measuredRun(planned, trial, windows, isStuck) {
	const samples = windows.map(({ guest: _, ...sample }) => sample);
	const through = samples.filter(({ forwardedPackets }) => forwardedPackets > 0);
	const isSilent = through.length === 0;
	const perPacket = through.flatMap(({ instructions, forwardedPackets }) => instructions === void 0 ? [] : instructions / forwardedPackets);
	const nsPerPacket = through.map(({ busySeconds = 0, forwardedPackets }) => busySeconds * 1e9 / forwardedPackets);
	const rates = samples.map(({ forwardedPackets, seconds }) => forwardedPackets / seconds);
	return {
		...planned,
		trial,
		pps: isSilent ? 0 : median(rates),
		...!isSilent && { nsPerPacket: median(nsPerPacket) },
		...perPacket.length > 0 && { instructionsPerPacket: median(perPacket) },
		samples,
		validity: validityOf(samples, isStuck)
	};
}
/** Allows for the guest's own frames on the wire. */
const maxOwnRatio = 1.01;
/** A guest that forwards none of the packets sent to it counts with 0. */
function validityOf(windows, isStuck) {
	const invalid = (cause, reason) => ({
		kind: "invalid",
		cause,
		reason
	});
	if (windows.length === 0) return invalid("too-short", "no window was measured");
	const silent = windows.filter(({ forwardedPackets }) => forwardedPackets === 0).length;
	if (silent === windows.length) return { kind: "valid" };
	if (isStuck) return invalid("hole", `it accepted no more packets after window ${windows.length}`);
	if (silent > 0) return invalid("hole", `no packet was forwarded in ${silent} of ${windows.length} windows`);
	const swollen = windows.find(({ receivedPackets, forwardedPackets }) => forwardedPackets > receivedPackets * maxOwnRatio);
	if (swollen === void 0) return { kind: "valid" };
	const { receivedPackets: sent, forwardedPackets: came } = swollen;
	return invalid("hole", `more packets arrived than were sent: ${came} of ${sent}`);
}

// src/lab/qemu/linux-guests.ts
var LinuxGuests = class {
	#name;
	#config;
	#resources;
	#bootable = /* @__PURE__ */ new Map();
	#scenarios = [];
	#warnings = [];
	/** Variants whose rules all scenarios have loaded. */
	#proved = /* @__PURE__ */ new Set();
	#symbols = {
		key: "",
		text: ""
	};
	/** The scenario of each guest's rules. */
	#inForce = /* @__PURE__ */ new WeakMap();
	#duts = /* @__PURE__ */ new WeakMap();
	constructor(name, config, resources) {
		this.#name = name;
		this.#config = config;
		this.#resources = resources;
	}
	async inspect() {
		return {
			fingerprint: await this.#resources.facts(),
			warnings: []
		};
	}
	async prepare({ variants, cells, ...request }) {
		const { signal, notify } = request;
		this.#scenarios = [...new Set(cells.map(({ scenario }) => scenario))].filter(isLinuxScenario);
		const compared = findInert(variants, this.#scenarios[0]);
		if (compared.kind === "rejected") return compared;
		this.#warnings = [...ignoredParts(variants), ...compared.warnings];
		const archives = [];
		for (const variant of variants) {
			signal.throwIfAborted();
			if (this.#bootable.has(variant.variant)) continue;
			const archive = await this.#archiveOf(variant, request);
			if (archive.kind === "rejected") return archive;
			archives.push({
				variant,
				path: archive.path
			});
		}
		for (const { variant } of archives) notify(`unpacking the kernel of ${variant.variant}`);
		const unpacking = archives.map(async ({ variant, path }) => ({
			variant,
			kernel: await unpacked(this.#resources.lab, path)
		}));
		await Promise.allSettled(unpacking);
		const all = [...this.#bootable.values(), ...await Promise.all(unpacking)];
		const names = new Set(variants.map(({ variant }) => variant));
		this.#bootable = new Map(all.flatMap((one) => names.has(one.variant.variant) ? [[one.variant.variant, one]] : []));
		return { kind: "ready" };
	}
	ready() {
		return new Set(this.#bootable.keys());
	}
	takeWarnings() {
		return this.#warnings.splice(0);
	}
	async boot({ runs, signal }) {
		const { lab, cpus, tallies, addresses, deps } = this.#resources;
		const bootables = runs.map(({ variant }) => this.#bootableOf(variant));
		const all = await bootTogether({
			...deps,
			lab,
			cpus,
			addresses,
			signal
		}, bootables);
		for (const { kind, variant } of all) {
			const tally = tallyOf(tallies, variant.variant);
			if (kind === "booted") Object.assign(tally, {
				hasBooted: true,
				bootFailures: 0
			});
			else tally.bootFailures += 1;
		}
		return all.map((one) => {
			const variant = one.variant.variant;
			if (one.kind === "not-booted") {
				const { reason, words, console } = one;
				const why = words.panic === void 0 ? "" : ` (panic: ${words.panic})`;
				return {
					kind: "not-booted",
					variant,
					outcome: blameOrFail(tallies, variant, ["bootFailures", "hasBooted"], {
						rejection: {
							kind: "boot-failed",
							message: `Twice in a row: ${reason}.`,
							...words
						},
						reason: `${variant} did not boot: ${reason}${why}`
					}),
					console
				};
			}
			const { guest, host, kernel, dut } = one;
			const booted = {
				kind: "booted",
				variant,
				guest,
				host,
				kernel
			};
			this.#duts.set(booted, dut);
			return booted;
		});
	}
	async tryRules(booted) {
		try {
			const all = await Promise.all(booted.map((one) => this.#upload(one)));
			const refused = firstToBlame(all.filter((prepared) => prepared.kind === "rejected"));
			if (refused === void 0) for (const { variant } of booted) this.#proved.add(variant);
			return refused;
		} catch (error) {
			const full = await fullGuest(this.#resources.tallies, booted);
			if (full !== void 0) return full;
			throw error;
		}
	}
	/** Proves rules once in a gate. The trial of an only scenario installs them next anyway. */
	async #upload(booted) {
		const { variant } = this.#bootableOf(booted.variant);
		const toProve = this.#proved.has(booted.variant) || this.#scenarios.length === 1 ? [] : this.#scenarios;
		return this.#dutOf(booted).prepareToDiscard(variant, this.#scenarios, toProve);
	}
	async installRules(booted, { scenario }) {
		if (!isLinuxScenario(scenario)) throw new TypeError(`${scenario} is not a Linux scenario.`);
		if (this.#inForce.get(booted) === scenario) return void 0;
		const installed = await this.#dutOf(booted).install(booted.variant, scenario);
		if (installed.kind === "rejected") return installed;
		this.#inForce.set(booted, scenario);
	}
	/** All at once: while one waits for this machine, the other has the CPU. */
	async installCounting(booted, { scenario }) {
		if (!isLinuxScenario(scenario)) throw new TypeError(`${scenario} is none of Linux.`);
		const all = await Promise.allSettled(booted.map((one) => this.#dutOf(one).installCounting(one.variant, scenario)));
		const begun = all.flatMap((one) => one.status === "fulfilled" ? one.value : []);
		const counting = begun.filter((one) => one.kind === "counting");
		if (counting.length === booted.length) {
			for (const one of booted) this.#inForce.set(one, scenario);
			return {
				kind: "counting",
				counting
			};
		}
		for (const one of counting) one.cancel();
		for (const one of all) if (one.status === "rejected") throw one.reason;
		const outcome = firstToBlame(begun.filter((one) => one.kind === "rejected"));
		if (outcome === void 0) throw new TypeError("No guest was refused.");
		return {
			kind: "refused",
			outcome
		};
	}
	/** None: a ruleset that nft has loaded is in force as a whole. */
	async whyNotInForce() {}
	async droppedBy(booted, send) {
		const [by] = await Promise.all([this.#dutOf(booted).droppedBy(secondsToStart), send()]);
		return by;
	}
	/** Reads megabytes only if no guest with the same kernel, and with modules at the same addresses, has shown them. */
	async symbols({ host, kernel }) {
		const key = `${kernel}\n${await host.output(shell`cut -d ${" "} -f 1,6 /proc/modules`)}`;
		if (this.#symbols.key !== key) {
			const options = { maxOutputBytes: maxSymbolBytes };
			this.#symbols = {
				key,
				text: await host.output(shell`cat /proc/kallsyms`, options)
			};
		}
		return this.#symbols.text;
	}
	release(booted) {
		return this.stop(booted);
	}
	async stop(booted) {
		await Promise.all(booted.map(async ({ host, guest }) => {
			await host.close().catch(() => {});
			await guest.stop();
		}));
	}
	async close() {}
	#bootableOf(variant) {
		const bootable = this.#bootable.get(variant);
		if (bootable === void 0) throw new TypeError(`${variant} was not prepared.`);
		return bootable;
	}
	#dutOf(booted) {
		const dut = this.#duts.get(booted);
		if (dut === void 0) throw new TypeError(`${booted.variant} was not booted here.`);
		return dut;
	}
	/** Builds the variant's kernel, or returns the given one; returns the configuration's if only files differ. */
	async #archiveOf({ variant, kernel }, request) {
		const { builder, kernelPath } = this.#config;
		if (kernel === void 0) return {
			kind: "archive",
			path: kernelPath
		};
		if (kernel.kind === "archive") {
			await requireSame(kernel);
			return {
				kind: "archive",
				path: kernel.path
			};
		}
		if (builder === void 0) throw new UsageError(`${this.#name} has no \`builder\`, which is needed to build the kernels of a tree.`);
		const { lab, deps } = this.#resources;
		const built = await buildLinuxKernel(builder, {
			variant,
			kernel,
			path: join(lab.folder, `${pathName(variant)}.tar.zst`),
			owner: `ppsgate on ${this.#name}`,
			connect: deps.connect,
			now: deps.now,
			sums: deps.kernelSums ?? noSums,
			...request
		});
		return built.kind === "rejected" ? {
			...built,
			variant
		} : built;
	}
};
/** The patch is not to blame if base is refused, too. */
const firstToBlame = (refused) => refused.find(({ variant }) => variant === "base") ?? refused[0];
/** Exceeds the start of nft(8) in a guest with translated instructions. */
const secondsToStart = 1;
/** Guests get their interfaces before their settings, like any DUT. */
function findInert(variants, scenario = "forwarding") {
	const read = variants.map((variant) => loadable(variant, linuxGuestPorts)).filter((overlay) => overlay.kind === "loadable");
	if (read.length < variants.length) return {
		kind: "acts",
		warnings: []
	};
	const kernelOf = (name) => variants.find(({ variant }) => variant === name)?.kernel;
	const base = kernelOf(variants[0]?.variant);
	const compared = findInertChanges(read, {
		before: /* @__PURE__ */ new Map(),
		fixed: /* @__PURE__ */ new Set()
	}, (name) => !isDeepStrictEqual(kernelOf(name), base));
	if (compared.kind === "acts") return compared;
	const { variant, message } = compared;
	return rejected$1(variant, {
		kind: "does-not-load",
		scenario,
		message
	});
}
/** Unpacks a kernel; `undefined` is this machine's own. */
async function unpacked(lab, path) {
	try {
		return await lab.kernel(path);
	} catch (error) {
		if (!(error instanceof KernelFilesError)) throw error;
		const subject = path === void 0 ? "" : `The kernel ${path} `;
		throw new UsageError(`${subject}${error.message}.`);
	}
}
async function requireSame({ path, sha256 }) {
	const now = await givenKernel(path);
	if (now.kind === "archive" && now.sha256 === sha256) return;
	throw new UsageError(`The kernel ${path} has changed since this gate began: restore its old content, or start a new gate.`);
}
/** Finds a guest without free space for rules; a kernel that fills the space is to blame. */
async function fullGuest(tallies, booted) {
	for (const { host, variant } of booted) {
		if ((await host.output(shell`df -P -k /run | tail -n 1`).catch(() => "")).trim().split(/\s+/)[3] !== "0") continue;
		tallyOf(tallies, variant).refusals += 1;
		const message = `no space is left in /run of the guest with ${variant}`;
		return isAtFault(tallies, variant, "refusals", "hasBooted") ? rejected$1(variant, {
			kind: "out-of-disk",
			message: `Twice: ${message}.`
		}) : failed(message);
	}
}

// src/lab/qemu/guest-windows.ts
function windowsOf({ windows }) {
	if (windows === void 0) throw new TypeError("Virtual testbeds need a number of packets to send, but none was requested.");
	return {
		windows: windows.count,
		packets: windows.packets
	};
}
async function installRules({ system }, booted, cell) {
	try {
		for (const one of booted) {
			const outcome = await system.installRules(one, cell);
			if (outcome !== void 0) return {
				kind: "refused",
				outcome
			};
		}
		return;
	} catch (error) {
		return lost(error);
	}
}
async function send(guests, booted, cell, windows, signal) {
	const { lab, traffic, flowsFor, sendWindows } = guests;
	const { packets } = windowsOf(traffic);
	await shareCpu(guests);
	const sent = await sendWindows(lab, {
		guests: booted.map(({ guest }) => guest),
		flows: () => flowsFor(cell),
		packets,
		windows,
		signal
	});
	return sent.kind === "sent" ? sent : {
		kind: "lost",
		reason: `the windows stopped early: ${sent.lastLine}`
	};
}
/**
* Guests prepare on all CPUs, and forward on one. The sender and QEMU's threads for the wires have the other: packets
* then wait for a guest, which takes them in batches of one size even on a busy machine.
*/
async function shareCpu({ running }) {
	if (running === void 0 || running.haveOneCpu) return;
	running.haveOneCpu = true;
	const { booted } = running;
	await Promise.all(booted.map(({ guest }) => guest.pinTo(guestCpu, 0)));
}
async function installAndSend(guests, booted, cell, windows, signal) {
	return await installRules(guests, booted, cell) ?? send(guests, booted, cell, windows, signal);
}
/** Reads counters before the first window, outside of all counted instructions. */
async function countAndSend(guests, booted, cell, windows, signal) {
	const begun = await guests.system.installCounting(booted, cell).catch(lost);
	if (begun.kind !== "counting") return begun;
	const { counting } = begun;
	const cancel = () => {
		for (const one of counting) one.cancel();
	};
	try {
		const sent = await send(guests, booted, cell, windows, signal);
		if (sent.kind === "sent") return {
			...sent,
			counting
		};
		cancel();
		return sent;
	} catch (error) {
		cancel();
		throw error;
	}
}
function lost(error) {
	if (!(error instanceof HostError)) throw error;
	return {
		kind: "lost",
		reason: error.message
	};
}
/** Called right after the packets: what limited them, by variant. A guest without an answer has no limits. */
async function limitsOf({ log, counting }, { pair, booted, packets }, keepLog) {
	const all = await Promise.all(counting.map(countsOf));
	const ends = endsIn(log, packets);
	const limits = {};
	for (const [index, counts] of all.entries()) {
		const variant = booted[index]?.variant;
		if (counts === void 0 || variant === void 0) continue;
		await keepLog(`counters-${pair}-${pathName(variant)}.log`, counts.log);
		if (counts.limits === void 0) continue;
		const { busiestCpuRatio: _, ...counted } = counts.limits;
		limits[variant] = withEnds(counted, ends.get(index + 1) ?? {});
	}
	return limits;
}
const countsOf = async (counting) => {
	try {
		return await counting.end();
	} catch (error) {
		if (!(error instanceof HostError)) throw error;
		return;
	}
};

// src/lab/qemu/hot-functions.ts
/** Gives a window of 10,000 packets about as many samples as a sampler would take. */
const instructionsPerSample = 1e3;
const headerBytes = 64;
const slotBytes = 16;
/**
* Folded stacks of one frame each, as `nf_tables\`nft_do_chain 1234`. Takes each function's median over the windows,
* which removes a timer that ran in only one of three.
*/
function foldedInstructions({ counts, symbols }) {
	const functionAt = functionsOf(symbols);
	const windows = counts.slice(1).map((after, index) => executedBetween(counts[index] ?? after, after, functionAt));
	return `${[...new Set(windows.flatMap((window) => [...window.keys()]))].flatMap((name) => {
		const executed = median(windows.map((window) => window.get(name) ?? 0));
		const samples = Math.round(executed / instructionsPerSample);
		return samples > 0 ? `${name} ${samples}` : [];
	}).join("\n")}\n`;
}
/** Instructions of each function. */
function executedBetween(before, after, functionAt) {
	const byFunction = /* @__PURE__ */ new Map();
	const [earlier, later] = [viewOf(before), viewOf(after)];
	for (let at = headerBytes; at + slotBytes <= later.byteLength; at += slotBytes) {
		if (later.getFloat64(at + 8) === earlier.getFloat64(at + 8)) continue;
		const address = later.getBigUint64(at, true);
		const executed = Number(later.getBigUint64(at + 8, true) - earlier.getBigUint64(at + 8, true));
		if (executed <= 0) continue;
		const name = functionAt(address);
		byFunction.set(name, (byFunction.get(name) ?? 0) + executed);
	}
	return byFunction;
}
const viewOf = ({ buffer, byteOffset, byteLength }) => new DataView(buffer, byteOffset, byteLength);
/** Kernel addresses are in the upper half. */
const firstOfKernel = 1n << 63n;
/** Finds the last symbol of code at or below an address. Names come from the kernel, unverified. */
function functionsOf(symbols) {
	const found = [];
	for (const line of symbols.split("\n")) {
		const [, address, name, module] = /^([0-9a-f]{16}) [tTwW] ([^\s;]{1,200})(?:\t\[([\w.-]{1,64})\])?$/.exec(line) ?? [];
		if (address === void 0 || name === void 0) continue;
		if (BigInt(`0x${address}`) < firstOfKernel) continue;
		const label = module === void 0 ? `kernel\`${name}` : `${module}\`${name}`;
		found.push({
			address: BigInt(`0x${address}`),
			label
		});
	}
	const sorted = found.toSorted((a, b) => a.address < b.address ? -1 : 1);
	return (address) => {
		if (address === 0n) return "unknown";
		if (address < firstOfKernel) return "userland";
		let [low, high] = [0, sorted.length];
		while (low < high) {
			const middle = low + high >> 1;
			if ((sorted[middle]?.address ?? 0n) <= address) low = middle + 1;
			else high = middle;
		}
		return sorted[low - 1]?.label ?? "unknown";
	};
}

// src/lab/qemu/virtual-trial.ts
async function trial(guests, planned, keepLog, signal) {
	const { traffic, tallies } = guests;
	const { cell } = planned;
	const { windows, packets } = windowsOf(traffic);
	/** Set after the boot, if there is one. */
	let startedAt;
	const logs = /* @__PURE__ */ new Map();
	const kernels = {};
	const limits = {};
	let bootSeconds = 0;
	for (const [pair, runs] of pairsOf(planned)) {
		const begunAt = guests.now();
		const up = await guestsFor(guests, {
			pair,
			runs,
			signal
		}, keepLog);
		if (up.kind !== "up") return up.outcome;
		const { booted } = up;
		if (up.hasBooted) bootSeconds += guests.now() - begunAt;
		startedAt ??= (/* @__PURE__ */ new Date()).toISOString();
		const sent = await countAndSend(guests, booted, cell, windows + 1, signal);
		if (sent.kind === "lost") {
			const outcome = await afterDeaths(guests, await endsOf(booted), {
				planned,
				keepLog,
				signal
			});
			await stopAll(guests);
			return outcome ?? {
				kind: "failed",
				reason: sent.reason
			};
		}
		if (sent.kind === "refused") return sent.outcome;
		await keepLog(windowsLogName(pair), sent.log);
		const silent = silentIn(sent.log, packets);
		const [inForce, read] = await Promise.all([whyNotInForce(guests, booted, cell, silent), limitsOf(sent, {
			pair,
			booted,
			packets
		}, keepLog)]);
		Object.assign(limits, read);
		if (silent.size > 0 || inForce.kind === "lost") {
			const outcome = await afterDeaths(guests, await endsOf(booted, (index) => inForce.kind === "lost" || silent.has(index + 1)), {
				planned,
				keepLog,
				signal
			});
			if (outcome !== void 0) return outcome;
		}
		if (inForce.reason !== void 0) return {
			kind: "failed",
			reason: inForce.reason
		};
		const drops = await dropsOf(guests, booted, cell, {
			silent,
			signal
		});
		const log = drops.size === 0 ? sent.log : withDrops(sent.log, drops);
		if (drops.size > 0) await keepLog(windowsLogName(pair), log);
		logs.set(pair, log);
		for (const { variant, kernel } of booted) {
			tallyOf(tallies, variant).hasStoodTrial = true;
			kernels[variant] = kernel;
		}
	}
	startedAt ??= (/* @__PURE__ */ new Date()).toISOString();
	const outcome = readVirtualLogs(planned, startedAt, packets, logs);
	if (outcome.kind !== "measured") return outcome;
	return {
		...outcome,
		summary: {
			...outcome.summary,
			kernels,
			...bootSeconds > 0 && { bootSeconds },
			...Object.keys(limits).length > 0 && { limits }
		}
	};
}
/** Call it while packets' states live; `silent` are the numbers, from 1, of guests that forwarded nothing. */
async function whyNotInForce({ system }, booted, cell, silent) {
	try {
		return {
			kind: "told",
			reason: (await Promise.all(booted.map((one, index) => system.whyNotInForce(one, cell, { isSilent: silent.has(index + 1) })))).find((reason) => reason !== void 0)
		};
	} catch (error) {
		if (!(error instanceof HostError)) throw error;
		return {
			kind: "lost",
			reason: error.message
		};
	}
}
/** Packets must flow as long as the guest traces them. */
const windowsToTrace = 10;
/** Returns the causes of drops in silent guests, by number; omits guests that do not reply. */
async function dropsOf(guests, booted, cell, { silent, signal }) {
	const drops = /* @__PURE__ */ new Map();
	for (const [index, one] of booted.entries()) {
		if (!silent.has(index + 1)) continue;
		try {
			const by = await guests.system.droppedBy(one, () => send(guests, [one], cell, windowsToTrace, signal));
			if (by !== void 0) drops.set(index + 1, by);
		} catch (error) {
			if (!(error instanceof HostError)) throw error;
		}
	}
	return drops;
}
async function guestsFor(guests, pair, keepLog) {
	const { running, system } = guests;
	const known = pair.runs.map((run) => running?.booted.find(({ variant }) => variant === run.variant));
	if (running?.pair === pair.pair && known.every((one) => one !== void 0)) return {
		kind: "up",
		booted: known,
		hasBooted: false
	};
	guests.running = void 0;
	if (running !== void 0) await system.release(running.booted);
	const all = await system.boot(pair);
	const booted = all.filter((one) => one.kind === "booted");
	guests.running = {
		pair: pair.pair,
		booted,
		haveOneCpu: false
	};
	const down = all.filter((one) => one.kind === "not-booted");
	for (const { variant, console } of down) await keepLog(consoleLogName(variant), console);
	const outcome = gravest(down.map(({ variant, outcome, console }) => console === "" ? outcome : withConsole(variant, outcome))) ?? await tryAll(guests, booted);
	if (outcome === void 0) return {
		kind: "up",
		booted,
		hasBooted: true
	};
	if (down.length > 0) await stopAll(guests);
	return {
		kind: "down",
		outcome
	};
}
/** Prefers a rejection to a failure that may be retried. */
const gravest = (outcomes) => outcomes.find(({ kind }) => kind === "rejected") ?? outcomes[0];
async function tryAll(guests, booted) {
	try {
		return await guests.system.tryRules(booted);
	} catch (error) {
		if (!(error instanceof HostError)) throw error;
		await stopAll(guests);
		return {
			kind: "failed",
			reason: error.message
		};
	}
}
async function stopAll(guests) {
	const { running, system } = guests;
	guests.running = void 0;
	if (running !== void 0) await system.stop(running.booted);
}
const endsOf = (booted, isOverride = (_index) => true) => Promise.all(booted.map(async (one, index) => ({
	one,
	end: isOverride(index) ? await endOf(one) : void 0
})));
/** Returns undefined if no guest has died; otherwise first checks that base survives the same packets. */
async function afterDeaths(guests, ends, { planned: { cell }, keepLog, signal }) {
	if (ends.every(({ end }) => end === void 0)) return void 0;
	const { tallies, traffic } = guests;
	const outcomes = [];
	const base = ends.find(({ one, end }) => one.variant === "base" && end === void 0);
	if (base !== void 0 && !tallyOf(tallies, "base").hasStoodTrial) {
		const control = await installAndSend(guests, [base.one], cell, 2, signal);
		tallyOf(tallies, "base").hasStoodTrial = control.kind === "sent" && silentIn(control.log, windowsOf(traffic).packets).size === 0;
	}
	for (const { one, end } of ends) {
		if (end === void 0) continue;
		const { variant, guest } = one;
		await keepLog(consoleLogName(variant), guest.console());
		tallyOf(tallies, variant).deaths += 1;
		const died = afterDeath(guests, variant, `under ${traffic.flows} flows`, end);
		outcomes.push(withConsole(variant, died));
	}
	await stopAll(guests);
	return gravest(outcomes);
}
async function endOf({ guest, host }) {
	if (await host.output(shell`uname`, { timeoutSeconds: answerSeconds }).then(() => true, () => false)) return void 0;
	const words = lastWords(guest.console(), false);
	if (words.panic !== void 0) return {
		how: `it panicked: ${words.panic}`,
		words
	};
	const { where, words: interruptedWords } = await interrupted(guest);
	return {
		how: `it stopped responding${where}, and was power-cycled`,
		words: interruptedWords
	};
}
const answerSeconds = 10;
function afterDeath({ tallies }, name, where, { how, words }) {
	if (isAtFault(tallies, name, "deaths", "hasStoodTrial")) return rejected(name, {
		kind: "panics-under-load",
		message: `Twice, ${where}${words.panic === void 0 ? `: ${how}` : ""}.`,
		...words
	});
	return {
		kind: "failed",
		reason: `the guest with ${name} died ${where}: ${how}`,
		...lacksControl(tallies, name, "hasStoodTrial") && { lacksControl: true }
	};
}
const rejected = (variant, rejection) => ({
	kind: "rejected",
	variant,
	rejection
});
/** Names the log of a discarded guest. */
function withConsole(variant, outcome) {
	const log = consoleLogName(variant);
	if (outcome.kind === "failed") return {
		...outcome,
		reason: `${outcome.reason.replace(/\.$/, "")}; the guest was discarded, and its console is in ${log}`
	};
	if (outcome.kind !== "rejected") return outcome;
	const { rejection } = outcome;
	return rejection.kind === "boot-failed" || rejection.kind === "panics-under-load" ? {
		...outcome,
		rejection: {
			...rejection,
			guestConsole: log
		}
	} : outcome;
}
const consoleLogName = (variant) => `console-${pathName(variant)}.log`;

// src/lab/qemu/virtual-profile.ts
/** A timer that runs in one window is not an effect of the patch. */
const windows = 3;
/** Counts windows one by one after a discarded one. Counting leaves no trace in the guest, which stays up. */
async function profile(guests, { cell, variant }, keepLog, signal) {
	if (guests.config.accelerator !== "tcg") return impossible("instructions are not counted with hardware virtualization");
	if ((guests.running?.booted ?? []).every((one) => one.variant !== variant)) {
		const runs = [...guests.system.ready()].map((name) => ({ variant: name }));
		const up = await guestsFor(guests, {
			pair: 0,
			runs,
			signal
		}, keepLog);
		if (up.kind !== "up") return missed(whyNot(up.outcome));
	}
	const booted = guests.running?.booted.find((one) => one.variant === variant);
	const counts = booted?.guest.counts;
	if (booted === void 0 || counts === void 0) return missed("no instruction counter was active");
	try {
		const installed = await installRules(guests, [booted], cell);
		if (installed?.kind === "lost") return missed(installed.reason);
		if (installed !== void 0) return missed(whyNot(installed.outcome));
		const points = [];
		let log = "";
		for (let window = 0; window <= windows; window += 1) {
			const sent = await send(guests, [booted], cell, 1, signal);
			if (sent.kind !== "sent") return missed("no packets flowed while instructions were counted");
			points.push(await readFile(counts));
			log += sent.log;
		}
		await keepLog("windows.log", log);
		const symbols = await guests.system.symbols(booted);
		const text = foldedInstructions({
			counts: points,
			symbols
		});
		return judgeProfile(text, {
			event: "instructions",
			kernel: booted.kernel
		}, keepLog);
	} catch (error) {
		if (!(error instanceof HostError)) throw error;
		await stopAll(guests);
		return missed(error.message);
	}
}
const whyNot = (outcome) => outcome.reason ?? "the variant does not boot";

// src/lab/qemu/windows.ts
const script = readFileSync(new URL("../windows.sh", import.meta.url), "utf8");
/** Time limit of a window: a thousand packets per second, on a busy machine. */
const maxSeconds = 30;
async function sendWindows({ wire }, { guests, flows, packets, windows, signal }) {
	const all = guests.map((_, index) => index + 1);
	const rounds = Array.from({ length: windows }, (_, round) => round % 2 === 0 ? all : all.toReversed());
	const file = await flows();
	const described = guests.map(({ interfaces, counts = "-", cpuThread }) => [
		interfaces.sender,
		interfaces.receiver,
		counts,
		cpuThread,
		file
	].join(","));
	const words = [
		packets,
		maxSeconds,
		0,
		rounds.flat().join(",")
	].map(String);
	const sending = wire.start("bash", [
		"-c",
		script,
		"windows.sh",
		...words,
		...described
	]);
	let log = "";
	let errors = "";
	sending.stdout?.on("data", (piece) => {
		log += piece.toString();
	});
	sending.stderr?.on("data", (piece) => {
		errors = (errors + piece.toString()).slice(-4096);
	});
	const stop = () => void sending.stdin?.end();
	sending.stdin?.on("error", () => {});
	signal.addEventListener("abort", stop);
	for (const { ended } of guests) ended.then(stop);
	try {
		const [code] = await once(sending, "close");
		signal.throwIfAborted();
		if (code === 0) return {
			kind: "sent",
			log
		};
		return {
			kind: "broken",
			log,
			lastLine: lastLine(errors) ?? "it said nothing"
		};
	} finally {
		signal.removeEventListener("abort", stop);
	}
}

// src/lab/qemu/virtual-testbed.ts
const labOfThisMachine = {
	up: virtualLabUp,
	sendWindows,
	facts: factsOf
};
/** Sets up the lab, which `restore` removes. Throws a LabInUseError while another process uses this machine. */
async function openVirtualTestbed(name, config, traffic, deps, labOfGuests = labOfThisMachine) {
	const lab = await labOfGuests.up(config);
	const tallies = /* @__PURE__ */ new Map();
	const cpus = guestCpu === 0 ? [guestCpu] : [guestCpu, 0];
	const facts = () => labOfGuests.facts(config);
	const { flows, packets } = traffic;
	const system = await openSystem(name, config, {
		lab,
		tallies,
		cpus,
		flows,
		addresses: packets?.addresses,
		deps,
		facts
	}).catch(async (error) => {
		await lab.down();
		throw error;
	});
	const guests = {
		lab,
		config,
		traffic,
		tallies,
		system,
		running: void 0,
		now: () => deps.now(),
		flowsFor: (cell) => flowsFor(lab, traffic, cell),
		sendWindows: labOfGuests.sendWindows
	};
	return {
		name,
		inspect: (cells) => system.inspect(cells),
		prepare: (request) => system.prepare(request),
		ready: () => system.ready(),
		async trial(planned, keepLog, signal) {
			const outcome = await trial(guests, planned, keepLog, signal);
			const warnings = [...outcome.warnings ?? [], ...system.takeWarnings()];
			return warnings.length === 0 ? outcome : {
				...outcome,
				warnings
			};
		},
		booted: () => void 0,
		profile: (request, keepLog, signal) => profile(guests, request, keepLog, signal),
		async restore() {
			await stopAll(guests).then(() => system.close()).finally(() => lab.down());
		}
	};
}
async function openSystem(name, config, resources) {
	if (config.system === "linux") return new LinuxGuests(name, config, resources);
	const { lab, deps } = resources;
	const image = await guestImage(config.image, lab, deps);
	return new FreebsdGuests(name, {
		...config,
		image
	}, resources);
}
async function flowsFor(lab, traffic, cell) {
	const { family } = cell;
	const { flows, packets } = traffic;
	const frameBytes = frameBytesFor(traffic, cell);
	const path = join(lab.folder, `${family}.${frameBytes}.flows`);
	const macs = {
		sourceMac: senderMac,
		destinationMac: guestMac.ingress
	};
	await writeFile(path, trafgenFlows({
		family,
		flows,
		frameBytes,
		packets,
		...macs
	}));
	return path;
}

export { bootTogether, isOfImage, labOfThisMachine, openImage, openVirtualTestbed, pairsOf, readVirtualLogs, windowsLogName };