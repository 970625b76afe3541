import { BuilderError } from "../kernel/first-plain.js";
import { _enum, discriminatedUnion, literal, object } from "../vendor/zod.js";
import { checkFreebsdTestbed, healthOf, ok, skipped, testbedFailed, walk, wrong } from "../lab/check.js";
import { BootMethodError, DutLostError, runningSystem } from "../lab/freebsd/boot/first-plain.js";
import { bootFor, fingerprintOfDut, inspectDut } from "../lab/freebsd/plain.js";
import { installRules, openFreebsdMachines, profile, proofOf, provesScenario, removeRules, trial } from "../lab/freebsd.js";
import { UsageError, formatDuration, formatEstimate, formatPercent, formatPps, lastLine } from "../model/first-plain.js";
import { byMetric, cellName, cellSchema, count, line, list, measured, name, offeredTraffic, ordinal, prose, seconds, shortId, time } from "../model/first.js";
import { HostError, isGood } from "../system/host/first-plain.js";
import { cellsOf, designOf, historyOf, policyOf } from "./experiment/first.js";
import { shell } from "../system/shell.js";
import { gitIn } from "../kernel.js";
import { givenKernel } from "../kernel/first.js";
import { goOn } from "./self-test/plain.js";
import { chiSquaredDistributionTable, mean } from "../vendor/simple-statistics.js";
import { estimateRuns } from "./estimate/first.js";
const { dirname, join } = globalThis.process.getBuiltinModule("node:path");
const { appendFileSync, createWriteStream, readFileSync } = globalThis.process.getBuiltinModule("node:fs");
const { rename } = globalThis.process.getBuiltinModule("node:fs/promises");
const { finished } = globalThis.process.getBuiltinModule("node:stream/promises");

// src/gate/self-test/base-variant.ts
const baseName = "base";
async function readyBase(selfTest, what) {
	const { lab, dut, prepare } = await selfTest.open();
	const { deps, rules, cells } = selfTest;
	const { notify, signal, keepLog, now } = deps;
	const begun = now();
	const base = await baseOf(selfTest, dut.host());
	if (base.kind === "none") return [wrong(what, base.why, base.fix)];
	const { kernel, commit, description } = base;
	selfTest.commit = commit;
	const variants = [{
		variant: baseName,
		commit,
		files: [],
		kernel
	}];
	const sentence = (text) => notify(`${text.charAt(0).toUpperCase()}${text.slice(1)}.`);
	await prepare({
		variants,
		cells,
		rules,
		keepLog,
		notify: sentence,
		signal
	});
	const ready = await lab.prepared?.kernels.get(baseName);
	if (ready?.kind === "rejected") return [wrong(what, ready.rejection.message, "fix that on the builder or in ppsgate.yml")];
	return [ok(what, `${description}, there after ${formatDuration(now() - begun)}`)];
}
async function baseOf(selfTest, dut) {
	const { baseKernel, testbed, directory } = selfTest;
	const given = async (description, path) => {
		return {
			kind: "found",
			description,
			commit: "",
			kernel: await givenKernel(path)
		};
	};
	if (baseKernel !== void 0) return given(baseKernel, baseKernel);
	if (testbed.builder !== void 0) return checkedOut(selfTest, testbed.builder);
	if (testbed.dut.boot.method === "nanobsd") return {
		kind: "none",
		why: "there is no image, and none can be built",
		fix: "supply one with --base-kernel, as for gates"
	};
	const path = join(directory, "own-kernel.tar");
	await fetchOwn(dut, path);
	return given("a copy of the DUT's own", path);
}
async function checkedOut({ deps }, builder) {
	await using host = await deps.connect(builder, "builder");
	const { repository } = builder;
	const commit = (await host.output(gitIn(repository, shell`rev-parse HEAD`))).trim();
	return {
		kind: "found",
		description: `built of ${shortId(commit)}, which ${repository} has checked out`,
		commit,
		kernel: {
			kind: "tree",
			baseCommit: commit
		}
	};
}
async function fetchOwn(dut, path) {
	const folder = dirname((await dut.output(shell`sysctl -n kern.bootfile`)).trim());
	const file = createWriteStream(`${path}.part`);
	await dut.run(shell`tar -c -f - -C ${folder} .`, { onStdout: (chunk) => void file.write(chunk) });
	file.end();
	await finished(file);
	await rename(`${path}.part`, path);
}
/** Plans one run in its own boot; `boot` identifies the boot. */
function plannedFor(cell, boot, number) {
	const run = {
		number,
		variant: baseName,
		pair: boot
	};
	return {
		number,
		cell,
		runs: [run],
		run
	};
}
/** Boots base, unless it has run since that boot. Returns the obstacle, if any. */
async function bootBase({ open, cells, deps }, boot) {
	const { lab } = await open();
	const [cell] = cells;
	const kernel = await lab.prepared?.kernels.get(baseName);
	if (cell === void 0 || kernel === void 0 || kernel.kind === "rejected") return "there is no kernel to boot";
	deps.signal.throwIfAborted();
	const planned = plannedFor(cell, boot, boot);
	const outcome = await bootFor(lab.boots, planned, planned.run, kernel);
	return outcome.kind === "ready" ? void 0 : whyNot(outcome);
}
/** Names the log folder of a cell: `forwarding-inet4`. */
const folderOf = (cell) => cellName(cell).replace(/[^\w.-]+/g, "-");
function whyNot(outcome) {
	if (outcome.kind === "rejected") return outcome.rejection.message;
	return outcome.kind === "failed" ? outcome.reason : "the DUT received packets, but forwarded none";
}

