import { reasonOf, withoutSequences } from "../model/first-plain.js";
import { shell } from "../system/shell.js";
import { BuilderError, inJail } from "./first-plain.js";
import { isGood } from "../system/host/first-plain.js";
const { PassThrough } = globalThis.process.getBuiltinModule("node:stream");

// src/kernel/system-commands.ts
/** EX_TEMPFAIL of sysexits(3). */
const heldByOthers = 75;
const commandsOf = {
	freebsd: {
		sha256: (path) => shell`sha256 -q ${path}`,
		cpus: shell`sysctl -n hw.ncpu`,
		rootArchive: (archive, folder) => shell`tar --zstd --uid 0 --gid 0 -cf ${archive} -C ${folder} .`,
		locked: (lock, waitSeconds, command) => shell`lockf -k -s -t ${waitSeconds} ${lock} ${command}`
	},
	linux: {
		sha256: (path) => shell`sha256sum ${path}`,
		cpus: shell`nproc`,
		rootArchive: (archive, folder) => shell`tar --zstd --owner=0 --group=0 --numeric-owner -cf ${archive} -C ${folder} .`,
		locked: (lock, waitSeconds, command) => shell`flock -w ${waitSeconds} -E ${75} ${lock} ${command}`
	}
};
const sumIn = (written) => /^[0-9a-f]{64}(?=\s|$)/.exec(written)?.[0] ?? "";

// src/kernel/build-slot.ts
/**
* lockf(1) or flock(1) holds the lock as long as its connection lives. Throws a BuilderError if the lock stays busy.
*/
async function inTurn(host, turn, work) {
	const stdin = new PassThrough();
	const holding = hold(host, turn, stdin);
	try {
		await Promise.race([holding.held, holding.ended]);
		return await work();
	} finally {
		stdin.end("done\n");
		await holding.ended.catch(() => {});
	}
}
/** `ended` rejects if the lock is not free in time, or is lost. */
function hold(host, turn, stdin) {
	const { system, lock, owner, waitSeconds, signal } = turn;
	const held = Promise.withResolvers();
	const waiting = new AbortController();
	const give = () => waiting.abort(signal.reason);
	signal.addEventListener("abort", give, { once: true });
	if (signal.aborted) give();
	const holding = shell`sh -c ${holdScript} hold ${lock}.owner ${owner}`;
	const ended = host.run(commandsOf[system].locked(lock, Math.ceil(waitSeconds), holding), {
		stdin,
		signal: waiting.signal,
		onStdout: () => {
			signal.removeEventListener("abort", give);
			held.resolve();
		}
	}).then(async (outcome) => {
		if (isGood(outcome)) return;
		throw await whyNot(host, turn, outcome.kind === "exited" ? outcome.code : -1, outcome.stderr);
	});
	ended.catch(() => {});
	return {
		held: held.promise,
		ended
	};
}
/**
* A connection that ends without that line may leave a build that is still being stopped. So the lock outlives it
* longer than a guarded command does.
*/
const holdScript = `
printf '%s\\n' "$2" >"$1"
echo held
read -r word || sleep 15
`;
async function whyNot(host, { lock, waitSeconds }, code, stderr) {
	if (code !== 75) return new BuilderError(`${host.name} cannot lock ${lock}: it exited with ${code} ("${reasonOf(stderr)}").`);
	const owner = await host.run(shell`cat ${lock}.owner`, { timeoutSeconds: 20 });
	return new BuilderError(`Another build on ${host.name} was still running after ${Math.round(waitSeconds / 60)} min (${reasonOf(owner.stdout) || "its owner is unknown"}).`);
}

// src/kernel/build-log.ts
/**
* Recognizes errors of compilers, linkers, configuration and make on both systems; otherwise returns the last lines.
*/
function readBuildFailure(log, source) {
	const lines = log.split("\n").map((line) => fromTop(plain(line), source));
	if (lines.some((line) => line.includes("No space left on device"))) return { kind: "out-of-disk" };
	const errors = [ofTools, ofMake].map((patterns) => lines.filter((line) => patterns.some((pattern) => pattern.test(line)))).find((errors) => errors.length > 0) ?? lines.filter((line) => line !== "").slice(-3);
	return {
		kind: "errors",
		errors: [...new Set(errors)].slice(0, maxErrors)
	};
}
/** An object folder contains the tree's path, as in `/b/obj/b/src/amd64.amd64`. */
const fromTop = (line, source) => line.replaceAll(`${source}/`, (found, at) => at > 0 && /[\w.+-]/.test(line.charAt(at - 1)) ? found : "");
const maxErrors = 10;
const maxLetters = 300;
function plain(line) {
	if (line === "") return line;
	const text = withoutSequences(line).replace(/[\p{Cc}\s]+/gu, " ").trim();
	return text.length > maxLetters ? `${text.slice(0, 299)}…` : text;
}
const ofTools = [
	/^\S+:\d+:\d+: (?:fatal )?error: /,
	/^(?:\S*\/)?(?:[\w.]*ld(?:\.\w+)?|cc1?|gcc|clang|\S+-ld): (?:fatal )?error: /,
	/^\S+:\d+: Error: /,
	/: (?:undefined reference to|multiple definition of) /,
	/^config: /,
	/^(?:\S*\/)?Kconfig[\w.-]*:\d+: /
];
const ofMake = [
	/^\S*make(?:\[\d+\])?: (?:"[^"]*" line \d+: |don't know how to make )/i,
	/^\*\*\* /,
	/^(?:\*\*\* )?ERROR: /i,
	/^(?:\S*make(?:\[\d+\])?|\S+:\d+): \*\*\* (?!Waiting for )/
];

