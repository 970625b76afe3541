// What the server knows of a request, and of how it is to be served.
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
  /** Where the request breaks GitHub's description, in words. */
  mistakes: () => string | undefined;
  /** Does what is asked; a `mistake` is one of the fake itself. */
  carryOut: (caller: Caller) => Answer | { mistake: string };
  /** How it is refused for want of a permission, where that is not the usual 403. */
  forbidden?: Answer;
};
