import { loadConfig } from "../../config/first.js";
import { healthPurpose } from "../../gate/estimate/first.js";
import { NotReservedError, liftQuarantine, readLab } from "../../gate/reserve/first.js";
import { aimOf, overviewOf } from "../../gate/reserve.js";
import { openReservations, ppsgateItself, realDeps, whoami } from "../../gate/testbeds/first.js";
import { healthOf, whyUnhealthy } from "../../lab/check.js";
import { exitCodes } from "../../model/first-plain.js";
import { configPath, namedTestbed } from "../find-config.js";
import { clockText, hasColours, oneLine, print, printJson } from "../table.js";
import { diagnosticText, summary } from "./diagnostics-text.js";

// src/cli/lab/health.ts
async function run(names, { config: given, json = false }, { signal }) {
	const path = configPath(given);
	const config = await loadConfig(path);
	for (const name of names) namedTestbed(config, path, name);
	const chosen = names.length === 0 ? Object.keys(config.testbeds) : [...new Set(names)];
	const healths = [];
	for (const name of chosen) {
		if (!json) print(name);
		const health = await visitTestbed({
			name,
			testbed: namedTestbed(config, path, name),
			config,
			json,
			signal
		});
		healths.push(health);
		if (!json) print(`  ${oneLine(closing(health))}`);
	}
	if (json) printJson(healths);
	return healths.some(({ kind }) => kind === "wrong") ? exitCodes.infrastructure : exitCodes.pass;
}
/** A check never waits for its turn. */
var InUseError = class extends Error {};
async function visitTestbed(visit) {
	const { name, config, signal } = visit;
	const busy = new AbortController();
	await using reservations = await openReservations(config, {
		signal: AbortSignal.any([signal, busy.signal]),
		notify: (sentence) => notify(visit, sentence),
		onWait: () => busy.abort(new InUseError())
	});
	const { store } = reservations;
	try {
		if ((await readLab(store)).quarantines.has(name)) return await lookUnreserved(visit, store);
		const holder = {
			who: whoami(),
			purpose: healthPurpose
		};
		return await lookReserved(visit, await reservations.reserve([name], {
			priority: "rerun",
			holder
		}));
	} catch (error) {
		if (error instanceof InUseError) return await inUse(visit, store);
		if (!(error instanceof NotReservedError)) throw error;
		if ((await readLab(store)).quarantines.has(name)) return await lookUnreserved(visit, store);
		throw error;
	}
}
/** Preparation has checked or restored the base. */
async function lookReserved(visit, { lease, signal }) {
	const { name } = visit;
	const unfinished = {
		outcome: "the check did not finish",
		isClean: true
	};
	try {
		const diagnostics = await look(visit, AbortSignal.any([visit.signal, signal]));
		const reason = whyUnhealthy(diagnostics);
		unfinished.outcome = reason ?? "all checks passed";
		if (reason === void 0) return {
			testbed: name,
			kind: "well",
			diagnostics,
			quarantine: { kind: "none" }
		};
		const quarantine = {
			reason,
			by: ppsgateItself,
			since: (/* @__PURE__ */ new Date()).toISOString()
		};
		await lease.release({
			...unfinished,
			isClean: false,
			quarantine
		});
		return {
			testbed: name,
			kind: "wrong",
			diagnostics,
			quarantine: {
				kind: "stands",
				...quarantine
			}
		};
	} finally {
		await lease.release(unfinished);
	}
}
/** A quarantined testbed is never reserved, so the check can disturb only its last holder. */
async function lookUnreserved(visit, store) {
	const { name, signal } = visit;
	if (isHeld(visit, await readLab(store))) return inUse(visit, store);
	const diagnostics = await look(visit, signal);
	const lab = await readLab(store);
	const quarantine = lab.quarantines.get(name);
	if (isHeld(visit, lab)) return inUse(visit, store);
	const kind = whyUnhealthy(diagnostics) === void 0 ? "well" : "wrong";
	if (quarantine === void 0) return {
		testbed: name,
		kind,
		diagnostics,
		quarantine: { kind: "none" }
	};
	if (kind === "well" && quarantine.by === "ppsgate") {
		await liftQuarantine(store, name);
		return {
			testbed: name,
			kind,
			diagnostics,
			quarantine: { kind: "lifted" }
		};
	}
	return {
		testbed: name,
		kind,
		diagnostics,
		quarantine: {
			kind: "stands",
			...quarantine
		}
	};
}
async function look(visit, signal) {
	const deps = {
		...realDeps,
		notify: (sentence) => notify(visit, sentence),
		signal
	};
	const diagnostics = [];
	for await (const diagnostic of healthOf(visit.testbed, deps)) {
		diagnostics.push(diagnostic);
		if (!visit.json) print(indented(diagnosticText(diagnostic, hasColours(process.stdout))));
	}
	return diagnostics;
}
const indented = (text) => text.replace(/^/gm, "  ");
const notify = ({ json }, sentence) => void (json ? process.stderr : process.stdout).write(`  … ${oneLine(sentence)}\n`);
const stateIn = ({ name, config }, lab) => overviewOf(config, lab, () => 0, /* @__PURE__ */ new Date()).testbeds.find((testbed) => testbed.name === name);
const isHeld = (visit, lab) => stateIn(visit, lab)?.held !== void 0;
async function inUse(visit, store) {
	const held = stateIn(visit, await readLab(store))?.held;
	const why = held === void 0 ? "other requests wait for it" : `${held.who} holds it (${aimOf(held)})`;
	return {
		testbed: visit.name,
		kind: "in-use",
		why
	};
}
function closing(health) {
	if (health.kind === "in-use") return `– not checked: ${health.why}.`;
	const { testbed, diagnostics, quarantine } = health;
	return `${summary(diagnostics)}${interimText(testbed, health.kind, quarantine)}`;
}
function interimText(testbed, kind, quarantine) {
	switch (quarantine.kind) {
		case "none": return "";
		case "lifted": return " Its fault is fixed, so its quarantine is lifted.";
		case "stands": {
			const { by, reason, since } = quarantine;
			if (kind === "wrong" && by === "ppsgate") return ` It is in quarantine: check again with \`ppsgate testbeds health ${testbed}\` once that is fixed.`;
			return ` ${by} put it into quarantine at ${clockText(since, /* @__PURE__ */ new Date())} (${reason}): lift it with \`ppsgate quarantine ${testbed} --lift\`.`;
		}
	}
}

export { run };