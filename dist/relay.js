import { kebabCase, namingStyles, overrideArguments, overridesAs } from "./config/parameters.js";
import { UsageError, conclusionOfError, exitCodes, formatRoughly, oneLine, parseJson, realPause, reasonOf, shortened, withoutPaths } from "./model/first-plain.js";
import { _enum, boolean, date, discriminatedUnion, int, literal, object, preprocess, string, union, unknown } from "./vendor/zod.js";
import { byName, callOnPhabricator, diffPhids, document, id, list, prose, resultSchema, shortId, word } from "./model/first.js";
import { authorizeRevision, bisectOverridesSchema, bisectWords, chosenDiffs, commandsFor, jobSchema as jobSchema$1, parseCommand, parseEarlier, patchOf, workOf } from "./forge/patch.js";
import { RepositoryError, checkDiff } from "./forge/patch/first-plain.js";
import { openRepository } from "./forge/patch/first.js";
import { ConduitError, isFinal, secondsOfPatience } from "./forge/phabricator/plain.js";
import { sendRequest } from "./system/http.js";
import { RevisionError, fetchDiff, findRevision, fixOfCertificate, isMember, isNamed, isSameName, mapOf, openPhabricator, phidsOf, readAuthority, tokenVariable, transactionsOf, userNames } from "./forge/phabricator.js";
import { parseMaxRuns } from "./config/first.js";
import { cancelledOutcome, deliverySeconds, failureReasonSchema, outcomeOfFailure, outcomeOfResult } from "./publish/reporters/first.js";
import { remarkupText } from "./model/plain.js";
import { bisectResultSchema } from "./model.js";
import { hasPlan, readPlan } from "./gate/experiment/first.js";
import { createOctokit, githubFailure, isBreakdown, placeOf } from "./forge/github.js";
import { isRunning, leaderSchema, signalGroup, startOf } from "./system/process.js";
import { SqliteFile, lockIfFree } from "./system/sqlite.js";
import { BuildUpdater, postReply, revisionCommenter } from "./publish/reporters.js";
import { isExposed, readSecret } from "./config/plain.js";
import { commandText, shell } from "./system/shell.js";
import { pathsIn, readOverlay, sourceOf } from "./kernel/first.js";
import { hasBisectPlan } from "./gate/bisect.js";
import { semaphore } from "./system/semaphore.js";
import { lookAgain, ok, skipped, typed, walk, wrong } from "./lab/check.js";
import { Connections } from "./relay/plain.js";
const { once } = globalThis.process.getBuiltinModule("node:events");
const { basename, join, resolve } = globalThis.process.getBuiltinModule("node:path");
const { existsSync } = globalThis.process.getBuiltinModule("node:fs");
const { Socket } = globalThis.process.getBuiltinModule("node:net");
const { createHash, createHmac, hash, timingSafeEqual } = globalThis.process.getBuiltinModule("node:crypto");
const { mkdir, open, readFile, readdir, rename, rm, stat, writeFile } = globalThis.process.getBuiltinModule("node:fs/promises");
const { spawn } = globalThis.process.getBuiltinModule("node:child_process");
const { setImmediate: setImmediate$1 } = globalThis.process.getBuiltinModule("node:timers/promises");
const { buffer } = globalThis.process.getBuiltinModule("node:stream/consumers");

// src/relay/answers.ts
/** Writes an answer to disk, once per key. Throws an `InboxError`. */
function keepAnswer(answer, { conduit, inbox }) {
	const revision = answer.kind === "reply" ? answer.of : answer.revision.number;
	const text = JSON.stringify(answer);
	inbox.keepAnswer({
		key: keyOf$1(answer),
		server: conduit.url,
		revision,
		text
	});
}
/**
* Delivers waiting answers of all processes, oldest first, until the server fails. Returns if another process delivers.
* A refused answer delays only later ones of its revision.
*/
async function giveAnswers(deps) {
	const { conduit, inbox, now, log, signal } = deps;
	if (inbox.waitingAnswers(conduit.url).length === 0) return;
	using lock = inbox.lockAnswers();
	if (lock === void 0) return;
	const heldBack = /* @__PURE__ */ new Set();
	for (const waiting of inbox.waitingAnswers(conduit.url)) {
		const { key, revision, keptAt, from, why = "not tried yet" } = waiting;
		if (signal.aborted) return;
		if (now().getTime() - keptAt.getTime() > keptMilliseconds$1) {
			log.warn(`The reply ${key} is dropped: ${conduit.url} did not accept it for 7 days (${why}).`);
			inbox.dropAnswer(key);
		} else if (heldBack.has(revision) || from > now()) heldBack.add(revision);
		else {
			const given = await give(waiting, deps);
			if (given === "not-now") return;
			if (given === "later") heldBack.add(revision);
		}
	}
}
/** Returns `not-now` if the server accepts nothing at all. */
async function give(waiting, deps) {
	const { inbox, now, log } = deps;
	const { key, keptAt } = waiting;
	const answer = keptAnswerSchema.safeParse(parseJson(inbox.readAnswer(key) ?? ""));
	if (!answer.success) {
		log.warn(`The reply ${key} is dropped: it was stored by another version of ppsgate.`);
		inbox.dropAnswer(key);
		return "done";
	}
	const allUpdates = allUpdatesOf(inbox);
	const notify = allUpdates.get(key) ?? updatesOf(answer.data, deps);
	allUpdates.set(key, notify);
	const notified = await notify();
	if (notified.kind === "pointless") {
		log.warn(`The reply ${key} is dropped: ${notified.why}.`);
		allUpdates.delete(key);
		inbox.dropAnswer(key);
		return "done";
	}
	if (notified.kind === "delivered") {
		allUpdates.delete(key);
		inbox.dropAnswer(key);
		const late = (now().getTime() - keptAt.getTime()) / 1e3;
		if (late > secondsLate) log.info(`${nameOf$1(answer.data)} has its reply, ${formatRoughly(late)} late.`);
		return "done";
	}
	const { kind, why } = notified;
	if (waiting.why !== why) log.warn(`${why} It is kept and posted later.`);
	inbox.postponeAnswer(key, new Date(now().getTime() + postponedMilliseconds[kind]), why);
	return kind === "failed" ? "not-now" : "later";
}
function keeping$1(answer, keptEnd, deps) {
	const { log, signal, pause = realPause } = deps;
	let ended;
	const end = async (ending) => {
		const kept = keptEnd(ending);
		keepAnswer(kept, deps);
		const limit = new AbortController();
		const over = AbortSignal.any([limit.signal, signal]);
		const late = pause(deliverySeconds(ending), over);
		await Promise.race([answer.leaveOpen().then(() => giveUntil(keyOf$1(kept), over, deps)), late]);
		limit.abort();
		if (interim(keyOf$1(kept), deps) === void 0) return "delivered";
		log.warn(`The reply to ${nameOf$1(kept)} waits: \`ppsgate relay\`, \`ppsgate poll\` or the next gate with --answer on this machine posts it.`);
		return "undelivered";
	};
	return {
		...answer,
		conclude: (ending) => {
			ended ??= end(ending);
			return ended;
		}
	};
}
const interim = (key, { conduit, inbox }) => inbox.waitingAnswers(conduit.url).find((waiting) => waiting.key === key);
/** Tries until the answer is delivered or refused, or `over` is aborted. */
async function giveUntil(key, over, deps) {
	const { now, pause = realPause } = deps;
	for (;;) {
		await giveAnswers(deps);
		const waiting = interim(key, deps);
		const isRefused = waiting?.why !== void 0 && waiting.from.getTime() - now().getTime() > patienceMilliseconds;
		if (waiting === void 0 || isRefused || over.aborted) return;
		await pause(secondsBetweenTries, over);
	}
}
/** `3 replies wait, the oldest for 2 h: D7:12`. */
function waitingText(waiting, now) {
	const [oldest] = waiting;
	const count = waiting.length === 1 ? "1 reply waits" : `${waiting.length} replies wait`;
	if (oldest === void 0) return "no reply waits";
	return `${count}, the oldest for ${formatRoughly((now.getTime() - oldest.keptAt.getTime()) / 1e3)}, to D${oldest.revision}`;
}
/** Deliveries within this time are not logged as late. */
const secondsLate = 60;
const secondsBetweenTries = 5;
/** Gates do not wait for an answer that is postponed for longer. */
const patienceMilliseconds = 3e5;
/** A refusal may be temporary: the bot may be allowed to see the revision tomorrow. */
const postponedMilliseconds = {
	failed: 0,
	"not-yet": 15e3,
	refused: 36e5
};
const keptMilliseconds$1 = secondsOfPatience * 1e3;
const revision$1 = object({
	number: id,
	diff: id,
	/** Absent in answers of older versions. */
	phids: diffPhids.optional()
});
const keptEnding = discriminatedUnion("kind", [
	object({
		kind: literal("measured"),
		result: resultSchema
	}),
	object({
		kind: literal("bisected"),
		result: bisectResultSchema,
		asked: bisectOverridesSchema
	}),
	object({
		kind: literal("unmeasured"),
		why: failureReasonSchema,
		said: prose()
	})
]);
const keptAnswerSchema = discriminatedUnion("kind", [
	object({
		kind: literal("comment"),
		revision: revision$1,
		run: word,
		details: word.optional(),
		page: word.optional(),
		takesCommands: boolean(),
		rerun: document.optional(),
		ending: keptEnding
	}),
	object({
		kind: literal("build"),
		revision: revision$1,
		build: word,
		run: word,
		details: word.optional(),
		undecided: _enum(["failure", "neutral"]),
		ending: keptEnding
	}),
	object({
		kind: literal("reply"),
		of: id,
		/** Absent in answers of older versions. */
		phid: diffPhids.shape.revision.optional(),
		to: word,
		text: document
	})
]);
function keptOf(ending) {
	switch (ending.kind) {
		case "unmeasured": return {
			kind: "unmeasured",
			why: ending.reason,
			said: ending.message
		};
		case "bisected": return {
			kind: "bisected",
			result: ending.result,
			asked: ending.request
		};
		case "measured": return {
			kind: "measured",
			result: ending.result
		};
		case "uncounted": return keptOf(ending.measured);
	}
}
function endingOf(kept) {
	switch (kept.kind) {
		case "unmeasured": return {
			kind: "unmeasured",
			reason: kept.why,
			message: kept.said
		};
		case "bisected": return {
			kind: "bisected",
			result: kept.result,
			request: kept.asked,
			links: {}
		};
		case "measured": return outcomeOfResult(kept.result, {});
	}
}
const nameOf$1 = (answer) => answer.kind === "reply" ? `D${answer.of}` : `D${answer.revision.number}:${answer.revision.diff}`;
/** True if the gate of this run has stored its comment, delivered or not. */
const hasConcluded = (inbox, revision, run) => inbox.hasConcluded(commentKey(revision, run));
const commentKey = ({ number, diff }, run) => `comment D${number}:${diff} ${run}`;
function keyOf$1(answer) {
	switch (answer.kind) {
		case "comment": return commentKey(answer.revision, answer.run);
		case "build": return `build ${nameOf$1(answer)} ${answer.build} ${answer.run}`;
		case "reply": return `reply ${nameOf$1(answer)} ${answer.to}`;
	}
}
/** Shared by all updates of an answer, which remember the target that has its units, and the uploaded picture. */
function allUpdatesOf(inbox) {
	const updates = updatesByInbox.get(inbox) ?? /* @__PURE__ */ new Map();
	updatesByInbox.set(inbox, updates);
	return updates;
}
const updatesByInbox = /* @__PURE__ */ new WeakMap();
function updatesOf(answer, { conduit, log, pause }) {
	const deps = {
		log,
		...pause && { pause }
	};
	switch (answer.kind) {
		case "comment": {
			const { revision, run, details, page, takesCommands, rerun, ending } = answer;
			const links = {
				...details && { details },
				...page && { page },
				...rerun && { rerun },
				takesCommands
			};
			const notify = revisionCommenter(conduit, revision, {
				run,
				...links,
				...deps
			});
			return () => notify(endingOf(ending));
		}
		case "build": {
			const { revision, build, run, details, undecided, ending } = answer;
			const options = {
				run,
				undecided,
				...details && { details },
				...deps
			};
			const updater = new BuildUpdater(conduit, build, revision, options);
			return () => updater.post(endingOf(ending));
		}
		case "reply": return () => postReply(conduit, answer.of, answer.text, answer.to, answer.phid);
	}
}

