import { bisectWords, digestOf, lineOfDiffs, listKey, ownEnds, pinned, unreadCommits } from "../forge/patch.js";
import { patchOfRange } from "../forge/patch/first.js";
import { looksLikeRevision } from "../forge/phabricator.js";
import { callOnGithub, families, patchIdentity, patchName, resultSchema } from "../model/first.js";
import { RepositoryError } from "../forge/patch/first-plain.js";
import { UsageError, isCost, parseJson } from "../model/first-plain.js";
import { noticeName } from "./admission.js";
import { relayOf } from "./approved-request.js";
import { scenariosIn } from "../config/first.js";
import { excerpt } from "../model/excerpt.js";
import { indexPath, parseIndex } from "../publish/data-branch.js";
import { worstFirst } from "../report.js";

// src/action/bisect-cell.ts
async function cellFor({ scenarios, families: familyNames }, patch, config, { repository, naming }) {
	const scenario = one(scenarios, naming("scenarios"));
	const text = one(familyNames, naming("families"));
	const family = families.find((name) => name === text);
	if (text !== void 0 && family === void 0) throw new UsageError(`${naming("families")}: expected ${families.join(" or ")}, found "${excerpt(text)}".`);
	const branch = config.github.data.branch;
	const worst = scenario === void 0 && family === void 0 && branch !== void 0 ? await worstCellOf(patch, repository, branch) : void 0;
	if (worst !== void 0 && scenariosIn(config).includes(worst.scenario)) return worst;
	return {
		scenario: scenario ?? "forwarding",
		family: family ?? "inet4"
	};
}
function one(text, option) {
	if (!text?.includes(",")) return text?.trim() || void 0;
	throw new UsageError(`${option}: a bisection needs exactly one, found "${excerpt(text)}".`);
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
		const isOther = patchIdentity(result.data.patch) !== patchIdentity(patch);
		if (patch.kind === "range" && isOther) return void 0;
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
/** Commits of a revision, or of no patch. People who may start a job may have any commits bisected. */
async function admitCommits({ overrides, list }, trigger, deps) {
	const { by, patch: name } = trigger;
	const areNamed = Boolean(overrides.good && overrides.bad);
	const why = `${by} started it.`;
	if (looksLikeRevision(name)) {
		const earlier = areNamed ? "none" : overrides.earlier || "all";
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
	if (!areNamed && !name.includes("..")) throw new UsageError("A bisection needs a good and a bad commit, or a patch to bisect: a pull request like #123, a revision like D27401, or a range like main..my-branch.");
	const { good, bad } = await pinned(overrides, deps.repository, deps.naming);
	const range = areNamed ? `${good}..${bad}` : name;
	return admitBisection({
		overrides,
		patch: await patchOfRange(deps.repository, range),
		config: await deps.readConfig(deps.commit),
		why,
		list
	}, deps);
}
/** Lists commits that may be by strangers first, as each may be built and run: the list is approved, not its end. */
async function admitBisection(bisection, deps) {
	const { overrides: named, patch, config, why, relay, list } = bisection;
	const { repository, naming } = deps;
	const overrides = await pinned(named, repository, naming);
	const { good, bad, scenarios, families, ...rest } = overrides;
	if (!good !== !bad) throw new UsageError(`${naming(good ? "bad" : "good")} is missing: a bisection needs both ends.`);
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
	const request = {
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
	};
	const commits = await commitsToRead(request, bisection, deps);
	if (commits.length === 0 || digestOf(commits) === list) return {
		kind: "bisect",
		request,
		config,
		why
	};
	const sentence = whyUnread(request, commits, list);
	if (patch.kind === "pull-request") return {
		kind: "refused",
		pullRequest: patch,
		config,
		why: sentence,
		name: noticeName,
		what: "no bisection",
		commits
	};
	throw new UsageError(`${sentence} The list: ${commits.join(" ")}`);
}
async function commitsToRead({ patch, good, bad, isOwn, overrides: { fixUp } }, { headRepository }, { repository }) {
	if (patch.kind === "revision") return [];
	const ofPatch = patch.kind === "pull-request" && headRepository === patch.repository ? "none" : "all";
	const line = isOwn && patch.kind === "pull-request" ? ofPatch : "off-branches";
	return unreadCommits({
		good,
		bad,
		fixUp
	}, line, repository);
}
function whyUnread({ patch, good, bad, isOwn, cell, overrides }, commits, list) {
	const one = {
		scenarios: cell.scenario,
		families: cell.family
	};
	const ends = isOwn ? {} : {
		good,
		bad
	};
	const command = (words) => [
		callOnGithub,
		bisectWords(words).replace(/^bisect/, isOwn && patch.kind === "pull-request" ? `bisect ${bad}` : "bisect"),
		`${listKey}=${digestOf(commits)}`
	].join(" ");
	const whole = command({
		...overrides,
		...ends,
		...one
	});
	const shown = whole.length <= 500 ? whole : command(ends);
	const count = commits.length === 1 ? "this commit" : `each of these ${commits.length} commits`;
	return `${list === void 0 ? "" : "The commits differ from the list that you named. "}A bisection of ${patchName(patch)} may build ${count} and run it on the testbed: read all of them, and write ${shown}.`;
}

export { admitBisection, admitCommits };