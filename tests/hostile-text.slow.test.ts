// Foreign text is parsed, or rejected with a sentence, quickly; bench/hostile-text.ts has the limits.
import { describe, expect, test } from 'vitest';
import { ProfileError } from '../src/analysis/profile/profile-error.ts';
import { UsageError } from '../src/model/usage-error.ts';
import { parsers, shapes } from './fakes/hostile-text.ts';

/** A parser that retries every letter at every letter needs minutes for these, a linear one milliseconds. */
const characters = 256 * 1024;

const alone = { alone: (text: string) => text };

describe.each(parsers)('$name', ({ places = alone, read }) => {
  test.each(Object.entries(places))('is read, or refused in a sentence, with any text %s', (_, put) => {
    for (const shape of Object.values(shapes)) {
      const complaint = complaintOf(() => read(put(shape(characters))));
      expect(complaint).toMatch(/^(?:|[^\n]{1,2000}\.)$/);
    }
  });
});

/** Empty if the text is accepted; rethrows errors that are not ours. */
function complaintOf(parse: () => unknown): string {
  try {
    parse();
    return '';
  } catch (error) {
    const isOurs = error instanceof ProfileError || error instanceof UsageError;
    if (!isOurs) throw error;
    return error.message;
  }
}
