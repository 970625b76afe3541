import { Command, Help } from 'commander';
import { expect, test } from 'vitest';
import type { NamedCommand } from '../../../src/cli/commands/add-commands.ts';
import { commands } from '../../../src/cli/commands/commands.ts';
import { subcommands } from '../../../src/cli/commands/testbeds.ts';

test.each([...commands, ...subcommands])('the list shows the arguments of $name', async (named) => {
  const command = new Command(named.name);
  await (await named.load()).define(command, []);
  const term = new Help().subcommandTerm(command);
  expect([named.name, named.takes].filter(Boolean).join(' ')).toBe(term);
});

test('no two commands have a name', () => {
  const names = (named: readonly NamedCommand[]) => named.map(({ name }) => name);
  for (const all of [names(commands), names(subcommands)]) {
    expect(new Set(all).size).toBe(all.length);
  }
});