// src/gate/self-test/accidents.ts
const notAgreed = "not approved: answer the question with y, or add --yes";
/** Panics with the sysctl from sys/kern/subr_kdb.c. */
async function panic(selfTest, what) {
	const { deps, name, testbed } = selfTest;
	const question = `Make the DUT of ${name} panic, and check that it comes back?`;
	if (!await deps.agrees(question)) return [skipped(what, notAgreed)];
	const happened = await accident(selfTest, panicNow);
	if (happened.kind === "did-not") return [wrong(what, happened.why, happened.fix)];
	const { seconds, cycles, panic: message } = happened;
	const durations = formatDuration(seconds);
	if (cycles > 0) {
		const limit = formatDuration(testbed.dut.boot.limitSeconds);
		return [wrong(what, `it did not reboot automatically within ${limit}, and was power-cycled: a panic would be reported as a hang`, "set debug.debugger_on_panic=0 in its /etc/sysctl.conf and /boot/loader.conf, and raise `boot.limit` if a dump takes longer")];
	}
	if (message === void 0) return [wrong(what, `on its own kernel again after ${durations}, but its panic message is unknown`, "set dumpdev=\"AUTO\" in its /etc/rc.conf, with a swap partition as large as a dump")];
	return [ok(what, `on its own kernel again after ${durations}, with the panic message: ${message}`)];
}
/** Hangs the DUT in the kernel debugger if it has one; otherwise blocks every login. */
async function hang(selfTest, what) {
	const { deps, name, testbed } = selfTest;
	if (testbed.dut.power === void 0) return [skipped(what, "`power` is not configured: a DUT that hangs stays lost until a person walks to it")];
	const question = `Make the DUT of ${name} hang, and check that power control recovers it? It takes ${formatDuration(testbed.dut.boot.limitSeconds)} and a boot.`;
	if (!await deps.agrees(question)) return [skipped(what, notAgreed)];
	const happened = await accident(selfTest, hangNow);
	if (happened.kind === "did-not") return [wrong(what, happened.why, happened.fix)];
	const durations = formatDuration(happened.seconds);
	if (happened.cycles === 0) return [wrong(what, `it came back after ${durations} without its power control`, "find out what rebooted it: a watchdog that is faster than a trial also ends good runs")];
	return [ok(what, `${happened.how}; power-cycled, and on its own kernel again after ${durations}`)];
}
/** Boots our kernel for the accident, so that the next boot is the machine's own. */
async function accident(selfTest, cause) {
	const { deps } = selfTest;
	const trouble = await bootBase(selfTest, 2);
	if (trouble !== void 0) return {
		kind: "did-not",
		why: trouble,
		fix: goOn
	};
	const { lab, dut } = await selfTest.open();
	lab.boots.booted = void 0;
	const [begun, cyclesBefore] = [deps.now(), lab.cycles.done];
	const caused = await cause(dut.host());
	if ("why" in caused) return {
		kind: "did-not",
		why: caused.why,
		fix: "check its kernel messages with `dmesg -a`"
	};
	const { how } = caused;
	deps.notify(`It ${how}. Waiting until it runs its own kernel again.`);
	const { panic } = await dut.recover();
	const cycles = lab.cycles.done - cyclesBefore;
	return {
		kind: "happened",
		how,
		seconds: deps.now() - begun,
		cycles,
		panic
	};
}
const panicNow = async (host) => {
	const outcome = await survived(host, shell`sysctl debug.kdb.panic=1`);
	if (outcome === void 0) return { how: "panicked" };
	return { why: `it did not panic: ${lastLineOf(outcome)}` };
};
const hangNow = async (host) => {
	const { stdout: backend } = await host.run(shell`sysctl -n debug.kdb.current`, answers);
	if (backend.trim() !== "") {
		const outcome = await survived(host, shell`sysctl debug.kdb.enter=1`);
		if (outcome === void 0) return { how: "stopped in its debugger" };
		return { why: `it did not stop: ${lastLineOf(outcome)}` };
	}
	const outcome = await survived(host, shell`pkill -STOP -a -x sshd`);
	if (outcome !== void 0 && !isGood(outcome)) return { why: `its sshd did not stop: ${lastLineOf(outcome)}` };
	await host.close();
	return { how: "blocked all logins, with its sshd stopped" };
};
const answers = { timeoutSeconds: 30 };
/** Returns the command's outcome, or undefined if the machine died first. */
async function survived(host, command) {
	try {
		return await host.run(command, answers);
	} catch (error) {
		if (error instanceof HostError && error.kind !== "command-failed") return void 0;
		throw error;
	}
}
const lastLineOf = ({ stdout, stderr }) => lastLine(stderr) ?? lastLine(stdout) ?? "it said nothing";

