// Builds the page of attacks from tags above tests, `//` and one of
//   Attack read/badge: A testbed's name has a script. Defence: Badges are escaped.
//   Attack read/badge
// where the second marks a further test of the same attack. A tag is the last comment above its test.
import { parseAst } from 'rolldown/parseAst';
import { type Row, table } from './markdown.ts';

const sections = {
  run: 'To run code that was not reviewed',
  secret: 'To read a secret, or to misuse a token',
  forge: 'To forge a verdict',
  read: 'To misuse reports, comments, logs and the site',
  testbed: 'To stay on the testbed',
  phabricator: 'On Phabricator',
  jenkins: 'On Jenkins',
};

export type Tag = {
  /** Section and name, as in `read/badge`. */
  id: string;
  /** Absent: another tag has it. */
  text?: string;
  /** The test's file, below the root of the repository. */
  path: string;
  test: string;
};

export function attacksPage(tags: readonly Tag[]): string {
  const parts = Object.entries(sections).map(([key, heading]) => {
    const ids = new Set(tags.map(({ id }) => id).filter((id) => id.startsWith(`${key}/`)));
    const rows = [...ids].toSorted().map((id) => rowOf(id, tags));
    return `## ${heading}\n\n${table(['attack', 'defence', 'tests'], rows)}`;
  });
  const known = Object.keys(sections);
  const stray = tags.find(({ id }) => !known.some((key) => id.startsWith(`${key}/`)));
  if (stray) throw new Error(`${stray.path}: ${stray.id} begins with none of ${known.join(', ')}.`);
  return `${[head, ...parts].join('\n\n')}\n`;
}

const head = `# Attacks and their tests

Generated from tags in the tests by \`vitest run tests/docs/attacks.test.ts --update\`; do not edit.

Each row is an attack that at least one test tries. [The threat model](../explanation/threat-model.md) explains the trust
boundaries, and lists what is not defended.`;

function rowOf(id: string, tags: readonly Tag[]): Row {
  const own = tags.filter((tag) => tag.id === id);
  const [text, second] = own.flatMap((tag) => tag.text ?? []);
  const [, attack, defence] = /^(.+?) Defence: (.+)$/.exec(text ?? '') ?? [];
  if (attack === undefined || defence === undefined || second !== undefined) {
    const paths = own.map(({ path }) => path).join(', ');
    throw new Error(`Attack ${id} in ${paths}: write its attack and \`Defence:\` at exactly one test.`);
  }
  const paths = [...new Set(own.map(({ path }) => path))].toSorted();
  const tests = paths.map((path) => {
    const names = own.filter((tag) => tag.path === path).map(({ test }) => test);
    return `\`${path.replace(/^tests\//, '')}\`: ${names.join('; ')}`;
  });
  return [attack, defence, tests.join('<br>')];
}

/** The tags of a file of tests, in TypeScript or Groovy; throws if no test follows one. */
export function tagsOf(path: string, source: string): Tag[] {
  const nameBelow = path.endsWith('.groovy') ? groovyNames(source) : vitestNames(source);
  return [...source.matchAll(blocks)].flatMap((block) => {
    const end = block.index + block[0].length;
    const test = nameBelow(end);
    if (test === undefined) {
      const line = source.slice(0, end).split('\n').length;
      throw new Error(`${path}:${line}: no test follows this attack; move it above one.`);
    }
    return textsOf(block[0]).map(({ id, text }) => ({ id, ...(text && { text }), path, test }));
  });
}

/** Lines of comments from a tag on. */
const blocks = /^ *\/\/ Attack [a-z]+\/.*\n(?: *\/\/ .*\n)*/gm;

function textsOf(block: string): { id: string; text: string }[] {
  const words = block.replaceAll(/^ *\/\/ /gm, '').replaceAll('\n', ' ');
  return words
    .split(/(?<=^| )(?=Attack [a-z]+\/)/)
    .map((tag) => /^Attack ([a-z]+\/[a-z\d-]+)(?:: (.+))? $/.exec(tag))
    .map((match) => {
      if (match === null) throw new Error(`No attack has the form of ${JSON.stringify(block)}.`);
      const [, id = '', text = ''] = match;
      return { id, text };
    });
}

const groovyNames =
  (source: string) =>
  (position: number): string | undefined =>
    /^ *@Test\n *void '(.+)'\(\)/.exec(source.slice(position))?.[1];

type Call = { start: number; end: number; title: string };

/** Names the test whose statement begins at a position, with the titles around it. */
function vitestNames(source: string): (position: number) => string | undefined {
  const calls = titledCalls(parseAst(source, { lang: 'ts' }), source);
  return (position) => {
    const start = position + source.slice(position).search(/\S/);
    const own = calls.find((call) => call.start === start);
    const around = calls.filter((call) => call.start < start && start < call.end);
    return own && [...around, own].map(({ title }) => title).join(' › ');
  };
}

/** Statements that call a function with a text, the outer before the inner. */
function titledCalls(node: unknown, source: string): Call[] {
  if (typeof node !== 'object' || node === null) return [];
  const inner = () => Object.values(node).flatMap((child) => titledCalls(child, source));
  if (!isNode(node) || node.type !== 'ExpressionStatement') return inner();
  const call: unknown = 'expression' in node ? node.expression : undefined;
  const parameters = isNode(call) && 'arguments' in call && Array.isArray(call.arguments) ? call.arguments : [];
  const title = parameters.filter(isNode).find(({ type, start }) => {
    return type === 'TemplateLiteral' || (type === 'Literal' && /['"]/.test(source[start] ?? ''));
  });
  if (!title) return inner();
  const text = source.slice(title.start + 1, title.end - 1).replaceAll(/\\(.)/g, '$1');
  return [{ start: node.start, end: node.end, title: text }, ...inner()];
}

type Node = { type: string; start: number; end: number };

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && 'start' in value && typeof value.start === 'number';
