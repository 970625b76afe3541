// Adds commands, and loads the code of called ones only.
import { type Command, Help } from 'commander';

/** Words of a command line, or `all`: only commands named there are loaded, see `addCommands`. */
export type Words = readonly string[] | 'all';

export type NamedCommand = {
  name: string;
  /** Absent: subcommands. */
  takes?: string;
  description: string;
  load(): Promise<{ define(command: Command, words: Words): unknown }>;
  isDefault?: true;
};

/** Loads the subcommands named by one of the words; an option's value may equal a name and load one needlessly. */
export async function addCommands(parent: Command, named: readonly NamedCommand[], words: Words): Promise<void> {
  const isCalled = ({ name }: NamedCommand) => words === 'all' || words.includes(name);
  const terms = new Map(named.map(({ name, takes }) => [name, [name, takes].filter(Boolean).join(' ')]));
  parent.configureHelp({
    // The names with their arguments fill more than half of a line.
    minWidthToWrap: 30,
    subcommandTerm: (command) => terms.get(command.name()) ?? new Help().subcommandTerm(command),
  });
  for (const one of named) {
    const { name, description, load, isDefault = false } = one;
    const command = parent.command(name, { isDefault }).description(description);
    if (isCalled(one) || (isDefault && !named.some(isCalled))) {
      await (await load()).define(command, words);
    }
  }
}