// src/gate/self-test/self-test-journal.ts
const runSchema = object({
	cell: cellSchema,
	/** Counted from 1. */
	boot: ordinal,
	pps: measured,
	trialSeconds: seconds
});
const entrySchema = discriminatedUnion("kind", [
	object({
		kind: literal("begun"),
		testbed: name,
		at: time
	}),
	object({
		kind: literal("well"),
		step: name,
		diagnostics: list(object({
			kind: _enum(["ok", "skipped"]),
			what: line,
			why: prose()
		}))
	}),
	object({
		kind: literal("booted"),
		boot: count,
		seconds
	}),
	object({
		kind: literal("run"),
		run: runSchema
	})
]);
const journalIn = (directory) => join(directory, "self-test.jsonl");
function beginJournal(directory, testbed, now) {
	const at = now.toISOString();
	return journalOf(directory, [], at, {
		kind: "begun",
		testbed,
		at
	});
}
/** Resumes a journal. Throws a UsageError if the directory has none of that testbed. */
function resumeJournal(directory, testbed) {
	const entries = readEntries(directory);
	const [begun] = entries;
	if (begun?.kind === "begun" && begun.testbed === testbed) return journalOf(directory, entries, begun.at);
	const whose = begun?.kind === "begun" ? `one of ${begun.testbed}` : "none";
	throw new UsageError(`--resume: expected the directory of a self-test of ${testbed}, found ${whose} in ${directory}.`);
}
/** Stops at a line that a kill truncated. */
function readEntries(directory) {
	const entries = [];
	for (const line of textIn(directory).split("\n")) {
		const entry = entrySchema.safeParse(parsedOrNot(line));
		if (entry.success) entries.push(entry.data);
	}
	return entries;
}
function textIn(directory) {
	try {
		return readFileSync(journalIn(directory), "utf8");
	} catch {
		return "";
	}
}
function parsedOrNot(line) {
	try {
		return JSON.parse(line);
	} catch {
		return;
	}
}
function journalOf(directory, before, at, first) {
	const entries = [...before];
	const keep = (entry) => {
		entries.push(entry);
		appendFileSync(journalIn(directory), `\n${JSON.stringify(entry)}\n`, { flush: true });
	};
	if (first !== void 0) keep(first);
	return {
		at,
		lines: () => entries.map((entry) => JSON.stringify(entry)),
		remembered(step) {
			const found = entries.find((entry) => entry.kind === "well" && entry.step === step.what);
			if (found?.kind === "well") return {
				...step,
				run: async () => found.diagnostics
			};
			return {
				...step,
				run: (what) => kept(step, what, keep)
			};
		},
		runs: () => {
			const runs = entries.flatMap((entry) => entry.kind === "run" ? [entry.run] : []);
			return [...new Map(runs.map((run) => [`${cellName(run.cell)} ${run.boot}`, run])).values()];
		},
		keepRun: (run) => keep({
			kind: "run",
			run
		}),
		bootSeconds: () => entries.flatMap((entry) => entry.kind === "booted" ? [entry.seconds] : []),
		keepBoot: (boot, seconds) => keep({
			kind: "booted",
			boot,
			seconds
		})
	};
}
/** Skipped steps run again. */
async function* kept({ run }, what, keep) {
	const diagnostics = [];
	let isWell = true;
	for await (const diagnostic of await run(what)) {
		yield diagnostic;
		if (diagnostic.kind === "wrong") isWell = false;
		else diagnostics.push(diagnostic);
	}
	if (isWell && diagnostics.some(({ kind }) => kind === "ok")) keep({
		kind: "well",
		step: what,
		diagnostics
	});
}
const runsOf = (runs, cell) => runs.filter((run) => cellName(run.cell) === cellName(cell));

