// Parses the command line of every program as getopt(3) does, or prints the usage.
import { getopt, type Option } from '../getopt.ts';
import type { Process } from '../process.ts';

export type Usage = {
  program: string;
  /** getopt(3)'s optstring: every option that FreeBSD's program has. */
  spec: string;
  usage: string;
  /** EX_USAGE of sysexits(3) for many, 1 for most. */
  code: number;
};

export type Given =
  | { kind: 'given'; options: readonly Option[]; operands: readonly string[] }
  | { kind: 'refused'; code: number };

/** Refuses as the program does: message and usage on stderr. */
export function readOptions(process: Process, { program, spec, usage, code }: Usage): Given {
  const parsed = getopt(program, spec, process.args);
  if (parsed.kind === 'parsed') return { ...parsed, kind: 'given' };
  process.err(`${parsed.message}\n${usage}\n`);
  return { kind: 'refused', code };
}

/** The program's usage, as an answer to operands that it cannot do with. */
export function showUsage({ err }: Process, { usage, code }: Usage): number {
  err(`${usage}\n`);
  return code;
}
