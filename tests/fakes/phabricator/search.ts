// Shared parts of the `*.search` methods: constraints, attachments, orders and pages.
import { asList, type Call, ConduitError, isMap, isText, type Method, refusal } from './conduit.ts';
import type { State } from './state.ts';

type Search<Row> = {
  /** A PHID type such as `DREV`. */
  type: string;
  /** The query's name in the real server's code, used in its errors. */
  query: string;
  rows: (state: State) => Row[];
  /** Absent: all users see every row. */
  isVisible?: (row: Row, call: Call) => boolean;
  /** Besides `ids` and `phids`, which all searches support. */
  constraints?: { [name: string]: Constraint<Row> };
  attachments?: { [name: string]: (row: Row) => unknown };
  orders?: { [name: string]: (a: Row, b: Row) => number };
  /** Fields that ppsgate reads. */
  fields: (row: Row, call: Call) => { [name: string]: unknown };
  /** `rows` are those of the page. */
  maps?: (call: Call, rows: readonly Row[]) => { [name: string]: unknown };
};

type Constraint<Row> = {
  type: 'integers' | 'strings' | 'epoch';
  matches: (row: Row, value: never) => boolean;
};

type Identified = { id: number; phid: string };

export function search<Row extends Identified>(searched: Search<Row>): Method {
  return {
    params: ['constraints', 'attachments', 'order', 'after', 'limit'],
    run: (call) => answer(searched, call),
  };
}

export function strings<Row>(of: (row: Row) => string | null): Constraint<Row> {
  return { type: 'strings', matches: (row, values: (string | null)[]) => values.includes(of(row)) };
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

/** Rows of one page, and its cursor; also for `transaction.search`. */
export function pageOf<Row extends { id: number }>(
  sorted: readonly Row[],
  { params }: Pick<Call, 'params'>,
  isWanted: (row: Row) => boolean,
  query: string,
): { rows: Row[]; cursor: { limit: number; after: string | null } } {
  const limit = limitOf(params.limit);
  const { after } = params;
  const start = sorted.findIndex(({ id }) => String(id) === after) + 1;
  if (after !== undefined && start === 0) {
    throw refusal(`Cursor "${after}" does not identify a valid object in query "${query}".`);
  }
  const wanted = sorted.slice(start).filter(isWanted);
  const rows = wanted.slice(0, limit);
  return { rows, cursor: { limit, after: wanted.length > limit ? String(rows.at(-1)?.id) : null } };
}

function answer<Row extends Identified>(searched: Search<Row>, call: Call): unknown {
  const { isVisible = () => true, attachments = {}, query } = searched;
  const filter = filterOf(searched, call);
  const attached = Object.keys(call.params.attachments ?? {}).map((name) => {
    const attach = attachments[name];
    if (attach !== undefined) return [name, attach] as const;
    throw new ConduitError('ERR-INVALID-ATTACHMENT', 'Parameter "attachments" includes an invalid key.');
  });
  const { order = 'newest' } = call.params;
  const newest = (a: Row, b: Row) => b.id - a.id;
  const compare = order === 'newest' ? newest : searched.orders?.[String(order)];
  if (compare === undefined) throw refusal(`Query "${query}" does not support a builtin order "${order}".`);
  const sorted = searched.rows(call.state).toSorted((a, b) => compare(a, b) || newest(a, b));
  const { rows, cursor } = pageOf(sorted, call, (row) => isVisible(row, call) && filter(row), query);
  const data = rows.map((row) => ({
    id: row.id,
    type: searched.type,
    phid: row.phid,
    fields: searched.fields(row, call),
    attachments: Object.fromEntries(attached.map(([name, attach]) => [name, attach(row)])),
  }));
  return { data, maps: searched.maps?.(call, rows) ?? {}, cursor };
}

function filterOf<Row extends Identified>(searched: Search<Row>, { params }: Call): (row: Row) => boolean {
  const constraints = params.constraints ?? {};
  if (!isMap(constraints)) {
    throw new ConduitError('ERR-INVALID-CONSTRAINTS-FORMAT', 'Parameter "constraints" must be a map of constraints.');
  }
  const known: { [name: string]: Constraint<Row> } = {
    ids: { type: 'integers', matches: (row, ids: number[]) => ids.includes(row.id) },
    phids: strings((row) => row.phid),
    ...searched.constraints,
  };
  const filters = Object.entries(constraints).map(([name, given]) => {
    const constraint = known[name];
    if (constraint === undefined) {
      throw new ConduitError('ERR-INVALID-CONSTRAINT', 'Parameter "constraints" includes an invalid key.');
    }
    // The result of `read` has the type that the constraint names.
    const value = read(name, constraint.type, given) as never;
    return (row: Row) => constraint.matches(row, value);
  });
  return (row) => filters.every((filter) => filter(row));
}

function read(name: string, type: Constraint<never>['type'], given: unknown): unknown {
  const wrong = (of: string, what: string) => refusal(`Error while reading "${of}": ${what}`);
  if (type === 'epoch') {
    if (Number.isInteger(given)) return given;
    throw wrong(name, 'Expected integer, got something else.');
  }
  const list = asList(given);
  if (list === undefined) throw wrong(name, 'Expected a list, but value is not a list.');
  if (list.length === 0) throw wrong(name, 'Expected a nonempty list, but value is an empty list.');
  const at = list.findIndex((value) => !(type === 'integers' ? Number.isInteger(value) : isText(value)));
  const what = type === 'integers' ? 'integer' : 'string';
  if (at !== -1) throw wrong(`${name}[${at}]`, `Expected ${what}, got something else.`);
  return list;
}

function limitOf(limit: unknown): number {
  const size = Number(limit ?? 100);
  if (size >= 1 && size <= 100) return size;
  const bound =
    size < 1
      ? 'Minimum page size for Conduit API method calls is 1'
      : 'Maximum page size for Conduit API method calls is 100';
  throw new ConduitError('ERR-INVALID-PAGE-SIZE', `${bound}, but this call specified ${size}.`);
}
