// Adds commands to a program or to a command, and loads the code of those that are called.
import { type Command, Help } from 'commander';

/** Words of a command line, or `all`: what they name is loaded, see `addCommands`. */
export type Words = readonly string[] | 'all';

export type NamedCommand = {
  name: string;
  /** Arguments, as listed by --help; absent: subcommands. */
  takes?: string;
  /** Purpose, as listed by --help. */
  description: string;
  load(): Promise<{ define(command: Command, words: Words): unknown }>;
  /** The subcommand that runs where none is named. */
  isDefault?: true;
};

/**
 * Adds subcommands to a command and loads those that one of the words names. The value of a parent's option may be the
 * name of a command, which is then loaded in vain.
 */
export async function addCommands(
  parent: Command,
  named: readonly NamedCommand[],
  words: Words,
): Promise<void> {
  const isCalled = ({ name }: NamedCommand) => words === 'all' || words.includes(name);
  const terms = new Map(
    named.map(({ name, takes }) => [name, [name, takes].filter(Boolean).join(' ')]),
  );
  parent.configureHelp({
    // The names with what they take are more than half of a line.
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
