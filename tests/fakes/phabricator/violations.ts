// Calls that the server allows, but a well-behaved bot never makes.
import { asList, type Call, isMap, isText } from './conduit.ts';
import type { Encoding } from './encoding.ts';
import { objectNamed } from './handles.ts';
import { mentioned } from './revision-edit.ts';

const messageTypes = ['work', 'pass', 'fail', 'restart', 'abort', 'pause', 'resume'];
const unitResults = ['pass', 'fail', 'skip', 'broken', 'unsound'];

/** Sentences on violations in the form of a call. */
export function manners(method: string, encoding: Encoding, headers: { cookie?: string | undefined }): string[] {
  return [
    ...(encoding === 'query' ? [`${method} was called with its token in the URL.`] : []),
    ...(encoding === 'form' || encoding === 'brackets'
      ? [`${method} was called with form fields, whose types get lost: use params= with JSON.`]
      : []),
    ...(headers.cookie === undefined ? [] : [`${method} was called with a cookie.`]),
  ];
}

/** Sentences on requests that a bot must not make, though people may. */
export function misdeeds(method: string, { state, params, viewer }: Call): string[] {
  if (!viewer.isBot) return [];
  if (method === 'harbormaster.sendmessage') return wrongMessage(params.type, params.unit);
  if (method !== 'differential.revision.edit') return [];
  const objectPHID = objectNamed(state, params.objectIdentifier, viewer)?.phid;
  return (asList(params.transactions) ?? []).filter(isMap).flatMap(({ type, value }) => {
    if (type !== 'comment') return [`${method} was called with a transaction of type "${type}".`];
    if (!isText(value)) return [];
    const names = mentioned(value).filter((name) => state.users.some((u) => u.username === name));
    const isRepeated = state.transactions.some(
      ({ comment, authorPHID, ...one }) =>
        comment?.raw === value && authorPHID === viewer.phid && one.objectPHID === objectPHID,
    );
    return [
      ...names.map((name) => `A comment mentions @${name} outside of code, which subscribes them.`),
      ...(isRepeated ? ['A comment was posted twice on the same revision.'] : []),
    ];
  });
}

function wrongMessage(type: unknown, units: unknown): string[] {
  const results = (asList(units) ?? []).filter(isMap).map(({ result }) => result);
  return [
    ...(isText(type) && !messageTypes.includes(type)
      ? [`harbormaster.sendmessage was called with the type "${type}", which nothing answers to.`]
      : []),
    ...results
      .filter((result) => isText(result) && !unitResults.includes(result))
      .map((result) => `A unit has the result "${result}", which is none.`),
  ];
}
