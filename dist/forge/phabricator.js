import { UsageError, parseJson, plainLine, realPause, reasonOf, shortened } from "../model/first-plain.js";
import { boolean, discriminatedUnion, int, literal, object, preprocess, string, union, unknown } from "../vendor/zod.js";
import { byName, document, id as id$1, line, list, prose, word } from "../model/first.js";
import { ConduitError, errorOf, failureNamed, isFinal, isRead, mayRetry, otherStatus, otherVersion, safeMessage, secondsOfPatience, unreadable } from "./phabricator/plain.js";
import { noConnection, sendRequest } from "../system/http.js";
import { readSecret } from "../config/plain.js";
const { X509Certificate } = globalThis.process.getBuiltinModule("node:crypto");
const { readFile } = globalThis.process.getBuiltinModule("node:fs/promises");

// src/forge/phabricator/conduit.ts
/** A map as PHP writes it: an empty map is an empty list. */
const mapOf = (value) => preprocess((map) => Array.isArray(map) && map.length === 0 ? {} : map, byName(value));
/** After the last wait the call fails. */
const pausesSeconds = [
	1,
	2,
	5,
	10,
	30
];
const longestPauseSeconds = 120;
/** Throws a `ConduitError` if the token would be sent unencrypted, or is malformed. */
function openConduit(options) {
	const { url, token, log, signal = new AbortController().signal, pause = realPause } = options;
	refuseUnsafe(url, token);
	const call = async (method, params, schema) => {
		for (let tries = 0;; tries += 1) {
			const outcome = await sendCall({
				answerSeconds: 60,
				...options,
				signal
			}, method, params);
			if (outcome.kind === "answered") return parsed(schema, outcome.result, method, options);
			const seconds = Math.max(pausesSeconds[tries] ?? Number.POSITIVE_INFINITY, outcome.retryAfterSeconds ?? 0);
			if (!mayRetry(outcome, method) || seconds > longestPauseSeconds || signal.aborted) throw errorOf(outcome, method, options);
			if (seconds > 2) log.info(`${url} could not execute ${method} (${safeMessage(outcome.why, token)}): trying again in ${seconds} s.`);
			await pause(seconds, signal);
		}
	};
	return {
		url,
		call,
		search: searchBy(call, url)
	};
}
/**
* Repeats failing reads, as maintenance may last longer than one call waits. Logs at growing intervals. Throws the last
* error after `maxSeconds`, on abort, and if `mayWait` returns false.
*/
function withPatience(conduit, { log, signal, pause = realPause, maxSeconds = secondsOfPatience, mayWait }) {
	const call = async (method, params, schema) => {
		for (let tries = 0, waited = 0;; tries += 1) try {
			return await conduit.call(method, params, schema);
		} catch (error) {
			const seconds = Math.min(5 * 2 ** tries, 60);
			waited += seconds;
			if (!(error instanceof ConduitError && !isFinal(error) && isRead(method)) || signal.aborted || waited > maxSeconds) throw error;
			if (mayWait?.(error) === false) throw error;
			if (Number.isInteger(Math.log2(tries + 1))) log.warn(`${error.message} It is retried until the server is back.`);
			await pause(seconds, signal);
		}
	};
	return {
		url: conduit.url,
		call,
		search: searchBy(call, conduit.url)
	};
}
function refuseUnsafe(url, token) {
	const { protocol, hostname } = new URL(url);
	if (protocol !== "https:" && !(protocol === "http:" && loopback.test(hostname))) throw new ConduitError("refused", `The Conduit token is not sent to ${url}, because it could be read in transit: use the server's https address.`);
	if (!/^[\w-]{1,200}$/.test(token)) throw new ConduitError("refused", `The Conduit token for ${url} is empty, or has characters other than letters, digits and hyphens: copy it from the bot's settings there, under Conduit API Tokens.`);
}
const loopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;
async function sendCall({ url, token, ca, signal, answerSeconds, send = sendRequest }, method, params) {
	if (signal.aborted) return {
		kind: "busy",
		why: "it was cancelled"
	};
	const answer = await send(`${url}/api/${method}`, {
		method: "POST",
		body: new URLSearchParams({ params: asJson({
			...params,
			__conduit__: { token }
		}) }),
		answerSeconds,
		maxBytes,
		trust: { ca },
		signal
	});
	if (answer.kind === "answered") return answer.status === 200 ? readAnswer(answer) : otherStatus(answer);
	if (signal.aborted) return {
		kind: "lost",
		why: "it was cancelled"
	};
	const { distrust } = answer;
	if (distrust !== void 0) return {
		kind: "distrusted",
		why: distrust.shown,
		advice: fixOfCertificate(distrust, ca)
	};
	return {
		kind: beforeSending.includes(answer.code) ? "busy" : "lost",
		why: answer.why
	};
}
/** PHP rejects half a surrogate pair, in which a shortened text may end. */
const asJson = (params) => JSON.stringify(params, (_key, value) => typeof value === "string" ? value.toWellFormed() : value);
const maxBytes = 32 * 1024 ** 2;
const envelope = object({
	result: unknown(),
	error_code: word.nullable(),
	error_info: prose().nullable()
});
function readAnswer({ headers, body }) {
	const type = headers.get("content-type") ?? "no content type";
	if (!/^application\/json\b/i.test(type)) return unreadable(`its response is ${type} instead of JSON`);
	if (body === void 0) return {
		kind: "unreadable",
		why: `its response has more than ${maxBytes} bytes`,
		advice: "larger responses are refused",
		isTooLarge: true
	};
	const answer = envelope.safeParse(parseJson(body.toString()));
	if (!answer.success) return unreadable("its response is JSON, but not from Conduit");
	const { result, error_code: code, error_info: info } = answer.data;
	return code === null ? {
		kind: "answered",
		result
	} : failureNamed(code, info ?? "no reason");
}
/** Codes of errors before the connection. */
const beforeSending = [
	"ECONNREFUSED",
	"ENOTFOUND",
	"EAI_AGAIN",
	noConnection
];
function fixOfCertificate({ fault }, ca) {
	switch (fault) {
		case "authority": return ca === void 0 ? "set `phabricator.ca` to the certificate of the authority, or set NODE_EXTRA_CA_CERTS" : "set `phabricator.ca` to the certificate of the authority that signed it";
		case "time": return "renew it there, if the clock of this machine is right";
		case "name": return "use its name in `phabricator.url`, or issue one for this name";
		case "pin":
		case "other": return "replace it there";
	}
}
function parsed(schema, result, method, server) {
	const answer = schema.safeParse(result);
	if (answer.success) return answer.data;
	const [issue] = answer.error.issues;
	const why = `its response has an unexpected value at ${issue?.path.join(".") || "the top"}: ${issue?.message}`;
	throw errorOf({
		kind: "unreadable",
		why,
		advice: otherVersion
	}, method, server);
}
const pageItems = 100;
const maxPages = 200;
const maxBeginnings = 4;
function searchBy(call, url) {
	return async (method, params, item, most = Number.POSITIVE_INFINITY) => {
		const page = object({
			data: list(item),
			cursor: object({ after: word.nullable() })
		});
		const limit = Math.min(pageItems, most);
		const pageAfter = (row) => call(method, {
			...params,
			limit,
			...row !== null && { after: row }
		}, page);
		let items = [];
		let after = null;
		let beginnings = 1;
		for (let pages = 0; pages < maxPages; pages += 1) {
			try {
				const { data, cursor } = await pageAfter(after);
				items.push(...data);
				after = cursor.after;
			} catch (error) {
				if (after === null || !isAboutCursor(error) || beginnings === maxBeginnings) throw error;
				beginnings += 1;
				items = [];
				after = null;
				continue;
			}
			if (after === null || items.length >= most) return items.slice(0, most);
		}
		throw new ConduitError("refused", `${url} has more than ${maxPages} pages for ${method}: larger responses are refused.`);
	};
}
/** The first page succeeded, so a later refusal is about the row that it names, deleted or hidden meanwhile. */
const isAboutCursor = (error) => error instanceof ConduitError && error.code === "ERR-CONDUIT-CORE" && error.kind === "refused";

