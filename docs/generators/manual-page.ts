// Builds ppsgate.1, the manual page in mdoc(7), from the help of the commands; tests/docs/manual-page.test.ts writes it.
import type { Command, Help } from 'commander';
import { exitMeanings } from './outcomes.ts';

export function manualPage(program: Command): string {
  const help = program.createHelp();
  const commands = program.commands.flatMap(withSubcommands);
  // Some commands have those of a subcommand.
  const examples = new Set(commands.flatMap(blocksOf).filter(isExample));
  const lines = [
    '.Dd November 23, 2026',
    '.Dt PPSGATE 1',
    '.Os',
    '.Sh NAME',
    '.Nm ppsgate',
    `.Nd ${argument(inSentence(program.description()))}`,
    '.Sh SYNOPSIS',
    '.Nm',
    '.Op Fl \\-debug',
    '.Ar command',
    '.Op Ar argument ...',
    '.Sh DESCRIPTION',
    ...text(
      'It installs the base and the patched variant on a real router, forwards real packets through both, and decides with a stated error rate.',
    ),
    '.Pp',
    ...text('The options that every command takes are:'),
    ...optionList(program, help),
    '.Pp',
    ...text('With --help a command says what follows here, with its examples.'),
    ...commands.flatMap((command) => section(command, help)),
    '.Sh FILES',
    '.Bl -tag -width Ds',
    ...Object.entries(files).flatMap(([path, what]) => [`.It Pa ${argument(path)}`, ...text(what)]),
    '.El',
    '.Sh EXIT STATUS',
    '.Bl -tag -width Ds',
    ...exitMeanings.flatMap(({ code, meaning }) => [`.It ${code}`, ...text(meaning)]),
    '.El',
    '.Sh EXAMPLES',
    ...[...examples].flatMap((block) => literal(block.split('\n').slice(1))),
    '.Sh SEE ALSO',
    ...seeAlso.map((page, index) => `.Xr ${page}${index + 1 < seeAlso.length ? ' ,' : ''}`),
    '.Pp',
    '.Lk https://github.com/ppsgate/ppsgate',
  ];
  return `${lines.join('\n')}\n`;
}

const files = {
  'ppsgate.yml': 'What is measured, and where; --config names another.',
  '~/.local/state/ppsgate/history.jsonl': 'What is learnt of the testbeds.',
  '~/.local/state/ppsgate/reservations.sqlite': 'Who uses which testbed.',
};

const seeAlso = [
  'git 1',
  'ministat 1',
  'ssh 1',
  'netmap 4',
  'pf.conf 5',
  'build 7',
  'ipfw 8',
  'nft 8',
  'pkt-gen 8',
  'pmcstat 8',
];

const withSubcommands = (command: Command): Command[] => [command, ...command.commands.flatMap(withSubcommands)];

function section(command: Command, help: Help): string[] {
  const name = nameOf(command);
  const operands = command.registeredArguments.map((one) => {
    const operand = `Ar ${argument(one.name())}${one.variadic ? ' ...' : ''}`;
    return one.required ? operand : `Op ${operand}`;
  });
  const options = command.options.length === 0 ? [] : ['Op Ar options'];
  const isGroup = command.commands.length > 0;
  return [
    `.Ss ${argument(name)}`,
    '.Nm',
    `.Cm ${argument(name)}`,
    ...[...options, ...(isGroup ? ['Ar command'] : []), ...operands].map((one) => `.${one}`),
    '.Pp',
    ...text(`${command.description().replace(/^./, (letter) => letter.toUpperCase())}.`),
    ...operandList(command, help),
    ...optionList(command, help),
    ...blocksOf(command)
      .filter((block) => !isExample(block))
      .flatMap((block) => ['.Pp', ...paragraph(block)]),
  ];
}

const nameOf = (command: Command): string =>
  command.parent?.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name();

const inSentence = (written: string): string => written.replace(/^./, (letter) => letter.toLowerCase());

function operandList(command: Command, help: Help): string[] {
  const operands = help.visibleArguments(command);
  return list(
    operands.map((operand) => ({
      term: `Ar ${argument(operand.name())}`,
      says: help.argumentDescription(operand),
    })),
  );
}

function optionList({ options }: Command, help: Help): string[] {
  return list(
    options.map((option) => {
      const [, value] = /[<[](.+)[>\]]/.exec(option.flags) ?? [];
      const names = [option.short, option.long].filter((name) => name !== undefined);
      const flags = names.map((name) => `Fl ${argument(name.slice(1))}`).join(' , ');
      return {
        term: value === undefined ? flags : `${flags} Ar ${argument(value)}`,
        says: help.optionDescription(option),
      };
    }),
  );
}

function list(items: { term: string; says: string }[]): string[] {
  if (items.length === 0) return [];
  const lines = items.flatMap(({ term, says }) => [`.It ${term}`, ...text(says)]);
  return ['.Bl -tag -width Ds', ...lines, '.El'];
}

/** Returns the text of --help below the options, in paragraphs. */
function blocksOf(command: Command): string[] {
  let printed = '';
  command.configureOutput({
    writeOut(part) {
      printed += part;
    },
  });
  command.outputHelp();
  const after = printed.slice(command.helpInformation().length);
  return after.trim().split('\n\n').filter(Boolean);
}

const isExample = (block: string): boolean => /^Examples?:/.test(block);

/** Lines that are indented stay as they are. */
function paragraph(block: string): string[] {
  const parts = block.split(/\n(?=\S)(?<=\n .*\n)|\n(?= )(?<!\n .*\n)/);
  return parts.flatMap((part) => (part.startsWith(' ') ? literal(part.split('\n')) : text(part.replaceAll('\n', ' '))));
}

const literal = (lines: string[]): string[] => [
  '.Bd -literal -offset indent',
  ...lines.map((line) => line.replace(/^ {2}/, '')).map(escaped),
  '.Ed',
];

/** Each sentence begins a line, as mdoc(7) wants it to. */
const text = (says: string): string[] => says.split(/(?<=[.;:]) (?=[A-Z])/).map(escaped);

/** Escapes a line so that roff prints it unchanged. */
export const escaped = (line: string): string =>
  line
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/[^\x20-\x7e]/gu, unicode)
    .replace(/^(?=[.'])/, '\\&');

const unicode = (sign: string): string =>
  `\\[u${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`;

/** Quotes an argument of a macro, so that it is neither a macro itself nor punctuation. */
export const argument = (word: string): string => `"\\&${escaped(word).replaceAll('"', '\\(dq')}"`;
