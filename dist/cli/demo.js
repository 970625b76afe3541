import { UsageError } from "../model.js";
import { applyOverrides, namingStyles, parseConfig } from "../config.js";
import { openRepository, patchOfRange } from "../forge/patch.js";
import { outcomeName, readResult } from "../report.js";
import { sum } from "../vendor/simple-statistics.js";
import { hasPlan, historyFile } from "../gate/experiment.js";
import { gate, resumeGate } from "../gate.js";
import { bisect, hasBisectPlan, resumeBisection } from "../gate/bisect.js";
import { unshared } from "../lab.js";
import { openHere, realDeps } from "../gate/testbeds.js";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { access, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { setTimeout } from "node:timers/promises";

// src/cli/demo/busyness.ts
/** Returns a warning if other programs use the CPUs that the lab needs. */
async function busyWarning() {
	const before = cpus();
	await setTimeout(watchedMilliseconds);
	return warningOf(before, cpus());
}
const watchedMilliseconds = 1e3;
/** One CPU for the sender, and one for the DUT. */
const wantedCpus = 2;
/** A quiet system with this program uses less. */
const leastIdleRatio = .8;
function warningOf(before, after) {
	const shares = after.map(({ times }, index) => idleShare(before[index]?.times, times));
	const idle = shares.reduce((sum, share) => sum + share, 0);
	const wanted = Math.min(wantedCpus, shares.length);
	if (idle >= leastIdleRatio * wanted) return void 0;
	return `this machine is busy: other programs use ${Math.round((1 - idle / shares.length) * 100)} % of its ${shares.length} CPUs, and the lab needs ${wanted} for itself; end them or wait, as the demo otherwise lasts longer and may end without a verdict`;
}
/** A CPU added since counts as idle. */
function idleShare(before, after) {
	if (before === void 0) return 1;
	const total = totalOf(after) - totalOf(before);
	return total > 0 ? Math.min(1, Math.max(0, (after.idle - before.idle) / total)) : 1;
}
const totalOf = ({ user, nice, sys, idle, irq }) => user + nice + sys + idle + irq;

// src/cli/demo/demo-repository.ts
const baseBranch = "main";
const demoPatches = [
	{
		branch: "comment-the-rules",
		title: "Say what the early chain is for",
		expected: "no-regression"
	},
	{
		branch: "guard-protocol-254",
		title: "Look sixteen times more for protocol 254",
		expected: "regression"
	},
	{
		branch: "guard-udp",
		title: "Guard against a protocol that nft does not know",
		expected: "does-not-load"
	}
];
const demoConfig = `# The demo's lab is this machine, and its noise is that of a shared machine: hence the wide margin, and
# the CPU time per packet as the metric.
testbeds:
  this-machine:
    kind: embedded-linux
scenarios: [forwarding, nftables-stateless, nftables-stateful]
families: [inet4]
gate:
  metric: nsPerPacket
  margin: 5%
  falseAlarms: 0.2%
history: ../history.jsonl
`;
const sysctlConf = `# A router sends no redirects.
net.ipv4.conf.all.send_redirects = 0
`;
/** A rule that never matches costs about 12 ns. */
const noOpRules = (count) => new Array(count).fill("    meta l4proto 254 drop");
/** Enough rules to make the router slower than the sender, which would be measured otherwise. */
const baseRules = noOpRules(60);
const nftablesConf = (rules) => [
	"table inet router {",
	"  chain early {",
	"    type filter hook prerouting priority raw; policy accept;",
	...rules,
	"  }",
	"}",
	""
].join("\n");
const rulesOf = {
	[baseBranch]: baseRules,
	"comment-the-rules": ["    # Packets that must not even be tracked are dropped here.", ...baseRules],
	"guard-protocol-254": [...baseRules, ...noOpRules(16)],
	"guard-udp": [...baseRules, "    meta l4proto upd drop"]
};
const virtualDemoPatches = [{
	branch: "one-rule-more",
	title: "Look for protocol 254",
	expected: "regression"
}, {
	branch: "newer-kernel",
	title: "Boot the newer kernel",
	boots: true
}];
/** `kernel` boots if a patch changes files only. */
const virtualDemoConfig = (kernel) => `testbeds:
  this-machine:
    kind: virtual
    kernel: ${JSON.stringify(kernel)}
scenarios: [forwarding]
families: [inet4]
history: ../history.jsonl
`;
const makeVirtualDemoRepository = (finalDirectory) => makeRepository(finalDirectory, async (commit, git) => {
	await commit("Route between two networks", "# Nothing is filtered yet.\n");
	for (const { branch, title } of virtualDemoPatches) {
		await git("switch", "--quiet", "--create", branch, baseBranch);
		await commit(title, branch === "one-rule-more" ? nftablesConf(noOpRules(1)) : "# Nothing is filtered at all.\n");
	}
	await git("switch", "--quiet", baseBranch);
});
const freebsdDemoPatches = [{
	branch: "filter-with-pf",
	title: "Filter with pf",
	expected: "regression"
}, {
	branch: "patched-kernel",
	title: "Boot the patched kernel",
	boots: true
}];
/** The image's own kernel boots if a patch changes files only. */
const freebsdDemoConfig = (image) => `testbeds:
  this-machine:
    kind: virtual
    image: { path: ${JSON.stringify(image)} }
scenarios: [forwarding]
families: [inet4]
history: ../history.jsonl
`;
const makeFreebsdDemoRepository = (finalDirectory) => makeRepository(finalDirectory, async (commit, git) => {
	await commit("Route between two networks", void 0);
	for (const { branch, title, boots } of freebsdDemoPatches) {
		await git("switch", "--quiet", "--create", branch, baseBranch);
		await commit(title, boots ? void 0 : "set skip on lo0\npass\n");
	}
	await git("switch", "--quiet", baseBranch);
}, "dut/pf.conf");
/** Creates `main` and a branch per patch, atomically. */
const makeDemoRepository = (finalDirectory) => makeRepository(finalDirectory, async (commit, git) => {
	await commit("Route between two networks", nftablesConf(rulesOf["main"] ?? []));
	for (const { branch, title } of demoPatches) {
		await git("switch", "--quiet", "--create", branch, baseBranch);
		await commit(title, nftablesConf(rulesOf[branch] ?? []));
	}
	await git("switch", "--quiet", baseBranch);
});
const culpritSubject = "Look sixteen times more for protocol 254";
const unknownProtocol = "    meta l4proto upd drop";
const say = (subject, remark) => ({
	subject,
	edit: (rules) => [`    # ${remark}`, ...rules]
});
/** 24 commits: one costs packets, two do not load and one fixes them; the others cost nothing. */
const bisectCommits = [
	say("Say what the early chain is for", "Packets that must not even be tracked are dropped here."),
	say("Say where the rules come from", "The list is that of the addendum."),
	say("Name the people who mind the rules", "Ask routing@example.net."),
	say("Say how often the rules are looked at", "Looked at each spring."),
	say("Say what protocol 254 is", "Protocol 254 is for experiments."),
	say("Point to the register of protocols", "See /etc/protocols."),
	{
		subject: "Guard against datagrams of no port",
		edit: (rules) => [...rules, unknownProtocol]
	},
	say("Say who asked for the guard", "The guard is by request."),
	{
		subject: "Drop the guard that nft does not know",
		edit: (rules) => rules.filter((rule) => rule !== unknownProtocol)
	},
	say("Say why there is no guard", "No guard: see the log."),
	say("Say what is done by hand", "Sets are filled by hand."),
	say("Say when the router was set up", "Set up in the year of the move."),
	say("Say what happens on a restart", "A restart loses no state."),
	say("Say where the states are", "States are in the kernel."),
	say("Say what the policy is", "What is not dropped is accepted."),
	{
		subject: culpritSubject,
		edit: (rules) => [...rules, ...noOpRules(16)]
	},
	say("Say what the rules cost", "A rule costs some 12 ns."),
	say("Say how to try a change", "Try a change in a namespace first."),
	say("Say how to read the counters", "Counters: nft list ruleset."),
	say("Say what to do at night", "At night call the desk."),
	say("Say what the desk knows", "The desk knows the passwords."),
	say("Say what is not here", "Addresses are elsewhere."),
	say("Say what else is not here", "Names are elsewhere, too."),
	say("Say that this is all", "That is all.")
];
/** Creates `main` for the bisection, atomically: the first commit is good, the last is bad. */
const makeBisectRepository = (finalDirectory) => makeRepository(finalDirectory, async (commit) => {
	let rules = baseRules;
	await commit("Route between two networks", nftablesConf(rules));
	for (const { subject, edit } of bisectCommits) {
		rules = edit(rules);
		await commit(subject, nftablesConf(rules));
	}
});
async function makeRepository(finalDirectory, fill, rulesPath = "dut/nftables.conf") {
	const directory = `${finalDirectory}.part`;
	await rm(directory, {
		recursive: true,
		force: true
	});
	await mkdir(join(directory, "dut"), { recursive: true });
	const git = gitIn(directory);
	await git("init", "--quiet", `--initial-branch=${baseBranch}`);
	await writeFile(join(directory, "ppsgate.yml"), demoConfig);
	if (rulesPath === "dut/nftables.conf") await writeFile(join(directory, "dut/sysctl.conf"), sysctlConf);
	await fill(async (message, rules) => {
		if (rules !== void 0) await writeFile(join(directory, rulesPath), rules);
		await git("add", ".");
		await git("commit", "--quiet", "--allow-empty", "--message", message);
	}, git);
	await rename(directory, finalDirectory);
}
/** Runs git without the user's settings and with one date, so that the commits are the same everywhere. */
function gitIn(directory) {
	const identity = [
		"-c",
		"user.name=ppsgate demo",
		"-c",
		"user.email=demo@ppsgate.invalid"
	];
	const date = "2026-01-01T00:00:00Z";
	const surroundings = {
		GIT_CONFIG_GLOBAL: "/dev/null",
		GIT_CONFIG_NOSYSTEM: "1",
		GIT_AUTHOR_DATE: date,
		GIT_COMMITTER_DATE: date
	};
	return async (...args) => {
		await promisify(execFile)("git", [
			"-C",
			directory,
			...identity,
			...args
		], { env: {
			...process.env,
			...surroundings
		} });
	};
}

// src/cli/demo/demo.ts
const embeddedDemo = {
	patches: demoPatches,
	config: demoConfig,
	metric: "nsPerPacket",
	makeRepository: makeDemoRepository
};
const virtualDemo = (kernels) => ({
	patches: virtualDemoPatches,
	config: virtualDemoConfig(kernels.base),
	metric: "instructionsPerPacket",
	makeRepository: makeVirtualDemoRepository,
	kernels
});
/** Judges a rule set of pf, and kernels where some are given. */
const freebsdDemo = (image, kernels) => ({
	patches: freebsdDemoPatches.filter(({ boots }) => !boots || kernels !== void 0),
	config: freebsdDemoConfig(image),
	metric: "instructionsPerPacket",
	makeRepository: makeFreebsdDemoRepository,
	...kernels !== void 0 && { kernels }
});
async function runDemo(options) {
	const { directory, subject, seed, design, onPatch, signal } = options;
	const repositoryDirectory = join(directory, "repository");
	if (!await exists$1(repositoryDirectory)) await subject.makeRepository(repositoryDirectory);
	const repository = openRepository(repositoryDirectory);
	const path = join(repositoryDirectory, "ppsgate.yml");
	const written = parseConfig(subject.config, {
		path,
		home: "/nonexistent"
	});
	const config = applyOverrides(written, { design }, namingStyles.flag);
	const [testbed = ""] = Object.keys(config.testbeds);
	const judged = [];
	for (const [index, demoPatch] of subject.patches.entries()) {
		const work = join(directory, demoPatch.branch);
		const progress = onPatch(demoPatch, index);
		const notify = (text) => progress.onEvent({
			kind: "preparing",
			text
		});
		const machines = {
			...realDeps,
			notify,
			signal
		};
		const deps = {
			repository,
			reserve: async () => unshared(testbed, (traffic) => openHere(testbed, traffic, config, machines)),
			history: historyFile(config.history),
			now: () => /* @__PURE__ */ new Date(),
			onEvent: progress.onEvent,
			signal
		};
		const patch = await patchOfRange(repository, `${baseBranch}..${demoPatch.branch}`);
		const kernels = demoPatch.boots && subject.kernels;
		const result = await judge({
			patch,
			config,
			testbeds: [testbed],
			seed,
			kernels
		}, work, deps).finally(progress.end);
		judged.push({
			patch: demoPatch,
			directory: work,
			result,
			asExpected: isExpected(demoPatch, result)
		});
	}
	return judged;
}
/** Skips a patch that an earlier process finished, and resumes one that it began. */
async function judge(request, directory, deps) {
	if (await exists$1(join(directory, "result.json"))) return readResult(directory);
	return await hasPlan(directory) ? resumeGate(directory, deps) : gate(request, directory, deps);
}
/** Includes traffic for profiles. */
function trafficSeconds({ trials, outcome }) {
	const profiles = (outcome.kind === "judged" ? outcome.cells : []).flatMap((cell) => cell.profiles);
	return sum([...trials.map((trial) => trial.trafficSeconds), ...profiles.map((profile) => profile.kind === "profiled" ? profile.seconds : 0)]);
}
function isExpected({ expected }, result) {
	const outcome = outcomeName(result);
	return expected === void 0 ? told.has(outcome) : outcome === expected;
}
const told = /* @__PURE__ */ new Set([
	"regression",
	"no-regression",
	"improvement"
]);
const exists$1 = (path) => access(path).then(() => true, () => false);

// src/cli/demo/demo-bisection.ts
const bisectNames = {
	repository: "commits",
	work: "bisect"
};
async function runBisectDemo(options) {
	const { directory, seed, onEvent, signal } = options;
	const repositoryDirectory = join(directory, bisectNames.repository);
	const work = join(directory, bisectNames.work);
	if (!await access(repositoryDirectory).then(() => true, () => false)) await makeBisectRepository(repositoryDirectory);
	const path = join(repositoryDirectory, "ppsgate.yml");
	const written = parseConfig(demoConfig, {
		path,
		home: "/nonexistent"
	});
	const config = applyOverrides(written, {
		scenarios: "forwarding",
		families: "inet4"
	}, namingStyles.flag);
	const [testbed = ""] = Object.keys(config.testbeds);
	const deps = {
		repository: openRepository(repositoryDirectory),
		reserve: async () => unshared(testbed, (traffic) => openHere(testbed, traffic, config)),
		history: historyFile(config.history),
		now: () => /* @__PURE__ */ new Date(),
		onEvent,
		signal
	};
	const request = {
		good: `${baseBranch}~${bisectCommits.length}`,
		bad: baseBranch,
		fixUps: [],
		skips: [],
		config,
		testbeds: [testbed],
		seed,
		mostBoots: 60,
		isVerified: false
	};
	const result = await hasBisectPlan(work) ? await resumeBisection(work, deps) : await bisect(request, work, deps);
	return {
		directory: work,
		result,
		asExpected: namesCulprit(result)
	};
}
function namesCulprit({ answer, revisions }) {
	return answer.kind === "culprit" && revisions[answer.revision]?.subject === "Look sixteen times more for protocol 254";
}

// src/cli/demo/demo-kernels.ts
const run = promisify(execFile);
/** Flavours for virtual machines have a third of the usual size; Debian's first, then Ubuntu's. */
const flavours = [
	"cloud-amd64",
	"virtual",
	"kvm",
	"amd64",
	"generic"
];
/** Fetches two kernels of the smallest flavour, the older one for base; keeps existing ones. Throws a UsageError. */
async function fetchKernels(folder, say) {
	await mkdir(folder, { recursive: true });
	for (const releases of await releasesByFlavour()) {
		const fetched = [];
		for (const release of releases) {
			const path = join(folder, `linux-${release}.tar`);
			if (await exists(path) || await fetchKernel(release, path, say)) fetched.push(path);
			const [patched, base] = fetched;
			if (patched !== void 0 && base !== void 0) return {
				base,
				patched
			};
		}
	}
	throw new UsageError("apt does not list two kernels for x86 (run `apt-get update`?): name two with --kernels BASE,PATCHED, each a .deb or a tar archive.");
}
async function releasesByFlavour() {
	const { stdout } = await run("apt-cache", ["pkgnames", "linux-image-"]).catch(() => {
		throw new UsageError("This machine has no apt to download kernels: name two with --kernels BASE,PATCHED, each a .deb or a tar archive with boot/vmlinuz-* and lib/modules/*.");
	});
	const releases = stdout.split("\n").flatMap((name) => /^linux-image-(\d+\.\d+\.\d[\w.+~-]*)$/.exec(name)?.[1] ?? []).toSorted((a, b) => b.localeCompare(a, "en", { numeric: true }));
	return flavours.map((flavour) => releases.filter((release) => release.endsWith(`-${flavour}`)));
}
/** Ubuntu has separate packages for an image and its modules. */
async function fetchKernel(release, path, say) {
	const work = `${path}.work`;
	const tree = join(work, "tree");
	await rm(work, {
		recursive: true,
		force: true
	});
	await mkdir(tree, { recursive: true });
	try {
		const download = (name) => run("apt-get", [
			"-qq",
			"download",
			name
		], { cwd: work });
		if (!await download(`linux-image-${release}`).then(() => true, () => false)) return false;
		say(`Fetched Linux ${release} with apt-get`);
		await download(`linux-modules-${release}`).catch(() => {});
		for (const name of (await readdir(work)).filter((one) => one.endsWith(".deb"))) await run("dpkg-deb", [
			"--extract",
			join(work, name),
			tree
		]);
		const tops = (await readdir(tree)).filter((name) => [
			"boot",
			"lib",
			"usr"
		].includes(name));
		await run("tar", [
			"-cf",
			join(work, "kernel.tar"),
			"-C",
			tree,
			...tops
		]);
		await rename(join(work, "kernel.tar"), path);
		return true;
	} finally {
		await rm(work, { recursive: true });
	}
}
const exists = (path) => access(path).then(() => true, () => false);

// src/cli/demo/demo-names.ts
const works = [...demoPatches.map(({ branch }) => branch), bisectNames.work];
const repositories = ["repository", bisectNames.repository];
const demoNames = {
	names: [
		...repositories,
		...repositories.map((name) => `${name}.part`),
		"history.jsonl",
		...works
	],
	marks: works
};

export { bisectCommits, bisectNames, busyWarning, culpritSubject, demoNames, embeddedDemo, fetchKernels, freebsdDemo, runBisectDemo, runDemo, trafficSeconds, virtualDemo };