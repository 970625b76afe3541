import { i as exitCodes } from "./exit.js";
import { C as object, E as string, O as union, b as literal, g as boolean, k as unknown, m as array, t as cellName, v as discriminatedUnion, y as int } from "./scenario.js";
import { i as shortened, r as reasonOf } from "./one-line.js";
import { n as mapOf, t as ConduitError } from "./conduit.js";
import { c as plainLine, o as plain, s as plainBlock } from "./variant-name.js";
import { c as formatPercent, f as metricName } from "./format.js";
import { A as whyLines, C as verdictMeanings, D as functionName, E as flamegraphsText, K as patchName, O as groundsText, S as uncountedLines, T as changeText, U as sentence, _ as rowsThatFit, a as howToReadTexts, b as standingApartLines, d as movedBaselines, f as notesOf, h as pageUrl, i as fitted, k as isProfiled, l as ministats, m as otherMetricsOf, n as failureSaid, p as numbers, r as failureText, s as leftOut, t as environmentLines, v as rule, x as symbols, y as setting } from "./markdown.js";
import { a as callOnPhabricator, g as secondsFor, n as openBuild, s as newestTeller, t as failureOf, v as together } from "./harbormaster.js";
import { t as UsageError } from "./overrides.js";
import { n as intervalPlot } from "./interval-plot.js";
import { t as pngOf } from "./png.js";

