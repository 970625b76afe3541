import { findRevision, phidsOf } from "../../forge/phabricator.js";
import { InboxError, inboxIn, keeping, openInbox } from "../../relay.js";
import { stderrLog } from "./gate-call.js";

// src/cli/gate/kept-answers.ts
/** Posts reports even if nothing can be kept. */
function keptAnswers({ relay }, conduit) {
	const now = () => /* @__PURE__ */ new Date();
	try {
		const inbox = openInbox(inboxIn(relay.directory), now);
		const { signal } = new AbortController();
		const deps = {
			conduit,
			inbox,
			now,
			log: stderrLog,
			signal
		};
		return {
			keeping: (answer, keptEnd) => keeping(answer, keptEnd, deps),
			[Symbol.dispose]: () => inbox[Symbol.dispose]()
		};
	} catch (error) {
		if (!(error instanceof InboxError)) throw error;
		stderrLog.warn(error.message);
		return {
			keeping: (answer) => answer,
			[Symbol.dispose]() {}
		};
	}
}
/** Reads nothing if a relay has pinned it. */
async function pinnedDiff(conduit, name) {
	const { revision: number, diff, phids } = name;
	if (number !== void 0 && diff !== void 0 && phids !== void 0) return {
		number,
		diff,
		phids
	};
	const found = await findRevision(conduit, name);
	return {
		number: found.number,
		diff: found.diff.id,
		phids: phidsOf(found)
	};
}

export { keptAnswers, pinnedDiff };