import { a as gate, c as randomSeed, h as parseConfig, i as showProgress, n as chooseTestbed, o as resumeGate, p as parseSeed, r as openTestbed, s as hasPlan, t as timestampedDirectory, u as openRepository } from "./work-directory.js";
import { t as patchOfRange } from "./range.js";
import { n as readResult } from "./read2.js";
import { r as exitCodes } from "./exit2.js";
import { r as readyMachine } from "./requirements.js";
import { i as formatDuration, o as formatPercent, r as headline } from "./markdown.js";
import { execFile } from "node:child_process";
import { join, resolve } from "node:path";
import { promisify, styleText } from "node:util";
import { access, mkdir, rename, rm, writeFile } from "node:fs/promises";

// src/demo/repository.ts
/** The branch that the patches start from. */
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
  runs: 130
`;
const sysctlConf = `# A router tells nobody of a shorter way.
net.ipv4.conf.all.send_redirects = 0
`;
/** A rule that never matches costs some 12 ns. */
const noOpRules = (count) => new Array(count).fill("    meta l4proto 254 drop");
/** The router has rules enough to be much slower than the sender, which would be measured otherwise. */
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
	"comment-the-rules": ["    # Whatever must not even be tracked is dropped here.", ...baseRules],
	"guard-protocol-254": [...baseRules, ...noOpRules(16)],
	"guard-udp": [...baseRules, "    meta l4proto upd drop"]
};
/** Makes the repository, whole or not at all: `main`, and a branch for each patch. */
async function makeDemoRepository(finalDirectory) {
	const directory = `${finalDirectory}.part`;
	await rm(directory, {
		recursive: true,
		force: true
	});
	const commit = async (branch, message) => {
		await writeFile(join(directory, "dut/nftables.conf"), nftablesConf(rulesOf[branch] ?? []));
		await git(directory, "add", ".");
		await git(directory, "commit", "--quiet", "--message", message);
	};
	await mkdir(join(directory, "dut"), { recursive: true });
	await git(directory, "init", "--quiet", `--initial-branch=${baseBranch}`);
	await writeFile(join(directory, "ppsgate.yml"), demoConfig);
	await writeFile(join(directory, "dut/sysctl.conf"), sysctlConf);
	await commit(baseBranch, "Route between two networks");
	for (const { branch, title } of demoPatches) {
		await git(directory, "switch", "--quiet", "--create", branch, baseBranch);
		await commit(branch, title);
	}
	await git(directory, "switch", "--quiet", baseBranch);
	await rename(directory, finalDirectory);
}
/** Without the settings of whoever runs it, and at one date, so that the commits are the same everywhere. */
async function git(directory, ...args) {
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
	await promisify(execFile)("git", [
		"-C",
		directory,
		...identity,
		...args
	], { env: {
		...process.env,
		...surroundings
	} });
}

// src/demo/demo.ts
/** Judges the three patches, one after the other, and compares what comes out with what must. */
async function runDemo(options) {
	const { directory, seed, onPatch, signal } = options;
	const repositoryDirectory = join(directory, "repository");
	if (!await exists(repositoryDirectory)) await makeDemoRepository(repositoryDirectory);
	const repository = openRepository(repositoryDirectory);
	const path = join(repositoryDirectory, "ppsgate.yml");
	const config = parseConfig(demoConfig, {
		path,
		home: "/nonexistent"
	});
	const testbed = chooseTestbed(config);
	const judged = [];
	for (const [index, demoPatch] of demoPatches.entries()) {
		const work = join(directory, demoPatch.branch);
		const progress = onPatch(demoPatch, index);
		const world = {
			repository,
			openTestbed: (name, traffic) => openTestbed(name, traffic, config),
			now: () => /* @__PURE__ */ new Date(),
			onEvent: progress.onEvent,
			signal
		};
		const result = await judge({
			patch: await patchOfRange(repository, `${baseBranch}..${demoPatch.branch}`),
			config,
			testbed,
			seed
		}, work, world).finally(progress.end);
		judged.push({
			patch: demoPatch,
			directory: work,
			result,
			asExpected: isExpected(demoPatch, result)
		});
	}
	return judged;
}
/** A patch that an earlier process finished is not judged again, one that it began is gone on with. */
async function judge(request, directory, world) {
	if (await exists(join(directory, "result.json"))) return readResult(directory);
	return await hasPlan(directory) ? resumeGate(directory, world) : gate(request, directory, world);
}
const isExpected = ({ expected }, { outcome }) => (outcome.kind === "judged" ? outcome.verdict : outcome.kind) === expected;
const exists = (path) => access(path).then(() => true, () => false);

// src/commands/run-demo.ts
/** Answers 0 when all patches came out as they must, else 1; throws where this machine cannot carry the lab. */
async function runDemoCommand(options, signal) {
	const say = (line) => void process.stderr.write(`${line}\n`);
	const exitCode = await readyMachine(say);
	if (exitCode !== void 0) return exitCode;
	const directory = resolve(options.resume ?? options.directory ?? timestampedDirectory("ppsgate-demo"));
	say(`Three patches, judged with real packets on this machine; everything is kept in ${directory}`);
	const startedAt = performance.now();
	const judged = await runDemo({
		directory,
		seed: options.seed === void 0 ? randomSeed() : parseSeed(options.seed),
		onPatch(patch, index) {
			const title = `${index + 1} of ${demoPatches.length}  ${patch.title}`;
			say(styleText("bold", title, { stream: process.stderr }));
			return showProgress(process.stderr, "nsPerPacket", () => performance.now());
		},
		signal
	});
	const seconds = (performance.now() - startedAt) / 1e3;
	if (options.json) process.stdout.write(`${JSON.stringify(summaries(judged), null, 2)}\n`);
	else process.stdout.write(`\n${table(judged)}\n\n${closing(judged, directory, seconds)}\n`);
	return judged.every((one) => one.asExpected) ? exitCodes.pass : exitCodes.patchAtFault;
}
/** Without the runs: these are in the result of each directory. */
const summaries = (judged) => judged.map(({ patch, directory, result, asExpected }) => ({
	branch: patch.branch,
	expected: patch.expected,
	verdict: result.outcome.kind === "judged" ? result.outcome.verdict : result.outcome.kind,
	asExpected,
	headline: headline(result),
	directory
}));
function table(judged) {
	return judged.map(({ patch, result, asExpected }) => {
		const must = asExpected ? `as it must: ${patch.expected}` : `but must be ${patch.expected}`;
		const verdict = styleText(asExpected ? "green" : "red", `  ${must}`, { stream: process.stdout });
		return `${patch.branch}\n  ${headline(result)}\n${verdict}`;
	}).join("\n");
}
function closing(judged, directory, seconds) {
	const traffic = judged.flatMap(({ result }) => result.blasts).reduce((sum, blast) => sum + blast.trafficSeconds, 0);
	return [
		`${formatDuration(seconds)}, in ${formatPercent(traffic / seconds)} of which packets flowed.`,
		...judged.map((one) => `Report: ${one.directory}/report.md`),
		`The repository of the patches: ${directory}/repository`
	].join("\n");
}

export { runDemoCommand };