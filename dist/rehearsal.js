import { BuilderError, gitIn, givenKernel } from "./build.js";
import { _enum, array, datetime, discriminatedUnion, int, literal, number$1 as number, object, string } from "./vendor/zod.js";
import { checkFreebsdTestbed, healthOf, isGood, ok, skipped, testbedFailed, walk, wrong } from "./checkup.js";
import { BootMethodError, DutLostError, runningSystem } from "./dut.js";
import { cellsOf, designOf, historyOf, policyOf } from "./experiment.js";
import { HostError, shell } from "./host.js";
import { provesScenario } from "./scenario.js";
import { blast, bootFor, fingerprintOfDut, inspectDut, layRules, openFreebsdMachines, profile, proofOf, takeRulesAway } from "./testbed.js";
import { UsageError, byMetric, cellName, cellSchema, expectedly, formatDuration, formatPercent, formatPps, lastLine, shortId } from "./words.js";
import { chiSquaredDistributionTable, mean } from "./vendor/simple-statistics.js";
import { forecast } from "./stats.js";
import { dirname, join } from "node:path";
import { appendFileSync, createWriteStream, readFileSync } from "node:fs";
import { rename } from "node:fs/promises";
import { finished } from "node:stream/promises";

// src/rehearsal/request.ts
/** What can be left out. */
const rehearsalParts = [
	"check",
	"scenarios",
	"blasts",
	"profile",
	"panic",
	"hang",
	"noise"
];
/** What mends most of what goes wrong. */
const goOn = "mend that, and go on with --resume";

// src/rehearsal/base.ts
const baseName = "base";
/** Has it built or fetched, and waits until it is there. */
async function readyBase(rehearsal, what) {
	const { lab, dut, prepare } = await rehearsal.open();
	const { world, rules, cells } = rehearsal;
	const { tell, signal, keepLog, now } = world;
	const begun = now();
	const base = await baseOf(rehearsal, dut.host());
	if (base.kind === "none") return [wrong(what, base.why, base.mend)];
	const { kernel, commit, says } = base;
	rehearsal.commit = commit;
	const variants = [{
		variant: baseName,
		commit,
		files: [],
		kernel
	}];
	const sentence = (text) => tell(`${text.charAt(0).toUpperCase()}${text.slice(1)}.`);
	await prepare({
		variants,
		cells,
		rules,
		keepLog,
		tell: sentence,
		signal
	});
	const ready = await lab.prepared?.kernels.get(baseName);
	if (ready?.kind === "rejected") return [wrong(what, ready.rejection.message, "mend that on the builder, or in ppsgate.yml")];
	return [ok(what, `${says}, there after ${formatDuration(now() - begun)}`)];
}
async function baseOf(rehearsal, dut) {
	const { baseKernel, testbed, directory } = rehearsal;
	const given = async (says, path) => {
		return {
			kind: "found",
			says,
			commit: "",
			kernel: await givenKernel(path)
		};
	};
	if (baseKernel !== void 0) return given(baseKernel, baseKernel);
	if (testbed.builder !== void 0) return checkedOut(rehearsal, testbed.builder);
	if (testbed.dut.boot.method === "nanobsd") return {
		kind: "none",
		why: "there is no image, and none can be built",
		mend: "bring one with --base-kernel, as gates need it"
	};
	const path = join(directory, "own-kernel.tar");
	await fetchOwn(dut, path);
	return given("a copy of the DUT's own", path);
}
/** What the builder's clone has checked out. */
async function checkedOut({ world }, builder) {
	await using host = await world.connect(builder, "builder");
	const { repository } = builder;
	const commit = (await host.output(gitIn(repository, shell`rev-parse HEAD`))).trim();
	return {
		kind: "found",
		says: `built of ${shortId(commit)}, which ${repository} has checked out`,
		commit,
		kernel: {
			kind: "tree",
			baseCommit: commit
		}
	};
}
/** The folder of the kernel that runs, with its modules. */
async function fetchOwn(dut, path) {
	const folder = dirname((await dut.output(shell`sysctl -n kern.bootfile`)).trim());
	const file = createWriteStream(`${path}.part`);
	await dut.run(shell`tar -c -f - -C ${folder} .`, { onStdout: (chunk) => void file.write(chunk) });
	file.end();
	await finished(file);
	await rename(`${path}.part`, path);
}
/** One run in a boot of its own; `boot` tells the boots apart. */
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
/** Boots base unless it runs since that very boot; answers what kept it from that. */
async function bootBase({ open, cells, world }, boot) {
	const { lab } = await open();
	const [cell] = cells;
	const kernel = await lab.prepared?.kernels.get(baseName);
	if (cell === void 0 || kernel === void 0 || kernel.kind === "rejected") return "there is no kernel to boot";
	world.signal.throwIfAborted();
	const planned = plannedFor(cell, boot, boot);
	const outcome = await bootFor(lab.boots, planned, planned.run, kernel);
	return outcome.kind === "ready" ? void 0 : whyNot(outcome);
}
/** Name of the folder for the logs of a cell: `forwarding-inet4`. */
const folderOf = (cell) => cellName(cell).replace(/[^\w.-]+/g, "-");
function whyNot(outcome) {
	if (outcome.kind === "rejected") return outcome.rejection.message;
	return outcome.kind === "failed" ? outcome.reason : "packets came to the DUT, and it forwarded none";
}

