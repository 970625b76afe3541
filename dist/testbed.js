import { UsageError, flowRanges, flowSlices, formatPercent, formatPps, isArmName, isLinuxScenario, lastLine, linkName, netmapPort, pathName, reasonOf, withoutKernel } from "./words.js";
import { int, object } from "./vendor/zod.js";
import { frameBytesFor } from "./config.js";
import { sum as sum$1 } from "./vendor/simple-statistics.js";
import { isSteady, median, steadyStretch } from "./stats.js";
import { ProfileError, foldedLines, foreignBounds, parseProfile, samplesOf, withoutIdle } from "./profile.js";
import { HostError, commandText, connect, fencedHost, ownFolder, raiseFence, requirePrograms, shell, stdoutOf } from "./host.js";
import { generatorsOf, rolesOf } from "./inventory.js";
import { BuilderError, buildLinuxKernel, buildVariant, fetchKernel, givenKernel, noSums } from "./build.js";
import { PowerError } from "./power.js";
import { lastWords, recordConsole, whatItShows } from "./console.js";
import { DutLostError, arrivalsAround, arrivedBetween, busyShare, checkSettings, collectSamples, countersCommands, countersLog, differences, endSampling, fileSystemsOf, fingerprintCommands, fingerprintOf, flashed, hasBootedSinceMark, linuxDut, loadedFiles, markBoot, openFreebsdDut, parseIfconfig, parseObservation, pathSettings, problemOf, readsOf, readySampling, sentBetween, sentWithin, settingsCommands, waived, wakeFreebsdDut, windowCommand } from "./dut.js";
import { firewallsOn, layScenario, proofCommands, provesScenario, takeAwayCommands } from "./scenario.js";
import { areOpen, blastThrough, closePorts, openPorts, parsePktGenLog, parseTrafgenLog, pktGenRun, secondsFor, senderCommand, senderScript, trafgenFlows } from "./traffic.js";
import { KernelFilesError, guestCpu, guestMac, guestPorts, kernelCommandLine, neighbours, receiverMac, senderMac, virtualLabUp } from "./virtual-lab.js";
import { once } from "node:events";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { createReadStream, readFileSync, rmSync } from "node:fs";
import { isDeepStrictEqual, promisify } from "node:util";
import { PassThrough } from "node:stream";
import { gzipSync } from "node:zlib";
import { createHash } from "node:crypto";
import { mkdtemp, open, readFile, rm, stat, writeFile } from "node:fs/promises";
import { release, tmpdir } from "node:os";
import { pipeline } from "node:stream/promises";
import { setTimeout } from "node:timers/promises";

// src/testbed/connect.ts
/** `label` is how people call the machine. Throws a HostError where that does not succeed. */
async function connectTo(config, label, options = { keepaliveSeconds: 5 }) {
	const { host, port, user, privateKeyPath, knownHostsPath } = config;
	const name = `${label} (${host}:${port})`;
	const knownHosts = await readFile(knownHostsPath, "utf8").catch((error) => {
		const make = `make it with 'ssh-keyscan -p ${port} ${host} >> ${knownHostsPath}', and compare the fingerprint with the machine's console`;
		throw new HostError("host-key", `The key of ${name} cannot be checked, because ${knownHostsPath} cannot be read (${codeOf(error)}): ${mendOf(error, make)}.`, { cause: error });
	});
	const identity = privateKeyPath === void 0 ? { agent: true } : { privateKey: await readPrivateKey(privateKeyPath, name) };
	return connect({
		host,
		port,
		user,
		knownHosts,
		label,
		...identity
	}, options);
}
const readPrivateKey = (path, name) => readFile(path, "utf8").catch((error) => {
	const make = `make it with 'ssh-keygen -t ed25519 -f ${path}' and append ${path}.pub to that machine's authorized_keys, or correct \`key\` in ppsgate.yml`;
	throw new HostError("login", `Cannot log in to ${name}, because the key ${path} cannot be read (${codeOf(error)}): ${mendOf(error, make)}.`, { cause: error });
});
/** What is there is not to be written over. */
const mendOf = (error, make) => codeOf(error) === "ENOENT" ? make : "see to it that it is a file that you may read";
const codeOf = (error) => error instanceof Error && "code" in error ? String(error.code) : reasonOf(error);

// src/testbed/fence.ts
/**
* The world of one testbed, of which only its own machines are fenced: a builder serves many leases at once.
* Tasks, power cycles and the opening of a console throw a FencedError where a later lease has the testbed.
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
		},
		async openConsole(name, config, hears) {
			await lease.prove();
			lease.assertHeld();
			return world.openConsole(name, config, hears);
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
/** Time limit for all generators together, as the DUT waits. */
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

// src/testbed/blame.ts
/** The tally of a variant; one that is new gets an empty one, to be counted up. */
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
/** Who cannot be blamed yet however often it fails, as base has shown nothing: where an experiment goes on in a new process. */
const lacksControl = (tallies, variant, proof) => variant !== "base" && !tallyOf(tallies, "base")[proof];

// src/testbed/judge-profile.ts
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

