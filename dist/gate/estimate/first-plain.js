// src/gate/estimate/trial-boots.ts
function bootKindOf({ traffic }) {
	if (traffic.windows !== void 0) return "pair";
	return traffic.runsPerTrial > 1 ? "none" : "each";
}
/** Names the last boot of a trial; undefined without boots. */
function bootOf(runs, kind) {
	const last = runs.at(-1);
	if (kind === "none" || last === void 0) return void 0;
	return kind === "pair" ? String(last.pair) : `${last.variant} ${last.pair}`;
}

export { bootKindOf, bootOf };