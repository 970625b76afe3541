import { didYouMean, plainKey } from "../../config/did-you-mean.js";
import { excerpt, sentence } from "../../model/excerpt.js";

// src/cli/commands/mistyped.ts
/** Undefined if commander has printed the version or help. */
function mistyped({ code, exitCode, message }, program, words) {
	const called = calledBy(program, words);
	const help = `: see \`${pathOf(called)} --help\``;
	const [, what = ""] = /'([^']*)'/.exec(message) ?? [];
	const [, suggested] = /\(Did you mean (?:one of )?(.+)\?\)/.exec(message) ?? [];
	const hint = suggested === void 0 ? help : `; did you mean ${marked(suggested)}?`;
	switch (code) {
		case "commander.unknownOption": {
			if (called === program && ofCommands.has(what)) {
				const example = `write \`ppsgate ${words.find((word) => program.commands.some((one) => one.name() === word)) ?? "gate"} ${what}\``;
				return sentence(`${what} must follow the command: ${example}`);
			}
			const setting = called.options.some(({ long }) => long === "--config") ? settingsOfTraffic.get(plainKey(what)) : void 0;
			const where = setting && `; set \`traffic.${setting}\` in ppsgate.yml`;
			return sentence(`there is no option ${excerpt(what)}${where ?? hint}`);
		}
		case "commander.unknownCommand": return sentence(`there is no command "${excerpt(what)}"${elsewhere(what, program) ?? hint}`);
		case "commander.missingArgument": return sentence(`<${what}> is missing${help}`);
		case "commander.missingMandatoryOptionValue": return sentence(`${what} is missing${help}`);
		case "commander.invalidArgument": {
			const [, found, name, choices] = invalidChoice.exec(message) ?? [];
			if (found === void 0 || choices === void 0) return message;
			return sentence(`<${name}>: expected one of ${choices}, found "${excerpt(found)}"`);
		}
		case "commander.optionMissingArgument": {
			const [, flag = what] = /(--\S+|-\w) </.exec(what) ?? [];
			return sentence(`${flag} has no value${help}`);
		}
		case "commander.excessArguments": {
			const [, first = ""] = /got \d+: ([^,]*?)(?:,.*)?\.$/s.exec(message) ?? [];
			const names = called.commands.map((command) => command.name());
			const meant = elsewhere(first, program) ?? (didYouMean(first, names) || help);
			if (names.length > 0) return sentence(`there is no command "${excerpt(first)}"${meant}`);
			return sentence(`${pathOf(called)} takes no "${excerpt(first)}" without an option before it, and a value with blanks needs quotes${help}`);
		}
		case "commander.help": {
			const [word, name = ""] = words;
			return word === "help" && program.commands.every((one) => one.name() !== name) && name !== "" ? sentence(`there is no command "${excerpt(name)}"`) : void 0;
		}
		default: return exitCode === 0 ? void 0 : message;
	}
}
/** Options of many commands, and not of ppsgate itself. */
const ofCommands = /* @__PURE__ */ new Set([
	"--config",
	"-c",
	"--json",
	"--patch",
	"--testbed",
	"--directory",
	"--repository"
]);
/** By the plain form of the option that one may expect for them. */
const settingsOfTraffic = new Map([...[
	"flows",
	"frameSize",
	"frameSizes",
	"protocol",
	"ports",
	"addresses",
	"rate"
], ...[
	"warmUp",
	"settle",
	"measure",
	"runsPerTrial",
	"windows",
	"windowPackets"
]].map((setting) => [plainKey(setting), setting]));
const invalidChoice = /value '(.*)' is invalid for argument '([^']*)'\. Allowed choices are (.*)\.$/s;
function calledBy(command, [word, ...rest]) {
	if (word === void 0) return command;
	const named = command.commands.find((one) => one.name() === word);
	if (named !== void 0) return calledBy(named, rest);
	return word.startsWith("-") ? calledBy(command, rest) : command;
}
/** Names a command of that name below another one, or of another name. */
function elsewhere(name, program) {
	const meant = otherNames.get(name) ?? name;
	const found = [program, ...program.commands].flatMap(({ commands }) => commands).find((one) => one.name() === meant);
	return found && `; did you mean \`${pathOf(found)}\`?`;
}
const otherNames = /* @__PURE__ */ new Map([
	["queue", "testbeds"],
	["judge", "gate"],
	["diff", "compare"],
	["unlock", "release"]
]);
const pathOf = (command) => command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
const marked = (names) => names.split(", ").map((name) => `\`${name}\``).join(" or ");

export { mistyped };