// src/testbed/freebsd/preflight.ts
/** The DUT is not as it must be; nothing is measured until somebody has mended it. */
var PreflightError = class extends Error {
	name = "PreflightError";
	constructor(testbed, problems) {
		const otherwise = problems.some((problem) => problem.isVital) ? "whatever `preflight` says" : "or set `preflight` to fix or warn";
		super([`${testbed} is not fit to measure on; mend this, ${otherwise}:`, ...problems.map(({ message }) => `- ${message}`)].join("\n"));
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
async function preflight(host, { mode, waive, context, sleep }) {
	const look = async () => waived(checkSettings(await readAll(host, settingsCommands(context)), context), waive);
	let problems = await look();
	for (const name of ["kern.boottime", "kern.cp_time"]) {
		const mend = problems.find(({ setting, isWaived }) => setting === name && !isWaived)?.mend;
		if (mend?.kind !== "wait") continue;
		await sleep(mend.seconds);
		problems = await look();
	}
	if (mode !== "fix") return problems;
	const commands = problems.flatMap(({ mend, isWaived }) => mend.kind === "command" && !isWaived ? mend.command : []);
	for (const command of commands) await host.run(command);
	return commands.length > 0 ? await look() : problems;
}
/** Why a blast would not go from the sender to the receiver and nowhere else; asked right before it. */
async function strayPaths(host, { context, families }) {
	const settings = families.flatMap((family) => pathSettings(family, context));
	const said = await readAll(host, readsOf(settings));
	return settings.flatMap((setting) => problemOf(setting, said));
}
/** What the DUT says of itself, as it runs. */
async function fingerprint$1(host, interfaces) {
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

// src/testbed/freebsd/boots.ts
const bootsOf = (config, dut, world) => ({
	config,
	dut,
	world,
	tallies: /* @__PURE__ */ new Map(),
	families: ["inet4"],
	wanted: /* @__PURE__ */ new Set(),
	booted: void 0,
	unfit: void 0,
	told: /* @__PURE__ */ new Set(),
	asFound: void 0,
	reference: void 0,
	mayDiffer: false,
	differences: /* @__PURE__ */ new Set(),
	news: []
});
/** From now on these variants are measured. */
function want(boots, variants) {
	boots.wanted = new Set(variants);
	if (isBaseShared(boots) && boots.reference?.variant !== "base") boots.reference = void 0;
}
/** Several patches are measured beside one base: what one of them makes of the DUT says nothing of the others. */
const isBaseShared = ({ wanted }) => [...wanted].some(isArmName);
/** What does not hold on the DUT's own kernel; it is not held against a boot later. */
async function inspectDut(boots, families) {
	boots.families = families;
	const problems = await settingsThatFail(boots);
	boots.told = new Set(problems.map(({ setting }) => setting));
	return problems;
}
/** What runs before the first boot is the DUT's own kernel, which is not measured. */
async function fingerprintOfDut(boots) {
	boots.asFound = await fingerprint$1(boots.dut.host(), portsOf$1(boots));
	return withoutKernel(boots.asFound);
}
const portsOf$1 = ({ config: { dut } }) => [dut.ingress.interface, dut.egress.interface];
const settingsThatFail = ({ config, families, world, dut }) => preflight(dut.host(), {
	mode: config.preflight,
	waive: config.waive,
	context: settingsContext(config, families),
	sleep: world.sleep
});
/** The boot that is to carry such a run, and runs; undefined where the DUT has to boot for it. */
const bootOf = ({ booted }, { variant, pair }) => booted?.variant === variant && booted.pair === pair && !booted.isSampled ? booted : void 0;
/** One boot serves all cells of a pair's variant; what boots badly is tried once more before it is told. */
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
	const known = boots.unfit;
	if (known?.variant === variant && known.pair === pair && !known.blasts.has(planned.number)) {
		known.blasts.add(planned.number);
		return failed(known.reason);
	}
	boots.booted = void 0;
	if (kernel.kind === "archive") {
		const isLink = kernel.archive.variant !== variant;
		let laid = await dut.lay(kernel.archive, isLink ? /* @__PURE__ */ new Set() : boots.wanted);
		if (laid.kind === "no-space" && isBaseShared(boots)) laid = await dut.lay(kernel.archive, /* @__PURE__ */ new Set());
		if (laid.kind === "no-space") return rejected$1(variant, {
			kind: "out-of-disk",
			message: `DUT: ${laid.reason}.`
		});
		if (laid.kind === "lacks-module") return afterBootFailure$1(boots, variant, { reason: `it was not booted, as ${laid.reason}` });
	}
	const outcome = await dut.boot(kernel.kind === "own" ? void 0 : kernel.archive.variant);
	if (outcome.kind === "boot-failed") return afterBootFailure$1(boots, variant, outcome);
	const tally = tallyOf(boots.tallies, variant);
	tally.hasBooted = true;
	tally.bootFailures = 0;
	const problems = await settingsThatFail(boots);
	const isStrict = config.preflight === "fail";
	const problem = problems.filter(({ isWaived }) => !isWaived).find(({ setting, isVital }) => isVital || isStrict || !boots.told.has(setting));
	if (problem !== void 0) return unfit(boots, planned, problem.message);
	const boot = {
		variant,
		pair,
		kernel: outcome.version,
		fingerprint: await fingerprint$1(dut.host(), portsOf$1(boots))
	};
	const [flash] = flashed(boots.asFound ?? {}, boot.fingerprint);
	if (flash !== void 0) return unfit(boots, planned, `the DUT's card has another firmware than before this gate (${flash}): a kernel has flashed it for good, so numbers of before and after cannot be compared, of later gates neither; put \`hw.cxgbe.fw_install="0"\` into its /boot/loader.conf, and flash the card as you want it`);
	const reference = boots.reference ?? boot;
	const found = differencesBetween(reference, boot);
	const [difference] = found;
	if (boots.mayDiffer && reference.variant !== variant) tellDifferences(boots, variant, found);
	else if (difference !== void 0) return unfit(boots, planned, `the DUT is not the same in more than its kernel: ${difference}`);
	boots.booted = boot;
	return {
		kind: "ready",
		boot
	};
}
/** Once each, however many variants show them. */
function tellDifferences(boots, variant, found) {
	for (const difference of found) {
		const what = difference.replace(` on ${variant}`, "");
		if (boots.differences.has(what)) continue;
		boots.differences.add(what);
		boots.news.push(`the DUT is not the same in more than its kernel: ${difference}`);
	}
}
/** Sentences that nobody has heard yet. */
const takeNews = (boots) => boots.news.splice(0);
/** Asked right before every blast: a kernel may lose what it had when it came up. */
async function whyAstray({ config, dut }, family) {
	const families = [family];
	const context = settingsContext(config, families);
	const [problem] = await strayPaths(dut.host(), {
		context,
		families
	});
	return problem?.message;
}
/** The blast was measured, and nothing is wrong with it. */
function holdAgainst(boots, boot) {
	if (boot.variant === "base" || boot.variant === "patched" && !isBaseShared(boots)) boots.reference ??= boot;
}
/** Whoever is to be measured in that boot hears of it; who comes again gets another boot. */
function unfit(boots, { number, runs }, reason) {
	const [run] = runs;
	if (run !== void 0) boots.unfit = {
		variant: run.variant,
		pair: run.pair,
		reason,
		blasts: /* @__PURE__ */ new Set([number])
	};
	return failed(reason);
}
const differencesBetween = (reference, boot) => boot.variant === "base" ? differences(boot.fingerprint, reference.fingerprint) : differences(reference.fingerprint, boot.fingerprint, boot.variant);
/** Tried once more before it is told, and for what base shows possible alone. */
function afterBootFailure$1(boots, variant, { reason, panic, console }) {
	const { tallies } = boots;
	tallyOf(tallies, variant).bootFailures += 1;
	return isToBlame(tallies, variant, "bootFailures", "hasBooted") ? rejected$1(variant, {
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
	return console === void 0 ? "" : ` (${shownBy(console)})`;
}
/** `its console shows the prompt of …`. */
const shownBy = (console) => `its console ${whatItShows(console)}`;
const failed = (reason) => ({
	kind: "failed",
	reason
});
/** Failed, where the variant may be why. */
const suspected = ({ boots, variant, proof }, reason) => ({
	kind: "failed",
	reason,
	...lacksControl(boots.tallies, variant, proof) && { lacksControl: true }
});
const rejected$1 = (variant, rejection) => ({
	kind: "rejected",
	variant,
	rejection
});

// src/testbed/freebsd/logs.ts
/** The logs by their names in the folder of a blast; there is one for each sender. */
const freebsdLogNames = {
	receiver: "receiver.log",
	sender: (index) => `sender-${index + 1}.log`,
	/** The DUT's counters before and after. */
	counters: "dut-counters.log",
	/** What its console printed since the blast before, boots included. */
	console: "dut-console.log"
};
/** Reads a blast of one run, which is all that a testbed carries that boots its variants. */
function readFreebsdLogs({ number, cell, runs }, { receiver, senders }, { startedAt, traffic, told = {} }) {
	const log = parsePktGenLog(receiver);
	const askedPps = askedOf(traffic, cell.family, senders.length);
	const measured = pktGenRun(log, senders.map(parsePktGenLog), {
		netbenchesTrim: false,
		askedPps,
		egressPackets: told.egressPackets,
		ingressPackets: told.ingressPackets
	});
	const isBusy = ({ pps }) => pps > 0;
	const from = Math.max(0, log.rates.findIndex(isBusy));
	const to = log.rates.findLastIndex(isBusy) + 1 || log.rates.length;
	const seconds = log.rates.slice(from, to).reduce((sum, { intervalSeconds }) => sum + intervalSeconds, 0);
	return {
		kind: "measured",
		runs: runs.map((run) => ({
			...run,
			blast: number,
			pps: measured.medianPps,
			samples: [],
			validity: measured.validity
		})),
		summary: {
			number,
			cell,
			startedAt,
			trafficSeconds: seconds,
			offeredPps: measured.offeredPps ?? 0,
			...told
		}
	};
}
/** What each sender was asked for, as the flows are shared; none where they send as fast as they can. */
function askedOf({ flows, offeredPps }, family, senders) {
	const split = flowRanges(flows, family, senders);
	if (offeredPps === void 0 || split.kind === "refused") return [];
	const all = split.flows;
	return flowSlices(all, senders).map(({ sources }) => offeredPps * sources / all.sources);
}

// src/testbed/freebsd/losses.ts
/** Throws where somebody does not come back, or somebody is lost time and again. */
async function afterLoss(world, loss, error) {
	const { boots, generators, cycles } = world;
	await generators.reconnect(loss.signal);
	const isStuck = error.kind === "timeout";
	if (!isStuck && await answers(boots.dut.host())) return afterGlitch(world, loss, error);
	boots.booted = void 0;
	const cyclesBefore = cycles.done;
	const words = await boots.dut.recover();
	const { panic } = words;
	if (panic !== void 0) return afterDeath$1(boots, loss, `it panicked: ${panic}`, words);
	if (isStuck) return afterDeath$1(boots, loss, error.message, words);
	if (cycles.done === cyclesBefore) return afterGlitch(world, loss, error);
	return afterDeath$1(boots, loss, "it did not answer any more, and was power-cycled", words);
}
function afterRefusal(boots, variant, scenario, refusal) {
	const { tallies } = boots;
	tallyOf(tallies, variant).refusals += 1;
	return isToBlame(tallies, variant, "refusals", "hasStoodBlast") ? rejected$1(variant, {
		kind: "does-not-load",
		scenario,
		message: `Twice: ${refusal}.`
	}) : suspected({
		boots,
		variant,
		proof: "hasStoodBlast"
	}, refusal);
}
const mostGlitchesInARow = 3;
function afterGlitch({ boots, glitches: { inARow } }, { variant }, error) {
	inARow.push(variant);
	const isOfOnePatch = isBaseShared(boots) && variant !== "base" && inARow.every((one) => one === variant);
	if (inARow.length >= mostGlitchesInARow && !isOfOnePatch) throw error;
	return failed(error.message);
}
function afterDeath$1(boots, loss, how, { panic, console }) {
	const { tallies } = boots;
	const { variant, when } = loss;
	const where = circumstances(loss);
	if (when === "while sampled") return failed(`the DUT with ${variant} died ${where}: ${how}`);
	tallyOf(tallies, variant).deaths += 1;
	if (!isToBlame(tallies, variant, "deaths", "hasStoodBlast")) {
		const reason = `the DUT with ${variant} died ${where}: ${how}${panic === void 0 && console !== void 0 ? ` (${shownBy(console)})` : ""}`;
		return suspected({
			boots,
			variant,
			proof: "hasStoodBlast"
		}, reason);
	}
	return rejected$1(variant, {
		kind: when === "after its boot" ? "boot-failed" : "panics-under-load",
		message: `Twice, ${where}${panic === void 0 ? `: ${how}` : ""}.`,
		...panic !== void 0 && { panic },
		...console !== void 0 && { console }
	});
}
function circumstances({ flows, scenario, when }) {
	switch (when) {
		case "after its boot": return "right after it had booted";
		case "at the rules": return `while ${scenario} was laid`;
		case "under load": return `under ${flows} flows`;
		case "while sampled": return "while samples were taken";
	}
}
const answers = (host) => host.output(shell`sysctl -n kern.boottime`, { timeoutSeconds: answerSeconds$1 }).then(() => true, () => false);
const answerSeconds$1 = 10;

// src/testbed/freebsd/rules.ts
/** Folder on the DUT for files of ours. */
const rulesFolder = "/var/tmp/ppsgate";
/**
* Anew for every blast, so that no state of the one before is left; undefined where the scenario is in force. `own` are
* the rules of scenarios that are the site's own.
*/
async function layRules(host, scenario, own) {
	const { files, commands } = layScenario(scenario, rulesFolder, own);
	await Promise.all([takeRulesAway(host), ...files.length > 0 ? [host.output(ownFolder(rulesFolder))] : []]);
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
async function takeRulesAway(host) {
	for (const round of takeAwayCommands) await Promise.all(round.map((command) => host.run(command)));
}
/** Those that rc.conf(5) starts in each boot are the site's own: what a blast takes off of them, a boot brings back. */
async function siteFirewalls(host) {
	const outcome = await host.run(shell`sysrc -n pf_enable firewall_enable`);
	if (outcome.kind !== "exited" || outcome.code !== 0) return [];
	const isOn = outcome.stdout.split("\n").map((value) => /^(?:yes|true|on|1)$/i.test(value.trim()));
	return ["pf", "ipfw"].filter((_, index) => isOn[index]);
}
/** A sentence for each firewall that is on before any blast. */
async function firewallsTold(host, ofSite) {
	return firewallsOn(await proofOf(host)).map((name) => ofSite.includes(name) ? `${name} of the DUT is on by its rc.conf: each blast takes it off, and a boot of its own kernel at the end brings it back.` : `${name} of the DUT is on, and not by its rc.conf: each blast takes it off, and nothing brings it back.`);
}
/** What the DUT says of its firewalls. */
async function proofOf(host) {
	const said = await readAll(host, Object.values(proofCommands));
	const entries = Object.entries(proofCommands).map(([key, command]) => [key, said.get(commandText(command))]);
	return Object.fromEntries(entries);
}

// src/testbed/freebsd/sample-under-load.ts
/** Time from the word to go until packets flow; as much is left at the window's end. */
const spareSeconds = 6;
/** So much of what the receiver got in as many seconds has to have left the DUT while samples were taken. */
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
async function sampled({ seconds, event: asked, attempt }, { dut, folder, egress, open, send }, keepLog) {
	const sampling = await readySampling(dut, folder, asked);
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
	const [taken, blast] = await Promise.all([dut.run(windowCommand(window, folder)), send(trafficSeconds)]);
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

// src/testbed/freebsd/blast.ts
async function blast$2(lab, planned, keepLog, signal) {
	const outcome = await recorded(lab, keepLog, () => send$1(lab, planned, keepLog, signal));
	const warnings = [...lab.console?.takeTroubles() ?? [], ...takeNews(lab.boots)];
	return warnings.length === 0 ? outcome : {
		...outcome,
		warnings
	};
}
/** Keeps what the console printed, of a DUT that is lost too. */
async function recorded({ console }, keepLog, work) {
	try {
		return await work();
	} finally {
		if (console !== void 0) await keepLog(freebsdLogNames.console, console.takeLog());
	}
}
async function send$1(lab, planned, keepLog, signal) {
	const [run] = planned.runs;
	const { scenario } = planned.cell;
	if (run === void 0) return failed("nothing was planned");
	const { variant } = run;
	const kernel = await kernelOf(lab, variant, run.link);
	if (kernel.kind === "rejected") return rejected$1(variant, kernel.rejection);
	const { boots } = lab;
	const { flows } = lab.traffic;
	let when = "after its boot";
	try {
		if (bootOf(boots, run) === void 0) await lab.generators.letGo();
		const ready = await bootFor(boots, planned, run, kernel);
		if (ready.kind !== "ready") return ready;
		signal.throwIfAborted();
		when = "at the rules";
		const refusal = await lay(lab, scenario);
		if (refusal !== void 0) return afterRefusal(boots, variant, scenario, refusal);
		when = "under load";
		const outcome = await measure(lab, planned, ready.boot, keepLog, signal);
		if (outcome.kind === "measured") tallyOf(boots.tallies, variant).hasStoodBlast = true;
		lab.glitches.inARow = [];
		return outcome;
	} catch (error) {
		if (!(error instanceof HostError) || signal.aborted) throw error;
		return afterLoss(lab, {
			variant,
			scenario,
			flows,
			when,
			signal
		}, error);
	}
}
const kernelOf = async ({ prepared }, variant, link) => await prepared?.kernels.get(variant, link) ?? { kind: "own" };
const rulesOf = ({ prepared }) => prepared?.rules ?? {};
async function lay(lab, scenario) {
	const host = lab.boots.dut.host();
	if (lab.firewallsOfSite.length > 0) await markBoot(host);
	return layRules(host, scenario, rulesOf(lab));
}
async function measure(lab, planned, boot, keepLog, signal) {
	const { traffic, boots, generators, dutMac } = lab;
	const { cell } = planned;
	const { scenario } = cell;
	const { dut, world } = boots;
	const ports = portsOf$1(boots);
	const { measureSeconds: trafficSeconds, measureAtLeastSeconds: atLeastSeconds } = traffic;
	const unopened = await generators.open(trafficSeconds, signal);
	if (unopened?.kind === "failed") {
		await keepLog(freebsdLogNames.receiver, unopened.logs.receiver);
		return failed(unopened.reason);
	}
	const [before, astray] = await Promise.all([readAll(dut.host(), countersCommands(ports)), whyAstray(boots, cell.family)]);
	if (astray !== void 0) return failed(astray);
	const startedAt = (/* @__PURE__ */ new Date(world.now() * 1e3)).toISOString();
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
	const [proofs, after] = await Promise.all([proofOf(dut.host()), readAll(dut.host(), countersCommands(ports))]);
	await keepLog(freebsdLogNames.counters, countersLog(before, after));
	const busy = busyShare(before, after);
	const { ingress, egress } = boots.config.dut;
	const egressPackets = sentBetween(before, after, egress.interface);
	const ingressPackets = arrivedBetween(before, after, ingress.interface);
	if (outcome.kind === "failed") return failed(outcome.reason);
	const measured = readFreebsdLogs(planned, logs, {
		startedAt,
		traffic,
		told: {
			kernel: boot.kernel,
			...busy && { busiestCpuRatio: busy.busiestCpuRatio },
			...egressPackets !== void 0 && { egressPackets },
			...ingressPackets !== void 0 && { ingressPackets }
		}
	});
	if (!isValid(measured)) return measured;
	const isSilent = measured.kind === "measured" && measured.runs.every(({ pps }) => pps === 0);
	if (isSilent) {
		const down = await linkThatIsDown(boots);
		if (down !== void 0) return failed(`not one packet came through, and ${down}`);
	}
	const proof = provesScenario(scenario, proofs, {
		...!isSilent && { blast: { flows: traffic.flows } },
		own: rulesOf(lab)
	});
	if (proof.kind !== "in-force") return failed(`${scenario} was not in force: ${proof.reason}`);
	holdAgainst(boots, boot);
	return measured;
}
/** A link comes up again some seconds after a generator has let go of it that had its port for itself. */
const linkSeconds = 15;
/** A cable that was pulled looks like a kernel that forwards nothing; answered as a clause. */
async function linkThatIsDown({ dut, world, config }) {
	for (const { interface: name } of [config.dut.ingress, config.dut.egress]) {
		const isActive = async () => parseIfconfig(await dut.host().output(shell`ifconfig ${name}`))?.isActive === true;
		for (let seconds = 0; !await isActive(); seconds += 1) {
			if (seconds === linkSeconds) return `the link of the DUT's ${name} is down`;
			await world.sleep(1);
		}
	}
}
const isValid = (outcome) => outcome.kind === "measured" && outcome.runs.every(({ validity }) => validity.kind === "valid");
/** Samples where the DUT's time goes, on whichever boot of the variant there is. */
const profile$2 = (lab, request, keepLog, signal) => recorded(lab, keepLog, () => sample(lab, request, keepLog, signal));
async function sample(lab, request, keepLog, signal) {
	const { cell, variant } = request;
	const { scenario } = cell;
	const kernel = await kernelOf(lab, variant);
	if (kernel.kind === "rejected") return impossible(kernel.rejection.message);
	const { boots, generators, dutMac, traffic } = lab;
	let when = "after its boot";
	try {
		if (boots.booted?.variant !== variant) {
			const run = {
				number: 0,
				variant,
				pair: 0
			};
			await generators.letGo();
			const ready = await bootFor(boots, {
				number: 0,
				cell,
				runs: [run]
			}, run, kernel);
			if (ready.kind !== "ready") return missed(whyNot$1(ready));
		}
		if (boots.booted !== void 0) boots.booted = {
			...boots.booted,
			isSampled: true
		};
		signal.throwIfAborted();
		when = "at the rules";
		const refusal = await lay(lab, scenario);
		if (refusal !== void 0) return missed(refusal);
		const astray = await whyAstray(boots, cell.family);
		if (astray !== void 0) return missed(astray);
		when = "while sampled";
		return await sampleUnderLoad(request, {
			dut: boots.dut.host(),
			folder: rulesFolder,
			egress: boots.config.dut.egress.interface,
			open: (trafficSeconds) => generators.open(trafficSeconds, signal),
			send: (trafficSeconds) => generators.send({
				cell,
				dutMac,
				trafficSeconds
			}, signal)
		}, keepLog);
	} catch (error) {
		if (!(error instanceof HostError) || signal.aborted) throw error;
		const { flows } = traffic;
		return missed(whyNot$1(await afterLoss(lab, {
			variant,
			scenario,
			flows,
			when,
			signal
		}, error)));
	}
}
function whyNot$1(outcome) {
	if (outcome.kind === "rejected") return outcome.rejection.message;
	return outcome.kind === "failed" ? outcome.reason : "nothing was sampled";
}

// src/testbed/freebsd/mtu.ts
/** Ethernet's header is 14 bytes, its checksum 4. pkt-gen holds the frame without the checksum against its port's MTU. */
const leastMtu = {
	sender: (frameBytes) => frameBytes - 4,
	receiver: (frameBytes) => frameBytes - 18,
	dut: (frameBytes) => frameBytes - 18
};
/** What is wrong with a port, and what mends it; undefined where nothing is. */
async function shortMtu(host, port, least) {
	const found = parseIfconfig(await host.output(shell`ifconfig ${port}`));
	if (found === void 0 || found.mtu >= least) return void 0;
	return {
		is: `has an MTU of ${found.mtu}, and these frames want ${least} at least`,
		mend: `\`ifconfig ${port} mtu ${least}\` there, and \`mtu ${least}\` in its ifconfig_${port} in /etc/rc.conf`
	};
}
/** Throws a HostError: pkt-gen would exit in each blast, or the DUT drop each packet. */
async function requireMtu(host, port, frameBytes, role) {
	const short = await shortMtu(host, port, leastMtu[role](frameBytes));
	if (short === void 0) return;
	const { is, mend } = short;
	throw new HostError("command-failed", `${port} on ${host.name} ${is} (${frameBytes} bytes each): run ${mend}.`);
}

// src/testbed/freebsd/generators.ts
/** Connects to all of them, and ends what a lost controller left sending; one that cannot be reached is a `HostError`. */
async function openGenerators(config, traffic, world) {
	let hosts = await connectAll(config, world);
	/** `until` is when their time is over, in seconds since 1970. */
	let opened;
	/** Until a sender did not start beside what holds its port. */
	let holdsSenders = true;
	const letGo = async () => {
		if (opened !== void 0) await closePorts(opened.ports);
		opened = void 0;
	};
	const portsFor = async (trafficSeconds, signal) => {
		const { settleSeconds } = traffic;
		const seconds = secondsFor(settleSeconds, trafficSeconds);
		const isEnough = opened !== void 0 && world.now() + seconds < opened.until;
		if (opened !== void 0 && isEnough && areOpen(opened.ports)) return opened;
		await letGo();
		const outcome = await openPorts({
			senders: hosts.senders.map(({ host, config }) => ({
				host,
				interface: config.interface
			})),
			receiver: {
				host: hosts.receiver,
				interface: config.receiver.interface
			}
		}, {
			settleSeconds,
			seconds: heldSeconds + seconds,
			holdsSenders
		}, signal);
		if (outcome.kind === "failed") return outcome;
		opened = {
			ports: outcome.ports,
			until: world.now() + heldSeconds + seconds
		};
		return opened;
	};
	return {
		async facts(largestFrameBytes) {
			await Promise.all(allOf(hosts).map((host) => requirePrograms(host, ["pkt-gen"], "pkg install")));
			await requireMtus(config, hosts, largestFrameBytes);
			return factsOf(config, hosts);
		},
		async send({ cell, dutMac, ...howLong }, signal) {
			const split = flowRanges(traffic.flows, cell.family, config.senders.length);
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
				frameBytes: frameBytesFor(traffic, cell),
				flows: split.flows,
				ratePps: traffic.offeredPps,
				threads: config.senders[0]?.threads ?? 1,
				...howLong
			};
			const senders = hosts.senders.map(({ host, config: { interface: name, mac } }) => ({
				host,
				interface: name,
				sourceMac: mac,
				destinationMac: dutMac
			}));
			const ports = await portsFor(howLong.trafficSeconds, signal);
			if ("kind" in ports) return ports;
			const outcome = await blastThrough(ports.ports, senders, request, signal);
			if (outcome.kind === "measured") return outcome;
			holdsSenders = false;
			await letGo();
			return outcome;
		},
		async open(trafficSeconds, signal) {
			const ports = await portsFor(trafficSeconds, signal);
			return "kind" in ports ? ports : void 0;
		},
		letGo,
		async reconnect(signal) {
			opened = void 0;
			await closeAll(hosts);
			hosts = await connectPatiently(config, world, signal);
		},
		async silence() {
			opened = void 0;
			if ((await Promise.allSettled(allOf(hosts).map((host) => endPktGen(host, world)))).every(({ status }) => status === "fulfilled")) return;
			await closeAll(hosts);
			hosts = await connectAll(config, world).catch(() => hosts);
		},
		close: () => closeAll(hosts)
	};
}
/** So long ports stay open, beyond a blast: a boot serves some cells. Whoever is lost leaves them open no longer. */
const heldSeconds = 600;
/** Ends what a lost controller left sending. */
const silenceGenerators = async (config, world) => closeAll(await connectAll(config, world));
const allOf = ({ senders, receiver }) => [...senders.map(({ host }) => host), receiver];
/** All of them or none, and none with a pkt-gen that runs. */
async function connectAll(config, world) {
	await using opened = new AsyncDisposableStack();
	const connect = async (host, label) => opened.use(await world.connect(host, label));
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
	await Promise.all(allOf(hosts).map((host) => endPktGen(host, world)));
	opened.move();
	return hosts;
}
const closeAll = async (hosts) => {
	await Promise.all(allOf(hosts).map((host) => host.close()));
};
/** As long as a machine takes to boot. */
const patienceSeconds = 600;
const secondsBetweenTries = 10;
async function connectPatiently(config, world, signal) {
	const deadline = world.now() + patienceSeconds;
	for (;;) {
		try {
			return await connectAll(config, world);
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
	const said = await readAll(host, [version, ifconfig]);
	const media = parseIfconfig(said.get(commandText(ifconfig)) ?? "")?.media ?? "unknown media";
	return `${(said.get(commandText(version)) ?? "").trim()}, ${port} ${media}`;
}

// src/testbed/freebsd/kernels.ts
/** Archives go to `folder`. */
function kernelsIn(folder, builder) {
	let wanted = /* @__PURE__ */ new Map();
	let newest;
	let building;
	let work = Promise.resolve();
	const givenUp = /* @__PURE__ */ new Set();
	return {
		want(request) {
			newest = request;
			const list = request.variants.map((variant) => {
				const known = wanted.get(variant.variant);
				return known && isDeepStrictEqual(known.variant, variant) ? known : newlyWanted(variant);
			});
			const gone = [...wanted.values()].filter((one) => !list.includes(one));
			wanted = new Map(list.map((one) => [nameOf(one), one]));
			for (const one of gone) giveUp(one);
			for (const name of wanted.keys()) givenUp.delete(name);
			const [first] = list;
			const isPassed = first !== void 0 && !first.isSettled && first !== building?.one;
			if (building !== void 0 && (isPassed || gone.includes(building.one))) building.drop.abort(/* @__PURE__ */ new Error(`the kernel of ${nameOf(building.one)} is not wanted now`));
			work = work.then(buildAll);
		},
		async get(variant, link) {
			const one = wanted.get(variant);
			if (one !== void 0) return linkOf(await one.kernel.promise, variant, link);
			if (givenUp.has(variant)) throw notListed(variant);
			return { kind: "own" };
		},
		ready() {
			const settled = [...wanted.values()].filter(({ isSettled }) => isSettled);
			return new Set(settled.map(nameOf));
		},
		ended: () => work
	};
	function newlyWanted(variant) {
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
	function giveUp(one) {
		givenUp.add(nameOf(one));
		one.kernel.reject(notListed(nameOf(one)));
		removeArchives(one);
	}
	/** Each by the newest request that there is when its build begins. */
	async function buildAll() {
		for (;;) {
			const one = [...wanted.values()].find(({ isSettled }) => !isSettled);
			if (one === void 0 || newest === void 0) return;
			const drop = new AbortController();
			building = {
				one,
				drop
			};
			const signal = AbortSignal.any([newest.signal, drop.signal]);
			try {
				one.kernel.resolve(await builtKernel(one, {
					...newest,
					signal
				}));
				one.isSettled = true;
			} catch (error) {
				one.isSettled = !drop.signal.aborted;
				if (one.isSettled) one.kernel.reject(error);
			}
			building = void 0;
			if (wanted.get(nameOf(one)) !== one) removeArchives(one);
		}
	}
	async function builtKernel(one, { signal, tell, keepLog }) {
		const { variant, kernel } = one.variant;
		if (kernel?.kind !== "tree") return { kind: "own" };
		if (builder === void 0) throw new BuilderError("The testbed has no builder: give it one in ppsgate.yml, or kernels that are built already.");
		signal.throwIfAborted();
		tell(`building the kernel of ${variant}`);
		await using host = await builder.connect();
		const built = await buildVariant(host, builder.config, {
			...builder,
			variant,
			kernel,
			keepLog,
			tell,
			signal
		});
		if (built.kind === "rejected") return built;
		const archives = /* @__PURE__ */ new Map();
		for (const [index, each] of [built, ...built.further].entries()) {
			const name = linkName(variant, kernel.links?.[index]);
			const path = pathOf(name);
			await fetchKernel(host, each, path, signal);
			const { sha256, unpackedBytes } = each;
			const archive = {
				variant: name,
				path,
				sha256,
				unpackedBytes
			};
			if (kernel.links === void 0) return {
				kind: "archive",
				archive
			};
			archives.set(kernel.links[index] ?? 1, archive);
		}
		return {
			kind: "links",
			archives
		};
	}
	function removeArchives({ variant: { variant, kernel } }) {
		const links = kernel?.kind === "tree" ? kernel.links : void 0;
		for (const link of links ?? [void 0]) rmSync(pathOf(linkName(variant, link)), { force: true });
	}
	function pathOf(name) {
		return join(folder, `${pathName(name)}.tar`);
	}
}
const nameOf = ({ variant }) => variant.variant;
function linkOf(kernel, variant, link) {
	if (kernel.kind !== "links") return kernel;
	const [first] = kernel.archives.keys();
	const archive = kernel.archives.get(link ?? first ?? 1);
	if (archive === void 0) throw new TypeError(`${variant} has no link ${link}.`);
	return {
		kind: "archive",
		archive
	};
}
const notListed = (variant) => /* @__PURE__ */ new TypeError(`The kernel of ${variant} was given up; list it again to have it built.`);
/** One that nobody has to build. */
async function broughtKernel({ variant, kernel }) {
	if (kernel?.kind !== "archive") return { kind: "own" };
	return {
		kind: "archive",
		archive: await givenArchive(variant, kernel)
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

// src/testbed/freebsd/loaded.ts
/** The modules of a DUT that runs its own kernel: what loader.conf and rc.conf have loaded is among them, with all it depends on. */
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

// src/testbed/freebsd/world.ts
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

// src/testbed/freebsd/testbed.ts
/** Connects to all machines, and ends what a lost controller left sending; one that cannot be reached is a `HostError`. */
async function openFreebsdTestbed(name, config, traffic, world) {
	const { lab, prepare, restore } = await openFreebsdMachines(name, config, traffic, world);
	return {
		name,
		inspect: (cells) => inspect$1(name, lab, cells),
		async prepare(request) {
			await prepare(request);
			return { kind: "ready" };
		},
		ready: () => lab.prepared?.kernels.ready() ?? /* @__PURE__ */ new Set(),
		blast: (planned, keepLog, signal) => blast$2(lab, planned, keepLog, signal),
		booted: () => config.dut.power === void 0 ? void 0 : lab.boots.booted?.variant,
		profile: (request, keepLog, signal) => profile$2(lab, request, keepLog, signal),
		restore
	};
}
/** The machines that `openFreebsdTestbed` opens, for who has more to do with them than to measure. */
async function openFreebsdMachines(name, config, traffic, world) {
	await using opened = new AsyncDisposableStack();
	const cycles = { done: 0 };
	const generators = await openGenerators(config, traffic, world);
	opened.defer(generators.close);
	const console = consoleOf(name, config, world);
	opened.defer(async () => console?.close());
	const dut = await openFreebsdDut(await dutOptions(name, config, {
		world,
		cycles,
		console
	}));
	opened.defer(() => dut.host().close());
	const dutMac = await macOf(dut.host(), config.dut.ingress.interface);
	/** Folder on this machine, for the kernels of this experiment. */
	const folder = await mkdtemp(join(tmpdir(), "ppsgate-kernels-"));
	const boots = bootsOf(config, dut, world);
	const firewallsOfSite = await siteFirewalls(dut.host());
	const lab = {
		boots,
		generators,
		cycles,
		console,
		glitches: { inARow: [] },
		firewallsOfSite,
		traffic,
		dutMac,
		prepared: void 0
	};
	const over = new AbortController();
	/** Only while the DUT runs its own kernel. */
	const builderForNow = () => builderFor(dut.host(), {
		name,
		builder: config.builder
	}, world);
	opened.move();
	return {
		lab,
		dut,
		async prepare(request) {
			const { rules, variants } = request;
			lab.prepared ??= {
				kernels: kernelsIn(folder, await builderForNow()),
				rules
			};
			lab.prepared.rules = rules;
			boots.mayDiffer = request.mayDiffer === true;
			want(boots, variants.map(({ variant }) => variant));
			const signal = AbortSignal.any([request.signal, over.signal]);
			lab.prepared.kernels.want({
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
/**
* What opening needs after a controller that died: a DUT that answers. Generators are ended first; a DUT that stays away
* longer than a boot takes is power-cycled. Throws a HostError or a DutLostError where it does not come back.
*/
async function wakeFreebsdTestbed(name, config, world) {
	await silenceGenerators(config, world);
	const console = consoleOf(name, config, world);
	try {
		await wakeFreebsdDut(await dutOptions(name, config, {
			world,
			cycles: { done: 0 },
			console
		}));
	} finally {
		await console?.close();
	}
}
function consoleOf(name, { dut }, world) {
	const { console } = dut;
	if (console === void 0) return void 0;
	const machine = `the DUT of ${name}`;
	return recordConsole(machine, (hears) => world.openConsole(machine, console, hears));
}
async function dutOptions(name, { dut }, around) {
	const { world, console } = around;
	return {
		connect: async () => bounded(await world.connect(dut, "DUT", { keepaliveSeconds: 0 })),
		power: dut.power && await openPower(name, dut.power, around),
		console,
		method: dut.boot.method,
		bootSeconds: dut.boot.limitSeconds,
		sleep: world.sleep,
		now: world.now
	};
}
/** Counts what it does, and has the console told from that of the next boot. */
async function openPower(name, config, { world, cycles, console }) {
	const power = await world.openPower(`the DUT of ${name}`, config);
	return { async cycle() {
		console?.endBoot();
		await power.cycle();
		cycles.done += 1;
	} };
}
async function macOf(host, name) {
	const mac = parseIfconfig(await host.output(shell`ifconfig ${name}`))?.mac;
	if (mac !== void 0) return mac;
	throw new HostError("command-failed", `${name} on ${host.name} has no MAC address.`);
}
/** What builds kernels for a DUT that runs its own kernel now; undefined where only given ones can be measured. */
async function builderFor(dut, { name, builder }, world) {
	if (builder === void 0) return void 0;
	return {
		config: builder,
		connect: () => world.connect(builder, "builder"),
		now: world.now,
		sums: world.kernelSums ?? noSums,
		owner: `ppsgate on ${name}`,
		...builder.recipe.kind === "make" && { loaded: await loadedModules(dut) }
	};
}
async function inspect$1(name, { boots, generators, console, traffic, firewallsOfSite }, cells) {
	const families = [...new Set(cells.map(({ family }) => family))];
	const firewalls = await firewallsTold(boots.dut.host(), firewallsOfSite);
	const problems = await inspectDut(boots, families);
	const isStrict = boots.config.preflight === "fail";
	const grave = problems.filter(({ isVital, isWaived }) => isVital || isStrict && !isWaived);
	if (grave.length > 0) throw new PreflightError(name, grave);
	const largest = Math.max(...cells.map((cell) => frameBytesFor(traffic, cell)));
	for (const port of portsOf$1(boots)) await requireMtu(boots.dut.host(), port, largest, "dut");
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
			...console?.takeTroubles() ?? []
		]
	};
}
const timesToGiveBack = 3;
/**
* Leaves it on its own kernel, with nothing of ours on it. A connection that breaks here costs a repetition, and not
* the DUT.
*/
async function giveBack(name, dut, firewallsOfSite) {
	for (let time = 1;; time += 1) try {
		await dut.restore();
		if (firewallsOfSite.length === 0) await takeRulesAway(dut.host());
		else await bringFirewallsBack(dut);
		await dut.host().output(shell`rm -rf ${rulesFolder}`);
		return;
	} catch (error) {
		if (!(error instanceof HostError)) throw error;
		if (time < timesToGiveBack) continue;
		throw new DutLostError(`The DUT of ${name} may still run a kernel of ours: ${time} times it could not be restored, at last for this: ${error.message}`, { cause: error });
	}
}
/** Only a boot knows the rules of what rc.conf starts; `lay` of blast.ts has left the mark. */
async function bringFirewallsBack(dut) {
	if (await hasBootedSinceMark(dut.host())) return;
	await takeRulesAway(dut.host());
	const outcome = await dut.boot(void 0);
	if (outcome.kind === "boot-failed") throw new DutLostError(outcome.reason);
}

// src/testbed/linux/run.ts
/** A DUT that forwards all it is offered, or wants its CPU for less than this share of the time, was not the limit. */
const leastOfferedRatio = 1.02;
const leastBusyRatio = .9;
/**
* The medians of the samples. A run with a hole, or one in which the generator was the limit, is invalid;
* one that forwarded nothing of what arrived, from its first sample to its last, has a number like any other: 0.
*/
function measuredRun$1(planned, blast, samples, load) {
	const rates = samples.map((sample) => sample.forwardedPackets / sample.seconds);
	const stretch = samples.length < fewestForStretch ? {
		kind: "steady",
		from: 0,
		to: samples.length,
		medianPps: median(rates)
	} : steadyStretch(rates);
	if (stretch.kind === "unsteady" && rates.some((rate) => rate > 0)) {
		const validity = tooBusy(samples, load) ?? invalid("unsteady", `no steady rate: ${stretch.reason}`);
		return {
			...planned,
			blast,
			pps: median(rates),
			samples,
			validity
		};
	}
	const steady = stretch.kind === "steady" ? samples.slice(stretch.from, stretch.to) : samples;
	const pps = stretch.kind === "steady" ? stretch.medianPps : 0;
	const costs = steady.flatMap(nsPerPacket);
	return {
		...planned,
		blast,
		pps,
		...costs.length === steady.length ? { nsPerPacket: median(costs) } : {},
		samples,
		validity: validity(steady, pps, load)
	};
}
/** A run of a few slices has no ramp that could be told from its noise. */
const fewestForStretch = 10;
function nsPerPacket({ busySeconds, receivedPackets }) {
	return busySeconds && receivedPackets > 0 ? [busySeconds * 1e9 / receivedPackets] : [];
}
function validity(samples, pps, load) {
	if (samples.length === 0) return invalid("too-short", "no sample was taken");
	const holes = samples.filter((sample) => sample.forwardedPackets === 0);
	const isSilent = holes.length === samples.length;
	if (isSilent && samples.some((sample) => sample.receivedPackets > 0)) return { kind: "valid" };
	const isWhole = holes.length === 0;
	if (isWhole && isLimit(busyRatio(samples), pps, load)) return { kind: "valid" };
	if (isWhole) {
		const limited = generatorLimited(samples, pps, load);
		return waitedLong("sender", load.waitedRatio) ?? invalid("generator-limited", limited);
	}
	const silence = isSilent ? `no packet arrived for ${milliseconds(holes)} ms` : `no packet was forwarded for ${milliseconds(holes.slice(0, 1))} ms`;
	return tooBusy(samples, load) ?? invalid("hole", silence);
}
/** Why packets may have come in gusts, or not at all. */
const tooBusy = (samples, { waitedRatio }) => waitedLong("sender", waitedRatio) ?? waitedLong("DUT", deniedRatio(samples));
/** The reason for a run that does not count anyway: who was due and did not get a CPU is not slow. */
function waitedLong(who, ratio = 0) {
	if (!(ratio >= leastWaitedRatio)) return void 0;
	const waited = `the ${who} waited for a CPU ${Math.round(ratio * 100)} % of the time`;
	return invalid("machine-busy", `machine too busy: ${waited}; end what else runs on its machine, or wait for that to end`);
}
/** On a quiet machine the sender waits for 2 % of the time. */
const leastWaitedRatio = .05;
const milliseconds = (samples) => Math.round(sum(samples.map(({ seconds }) => seconds)) * 1e3);
/** Whether the DUT was, which its own idle time tells best: a sender that waits for it offers no more than it takes. */
const isLimit = (busy, pps, { offeredPps }) => busy === void 0 ? offeredPps > pps * leastOfferedRatio : busy > leastBusyRatio;
/** A run's own rate is no share of what was offered: the sender tells that of the whole blast only. */
function generatorLimited(samples, pps, load) {
	const { offeredPps, forwardedPps } = load;
	const busy = busyRatio(samples);
	const share = formatPercent(forwardedPps / offeredPps);
	const blast = `${formatPps(forwardedPps)} of ${formatPps(offeredPps)} offered (${share}) in its whole blast`;
	const rates = `generator-limited: ${formatPps(pps)} came through, ${blast}`;
	return busy === void 0 ? rates : `${rates}, and the DUT was busy for ${formatPercent(busy)} of the time`;
}
/** Share of the time in which the forwarding thread ran or was due to; unknown on a DUT that does not tell. */
function busyRatio(samples) {
	const busy = samples.flatMap(({ busySeconds, deniedSeconds = 0 }) => busySeconds === void 0 ? [] : busySeconds + deniedSeconds);
	if (busy.length < samples.length) return void 0;
	return sum(busy) / sum(samples.map((sample) => sample.seconds));
}
function deniedRatio(samples) {
	const seconds = sum(samples.map((sample) => sample.seconds));
	return Math.min(1, sum(samples.map(({ deniedSeconds = 0 }) => deniedSeconds)) / seconds);
}
const sum = (values) => values.reduce((total, value) => total + value, 0);
const invalid = (cause, reason) => ({
	kind: "invalid",
	cause,
	reason
});

// src/testbed/linux/logs.ts
/** Packets that left the DUT, and that reached the receiver, since their interfaces came up. */
const countersSchema = object({
	forwarded: int(),
	received: int()
});
const beforeAndAfter = object({
	before: countersSchema,
	after: countersSchema
});
/** The logs by their names in the folder of a blast. */
const logNames = {
	dut: "dut.log",
	sender: "sender.log",
	counters: "counters.json"
};
/** More than this share of what the DUT forwarded must reach the receiver. */
const leastReceivedShare = .99;
/** `observation` is given where the DUT said more than its log holds: why it stopped. */
function readLinuxLogs(planned, startedAt, logs, observation = parseObservation(logs.dut)) {
	const sent = parseTrafgenLog(logs.sender);
	if (sent.kind === "failed") return sent;
	if (observation.kind === "failed") return observation;
	const counted = countersOf(logs.counters);
	if (counted === void 0) return {
		kind: "failed",
		reason: "the counters cannot be read"
	};
	const loss = lossBehindTheDut(counted);
	if (loss !== void 0) return {
		kind: "failed",
		reason: loss
	};
	const load = {
		...sent,
		forwardedPps: counted.forwarded / sent.seconds
	};
	const runs = planned.runs.map((run, index) => measuredRun$1(run, planned.number, observation.samplesPerRun[index] ?? [], load));
	const { number, cell } = planned;
	const { seconds: trafficSeconds, offeredPps } = sent;
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
function lossBehindTheDut({ forwarded, received }) {
	return received < forwarded * leastReceivedShare ? `the receiver counted ${received} packets of the ${forwarded} that the DUT forwarded` : void 0;
}
/** The packets that were forwarded, and that were received, in the whole blast. */
function countersOf(text) {
	try {
		const { before, after } = beforeAndAfter.parse(JSON.parse(text));
		return {
			forwarded: after.forwarded - before.forwarded,
			received: after.received - before.received
		};
	} catch {
		return;
	}
}

// src/testbed/linux/testbed.ts
/** All that is laid on the hosts lies below it. */
const ourFolder = "/run/ppsgate";
const senderFolder = `${ourFolder}/sender`;
const slicesPerRun = 3;
/** Beyond any card's: trafgen then sends as fast as it can. */
const mostPps = 1e9;
/** Laying a variant takes some 20 ms; a busy machine may need many times that. */
const secondsToLay = .5;
/** Connects to all three hosts, and ends what a lost controller left running; a host that cannot be reached, or lacks a program, is a `HostError`. */
async function openLinuxTestbed(name, config, traffic, connect = connectTo) {
	await using opened = new AsyncDisposableStack();
	const sender = opened.use(await connect(config.sender, "sender"));
	await requirePrograms(sender, neededPrograms.sender, "apt-get install");
	await endPrograms(sender);
	const dutHost = opened.use(await connect(config.dut, "DUT"));
	await requirePrograms(dutHost, neededPrograms.dut, "apt-get install");
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
	let readied;
	return {
		name,
		inspect: async () => ({
			fingerprint: await dut.fingerprint(),
			warnings: []
		}),
		async prepare({ variants, cells, tell }) {
			if (isDeepStrictEqual(readied, {
				variants,
				cells
			})) return { kind: "ready" };
			readied = void 0;
			tell("laying every variant once");
			await uploadSender(lab, cells);
			const scenarios = [...new Set(cells.map((cell) => cell.scenario))].filter(isLinuxScenario);
			const prepared = await dut.prepare(variants, scenarios);
			if (prepared.kind === "ready") readied = {
				variants,
				cells
			};
			return prepared;
		},
		ready: () => new Set(readied?.variants.map(({ variant }) => variant)),
		blast: (planned, keepLog, signal) => blast$1(lab, planned, keepLog, signal),
		booted: () => void 0,
		profile: (request, keepLog, signal) => profile$1(lab, request, keepLog, signal),
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
/** What the hosts have to have installed; on the receiver the kernel counts, and perf(1) may be missing. */
const neededPrograms = {
	sender: [
		"bash",
		"pkill",
		"taskset",
		"trafgen"
	],
	dut: [
		"bash",
		"flock",
		"nft",
		"pkill",
		"sysctl",
		"taskset"
	]
};
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
	await sender.upload(senderScript, senderScriptPath, 493);
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
async function blast$1(lab, planned, keepLog, signal) {
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
async function profile$1(lab, { cell, variant, seconds, event }, keepLog, signal) {
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

// src/testbed/virtual/guests.ts
/**
* Where a guest that does not answer is, as `, stood in pf_test+0x1c`: what it then says is the answer to our interrupt, and
* no panic of its own.
*/
async function interrupted(guest) {
	await guest.interrupt().catch(() => {});
	const { console } = lastWords(guest.console(), false);
	const place = places.map((pattern) => pattern.exec(console ?? "")?.[1]).find(Boolean);
	return {
		where: place === void 0 ? "" : `, stood in ${place}`,
		words: console === void 0 ? {} : { console }
	};
}
/**
* Of Linux's registers, and of FreeBSD's debugger, which its nmi_call_kdb() hands over to; without `options DDB` it goes on, and
* tells no place. The last is its stack below trap 19, which is T_NMI, where firmware says that it panics of one.
*/
const places = [
	/^(?:\[.*\] )?RIP: \S+?:(\w+\+0x\w+)/m,
	/^Stopped at\s+([\w.]+(?:\+0x[0-9a-f]+)?):/m,
	/^--- trap 0x13,.*\n\w+\(\) at (\w+\+0x[0-9a-f]+)/m
];
/** The machine that QEMU makes, for a fingerprint. */
async function machineOf({ accelerator, memoryMebibytes }) {
	const { stdout } = await promisify(execFile)("qemu-system-x86_64", ["--version"]);
	const model = accelerator === "tcg" ? "max" : "host";
	return { machine: `virtual: ${stdout.split("\n")[0]?.trim()}, ${accelerator}, q35, CPU model ${model}, 1 CPU, ${memoryMebibytes} MiB` };
}

// src/testbed/virtual/logs.ts
/** The log of a pair's windows by its name in the folder of a blast. */
const windowsLogName = (pair) => `windows-${pair}.log`;
/** The runs of a blast in which every pair had its own boots, base and patched among them side by side. */
const pairsOf = ({ runs }) => [...Map.groupBy(runs, ({ pair }) => pair)];
/**
* A run is the median of its windows, of which the first is left out: caches of the guest's kernel, and QEMU's of
* translated code, are filled in it.
*/
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
		trafficSeconds += sum$1(windows.map(({ seconds }) => seconds));
		sentPackets += packets * windows.length;
		const stuck = stuckIn(log);
		for (const [index, run] of pairRuns.entries()) {
			const own = windows.filter(({ guest }) => guest === index + 1);
			const isStuck = stuck.has(index + 1);
			runs.push(measuredRun(run, planned.number, isStuck ? own : own.slice(1), isStuck));
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
/** Why there are none, in a sentence, where the log is not whole. */
function windowsIn(log, packets) {
	const lines = log.trimEnd().split("\n");
	if (lines.pop() !== "end") return "the windows ended before their time";
	const windows = [];
	for (const line of lines.filter((one) => !stuckLine.test(one))) {
		const window = windowOf(line, packets);
		if (window === void 0) return `a window cannot be read: "${line.slice(0, 200)}"`;
		windows.push(window);
	}
	return windows;
}
const stuckLine = /^stuck ([1-9]\d{0,3})$/;
const windowLine = /^window [1-9]\d{0,3}(?: \d{1,15}(?:\.\d{1,6})? \d{1,15} (?:-|\d{1,15}) \d{1,18} \d{1,18}){2}$/;
/** Ten numbers after the guest's: time, packets, instructions, and the CPU's own time and waiting in ns, twice. */
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
/** Guests that took no more packets, and were sent none from then on. */
const stuckIn = (log) => new Set(log.split("\n").flatMap((line) => stuckLine.exec(line)?.[1] ?? []).map(Number));
/** Guests that let nothing through at last: whoever lies so still may be dead. */
function silentIn(log, packets) {
	const windows = windowsIn(log, packets);
	const last = /* @__PURE__ */ new Map();
	for (const window of typeof windows === "string" ? [] : windows) last.set(window.guest, window);
	const silent = [...last.values()].filter(({ forwardedPackets }) => forwardedPackets === 0);
	return /* @__PURE__ */ new Set([...stuckIn(log), ...silent.map(({ guest }) => guest)]);
}
function measuredRun(planned, blast, windows, isStuck) {
	const samples = windows.map(({ guest: _, ...sample }) => sample);
	const through = samples.filter(({ forwardedPackets }) => forwardedPackets > 0);
	const isSilent = through.length === 0;
	const perPacket = through.flatMap(({ instructions, forwardedPackets }) => instructions === void 0 ? [] : instructions / forwardedPackets);
	const nsPerPacket = through.map(({ busySeconds = 0, forwardedPackets }) => busySeconds * 1e9 / forwardedPackets);
	const rates = samples.map(({ forwardedPackets, seconds }) => forwardedPackets / seconds);
	return {
		...planned,
		blast,
		pps: isSilent ? 0 : median(rates),
		...!isSilent && { nsPerPacket: median(nsPerPacket) },
		...perPacket.length > 0 && { instructionsPerPacket: median(perPacket) },
		samples,
		validity: validityOf(samples, isStuck)
	};
}
/** Frames of a guest's own that are on the wire beside what it forwards. */
const mostOwnRatio = 1.01;
/** A guest that lets nothing through, of all that it was sent, has a number like any other: 0. */
function validityOf(windows, isStuck) {
	const invalid = (cause, reason) => ({
		kind: "invalid",
		cause,
		reason
	});
	if (windows.length === 0) return invalid("too-short", "no window was measured");
	const silent = windows.filter(({ forwardedPackets }) => forwardedPackets === 0).length;
	if (silent === windows.length) return { kind: "valid" };
	if (isStuck) return invalid("hole", `it took no more packets after window ${windows.length}`);
	if (silent > 0) return invalid("hole", `nothing came through in ${silent} of ${windows.length} windows`);
	const swollen = windows.find(({ receivedPackets, forwardedPackets }) => forwardedPackets > receivedPackets * mostOwnRatio);
	if (swollen === void 0) return { kind: "valid" };
	const { receivedPackets: sent, forwardedPackets: came } = swollen;
	return invalid("hole", `more came out than was sent: ${came} of ${sent} packets`);
}

// src/testbed/virtual/blast.ts
async function blast(guests, planned, keepLog, signal) {
	const { traffic, tallies } = guests;
	const { cell } = planned;
	const { windows, packets } = windowsOf(traffic);
	const startedAt = (/* @__PURE__ */ new Date()).toISOString();
	const logs = /* @__PURE__ */ new Map();
	const kernels = {};
	for (const [pair, runs] of pairsOf(planned)) {
		const up = await guestsFor(guests, {
			pair,
			runs,
			signal
		}, keepLog);
		if (up.kind !== "up") return up.outcome;
		const { booted } = up;
		const sent = await layAndSend(guests, booted, cell, windows + 1, signal);
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
		const inForce = await whyNotInForce(guests, booted, cell, silent);
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
		logs.set(pair, sent.log);
		for (const { variant, kernel } of booted) {
			tallyOf(tallies, variant).hasStoodBlast = true;
			kernels[variant] = kernel;
		}
	}
	const outcome = readVirtualLogs(planned, startedAt, packets, logs);
	if (outcome.kind !== "measured") return outcome;
	return {
		...outcome,
		summary: {
			...outcome.summary,
			kernels
		}
	};
}
/** Asked while states of packets live; `silent` are the numbers of guests, from 1 on, that let nothing through. */
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
function windowsOf({ windows }) {
	if (windows === void 0) throw new TypeError("Virtual testbeds count packets out, and none were asked for.");
	return {
		windows: windows.count,
		packets: windows.packets
	};
}
/** One boot serves all cells of a pair. */
async function guestsFor(guests, pair, keepLog) {
	const { running, system } = guests;
	const known = pair.runs.map((run) => running?.booted.find(({ variant }) => variant === run.variant));
	if (running?.pair === pair.pair && known.every((one) => one !== void 0)) return {
		kind: "up",
		booted: known
	};
	guests.running = void 0;
	if (running !== void 0) await system.leave(running.booted);
	const all = await system.boot(pair);
	const booted = all.filter((one) => one.kind === "booted");
	guests.running = {
		pair: pair.pair,
		booted
	};
	const down = all.filter((one) => one.kind === "not-booted");
	for (const { variant, console } of down) await keepLog(consoleLogName(variant), console);
	const outcome = gravest(down.map((one) => one.outcome)) ?? await tryAll(guests, booted);
	if (outcome === void 0) return {
		kind: "up",
		booted
	};
	if (down.length > 0) await stopAll(guests);
	return {
		kind: "down",
		outcome
	};
}
/** Whoever is rejected is told before what is tried again. */
const gravest = (outcomes) => outcomes.find(({ kind }) => kind === "rejected") ?? outcomes[0];
/** Has all share one CPU from then on: what they executed before does not count. */
async function tryAll(guests, booted) {
	try {
		const refused = await guests.system.tryAll(booted);
		for (const { guest } of booted) await guest.pinTo(guestCpu);
		return refused;
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
	if (running !== void 0) await system.end(running.booted);
}
/** Lays the cell's rules on each, and sends so many windows through them. */
async function layAndSend(guests, booted, cell, windows, signal) {
	return await layAll(guests, booted, cell) ?? send(guests, booted, cell, windows, signal);
}
/** Undefined where all have taken them. */
async function layAll({ system }, booted, cell) {
	try {
		for (const one of booted) {
			const outcome = await system.lay(one, cell);
			if (outcome !== void 0) return {
				kind: "refused",
				outcome
			};
		}
		return;
	} catch (error) {
		if (!(error instanceof HostError)) throw error;
		return {
			kind: "lost",
			reason: error.message
		};
	}
}
async function send({ lab, traffic, flowsFor, sendWindows }, booted, cell, windows, signal) {
	const flows = await flowsFor(cell);
	const { packets } = windowsOf(traffic);
	const sent = await sendWindows(lab, {
		guests: booted.map(({ guest }) => guest),
		flows,
		packets,
		windows,
		signal
	});
	return sent.kind === "sent" ? sent : {
		kind: "lost",
		reason: `windows broke off: ${sent.said}`
	};
}
/** How it stands with those that may have died. */
const endsOf = (booted, isAsked = (_index) => true) => Promise.all(booted.map(async (one, index) => ({
	one,
	end: isAsked(index) ? await endOf(one) : void 0
})));
/** Undefined where none has died; else shows first whether base stands what the others may have died of. */
async function afterDeaths(guests, ends, { planned: { cell }, keepLog, signal }) {
	if (ends.every(({ end }) => end === void 0)) return void 0;
	const { tallies, traffic } = guests;
	const outcomes = [];
	const base = ends.find(({ one, end }) => one.variant === "base" && end === void 0);
	if (base !== void 0 && !tallyOf(tallies, "base").hasStoodBlast) {
		const control = await layAndSend(guests, [base.one], cell, 2, signal);
		tallyOf(tallies, "base").hasStoodBlast = control.kind === "sent" && silentIn(control.log, windowsOf(traffic).packets).size === 0;
	}
	for (const { one, end } of ends) {
		if (end === void 0) continue;
		const { variant, guest } = one;
		await keepLog(consoleLogName(variant), guest.console());
		tallyOf(tallies, variant).deaths += 1;
		outcomes.push(afterDeath(guests, variant, `under ${traffic.flows} flows`, end));
	}
	await stopAll(guests);
	return gravest(outcomes);
}
/** Undefined for a guest that is well. */
async function endOf({ guest, host }) {
	if (await host.output(shell`uname`, { timeoutSeconds: answerSeconds }).then(() => true, () => false)) return void 0;
	const words = lastWords(guest.console(), false);
	if (words.panic !== void 0) return {
		how: `it panicked: ${words.panic}`,
		words
	};
	const { where, words: asked } = await interrupted(guest);
	return {
		how: `it did not answer any more${where}, and was power-cycled`,
		words: asked
	};
}
const answerSeconds = 10;
function afterDeath({ tallies }, name, where, { how, words: { panic, console } }) {
	if (isToBlame(tallies, name, "deaths", "hasStoodBlast")) return rejected(name, {
		kind: "panics-under-load",
		message: `Twice, ${where}${panic === void 0 ? `: ${how}` : ""}.`,
		...panic !== void 0 && { panic },
		...console !== void 0 && { console }
	});
	return {
		kind: "failed",
		reason: `the guest with ${name} died ${where}: ${how}`,
		...lacksControl(tallies, name, "hasStoodBlast") && { lacksControl: true }
	};
}
const rejected = (variant, rejection) => ({
	kind: "rejected",
	variant,
	rejection
});
/** Its console in the folder of a blast. */
const consoleLogName = (variant) => `console-${pathName(variant)}.log`;

// src/testbed/virtual/freebsd-image.ts
const isHostError = (error) => error instanceof HostError;
/** Another copy of the image may do better. */
const isOfOneCopy = (error) => error instanceof DutLostError || isHostError(error) || error instanceof UsageError;
/** Waits until the image is up, and makes a DUT of it. Throws a UsageError where the image is not fit for one. */
async function openImage(guest, image, { lab, world }) {
	const login = await lab.loginTo(image, guest);
	await using opened = new AsyncDisposableStack();
	const console = recordConsole("a guest", async (hears) => {
		const leave = guest.listen(hears);
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
	const options = {
		method: "nextboot",
		connect: async () => bounded(await world.connect(login, "guest", { keepaliveSeconds: 5 })),
		power: { async cycle() {
			console.endBoot();
			await guest.reset().catch((error) => {
				throw new PowerError(reasonOf(error));
			});
		} },
		console,
		bootSeconds: image.bootSeconds,
		sleep: (seconds) => Promise.race([world.sleep(seconds), ended]),
		now: world.now
	};
	const { power: _, ...withoutPower } = options;
	const unfit = (why) => new UsageError(`The image ${image.path} is not fit for guests: ${why.replace(/\.$/, "")}; see docs/virtual.md for what it needs.`);
	await wakeFreebsdDut(withoutPower).catch((error) => {
		if (!isOfOneCopy(error)) throw error;
		throw unfit(whyNotIn(error, image, guest.console()));
	});
	const dut = await openFreebsdDut(options).catch((error) => {
		if (!isHostError(error) || error.kind !== "command-failed") throw error;
		throw unfit(reasonOf(error));
	});
	opened.defer(() => dut.host().close());
	const ports = await portsOf(dut.host());
	if (!("ingress" in ports)) throw unfit(ports.why);
	await setUp(dut.host(), ports);
	opened.move();
	return {
		dut,
		boots: bootsOf(asTestbed(image, ports, login), dut, world),
		console
	};
}
var QemuEndedError = class extends DutLostError {
	said;
	constructor(said) {
		super(`QEMU has ended (${said}).`);
		this.said = said;
	}
};
/** Why root could not log in to an image that was switched on, and what is to be done; a clause. */
function whyNotIn(error, { privateKeyPath = "of the ssh agent", bootSeconds }, shown) {
	if (error instanceof QemuEndedError) return `its QEMU ended before root could log in (${error.said}), as where it switches itself off`;
	if (isHostError(error) && error.kind === "host-key") return `its sshd shows ${/shows (the \S+ key \S+),/.exec(error.message)?.[1] ?? "no key of its type"} instead of the \`hostKey\` of ppsgate.yml: write there the first two words of its /etc/ssh/ssh_host_ed25519_key.pub`;
	if (isHostError(error) && /refuses to let root in/.test(error.message)) return `its sshd refuses root with the key ${privateKeyPath}: append the public half to its /root/.ssh/authorized_keys, and have \`PermitRootLogin prohibit-password\` in its /etc/ssh/sshd_config`;
	if (!(error instanceof DutLostError)) return reasonOf(error);
	const hint = shown.includes("<<BOOT>>") ? "" : " (its kernel is seen there once its /boot/loader.conf has `console=\"comconsole\"`)";
	return `root could not log in within ${bootSeconds} s, and its console ${whatItShows(shown)}${hint}`;
}
/** Cards are found by the addresses that QEMU gave them: it is the kernel that numbers them. */
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
	return { why: `of its three virtio cards the one with the MAC address ${ingress === void 0 ? guestMac.ingress : guestMac.egress} is missing beside ${names.join(", ")}: its kernel needs vtnet(4) for all of them, and its settings have to leave their addresses as they are` };
}
/** For the boots to come: addresses, which all else is made of, no waiting for a person, and a console that we read. */
async function setUp(host, { ingress, egress }) {
	const settings = [[ingress, guestPorts.ingress], [egress, guestPorts.egress]].flatMap(([port, { inet4, inet6 }]) => [`ifconfig_${port}=inet ${inet4}/30 -tso4 -tso6 -lro -vlanhwtso`, `ifconfig_${port}_ipv6=inet6 ${inet6} prefixlen 126 no_dad`]);
	await host.output(shell`sysrc ${settings}`);
	const text = `${(await host.run(shell`cat ${loaderFile}`)).stdout}\n${loaderLines.join("\n")}\n`;
	await host.upload(Buffer.from(text), loaderFile, 420);
}
/** Read after loader.conf; see loader.conf(5). */
const loaderFile = "/boot/loader.conf.local";
const loaderLines = [
	"console=\"comconsole\"",
	"boot_serial=\"YES\"",
	"autoboot_delay=\"-1\""
];
/**
* By ksyms(4), which has the modules' as well. Its file has none of the sections that they lie in, so that nm(1) takes none for
* a function; readelf(1) asks no section, and like nm it reads no device.
*/
async function symbolsOf(host) {
	const copy = "/var/tmp/ppsgate.ksyms";
	await host.output(shell`kldload -n ksyms`);
	await host.output(shell`cp ${"/dev/ksyms"} ${copy}`);
	const options = { maxOutputBytes: mostSymbolBytes$1 };
	return [...(await host.output(shell`readelf -sW ${copy}`, options)).matchAll(functionRow)].map(([, address, name]) => `${address} t ${name}\n`).join("");
}
/** Number, address, size, type, binding, visibility, section and name. */
const functionRow = /^ *\d+: ([0-9a-f]{16}) +\S+ FUNC +\S+ +\S+ +\S+ (\S+)$/gm;
const mostSymbolBytes$1 = 64 * 1024 ** 2;
/** A guest as the machines of a testbed: what stands at the other ends of its wires is no host, and has addresses. */
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
		preflight: "fix",
		waive: waivedOfGuests
	};
}
/** What does not count where one CPU executes a guest, and its instructions are counted in windows. */
const waivedOfGuests = {
	"kern.boottime": "what starts at a boot is no part of most windows, and a run is their median",
	"kern.shutdown.dumpdevname": "a guest tells on its console what it panics of",
	"machdep.hyperthreading_allowed": "a guest has one CPU",
	"net.isr.maxthreads": "a guest has one CPU",
	"net.isr.bindthreads": "a guest has one CPU"
};

// src/testbed/virtual/freebsd-guests.ts
function freebsdGuests(name, config, { lab, tallies, cpus, flows, world }) {
	/** By the variants that they boot. */
	const machines = /* @__PURE__ */ new Map();
	/** Has booted the image, and waits for a variant. */
	let spare;
	/** A copy of the image was up. */
	let isFit = false;
	/** What base has taken of scenarios' rules. */
	const taken = /* @__PURE__ */ new Set();
	const numbers = /* @__PURE__ */ new Set();
	let families = ["inet4"];
	let prepared;
	let request;
	const over = new AbortController();
	const cpuOf = (number) => cpus[(number - 1) % cpus.length] ?? 0;
	/** A copy of the image that is up, on its own kernel. */
	const newMachine = async () => {
		let number = 1;
		while (numbers.has(number)) number += 1;
		numbers.add(number);
		await using opened = new AsyncDisposableStack();
		opened.defer(() => void numbers.delete(number));
		const guest = await lab.bootImage(number, config.image, cpuOf(number));
		opened.defer(() => guest.stop());
		let said;
		guest.ended.then((last) => {
			said = last;
		});
		const { dut, boots, console } = await openImage(guest, config.image, {
			lab,
			world
		});
		opened.defer(async () => {
			await dut.host().close();
			await console.close();
		});
		await inspectDut(boots, families);
		await fingerprintOfDut(boots);
		isFit = true;
		opened.move();
		return {
			number,
			guest,
			dut,
			boots: {
				...boots,
				tallies
			},
			console,
			said: () => said
		};
	};
	/** That of the variant, or another where QEMU has ended by itself. */
	const machineFor = async (variant) => {
		const known = machines.get(variant);
		if (known !== void 0 && known.said() === void 0) return known;
		await endOf(variant);
		const waiting = spare;
		spare = void 0;
		const isThere = waiting !== void 0 && waiting.said() === void 0;
		if (waiting !== void 0 && !isThere) await switchOff(waiting);
		const machine = isThere ? waiting : await newMachine();
		machines.set(variant, machine);
		return machine;
	};
	const switchOff = async ({ number, guest, dut, console }) => {
		await dut.host().close().catch(() => {});
		await guest.stop();
		await console.close();
		numbers.delete(number);
	};
	const endOf = async (variant) => {
		const machine = machines.get(variant);
		machines.delete(variant);
		if (machine !== void 0) await switchOff(machine);
	};
	const bootsOfOne = ({ variant }) => {
		const machine = machines.get(variant);
		if (machine === void 0) throw new TypeError(`${variant} was not booted here.`);
		return machine.boots;
	};
	/** What a kernel has lost would be lost for all cells of its pair, as it boots for the next one only. */
	const mendPaths = ({ config: { preflight: mode, waive }, config, dut }, family) => preflight(dut.host(), {
		mode,
		waive,
		sleep: world.sleep,
		context: settingsContext(config, [family])
	});
	/** Base is asked where it has not shown yet that it takes what another refuses: it need not be next, nor get so far. */
	const afterRefusal = async (variant, scenario, refusal) => {
		tallyOf(tallies, variant).refusals += 1;
		const base = machines.get("base");
		if (variant !== "base" && !taken.has(scenario) && base !== void 0) {
			if (await layRules(base.dut.host(), scenario, request?.rules ?? {}) === void 0) taken.add(scenario);
		}
		if (!(variant === "base" || taken.has(scenario))) return {
			kind: "failed",
			reason: refusal,
			lacksControl: true
		};
		if (!isToBlame(tallies, variant, "refusals", "hasBooted")) return failed(refusal);
		return rejected$1(variant, {
			kind: "does-not-load",
			scenario,
			message: `Twice: ${refusal}.`
		});
	};
	const bootOne = async (run) => {
		const { variant, link } = run;
		const kernel = await prepared?.kernels.get(variant, link);
		const notBooted = (outcome, console = "") => ({
			kind: "not-booted",
			variant,
			outcome,
			console
		});
		if (kernel === void 0) throw new TypeError(`${variant} was not readied.`);
		if (kernel.kind === "rejected") return notBooted(rejected$1(variant, kernel.rejection));
		const machine = await machineFor(variant).catch((error) => {
			if (isFit && isOfOneCopy(error)) return reasonOf(error);
			throw error;
		});
		if (typeof machine === "string") return notBooted(failed(machine));
		const { guest, boots } = machine;
		want(boots, [variant]);
		boots.families = families;
		boots.mayDiffer = request?.mayDiffer === true;
		await guest.pinTo(cpuOf(machine.number)).catch(() => {});
		const outcome = await bootedFor(machine, {
			number: 1,
			...run
		}, kernel);
		if (outcome.kind === "ready") {
			const { kernel: version } = outcome.boot;
			return {
				kind: "booted",
				variant,
				guest,
				host: machine.dut.host(),
				kernel: version
			};
		}
		const console = guest.console();
		await endOf(variant);
		return notBooted(outcome, console);
	};
	return {
		async inspect(cells) {
			families = [...new Set(cells.map(({ family }) => family))];
			spare ??= await newMachine();
			const told = await inspectDut(spare.boots, families);
			return {
				fingerprint: {
					...await machineOf(config),
					...await fingerprintOfDut(spare.boots)
				},
				warnings: told.filter(isOfImage).map(({ message }) => message)
			};
		},
		async prepare(asked) {
			request = asked;
			families = [...new Set(asked.cells.map(({ family }) => family))];
			if (prepared === void 0) {
				spare ??= await newMachine();
				const { builder } = config;
				const folder = await mkdtemp(join(tmpdir(), "ppsgate-kernels-"));
				const builds = await builderFor(spare.dut.host(), {
					name,
					builder
				}, world);
				prepared = {
					kernels: kernelsIn(folder, builds),
					folder
				};
			}
			const wanted = new Set(asked.variants.map(({ variant }) => variant));
			for (const variant of machines.keys()) if (!wanted.has(variant)) await endOf(variant);
			const signal = AbortSignal.any([asked.signal, over.signal]);
			prepared.kernels.want({
				...asked,
				signal
			});
			return { kind: "ready" };
		},
		ready: () => prepared?.kernels.ready() ?? /* @__PURE__ */ new Set(),
		async boot({ pair, runs, signal }) {
			signal.throwIfAborted();
			const all = await Promise.allSettled(runs.map((run) => bootOne({
				...run,
				pair
			})));
			signal.throwIfAborted();
			return all.map((one) => {
				if (one.status === "rejected") throw one.reason;
				return one.value;
			});
		},
		tryAll: async () => void 0,
		async lay(one, { scenario, family }) {
			const boots = bootsOfOne(one);
			const refusal = await layRules(one.host, scenario, request?.rules ?? {});
			if (refusal !== void 0) return afterRefusal(one.variant, scenario, refusal);
			if (one.variant === "base") taken.add(scenario);
			if (await whyAstray(boots, family) === void 0) return void 0;
			await mendPaths(boots, family);
			const astray = await whyAstray(boots, family);
			return astray === void 0 ? void 0 : failed(astray);
		},
		async whyNotInForce(one, { scenario }, { isSilent }) {
			const proof = provesScenario(scenario, await proofOf(one.host), {
				...!isSilent && { blast: { flows } },
				own: request?.rules ?? {}
			});
			if (proof.kind === "in-force") return void 0;
			return `${scenario} was not in force on ${one.variant}: ${proof.reason}`;
		},
		symbols: ({ host }) => symbolsOf(host),
		leave: async () => {},
		async end(booted) {
			for (const { variant } of booted) await endOf(variant);
		},
		async close() {
			over.abort(/* @__PURE__ */ new Error("the testbed is given back"));
			for (const variant of machines.keys()) await endOf(variant);
			if (spare !== void 0) await switchOff(spare);
			spare = void 0;
			await prepared?.kernels.ended();
			if (prepared !== void 0) await rm(prepared.folder, {
				recursive: true,
				force: true
			});
		}
	};
}
/** What packets need is made in the boots to come, and has to be there then. */
const isOfImage = ({ isWaived, isVital }) => !isWaived && !isVital;
/** One boot serves all cells of a pair. */
const anyCell = {
	scenario: "forwarding",
	family: "inet4"
};
/**
* What never comes back is the variant's, like any that does not come up: its own kernel does on a new copy of the image. So is
* what is lost when it was up, as nothing but this machine lies between.
*/
async function bootedFor({ boots, guest, console: recorder, said }, run, kernel) {
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
		if (error instanceof DutLostError || said() !== void 0) {
			const words = lastWords(guest.console(), false);
			return afterBootFailure$1(boots, variant, {
				reason: whyGone(said()),
				...words
			});
		}
		if (!isHostError(error) || !isBroken(error)) return failed(reasonOf(error));
		return afterEarlyDeath(boots.tallies, variant, recorder.lastWords());
	}
}
const whyGone = (said) => said === void 0 ? "it did not come up, and neither did its image after it, not even power-cycled twice" : `its QEMU has ended (${said})`;
/** It came up, which no boot failure in a row is counted over; base, which lives on beside it, has shown that one can. */
function afterEarlyDeath(tallies, variant, { panic, console }) {
	tallyOf(tallies, variant).deaths += 1;
	const how = "it was lost again as soon as it was up";
	if (!isToBlame(tallies, variant, "deaths", "hasBooted")) {
		const why = panic === void 0 ? "" : ` (panic: ${panic})`;
		return failed(`the guest with ${variant} died right after it had booted: ${how}${why}`);
	}
	return rejected$1(variant, {
		kind: "boot-failed",
		message: `Twice: ${how}.`,
		...panic !== void 0 && { panic },
		...console !== void 0 && { console }
	});
}
const isBroken = ({ kind }) => [
	"unreachable",
	"lost",
	"timeout"
].includes(kind);

// src/testbed/virtual/linux-boots.ts
/** None that comes up takes so long, on a machine that is busy with much else. */
const mostBootSeconds = 120;
/** Beside one that is up, another that is not after so many times as long will not be. */
const mostTimesSlower = 4;
const leastSecondsBeside = 20;
/** Boots them all at once, each on a CPU of its own as far as there are any; answers in their order. */
async function bootTogether(world, bootables) {
	const startedAt = performance.now();
	const isOneUp = Promise.withResolvers();
	return Promise.all(bootables.map((bootable, index) => {
		const patience = patienceFrom(startedAt, isOneUp.promise);
		return boot(world, bootable, index + 1, patience, () => isOneUp.resolve((performance.now() - startedAt) / 1e3));
	}));
}
/** Answers, after that, for how many seconds was waited. */
async function patienceFrom(startedAt, isOneUp) {
	const elapsed = () => (performance.now() - startedAt) / 1e3;
	const limit = setTimeout(mostBootSeconds * 1e3, void 0, { ref: false });
	const tookSeconds = await Promise.race([isOneUp, limit]);
	if (tookSeconds === void 0) return mostBootSeconds;
	const mostSeconds = Math.max(tookSeconds * mostTimesSlower, tookSeconds + leastSecondsBeside);
	await setTimeout((mostSeconds - elapsed()) * 1e3, void 0, { ref: false });
	return Math.round(elapsed());
}
async function boot({ lab, connect, cpus, signal }, { variant, kernel }, number, patience, onUp) {
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
	try {
		const isUp = guest.up.then(() => "up", () => "ended");
		const how = await Promise.race([
			isUp,
			patience,
			aborted.promise
		]);
		if (how === "ended") return notBooted("it reset itself before it was up");
		if (how !== "up") {
			const { where, words } = await interrupted(guest);
			return {
				...notBooted(`it was not up after ${how} s${where}, and was power-cycled`),
				words
			};
		}
		onUp();
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
			dut: linuxDut(host),
			kernel: found.kernel
		};
	} catch (error) {
		signal.throwIfAborted();
		if (!(error instanceof HostError)) throw error;
		return notBooted(`nobody could log in to it (${reasonOf(error)})`);
	} finally {
		signal.removeEventListener("abort", abort);
	}
}
/** Whether what runs is what was to be booted: by the kernel's own name, what it was told, and the modules that it loaded. */
async function identify(host, { commandLine }, { version, atBoot }) {
	const [release, build, told, notes, ...modules] = (await host.output(shell`uname -r && uname -v && cat /proc/cmdline && od -A n -v -t x1 /sys/kernel/notes | tr -d ' \n' && echo && cut -d ${" "} -f 1 /proc/modules`)).split("\n");
	if (!version.startsWith(`${release} `) || !version.includes(` ${build}`)) return {
		kind: "other",
		reason: `${release} ${build} came up instead of ${version}`
	};
	if (told !== commandLine) return {
		kind: "other",
		reason: `it was told "${told}"`
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
/** The note of type 3, owner `GNU`, in hexadecimal; see elf(5), NT_GNU_BUILD_ID. */
const buildIdIn = (notes) => /04000000(14000000)03000000474e5500([0-9a-f]{40})/.exec(notes)?.[2];

// src/testbed/virtual/linux-guests.ts
const run = promisify(execFile);
function linuxGuests(name, config, { lab, tallies, cpus, world }) {
	/** What was readied, by the names of variants. */
	let wanted = /* @__PURE__ */ new Map();
	let scenarios = [];
	const duts = /* @__PURE__ */ new WeakMap();
	const dutOf = (one) => {
		const dut = duts.get(one)?.dut;
		if (dut === void 0) throw new TypeError(`${one.variant} was not booted here.`);
		return dut;
	};
	const end = async (booted) => {
		for (const { host, guest } of booted) {
			await host.close().catch(() => {});
			await guest.stop();
		}
	};
	return {
		inspect: async () => ({
			fingerprint: await fingerprint(config),
			warnings: []
		}),
		async prepare({ variants, cells, keepLog, tell, signal }) {
			scenarios = [...new Set(cells.map(({ scenario }) => scenario))].filter(isLinuxScenario);
			const readied = /* @__PURE__ */ new Map();
			for (const variant of variants) {
				signal.throwIfAborted();
				const known = wanted.get(variant.variant);
				if (known !== void 0) {
					readied.set(variant.variant, known);
					continue;
				}
				const archive = await archiveOf(variant, {
					keepLog,
					tell,
					signal
				});
				if (archive.kind === "rejected") return archive;
				tell(`unpacking the kernel of ${variant.variant}`);
				readied.set(variant.variant, {
					variant,
					kernel: await unpacked(lab, archive.path)
				});
			}
			wanted = readied;
			return { kind: "ready" };
		},
		ready: () => new Set(wanted.keys()),
		async boot({ runs, signal }) {
			const bootables = runs.map(({ variant }) => {
				const bootable = wanted.get(variant);
				if (bootable === void 0) throw new TypeError(`${variant} was not readied.`);
				return bootable;
			});
			const all = await bootTogether({
				lab,
				connect: connectTo,
				cpus,
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
				if (one.kind === "not-booted") return {
					kind: "not-booted",
					variant,
					outcome: afterBootFailure(tallies, variant, one),
					console: one.console
				};
				const { guest, host, kernel } = one;
				const booted = {
					kind: "booted",
					variant,
					guest,
					host,
					kernel
				};
				duts.set(booted, one);
				return booted;
			});
		},
		async tryAll(booted) {
			try {
				const refused = (await Promise.all(booted.map(async (one) => {
					const variant = wanted.get(one.variant)?.variant;
					return dutOf(one).prepare(variant === void 0 ? [] : [variant], scenarios);
				}))).filter((prepared) => prepared.kind === "rejected");
				return refused.find(({ variant }) => variant === "base") ?? refused[0];
			} catch (error) {
				const full = await withoutRoom(tallies, booted);
				if (full !== void 0) return full;
				throw error;
			}
		},
		async lay(one, { scenario }) {
			if (!isLinuxScenario(scenario)) throw new TypeError(`${scenario} is none of Linux.`);
			const laid = await dutOf(one).lay(one.variant, scenario);
			return laid.kind === "rejected" ? laid : void 0;
		},
		whyNotInForce: async () => void 0,
		symbols: ({ host }) => host.output(shell`cat /proc/kallsyms`, { maxOutputBytes: mostSymbolBytes }),
		leave: end,
		end,
		close: async () => {}
	};
	/** What boots a variant: a kernel that was given or is built, or the configuration's where only files differ. */
	async function archiveOf({ variant, kernel }, told) {
		if (kernel === void 0) return {
			kind: "archive",
			path: config.kernelPath
		};
		if (kernel.kind === "archive") {
			await requireSame(kernel);
			return {
				kind: "archive",
				path: kernel.path
			};
		}
		if (config.builder === void 0) throw new UsageError(`${name} has no \`builder\`, which the kernels of a tree need.`);
		const path = join(lab.folder, `${pathName(variant)}.tar.zst`);
		const { connect, now, kernelSums: sums = noSums } = world;
		const request = {
			variant,
			kernel,
			path,
			owner: `ppsgate on ${name}`,
			connect,
			now,
			sums,
			...told
		};
		const built = await buildLinuxKernel(config.builder, request);
		return built.kind === "rejected" ? {
			...built,
			variant
		} : built;
	}
}
/** A kernel of a distribution names some 150,000 symbols in 7 MB. */
const mostSymbolBytes = 64 * 1024 ** 2;
/** Undefined is this machine's own kernel. */
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
	throw new UsageError(`The kernel ${path} has changed since this gate began: give it back its old content, or begin anew.`);
}
function afterBootFailure(tallies, name, { reason, words: { panic, console } }) {
	if (isToBlame(tallies, name, "bootFailures", "hasBooted")) return {
		kind: "rejected",
		variant: name,
		rejection: {
			kind: "boot-failed",
			message: `Twice in a row: ${reason}.`,
			...panic !== void 0 && { panic },
			...console !== void 0 && { console }
		}
	};
	return {
		kind: "failed",
		reason: `${name} did not boot: ${reason}${panic === void 0 ? "" : ` (panic: ${panic})`}`,
		...lacksControl(tallies, name, "hasBooted") && { lacksControl: true }
	};
}
/** What has nothing left where rules are laid; a kernel that keeps it full is to blame. */
async function withoutRoom(tallies, booted) {
	for (const { host, variant } of booted) {
		if ((await host.output(shell`df -P -k /run | tail -n 1`).catch(() => "")).trim().split(/\s+/)[3] !== "0") continue;
		tallyOf(tallies, variant).refusals += 1;
		const message = `no room is left in /run of the guest with ${variant}`;
		if (!isToBlame(tallies, variant, "refusals", "hasBooted")) return {
			kind: "failed",
			reason: message
		};
		return {
			kind: "rejected",
			variant,
			rejection: {
				kind: "out-of-disk",
				message: `Twice: ${message}.`
			}
		};
	}
}
async function fingerprint(config) {
	const nftables = await run("nft", ["--version"]);
	return {
		...await machineOf(config),
		"kernel command line": kernelCommandLine("…"),
		nftables: nftables.stdout.trim(),
		"kernel of this machine": release()
	};
}

// src/testbed/virtual/hot-functions.ts
/** Of so many instructions a sample is made, so that a window of 10,000 packets has as many as a sampler would take. */
const instructionsPerSample = 1e3;
const headerBytes = 64;
const slotBytes = 16;
/** Folded stacks of one frame each, as `nf_tables\`nft_do_chain 1234`: what was executed between the two points of time. */
function foldedInstructions({ before, after, symbols }) {
	const functionAt = functionsOf(symbols);
	const byFunction = /* @__PURE__ */ new Map();
	const [earlier, later] = [viewOf(before), viewOf(after)];
	for (let at = headerBytes; at + slotBytes <= later.byteLength; at += slotBytes) {
		const address = later.getBigUint64(at, true);
		const executed = Number(later.getBigUint64(at + 8, true) - earlier.getBigUint64(at + 8, true));
		if (executed <= 0) continue;
		const name = functionAt(address);
		byFunction.set(name, (byFunction.get(name) ?? 0) + executed);
	}
	return `${[...byFunction].flatMap(([name, executed]) => {
		const samples = Math.round(executed / instructionsPerSample);
		return samples > 0 ? `${name} ${samples}` : [];
	}).join("\n")}\n`;
}
const viewOf = ({ buffer, byteOffset, byteLength }) => new DataView(buffer, byteOffset, byteLength);
/** The upper half is the kernel's. */
const firstOfKernel = 1n << 63n;
/** The last symbol of code at or below an address; names are the kernel's own, which nobody has to believe. */
function functionsOf(symbols) {
	const found = [];
	for (const line of symbols.split("\n")) {
		const [, address, name, module] = /^([0-9a-f]{16}) [tTwW] ([^\s;]{1,200})(?:\t\[([\w-]{1,64})\])?$/.exec(line) ?? [];
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

// src/testbed/virtual/profile.ts
/** Counts one window, after another that nothing is made of, in a guest that is up: counting leaves no trace in it. */
async function profile(guests, { cell, variant }, keepLog, signal) {
	if (guests.config.accelerator !== "tcg") return impossible("where the CPU itself executes a guest, nobody counts its instructions");
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
	if (booted === void 0 || counts === void 0) return missed("nothing counted instructions");
	try {
		const laid = await layAll(guests, [booted], cell);
		if (laid?.kind === "lost") return missed(laid.reason);
		if (laid !== void 0) return missed(whyNot(laid.outcome));
		await send(guests, [booted], cell, 1, signal);
		const before = await readFile(counts);
		const sent = await send(guests, [booted], cell, 1, signal);
		const after = await readFile(counts);
		if (sent.kind !== "sent") return missed("packets did not flow while instructions were counted");
		await keepLog("windows.log", sent.log);
		const symbols = await guests.system.symbols(booted);
		const text = foldedInstructions({
			before,
			after,
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

// src/testbed/virtual/windows.ts
const script = readFileSync(new URL("windows.sh", import.meta.url), "utf8");
/** Most that a guest may take for a window: a thousand packets a second, on a machine with much else to do. */
const mostSeconds = 30;
/** Throws the signal's reason where that is aborted. */
async function sendWindows({ wire }, { guests, flows, packets, windows, signal }) {
	const all = guests.map((_, index) => index + 1);
	const rounds = Array.from({ length: windows }, (_, round) => round % 2 === 0 ? all : all.toReversed());
	const described = guests.map(({ interfaces, counts = "-", cpuThread }) => [
		interfaces.sender,
		interfaces.receiver,
		counts,
		cpuThread,
		flows
	].join(","));
	const words = [
		packets,
		mostSeconds,
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
	let said = "";
	sending.stdout?.on("data", (piece) => {
		log += piece.toString();
	});
	sending.stderr?.on("data", (piece) => {
		said = (said + piece.toString()).slice(-4096);
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
			said: lastLine(said) ?? "it said nothing"
		};
	} finally {
		signal.removeEventListener("abort", stop);
	}
}

// src/testbed/virtual/testbed.ts
/** Makes the laboratory on this machine; `restore` takes it down. Throws a LabInUseError while another process has it. */
async function openVirtualTestbed(name, config, traffic, world, labOfGuests = {
	up: virtualLabUp,
	sendWindows
}) {
	const lab = await labOfGuests.up(config);
	const tallies = /* @__PURE__ */ new Map();
	const cpus = guestCpu === 0 ? [guestCpu] : [guestCpu, 0];
	const { flows } = traffic;
	const system = config.system === "linux" ? linuxGuests(name, config, {
		lab,
		tallies,
		cpus,
		world
	}) : freebsdGuests(name, config, {
		lab,
		tallies,
		cpus,
		flows,
		world
	});
	const guests = {
		lab,
		config,
		traffic,
		tallies,
		system,
		running: void 0,
		flowsFor: (cell) => flowsFor(lab, traffic, cell),
		sendWindows: labOfGuests.sendWindows
	};
	return {
		name,
		inspect: system.inspect,
		prepare: system.prepare,
		ready: system.ready,
		blast: (planned, keepLog, signal) => blast(guests, planned, keepLog, signal),
		booted: () => void 0,
		profile: (request, keepLog, signal) => profile(guests, request, keepLog, signal),
		async restore() {
			await stopAll(guests).then(system.close).finally(() => lab.down());
		}
	};
}
/** Guests stand on wires of their own, so that all have the same addresses. */
async function flowsFor(lab, { flows, frameBytes }, cell) {
	const { family } = cell;
	const bytes = frameBytesFor({ frameBytes }, cell);
	const path = join(lab.folder, `${family}.${bytes}.flows`);
	await writeFile(path, trafgenFlows({
		family,
		flows,
		frameBytes: bytes,
		sourceMac: senderMac,
		destinationMac: guestMac.ingress
	}));
	return path;
}

// src/testbed/testbed.ts
/** A testbed that nobody else can use. */
const unshared = (name, open) => ({
	name,
	open,
	signal: new AbortController().signal,
	giveBack: async () => void 0
});

export { blast$2 as blast, bootFor, bootTogether, bounded, connectTo, fencedConnect, fencedWorld, fingerprintOfDut, firewallsTold, freebsdLogNames, inspectDut, isOfImage, layRules, leastMtu, loadedModules, logNames, neededPrograms, openFreebsdMachines, openFreebsdTestbed, openImage, openLinuxTestbed, openVirtualTestbed, ourFolder, ourPrograms, pairsOf, profile$2 as profile, proofOf, raiseFences, readAll, readFreebsdLogs, readLinuxLogs, readVirtualLogs, rulesFolder, settingsContext, shortMtu, siteFirewalls, strayPaths, takeRulesAway, unshared, wakeFreebsdTestbed, windowsLogName };