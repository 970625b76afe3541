import { Command, Help } from 'commander';
import { expect, test } from 'vitest';
import { commands, type NamedCommand } from '../../src/commands/commands.ts';

test.each(commands)('the list says what $name takes', async (named) => {
  const command = new Command(named.name);
  await (await named.load()).define(command);
  const term = new Help().subcommandTerm(command);
  expect([named.name, named.takes].filter(Boolean).join(' ')).toBe(term);
});

test('no two commands have a name', () => {
  const names = (named: readonly NamedCommand[]) => named.map(({ name }) => name);
  expect(new Set(names(commands)).size).toBe(commands.length);
});
