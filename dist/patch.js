import { A as url, E as string, S as literal, b as discriminatedUnion, w as object, x as int } from "./design.js";

// src/patch/patch.ts
const commit = string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/, "a full commit id");
const pullRequest = object({
	kind: literal("pull-request"),
	/** `owner/name` of the repository that the pull request wants to change. */
	repository: string(),
	number: int().positive(),
	title: string(),
	author: string(),
	url: url(),
	baseCommit: commit,
	headCommit: commit
});
const range = object({
	kind: literal("range"),
	title: string(),
	author: string(),
	baseCommit: commit,
	headCommit: commit
});
const patchSchema = discriminatedUnion("kind", [pullRequest, range]);
/** How people call the patch: `#123`, or `1a2b3c4..5d6e7f8`. */
function patchName(patch) {
	return patch.kind === "pull-request" ? `#${patch.number}` : `${patch.baseCommit.slice(0, 7)}..${patch.headCommit.slice(0, 7)}`;
}

export { patchSchema as n, patchName as t };