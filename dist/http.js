import { reasonOf } from "./words.js";

// src/http.ts
/** Never rejects. Redirects are answers like others: to follow one would be to tell somebody else what was asked. */
async function ask(url, question) {
	const { answerSeconds, mostBytes, signal, ...request } = question;
	const timeout = AbortSignal.timeout(answerSeconds * 1e3);
	try {
		const response = await fetch(url, {
			...request,
			redirect: "manual",
			signal: AbortSignal.any([timeout, ...signal === void 0 ? [] : [signal]])
		});
		const { status, statusText, headers } = response;
		return {
			kind: "answered",
			status,
			statusText,
			headers,
			body: await bytesWithin(mostBytes, response.body ?? [])
		};
	} catch (error) {
		if (timeout.aborted && signal?.aborted !== true) return {
			kind: "no-answer",
			why: `no whole answer within ${answerSeconds} s`,
			code: ""
		};
		const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
		const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
		return {
			kind: "no-answer",
			why: reasonOf(cause),
			code
		};
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

export { ask, bytesWithin };