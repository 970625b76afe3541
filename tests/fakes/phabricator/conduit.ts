// Shared parts of all Conduit methods: description, call and refusal.
import type { State, User } from './state.ts';

export type Values = { [name: string]: unknown };

/** A refusal: HTTP 200 with `error_code` and `error_info`. */
export class ConduitError extends Error {
  readonly code: string;
  constructor(code: string, info: string) {
    super(info);
    this.code = code;
  }
}

export type Call = {
  state: State;
  params: Values;
  viewer: User;
  /** Form fields are all text, which counts as numbers and booleans where JSON's would not. */
  isForm: boolean;
};

export type Method = {
  /** Names of all accepted parameters; any other is refused before the token is checked. */
  params: readonly string[];
  /** Needs no token. */
  isForAll?: boolean;
  /** The database that it writes to, without `phabricator_`. */
  writes?: string;
  /** The `result`. @throws ConduitError */
  run: (call: Call) => unknown;
};

export type Methods = { [name: string]: Method };

/** The catch-all of the real server. */
export function refusal(info: string): ConduitError {
  return new ConduitError('ERR-CONDUIT-CORE', info);
}

export function isMap(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A list as sent in JSON, or as numbered form fields. */
export function asList(value: unknown): unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

export function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** PHP writes an empty map as an empty list. */
export function phpMap(entries: readonly (readonly [string, unknown])[]): unknown {
  return entries.length === 0 ? [] : Object.fromEntries(entries);
}

/** The id in a number, or in text that is nothing else. */
export function asId(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  return isText(value) && /^\d+$/.test(value) ? Number(value) : undefined;
}

/** Error of the real server if a text is compared with a numeric column. */
export function notNumeric(query: string): ConduitError {
  return refusal(`Expected a numeric scalar or null for %Ld conversion. Query: ${query}`);
}
