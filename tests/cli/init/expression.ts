// Evaluates GitHub's expressions, as far as our workflows use them in `if:` and `${{ … }}`, for an event.
import { runInNewContext } from 'node:vm';

/** Contexts by their names, like `github`. */
export type Values = { [name: string]: unknown };

/** Functions of expressions; texts are compared without regard to case. */
const functions = {
  always: () => true,
  fromJSON: (text: unknown): unknown => JSON.parse(String(text)),
  format: (text: unknown, value: unknown) => String(text).replace('{0}', String(value)),
  startsWith: (text: unknown, start: unknown) => plain(String(text)).startsWith(plain(String(start))),
  contains: (list: unknown, item: unknown) => Array.isArray(list) && list.map(plain).includes(plain(item)),
};

const plain = <T>(value: T): T | string => (typeof value === 'string' ? value.toLowerCase() : value);

/**
 * Returns the value of an expression, with or without its `${{ }}`; a missing property is an empty text. See "Evaluate
 * expressions in workflows and actions" in GitHub's documentation. Throws for an unknown function.
 */
export function evaluate(expression: string, values: Values): unknown {
  const tokens = expression
    .replace(/^\s*\$\{\{(.+)\}\}\s*$/s, '$1')
    .match(/'(?:[^']|'')*'|&&|\|\||==|!=|[(),!]|[\w.-]+/g);
  const script = (tokens ?? []).map((token) => {
    if (token.startsWith("'")) return JSON.stringify(token.slice(1, -1).replaceAll("''", "'"));
    return token.includes('.') ? `property(${JSON.stringify(token)})` : token;
  });
  const property = (path: string) =>
    path.split('.').reduce<unknown>((value, name) => {
      return typeof value === 'object' && value !== null && name in value ? Reflect.get(value, name) : '';
    }, values);
  return runInNewContext(script.join(' '), { ...functions, property });
}
