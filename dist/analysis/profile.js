import { plainLine } from "../model/first-plain.js";
import { cellName } from "../model/first.js";
import { ProfileError, explain, foreignBounds, parseProfile, withoutIdle } from "./profile/plain.js";

// src/analysis/profile/result-profiles.ts
/** `read` returns a file's text by its path in the result; `leftOut` is called for invalid profiles. */
async function readProfiles(result, read, leftOut = () => {}) {
	const all = [];
	for (const { cell, profiles } of profiledCells(result)) {
		const variants = [];
		for (const one of profiles) {
			const text = one.kind === "profiled" ? await read(one.file) : void 0;
			const name = `the profile of ${plainLine(one.variant)} in ${cellName(cell)}`;
			const taken = text === void 0 ? void 0 : parsed(text, name, leftOut);
			if (taken !== void 0) variants.push({
				variant: one.variant,
				...taken
			});
		}
		if (variants.length > 0) all.push({
			cell,
			variants
		});
	}
	return all;
}
/** Returns the cells with profiles, or with failed attempts at them. */
function profiledCells(result) {
	if ("kind" in result) return [result];
	return result.outcome.kind === "judged" ? result.outcome.cells : [];
}
function parsed(text, name, leftOut) {
	try {
		const { profile, idleFrames } = withoutIdle(parseProfile(text, name, foreignBounds));
		return {
			profile,
			idleFrames
		};
	} catch (error) {
		if (!(error instanceof ProfileError)) throw error;
		leftOut(error.message);
		return;
	}
}
function withReasons(result, profiles) {
	if ("kind" in result) return withBisectReason(result, profiles);
	const { outcome } = result;
	if (outcome.kind !== "judged") return result;
	const cells = outcome.cells.map(({ reason: _, ...rest }) => {
		const taken = profiles.find(({ cell }) => cellName(cell) === cellName(rest.cell));
		const { kind } = rest.verdict;
		const isChange = kind === "regression" || kind === "improvement";
		const reason = reasonOf(packetCost(rest.comparisons, rest), isChange, taken?.variants ?? []);
		return {
			...rest,
			...reason && { reason }
		};
	});
	return {
		...result,
		outcome: {
			...outcome,
			cells
		}
	};
}
function withBisectReason({ reason: _, ...result }, profiles) {
	const { answer, metric } = result;
	if (answer.kind !== "culprit" && answer.kind !== "group") return result;
	const { before: base, after: patched } = answer.change;
	const reason = reasonOf(packetCost([{
		metric,
		base,
		patched
	}], result), true, profiles[0]?.variants ?? []);
	return {
		...result,
		...reason && { reason }
	};
}
function reasonOf(cost, isChange, taken) {
	const base = taken.find(({ variant }) => variant === "base");
	const patched = taken.find(({ variant }) => variant === "patched");
	if (base === void 0 || patched === void 0) return void 0;
	const idleFrames = [.../* @__PURE__ */ new Set([...base.idleFrames, ...patched.idleFrames])];
	return {
		...explain(base.profile, patched.profile, cost, isChange),
		idleFrames
	};
}
/**
* Counts instructions if they were sampled, otherwise time: of the forwarding thread if known, otherwise of the fully
* loaded DUT.
*/
function packetCost(comparisons, { profiles }) {
	const costOf = (cost) => comparisons.flatMap(({ metric, base, patched }) => metric === cost ? {
		metric: cost,
		base,
		patched
	} : []);
	const [measuredCost] = [...profiles.every((one) => one.kind !== "profiled" || one.event === "instructions") ? costOf("instructionsPerPacket") : [], ...costOf("nsPerPacket")];
	if (measuredCost !== void 0) return measuredCost;
	const pps = comparisons.find(({ metric }) => metric === "pps");
	if (pps === void 0 || !(pps.base > 0 && pps.patched > 0)) return void 0;
	return {
		metric: "nsPerPacket",
		base: 1e9 / pps.base,
		patched: 1e9 / pps.patched
	};
}

export { profiledCells, readProfiles, withReasons };