import { t as RepositoryError } from "./repository.js";

// src/patch/range.ts
/** The last commit of the range names the patch. Throws a `RepositoryError` for what is no range. */
async function patchOfRange(repository, text) {
	const [, base, head] = /^(.+?)\.\.(.+)$/.exec(text) ?? [];
	if (base === void 0 || head === void 0) throw new RepositoryError(`"${text}" is no range of commits: write BASE..HEAD, like main..my-branch.`);
	const [baseCommit, headCommit] = [await repository.resolve(base), await repository.resolve(head)];
	const { subject, author } = await repository.describe(headCommit);
	return {
		kind: "range",
		title: subject,
		author,
		baseCommit,
		headCommit
	};
}

export { patchOfRange as t };