// src/relay/inbox.ts
const deliverySchema = discriminatedUnion("kind", [object({
	kind: literal("webhook"),
	/** Hash of the bytes, equal for a redelivery. */
	id: word,
	at: date(),
	object: word,
	transactions: list(word)
}), object({
	kind: literal("build"),
	/** Id of the target; a restarted build has a new one. */
	id: word,
	at: date(),
	target: word,
	build: word,
	diff: int(),
	revision: int().optional()
})]);
var InboxError = class extends Error {
	name = "InboxError";
};
/** Shared by a machine's relay, poller and gates. */
const inboxIn = (directory) => join(directory, "inbox.sqlite");
/** Creates a missing file; it must be on a local disk. */
const openInbox = (path, now) => new SqliteInbox(path, now);
var SqliteInbox = class {
	#now;
	#file;
	#sql;
	#starting;
	#isStarter = false;
	constructor(path, now) {
		this.#now = now;
		this.#file = new SqliteFile(path, fileKind, lockMilliseconds);
		this.#sql = this.#file.use(() => prepare(this.#file.database));
	}
	accept(deliveries) {
		return this.#write(() => deliveries.map((delivery) => {
			const { id, at } = delivery;
			const { changes } = this.#sql.accept.run(id, at.getTime(), JSON.stringify(delivery));
			return changes > 0 ? "new" : "known";
		}));
	}
	pendingDeliveries() {
		return this.#read(() => this.#sql.pending.all().map(deliveryOf));
	}
	countPending() {
		return this.#read(() => countRow.parse(this.#sql.countPending.get()).count);
	}
	settle(id, outcome) {
		return this.#write(() => this.#sql.settle.run(id).changes > 0 ? this.#keep(outcome) : []);
	}
	hasSeen(transactions) {
		return this.#read(() => new Set(transactions.filter((one) => this.#sql.isSeen.get(one) !== void 0)));
	}
	advancePoll(server, since, outcome) {
		return this.#write(() => {
			this.#sql.advancePoll.run(server, since);
			return this.#keep(outcome);
		});
	}
	pollState(server) {
		return this.#read(() => pollRow.optional().parse(this.#sql.pollState.get(server))?.since);
	}
	dueJobs() {
		return this.#read(() => this.#mayStart() ? this.#sql.due.all(this.#now().getTime()).map(jobRecordOf) : []);
	}
	markStarting(key) {
		return this.#read(() => this.#mayStart() && this.#changes(() => this.#sql.markStarting.run(key)));
	}
	markStarted(key, where) {
		return this.#changes(() => this.#sql.markStarted.run(key, where));
	}
	postpone(key, until, why) {
		return this.#changes(() => this.#sql.postpone.run(key, until.getTime(), why));
	}
	markEnded(key, how) {
		return this.#changes(() => this.#sql.end.run(key, "ended", how));
	}
	drop(key, why) {
		return this.#changes(() => this.#sql.end.run(key, "dropped", why));
	}
	unendedJobs() {
		return this.#read(() => this.#sql.unended.all().map(jobRecordOf));
	}
	jobsOf(revision) {
		return this.#read(() => this.#sql.jobsOf.all(revision).map(jobRecordOf));
	}
	keepAnswer(answer) {
		const { key, server, revision, text } = answer;
		const at = this.#now().getTime();
		this.#write(() => {
			this.#sql.keepAnswer.run(key, server, revision, text, at);
			this.#sql.conclude.run(key, at);
		});
	}
	hasConcluded(key) {
		return this.#read(() => this.#sql.hasConcluded.get(key) !== void 0);
	}
	waitingAnswers(server) {
		return this.#read(() => this.#sql.waiting.all(server).map(waitingAnswerOf));
	}
	readAnswer(key) {
		return this.#read(() => answerTextRow.optional().parse(this.#sql.readAnswer.get(key))?.answer);
	}
	postponeAnswer(key, from, why) {
		this.#changes(() => this.#sql.postponeAnswer.run(key, from.getTime(), why));
	}
	dropAnswer(key) {
		this.#changes(() => this.#sql.dropAnswer.run(key));
	}
	lockAnswers() {
		return this.#read(() => lockIfFree(`${this.#file.path}.answers.lock`));
	}
	[Symbol.dispose]() {
		this.#starting?.[Symbol.dispose]();
		this.#file[Symbol.dispose]();
	}
	#changes(statement) {
		return this.#write(() => statement().changes > 0);
	}
	#write(work) {
		return this.#file.transaction("BEGIN IMMEDIATE", work);
	}
	#read(work) {
		return this.#file.use(work);
	}
	#keep({ seen, jobs }) {
		const time = this.#now().getTime();
		this.#sql.forget.run(time - keptMilliseconds);
		this.#sql.forgetConcluded.run(time - keptMilliseconds);
		for (const transaction of seen) this.#sql.see.run(transaction);
		return jobs.filter((job) => this.#sql.queue.run(job.key, job.revision, JSON.stringify(job), time).changes > 0);
	}
	/**
	* True while this process has the lock. Only then does it start jobs, so jobs that seem to be starting are left over.
	*/
	#mayStart() {
		this.#starting ??= lockIfFree(`${this.#file.path}.lock`);
		if (this.#starting === void 0) return false;
		if (!this.#isStarter) this.#write(() => this.#sql.restart.run());
		this.#isStarter = true;
		return true;
	}
};
/** Time for which seen transactions and keys of jobs prevent repeated work on a redelivery. */
const keptMilliseconds = 7776e6;
function prepare(database) {
	const one = (text) => database.prepare(text);
	return {
		accept: one("INSERT INTO deliveries (id, at, pending) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING"),
		pending: one("SELECT pending FROM deliveries WHERE pending IS NOT NULL ORDER BY sequence"),
		countPending: one("SELECT count(*) AS count FROM deliveries WHERE pending IS NOT NULL"),
		settle: one("UPDATE deliveries SET pending = NULL WHERE id = ? AND pending IS NOT NULL"),
		forget: one("DELETE FROM deliveries WHERE pending IS NULL AND at < ?"),
		see: one("INSERT INTO seen (phid) VALUES (?) ON CONFLICT (phid) DO NOTHING"),
		isSeen: one("SELECT 1 FROM seen WHERE phid = ?"),
		advancePoll: one(`INSERT INTO polls (server, since) VALUES (?, ?)
       ON CONFLICT (server) DO UPDATE SET since = max(since, excluded.since)`),
		pollState: one("SELECT since FROM polls WHERE server = ?"),
		queue: one(`INSERT INTO jobs (key, revision, job, queued_at, due_at, tries, state)
       VALUES (?1, ?2, ?3, ?4, ?4, 0, 'due') ON CONFLICT (key) DO NOTHING`),
		restart: one(`UPDATE jobs SET state = 'due' WHERE state = 'starting'`),
		due: one(`SELECT * FROM jobs WHERE state = 'due' AND due_at <= ? ORDER BY sequence`),
		markStarting: one(`UPDATE jobs SET state = 'starting', tries = tries + 1 WHERE key = ? AND state = 'due'`),
		markStarted: one(`UPDATE jobs SET state = 'started', place = ?2 WHERE key = ?1 AND state = 'starting'`),
		postpone: one(`UPDATE jobs SET state = 'due', due_at = ?2, said = ?3
       WHERE key = ?1 AND state IN ('due', 'starting')`),
		end: one(`UPDATE jobs SET state = ?2, said = ?3 WHERE key = ?1 AND ${unended}`),
		unended: one(`SELECT * FROM jobs WHERE ${unended} ORDER BY sequence`),
		jobsOf: one("SELECT * FROM jobs WHERE revision = ? ORDER BY sequence DESC"),
		keepAnswer: one(`INSERT INTO answers (key, server, revision, answer, kept_at, due_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?5) ON CONFLICT (key) DO NOTHING`),
		conclude: one("INSERT INTO concluded (key, at) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET at = excluded.at"),
		hasConcluded: one("SELECT 1 FROM concluded WHERE key = ?"),
		forgetConcluded: one("DELETE FROM concluded WHERE at < ?"),
		waiting: one("SELECT key, revision, kept_at, due_at, said FROM answers WHERE server = ? ORDER BY sequence"),
		readAnswer: one("SELECT answer FROM answers WHERE key = ?"),
		postponeAnswer: one("UPDATE answers SET due_at = ?2, said = ?3 WHERE key = ?1"),
		dropAnswer: one("DELETE FROM answers WHERE key = ?")
	};
}
const unended = "state IN ('due', 'starting', 'started')";
const pendingRow = object({ pending: document });
const deliveryOf = (row) => deliverySchema.parse(JSON.parse(pendingRow.parse(row).pending));
const countRow = object({ count: int() });
const pollRow = object({ since: int() });
const jobRow = object({
	job: document,
	queued_at: int(),
	tries: int(),
	state: _enum([
		"due",
		"starting",
		"started",
		"ended",
		"dropped"
	]),
	due_at: int(),
	place: word.nullable(),
	said: prose().nullable()
});
function jobRecordOf(row) {
	const parsed = jobRow.parse(row);
	return {
		job: jobSchema$1.parse(JSON.parse(parsed.job)),
		queuedAt: new Date(parsed.queued_at),
		tries: parsed.tries,
		state: stateOf(parsed)
	};
}
function stateOf({ state, due_at, place, said }) {
	const where = place === null ? {} : { where: place };
	switch (state) {
		case "due": return {
			kind: state,
			from: new Date(due_at),
			...said !== null && { why: said }
		};
		case "starting": return { kind: state };
		case "started": return {
			kind: state,
			where: place ?? ""
		};
		case "ended": return {
			kind: state,
			how: said ?? "",
			...where
		};
		case "dropped": return {
			kind: state,
			why: said ?? "",
			...where
		};
	}
}
const answerTextRow = object({ answer: document });
const answerRow = object({
	key: word,
	revision: int(),
	kept_at: int(),
	due_at: int(),
	said: prose().nullable()
});
function waitingAnswerOf(row) {
	const { key, revision, kept_at, due_at, said } = answerRow.parse(row);
	const why = said === null ? {} : { why: said };
	return {
		key,
		revision,
		keptAt: new Date(kept_at),
		from: new Date(due_at),
		...why
	};
}
const fileKind = {
	name: "The relay's queue",
	Failure: InboxError,
	applicationId: 1886417778,
	format: 1,
	schema: `
  CREATE TABLE deliveries (
    sequence INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    -- All of it; NULL once it is settled.
    pending TEXT
  ) STRICT;
  CREATE INDEX deliveries_pending ON deliveries (sequence) WHERE pending IS NOT NULL;
  CREATE INDEX deliveries_settled ON deliveries (at) WHERE pending IS NULL;
  CREATE TABLE seen (phid TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
  CREATE TABLE polls (server TEXT PRIMARY KEY, since INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE jobs (
    sequence INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    revision INTEGER NOT NULL,
    job TEXT NOT NULL,
    queued_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    tries INTEGER NOT NULL,
    state TEXT NOT NULL,
    place TEXT,
    said TEXT
  ) STRICT;
  CREATE INDEX jobs_by_revision ON jobs (revision);
  CREATE INDEX jobs_unended ON jobs (sequence) WHERE ${unended};
  CREATE TABLE answers (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    server TEXT NOT NULL,
    revision INTEGER NOT NULL,
    answer TEXT NOT NULL,
    kept_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    said TEXT
  ) STRICT;
  CREATE TABLE concluded (key TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`
};
/** Longest wait for a lock that another process holds for a transaction; it blocks this process. */
const lockMilliseconds = 5e3;

// src/relay/delivery.ts
/** Object of the signed test webhook of `ppsgate phabricator check`; no revision has this PHID. */
const checkObject = "PHID-DREV-ppsgatecheck";
/** Only marks a request: any sender can forge this user agent. */
const checkAgent = "ppsgate-check";
/** @param body the bytes as sent; a redelivery has the same */
function readWebhook(body, at) {
	const { data } = webhookSchema.safeParse(parseJson(Buffer.from(body).toString()));
	if (data === void 0) return { kind: "strange" };
	if (data.action.test) return {
		kind: "test",
		isOfCheck: data.object.phid === checkObject
	};
	if (data.object.type !== "DREV") return { kind: "other" };
	return {
		kind: "webhook",
		id: hash("sha256", body),
		at,
		object: data.object.phid,
		transactions: data.transactions.map(({ phid }) => phid)
	};
}
/**
* Reads the query of the build step's URI:
* `?target=${target.phid}&build=${build.phid}&diff=${buildable.diff}&revision=${buildable.revision}`.
*/
function readBuild(query, at) {
	const { data, error } = buildSchema.safeParse(Object.fromEntries(query));
	if (data !== void 0) return {
		kind: "build",
		id: data.target,
		at,
		...data
	};
	return {
		kind: "strange",
		why: `Wrong or missing query parameters: ${[...new Set(error.issues.map(({ path }) => path.join(".")))].join(", ")}.`
	};
}
const phid = (type) => string().regex(new RegExp(`^PHID-${type}-[\\w-]{1,40}$`));
const webhookSchema = object({
	object: object({
		type: word,
		phid: phid("[A-Z]{4}")
	}),
	action: object({ test: boolean() }),
	transactions: list(object({ phid: phid("XACT") }))
});
const number = string().regex(/^[1-9]\d{0,8}$/).transform(Number);
/** Accepts `27401` and `D27401`. */
const revision = preprocess((text) => String(text).replace(/^D/, ""), number);
/** Harbormaster sends an empty text for a missing value. */
const nothing$1 = literal("").transform(() => void 0);
const buildSchema = object({
	target: phid("HMBT"),
	build: phid("HMBD"),
	diff: number,
	revision: union([nothing$1, revision]).optional()
});

// src/relay/setup-check-item.ts
const warning = (what, why, fix) => ({
	kind: "warning",
	what,
	why,
	fix
});
const unreachable = (what, why, fix) => ({
	kind: "unreachable",
	what,
	why,
	fix
});
/** @param key of ppsgate.yml that names the file */
const secretStep = (key, place) => ({
	what: key,
	async run(what) {
		const { path, variable } = place;
		const exposed = path === void 0 ? [] : await exposure(what, path);
		if (exposed.length > 0) return exposed;
		await readSecret(place);
		return path === void 0 ? [ok(what, `${variable} in the environment`)] : keeping(what, path);
	}
});
/** Returns nothing for a missing file, which its reader reports. */
async function exposure(what, path) {
	const found = await stat(path).catch(() => void 0);
	if (found === void 0 || !isExposed(found)) return [];
	const whose = found.mode & 7 ? "all on this machine" : "its group";
	return [wrong(what, `${withMode(path, found)}, so ${whose} can read it`, fixOf(path))];
}
async function keeping(what, path) {
	const found = await stat(path);
	if (found.mode & 56) return [warning(what, `${withMode(path, found)}, so its group can read it`, fixOf(path))];
	return [ok(what, `${path} is readable only by its owner`)];
}
const withMode = (path, { mode }) => `${path} has the mode ${(mode & 511).toString(8)}`;
const fixOf = (path) => typed(shell`chmod 600 ${path}`);

