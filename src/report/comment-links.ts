// Links and corrections that only the poster of a comment knows.

import type { GraphLinks } from './change-reason.ts';
import { type Block, foldedList, quoted, type Text } from './document.ts';

export type { CommentDocument } from './document.ts';

export type CommentLinks = GraphLinks & {
  /** The comment stands on a revision of Phabricator. */
  isOnRevision?: boolean;
  /** Words that ask for more runs. */
  goOn?: string | undefined;
  /** A picture of the result: what the forge calls it, its URL, or the name of one that lies beside the report. */
  image?: string;
  /** Sentences of the measuring job about the result that were not verified. */
  corrections?: readonly string[];
  footer: readonly Text[];
};

export const correctionsOf = ({ corrections = [] }: CommentLinks): Block[] =>
  foldedList(
    'said otherwise where it was measured, and not verified',
    corrections.map((sentence) => quoted(sentence, 500)),
  );
