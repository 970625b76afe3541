// Users and projects: user.* and project.*.
import { isText, type Method, type Methods } from './conduit.ts';
import { identity, names, search, strings } from './search.ts';
import { byPhid, type Project, type State, type User } from './state.ts';

const whoami: Method = {
  params: [],
  run: ({ state, viewer }) => ({
    phid: viewer.phid,
    userName: viewer.username,
    realName: viewer.realName,
    image: viewer.imageUri,
    uri: userUri(state, viewer),
    roles: rolesOf(viewer, 'agent'),
    primaryEmail: viewer.email,
  }),
};

const userSearch = search<User>({
  type: 'USER',
  query: 'PhabricatorPeopleQuery',
  idColumn: 'user.id',
  rows: (state) => state.users,
  isVisible: () => true,
  constraints: {
    ...identity(),
    usernames: names((user) => user.username),
    isBot: { type: 'flag', matches: (user: User, isBot: boolean) => user.isBot === isBot },
    isAdmin: { type: 'flag', matches: (user: User, isAdmin: boolean) => user.isAdmin === isAdmin },
    isDisabled: {
      type: 'flag',
      matches: (user: User, isDisabled: boolean) => user.isDisabled === isDisabled,
    },
  },
  fields: (user) => ({
    username: user.username,
    realName: user.realName,
    roles: rolesOf(user, 'bot'),
    dateCreated: user.dateCreated,
    dateModified: user.dateModified,
    policy: { view: 'public', edit: user.isBot ? 'admin' : 'no-one' },
  }),
});

const slugIn = (given: string): string => given.replace(/^#/, '');

const projectSearch = search<Project>({
  type: 'PROJ',
  query: 'PhabricatorProjectQuery',
  rows: (state) => state.projects,
  isVisible: () => true,
  constraints: {
    ...identity(),
    slugs: names((project) => project.slug, slugIn),
    members: strings((project, { state }) => [
      ...project.members,
      ...project.members.map((phid) => byPhid(state.users, phid)?.username ?? ''),
    ]),
    name: {
      type: 'text',
      matches: (project: Project, name: string) => project.name.toLowerCase().includes(name.toLowerCase()),
    },
  },
  attachments: {
    members: (project) => ({ members: project.members.map((phid) => ({ phid })) }),
  },
  fields: (project) => ({
    name: project.name,
    slug: project.slug,
    subtype: 'default',
    milestone: null,
    depth: 0,
    parent: null,
    icon: { key: 'project', name: 'Project', icon: 'fa-briefcase' },
    color: { key: 'blue', name: 'Blue' },
    status: 'active',
    spacePHID: null,
    dateCreated: project.dateCreated,
    dateModified: project.dateModified,
    policy: { view: 'users', edit: project.editPolicy, join: 'users' },
    description: project.description === '' ? null : project.description,
  }),
  // By the requested slugs, of the projects that were found.
  maps: ({ params }, found) => {
    const { slugs = [] } = (params.constraints ?? {}) as { slugs?: string[] };
    const entries = slugs.flatMap((asked) => {
      const named = found.find(({ slug }) => slug === slugIn(asked).toLowerCase());
      return named ? [[asked, { slug: named.slug, projectPHID: named.phid }]] : [];
    });
    return { slugMap: Object.fromEntries(entries) };
  },
});

export const peopleMethods: Methods = {
  'user.whoami': whoami,
  'user.search': userSearch,
  'project.search': projectSearch,
};

function userUri(state: State, user: User): string {
  return `${state.baseUri}/p/${user.username}/`;
}

/** True for the user of a PHID or a name, as searches for people accept both. */
export function isUser(user: User, given: unknown): boolean {
  return isText(given) && (given === user.phid || given === user.username);
}

function rolesOf(user: User, bot: 'agent' | 'bot'): string[] {
  return [
    ...(user.isDisabled ? ['disabled'] : []),
    ...(user.isBot ? [bot] : []),
    ...(user.isAdmin ? ['admin'] : []),
    'verified',
    'approved',
    'activated',
  ].filter((role) => role !== 'activated' || !user.isDisabled);
}
