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

export type Call = { state: State; params: Values; viewer: User };

export type Method = {
  /** Names of all accepted parameters; any other is refused before the token is checked. */
  params: readonly string[];
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

export function asList(value: unknown): unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

export function isText(value: unknown): value is string {
  return typeof value === 'string';
}
