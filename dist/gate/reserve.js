import { isCompleted, parseJson, priorities, reasonOf } from "../model.js";
import { _enum, array, custom, datetime, number$1 as number, object, string, tuple } from "../vendor/zod.js";
import { median } from "../analysis/stats.js";
import { StoreError, openStore } from "./reserve/store.js";
import { machinesOf } from "../lab.js";
import { basename, dirname, join } from "node:path";
import { mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";

// src/gate/reserve/queue.ts
const byTurn = (a, b) => priorities.indexOf(a.priority) - priorities.indexOf(b.priority) || a.order - b.order || (a.id < b.id ? -1 : 1);
/**
* What the free testbeds are to be given to, now, in the order of turns. Who must wait also keeps all that come later
* from the machines that he waits for, or testbeds that share one could be given past him for ever.
* Takes time by the lines and the free testbeds, not by those who wait.
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
/** Into a list that is in that order, before what equals it. */
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
/** All that somebody waits for. Where two know of different machines of one testbed, it takes the machines of both. */
function testbedsOf(lines) {
	const testbeds = /* @__PURE__ */ new Map();
	for (const [testbed, machines] of lines.flatMap(({ wants }) => [...wants])) {
		const known = testbeds.get(testbed) ?? [];
		testbeds.set(testbed, [.../* @__PURE__ */ new Set([...known, ...machines])]);
	}
	return testbeds;
}
/** Looks through the fewer of the two: few are open while many wait. */
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
/** Made once for all who want the same. */
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

// src/gate/reserve/records.ts
const holder = object({
	/** A person or a job, as people know it. */
	who: string(),
	purpose: string(),
	/** What is judged, like `o/r#12 at 1a2b3c4`. */
	patch: string().optional(),
	/** Page of the job. */
	url: string().optional()
});
const priority = _enum(priorities);
const time = datetime();
const ticket = object({
	priority,
	/** Order of the one whose place was taken over; absent: its own revision. */
	order: number().optional(),
	/** Only the newest of one subject waits. */
	subject: string().optional(),
	holder,
	since: time,
	/** Testbeds, the first best, each with its machines. */
	wants: array(tuple([string(), array(string())]))
});
const use = object({
	id: string(),
	testbed: string(),
	holder,
	since: time
});
const holding = object({
	id: string(),
	testbed: string(),
	machines: array(string()),
	priority,
	order: number(),
	holder,
	waitingSince: time,
	since: time,
	/** Those who did not bring its machines back to their base. */
	leftBy: array(use)
});
const quarantine = object({
	reason: string(),
	by: string(),
	since: time
});
const logged = object({
	testbed: string(),
	holder,
	priority,
	waitingSince: time,
	since: time.optional(),
	until: time.optional(),
	/** Absent while it is held. */
	outcome: string().optional()
});
const folders = {
	ticket: "lab/wait/",
	held: "lab/held/",
	used: "lab/used/",
	log: "log/"
};
const quarantines = "lab/quarantine/";
const keys = {
	ticket: (id) => folders.ticket + id,
	held: (machine) => folders.held + machine,
	used: (machine) => folders.used + machine,
	quarantine: (testbed) => quarantines + testbed,
	log: (id) => folders.log + id
};
const text = (record) => JSON.stringify(record);
const putTicket = (id, record, session) => ({
	key: keys.ticket(id),
	value: text(record),
	session
});
const putHolding = (record, session) => record.machines.map((machine) => ({
	key: keys.held(machine),
	value: text(record),
	session
}));
const putUse = (record, machines) => machines.map((machine) => ({
	key: keys.used(machine),
	value: text(record)
}));
const putQuarantine = (testbed, record) => ({
	key: keys.quarantine(testbed),
	value: text(record)
});
const putLogged = ({ id, ...record }) => ({
	key: keys.log(id),
	value: text(record)
});
async function readLab(store) {
	const { entries, revision } = await store.read("lab/");
	const under = (folder) => entries.filter(({ key }) => key.startsWith(folder));
	return {
		revision,
		tickets: under(folders.ticket).map(ticketOf).toSorted(byTurn),
		held: byName(under(folders.held), folders.held, holdingIn),
		used: byName(under(folders.used), folders.used, (entry) => parsed(use, entry)),
		quarantines: byName(under(quarantines), quarantines, (entry) => parsed(quarantine, entry))
	};
}
/** Who holds a machine, and the revision of the store as of which that is so. */
async function readHolding(store, machine) {
	const key = keys.held(machine);
	const { entries, revision } = await store.read(key);
	const entry = entries.find((one) => one.key === key);
	return {
		holding: entry && holdingIn(entry),
		revision
	};
}
/** The reservations that were made, the oldest first; those of one id where it is given. */
async function readLog(store, id = "") {
	const { entries } = await store.read(keys.log(id));
	return entries.map((entry) => ({
		id: entry.key.slice(folders.log.length),
		...parsed(logged, entry)
	}));
}
const holdingIn = (entry) => ({
	...parsed(holding, entry),
	token: entry.revision
});
function ticketOf(entry) {
	const { order, wants, subject, ...rest } = parsed(ticket, entry);
	return {
		...rest,
		id: entry.key.slice(folders.ticket.length),
		order: order ?? entry.revision,
		subject,
		wants: new Map(wants),
		revision: entry.revision
	};
}
function byName(entries, folder, read) {
	return new Map(entries.map((entry) => [entry.key.slice(folder.length), read(entry)]));
}
function parsed(schema, { key, value }) {
	const record = schema.safeParse(parseJson(value));
	if (record.success) return record.data;
	throw new StoreError(`The reservation store holds something under "${key}" that this ppsgate cannot read; use one version of it for one store, or remove that key.`);
}
/** All who wait for a machine that the ticket's owner waits for, he himself too, in the order of their turns. */
function rivalsOf({ tickets }, { wants }) {
	const machines = new Set([...wants.values()].flat());
	return tickets.filter((other) => [...other.wants.values()].flat().some((machine) => machines.has(machine)));
}
/** The queue of those who wait, without testbeds that are in quarantine. */
function linesOf({ tickets, quarantines }) {
	const isHealthy = ([testbed]) => !quarantines.has(testbed);
	const healthy = tickets.map((one) => ({
		...one,
		wants: [...one.wants].filter(isHealthy)
	}));
	return [...Map.groupBy(healthy, ({ wants }) => JSON.stringify(wants)).values()].map((waiting) => ({
		wants: new Map(waiting[0]?.wants),
		waiting
	}));
}

// src/gate/reserve/reservation.ts
/** Enters the queue. */
async function enter(store, request, entrance) {
	const { id, session, order } = entrance;
	for (let isIn = false;;) {
		const lab = await readLab(store);
		const own = lab.tickets.find((ticket) => ticket.id === id);
		const older = olderOf(lab, request, own);
		if (isIn && (own === void 0 || older === void 0)) return { kind: "waiting" };
		if (order !== void 0 && older !== void 0) return {
			kind: "gone",
			why: gaveWayTo(older.holder)
		};
		if (await store.commit(entryOf(request, entrance, own, older)) !== void 0) {
			if (request.subject === void 0) return { kind: "waiting" };
			isIn = true;
		} else if (!await store.renew(session)) return {
			kind: "gone",
			why: void 0
		};
	}
}
/** One of the same subject that has come before, and still waits for the same. */
function olderOf({ tickets }, { subject, testbeds }, own) {
	if (subject === void 0) return void 0;
	const names = [...testbeds.keys()].join();
	return tickets.find((ticket) => ticket.subject === subject && [...ticket.wants.keys()].join() === names && (own === void 0 || ticket.revision < own.revision));
}
function entryOf(request, entrance, own, older) {
	const { testbeds, priority, holder, subject } = request;
	const { id, session, at } = entrance;
	const order = (older && Math.min(older.order, own?.order ?? older.order)) ?? entrance.order;
	const ticket = {
		priority,
		...order !== void 0 && { order },
		...subject !== void 0 && { subject },
		holder,
		since: at.toISOString(),
		wants: [...testbeds].map(([name, machines]) => [name, [...machines]])
	};
	const replaced = older === void 0 ? [] : [older];
	return {
		conditions: [{
			id,
			revision: own?.revision ?? 0
		}, ...replaced].map(({ id, revision }) => ({
			key: keys.ticket(id),
			revision
		})),
		put: [putTicket(id, ticket, session), ...replaced.map((one) => putLogged(superseded(one, holder, at)))],
		remove: replaced.map((one) => keys.ticket(one.id))
	};
}
const superseded = (ticket, by, at) => ({
	id: ticket.id,
	testbed: "",
	holder: ticket.holder,
	priority: ticket.priority,
	waitingSince: ticket.since,
	until: at.toISOString(),
	outcome: gaveWayTo(by)
});
const gaveWayTo = (by) => `its place in the queue went to ${by.patch ?? by.purpose}`;
/** Takes a testbed if it is one's turn. */
async function tryReserve(store, id, session, at) {
	for (;;) {
		const lab = await readLab(store);
		const ticket = lab.tickets.find((one) => one.id === id);
		if (ticket === void 0) return withoutTicket(store, lab, id);
		const sick = [...lab.quarantines].filter(([testbed]) => ticket.wants.has(testbed));
		if (sick.length === ticket.wants.size) return {
			kind: "none-healthy",
			quarantines: new Map(sick)
		};
		const lines = linesOf(lab);
		const grant = assign(lines, freeIn(lab, lines)).find(({ place }) => place.id === id);
		if (grant === void 0) return {
			kind: "waiting",
			ticket,
			lab
		};
		const taking = takingOf(lab, ticket, grant.testbed, at);
		const lost = await lostUses(store, taking.holding.leftBy, at);
		const token = await store.commit({
			conditions: [
				{
					key: keys.ticket(id),
					revision: ticket.revision
				},
				{
					key: keys.quarantine(grant.testbed),
					revision: 0
				},
				...taking.holding.machines.map((machine) => ({
					key: keys.held(machine),
					revision: 0
				}))
			],
			put: [
				...putHolding(taking.holding, session),
				...putUse(taking.use, taking.holding.machines),
				putLogged(taking.logged),
				...lost.map(putLogged)
			],
			remove: [keys.ticket(id)]
		});
		if (token === void 0) continue;
		return {
			kind: "taken",
			holding: {
				...taking.holding,
				token
			}
		};
	}
}
/** A commit whose answer was lost may have been done. */
async function withoutTicket(store, lab, id) {
	const holding = holdingOf(lab, id);
	if (holding !== void 0) return {
		kind: "taken",
		holding
	};
	const [logged] = await readLog(store, id);
	return {
		kind: "gone",
		why: logged?.outcome
	};
}
/** The testbeds somebody waits for that could be taken now. */
function freeIn({ held }, lines) {
	const isFree = ([, machines]) => !machines.some((machine) => held.has(machine));
	return new Map([...testbedsOf(lines)].filter(isFree));
}
function takingOf(lab, ticket, testbed, at) {
	const { id, priority, order, holder, wants } = ticket;
	const machines = [...wants.get(testbed) ?? []];
	const [waitingSince, since] = [ticket.since, at.toISOString()];
	const left = machines.flatMap((machine) => lab.used.get(machine) ?? []);
	return {
		holding: {
			id,
			testbed,
			machines,
			priority,
			order,
			holder,
			waitingSince,
			since,
			leftBy: [...new Map(left.map((one) => [one.id, one])).values()]
		},
		use: {
			id,
			testbed,
			holder,
			since
		},
		logged: {
			id,
			testbed,
			holder,
			priority,
			waitingSince,
			since
		}
	};
}
/** Its `until` is when that was found out. */
const lostOutcome = "it was not renewed in time";
/** Whose sessions ended before they could say how it went. */
async function lostUses(store, uses, at) {
	const open = (await Promise.all(uses.map(({ id }) => readLog(store, id)))).flat().filter(({ outcome }) => outcome === void 0);
	const until = at.toISOString();
	return open.map((logged) => ({
		...logged,
		until,
		outcome: lostOutcome
	}));
}
function holdingOf({ held }, id) {
	return held.values().find((holding) => holding.id === id);
}
/** Gives a testbed back; false where it was not held any more, which changes nothing. */
async function giveBack(store, holding, { outcome, isClean, quarantine }, at) {
	const { id, testbed, machines, token, holder, priority, waitingSince, since } = holding;
	const logged = {
		id,
		testbed,
		holder,
		priority,
		waitingSince,
		since
	};
	const isNew = quarantine !== void 0 && !(await readLab(store)).quarantines.has(testbed);
	return await store.commit({
		conditions: machines.map((machine) => ({
			key: keys.held(machine),
			revision: token
		})),
		put: [putLogged({
			...logged,
			until: at.toISOString(),
			outcome
		}), ...isNew ? [putQuarantine(testbed, quarantine)] : []],
		remove: [...machines.map(keys.held), ...isClean ? machines.map(keys.used) : []]
	}) !== void 0;
}
/** Nobody gets the testbed from now on; who holds it keeps it. */
async function setQuarantine(store, testbed, quarantine) {
	await store.commit({
		conditions: [],
		put: [putQuarantine(testbed, quarantine)],
		remove: []
	});
}
/** False where there was none. */
async function liftQuarantine(store, testbed) {
	const { quarantines } = await readLab(store);
	if (!quarantines.has(testbed)) return false;
	await store.commit({
		conditions: [],
		put: [],
		remove: [keys.quarantine(testbed)]
	});
	return true;
}

// src/gate/reserve/lease-file.ts
const fileName = "lease.json";
const schema = object({
	id: string(),
	session: string(),
	testbed: string(),
	reservations: custom((value) => typeof value === "object")
});
/** Writes it into the directory of a gate, where it stays as long as the testbed is held. */
async function keepLease(directory, { holding, session, testbed }, reservations) {
	await mkdir(directory, { recursive: true });
	const left = {
		id: holding.id,
		session,
		testbed,
		reservations
	};
	await writeFile(join(directory, fileName), `${JSON.stringify(left, null, 2)}\n`);
}
const forgetLease = (directory) => rm(join(directory, fileName), { force: true });
/** The directories with a lease, among this one and all below it: several gates of one process have one each. */
async function directoriesWithLease(top) {
	return (await readdir(top, { recursive: true }).catch(() => [])).filter((name) => basename(name) === fileName).map((name) => dirname(join(top, name))).toSorted();
}
/**
* Gives back what a process that has ended still held; its next holder brings it to its base. Answers the testbed's
* name; undefined where nothing was held any more. Throws a StoreError.
*/
async function releaseLeft(directory, now) {
	const text = await readFile(join(directory, fileName), "utf8").catch(() => void 0);
	if (text === void 0) return void 0;
	const left = leaseIn(text);
	if (left === void 0) throw new StoreError(`The lease in ${directory} cannot be read: it ends by itself where its process has ended.`);
	const store = await openStore(left.reservations);
	try {
		const holding = holdingOf(await readLab(store), left.id);
		const ending = {
			outcome: "its process had ended",
			isClean: false
		};
		if (holding !== void 0) await giveBack(store, holding, ending, now);
		await store.endSession(left.session);
		await forgetLease(directory);
		return holding?.testbed;
	} finally {
		await store.close();
	}
}
function leaseIn(text) {
	try {
		return schema.parse(JSON.parse(text));
	} catch {
		return;
	}
}

// src/gate/estimate/queue.ts
/** Purpose of a lease that only checks a testbed, which lasts moments. */
const healthPurpose = "health";
function estimateWait(lab, ticket, usualSeconds, now) {
	const expectedSeconds = expectedWait(loadOf(lab, usualSeconds, now), ticket.id);
	return {
		...placeOf(lab, ticket),
		...expectedSeconds !== void 0 && { expectedSeconds }
	};
}
/** Estimates every ticket by its id, with one simulation. */
function estimateWaits(lab, usualSeconds, now) {
	const starts = [...simulateQueue(loadOf(lab, usualSeconds, now))];
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
/** The testbed that a request of now would get, and after how long; undefined where no suitable testbed is healthy. */
function estimateStart(lab, { priority, testbeds }, usualSeconds, now) {
	const newcomer = {
		id: "",
		order: Number.POSITIVE_INFINITY,
		priority,
		revision: 0,
		wants: testbeds,
		holder: {
			who: "",
			purpose: ""
		},
		since: now.toISOString(),
		subject: void 0
	};
	const tickets = [...lab.tickets, newcomer].toSorted(byTurn);
	const start = simulateQueue(loadOf({
		...lab,
		tickets
	}, usualSeconds, now)).find(({ place }) => place.id === newcomer.id);
	return start && {
		testbed: start.testbed,
		afterSeconds: start.afterSeconds
	};
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
/** Assumed of a holder that has been there for longer than usual. */
const leastSeconds = 60;
/** Assumed before anything is logged: a gate of a cell or two. */
const firstGuessSeconds = 1800;
/** Reads the log of this month and the last one. */
async function readUsualSeconds(store, now) {
	const months = [new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1)), now].map((date) => date.toISOString().slice(0, 7));
	return usualSecondsOf((await Promise.all(months.map((month) => readLog(store, month)))).flat());
}
function usualSecondsOf(log) {
	const held = log.flatMap(({ testbed, holder, since, until, outcome }) => since === void 0 || until === void 0 || outcome === "it was not renewed in time" || !isCompleted(outcome) || holder.purpose === "health" ? [] : [{
		testbed,
		seconds: (Date.parse(until) - Date.parse(since)) / 1e3
	}]);
	const byTestbed = Map.groupBy(held, ({ testbed }) => testbed);
	return (testbed) => {
		const known = (byTestbed.get(testbed) ?? held).slice(-20).map(({ seconds }) => seconds);
		return known.length === 0 ? firstGuessSeconds : median(known);
	};
}
/** Yields the starts in the order of time; ends where no ticket is left that can be served. */
function* simulateQueue({ lines, held, testbeds, usualSeconds }) {
	const queue = lines.map(({ wants, waiting }) => ({
		wants,
		waiting: [...waiting]
	}));
	const lineOf = new Map(queue.flatMap((line) => line.waiting.map((place) => [place, line])));
	const machines = openMachines(testbeds);
	const ends = held.map(({ machines, secondsLeft }) => ({
		machines,
		at: secondsLeft
	}));
	ends.sort(lastToEnd);
	for (const end of ends) machines.take(end.machines);
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
/** Seconds until the turn of a ticket; undefined where it never comes. */
function expectedWait(load, id) {
	return simulateQueue(load).find(({ place }) => place.id === id)?.afterSeconds;
}
/** Tracks the testbeds that are free while machines are taken and given back. */
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

// src/gate/reserve/lease-session.ts
/** Opens a session and renews it until it ends. */
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
			const askedAt = now();
			try {
				if (!await store.renew(id)) return end(endedByStore(leaseSeconds));
				aliveUntil = askedAt + leaseSeconds;
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
const endedByStore = (leaseSeconds) => `the store had ended it, as for all it knew it was not renewed for ${leaseSeconds} s`;
function whyNotRenewed(leaseSeconds, trouble) {
	return `it was not renewed for ${leaseSeconds} s (${trouble === void 0 ? "this process was stopped, or very slow" : reasonOf(trouble)})`;
}
const ifStopped = (stopped, end) => (error) => {
	if (!stopped.aborted) end(reasonOf(error));
};

// src/gate/reserve/lease.ts
/** The testbed is somebody else's by now, or may be. */
var LeaseLostError = class extends Error {
	name = "LeaseLostError";
	constructor(testbed, why) {
		super(`The lease of ${testbed} was lost: ${why}; nothing more is done on it, and a gate that was cut short goes on with --resume.`);
	}
};
/** Nothing was reserved, and waiting on would not change that. */
var NotReservedError = class extends Error {
	name = "NotReservedError";
};
/**
* Waits for one of the testbeds, for as long as it takes. With `order` the request has the place in the queue of one
* that came earlier. Rejects with the signal's reason, with a NotReservedError, or with a StoreError.
*/
async function reserve(request, deps, order) {
	const { store, date } = deps;
	const session = await openSession(deps);
	try {
		const at = date();
		const id = `${at.toISOString()}-${deps.randomId()}`;
		const entrance = {
			id,
			session: session.id,
			at,
			...order !== void 0 && { order }
		};
		const entry = await enter(store, request, entrance);
		if (entry.kind === "gone") throw new NotReservedError(whyNone(entry));
		return leaseOf(await waitForTurn(id, session, deps), session, deps);
	} catch (error) {
		await session.end().catch(() => {});
		throw error;
	}
}
const tooSlow = "Nothing was reserved: this process was stopped, or cut off from the reservation store, for longer than a lease lasts; start it again.";
async function waitForTurn(id, session, deps) {
	const { store, leaseSeconds, now, sleep, date, onWait } = deps;
	const signal = AbortSignal.any([deps.signal, session.signal]);
	let troubledSince;
	for (;;) {
		deps.signal.throwIfAborted();
		if (session.signal.aborted) throw new NotReservedError(tooSlow);
		try {
			const attempt = await tryReserve(store, id, session.id, date());
			troubledSince = void 0;
			if (attempt.kind === "taken") return attempt.holding;
			if (attempt.kind !== "waiting") throw new NotReservedError(whyNone(attempt));
			onWait(attempt);
			await store.changed(attempt.lab.revision, signal).catch(unlessAborted(signal));
			await sleep(secondsToYield(attempt), signal).catch(unlessAborted(signal));
		} catch (error) {
			if (!(error instanceof StoreError)) throw error;
			troubledSince ??= now();
			if (now() - troubledSince >= mostLeasesOfTrouble * leaseSeconds) throw error;
			await sleep(leaseSeconds / 10, signal).catch(unlessAborted(signal));
		}
	}
}
/** Trouble with the store is borne for so many leases: it may renew a session, and answer nothing else. */
const mostLeasesOfTrouble = 5;
/** Whoever is next looks at once; the others not all in the same moment, which would only hold him up. */
const secondsToYield = ({ lab, ticket }) => Math.min(rivalsOf(lab, ticket).indexOf(ticket) / 10, mostSecondsToYield);
const mostSecondsToYield = 5;
/** Who aborted is looked for where that is told. */
const unlessAborted = (signal) => (error) => {
	if (!signal.aborted) throw error;
};
function whyNone(attempt) {
	if (attempt.kind === "gone") return attempt.why === void 0 ? tooSlow : `Nothing was reserved: ${attempt.why}.`;
	return `Nothing was reserved: all that would do is in quarantine, ${[...attempt.quarantines].map(([testbed, { reason, since }]) => `${testbed} since ${since} (${reason})`).join(", ")}; once it is fixed, lift it with \`ppsgate quarantine NAME --lift\`.`;
}
function leaseOf(holding, session, deps) {
	const { store, leaseSeconds, date, sleep } = deps;
	const { testbed, token, machines } = holding;
	const [machine = ""] = machines;
	const lost = new AbortController();
	const ended = new AbortController();
	const lose = (why) => {
		if (ended.signal.aborted) return;
		lost.abort(new LeaseLostError(testbed, why));
		ended.abort();
		session.end().catch(() => {});
	};
	const assertHeld = () => {
		try {
			session.assertAlive();
		} catch (error) {
			lose(reasonOf(error));
		}
		lost.signal.throwIfAborted();
		if (ended.signal.aborted) throw new LeaseLostError(testbed, "it was given back");
	};
	const look = async () => {
		const { holding: found, revision } = await readHolding(store, machine);
		if (found?.id !== holding.id) lose(await whyTaken());
		return revision;
	};
	const whyTaken = async () => {
		const [logged] = await readLog(store, holding.id);
		return logged?.outcome ?? `it was not renewed for ${leaseSeconds} s`;
	};
	const watch = async () => {
		for (let revision = token; !ended.signal.aborted;) try {
			await store.changed(revision, ended.signal, keys.held(machine));
			revision = await look();
		} catch {
			await sleep(leaseSeconds / 10, ended.signal);
		}
	};
	const onOver = () => lose(reasonOf(session.signal.reason));
	session.signal.addEventListener("abort", onOver, { signal: ended.signal });
	if (session.signal.aborted) onOver();
	watch().catch(() => {});
	return {
		testbed,
		token,
		holding,
		session: session.id,
		signal: lost.signal,
		assertHeld,
		async prove() {
			assertHeld();
			await look();
			assertHeld();
		},
		async release(ending) {
			if (ended.signal.aborted) return;
			ended.abort();
			try {
				await giveBack(store, holding, ending, date());
			} finally {
				await session.end().catch(() => {});
			}
		}
	};
}

// src/gate/reserve/testbeds-overview.ts
/** What people read of each state. */
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
/** What a holder uses is left behind only once he is gone. */
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
/** `gate of #12`, or the purpose alone. */
const aimOf = ({ purpose, patch }) => patch === void 0 ? purpose : `${purpose} of ${patch}`;

export { NotReservedError, aimOf, directoriesWithLease, estimateStart, estimateWait, forgetLease, giveBack, healthPurpose, holdingOf, keepLease, liftQuarantine, overviewOf, readLab, readLog, readUsualSeconds, releaseLeft, reserve, setQuarantine, stateNames };