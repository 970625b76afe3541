import { patchOfTypedRange, rangeLike } from "../../forge/patch/first.js";
import { parseEarlier, patchOfRevision } from "../../forge/patch.js";
import { looksLikeRevision, openPhabricator, phabricatorOf } from "../../forge/phabricator.js";
import { excerpt, expected } from "../../model/excerpt.js";
import { UsageError } from "../../model/first-plain.js";
import { asUsageError, repositoryOf, required, stderrLog } from "./gate-call.js";
import { patientIfAnswered, revisionNamed } from "./revision-named.js";

// src/cli/gate/named-patch.ts
async function patchNamed(call) {
	const { config, options, optionName, signal } = call;
	const text = required("patch", call);
	const repository = repositoryOf(options);
	const earlier = parseEarlier(options.earlier || "none", optionName("earlier"));
	if (text.includes("..")) {
		if (earlier === "none") return patchOfTypedRange(repository, text, mayBeOneCommit(options)).catch(asUsageError(optionName));
		throw new UsageError(`${optionName("earlier")}: "${excerpt(text)}" is not a revision, and only revisions have earlier diffs.`);
	}
	if (!looksLikeRevision(text)) {
		const what = `commits as BASE..HEAD, like ${await rangeLike(repository, text)}, or a revision like D27401 or D27401:80677`;
		throw new UsageError(`${optionName("patch")}: ${expected(what)({ input: text })}.`);
	}
	const name = revisionNamed(text, call);
	const phabricator = phabricatorOf(config);
	const conduit = patientIfAnswered(await openPhabricator(phabricator, {
		log: stderrLog,
		signal
	}), {
		...options,
		signal
	});
	return patchOfRevision(name, earlier, {
		conduit,
		repository,
		config: phabricator
	});
}
/** Kernels may differ while commits do not, and a commit can be measured against itself. */
const mayBeOneCommit = ({ measureAnyway, layoutNoise, baseKernel, patchedKernel }) => Boolean(measureAnyway || layoutNoise || baseKernel || patchedKernel);

export { patchNamed };