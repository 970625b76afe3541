// src/forge/patch/authorize.ts
/**
* Decides only for the head of `found`: a later push needs its own approval. On a fork's pull request, a command or
* button approves a head that its author can have read: the commit with its full id, or a head shown before. The first
* digits of an id do not count, as making another commit with the same digits takes seconds.
*/
async function authorize(occasion, found, rules) {
	const { number, repository, headCommit, author } = found.pullRequest;
	const { by } = occasion;
	const isAuthorized = async (login) => rules.people.some((person) => person.toLowerCase() === login.toLowerCase()) || await rules.mayWrite(login);
	const isOurs = found.headRepository === repository;
	switch (occasion.kind) {
		case "labelled":
			if (occasion.label !== rules.label) return {
				kind: "ignored",
				why: `The label is not "${rules.label}".`
			};
			if (!await rules.mayWrite(by)) return stranger(by, found);
			if (!isOurs && !isSeen(occasion.at, headCommit, rules.seen)) return {
				kind: "refused",
				why: unseenLabel(headCommit)
			};
			return {
				kind: "allowed",
				why: `${by}, who may write to ${repository}, added the label ${rules.label} on #${number} at ${headCommit}.`
			};
		case "pushed":
		case "revived":
			if (isOurs) return {
				kind: "allowed",
				why: `The head of #${number} is in ${repository} itself, where only people with write permission can push.`
			};
			for (const login of /* @__PURE__ */ new Set([author, by])) if (!await isAuthorized(login)) return fromElsewhere(found, rules.label);
			if (occasion.kind === "revived" && !rules.measured.includes(headCommit)) return fromElsewhere(found, rules.label);
			return {
				kind: "allowed",
				why: `${author}, the author of #${number}, may have patches measured in ${repository}.`
			};
		case "commanded": {
			if (!await isAuthorized(by)) return stranger(by, found);
			if (occasion.isOtherwise && !await rules.mayWrite(by)) return asConfigured(by, found);
			const gap = isOurs ? void 0 : whyUnseen(occasion, occasion.verb ?? "run", headCommit, rules.seen);
			if (gap !== void 0) return {
				kind: "refused",
				why: gap
			};
			return {
				kind: "allowed",
				why: `${by}, who may have patches measured in ${repository}, requested #${number} at ${headCommit}.`
			};
		}
		case "bisected": {
			if (!await rules.mayWrite(by)) return notBisected(by, found);
			const gap = isOurs || occasion.areNamed ? void 0 : whyUnseen(occasion, "bisect", headCommit, rules.seen);
			if (gap !== void 0) return {
				kind: "refused",
				why: gap
			};
			return {
				kind: "allowed",
				why: `${by}, who may write to ${repository}, requested a bisection at #${number}.`
			};
		}
		case "cancelled":
			if (await isAuthorized(by)) return {
				kind: "allowed",
				why: `${by} cancelled it.`
			};
			return {
				kind: "refused",
				why: `Thank you, ${by}: runs for #${number} are not cancelled; people with write access to ${repository}, or listed in \`github.people\` of its ppsgate.yml, may cancel them with /ppsgate cancel.`
			};
		case "pressed":
		case "dispatched": {
			const { kind, commit } = occasion;
			if (commit !== void 0 && !headCommit.startsWith(commit)) return {
				kind: "refused",
				why: isOlder(commit, headCommit)
			};
			if (kind === "pressed" && !await isAuthorized(by)) return stranger(by, found);
			if (commit !== headCommit && !isOurs) return {
				kind: "refused",
				why: unnamed(number, headCommit)
			};
			return {
				kind: "allowed",
				why: `${by}, who may have patches measured in ${repository}, started it for #${number} at ${headCommit}.`
			};
		}
	}
}
/** Greatest difference between the clocks of GitHub and a runner. */
const clockSeconds = 10;
function whyUnseen({ at, commit }, verb, headCommit, seen) {
	if (commit === headCommit) return void 0;
	if (commit !== void 0 && !headCommit.startsWith(commit)) return isOlder(commit, headCommit);
	if (commit === void 0) {
		if (isSeen(at, headCommit, seen)) return void 0;
		return `The head is ${headCommit}, which may have been pushed after the command: read it, and write /ppsgate ${verb} ${headCommit}.`;
	}
	const hasTwin = seen?.before?.some((one) => one !== headCommit && one.startsWith(commit));
	if (isSeen(at, headCommit, seen) && !hasTwin) return void 0;
	return `The head is ${headCommit}, but ${commit} may also abbreviate another commit: read it, and write /ppsgate ${verb} ${headCommit}.`;
}
const isSeen = (at, headCommit, seen) => seen?.headCommit === headCommit && Date.parse(seen.since) + clockSeconds * 1e3 < Date.parse(at);
const unseenLabel = (headCommit) => `The head is ${headCommit}, which may have been pushed after the label was added: read it, then write /ppsgate run ${headCommit}, or remove the label and add it again.`;
/** Requires the head's name, as GitHub does not report when a run was started. */
const unnamed = (number, headCommit) => `The head of #${number} is ${headCommit}, which may have been pushed after the run was started: read it, and start a run with ${headCommit} in place of #${number}.`;
const isOlder = (commit, headCommit) => `The head is now ${headCommit} instead of ${commit}: read it, and request it again.`;
const stranger = (by, { pullRequest: { number, repository } }) => ({
	kind: "refused",
	why: `Thank you, ${by}: #${number} runs on the testbed once a person with write access to ${repository} requests it.`
});
const notBisected = (by, { pullRequest: { number, repository } }) => ({
	kind: "refused",
	why: `Thank you, ${by}: no bisection was started at #${number}; people with write access to ${repository} can request one with /ppsgate bisect.`
});
/** Restricts overrides: a wide margin passes any patch, so its author could merge it without write permission. */
const asConfigured = (by, { pullRequest: { number, repository } }) => ({
	kind: "refused",
	why: `Thank you, ${by}: you can have #${number} measured as configured in ppsgate.yml; a different margin, scenarios, families or testbed require write access to ${repository}.`
});
function fromElsewhere({ pullRequest, headRepository }, label) {
	const { number, repository, headCommit } = pullRequest;
	return {
		kind: "refused",
		why: `Thank you for #${number}: because it comes from ${headRepository ?? "a repository that was deleted"}, it runs on the testbed only after a maintainer of ${repository} has read ${headCommit} and then added the label ${label} or written /ppsgate run ${headCommit}.`
	};
}

export { authorize };