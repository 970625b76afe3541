// Parses one column of numbers from a file's bytes as ministat(1) does, fast enough for millions of lines.

import { UsageError } from '../../model/usage-error.ts';

export type ColumnOptions = {
  readonly name: string;
  /** Counted from 1. */
  readonly column?: number;
  /** Each character separates; several in a row separate once, as in strtok(3). */
  readonly delimiters?: string;
};

/**
 * Returns the numbers in file order. Skips empty lines, lines that end before the column, and lines with a field that
 * begins with `#` at or before it. A trailing carriage return is white space.
 *
 * @throws UsageError if the column holds anything but a finite number.
 */
export function parseColumn(text: Buffer, options: ColumnOptions): Float64Array {
  const { name, column = 1, delimiters = ' \t' } = options;
  const separates = byteSet(delimiters);
  let values = new Float64Array(1024);
  let count = 0;
  let line = 0;

  for (let start = 0; start < text.length; ) {
    const lineStart = start;
    const lineEnd = endOfLine(text, start);
    start = lineEnd + 1;
    line += 1;

    const end = withoutTrailingSpace(text, lineStart, lineEnd);
    const from = startOfField(text, lineStart, end, column, separates);
    if (from === end) continue;

    const to = endOfField(text, from, end, separates);
    const value = parseNumber(text, skip(text, from, to, isSpace), to);
    if (!Number.isFinite(value)) throw refusal(value, text.toString('utf8', from, to), line, name);

    if (count === values.length) values = doubled(values);
    values[count] = value;
    count += 1;
  }
  return values.subarray(0, count);
}

const newline = 0x0a;
const hash = 0x23;
const plus = 0x2b;
const minus = 0x2d;
const dot = 0x2e;
const zero = 0x30;
const capitalE = 0x45;
const letterE = 0x65;

function byteSet(characters: string): Uint8Array {
  const set = new Uint8Array(256);
  for (const byte of Buffer.from(characters)) set[byte] = 1;
  return set;
}

const isSpace = byteSet(' \t\n\v\f\r');

function endOfLine(text: Buffer, start: number): number {
  let at = start;
  while (at < text.length && text[at] !== newline) at += 1;
  return at;
}

function withoutTrailingSpace(text: Buffer, start: number, end: number): number {
  let at = end;
  while (at > start && isSpace[text[at - 1] ?? 0] === 1) at -= 1;
  return at;
}

/** Returns the start of the field, or `end` if the line lacks it or a comment comes first. */
function startOfField(text: Buffer, start: number, end: number, column: number, separates: Uint8Array): number {
  let at = skip(text, start, end, separates);
  for (let field = 1; field < column && at < end && text[at] !== hash; field += 1) {
    at = skip(text, endOfField(text, at, end, separates), end, separates);
  }
  return at < end && text[at] === hash ? end : at;
}

function skip(text: Buffer, start: number, end: number, bytes: Uint8Array): number {
  let at = start;
  while (at < end && bytes[text[at] ?? 0] === 1) at += 1;
  return at;
}

function endOfField(text: Buffer, start: number, end: number, separates: Uint8Array): number {
  let at = start;
  while (at < end && separates[text[at] ?? 0] === 0) at += 1;
  return at;
}

/**
 * Parses exactly without a string: 15 digits and a power of ten up to 22 are exact doubles, so one operation rounds
 * correctly.
 */
function parseNumber(text: Buffer, start: number, end: number): number {
  const sign = text[start];
  let at = sign === minus || sign === plus ? start + 1 : start;
  let digits = 0;
  let mantissa = 0;
  let point = -1;

  for (; at < end; at += 1) {
    const digit = (text[at] ?? 0) - zero;
    if (digit >= 0 && digit <= 9) {
      mantissa = mantissa * 10 + digit;
      digits += 1;
    } else if (text[at] === dot && point < 0) {
      point = at;
    } else {
      break;
    }
  }

  const exponent = at === end ? 0 : parseExponent(text, at, end);
  if (digits === 0 || Number.isNaN(exponent)) {
    return parseRareNumber(text.toString('latin1', start, end));
  }
  const power = point < 0 ? exponent : exponent - (at - point - 1);
  if (digits > 15 || power < -22 || power > 22) return Number(text.toString('latin1', start, end));

  const scale = powersOfTen[Math.abs(power)] ?? 1;
  const magnitude = power < 0 ? mantissa / scale : mantissa * scale;
  return sign === minus ? -magnitude : magnitude;
}

const powersOfTen = Float64Array.from({ length: 23 }, (_, power) => Number(`1e${power}`));

/** `e±ddd`; NaN for anything else. */
function parseExponent(text: Buffer, start: number, end: number): number {
  if (text[start] !== letterE && text[start] !== capitalE) return NaN;
  const sign = text[start + 1];
  const first = sign === minus || sign === plus ? start + 2 : start + 1;
  if (first >= end) return NaN;

  let exponent = 0;
  for (let at = first; at < end; at += 1) {
    const digit = (text[at] ?? 0) - zero;
    if (digit < 0 || digit > 9) return NaN;
    exponent = exponent * 10 + digit;
  }
  return sign === minus ? -exponent : exponent;
}

/** Reads the other forms of strtod(3), infinities and hexadecimals; NaN for anything else. */
function parseRareNumber(text: string): number {
  if (/^[+-]?inf(inity)?$/i.test(text)) return Infinity;

  const hexadecimal = /^([+-]?)0x(?=\.?[\da-f])([\da-f]*)\.?([\da-f]*)(p([+-]?\d+))?$/i.exec(text);
  if (hexadecimal === null) return NaN;
  const [, sign, whole = '', fraction = '', , exponent = '0'] = hexadecimal;
  const magnitude = Number(`0x${whole}${fraction}`) * 2 ** (Number(exponent) - 4 * fraction.length);
  return sign === '-' ? -magnitude : magnitude;
}

function refusal(value: number, field: string, line: number, name: string): UsageError {
  const shown = JSON.stringify(field.length > 40 ? `${field.slice(0, 40)}…` : field);
  const problem = Number.isNaN(value) ? `${shown} where a number belongs` : `${shown}, which no statistic can use`;
  return new UsageError(
    `Line ${line} of ${name} holds ${problem}: correct it, begin the line with #, or choose another column with -C.`,
  );
}

function doubled(values: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(values.length * 2);
  larger.set(values);
  return larger;
}
