import { CommanderError } from "./vendor/commander.js";
import { programFor } from "./commands/commands.js";

// src/commands/ascii.ts
/** By the first of POSIX's variables that is set and not empty; without any it is the locale C. */
const readsUtf8 = ({ LC_ALL, LC_CTYPE, LANG }) => /(?:^|\.)utf-?8(?:@|$)/i.test(LC_ALL || LC_CTYPE || LANG || "C");
/** From now on texts, which are for people, are written in ASCII; bytes, which are for programs, stay as they are. */
function writeAscii(stream) {
	const write = stream.write.bind(stream);
	stream.write = (chunk, encodingOrDone, last) => {
		const done = typeof encodingOrDone === "function" ? encodingOrDone : last;
		if (typeof chunk !== "string") return write(chunk, done);
		const encoding = typeof encodingOrDone === "string" ? encodingOrDone : "utf8";
		return write(asciiOf(Buffer.from(chunk, encoding).toString()), done);
	};
}
/** The same to read as far as ASCII goes. */
const asciiOf = (text) => text.replace(/\P{ASCII}/gu, plain);
function plain(character) {
	const written = signs[character] ?? character.normalize("NFKD").replace(/[\p{M}\p{Cf}]/gu, "");
	return character in signs || /^[\w .]*$/.test(written) ? written : "?";
}
const signs = {
	"…": "...",
	"·": "-",
	"–": "-",
	"−": "-",
	"±": "+-",
	"×": "x",
	"≤": "<=",
	"≥": ">=",
	"→": "->",
	"↳": "->",
	"¦": "|",
	"▁": "_",
	"▂": ".",
	"▃": "-",
	"▄": "=",
	"▅": "+",
	"▆": "*",
	"▇": "%",
	"█": "#",
	"‘": "'",
	"’": "'",
	"“": "\"",
	"”": "\"",
	"✓": "[ok]",
	"✔": "[ok]",
	"✗": "[!!]",
	"✘": "[!!]",
	"🟢": "[ok]",
	"🔴": "[!!]",
	"🟡": "[??]",
	"⚪": "[--]",
	"⚠": "[!]",
	"⏳": "[..]",
	"⏸": "[||]"
};

// src/commands/unread.ts
/**
* From now on it is lost, and nothing else: the work goes on, for a gate may be under way, and the program ends as it
* would otherwise.
*/
function letReaderGo(stream) {
	stream.on("error", (error) => {
		if (error.code !== "EPIPE") throw error;
	});
}

// src/cli.ts
for (const one of [process.stdout, process.stderr]) {
	letReaderGo(one);
	if (!readsUtf8(process.env)) writeAscii(one);
}
const words = process.argv.slice(2);
const program = await programFor(words);
try {
	await program.parseAsync();
} catch (error) {
	if (!(error instanceof CommanderError)) throw error;
	const { mistyped } = await import("./commands/mistyped.js");
	const sentence = mistyped(error, program, words);
	if (sentence !== void 0) process.stderr.write(`ppsgate: ${sentence}\n`);
	process.exitCode = error.exitCode === 0 ? 0 : 2;
}

export {  };