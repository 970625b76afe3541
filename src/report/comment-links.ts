// Defines the links and corrections that only the poster of a comment knows.

import type { GraphLinks } from './change-reason.ts';
import { type Detail, detailList, quoted, type Text } from './document.ts';

export type { CommentDocument } from './document.ts';

export type CommentLinks = GraphLinks & {
  isOnRevision?: boolean;
  /** Command for more runs. */
  goOn?: string | undefined;
  /** A picture of the result: the forge's reference, its URL, or a file name beside the report. */
  image?: string;
  /** Sentences from the measuring job about the result, unverified. */
  corrections?: readonly string[];
  footer: readonly Text[];
};

export const correctionsOf = ({ corrections = [] }: CommentLinks): Detail[] =>
  detailList(
    'runs',
    'Not verified: the measuring job reports otherwise',
    corrections.map((sentence) => quoted(sentence, 500)),
  );
