// Counts sentences over 30 words and passive voice by area, and fails where a count of .ci/prose.json has grown:
//   npm run prose               compares
//   npm run prose AREA          lists the findings of an area
//   npm run prose -- --update   lowers the counts of .ci/prose.json
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A piece of prose with its line, from 1. */
export type Piece = { line: number; text: string };

const longestWords = 30;

type Area = { files: string[]; except?: RegExp; piecesOf: (source: string) => Piece[] };

const areas: Readonly<Record<string, Area>> = {
  // Generated pages repeat what other areas count.
  docs: { files: ['*.md', 'docs/**/*.md'], except: /^docs\/reference\//, piecesOf: inMarkdown },
  messages: {
    files: ['src/**/*.ts'],
    except: /^src\/(?:cli|config|report|publish)\//,
    piecesOf: inStrings,
  },
  help: { files: ['src/{cli,config}/**/*.ts'], piecesOf: inStrings },
  reports: { files: ['src/{report,publish}/**/*.ts'], piecesOf: inStrings },
  comments: {
    files: ['{src,tests,bench,docs}/**/*.ts', '*.ts', '.ci/*.ts', 'jenkins/**/*.groovy'],
    piecesOf: inComments,
  },
};

/** Paragraphs, items, headings and cells, without code blocks; a code span is one word. */
export function inMarkdown(source: string): Piece[] {
  let isCode = false;
  const lines = source.split('\n').flatMap((written, index): Piece[] => {
    const line = index + 1;
    if (/^ *(?:```|~~~)/.test(written)) isCode = !isCode;
    if (isCode || /^ *(?:```|~~~)/.test(written)) return [{ line, text: '' }];
    const text = written.replaceAll(/`[^`]+`/g, 'X').replaceAll(/\]\([^)]*\)/g, ']');
    if (!/^ *\|/.test(text)) return [{ line, text }];
    return text.split(/(?<!\\)\|/).flatMap((cell) => [
      { line, text: '' },
      { line, text: cell },
    ]);
  });
  return paragraphs(lines, /^ *(?:[-*>#]|\d+\.) ?/);
}

/** Lines of comments; a tag in one begins a paragraph. */
export function inComments(source: string): Piece[] {
  const lines = source.split('\n').map((written, index) => {
    const [, text = ''] = /^\s*(?:\/\/|\/\*\*|\*(?!\/))(.*?)(?:\*\/)?$/.exec(written) ?? [];
    return { line: index + 1, text: text.replaceAll(/`[^`]+`/g, 'X') };
  });
  return paragraphs(lines, /^ *(?:@|- |Attack [a-z]+\/)/);
}

/** Texts of at least four words in quotes on one line; what is put into one is a word. */
export function inStrings(source: string): Piece[] {
  return source.split('\n').flatMap((written, index) =>
    /^\s*(?:\/\/|\/?\*)/.test(written)
      ? []
      : [...written.matchAll(/(['"`])((?:\\.|(?!\1)[^\\])*)\1/g)]
          .map(([, , text = '']) => text.replaceAll(/\$\{[^}]*\}/g, 'X').replaceAll(/\\n/g, '. '))
          .filter((text) => wordsIn(text) >= 4)
          .map((text) => ({ line: index + 1, text })),
  );
}

/** Joins lines; an empty line ends a paragraph, and so does one that begins another. */
function paragraphs(lines: readonly Piece[], beginning: RegExp): Piece[] {
  const found: Piece[] = [];
  let isOpen = false;
  for (const { line, text } of lines) {
    const last = found.at(-1);
    if (isOpen && last && text.trim() !== '' && !beginning.test(text)) last.text += ` ${text.trim()}`;
    else if (text.trim() !== '') found.push({ line, text: text.replace(beginning, '').trim() });
    isOpen = text.trim() !== '';
  }
  return found;
}

const wordsIn = (text: string): number => text.split(/\s+/).filter((word) => /\w/.test(word)).length;

const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });

export const longSentences = (text: string): string[] =>
  [...sentences.segment(text)].map(({ segment }) => segment).filter((one) => wordsIn(one) > longestWords);

const irregular =
  'begun|bought|bound|broken|brought|built|caught|chosen|cut|done|drawn|driven|fed|felt|found|given|gone|held|hidden|kept|known|laid|led|left|lost|made|meant|met|paid|put|read|run|seen|sent|set|shown|shut|spent|split|stolen|taken|taught|thought|thrown|told|understood|written';
const passive = new RegExp(
  `\\b(?:am|is|are|was|were|be|been|being) (?:(?:not|never|also|always|still|already|then|\\w+ly) )?(?:\\w{2,}ed|${irregular})\\b`,
  'gi',
);

export const passives = (text: string): string[] => [...text.matchAll(passive)].map(([found]) => found);

type Counts = Record<string, { long: number; passive: number }>;

const root = join(import.meta.dirname, '..');
const file = join(import.meta.dirname, 'prose.json');

function findingsOf({ files, except, piecesOf }: Area) {
  const paths = globSync(files, { cwd: root }).filter((path) => !except?.test(path));
  const pieces = paths
    .toSorted()
    .flatMap((path) => piecesOf(readFileSync(join(root, path), 'utf8')).map((piece) => ({ path, ...piece })));
  const each = (find: (text: string) => string[]) =>
    pieces.flatMap(({ path, line, text }) => find(text).map((one) => `${path}:${line}: ${one}`));
  return { long: each(longSentences), passive: each(passives) };
}

/** A sentence for each count that differs from the recorded one. */
export function compared(recorded: Counts, found: Counts): { grown: string[]; shrunk: string[] } {
  const changes = Object.entries(found).flatMap(([area, counts]) =>
    (['long', 'passive'] as const).map((kind) => {
      const [before, now] = [recorded[area]?.[kind] ?? 0, counts[kind]];
      const what = kind === 'long' ? `sentences over ${longestWords} words` : 'uses of the passive voice';
      return { text: `${area}: ${now} ${what}, ${before} recorded`, change: now - before };
    }),
  );
  const texts = (isSo: (change: number) => boolean) =>
    changes.filter(({ change }) => isSo(change)).map(({ text }) => text);
  return { grown: texts((change) => change > 0), shrunk: texts((change) => change < 0) };
}

function main(argument: string | undefined): void {
  const area = areas[argument ?? ''];
  if (area !== undefined) {
    const { long, passive } = findingsOf(area);
    console.log([...long, ...passive].join('\n'));
    return;
  }
  const found = Object.fromEntries(
    Object.entries(areas).map(([name, one]) => {
      const { long, passive } = findingsOf(one);
      return [name, { long: long.length, passive: passive.length }];
    }),
  );
  const { grown, shrunk } = compared(JSON.parse(readFileSync(file, 'utf8')), found);
  for (const text of grown) {
    console.error(`${text}: shorten what you wrote; \`npm run prose AREA\` lists them.`);
  }
  if (grown.length > 0) process.exitCode = 1;
  else if (argument === '--update') writeFileSync(file, `${JSON.stringify(found, null, 2)}\n`);
  else for (const text of shrunk) console.log(`${text}: run \`npm run prose -- --update\`.`);
}

if (import.meta.main) main(process.argv[2]);