// src/relay/check-relay.ts
/** Reads the undelivered answers of this machine's relay, poller and gates. */
const answersStep = ({ url, relay: { directory } }, now) => ({
	what: "answers",
	async run(what) {
		const path = inboxIn(directory);
		if (!existsSync(path)) return [ok(what, "none waits")];
		using inbox = openInbox(path, now);
		const waiting = inbox.waitingAnswers(url);
		const [oldest] = waiting;
		if (oldest === void 0) return [ok(what, "none waits")];
		const why = `${waitingText(waiting, now())} (${oldest.why ?? "not tried yet"})`;
		const fix = `run \`ppsgate relay\` or \`ppsgate poll\` here: it posts them as soon as ${url} accepts them`;
		return [warning(what, why, fix)];
	}
});
function relaySteps(config, deps) {
	const { relay } = config;
	const { webhookKeyPath, buildPasswordPath } = relay;
	if (webhookKeyPath === void 0 && buildPasswordPath === void 0) {
		const why = "neither `relay.webhookKeyFile` nor `relay.buildPasswordFile` is set: use `ppsgate poll`";
		return [{
			what: "the relay",
			run: async (what) => [skipped(what, why)]
		}];
	}
	const client = relayClient(relay, deps.signal);
	return [
		{
			what: "relay.on",
			run: async (what) => occasions(what, relay)
		},
		{
			what: "the relay",
			run: (what) => health(what, relay, client)
		},
		...webhookKeyPath === void 0 ? [] : webhookSteps(webhookKeyPath, config, client),
		...buildPasswordPath === void 0 ? [] : buildSteps(buildPasswordPath, client)
	];
}
function occasions(what, { on, buildPasswordPath, webhookKeyPath }) {
	if (buildPasswordPath !== void 0 && on.includes("builds") && on.includes("diffs")) return [warning(what, "builds and diffs are both measured, so a diff with a build is measured twice", "remove `diffs` or `builds`")];
	if (webhookKeyPath === void 0 && (on.includes("diffs") || on.includes("comments"))) return [warning(what, "without `relay.webhookKeyFile` only `ppsgate poll` receives diffs and comments", "set it, or run `ppsgate poll` beside the relay")];
	return [ok(what, `it measures ${on.join(", ")}`)];
}
const maxSeconds$1 = 10;
const maxBytes$2 = 1024 ** 2;
const relayClient = (relay, signal) => async (path, request = {}) => {
	const limits = {
		answerSeconds: maxSeconds$1,
		maxBytes: maxBytes$2,
		signal
	};
	const headers = {
		...request.headers,
		"user-agent": checkAgent
	};
	const answer = await sendRequest(`${baseOf(relay)}${path}`, {
		...request,
		headers,
		...limits
	});
	if (answer.kind === "no-answer") throw new Error(answer.why);
	return answer;
};
/** URL of the relay on this machine: the loopback address if it listens on all addresses. */
function baseOf({ host, port }) {
	const near = {
		"0.0.0.0": "127.0.0.1",
		"::": "::1"
	}[host] ?? host;
	return `http://${near.includes(":") ? `[${near}]` : near}:${port}`;
}
async function health(what, relay, client) {
	const base = baseOf(relay);
	let reply;
	try {
		reply = await client("/health");
	} catch (error) {
		const why = `nothing responds on ${base} (${reasonOf(error)})`;
		return [unreachable(what, why, "start `ppsgate relay`, and check its log")];
	}
	const text = String(reply.body);
	if (reply.status === 200 && /^\d+ pending$/m.test(text)) return [ok(what, `it responds on ${base} with ${text.trim()}`)];
	return [wrong(what, `another program responds on ${base} with ${reply.status}`, "stop that program, or set another `relay.port` in ppsgate.yml and restart the relay")];
}
const restart = "restart the relay, because it reads its files only at its start";
function webhookSteps(path, { url }, client) {
	const place = {
		what: "The key of the webhook",
		path
	};
	return [
		secretStep("relay.webhookKeyFile", place),
		{
			what: "POST /webhook",
			needs: ["the relay"],
			async run(what) {
				const signed = (signature) => client("/webhook", {
					method: "POST",
					body: testWebhook,
					headers: { "x-phabricator-webhook-signature": signature }
				});
				const strange = await signed("0".repeat(64));
				if (strange.status !== 401) return [open$1(what, "a wrong signature", strange)];
				const key = await readSecret(place).catch(() => void 0);
				if (key === void 0) return [ok(what, "an invalid signature is refused")];
				const ours = await signed(createHmac("sha256", key).update(testWebhook).digest("hex"));
				if (ours.status === 200) return [ok(what, "only a valid signature is accepted")];
				const why = `the relay responds with ${ours.status} to a request signed with the key of ${path}`;
				return [wrong(what, why, restart)];
			}
		},
		{
			what: "the webhook",
			run: async (what) => [skipped(what, `it cannot be checked from here: ${url}/herald/webhook/ must show one for this relay, enabled, with the key of ${path}`)]
		}
	];
}
/** Marked as sent manually with Herald's `test`, so it has no effect. */
const testWebhook = JSON.stringify({
	object: {
		type: "DREV",
		phid: checkObject
	},
	triggers: [],
	action: {
		test: true,
		silent: false,
		secure: false,
		epoch: 0
	},
	transactions: []
});
function buildSteps(path, client) {
	const place = {
		what: "The user and password of builds",
		path
	};
	return [secretStep("relay.buildPasswordFile", place), {
		what: "POST /build",
		needs: ["the relay"],
		async run(what) {
			const strange = await client("/build", { method: "POST" });
			if (strange.status !== 401) return [open$1(what, "no password", strange)];
			const password = await readSecret(place).catch(() => void 0);
			if (password === void 0) return [ok(what, "a request without a password is refused")];
			if (!/^[^:]+:./.test(password)) {
				const fix = `write a user, a colon and a password into ${path}, the same as in Passphrase`;
				return [wrong(what, `${path} does not have the form user:password`, fix)];
			}
			const ours = await client("/build", {
				method: "POST",
				headers: { authorization: `Basic ${Buffer.from(password).toString("base64")}` }
			});
			if (ours.status === 400) return [ok(what, "only the right user and password are accepted")];
			const why = `the relay responds with ${ours.status} to the user and password of ${path}`;
			return [wrong(what, why, restart)];
		}
	}];
}
function open$1(what, credential, { status }) {
	if (status === 404) return wrong(what, "the running relay does not accept these, as without the file in ppsgate.yml", restart);
	const why = `the relay responds with ${status} instead of 401 to ${credential}`;
	return wrong(what, why, "check that no proxy responds for it");
}

// src/relay/check-starter.ts
/** @param branch base of diffs that name none */
function starterStep(start, branch, deps) {
	switch (start.kind) {
		case "here": return {
			what: "relay.start.repository",
			run: (what) => clone(what, start.repository, branch, deps)
		};
		case "github": {
			const place = {
				what: "The token for GitHub",
				path: start.tokenPath
			};
			return secretStep("relay.start.tokenFile", {
				...place,
				variable: "GITHUB_TOKEN"
			});
		}
		case "jenkins": {
			const place = {
				what: "The token for Jenkins",
				path: start.tokenPath
			};
			return secretStep("relay.start.tokenFile", {
				...place,
				variable: "PPSGATE_JENKINS_TOKEN"
			});
		}
	}
}
async function clone(what, path, branch, { now, overlay }) {
	const repository = openRepository(path);
	if (!await repository.resolve("HEAD").then(() => true, () => false)) {
		const fix = `name a clone, or create one with ${typed(shell`git clone --config ${withNotes} ${"https://git.freebsd.org/src.git"} ${path}`)}`;
		return [wrong(what, `${path} is not a git repository with a commit`, fix)];
	}
	const tip = await repository.commitAt(branch, now()).catch(() => void 0);
	if (tip === void 0) return [wrong(what, `${path} has no branch ${branch}`, "set `phabricator.branch` to the branch that revisions are based on")];
	const found = `${path} has ${branch}, at ${shortId(tip)}`;
	return [overlay === void 0 ? ok(what, found) : await base(what, found, repository, tip, overlay)];
}
/** Notes with the Subversion revisions that diffs from before 2021 are based on. */
const withNotes = "remote.origin.fetch=+refs/notes/*:refs/notes/*";
async function base(what, found, repository, commit, overlay) {
	try {
		const source = await sourceOf(overlay, repository);
		const { files } = await readOverlay(repository, {
			variant: "base",
			commit
		}, source);
		const place = pathsIn(source).join(", ") || "its top";
		const count = files.length === 1 ? "1 file" : `${files.length} files`;
		if (files.length > 0) return ok(what, `${found}, with ${count} in ${place}`);
		return wrong(what, `${found}, with no file in ${place}`, "set `overlay` to the folder with the files of a Linux DUT, or commit some to it");
	} catch (error) {
		if (!(error instanceof RepositoryError)) throw error;
		return wrong(what, error.message.replace(/\.$/, ""), "set `overlay` to a folder of that repository with at most 100 files");
	}
}

// src/relay/setup-check.ts
/** A failed step does not stop the others. Throws the signal's reason. */
const checkPhabricator = (config, deps) => walk(stepsOf(config, deps), {
	...deps,
	failed
});
function failed(what, error) {
	return {
		kind: error instanceof ConduitError && error.kind !== "refused" ? "unreachable" : "wrong",
		what,
		why: reasonOf(error),
		fix: lookAgain
	};
}
function stepsOf(config, deps) {
	const session = {};
	const { tokenPath, caPath, relay } = config;
	const conduitStep = (what, check) => ({
		what,
		needs: ["the token"],
		run: async () => session.conduit === void 0 ? [] : check(session.conduit, what)
	});
	const place = {
		what: "The Conduit token",
		path: tokenPath,
		variable: tokenVariable
	};
	return [
		...caPath === void 0 ? [] : [authority(caPath, session)],
		{
			what: "the server",
			needs: ["ca"],
			run: (what) => server(what, config, session, deps)
		},
		{
			what: "the clocks",
			needs: ["the server"],
			run: async (what) => clocks(what, session, deps.now())
		},
		secretStep("tokenFile", place),
		{
			what: "the token",
			needs: ["the server"],
			run: (what) => token(what, config, session, deps)
		},
		{
			what: "the account",
			needs: ["the token"],
			run: async (what) => session.account === void 0 ? [] : rights(what, session.account, config)
		},
		conduitStep("repositories", (conduit, what) => repositories(what, conduit, config)),
		conduitStep("projects", (conduit, what) => projects(what, conduit, config)),
		conduitStep("people", (conduit, what) => people(what, conduit, config)),
		conduitStep("build plans", (conduit, what) => buildPlans(what, conduit, config)),
		{
			what: "writing",
			needs: ["the token"],
			run: async (what) => [skipped(what, unwritten)]
		},
		answersStep(config, deps.now),
		...relaySteps(config, deps),
		starterStep(relay.start, config.branch, deps)
	];
}
const authority = (path, session) => ({
	what: "ca",
	async run(what) {
		session.ca = await readAuthority(path);
		return [ok(what, `${path} has the certificate of an authority`)];
	}
});
const unwritten = "this check writes nothing, so it does not detect a server in read-only mode";
const maxSeconds = 20;
const maxBytes$1 = 1024 ** 2;
/** Sends no token, as the server is not verified yet. */
async function server(what, { url }, session, { signal }) {
	const answer = await sendRequest(`${url}/api/conduit.ping`, {
		method: "POST",
		body: new URLSearchParams({ params: "{}" }),
		answerSeconds: maxSeconds,
		maxBytes: maxBytes$1,
		trust: { ca: session.ca },
		signal
	});
	if (answer.kind === "no-answer" && answer.distrust !== void 0) {
		const { distrust } = answer;
		return [wrong(what, `${url} shows ${distrust.shown}`, fixOfCertificate(distrust, session.ca))];
	}
	if (answer.kind === "no-answer") {
		const why = `${url} does not respond (${answer.why})`;
		return [unreachable(what, why, "check `url` in ppsgate.yml, and that the server is up")];
	}
	const { status, headers, body } = answer;
	if (status >= 300 && status < 400) {
		const why = `${url} redirects to ${headers.get("location") ?? "nowhere"}`;
		return [wrong(what, why, "set `url` in ppsgate.yml to the current address of the server")];
	}
	if (status === 429 || status >= 500) {
		const why = `${url} answers ${status}`;
		return [unreachable(what, why, "try later, or check the host name in `url`")];
	}
	if (!envelope.safeParse(parseJson(String(body))).success) {
		const why = `${url} answers ${status} and ${headers.get("content-type") ?? "something"}, which is not Conduit’s JSON`;
		return [wrong(what, why, "set `url` in ppsgate.yml to the address of a Phabricator, without a path")];
	}
	const date = headers.get("date");
	if (date !== void 0) session.date = new Date(date);
	return [ok(what, `${url} is a Phabricator server`)];
}
const envelope = object({
	result: unknown(),
	error_code: word.nullable()
});
/** A larger difference would mislead readers who compare a log with a comment. */
const maxSecondsApart = 60;
function clocks(what, { date }, now) {
	if (date === void 0) return [skipped(what, "the server does not report its time")];
	const seconds = Math.round((date.getTime() - now.getTime()) / 1e3);
	if (Math.abs(seconds) <= maxSecondsApart) return [ok(what, `the server and this machine differ by at most ${maxSecondsApart} s`)];
	const why = `the server’s is ${Math.abs(seconds)} s ${seconds > 0 ? "ahead of" : "behind"} ours`;
	return [warning(what, why, "synchronize both with NTP: polls use the server’s clock, and logs use this machine’s")];
}
const account = object({
	userName: word,
	roles: list(word)
});
async function token(what, config, session, deps) {
	session.conduit = await openPhabricator(config, deps);
	session.account = await session.conduit.call("user.whoami", {}, account);
	return [ok(what, `it belongs to ${session.account.userName}`)];
}
function rights(what, { userName, roles }, { url }) {
	if (roles.includes("admin")) {
		const fix = `create a bot on ${url}/people/new/bot/, and use its token`;
		return [wrong(what, `${userName} is an administrator, so every holder of its token is one too`, fix)];
	}
	if (!roles.includes("agent")) {
		const fix = `create a bot on ${url}/people/new/bot/, which has no login`;
		return [warning(what, `${userName} is the account of a person, in whose name ppsgate would comment`, fix)];
	}
	return [ok(what, `${userName} is a bot and not an administrator`)];
}
const repositoryItem = object({ fields: object({
	callsign: word.nullable(),
	shortName: word.nullable(),
	policy: object({ edit: word })
}) });
async function repositories(what, conduit, { repositories: names }) {
	if (names === void 0) return [ok(what, "none are configured, so revisions of any repository, or of none, are measured")];
	const search = (constraints) => conduit.search("diffusion.repository.search", { constraints }, repositoryItem);
	const found = [...await search({ callsigns: names }), ...await search({ shortNames: names })];
	return names.map((name) => {
		const one = found.find(({ fields }) => [fields.callsign, fields.shortName].some((own) => own !== null && isSameName(own, name)));
		if (one !== void 0) return ok(what, `${name} exists, and may be edited by "${one.fields.policy.edit}"`);
		return wrong(what, `there is no ${name}, or it is hidden from the bot`, lookAt(what));
	});
}
const lookAt = (key) => `correct \`phabricator.${key}\` in ppsgate.yml, or make it visible to the bot`;
const projectPage = object({
	data: list(object({
		phid: word,
		attachments: object({ members: object({ members: list(unknown()) }) })
	})),
	maps: object({ slugMap: mapOf(object({ projectPHID: word })) })
});
async function projects(what, conduit, { projects: slugs, people }) {
	if (slugs.length === 0 && people.length === 0) return [wrong(what, "no diff may be measured: `projects` and `people` are empty", "name a project or a person under `phabricator` in ppsgate.yml")];
	if (slugs.length === 0) return [ok(what, "none are configured: only `people` may approve")];
	const params = {
		constraints: { slugs },
		attachments: { members: true }
	};
	const { data, maps } = await conduit.call("project.search", params, projectPage);
	return slugs.map((slug) => {
		const found = data.find(({ phid }) => phid === maps.slugMap[slug]?.projectPHID);
		if (found === void 0) return wrong(what, `there is no #${slug}, or it is hidden from the bot`, lookAt(what));
		const count = found.attachments.members.members.length;
		if (count === 0) return warning(what, `#${slug} has no members visible to the bot`, "add people who may have revisions measured, or make them visible to the bot");
		return ok(what, `#${slug} has ${count} ${count === 1 ? "member" : "members"}`);
	});
}
const userItem = object({ fields: object({
	username: word,
	roles: list(word)
}) });
async function people(what, conduit, { people: names }) {
	if (names.length === 0) return [ok(what, "none are configured: only `projects` may approve")];
	const constraints = { usernames: names };
	const found = await conduit.search("user.search", { constraints }, userItem);
	return names.map((name) => {
		const one = found.find(({ fields }) => isSameName(fields.username, name));
		if (one === void 0) return wrong(what, `there is no user ${name}`, lookAt(what));
		if (one.fields.roles.includes("disabled")) return warning(what, `the account of ${name} is disabled`, "remove the name from `phabricator.people` in ppsgate.yml");
		return ok(what, `${name} is there`);
	});
}
const planItem = object({
	id: int(),
	phid: word,
	fields: object({
		name: word,
		status: object({ value: word }),
		behaviors: byName(object({ value: word }))
	})
});
const stepItem = object({ fields: object({
	name: word,
	buildPlanPHID: word
}) });
/** Only its page shows the URI of a plan's HTTP step, so our plan is found by its name. */
async function buildPlans(what, conduit, { url, relay }) {
	const plans = await conduit.search("harbormaster.buildplan.search", {}, planItem);
	const steps = await conduit.search("harbormaster.step.search", {}, stepItem);
	const ours = plans.filter(({ phid, fields }) => {
		const stepNames = steps.filter((step) => step.fields.buildPlanPHID === phid).map((step) => step.fields.name);
		return [fields.name, ...stepNames].some((name) => /ppsgate/i.test(name)) && fields.status.value === "active";
	});
	if (!(relay.buildPasswordPath !== void 0 && relay.on.includes("builds"))) return ours.length === 0 ? [skipped(what, "builds are not accepted, and there is no plan named ppsgate")] : ours.map(({ fields }) => notTaken(what, fields.name));
	if (ours.length === 0) return [warning(what, "there is no plan named ppsgate, or it is hidden from the bot", "name your plan ppsgate and make it visible to the bot, or remove `relay.buildPasswordFile`")];
	return ours.flatMap(({ id, fields: { name, behaviors } }) => {
		const page = `${url}/harbormaster/plan/${id}/`;
		const holds = behaviors["hold-drafts"]?.value ?? "always";
		return [holds === "never" ? ok(what, `"${name}" does not hold drafts`) : warning(what, `"${name}" holds drafts (${holds}), so their builds pass at once, and only comments show the results`, `set "Hold Drafts" to "Never" on ${page}`), skipped("the build step", `its URI cannot be checked from here: ${page} must show POST to …${buildQuery}, the user and password of \`relay.buildPasswordFile\` as credential, no other secrets, and that it waits for a message`)];
	});
}
const buildQuery = "/build?target=${target.phid}&build=${build.phid}&diff=${buildable.diff}&revision=${buildable.revision}";
const notTaken = (what, plan) => wrong(what, `"${plan}" requests builds, but none are accepted, so they fail or wait forever`, "set `relay.buildPasswordFile` and add `builds` to `relay.on`, or disable the plan");

