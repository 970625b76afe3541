import { object } from "../vendor/zod.js";
import { id, word } from "../model/first.js";
const { promisify } = globalThis.process.getBuiltinModule("node:util");
const { readFile, readlink } = globalThis.process.getBuiltinModule("node:fs/promises");
const { execFile } = globalThis.process.getBuiltinModule("node:child_process");

// src/system/process.ts
/** Leader of a process group, with its start time as printed on this machine. */
const leaderSchema = object({
	pid: id,
	started: word
});
/** False for a zombie, too. */
const isRunning = async ({ pid, started }) => await startOf(pid) === started;
async function signalGroup(leader, name) {
	if (!await isRunning(leader)) return false;
	try {
		return process.kill(-leader.pid, name);
	} catch {
		return false;
	}
}
/** Start time of the process, as `platform` prints it; undefined if there is none. */
function startOf(pid, platform = process.platform) {
	return platform === "linux" ? startInProc(pid) : startByPs(pid);
}
/** Reads the kernel's own clock: ps(1) derives start times from the wall clock, which can be changed. */
async function startInProc(pid) {
	const found = await inProc(pid);
	return found === void 0 || found.isZombie ? void 0 : `${found.ticks} after boot ${await bootId()}`;
}
const bootId = async () => (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
/** Undefined if it is unreadable. */
async function inProc(pid) {
	const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => void 0);
	if (stat === void 0) return void 0;
	const [state = "", ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
	const ticks = rest[18];
	return ticks === void 0 ? void 0 : {
		isZombie: "ZX".includes(state),
		ticks
	};
}
async function startByPs(pid) {
	const { stdout } = await promisify(execFile)("ps", [
		"-o",
		"stat=,lstart=",
		"-p",
		String(pid)
	]).catch(() => ({ stdout: "" }));
	const [, state = "Z", started] = /^\s*(\S)\S*\s+(.+?)\s*$/.exec(stdout) ?? [];
	return state === "Z" ? void 0 : started;
}
/**
* A process, with the context in which its id has a meaning: a boot of the kernel, and namespaces of ids and clocks.
*/
const processMarkSchema = object({
	pid: id,
	ticks: word,
	view: word
});
/** Undefined if an end is never certain: on any system but Linux, and if /proc is of another namespace. */
async function openProcessView() {
	try {
		if (await readlink("/proc/self") !== String(process.pid)) return void 0;
		const found = await inProc(process.pid);
		if (found === void 0) return void 0;
		const names = ["pid", "time"].map((name) => readlink(`/proc/self/ns/${name}`));
		const view = [await bootId(), ...await Promise.all(names)].join(" ");
		return {
			own: {
				pid: process.pid,
				ticks: found.ticks,
				view
			},
			hasEnded: async (mark) => mark.view === view && await isOver(mark)
		};
	} catch {
		return;
	}
}
async function isOver({ pid, ticks }) {
	if (!hasId(pid)) return true;
	const found = await inProc(pid);
	return found !== void 0 && (found.isZombie || found.ticks !== ticks);
}
/** /proc may hide processes of other users; signal 0 finds them. */
function hasId(pid) {
	try {
		return process.kill(pid, 0);
	} catch (error) {
		return !(error instanceof Error && "code" in error && error.code === "ESRCH");
	}
}

export { isRunning, leaderSchema, openProcessView, processMarkSchema, signalGroup, startOf };