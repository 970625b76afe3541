// Shared parts of the `*.search` methods: constraints, attachments, orders and pages.
import { asList, type Call, ConduitError, isMap, isText, type Method, notNumeric, refusal } from './conduit.ts';
import type { State } from './state.ts';

export type Search<Row> = {
  /** A PHID type such as `DREV`. */
  type: string;
  /** The query's name in the real server's code, used in its errors. */
  query: string;
  /** Column of the id in the real query; absent: `id`. */
  idColumn?: string;
  rows: (state: State) => Row[];
  isVisible: (row: Row, call: Call) => boolean;
  /** The real server's name for a row in "You Shall Not Pass". */
  nameOf?: (row: Row) => string;
  constraints: { [name: string]: Constraint<Row> };
  attachments?: { [name: string]: (row: Row, call: Call) => unknown };
  /** `queryKey`s besides `all`. */
  queries?: { [key: string]: (row: Row, call: Call) => boolean };
  orders?: { [name: string]: (a: Row, b: Row) => number };
  fields: (row: Row, call: Call) => { [name: string]: unknown };
  /** `rows` are those of the page. */
  maps?: (call: Call, rows: readonly Row[]) => { [name: string]: unknown };
};

export type Constraint<Row> = {
  type: 'integers' | 'strings' | 'epoch' | 'text' | 'flag';
  matches: (row: Row, value: never, call: Call) => boolean;
};

type Identified = { id: number; phid: string };

const searchParams = ['queryKey', 'constraints', 'attachments', 'order', 'before', 'after', 'limit'];

export function search<Row extends Identified>(searched: Search<Row>): Method {
  return { params: searchParams, run: (call) => answer(searched, call) };
}

/** `ids` and `phids`, which all searches support. */
export function identity<Row extends Identified>(): { [name: string]: Constraint<Row> } {
  return { ids: integers((row: Row) => row.id), phids: strings((row: Row) => row.phid) };
}

function integers<Row>(of: (row: Row) => number): Constraint<Row> {
  return { type: 'integers', matches: (row, values: number[]) => values.includes(of(row)) };
}

export function strings<Row>(of: (row: Row, call: Call) => string | null | readonly string[]): Constraint<Row> {
  const matches = (row: Row, values: string[], call: Call) =>
    [of(row, call)].flat().some((value) => value !== null && values.includes(value));
  return { type: 'strings', matches };
}

/** Like `strings`, but ignores case, as columns of names do on the live server. */
export function names<Row>(
  of: (row: Row) => string | null,
  read: (given: string) => string = (given) => given,
): Constraint<Row> {
  const matches = (row: Row, values: string[]) =>
    values.some((value) => read(value).toLowerCase() === of(row)?.toLowerCase());
  return { type: 'strings', matches };
}

export function notBefore<Row>(of: (row: Row) => number): Constraint<Row> {
  return { type: 'epoch', matches: (row, epoch: number) => of(row) >= epoch };
}

export function notAfter<Row>(of: (row: Row) => number): Constraint<Row> {
  return { type: 'epoch', matches: (row, epoch: number) => of(row) <= epoch };
}

/** Rows of one page, and its cursor; also for `transaction.search`. */
export function pageOf<Row extends { id: number }>(
  sorted: readonly Row[],
  { params }: Pick<Call, 'params'>,
  isWanted: (row: Row) => boolean,
  cursorRow: (cursor: string) => Row,
): { rows: Row[]; cursor: { limit: number; after: string | null; before: string | null } } {
  const limit = limitOf(params.limit);
  const after = cursorOf(params.after);
  const before = cursorOf(params.before);
  const isBackward = after === null && before !== null;
  const from = after ?? before;
  const ordered = isBackward ? sorted.toReversed() : sorted;
  const start = from === null ? 0 : ordered.indexOf(cursorRow(from)) + 1;
  const wanted = ordered.slice(start).filter(isWanted);
  const rows = wanted.slice(0, limit);
  if (isBackward) rows.reverse();
  const hasMore = wanted.length > limit;
  const [first, last] = [idOf(rows.at(0)), idOf(rows.at(-1))];
  const hasBefore = isBackward ? hasMore : after !== null;
  const hasAfter = isBackward || hasMore;
  return {
    rows,
    cursor: { limit, after: hasAfter ? last : null, before: hasBefore ? first : null },
  };
}

function answer<Row extends Identified>(searched: Search<Row>, call: Call): unknown {
  const queryKey = call.params.queryKey ?? null;
  const { orders = {} } = searched;
  const queries: NonNullable<Search<Row>['queries']> = { all: () => true, ...searched.queries };
  const query = queries[isText(queryKey) ? queryKey : 'all'];
  if (query === undefined) {
    throw new ConduitError('ERR-BAD-QUERYKEY', 'Invalid query for parameter "queryKey".');
  }
  const filter = filterOf(searched, call);
  const attached = attachmentsOf(searched, call);
  const order = call.params.order ?? null;
  const compare = comparison(orders, order, searched.query);
  const sorted = searched.rows(call.state).toSorted(compare);
  const { rows, cursor } = pageOf(
    sorted,
    call,
    (row) => searched.isVisible(row, call) && query(row, call) && filter(row),
    (id) => cursorRowOf(searched, call, sorted, id),
  );
  const data = rows.map((row) => ({
    id: row.id,
    type: searched.type,
    phid: row.phid,
    fields: searched.fields(row, call),
    attachments: Object.fromEntries(attached.map(([name, attach]) => [name, attach(row, call)])),
  }));
  return {
    data,
    maps: searched.maps?.(call, rows) ?? {},
    query: { queryKey },
    cursor: { ...cursor, order },
  };
}

