import { n as applyOverrides, s as parseSeed } from "./overrides.js";
import { p as sum$1 } from "./student.js";
import { n as parseConfig } from "./load.js";
import { a as historyFile } from "./history.js";
import { i as hasPlan, s as randomSeed } from "./plan.js";
import { n as resumeGate, t as gate } from "./gate.js";
import { t as patchOfRange } from "./range.js";
import { r as openRepository } from "./repository.js";
import { B as headline, V as outcomeName } from "./markdown.js";
import { n as readResult } from "./read2.js";
import { t as openEmbedded } from "./open.js";
import { i as exitCodes } from "./exit.js";
import { r as readyMachine } from "./requirements.js";
import { n as showProgress } from "./progress.js";
import { a as formatDuration, c as formatPercent } from "./format.js";
import { t as timestampedDirectory } from "./work-directory.js";
import { execFile } from "node:child_process";
import { join, resolve } from "node:path";
import { promisify, styleText } from "node:util";
import { access, mkdir, rename, rm, writeFile } from "node:fs/promises";

// src/testbed/testbed.ts
/** A testbed that nobody else can use. */
const unshared = (name, open) => ({
	name,
	open,
	signal: new AbortController().signal,
	giveBack: async () => void 0
});

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
  falseAlarms: 0.2%
history: ../history.jsonl
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
	const { directory, seed, design, onPatch, signal } = options;
	const repositoryDirectory = join(directory, "repository");
	if (!await exists(repositoryDirectory)) await makeDemoRepository(repositoryDirectory);
	const repository = openRepository(repositoryDirectory);
	const path = join(repositoryDirectory, "ppsgate.yml");
	const written = parseConfig(demoConfig, {
		path,
		home: "/nonexistent"
	});
	const config = applyOverrides(written, { design });
	const [testbed = ""] = Object.keys(config.testbeds);
	const judged = [];
	for (const [index, demoPatch] of demoPatches.entries()) {
		const work = join(directory, demoPatch.branch);
		const progress = onPatch(demoPatch, index);
		const world = {
			repository,
			reserve: async () => unshared(testbed, (traffic) => openEmbedded(testbed, traffic)),
			history: historyFile(config.history),
			now: () => /* @__PURE__ */ new Date(),
			onEvent: progress.onEvent,
			signal
		};
		const result = await judge({
			patch: await patchOfRange(repository, `${baseBranch}..${demoPatch.branch}`),
			config,
			testbeds: [testbed],
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
/** For which packets flowed that were measured, or sampled. */
function trafficSeconds({ blasts, outcome }) {
	const profiles = (outcome.kind === "judged" ? outcome.cells : []).flatMap((cell) => cell.profiles);
	return sum$1([...blasts.map((blast) => blast.trafficSeconds), ...profiles.map((profile) => profile.kind === "profiled" ? profile.seconds : 0)]);
}
const isExpected = ({ expected }, result) => outcomeName(result) === expected;
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
		design: options.design,
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
	verdict: outcomeName(result),
	asExpected,
	headline: headline(result),
	...runCounts(result),
	directory
}));
/** Runs that were measured, and those that five blasts of each cell would have taken: the lab's 5 + 5. */
function runCounts({ outcome }) {
	const cells = outcome.kind === "judged" ? outcome.cells : [];
	return {
		runs: sum(cells.map((cell) => cell.runs.length)),
		fixedRuns: sum(cells.map((cell) => 2 * (cell.design.budgets.at(-1) ?? 0)))
	};
}
const sum = (values) => values.reduce((total, value) => total + value, 0);
function table(judged) {
	return judged.map(({ patch, result, asExpected }) => {
		const must = asExpected ? `as it must: ${patch.expected}` : `but must be ${patch.expected}`;
		const verdict = styleText(asExpected ? "green" : "red", `  ${must}`, { stream: process.stdout });
		const { runs, fixedRuns } = runCounts(result);
		const counts = fixedRuns > 0 ? `, after ${runs} runs; a fixed 5 + 5 takes ${fixedRuns}` : "";
		return `${patch.branch}\n  ${headline(result)}\n${verdict}${counts}`;
	}).join("\n");
}
function closing(judged, directory, seconds) {
	const traffic = sum(judged.map(({ result }) => trafficSeconds(result)));
	return [
		`${formatDuration(seconds)}, in ${formatPercent(traffic / seconds)} of which packets flowed.`,
		...judged.map((one) => `Report: ${one.directory}/report/index.html`),
		`The repository of the patches: ${directory}/repository`
	].join("\n");
}

export { runDemoCommand };