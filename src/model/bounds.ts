// Bounds the numbers, texts and lists of data from outside. A bound refuses nothing that was ever measured.
import { z } from 'zod';

const mostCount = 10_000_000;
const leastRate = 1e-9;
const mostRate = 1e15;
export const mostChange = 1e300;

/** Runs, trials, boots, cells, commits, flows: few enough for a loop. */
export const count = z.int().nonnegative().max(mostCount);
export const ordinal = count.positive();
/** Packets, instructions, bytes, ids: never looped over, exact in a double. */
export const total = z.int().nonnegative();
export const id = z.int().positive();

/** Per second, or ns or instructions per packet: the logarithm of any ratio is finite. */
export const measured = z.number().min(leastRate).max(mostRate);
/** As `measured`, or nothing. */
export const rate = z
  .number()
  .nonnegative()
  .max(mostRate)
  .refine((value) => value === 0 || value >= leastRate);
/** Computed from rates. */
export const level = z.number().nonnegative().max(mostChange);
/** Squares of logarithms. */
export const sumOfSquares = z.number().nonnegative().max(1e12);
export const seconds = z.number().nonnegative().max(1e9);
/** From 0 to 1; sums of shares may miss both by a rounding. */
export const share = z
  .number()
  .min(-1e-6)
  .max(1 + 1e-6);

/** Ratio to what was before, minus one. */
export const change = z.number().min(-1).max(mostChange);

/** Refused beyond `most` characters. */
export const text = (most: number) => z.string().max(most);
export const name = text(250);
/** A bisection names each fix-up, too. */
export const variant = text(2000);
export const path = text(4096);
/** Name, id or address in another service. */
export const word = text(4096);
/** A file, a diff, a comment, the output of a command: the largest answer that is read. */
export const mostDocument = 32 * 1024 ** 2;
export const document = text(mostDocument);
export const url = z.url().max(4096);
/** A format allows any number of decimals. */
export const time = z.iso.datetime().max(40);

/** Cuts text that only people read after `most` characters, as logs and patches have lines of any length. */
export const prose = (most = 20_000) =>
  z
    .string()
    .overwrite((said) =>
      (said.length > most ? `${said.slice(0, most - 1)}…` : said).toWellFormed(),
    );
export const line = prose(4000);

export const list = <Item extends z.ZodType>(item: Item, most = 10_000) => z.array(item).max(most);

const record = <Value extends z.ZodType>(key: z.ZodString, value: Value, most: number) =>
  z.record(key, value).refine((entries) => Object.keys(entries).length <= most);
export const byName = <Value extends z.ZodType>(value: Value) => record(name, value, 1000);
export const byVariant = <Value extends z.ZodType>(value: Value) => record(variant, value, 1000);
export const facts = byName(line);