// src/gate/self-test/noise.ts
/** Minimum for a useful spread, see `estimateRuns`. */
const degreesOfFreedom = 5;
const boots = 6;
/** Runs six times: a boot, and one trial of each cell. */
async function* measureNoise(selfTest) {
	const { cells, deps, journal } = selfTest;
	for (let boot = 1; boot <= boots; boot += 1) {
		deps.signal.throwIfAborted();
		const missing = cells.filter((cell) => !runsOf(journal.runs(), cell).some((run) => run.boot === boot));
		if (missing.length === 0) continue;
		deps.notify(`Boot ${boot} of ${boots} of the same kernel, for the noise.`);
		const begun = deps.now();
		const trouble = await bootBase(selfTest, bootNumber(boot));
		if (trouble !== void 0) {
			yield wrong("the noise of the lab", trouble, goOn);
			return;
		}
		journal.keepBoot(boot, deps.now() - begun);
		for (const cell of missing) {
			const failure = await measure(selfTest, cell, boot);
			if (failure === void 0) continue;
			yield wrong(`the noise of ${cellName(cell)}`, failure, goOn);
			return;
		}
	}
	if (selfTest.commit !== "") await deps.history.append(historyOfSelfTest(selfTest));
	yield* judged(selfTest);
}
/** Maps to boot numbers of `bootBase` that earlier steps have not used. */
const bootNumber = (boot) => 10 + boot;
const maxTries$1 = 3;
/** Returns the reason if no run counts. */
async function measure(selfTest, cell, boot) {
	const { deps, cells, journal } = selfTest;
	const { lab } = await selfTest.open();
	let failure = "";
	for (let attempt = 1; attempt <= maxTries$1; attempt += 1) {
		deps.signal.throwIfAborted();
		const trouble = await bootBase(selfTest, bootNumber(boot));
		if (trouble !== void 0) return trouble;
		const begun = deps.now();
		const number = boot * cells.length + cells.indexOf(cell) + 1;
		const planned = plannedFor(cell, bootNumber(boot), number);
		const folder = `noise/${folderOf(cell)}-${boot}.${attempt}`;
		const keepLog = (name, text) => deps.keepLog(`${folder}/${name}`, text);
		const outcome = await trial(lab, planned, keepLog, deps.signal);
		const run = outcome.kind === "measured" ? outcome.runs[0] : void 0;
		if (run?.validity.kind === "valid" && run.pps > 0) {
			const trialSeconds = deps.now() - begun;
			journal.keepRun({
				cell,
				boot,
				pps: run.pps,
				trialSeconds
			});
			deps.notify(`${cellName(cell)}: ${formatPps(run.pps)}.`);
			return;
		}
		failure = run?.validity.kind === "invalid" ? run.validity.reason : whyNot(outcome);
	}
	return failure;
}
function* judged(selfTest) {
	const { config, cells } = selfTest;
	const policy = policyOf(config);
	const estimates = cells.flatMap((cell) => {
		const known = historyOf(historyOfSelfTest(selfTest), {
			testbed: selfTest.name,
			cell,
			traffic: config.traffic,
			metric: "pps"
		});
		const design = designOf(config, 2);
		const expected = estimateRuns({
			design,
			history: known
		}, policy, cells.length);
		return expected.basis === "history" ? [{
			cell,
			expected,
			typical: known?.typical ?? 0
		}] : [];
	});
	for (const { cell, expected, typical } of estimates) {
		const what = `the noise of ${cellName(cell)}`;
		const { noiseRatio = 0, reachableMarginRatio = 0 } = expected;
		const [least, most] = intervalOf(noiseRatio).map(formatPercent);
		const found = `${formatPps(typical)}, and boots differ by ${formatPercent(noiseRatio)} (90 % of such measurements: ${least} to ${most}); a loss of ${formatPercent(reachableMarginRatio)} is found with the required power`;
		const margin = formatPercent(policy.marginRatio);
		yield reachableMarginRatio <= policy.marginRatio ? ok(what, `${found}, and ${margin} matters`) : wrong(what, `${found}, and ${margin} is to be`, `raise \`gate.margin\` to ${formatPercent(roundedUp(reachableMarginRatio))}, or find the source of the noise: docs/how-to/lab.md, "Find what disturbs the lab"`);
	}
	yield ok("a gate of these cells", durationsText(selfTest, estimates));
}
/** The slowest cell determines the number of boots, as one boot serves all cells. */
function durationsText({ journal, config }, estimates) {
	const bootSeconds = mean(journal.bootSeconds());
	const secondsFor = (runs) => estimates.reduce((sum, { cell, expected }) => sum + expected[runs] * mean(runsOf(journal.runs(), cell).map((run) => run.trialSeconds)), bootSeconds * Math.max(...estimates.map(({ expected }) => expected[runs])));
	const lost = formatPercent(policyOf(config).marginRatio);
	return `${formatEstimate(secondsFor("runsIfUnchanged"))} if nothing has changed, ${formatEstimate(secondsFor("runsIfLost"))} if ${lost} is lost, plus the builds; a boot takes ${formatEstimate(bootSeconds)}`;
}
/** History for the first gates: base was measured as they would measure it. */
function historyOfSelfTest({ name, config, cells, commit, journal }) {
	const traffic = offeredTraffic(config.traffic);
	const durations = {
		bootSeconds: mean(journal.bootSeconds()),
		trialSeconds: mean(journal.runs().map((run) => run.trialSeconds))
	};
	return cells.flatMap((cell) => {
		const pps = runsOf(journal.runs(), cell).map((run) => run.pps);
		if (pps.length === 0) return [];
		return [{
			at: journal.at,
			testbed: name,
			kind: "freebsd",
			cell,
			traffic,
			commit,
			...byMetric(() => []),
			pps,
			moved: false,
			durations
		}];
	});
}
/** Chi-squared interval of a standard deviation. */
function intervalOf(ratio) {
	const { "0.05": high, "0.95": low } = chiSquaredDistributionTable[degreesOfFreedom];
	return [ratio * Math.sqrt(degreesOfFreedom / high), ratio * Math.sqrt(degreesOfFreedom / low)];
}
const roundedUp = (ratio) => Math.ceil(ratio * 200) / 200;

