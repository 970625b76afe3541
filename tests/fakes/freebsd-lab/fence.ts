// Interprets the scripts that fence a machine: tokens are files on its disk, as on a real one.
import { guardIn, raiseIn, tokenFolder } from '../../../src/lab/lease/fence.ts';
import { fileErrorText, makeFolder, namesIn, remove, writeFile } from './file-system.ts';
import type { Machine } from './machine.ts';
import { fail, type Process } from './process.ts';
import { splitWords } from './shell.ts';

type Guarded =
  /** `line` is the command that the guard admits, or that has no guard. */
  { kind: 'let-through'; line: string } | { kind: 'refused'; complaint: string; code: number };

const guard = guardIn(tokenFolder);
export const raiseScript = raiseIn(tokenFolder);
const refusalCode = 213;

export function takeGuard(machine: Machine, line: string): Guarded {
  const split = splitWords(line);
  const [sh, flag, script, , token = '', text = '', ...more] = split.kind === 'words' ? split.words : [];
  if (sh !== 'sh' || flag !== '-c' || script !== guard || more.length > 0) {
    return { kind: 'let-through', line };
  }
  const complaint = whyRefused(machine, token);
  return complaint === undefined
    ? { kind: 'let-through', line: text }
    : { kind: 'refused', complaint, code: refusalCode };
}

/** Implements `raiseScript` with its arguments. */
export function raise(process: Process, token = ''): number {
  const { machine } = process;
  const { files } = machine;
  const path = `${tokenFolder}/${token}`;
  const error = makeFolder(files, tokenFolder, true) ?? writeFile(files, path, '');
  if (error !== undefined) return fail(process, `sh: ${path}: ${fileErrorText[error]}`);
  const complaint = whyRefused(machine, token);
  if (complaint !== undefined) return fail(process, complaint, refusalCode);
  for (const seen of tokensOn(machine)) {
    if (Number(seen) < Number(token)) remove(files, `${tokenFolder}/${seen}`);
  }
  return 0;
}

function whyRefused(machine: Machine, token: string): string | undefined {
  const higher = tokensOn(machine).find((seen) => Number(seen) > Number(token));
  return higher && `ppsgate: token ${higher} refuses ${token}`;
}

const tokensOn = ({ files }: Machine): string[] => namesIn(files, tokenFolder).filter((name) => /^\d+$/.test(name));
