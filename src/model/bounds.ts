// Bounds the numbers, texts and lists of data from outside, well above every measured value.
import { z } from 'zod';

const maxCount = 10_000_000;
const minRate = 1e-9;
const maxRate = 1e15;
export const maxChange = 1e300;

/** Runs, trials, boots, cells, commits, flows: small enough to loop over. */
export const count = z.int().nonnegative().max(maxCount);
export const ordinal = count.positive();
/** Packets, instructions, bytes, ids: never looped over; exact in a double. */
export const total = z.int().nonnegative();
export const id = z.int().positive();

/** Per second, or ns or instructions per packet. The logarithm of any ratio of two is finite. */
export const measured = z.number().min(minRate).max(maxRate);
/** Like `measured`, or zero. */
export const rate = z
  .number()
  .nonnegative()
  .max(maxRate)
  .refine((value) => value === 0 || value >= minRate);
export const level = z.number().nonnegative().max(maxChange);
export const sumOfSquares = z.number().nonnegative().max(1e12);
export const seconds = z.number().nonnegative().max(1e9);
/** From 0 to 1; a sum of shares may exceed either by a rounding error. */
export const share = z
  .number()
  .min(-1e-6)
  .max(1 + 1e-6);

/** Ratio to the earlier value, minus one. */
export const change = z.number().min(-1).max(maxChange);

export const text = (most: number) => z.string().max(most);
export const name = text(250);
/** Also names each fix-up of a bisection's variant. */
export const variant = text(2000);
export const path = text(4096);
/** Name, id or address in another service. */
export const word = text(4096);
/** Size limit of a file, a diff, a comment or a command's output. */
export const maxDocument = 32 * 1024 ** 2;
export const document = text(maxDocument);
export const url = z.url().max(4096);
/** An ISO time may have any number of decimals. */
export const time = z.iso.datetime().max(40);

/** Cuts text that only people read after `most` characters: lines of logs and patches have any length. */
export const prose = (most = 20_000) =>
  z
    .string()
    .overwrite((written) => (written.length > most ? `${written.slice(0, most - 1)}…` : written).toWellFormed());
export const line = prose(4000);

export const list = <Item extends z.ZodType>(item: Item, most = 10_000) => z.array(item).max(most);

const record = <Value extends z.ZodType>(key: z.ZodString, value: Value, most: number) =>
  z.record(key, value).refine((entries) => Object.keys(entries).length <= most);
export const byName = <Value extends z.ZodType>(value: Value) => record(name, value, 1000);
export const byVariant = <Value extends z.ZodType>(value: Value) => record(variant, value, 1000);
export const facts = byName(line);