// src/relay/start-github.ts
function startOnGithub(octokit, options) {
	const { repository, apiUrl, event } = options;
	const { owner, repo } = placeOf(repository);
	const runs = {
		octokit,
		owner,
		repo,
		pause: options.pause
	};
	const page = `${pagesOf(apiUrl)}/${repository}/actions`;
	const findRunOf = (job, what, signal) => answered(() => awaitRun(runs, job.key, signal), {
		what,
		needs: `\`actions: read\` in ${repository}`
	});
	return {
		async start(job, mayBeStarted, signal) {
			if (job.extend !== void 0) return {
				kind: "refused",
				why: `The experiment of D${job.revision} cannot be continued, because the relay runs gates on GitHub and their work directories stay there: measure it from the start.`
			};
			const what = `No ${workOf(job)} of D${job.revision} was started on GitHub`;
			if (mayBeStarted) {
				const earlier = await findRunOf(job, what, signal);
				if ("why" in earlier) return earlier;
				if (earlier.answer !== void 0) return {
					kind: "started",
					where: earlier.answer.url
				};
			}
			if (signal.aborted) return {
				kind: "failed",
				why: `${what}, because the relay is stopping.`
			};
			const call = {
				owner,
				repo,
				event_type: event,
				client_payload: payloadOf(job),
				request: { retries: 0 }
			};
			const sent = await answered(() => octokit.request("POST /repos/{owner}/{repo}/dispatches", call), {
				what,
				needs: `\`contents: write\` in ${repository}`
			});
			if ("why" in sent) return sent;
			const run = await findRunOf(job, what, signal);
			return {
				kind: "started",
				where: "answer" in run && run.answer?.url || page
			};
		},
		async cancel(job, signal) {
			const what = `The ${workOf(job)} of D${job.revision} was not cancelled on GitHub`;
			const found = await findRunOf(job, what, signal);
			if ("why" in found) return found.why;
			if (signal.aborted) return `${what}, because the relay is stopping.`;
			if (found.answer === void 0) return `${what}, because no workflow run is named ${job.key}: see ${page}.`;
			const call = {
				owner,
				repo,
				run_id: found.answer.id
			};
			const cancelled = await answered(() => cancelRun(octokit, call), {
				what,
				needs: `\`actions: write\` in ${repository}`
			});
			return "why" in cancelled ? cancelled.why : void 0;
		}
	};
}
/** GitHub accepts at most ten properties. */
const payloadOf = ({ key, build, overrides, bisect, ...job }) => ({
	patch: patchOf(job),
	key,
	build,
	...bisect && { instead: bisectWords(bisect) },
	...overridesAs(overrides, kebabCase)
});
/** Seconds before each request, as a run appears some time after its event. */
const waits = [
	0,
	2,
	3,
	5,
	10,
	10
];
async function awaitRun(runs, key, signal) {
	for (const seconds of waits) {
		if (seconds > 0) await runs.pause(seconds, signal);
		if (signal.aborted) return void 0;
		const run = await findRun(runs, key);
		if (run !== void 0) return run;
	}
}
/** Enough for months of runs, newest first. */
const maxPages = 3;
const perPage = 100;
async function findRun({ octokit, owner, repo }, key) {
	for (let page = 1; page <= maxPages; page++) {
		const { data } = await octokit.request("GET /repos/{owner}/{repo}/actions/runs", {
			owner,
			repo,
			event: "repository_dispatch",
			per_page: perPage,
			page
		});
		const found = data.workflow_runs.find((run) => run.display_title.split(/\s+/).includes(key));
		if (found !== void 0) return {
			id: Number(found.id),
			url: found.html_url
		};
		if (data.workflow_runs.length < perPage) return void 0;
	}
}
async function cancelRun(octokit, call) {
	try {
		await octokit.request("POST /repos/{owner}/{repo}/actions/runs/{run_id}/cancel", call);
	} catch (error) {
		const failure = githubFailure(error);
		if (failure?.kind !== "answered" || failure.status !== 409) throw error;
	}
}
/** @param about.what beginning of the sentence on a failure */
async function answered(request, { what, needs }) {
	try {
		return { answer: await request() };
	} catch (error) {
		const failure = githubFailure(error);
		if (failure === void 0) throw error;
		return {
			kind: failure.kind === "rate-limited" || isBreakdown(failure) ? "failed" : "refused",
			why: `${what}, because ${reason(failure, needs)}.`
		};
	}
}
function reason(failure, needs) {
	if (failure.kind === "no-answer") return `GitHub cannot be reached (${failure.detail})`;
	if (failure.kind === "rate-limited") return `its rate limit blocks the token ${failure.until} (${failure.detail})`;
	const { status, detail: said } = failure;
	if (status === 401) return `GitHub rejects the token (${said}): configure another one for the relay`;
	if (status === 403 || status === 404) return `the token lacks a permission (${said}): it needs ${needs}, or \`repo\` for a classic token`;
	return `GitHub answered ${said}`;
}
/** `https://github.com` for `https://api.github.com`. A GitHub Enterprise Server has its API below `/api/v3`. */
function pagesOf(apiUrl) {
	const { protocol, host } = new URL(apiUrl);
	return `${protocol}//${host.replace(/^api\./, "")}`;
}

