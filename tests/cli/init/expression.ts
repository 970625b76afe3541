// Evaluates GitHub's expressions, as far as our workflows use them in `if:` and `${{ … }}`, for an event.

/** Contexts by their names, like `github`. */
export type Values = { [name: string]: unknown };

/**
 * Returns the value of an expression, with or without its `${{ }}`; a missing property is an empty text. See "Evaluate
 * expressions in workflows and actions" in GitHub's documentation. Throws for unknown syntax.
 */
export function evaluate(expression: string, values: Values): unknown {
  const tokens = expression
    .replace(/^\s*\$\{\{(.+)\}\}\s*$/s, '$1')
    .match(/'(?:[^']|'')*'|&&|\|\||==|!=|[(),!]|[\w.-]+/g);
  const parser = new Parser(tokens ?? [], values);
  const value = parser.either();
  parser.expectEnd();
  return value;
}

class Parser {
  readonly #tokens: string[];
  readonly #values: Values;

  constructor(tokens: readonly string[], values: Values) {
    this.#tokens = [...tokens];
    this.#values = values;
  }

  either(): unknown {
    let value = this.#both();
    while (this.#take('||')) {
      const other = this.#both();
      value ||= other;
    }
    return value;
  }

  expectEnd(): void {
    if (this.#tokens.length > 0) throw new Error(`What is ${this.#tokens.join(' ')}?`);
  }

  #both(): unknown {
    let value = this.#compared();
    while (this.#take('&&')) {
      const other = this.#compared();
      value &&= other;
    }
    return value;
  }

  #compared(): unknown {
    const value = this.#single();
    if (this.#take('==')) return plain(value) === plain(this.#single());
    if (this.#take('!=')) return plain(value) !== plain(this.#single());
    return value;
  }

  #single(): unknown {
    if (this.#take('!')) return !this.#single();
    if (this.#take('(')) {
      const value = this.either();
      this.#need(')');
      return value;
    }
    const token = this.#tokens.shift() ?? '';
    if (token.startsWith("'")) return token.slice(1, -1).replaceAll("''", "'");
    if (this.#take('(')) return call(token, this.#arguments());
    if (token === 'true' || token === 'false') return token === 'true';
    return property(this.#values, token);
  }

  #arguments(): unknown[] {
    const values: unknown[] = [];
    while (!this.#take(')')) {
      values.push(this.either());
      this.#take(',');
    }
    return values;
  }

  #take(token: string): boolean {
    if (this.#tokens[0] !== token) return false;
    this.#tokens.shift();
    return true;
  }

  #need(token: string): void {
    if (!this.#take(token)) throw new Error(`A ${token} is missing.`);
  }
}

/** Texts are compared without regard to case. */
const plain = (value: unknown): unknown => (typeof value === 'string' ? value.toLowerCase() : value);

function call(name: string, [first, second]: readonly unknown[]): unknown {
  switch (name) {
    case 'always':
      return true;
    case 'fromJSON':
      return JSON.parse(String(first));
    case 'format':
      return String(first).replace('{0}', String(second));
    case 'startsWith':
      return String(first).toLowerCase().startsWith(String(second).toLowerCase());
    case 'contains':
      return Array.isArray(first) && first.map(plain).includes(plain(second));
    default:
      throw new Error(`There is no function ${name} here.`);
  }
}

function property(values: unknown, path: string): unknown {
  const [name = '', ...rest] = path.split('.');
  if (!(typeof values === 'object' && values !== null && name in values)) return '';
  const value: unknown = Reflect.get(values, name);
  return rest.length === 0 ? value : property(value, rest.join('.'));
}
