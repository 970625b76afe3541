// remarkup.process, of which the fake knows only bold text in one paragraph.
import { asList, ConduitError, isText, type Methods, refusal } from './conduit.ts';

export const remarkupMethods: Methods = {
  'remarkup.process': {
    params: ['context', 'contents'],
    run: ({ params }) => {
      const { context } = params;
      if (!isText(context) || !contexts.includes(context)) {
        throw new ConduitError('ERR-INVALID-ENGINE', 'Invalid markup engine.');
      }
      return (asList(params.contents) ?? []).map((text) => ({ content: paragraph(text) }));
    },
  },
};

const contexts = ['phriction', 'maniphest', 'differential', 'phame', 'feed', 'diffusion'];

function paragraph(text: unknown): string {
  if (!isText(text) || !/^[\w *.,-]*$/.test(text)) {
    throw refusal('The fake only renders words and **bold** ones.');
  }
  return `<p>${text.replace(/\*\*(.+?)\*\*/g, '<strong>$1</strong>')}</p>`;
}
