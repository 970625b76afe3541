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
			if (estimate === void 0) return [];
			const { holder, priority, wants, since } = ticket;
			return [{
				...estimate,
				...holder,
				priority,
				wants: [...wants.keys()],
				since
			}];
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
		state: holding ? "held" : quarantine ? "quarantine" : left.length > 0 ? "left-behind" : "free",
		...holding !== void 0 && { held: {
			...holding.holder,
			testbed: holding.testbed,
			priority: holding.priority,
			token: holding.token,
			since: holding.since,
			expectedUntil: new Date(Date.parse(holding.since) + usualSeconds(holding.testbed) * 1e3).toISOString()
		} },
		...quarantine !== void 0 && { quarantine },
		...left.length > 0 && { leftBy: left.map(({ holder, testbed: used, since }) => ({
			...holder,
			testbed: used,
			since
		})) }
	};
}
/** A use counts as left behind once its holder is gone. */
function leftOn(machines, { used, held }) {
	const left = machines.flatMap((machine) => {
		const use = used.get(machine);
		return use === void 0 || held.get(machine)?.id === use.id ? [] : [use];
	});
	return [...new Map(left.map((use) => [use.id, use])).values()];
}
/** `gate of #12`, or only the purpose. */
const aimOf = ({ purpose, patch }) => patch === void 0 ? purpose : `${purpose} of ${patch}`;

export { aimOf, overviewOf, stateNames };