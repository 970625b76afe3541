import { reasonOf } from "../../model/first-plain.js";

// src/forge/phabricator/failure.ts
/** The message names the server and the method, never the token. */
var ConduitError = class extends Error {
	name = "ConduitError";
	kind;
	/** Conduit's own code, such as ERR-CONDUIT-CORE. */
	code;
	/** The object itself exceeds our size limit. */
	isTooLarge;
	constructor(kind, message, code, isTooLarge = false) {
		super(message);
		this.kind = kind;
		this.isTooLarge = isTooLarge;
		if (code !== void 0) this.code = code;
	}
};
/**
* True if another try would fail the same way. A proxy's page, a redirect, an unreachable database, an unknown result
* and an invalid token are not final: an operator can correct each of them.
*/
function isFinal(error) {
	if (!(error instanceof ConduitError)) return false;
	if (error.isTooLarge) return true;
	return error.kind === "refused" && error.code !== void 0 && !isOfToken(error);
}
/** Time limit for retrying reads, deliveries and answers. */
const secondsOfPatience = 604800;
const isOfToken = ({ code = "" }) => tokenCodes.has(code);
const tokenCodes = /* @__PURE__ */ new Set(["ERR-INVALID-AUTH", "ERR-INVALID-SESSION"]);
const unreadable = (why) => ({
	kind: "unreadable",
	why,
	advice: "check that this is the address of a Phabricator, and that no proxy responds for it"
});
/** Classifies an error by Conduit's code for it. */
function failureNamed(code, info) {
	const why = `${code}: ${info}`;
	if (code === "ERR-CONDUIT-CORE" && /\bread-only mode\b/.test(info)) return {
		kind: "busy",
		why,
		code
	};
	if (isOfDatabase(code, info)) return {
		kind: "lost",
		why,
		code
	};
	return {
		kind: "refused",
		why,
		code,
		advice: adviceOn(code, info)
	};
}
/**
* Recognizes errors of MariaDB by number, and uncaught exceptions by class: the statement may have been carried out.
* False for an error of the data itself, which is final: a null, a duplicate, or a value that does not fit.
*/
function isOfDatabase(code, info) {
	if (!/^ERR[-_]/.test(code)) return true;
	if (code !== "ERR-CONDUIT-CORE" || /^#(?:1048|1062|1264|1366|1406): /.test(info)) return false;
	return /^#\d{4}: |^(?:Unable to establish a connection|Attempt to connect) to /.test(info);
}
function adviceOn(code, info) {
	if (tokenCodes.has(code)) return "check that the Conduit token is complete, and that its account may use the API";
	if (["ERR_NOT_FOUND", "ERR-INVALID-OBJECT-PHID"].includes(code) || /does not identify a valid object|You Shall Not Pass/.test(info)) return "it does not exist, or the account of the Conduit token may not see or edit it (Phabricator does not distinguish the two)";
	return code === "ERR-CONDUIT-CALL" ? otherVersion : void 0;
}
const otherVersion = "ppsgate does not support the version of the server";
/** Classifies a status other than 200. */
function otherStatus({ status, statusText, headers }) {
	const why = `${status} ${statusText}`.trim();
	const retryAfter = /^\d{1,9}$/.exec(headers.get("retry-after") ?? "")?.[0];
	const patience = retryAfter === void 0 ? {} : { retryAfterSeconds: Number(retryAfter) };
	if (status === 429) return {
		kind: "busy",
		why,
		...patience
	};
	if (status === 500) return {
		kind: "lost",
		why: `${why}, which it also returns for an unknown host name`,
		...patience
	};
	if (status > 500) return {
		kind: "lost",
		why,
		...patience
	};
	if (status >= 300 && status < 400) return {
		kind: "refused",
		why: `${why} to ${headers.get("location") ?? "nowhere"}`,
		advice: "the token is not sent to another address, so configure the current address of the server"
	};
	return {
		kind: "refused",
		why,
		advice: "check the address, and whether a proxy is in front of it"
	};
}
const isRead = (method) => /\.(?:search|query\w*|get\w*|lookup|whoami|ping)$/.test(method);
/** True if a repetition within the same call is harmless. */
const mayRetry = ({ kind }, method) => kind === "busy" || kind === "lost" && isRead(method);
function errorOf(outcome, method, server) {
	const kind = isRead(method) ? kinds[outcome.kind].ofRead : kinds[outcome.kind].ofWrite;
	const { did, otherwise } = words[kind];
	const { why, advice = otherwise, code, isTooLarge } = outcome;
	if (outcome.kind === "distrusted") return new ConduitError(kind, `${server.url} shows ${why}, so ${method} was not sent: ${advice}.`);
	const sentence = `${server.url} ${did} ${method} (${safeMessage(why, server.token)}): ${advice}.`;
	return new ConduitError(kind, sentence, code, isTooLarge);
}
const kinds = {
	refused: {
		ofRead: "refused",
		ofWrite: "refused"
	},
	busy: {
		ofRead: "busy",
		ofWrite: "busy"
	},
	lost: {
		ofRead: "busy",
		ofWrite: "unsure"
	},
	distrusted: {
		ofRead: "busy",
		ofWrite: "busy"
	},
	unreadable: {
		ofRead: "refused",
		ofWrite: "unsure"
	}
};
const words = {
	refused: {
		did: "refused",
		otherwise: "correct what it reports"
	},
	busy: {
		did: "could not execute",
		otherwise: "try again later"
	},
	unsure: {
		did: "may or may not have executed",
		otherwise: "check there before you try again"
	}
};
/** Shortens a message to one readable line without tokens: the server quotes an invalid one. */
function safeMessage(text, token) {
	const line = reasonOf(text.replaceAll(token, "(token)").replace(/\b(?:api|cli|clr)-\w+/gi, "(token)"));
	return line.length <= 300 ? line : `${line.slice(0, 300)}…`;
}

export { ConduitError, errorOf, failureNamed, isFinal, isOfToken, isRead, mayRetry, otherStatus, otherVersion, safeMessage, secondsOfPatience, unreadable };