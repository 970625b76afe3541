// Stores artifacts outside GitHub's API: uploads by a test action, downloads by a redirect.
import type { Asked, Route } from './route.ts';
import { nextId, notFound, type State } from './state.ts';

/** `PUT /_artifacts/RUN/NAME` with a zip, and `GET /_artifacts/ID.zip`, which needs no token. */
export function artifactRoute(state: State, asked: Asked): Route | undefined {
  const [, runId, name] = /^\/_artifacts\/(\d+)\/([^/]+)$/.exec(asked.path) ?? [];
  if (asked.method === 'PUT' && runId !== undefined && name !== undefined)
    return uploadOf(state, { runId: Number(runId), name: decodeURIComponent(name) }, asked);
  const [, id] = /^\/_artifacts\/(\d+)\.zip$/.exec(asked.path) ?? [];
  return asked.method === 'GET' && id !== undefined ? fetchOf(state, Number(id), asked) : undefined;
}

function uploadOf(state: State, which: { runId: number; name: string }, asked: Asked): Route {
  return {
    operationId: 'artifacts/upload',
    mistakes: () => undefined,
    carryOut: () => {
      const isThere = state.artifacts.some(({ runId, name }) => runId === which.runId && name === which.name);
      if (isThere) return { status: 409, body: { message: 'an artifact with this name exists' } };
      const id = nextId(7001, state.artifacts);
      state.artifacts.push({ id, ...which, bytes: asked.bytes });
      return { status: 201, body: { id } };
    },
  };
}

function fetchOf(state: State, wanted: number, asked: Asked): Route {
  return {
    operationId: 'artifacts/fetch',
    isForAll: true,
    mistakes: () => asked.headers.authorization && 'A token was sent to where artifacts lie, which is not GitHub.',
    carryOut: () => {
      const artifact = state.artifacts.find(({ id }) => id === wanted);
      return artifact === undefined ? notFound : { status: 200, bytes: artifact.bytes };
    },
  };
}
