// Text that came from a patch, a log or a kernel, made harmless for Markdown: it only ever stands in code.
import { stripVTControlCharacters } from 'node:util';

/** A code span: no mention, link, reference, markup or line break in it can take effect, also inside a table. */
export function codeSpan(text: string): string {
  const line = withoutControls(text).replace(/\s+/g, ' ').trim();
  if (line === '') return '';
  const fence = fenceFor(line, 1);
  const padding = line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  return `${fence}${padding}${line.replaceAll('|', '\\|')}${padding}${fence}`;
}

/** A fenced code block, shortened in the middle to `mostCharacters`. */
export function codeBlock(text: string, mostCharacters = 4000): string {
  const clean = withoutControls(text).trimEnd();
  const fence = fenceFor(clean, 3);
  return `${fence}\n${shortened(clean, mostCharacters)}\n${fence}`;
}

/** Longer than any run of backticks inside. */
function fenceFor(text: string, least: number): string {
  const runs = text.match(/`+/g) ?? [];
  return '`'.repeat(Math.max(least, ...runs.map((run) => run.length + 1)));
}

/** Control and format characters colour terminals, turn the direction of text or hide it; tabs and line ends stay. */
function withoutControls(text: string): string {
  return stripVTControlCharacters(text).replace(/(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}]/gu, '');
}

function shortened(text: string, mostCharacters: number): string {
  if (text.length <= mostCharacters) return text;
  const half = Math.floor(mostCharacters / 2);
  const left = text.length - 2 * half;
  return `${text.slice(0, half)}\n… ${left} characters left out …\n${text.slice(-half)}`;
}
