// diffusion.*: repositories, and the commits that the server has read from them.
import type { Methods } from './conduit.ts';
import { identity, names, search, strings } from './search.ts';
import { type Commit, existing, type Repository, type State } from './state.ts';

const repositorySearch = search<Repository>({
  type: 'REPO',
  query: 'PhabricatorRepositoryQuery',
  rows: (state) => state.repositories,
  isVisible: () => true,
  constraints: {
    ...identity(),
    callsigns: names((repository) => repository.callsign),
    shortNames: names((repository) => repository.shortName),
    types: strings((repository) => repository.vcs),
  },
  attachments: {
    uris: (repository, { state }) => ({
      uris: repository.uris.toSorted((a, b) => b.id - a.id).map((uri) => shownUri(state, repository, uri)),
    }),
    metrics: ({ phid }, { state }) => {
      const commits = state.commits.filter(({ repositoryPHID }) => repositoryPHID === phid);
      const recent = commits.at(-1);
      const recentCommit = recent === undefined ? null : commitFields(state, recent);
      return { commitCount: commits.length, recentCommit };
    },
    projects: () => ({ projectPHIDs: [] }),
  },
  fields: (repository, { state }) => ({
    name: repository.name,
    vcs: repository.vcs,
    callsign: repository.callsign,
    shortName: repository.shortName,
    status: 'active',
    isHosted: true,
    isImporting: false,
    encoding: 'UTF-8',
    staging: { supported: true, prefix: 'phabricator', uri: null },
    browseUri: `${state.baseUri}/source/${repository.shortName}/`,
    almanacServicePHID: null,
    refRules: { fetchRules: [], trackRules: [], permanentRefRules: [] },
    defaultBranch: repository.defaultBranch,
    description: { raw: repository.description },
    spacePHID: null,
    dateCreated: repository.dateCreated,
    dateModified: repository.dateModified,
    policy: { view: 'users', edit: 'admin', 'diffusion.push': 'users' },
  }),
});

const commitSearch = search<Commit>({
  type: 'CMIT',
  query: 'DiffusionCommitQuery',
  rows: (state) => state.commits,
  isVisible: () => true,
  constraints: {
    ...identity(),
    repositories: strings((commit) => commit.repositoryPHID),
    identifiers: strings((commit) => commit.identifier),
  },
  fields: (commit, { state }) => ({
    ...commitFields(state, commit),
    policy: { view: 'users', edit: 'users' },
  }),
});

export const repositoryMethods: Methods = {
  'diffusion.repository.search': repositorySearch,
  'diffusion.commit.search': commitSearch,
};

function shownUri(state: State, repository: Repository, uri: Repository['uris'][number]): unknown {
  const path = {
    id: `diffusion/${repository.id}`,
    callsign: `diffusion/${repository.callsign}`,
    shortname: `source/${repository.shortName}`,
  }[uri.identifier];
  const file = uri.identifier === 'shortname' ? '.git' : `/${repository.shortName}.git`;
  const display = `ssh://${new URL(state.baseUri).hostname}/${path}${file}`;
  const shown = uri.identifier === 'shortname' ? 'always' : 'never';
  return {
    id: String(uri.id),
    type: 'RURI',
    phid: uri.phid,
    fields: {
      repositoryPHID: repository.phid,
      uri: {
        raw: `ssh://${uri.identifier}`,
        display,
        effective: display,
        normalized: `<base-uri>/${path}`,
      },
      io: { raw: 'default', default: 'readwrite', effective: 'readwrite' },
      display: { raw: 'default', default: shown, effective: shown },
      credentialPHID: null,
      disabled: false,
      builtin: { protocol: 'ssh', identifier: uri.identifier },
      dateCreated: String(uri.date),
      dateModified: String(uri.date),
    },
  };
}

function commitFields(state: State, commit: Commit): { [name: string]: unknown } {
  const { realName: name, email, phid } = existing(state.users, commit.authorPHID);
  const person = {
    name,
    email,
    raw: `${name} <${email}>`,
    epoch: commit.epoch,
    identityPHID: commit.identityPHID,
    userPHID: phid,
  };
  return {
    identifier: commit.identifier,
    repositoryPHID: commit.repositoryPHID,
    author: person,
    committer: person,
    isUnreachable: false,
    isImported: true,
    auditStatus: { value: 'none', name: 'No Audits', closed: true, 'color.ansi': null },
    message: commit.message,
  };
}
