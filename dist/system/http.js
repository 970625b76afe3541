import { reasonOf } from "../model/first-plain.js";
import { PinError, connectUnverified, describeDistrust, verifyPin } from "./certificate.js";
const { once } = globalThis.process.getBuiltinModule("node:events");
const { TLSSocket } = globalThis.process.getBuiltinModule("node:tls");

// src/system/http.ts
/** Sends one request over a new connection; never rejects. Follows no redirect, which could pass credentials on. */
const sendRequest = (url, request) => exchange(url, request, { trust: request.trust ?? {} });
function openHttpClient(certificates) {
	let agents;
	return {
		async send(url, request) {
			agents ??= openAgents(certificates);
			return exchange(url, request, {
				trust: certificates,
				...await agents
			});
		},
		close() {
			agents?.then(({ http, https }) => {
				http.destroy();
				https.destroy();
			});
		}
	};
}
async function openAgents(certificates) {
	const { http, https } = await modules();
	return {
		http: new http.Agent({ keepAlive: true }),
		https: new https.Agent({
			keepAlive: true,
			...certificates
		})
	};
}
/** Imported by the first request: it loads Node's whole fetch, a tenth of a command's start-up time. */
async function modules() {
	const [http, https] = await Promise.all([globalThis.process.getBuiltinModule("node:http"), globalThis.process.getBuiltinModule("node:https")]);
	return {
		http,
		https
	};
}
async function exchange(url, request, connections) {
	const { answerSeconds, maxBytes, onLine, signal } = request;
	const limit = startLimit(answerSeconds);
	const end = AbortSignal.any([limit.signal, ...signal === void 0 ? [] : [signal]]);
	let sent;
	let wasSent = () => false;
	const stop = () => sent?.destroy();
	try {
		const target = new URL(url);
		const loaded = await modules();
		end.throwIfAborted();
		sent = begin(loaded, target, request, connections, end);
		end.addEventListener("abort", stop);
		wasSent = watchSending(sent, target, connections);
		const response = (await once(sent, "response", { signal: end }))[0];
		const { statusCode: status = 0, statusMessage: statusText = "", headersDistinct } = response;
		const headers = /* @__PURE__ */ new Map();
		for (const [name, values = []] of Object.entries(headersDistinct)) headers.set(name, values.join(", "));
		const answered = {
			kind: "answered",
			status,
			statusText,
			headers
		};
		if (onLine === void 0 || status !== 200) return {
			...answered,
			body: await bytesWithin(maxBytes, response)
		};
		limit.clear();
		for await (const line of linesOf(response, maxBytes)) onLine(line);
		return {
			...answered,
			body: Buffer.of()
		};
	} catch (error) {
		const failed = {
			kind: "no-answer",
			code: codeOf(error),
			wasSent: wasSent()
		};
		if (limit.signal.aborted && signal?.aborted !== true) {
			const why = `no complete response within ${answerSeconds} s`;
			return {
				...failed,
				why,
				code: "",
				lateSeconds: answerSeconds
			};
		}
		if (!isDistrust(sent, error)) return {
			...failed,
			why: reasonOf(error)
		};
		const distrust = await describeDistrust(error, new URL(url), connections.trust, end);
		return {
			...failed,
			why: `it shows ${distrust.shown}`,
			distrust
		};
	} finally {
		end.removeEventListener("abort", stop);
		limit.clear();
	}
}
function startLimit(seconds) {
	const limit = new AbortController();
	let isCleared = false;
	const abort = () => isCleared || limit.abort();
	const timer = setTimeout(() => setImmediate(abort), seconds * 1e3);
	return {
		signal: limit.signal,
		clear() {
			isCleared = true;
			clearTimeout(timer);
		}
	};
}
const codeOf = (error) => error instanceof Error && "code" in error ? String(error.code) : "";
const isDistrust = (sent, error) => error instanceof PinError || sent?.socket instanceof TLSSocket && Boolean(sent.socket.authorizationError);
function begin(loaded, url, request, connections, end) {
	const { method, headers, body, connectSeconds = 10 } = request;
	const { trust, http, https } = connections;
	const isSecure = url.protocol === "https:" || "pinnedSha256" in trust;
	const agent = isSecure ? https : http;
	const options = {
		method,
		agent,
		headers: {
			"user-agent": "ppsgate",
			...body instanceof URLSearchParams && { "content-type": "application/x-www-form-urlencoded" },
			...headers,
			...agent === void 0 && { connection: "close" }
		}
	};
	const sent = isSecure ? loaded.https.request(url, {
		...options,
		...trustOptions(url, trust, end)
	}) : loaded.http.request(url, options);
	sent.on("error", () => {});
	if (!("pinnedSha256" in trust) && connectSeconds < request.answerSeconds) limitConnecting(sent, connectSeconds);
	return sent.end(body?.toString());
}
function trustOptions(url, trust, end) {
	if (!("pinnedSha256" in trust)) return trust;
	return { 
	/** Returns the connection once its certificate is verified; Node sends nothing earlier. */
createConnection(_, created) {
		const socket = connectUnverified(url, {}, end);
		const settle = (error) => created(error ?? null, socket);
		socket.once("error", settle);
		socket.once("secureConnect", () => {
			socket.off("error", settle);
			settle(verifyPin(socket, trust.pinnedSha256));
		});
	} };
}
const noConnection = "NO_CONNECTION";
function limitConnecting(sent, seconds) {
	const late = Object.assign(/* @__PURE__ */ new Error(`no connection within ${seconds} s`), { code: noConnection });
	const timer = setTimeout(() => sent.destroy(late), seconds * 1e3);
	const stop = () => clearTimeout(timer);
	sent.once("close", stop);
	sent.once("socket", (socket) => {
		if (socket.connecting) socket.once("connect", stop);
		else stop();
	});
}
/** The request is sent only after the connection is open and, for HTTPS, its certificate verified. */
function watchSending(sent, { protocol }, { trust }) {
	let wasSent = false;
	const send = () => {
		wasSent = true;
	};
	sent.once("socket", (socket) => {
		if (sent.reusedSocket || "pinnedSha256" in trust) send();
		else socket.once(protocol === "https:" ? "secureConnect" : "connect", send);
	});
	return () => wasSent;
}
/** Returns undefined and closes the stream beyond that many bytes, even if the server announced fewer. */
async function bytesWithin(maxBytes, stream) {
	const chunks = [];
	let bytes = 0;
	for await (const chunk of stream) {
		bytes += chunk.length;
		if (bytes > maxBytes) return void 0;
		chunks.push(chunk);
	}
	return Buffer.concat(chunks);
}
async function* linesOf(response, maxBytes) {
	let rest = "";
	for await (const chunk of response.setEncoding("utf8")) {
		const lines = (rest + chunk).split("\n");
		rest = lines.pop() ?? "";
		if (rest.length > maxBytes) throw new Error(`more than ${maxBytes} bytes in a line`);
		yield* lines;
	}
}
/**
* Limits the time of Node's fetch for the whole response, and reads the body itself. Octokit treats a truncated body as
* empty, and an empty list of comments would make it write a second comment.
*/
const fetchWithin = (seconds) => async (input, init) => {
	const response = await fetch(input, {
		...init,
		signal: AbortSignal.timeout(seconds * 1e3)
	});
	await response.clone().arrayBuffer();
	return response;
};

export { fetchWithin, noConnection, openHttpClient, sendRequest };