// Parses quantities of ppsgate.yml. Units are required: a bare 2 could be a ratio or a percentage.
import { z } from 'zod';
import { expected } from './excerpt.ts';

export { excerpt, expected, sentence } from './excerpt.ts';

/** Constraint beyond the form; `description` completes "expected …". */
export type QuantityLimit = { description: string; holds: (value: number) => boolean };

/** `2%`, `0.5 %` → a ratio: 0.02, 0.005. */
export const ratio = (limit: QuantityLimit) => quantity('a percentage like 2%', { '%': 0.01 }, limit);

/** `14.88 Mpps`, `800 kpps`, `3000000 pps` → packets per second. */
export const rate = (limit: QuantityLimit) =>
  quantity('a rate like 3 Mpps, 800 kpps or 500 pps', { pps: 1, kpps: 1e3, Mpps: 1e6, Gpps: 1e9 }, limit);

/** `500 ms`, `12s`, `2 min`, `30 d` → seconds. */
export const duration = (limit: QuantityLimit) =>
  quantity('a duration like 500 ms, 12 s, 2 min or 30 d', { ms: 1e-3, s: 1, min: 60, d: 86_400 }, limit);

/** `64 bytes`, `64B`, `100 MiB` → bytes. */
export const size = (limit: QuantityLimit) =>
  quantity('a size like 64 bytes or 100 MiB', { bytes: 1, byte: 1, B: 1, MiB: 2 ** 20 }, limit);

type Units = Readonly<Record<string, number>>;

function quantity(form: string, units: Units, limit: QuantityLimit) {
  const written = new RegExp(`^(\\d{1,15}(?:\\.\\d{1,15})?) ?(${Object.keys(units).join('|')})$`);
  const read = (text: string) => inBaseUnit(written.exec(text), units);
  return z
    .string({ error: expected(form) })
    .regex(written, { error: expected(form), abort: true })
    .refine((text) => limit.holds(read(text)), { error: expected(limit.description) })
    .meta({ title: limit.description })
    .transform(read);
}

/** Rounds to the 15 digits of a double, so that 2.01 Mpps is 2010000 pps, not 2009999.9999999998. */
function inBaseUnit(match: RegExpExecArray | null, units: Units): number {
  const [, digits = '', unit = ''] = match ?? [];
  const value = Number(digits) * (units[unit] ?? Number.NaN);
  return Number(value.toPrecision(15));
}
