import { labDown, labUp } from "./linux-lab.js";
import { UsageError, commandText, flowRanges, frameBytesFor, isLinuxScenario, lastLine, netmapPort, reasonOf, shell } from "./config.js";
import { formatPercent, formatPps, isJudged, isSteady, pathName } from "./stats.js";
import { StoreError, outlooksOf, reserve } from "./reservation.js";
import { ProfileError, foldedLines, foreignBounds, parseProfile, samplesOf, withoutIdle } from "./profile.js";
import { generatorsOf, machinesOf as machinesOf$1, rolesOf } from "./testbed/inventory.js";
import { PowerError, openPower as openPower$1, realPowerWorld } from "./power.js";
import { FencedError, HostError, algorithmsFor, connect, fencedHost, ownFolder, parseKnownHosts, raiseFence, stdoutOf } from "./host.js";
import { DutLostError, advice, arrivalsAround, busyShare, checkSettings, collectSamples, countersCommands, countersLog, differences, endSampling, fileSystemsOf, fingerprintCommands, fingerprintOf, isOurs, linuxDut, nextRoot, openFreebsdDut, parseIfconfig, pathSettings, problemOf, readySampling, runningSystem, sentWithin, settingsCommands, wakeFreebsdDut, windowCommand, withoutKernel } from "./dut.js";
import { layScenario, proofCommands, provesScenario, takeAwayCommands } from "./scenario.js";
import { pktGenBlast, senderCommand, senderScript, trafgenFlows } from "./traffic.js";
import { BuilderError, buildKernel, fetchKernel, gitIn } from "./build.js";
import { freebsdLogNames, logNames, readFreebsdLogs, readLinuxLogs } from "./experiment.js";
import { join, posix } from "node:path";
import { createReadStream } from "node:fs";
import { PassThrough } from "node:stream";
import { gzipSync } from "node:zlib";
import { createHash } from "node:crypto";
import { mkdtemp, open, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { setTimeout } from "node:timers/promises";
import { pipeline } from "node:stream/promises";

// src/testbed/connect.ts
/** `label` is how people call the machine. Throws a HostError where that does not succeed. */
async function connectTo(config, label, options = { keepaliveSeconds: 5 }) {
	const { host, port, user, privateKeyPath, knownHostsPath } = config;
	const knownHosts = await readFile(knownHostsPath, "utf8");
	const identity = privateKeyPath === void 0 ? { agent: true } : { privateKey: await readFile(privateKeyPath, "utf8") };
	return connect({
		host,
		port,
		user,
		knownHosts,
		label,
		...identity
	}, options);
}

// src/testbed/fence.ts
/**
* The world of one testbed, of which only its own machines are fenced: a builder serves many leases at once.
* Tasks and power cycles throw a FencedError where a later lease has the testbed.
*/
function fencedWorld(world, testbed, lease) {
	const connect = fencedConnect(world.connect, lease);
	return {
		...world,
		connect: (config, label, options) => config === testbed.builder ? world.connect(config, label, options) : connect(config, label, options),
		async openPower(name, config) {
			const power = await world.openPower(name, config);
			return {
				state: () => power.state(),
				async cycle() {
					await lease.prove();
					await askGenerators(world, testbed, lease);
					lease.assertHeld();
					await power.cycle();
				}
			};
		}
	};
}
/** Each login raises the fence anew: an appliance keeps /var in memory, and has forgotten its tokens after a boot. */
function fencedConnect(connect, fence) {
	return async (config, label, options) => {
		fence.assertHeld();
		const host = await connect(config, label, options);
		try {
			await raiseFence(host, fence.token);
		} catch (error) {
			await host.close();
			throw error;
		}
		return fencedHost(host, fence);
	};
}
/**
* Makes all machines of a testbed refuse whoever held it before; the embedded one has none of its own. Throws a
* FencedError where one has seen a higher token, and a HostError where one cannot be reached.
*/
async function raiseFences(testbed, fence, connect) {
	const raise = fencedConnect(connect, fence);
	const failure = (await Promise.allSettled(rolesOf(testbed).map(async ({ config, label }) => (await raise(config, label)).close()))).find(({ status }) => status === "rejected");
	if (failure?.status === "rejected") throw failure.reason;
}
/** Of all of them together, as the DUT waits. */
const askSeconds = 20;
/** The DUT itself may hang; nobody who has a testbed goes past its generators. */
async function askGenerators(world, testbed, lease) {
	const signal = AbortSignal.timeout(askSeconds * 1e3);
	await Promise.all(generatorsOf(testbed).map(async ({ config, label }) => {
		try {
			await using host = await world.connect(config, label, { signal });
			await fencedHost(host, lease).output(shell`:`, { signal });
		} catch (error) {
			if (!(error instanceof HostError)) throw error;
		}
	}));
}

// src/testbed/freebsd-blame.ts
/** Of a variant; one that is new gets an empty one, to be counted up. */
function tallyOf(tallies, variant) {
	const tally = tallies.get(variant) ?? {
		hasBooted: false,
		bootFailures: 0,
		hasStoodBlast: false,
		deaths: 0,
		refusals: 0
	};
	tallies.set(variant, tally);
	return tally;
}
/**
* Nobody is blamed for what happened once. A patch is only for what base has shown to be possible here, and what
* happened to it twice more than to base: what befalls both is the laboratory's.
*/
function isToBlame(tallies, variant, fault, proof) {
	const [own, base] = [tallyOf(tallies, variant), tallyOf(tallies, "base")];
	if (variant === "base") return own[fault] >= 2;
	return base[proof] && own[fault] >= 2 + base[fault];
}

// src/testbed/freebsd-kernels.ts
/** Begins with all of them, one after the other; archives go to `folder`. */
function startKernels({ variants, keepLog, tell, signal }, builder, folder) {
	let before = Promise.resolve();
	const kernels = new Map(variants.map((variant) => {
		const kernel = before.then(() => kernelOf(variant, builder, folder));
		before = kernel.catch(() => {});
		return [variant.variant, kernel];
	}));
	return { get: (variant) => kernels.get(variant) ?? Promise.resolve({ kind: "own" }) };
	async function kernelOf({ variant, kernel }, builder, folder) {
		if (kernel === void 0) return { kind: "own" };
		if (kernel.kind === "archive") return {
			kind: "archive",
			archive: await givenArchive(variant, kernel)
		};
		if (builder === void 0) throw new BuilderError("The testbed has no builder: give it one in ppsgate.yml, or kernels that are built already.");
		signal.throwIfAborted();
		tell(`building the kernel of ${variant}`);
		await using host = await builder.connect();
		const built = await buildKernel(host, builder.config, requestFor(kernel), {
			signal,
			keepLog: (name, text) => keepLog(`${pathName(variant)}-${name}`, text),
			onProgress: (line) => tell(`${variant}: ${line}`),
			now: builder.now,
			owner: `${builder.owner} (${variant})`
		});
		if (built.kind !== "built") return {
			kind: "rejected",
			rejection: rejectionOf(built)
		};
		const path = join(folder, `${pathName(variant)}.tar`);
		await fetchKernel(host, built, path, signal);
		const { sha256, unpackedBytes } = built;
		return {
			kind: "archive",
			archive: {
				variant,
				path,
				sha256,
				unpackedBytes
			}
		};
	}
}
const requestFor = ({ baseCommit, diff }) => ({
	kind: "tree",
	baseCommit,
	...diff !== void 0 && { diff: Buffer.from(diff, "base64") }
});
function rejectionOf(unbuilt) {
	return unbuilt.kind === "build-failed" ? {
		kind: "build-failed",
		message: unbuilt.errors.join("\n")
	} : {
		kind: unbuilt.kind,
		message: unbuilt.reason
	};
}
async function givenArchive(variant, { path, sha256 }) {
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
/** A plain one is as big as what is in it; a compressed kernel has at least a quarter of its size. */
async function isPlainTar(path) {
	await using file = await open(path);
	const magic = Buffer.alloc(5);
	await file.read(magic, 0, 5, 257);
	return magic.toString() === "ustar";
}

// src/testbed/freebsd-preflight.ts
/** The DUT is not as it must be; nothing is measured until somebody has mended it. */
var PreflightError = class extends Error {
	name = "PreflightError";
	constructor(testbed, problems) {
		super([`${testbed} is not fit to measure on; mend this, or set \`preflight\` to fix or warn:`, ...problems.map(({ message }) => `- ${message}`)].join("\n"));
	}
};
/** What must hold on a testbed's DUT: with several senders its way back is to the first. */
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
/** The problems that are left: what only needs time has been waited for, and with `fix` commands have been run. */
async function preflight(host, { mode, context, now, sleep }) {
	const look = async () => {
		const settings = {
			...context,
			nowSeconds: now()
		};
		return checkSettings(await readAll(host, settingsCommands(settings)), settings);
	};
	let problems = await look();
	const waits = problems.flatMap(({ mend }) => mend.kind === "wait" ? mend.seconds : []);
	const commands = problems.flatMap(({ mend }) => mend.kind === "command" ? mend.command : []);
	if (waits.length > 0) await sleep(Math.max(...waits));
	if (mode === "fix") for (const command of commands) await host.run(command);
	if (waits.length > 0 || mode === "fix" && commands.length > 0) problems = await look();
	return problems;
}
/** What the DUT says of itself, as it runs. */
async function fingerprint(host, interfaces) {
	const request = {
		interfaces,
		bootFile: (await host.output(shell`sysctl -n kern.bootfile`)).trim()
	};
	return fingerprintOf(await readAll(host, fingerprintCommands(request)), request);
}
/** What the commands write, without those that fail. */
async function readAll(host, commands) {
	const said = await Promise.all(commands.map(async (command) => {
		const outcome = await host.run(command);
		return outcome.kind === "exited" && outcome.code === 0 ? [[commandText(command), outcome.stdout]] : [];
	}));
	return new Map(said.flat());
}

// src/testbed/profile.ts
/** Among the logs of the profile's blast: what the DUT gave, and what of it is read again. */
const rawName = "profile.txt.gz";
const stacksName = "stacks.txt";
/** A function with a twentieth of them is known to a fifth of its share. */
const fewestSamples = 500;
/** A DUT with many CPUs may forward with few of them; one that only idles was not under load. */
const mostIdleRatio = .9;
/** Judges the text that the DUT gave, and keeps it; `told` is what else it said, where the text itself does not tell. */
async function judgeProfile(text, told, keepLog) {
	await keepLog(rawName, gzipSync(text));
	const all = parsed(text);
	if (typeof all === "string") return missed(all);
	const { event = told.event, kernel = told.kernel } = all;
	await keepLog(stacksName, stacksText(all, kernel));
	const { profile, idleSamples } = withoutIdle(all);
	const busySamples = samplesOf(profile.stacks);
	const idleRatio = idleSamples / (busySamples + idleSamples);
	if (idleRatio > mostIdleRatio) return missed(`the DUT idled in ${formatPercent(idleRatio)} of the samples: no load was on it`);
	if (busySamples < fewestSamples) return missed(`only ${busySamples} samples fell into work, at least ${fewestSamples} are needed`);
	return {
		kind: "profiled",
		event,
		kernel,
		busySamples,
		idleSamples,
		log: stacksName
	};
}
const stacksText = (profile, kernel) => [
	`# kernel: ${kernel}`,
	...foldedLines(profile, { modules: true }),
	""
].join("\n");
function parsed(text) {
	try {
		return parseProfile(text, "the profile", foreignBounds);
	} catch (error) {
		if (!(error instanceof ProfileError)) throw error;
		return error.message;
	}
}
const missed = (reason) => ({
	kind: "missed",
	reason
});
const impossible = (reason) => ({
	kind: "impossible",
	reason
});

// src/testbed/freebsd-profile.ts
/** From the word to go until packets flow, beyond what is waited for on purpose; as much is left at the window's end. */
const spareSeconds = 6;
/** Of what the receiver got in as many seconds, so much has to have left the DUT while samples were taken. */
const leastForwardedRatio = .9;
/**
* A window that opens by itself while packets flow; where that was missed, one that is open before they do: some DUTs
* leave a program no time at all to begin under load, and what they sample before is idle.
*/
async function sampleUnderLoad(request, around, keepLog) {
	try {
		return await sampled(request, around, keepLog);
	} finally {
		await endSampling(around.dut, around.folder);
	}
}
async function sampled({ seconds, event: asked, attempt }, { dut, folder, egress, settleSeconds, send }, keepLog) {
	const sampling = await readySampling(dut, folder, asked);
	if (sampling.kind === "impossible") return sampling;
	const { event } = sampling;
	const untilLoad = 2 * settleSeconds + spareSeconds;
	const window = attempt === 1 ? {
		event,
		delaySeconds: untilLoad,
		seconds
	} : {
		event,
		delaySeconds: 0,
		seconds: untilLoad + seconds
	};
	const [taken, blast] = await Promise.all([dut.run(windowCommand(window, folder)), send(seconds + 12)]);
	const { receiver, senders } = blast.logs;
	await keepLog(freebsdLogNames.receiver, receiver);
	for (const [index, log] of senders.entries()) await keepLog(freebsdLogNames.sender(index), log);
	await keepLog(freebsdLogNames.counters, taken.stdout + taken.stderr);
	if (blast.kind === "failed") return missed(blast.reason);
	if (taken.kind !== "exited" || taken.code !== 0) return missed(`pmcstat failed on the DUT: ${lastLine(taken.stderr) ?? "it said nothing"}`);
	const text = await collectSamples(dut, folder);
	const forwarded = sentWithin(taken.stdout, egress) ?? 0;
	const expected = blast.run.medianPps * seconds;
	if (forwarded < leastForwardedRatio * expected) {
		const share = formatPercent(forwarded / expected);
		return missed(`the window missed the blast: ${share} of its packets were forwarded meanwhile`);
	}
	return judgeProfile(text, {
		event,
		kernel: "an unknown kernel"
	}, keepLog);
}

// src/testbed/freebsd.ts
/** Connects to all machines, and ends what a lost controller left sending; one that cannot be reached is a `HostError`. */
async function openFreebsdTestbed(name, config, traffic, world) {
	await using opened = new AsyncDisposableStack();
	const cycles = { done: 0 };
	const generators = await connectGenerators(config, world);
	opened.defer(() => closeGenerators(generators));
	const dut = await openFreebsdDut(await dutOptions(name, config, world, cycles));
	opened.defer(() => dut.host().close());
	const dutMac = await macOf$1(dut.host(), config.dut.ingress.interface);
	const folder = await mkdtemp(join(tmpdir(), "ppsgate-kernels-"));
	const lab = {
		name,
		config,
		traffic,
		world,
		dut,
		generators,
		folder,
		dutMac,
		kernels: void 0,
		rules: {},
		variants: [],
		families: ["inet4"],
		booted: void 0,
		unfit: void 0,
		told: /* @__PURE__ */ new Set(),
		reference: void 0,
		tallies: /* @__PURE__ */ new Map(),
		losses: 0,
		cycles,
		over: new AbortController()
	};
	opened.move();
	return {
		name,
		inspect: (cells) => inspect(lab, cells),
		async prepare(request) {
			const signal = AbortSignal.any([request.signal, lab.over.signal]);
			lab.rules = request.rules;
			lab.kernels = startKernels({
				...request,
				signal
			}, builderOf(lab), folder);
			lab.variants = request.variants.map(({ variant }) => variant);
			return { kind: "ready" };
		},
		blast: (planned, keepLog, signal) => blast$1(lab, planned, keepLog, signal),
		profile: (request, keepLog, signal) => profile$1(lab, request, keepLog, signal),
		restore: () => restore(lab)
	};
}
/**
* What opening needs after a controller that died: a DUT that answers. Generators are ended first; a DUT that stays away
* longer than a boot takes is power-cycled. Throws a HostError or a DutLostError where it does not come back.
*/
async function wakeFreebsdTestbed(name, config, world) {
	await closeGenerators(await connectGenerators(config, world));
	await wakeFreebsdDut(await dutOptions(name, config, world, { done: 0 }));
}
async function dutOptions(name, { dut }, world, cycles) {
	return {
		connect: async () => bounded(await world.connect(dut, "DUT", { keepaliveSeconds: 0 })),
		power: dut.power && await openPower(name, dut.power, world, cycles),
		method: dut.boot.method,
		bootSeconds: dut.boot.limitSeconds,
		sleep: world.sleep,
		now: world.now
	};
}
/** Counts what it does. */
async function openPower(name, config, world, cycles) {
	const power = await world.openPower(`the DUT of ${name}`, config);
	return { async cycle() {
		await power.cycle();
		cycles.done += 1;
	} };
}
/** No command takes so long, but one that a kernel has locked up. */
const stuckSeconds = 900;
/** A machine on which no command takes longer than that, where nothing else was said. */
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
/** All of them or none, and none with a pkt-gen that runs. */
async function connectGenerators(config, world) {
	await using opened = new AsyncDisposableStack();
	const connect = async (host, label) => opened.use(await world.connect(host, label));
	const receiver = await connect(config.receiver, "receiver");
	const senders = [];
	for (const [index, sender] of config.senders.entries()) {
		const label = config.senders.length === 1 ? "sender" : `sender ${index + 1}`;
		senders.push(await connect(sender, label));
	}
	await Promise.all([...senders, receiver].map((host) => endPktGen(host, world)));
	opened.move();
	return {
		senders,
		receiver
	};
}
const secondsToSignal$1 = 60;
const timesToInterrupt = 5;
const timesToEnd$1 = 10;
/** The machines are leased as one, so whatever pkt-gen runs there is ours. Its own summary, and its port, need a moment. */
async function endPktGen(host, { sleep }) {
	for (let time = 0; time < timesToEnd$1; time += 1) {
		const signal = time < timesToInterrupt ? shell`-INT` : shell`-KILL`;
		const command = shell`pkill ${signal} -x pkt-gen`;
		const outcome = await host.run(command, { timeoutSeconds: secondsToSignal$1 });
		if (outcome.kind === "exited" && outcome.code === 1) return;
		stdoutOf(outcome, host.name, command);
		await sleep(1);
	}
	throw new HostError("command-failed", `A pkt-gen on ${host.name} does not end: see what it waits for, or reboot that machine.`);
}
const closeGenerators = async ({ senders, receiver }) => {
	await Promise.all([...senders, receiver].map((host) => host.close()));
};
async function macOf$1(host, name) {
	const mac = parseIfconfig(await host.output(shell`ifconfig ${name}`))?.mac;
	if (mac !== void 0) return mac;
	throw new HostError("command-failed", `${name} on ${host.name} has no MAC address.`);
}
function builderOf({ config, world, name }) {
	const { builder } = config;
	if (builder === void 0) return void 0;
	return {
		config: builder,
		connect: () => world.connect(builder, "builder"),
		now: world.now,
		owner: `ppsgate on ${name}`
	};
}
const portsOf = ({ config }) => [config.dut.ingress.interface, config.dut.egress.interface];
async function inspect(lab, cells) {
	lab.families = [...new Set(cells.map(({ family }) => family))];
	const { dut, config, generators } = lab;
	const problems = await preflight(dut.host(), preflightOf(lab));
	if (problems.length > 0 && config.preflight === "fail") throw new PreflightError(lab.name, problems);
	lab.told = new Set(problems.map(({ setting }) => setting));
	const around = await Promise.all([...config.senders.map((sender, index) => generatorFacts(`sender ${index + 1}`, sender, generators.senders[index])), generatorFacts("receiver", config.receiver, generators.receiver)]);
	return {
		fingerprint: {
			...withoutKernel(await fingerprint(dut.host(), portsOf(lab))),
			...Object.fromEntries(around)
		},
		warnings: problems.map(({ message }) => message)
	};
}
async function generatorFacts(label, generator, host) {
	const port = netmapPort(generator.interface);
	const [version, ifconfig] = [shell`uname -s -r`, shell`ifconfig ${port}`];
	const said = host === void 0 ? /* @__PURE__ */ new Map() : await readAll(host, [version, ifconfig]);
	const media = parseIfconfig(said.get(commandText(ifconfig)) ?? "")?.media ?? "unknown media";
	return [label, `${(said.get(commandText(version)) ?? "").trim()}, ${port} ${media}`];
}
const preflightOf = ({ config, families, world }) => ({
	mode: config.preflight,
	context: settingsContext(config, families),
	now: world.now,
	sleep: world.sleep
});
const failed = (reason) => ({
	kind: "failed",
	reason
});
const rejected = (variant, rejection) => ({
	kind: "rejected",
	variant,
	rejection
});
async function blast$1(lab, planned, keepLog, signal) {
	const [run] = planned.runs;
	const { scenario } = planned.cell;
	if (run === void 0) return failed("nothing was planned");
	const { variant } = run;
	const kernel = await lab.kernels?.get(variant) ?? { kind: "own" };
	if (kernel.kind === "rejected") return rejected(variant, kernel.rejection);
	let when = "after its boot";
	try {
		const ready = await bootFor(lab, planned, run, kernel);
		if (ready.kind !== "ready") return ready;
		signal.throwIfAborted();
		when = "at the rules";
		const refusal = await lay(lab, scenario);
		if (refusal !== void 0) return afterRefusal(lab, variant, scenario, refusal);
		when = "under load";
		const outcome = await measure(lab, planned, {
			scenario,
			boot: ready.boot
		}, keepLog, signal);
		if (outcome.kind === "measured") tallyOf(lab.tallies, variant).hasStoodBlast = true;
		lab.losses = 0;
		return outcome;
	} catch (error) {
		if (!(error instanceof HostError) || signal.aborted) throw error;
		return afterLoss(lab, {
			variant,
			scenario,
			when,
			signal
		}, error);
	}
}
/** One boot serves all cells of a pair's variant; what boots badly is tried once more before it is told. */
async function bootFor(lab, planned, { variant, pair }, kernel) {
	const { dut, config } = lab;
	if (lab.booted?.variant === variant && lab.booted.pair === pair) return {
		kind: "ready",
		boot: lab.booted
	};
	const known = lab.unfit;
	if (known?.variant === variant && known.pair === pair && !known.blasts.has(planned.number)) {
		known.blasts.add(planned.number);
		return failed(known.reason);
	}
	lab.booted = void 0;
	if (kernel.kind === "archive") {
		const laid = await dut.lay(kernel.archive);
		if (laid.kind === "no-space") return rejected(variant, {
			kind: "out-of-disk",
			message: `DUT: ${laid.reason}.`
		});
	}
	const outcome = await dut.boot(kernel.kind === "own" ? void 0 : variant);
	if (outcome.kind === "boot-failed") return afterBootFailure(lab, variant, outcome);
	const tally = tallyOf(lab.tallies, variant);
	tally.hasBooted = true;
	tally.bootFailures = 0;
	const problem = (await preflight(dut.host(), preflightOf(lab))).find(({ setting }) => config.preflight === "fail" || !lab.told.has(setting));
	if (problem !== void 0) return unfit(lab, planned, problem.message);
	const boot = {
		variant,
		pair,
		kernel: outcome.version,
		fingerprint: await fingerprint(dut.host(), portsOf(lab))
	};
	const [difference] = differencesBetween(lab.reference ?? boot, boot);
	if (difference !== void 0) return unfit(lab, planned, `the DUT is not the same in more than its kernel: ${difference}`);
	lab.booted = boot;
	return {
		kind: "ready",
		boot
	};
}
/** Whoever is to be measured in that boot hears of it; who comes again gets another boot. */
function unfit(lab, { number, runs }, reason) {
	const [run] = runs;
	if (run !== void 0) lab.unfit = {
		variant: run.variant,
		pair: run.pair,
		reason,
		blasts: /* @__PURE__ */ new Set([number])
	};
	return failed(reason);
}
const differencesBetween = (reference, boot) => boot.variant === "base" ? differences(boot.fingerprint, reference.fingerprint) : differences(reference.fingerprint, boot.fingerprint, boot.variant);
function afterBootFailure(lab, variant, { reason, panic }) {
	tallyOf(lab.tallies, variant).bootFailures += 1;
	const died = panic === void 0 ? "" : ` (panic: ${panic})`;
	return isToBlame(lab.tallies, variant, "bootFailures", "hasBooted") ? rejected(variant, {
		kind: "boot-failed",
		message: `Twice in a row: ${reason}.`,
		...panic !== void 0 && { panic }
	}) : failed(`${variant} did not boot: ${reason}${died}`);
}
function afterRefusal(lab, variant, scenario, refusal) {
	tallyOf(lab.tallies, variant).refusals += 1;
	return isToBlame(lab.tallies, variant, "refusals", "hasStoodBlast") ? rejected(variant, {
		kind: "does-not-load",
		scenario,
		message: `Twice: ${refusal}.`
	}) : failed(refusal);
}
/** On the DUT. */
const rulesFolder = "/var/tmp/ppsgate";
/** Anew for every blast, so that no state of the one before is left; undefined where the scenario is in force. */
async function lay({ dut, rules: own }, scenario) {
	const host = dut.host();
	await takeAway(host);
	const { files, commands } = layScenario(scenario, rulesFolder, own);
	if (files.length > 0) await host.output(ownFolder(rulesFolder));
	for (const { path, text } of files) await host.upload(Buffer.from(text), path, 384);
	for (const command of commands) {
		const outcome = await host.run(command);
		if (outcome.kind === "exited" && outcome.code === 0) continue;
		const said = lastLine(outcome.stderr) ?? "it said nothing";
		return `\`${commandText(command)}\` failed on the DUT: ${said}`;
	}
	const proof = provesScenario(scenario, await proofOf(host), { own });
	return proof.kind === "in-force" ? void 0 : `${scenario} is not in force: ${proof.reason}`;
}
async function takeAway(host) {
	for (const round of takeAwayCommands) await Promise.all(round.map((command) => host.run(command)));
}
/** What the DUT says of its firewalls. */
async function proofOf(host) {
	const said = await readAll(host, Object.values(proofCommands));
	const entries = Object.entries(proofCommands).map(([key, command]) => [key, said.get(commandText(command))]);
	return Object.fromEntries(entries);
}
async function measure(lab, planned, { scenario, boot }, keepLog, signal) {
	const { traffic, dut, world } = lab;
	const ports = portsOf(lab);
	const before = await readAll(dut.host(), countersCommands(ports));
	const startedAt = (/* @__PURE__ */ new Date(world.now() * 1e3)).toISOString();
	const { measureSeconds: trafficSeconds, measureAtLeastSeconds: atLeastSeconds } = traffic;
	const outcome = await send(lab, planned.cell, {
		trafficSeconds,
		atLeastSeconds
	}, signal);
	const { logs } = outcome;
	await keepLog(freebsdLogNames.receiver, logs.receiver);
	for (const [index, log] of logs.senders.entries()) await keepLog(freebsdLogNames.sender(index), log);
	const [proofs, after] = await Promise.all([proofOf(dut.host()), readAll(dut.host(), countersCommands(ports))]);
	const proof = provesScenario(scenario, proofs, {
		blast: { flows: traffic.flows },
		own: lab.rules
	});
	await keepLog(freebsdLogNames.counters, countersLog(before, after));
	const busy = busyShare(before, after);
	if (outcome.kind === "failed") return failed(outcome.reason);
	const measured = readFreebsdLogs(planned, logs, {
		startedAt,
		traffic,
		told: {
			kernel: boot.kernel,
			...busy && { busiestCpuRatio: busy.busiestCpuRatio }
		}
	});
	if (!isValid(measured)) return measured;
	if (proof.kind !== "in-force") return failed(`${scenario} was not in force: ${proof.reason}`);
	if (isJudged(boot.variant)) lab.reference ??= boot;
	return measured;
}
/** On whichever boot of the variant there is. */
async function profile$1(lab, request, keepLog, signal) {
	const { cell, variant } = request;
	const { scenario } = cell;
	const kernel = await lab.kernels?.get(variant) ?? { kind: "own" };
	if (kernel.kind === "rejected") return impossible(kernel.rejection.message);
	let when = "after its boot";
	try {
		if (lab.booted?.variant !== variant) {
			const run = {
				number: 0,
				variant,
				pair: 0
			};
			const ready = await bootFor(lab, {
				number: 0,
				cell,
				runs: [run]
			}, run, kernel);
			if (ready.kind !== "ready") return missed(whyNot(ready));
		}
		signal.throwIfAborted();
		when = "at the rules";
		const refusal = await lay(lab, scenario);
		if (refusal !== void 0) return missed(refusal);
		when = "under load";
		const { config, traffic } = lab;
		return await sampleUnderLoad(request, {
			dut: lab.dut.host(),
			folder: rulesFolder,
			egress: config.dut.egress.interface,
			settleSeconds: traffic.settleSeconds,
			send: (trafficSeconds) => send(lab, cell, { trafficSeconds }, signal)
		}, keepLog);
	} catch (error) {
		if (!(error instanceof HostError) || signal.aborted) throw error;
		return missed(whyNot(await afterLoss(lab, {
			variant,
			scenario,
			when,
			signal
		}, error)));
	}
}
function whyNot(outcome) {
	if (outcome.kind === "rejected") return outcome.rejection.message;
	return outcome.kind === "failed" ? outcome.reason : "nothing was sampled";
}
async function send(lab, cell, howLong, signal) {
	const { config, traffic } = lab;
	const { family } = cell;
	const split = flowRanges(traffic.flows, family, config.senders.length);
	if (split.kind === "refused") return {
		kind: "failed",
		logs: {
			receiver: "",
			senders: []
		},
		reason: split.message
	};
	const request = {
		family,
		frameBytes: frameBytesFor(traffic, cell),
		flows: split.flows,
		ratePps: traffic.offeredPps,
		threads: config.senders[0]?.threads ?? 1,
		settleSeconds: traffic.settleSeconds,
		...howLong
	};
	return pktGenBlast(hostsOf(lab), request, signal);
}
const isValid = (outcome) => outcome.kind === "measured" && outcome.runs.every(({ validity }) => validity.kind === "valid");
function hostsOf({ config, generators, dutMac }) {
	return {
		senders: config.senders.flatMap(({ interface: name, mac }, index) => {
			const host = generators.senders[index];
			return host === void 0 ? [] : {
				host,
				interface: name,
				sourceMac: mac,
				destinationMac: dutMac
			};
		}),
		receiver: {
			host: generators.receiver,
			interface: config.receiver.interface
		}
	};
}
/** Finds out who was lost, and has all back; throws where somebody does not come back, or somebody is lost time and again. */
async function afterLoss(lab, loss, error) {
	await reconnectGenerators(lab, loss.signal);
	const isStuck = error.kind === "timeout";
	if (!isStuck && await answers(lab.dut.host())) return afterGlitch(lab, error);
	lab.booted = void 0;
	const cyclesBefore = lab.cycles.done;
	const { panic } = await lab.dut.recover();
	if (panic !== void 0) return afterDeath(lab, loss, `it panicked: ${panic}`, panic);
	if (isStuck) return afterDeath(lab, loss, error.message);
	if (lab.cycles.done === cyclesBefore) return afterGlitch(lab, error);
	return afterDeath(lab, loss, "it did not answer any more, and was power-cycled");
}
const lossesInARow = 3;
function afterGlitch(lab, error) {
	lab.losses += 1;
	if (lab.losses >= lossesInARow) throw error;
	return failed(error.message);
}
function afterDeath(lab, { variant, scenario, when }, how, panic) {
	tallyOf(lab.tallies, variant).deaths += 1;
	const where = circumstances(lab, scenario, when);
	if (!isToBlame(lab.tallies, variant, "deaths", "hasStoodBlast")) return failed(`the DUT with ${variant} died ${where}: ${how}`);
	return rejected(variant, {
		kind: when === "after its boot" ? "boot-failed" : "panics-under-load",
		message: `Twice, ${where}${panic === void 0 ? `: ${how}` : ""}.`,
		...panic !== void 0 && { panic }
	});
}
function circumstances({ traffic }, scenario, when) {
	switch (when) {
		case "after its boot": return "right after it had booted";
		case "at the rules": return `while ${scenario} was laid`;
		case "under load": return `under ${traffic.flows} flows`;
	}
}
/** As long as a machine takes to boot. */
const generatorSeconds = 600;
const secondsBetweenTries = 10;
async function reconnectGenerators(lab, signal) {
	const { config, world } = lab;
	await closeGenerators(lab.generators);
	const deadline = world.now() + generatorSeconds;
	for (;;) {
		try {
			lab.generators = await connectGenerators(config, world);
			return;
		} catch (error) {
			if (!(isAbsence(error) && world.now() < deadline && !signal.aborted)) throw error;
		}
		await world.sleep(secondsBetweenTries);
	}
}
const isAbsence = (error) => error instanceof HostError && [
	"unreachable",
	"lost",
	"timeout"
].includes(error.kind);
const answers = (host) => host.output(shell`sysctl -n kern.boottime`, { timeoutSeconds: answerSeconds }).then(() => true, () => false);
const answerSeconds = 10;
/** The DUT on its own kernel, with nothing of ours on it or around it; throws where it cannot be brought back. */
async function restore(lab) {
	const { dut, kernels, variants } = lab;
	lab.over.abort(/* @__PURE__ */ new Error("the testbed is given back"));
	try {
		await silence(lab);
		await giveBack(lab);
	} finally {
		await Promise.allSettled([
			dut.host().close(),
			closeGenerators(lab.generators),
			...variants.map((variant) => kernels?.get(variant))
		]);
		await rm(lab.folder, {
			recursive: true,
			force: true
		});
	}
}
/** The DUT comes first: a generator that is out of reach ends by its own time, or by whoever opens the testbed next. */
async function silence(lab) {
	const { world, config, generators } = lab;
	const hosts = [...generators.senders, generators.receiver];
	if ((await Promise.allSettled(hosts.map((host) => endPktGen(host, world)))).every(({ status }) => status === "fulfilled")) return;
	await closeGenerators(generators);
	lab.generators = await connectGenerators(config, world).catch(() => generators);
}
const timesToGiveBack = 3;
/** A connection that breaks here costs a repetition, and not the DUT. */
async function giveBack({ dut, name }) {
	for (let time = 1;; time += 1) try {
		await dut.restore();
		await takeAway(dut.host());
		await dut.host().output(shell`rm -rf ${rulesFolder}`);
		return;
	} catch (error) {
		if (!(error instanceof HostError)) throw error;
		if (time < timesToGiveBack) continue;
		throw new DutLostError(`The DUT of ${name} may still run a kernel of ours: ${time} times it could not be restored, at last for this: ${error.message}`, { cause: error });
	}
}

// src/testbed/linux.ts
/** All that is laid on the hosts lies below it. */
const ourFolder = "/run/ppsgate";
const senderFolder = `${ourFolder}/sender`;
const slicesPerRun = 3;
/** Beyond any card's: trafgen then sends as fast as it can. */
const mostPps = 1e9;
/** Laying a variant takes some 20 ms; a busy machine may need many times that. */
const secondsToLay = .5;
/** Connects to all three hosts, and ends what a lost controller left running; a host that cannot be reached is a `HostError`. */
async function openLinuxTestbed(name, config, traffic, connect = connectTo) {
	await using opened = new AsyncDisposableStack();
	const sender = opened.use(await connect(config.sender, "sender"));
	await endPrograms(sender);
	const dutHost = opened.use(await connect(config.dut, "DUT"));
	await endPrograms(dutHost);
	const receiver = opened.use(await connect(config.receiver, "receiver"));
	const dut = linuxDut(dutHost);
	const lab = {
		config,
		traffic,
		sender,
		dutHost,
		receiver,
		dut
	};
	const connections = opened.move();
	return {
		name,
		inspect: async () => ({
			fingerprint: await dut.fingerprint(),
			warnings: []
		}),
		async prepare({ variants, cells, tell }) {
			tell("laying every variant once");
			await uploadSender(lab, cells);
			const scenarios = [...new Set(cells.map((cell) => cell.scenario))].filter(isLinuxScenario);
			return dut.prepare(variants, scenarios);
		},
		blast: (planned, keepLog, signal) => blast(lab, planned, keepLog, signal),
		profile: (request, keepLog, signal) => profile(lab, request, keepLog, signal),
		async restore() {
			if (connections.disposed) return;
			await using _closed = connections;
			await endPrograms(sender);
			await endPrograms(dutHost);
			await dut.restore();
			await sender.output(shell`rm -rf ${senderFolder}`);
		}
	};
}
/**
* What pgrep and pkill take for them, as the hosts are leased as one. Those of another network are not ours: the hosts
* of the embedded lab are one machine.
*/
const ourPrograms = shell`--ns $$ --nslist net -f ${`^(bash ${ourFolder}/|trafgen )`}`;
const timesToTerminate = 20;
const timesToEnd = 50;
const secondsBetweenTimes = .1;
const secondsToSignal = 60;
/** A generator's script ends with the connection, which a controller that lost its power never closed. */
async function endPrograms(host) {
	for (let time = 0; time < timesToEnd; time += 1) {
		const signal = time < timesToTerminate ? shell`-TERM` : shell`-KILL`;
		const command = shell`pkill ${signal} ${ourPrograms}`;
		const outcome = await host.run(command, { timeoutSeconds: secondsToSignal });
		if (outcome.kind === "exited" && outcome.code === 1) return;
		stdoutOf(outcome, host.name, command);
		await setTimeout(secondsBetweenTimes * 1e3);
	}
	throw new HostError("command-failed", `Programs of an experiment on ${host.name} do not end: see what they wait for, or reboot it.`);
}
const flowsPath = (cell, traffic) => `${senderFolder}/${cell.family}.${frameBytesFor(traffic, cell)}.flows`;
const senderScriptPath = `${senderFolder}/send.bash`;
async function uploadSender(lab, cells) {
	const { sender, dutHost, config, traffic } = lab;
	await sender.output(shell`mkdir -p ${senderFolder}`);
	await sender.upload(Buffer.from(senderScript), senderScriptPath, 493);
	const [sourceMac, destinationMac] = await Promise.all([macAddress(sender, config.sender.interface), macAddress(dutHost, config.dut.ingress)]);
	const { flows } = traffic;
	const byPath = new Map(cells.map((cell) => [flowsPath(cell, traffic), cell]));
	for (const [path, cell] of byPath) {
		const frameBytes = frameBytesFor(traffic, cell);
		const { family } = cell;
		const packets = trafgenFlows({
			family,
			flows,
			frameBytes,
			sourceMac,
			destinationMac
		});
		await sender.upload(Buffer.from(packets), path, 384);
	}
}
async function macAddress(host, name) {
	return (await host.output(shell`cat ${`/sys/class/net/${name}/address`}`)).trim();
}
async function blast(lab, planned, keepLog, signal) {
	const { traffic, config } = lab;
	const secondsPerRun = secondsToLay + traffic.settleSeconds + traffic.measureSeconds;
	const limitSeconds = Math.ceil(30 + traffic.warmUpSeconds + planned.runs.length * secondsPerRun);
	const before = await counters(lab);
	const startedAt = (/* @__PURE__ */ new Date()).toISOString();
	const sending = startSender(lab, planned.cell, limitSeconds, signal);
	const { log, observation } = await lab.dut.observe({
		ingress: config.dut.ingress,
		egress: config.dut.egress,
		cpu: config.dut.cpu,
		scenario: planned.cell.scenario,
		warmUpSeconds: traffic.warmUpSeconds,
		settleSeconds: traffic.settleSeconds,
		...slicesOf(traffic),
		variants: planned.runs.map((run) => run.variant)
	}, {
		timeoutSeconds: limitSeconds,
		signal,
		isEnough: enoughFor(traffic)
	}).finally(() => sending.stop());
	const senderLog = await sending.log;
	const after = await counters(lab);
	const logs = {
		dut: log,
		sender: senderLog,
		counters: `${JSON.stringify({
			before,
			after
		}, null, 2)}\n`
	};
	for (const which of [
		"dut",
		"sender",
		"counters"
	]) await keepLog(logNames[which], logs[which]);
	return readLinuxLogs(planned, startedAt, logs, observation);
}
async function profile(lab, { cell, variant, seconds, event }, keepLog, signal) {
	const why = await whyNoPerf(lab.dutHost);
	if (why !== void 0) return impossible(why);
	const { ingress, cpu } = lab.config.dut;
	const { warmUpSeconds } = lab.traffic;
	const timeoutSeconds = Math.ceil(30 + warmUpSeconds + seconds);
	const { scenario } = cell;
	const sending = startSender(lab, cell, timeoutSeconds, signal);
	const sampled = await lab.dut.sample({
		ingress,
		cpu,
		scenario,
		warmUpSeconds,
		seconds,
		event,
		variant
	}, {
		timeoutSeconds,
		signal
	}).finally(() => sending.stop());
	await keepLog(logNames.sender, await sending.log);
	await keepLog(logNames.dut, sampled.stdout + sampled.stderr);
	if (sampled.kind === "signaled" || sampled.code !== 0) return missed(`the DUT could not be sampled: ${lastLine(sampled.stderr) ?? "it said nothing"}`);
	const arrivals = arrivalsAround(sampled.stdout);
	if (arrivals === void 0 || !(arrivals.withinPps > 0 && arrivals.afterPps > 0)) return missed("packets did not flow throughout the window in which samples were taken");
	const text = await lab.dut.printSamples();
	return judgeProfile(text, {
		event: event ?? "cycles",
		kernel: "an unknown kernel"
	}, keepLog);
}
async function whyNoPerf(dut) {
	const outcome = await dut.run(shell`perf --version`);
	if (outcome.kind === "exited" && outcome.code === 0) return void 0;
	return `perf does not run on the DUT (${lastLine(outcome.stderr) ?? "it said nothing"}): install what your system calls it, linux-perf or linux-tools`;
}
/** A run of several seconds is sampled by the second, as pkt-gen does. */
function slicesOf({ measureSeconds }) {
	const slices = Math.max(slicesPerRun, Math.floor(measureSeconds));
	return {
		sliceSeconds: measureSeconds / slices,
		slices
	};
}
/** Undefined where a run has a fixed length. */
function enoughFor({ measureAtLeastSeconds, measureSeconds }) {
	if (measureAtLeastSeconds >= measureSeconds) return void 0;
	const bounds = {
		atLeast: Math.ceil(measureAtLeastSeconds),
		toleranceRatio: .005
	};
	return (samples) => isSteady(samples.map(({ forwardedPackets, seconds }) => forwardedPackets / seconds), bounds);
}
function startSender(lab, cell, limitSeconds, signal) {
	const stdin = new PassThrough();
	const command = senderCommand({
		script: senderScriptPath,
		interface: lab.config.sender.interface,
		cpu: lab.config.sender.cpu,
		offeredPps: lab.traffic.offeredPps ?? mostPps,
		flows: flowsPath(cell, lab.traffic),
		limitSeconds
	});
	const log = lab.sender.output(command, {
		stdin,
		timeoutSeconds: limitSeconds + 10,
		signal
	});
	log.catch(() => {});
	return {
		log,
		stop: () => stdin.end()
	};
}
async function counters(lab) {
	const { dutHost, receiver, config } = lab;
	const [forwarded, received] = await Promise.all([counter(dutHost, config.dut.egress, "tx_packets"), counter(receiver, config.receiver.interface, "rx_packets")]);
	return {
		forwarded,
		received
	};
}
async function counter(host, name, kind) {
	return Number(await host.output(shell`cat ${`/sys/class/net/${name}/statistics/${kind}`}`));
}

// src/testbed/open.ts
/** Connects to a testbed of the configuration; an embedded one is brought up first, and taken down by `restore`. */
async function openTestbed(name, traffic, config, { lease, machines }) {
	const testbed = config.testbeds[name];
	switch (testbed?.kind) {
		case "linux": return openLinuxTestbed(name, testbed, traffic, fencedConnect(machines.connect, lease));
		case "freebsd": return openFreebsdTestbed(name, testbed, traffic, fencedWorld(machines, testbed, lease));
		default: return openEmbedded(name, traffic);
	}
}
/** Nobody but this machine reaches the lab, so it knows no leases: one process has it. */
async function openEmbedded(name, traffic) {
	const lab = await labUp();
	const embedded = await openLinuxTestbed(name, lab, traffic).catch(async (error) => {
		await labDown();
		throw error;
	});
	return {
		...embedded,
		async restore() {
			await embedded.restore().finally(labDown);
		}
	};
}
const realWorld = {
	connect: connectTo,
	openPower: (machine, config) => openPower$1(machine, config, realPowerWorld),
	sleep: (seconds) => setTimeout(seconds * 1e3),
	now: () => Date.now() / 1e3
};

// src/testbed/check.ts
/** Takes the steps one by one; a step whose needs are not met is skipped, with the first thing that was wrong. Throws the signal's reason between two steps. */
async function* walk(steps, signal) {
	/** Steps that did not go well, and the step that is to blame. */
	const blamed = /* @__PURE__ */ new Map();
	for (const { what, needs, look } of steps) {
		signal.throwIfAborted();
		const blame = needs.map((need) => blamed.get(need)).find((found) => found !== void 0);
		if (blame !== void 0) {
			blamed.set(what, blame);
			yield skipped(what, `not tried, because of this: ${blame}`);
			continue;
		}
		try {
			for await (const finding of await look()) {
				if (finding.kind === "wrong") blamed.set(what, what);
				yield finding;
			}
		} catch (error) {
			if (!(error instanceof HostError || error instanceof PowerError)) throw error;
			blamed.set(what, what);
			yield wrong(what, error.message, "run this check again once that is mended");
		}
	}
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
const wrong = (what, why, mend) => ({
	kind: "wrong",
	what,
	why,
	mend
});
/** A command for a person to type. */
const typed = (command) => `\`${unquoted(commandText(command))}\``;
/** Without the quotes that no shell needs. */
const unquoted = (text) => text.replace(/'([\w@%+=:,./-]+)'/g, "$1");
const sshTo = ({ label }) => `ssh to ${label}`;
/** A step that asks one machine. */
function on(machine, what, look) {
	return {
		what,
		needs: [sshTo(machine)],
		look: async () => machine.host === void 0 ? [] : look(machine.host, what)
	};
}
/** No question that is asked here takes longer. */
const limits = { timeoutSeconds: 60 };
const isGood = (outcome) => outcome.kind === "exited" && outcome.code === 0;
const does = async (host, command) => isGood(await host.run(command, limits));
const inGigabytes = (bytes) => `${(bytes / 1e9).toFixed(1)} GB`;
/** Logs in to a machine, and keeps the connection in it. */
function loginStep(machine, connect) {
	const what = sshTo(machine);
	const { label, config } = machine;
	const { user, host, port, privateKeyPath: key } = config;
	return {
		what,
		needs: [],
		async look() {
			try {
				machine.host = await connect(config, label.replace(/^the /, ""));
			} catch (error) {
				if (error instanceof HostError) return [wrong(what, error.message, await mendOfLogin(error, config))];
				const mend = mendOfFile(error, config);
				if (mend === void 0) throw error;
				return [wrong(what, `${reasonOf(error)}.`, mend)];
			}
			const by = key === void 0 ? "a key of the agent" : `the key ${key}`;
			return [ok(what, `${user}@${host}, port ${port}, with ${by}`)];
		}
	};
}
async function mendOfLogin({ kind, cause }, config) {
	switch (kind) {
		case "host-key": return mendOfHostKey(config);
		case "login": return mendOfKey(config, cause !== void 0);
		default: return "switch it on, run `service sshd onestart` at its console, and compare `host` and `port` in ppsgate.yml";
	}
}
async function mendOfHostKey(config) {
	const { host, port, knownHostsPath } = config;
	const text = await readFile(knownHostsPath, "utf8");
	if (algorithmsFor(parseKnownHosts(text).entries, config).length === 0) return scan(config);
	const name = port === 22 ? host : `[${host}]:${port}`;
	return `once you know why the key changed: ${typed(shell`ssh-keygen -R ${name} -f ${knownHostsPath}`)}, and then ${scan(config)}`;
}
/** A key that the machine never saw cannot be read here. */
function mendOfKey({ host, port, user, privateKeyPath }, wasRefused) {
	if (privateKeyPath === void 0) return "`ssh-add -l` has to name a key that is in its authorized_keys; or name a `key` in ppsgate.yml";
	if (!wasRefused) return `take its passphrase away with ${typed(shell`ssh-keygen -p -f ${privateKeyPath}`)}, or leave \`key\` out and let the ssh agent hold it`;
	return `${typed(shell`ssh-copy-id -i ${`${privateKeyPath}.pub`} -p ${port} ${`${user}@${host}`}`)}, with \`PermitRootLogin prohibit-password\` in its /etc/ssh/sshd_config`;
}
/** Undefined where it is no file of ours that cannot be read. */
function mendOfFile(error, config) {
	if (!(error instanceof Error && "path" in error && "code" in error)) return void 0;
	const { knownHostsPath, privateKeyPath } = config;
	const path = [knownHostsPath, privateKeyPath].find((ours) => ours === error.path);
	if (path === void 0) return void 0;
	if (error.code !== "ENOENT") return `see to it that you may read ${path}`;
	if (path === knownHostsPath) return scan(config);
	return `${typed(shell`ssh-keygen -t ed25519 -N ${""} -f ${path}`)}, and append ${path}.pub to its authorized_keys`;
}
const scan = ({ host, port, knownHostsPath }) => `${typed(shell`ssh-keyscan -p ${port} ${host} >> ${knownHostsPath}`)}, and compare the fingerprint with the machine's console`;

// src/testbed/builder-check.ts
/** After the login to it; undefined where there is none. */
function builderSteps(builder) {
	if (builder === void 0) return [noBuilder];
	const { config } = builder;
	const { repository, folder, recipe } = config;
	const usesFilemon = recipe.kind === "make" && recipe.metaMode;
	return [
		on(builder, "git on the builder", async (host, what) => await does(host, shell`git --version`) ? [ok(what, "it is installed")] : [wrong(what, "it is not installed", "`pkg install git` there")]),
		{
			...on(builder, `the clone ${repository}`, (host, what) => clone(host, repository, what)),
			needs: [sshTo(builder), "git on the builder"]
		},
		on(builder, "the compiler on the builder", async (host, what) => {
			const outcome = await host.run(shell`cc --version`, limits);
			if (isGood(outcome)) return [ok(what, outcome.stdout.split("\n")[0]?.trim() ?? "")];
			return [wrong(what, "there is no cc", "install the base system with its compiler there")];
		}),
		...usesFilemon ? [on(builder, "filemon on the builder", filemon)] : [],
		on(builder, "the space on the builder", async (host, what) => {
			const { place, bytes } = await spaceFor(host, folder);
			const found = `${inGigabytes(bytes)} free in ${place}`;
			if (bytes >= config.leastFreeBytes) return [ok(what, found)];
			const why = `${found}, and a build is to have ${inGigabytes(config.leastFreeBytes)}`;
			return [wrong(what, why, "make room there, or name another `folder` in ppsgate.yml")];
		})
	];
}
const noBuilder = {
	what: "the builder",
	needs: [],
	look: async () => [skipped("the builder", "`builder` is not configured: only kernels that you bring are measured")]
};
async function clone(host, repository, what) {
	const outcome = await host.run(gitIn(repository, shell`rev-parse --verify HEAD`), limits);
	if (isGood(outcome)) return [ok(what, `at ${outcome.stdout.trim().slice(0, 12)}`)];
	const why = `git says: ${lastLine(outcome.stderr) ?? "nothing"}`;
	const get = shell`git clone ${"https://git.freebsd.org/src.git"} ${repository}`;
	return [wrong(what, why, `${typed(get)} there`)];
}
/** `metaMode` needs it. */
async function filemon(host, what) {
	if (await does(host, shell`kldstat -q -m filemon`)) return [ok(what, "it is loaded")];
	return [wrong(what, "it is not loaded", "`kldload filemon`, and `sysrc kld_list+=filemon`, there")];
}
/** Of the folder, or what of its path is there already. */
async function spaceFor(host, folder) {
	let place = folder;
	while (place !== "/" && !await does(host, shell`test -d ${place}`)) place = posix.dirname(place);
	const [disk] = await fileSystemsOf(host, [place]);
	return {
		place,
		bytes: disk?.availableBytes ?? 0
	};
}

// src/testbed/freebsd-ceiling.ts
const ceiling = "the ceiling of the generators";
/** Blasts through the DUT as it runs: each sender alone, and all together. `needs` are the steps that packets depend on. */
function checkCeiling(check, needs) {
	if (check.sends) return {
		what: ceiling,
		needs,
		look: () => blasts(check)
	};
	const look = async () => [skipped(ceiling, "no packets are to be sent")];
	return {
		what: ceiling,
		needs: [],
		look
	};
}
async function* blasts(check) {
	await using opened = new AsyncDisposableStack();
	const { testbed, world } = check;
	const connect = async (...[host, label]) => {
		const connected = await world.connect(host, label);
		opened.defer(() => connected.close());
		return connected;
	};
	const dut = await portOn(await connect(testbed.dut, "DUT"), testbed.dut.ingress.interface);
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
	}
	const blast = (some) => blastOf(check, some, receiver);
	const line = (some) => lineOf(check, some, dut.gigabits);
	if (senders.length > 1) for (const sender of senders) yield aloneFinding(`${sender.label} alone`, await blast([sender]), line([sender]));
	yield togetherFinding(senders.length > 1 ? "all senders together" : ceiling, await blast(senders), line(senders));
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
/** Of netmap, before a link is up again. */
const leastSettleSeconds = 4;
async function blastOf({ families: [family = "inet4"], traffic, testbed, world }, senders, host) {
	const split = flowRanges(traffic.flows, family, senders.length);
	if (split.kind === "refused") return split;
	const settleSeconds = Math.max(leastSettleSeconds, traffic.settleSeconds);
	const seconds = 2 * settleSeconds + trafficSeconds;
	const names = senders.map(({ label }) => label).join(" and ");
	world.tell(`Sending ${family} from the ${names} through the DUT for some ${seconds} s.`);
	return pktGenBlast({
		senders,
		receiver: {
			host,
			interface: testbed.receiver.interface
		}
	}, {
		family,
		frameBytes: frameBytesFor(traffic, { family }),
		flows: split.flows,
		threads: testbed.senders[0]?.threads ?? 1,
		settleSeconds,
		trafficSeconds
	}, world.signal);
}
/** Preamble, start delimiter and the gap between frames, IEEE 802.3. */
const wireBytesPerFrame = 20;
/** What the senders' links carry together, or that of the DUT where it is less; undefined where one is not known. */
function lineOf({ families: [family = "inet4"], traffic }, senders, dutGigabits) {
	const known = senders.flatMap(({ gigabits }) => gigabits ?? []);
	if (dutGigabits === void 0 || known.length < senders.length) return void 0;
	const gigabits = Math.min(dutGigabits, known.reduce((sum, each) => sum + each, 0));
	const bits = (frameBytesFor(traffic, { family }) + wireBytesPerFrame) * 8;
	return {
		gigabits,
		pps: gigabits * 1e9 / bits
	};
}
/** One of several need not find the DUT's limit. */
function aloneFinding(what, blast, line) {
	return faultOf(what, blast) ?? ok(what, told(blast, line));
}
function togetherFinding(what, blast, line) {
	const fault = faultOf(what, blast);
	if (fault !== void 0) return fault;
	if (!isLimited(blast)) return ok(what, told(blast, line));
	const offeredPps = offeredOf(blast);
	const mend = line !== void 0 && offeredPps >= .98 * line.pps ? "the wire is full: measure a firewall scenario, or move to a faster card" : "give the sender more `threads` (and rings), or add a second sender";
	return wrong(what, `this generator cannot find the DUT's limit: it ${told(blast, line)}`, mend);
}
const offeredOf = (blast) => blast.kind === "measured" ? blast.run.offeredPps ?? 0 : 0;
const isLimited = (blast) => blast.kind === "measured" && blast.run.validity.kind === "invalid" && blast.run.validity.cause === "generator-limited";
/** What keeps the blast's numbers from being believed. */
function faultOf(what, blast) {
	switch (blast.kind) {
		case "refused": return wrong(what, blast.message, "correct `flows` in ppsgate.yml");
		case "failed": return wrong(what, blast.reason, "run this check again once that is mended");
		case "measured": {
			const { validity, medianPps } = blast.run;
			if (validity.kind !== "invalid" || isLimited(blast)) return void 0;
			const mend = medianPps === 0 ? "compare cables and MAC addresses, look for a firewall on the DUT, and raise `traffic.settle`" : "run this check again while nothing else uses the machines";
			return wrong(what, validity.reason, mend);
		}
	}
}
function told(blast, line) {
	if (blast.kind !== "measured") return "";
	return `${`offers ${formatPps(offeredOf(blast))}`}${line === void 0 ? "" : ` of ${formatPps(line.pps)} (${line.gigabits} Gbit/s)`}, and ${formatPps(blast.run.medianPps)} came through`;
}

// src/testbed/power-check.ts
const powerControl = "power control of the DUT";
const powerCycled = "a power cycle of the DUT";
/** After the login to the DUT, whose connection a power cycle renews. */
function powerSteps(lab) {
	const { dut, testbed, cycles } = lab;
	const { power } = testbed.dut;
	if (power === void 0) {
		const why = "`power` is not configured: a DUT that hangs stays lost until somebody walks to it";
		return [{
			what: powerControl,
			needs: [],
			look: async () => [skipped(powerControl, why)]
		}];
	}
	const what = powerCycled;
	return [{
		what: powerControl,
		needs: [],
		look: () => powerState(lab, power)
	}, ...cycles ? [{
		what,
		needs: [sshTo(dut), powerControl],
		look: () => powerCycle(lab, power, what)
	}] : []];
}
async function powerState({ name, dut, world }, config) {
	if (await (await world.openPower(`the DUT of ${name}`, config)).state() === "on") return [ok(powerControl, "it says that the DUT is on")];
	return [dut.host === void 0 ? wrong(powerControl, "it says that the DUT is off", "switch the DUT on") : wrong(powerControl, "it says that the DUT is off, and yet the DUT answers over ssh", "correct `power` in ppsgate.yml: it may be that of another machine")];
}
async function powerCycle(lab, config, what) {
	const { name, dut, world, testbed } = lab;
	if (dut.host === void 0) return [];
	const bootBefore = await bootTime(dut.host);
	const power = await world.openPower(`the DUT of ${name}`, config);
	world.tell("Switching the DUT off and on: it takes some minutes to be up again.");
	const begun = world.now();
	await power.cycle();
	const back = await reachAgain(lab);
	if (back === void 0) {
		const minutes = Math.round(testbed.dut.boot.limitSeconds / 60);
		return [wrong(what, `the DUT was not up again after ${minutes} min`, "look at its console; where it only boots slowly, raise `boot.limit`")];
	}
	await dut.host.close();
	dut.host = back;
	if (await bootTime(back) === bootBefore) return [wrong(what, "it says that the DUT was off and on, and the DUT never went down", "correct `power` in ppsgate.yml: it may be that of another machine")];
	return [ok(what, `up again after ${Math.round(world.now() - begun)} s`)];
}
const bootTime = (host) => host.output(shell`sysctl -n kern.boottime`, limits);
const secondsBetweenLooks = 5;
/** Undefined where it does not answer within the limit of a boot. */
async function reachAgain({ world, testbed }) {
	const deadline = world.now() + testbed.dut.boot.limitSeconds;
	while (world.now() < deadline) {
		world.signal.throwIfAborted();
		await world.sleep(secondsBetweenLooks);
		const host = await world.connect(testbed.dut, "DUT").catch((error) => {
			if (error instanceof HostError) return void 0;
			throw error;
		});
		if (host !== void 0) return host;
	}
}

// src/testbed/freebsd-check.ts
/** Finding after finding, as each is made; nothing is changed on any machine, but for a DUT whose power is to be cycled. */
async function* checkFreebsdTestbed(check, world) {
	await using opened = new AsyncDisposableStack();
	const lab = labOf(check, world);
	for (const machine of allOf(lab)) opened.defer(async () => machine.host?.close());
	yield* walk(stepsOf$1(lab), world.signal);
}
const allOf = ({ dut, generators, builder }) => [
	dut,
	...generators,
	...builder === void 0 ? [] : [builder]
];
function labOf(check, world) {
	const { builder } = check.testbed;
	return {
		...check,
		world,
		...machinesOf(check.testbed),
		builder: builder && {
			label: "the builder",
			config: builder,
			host: void 0
		}
	};
}
/** Those that measure, as they are called and before they have let us in. */
function machinesOf({ dut, senders, receiver }) {
	const roles = [...senders.map((port, index) => ({
		port,
		label: senders.length === 1 ? "the sender" : `sender ${index + 1}`
	})), {
		port: receiver,
		label: "the receiver"
	}];
	const place = ({ port }) => `${port.user}@${port.host.toLowerCase()} ${port.port}`;
	const generators = [...Map.groupBy(roles, place).values()].map((same) => ({
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
	const { dut, generators, builder, world, testbed } = lab;
	const dutPorts = dutPortSteps(testbed, dut, world);
	const generatorSteps = generators.flatMap((machine) => [
		...generatorPortSteps(machine, world),
		on(machine, `pkt-gen on ${machine.label}`, pktGen$1),
		on(machine, `netmap on ${machine.label}`, netmap)
	]);
	const ports = dutPorts.map(({ what }) => what);
	const paths = {
		...on(dut, "the routes and neighbours of the DUT", (host, what) => pathsOf(lab, host, what)),
		needs: [sshTo(dut), ...ports]
	};
	const onTheWay = [...[
		sshTo(dut),
		...ports,
		paths.what,
		powerCycled
	], ...generatorSteps.map(({ what }) => what)];
	return [
		...allOf(lab).map((machine) => loginStep(machine, world.connect)),
		...allOf(lab).map((machine) => on(machine, `FreeBSD on ${machine.label}`, release$1)),
		...dutPorts,
		...generatorSteps,
		paths,
		{
			...on(dut, "the settings of the DUT", (host, what) => settingsOf(lab, host, what)),
			needs: [sshTo(dut), ...ports]
		},
		...bootSteps(lab),
		...builderSteps(builder),
		...powerSteps(lab),
		checkCeiling(lab, onTheWay)
	];
}
/** By the file system of the root: before, nextboot(8) leaves word on ZFS that the loader cannot take back. */
const oldestRelease = {
	ufs: 12,
	zfs: 13
};
async function release$1(host, what) {
	const said = lastLine(await host.output(shell`uname -s -r`, limits)) ?? "";
	const [, major] = /^FreeBSD (\d+)/.exec(said) ?? [];
	if (major === void 0) return [wrong(what, `it runs ${said}`, "install FreeBSD on it")];
	if (Number(major) >= oldestRelease.ufs) return [ok(what, said)];
	return [wrong(what, `it runs ${said}`, `install FreeBSD ${oldestRelease.ufs} or later`)];
}
/** Whether they are up and have a link; a link that settles is waited for. */
const dutPortSteps = ({ dut }, machine, world) => [dut.ingress, dut.egress].map(({ interface: name }) => on(machine, `${name} of the DUT`, (host, what) => dutPort(host, name, what, world)));
/** The same of what pkt-gen opens, and whether its MAC address is the one of ppsgate.yml. */
const generatorPortSteps = (machine, world) => machine.roles.map((role) => {
	const what = `${netmapPort(role.port.interface)} of ${role.label}`;
	return on(machine, what, (host) => generatorPort(host, role, what, world));
});
async function dutPort(host, name, what, world) {
	const port = await settledInterface(host, name, world);
	if (port === void 0) return [await noInterface(host, name, what)];
	return [linkOf(port, "the DUT", what)];
}
/** A port that pkt-gen had open a moment ago is without a link for so long, and so is the one at the other end. */
const settleSeconds = 5;
async function settledInterface(host, name, world) {
	const port = await interfaceOn(host, name);
	if (port === void 0 || port.isActive || !port.flags.includes("UP")) return port;
	await world.sleep(settleSeconds);
	return interfaceOn(host, name);
}
async function interfaceOn(host, name) {
	const outcome = await host.run(shell`ifconfig ${name}`, limits);
	return isGood(outcome) ? parseIfconfig(outcome.stdout) : void 0;
}
async function noInterface(host, name, what) {
	const why = `there is no ${name}: ifconfig knows ${lastLine(await host.output(shell`ifconfig -l`, limits)) ?? "nothing"}`;
	return wrong(what, why, "correct `interface` in ppsgate.yml, or load the driver of its card");
}
const speedOf = ({ gigabits, media }) => gigabits === void 0 ? media ?? "it is active" : `${gigabits} Gbit/s`;
async function generatorPort(host, { label, port: { interface: name, mac } }, what, world) {
	const opened = netmapPort(name);
	const port = await settledInterface(host, opened, world);
	const native = opened === name ? void 0 : await interfaceOn(host, name);
	if (port === void 0 && native !== void 0) {
		const mend = `put \`hw.cxgbe.num_vis="2"\` into /boot/loader.conf of ${label}, and reboot it`;
		return [wrong(what, `there is ${name}, but not its interface for netmap, ${opened}`, mend)];
	}
	if (port === void 0) return [await noInterface(host, opened, what)];
	return [linkOf(port, label, what), macOf(port, mac, native, what)];
}
function linkOf(port, label, what) {
	const { name, flags } = port;
	if (!flags.includes("UP")) {
		const mend = `${typed(shell`ifconfig ${name} up`)} on ${label}, and a line \`ifconfig_${name}\` in its /etc/rc.conf for every boot`;
		return wrong(what, "it is down", mend);
	}
	if (port.isActive) return ok(what, speedOf(port));
	return wrong(what, "it has no link", "check its cable, its module and the port at the other end");
}
function macOf({ mac }, wanted, native, port) {
	const what = `the MAC address of ${port}`;
	if (mac === wanted) return ok(what, wanted);
	const whose = native?.mac === wanted ? `, which is that of ${native.name}` : "";
	const why = `it is ${mac ?? "none"}, and ppsgate.yml has ${wanted}${whose}`;
	return wrong(what, why, `write \`mac: "${mac}"\` in ppsgate.yml, and into static_arp and static_ndp of the DUT`);
}
/** Without arguments it tells its usage; timeout(1) exits with 126 or 127 where it cannot start it. */
async function pktGen$1(host, what) {
	const outcome = await host.run(shell`timeout 5 pkt-gen`, limits);
	if (outcome.kind === "exited" && outcome.code !== 126 && outcome.code !== 127) return [ok(what, "it is installed")];
	return [wrong(what, "it is not installed", "`pkg install pkt-gen` there")];
}
async function netmap(host, what) {
	if (await does(host, shell`test -e /dev/netmap`)) return [ok(what, "/dev/netmap is there")];
	return [wrong(what, "there is no /dev/netmap", "`kldload netmap` there, or boot a kernel with `device netmap` in its configuration")];
}
const contextOf = ({ testbed, families, world }) => ({
	...settingsContext(testbed, families),
	nowSeconds: world.now()
});
/** Apart from other settings: without routes the blast would leave by the default route. */
async function pathsOf(lab, host, what) {
	const context = contextOf(lab);
	const settings = lab.families.flatMap((family) => pathSettings(family, context));
	const said = await readAll(host, settings.flatMap(({ reads }) => reads));
	const problems = settings.flatMap((setting) => problemOf(setting, said));
	return problems.length === 0 ? [ok(what, `both ways, ${lab.families.join(" and ")}`)] : problems.map(findingOf);
}
async function settingsOf(lab, host, what) {
	const context = contextOf(lab);
	const paths = lab.families.flatMap((family) => pathSettings(family, context));
	const problems = checkSettings(await readAll(host, settingsCommands(context)), context).filter(({ setting }) => !paths.some(({ name }) => name === setting));
	return problems.length === 0 ? [ok(what, "all hold")] : problems.map(findingOf);
}
function findingOf({ setting, message, mend }) {
	const mended = advice(mend);
	const why = message.replace(`${setting} `, "").replace(`: ${mended}.`, "");
	return wrong(setting, unquoted(why), unquoted(mended));
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
/** Tools are looked for and not called: each of them would change what boots next. */
async function bootMethod(host, method, what) {
	const tool = tools[method];
	const [root] = await fileSystemsOf(host, ["/"]);
	const device = root?.device ?? "";
	const isZfs = !device.startsWith("/");
	const other = "choose another `boot.method` in ppsgate.yml";
	if (!await does(host, shell`test -e ${tool}`)) return [wrong(what, `the DUT has no ${tool}`, other)];
	if (method === "boot-environment" && !isZfs) return [wrong(what, `its root is on ${device}, not on ZFS`, other)];
	const major = Number.parseInt(await host.output(shell`uname -r`, limits), 10);
	if (isZfs && major < oldestRelease.zfs) {
		const why = `on ZFS it needs FreeBSD ${oldestRelease.zfs} or later, and the DUT runs ${major}`;
		return [wrong(what, why, `install FreeBSD ${oldestRelease.zfs} or later on the DUT`)];
	}
	return [ok(what, `${tool} is there, and the root is on ${device}`)];
}
/** Two kernels, and what unpacks them. */
const leastBootBytes = 1e9;
async function bootSpace(host, what) {
	const [boot] = await fileSystemsOf(host, ["/boot"]);
	const bytes = boot?.availableBytes ?? 0;
	if (bytes >= leastBootBytes) return [ok(what, `${inGigabytes(bytes)} free`)];
	const why = `${inGigabytes(bytes)} free, and two kernels need ${inGigabytes(leastBootBytes)}`;
	return [wrong(what, why, "take old kernels away: `ls /boot` names them, like kernel.old")];
}

// src/testbed/linux-check.ts
/** Finding after finding, as each is made. */
async function* checkLinuxTestbed(testbed, { connect, signal }) {
	await using opened = new AsyncDisposableStack();
	const machines = Object.values(linuxMachinesOf(testbed));
	for (const machine of machines) opened.defer(async () => machine.host?.close());
	const steps = [...machines.map((machine) => loginStep(machine, connect)), ...machines.flatMap((machine) => machine.names.map((name) => interfaceStep(machine, name)))];
	yield* walk(steps, signal);
}
/** As they are called, and before they have let us in. */
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
/** Whether there is such an interface. */
function interfaceStep(machine, name) {
	const what = `${name} of ${machine.label}`;
	return {
		what,
		needs: [sshTo(machine)],
		async look() {
			const outcome = await machine.host?.run(shell`test -e ${`/sys/class/net/${name}`}`);
			if (outcome?.kind === "exited" && outcome.code === 0) return [ok(what, "it is there")];
			const mend = `correct \`${name}\` in ppsgate.yml: \`ip link\` on ${machine.label} names what it has`;
			return [wrong(what, "there is no such interface", mend)];
		}
	};
}

// src/testbed/health.ts
/** Finding after finding, as each is made; nothing is changed on any machine. Throws the signal's reason. */
async function* healthOf(testbed, world) {
	await using opened = new AsyncDisposableStack();
	const connect = async (host, label) => {
		const connected = opened.use(await world.connect(host, label));
		return bounded(connected, limits.timeoutSeconds);
	};
	yield* walk(stepsOf(testbed, {
		...world,
		connect
	}), world.signal);
}
/** One sentence: the first thing that is wrong, and how many more are. Undefined where all is well. */
function whyUnhealthy(findings) {
	const [first, ...others] = findings.filter(({ kind }) => kind === "wrong");
	if (first === void 0) return void 0;
	const sentence = `${first.what}: ${first.why.replace(/\.$/, "")}`;
	if (others.length === 0) return `${sentence}.`;
	return `${sentence} (and ${others.length === 1 ? "one more thing is" : `${others.length} more things are`} wrong).`;
}
function stepsOf(testbed, world) {
	switch (testbed.kind) {
		case "embedded-linux": return [embedded];
		case "linux": return linuxSteps(testbed, world);
		case "freebsd": return freebsdSteps(testbed, world);
	}
}
const embedded = {
	what: "the embedded lab",
	needs: [],
	look: async () => [skipped("the embedded lab", "there is none between two experiments: each brings up its own")]
};
function freebsdSteps(testbed, world) {
	const { dut, generators } = machinesOf(testbed);
	const { method } = testbed.dut.boot;
	const name = testbed.dut.host;
	return [
		...[dut, ...generators].map((machine) => loginStep(machine, world.connect)),
		on(dut, "the kernel of the DUT", ownKernel),
		on(dut, "the next boot of the DUT", (host, what) => nextBoot(host, method, what)),
		on(dut, "the firewalls of the DUT", firewalls),
		on(dut, "the files of the DUT", files),
		...method === "boot-environment" ? [on(dut, "the boot environments of the DUT", environments)] : [],
		...generators.map((machine) => on(machine, `the programs on ${machine.label}`, pktGen)),
		...dutPortSteps(testbed, dut, world),
		...generators.flatMap((machine) => generatorPortSteps(machine, world)),
		...powerSteps({
			name,
			testbed,
			dut,
			cycles: false,
			world
		})
	];
}
async function ownKernel(host, what) {
	const system = await runningSystem(host);
	const found = `${system.kernel} of ${system.root}`;
	if (!isOurs(system)) return [ok(what, `it runs ${found}`)];
	const mend = `${typed(shell`shutdown -r now`)} on the DUT: the boot after that is its own`;
	return [wrong(what, `it still runs ${found}, which was measured`, mend)];
}
async function nextBoot(host, method, what) {
	if (method === "nanobsd") return [await nextSlice(host, what)];
	if (await does(host, shell`test -e ${"/boot/nextboot.conf"}`)) {
		const mend = `${typed(shell`nextboot -D`)} on the DUT`;
		return [wrong(what, "/boot/nextboot.conf orders another kernel for it", mend)];
	}
	const once = method === "boot-environment" ? await activatedOnce(host) : void 0;
	if (once === void 0) return [ok(what, "nothing was ordered for it")];
	const mend = `${typed(shell`bectl activate -T`)} on the DUT`;
	return [wrong(what, `the boot environment ${once} is activated for it`, mend)];
}
/** An appliance does not tell its own slice from one that was measured, but which one it boots next. */
async function nextSlice(host, what) {
	const [{ root }, next] = [await runningSystem(host), await nextRoot(host)];
	if (next === root) return ok(what, `from ${root}, as it runs`);
	const mend = `make the slice of ${root} the active one again, by hand`;
	return wrong(what, `it will be from ${next}, and the DUT runs ${root}`, mend);
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
	if (names.length === 0) return [ok(what, "none of an experiment")];
	const destroy = names.map((name) => typed(shell`bectl destroy -F -o ${name}`));
	return [wrong(what, `left behind: ${names.join(", ")}`, `${destroy.join(", ")} on the DUT`)];
}
async function files(host, what) {
	const names = (await host.output(shell`ls -1 /boot`)).split("\n").filter(isOurName);
	const hasRules = await does(host, shell`test -e ${rulesFolder}`);
	const left = [...names.map((name) => `/boot/${name}`), ...hasRules ? [rulesFolder] : []];
	if (left.length === 0) return [ok(what, "none of an experiment")];
	const mend = `${typed(shell`rm -rf ${left}`)} on the DUT`;
	return [wrong(what, `left behind: ${left.join(", ")}`, mend)];
}
async function firewalls(host, what) {
	const proof = provesScenario("forwarding", await proofOf(host));
	if (proof.kind === "in-force") return [ok(what, "packets are only forwarded")];
	const mend = `${takeAwayCommands.flat().map(typed).join(", ")} on the DUT; those of a firewall that it has not fail`;
	return [wrong(what, proof.reason, mend)];
}
const pktGen = (host, what) => programs(host, what, shell`pgrep -x pkt-gen`);
/** pgrep(1) exits with 1 where nothing matches. */
async function programs(host, what, pgrep) {
	const outcome = await host.run(pgrep, limits);
	if (outcome.kind === "exited" && outcome.code === 1) return [ok(what, "none of an experiment")];
	if (!isGood(outcome)) return [wrong(what, `${typed(pgrep)} fails there`, "see what it says")];
	const ids = outcome.stdout.trim().split("\n");
	const mend = `${typed(shell`kill ${ids}`)} there`;
	return [wrong(what, `still running, by their numbers: ${ids.join(", ")}`, mend)];
}
function linuxSteps(testbed, world) {
	const machines = linuxMachinesOf(testbed);
	const { sender, dut } = machines;
	const all = Object.values(machines);
	return [
		...all.map((machine) => loginStep(machine, world.connect)),
		...[sender, dut].flatMap((machine) => [on(machine, `the programs on ${machine.label}`, linuxPrograms), on(machine, `the files of ${machine.label}`, linuxFiles)]),
		...all.flatMap((machine) => machine.names.flatMap((name) => [interfaceStep(machine, name), linkStep(machine, name)]))
	];
}
const linuxPrograms = (host, what) => programs(host, what, shell`pgrep ${ourPrograms}`);
/** The DUT's hold its former rules and settings. */
async function linuxFiles(host, what) {
	const outcome = await host.run(shell`ls -A ${ourFolder}`, limits);
	const names = isGood(outcome) ? outcome.stdout.split("\n").filter(Boolean) : [];
	if (names.length === 0) return [ok(what, "none of an experiment")];
	const left = names.map((name) => `${ourFolder}/${name}`);
	const script = `${ourFolder}/dut/dut.bash`;
	const mend = `${names.includes("dut") ? `${typed(shell`bash ${script} restore`)} and then ` : ""}${typed(shell`rm -rf ${ourFolder}`)} there`;
	return [wrong(what, `left behind: ${left.join(", ")}`, mend)];
}
/** Of an interface that is down the kernel does not even say whether it has a carrier. */
function linkStep(machine, name) {
	const what = `the link of ${name} of ${machine.label}`;
	const asksCarrier = shell`cat ${`/sys/class/net/${name}/carrier`}`;
	return {
		...on(machine, what, async (host) => {
			const outcome = await host.run(asksCarrier, limits);
			if (!isGood(outcome)) {
				const up = typed(shell`ip link set ${name} up`);
				return [wrong(what, "the interface is down", `${up} on ${machine.label}`)];
			}
			if (outcome.stdout.trim() === "1") return [ok(what, "it is up")];
			return [wrong(what, "there is none", "check its cable, its module and the port at the other end")];
		}),
		needs: [interfaceStep(machine, name).what]
	};
}

// src/testbed/reserve.ts
/**
* Waits for one of the testbeds and readies it: its machines know the lease, and it is on its base again where its last
* holder died. One that cannot be readied goes into quarantine, and the waiting goes on from the same place.
* Throws as `reserve` does.
*/
async function reserveTestbed(names, request, config, world) {
	const wanted = names.flatMap((name) => {
		const testbed = config.testbeds[name];
		return testbed === void 0 ? [] : [[name, machinesOf$1(testbed)]];
	});
	if (wanted.length === 0) throw new UsageError(`The configuration has no testbed ${names.join(" or ")}.`);
	let order;
	for (;;) {
		const lease = await reserve({
			...request,
			testbeds: new Map(wanted)
		}, world, order);
		const trouble = await readied(lease, config, world).catch(async (error) => {
			const isClean = lease.holding.leftBy.length === 0;
			await lease.release({
				outcome: `not used: ${reasonOf(error)}`,
				isClean
			});
			throw error;
		});
		if (trouble === void 0) return leased(lease, config, world);
		world.tell(inQuarantine(lease.testbed, trouble));
		await lease.release({
			outcome: `not used: ${trouble}`,
			isClean: false,
			quarantine: quarantineFor(trouble, world)
		});
		order = lease.holding.order;
	}
}
/** Answers why the testbed cannot be used. */
async function readied(lease, config, world) {
	const testbed = config.testbeds[lease.testbed];
	const { leftBy } = lease.holding;
	if (testbed === void 0) return "it is not in the configuration";
	try {
		if (leftBy.length === 0) {
			await raiseFences(testbed, lease, world.machines.connect);
			return;
		}
		const whose = leftBy.map(({ holder }) => holder.who).join(" and ");
		world.tell(`Bringing ${lease.testbed} back to its base: ${whose} did not.`);
		await bringBack(testbed, lease, config, world);
		return await troubleOf(testbed, world);
	} catch (error) {
		world.signal.throwIfAborted();
		lease.signal.throwIfAborted();
		if (isOfTheMachines(error)) return reasonOf(error);
		throw error;
	}
}
/** Each login raises the fence, and the DUT may not be up yet. */
async function bringBack(testbed, lease, config, world) {
	if (testbed.kind === "embedded-linux") return;
	if (testbed.kind === "freebsd") {
		const machines = fencedWorld(world.machines, testbed, lease);
		await wakeFreebsdTestbed(lease.testbed, testbed, machines);
	}
	await (await openLeased(lease, config.traffic, config, world)).restore();
}
/** And not of this controller alone, whose key or known_hosts may be the wrong ones. */
const isOfTheMachines = (error) => error instanceof HostError ? !["login", "host-key"].includes(error.kind) : [
	DutLostError,
	PowerError,
	FencedError
].some((kind) => error instanceof kind);
/** Looks at a testbed and changes nothing on it; answers what is wrong. */
async function troubleOf(testbed, { machines, tell }) {
	const signal = new AbortController().signal;
	return whyUnhealthy(await Array.fromAsync(healthOf(testbed, {
		...machines,
		tell,
		signal
	})));
}
const openLeased = (lease, traffic, config, { machines }) => openTestbed(lease.testbed, traffic, config, {
	lease,
	machines
});
function leased(lease, config, world) {
	let notRestored;
	return {
		name: lease.testbed,
		signal: lease.signal,
		lease,
		async open(traffic) {
			const testbed = await openLeased(lease, traffic, config, world);
			return {
				...testbed,
				async restore() {
					await testbed.restore().catch((error) => {
						notRestored = reasonOf(error);
					});
				}
			};
		},
		async giveBack(outcome) {
			const testbed = config.testbeds[lease.testbed];
			if (lease.signal.aborted || testbed === void 0) return void 0;
			try {
				const trouble = notRestored ?? await troubleOf(testbed, world);
				const quarantine = trouble === void 0 ? void 0 : quarantineFor(trouble, world);
				await lease.release({
					outcome,
					isClean: trouble === void 0,
					quarantine
				});
				return trouble === void 0 ? void 0 : inQuarantine(lease.testbed, trouble);
			} catch (error) {
				if (!(error instanceof StoreError)) throw error;
				return `${lease.testbed} is free only after ${world.leaseSeconds} s: ${error.message}`;
			}
		}
	};
}
const inQuarantine = (testbed, trouble) => `${testbed} is in quarantine now: ${trouble} Once it is mended, lift it with \`ppsgate quarantine ${testbed} --lift\`.`;
/** Who puts testbeds into quarantine that fail, and alone may be contradicted by a look. */
const byItself = "ppsgate";
const quarantineFor = (reason, { date }) => ({
	reason,
	by: byItself,
	since: date().toISOString()
});

// src/testbed/testbed.ts
/** A testbed that nobody else can use. */
const unshared = (name, open) => ({
	name,
	open,
	signal: new AbortController().signal,
	giveBack: async () => void 0
});

// src/testbed/overview.ts
function overviewOf({ testbeds }, lab, usualSeconds, now) {
	const outlooks = outlooksOf(lab, usualSeconds, now);
	return {
		at: now.toISOString(),
		testbeds: Object.entries(testbeds).map(([name, testbed]) => stateOf(name, testbed, lab, usualSeconds)),
		queue: lab.tickets.flatMap((ticket) => {
			const outlook = outlooks.get(ticket.id);
			return outlook === void 0 ? [] : [waitingOf(ticket, outlook)];
		})
	};
}
function stateOf(name, testbed, lab, usualSeconds) {
	const machines = machinesOf$1(testbed);
	const holding = machines.map((machine) => lab.held.get(machine)).find((one) => one !== void 0);
	const quarantine = lab.quarantines.get(name);
	const left = leftOn(machines, lab);
	return {
		name,
		kind: testbed.kind,
		state: stateName(holding, quarantine, left),
		...holding !== void 0 && { held: heldBy(holding, usualSeconds) },
		...quarantine !== void 0 && { quarantine },
		...left.length > 0 && { leftBy: left.map(({ holder, testbed: used, since }) => ({
			...holder,
			testbed: used,
			since
		})) }
	};
}
function stateName(holding, quarantine, left) {
	if (holding !== void 0) return "held";
	if (quarantine !== void 0) return "quarantine";
	return left.length > 0 ? "left-behind" : "free";
}
/** What a holder uses is left behind only once he is gone. */
function leftOn(machines, { used, held }) {
	const left = machines.flatMap((machine) => {
		const use = used.get(machine);
		return use === void 0 || held.get(machine)?.id === use.id ? [] : [use];
	});
	return [...new Map(left.map((use) => [use.id, use])).values()];
}
function heldBy({ holder, testbed, priority, token, since }, usualSeconds) {
	const end = Date.parse(since) + usualSeconds(testbed) * 1e3;
	return {
		...holder,
		testbed,
		priority,
		token,
		since,
		expectedUntil: new Date(end).toISOString()
	};
}
const waitingOf = ({ holder, priority, wants, since }, outlook) => ({
	...outlook,
	...holder,
	priority,
	wants: [...wants.keys()],
	since
});
/** `gate of #12`, or the purpose alone. */
const aimOf = ({ purpose, patch }) => patch === void 0 ? purpose : `${purpose} of ${patch}`;

export { aimOf, byItself, checkFreebsdTestbed, checkLinuxTestbed, healthOf, ok, openEmbedded, overviewOf, realWorld, reserveTestbed, skipped, typed, unshared, whyUnhealthy, wrong };