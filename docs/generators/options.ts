// Builds the reference of commands and options from their help.
import type { Command, Help, Option } from 'commander';
import { blocksOf, nameOf, withSubcommands } from './manual-page.ts';
import { code, table } from './markdown.ts';
import { exitMeanings } from './outcomes.ts';

export function optionsPage(program: Command): string {
  const help = program.createHelp();
  const commands = program.commands.flatMap(withSubcommands);
  return `${[
    head,
    table(
      ['command', 'purpose'],
      commands.map((command) => [code(nameOf(command)), command.description()]),
    ),
    '## Options of every command',
    optionTable([...program.options], help),
    '## Exit codes',
    exitMeanings.map(({ code, meaning }) => `- ${code}: ${meaning}`).join('\n'),
    '[Outcomes and exit codes](outcomes.md) lists the outcomes of each code.',
    ...commands.flatMap((command) => sectionOf(command, help)),
  ].join('\n\n')}\n`;
}

const head = `# Commands and options

Generated from the commands by \`vitest run tests/docs/reference.test.ts --update\`; do not edit. The manual page ppsgate(1)
has the same content.`;

function sectionOf(command: Command, help: Help): string[] {
  const operands = command.registeredArguments.map((operand) => {
    const name = operand.variadic ? `${operand.name()}...` : operand.name();
    return operand.required ? `<${name}>` : `[${name}]`;
  });
  const options = command.options.length === 0 ? [] : ['[options]'];
  const subcommand = command.commands.length === 0 ? [] : ['<command>'];
  const usage = ['ppsgate', nameOf(command), ...options, ...subcommand, ...operands].join(' ');
  const described = help.visibleArguments(command);
  const argumentRows = described.map((one) => [code(one.name()), help.argumentDescription(one)]);
  return [
    `## ${nameOf(command)}`,
    `${command.description().replace(/^./, (letter) => letter.toUpperCase())}.`,
    fenced(usage),
    ...(described.length === 0 ? [] : [table(['argument', 'meaning'], argumentRows)]),
    ...(command.options.length === 0 ? [] : [optionTable([...command.options], help)]),
    ...blocksOf(command).map((block) => fenced(block)),
  ];
}

const optionTable = (options: readonly Option[], help: Help): string =>
  table(
    ['option', 'meaning'],
    options.map((option) => [code(option.flags), help.optionDescription(option)]),
  );

const fenced = (text: string): string => `\`\`\`text\n${text}\n\`\`\``;
