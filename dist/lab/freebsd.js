import { flowRanges, flowSlices, formatPercent, isJudged, lastLine, layoutName, netmapPort, pathName, withoutKernelFacts } from "../model.js";
import { number, object } from "../vendor/zod.js";
import { frameBytesFor } from "../config.js";
import { BuilderError, buildVariant, fetchKernel, noSums } from "../kernel.js";
import { impossible, judgeProfile, missed } from "./netns.js";
import { HostError, commandText, ownFolder, requirePrograms, shell, stdoutOf, thisMachine } from "../system/host.js";
import { ConsoleRecorder, describeScreen } from "./console.js";
import { DutLostError, FreebsdDut, arrivedBetween, busyShare, checkSettings, collectSamples, countersCommands, countersLog, cpuTimesCommand, differences, endSampling, fingerprintCommands, fingerprintOf, flashed, hasBootedSinceMark, interruptsCommand, loadedModules, markBoot, parseCpuTimes, parseIfconfig, pathSettings, problemOf, readsOf, readySampling, sentBetween, sentWithin, settingsCommands, waived, wakeFreebsdDut, windowCommand } from "./freebsd/dut.js";
import { isToBlame, lacksControl, tallyOf } from "../lab.js";
import { areOpen, closePorts, openPorts, parsePktGenLog, pktGenRun, secondsFor, trialThrough } from "./traffic.js";
import { join } from "node:path";
import { createReadStream, rmSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { createHash } from "node:crypto";
import { mkdtemp, open, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { pipeline } from "node:stream/promises";

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
/** The current boot, where it can carry such a run; undefined where the DUT has to boot for it. */
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

// src/lab/freebsd/freebsd-deps.ts
/** Only a command that a kernel has locked up takes longer. */
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
	const measured = pktGenRun(log, senders.map(parsePktGenLog), {
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
	return {
		kind: "measured",
		runs: runs.map((run) => ({
			...run,
			trial: number,
			pps: measured.medianPps,
			samples: [],
			validity: starved(summary.starvation) ?? measured.validity
		})),
		summary: {
			number,
			cell,
			startedAt,
			trafficSeconds: seconds,
			offeredPps: measured.offeredPps ?? 0,
			...summary
		}
	};
}
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
/** Throws where a machine does not come back, or machines are lost again and again. */
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
	return notInForce(`${required.firewall} has made ${states} of the ${trial.flows} states that the flows need`);
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

// src/lab/freebsd/sample-under-load.ts
/** Time from the order to send until packets flow; as much remains after the window. */
const spareSeconds = 6;
/** The DUT must send this share of the received rate while samples are taken. */
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
	if (hasNoSample(text)) return impossible(`the DUT gave no sample of ${event} under load, as many virtual machines cannot: name another one of \`pmccontrol -L\` as \`profile.event\`, or leave \`profile\` out`);
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
/** The machine that waited longest for its host, where that spoils a trial; takes outputs by the machines' names. */
function starvationBetween(before, after) {
	const [worst] = [...after].map(([machine, outputs]) => ({
		machine,
		deniedRatio: deniedRatio(before.get(machine) ?? /* @__PURE__ */ new Map(), outputs) ?? 0
	})).sort((a, b) => b.deniedRatio - a.deniedRatio);
	return worst !== void 0 && worst.deniedRatio >= leastDeniedRatio ? worst : void 0;
}
/** Guests beside nothing else reach 0.14. */
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
	const [proofs, readAfter] = await Promise.all([proofOf(dut.host()), readMachines()]);
	const [before = /* @__PURE__ */ new Map(), after = /* @__PURE__ */ new Map()] = [readBefore, readAfter].map((read) => read.get(roleOf(dut.host())));
	const starvation = starvationBetween(readBefore, readAfter);
	await keepLog(freebsdLogNames.counters, countersLog(before, after));
	const busy = busyShare(before, after);
	const { ingress, egress } = boots.config.dut;
	const egressPackets = sentBetween(before, after, egress.interface);
	const ingressPackets = arrivedBetween(before, after, ingress.interface);
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
			...starvation !== void 0 && { starvation }
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
	if (kernel.kind === "rejected") return impossible(kernel.rejection.message);
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
/** Undefined where the MTU suffices; `is` completes the name of the port. */
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
/** Counts power cycles, and ends the recorded boot at each; a console that ends with it goes on. */
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
/** Call while the DUT runs its own kernel. Returns undefined where only kernels that are built already can be measured. */
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

// src/lab/freebsd/rule-drops.ts
/** Called after packets, while the rules are in force; returns a phrase that continues "dropped by". */
async function droppedByRules(host) {
	const [pf, ipfw] = await Promise.all([host.run(shell`pfctl -vvsr`), host.run(shell`ipfw -a list`)]);
	const [first] = [...pfDrops(pf.stdout), ...ipfwDrops(ipfw.stdout)].toSorted((one, other) => other.packets - one.packets);
	return first && `the rule "${first.rule}" of ${first.firewall}, which counted ${first.packets} packets`;
}
/** Reads `pfctl -vvsr`: each rule after its number, and its counters on the next line. */
function pfDrops(text) {
	return [...text.matchAll(/^@\d{1,10}(?:\(\d{1,10}\))? (block .{1,300}).*\n\s+\[ Evaluations: \d+\s+Packets: (\d{1,15})\s/gm)].flatMap(([, rule = "", packets]) => Number(packets) > 0 ? [{
		firewall: "pf",
		rule: rule.trim(),
		packets: Number(packets)
	}] : []);
}
/** Reads `ipfw -a list`: number, packets, bytes and rule. */
function ipfwDrops(text) {
	return [...text.matchAll(/^(\d{5})\s+(\d{1,15})\s+\d{1,20}\s+((?:deny|drop|reject|reset6?|unreach6?|abort6?) .{1,300}).*$/gm)].flatMap(([, number, packets, rule = ""]) => Number(packets) > 0 ? [{
		firewall: "ipfw",
		rule: `${number} ${rule.trim()}`,
		packets: Number(packets)
	}] : []);
}

export { Kernels, afterBootFailure, bootFor, bootsOf, bounded, builderFor, droppedByRules, failed, fingerprintOfDut, firewallWarnings, firewallsOn, freebsdLogNames, inspectDut, installRules, leastMtu, onceSettled, openFreebsdMachines, openFreebsdTestbed, pathProblem, pathProblems, profile, proofOf, provesScenario, readAll, readFreebsdLogs, rejected, removalCommands, removeRules, rulesFolder, setListed, settingsContext, settingsThatFail, shortMtu, siteFirewalls, trial, wakeFreebsdTestbed };