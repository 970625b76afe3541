// Parses every program's command line like getopt(3), or prints the usage.
import { getopt, type Option } from '../getopt.ts';
import type { Process } from '../process.ts';

export type Usage = {
  program: string;
  /** getopt(3)'s optstring, with every option of FreeBSD's program. */
  spec: string;
  usage: string;
  /** EX_USAGE of sysexits(3) for many, 1 for most. */
  code: number;
};

export type Given =
  | { kind: 'given'; options: readonly Option[]; operands: readonly string[] }
  | { kind: 'refused'; code: number };

/** Rejects like the program: message and usage on stderr. */
export function readOptions(process: Process, { program, spec, usage, code }: Usage): Given {
  const parsed = getopt(program, spec, process.args);
  if (parsed.kind === 'parsed') return { ...parsed, kind: 'given' };
  process.err(`${parsed.message}\n${usage}\n`);
  return { kind: 'refused', code };
}

/** The program's usage, in response to operands that it cannot use. */
export function showUsage({ err }: Process, { usage, code }: Usage): number {
  err(`${usage}\n`);
  return code;
}
