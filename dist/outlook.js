import { t as median } from "./summary.js";
import { c as assign, f as testbedsOf, u as insertInOrder } from "./overrides.js";
import { a as lostOutcome, f as readLog, l as linesOf, p as rivalsOf } from "./reservation.js";

// src/reservation/forecast.ts
/** Who starts where and when, in that order; ends where nobody waits any more, or nobody who does can be served. */
function* simulate({ lines, held, testbeds, usualSeconds }) {
	const queue = lines.map(({ wants, waiting }) => ({
		wants,
		waiting: [...waiting]
	}));
	const lineOf = new Map(queue.flatMap((line) => line.waiting.map((place) => [place, line])));
	const machines = openMachines(testbeds);
	const ends = held.map((one) => ({
		machines: one.machines,
		at: one.secondsLeft
	}));
	ends.sort(lastToEnd);
	for (const one of ends) machines.take(one.machines);
	for (let now = 0;;) {
		for (const grant of assign(queue, machines.free)) {
			yield {
				...grant,
				afterSeconds: now
			};
			lineOf.get(grant.place)?.waiting.shift();
			const taken = testbeds.get(grant.testbed) ?? [];
			machines.take(taken);
			insertInOrder(ends, {
				machines: taken,
				at: now + usualSeconds(grant.testbed)
			}, lastToEnd);
		}
		let next = ends.at(-1);
		if (next === void 0) return;
		now = Math.max(now, next.at);
		for (; next !== void 0 && next.at <= now; next = ends.at(-1)) {
			machines.giveBack(next.machines);
			ends.pop();
		}
	}
}
const lastToEnd = (a, b) => b.at - a.at;
/** Seconds until it is one's turn; undefined where it never comes. */
function expectedWait(load, id) {
	return simulate(load).find(({ place }) => place.id === id)?.afterSeconds;
}
/** Which testbeds are free while machines are taken and given back. */
function openMachines(testbeds) {
	const uses = [...testbeds].flatMap(([testbed, machines]) => machines.map((machine) => ({
		testbed,
		machine
	})));
	const users = Map.groupBy(uses, ({ machine }) => machine);
	const testbedsOn = (machine) => (users.get(machine) ?? []).map(({ testbed }) => testbed);
	const taken = /* @__PURE__ */ new Set();
	const free = new Map(testbeds);
	return {
		free,
		take(machines) {
			for (const machine of machines) {
				taken.add(machine);
				for (const testbed of testbedsOn(machine)) free.delete(testbed);
			}
		},
		giveBack(machines) {
			for (const machine of machines) taken.delete(machine);
			for (const testbed of new Set(machines.flatMap(testbedsOn))) {
				const own = testbeds.get(testbed) ?? [];
				if (!own.some((machine) => taken.has(machine))) free.set(testbed, own);
			}
		}
	};
}

// src/reservation/outlook.ts
/** Of one who only looks whether a testbed is well, which is over in moments. */
const lookPurpose = "health";
function outlookOf(lab, ticket, usualSeconds, now) {
	const expectedSeconds = expectedWait(loadOf(lab, usualSeconds, now), ticket.id);
	return {
		...placeOf(lab, ticket),
		...expectedSeconds !== void 0 && { expectedSeconds }
	};
}
/** The same of all who wait, by the ids of their tickets, with the queue played on only once. */
function outlooksOf(lab, usualSeconds, now) {
	const starts = [...simulate(loadOf(lab, usualSeconds, now))];
	const waits = new Map(starts.map(({ place, afterSeconds }) => [place.id, afterSeconds]));
	return new Map(lab.tickets.map((ticket) => {
		const expectedSeconds = waits.get(ticket.id);
		const expected = expectedSeconds !== void 0 && { expectedSeconds };
		return [ticket.id, {
			...placeOf(lab, ticket),
			...expected
		}];
	}));
}
function placeOf(lab, ticket) {
	const rivals = rivalsOf(lab, ticket);
	return {
		place: rivals.indexOf(ticket) + 1,
		of: rivals.length
	};
}
function loadOf(lab, usualSeconds, now) {
	const lines = linesOf(lab);
	const holdings = new Map([...lab.held.values()].map((holding) => [holding.id, holding]));
	return {
		lines,
		testbeds: testbedsOf(lines),
		held: [...holdings.values()].map(({ machines, testbed, since }) => {
			const elapsed = Math.max(0, (now.getTime() - Date.parse(since)) / 1e3);
			return {
				machines,
				secondsLeft: Math.max(usualSeconds(testbed) - elapsed, leastSeconds)
			};
		}),
		usualSeconds
	};
}
/** Nobody knows more of a holder that has been there longer than usual. */
const leastSeconds = 60;
/** Where nothing is known yet: a cell or two. */
const firstGuessSeconds = 1800;
/** By what the log has of this month and the last one. */
async function readUsualSeconds(store, now) {
	const months = [new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1)), now].map((date) => date.toISOString().slice(0, 7));
	return usualSecondsOf((await Promise.all(months.map((month) => readLog(store, month)))).flat());
}
function usualSecondsOf(log) {
	const held = log.flatMap(({ testbed, holder, since, until, outcome }) => since === void 0 || until === void 0 || outcome === "it was not renewed in time" || holder.purpose === "health" ? [] : [{
		testbed,
		seconds: (Date.parse(until) - Date.parse(since)) / 1e3
	}]);
	const byTestbed = Map.groupBy(held, ({ testbed }) => testbed);
	return (testbed) => {
		const known = (byTestbed.get(testbed) ?? held).slice(-20).map(({ seconds }) => seconds);
		return known.length === 0 ? firstGuessSeconds : median(known);
	};
}

export { readUsualSeconds as i, outlookOf as n, outlooksOf as r, lookPurpose as t };