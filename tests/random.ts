// Tests laws at random: a few times on each change, and many times in long runs.
import fc from 'fast-check';

/** Number of tries of a law: as requested, and twenty times as many with `npm run test:long`. */
export const times = (onEachChange: number): number => onEachChange * Number(process.env.PPSGATE_TEST_TIMES ?? 1);

// Default number for laws.
fc.configureGlobal({ numRuns: times(100) });

/** Any code point but a surrogate, for `fc.string`; the table of fast-check's own `binary` takes a second to fill. */
export const anyCharacter: fc.Arbitrary<string> = fc.nat(0x10f7ff).map(
  (place) => String.fromCodePoint(place < 0xd800 ? place : place + 0x800),
  (value) => {
    if (typeof value !== 'string' || !/^[^\p{Cs}]$/su.test(value)) throw new Error('not one character');
    const code = value.codePointAt(0) ?? 0;
    return code < 0xd800 ? code : code - 0x800;
  },
);