// src/forge/phabricator/revision.ts
var RevisionError = class extends Error {
	name = "RevisionError";
	conclusion = "usage";
};
const looksLikeRevision = (text) => /^(?:D[1-9]|diff:|https?:)/.test(text.trim());
/**
* Parses `D27401`, `D27401:80677` (at that diff, which a job follows by both PHIDs), `diff:80677`, or the URL of a
* revision or diff. Undefined for other texts. Throws a `RevisionError` for a URL of another server.
*/
function parseRevisionName(text, server) {
	const written = text.trim();
	if (/^https?:\/\//i.test(written)) return nameInUrl(written, server);
	const [, revision, diff, ofRevision, ofDiff] = namePattern.exec(written) ?? [];
	if (revision !== void 0) {
		const phids = ofRevision && ofDiff && {
			revision: ofRevision,
			diff: ofDiff
		};
		return {
			...nameOf(revision, diff),
			...phids && { phids }
		};
	}
	const [, lone] = /^diff:([1-9]\d{0,8})$/.exec(written) ?? [];
	return lone === void 0 ? void 0 : { diff: Number(lone) };
}
const namePattern = /^D([1-9]\d{0,8})(?::([1-9]\d{0,8})(?::(PHID-DREV-[\w-]{1,100}):(PHID-DIFF-[\w-]{1,100}))?)?$/;
const nameOf = (revision, diff) => ({
	revision: Number(revision),
	...diff !== void 0 && { diff: Number(diff) }
});
/** Also accepts links to a comment, or to the changes between two diffs; `id` is then the later one. */
function nameInUrl(text, server) {
	const url = URL.parse(text);
	if (url === null) return void 0;
	if (url.host !== new URL(server).host) throw new RevisionError(`${url.host} is not the configured Phabricator: name a revision of ${server}.`);
	const [, lone] = /^\/differential\/diff\/([1-9]\d{0,8})\/?$/.exec(url.pathname) ?? [];
	if (lone !== void 0) return { diff: Number(lone) };
	const [, revision] = /^\/D([1-9]\d{0,8})\/?$/.exec(url.pathname) ?? [];
	const diff = url.searchParams.get("id") ?? void 0;
	const isDiff = diff === void 0 || /^[1-9]\d{0,8}$/.test(diff);
	return revision === void 0 || !isDiff ? void 0 : nameOf(revision, diff);
}
/**
* Reads `Differential Revision: https://reviews.freebsd.org/D27401`, as written by `arc land` or FreeBSD's committers.
*/
function landedRevision(message, server) {
	const named = [...message.matchAll(/^Differential Revision:[ \t]*(https?:\/\/\S{1,200})[ \t]*$/gim)];
	try {
		return parseRevisionName(named.at(-1)?.[1] ?? "", server)?.revision;
	} catch (error) {
		if (error instanceof RevisionError) return void 0;
		throw error;
	}
}
/** Throws a `RevisionError` if the bot sees no such revision, or the diff belongs to another one. */
async function findRevision(conduit, name) {
	const { id: number, phid, fields } = await revisionNamed(conduit, name);
	const constraints = { revisionPHIDs: [phid] };
	const diffs = (await conduit.search("differential.diff.search", { constraints }, diffItem)).toSorted((a, b) => a.id - b.id);
	const named = diffs.find((diff) => diff.id === name.diff || name.diff === void 0 && diff.phid === fields.diffPHID);
	if (named === void 0) {
		const ids = diffs.map(({ id }) => id).join(", ") || "none";
		throw new RevisionError(name.diff === void 0 ? `The newest diff of D${number} is hidden from the bot on ${conduit.url}: make it visible to the bot's account.` : `Diff ${name.diff} is not a diff of D${number}, whose diffs are: ${ids}.`);
	}
	const { phids = {
		revision: phid,
		diff: named.phid
	} } = name;
	if (phid !== phids.revision || named.phid !== phids.diff) throw new RevisionError(`Diff ${named.id} of D${number} is now ${named.phid} instead of the requested ${phids.diff}, as after a restore of ${conduit.url}: request it again.`);
	const shown = diffs.filter(({ id }) => id <= named.id);
	const names = await userNames(conduit, [fields.authorPHID, ...shown.map((diff) => diff.fields.authorPHID)]);
	const repository = await repositoryOf(conduit, fields.repositoryPHID);
	const earlier = shown.filter((diff) => diff !== named);
	return {
		number,
		phid,
		title: fields.title,
		url: `${conduit.url}/D${number}`,
		author: personOf(fields.authorPHID, names),
		status: fields.status.value,
		isDraft: fields.isDraft,
		...repository !== void 0 && { repository },
		diff: foundDiff(named, names),
		earlier: earlier.map((diff) => foundDiff(diff, names))
	};
}
/** PHIDs that jobs and answers store. */
const phidsOf = ({ phid: revision, diff }) => ({
	revision,
	diff: diff.phid
});
/**
* Compares a revision and its diff with the current owners of their numbers. Returns a sentence on what was replaced,
* for example by a restore of the server; undefined if they are the same, or hidden from the bot. Throws a
* ConduitError.
*/
async function whyAnother(conduit, { number, diff, phids }) {
	if (phids === void 0) return void 0;
	const there = async (method, id) => (await conduit.search(method, { constraints: { ids: [id] } }, object({ phid }))).at(0)?.phid;
	const revision = await there("differential.revision.search", number);
	if (revision !== void 0 && revision !== phids.revision) return `D${number} is now revision ${revision} instead of the measured ${phids.revision}`;
	if (diff === void 0 || phids.diff === void 0) return void 0;
	const current = await there("differential.diff.search", diff);
	return current === void 0 || current === phids.diff ? void 0 : `diff ${diff} is now ${current} instead of the measured ${phids.diff}`;
}
const phid = string().regex(/^PHID-[\w-]{1,100}$/, "expected a PHID");
const id = id$1;
/** Up to the year 9999. */
const epoch = int().min(0).max(253402300799).transform((seconds) => /* @__PURE__ */ new Date(seconds * 1e3));
const revisionItem = object({
	id,
	phid,
	fields: object({
		title: line,
		authorPHID: phid,
		status: object({ value: word }),
		repositoryPHID: phid.nullable(),
		diffPHID: phid,
		isDraft: boolean()
	})
});
const diffItem = object({
	id,
	phid,
	fields: object({
		revisionPHID: phid.nullable(),
		authorPHID: phid,
		dateCreated: epoch,
		refs: list(object({
			type: word,
			/** The branch's name. */
			name: document.nullish(),
			/** The base's id; its author may have typed anything. */
			identifier: document.nullish()
		}))
	})
});
async function revisionNamed(conduit, name) {
	const search = async (constraints) => (await conduit.search("differential.revision.search", { constraints }, revisionItem)).at(0);
	if (name.revision !== void 0) return await search({ ids: [name.revision] }) ?? notSeen(`D${name.revision}`, conduit);
	const called = `Diff ${name.diff}`;
	const constraints = { ids: [name.diff] };
	const [diff] = await conduit.search("differential.diff.search", { constraints }, diffItem);
	if (diff === void 0) return notSeen(called, conduit);
	if (diff.fields.revisionPHID === null) throw new RevisionError(`${called} belongs to no revision on ${conduit.url}: create a revision for it first.`);
	return await search({ phids: [diff.fields.revisionPHID] }) ?? notSeen(`The revision of diff ${name.diff}`, conduit);
}
function notSeen(what, { url }) {
	throw new RevisionError(`${what} is not on ${url}, or hidden from the bot (Phabricator does not distinguish the two): check its number and its visibility.`);
}
async function repositoryOf(conduit, phid) {
	if (phid === null) return void 0;
	const constraints = { phids: [phid] };
	const { callsign, shortName } = (await conduit.search("diffusion.repository.search", { constraints }, repositoryItem))[0]?.fields ?? {};
	return {
		phid,
		...callsign && { callsign },
		...shortName && { shortName }
	};
}
const repositoryItem = object({ fields: object({
	callsign: word.nullable(),
	shortName: word.nullable()
}) });
function foundDiff({ id, phid, fields }, names) {
	const ref = (type) => fields.refs.find((each) => each.type === type);
	const branch = ref("branch")?.name;
	return {
		id,
		phid,
		createdAt: fields.dateCreated,
		author: personOf(fields.authorPHID, names),
		base: claimedBase(ref("base")?.identifier ?? ""),
		...branch && { branch }
	};
}
function claimedBase(text) {
	if (/^[0-9a-f]{40}([0-9a-f]{24})?$/.test(text)) return {
		kind: "commit",
		id: text
	};
	const { number, path, at } = svnBase.exec(text)?.groups ?? {};
	const revision = number ?? at;
	if (revision !== void 0) return {
		kind: "svn-revision",
		revision: Number(revision),
		...path && { path }
	};
	if (path !== void 0) return {
		kind: "svn-path",
		path
	};
	const line = plainLine(text, 80);
	return line === "" ? { kind: "none" } : {
		kind: "other",
		text: line
	};
}
/** Matches `325006`, `r325006`, `svn+ssh://svn.freebsd.org/base/head@325006`, or the URL without its revision. */
const svnBase = /^(?:r?(?<number>[1-9]\d{0,8})|(?:svn(?:\+\w{1,20})?|https?|file):\/\/[\w.:@-]{0,100}\/(?<path>[\w.+%-]{1,60}(?:\/[\w.+%-]{1,60}){0,9})\/?(?:@(?<at>[1-9]\d{0,8}))?)$/;
const personOf = (phid, names) => ({
	phid,
	name: names.get(phid) ?? phid
});
/** Phabricator ignores case in names of users, projects and repositories. */
const isSameName = (one, other) => one.toLowerCase() === other.toLowerCase();
/** True if one of the names is the callsign or the short name. */
const isNamed = (repository, names) => [repository?.callsign, repository?.shortName].some((own) => own !== void 0 && names.some((name) => isSameName(name, own)));
/** User names by PHID. Omits users whom the bot may not see, and PHIDs of other objects. */
async function userNames(conduit, phids) {
	const users = [...new Set(phids)].filter((phid) => phid.startsWith("PHID-USER-"));
	if (users.length === 0) return /* @__PURE__ */ new Map();
	const found = await conduit.search("user.search", { constraints: { phids: users } }, userItem);
	return new Map(found.map(({ phid, fields }) => [phid, fields.username]));
}
const userItem = object({
	phid,
	fields: object({ username: word })
});
async function whoami(conduit) {
	const { phid, userName } = await conduit.call("user.whoami", {}, me);
	return {
		phid,
		name: userName
	};
}
const me = object({
	phid,
	userName: word
});
/**
* Returns the oldest first, with the current text of comments and without removed ones.
*
* @param filter.phids only these; some may be of other kinds.
* @param filter.since id of a transaction: only later ones.
*/
async function transactionsOf(conduit, revisionPhid, filter) {
	const { phids, since = 0 } = filter;
	if (phids?.length === 0) return [];
	const params = {
		objectIdentifier: revisionPhid,
		...phids === void 0 ? {} : { constraints: { phids } }
	};
	return (await conduit.search("transaction.search", params, transactionItem)).flatMap((transaction) => transaction ?? []).filter(({ id }) => id > since).toSorted((a, b) => a.id - b.id);
}
const transaction = object({
	id,
	phid,
	authorPHID: phid,
	dateCreated: epoch
});
const update = transaction.extend({
	type: literal("update"),
	fields: object({ new: phid })
}).transform(({ id, phid, authorPHID: by, dateCreated: at, fields }) => {
	return {
		kind: "diff",
		id,
		phid,
		by,
		at,
		diffPhid: fields.new
	};
});
const version = object({
	version: int(),
	authorPHID: phid
});
const comment = transaction.extend({
	type: literal("comment"),
	comments: list(discriminatedUnion("removed", [version.extend({
		removed: literal(false),
		content: object({ raw: document })
	}), version.extend({ removed: literal(true) })]))
}).transform(({ id, phid, dateCreated: at, comments }) => {
	const current = comments.toSorted((a, b) => a.version - b.version).at(-1);
	if (current === void 0 || current.removed) return void 0;
	return {
		kind: "comment",
		id,
		phid,
		by: current.authorPHID,
		at,
		text: current.content.raw
	};
});
const others = object({ type: word.nullable() }).refine(({ type }) => type !== "update" && type !== "comment", "expected a transaction").transform(() => void 0);
const transactionItem = union([
	update,
	comment,
	others
]);
/**
* Checks that a user is a member of one of the projects, named by hashtag.
*
* @returns `warning` is a sentence about projects that the bot cannot find; they count as empty.
*/
async function isMember(conduit, userPhid, slugs) {
	if (slugs.length === 0) return { isMember: false };
	const params = {
		constraints: { slugs },
		attachments: { members: true }
	};
	const { data, maps } = await conduit.call("project.search", params, projects);
	const unknown = slugs.filter((slug) => !Object.hasOwn(maps.slugMap, slug));
	return {
		isMember: data.flatMap(({ attachments }) => attachments.members.members).some(({ phid }) => phid === userPhid),
		...unknown.length > 0 && { warning: `${unknown.map((slug) => `#${slug}`).join(", ")}: no such project on ${conduit.url}, or hidden from the bot; check phabricator.projects in ppsgate.yml.` }
	};
}
const projects = object({
	data: list(object({ attachments: object({ members: object({ members: list(object({ phid })) }) }) })),
	/** By hashtag; a project may have several. */
	maps: object({ slugMap: mapOf(unknown()) })
});

// src/forge/phabricator/diff.ts
/** Throws a `RevisionError` if the diff is missing, or hidden from the bot. */
async function fetchDiff(conduit, { id }) {
	const text = await rawDiff(conduit, id);
	const misleading = whyMisleading(text);
	if (misleading !== void 0) return {
		kind: "misleading",
		...misleading,
		paths: pathsMeant(text)
	};
	const added = sectionsOf(text).filter(isNew).map(newNameOf);
	return {
		kind: "usable",
		bytes: Buffer.from(text),
		remarks: remarksOn(text),
		added
	};
}
async function rawDiff(conduit, diffID) {
	try {
		return await conduit.call("differential.getrawdiff", { diffID }, document);
	} catch (error) {
		if (!(error instanceof ConduitError) || error.code !== "ERR_NOT_FOUND") throw error;
		throw new RevisionError(`Diff ${diffID} is not on ${conduit.url}, or hidden from the bot (Phabricator does not distinguish the two): check its ID and its visibility.`);
	}
}
/** Undefined if Phabricator kept the meaning, as far as the diff shows. */
function whyMisleading(diff) {
	for (const section of sectionsOf(diff)) {
		const why = whySectionMisleads(section);
		if (why !== void 0) return why;
	}
}
const gitLine = "diff --git ";
const sectionsOf = (diff) => diff.split(/(?<=^|\n)(?=diff --git )/).filter((each) => each.startsWith(gitLine)).map((each) => {
	const [first = "", ...lines] = each.split("\n");
	return {
		names: first.slice(11),
		lines
	};
});
const newNameOf = ({ names }) => names.slice(names.lastIndexOf(" b/") + 3);
const oldNameOf = ({ names }) => names.slice(2, names.lastIndexOf(" b/"));
const isNew = ({ lines }) => lines[0]?.startsWith("new file mode ") ?? false;
function whySectionMisleads(section) {
	const { names, lines } = section;
	const file = shortened(newNameOf(section));
	if (lines.some((line) => isBinary.test(line))) return {
		fault: "binary-file",
		why: `Phabricator returns the binary file ${file} empty: send the diff without it.`
	};
	if (names.includes("	")) return {
		fault: "unusable-diff",
		why: `Phabricator does not quote the tab in the name of ${file}, so git cannot read it: rename the file.`
	};
	if (lines.some((line) => /^(?:rename|copy) from /.test(line)) || !names.startsWith("a/") || namesOne(names)) return void 0;
	return {
		fault: "without-prefixes",
		why: `Phabricator returns one file with two names, "${shortened(names)}", as for a diff without the prefixes a/ and b/: send the diff with arc diff, or make it with git diff --src-prefix=a/ --dst-prefix=b/.`
	};
}
/** In a diff, lines of a file's text begin with a sign, so they never match. */
const isBinary = /^(?:GIT binary patch|Binary files .* differ)$/;
/** True for `a/PATH b/PATH`. A regular expression would be slow for a hostile PATH. */
function namesOne(names) {
	const path = names.slice(2, (names.length - 1) / 2);
	return names === `a/${path} b/${path}`;
}
/**
* Returns both names of each file, or one if the other lacks only its first folder. Phabricator strips any folder of
* the new name as a prefix, but only `a/` and `b/` of the old one. A new file loses its folder in both names, and gets
* that of another file.
*/
function pathsMeant(diff) {
	const sections = sectionsOf(diff);
	const folders = [...new Set(sections.map(folderLost).filter((folder) => folder !== void 0))].slice(0, maxFolders);
	const meant = sections.flatMap((section) => {
		const [before, after] = [oldNameOf(section), newNameOf(section)];
		if (isNew(section)) return [after, ...folders.map((folder) => folder + after)];
		const folder = folderLost(section);
		if (folder === void 0) return [before, after];
		return prefixesOfGit.test(folder) ? [after] : [before];
	});
	return [...new Set(meant)];
}
/** Bounds the time for a hostile diff with many top-level folders. */
const maxFolders = 20;
/** Prefixes of diff.mnemonicPrefix, see git-config(1). */
const prefixesOfGit = /^[ciow12]\/$/;
/** Returns `sys/` for `a/sys/net/if.c b/net/if.c`. */
function folderLost(section) {
	const [before, after] = [oldNameOf(section), newNameOf(section)];
	const folder = before.slice(0, before.length - after.length);
	return /^[^/]+\/$/.test(folder) && before === folder + after ? folder : void 0;
}
function remarksOn(diff) {
	if (!/^(?!--- )[ -].*[^\p{ASCII}]/mu.test(diff)) return [];
	return ["Phabricator returns diffs in UTF-8, and existing lines in this one have non-ASCII characters: a diff of files in Latin-1 cannot be applied."];
}

// src/forge/phabricator/login.ts
const tokenVariable = "PPSGATE_CONDUIT_TOKEN";
function phabricatorOf({ phabricator }) {
	if (phabricator !== void 0) return phabricator;
	throw new UsageError("The configuration has no `phabricator`: write at least `phabricator: { url: https://reviews.example.org }` there.");
}
/** Throws a `UsageError` if the token, or a configured authority, is missing. */
async function openPhabricator({ url, tokenPath, caPath }, options) {
	const place = {
		what: "The Conduit token",
		path: tokenPath,
		variable: tokenVariable
	};
	const ca = await readAuthority(caPath);
	return openConduit({
		...options,
		url,
		ca,
		token: await readSecret(place)
	});
}
/** PEM; undefined if no file is configured. Throws a `UsageError` that names the file. */
async function readAuthority(path) {
	if (path === void 0) return void 0;
	const pem = await readFile(path, "utf8").catch((error) => {
		throw unfit(path, "cannot be read", error);
	});
	try {
		new X509Certificate(pem);
	} catch (error) {
		throw unfit(path, "contains no certificate", error);
	}
	return pem;
}
const unfit = (path, fault, error) => new UsageError(`\`phabricator.ca\` ${fault} (${path}: ${reasonOf(error)}): name a file with the certificate of the server's authority in PEM format.`);

export { RevisionError, fetchDiff, findRevision, fixOfCertificate, isMember, isNamed, isSameName, landedRevision, looksLikeRevision, mapOf, openConduit, openPhabricator, parseRevisionName, phabricatorOf, phidsOf, readAuthority, tokenVariable, transactionsOf, userNames, whoami, whyAnother, withPatience };