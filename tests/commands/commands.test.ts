import { Command, Help } from 'commander';
import { expect, test } from 'vitest';
import { commands, type NamedCommand } from '../../src/commands/commands.ts';
import { subcommands } from '../../src/commands/testbeds.ts';

test.each([...commands, ...subcommands])('the list says what $name takes', async (named) => {
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
