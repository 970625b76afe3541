import { Help } from "../../vendor/commander.js";

// src/cli/commands/add-commands.ts
/** Loads the subcommands named by one of the words; an option's value may equal a name and load one needlessly. */
async function addCommands(parent, named, words) {
	const isCalled = ({ name }) => words === "all" || words.includes(name);
	const terms = new Map(named.map(({ name, takes }) => [name, [name, takes].filter(Boolean).join(" ")]));
	parent.configureHelp({
		minWidthToWrap: 30,
		subcommandTerm: (command) => terms.get(command.name()) ?? new Help().subcommandTerm(command)
	});
	for (const one of named) {
		const { name, description, load, isDefault = false } = one;
		const command = parent.command(name, { isDefault }).description(description);
		if (isCalled(one) || isDefault && !named.some(isCalled)) await (await load()).define(command, words);
	}
}

export { addCommands };