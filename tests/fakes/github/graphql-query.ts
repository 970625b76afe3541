// Parses GraphQL documents as far as ppsgate's need: one operation of fields, arguments and variables.

export type Query = {
  kind: 'query' | 'mutation';
  fields: Field[];
  /** Each place of a variable, such as `repository.owner`, and its declared type. */
  uses: { at: string; type: string }[];
};

export type Field = { name: string; arguments: Record<string, unknown>; fields: Field[] };

/** Throws an Error of one sentence for anything that GitHub, or this parser, does not understand. */
export function parseQuery(text: string, variables: Readonly<Record<string, unknown>>): Query {
  const reader = readerOf(text, variables);
  const kind = reader.isNext('{') ? 'query' : reader.word();
  if (kind !== 'query' && kind !== 'mutation') throw new Error(`A ${kind} is not known.`);
  if (!reader.isNext('{', '(')) reader.word();
  if (reader.skips('(')) readDeclarations(reader);
  const fields = readFields(reader, []);
  reader.end();
  for (const name of reader.declared.keys()) {
    if (!reader.used.has(name)) throw new Error(`The variable $${name} is not used.`);
  }
  return { kind, fields, uses: reader.uses };
}

type Reader = ReturnType<typeof readerOf>;

function readerOf(text: string, variables: Readonly<Record<string, unknown>>) {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|\w+|[^\s,]/g) ?? [];
  let position = 0;
  const next = (): string => {
    const token = tokens[position++];
    if (token === undefined) throw new Error('The query ends too early.');
    return token;
  };
  const isNext = (...expected: string[]) => expected.includes(tokens[position] ?? '');
  return {
    variables,
    declared: new Map<string, string>(),
    used: new Set<string>(),
    uses: [] as Query['uses'],
    next,
    isNext,
    /** Reads the next token if it is this one; returns true if it was. */
    skips: (expected: string): boolean => {
      if (!isNext(expected)) return false;
      position += 1;
      return true;
    },
    must: (expected: string): void => {
      const token = next();
      if (token !== expected) throw new Error(`${expected} is missing before ${token}.`);
    },
    word: (): string => {
      const token = next();
      if (!/^[A-Za-z_]\w*$/.test(token)) throw new Error(`${token} is no name.`);
      return token;
    },
    end: (): void => {
      if (position < tokens.length) throw new Error(`${tokens[position]} is too much.`);
    },
  };
}

function readDeclarations(reader: Reader): void {
  while (!reader.skips(')')) {
    reader.must('$');
    const name = reader.word();
    reader.must(':');
    reader.declared.set(name, readType(reader));
  }
}

function readType(reader: Reader): string {
  const type = reader.skips('[') ? `[${readListed(reader)}]` : reader.word();
  return reader.skips('!') ? `${type}!` : type;
}

function readListed(reader: Reader): string {
  const type = readType(reader);
  reader.must(']');
  return type;
}

function readFields(reader: Reader, path: readonly string[]): Field[] {
  const fields: Field[] = [];
  reader.must('{');
  while (!reader.skips('}')) {
    const name = reader.word();
    const inside = [...path, name];
    fields.push({
      name,
      arguments: reader.skips('(') ? readNamed(reader, inside, ')') : {},
      fields: reader.isNext('{') ? readFields(reader, inside) : [],
    });
  }
  return fields;
}

function readNamed(reader: Reader, path: readonly string[], end: string): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  while (!reader.skips(end)) {
    const name = reader.word();
    reader.must(':');
    values[name] = readValue(reader, [...path, name]);
  }
  return values;
}

function readValue(reader: Reader, path: readonly string[]): unknown {
  if (reader.skips('{')) return readNamed(reader, path, '}');
  if (reader.skips('[')) return readList(reader, path);
  if (reader.skips('$')) return readVariable(reader, path);
  return JSON.parse(reader.next());
}

function readList(reader: Reader, path: readonly string[]): unknown[] {
  const values: unknown[] = [];
  while (!reader.skips(']')) values.push(readValue(reader, path));
  return values;
}

function readVariable(reader: Reader, path: readonly string[]): unknown {
  const name = reader.word();
  const type = reader.declared.get(name);
  if (type === undefined) throw new Error(`The variable $${name} is not declared.`);
  reader.used.add(name);
  reader.uses.push({ at: path.join('.'), type });
  return reader.variables[name];
}
