// Calls that the server allows, but a well-behaved bot never makes.
import { asList, type Call, isMap, isText } from './conduit.ts';
import { revisionNamed } from './differential.ts';
import { effectsOf } from './remarkup-rules.ts';

const messageTypes = ['work', 'pass', 'fail'];
const unitResults = ['pass', 'fail', 'skip', 'broken', 'unsound'];

/** Sentences on requests that a bot must not make, though people may. */
export function misdeeds(method: string, { state, params, viewer }: Call): string[] {
  if (!viewer.isBot) return [];
  if (method === 'harbormaster.sendmessage') return wrongMessage(params.type, params.unit);
  if (method !== 'differential.revision.edit') return [];
  const objectPHID = revisionNamed(state, params.objectIdentifier)?.phid;
  return (asList(params.transactions) ?? []).filter(isMap).flatMap(({ value }) => {
    if (!isText(value)) return [];
    const names = effectsOf(value).flatMap(({ kind, text }) => (kind === 'mention' ? text : []));
    const isRepeated = state.transactions.some(
      ({ comment, authorPHID, ...one }) =>
        comment?.raw === value && authorPHID === viewer.phid && one.objectPHID === objectPHID,
    );
    return [
      ...names.map((name) => `A comment mentions ${name} outside of code, which subscribes them.`),
      ...(isRepeated ? ['A comment was posted twice on the same revision.'] : []),
    ];
  });
}

function wrongMessage(type: unknown, units: unknown): string[] {
  const results = (asList(units) ?? []).filter(isMap).map(({ result }) => result);
  return [
    ...(isText(type) && !messageTypes.includes(type)
      ? [`harbormaster.sendmessage was called with the type "${type}", which only people send.`]
      : []),
    ...results
      .filter((result) => isText(result) && !unitResults.includes(result))
      .map((result) => `A unit has the result "${result}", which is none.`),
  ];
}
