import { packagesOf } from "../../model/plain.js";
import { commandText, shell } from "../shell.js";
import { HostError, failUpload, follow, stdoutOf, withinLimits, withinRun } from "./first-plain.js";
const { randomUUID } = globalThis.process.getBuiltinModule("node:crypto");
const { chmod, copyFile, rename, rm, writeFile } = globalThis.process.getBuiltinModule("node:fs/promises");
const { spawn } = globalThis.process.getBuiltinModule("node:child_process");

// src/system/host/programs.ts
/** Throws a HostError that names the missing programs. `install` is the install command of the host's system. */
async function requirePrograms(host, programs, install) {
	const missing = await missingOn(host, programs);
	if (missing.length === 0) return;
	throw new HostError("command-failed", `${host.name} lacks ${missing.join(" and ")}: run '${install} ${packagesOf(missing).join(" ")}' there, or install the equivalent packages of its system.`);
}
/** Returns the programs that the host's shell does not find. Throws a HostError if the host does not reply. */
async function missingOn(host, programs) {
	const lines = (await host.output(shell`sh -c ${missingScript} sh ${programs}`)).split("\n");
	return programs.filter((program) => lines.includes(program));
}
/** Works in any login shell. */
const missingScript = "for program; do command -v \"$program\" >/dev/null || echo \"$program\"; done";

// src/system/host/local.ts
/** An interrupted command is killed with its process group; over ssh it may continue. */
function thisMachine() {
	const here = {
		name: "this machine",
		over: new AbortController()
	};
	const run = (command, options = {}) => withinRun(here, command, options, (execution) => follow(start(command), execution));
	const close = async () => here.over.abort(/* @__PURE__ */ new Error("nothing more is done here"));
	return {
		name: here.name,
		run,
		output: async (command, options) => stdoutOf(await run(command, options), here.name, command),
		async upload(source, path, mode, limits = {}) {
			const task = {
				...limits,
				name: here.name,
				over: here.over.signal
			};
			await withinLimits({
				...task,
				what: `the upload of ${path}`
			}, ({ signal }) => install(source, path, mode, signal)).catch((error) => failUpload(error, source, path, here));
		},
		close,
		[Symbol.asyncDispose]: close
	};
}
function start(command) {
	const { PATH, HOME } = process.env;
	const child = spawn("sh", ["-c", commandText(command)], {
		cwd: "/",
		detached: true,
		env: {
			PATH,
			HOME
		}
	});
	child.stdin.on("error", () => {});
	const ended = Promise.withResolvers();
	let isOver = false;
	child.on("error", ended.reject);
	child.on("close", (code, signal) => {
		isOver = true;
		ended.resolve({
			...code !== null && { code },
			...signal !== null && { signal }
		});
	});
	return {
		stdin: child.stdin,
		stdout: child.stdout,
		stderr: child.stderr,
		ended: ended.promise,
		leave: () => {
			if (!isOver && child.pid !== void 0) killGroup(child.pid);
		}
	};
}
function killGroup(leader) {
	try {
		process.kill(-leader, "SIGKILL");
	} catch {}
}
async function install(source, path, mode, signal) {
	const partial = `${path}.${randomUUID()}.part`;
	try {
		if (typeof source === "string") await copyFile(source, partial);
		else await writeFile(partial, source, { mode: 384 });
		await chmod(partial, mode);
		signal.throwIfAborted();
		await rename(partial, path);
	} catch (error) {
		await rm(partial, { force: true });
		throw error;
	}
}

export { missingOn, requirePrograms, thisMachine };