// src/gate/self-test/self-test.ts
/**
* Yields each diagnostic as it is made; repeats those that passed in an earlier process from the journal. Always undoes
* its changes. Throws the signal's reason, and errors that no machine caused.
*/
async function* runSelfTest(request, deps) {
	let opened;
	let isLost = false;
	const selfTest = {
		...request,
		deps,
		cells: cellsOf(request.config),
		commit: "",
		async open() {
			if (opened !== void 0) return opened;
			const { name, testbed, config } = request;
			opened = await openFreebsdMachines(name, testbed, config.traffic, deps);
			await inspectDut(opened.lab.boots, config.families);
			await fingerprintOfDut(opened.lab.boots);
			return opened;
		}
	};
	const wayBack = {
		what: "the way back",
		needs: [],
		async *run(what) {
			const machines = opened;
			opened = void 0;
			yield* goBack(selfTest, machines, what);
		}
	};
	const failed = (what, error) => {
		if (error instanceof BootMethodError || error instanceof BuilderError) return wrong(what, error.message, goOn);
		if (!(error instanceof DutLostError)) return testbedFailed(what, error);
		isLost = true;
		return wrong(what, error.message, "check its console, and boot its own kernel");
	};
	const steps = stepsOf(selfTest).map((step) => {
		const { what, run } = step;
		return {
			...step,
			async *run() {
				if (isLost) yield skipped(what, "skipped because the DUT is lost");
				else yield* recovered(what, run, opened);
			}
		};
	});
	try {
		yield* walk([...steps, wayBack], {
			signal: deps.signal,
			failed
		});
	} finally {
		await opened?.restore();
	}
}
/** Fails a step that loses a machine; the next step recovers it. */
async function* recovered(what, run, machines) {
	try {
		yield* await run(what);
	} catch (error) {
		if (!(error instanceof HostError) || machines === void 0) throw error;
		machines.lab.boots.booted = void 0;
		const { panic: message } = await machines.dut.recover();
		if (message === void 0) throw error;
		yield wrong(what, `the DUT panicked: ${message}`, goOn);
	}
}
const steps = {
	check: "the check",
	kernel: "the kernel of base",
	boot: "a boot of that kernel",
	again: "a second boot of that kernel",
	home: "the boot after that"
};
function stepsOf(selfTest) {
	const { skip, cells, journal } = selfTest;
	const { scenarios } = selfTest.config;
	const has = (part) => !skip.has(part);
	const first = has("check") ? [steps.check] : [];
	const booted = [
		...first,
		steps.kernel,
		steps.boot
	];
	const remembered = (step) => journal.remembered(step);
	return [
		...has("check") ? [remembered({
			what: steps.check,
			needs: [],
			run: () => check(selfTest)
		})] : [],
		{
			what: steps.kernel,
			needs: first,
			run: (what) => readyBase(selfTest, what)
		},
		remembered({
			what: steps.boot,
			needs: [...first, steps.kernel],
			run: (what) => bootOnce(selfTest, 1, what)
		}),
		...(has("scenarios") ? scenarios : []).map((scenario) => remembered({
			what: `the rules of ${scenario}`,
			needs: booted,
			run: (what) => installAndRemove(selfTest, scenario, what)
		})),
		...(has("trials") ? cells : []).map((cell) => remembered({
			what: `${shortSeconds} s of ${cellName(cell)}`,
			needs: booted,
			run: (what) => shortTrial(selfTest, cell, what)
		})),
		...has("profile") ? [remembered({
			what: "a profile",
			needs: booted,
			run: (what) => sample(selfTest, what)
		})] : [],
		remembered({
			what: steps.again,
			needs: booted,
			run: (what) => bootOnce(selfTest, 2, what)
		}),
		remembered({
			what: steps.home,
			needs: booted,
			run: (what) => bootHome(selfTest, what)
		}),
		...has("panic") ? [remembered({
			what: "a panic",
			needs: booted,
			run: (what) => panic(selfTest, what)
		})] : [],
		...has("hang") ? [remembered({
			what: "a hang",
			needs: booted,
			run: (what) => hang(selfTest, what)
		})] : [],
		...has("noise") ? [remembered({
			what: "the noise of the lab",
			needs: booted,
			run: () => measureNoise(selfTest)
		})] : []
	];
}
const check = ({ name, testbed, config, skip, deps }) => {
	const { families, traffic, frameSizes } = config;
	const what = {
		name,
		testbed,
		families,
		traffic,
		...frameSizes && { frameSizes }
	};
	return checkFreebsdTestbed({
		...what,
		sends: !skip.has("trials"),
		cycles: false
	}, deps);
};
async function bootOnce(selfTest, boot, what) {
	const { deps, testbed } = selfTest;
	deps.notify(`Booting it by ${testbed.dut.boot.method}: it takes a few minutes to come up again.`);
	const begun = deps.now();
	const trouble = await bootBase(selfTest, boot);
	if (trouble !== void 0) return [wrong(what, trouble, goOn)];
	const { dut, lab } = await selfTest.open();
	const { root, kernel } = await runningSystem(dut.host());
	const durations = formatDuration(deps.now() - begun);
	return [ok(what, `${kernel} of ${root} after ${durations}, ${lab.boots.booted?.kernel ?? ""}`)];
}
async function installAndRemove(selfTest, scenario, what) {
	const trouble = await bootBase(selfTest, 1);
	if (trouble !== void 0) return [wrong(what, trouble, goOn)];
	const host = (await selfTest.open()).dut.host();
	const refusal = await installRules(host, scenario, selfTest.rules);
	await removeRules(host);
	if (refusal !== void 0) return [wrong(what, refusal, "build the kernel and its modules with that firewall")];
	const left = provesScenario("forwarding", await proofOf(host), { own: selfTest.rules });
	if (left.kind === "in-force") return [ok(what, "active, and removed again")];
	return [wrong(what, `a part of it remains: ${left.reason}`, "reboot the DUT, and check it there")];
}
/** A receiver's rates must be steady for ten seconds. */
const shortSeconds = 10;
async function shortTrial(selfTest, cell, what) {
	const { lab } = await selfTest.open();
	const { deps, config } = selfTest;
	deps.notify(`Sending ${cellName(cell)} for ${shortSeconds} s.`);
	const traffic = {
		...config.traffic,
		measureSeconds: shortSeconds + secondsToRise,
		measureAtLeastSeconds: shortSeconds + secondsToRise
	};
	const planned = plannedFor(cell, 1, selfTest.cells.indexOf(cell) + 1);
	const keepLog = (name, text) => deps.keepLog(`short/${folderOf(cell)}/${name}`, text);
	return [trialDiagnostic(await trial({
		...lab,
		traffic
	}, planned, keepLog, deps.signal), what)];
}
/** Seconds at each end of a trial with partial rates. */
const secondsToRise = 5;
function trialDiagnostic(outcome, what) {
	if (outcome.kind !== "measured") return wrong(what, whyNot(outcome), goOn);
	const [run] = outcome.runs;
	if (run === void 0) return wrong(what, "nothing was measured", goOn);
	const { validity, pps } = run;
	if (validity.kind === "invalid") return wrong(what, validity.reason, goOn);
	if (pps === 0) return wrong(what, whyNot(outcome), goOn);
	return ok(what, `${formatPps(pps)} of ${formatPps(outcome.summary.offeredPps)} offered`);
}
const maxTries = 2;
async function sample(selfTest, what) {
	const { config, cells, deps } = selfTest;
	const [cell] = cells;
	if (cell === void 0 || config.profile === void 0) return [skipped(what, "`profile` is switched off in ppsgate.yml")];
	const trouble = await bootBase(selfTest, 1);
	if (trouble !== void 0) return [wrong(what, trouble, goOn)];
	const { lab } = await selfTest.open();
	const { seconds, event } = config.profile;
	deps.notify(`Sampling ${cellName(cell)} for ${seconds} s.`);
	let reason = "";
	for (let attempt = 1; attempt <= maxTries; attempt += 1) {
		const request = {
			cell,
			variant: baseName,
			seconds,
			event,
			attempt
		};
		const keepLog = (name, text) => deps.keepLog(`profile-${attempt}/${name}`, text);
		const outcome = await profile(lab, request, keepLog, deps.signal);
		if (outcome.kind === "profiled") {
			const { event: sampled, busySamples } = outcome;
			return [ok(what, `${busySamples} busy samples of ${sampled}`)];
		}
		({reason} = outcome);
		if (outcome.kind === "impossible") break;
	}
	return [wrong(what, reason, "see docs/how-to/profiles.md, or set `profile: { enabled: false }`")];
}
async function bootHome(selfTest, what) {
	const trouble = await bootBase(selfTest, 2);
	if (trouble !== void 0) return [wrong(what, trouble, goOn)];
	const { dut, lab } = await selfTest.open();
	const { deps, testbed } = selfTest;
	const { method } = testbed.dut.boot;
	deps.notify("Rebooting it once more: its own kernel must come up.");
	lab.boots.booted = void 0;
	const outcome = await (method === "nanobsd" ? dut.boot(void 0) : dut.rebootUnordered());
	if (outcome.kind === "boot-failed") {
		const fix = `choose another \`boot.method\` than ${method}: a patch that panics would boot again and again`;
		return [wrong(what, outcome.reason, fix)];
	}
	const home = await runningSystem(dut.host());
	const byItself = method === "nanobsd" ? "" : " automatically";
	return [ok(what, `${home.kernel} of ${home.root} came up${byItself}`)];
}
async function* goBack({ testbed, deps }, machines, what) {
	if (machines === void 0) {
		yield skipped(what, "nothing was begun");
		return;
	}
	deps.notify("Restoring the original state.");
	await machines.restore();
	const faults = (await Array.fromAsync(healthOf(testbed, deps))).filter(({ kind }) => kind === "wrong");
	if (faults.length > 0) {
		yield* faults;
		return;
	}
	yield ok(what, "its own kernel; no rules, files or programs of ppsgate");
}

export { beginJournal, resumeJournal, runSelfTest };