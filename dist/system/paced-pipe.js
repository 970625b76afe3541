const { closeSync, constants, openSync, readSync } = globalThis.process.getBuiltinModule("node:fs");
const { execFileSync } = globalThis.process.getBuiltinModule("node:child_process");

// src/system/paced-pipe.ts
const intervalMilliseconds = 50;
/** Capacity of a pipe, see pipe(7). A program that writes more within an interval has to wait. */
const maxBytes = 65536;
/** Creates a named pipe at an unused path; throws if it cannot. */
function openPacedPipe(path, onOutput) {
	execFileSync("mkfifo", [
		"-m",
		"600",
		path
	]);
	const reading = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
	const writing = openSync(path, "w");
	const read = () => {
		const piece = readIfAny(reading);
		if (piece !== void 0) onOutput(piece);
	};
	const timer = setInterval(read, intervalMilliseconds).unref();
	let isOpen = true;
	return {
		descriptor: writing,
		read() {
			if (isOpen) read();
		},
		close() {
			if (!isOpen) return;
			isOpen = false;
			clearInterval(timer);
			read();
			closeSync(writing);
			closeSync(reading);
		}
	};
}
function readIfAny(descriptor) {
	const buffer = Buffer.allocUnsafe(maxBytes);
	try {
		const bytes = readSync(descriptor, buffer);
		return bytes === 0 ? void 0 : Buffer.from(buffer.subarray(0, bytes));
	} catch (error) {
		if (error instanceof Error && "code" in error && error.code === "EAGAIN") return void 0;
		throw error;
	}
}

export { openPacedPipe };