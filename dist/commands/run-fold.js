import { foldedLines, labels, samplesOf, withoutIdle } from "../profile.js";
import { exitCodes, formatPercent, grouped } from "../words.js";
import { printPieces } from "./print-pieces.js";
import { readProfileFile } from "./profile-file.js";

// src/commands/run-fold.ts
/** Of standard input where no file or `-` is named. Throws a `ProfileError` where that is no profile. */
async function runFold(file, { idle: keepsIdle, modules = false, json }, signal) {
	const read = await readProfileFile(file ?? "-", signal);
	const shown = keepsIdle ? read : leaveOutIdle(read);
	for (const note of shown.notes) process.stderr.write(`ppsgate: ${note}\n`);
	await printPieces(json ? jsonPieces(shown, modules) : linePieces(shown, modules));
	return exitCodes.pass;
}
function leaveOutIdle({ profile: all, notes }) {
	const { profile, idleSamples, idleFrames } = withoutIdle(all);
	const samples = samplesOf(all.stacks);
	const share = formatPercent(samples === 0 ? 0 : idleSamples / samples);
	const note = idleSamples === 0 ? "no sample is of an idle processor, so none is left out." : `left out as idle: ${grouped(idleSamples)} of ${grouped(samples)} samples (${share}), in ${idleFrames.join(", ")}.`;
	return {
		profile,
		notes: [...notes, note],
		idle: {
			samples: idleSamples,
			frames: idleFrames
		}
	};
}
function* linePieces({ profile }, modules) {
	for (const line of foldedLines(profile, { modules })) yield `${line}\n`;
}
/** A stack a line, for those of a large profile are too many for one text. */
function* jsonPieces({ profile, notes, idle }, modules) {
	const { stacks, ...about } = profile;
	const labelOf = labels(modules);
	yield `${JSON.stringify({
		...about,
		samples: samplesOf(stacks),
		notes,
		idle
	}, null, 2).replace(/\n}$/, "")},\n  "stacks": [`;
	for (const [index, { frames, samples }] of stacks.entries()) {
		const stack = JSON.stringify({
			frames: frames.map(labelOf),
			samples
		});
		yield `${index === 0 ? "" : ","}\n    ${stack}`;
	}
	yield "\n  ]\n}\n";
}

export { runFold };