// src/relay/start-here.ts
function startHere(options) {
	const { directory, most } = options;
	const inTurn = semaphore(1);
	const start = async (job) => {
		const before = await readTry(directory, job.key);
		if (before !== void 0) {
			const { kind } = await endOf(directory, job.key);
			if (kind !== "lost") return {
				kind: "started",
				where: before.work
			};
			if (before.tries >= maxTries) return {
				kind: "refused",
				why: diedTooOften(job, directory)
			};
		}
		const running = await runningTries(directory);
		if (running.length >= most) return {
			kind: "failed",
			why: `${running.length} gates already run here: ${nameOf(job)} can start once one of them has ended, or with a higher \`most\`.`
		};
		const call = await invocationOf(job, before, options);
		if ("why" in call) return {
			kind: "refused",
			why: call.why
		};
		if (running.some(({ work }) => work === call.work)) return {
			kind: "failed",
			why: `A gate still works in ${call.work}: ${nameOf(job)} can start once that has ended.`
		};
		await launch(job.key, call, before?.tries ?? 0, options);
		return {
			kind: "started",
			where: call.work
		};
	};
	return {
		start: (job, _mayBeStarted, signal) => inTurn(async () => {
			if (signal.aborted) return {
				kind: "failed",
				why: `The ${workOf(job)} of ${nameOf(job)} was not started, because the relay is stopping.`
			};
			try {
				return await start(job);
			} catch (error) {
				if (conclusionOfError(error) === "usage" && error instanceof Error) return {
					kind: "refused",
					why: error.message
				};
				return {
					kind: "failed",
					why: `The ${workOf(job)} of ${nameOf(job)} could not be started (${reasonOf(error)}): check ${directory}.`
				};
			}
		}),
		cancel: (job) => inTurn(async () => {
			const current = await readTry(directory, job.key);
			const { kind } = await endOf(directory, job.key);
			return current !== void 0 && kind === "running" && await signalGroup(current.leader, "SIGTERM") ? void 0 : `No ${workOf(job)} of ${nameOf(job)} runs here anymore.`;
		}),
		hasRoom: async () => (await runningTries(directory)).length < most,
		ended: (job) => endOf(directory, job.key)
	};
}
const maxTries = 3;
const nameOf = ({ revision, diff }) => `diff ${diff} of D${revision}`;
const diedTooOften = (job, directory) => `The ${workOf(job)} of ${nameOf(job)} ended ${maxTries} times without a message: see the end of ${join(directory, `${job.key}.log`)}, and request it again.`;
const trySchema = object({
	leader: leaderSchema,
	/** Work directory; for an extension, that of the first job. */
	work: word,
	tries: int(),
	maxRuns: int().optional()
});
async function readTry(directory, key) {
	const text = await textOf(join(directory, `${key}.pid`));
	return text === void 0 ? void 0 : trySchema.parse(JSON.parse(text));
}
async function endOf(directory, key) {
	const current = await readTry(directory, key);
	if (current === void 0) return { kind: "lost" };
	const runs = await isRunning(current.leader);
	const text = await textOf(join(directory, `${key}.ended`));
	if (text === void 0) return { kind: runs ? "running" : "lost" };
	const exitCode = Number(text);
	return exitCode <= 128 || exitCode === exitCodes.cancelled ? {
		kind: "ended",
		exitCode
	} : { kind: "lost" };
}
async function runningTries(directory) {
	const names = new Set(await readdir(directory).catch(() => []));
	const open = [...names].flatMap((name) => /^(.+)\.pid$/.exec(name)?.[1] ?? []).filter((key) => !names.has(`${key}.ended`));
	return (await Promise.all(open.map(async (key) => {
		const current = await readTry(directory, key);
		return current !== void 0 && await isRunning(current.leader) ? current : [];
	}))).flat();
}
async function invocationOf(job, before, { configPath, repository, directory, site }) {
	const { overrides, extend, bisect } = job;
	const always = flags({
		"--run": job.key,
		"--build": job.build,
		"--config": configPath,
		"--repository": repository
	});
	const siteOf = (work) => flags({ "--site": site && `${site}/${basename(work)}` });
	const resume = (work) => [
		"gate",
		"--resume",
		work,
		"--answer",
		...always,
		...siteOf(work)
	];
	if (bisect !== void 0) {
		const work = join(directory, job.key);
		const patch = [
			"--patch",
			patchOf(job),
			"--answer"
		];
		const begun = await hasBisectPlan(work);
		const begin = () => [
			"--directory",
			work,
			...overrideArguments(bisect, namingStyles.bisectFlag)
		];
		return {
			work,
			args: ["bisect", ...[
				...begun ? ["--resume", work] : begin(),
				...patch,
				...always,
				...siteOf(work)
			]]
		};
	}
	if (extend !== void 0) {
		const work = (await readTry(directory, extend.key))?.work ?? join(directory, extend.key);
		if (!await hasPlan(work)) return { why: `The experiment that ${nameOf(job)} was to continue is no longer in ${work}: measure it from the start.` };
		const { cells } = await readPlan(work);
		const planned = Math.max(...cells.flatMap(({ design }) => design.budgets));
		const requested = extend.maxRuns === void 0 ? 2 * planned : parseMaxRuns(extend.maxRuns, namingStyles.comment("maxRuns"));
		const maxRuns = before?.maxRuns ?? requested;
		const more = before !== void 0 && planned >= maxRuns ? [] : ["--max-runs", String(maxRuns)];
		return {
			work,
			args: [...resume(work), ...more],
			maxRuns
		};
	}
	const work = join(directory, job.key);
	if (await hasPlan(work)) return {
		work,
		args: resume(work)
	};
	const own = [...flags({ "--directory": work }), ...overrideArguments(overrides)];
	return {
		work,
		args: [
			"gate",
			"--patch",
			patchOf(job),
			"--answer",
			...always,
			...siteOf(work),
			...own
		]
	};
}
const flags = (values) => Object.entries(values).flatMap(([name, value]) => value === void 0 ? [] : [name, value]);
/** Throws, and starts nothing, if the process cannot be started or recorded. */
async function launch(key, { work, args, maxRuns }, triesBefore, { program, directory, environment }) {
	await mkdir(directory, { recursive: true });
	const path = join(directory, key);
	await rm(`${path}.ended`, { force: true });
	await using log = await open(`${path}.log`, "a");
	const child = spawn("/bin/sh", ["-c", wrapped([...program, ...args], `${path}.ended`)], {
		detached: true,
		env: Object.fromEntries(passedOn.map((name) => [name, environment[name]])),
		stdio: [
			"pipe",
			log.fd,
			log.fd
		]
	});
	try {
		const current = {
			leader: await leaderOf(child),
			work,
			tries: triesBefore + 1,
			...maxRuns && { maxRuns }
		};
		await writeFile(`${path}.pid.part`, JSON.stringify(current), { flush: true });
		await rename(`${path}.pid.part`, `${path}.pid`);
		child.stdin?.write("go\n");
	} finally {
		child.stdin?.end();
		child.unref();
	}
}
/**
* Waits for the line that confirms its record; without it, exits with the starter. Outlives SIGTERM to write the exit
* code.
*/
const wrapped = (argv, endedPath) => commandText(shell`read -r go || exit; trap : HUP INT TERM; ${argv}; echo $? >${endedPath}.part && mv ${endedPath}.part ${endedPath}`);
async function leaderOf(child) {
	child.stdin?.on("error", () => {});
	await once(child, "spawn");
	const { pid = 0 } = child;
	const started = await startOf(pid);
	if (started === void 0) throw new Error("its process ended immediately");
	return {
		pid,
		started
	};
}
/** Excludes the relay's keys and passwords, and variables of a service manager. */
const passedOn = [
	"PATH",
	"HOME",
	"USER",
	"LOGNAME",
	"LANG",
	"LC_ALL",
	"LC_CTYPE",
	"TZ",
	"TMPDIR",
	"SSH_AUTH_SOCK",
	"NODE_EXTRA_CA_CERTS",
	"PPSGATE_NODE",
	"PPSGATE_CONDUIT_TOKEN",
	"PPSGATE_BMC_PASSWORD"
];
async function textOf(path) {
	try {
		return await readFile(path, "utf8");
	} catch (error) {
		if (error instanceof Error && "code" in error && error.code === "ENOENT") return void 0;
		throw error;
	}
}

// src/relay/start-jenkins.ts
function startOnJenkins(options) {
	const jenkins = jenkinsOf(options);
	return {
		async start(job, mayBeStarted, signal) {
			try {
				if (job.extend !== void 0) throw new NotDone("refused", staysThere);
				const item = mayBeStarted ? await findInQueue(jenkins, job.key, signal) : void 0;
				if (item !== void 0) return {
					kind: "started",
					where: item.url
				};
				const { builds, parameters } = await readJob(jenkins, signal);
				const build = mayBeStarted ? builds.find(({ key }) => key === job.key) : void 0;
				if (build !== void 0) return {
					kind: "started",
					where: build.url
				};
				return {
					kind: "started",
					where: await startBuild(jenkins, job, parameters, signal)
				};
			} catch (error) {
				if (!(error instanceof NotDone)) throw error;
				const why = `No ${workOf(job)} of D${job.revision} was started by Jenkins, because ${error.message}.`;
				return {
					kind: error.kind,
					why
				};
			}
		},
		async cancel(job, signal) {
			try {
				await cancel(jenkins, job.key, signal);
				return;
			} catch (error) {
				if (!(error instanceof NotDone)) throw error;
				return `The ${workOf(job)} of D${job.revision} was not cancelled by Jenkins, because ${error.message}.`;
			}
		}
	};
}
const staysThere = "the experiment to continue stays on Jenkins; measure it from the start";
/** The message completes "…, because"; see `Started`. */
var NotDone = class extends Error {
	kind;
	constructor(kind, message) {
		super(message);
		this.kind = kind;
	}
};
function jenkinsOf({ url, user, token }) {
	const job = url.replaceAll(/\/view\/[^/]+/g, "");
	return {
		job,
		root: job.replace(/\/job\/.*$/, ""),
		user,
		authorization: `Basic ${Buffer.from(`${user}:${token}`).toString("base64")}`
	};
}
/** Actions of a build or a queued item. Most are not parameters. */
const actionsSchema = list(object({ parameters: list(object({
	name: word,
	value: unknown().optional()
})).optional() }).nullable());
const keyOf = (actions) => actions.flatMap((action) => action?.parameters ?? []).find(({ name }) => name === "KEY")?.value;
const queueSchema = object({ items: list(object({
	id: int(),
	task: object({ url: word.default("") }),
	actions: actionsSchema
})) });
const jobSchema = object({
	property: list(object({ parameterDefinitions: list(object({ name: word })).default([]) })),
	builds: list(object({
		number: int(),
		actions: actionsSchema
	}))
});
async function findInQueue(jenkins, key, signal) {
	const { root, job } = jenkins;
	const { items } = await read(jenkins, `${root}/queue`, {
		tree: "items[id,task[url],actions[parameters[name,value]]]",
		schema: queueSchema,
		signal
	});
	const item = items.find(({ task, actions }) => keyOf(actions) === key && pathOf(task.url) === pathOf(job));
	return item && {
		id: item.id,
		url: `${root}/queue/item/${item.id}/`
	};
}
/** Path below the job: Jenkins may use another address for itself. */
const pathOf = (url) => URL.parse(url)?.pathname.replace(/^.*?(?=\/job\/)|\/+$/g, "");
async function readJob(jenkins, signal) {
	const { job } = jenkins;
	const { property, builds } = await read(jenkins, job, {
		tree: "property[parameterDefinitions[name]],builds[number,actions[parameters[name,value]]]{0,100}",
		schema: jobSchema,
		signal
	});
	return {
		parameters: property.flatMap((one) => one.parameterDefinitions.map(({ name }) => name)),
		builds: builds.map(({ number, actions }) => ({
			key: keyOf(actions),
			url: `${job}/${number}/`
		}))
	};
}
async function startBuild(jenkins, job, defined, signal) {
	const form = new URLSearchParams();
	for (const [name, value] of Object.entries(parametersOf(job))) if (value !== void 0) form.append(name, value);
	const missing = [...form.keys()].filter((name) => !defined.includes(name));
	if (missing.length > 0) {
		const them = missing.length === 1 ? "it as a string" : "them as strings";
		throw new NotDone("refused", `its job has no parameter ${missing.join(", ")}: define ${them}`);
	}
	const answer = await request(jenkins, `${jenkins.job}/buildWithParameters`, {
		form,
		signal
	});
	refuse(answer, jenkins, "Job/Build");
	const where = URL.parse(answer.location, `${jenkins.job}/`);
	return where !== null && /^https?:$/.test(where.protocol) ? where.href : jenkins.job;
}
const parametersOf = ({ key, build, overrides, bisect, ...job }) => ({
	PATCH: patchOf(job),
	KEY: key,
	BUILD: build,
	...bisect && { COMMAND: "bisect" },
	...overridesAs(bisect ?? overrides, (name) => kebabCase(name).replaceAll("-", "_").toUpperCase())
});
async function cancel(jenkins, key, signal) {
	const form = new URLSearchParams();
	const item = await findInQueue(jenkins, key, signal);
	if (item !== void 0) {
		const answer = await request(jenkins, `${jenkins.root}/queue/cancelItem?id=${item.id}`, {
			form,
			signal
		});
		if (answer.status !== 404) return refuse(answer, jenkins, "Job/Cancel", isAccepted);
	}
	const { builds } = await readJob(jenkins, signal);
	const build = builds.find((one) => one.key === key);
	if (build === void 0) throw new NotDone("refused", `it has no build with the KEY ${key}`);
	refuse(await request(jenkins, `${build.url}stop`, {
		form,
		signal
	}), jenkins, "Job/Cancel", isAccepted);
}
/** A redirect leads a browser to the next page. */
const isAccepted = (status) => status >= 200 && status < 400;
const isGood = (status) => status >= 200 && status < 300;
async function read(jenkins, address, { tree, schema, signal }) {
	const url = `${address}/api/json?${new URLSearchParams({ tree })}`;
	const answer = await request(jenkins, url, { signal });
	refuse(answer, jenkins, "Job/Read");
	const parsed = schema.safeParse(parseJson(answer.body));
	if (parsed.success) return parsed.data;
	const { origin, pathname } = new URL(url);
	throw new NotDone("refused", `${origin}${pathname} does not respond like Jenkins`);
}
const answerSeconds = 30;
/** A queue of a thousand builds has about 100 kB. */
const maxBytes = 16 * 1024 ** 2;
async function request({ authorization }, url, { form, signal }) {
	const answer = await sendRequest(url, {
		headers: { authorization },
		answerSeconds,
		maxBytes,
		signal,
		...form !== void 0 && {
			method: "POST",
			body: form
		}
	});
	if (answer.kind === "answered") {
		const { status, headers, body } = answer;
		return {
			status,
			location: headers.get("location") ?? "",
			body: body?.toString() ?? ""
		};
	}
	if (signal.aborted) throw new NotDone("failed", "the relay is stopping");
	throw new NotDone("failed", `it cannot be reached (${answer.why})`);
}
function refuse(answer, jenkins, permission, isDone = isGood) {
	const { status } = answer;
	if (isDone(status)) return;
	if (status >= 500 || status === 429) throw new NotDone("failed", `it answered ${status}`);
	throw new NotDone("refused", reasonFor(answer, jenkins, permission));
}
function reasonFor({ status, location }, { job, user }, permission) {
	if (status < 400) return `it answered ${status} and redirects to ${shortened(location)}: set the address of its job to the one that Jenkins uses`;
	switch (status) {
		case 401: return `it rejects this token of the user ${user} (401): configure another one for the relay`;
		case 403:
		case 422: return `the user ${user} may not (${status}): grant it the permission ${permission}`;
		case 404: return `there is no job at ${job}, or the user ${user} may not see it (404): correct the address, or grant it the permission Job/Read`;
		case 409: return "its job is disabled (409): enable it";
		default: return `it answered ${status}`;
	}
}

// src/relay/open-starter.ts
/**
* Throws a `UsageError` for a missing token.
* @param deps.program ppsgate, as a program and its first arguments; absent: the running one
*/
async function openStarter({ start, directory }, deps) {
	switch (start.kind) {
		case "here": {
			const { configPath, program = thisProgram() } = deps;
			const { repository, most, site } = start;
			const here = startHere({
				configPath,
				repository,
				directory,
				most,
				site,
				program,
				environment: process.env
			});
			return {
				...here,
				ended: async (job) => statusOf(await here.ended(job))
			};
		}
		case "github": {
			const { repository, apiUrl, event, tokenPath: path } = start;
			const octokit = await createOctokit({
				token: await readSecret({
					what: "The token for GitHub",
					path,
					variable: "GITHUB_TOKEN"
				}),
				apiUrl,
				log: silent
			});
			return elsewhere(startOnGithub(octokit, {
				repository,
				apiUrl,
				event,
				pause: realPause
			}));
		}
		case "jenkins": {
			const { url, user, tokenPath: path } = start;
			return elsewhere(startOnJenkins({
				url,
				user,
				token: await readSecret({
					what: "The token for Jenkins",
					path,
					variable: "PPSGATE_JENKINS_TOKEN"
				})
			}));
		}
	}
}
const thisProgram = () => [process.execPath, resolve(process.argv[1] ?? "")];
function statusOf(end) {
	if (end.kind !== "ended") return end;
	const { exitCode } = end;
	return {
		kind: "ended",
		how: outcomes.get(exitCode) ?? `it exited with ${exitCode}`
	};
}
const outcomes = /* @__PURE__ */ new Map([
	[exitCodes.pass, "it passed"],
	[exitCodes.patchAtFault, "the patch is at fault"],
	[exitCodes.usage, "it could not be run as requested"],
	[exitCodes.undecided, "it was undecided"],
	[exitCodes.infrastructure, "the lab failed"],
	[exitCodes.cancelled, "it was cancelled"]
]);
const elsewhere = (starter) => ({
	...starter,
	hasRoom: async () => true,
	ended: async () => ({ kind: "elsewhere" })
});
/** Starters return their errors, and need no log. */
const silent = {
	debug() {},
	info() {},
	warn() {},
	error() {}
};