// src/kernel/guard.ts
/**
* Returns after all processes of the command have ended. Throws the signal's reason after an abort, and a HostError for
* a lost connection. The builder ends the command in that case, too.
*/
async function runGuarded(host, command, { limitSeconds, signal, onLine }) {
	signal.throwIfAborted();
	const stdin = new PassThrough();
	const cancel = () => stdin.end();
	signal.addEventListener("abort", cancel, { once: true });
	const log = collectLines(onLine);
	try {
		const outcome = await host.run(shell`sh -c ${guardScript} guard ${limitSeconds} ${command}`, {
			stdin,
			onStdout: log.take,
			timeoutSeconds: limitSeconds + killSeconds + 60
		});
		signal.throwIfAborted();
		const code = outcome.kind === "exited" ? outcome.code : signaled;
		return timedOut.includes(code) ? {
			kind: "timed-out",
			log: log.end()
		} : {
			kind: "exited",
			code,
			log: log.end()
		};
	} finally {
		signal.removeEventListener("abort", cancel);
		stdin.end();
	}
}
const killSeconds = 10;
/** A shell adds this to a signal's number. */
const signaled = 128;
/** Exit codes of timeout(1) for a command that timed out, or had to be killed. */
const timedOut = [124, 137];
/**
* timeout(1) passes SIGTERM on and kills the rest. On FreeBSD it reaps all descendants, including jobs of make(1) with
* process groups of their own. Until it is ready, it would obey the signal itself and leave the command running, so the
* script waits first.
*/
const guardScript = `
limit=$1
shift
exec 3<&0
timeout -k ${killSeconds} "$limit" "$@" </dev/null 3<&- 2>&1 &
command=$!
{ read -r _; sleep 1; kill -TERM "$command"; } <&3 >/dev/null 2>&1 &
watch=$!
wait "$command"
code=$?
kill "$watch" 2>/dev/null
exit "$code"
`;
const maxLogLetters = 32 * 1024 ** 2;
const maxLineLetters = 65536;
function collectLines(onLine) {
	const decoder = new TextDecoder();
	let log = "";
	let line = "";
	const give = (text) => {
		onLine(text);
		if (log.length < maxLogLetters) log += `${text}\n`;
	};
	const split = (text) => {
		const lines = (line + text).split("\n");
		line = lines.pop() ?? "";
		for (const each of lines) give(each);
		if (line.length > maxLineLetters) line = line.slice(0, maxLineLetters);
	};
	return {
		take: (chunk) => split(decoder.decode(chunk, { stream: true })),
		end: () => {
			split(decoder.decode());
			if (line !== "") give(line);
			return log;
		}
	};
}

// src/kernel/build-step.ts
/** Shortens paths in errors to those below `source`. The log begins with `heading`. */
function stepsOf(host, place, source, guard, heading = "") {
	let log = heading;
	return {
		get log() {
			return log;
		},
		async run(command) {
			const done = await runGuarded(host, inJail(place, command), guard);
			log += done.log;
			if (done.kind === "timed-out") {
				const error = `The build did not end within ${guard.limitSeconds} s.`;
				return {
					kind: "build-failed",
					log,
					errors: [error]
				};
			}
			if (done.code === 0) return void 0;
			const failure = readBuildFailure(done.log, source);
			return failure.kind === "out-of-disk" ? {
				kind: "out-of-disk",
				log
			} : {
				kind: "build-failed",
				log,
				errors: failure.errors
			};
		}
	};
}
const cleanEnvironment = shell`env -i PATH="$PATH" HOME="$HOME" LC_ALL=C`;
/** Reads as the user who wrote the file: a link could lead to a file that only root may read. */
async function take(host, place, archive, output) {
	await host.output(shell`${inJail(place, shell`cat ${archive}`)} > ${output}`);
}

export { cleanEnvironment, commandsOf, inTurn, stepsOf, sumIn, take };