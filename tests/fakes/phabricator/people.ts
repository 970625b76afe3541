// Users, projects, repositories and files.
import { isText, type Method, type Methods, refusal } from './conduit.ts';
import { names, search } from './search.ts';
import { type FakeFile, maySee, newRecord, type Project, type Repository, type User } from './state.ts';

const whoami: Method = {
  params: [],
  run: ({ viewer }) => ({ phid: viewer.phid, userName: viewer.username, roles: rolesOf(viewer, 'agent') }),
};

const userSearch = search<User>({
  type: 'USER',
  query: 'PhabricatorPeopleQuery',
  rows: (state) => state.users,
  constraints: { usernames: names((user) => user.username) },
  fields: (user) => ({ username: user.username, roles: rolesOf(user, 'bot') }),
});

function rolesOf(user: User, bot: 'agent' | 'bot'): string[] {
  return [
    ...(user.isDisabled ? ['disabled'] : []),
    ...(user.isBot ? [bot] : []),
    ...(user.isAdmin ? ['admin'] : []),
    'verified',
    'approved',
    ...(user.isDisabled ? [] : ['activated']),
  ];
}

const slugIn = (given: string): string => given.replace(/^#/, '');

const projectSearch = search<Project>({
  type: 'PROJ',
  query: 'PhabricatorProjectQuery',
  rows: (state) => state.projects,
  constraints: { slugs: names((project) => project.slug, slugIn) },
  attachments: { members: (project) => ({ members: project.members.map((phid) => ({ phid })) }) },
  fields: ({ slug }) => ({ slug }),
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

const repositorySearch = search<Repository>({
  type: 'REPO',
  query: 'PhabricatorRepositoryQuery',
  rows: (state) => state.repositories,
  constraints: {
    callsigns: names((repository) => repository.callsign),
    shortNames: names((repository) => repository.shortName),
  },
  fields: ({ callsign, shortName }) => ({ callsign, shortName, policy: { edit: 'admin' } }),
});

const fileSearch = search<FakeFile>({
  type: 'FILE',
  query: 'PhabricatorFileQuery',
  rows: (state) => state.files,
  isVisible: (file, { viewer }) => maySee(file, viewer),
  fields: ({ name }) => ({ name }),
});

const upload: Method = {
  params: ['data_base64', 'name', 'viewPolicy'],
  writes: 'file',
  run: ({ state, params, viewer }) => {
    const { data_base64: base64, name, viewPolicy } = params;
    if (!isText(base64) || base64 === '') throw refusal('Field "data_base64" must be non-empty.');
    if (!/^[\w+/\s]*=*\s*$/.test(base64)) throw refusal('Unable to decode base64 data!');
    const file = {
      ...newRecord(state, 'FILE'),
      name: String(name),
      bytes: Buffer.from(base64, 'base64'),
      authorPHID: viewer.phid,
      // The server also accepts a policy that does not exist, which admits no user.
      viewPolicy: isText(viewPolicy) ? viewPolicy : 'users',
    };
    state.files.push(file);
    return file.phid;
  },
};

export const peopleMethods: Methods = {
  'user.whoami': whoami,
  'user.search': userSearch,
  'project.search': projectSearch,
  'diffusion.repository.search': repositorySearch,
  'file.search': fileSearch,
  'file.upload': upload,
};