// src/relay/earlier-diffs.ts
/** More would be too many for one command, and for a testbed. */
const maxEarlierDiffs = 30;
/**
* `all` means the diffs at this moment, if `mayRun` holds for each sender; otherwise a person must name each one.
* Excludes diffs attached to the revision later. Throws a `UsageError` for ids that are not of earlier diffs.
*
* @param earlierWanted as typed, or as pinned by an earlier command
*/
async function pinnedDiffs(command, earlierWanted, found, mayRun) {
	if (!earlierWanted) return {
		kind: "pinned",
		earlier: void 0
	};
	const which = parseEarlier(earlierWanted, namingStyles.comment("earlier"));
	const diffs = command.kind === "rerun" && typeof which !== "string" ? found.earlier.filter(({ id }) => which.includes(id)) : chosenDiffs(found, which);
	if (diffs.length > maxEarlierDiffs) throw new UsageError(`${diffs.length} diffs are earlier than ${found.diff.id}, but at most ${maxEarlierDiffs} can be measured with it: select some with earlier=${idsOf(diffs.slice(-2))}`);
	const earlier = idsOf(diffs) || "none";
	const senders = [found.author, ...diffs.map(({ author }) => author)];
	if (which !== "all" || diffs.length === 0 || await mayRun(senders)) return {
		kind: "pinned",
		earlier
	};
	const many = diffs.length === 1 ? "a diff" : `${diffs.length} diffs`;
	return {
		kind: "unread",
		why: `D${found.number} has ${many} before ${found.diff.id} by people without approval, and each of them would be built and run on the testbed: read all of them, and write ${commandWith(command, earlier, found.diff.id)}.`
	};
}
const idsOf = (diffs) => diffs.map(({ id }) => id).join(",");
function commandWith(command, earlier, diff) {
	const words = command.kind === "bisect" ? bisectWords({
		...command.overrides,
		earlier
	}).replace(/^bisect/, `bisect ${diff}`) : `run ${diff} earlier=${earlier}`;
	return `${callOnPhabricator} ${words}`;
}

// src/relay/decide.ts
/** Throws a ConduitError if Phabricator does not reply. */
async function decide(occurrence, deps) {
	try {
		switch (occurrence.kind) {
			case "diff": return await decideDiff(occurrence, deps);
			case "build": return await decideBuild(occurrence, deps);
			case "comment": return await decideComment(occurrence, deps);
		}
	} catch (error) {
		if (!(error instanceof RevisionError)) throw error;
		return nothing(error.message);
	}
}
async function decideDiff({ of, diff }, deps) {
	if (!deps.config.relay.on.includes("diffs")) return nothing(`D${of} is ignored: new diffs are not measured here.`);
	const found = await findRevision(deps.conduit, {
		revision: of,
		diff
	});
	if (jobsOf(found, deps).some(({ job }) => job.diff === diff && job.build !== void 0)) return nothing(`Harbormaster has requested diff ${diff} of D${of}.`);
	if ((await findRevision(deps.conduit, { revision: of })).diff.id !== diff) return nothing(`D${of} has a newer diff than ${diff}.`);
	const why = whyForeign(found, deps);
	if (why !== void 0) return nothing(why);
	const authorization = await authorizationOf(found, sentBy(found), deps);
	if (authorization.kind !== "allowed") return nothing(authorization.why);
	const key = keyOfDiff(found, deps);
	const elsewhere = await elsewhereOf(found, deps);
	if (elsewhere?.kind === "elsewhere") return nothing(elsewhere.why);
	if (elsewhere?.kind === "doubtful") {
		const { phid: revision } = found;
		return {
			kind: "reply",
			of,
			revision,
			topic: "refused",
			why: elsewhere.why,
			key
		};
	}
	return {
		kind: "run",
		job: {
			key,
			revision: of,
			diff,
			phids: phidsOf(found),
			overrides: {},
			by: found.author.name
		}
	};
}
/** Jobs of this revision, by PHID: a restored server may have reused the number of another one. */
const jobsOf = (found, { inbox }) => inbox.jobsOf(found.number).filter(({ job }) => isSameDiff(job, found));
function isSameDiff({ phids, diff }, found) {
	if (phids === void 0) return true;
	const known = [found.diff, ...found.earlier].find(({ id }) => id === diff);
	return phids.revision === found.phid && (known === void 0 || known.phid === phids.diff);
}
/** Includes the PHID if a job of another diff has the usual key. */
function keyOfDiff(found, { inbox, warn }) {
	const { number, diff } = found;
	const usual = `D${number}:${diff.id}`;
	const before = inbox.jobsOf(number).find(({ job }) => job.key === usual)?.job;
	if (before === void 0 || isSameDiff(before, found)) return usual;
	warn(`D${number}:${diff.id} is not the diff queued earlier under this number (${before.phids?.diff}), as after a restore of the server: it is treated as a new diff.`);
	return `${usual}:${diff.phid}`;
}
async function decideBuild(occurrence, deps) {
	const { of, diff, build, key } = occurrence;
	const refused = (why) => ({
		kind: "refuse-build",
		build,
		of,
		diff,
		why
	});
	if (!deps.config.relay.on.includes("builds")) return refused("Builds are not measured here.");
	if (deps.inbox.jobsOf(of).some(({ job, state }) => job.build === build && !["ended", "dropped"].includes(state.kind))) return nothing(`The build of diff ${diff} of D${of} is already in progress.`);
	const found = await findRevision(deps.conduit, {
		revision: of,
		diff
	});
	const why = whyForeign(found, deps);
	if (why !== void 0) return refused(why);
	const authorization = await authorizationOf(found, sentBy(found), deps);
	if (authorization.kind !== "allowed") return refused(authorization.why);
	return {
		kind: "run",
		job: {
			key,
			revision: of,
			diff,
			phids: phidsOf(found),
			overrides: {},
			build,
			by: "Harbormaster"
		}
	};
}
async function decideComment(occurrence, given) {
	const warnings = /* @__PURE__ */ new Set();
	const deps = {
		...given,
		warn: (sentence) => warnings.add(sentence)
	};
	try {
		return await decideCommand(occurrence, deps);
	} finally {
		for (const sentence of warnings) given.warn(sentence);
	}
}
async function decideCommand(occurrence, deps) {
	const { key, of, text, by } = occurrence;
	if (!deps.config.relay.on.includes("comments")) return nothing(`D${of} is ignored: comments are not commands here.`);
	if (by === deps.me) return nothing(`The comment on D${of} is the bot’s own.`);
	const command = parseCommand(text, callOnPhabricator);
	if (command === void 0) return nothing(`The comment on D${of} is not a command.`);
	const name = (await userNames(deps.conduit, [by])).get(by) ?? by;
	const person = {
		phid: by,
		name
	};
	const isOfStranger = (await authorizeRevision({
		number: of,
		diff: 0
	}, {
		kind: "cancelled",
		by: person
	}, rulesOf(deps))).kind !== "allowed";
	const reply = (topic, why) => ({
		kind: "reply",
		of,
		revision: occurrence.revision,
		topic,
		why,
		key,
		...isOfStranger && { isOfStranger }
	});
	if (command.kind === "mistaken") return reply("mistaken", command.why);
	if (command.kind === "help") return reply("help", "");
	try {
		if (command.kind === "cancel") {
			const authorization = await authorizationOf(await findRevision(deps.conduit, { revision: of }), {
				kind: "cancelled",
				by: person
			}, deps);
			if (authorization.kind !== "allowed") return reply("not-cancelled", authorization.why);
			return {
				kind: "cancel",
				of,
				why: authorization.why
			};
		}
		const named = command.diff;
		const before = await diffBefore(occurrence, named, deps);
		const found = await findRevision(deps.conduit, {
			revision: of,
			diff: before.diff
		});
		const why = whyForeign(found, deps);
		if (why !== void 0) return reply("refused", why);
		const authorization = await authorizationOf(found, {
			kind: "commanded",
			verb: command.kind,
			by: person,
			at: occurrence.at,
			sentAt: before.sentAt,
			isMeasured: isMeasured(found, before.diff, deps),
			isNamed: named !== void 0 || command.kind === "bisect" && command.overrides.good !== void 0
		}, deps);
		if (authorization.kind !== "allowed") return reply("refused", authorization.why);
		const phids = phidsOf(found);
		const wanted = jobFor(command, {
			key,
			revision: of,
			diff: before.diff,
			phids,
			by: name
		}, jobsOf(found, deps));
		if (typeof wanted === "string") return reply("mistaken", wanted);
		const { overrides, extend, bisect } = wanted;
		deps.check({
			...bisect ?? overrides,
			...extend?.maxRuns && { maxRuns: extend.maxRuns }
		});
		if (bisect !== void 0 && !bisect.good && found.earlier.length === 0) return reply("mistaken", hasOneDiff(found));
		if (extend !== void 0) return {
			kind: "run",
			job: wanted
		};
		const own = bisect?.good ? void 0 : bisect?.earlier || "all";
		const earlierWanted = bisect === void 0 ? overrides.earlier : own;
		const mayRun = async (people) => (await authorizationOf(found, {
			kind: "sent",
			by: people
		}, deps)).kind === "allowed";
		const pinned = await pinnedDiffs(command, earlierWanted, found, mayRun);
		if (pinned.kind === "unread") return reply("refused", pinned.why);
		return {
			kind: "run",
			job: withEarlier(wanted, pinned.earlier)
		};
	} catch (error) {
		if (!(error instanceof UsageError || error instanceof RevisionError)) throw error;
		return reply("mistaken", error.message);
	}
}
function withEarlier(job, earlier) {
	if (earlier === void 0) return job;
	const { overrides, bisect } = job;
	return bisect === void 0 ? {
		...job,
		overrides: {
			...overrides,
			earlier
		}
	} : {
		...job,
		bisect: {
			...bisect,
			earlier
		}
	};
}
const hasOneDiff = ({ number, diff }) => `D${number} has no diff before ${diff.id}, so there is nothing to bisect; write ${callOnPhabricator} bisect GOOD BAD to choose commits`;
function jobFor(command, requested, earlierJobs) {
	const { diff } = requested;
	if (command.kind === "run") return {
		...requested,
		overrides: command.overrides
	};
	if (command.kind === "bisect") return {
		...requested,
		overrides: {},
		bisect: command.overrides
	};
	const before = earlierJobs.filter(({ job }) => job.bisect === void 0);
	if (command.kind === "rerun") return {
		...requested,
		overrides: before[0]?.job.overrides ?? {}
	};
	const last = before.find(({ job }) => job.diff === diff);
	if (last === void 0 || last.state.kind !== "ended") return `There is no experiment to extend for diff ${diff}; write ${callOnPhabricator} run first`;
	const { maxRuns } = command;
	const extend = {
		key: last.job.extend?.key ?? last.job.key,
		...maxRuns !== void 0 && { maxRuns }
	};
	return {
		...requested,
		overrides: last.job.overrides,
		extend
	};
}
/** Returns the diff that the comment names, or the newest one at that time, with the time when it was sent. */
async function diffBefore({ of, id }, named, { conduit }) {
	const { phid, diff, earlier } = await findRevision(conduit, { revision: of });
	const found = (await transactionsOf(conduit, phid, {})).flatMap((one) => {
		const sentDiff = [...earlier, diff].find((each) => one.kind === "diff" && each.phid === one.diffPhid);
		return sentDiff === void 0 || one.id > id ? [] : {
			diff: sentDiff.id,
			sentAt: one.at
		};
	}).findLast((one) => named === void 0 || one.diff === named);
	if (found !== void 0) return found;
	throw new UsageError(named === void 0 ? `it is unclear which diff you mean; write ${callOnPhabricator} run ${diff.id}` : `D${of} had no diff ${named} at the time of your comment; its newest is ${diff.id}`);
}
/** Knows only gates on this machine, since others report only their start. */
const isMeasured = (found, diff, deps) => jobsOf(found, deps).some(({ job, state }) => job.diff === diff && job.bisect === void 0 && state.kind === "ended" && measured.has(state.how));
const measured = /* @__PURE__ */ new Set([
	"it passed",
	"the patch is at fault",
	"it was undecided"
]);
const sentBy = ({ author, diff }) => ({
	kind: "sent",
	by: [author, diff.author]
});
function authorizationOf({ number, diff }, occasion, deps) {
	return authorizeRevision({
		number,
		diff: diff.id
	}, occasion, rulesOf(deps));
}
function rulesOf({ conduit, config, warn }) {
	const { people, projects } = config;
	return {
		people,
		projects,
		async isMember(phid) {
			const membership = await isMember(conduit, phid, projects);
			if (membership.warning !== void 0) warn(membership.warning);
			return membership.isMember;
		}
	};
}
function whyForeign({ number, repository, status }, { config }) {
	if (["abandoned", "published"].includes(status)) return `D${number} is ${status}.`;
	const { repositories } = config;
	if (repositories === void 0 || isNamed(repository, repositories)) return void 0;
	return `D${number} belongs to none of the measured repositories: ${repositories.join(", ")}.`;
}
/** Undefined if the diff changes a file below the paths, or cannot be read. */
async function elsewhereOf({ number, diff }, { config, conduit }) {
	const { paths } = config;
	if (paths === void 0) return void 0;
	const changed = await pathsOf(diff, conduit);
	if (changed === void 0) return void 0;
	const isBelow = (path) => paths.some((folder) => path.startsWith(folder));
	if (changed.paths.some(isBelow)) return void 0;
	const why = `D${number} changes nothing below ${paths.join(", ")}`;
	for (const path of changed.added) {
		const folder = paths.find((each) => isBelowRest(path, each));
		if (folder === void 0) continue;
		const meant = folder.slice(0, folder.indexOf("/") + 1) + path;
		return {
			kind: "doubtful",
			why: `${why}; ${`if ${shortened(path)} means ${shortened(meant)}, the diff was sent without prefixes: send it with arc diff, or make it with git diff --src-prefix=a/ --dst-prefix=b/.`}`
		};
	}
	return {
		kind: "elsewhere",
		why: `${why}.`
	};
}
function isBelowRest(path, folder) {
	const rest = folder.slice(folder.indexOf("/") + 1);
	return rest !== "" && path.startsWith(rest);
}
/** Undefined if it cannot be read; the gate reports that to its author. */
async function pathsOf(diff, conduit) {
	try {
		const fetched = await fetchDiff(conduit, diff);
		if (fetched.kind === "misleading") return {
			paths: fetched.paths,
			added: []
		};
		const checked = checkDiff(fetched.bytes);
		return checked.kind === "accepted" ? {
			...fetched,
			paths: checked.paths
		} : void 0;
	} catch (error) {
		if (isFinal(error)) return void 0;
		throw error;
	}
}
const nothing = (why) => ({
	kind: "nothing",
	why
});

