// `ppsgate completion`: prints shell completions generated from the commands.
import { Argument, type Command, type Option } from 'commander';
import { exitCodes } from '../../model/conclusion.ts';
import { metrics } from '../../model/metric.ts';
import { priorities } from '../../model/priority.ts';
import { designNames } from '../../model/result.ts';
import { families, scenarios } from '../../model/scenario.ts';
import { runToExit } from '../../system/exit.ts';
import { type Completed, type Flag, scripts, type Value } from './completion-scripts.ts';

const shells = ['bash', 'zsh', 'fish'] as const;

export function defineCompletion(command: Command, load: () => Promise<Command>): void {
  command
    .addArgument(new Argument('<shell>', 'shell that completes the commands').choices(shells))
    .addHelpText('after', details)
    .action(async (shell: (typeof shells)[number]) => {
      await runToExit(async () => {
        process.stdout.write(scripts[shell](completed(await load())));
        return exitCodes.pass;
      }, command.optsWithGlobals());
    });
}

const details = `
Example:
  ppsgate completion bash

To load it in every new shell, run one of these once; zsh accepts any folder of
its fpath:
  ppsgate completion bash > \\
    ~/.local/share/bash-completion/completions/ppsgate
  ppsgate completion zsh > /usr/local/share/zsh/site-functions/_ppsgate
  ppsgate completion fish > ~/.config/fish/completions/ppsgate.fish`;

export function completed(command: Command, path: readonly string[] = []): Completed[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  const inherited = ancestorsOf(command).flatMap((ancestor) => help.visibleOptions(ancestor));
  const options = [...help.visibleOptions(command), ...inherited].map(flagOf);
  const own: Completed = {
    path,
    commands: commands.map((one) => ({ name: one.name(), description: one.description() })),
    flags: options.filter(isFirstOfItsName),
    values: command.registeredArguments.map((argument) => ({
      ...taken(argument.name(), argument.name(), argument.argChoices),
      isRepeated: argument.variadic,
    })),
  };
  return [own, ...command.commands.flatMap((one) => completed(one, [...path, one.name()]))];
}

const ancestorsOf = ({ parent }: Command): Command[] => (parent === null ? [] : [parent, ...ancestorsOf(parent)]);

const isFirstOfItsName = ({ names }: Flag, index: number, all: Flag[]): boolean =>
  all.findIndex((other) => other.names.some((name) => names.includes(name))) === index;

function flagOf(option: Option): Flag {
  const { short, long, description, flags } = option;
  const [, placeholder] = /[<[](.+?)(?:\.\.\.)?[>\]]/.exec(flags) ?? [];
  return {
    names: [short, long].filter((name) => name !== undefined),
    description,
    ...(placeholder !== undefined && { value: taken(option.attributeName(), placeholder) }),
  };
}

function taken(name: string, placeholder: string, choices = choicesOf[name]): Value {
  if (choices !== undefined) {
    return { name: placeholder, kind: placeholder === 'list' ? 'list' : 'one', choices };
  }
  return { name: placeholder, kind: /file|dir/i.test(placeholder) ? 'path' : 'any', choices: [] };
}

/** By option name in code; commander itself cannot check these, as it knows no lists or units. */
export const choicesOf: Readonly<Record<string, readonly string[]>> = {
  priority: priorities,
  scenarios,
  scenario: scenarios,
  families,
  family: families,
  metric: metrics,
  design: designNames,
  profile: ['on', 'off'],
  earlier: ['all'],
  runner: ['ubuntu-latest'],
};
