import { UsageError } from "../../model/first-plain.js";
const { join } = globalThis.process.getBuiltinModule("node:path");
const { promisify } = globalThis.process.getBuiltinModule("node:util");
const { access, mkdir, readdir, rename, rm, writeFile } = globalThis.process.getBuiltinModule("node:fs/promises");
const { cpus } = globalThis.process.getBuiltinModule("node:os");
const { execFile } = globalThis.process.getBuiltinModule("node:child_process");
const { setTimeout } = globalThis.process.getBuiltinModule("node:timers/promises");

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
const minIdleRatio = .8;
function warningOf(before, after) {
	const shares = after.map(({ times }, index) => idleShare(before[index]?.times, times));
	const idle = shares.reduce((sum, share) => sum + share, 0);
	const wanted = Math.min(wantedCpus, shares.length);
	if (idle >= minIdleRatio * wanted) return void 0;
	return `this machine is busy: other programs use ${Math.round((1 - idle / shares.length) * 100)} % of its ${shares.length} CPUs, but the lab needs ${wanted}; stop them or wait, or the demo takes longer and may end without a verdict`;
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
/** Enough rules to make the router slower than the sender, which would otherwise be measured. */
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
/** Guests boot `kernel` if a patch changes only files. */
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
/** Guests boot the image's own kernel if a patch changes only files. */
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
const commitOf = (subject, remark) => ({
	subject,
	edit: (rules) => [`    # ${remark}`, ...rules]
});
/** 24 commits: one costs packets, two do not load, and one fixes these; the others cost nothing. */
const bisectCommits = [
	commitOf("Say what the early chain is for", "Packets that must not even be tracked are dropped here."),
	commitOf("Say where the rules come from", "The list is that of the addendum."),
	commitOf("Name the people who mind the rules", "Ask routing@example.net."),
	commitOf("Say how often the rules are looked at", "Looked at each spring."),
	commitOf("Say what protocol 254 is", "Protocol 254 is for experiments."),
	commitOf("Point to the register of protocols", "See /etc/protocols."),
	{
		subject: "Guard against datagrams of no port",
		edit: (rules) => [...rules, unknownProtocol]
	},
	commitOf("Say who asked for the guard", "The guard is by request."),
	{
		subject: "Drop the guard that nft does not know",
		edit: (rules) => rules.filter((rule) => rule !== unknownProtocol)
	},
	commitOf("Say why there is no guard", "No guard: see the log."),
	commitOf("Say what is done by hand", "Sets are filled by hand."),
	commitOf("Say when the router was set up", "Set up in the year of the move."),
	commitOf("Say what happens on a restart", "A restart loses no state."),
	commitOf("Say where the states are", "States are in the kernel."),
	commitOf("Say what the policy is", "What is not dropped is accepted."),
	{
		subject: culpritSubject,
		edit: (rules) => [...rules, ...noOpRules(16)]
	},
	commitOf("Say what the rules cost", "A rule costs about 12 ns."),
	commitOf("Say how to try a change", "Try a change in a namespace first."),
	commitOf("Say how to read the counters", "Counters: nft list ruleset."),
	commitOf("Say what to do at night", "At night call the desk."),
	commitOf("Say what the desk knows", "The desk knows the passwords."),
	commitOf("Say what is not here", "Addresses are elsewhere."),
	commitOf("Say what else is not here", "Names are elsewhere, too."),
	commitOf("Say that this is all", "That is all.")
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
async function fetchKernels(folder, print) {
	await mkdir(folder, { recursive: true });
	for (const releases of await releasesByFlavour()) {
		const fetched = [];
		for (const release of releases) {
			const path = join(folder, `linux-${release}.tar`);
			if (await exists(path) || await fetchKernel(release, path, print)) fetched.push(path);
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
async function fetchKernel(release, path, print) {
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
		print(`Fetched Linux ${release} with apt-get`);
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

export { baseBranch, bisectCommits, busyWarning, culpritSubject, demoConfig, demoPatches, fetchKernels, freebsdDemoConfig, freebsdDemoPatches, makeBisectRepository, makeDemoRepository, makeFreebsdDemoRepository, makeVirtualDemoRepository, virtualDemoConfig, virtualDemoPatches };