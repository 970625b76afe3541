// Builds the page of error messages from the errors that src/ throws.
import { parseAst } from 'rolldown/parseAst';
import { type Conclusion, exitCodes } from '../../src/model/conclusion.ts';
import { table } from './markdown.ts';

export type SourceFile = { path: string; source: string };

type Message = { module: string; text: string; exitCode: string };

/** Files are of src/, with paths below it. */
export function messagesPage(files: readonly SourceFile[]): string {
  const codes = exitCodesOf(files.map(({ source }) => source));
  const messages = files.flatMap((file) => messagesOf(file, codes));
  const modules = [...new Set(messages.map(({ module }) => module))].toSorted();
  const parts = modules.map((module) => {
    const own = messages.filter((message) => message.module === module);
    const rows = new Map(own.map(({ text, exitCode }) => [text, [text, exitCode]]));
    const sorted = [...rows.values()].toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1));
    return `## ${module}\n\n${table(['message', 'exit code'], sorted)}`;
  });
  return `${[head, ...parts].join('\n\n')}\n`;
}

const head = `# Error messages

Generated from the errors in \`src/\` by \`vitest run tests/docs/messages.test.ts --update\`; do not edit.

\`…\` stands for a value. An error without a code of its own ends a command with 4, unless its caller makes it another error:
those have \`4 (default)\`. [Outcomes and exit codes](outcomes.md) explains the codes.`;

/** Exit codes of the classes of errors, including those that extend another. */
function exitCodesOf(sources: readonly string[]): Map<string, string> {
  const classes = sources.flatMap((source) =>
    [...source.matchAll(/^(?:export )?class (\w+) extends (\w+)[\s\S]*?\}$/gm)].map(
      ([body, name = '', parent = '']) => {
        const [, own = ''] = /\bconclusion = '(\w+)'/.exec(body) ?? [];
        return { name, parent, own };
      },
    ),
  );
  const codeOf = (name: string): string => {
    const known = classes.find((one) => one.name === name);
    if (known === undefined) return `${exitCodes.infrastructure} (default)`;
    return isConclusion(known.own) ? String(exitCodes[known.own]) : codeOf(known.parent);
  };
  return new Map(classes.map(({ name }) => [name, codeOf(name)]));
}

const isConclusion = (name: string): name is Conclusion => Object.hasOwn(exitCodes, name);

function messagesOf({ path, source }: SourceFile, codes: ReadonlyMap<string, string>): Message[] {
  if (!/new \w*Error\(/.test(source)) return [];
  const [module = ''] = path.split('/');
  return newErrors(parseAst(source, { lang: 'ts' })).flatMap(({ name, parameters }) => {
    const exitCode = codes.get(name);
    if (exitCode === undefined) return [];
    const [text] = parameters.flatMap((one) => textOf(one, source) ?? []);
    // Others are parts of a sentence, or the words of another program.
    const isSentence = text !== undefined && /^[^a-z…].* |^[\w-]+: /.test(text);
    return isSentence ? [{ module, text, exitCode }] : [];
  });
}

type NewError = { name: string; parameters: readonly unknown[] };

function newErrors(node: unknown): NewError[] {
  if (typeof node !== 'object' || node === null) return [];
  const inner = Object.values(node).flatMap(newErrors);
  if (!('type' in node && node.type === 'NewExpression')) return inner;
  const { callee, arguments: parameters } = node as { callee?: unknown; arguments?: unknown };
  const name = hasName(callee) ? callee.name : '';
  return [...(Array.isArray(parameters) ? [{ name, parameters }] : []), ...inner];
}

const hasName = (node: unknown): node is { name: string } =>
  typeof node === 'object' && node !== null && 'name' in node && typeof node.name === 'string';

/** A text with `…` for each value in it; undefined for other expressions. */
function textOf(node: unknown, source: string): string | undefined {
  if (typeof node !== 'object' || node === null || !('type' in node)) return undefined;
  if (node.type === 'Literal') return 'value' in node && typeof node.value === 'string' ? node.value : undefined;
  if (node.type !== 'TemplateLiteral' || !('quasis' in node)) return undefined;
  const { start, end } = node as { start?: unknown; end?: unknown };
  if (typeof start !== 'number' || typeof end !== 'number') return undefined;
  return withoutValues(source.slice(start + 1, end - 1));
}

/** Replaces `${…}`, in which braces may nest, and backslashes before a sign. */
function withoutValues(template: string): string {
  let depth = 0;
  let text = '';
  for (const part of template.split(/(\$\{|[{}])/)) {
    if (part === '${' && depth === 0) text += '…';
    if (part === '${' || (part === '{' && depth > 0)) depth += 1;
    else if (part === '}' && depth > 0) depth -= 1;
    else if (depth === 0) text += part;
  }
  return text.replaceAll(/\\n/g, ' ').replaceAll(/\\(.)/g, '$1');
}
