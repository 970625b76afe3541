// Prints the diagnostics of a testbed.
import type { Diagnostic } from '../../lab/check/diagnostic.ts';
import { oneLine } from '../table.ts';

/** `✗ WHAT: WHY`, with the fix on its own line. */
export function diagnosticText(diagnostic: Diagnostic, isColoured: boolean): string {
  const { kind, what, why } = diagnostic;
  const sign = isColoured ? `\x1b[${colours[kind]}m${signs[kind]}\x1b[0m` : signs[kind];
  const line = `${sign} ${oneLine(`${what}: ${why}`)}`;
  return kind === 'wrong' ? `${line}\n    fix: ${oneLine(diagnostic.fix)}` : line;
}

export function summary(diagnostics: readonly Diagnostic[]): string {
  const count = diagnostics.filter(({ kind }) => kind === 'wrong').length;
  if (count === 0) return 'All checks passed.';
  return count === 1 ? 'One check failed.' : `${count} checks failed.`;
}

const signs = { ok: '✓', wrong: '✗', skipped: '–' } as const;
/** ECMA-48 select graphic rendition: green, red, faint. */
const colours = { ok: 32, wrong: 31, skipped: 2 } as const;
