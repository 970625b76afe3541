import { flamegraph, samplesOf, withoutIdle } from "../profile.js";
import { UsageError, exitCodes, formatPercent, grouped } from "../words.js";
import { printPieces } from "./print-pieces.js";
import { readProfileFile } from "./profile-file.js";
import { basename } from "node:path";
import { getSystemErrorMessage } from "node:util";
import { writeFile } from "node:fs/promises";

// src/commands/run-flamegraph.ts
/** Throws a `ProfileError` where a file is no profile, a `UsageError` where there is nothing to draw or nowhere to write. */
async function runFlamegraph(file, { base: baseFile, output, title, idle: keepsIdle = false }, signal) {
	refuseTerminal(output);
	if (file === "-" && baseFile === "-") throw new UsageError("--base: standard input is the profile already; name a file.");
	const shown = await read(file, keepsIdle, signal);
	const base = baseFile === void 0 ? void 0 : await read(baseFile, keepsIdle, signal);
	if (base) noteEvents(shown.profile, base.profile);
	await write(flamegraph(shown.profile, {
		title: title ?? (base ? `${shown.name} against ${base.name}` : shown.name),
		subtitle: base ? `${shown.about}; base: ${base.about}` : shown.about,
		base: base?.profile
	}), output);
	return exitCodes.pass;
}
function refuseTerminal(output) {
	if (output !== "-" || !process.stdout.isTTY) return;
	throw new UsageError("--output: a terminal cannot show a flamegraph; name a file, as -o OUT.svg.");
}
async function read(file, keepsIdle, signal) {
	const { profile: all, notes } = await readProfileFile(file, signal);
	for (const note of notes) process.stderr.write(`ppsgate: ${note}\n`);
	const fileName = file === "-" ? "standard input" : basename(file);
	const name = all.kernel ?? fileName;
	if (keepsIdle) return {
		profile: all,
		name,
		about: samplesText(all)
	};
	const { profile, idleSamples, idleFrames } = withoutIdle(all);
	if (profile.stacks.length === 0) throw new UsageError(`${fileName}: all samples are of idle processors; draw them with --idle.`);
	const share = formatPercent(idleSamples / samplesOf(all.stacks));
	const leftOut = `idle left out: ${idleFrames.join(", ")} (${share})`;
	const about = samplesText(profile);
	return {
		profile,
		name,
		about: idleSamples === 0 ? about : `${about} · ${leftOut}`
	};
}
function samplesText({ stacks, event }) {
	const samples = `${grouped(samplesOf(stacks))} samples`;
	return event === void 0 ? samples : `${samples} of ${event}`;
}
function noteEvents({ event }, base) {
	if (event === void 0 || base.event === void 0 || event === base.event) return;
	process.stderr.write(`ppsgate: the profile counts ${event}, its base ${base.event}: the shares are of different things.\n`);
}
async function write(svg, output) {
	if (output === "-") return printPieces([svg]);
	try {
		await writeFile(output, svg);
	} catch (error) {
		if (!(error instanceof Error && "errno" in error && typeof error.errno === "number")) throw error;
		const reason = getSystemErrorMessage(error.errno);
		throw new UsageError(`--output: cannot write ${output}: ${reason}; name another file.`);
	}
}

export { runFlamegraph };