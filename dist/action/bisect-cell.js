import { scenariosIn } from "../config.js";
import { indexPath, parseIndex } from "../data-branch.js";
import { RepositoryError } from "../patch.js";
import { worstFirst } from "../report.js";
import { UsageError, excerpt, families, fromJson, isCost, patchName, resultSchema } from "../words.js";

// src/action/bisect-cell.ts
/** Throws a `UsageError` where more than one is asked for, or there is no such family. */
async function cellFor(asked, patch, config, { repository, calledAs }) {
	const scenario = one(asked.scenarios, calledAs("scenarios"));
	const text = one(asked.families, calledAs("families"));
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
/**
* The worst cell of the newest result that the data branch has of the patch, as far as the checkout knows it; undefined
* where there is none. Whoever writes the branch decides by it what is measured, and nothing else.
*/
async function worstCellOf(patch, repository, branch) {
	try {
		const commit = await repository.resolve(`origin/${branch}`);
		const last = parseIndex(await repository.read(`${commit}:${indexPath}`))?.results.findLast((result) => result.patch === patchName(patch));
		if (last === void 0) return void 0;
		const text = await repository.read(`${commit}:${last.path}/result.json`);
		const result = resultSchema.safeParse(fromJson(text));
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

export { cellFor };