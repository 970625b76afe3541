import { endedEarly, parseJson, priorities, reasonOf } from "../../model/first-plain.js";
import { _enum, custom, object, tuple } from "../../vendor/zod.js";
import { line, list, name, path as path$1, prose, time as time$1, total } from "../../model/first.js";
import { makeFolders } from "../../system/give-to-caller.js";
import { processMarkSchema } from "../../system/process.js";
import { assign, byTurn, openSession, testbedsOf } from "./first-plain.js";
import { StoreError } from "./store/first-plain.js";
import { openStore } from "./store/first.js";
const { basename, dirname, join } = globalThis.process.getBuiltinModule("node:path");
const { readFile, readdir, rm, writeFile } = globalThis.process.getBuiltinModule("node:fs/promises");

// src/gate/reserve/records.ts
const holder = object({
	who: line,
	purpose: line,
	/** Subject of the test, for example `o/r#12 at 1a2b3c4`. */
	patch: line.optional(),
	url: path$1.optional()
});
const priority = _enum(priorities);
const time = time$1;
/** Process that waits or holds; absent if this host could not see its end. */
const mark = processMarkSchema.optional();
const ticket = object({
	priority,
	/** Order of the request that this one replaced; absent: its own revision. */
	order: total.optional(),
	/** Only the newest request of a subject waits. */
	subject: path$1.optional(),
	holder,
	process: mark,
	since: time,
	/** Testbeds with their machines, preferred first. */
	wants: list(tuple([name, list(path$1, 1e3)]), 1e3)
});
const use = object({
	id: name,
	testbed: name,
	holder,
	since: time
});
const holding = object({
	id: name,
	testbed: name,
	machines: list(path$1, 1e3),
	priority,
	order: total,
	holder,
	process: mark,
	waitingSince: time,
	since: time,
	/** Holders that did not restore the base of its machines. */
	leftBy: list(use, 1e3)
});
const quarantine = object({
	reason: prose(),
	by: line,
	since: time
});
const logged = object({
	testbed: name,
	holder,
	priority,
	waitingSince: time,
	since: time.optional(),
	until: time.optional(),
	/** Absent while held. */
	outcome: prose().optional()
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
		used: byName(under(folders.used), folders.used, (entry) => ({
			...parsed(use, entry),
			revision: entry.revision
		})),
		quarantines: byName(under(quarantines), quarantines, (entry) => parsed(quarantine, entry))
	};
}
/** Returns the holder of a machine, and the revision of the store at that moment. */
async function readHolding(store, machine) {
	const key = keys.held(machine);
	const { entries, revision } = await store.read(key);
	const entry = entries.find((one) => one.key === key);
	return {
		holding: entry && holdingIn(entry),
		revision
	};
}
/** Returns the logged reservations, oldest first; with `id`, only those of that id. */
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
	throw new StoreError(`The reservation store has a value under "${key}" that this version of ppsgate cannot read; use the same version for all clients of a store, or remove that key.`);
}
/** Returns all tickets that compete for a machine with this one, including itself, in order of turns. */
function rivalsOf({ tickets }, { wants }) {
	const machines = new Set([...wants.values()].flat());
	return tickets.filter((other) => [...other.wants.values()].flat().some((machine) => machines.has(machine)));
}
/** True if others come first for each machine: the turn then comes with a change of the queue. */
function isPreceded(lab, ticket) {
	const rivals = rivalsOf(lab, ticket);
	const before = rivals.slice(0, rivals.indexOf(ticket));
	const machines = new Set(before.flatMap(({ wants }) => [...wants.values()].flat()));
	return [...ticket.wants.values()].flat().every((machine) => machines.has(machine));
}
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
async function enter(store, request, entrance) {
	const { id, session, order } = entrance;
	for (let isIn = false;;) {
		const lab = await readLab(store);
		if (holdingOf(lab, id) !== void 0) return { kind: "waiting" };
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
/** Finds an earlier request that waits for the same subject and testbeds. */
function olderOf({ tickets }, { subject, testbeds }, own) {
	if (subject === void 0) return void 0;
	const names = [...testbeds.keys()].join();
	return tickets.find((ticket) => ticket.subject === subject && [...ticket.wants.keys()].join() === names && (own === void 0 || ticket.revision < own.revision));
}
function entryOf(request, entrance, own, older) {
	const { testbeds, priority, holder, subject } = request;
	const { id, session, process, at } = entrance;
	const order = (older && Math.min(older.order, own?.order ?? older.order)) ?? entrance.order;
	const ticket = {
		priority,
		...order !== void 0 && { order },
		...subject !== void 0 && { subject },
		holder,
		process,
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
async function tryReserve(store, id, session, at) {
	for (;;) {
		const lab = await readLab(store);
		const ticket = lab.tickets.find((one) => one.id === id);
		if (ticket === void 0) {
			const holding = holdingOf(lab, id);
			if (holding !== void 0) return {
				kind: "taken",
				holding
			};
			return {
				kind: "gone",
				why: (await readLog(store, id))[0]?.outcome
			};
		}
		const sick = [...lab.quarantines].filter(([testbed]) => ticket.wants.has(testbed));
		if (sick.length === ticket.wants.size) return {
			kind: "none-healthy",
			quarantines: new Map(sick)
		};
		const testbed = grantedTo(ticket, lab);
		if (testbed === void 0) return {
			kind: "waiting",
			ticket,
			lab
		};
		const holding = await take(store, lab, ticket, {
			testbed,
			session,
			at
		});
		if (holding !== void 0) return {
			kind: "taken",
			holding
		};
	}
}
/**
* Takes a testbed with one commit, without a place in the queue first. Returns undefined if the request has to wait, or
* replaces another one.
*/
async function takeAtOnce(store, lab, request, { id, session, process, at, order = lab.revision + 1 }) {
	const { testbeds, priority, holder, subject } = request;
	if (olderOf(lab, request) !== void 0) return void 0;
	const ticket = {
		id,
		priority,
		order,
		holder,
		process,
		since: at.toISOString(),
		subject,
		wants: testbeds,
		revision: 0
	};
	const testbed = grantedTo(ticket, {
		...lab,
		tickets: [...lab.tickets, ticket].toSorted(byTurn)
	});
	return testbed === void 0 ? void 0 : take(store, lab, ticket, {
		testbed,
		session,
		at
	});
}
function grantedTo({ id }, lab) {
	const lines = linesOf(lab);
	const isFree = ([, machines]) => !machines.some((machine) => lab.held.has(machine));
	const free = new Map([...testbedsOf(lines)].filter(isFree));
	return assign(lines, free).find(({ place }) => place.id === id)?.testbed;
}
/** Returns undefined if the lab has changed since. */
async function take(store, lab, ticket, { testbed, session, at }) {
	const { holding, use, logged } = takingOf(lab, ticket, testbed, at);
	const lost = await lostUses(store, holding.leftBy, at);
	const token = await store.commit({
		conditions: [
			{
				key: keys.ticket(ticket.id),
				revision: ticket.revision
			},
			{
				key: keys.quarantine(testbed),
				revision: 0
			},
			...holding.machines.flatMap((machine) => [{
				key: keys.held(machine),
				revision: 0
			}, {
				key: keys.used(machine),
				revision: lab.used.get(machine)?.revision ?? 0
			}])
		],
		put: [
			...putHolding(holding, session),
			...putUse(use, holding.machines),
			putLogged(logged),
			...lost.map(putLogged)
		],
		remove: [keys.ticket(ticket.id)]
	});
	return token === void 0 ? void 0 : {
		...holding,
		token
	};
}
function takingOf(lab, ticket, testbed, at) {
	const { id, priority, order, holder, process, wants } = ticket;
	const machines = [...wants.get(testbed) ?? []];
	const [waitingSince, since] = [ticket.since, at.toISOString()];
	const uses = machines.flatMap((machine) => lab.used.get(machine) ?? []).map(({ revision: _, ...use }) => [use.id, use]);
	return {
		holding: {
			id,
			testbed,
			machines,
			priority,
			order,
			holder,
			process,
			waitingSince,
			since,
			leftBy: [...new Map(uses).values()]
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
/** `until` is then the time of discovery. */
const lostOutcome = "it was not renewed in time";
/** Uses whose sessions expired without a reported outcome. */
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
/** Returns false, and changes nothing, if the testbed was no longer held. */
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
/** Blocks new holders; the current one keeps the testbed. */
async function setQuarantine(store, testbed, quarantine) {
	await store.commit({
		conditions: [],
		put: [putQuarantine(testbed, quarantine)],
		remove: []
	});
}
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
	id: name,
	session: name,
	testbed: name,
	reservations: custom((value) => typeof value === "object")
});
/** Writes the lease into the gate's directory. The file exists while the testbed is held. */
async function keepLease(directory, { holding, session, testbed }, reservations) {
	await makeFolders(directory);
	const left = {
		id: holding.id,
		session,
		testbed,
		reservations
	};
	await writeFile(join(directory, fileName), `${JSON.stringify(left, null, 2)}\n`);
}
const forgetLease = (directory) => rm(join(directory, fileName), { force: true });
/** Finds every directory with a lease in this tree, as each gate of one process has its own. */
async function directoriesWithLease(top) {
	return (await readdir(top, { recursive: true }).catch(() => [])).filter((name) => basename(name) === fileName).map((name) => dirname(join(top, name))).toSorted();
}
/**
* Returns the testbed's name, or undefined if none was held. The next holder restores the base. Throws a StoreError.
*/
async function releaseLeft(directory, now) {
	const text = await readFile(join(directory, fileName), "utf8").catch(() => void 0);
	if (text === void 0) return void 0;
	const left = leaseIn(text);
	if (left === void 0) throw new StoreError(`The lease in ${directory} cannot be read: it ends automatically once its process has ended.`);
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

// src/gate/reserve/ended-holders.ts
/**
* Frees a holding like a forced release: under the token that was read; the next holder restores the base. Returns
* false if there was none.
*/
async function freeEnded(store, lab, processes, at) {
	const ended = await endedIn(lab, processes);
	for (const one of ended) if ("token" in one) await giveBack(store, one, {
		outcome: heldOutcome,
		isClean: false
	}, at);
	else await leaveQueue(store, one, at);
	return ended.length > 0;
}
const heldOutcome = endedEarly("its process ended without releasing the testbed");
const waitedOutcome = endedEarly("its process ended while it waited");
async function leaveQueue(store, ticket, at) {
	const { id, holder, priority, since, revision } = ticket;
	const logged = {
		id,
		testbed: "",
		holder,
		priority,
		waitingSince: since
	};
	await store.commit({
		conditions: [{
			key: keys.ticket(id),
			revision
		}],
		put: [putLogged({
			...logged,
			until: at.toISOString(),
			outcome: waitedOutcome
		})],
		remove: [keys.ticket(id)]
	});
}
const hasAnyEnded = async (lab, processes) => (await endedIn(lab, processes)).length > 0;
/** True if another holder or waiting request is a process that this one can see. */
const isAnyHere = (lab, processes) => partiesIn(lab).some(({ process }) => process !== void 0 && process.view === processes?.own.view && process.pid !== processes.own.pid);
async function endedIn(lab, processes) {
	if (processes === void 0) return [];
	const parties = partiesIn(lab);
	const areOver = await Promise.all(parties.map(async ({ process }) => process !== void 0 && processes.hasEnded(process)));
	return parties.filter((_, index) => areOver[index]);
}
/** Lists a holding once, although it is listed at each of its machines. */
const partiesIn = ({ held, tickets }) => [...new Map([...held.values()].map((holding) => [holding.id, holding])).values(), ...tickets];

// src/gate/reserve/lease.ts
/** Reports that the testbed belongs, or may belong, to another holder. */
var LeaseLostError = class extends Error {
	name = "LeaseLostError";
	constructor(testbed, why) {
		super(`The lease of ${testbed} was lost: ${why}; work on it has stopped. Continue an interrupted gate with --resume.`);
	}
};
/** Reports that nothing was reserved, and that waiting longer would not help. */
var NotReservedError = class extends Error {
	name = "NotReservedError";
};
/**
* Waits for one of the testbeds, without a time limit. `order` is the place in the queue of an earlier request that
* this one continues. Rejects with the signal's reason, a NotReservedError or a StoreError.
*/
async function acquireLease(request, deps, order) {
	const { store, date } = deps;
	const reading = readLab(store);
	reading.catch(() => {});
	const session = await openSession(deps);
	try {
		const at = date();
		const id = `${at.toISOString()}-${deps.randomId()}`;
		const entrance = {
			id,
			session: session.id,
			process: deps.processes?.own,
			at,
			...order !== void 0 && { order }
		};
		const lab = await reading;
		deps.signal.throwIfAborted();
		const holding = await takeAtOnce(store, lab, request, entrance).catch(foundLater);
		if (holding !== void 0) return leaseOf(holding, session, deps);
		const entry = await enter(store, request, entrance);
		if (entry.kind === "gone") throw new NotReservedError(whyNone(entry));
		return leaseOf(await waitForTurn(id, session, deps), session, deps);
	} catch (error) {
		await session.end().catch(() => {});
		throw error;
	}
}
/** A commit without a response may stand: `enter` and `tryReserve` find it. */
function foundLater(error) {
	if (!(error instanceof StoreError)) throw error;
}
const tooSlow = "No testbed was reserved: this process was stopped, or lost the reservation store, for longer than a lease lasts; start it again.";
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
			if (await freeEnded(store, attempt.lab, deps.processes, date())) continue;
			onWait(attempt);
			await changeOrEnd(attempt, signal, deps).catch(unlessAborted(signal));
			await sleep(secondsToYield(attempt), signal).catch(unlessAborted(signal));
		} catch (error) {
			if (!(error instanceof StoreError)) throw error;
			troubledSince ??= now();
			if (now() - troubledSince >= maxLeasesOfTrouble * leaseSeconds) throw error;
			await sleep(leaseSeconds / 10, signal).catch(unlessAborted(signal));
		}
	}
}
/**
* Waits for a change of the store, or for the end of a process on this host that holds or waits, as that changes
* nothing.
*/
async function changeOrEnd({ lab, ticket }, signal, { store, sleep, processes }) {
	const over = new AbortController();
	const until = AbortSignal.any([signal, over.signal]);
	const endOfAny = async () => {
		do
			await sleep(secondsBetweenPolls, until);
		while (!await hasAnyEnded(lab, processes));
	};
	const ends = isAnyHere(lab, processes) ? [endOfAny()] : [];
	try {
		const followed = isPreceded(lab, ticket) ? keys.ticket("") : "";
		await Promise.race([store.changed(lab.revision, until, followed), ...ends]);
	} finally {
		over.abort();
	}
}
const secondsBetweenPolls = 1;
/** Lease periods for which trouble with the store is tolerated: it may renew a session but fail everything else. */
const maxLeasesOfTrouble = 5;
/** The next in line checks at once; others wait different times, to keep the store free for it. */
const secondsToYield = ({ lab, ticket }) => Math.min(rivalsOf(lab, ticket).indexOf(ticket) / 10, maxSecondsToYield);
const maxSecondsToYield = 5;
/** The caller checks for an abort. */
const unlessAborted = (signal) => (error) => {
	if (!signal.aborted) throw error;
};
function whyNone(attempt) {
	if (attempt.kind === "gone") return attempt.why === void 0 ? tooSlow : `No testbed was reserved: ${attempt.why}.`;
	return `No testbed is available: every match is quarantined, ${[...attempt.quarantines].map(([testbed, { reason, since }]) => `${testbed} since ${since} (${reason})`).join(", ")}; fix one, then lift its quarantine with \`ppsgate quarantine NAME --lift\`.`;
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
		if (ended.signal.aborted) throw new LeaseLostError(testbed, "it was released");
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

export { NotReservedError, acquireLease, directoriesWithLease, forgetLease, freeEnded, giveBack, holdingOf, keepLease, liftQuarantine, lostOutcome, readLab, readLog, releaseLeft, rivalsOf, setQuarantine };