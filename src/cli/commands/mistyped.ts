// Turns commander's error on a mistyped command into one sentence.
import type { Command, CommanderError } from 'commander';
import { didYouMean, plainKey } from '../../config/did-you-mean.ts';
import { excerpt, sentence } from '../../model/excerpt.ts';

/** Undefined if commander has printed the version or help. */
export function mistyped(
  { code, exitCode, message }: CommanderError,
  program: Command,
  words: readonly string[],
): string | undefined {
  const called = calledBy(program, words);
  const help = `: see \`${pathOf(called)} --help\``;
  const [, what = ''] = /'([^']*)'/.exec(message) ?? [];
  const [, suggested] = /\(Did you mean (?:one of )?(.+)\?\)/.exec(message) ?? [];
  const hint = suggested === undefined ? help : `; did you mean ${marked(suggested)}?`;
  switch (code) {
    case 'commander.unknownOption': {
      if (called === program && ofCommands.has(what)) {
        const command = words.find((word) => program.commands.some((one) => one.name() === word));
        const example = `write \`ppsgate ${command ?? 'gate'} ${what}\``;
        return sentence(`${what} must follow the command: ${example}`);
      }
      const isConfigured = called.options.some(({ long }) => long === '--config');
      const setting = isConfigured ? settingsOfTraffic.get(plainKey(what)) : undefined;
      const where = setting && `; set \`traffic.${setting}\` in ppsgate.yml`;
      return sentence(`there is no option ${excerpt(what)}${where ?? hint}`);
    }
    case 'commander.unknownCommand':
      return sentence(`there is no command "${excerpt(what)}"${elsewhere(what, program) ?? hint}`);
    case 'commander.missingArgument':
      return sentence(`<${what}> is missing${help}`);
    case 'commander.missingMandatoryOptionValue':
      return sentence(`${what} is missing${help}`);
    case 'commander.invalidArgument': {
      const [, found, name, choices] = invalidChoice.exec(message) ?? [];
      if (found === undefined || choices === undefined) return message;
      return sentence(`<${name}>: expected one of ${choices}, found "${excerpt(found)}"`);
    }
    case 'commander.optionMissingArgument': {
      const [, flag = what] = /(--\S+|-\w) </.exec(what) ?? [];
      return sentence(`${flag} has no value${help}`);
    }
    case 'commander.excessArguments': {
      const [, first = ''] = /got \d+: ([^,]*?)(?:,.*)?\.$/s.exec(message) ?? [];
      const names = called.commands.map((command) => command.name());
      const meant = elsewhere(first, program) ?? (didYouMean(first, names) || help);
      if (names.length > 0) return sentence(`there is no command "${excerpt(first)}"${meant}`);
      const why = 'without an option before it, and a value with blanks needs quotes';
      return sentence(`${pathOf(called)} takes no "${excerpt(first)}" ${why}${help}`);
    }
    case 'commander.help': {
      // `ppsgate help NAME` prints the help of ppsgate for an unknown name.
      const [word, name = ''] = words;
      const isUnknown = word === 'help' && program.commands.every((one) => one.name() !== name);
      return isUnknown && name !== '' ? sentence(`there is no command "${excerpt(name)}"`) : undefined;
    }
    default:
      return exitCode === 0 ? undefined : message;
  }
}

/** Options of many commands, and not of ppsgate itself. */
const ofCommands: ReadonlySet<string> = new Set([
  '--config',
  '-c',
  '--json',
  '--patch',
  '--testbed',
  '--directory',
  '--repository',
]);

/** By the plain form of the option that one may expect for them. */
const settingsOfTraffic: ReadonlyMap<string, string> = new Map(
  [
    ...['flows', 'frameSize', 'frameSizes', 'protocol', 'ports', 'addresses', 'rate'],
    ...['warmUp', 'settle', 'measure', 'runsPerTrial', 'windows', 'windowPackets'],
  ].map((setting) => [plainKey(setting), setting]),
);

const invalidChoice = /value '(.*)' is invalid for argument '([^']*)'\. Allowed choices are (.*)\.$/s;

function calledBy(command: Command, [word, ...rest]: readonly string[]): Command {
  if (word === undefined) return command;
  const named = command.commands.find((one) => one.name() === word);
  if (named !== undefined) return calledBy(named, rest);
  return word.startsWith('-') ? calledBy(command, rest) : command;
}

/** Names a command of that name below another one, or of another name. */
function elsewhere(name: string, program: Command): string | undefined {
  const meant = otherNames.get(name) ?? name;
  const found = [program, ...program.commands].flatMap(({ commands }) => commands).find((one) => one.name() === meant);
  return found && `; did you mean \`${pathOf(found)}\`?`;
}

const otherNames: ReadonlyMap<string, string> = new Map([
  ['queue', 'testbeds'],
  ['judge', 'gate'],
  ['diff', 'compare'],
  ['unlock', 'release'],
]);

const pathOf = (command: Command): string =>
  command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;

const marked = (names: string): string =>
  names
    .split(', ')
    .map((name) => `\`${name}\``)
    .join(' or ');
