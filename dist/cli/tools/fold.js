import { FoldedText, foldedPieces, labels, samplesOf, withoutIdle } from "../../analysis/profile/plain.js";
import { exitCodes, formatPercent, grouped } from "../../model/first-plain.js";
import { printBytes, printPieces } from "./print-chunks.js";
import { readProfileFile } from "./profile-file.js";

// src/cli/tools/fold.ts
/** Reads standard input without a file, or for `-`. Throws a `ProfileError` for an invalid profile. */
async function run(file, { idle: keepsIdle, modules = false, json }) {
	const text = keepsIdle && !json ? new FoldedText({ modules }) : void 0;
	const read = await readProfileFile(file ?? "-", text);
	const shown = keepsIdle ? read : leaveOutIdle(read);
	for (const note of shown.notes) process.stderr.write(`ppsgate: ${note}\n`);
	if (json) await printPieces(jsonPieces(shown, modules));
	else await printBytes(text?.pieces(read.profile) ?? foldedPieces(shown.profile, { modules }));
	return exitCodes.pass;
}
function leaveOutIdle({ profile: all, notes }) {
	const { profile, idleSamples, idleFrames } = withoutIdle(all);
	const samples = samplesOf(all.stacks);
	const share = formatPercent(samples === 0 ? 0 : idleSamples / samples);
	const note = idleSamples === 0 ? "no sample is of an idle CPU, so none is omitted." : `omitted as idle: ${grouped(idleSamples)} of ${grouped(samples)} samples (${share}), in ${idleFrames.join(", ")}.`;
	return {
		profile,
		notes: [...notes, note],
		idle: {
			samples: idleSamples,
			frames: idleFrames
		}
	};
}
/** Prints a stack per line: large profiles exceed a single string. */
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

export { run };