// src/relay/occurrence.ts
/** Omits seen transactions. Throws a ConduitError if Phabricator does not reply. */
async function occurrencesOf(conduit, delivery, inbox) {
	if (delivery.kind === "build") return buildOf(conduit, delivery);
	const { object, transactions } = delivery;
	const seen = inbox.hasSeen(transactions);
	const fresh = transactions.filter((phid) => !seen.has(phid));
	if (fresh.length === 0) return {
		occurrences: [],
		seen: fresh
	};
	const number = await revisionWith(conduit, object);
	if (number === void 0) return {
		occurrences: [],
		seen: fresh,
		left: `${object} is ignored: it is not a revision that the bot may see.`
	};
	const found = await transactionsOf(conduit, object, { phids: fresh });
	return {
		occurrences: await occurrences(conduit, {
			id: number,
			phid: object
		}, found),
		seen: fresh
	};
}
/** The bot may be unable to see a build's diff, which then has no revision. */
async function buildOf(conduit, { target: key, build, diff, revision }) {
	try {
		return {
			occurrences: [{
				kind: "build",
				key,
				of: revision ?? (await findRevision(conduit, { diff })).number,
				build,
				diff
			}],
			seen: []
		};
	} catch (error) {
		if (!(error instanceof RevisionError)) throw error;
		return {
			occurrences: [],
			seen: [],
			left: `The build of diff ${diff} is ignored, and waits: ${error.message}`
		};
	}
}
/** Returns the events of all revisions changed at or after a time by the server's clock, or shortly before. */
async function occurrencesSince(conduit, since, inbox) {
	const from = Math.max(0, since - slackSeconds);
	const constraints = { modifiedStart: from };
	const changed = await conduit.search("differential.revision.search", { constraints }, revisionItem);
	const happened = {
		occurrences: [],
		seen: [],
		until: since
	};
	const waiting = [];
	for (const { id, phid, fields } of changed) {
		const recent = (await transactionsOf(conduit, phid, {})).filter(({ at }) => at.getTime() / 1e3 >= from - slackSeconds);
		const seen = inbox.hasSeen(recent.map(({ phid }) => phid));
		const fresh = recent.filter(({ phid }) => !seen.has(phid));
		const [oldest] = fresh;
		if (oldest !== void 0) {
			const found = await occurrences(conduit, {
				id,
				phid
			}, fresh);
			waiting.push({
				since: oldest.id,
				occurrences: found
			});
		}
		happened.seen.push(...fresh.map(({ phid }) => phid));
		happened.until = Math.max(happened.until, fields.dateModified);
	}
	waiting.sort((a, b) => a.since - b.since);
	happened.occurrences = waiting.flatMap(({ occurrences }) => occurrences);
	return happened;
}
/**
* A change has the time at which the server began to save it, so it may appear after one with a later time. A
* transaction may also be slightly older than its revision's change, which is saved later.
*/
const slackSeconds = 60;
/** Returns all events that a first poll must not report as new. */
async function happenedSoFar(conduit, inbox) {
	const [revision] = await conduit.search("differential.revision.search", { order: "updated" }, revisionItem, 1);
	const until = revision?.fields.dateModified ?? 0;
	return occurrencesSince(conduit, Math.max(0, until - slackSeconds), inbox);
}
const revisionItem = object({
	id: int(),
	phid: word,
	fields: object({ dateModified: int() })
});
async function revisionWith(conduit, phid) {
	const constraints = { phids: [phid] };
	return (await conduit.search("differential.revision.search", { constraints }, revisionItem))[0]?.id;
}
async function occurrences(conduit, { id: of, phid: revision }, transactions) {
	const ids = await diffIds(conduit, transactions.flatMap((one) => one.kind === "diff" ? one.diffPhid : []));
	return transactions.flatMap((one) => {
		const { phid: key, id, by, at } = one;
		if (one.kind === "comment") return [{
			kind: "comment",
			key,
			of,
			revision,
			id,
			by,
			at,
			text: one.text
		}];
		const diff = ids.get(one.diffPhid);
		return diff === void 0 ? [] : [{
			kind: "diff",
			key,
			of,
			diff
		}];
	});
}
async function diffIds(conduit, phids) {
	if (phids.length === 0) return /* @__PURE__ */ new Map();
	const item = object({
		id: int(),
		phid: word
	});
	const found = await conduit.search("differential.diff.search", { constraints: { phids } }, item);
	return new Map(found.map(({ id, phid }) => [phid, id]));
}

// src/relay/relay.ts
/** Never throws for an error of Phabricator or a starter. */
async function workOnce(deps) {
	await workOnJobs(deps);
	await giveAnswers(deps);
}
async function workOnJobs(deps) {
	await workOnDeliveries(deps);
	await startJobs(deps);
	await watchJobs(deps);
}
/**
* Works until the signal is aborted. Answers have separate rounds, as an undeliverable one takes most of a minute, and
* commands would wait.
*/
async function workOn(deps, rounds) {
	const answers = openBell(deps.pause);
	const loop = async (round, wait) => {
		while (!deps.signal.aborted) {
			await round();
			await wait();
		}
	};
	const work = async () => {
		await rounds.before?.();
		await workOnJobs(deps);
		answers.ring();
	};
	await Promise.all([loop(work, rounds.wait), loop(() => giveAnswers(deps), () => answers.waitFor(10, deps.signal))]);
}
/** Time between checks of started gates, and between retries. */
const secondsBetweenRounds = 10;
/** A ring without a waiter is stored for the next one. */
function openBell(pause = realPause) {
	let rung = new AbortController();
	return {
		ring: () => rung.abort(),
		async waitFor(seconds, signal) {
			await pause(seconds, AbortSignal.any([signal, rung.signal]));
			rung = new AbortController();
		}
	};
}
/** Reads the changes on the server since the last poll. The first poll only finds its starting point. */
async function pollOnce(deps) {
	const { conduit, inbox, log } = deps;
	const since = inbox.pollState(conduit.url);
	if (since === void 0) {
		const { until, seen } = await happenedSoFar(conduit, inbox);
		inbox.advancePoll(conduit.url, until, {
			seen,
			jobs: []
		});
		log.info(`Processes changes on ${conduit.url} from now on.`);
		return;
	}
	const happened = await occurrencesSince(conduit, since, inbox);
	const jobs = await jobsFrom(happened.occurrences, deps);
	logQueued(inbox.advancePoll(conduit.url, happened.until, {
		seen: happened.seen,
		jobs
	}), deps);
}
async function workOnDeliveries(deps) {
	const { conduit, inbox, log, signal } = deps;
	const heldBack = /* @__PURE__ */ new Set();
	for (const delivery of inbox.pendingDeliveries()) {
		if (signal.aborted) return;
		const object = delivery.kind === "build" ? delivery.build : delivery.object;
		if (heldBack.has(object)) continue;
		try {
			const { occurrences, seen, left } = await occurrencesOf(conduit, delivery, inbox);
			if (left !== void 0) log.info(left);
			const jobs = await jobsFrom(occurrences, deps);
			logQueued(inbox.settle(delivery.id, {
				seen,
				jobs
			}), deps);
		} catch (error) {
			if (!(error instanceof ConduitError)) throw error;
			log.warn(error.message);
			const late = deps.now().getTime() - delivery.at.getTime();
			if (isFinal(error) || late > 604800 * 1e3) {
				log.warn(`An event for ${object} is dropped: ${error.message}`);
				inbox.settle(delivery.id, {
					seen: [],
					jobs: []
				});
			} else {
				heldBack.add(object);
				if (!isOfOne(error) || heldBack.size > maxHeldBack) return;
			}
		}
	}
}
const isOfOne = ({ kind, code }) => kind === "refused" && code === void 0;
const maxHeldBack = 3;
/** Replies and cancels before it stores the jobs. After a crash it does so again, which is harmless. */
async function jobsFrom(occurrences, deps) {
	let jobs = [];
	for (const occurrence of occurrences) {
		const decision = await decide(occurrence, decideDeps(deps));
		if (decision.kind !== "run") {
			await carryOut(decision, deps);
			if (decision.kind === "cancel") jobs = jobs.filter((job) => job.revision !== decision.of);
			continue;
		}
		const { job } = decision;
		if (job.build !== void 0) await endAutomatic(job, deps);
		jobs.push(job);
	}
	return jobs;
}
async function endAutomatic({ revision, diff }, deps) {
	const record = deps.inbox.unendedJobs().find(({ job }) => job.revision === revision && job.diff === diff && /^D\d/.test(job.key));
	if (record !== void 0) await end$1(record, "Harbormaster requested it", deps);
}
const decideDeps = ({ log, ...deps }) => ({
	...deps,
	warn: log.warn
});
async function carryOut(decision, deps) {
	const { inbox, log } = deps;
	switch (decision.kind) {
		case "nothing":
			log.info(oneLine(decision.why));
			return;
		case "cancel": {
			log.info(`D${decision.of} is cancelled: ${decision.why}`);
			const { of } = decision;
			for (const record of inbox.unendedJobs().filter(({ job }) => job.revision === of)) await end$1(record, "cancelled", deps);
			return;
		}
		case "reply": {
			const { of, revision: phid, topic, why, key, isOfStranger } = decision;
			const same = topic === "mistaken" ? "" : createHash("sha256").update(why).digest("hex");
			const to = isOfStranger ? `${topic} ${same}`.trim() : key;
			const text = replyText(topic, why);
			keepAnswer({
				kind: "reply",
				of,
				to,
				text,
				...phid && { phid }
			}, deps);
			log.info(oneLine(`D${of}: ${topic} ${why}`));
			return;
		}
		case "refuse-build": {
			const { build, of: number, diff, why } = decision;
			reportToBuild(build, {
				number,
				diff
			}, outcomeOfFailure("usage", why), deps);
			log.info(oneLine(why));
		}
	}
}
async function end$1(record, why, deps) {
	const { inbox, starter, log, signal } = deps;
	const { job, state, tries } = record;
	log.info(`${jobName(job)} was stopped: ${why}.`);
	const isDue = state.kind === "due";
	const trouble = isDue && tries === 0 ? void 0 : await starter.cancel(job, signal);
	if (trouble !== void 0) log.info(trouble);
	if (isDue && job.build !== void 0) {
		const message = `It was not measured: ${why}.`;
		reportToBuild(job.build, revisionOf(job), {
			...cancelledOutcome,
			message
		}, deps);
	}
	inbox.drop(job.key, why);
}
function reportToBuild(build, revision, outcome, deps) {
	const { undecided } = deps.config;
	keepAnswer({
		kind: "build",
		revision,
		build,
		run: build,
		undecided,
		ending: keptOf(outcome)
	}, deps);
}
async function startJobs(deps) {
	const { inbox, starter, log, now, signal } = deps;
	for (const record of inbox.dueJobs()) {
		const { job, tries } = record;
		if (signal.aborted) return;
		if (!await starter.hasRoom()) return;
		if (!inbox.markStarting(job.key)) continue;
		const started = await starter.start(job, tries > 0, signal);
		if (signal.aborted) return;
		switch (started.kind) {
			case "started":
				log.info(`${jobName(job)} was started: ${started.where}`);
				if (inbox.markStarted(job.key, started.where)) await endOlder(job, deps);
				else {
					log.info(`${jobName(job)} was cancelled before it started.`);
					await starter.cancel(job, signal);
				}
				break;
			case "failed": {
				const seconds = Math.min(15 * 2 ** tries, maxSecondsBetweenTries);
				inbox.postpone(job.key, new Date(now().getTime() + seconds * 1e3), started.why);
				log.warn(started.why);
				break;
			}
			case "refused":
				await reportRefusal(job, started.why, deps);
				inbox.drop(job.key, started.why);
				log.warn(started.why);
		}
	}
}
const maxSecondsBetweenTries = 600;
/** Runs after the newer gate's start, so that it inherits the older one's place in the queue. */
async function endOlder(job, deps) {
	if (!isAutomatic(job)) return;
	const older = deps.inbox.unendedJobs().filter(({ job: other }) => other.revision === job.revision && other.diff < job.diff);
	for (const record of older) if (isAutomatic(record.job)) await end$1(record, `diff ${job.diff} replaced it`, deps);
}
/** True if no person requested this diff: the key is that of the diff or of a build's target. */
const isAutomatic = ({ key }) => /^(?:D\d|PHID-HMBT-)/.test(key);
async function reportRefusal(job, why, deps) {
	const { revision: of, build, key, phids } = job;
	if (build !== void 0) reportToBuild(build, revisionOf(job), outcomeOfFailure("infrastructure", why), deps);
	else if (!isAutomatic(job)) {
		const revision = phids?.revision;
		await carryOut({
			kind: "reply",
			of,
			revision,
			topic: "refused",
			why,
			key
		}, deps);
	}
}
const revisionOf = ({ revision: number, diff, phids }) => ({
	number,
	diff,
	...phids && { phids }
});
/** Stores the comment and the end of the build that a gate failed to post. */
function concludeFor(job, why, deps) {
	const { build, key: run } = job;
	const revision = revisionOf(job);
	if (hasConcluded(deps.inbox, revision, run)) return;
	deps.log.warn(`${jobName(job)} ended without a reply, which is posted now: ${why}`);
	const outcome = outcomeOfFailure("infrastructure", why);
	const about = {
		revision,
		run,
		takesCommands: true,
		ending: keptOf(outcome)
	};
	keepAnswer({
		kind: "comment",
		...about
	}, deps);
	if (build !== void 0) reportToBuild(build, revision, outcome, deps);
}
async function watchJobs(deps) {
	const { inbox, starter, log, now, signal } = deps;
	for (const { job, state, queuedAt } of inbox.unendedJobs()) {
		if (state.kind !== "started") continue;
		const ended = await starter.ended(job);
		if (ended.kind === "ended") {
			concludeFor(job, endedAlone(job, ended.how), deps);
			inbox.markEnded(job.key, ended.how);
			log.info(`${jobName(job)} has ended: ${ended.how}`);
		}
		const seconds = (now().getTime() - queuedAt.getTime()) / 1e3;
		if (ended.kind === "elsewhere" && seconds > secondsElsewhere) {
			if (job.build !== void 0) reportToBuild(job.build, revisionOf(job), outcomeOfFailure("infrastructure", "It was started, but no result arrived within 3 days: request it again."), deps);
			inbox.markEnded(job.key, "it was started over 3 days ago");
			log.info(`${jobName(job)} has presumably ended: it was started over 3 days ago`);
		}
		if (ended.kind !== "lost") continue;
		const again = await starter.start(job, true, signal);
		if (again.kind === "started") {
			log.info(`${jobName(job)} was lost, and continues: ${again.where}`);
			continue;
		}
		if (again.kind === "refused") {
			if (isAutomatic(job)) concludeFor(job, again.why, deps);
			else await reportRefusal(job, again.why, deps);
			inbox.markEnded(job.key, again.why);
		}
		log.warn(again.why);
	}
}
const endedAlone = (job, how) => `The ${workOf(job)} of diff ${job.diff} ended without a result (${how}): request it again, or ask the operator to look up the reason in the relay's log.`;
/** Longer than any gate. */
const secondsElsewhere = 259200;
function logQueued(jobs, { log }) {
	for (const job of jobs) log.info(`${jobName(job)} is queued, for ${job.by}.`);
}
const jobName = ({ revision, diff }) => `D${revision}:${diff}`;
/** Renders one of the relay's own comments in Remarkup.
*
* @param why a sentence that may contain untrusted text, or empty */
function replyText(topic, why) {
	const reason = why === "" ? [] : [remarkupText(withoutPaths(why), 1e3)];
	switch (topic) {
		case "refused": return ["**ppsgate: not measured**", ...reason].join("\n\n");
		case "not-cancelled": return ["**ppsgate: not cancelled**", ...reason].join("\n\n");
		case "mistaken": return [
			"**ppsgate did not understand**",
			...reason,
			help
		].join("\n\n");
		case "help": return ["**ppsgate**", help].join("\n\n");
	}
}
/** A list, as phones would cut off a table of this width. */
const help = commandsFor(callOnPhabricator).map(({ write, to }) => `- ${remarkupText(write)}: ${to}`).join("\n");

