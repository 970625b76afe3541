import { reasonOf } from "./words.js";
import { once } from "node:events";
import { isIP } from "node:net";
import { request } from "node:http";
import { TLSSocket, connect as connect$1 } from "node:tls";
import { request as request$1 } from "node:https";

// src/http.ts
/** Never rejects. Redirects are answers like others: to follow one would be to tell somebody else what was asked. */
async function ask(url, question) {
	const { answerSeconds, mostBytes, signal } = question;
	const timeout = AbortSignal.timeout(answerSeconds * 1e3);
	const end = AbortSignal.any([timeout, ...signal === void 0 ? [] : [signal]]);
	let asked;
	try {
		asked = begun(new URL(url), question, end);
		const response = (await once(asked, "response"))[0];
		const { statusCode: status = 0, statusMessage: statusText = "", headersDistinct } = response;
		const headers = new Headers();
		for (const [name, values = []] of Object.entries(headersDistinct)) for (const value of values) headers.append(name, value);
		return {
			kind: "answered",
			status,
			statusText,
			headers,
			body: await bytesWithin(mostBytes, response)
		};
	} catch (error) {
		if (timeout.aborted && signal?.aborted !== true) return {
			kind: "no-answer",
			why: `no whole answer within ${answerSeconds} s`,
			code: ""
		};
		const distrust = await distrustOf(asked, url, question, error, end);
		return {
			kind: "no-answer",
			why: distrust === void 0 ? reasonOf(error) : `it shows ${distrust.shown}`,
			code: codeOf(error),
			...distrust && { distrust }
		};
	}
}
const codeOf = (error) => error instanceof Error && "code" in error ? String(error.code) : "";
function begun(url, { method, headers, body, ca }, signal) {
	const asked = (url.protocol === "https:" ? request$1 : request)(url, {
		method,
		headers: {
			"user-agent": "ppsgate",
			...body instanceof URLSearchParams && { "content-type": "application/x-www-form-urlencoded" },
			...headers,
			connection: "close"
		},
		...ca !== void 0 && { ca },
		signal
	});
	asked.on("error", () => {});
	limitConnecting(asked);
	return asked.end(body?.toString());
}
/** The code where no connection came about in time. */
const noConnection = "NO_CONNECTION";
const connectSeconds = 10;
function limitConnecting(asked) {
	const late = Object.assign(/* @__PURE__ */ new Error(`no connection within ${connectSeconds} s`), { code: noConnection });
	const timer = setTimeout(() => asked.destroy(late), connectSeconds * 1e3);
	const stop = () => clearTimeout(timer);
	asked.once("close", stop);
	asked.once("socket", (socket) => {
		if (socket.connecting) socket.once("connect", stop);
		else stop();
	});
}
/** Undefined where the certificate is not the reason. */
async function distrustOf(asked, url, { ca }, error, signal) {
	const socket = asked?.socket;
	if (!(socket instanceof TLSSocket && socket.authorizationError)) return void 0;
	const code = codeOf(error);
	const found = (fault, what) => ({
		fault,
		shown: `a certificate ${what} (${code})`
	});
	if (unsigned.test(code)) return found("authority", ca === void 0 ? "that is signed by nobody whom this machine trusts" : "that the authority of `ca` has not signed");
	if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return found("name", `for ${namesIn(error)}, and not for ${new URL(url).hostname}`);
	if (code === "CERT_HAS_EXPIRED" || code === "CERT_NOT_YET_VALID") return found("time", goodWhen(await datesOf(new URL(url), signal)));
	return found("other", `that is no good: ${reasonOf(error)}`);
}
const unsigned = /^(?:UNABLE_TO_(?:GET_ISSUER|VERIFY)|DEPTH_ZERO_SELF|SELF_SIGNED|CERT_UNTRUSTED)/;
const mostNamesLength = 200;
function namesIn(error) {
	const { cert } = error;
	const names = (cert?.subjectaltname ?? "").replace(/\b(?:DNS|IP Address):/g, "");
	return names === "" ? "no name at all" : names.slice(0, mostNamesLength);
}
function goodWhen(dates) {
	const now = /* @__PURE__ */ new Date();
	if (dates !== void 0 && dates.until < now) return `that was good until ${dayOf(dates.until)}`;
	if (dates !== void 0 && dates.from > now) return `that is good from ${dayOf(dates.from)} on`;
	return "whose authority’s is not good today";
}
const dayOf = (date) => date.toISOString().replace(/T(.{5}).*/, " $1 UTC");
/** The dates of a certificate that was refused, which Node has forgotten by then: it is looked at again, and nothing is sent. */
async function datesOf({ hostname, port }, signal) {
	const host = hostname.replace(/^\[|\]$/g, "");
	const socket = connect$1({
		host,
		port: Number(port || 443),
		rejectUnauthorized: false,
		...isIP(host) === 0 && { servername: host }
	});
	socket.on("error", () => {});
	try {
		await once(socket, "secureConnect", { signal });
		const { valid_from: from, valid_to: until } = socket.getPeerCertificate();
		return {
			from: new Date(from),
			until: new Date(until)
		};
	} catch {
		return;
	} finally {
		socket.destroy();
	}
}
/** Undefined for more than so many: the stream is then closed, whatever was promised of its length. */
async function bytesWithin(mostBytes, stream) {
	const chunks = [];
	let bytes = 0;
	for await (const chunk of stream) {
		bytes += chunk.length;
		if (bytes > mostBytes) return void 0;
		chunks.push(chunk);
	}
	return Buffer.concat(chunks);
}

export { ask, bytesWithin, noConnection };