import { machinesOf } from "../lab/first.js";
import { estimateWaits } from "./estimate/first.js";

// src/gate/reserve/testbeds-overview.ts
const stateNames = {
	free: "free",
	held: "held",
	quarantine: "in quarantine",
	"left-behind": "left behind"
};
function overviewOf({ testbeds }, lab, usualSeconds, now) {
	const estimates = estimateWaits(lab, usualSeconds, now);
	return {
		at: now.toISOString(),
		testbeds: Object.entries(testbeds).map(([name, testbed]) => stateOf(name, testbed, lab, usualSeconds)),
		queue: lab.tickets.flatMap((ticket) => {
			const estimate = estimates.get(ticket.id);
			return estimate === void 0 ? [] : [waitingOf(ticket, estimate)];
		})
	};
}
function stateOf(name, testbed, lab, usualSeconds) {
	const machines = machinesOf(testbed);
	const holding = machines.map((machine) => lab.held.get(machine)).find((one) => one !== void 0);
	const quarantine = lab.quarantines.get(name);
	const left = leftOn(machines, lab);
	return {
		name,
		kind: testbed.kind,
		state: stateName(holding, quarantine, left),
		...holding !== void 0 && { held: heldBy(holding, usualSeconds) },
		...quarantine !== void 0 && { quarantine },
		...left.length > 0 && { leftBy: left.map(({ holder, testbed: used, since }) => ({
			...holder,
			testbed: used,
			since
		})) }
	};
}
function stateName(holding, quarantine, left) {
	if (holding !== void 0) return "held";
	if (quarantine !== void 0) return "quarantine";
	return left.length > 0 ? "left-behind" : "free";
}
/** A use counts as left behind once its holder is gone. */
function leftOn(machines, { used, held }) {
	const left = machines.flatMap((machine) => {
		const use = used.get(machine);
		return use === void 0 || held.get(machine)?.id === use.id ? [] : [use];
	});
	return [...new Map(left.map((use) => [use.id, use])).values()];
}
function heldBy({ holder, testbed, priority, token, since }, usualSeconds) {
	const end = Date.parse(since) + usualSeconds(testbed) * 1e3;
	return {
		...holder,
		testbed,
		priority,
		token,
		since,
		expectedUntil: new Date(end).toISOString()
	};
}
const waitingOf = ({ holder, priority, wants, since }, estimate) => ({
	...estimate,
	...holder,
	priority,
	wants: [...wants.keys()],
	since
});
/** `gate of #12`, or only the purpose. */
const aimOf = ({ purpose, patch }) => patch === void 0 ? purpose : `${purpose} of ${patch}`;

export { aimOf, overviewOf, stateNames };