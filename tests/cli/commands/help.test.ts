// Tests the help of every command.
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { makeProgram } from '../../../src/cli/program.ts';

const withSubcommands = (command: Command): Command[] => [command, ...command.commands.flatMap(withSubcommands)];

const pathOf = (command: Command): string =>
  command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;

const commands = withSubcommands(makeProgram()).map((command) => ({
  name: pathOf(command),
  help: helpOf(command),
}));

describe.each(commands)('$name --help', ({ name, help }) => {
  test('has no line that is longer than a terminal of 80 columns', () => {
    expect(help.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  test('has examples of this command that are understood', async () => {
    const examples = examplesIn(help);
    if (/^ppsgate( \w+)?$/.test(name)) expect(examples).not.toEqual([]);
    for (const words of examples) {
      const program = makeProgram();
      const called: string[] = [];
      for (const command of withSubcommands(program)) {
        command.action(() => void called.push(pathOf(command)));
      }
      await program.parseAsync(words, { from: 'user' });
      expect(called).toHaveLength(1);
      expect(called[0]?.startsWith(name)).toBe(true);
    }
  });
});

/** Help for output that is no terminal, or a terminal of 80 columns. */
function helpOf(command: Command): string {
  let help = '';
  command.configureOutput({
    writeOut(text) {
      help += text;
    },
    getOutHelpWidth: () => 80,
    getOutHasColors: () => false,
  });
  command.outputHelp();
  return help;
}

/** Returns the words of each line that calls ppsgate, up to shell operators. */
function examplesIn(help: string): string[][] {
  const [, examples = ''] = /^Examples?:\n((?: .*\n?)+)/m.exec(help) ?? [];
  return examples
    .replaceAll(/ \\\n */g, ' ')
    .split('\n')
    .flatMap((line) => /\bppsgate (.*)$/.exec(line)?.[1] ?? [])
    .map((line) => line.replace(/ (?:\||&&|>>) .*/, ''))
    .map((line) => (line.match(/'[^']*'|"[^"]*"|\S+/g) ?? []).map(withoutQuotes));
}

const withoutQuotes = (word: string): string => word.replace(/^(['"])(.*)\1$/, '$2');
