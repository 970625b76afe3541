import { realPause } from "../../model/first-plain.js";

// src/publish/reporters/throttled-updates.ts
/** Growing pauses between tries; their sum is at most `maxSeconds`. */
function* pausesWithin(maxSeconds) {
	for (let tries = 1, waited = 0;; tries++) {
		const seconds = Math.min(tries ** 2, longestPauseSeconds);
		waited += seconds;
		if (waited > maxSeconds) return;
		yield seconds;
	}
}
const longestPauseSeconds = 60;
/**
* Sends one update at a time; callers can wait only for the last one. A refusal is logged once and ends all tries. The
* last update is retried, with growing pauses, for as long as its caller allows.
*/
var ThrottledUpdates = class {
	#post;
	#options;
	#pause;
	#stopped = new AbortController();
	#gaveUp = new AbortController();
	#over = AbortSignal.any([this.#stopped.signal, this.#gaveUp.signal]);
	#pending;
	#sending;
	#last;
	#isRefused = false;
	#whyUndelivered = "";
	constructor(post, options) {
		this.#post = post;
		this.#options = options;
		this.#pause = options.pause ?? realPause;
	}
	send(update) {
		this.#pending = update;
		this.#sending ??= this.#sendPending();
	}
	/** Stops; resolves after the update that is being sent. */
	async stop() {
		this.#stopped.abort();
		await this.#sending;
	}
	/** Only the first call has an effect. */
	sendLast(update, maxSeconds) {
		this.#last ??= this.#sendWithin(update, maxSeconds);
		return this.#last;
	}
	/** Sends an update in place of the last one, once that was delivered; otherwise has no effect. */
	async replaceLast(update, maxSeconds) {
		if (this.#last === void 0) return;
		await this.#last;
		if (!this.#gaveUp.signal.aborted) await this.#sendWithin(update, maxSeconds);
	}
	async #sendPending() {
		while (this.#pending !== void 0 && !this.#over.aborted) {
			const update = this.#pending;
			const attempt = await this.#post(update);
			if (attempt.kind === "refused" || attempt.kind === "pointless") this.#refuse(attempt.why);
			if (attempt.kind === "delivered" && this.#pending === update) this.#pending = void 0;
			await this.#pause(this.#options.secondsBetween, this.#over);
		}
		this.#sending = void 0;
	}
	async #sendWithin(update, maxSeconds) {
		this.#stopped.abort();
		this.#whyUndelivered = this.#options.tooSlow(maxSeconds);
		const isSettled = new AbortController();
		const tooLate = this.#pause(maxSeconds, isSettled.signal).then(() => "too late");
		const first = await Promise.race([this.#trySending(update, maxSeconds), tooLate]);
		isSettled.abort();
		return first === "too late" ? this.#undelivered() : first;
	}
	async #trySending(update, maxSeconds) {
		await this.#sending;
		for (const seconds of [0, ...pausesWithin(maxSeconds)]) {
			if (seconds > 0) await this.#pause(seconds, this.#gaveUp.signal);
			if (this.#gaveUp.signal.aborted) break;
			const attempt = await this.#post(update);
			if (attempt.kind === "delivered") return "delivered";
			if (attempt.kind === "refused" || attempt.kind === "pointless") return this.#refuse(attempt.why);
			this.#whyUndelivered = attempt.why;
		}
		return this.#isRefused ? "refused" : this.#undelivered();
	}
	#refuse(why) {
		this.#giveUp(this.#options.log.info, why);
		this.#isRefused = true;
		return "refused";
	}
	#undelivered() {
		this.#giveUp(this.#options.log.warn, this.#whyUndelivered);
		return "undelivered";
	}
	#giveUp(log, why) {
		if (!this.#gaveUp.signal.aborted) log(why);
		this.#gaveUp.abort();
	}
};

export { ThrottledUpdates, pausesWithin };