// Adds the options of gates to a command.
import type { Command } from 'commander';
import { isOfGate, namingStyles, parameter, parametersThat } from '../../config/parameters.ts';

/** Adds the options of a gate that `has` accepts by the parameter's name. */
export function addGateOptions(command: Command, has: (name: string) => boolean): void {
  const all = parametersThat((one) => isOfGate(one) && one.option !== undefined);
  for (const name of all.filter(has)) {
    const { flags = namingStyles.flag(name), value, help = '', default: usual } = parameter(name).option ?? {};
    command.option(value === undefined ? flags : `${flags} <${value}>`, help, usual);
  }
}