// src/report/remarkup.ts
/** In UTF-8. Phabricator takes more, and sends it to everybody by mail. */
const mostBytes = 1e5;
/** Renders at most 100 kB: what does not fit is left out from the end, ministat first, and said. */
function renderRemarkup(result, links = {}) {
	const { outcome, patch } = result;
	const { symbol, text } = sentence(result, remarkupText);
	const name = patch.kind === "revision" ? `diff ${patch.diff}` : patchName(patch);
	const verdict = `**${symbol} ppsgate: ${remarkupText(name)} ${text}**`;
	const { main, parts } = outcome.kind === "judged" ? judgedParts(result, outcome.cells, links) : rejectedParts(result, outcome);
	return within([
		verdict,
		setting(result, remarkup),
		...main
	], parts, links);
}
/** `title` is one line of our own making like `⚪ not measured: cancelled`, and `said` is the sentence behind it. */
function renderRemarkupFailure({ title, said }, links = {}) {
	const [symbol = "", ...words] = title.split(" ");
	return within([`**${remarkupWords(symbol)} ppsgate: ${remarkupWords(words.join(" "))}**`, remarkupBlock("what was said", said, 20)], [], links);
}
function judgedParts(result, cells, links) {
	const { policy } = result;
	return {
		main: [
			rule(policy),
			table(result, cells, policy.metric),
			...whyLines(cells, remarkup, (cell) => flamegraphsText(cell, links, link)),
			...whyInvalid(cells),
			...plot(links)
		],
		parts: [
			...movedBaselines(cells, remarkup),
			...leftOut(result, remarkup),
			...otherMetricsOf(policy, cells).map((metric) => `By ${metricName(metric)}:\n\n${table(result, cells, metric)}`),
			...scrolled("runs that do not count", uncountedLines(cells, plain)),
			...scrolled("runs that stand apart, and count", standingApartLines(cells, plain)),
			...about(result),
			...scrolled("how to read this", readingLines(result)),
			...scrolled("why", cells.filter(isProfiled).flatMap(whyOfCell)),
			...ministats(policy, cells).map(ministatPart)
		]
	};
}
const rejectedParts = (result, outcome) => ({
	main: [failureText(outcome, remarkup), remarkupBlock("what was said", failureSaid(outcome), 20)],
	parts: [...leftOut(result, remarkup), ...about(result)]
});
/** The worst cells first when there is no room for all. Colons for alignment would make the heads plain cells. */
function table(result, cells, metric) {
	const confidence = formatPercent(result.policy.confidenceRatio);
	const judged = metric === result.policy.metric;
	const heads = [
		"cell",
		"base",
		"patched",
		"change",
		`${confidence} interval`,
		"runs"
	];
	const columns = judged ? [...heads, "verdict"] : heads;
	return [
		tableRow(columns),
		tableRow(columns.map(() => "---")),
		...rowsThatFit(cells, (cell) => rowsOfCell(cell, metric, judged))
	].join("\n");
}
/** Below a cell stand its other variants. */
function rowsOfCell({ cell, verdict, comparisons, others }, metric, judged) {
	const name = remarkupCell(cellName(cell));
	return [[
		judged ? `${symbols[verdict.kind]} ${name}` : name,
		...numbers(comparisons, metric, judged),
		...judged ? [verdict.kind] : []
	], ...others.map((other) => [
		`↳ ${remarkupCell(other.variant)}`,
		...numbers(other.comparisons, metric, judged),
		...judged ? ["not judged"] : []
	])].map(tableRow).join("\n");
}
const tableRow = (columns) => `| ${columns.join(" | ")} |`;
const mostReasons = 20;
/** In lines of their own: there is no room for sentences in the table. */
function whyInvalid(cells) {
	const lines = cells.flatMap(({ cell, verdict }) => verdict.kind === "invalid" ? `- ${remarkupText(cellName(cell))} is invalid: ${remarkupText(verdict.reason)}` : []);
	if (lines.length === 0) return [];
	const rest = lines.length - mostReasons;
	const more = rest > 0 ? [`- ${rest} more cells are invalid`] : [];
	return [[...lines.slice(0, mostReasons), ...more].join("\n")];
}
const plot = ({ image }) => image === void 0 ? [] : [`{${image}, size=full, alt=the changes of all cells and their intervals}`];
/** What is to be known of the DUT and of the patch. */
const about = (result) => [
	...scrolled("settings of the DUT that do not hold", lines(result.testbed.warnings)),
	...scrolled("notes on the revision", lines(notesOf(result.patch))),
	...scrolled("environment", [patchLine(result), ...environmentLines(result, plain)])
];
const lines = (texts) => texts.map((text) => plainLine(text, 300));
function patchLine({ patch }) {
	const diff = patch.kind === "revision" ? ` diff ${patch.diff}` : "";
	return `patch: ${patchName(patch)}${diff}, ${plainLine(patch.title)}, by ${plainLine(patch.author)}`;
}
/** A sentence a line: a block of code does not break them. */
const readingLines = (result) => [...howToReadTexts(result).flatMap((text) => text.split(/(?<=[.;]) /)), ...verdictMeanings(result.policy).map(([verdict, meaning]) => `${verdict}: ${meaning}`)];
/** All functions that moved. */
const whyOfCell = (cell) => [`${cellName(cell.cell)}: ${groundsText(cell, plain)}`, ...(cell.reason?.movers ?? []).map((mover) => {
	const module = mover.module === void 0 ? "" : ` (${plain.code(mover.module, 80)})`;
	return `  ${functionName(mover, plain)}${module} ${changeText(mover)}`;
})];
/** The note once for all blocks in a row that have the same. */
function ministatPart({ name, note, text }, index, all) {
	const block = remarkupBlock(name, text);
	return note === void 0 || note === all[index - 1]?.note ? block : `${note}\n\n${block}`;
}
/** Nothing where there are no lines. */
const scrolled = (name, all) => all.length === 0 ? [] : [remarkupBlock(name, all.join("\n"), 8)];
function within(main, parts, links) {
	const { rerun, details, history, page } = links;
	const end = [
		rerun && `Rerun: ${remarkupText(rerun)}`,
		page && link("the whole report", page),
		details && link("details", details),
		history && link("history", history)
	].filter(Boolean);
	const sizeOf = (text) => Buffer.byteLength(text);
	return fitted(main, parts, end.join(" · "), {
		most: mostBytes,
		sizeOf
	});
}
function link(text, address) {
	const url = pageUrl(address);
	return url === void 0 ? remarkupText(address) : `[[ ${url} | ${text} ]]`;
}
const remarkup = {
	code: (text, most) => remarkupText(text, most),
	name: (name) => remarkupText(name)
};
/**
* Code within a line, cut to `mostCharacters`: no mention, object, link, macro or line break in it can take effect. It
* must not follow a letter or a digit directly, for then its first backtick is none of code.
*/
const remarkupText = (untrusted, mostCharacters = 200) => inCode(plainLine(untrusted, mostCharacters));
/** A line that is plain already: whatever is taken out of it afterwards could join what was kept apart. */
function inCode(line) {
	const inside = line.replaceAll("`", "'").replaceAll("${{{", "$ {{{");
	return inside === "" ? "" : `\`${inside}\``;
}
/** The same in a column of a table, which is cut at `|` before code is looked for, but not between `[[` and `]]`. */
const remarkupCell = (untrusted, mostCharacters = 100) => inCode(plainLine(untrusted, mostCharacters).replaceAll("|", "¦").replace(/\[(?=\[)/g, "[ "));
/** A line of our own making in which something of others may be after all: what is no plain word stands in code. */
const remarkupWords = (line) => plainLine(line, 300).split(" ").map((word) => plainWord.test(word) ? word : remarkupText(word)).join(" ");
/** Neither capitals, which may name a repository, nor what may be a commit's hash. */
const plainWord = /^(?:\p{So}|(?![a-f]{7})[A-Z]?[a-z]+(?:['’-][a-z]+)*[,.:;]?)$/u;
/**
* A block of code that scrolls where it has more than `visibleLines`; shortened in the middle. A line that ends in
* three backticks would close it, and a first line like `lang=c` would set its options, had it none of its own.
*/
function remarkupBlock(name, untrusted, visibleLines = 12) {
	return `\`\`\`lang=text, name=${name.replace(/[^\w .-]+/g, "").trim()}, lines=${visibleLines}\n${plainBlock(untrusted, 6e3).replaceAll("```", "'''")}\n\`\`\``;
}

// src/publish/phabricator.ts
const openRevisionAnswer = (conduit, revision, { build, ...options }) => together([...build === void 0 ? [] : [openBuild(conduit, build, revision, options)], openRevisionComment(conduit, revision, options)]);
/** One comment when the gate has ended, with its plot where that can be uploaded; everybody who follows gets mail of it. */
function openRevisionComment(conduit, revision, { run, details, page, takesCommands, log, pause }) {
	const { number, diff } = revision;
	const marker = `ppsgate D${number}:${diff} run ${run}`;
	const plot = plotOf(conduit, revision);
	const put = async ({ title, said = title, result }) => {
		const links = {
			...details !== void 0 && { details },
			...page !== void 0 && { page },
			...takesCommands && { rerun: `${"@ppsgate"} rerun` }
		};
		let missing;
		const told = await postOnce(conduit, number, marker, async () => {
			if (result === void 0) return renderRemarkupFailure({
				title,
				said
			}, links);
			const { image, why } = await plot(result);
			missing = why;
			return renderRemarkup(result, {
				...links,
				...image && { image }
			});
		});
		if (told.kind === "told" && missing !== void 0) log.info(missing);
		return told;
	};
	const teller = newestTeller(put, {
		log: {
			info: log.warn,
			warn: log.warn
		},
		secondsBetween: 60,
		tooSlow: (seconds) => unsaid(number, `Phabricator did not answer within ${seconds} s`),
		...pause && { pause }
	});
	const nothing = () => {};
	return {
		queued: nothing,
		waiting: nothing,
		measuring: nothing,
		ended: async (ending) => {
			if (ending.exitCode === exitCodes.cancelled) return teller.left();
			await teller.tellLast(ending, secondsFor(ending));
		},
		linked: async () => {},
		left: teller.left
	};
}
/**
* Posts a short reply, once for each key. `text` is Remarkup of our own making: what others have written is in it only
* as remarkupText leaves it. Never throws.
*
* @param revision 27401 of D27401
*/
const say = (conduit, revision, text, key) => postOnce(conduit, revision, `ppsgate D${revision} reply ${key}`, async () => text);
/**
* Looks first whether it is there already, for Phabricator takes the same comment twice, and an answer can be lost after
* it was taken. Remarkup hides nothing, so the marker is the comment's last line for all to see.
*/
async function postOnce(conduit, revision, marker, compose) {
	const objectIdentifier = `D${revision}`;
	const ending = `\`${marker}\``;
	try {
		if (await isPosted(conduit, objectIdentifier, ending)) return { kind: "told" };
		const comment = {
			objectIdentifier,
			transactions: [{
				type: "comment",
				value: `${await compose()}\n\n${ending}`
			}]
		};
		await conduit.call("differential.revision.edit", comment, unknown());
		return { kind: "told" };
	} catch (error) {
		return failureOf(error, (why) => unsaid(revision, why));
	}
}
const unsaid = (revision, why) => `The comment on D${revision} may not be there (${why}).`;
const mostTransactions = 500;
/** By our own account, and at the end of the comment: elsewhere it may stand in what others have written. */
async function isPosted(conduit, objectIdentifier, ending) {
	const { phid } = await conduit.call("user.whoami", {}, object({ phid: string() }));
	const asked = {
		objectIdentifier,
		constraints: { authorPHIDs: [phid] }
	};
	return (await conduit.search("transaction.search", asked, commentSchema, mostTransactions)).flatMap(({ comments }) => comments.map(({ content }) => content.raw)).some((text) => text.trimEnd().endsWith(ending));
}
const commentSchema = object({ comments: array(object({ content: object({ raw: string() }) })) });
/** Uploads it once: a comment only shows what the server has, and of pictures only pixels. */
function plotOf(conduit, { number, diff }) {
	let uploaded;
	return async (result) => {
		if (uploaded !== void 0) return uploaded;
		try {
			const svg = intervalPlot(result);
			if (svg === void 0) return {};
			const png = Buffer.from(await pngOf(svg));
			uploaded = { image: await upload(conduit, `ppsgate-D${number}-${diff}.png`, png) };
			return uploaded;
		} catch (error) {
			return { why: `The comment on D${number} goes without its plot (${reasonOf(error)}).` };
		}
	};
}
/** For all who see the comment: one by Conduit does not make a file visible that is not. Answers its name, like `F123`. */
async function upload(conduit, name, bytes) {
	const file = {
		name,
		data_base64: bytes.toString("base64"),
		viewPolicy: "public"
	};
	const constraints = { phids: [await conduit.call("file.upload", file, string())] };
	const ids = object({ id: int() });
	const [found] = await conduit.search("file.search", { constraints }, ids);
	if (found === void 0) throw new Error(`${conduit.url} does not show ${name} that it has taken`);
	return `F${found.id}`;
}

// src/patch/phabricator.ts
/** What cannot be found as it is named, in a sentence for the one who named it. */
var RevisionError = class extends Error {
	name = "RevisionError";
};
/**
* As people type it: `D27401`, `D27401:80677` (as of that diff), `diff:80677`, or the URL of a revision or a diff.
* Undefined for what is no such name; throws a `RevisionError` for a URL of another server.
*/
function parseRevisionName(text, server) {
	const written = text.trim();
	if (/^https?:\/\//i.test(written)) return nameInUrl(written, server);
	const [, revision, diff] = /^D([1-9]\d{0,8})(?::([1-9]\d{0,8}))?$/.exec(written) ?? [];
	if (revision !== void 0) return nameOf(revision, diff);
	const [, lone] = /^diff:([1-9]\d{0,8})$/.exec(written) ?? [];
	return lone === void 0 ? void 0 : { diff: Number(lone) };
}
const nameOf = (revision, diff) => ({
	revision: Number(revision),
	...diff !== void 0 && { diff: Number(diff) }
});
/** Also of links to a comment, or to the changes between two diffs: `id` is the later one. */
function nameInUrl(text, server) {
	const url = URL.parse(text);
	if (url === null) return void 0;
	if (url.host !== new URL(server).host) throw new RevisionError(`${url.host} is not the Phabricator that ppsgate is set up for: name a revision of ${server}.`);
	const [, lone] = /^\/differential\/diff\/([1-9]\d{0,8})\/?$/.exec(url.pathname) ?? [];
	if (lone !== void 0) return { diff: Number(lone) };
	const [, revision] = /^\/D([1-9]\d{0,8})\/?$/.exec(url.pathname) ?? [];
	const diff = url.searchParams.get("id") ?? void 0;
	const isDiff = diff === void 0 || /^[1-9]\d{0,8}$/.test(diff);
	return revision === void 0 || !isDiff ? void 0 : nameOf(revision, diff);
}
/** Throws a `RevisionError` where there is no such revision for the bot to see, or where the diff is none of it. */
async function findRevision(conduit, name) {
	const { id: number, phid, fields } = await revisionNamed(conduit, name);
	const constraints = { revisionPHIDs: [phid] };
	const diffs = (await conduit.search("differential.diff.search", { constraints }, diffItem)).toSorted((a, b) => a.id - b.id);
	const asked = diffs.find((diff) => diff.id === name.diff || name.diff === void 0 && diff.phid === fields.diffPHID);
	if (asked === void 0) {
		const known = diffs.map(({ id }) => id).join(", ") || "none";
		throw new RevisionError(name.diff === void 0 ? `The newest diff of D${number} is not for the bot to see on ${conduit.url}: let its account see it.` : `Diff ${name.diff} is none of D${number}, whose diffs are: ${known}.`);
	}
	const shown = diffs.filter(({ id }) => id <= asked.id);
	const names = await userNames(conduit, [fields.authorPHID, ...shown.map((diff) => diff.fields.authorPHID)]);
	const repository = await repositoryOf(conduit, fields.repositoryPHID);
	const earlier = shown.filter((diff) => diff !== asked);
	return {
		number,
		phid,
		title: fields.title,
		url: `${conduit.url}/D${number}`,
		author: personOf(fields.authorPHID, names),
		status: fields.status.value,
		isDraft: fields.isDraft,
		...repository !== void 0 && { repository },
		diff: foundDiff(asked, names),
		earlier: earlier.map((diff) => foundDiff(diff, names))
	};
}
const phid = string().regex(/^PHID-[\w-]{1,100}$/, "expected a PHID");
const id = int().positive();
const epoch = int().transform((seconds) => /* @__PURE__ */ new Date(seconds * 1e3));
const revisionItem = object({
	id,
	phid,
	fields: object({
		title: string(),
		authorPHID: phid,
		status: object({ value: string() }),
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
		refs: array(object({
			type: string(),
			/** Of a branch. */
			name: string().nullish(),
			/** Of a base. */
			identifier: string().nullish()
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
	if (diff.fields.revisionPHID === null) throw new RevisionError(`${called} is of no revision on ${conduit.url}: make a revision of it first.`);
	return await search({ phids: [diff.fields.revisionPHID] }) ?? notSeen(`The revision of diff ${name.diff}`, conduit);
}
function notSeen(what, { url }) {
	throw new RevisionError(`${what} is not on ${url}, or not for the bot to see, which Phabricator does not tell apart: look at its number, and at who may see it.`);
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
	callsign: string().nullable(),
	shortName: string().nullable()
}) });
function foundDiff({ id, phid, fields }, names) {
	const ref = (type) => fields.refs.find((each) => each.type === type);
	const base = ref("base")?.identifier;
	const branch = ref("branch")?.name;
	return {
		id,
		phid,
		createdAt: fields.dateCreated,
		author: personOf(fields.authorPHID, names),
		...base && /^[0-9a-f]{40}([0-9a-f]{24})?$/.test(base) && { baseCommit: base },
		...branch && { branch }
	};
}
const personOf = (phid, names) => ({
	phid,
	name: names.get(phid) ?? phid
});
/** User names by PHID, without those of users whom the bot may not see, and of what is no user. */
async function userNames(conduit, phids) {
	const users = [...new Set(phids)].filter((phid) => phid.startsWith("PHID-USER-"));
	if (users.length === 0) return /* @__PURE__ */ new Map();
	const found = await conduit.search("user.search", { constraints: { phids: users } }, userItem);
	return new Map(found.map(({ phid, fields }) => [phid, fields.username]));
}
const userItem = object({
	phid,
	fields: object({ username: string() })
});
/** Whose token it is. */
async function whoami(conduit) {
	const { phid, userName } = await conduit.call("user.whoami", {}, me);
	return {
		phid,
		name: userName
	};
}
const me = object({
	phid,
	userName: string()
});
/**
* The oldest first. Comments as they read now, without those that were removed.
*
* @param filter.phids only these, of which some may be of other kinds.
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
	comments: array(discriminatedUnion("removed", [version.extend({
		removed: literal(false),
		content: object({ raw: string() })
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
const others = object({ type: string().nullable() }).refine(({ type }) => type !== "update" && type !== "comment", "expected a transaction").transform(() => void 0);
const transactionItem = union([
	update,
	comment,
	others
]);
/**
* Whether a user is a member of one of the projects, which are named by their hashtags.
*
* @returns `warning` is a sentence about projects that are not there, or not for the bot to see: nobody is their member.
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
		...unknown.length > 0 && { warning: `${unknown.map((slug) => `#${slug}`).join(", ")}: no such project on ${conduit.url}, or not for the bot to see; look at phabricator.projects in ppsgate.yml.` }
	};
}
const projects = object({
	data: array(object({ attachments: object({ members: object({ members: array(object({ phid })) }) }) })),
	/** By hashtag, of which a project may have several. */
	maps: object({ slugMap: mapOf(unknown()) })
});

// src/patch/phabricator-diff.ts
/** Throws a `RevisionError` where there is no such diff, or not for the bot to see. */
async function fetchDiff(conduit, { id }) {
	const text = await rawDiff(conduit, id);
	const why = whyMisleading(text);
	if (why !== void 0) return {
		kind: "misleading",
		why
	};
	return {
		kind: "usable",
		bytes: Buffer.from(text),
		remarks: remarksOn(text)
	};
}
async function rawDiff(conduit, diffID) {
	try {
		return await conduit.call("differential.getrawdiff", { diffID }, string());
	} catch (error) {
		if (!(error instanceof ConduitError) || error.code !== "ERR_NOT_FOUND") throw error;
		throw new RevisionError(`Diff ${diffID} is not on ${conduit.url}, or not for the bot to see, which Phabricator does not tell apart: look at its id, and at who may see it.`);
	}
}
/** Undefined where Phabricator has kept the meaning, as far as a diff tells. */
function whyMisleading(diff) {
	const sections = diff.split(/(?<=^|\n)(?=diff --git )/);
	for (const section of sections.filter((each) => each.startsWith(gitLine))) {
		const [first = "", ...lines] = section.split("\n");
		const why = whySectionMisleads(first.slice(gitLine.length), lines);
		if (why !== void 0) return why;
	}
}
const gitLine = "diff --git ";
/** @param names as `diff --git` has them: `a/PATH b/PATH`. */
function whySectionMisleads(names, lines) {
	const file = shortened(names.slice(names.lastIndexOf(" b/") + 3));
	if (lines.some((line) => isBinary.test(line))) return `Phabricator gives back the binary file ${file} as an empty one: send the diff without it.`;
	if (names.includes("	")) return `Phabricator does not quote the tab in the name of ${file}, so git cannot read it: rename the file.`;
	if (lines.some((line) => /^(?:rename|copy) from /.test(line)) || !names.startsWith("a/") || namesOne(names)) return void 0;
	return `Phabricator gives back one file by two names, "${shortened(names)}", as it does where the prefixes a/ and b/ were not sent: send the diff with arc diff, or make it with git diff --src-prefix=a/ --dst-prefix=b/.`;
}
/** Lines of a file's text begin with a sign in a diff, so these are never one. */
const isBinary = /^(?:GIT binary patch|Binary files .* differ)$/;
/** Whether it is `a/PATH b/PATH`; any other way to tell takes long where PATH is made for that. */
function namesOne(names) {
	const path = names.slice(2, (names.length - 1) / 2);
	return names === `a/${path} b/${path}`;
}
function remarksOn(diff) {
	if (!/^(?!--- )[ -].*[^\p{ASCII}]/mu.test(diff)) return [];
	return ["Phabricator gives diffs in UTF-8, and this one has other letters than ASCII in lines that are there already: files in Latin-1 it cannot change."];
}

// src/patch/revision.ts
/** A diff of which no patch can be made, for the reason that its author is told. */
var PatchError = class extends Error {
	name = "PatchError";
};
/** As people type it: `all`, `none`, or ids like `80345,80654`. Throws a `UsageError` for anything else. */
function parseEarlier(text) {
	if (text === "all" || text === "none") return text;
	const ids = text.split(",").map((id) => id.trim());
	if (ids.every((id) => /^[1-9]\d{0,8}$/.test(id))) return ids.map(Number);
	throw new UsageError(`earlier: expected all, none or ids of diffs like 80345,80654, found "${text}".`);
}
/**
* Throws a `PatchError` where the diff does not apply, a `UsageError` or `RevisionError` where there is no such diff or
* it is none of ours. An earlier diff that does not apply is left out, which the notes tell.
*/
async function patchOfRevision(name, earlier, world) {
	const found = await findRevision(world.conduit, name);
	refuseForeign(found, world.config);
	const { diff, number } = found;
	const notes = [];
	const base = await baseOf(diff, world);
	notes.push(...base.notes);
	const head = await commitOf(number, diff, base.commit, world);
	if (head.kind === "does-not-apply") throw new PatchError(doesNotApply(number, diff, head.why));
	const others = [];
	for (const one of chosen(found, earlier)) {
		const commit = await commitOf(number, one, base.commit, world);
		if (commit.kind === "committed") others.push({
			diff: one.id,
			headCommit: commit.commit
		});
		else notes.push(`Diff ${one.id} is left out: ${commit.why}`);
	}
	return {
		kind: "revision",
		server: world.conduit.url,
		number,
		diff: diff.id,
		title: found.title,
		author: found.author.name,
		url: found.url,
		baseCommit: base.commit,
		headCommit: head.commit,
		earlier: others,
		notes
	};
}
/**
* Makes the commits of a revision again where another machine made them first; throws a `PatchError` where they are not
* the same, for then the diff is not what there was leave for.
*/
async function restoreRevision(patch, world) {
	const { number, baseCommit, earlier } = patch;
	const judged = {
		diff: patch.diff,
		headCommit: patch.headCommit
	};
	for (const { diff: id, headCommit } of [judged, ...earlier]) {
		if (await world.repository.resolve(headCommit).then(() => true, () => false)) continue;
		const { diff } = await findRevision(world.conduit, {
			revision: number,
			diff: id
		});
		const made = await commitOf(number, diff, baseCommit, world);
		if (made.kind === "committed" && made.commit === headCommit) continue;
		throw new PatchError(`Diff ${id} of D${number} is not what it was: ask for it once more.`);
	}
}
function refuseForeign({ number, repository }, { repositories }) {
	if (repositories === void 0) return;
	const names = [repository?.callsign, repository?.shortName].filter((name) => name !== void 0);
	if (names.some((name) => repositories.includes(name))) return;
	const which = names[0] === void 0 ? "of no repository" : `of the repository ${names[0]}`;
	throw new UsageError(`D${number} is ${which}, and only those of ${repositories.join(", ")} are measured: see phabricator.repositories in ppsgate.yml.`);
}
function chosen({ diff, earlier }, which) {
	if (which === "none") return [];
	if (which === "all") return earlier;
	const stranger = which.find((id) => !earlier.some((one) => one.id === id));
	if (stranger !== void 0) {
		const known = earlier.map(({ id }) => id).join(", ") || "none";
		throw new UsageError(`earlier: ${stranger} is no diff of the revision from before ${diff.id}; those are: ${known}.`);
	}
	return earlier.filter(({ id }) => which.includes(id));
}
/** What the diff was made for; what its branch was on the day, where it does not tell or nobody here has that commit. */
async function baseOf({ id, baseCommit, createdAt }, { repository, config }) {
	const told = baseCommit && await repository.resolve(baseCommit).catch(() => void 0);
	if (told) return {
		commit: told,
		notes: []
	};
	const commit = await repository.commitAt(config.branch, createdAt);
	const day = createdAt.toISOString().slice(0, 10);
	return {
		commit,
		notes: [`Diff ${id} ${baseCommit ? `says that it was made for ${baseCommit.slice(0, 12)}, which is not in the repository` : "does not say what it was made for"}: it is measured against ${config.branch} as of ${day}, ${commit.slice(0, 12)}.`]
	};
}
async function commitOf(number, diff, base, { conduit, repository }) {
	const raw = await fetchDiff(conduit, diff);
	if (raw.kind === "misleading") return {
		kind: "does-not-apply",
		why: raw.why
	};
	const about = {
		message: `D${number} diff ${diff.id}`,
		date: diff.createdAt
	};
	const made = await repository.commitDiff(base, raw.bytes, about);
	if (made.kind === "committed") return made;
	return {
		...made,
		why: [made.why, ...raw.remarks].join(" ")
	};
}
const doesNotApply = (number, { id }, why) => `Diff ${id} of D${number} does not apply: ${why}`;

export { RevisionError as a, parseRevisionName as c, whoami as d, openRevisionAnswer as f, remarkupText as h, fetchDiff as i, transactionsOf as l, say as m, patchOfRevision as n, findRevision as o, openRevisionComment as p, restoreRevision as r, isMember as s, parseEarlier as t, userNames as u };