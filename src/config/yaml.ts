// Parses ppsgate.yml as plain YAML: returns a value with line numbers, or an error.
import {
  type Document,
  type ErrorCode,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
} from 'yaml';
import { excerpt } from '../model/units.ts';
import { type ConfigProblem, type KeyPath, keyName, seeExample } from './problem.ts';

/** `lineOf` returns the line, from 1, of the last key or item of a path, or of its longest existing part. */
type YamlSource =
  | { kind: 'read'; value: unknown; lineOf: (path: KeyPath) => number }
  | { kind: 'refused'; problems: ConfigProblem[] };

/** Stricter than the library: rejects duplicate keys, empty files and long ones. Never throws. */
export function readYaml(text: string): YamlSource {
  if (text.length > maxCharacters) {
    return refused(0, `the file has more than ${maxCharacters} characters; check that it is the right one`);
  }
  try {
    return understoodYaml(text);
  } catch {
    // The YAML library throws for multiplying or dangling aliases, and on stack overflow.
    return refused(
      0,
      'the file nests too deeply, or an alias (*name) in it multiplies or has no anchor; write it out plainly',
    );
  }
}

// Enough for about 150 testbeds, and two seconds of work if every line is wrong.
const maxCharacters = 64 * 1024;

function understoodYaml(text: string): YamlSource {
  const lines = new LineCounter();
  const lineAt = (offset: number) => lines.linePos(offset).line;
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    // Overrides a %YAML directive for types of 1.1, where `no` is false.
    schema: 'core',
    resolveKnownTags: false,
    stringKeys: true,
    // Checked below, with names and both lines.
    uniqueKeys: false,
  });

  const [mistake] = [...document.errors, ...document.warnings];
  if (mistake !== undefined) {
    return refused(lineAt(mistake.pos[0]), mistakes[mistake.code] ?? 'this is not YAML; fix it');
  }
  const duplicates = duplicateKeys(document, lineAt);
  if (duplicates.length > 0) return { kind: 'refused', problems: duplicates };

  const value: unknown = document.toJS();
  if (value === null) return refused(0, `the file is empty; ${seeExample}`);
  return { kind: 'read', value, lineOf: (path) => lineAt(offsetOf(document, path)) };
}

const refused = (line: number, message: string): YamlSource => ({
  kind: 'refused',
  problems: [{ line, key: '', message }],
});

// The library's messages are about its grammar, and quote input of any length.
const mistakes: { readonly [code in ErrorCode]?: string } = {
  BAD_ALIAS: 'an alias (*name) has no anchor (&name) before it; write the value out',
  BAD_INDENT: 'this line is not indented like its neighbours, or a bracket before it is open; align or close it',
  BAD_SCALAR_START: 'a value cannot start with this character; put the value in quotes',
  BLOCK_AS_IMPLICIT_KEY:
    'this value runs into another key; align the next line with this one, or quote the value if a colon is part of it',
  BLOCK_IN_FLOW: 'a comma is missing between the keys in these braces; write one',
  MISSING_CHAR: 'a colon, quote or bracket is missing on or before this line; write it',
  MULTILINE_IMPLICIT_KEY: 'this line has no key; write `name: value` with a space after the colon',
  MULTIPLE_DOCS: 'a second YAML document starts here; keep one',
  NON_STRING_KEY: 'a key has to be plain text; write `name: value`',
  RESOURCE_EXHAUSTION: 'this nests too deeply; write it out plainly',
  TAB_AS_INDENT: 'a tab indents this line; use spaces',
  TAG_RESOLVE_FAILED: 'a tag (!name) means nothing here; remove it',
  UNEXPECTED_TOKEN: 'a bracket, comma or sign is in the wrong place here; remove it or quote the text',
};

function duplicateKeys(document: Document.Parsed, lineAt: (offset: number) => number): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  visit(document, {
    Map: (_, map, ancestors) => {
      const firstLines = new Map<string, number>();
      const parents = ancestors.filter(isPair).map((pair) => keyText(pair.key));
      for (const pair of map.items) {
        const key = keyText(pair.key);
        const line = lineAt(startOf(pair.key) ?? 0);
        const firstLine = firstLines.get(key);
        if (firstLine === undefined) firstLines.set(key, line);
        else problems.push(duplicateKey([...parents, key], line, firstLine));
      }
    },
  });
  return problems;
}

function duplicateKey(path: readonly string[], line: number, firstLine: number): ConfigProblem {
  const message = `duplicate key \`${excerpt(path.at(-1) ?? '')}\`; it is on line ${firstLine} already`;
  return { line, key: keyName(path), message };
}

/** Falls back to the longest existing part of the path. */
function offsetOf(document: Document.Parsed, path: KeyPath): number {
  let node: unknown = document.contents;
  let offset = startOf(node) ?? 0;
  for (const segment of path) {
    const { at, child } = step(isAlias(node) ? node.resolve(document) : node, segment);
    offset = startOf(at) ?? offset;
    node = child;
  }
  return offset;
}

function step(node: unknown, segment: PropertyKey): { at?: unknown; child?: unknown } {
  if (isSeq(node)) {
    const item = node.items[Number(segment)];
    return { at: item, child: item };
  }
  const pair = isMap(node) && node.items.find(({ key }) => keyText(key) === segment);
  return pair ? { at: pair.key, child: pair.value } : {};
}

const keyText = (key: unknown): string => (isScalar(key) ? String(key.value) : '');

function startOf(node: unknown): number | undefined {
  const located = isScalar(node) || isMap(node) || isSeq(node) || isAlias(node);
  return located ? node.range?.[0] : undefined;
}
