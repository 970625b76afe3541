// Tokens that the fake accepts: the owner of each, its permissions, and its uses.
import type { Permission, Permissions } from './permissions.ts';
import type { Caller } from './state.ts';

/** A token's first letters give its kind, like GitHub's; any other one gets 401. */
export const installationToken = 'ghs_workflow';
export const personalToken = 'ghp_person';

export type Tokens = {
  /** A new token of a job with only these permissions. */
  tokenWith: (permissions: Permissions) => string;
  /** Permissions that each token's calls needed, sorted: those that the job has to request in its workflow. */
  used: Record<string, Permission[]>;
};

export type TokenBook = Tokens & {
  /** Caller of a token; `permissions` are undefined if it may do everything. */
  holderOf: (authorization: string | undefined) => Holder | undefined;
  use: (token: string, permission: Permission) => void;
};

export type Holder = { token: string; caller: Caller; permissions: Permissions | undefined };

export function tokenBook(): TokenBook {
  const given = new Map<string, Permissions>();
  const used: TokenBook['used'] = {};
  return {
    used,
    tokenWith(permissions) {
      const token = `ghs_job${given.size + 1}`;
      given.set(token, permissions);
      return token;
    },
    holderOf(authorization) {
      // GitHub accepts both `Bearer` and `token`.
      const [, token = ''] = /^(?:bearer|token) (\S+)$/i.exec(authorization ?? '') ?? [];
      const caller = callerOf(token);
      return caller && { token, caller, permissions: given.get(token) };
    },
    use(token, permission) {
      used[token] = [...new Set([...(used[token] ?? []), permission])].sort();
    },
  };
}

function callerOf(token: string): Caller | undefined {
  if (token.startsWith('ghs_')) return { kind: 'installation', login: 'github-actions[bot]' };
  if (token.startsWith('ghp_')) return { kind: 'user', login: 'ppsgate-lab' };
  return undefined;
}
