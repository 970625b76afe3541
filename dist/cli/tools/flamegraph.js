import { flamegraph, samplesOf, withoutIdle } from "../../analysis/profile/plain.js";
import { UsageError, exitCodes, formatPercent, grouped } from "../../model/first-plain.js";
import { giveNew } from "../../system/give-to-caller.js";
import { printPieces } from "./print-chunks.js";
import { readProfileFile } from "./profile-file.js";
const { basename } = globalThis.process.getBuiltinModule("node:path");
const { getSystemErrorMessage } = globalThis.process.getBuiltinModule("node:util");
const { writeFile } = globalThis.process.getBuiltinModule("node:fs/promises");

// src/cli/tools/flamegraph.ts
/** Throws a `ProfileError` for an invalid profile, a `UsageError` if there is nothing to draw or no place to write. */
async function run(file, { base: baseFile, output, title, idle: keepsIdle = false }) {
	refuseTerminal(output);
	if (file === "-" && baseFile === "-") throw new UsageError("--base: standard input already supplies the profile; name a file.");
	const shown = await read(file, keepsIdle);
	const base = baseFile === void 0 ? void 0 : await read(baseFile, keepsIdle);
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
async function read(file, keepsIdle) {
	const { profile: all, notes } = await readProfileFile(file);
	for (const note of notes) process.stderr.write(`ppsgate: ${note}\n`);
	const fileName = file === "-" ? "standard input" : basename(file);
	const name = all.kernel ?? fileName;
	if (keepsIdle) return {
		profile: all,
		name,
		about: samplesText(all)
	};
	const { profile, idleSamples, idleFrames } = withoutIdle(all);
	if (profile.stacks.length === 0) throw new UsageError(`${fileName}: all samples are of idle CPUs; draw them with --idle.`);
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
	process.stderr.write(`ppsgate: the profile counts ${event}, its base ${base.event}, so their shares are not comparable.\n`);
}
async function write(svg, output) {
	if (output === "-") return printPieces([svg]);
	try {
		await writeFile(output, svg);
		await giveNew(output);
	} catch (error) {
		if (!(error instanceof Error && "errno" in error && typeof error.errno === "number")) throw error;
		const reason = getSystemErrorMessage(error.errno);
		throw new UsageError(`--output: cannot write ${output}: ${reason}; name another file.`);
	}
}

export { run };