// src/relay/server.ts
/** An edit has a few transactions; even a webhook with 700 fits into these 64 KiB. */
const usualLimits = {
	headerBytes: 16384,
	bodyBytes: 49152,
	seconds: 5,
	connections: 256,
	connectionsPerNetwork: 64
};
var RelayServerError = class extends Error {
	name = "RelayServerError";
};
async function startRelayServer(options) {
	const { host, port, now, log, limits = usualLimits } = options;
	let arrived = 0;
	const { accept, acceptAll } = together(options.inbox, () => arrived);
	const logRefusal = refusalLog(options);
	const routes = routesOf(options, limits.bodyBytes, accept, logRefusal);
	const { createServer } = await globalThis.process.getBuiltinModule("node:http");
	const server = createServer({ maxHeaderSize: limits.headerBytes });
	const connections = new Connections(limits);
	server.maxRequestsPerSocket = 1;
	const handle = (request, goOn) => {
		const { socket } = request;
		connections.setRequest(socket, request);
		const route = routeOf(request, routes);
		if (route.kind === "refused") return end(socket, route.reply, now());
		goOn();
		route.answer().catch((error) => {
			log(`The relay answered a request with 500: ${reasonOf(error)}`);
			return replyOf(500, "The relay cannot queue requests; see its log.");
		}).then((reply) => end(socket, reply, now()));
	};
	server.on("request", (request) => handle(request, () => {}));
	server.on("checkContinue", (request, response) => handle(request, () => response.writeContinue()));
	server.on("connection", (socket) => {
		arrived += 1;
		const late = replyOf(408, `The request was incomplete after ${limits.seconds} s.`);
		const deadline = setTimeout(() => end(socket, late, now()), limits.seconds * 1e3);
		socket.once("close", () => clearTimeout(deadline));
		const surplus = connections.add(socket);
		if (surplus === void 0) return;
		logRefusal({
			socket: surplus,
			headers: {}
		}, "the oldest of too many open connections");
		end(surplus, replyOf(503, "Too many connections are open, and this was the oldest."), now());
	});
	server.on("clientError", (error, socket) => {
		if (socket instanceof Socket) end(socket, refusalOf(error, limits.headerBytes), now());
	});
	let closing;
	const close = () => {
		closing ??= closeOnce();
		return closing;
	};
	return {
		port: await listen(),
		close,
		[Symbol.asyncDispose]: close
	};
	async function closeOnce() {
		const closed = once(server, "close");
		server.close();
		acceptAll();
		await setImmediate$1();
		server.closeAllConnections();
		await closed;
	}
	async function listen() {
		try {
			await once(server.listen(port, host), "listening");
		} catch (error) {
			throw new RelayServerError(`The relay cannot listen on ${host}, port ${port} (${reasonOf(error)}): stop the program that listens there, or set relay.host and relay.port in ppsgate.yml.`, { cause: error });
		}
		const address = server.address();
		return address === null || typeof address === "string" ? port : address.port;
	}
}
/** See RFC 9110, section 15, and RFC 6585, section 5. */
const reasons = {
	200: "OK",
	400: "Bad Request",
	401: "Unauthorized",
	404: "Not Found",
	405: "Method Not Allowed",
	408: "Request Timeout",
	411: "Length Required",
	413: "Payload Too Large",
	431: "Request Header Fields Too Large",
	500: "Internal Server Error",
	503: "Service Unavailable"
};
const replyOf = (status, text, headers = {}) => ({
	status,
	text,
	headers
});
/**
* Reads nothing after the reply: Phabricator opens one connection per request, and Node would read the rest of the
* body.
*/
function end(socket, { status, text, headers }, date) {
	if (socket.destroyed) return;
	const body = `${text}\n`;
	const lines = Object.entries({
		Date: date.toUTCString(),
		Connection: "close",
		"Content-Type": "text/plain; charset=utf-8",
		"Content-Length": Buffer.byteLength(body),
		...headers
	}).map(([name, value]) => `${name}: ${value}\r\n`);
	socket.write(`HTTP/1.1 ${status} ${reasons[status]}\r\n${lines.join("")}\r\n${body}`);
	socket.destroy();
}
function refusalOf(error, headerBytes) {
	if ("code" in error && error.code === "HPE_HEADER_OVERFLOW") return replyOf(431, `The headers are longer than ${headerBytes} bytes.`);
	return replyOf(400, "This is not an HTTP request.");
}
function routeOf(request, routes) {
	const refused = (reply) => ({
		kind: "refused",
		reply
	});
	const [, path = "", query = ""] = /^([^?]*)\??(.*)$/.exec(request.url ?? "") ?? [];
	const route = routes.get(path);
	if (route === void 0) return refused(replyOf(404, "This page does not exist."));
	const { method } = route;
	if (request.method !== method) return refused(replyOf(405, `Only ${method} is supported here.`, { Allow: method }));
	const reply = route.refuse(request);
	if (reply !== void 0) return refused(reply);
	return {
		kind: "taken",
		answer: () => route.answer(request, new URLSearchParams(query))
	};
}
function routesOf(options, bodyBytes, accept, logRefusal) {
	const { webhookKey, buildPassword, inbox } = options;
	const routes = /* @__PURE__ */ new Map([["/health", healthRoute(inbox)]]);
	const deps = {
		...options,
		logRefusal
	};
	if (webhookKey) routes.set("/webhook", webhookRoute(webhookKey, bodyBytes, accept, deps));
	if (buildPassword) routes.set("/build", buildRoute(buildPassword, accept, deps));
	return routes;
}
/** Writes simultaneous deliveries in one batch, before the replies; Node accepts one connection per turn. */
function together(inbox, countArrived) {
	let waiting = [];
	const acceptAll = () => {
		const all = waiting;
		waiting = [];
		if (all.length === 0) return;
		try {
			const found = inbox.accept(all.map(({ delivery }) => delivery));
			for (const [index, { resolve }] of all.entries()) resolve(found[index] ?? "known");
		} catch (error) {
			for (const { reject } of all) reject(error);
		}
	};
	const acceptSoon = (arrivedBefore, turnsLeft) => {
		setImmediate(() => {
			const arrived = countArrived();
			if (arrived > arrivedBefore && turnsLeft > 0) acceptSoon(arrived, turnsLeft - 1);
			else acceptAll();
		});
	};
	return {
		acceptAll,
		accept(delivery) {
			const one = {
				...Promise.withResolvers(),
				delivery
			};
			if (waiting.push(one) === 1) acceptSoon(0, maxTurns);
			return one.promise;
		}
	};
}
/** Limits the wait under constant load to about ten milliseconds. */
const maxTurns = 100;
const queued = (found) => replyOf(200, found === "new" ? "queued" : "known");
const healthRoute = (inbox) => ({
	method: "GET",
	refuse: () => void 0,
	answer: async () => replyOf(200, `${inbox.countPending()} pending`)
});
function webhookRoute(key, maxBytes, accept, { now, log, logRefusal }) {
	const unsigned = (request) => {
		logRefusal(request, "a webhook whose signature is missing or wrong");
		return replyOf(401, "The signature is missing or wrong.");
	};
	return {
		method: "POST",
		refuse(request) {
			if (signatureOf(request) === void 0) return unsigned(request);
			const length = request.headers["content-length"];
			if (length === void 0) return replyOf(411, "Send the whole body, with its length in Content-Length.");
			if (Number(length) <= maxBytes) return void 0;
			return replyOf(413, `A body may have at most ${maxBytes} bytes.`);
		},
		async answer(request) {
			const body = await buffer(request).catch(() => void 0);
			if (body === void 0) return replyOf(400, "The body is incomplete.");
			if (!isSigned(body, signatureOf(request), key)) return unsigned(request);
			const webhook = readWebhook(body, now());
			switch (webhook.kind) {
				case "webhook": return queued(await accept(webhook));
				case "test":
					log(webhook.isOfCheck ? `\`${checkCommand}\` has tested the webhook, and its signature is valid.` : "A test webhook has arrived, and its signature is valid.");
					return replyOf(200, "ignored");
				case "other": return replyOf(200, "ignored");
				case "strange":
					log("A webhook with a valid signature was refused, because it is not in Herald's format.");
					return replyOf(400, "This is not a webhook of Herald.");
			}
		}
	};
}
function signatureOf({ headers }) {
	const signature = headers["x-phabricator-webhook-signature"];
	return typeof signature === "string" ? signature : void 0;
}
const buildRoute = (password, accept, { now, log, logRefusal }) => ({
	method: "POST",
	refuse(request) {
		if (!isAuthorized(request.headers.authorization, password)) {
			logRefusal(request, "a build whose user or password is missing or wrong");
			return replyOf(401, "The user or the password is missing or wrong.", { "WWW-Authenticate": "Basic realm=\"ppsgate\"" });
		}
		return hasBody(request) ? replyOf(413, "Send no body: the parameters belong in the query.") : void 0;
	},
	async answer({ headers }, query) {
		const build = readBuild(query, now());
		if (build.kind === "build") return queued(await accept(build));
		log(headers["user-agent"] === "ppsgate-check" ? `The user and password of builds were tested and are right; the request claims to be from \`${checkCommand}\`.` : `A build with the right password was refused: ${build.why} Correct the URI of the build step.`);
		return replyOf(400, build.why);
	}
});
/** True if the header has this user and password, in the scheme Basic (RFC 7617). */
function isAuthorized(header, userAndPassword) {
	const [, encoded = ""] = /^basic +([\w+/=-]+)$/i.exec(header ?? "") ?? [];
	const received = hash("sha256", Buffer.from(encoded, "base64"), "buffer");
	return timingSafeEqual(received, hash("sha256", userAndPassword, "buffer"));
}
const hasBody = ({ headers }) => headers["transfer-encoding"] !== void 0 || Number(headers["content-length"] ?? 0) > 0;
const checkCommand = "ppsgate phabricator check";
const secondsBetweenLines = 60;
/** Logs each kind of refusal once a minute, without the request's text: strangers control its rate. */
function refusalLog({ now, log }) {
	const logged = /* @__PURE__ */ new Map();
	return ({ headers, socket }, why) => {
		const isOfCheck = headers["user-agent"] === checkAgent;
		const kind = `${why} ${isOfCheck}`;
		const last = logged.get(kind);
		if (last !== void 0 && Math.abs(+now() - +last.at) < secondsBetweenLines * 1e3) {
			last.suppressed += 1;
			return;
		}
		const more = last?.suppressed ? ` ${last.suppressed} more were refused since the last such line.` : "";
		logged.set(kind, {
			at: now(),
			suppressed: 0
		});
		const whose = isOfCheck ? `; it claims to be from \`${checkCommand}\`` : "";
		log(`Refused from ${socket.remoteAddress ?? "a closed connection"}: ${why}${whose}.${more}`);
	};
}
/** @param signature hexadecimal HMAC-SHA256 of the bytes as sent */
function isSigned(body, signature, key) {
	if (signature === void 0 || !/^[0-9a-f]{64}$/i.test(signature)) return false;
	const expected = createHmac("sha256", key).update(body).digest();
	return timingSafeEqual(expected, Buffer.from(signature, "hex"));
}

export { InboxError, checkPhabricator, inboxIn, keeping$1 as keeping, keptOf, openBell, openInbox, openStarter, pollOnce, startRelayServer, waitingText, workOn, workOnce };