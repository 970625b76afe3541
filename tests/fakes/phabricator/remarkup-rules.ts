// Rules of Remarkup, as far as an attacker or one of our comments could use them.

export type Block =
  | { kind: 'code'; text: string; options: Record<string, string> }
  | { kind: 'table'; rows: string[][]; hasHead: boolean }
  | { kind: 'literal'; text: string }
  /** Blocks in which markup within lines takes effect. */
  | { kind: 'text' | 'list' | 'header' | 'quote' | 'note' | 'rule' | 'interpreter'; text: string };

type BlockRule = { kind: Block['kind']; lines: (lines: readonly string[]) => number };

/** Counts the lines of this kind from the first on, by the first line and the next ones. */
const linesWhile = (first: RegExp, next: RegExp) => (lines: readonly string[]) => {
  if (!first.test(lines[0] ?? '')) return 0;
  const end = lines.findIndex((line, index) => index > 0 && !next.test(line));
  return end < 0 ? lines.length : end;
};

const linesUntil = (first: RegExp, last: RegExp, alone: RegExp) => (lines: readonly string[]) => {
  if (!first.test(lines[0] ?? '')) return 0;
  if (alone.test(lines[0] ?? '')) return 1;
  const end = lines.findIndex((line, index) => index > 0 && last.test(line));
  return end < 0 ? lines.length : end + 1;
};

const only = /(?!)/;

const listLines = linesWhile(/^\s*(?:[-*#]+|\d+[.)]|\[[ x]?\])\s/, /^\s*(?:[-*#]+|\d+[.)]|\[[ x]?\])\s|^ +\S/);

/** In the order of attempts; a single line that begins with `#` is a list only at the end. */
const blockRules: BlockRule[] = [
  {
    kind: 'list',
    lines: (lines) => {
      const count = listLines(lines);
      return count === 1 && lines.length > 1 && lines[0]?.startsWith('#') ? 0 : count;
    },
  },
  { kind: 'code', lines: linesWhile(/^\s{2,}\S/, /^\s{2,}|^\s*$/) },
  { kind: 'code', lines: linesUntil(/^\s*```/, /```\s*$/, /^\s*```.*```\s*$/) },
  { kind: 'literal', lines: linesUntil(/^\s*%%%/, /%%%\s*$/, /^\s*%%%.*%%%\s*$/) },
  {
    kind: 'interpreter',
    lines: linesUntil(/^\w+\s*(?:\([^)]+\)\s*)?\{\{\{/, /\}\}\}\s*$/, /\}\}\}\s*$/),
  },
  { kind: 'table', lines: linesUntil(/^\s*<table>/i, /<\/table>\s*$/i, /<\/table>\s*$/i) },
  { kind: 'table', lines: linesWhile(/^\s*\|/, /^\s*\|/) },
  { kind: 'note', lines: linesWhile(/^\s*\(?(?:NOTE|WARNING|IMPORTANT)[:)]/, /\S/) },
  { kind: 'quote', lines: linesWhile(/^>/, /^>/) },
  { kind: 'rule', lines: linesWhile(/^\s*(?:-{3,}|\*{3,}|_{3,})\s*$/, only) },
  { kind: 'header', lines: linesWhile(/^(?:={1,5}|#{2,5}|# )\s*\S/, only) },
  {
    kind: 'header',
    lines: ([first = '', second = '']) => (/\S/.test(first) && /^(?:={2,}|-{2,})\s*$/.test(second) ? 2 : 0),
  },
];

/** Parses a comment like Remarkup, as far as an attacker could use it. */
export function blocksOf(remarkup: string): Block[] {
  const blocks: Block[] = [];
  let lines = remarkup.replaceAll('\r\n', '\n').split('\n');
  while (lines.length > 0) {
    const rule = blockRules.find((one) => one.lines(lines) > 0);
    const count = rule?.lines(lines) ?? 1;
    const text = lines.slice(0, count).join('\n');
    lines = lines.slice(count);
    const last = blocks.at(-1);
    if (rule !== undefined) blocks.push(blockOf(rule.kind, text));
    else if (last?.kind === 'text' && text.trim() !== '') last.text += `\n${text}`;
    else if (last?.kind !== 'text' || last.text !== '') blocks.push({ kind: 'text', text });
  }
  return blocks.filter((block) => !('text' in block) || block.kind === 'code' || /\S/.test(block.text));
}

function blockOf(kind: Block['kind'], text: string): Block {
  if (kind === 'code') return codeOf(text);
  if (kind === 'table') return tableOf(text);
  return { kind, text };
}

/** The first line holds options if all of its keys are known; otherwise its first word may be a language. */
function codeOf(text: string): Block {
  const isFenced = /^\s*```/.test(text);
  const inside = isFenced ? text.replace(/^\s*```(?:\s*\n)?/, '').replace(/```\s*$/, '') : text;
  const [first = '', ...rest] = inside.split('\n');
  const pairs = first.split(',').map((pair) => pair.trim().split('='));
  const isKnown = pairs.every(([key = '']) => /^(?:lang|name|lines|counterexample)$/.test(key));
  const isLanguage = /^\s*```[a-z]+\n/.test(text);
  const body = isFenced && (isKnown || isLanguage) ? rest : [first, ...rest];
  const indents = body.flatMap((line) => (/\S/.test(line) ? line.search(/[^ ]/) : []));
  const indent = Math.min(80, ...indents);
  const shown = body.map((line) => line.slice(Math.min(indent, line.search(/[^ ]|$/)))).join('\n');
  const options = isFenced && isKnown ? pairs : [];
  return {
    kind: 'code',
    text: shown.trimEnd(),
    options: Object.fromEntries(options.map(([key = '', value = '']) => [key, value])),
  };
}

/** Columns end at `|`, but not within a link. */
function tableOf(text: string): Block {
  const all = /^\s*<table>/i.test(text)
    ? [...text.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = '']) =>
        [...row.matchAll(/<t([dh])>(.*?)<\/t\1>/gs)].map(([, , column = '']) => column.trim()),
      )
    : text.split('\n').map(columnsOf);
  const isRuler = (row: string[]) =>
    row.some((column) => /^--+$/.test(column)) && row.every((column) => /^(?:--+)?$/.test(column));
  return {
    kind: 'table',
    rows: all.filter((row) => row.length > 0 && !isRuler(row)),
    hasHead: all.some(isRuler) || /<th>/.test(text),
  };
}

