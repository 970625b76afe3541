import { Command, Help } from 'commander';
import { expect, test } from 'vitest';
import type { NamedCommand } from '../../../src/cli/commands/add-commands.ts';
import { commands, programFor } from '../../../src/cli/commands/commands.ts';
import { choicesOf, completed } from '../../../src/cli/commands/completion.ts';
import { subcommands } from '../../../src/cli/commands/testbeds.ts';

test.each([...commands, ...subcommands])('the list shows the arguments of $name', async (named) => {
  const command = new Command(named.name);
  await (await named.load()).define(command, []);
  const term = new Help().subcommandTerm(command);
  expect([named.name, named.takes].filter(Boolean).join(' ')).toBe(term);
});

test.each(Object.entries(choicesOf))(
  'completion for %s offers values of an existing option, and no shell evaluates more',
  async (_, choices) => {
    const all = completed(await programFor('all')).flatMap(({ flags }) => flags);
    expect(all.filter(({ value }) => value?.choices === choices)).not.toEqual([]);
    expect(choices.filter((choice) => !/^[\w-]+$/.test(choice))).toEqual([]);
  },
);

test('no two commands have a name', () => {
  const names = (named: readonly NamedCommand[]) => named.map(({ name }) => name);
  for (const all of [names(commands), names(subcommands)]) {
    expect(new Set(all).size).toBe(all.length);
  }
});