// src/rehearsal/accidents.ts
const notAgreed = "nobody agreed to it: answer the question with y, or give --yes";
/** A panic by the sysctl that is there for it: see sys/kern/subr_kdb.c. */
async function panic(rehearsal, what) {
	const { world, name, testbed } = rehearsal;
	const question = `Make the DUT of ${name} panic, and see that it comes back?`;
	if (!await world.agrees(question)) return [skipped(what, notAgreed)];
	const happened = await accident(rehearsal, panicNow);
	if (happened.kind === "did-not") return [wrong(what, happened.why, happened.mend)];
	const { seconds, cycles, panic: message } = happened;
	const took = formatDuration(seconds);
	if (cycles > 0) {
		const limit = formatDuration(testbed.dut.boot.limitSeconds);
		return [wrong(what, `it did not reboot by itself within ${limit}, and was power-cycled: a panic would be told as a hang`, "set debug.debugger_on_panic=0 in its /etc/sysctl.conf and /boot/loader.conf, and raise `boot.limit` where a dump takes longer")];
	}
	if (message === void 0) return [wrong(what, `home again after ${took}, and nobody could say what it panicked of`, "set dumpdev=\"AUTO\" in its /etc/rc.conf, with a swap partition as large as a dump")];
	return [ok(what, `home again after ${took}, and known for what it was: ${message}`)];
}
/** A DUT hangs in the debugger where its kernel has one, and else is deaf to all who would log in. */
async function hang(rehearsal, what) {
	const { world, name, testbed } = rehearsal;
	if (testbed.dut.power === void 0) return [skipped(what, "`power` is not configured: a DUT that hangs stays lost until somebody walks to it")];
	const question = `Make the DUT of ${name} hang, and see that its power control brings it back? It takes ${formatDuration(testbed.dut.boot.limitSeconds)} and a boot.`;
	if (!await world.agrees(question)) return [skipped(what, notAgreed)];
	const happened = await accident(rehearsal, hangNow);
	if (happened.kind === "did-not") return [wrong(what, happened.why, happened.mend)];
	const took = formatDuration(happened.seconds);
	if (happened.cycles === 0) return [wrong(what, `it came back after ${took} without its power control`, "see what rebooted it: a watchdog that is faster than a blast ends good runs, too")];
	return [ok(what, `${happened.how}; power-cycled, and home again after ${took}`)];
}
/** Has an accident happen to our kernel, so that the next boot is the machine's own. */
async function accident(rehearsal, cause) {
	const { world } = rehearsal;
	const trouble = await bootBase(rehearsal, 2);
	if (trouble !== void 0) return {
		kind: "did-not",
		why: trouble,
		mend: goOn
	};
	const { lab, dut } = await rehearsal.open();
	lab.boots.booted = void 0;
	const [begun, cyclesBefore] = [world.now(), lab.cycles.done];
	const caused = await cause(dut.host());
	if ("why" in caused) return {
		kind: "did-not",
		why: caused.why,
		mend: "see what its kernel says in `dmesg -a`"
	};
	const { how } = caused;
	world.tell(`It ${how}. Waiting until it is home again.`);
	const { panic } = await dut.recover();
	const cycles = lab.cycles.done - cyclesBefore;
	return {
		kind: "happened",
		how,
		seconds: world.now() - begun,
		cycles,
		panic
	};
}
const panicNow = async (host) => {
	const outcome = await outlived(host, shell`sysctl debug.kdb.panic=1`);
	if (outcome === void 0) return { how: "panicked" };
	return { why: `it did not panic: ${saidBy(outcome)}` };
};
const hangNow = async (host) => {
	const { stdout: backend } = await host.run(shell`sysctl -n debug.kdb.current`, answers);
	if (backend.trim() !== "") {
		const outcome = await outlived(host, shell`sysctl debug.kdb.enter=1`);
		if (outcome === void 0) return { how: "stopped in its debugger" };
		return { why: `it did not stop: ${saidBy(outcome)}` };
	}
	const outcome = await outlived(host, shell`pkill -STOP -x sshd`);
	if (outcome !== void 0 && !isGood(outcome)) return { why: `its sshd did not stop: ${saidBy(outcome)}` };
	await host.close();
	return { how: "let nobody log in, with its sshd stopped" };
};
const answers = { timeoutSeconds: 30 };
/** How the command ended; undefined where the machine did not outlive it. */
async function outlived(host, command) {
	try {
		return await host.run(command, answers);
	} catch (error) {
		if (error instanceof HostError && error.kind !== "command-failed") return void 0;
		throw error;
	}
}
const saidBy = ({ stdout, stderr }) => lastLine(stderr) ?? lastLine(stdout) ?? "it said nothing";

