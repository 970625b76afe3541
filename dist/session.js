import { openReservations, requireHere } from "./controller.js";
import { labelled, showProgress } from "./progress.js";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

// src/session.ts
/** `work` is a gate, or one that is gone on with; whatever it throws is thrown on, with the testbed given back. */
async function inSession(session, work) {
	const { config, repository, history, output, answer, requestFor, leaseFolder, signal } = session;
	let testbed;
	const shown = answer === void 0 ? output : heard(output, (line) => {
		if (testbed !== void 0) answer.measuring(testbed, line);
	});
	const progress = showProgress(shown, config.gate.metric, () => performance.now());
	const tell = (text) => progress.onEvent({
		kind: "preparing",
		text
	});
	await using reservations = await openReservations(config, {
		signal,
		tell,
		recorder: session.recorder,
		onWait(outlook, text) {
			tell(text);
			answer?.waiting(outlook, text);
		}
	});
	await using others = new AsyncDisposableStack();
	const board = async (names, patch, passenger) => {
		await requireHere(names, config);
		const told = {
			...passenger,
			async boarded(name, by) {
				testbed = name;
				answer?.measuring(name);
				await passenger.boarded(name, by);
			}
		};
		const boarded = await reservations.board(names, requestFor(patch), told, leaseFolder);
		if (boarded === void 0) return void 0;
		testbed = boarded.name;
		answer?.measuring(testbed);
		return boarded;
	};
	return await work({
		repository,
		async reserve(names, patch) {
			await requireHere(names, config);
			const reserved = await reservations.reserve(names, requestFor(patch), leaseFolder);
			testbed = reserved.name;
			answer?.measuring(testbed);
			return reserved;
		},
		...config.reservations.mostTogether !== void 0 && { board },
		history,
		now: () => /* @__PURE__ */ new Date(),
		onEvent: progress.onEvent,
		signal,
		partOn(name) {
			return {
				onEvent: showProgress(labelled(shown, name), config.gate.metric, () => performance.now()).onEvent,
				async reserveSoon(patch, seconds) {
					await requireHere([name], config);
					const late = new AbortController();
					const until = AbortSignal.any([signal, late.signal]);
					const { recorder } = session;
					const quiet = {
						signal: until,
						tell,
						recorder,
						onWait() {}
					};
					const ofOther = others.use(await openReservations(config, quiet));
					const isIn = new AbortController();
					setTimeout(seconds * 1e3, void 0, { signal: isIn.signal }).then(() => late.abort(/* @__PURE__ */ new Error(`it was not free within ${seconds} s`))).catch(() => {});
					try {
						return await ofOther.reserve([name], requestFor(patch), join(leaseFolder, name));
					} finally {
						isIn.abort();
					}
				}
			};
		}
	}).finally(progress.end);
}
/** Plain lines even on a terminal, and where a runner offers one: each is told elsewhere, too. */
const heard = (output, hears) => ({ write(text) {
	hears(text.trim());
	return output.write(text);
} });

export { inSession };