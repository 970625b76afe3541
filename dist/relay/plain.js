const { isIPv6 } = globalThis.process.getBuiltinModule("node:net");

// src/relay/seldom-log.ts
const firstSeconds = 60;
const longestSeconds = 3600;
/** A sentence that did not recur for this long is logged again at once. */
const forgottenSeconds = 2 * longestSeconds;
const maxSentences = 1e3;
/** Returns a log that drops repetitions within an interval, which doubles from a minute up to an hour. */
function seldomLog(log, now) {
	const logged = /* @__PURE__ */ new Map();
	return (sentence) => {
		const time = now().getTime() / 1e3;
		const last = logged.get(sentence);
		const isOld = last !== void 0 && time - last.reportedAt > forgottenSeconds;
		if (last !== void 0 && !isOld && Math.abs(time - last.at) < last.seconds) {
			last.reportedAt = time;
			return;
		}
		if (logged.size >= maxSentences) logged.clear();
		const seconds = last === void 0 || isOld ? firstSeconds : Math.min(2 * last.seconds, longestSeconds);
		logged.set(sentence, {
			at: time,
			reportedAt: time,
			seconds
		});
		log(sentence);
	};
}

// src/relay/connections.ts
/** Tracks open connections. A client that sends its request at once outlives all idle connections opened before it. */
var Connections = class {
	#limits;
	/** Oldest first. */
	#open = /* @__PURE__ */ new Map();
	constructor(limits) {
		this.#limits = limits;
	}
	/** Returns the connection to close if there are too many; it may be the new one. */
	add(socket) {
		const network = networkOf(socket.remoteAddress ?? "");
		this.#open.set(socket, { network });
		socket.once("close", () => this.#open.delete(socket));
		const ofNetwork = [...this.#open].filter(([, one]) => one.network === network);
		if (ofNetwork.length > this.#limits.connectionsPerNetwork) return this.#takeOldest(ofNetwork);
		if (this.#open.size > this.#limits.connections) return this.#takeOldest([...this.#open]);
	}
	/** A connection with a complete request is being answered, so it is never closed for another one. */
	setRequest(socket, request) {
		const connection = this.#open.get(socket);
		if (connection !== void 0) connection.request = request;
	}
	#takeOldest(candidates) {
		const [oldest] = candidates.find(([, { request }]) => request?.complete !== true) ?? [];
		if (oldest !== void 0) this.#open.delete(oldest);
		return oldest;
	}
};
/** Returns the network of addresses that one host can choose from: for IPv6, the first 64 bits (RFC 7421). */
function networkOf(address) {
	if (!isIPv6(address) || /^::ffff:/i.test(address)) return address;
	const [head, tail] = address.replace(/%.*/, "").split("::").map((half) => half.split(":").filter(Boolean));
	const missing = 8 - (head?.length ?? 0) - (tail?.length ?? 0);
	const zeros = Array.from({ length: missing }, () => "0");
	return [
		...head ?? [],
		...zeros,
		...tail ?? []
	].slice(0, 4).join(":");
}

export { Connections, seldomLog };