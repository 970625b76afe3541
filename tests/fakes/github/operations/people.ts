// Users, and their permissions in the repository.
import { userDocument } from '../documents.ts';
import { inRepository, notFound, type Operation, type Role, type State } from '../state.ts';

export const peopleOperations = {
  'repos/get-collaborator-permission-level': inRepository((state, { params }) => {
    const login = params.username ?? '';
    const role = roleOf(state, login);
    if (role === undefined) return { ...notFound, body: notAUser(login) };
    return {
      status: 200,
      body: {
        permission: permissions[role],
        role_name: role,
        user: { ...userDocument(login), role_name: role },
      },
    };
  }),
} satisfies Record<string, Operation>;

/** The older names, which GitHub returns besides the roles. */
const permissions: Readonly<Record<Role, string>> = {
  admin: 'admin',
  maintain: 'write',
  write: 'write',
  triage: 'read',
  read: 'read',
  none: 'none',
};

/** Any user may read public data; undefined for an unknown login. */
function roleOf(state: State, login: string): Role | undefined {
  const isLogin = (other: string) => other.toLowerCase() === login.toLowerCase();
  const [, role] = Object.entries(state.permissions).find(([other]) => isLogin(other)) ?? [];
  const authors = [...state.pullRequests, ...state.comments].map(({ author }) => author);
  if (role === undefined && !authors.some(isLogin)) return undefined;
  const least = state.isPrivate ? 'none' : 'read';
  return role === undefined || role === 'none' ? least : role;
}

function notAUser(login: string): object {
  return { message: `${login} is not a user`, status: '404' };
}
