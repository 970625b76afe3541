// Defines the call that the gates of one command share.
import { resolve } from 'node:path';
import type { GateOptions, NamingStyle, TextOption } from '../../config/parameters.ts';
import type { Config } from '../../config/schema.ts';
import { NoRepositoryError, openRepository, RepositoryError } from '../../forge/patch/repository.ts';
import type { FlightLog } from '../../gate/flight-log.ts';
import type { WorkDirectory } from '../../gate/work-directory.ts';
import type { Patch } from '../../model/patch.ts';
import { UsageError } from '../../model/usage-error.ts';

export type GateCall = {
  config: Config;
  options: GateOptions;
  optionName: NamingStyle;
  signal: AbortSignal;
  work: WorkDirectory;
  /** Receives the way to resume each interrupted gate. */
  closingLines: string[];
  flightLog?: FlightLog | undefined;
  /** Absent: found by the options. */
  patch?: Patch;
};

/** Needs no work directory. */
export type PatchCall = Omit<GateCall, 'work'>;

export const asUsageError =
  (optionName: NamingStyle) =>
  (error: unknown): never => {
    if (!(error instanceof RepositoryError)) throw error;
    const which = error instanceof NoRepositoryError ? 'repository' : 'patch';
    throw new UsageError(`${optionName(which)}: ${error.message}`);
  };

export const stderrLog = {
  info: (sentence: string) => process.stderr.write(`${sentence}\n`),
  warn: (sentence: string) => process.stderr.write(`warning: ${sentence}\n`),
};

export const repositoryOf = ({ repository }: GateOptions) => openRepository(resolve(repository ?? '.'));

/** Treats an empty option as absent. */
export function required(name: TextOption, { options, optionName }: PatchCall): string {
  const text = options[name];
  if (text) return text;
  throw new UsageError(`${optionName(name)} is missing: see \`ppsgate gate --help\`.`);
}
