// Lists small changes of a TypeScript source that its tests should find.
import assert from 'node:assert/strict';
import { parseAst } from 'rolldown/parseAst';

/** Replaces an expression by another one. */
export type Mutant = { start: number; end: number; from: string; to: string };

type Node = { type: string; start: number; end: number; [key: string]: unknown };

const operators: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '&&': '||',
  '||': '&&',
  '+=': '-=',
  '-=': '+=',
};
/** Methods that return the same kind of value as they are called on. */
const removedCalls = ['filter', 'toSorted', 'toReversed', 'slice', 'trim'];
const opposites: Readonly<Record<string, string>> = { min: 'max', max: 'min', some: 'every', every: 'some' };
/** Calls that only tell people something, which few tests should assert. */
const logs = /\b(?:log|logger|console|debug|info|notice|warning)\b/i;

/** Lists the mutants of a source in the order of their places. */
export function mutantsOf(source: string): Mutant[] {
  const found: Mutant[] = [];
  visit(parseAst(source, { lang: 'ts' }));
  return found.toSorted((one, other) => one.start - other.start || one.end - other.end);

  function visit(node: unknown): void {
    if (Array.isArray(node)) for (const one of node) visit(one);
    if (!isNode(node) || isTypeOnly(node)) return;
    mutate(node);
    const parts: Record<string, unknown> = { ...node };
    // A name is no expression, and a loop that never ends only costs time.
    if (node.computed !== true) delete parts[node.type === 'MemberExpression' ? 'property' : 'key'];
    if (node.type === 'ForStatement') delete parts.update;
    for (const part of Object.values(parts)) visit(part);
  }

  function mutate(node: Node): void {
    const { type, operator, left, right, argument, test, expression, callee, value, elements } = node;
    const replace = ({ start, end }: Node, to: string) =>
      found.push({ start, end, from: source.slice(start, end), to });
    if ((type === 'IfStatement' || type === 'ConditionalExpression') && isNode(test)) {
      for (const constant of ['true', 'false']) replace(test, constant);
    } else if (isNode(left) && isNode(right) && operator === '??') {
      replace(node, textOf(left));
    } else if (isNode(left) && isNode(right) && typeof operator === 'string' && Object.hasOwn(operators, operator)) {
      const joinsText = operator.startsWith('+') && /['"`]/.test(textOf(node));
      const between = source.slice(left.end, right.start).replace(operator, operators[operator] ?? '');
      if (!joinsText) replace(node, source.slice(node.start, left.end) + between + source.slice(right.start, node.end));
    } else if (type === 'UnaryExpression' && (operator === '!' || operator === '-') && isNode(argument)) {
      replace(node, textOf(argument));
    } else if (type === 'Literal' && typeof value === 'boolean') {
      replace(node, String(!value));
    } else if (type === 'Literal' && typeof value === 'number') {
      replace(node, String(value + 1));
    } else if (type === 'ArrayExpression' && Array.isArray(elements) && elements.length > 0) {
      replace(node, '[]');
    } else if (type === 'ExpressionStatement' && isNode(expression)) {
      const call = expression.type === 'AwaitExpression' ? expression.argument : expression;
      const isCall = isNode(call) && call.type === 'CallExpression' && isNode(call.callee);
      if (isCall && !logs.test(textOf(call.callee as Node))) replace(expression, 'undefined');
    } else if (type === 'CallExpression' && isNode(callee) && isNode(callee.object) && isNode(callee.property)) {
      // Parentheses would end an optional chain early.
      if (textOf(callee).includes('?.')) return;
      const name = textOf(callee.property);
      const rest = source.slice(callee.end, node.end);
      if (removedCalls.includes(name)) replace(node, textOf(callee.object));
      if (Object.hasOwn(opposites, name))
        replace(node, source.slice(node.start, callee.property.start) + opposites[name] + rest);
    }
  }

  function textOf({ start, end }: Node): string {
    return source.slice(start, end);
  }
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && 'start' in value && typeof value.start === 'number';

/** Types have literals, too; three wrappers have an expression beside their type. */
const isTypeOnly = ({ type }: Node): boolean =>
  type.startsWith('TS') && !/^TS(?:As|NonNull|Satisfies)Expression$/.test(type);

/** Adds to a source a call at each expression, that appends the expression's id to a file when it is first evaluated. */
export function probed(source: string, probes: readonly { id: number; at: Mutant }[], file: string): string {
  const points = probes.flatMap(({ id, at }) => [
    { position: at.start, text: `(noteReached(${id}),` },
    { position: at.end, text: ')' },
  ]);
  let [text, position] = ['', 0];
  const closesFirst = (one: { text: string }) => (one.text === ')' ? 0 : 1);
  for (const point of points.toSorted((a, b) => a.position - b.position || closesFirst(a) - closesFirst(b))) {
    text += source.slice(position, point.position) + point.text;
    position = point.position;
  }
  // A page in the browser cannot write files.
  return `${text}${source.slice(position)}
function noteReached(id) {
  const reached = (globalThis.reachedMutants ??= new Set());
  if (!reached.has(id)) globalThis.process?.getBuiltinModule('node:fs').appendFileSync(${JSON.stringify(file)}, id + ' ');
  reached.add(id);
}
`;
}

/** Throws if sources do not get these mutants. */
export function checkExamples(): void {
  const examples = {
    'const is = (a: 1 | 2): boolean => (a ?? 3) > 2;': ['(a ?? 3) > 2 → (a ?? 3) >= 2', 'a ?? 3 → a', '3 → 4', '2 → 3'],
    "if (!isSet) name = 'a' + b;": ['!isSet → true', '!isSet → false', '!isSet → isSet'],
    'await store.close(); log(a);': ['await store.close() → undefined'],
    'x = list?.filter(f) || all.filter(f);': [
      'list?.filter(f) || all.filter(f) → list?.filter(f) && all.filter(f)',
      'all.filter(f) → all',
    ],
  };
  for (const [source, mutants] of Object.entries(examples)) {
    const texts = mutantsOf(source).map(({ from, to }) => `${from} → ${to}`);
    assert.deepEqual(texts, mutants);
  }
  const source = 'a && b < c';
  const probes = mutantsOf(source).map((at, id) => ({ id, at }));
  assert.equal(probed(source, probes, '').split('\n')[0], '(noteReached(0),a && (noteReached(1),b < c))');
}
