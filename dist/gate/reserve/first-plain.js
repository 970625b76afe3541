import { priorities, reasonOf } from "../../model/first-plain.js";

// src/gate/reserve/queue.ts
const byTurn = (a, b) => priorities.indexOf(a.priority) - priorities.indexOf(b.priority) || a.order - b.order || (a.id < b.id ? -1 : 1);
/**
* Returns the grants for the free testbeds in order of turns. A waiting request blocks its machines for all later ones,
* as smaller requests could otherwise pass it forever. Time grows with lines and free testbeds, not with requests.
*/
function assign(lines, free) {
	const open = new Map(free);
	const openMachines = new Set([...open.values()].flat());
	const heads = lines.filter(({ wants }) => !indexOf(wants).machines.isDisjointFrom(openMachines)).flatMap((line) => headOf(line, 0)).sort(lastInTurn);
	const grants = [];
	while (open.size > 0) {
		const head = heads.pop();
		if (head === void 0) break;
		const { line, index, place } = head;
		const testbed = bestOf(line.wants, open);
		if (testbed === void 0) close(open, indexOf(line.wants).machines);
		else {
			grants.push({
				place,
				testbed
			});
			close(open, new Set(open.get(testbed)));
			for (const next of headOf(line, index + 1)) insertInOrder(heads, next, lastInTurn);
		}
	}
	return grants;
}
function headOf(line, index) {
	const place = line.waiting[index];
	return place === void 0 ? [] : [{
		line,
		index,
		place
	}];
}
const lastInTurn = (a, b) => byTurn(b.place, a.place);
/** Inserts an item before equal ones in a sorted list. */
function insertInOrder(list, item, order) {
	let [low, high] = [0, list.length];
	while (low < high) {
		const middle = low + high >>> 1;
		const other = list[middle];
		if (other !== void 0 && order(other, item) < 0) low = middle + 1;
		else high = middle;
	}
	list.splice(low, 0, item);
}
/** Unites the testbeds of all lines. If two lines list different machines of one testbed, it has both sets. */
function testbedsOf(lines) {
	const testbeds = /* @__PURE__ */ new Map();
	for (const [testbed, machines] of lines.flatMap(({ wants }) => [...wants])) {
		const known = testbeds.get(testbed) ?? [];
		testbeds.set(testbed, [.../* @__PURE__ */ new Set([...known, ...machines])]);
	}
	return testbeds;
}
/** Iterates over the smaller side: few testbeds are free while many requests wait. */
function bestOf(wants, open) {
	if (wants.size <= open.size) return wants.keys().find((testbed) => open.has(testbed));
	const { rank } = indexOf(wants);
	const rankOf = (testbed) => rank.get(testbed) ?? Number.POSITIVE_INFINITY;
	let best;
	for (const testbed of open.keys()) if ((best === void 0 || rankOf(testbed) < rankOf(best)) && rank.has(testbed)) best = testbed;
	return best;
}
function close(open, machines) {
	for (const [testbed, own] of open) if (own.some((machine) => machines.has(machine))) open.delete(testbed);
}
const indexes = /* @__PURE__ */ new WeakMap();
function indexOf(wants) {
	const known = indexes.get(wants);
	if (known !== void 0) return known;
	const index = {
		rank: new Map([...wants.keys()].map((testbed, rank) => [testbed, rank])),
		machines: new Set([...wants.values()].flat())
	};
	indexes.set(wants, index);
	return index;
}

// src/gate/reserve/lease-session.ts
async function openSession(deps) {
	const { store, leaseSeconds, now, sleep } = deps;
	const stopped = new AbortController();
	const over = new AbortController();
	let aliveUntil = now() + leaseSeconds;
	let trouble;
	const id = await store.openSession(leaseSeconds);
	const end = (why) => {
		stopped.abort();
		over.abort(new Error(why));
	};
	const assertAlive = () => {
		if (now() >= aliveUntil) end(whyNotRenewed(leaseSeconds, trouble));
		over.signal.throwIfAborted();
	};
	const renew = async () => {
		for (;;) {
			await sleep(leaseSeconds / (trouble === void 0 ? 3 : 10), stopped.signal);
			const requestedAt = now();
			try {
				if (!await store.renew(id)) return end(endedByStore(leaseSeconds));
				aliveUntil = requestedAt + leaseSeconds;
				trouble = void 0;
			} catch (error) {
				trouble = error;
			}
		}
	};
	const watchTime = async () => {
		for (let left = aliveUntil - now(); left > 0; left = aliveUntil - now()) await sleep(left, stopped.signal);
		end(whyNotRenewed(leaseSeconds, trouble));
	};
	for (const loop of [renew, watchTime]) loop().catch(ifStopped(stopped.signal, end));
	return {
		id,
		signal: over.signal,
		assertAlive,
		async end() {
			stopped.abort();
			await store.endSession(id);
		}
	};
}
const endedByStore = (leaseSeconds) => `the store ended it, because it received no renewal for ${leaseSeconds} s`;
function whyNotRenewed(leaseSeconds, trouble) {
	return `it was not renewed for ${leaseSeconds} s (${trouble === void 0 ? "this process was stopped, or very slow" : reasonOf(trouble)})`;
}
const ifStopped = (stopped, end) => (error) => {
	if (!stopped.aborted) end(reasonOf(error));
};

export { assign, byTurn, openSession, testbedsOf };