// Text of others becomes a value or a sentence quickly; bench/hostile-text.ts has the bounds.
import { describe, expect, test } from 'vitest';
import { ProfileError } from '../src/analysis/profile/profile-error.ts';
import { MinistatInputError } from '../src/analysis/stats/columns.ts';
import { parsers, shapes } from './fakes/hostile-text.ts';

/** A parser that tries every letter again at every letter takes minutes for these, and one that does not milliseconds. */
const characters = 256 * 1024;

const alone = { alone: (text: string) => text };

describe.each(parsers)('$name', ({ places = alone, read }) => {
  // Attack read/slow-text: Megabytes of blanks, digits or brackets stall a parser of profiles, logs, diffs or comments.
  // Defence: Every parser runs in linear time; profiles have bounds on lines, stacks, functions and frames.
  // Attack read/console
  test.each(Object.entries(places))(
    'is read, or refused in a sentence, with any text %s',
    (_, put) => {
      for (const shape of Object.values(shapes)) {
        const complaint = complaintOf(() => read(put(shape(characters))));
        expect(complaint).toMatch(/^(?:|[^\n]{1,2000}\.)$/);
      }
    },
  );
});

/** Nothing where it is read; what is no error of ours is thrown on. */
function complaintOf(parse: () => unknown): string {
  try {
    parse();
    return '';
  } catch (error) {
    const isOurs = error instanceof ProfileError || error instanceof MinistatInputError;
    if (!isOurs) throw error;
    return error.message;
  }
}