// src/rehearsal/journal.ts
const runSchema = object({
	cell: cellSchema,
	/** Number of the boot, from 1 on. */
	boot: int().positive(),
	pps: number().positive(),
	/** How long the blast took, all around it included. */
	blastSeconds: number()
});
const entrySchema = discriminatedUnion("kind", [
	object({
		kind: literal("begun"),
		testbed: string(),
		at: datetime()
	}),
	object({
		kind: literal("well"),
		step: string(),
		findings: array(object({
			kind: _enum(["ok", "skipped"]),
			what: string(),
			why: string()
		}))
	}),
	object({
		kind: literal("booted"),
		boot: int(),
		seconds: number()
	}),
	object({
		kind: literal("run"),
		run: runSchema
	})
]);
const journalIn = (directory) => join(directory, "rehearsal.jsonl");
/** Begins a journal in a directory that is there. */
function beginJournal(directory, testbed, now) {
	const at = now.toISOString();
	return journalOf(directory, [], at, {
		kind: "begun",
		testbed,
		at
	});
}
/** Goes on with one; throws a UsageError where the directory has none of that testbed. */
function resumeJournal(directory, testbed) {
	const entries = readEntries(directory);
	const [begun] = entries;
	if (begun?.kind === "begun" && begun.testbed === testbed) return journalOf(directory, entries, begun.at);
	const whose = begun?.kind === "begun" ? `one of ${begun.testbed}` : "none";
	throw new UsageError(`--resume: expected the directory of a rehearsal of ${testbed}, found ${whose} in ${directory}.`);
}
/** A line that a kill cut short ends it; what follows is not there. */
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
				look: async () => found.findings
			};
			return {
				...step,
				look: (what) => kept(step, what, keep)
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
/** What was left out by choice is asked for again. */
async function* kept({ look }, what, keep) {
	const findings = [];
	let isWell = true;
	for await (const finding of await look(what)) {
		yield finding;
		if (finding.kind === "wrong") isWell = false;
		else findings.push(finding);
	}
	if (isWell && findings.some(({ kind }) => kind === "ok")) keep({
		kind: "well",
		step: what,
		findings
	});
}
const runsOf = (runs, cell) => runs.filter((run) => cellName(run.cell) === cellName(cell));

// src/rehearsal/noise.ts
/** The fewest whose spread says something, see `forecast`. */
const degreesOfFreedom = 5;
const boots = 6;
/** A boot, and a blast of each cell; six times. */
async function* measureNoise(rehearsal) {
	const { cells, world, journal } = rehearsal;
	for (let boot = 1; boot <= boots; boot += 1) {
		world.signal.throwIfAborted();
		const missing = cells.filter((cell) => !runsOf(journal.runs(), cell).some((run) => run.boot === boot));
		if (missing.length === 0) continue;
		world.tell(`Boot ${boot} of ${boots} of the same kernel, for the noise.`);
		const begun = world.now();
		const trouble = await bootBase(rehearsal, bootNumber(boot));
		if (trouble !== void 0) {
			yield wrong("the noise of the lab", trouble, goOn);
			return;
		}
		journal.keepBoot(boot, world.now() - begun);
		for (const cell of missing) {
			const failure = await measure(rehearsal, cell, boot);
			if (failure === void 0) continue;
			yield wrong(`the noise of ${cellName(cell)}`, failure, goOn);
			return;
		}
	}
	if (rehearsal.commit !== "") await world.history.append(historyOfRehearsal(rehearsal));
	yield* judged(rehearsal);
}
/** Number of a boot for `bootBase`, which the steps before have not used. */
const bootNumber = (boot) => 10 + boot;
const mostTries$1 = 3;
/** Answers why no run of it counts. */
async function measure(rehearsal, cell, boot) {
	const { world, cells, journal } = rehearsal;
	const { lab } = await rehearsal.open();
	let failure = "";
	for (let attempt = 1; attempt <= mostTries$1; attempt += 1) {
		world.signal.throwIfAborted();
		const trouble = await bootBase(rehearsal, bootNumber(boot));
		if (trouble !== void 0) return trouble;
		const begun = world.now();
		const number = boot * cells.length + cells.indexOf(cell) + 1;
		const planned = plannedFor(cell, bootNumber(boot), number);
		const folder = `noise/${folderOf(cell)}-${boot}.${attempt}`;
		const keepLog = (name, text) => world.keepLog(`${folder}/${name}`, text);
		const outcome = await blast(lab, planned, keepLog, world.signal);
		const run = outcome.kind === "measured" ? outcome.runs[0] : void 0;
		if (run?.validity.kind === "valid" && run.pps > 0) {
			const blastSeconds = world.now() - begun;
			journal.keepRun({
				cell,
				boot,
				pps: run.pps,
				blastSeconds
			});
			world.tell(`${cellName(cell)}: ${formatPps(run.pps)}.`);
			return;
		}
		failure = run?.validity.kind === "invalid" ? run.validity.reason : whyNot(outcome);
	}
	return failure;
}
function* judged(rehearsal) {
	const { config, cells } = rehearsal;
	const policy = policyOf(config);
	const forecasts = cells.flatMap((cell) => {
		const known = historyOf(historyOfRehearsal(rehearsal), {
			testbed: rehearsal.name,
			cell,
			traffic: config.traffic,
			metric: "pps"
		});
		const design = designOf(config, 2);
		const expected = forecast({
			design,
			history: known
		}, policy, cells.length);
		return expected === void 0 ? [] : [{
			cell,
			expected,
			typical: known?.typical ?? 0
		}];
	});
	for (const { cell, expected, typical } of forecasts) {
		const what = `the noise of ${cellName(cell)}`;
		const { noiseRatio, reachableMarginRatio } = expected;
		const [least, most] = intervalOf(noiseRatio).map(formatPercent);
		const found = `${formatPps(typical)}, and boots differ by ${formatPercent(noiseRatio)} (90 % of such measurements: ${least} to ${most}); a loss of ${formatPercent(reachableMarginRatio)} is found as often as asked`;
		const margin = formatPercent(policy.marginRatio);
		yield reachableMarginRatio <= policy.marginRatio ? ok(what, `${found}, and ${margin} matters`) : wrong(what, `${found}, and ${margin} is to be`, `raise \`gate.margin\` to ${formatPercent(roundedUp(reachableMarginRatio))}, or see what disturbs the lab: docs/lab.md, "When something is odd"`);
	}
	yield ok("a gate of these cells", timesOf(rehearsal, forecasts));
}
/** A boot serves all cells, and so many boots are needed as the slowest of them takes. */
function timesOf({ journal, config }, forecasts) {
	const bootSeconds = mean(journal.bootSeconds());
	const secondsFor = (runs) => forecasts.reduce((sum, { cell, expected }) => sum + expected[runs] * mean(runsOf(journal.runs(), cell).map((run) => run.blastSeconds)), bootSeconds * Math.max(...forecasts.map(({ expected }) => expected[runs])));
	const lost = formatPercent(policyOf(config).marginRatio);
	return `${expectedly(secondsFor("runsIfUnchanged"))} where nothing was changed, ${expectedly(secondsFor("runsIfLost"))} where ${lost} was lost, beside the builds; a boot takes ${expectedly(bootSeconds)}`;
}
/** What the first gates may learn from: base was measured as they would. */
function historyOfRehearsal({ name, config, cells, commit, journal }) {
	const { flows, frameBytes, offeredPps } = config.traffic;
	const took = {
		bootSeconds: mean(journal.bootSeconds()),
		blastSeconds: mean(journal.runs().map((run) => run.blastSeconds))
	};
	return cells.flatMap((cell) => {
		const pps = runsOf(journal.runs(), cell).map((run) => run.pps);
		if (pps.length === 0) return [];
		const traffic = {
			flows,
			frameBytes,
			...offeredPps !== void 0 && { offeredPps }
		};
		return [{
			at: journal.at,
			testbed: name,
			cell,
			traffic,
			commit,
			...byMetric(() => []),
			pps,
			moved: false,
			took
		}];
	});
}
/** The interval of a standard deviation that so many boots gave, by the distribution of chi squared. */
function intervalOf(ratio) {
	const { "0.05": high, "0.95": low } = chiSquaredDistributionTable[degreesOfFreedom];
	return [ratio * Math.sqrt(degreesOfFreedom / high), ratio * Math.sqrt(degreesOfFreedom / low)];
}
/** The next half of a percent. */
const roundedUp = (ratio) => Math.ceil(ratio * 200) / 200;

// src/rehearsal/rehearsal.ts
/**
* Finding after finding, as each is made; what an earlier process has found well is told as it was. Whatever was done is
* undone, however it ends. Throws the signal's reason, and what no machine is to blame for.
*/
async function* rehearse(request, world) {
	let opened;
	let isLost = false;
	const rehearsal = {
		...request,
		world,
		cells: cellsOf(request.config),
		commit: "",
		async open() {
			if (opened !== void 0) return opened;
			const { name, testbed, config } = request;
			opened = await openFreebsdMachines(name, testbed, config.traffic, world);
			await inspectDut(opened.lab.boots, config.families);
			await fingerprintOfDut(opened.lab.boots);
			return opened;
		}
	};
	const wayBack = {
		what: "the way back",
		needs: [],
		async *look(what) {
			const machines = opened;
			opened = void 0;
			yield* goBack(rehearsal, machines, what);
		}
	};
	const failed = (what, error) => {
		if (error instanceof BootMethodError || error instanceof BuilderError) return wrong(what, error.message, goOn);
		if (!(error instanceof DutLostError)) return testbedFailed(what, error);
		isLost = true;
		return wrong(what, error.message, "look at its console, and have it boot its own kernel");
	};
	const steps = stepsOf(rehearsal).map((step) => {
		const { what, look } = step;
		return {
			...step,
			async *look() {
				if (isLost) yield skipped(what, "not tried, because the DUT is lost");
				else yield* recovered(what, look, opened);
			}
		};
	});
	try {
		yield* walk([...steps, wayBack], {
			signal: world.signal,
			failed
		});
	} finally {
		await opened?.restore();
	}
}
/** A step in which a machine is lost has failed; the next one finds it again. */
async function* recovered(what, look, machines) {
	try {
		yield* await look(what);
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
function stepsOf(rehearsal) {
	const { skip, cells, journal } = rehearsal;
	const { scenarios } = rehearsal.config;
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
			look: () => check(rehearsal)
		})] : [],
		{
			what: steps.kernel,
			needs: first,
			look: (what) => readyBase(rehearsal, what)
		},
		remembered({
			what: steps.boot,
			needs: [...first, steps.kernel],
			look: (what) => bootOnce(rehearsal, 1, what)
		}),
		...(has("scenarios") ? scenarios : []).map((scenario) => remembered({
			what: `the rules of ${scenario}`,
			needs: booted,
			look: (what) => layAndTakeAway(rehearsal, scenario, what)
		})),
		...(has("blasts") ? cells : []).map((cell) => remembered({
			what: `${shortSeconds} s of ${cellName(cell)}`,
			needs: booted,
			look: (what) => shortBlast(rehearsal, cell, what)
		})),
		...has("profile") ? [remembered({
			what: "a profile",
			needs: booted,
			look: (what) => sample(rehearsal, what)
		})] : [],
		remembered({
			what: steps.again,
			needs: booted,
			look: (what) => bootOnce(rehearsal, 2, what)
		}),
		remembered({
			what: steps.home,
			needs: booted,
			look: (what) => bootHome(rehearsal, what)
		}),
		...has("panic") ? [remembered({
			what: "a panic",
			needs: booted,
			look: (what) => panic(rehearsal, what)
		})] : [],
		...has("hang") ? [remembered({
			what: "a hang",
			needs: booted,
			look: (what) => hang(rehearsal, what)
		})] : [],
		...has("noise") ? [remembered({
			what: "the noise of the lab",
			needs: booted,
			look: () => measureNoise(rehearsal)
		})] : []
	];
}
const check = ({ name, testbed, config, skip, world }) => {
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
		sends: !skip.has("blasts"),
		cycles: false
	}, world);
};
async function bootOnce(rehearsal, boot, what) {
	const { world, testbed } = rehearsal;
	world.tell(`Booting it by ${testbed.dut.boot.method}: it takes some minutes to be up again.`);
	const begun = world.now();
	const trouble = await bootBase(rehearsal, boot);
	if (trouble !== void 0) return [wrong(what, trouble, goOn)];
	const { dut, lab } = await rehearsal.open();
	const { root, kernel } = await runningSystem(dut.host());
	const took = formatDuration(world.now() - begun);
	return [ok(what, `${kernel} of ${root} after ${took}, ${lab.boots.booted?.kernel ?? ""}`)];
}
async function layAndTakeAway(rehearsal, scenario, what) {
	const trouble = await bootBase(rehearsal, 1);
	if (trouble !== void 0) return [wrong(what, trouble, goOn)];
	const host = (await rehearsal.open()).dut.host();
	const refusal = await layRules(host, scenario, rehearsal.rules);
	await takeRulesAway(host);
	if (refusal !== void 0) return [wrong(what, refusal, "build the kernel and its modules with that firewall")];
	const left = provesScenario("forwarding", await proofOf(host), { own: rehearsal.rules });
	if (left.kind === "in-force") return [ok(what, "in force, and taken away again")];
	return [wrong(what, `something of it stays: ${left.reason}`, "reboot the DUT, and look there")];
}
/** A receiver's rates have to be steady for ten of them. */
const shortSeconds = 10;
async function shortBlast(rehearsal, cell, what) {
	const { lab } = await rehearsal.open();
	const { world, config } = rehearsal;
	world.tell(`Sending ${cellName(cell)} for ${shortSeconds} s.`);
	const traffic = {
		...config.traffic,
		measureSeconds: shortSeconds + secondsToRise,
		measureAtLeastSeconds: shortSeconds + secondsToRise
	};
	const planned = plannedFor(cell, 1, rehearsal.cells.indexOf(cell) + 1);
	const keepLog = (name, text) => world.keepLog(`short/${folderOf(cell)}/${name}`, text);
	return [blastFinding(await blast({
		...lab,
		traffic
	}, planned, keepLog, world.signal), what)];
}
/** Seconds at the start and the end of a blast whose rates are not whole. */
const secondsToRise = 5;
function blastFinding(outcome, what) {
	if (outcome.kind !== "measured") return wrong(what, whyNot(outcome), goOn);
	const [run] = outcome.runs;
	if (run === void 0) return wrong(what, "nothing was measured", goOn);
	const { validity, pps } = run;
	if (validity.kind === "invalid") return wrong(what, validity.reason, goOn);
	if (pps === 0) return wrong(what, whyNot(outcome), goOn);
	return ok(what, `${formatPps(pps)} of ${formatPps(outcome.summary.offeredPps)} offered`);
}
const mostTries = 2;
async function sample(rehearsal, what) {
	const { config, cells, world } = rehearsal;
	const [cell] = cells;
	if (cell === void 0 || config.profile === void 0) return [skipped(what, "`profile` is switched off in ppsgate.yml")];
	const trouble = await bootBase(rehearsal, 1);
	if (trouble !== void 0) return [wrong(what, trouble, goOn)];
	const { lab } = await rehearsal.open();
	const { seconds, event } = config.profile;
	world.tell(`Sampling ${cellName(cell)} for ${seconds} s.`);
	let reason = "";
	for (let attempt = 1; attempt <= mostTries; attempt += 1) {
		const request = {
			cell,
			variant: baseName,
			seconds,
			event,
			attempt
		};
		const keepLog = (name, text) => world.keepLog(`profile-${attempt}/${name}`, text);
		const outcome = await profile(lab, request, keepLog, world.signal);
		if (outcome.kind === "profiled") {
			const { event: sampled, busySamples } = outcome;
			return [ok(what, `${busySamples} busy samples of ${sampled}`)];
		}
		({reason} = outcome);
		if (outcome.kind === "impossible") break;
	}
	return [wrong(what, reason, "see docs/profiles.md, or set `profile: { enabled: false }`")];
}
async function bootHome(rehearsal, what) {
	const trouble = await bootBase(rehearsal, 2);
	if (trouble !== void 0) return [wrong(what, trouble, goOn)];
	const { dut, lab } = await rehearsal.open();
	const { world, testbed } = rehearsal;
	const { method } = testbed.dut.boot;
	world.tell("Rebooting it once more: its own kernel has to come up.");
	lab.boots.booted = void 0;
	const outcome = await (method === "nanobsd" ? dut.boot(void 0) : dut.bootUnasked());
	if (outcome.kind === "boot-failed") {
		const mend = `choose another \`boot.method\` than ${method}: a patch that panics would boot for ever`;
		return [wrong(what, outcome.reason, mend)];
	}
	const home = await runningSystem(dut.host());
	const byItself = method === "nanobsd" ? "" : " by itself";
	return [ok(what, `${home.kernel} of ${home.root} came up${byItself}`)];
}
async function* goBack({ testbed, world }, machines, what) {
	if (machines === void 0) {
		yield skipped(what, "nothing was begun");
		return;
	}
	world.tell("Bringing everything back to how it was.");
	await machines.restore();
	const faults = (await Array.fromAsync(healthOf(testbed, world))).filter(({ kind }) => kind === "wrong");
	if (faults.length > 0) {
		yield* faults;
		return;
	}
	yield ok(what, "its own kernel, no rules, no files and no programs of ours");
}

export { beginJournal, journalIn, rehearsalParts, rehearse, resumeJournal };