// Request as the server sees it, and the handler that serves it.
import type { Answer, Caller } from './state.ts';

export type Asked = {
  method: string;
  url: URL;
  path: string;
  query: Record<string, string>;
  headers: Record<string, string>;
  bytes: Buffer;
  /** The same as text. */
  body: string;
};

export type Route = {
  operationId: string;
  /** Needs no token. */
  isForAll?: true;
  /** Violations of GitHub's description, in words. */
  mistakes: () => string | undefined;
  /** Carries out the request; a `mistake` is one of the fake itself. */
  carryOut: (caller: Caller) => Answer | { mistake: string };
  /** Refusal without the permission, if it is not the usual 403. */
  forbidden?: Answer;
};
