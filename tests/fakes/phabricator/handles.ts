// Names objects by PHID, monogram or name: phid.query and phid.lookup.
import { asId, asList, type Call, isText, type Methods, phpMap } from './conduit.ts';
import {
  existing,
  maySee,
  maySeeBuild,
  maySeeBuildable,
  maySeeDiff,
  type Phid,
  type State,
  type User,
} from './state.ts';

type Handle = {
  phid: Phid;
  uri: string;
  typeName: string;
  type: string;
  name: string;
  fullName: string;
  status: 'open' | 'closed';
};

/** Finds an object that the viewer may see; a number is a revision's id. */
export function objectNamed(state: State, name: unknown, viewer: User): { phid: Phid } | undefined {
  const id = asId(name);
  if (id !== undefined) return state.revisions.find((r) => r.id === id && maySee(r, viewer));
  return handles(state, viewer).find((handle) => handle.phid === name || monogram(handle) === name);
}

export const handleMethods: Methods = {
  'phid.query': {
    params: ['phids'],
    run: (call) => found(call, asList(call.params.phids) ?? [], (handle) => handle.phid),
  },
  'phid.lookup': {
    params: ['names'],
    run: (call) => found(call, asList(call.params.names) ?? [], monogram),
  },
};

function found({ state, viewer }: Call, names: unknown[], nameOf: (handle: Handle) => string) {
  const all = handles(state, viewer);
  const entries = names.filter(isText).flatMap((name) => {
    const handle = all.find((candidate) => candidate.phid === name || nameOf(candidate) === name);
    return handle === undefined ? [] : [[name, handle] as const];
  });
  return phpMap(entries);
}

function monogram({ type, name, uri }: Handle): string {
  if (type === 'USER') return `@${name}`;
  if (type === 'PROJ') return `#${uri.split('/').at(-2)}`;
  return name;
}

/** Handles of everything that the viewer may see. */
function handles(state: State, viewer: User): Handle[] {
  const base = state.baseUri;
  const handle =
    (type: string, typeName: string) =>
    (phid: Phid, uri: string, name: string, fullName = name, isOpen = true): Handle => ({
      phid,
      uri: `${base}${uri}`,
      typeName,
      type,
      name,
      fullName,
      status: isOpen ? 'open' : 'closed',
    });
  const [revision, diff] = [handle('DREV', 'Differential Revision'), handle('DIFF', 'Differential Diff')];
  const [repository, project] = [handle('REPO', 'Repository'), handle('PROJ', 'Project')];
  const [user, buildable] = [handle('USER', 'User'), handle('HMBB', 'Buildable')];
  const [build, target] = [handle('HMBD', 'Build'), handle('HMBT', 'Build Target')];
  const builds = state.builds.filter((row) => maySeeBuild(state, row, viewer));
  return [
    ...state.revisions
      .filter((row) => maySee(row, viewer))
      .map(({ phid, id, title, status }) => revision(phid, `/D${id}`, `D${id}`, `D${id}: ${title}`, !isClosed(status))),
    ...state.diffs
      .filter((row) => maySeeDiff(state, row, viewer))
      .map(({ phid, id }) => diff(phid, `/differential/diff/${id}/`, `Diff ${id}`)),
    ...state.repositories.map(({ phid, id, shortName, callsign, name }) => {
      const short = callsign === null ? `R${id}` : `r${callsign}`;
      return repository(phid, `/source/${shortName}/`, short, `${short} ${name}`);
    }),
    ...state.projects.map(({ phid, slug, name }) => project(phid, `/tag/${slug}/`, name)),
    ...state.users.map(({ phid, username, realName }) =>
      user(phid, `/p/${username}/`, username, `${username} (${realName})`),
    ),
    ...state.buildables
      .filter((row) => maySeeBuildable(state, row, viewer))
      .map(({ phid, id, objectPHID }) => {
        const of = existing(state.diffs, objectPHID);
        return buildable(phid, `/B${id}`, `B${id}`, `B${id}: Diff ${of.id}`);
      }),
    ...builds.map(({ phid, id, planPHID }) => {
      const name = `Build ${id}: ${existing(state.plans, planPHID).name}`;
      return build(phid, `/harbormaster/build/${id}/`, name);
    }),
    ...state.targets.flatMap(({ phid, id, buildPHID }) => {
      const of = builds.find((row) => row.phid === buildPHID);
      const name = `Build Target ${id}`;
      return of === undefined ? [] : [target(phid, `/harbormaster/build/${of.id}/`, name)];
    }),
  ];
}

function isClosed(status: string): boolean {
  return status === 'abandoned' || status === 'published';
}