function filterOf<Row>(searched: Search<Row>, call: Call): (row: Row) => boolean {
  const constraints = call.params.constraints ?? {};
  if (!isMap(constraints) && !isEmptyList(constraints)) {
    throw new ConduitError('ERR-INVALID-CONSTRAINTS-FORMAT', 'Parameter "constraints" must be a map of constraints.');
  }
  const filters = Object.entries(constraints).map(([name, given]) => {
    const constraint = searched.constraints[name];
    if (constraint === undefined) {
      throw new ConduitError('ERR-INVALID-CONSTRAINT', 'Parameter "constraints" includes an invalid key.');
    }
    // The result of `read` has the type that the constraint names.
    const value = read(name, constraint.type, given, call.isForm) as never;
    return (row: Row) => constraint.matches(row, value, call);
  });
  return (row) => filters.every((filter) => filter(row));
}

function read(name: string, type: Constraint<never>['type'], given: unknown, isForm: boolean): unknown {
  const wrong = (what: string) => refusal(`Error while reading "${name}": ${what}`);
  if (type === 'epoch') return readInteger(name, given, isForm);
  if (type === 'flag') return isForm ? given !== '0' && given !== 'false' : given === true;
  if (type === 'text') {
    if (!isText(given)) throw wrong('Expected string, got something else.');
    return given;
  }
  const list = asList(given);
  if (list === undefined) throw wrong('Expected a list, but value is not a list.');
  if (list.length === 0) throw wrong('Expected a nonempty list, but value is an empty list.');
  return list.map((value, at) => {
    if (type === 'integers') return readInteger(`${name}[${at}]`, value, isForm);
    if (isText(value)) return value;
    throw refusal(`Error while reading "${name}[${at}]": Expected string, got something else.`);
  });
}

function readInteger(name: string, value: unknown, isForm: boolean): number {
  const isLoose = isForm && isText(value) && /^-?\d+$/.test(value);
  if (isLoose || Number.isInteger(value)) return Number(value);
  throw refusal(`Error while reading "${name}": Expected integer, got something else.`);
}

/** True for anything but false, null, 0 or empty. The `false` of a form field is text, so it counts. */
function attachmentsOf<Row>(
  { attachments = {} }: Search<Row>,
  call: Call,
): [string, (row: Row, call: Call) => unknown][] {
  const asked = call.params.attachments ?? {};
  const names = Object.entries(asked).filter(([, value]) => value && value !== '0');
  return names.map(([name]) => {
    const attach = attachments[name];
    if (attach === undefined) {
      throw new ConduitError('ERR-INVALID-ATTACHMENT', 'Parameter "attachments" includes an invalid key.');
    }
    return [name, attach];
  });
}

function comparison<Row extends Identified>(
  orders: { [name: string]: (a: Row, b: Row) => number },
  order: unknown,
  query: string,
): (a: Row, b: Row) => number {
  if (order === null || order === 'newest') return (a, b) => b.id - a.id;
  if (order === 'oldest') return (a, b) => a.id - b.id;
  const compare = isText(order) ? orders[order] : undefined;
  if (compare === undefined) {
    const known =
      query === 'DifferentialRevisionQuery'
        ? 'newest, created, order-created, oldest, relevance, updated, order-modified, outdated'
        : 'newest, oldest';
    throw refusal(`Query "${query}" does not support a builtin order "${order}". Supported orders are: ${known}.`);
  }
  return (a, b) => compare(a, b) || b.id - a.id;
}

function cursorRowOf<Row extends Identified>(searched: Search<Row>, call: Call, rows: readonly Row[], id: string): Row {
  if (!/^\d+$/.test(id)) throw notNumeric(`${searched.idColumn ?? 'id'} IN (%Ld)`);
  const row = rows.find((candidate) => candidate.id === Number(id));
  if (row === undefined) {
    throw refusal(`Cursor "${id}" does not identify a valid object in query "${searched.query}".`);
  }
  if (searched.isVisible(row, call)) return row;
  const name = searched.nameOf?.(row) ?? row.phid;
  throw refusal(`[You Shall Not Pass: ${name}] (Can View) You do not have permission to view this object.`);
}

function limitOf(limit: unknown): number {
  const size = limit === undefined || limit === null ? 100 : Number(limit);
  if (size < 1) {
    throw new ConduitError(
      'ERR-INVALID-PAGE-SIZE',
      `Minimum page size for Conduit API method calls is 1, but this call specified ${size}.`,
    );
  }
  if (size > 100) {
    throw new ConduitError(
      'ERR-INVALID-PAGE-SIZE',
      `Maximum page size for Conduit API method calls is 100, but this call specified ${size}.`,
    );
  }
  return size;
}

function cursorOf(cursor: unknown): string | null {
  return cursor === undefined || cursor === null || cursor === '' ? null : String(cursor);
}

function idOf(row: { id: number } | undefined): string | null {
  return row === undefined ? null : String(row.id);
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