/** Columns of a line that begins with `|`; an unfinished link includes the rest of its column. */
const columnsOf = (line: string): string[] =>
  line
    .replace(/^\s*\|/, '')
    .replace(/\|+$/, '')
    .replace(/\[\[.*?\]\]/g, (link) => link.replaceAll('|', '\0'))
    .split('|')
    .map((column) =>
      column
        .replaceAll('\0', '|')
        .replace(/\[\[(?!.*\]\]).*/, '')
        .trim(),
    );

export type Effect = { kind: 'mention' | 'object' | 'macro' | 'link'; text: string };

type Found = Effect['kind'] | 'code';

/** Code is removed first, then everything that has an effect, in Phorge's order. */
const effectRules: [Effect['kind'], RegExp][] = [
  ['link', /\[\[.*?\]\]/g],
  ['link', /\[[^\]\n]*\]\([^)\s]*\)/g],
  ['object', /(?<!\w)\{[A-Z]\d+(?:[,\s][^}]*)?\}/g],
  ['macro', /\{[a-z]\w*[^}]*\}/g],
  ['link', /\w{3,}:\/\/[^\s\0]+/g],
  ['mention', /(?<![\w@])@[\w.-]*[\w-]/g],
  ['object', /(?<![\w#@-])(?:[A-Z]\d+|r[A-Z]+[0-9a-f]*|[0-9a-f]{7,40})(?!\w)/g],
  ['object', /(?<![\w#@-])#\d*[a-z_]\S*/gi],
];

/**
 * Replaces all code and effects outside code blocks by tokens, which contain `\0`. An object in braces is none if a
 * rule takes effect in its options: the inner one wins.
 */
export function replaced(text: string, tokenOf: (kind: Found, found: string) => string): string {
  const take = (rest: string, kind: Effect['kind'], pattern: RegExp) =>
    rest.replace(pattern, (found) =>
      kind === 'object' && found.startsWith('{') && !isFlat(found) ? found : tokenOf(kind, found),
    );
  const withoutMacros = take(text, 'macro', /\$\{\{\{([^\n]+?)\}\}\}/g);
  const withoutCode = withoutMacros.replace(/##(.+?)##|(?<!\w)`([^\n]+?)`/gs, (_, hashes?: string, ticks?: string) =>
    tokenOf('code', hashes ?? ticks ?? ''),
  );
  return effectRules.reduce((rest, [kind, pattern]) => take(rest, kind, pattern), withoutCode);
}

function isFlat(embed: string): boolean {
  const options = embed.replace(/^\{[A-Z]\d+|\}$/g, '');
  return !options.includes('\0') && !effectRules.some(([, rule]) => options.search(rule) >= 0);
}

/** Parses text outside code blocks like Remarkup. */
export function inlineOf(text: string): { code: string[]; effects: Effect[]; rest: string } {
  const code: string[] = [];
  const effects: Effect[] = [];
  const rest = replaced(text, (kind, found) => {
    if (kind === 'code') code.push(found);
    else effects.push({ kind, text: found });
    return '\0';
  });
  return { code, effects, rest };
}

export const textsOf = (blocks: readonly Block[]): string[] =>
  blocks.flatMap((block) => {
    if (block.kind === 'table') return block.rows.flat();
    return block.kind === 'code' || block.kind === 'literal' ? [] : block.text;
  });

export const effectsOf = (remarkup: string): Effect[] =>
  textsOf(blocksOf(remarkup)).flatMap((text) => inlineOf(text).effects);

export const tablesOf = (remarkup: string): string[][][] =>
  blocksOf(remarkup).flatMap((block) => (block.kind === 'table' ? [block.rows] : []));
