import { RepositoryError, lineOfDiffs, ownEnds, patchOfRange, pinned } from "../forge/patch.js";
import { looksLikeRevision } from "../forge/phabricator.js";
import { UsageError, excerpt, families, isCost, parseJson, patchName, resultSchema } from "../model.js";
import { relayOf } from "./approved-request.js";
import { scenariosIn } from "../config.js";
import { indexPath, parseIndex } from "../publish/data-branch.js";
import { worstFirst } from "../report.js";

// src/action/bisect-cell.ts
async function cellFor({ scenarios, families: familyNames }, patch, config, { repository, calledAs }) {
	const scenario = one(scenarios, calledAs("scenarios"));
	const text = one(familyNames, calledAs("families"));
	const family = families.find((name) => name === text);
	if (text !== void 0 && family === void 0) throw new UsageError(`${calledAs("families")}: expected ${families.join(" or ")}, found "${excerpt(text)}".`);
	const branch = config.github.data.branch;
	const worst = scenario === void 0 && family === void 0 && branch !== void 0 ? await worstCellOf(patch, repository, branch) : void 0;
	if (worst !== void 0 && scenariosIn(config).includes(worst.scenario)) return worst;
	return {
		scenario: scenario ?? "forwarding",
		family: family ?? "inet4"
	};
}
function one(text, called) {
	if (!text?.includes(",")) return text?.trim() || void 0;
	throw new UsageError(`${called}: a bisection is of one, found "${excerpt(text)}".`);
}
/** Reads the newest result on the data branch. Writers of that branch only influence which cell is measured. */
async function worstCellOf(patch, repository, branch) {
	try {
		const commit = await repository.resolve(`origin/${branch}`);
		const last = parseIndex(await repository.read(`${commit}:${indexPath}`))?.results.findLast((result) => result.patch === patchName(patch));
		if (last === void 0) return void 0;
		const text = await repository.read(`${commit}:${last.path}/result.json`);
		const result = resultSchema.safeParse(parseJson(text));
		if (result.data?.outcome.kind !== "judged") return void 0;
		const { outcome, policy } = result.data;
		const [worst] = worstFirst(outcome.cells);
		const alike = outcome.cells.filter(({ verdict }) => verdict.kind === worst?.verdict.kind);
		const lossOf = ({ comparisons: [first] }) => (first?.interval.change ?? 0) * (isCost(policy.metric) ? 1 : -1);
		return alike.toSorted((a, b) => lossOf(b) - lossOf(a))[0]?.cell;
	} catch (error) {
		if (error instanceof RepositoryError) return void 0;
		throw error;
	}
}

// src/action/admit-bisection.ts
/** Any commits of a revision or of no patch: people who may start a job may have any commits bisected. */
async function admitCommits({ overrides }, trigger, deps) {
	const { by, patch: name } = trigger;
	const areNamed = Boolean(overrides.good && overrides.bad);
	const why = `${by} started it.`;
	if (looksLikeRevision(name)) {
		const earlier = areNamed ? "none" : "all";
		const { patch, config } = await deps.readRevision({
			...trigger,
			overrides: { earlier }
		});
		return admitBisection({
			overrides,
			patch,
			config,
			why,
			relay: relayOf(trigger)
		}, deps);
	}
	if (!areNamed && !name.includes("..")) throw new UsageError("A bisection needs a good commit and a bad one, or a patch whose commits it is of: a pull request like #123, a revision like D27401, or a range like main..my-branch.");
	const { good, bad } = await pinned(overrides, deps.repository, deps.calledAs);
	const range = areNamed ? `${good}..${bad}` : name;
	return admitBisection({
		overrides,
		patch: await patchOfRange(deps.repository, range),
		config: await deps.readConfig(deps.commit),
		why
	}, deps);
}
async function admitBisection({ overrides: named, patch, config, why, relay }, deps) {
	const { repository, calledAs } = deps;
	const overrides = await pinned(named, repository, calledAs);
	const { good, bad, scenarios, families, ...rest } = overrides;
	if (!good !== !bad) throw new UsageError(`${calledAs(good ? "bad" : "good")} is missing: a bisection has both ends.`);
	const cell = await cellFor({
		scenarios,
		families
	}, patch, config, deps);
	deps.checkBisection(config, {
		...overrides,
		scenarios: cell.scenario,
		families: cell.family
	});
	const own = () => patch.kind === "revision" ? lineOfDiffs(patch, repository) : ownEnds(patch, repository);
	return {
		kind: "bisect",
		request: {
			command: "bisect",
			patch,
			...good && bad ? {
				good,
				bad
			} : await own(),
			isOwn: !good,
			cell,
			overrides: rest,
			priority: deps.priority ?? "patch",
			...relay && { relay }
		},
		config,
		why
	};
}

export { admitBisection, admitCommits };