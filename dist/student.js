// src/stats/columns.ts
/** What a person gave to `ppsgate ministat` and it refuses; the message is one sentence to show as it is. */
var MinistatInputError = class extends Error {
	name = "MinistatInputError";
};
/**
* The numbers in file order. Skipped are empty lines, lines that end before the column, and lines
* with a field that begins with `#` at or before it. A trailing carriage return is white space.
*
* @throws MinistatInputError where the column holds anything but a finite number.
*/
function parseColumn(text, options) {
	const { name, column = 1, delimiters = " 	" } = options;
	const separates = byteSet(delimiters);
	let values = /* @__PURE__ */ new Float64Array(1024);
	let count = 0;
	let line = 0;
	for (let start = 0; start < text.length;) {
		const lineStart = start;
		const lineEnd = endOfLine(text, start);
		start = lineEnd + 1;
		line += 1;
		const end = withoutTrailingSpace(text, lineStart, lineEnd);
		const from = startOfField(text, lineStart, end, column, separates);
		if (from === end) continue;
		const to = endOfField(text, from, end, separates);
		const value = parseNumber(text, skip(text, from, to, isSpace), to);
		if (!Number.isFinite(value)) throw refusal(value, text.toString("utf8", from, to), line, name);
		if (count === values.length) values = doubled(values);
		values[count] = value;
		count += 1;
	}
	return values.subarray(0, count);
}
const newline = 10;
const hash = 35;
const plus = 43;
const minus = 45;
const dot = 46;
const zero = 48;
const capitalE = 69;
const letterE = 101;
function byteSet(characters) {
	const set = /* @__PURE__ */ new Uint8Array(256);
	for (const byte of Buffer.from(characters)) set[byte] = 1;
	return set;
}
const isSpace = byteSet(" 	\n\v\f\r");
function endOfLine(text, start) {
	let at = start;
	while (at < text.length && text[at] !== newline) at += 1;
	return at;
}
function withoutTrailingSpace(text, start, end) {
	let at = end;
	while (at > start && isSpace[text[at - 1] ?? 0] === 1) at -= 1;
	return at;
}
/** Where the field begins, or `end` where the line has no such field or a comment comes first. */
function startOfField(text, start, end, column, separates) {
	let at = skip(text, start, end, separates);
	for (let field = 1; field < column && text[at] !== hash; field += 1) at = skip(text, endOfField(text, at, end, separates), end, separates);
	return at < end && text[at] === hash ? end : at;
}
function skip(text, start, end, bytes) {
	let at = start;
	while (at < end && bytes[text[at] ?? 0] === 1) at += 1;
	return at;
}
function endOfField(text, start, end, separates) {
	let at = start;
	while (at < end && separates[text[at] ?? 0] === 0) at += 1;
	return at;
}
/**
* A decimal of up to 15 digits and a power of ten up to 22 are read without making a string of them:
* both are exact as doubles, so the one multiplication or division rounds correctly.
*/
function parseNumber(text, start, end) {
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
		} else if (text[at] === dot && point < 0) point = at;
		else break;
	}
	const exponent = at === end ? 0 : parseExponent(text, at, end);
	if (digits === 0 || Number.isNaN(exponent)) return parseRareNumber(text.toString("latin1", start, end));
	const power = point < 0 ? exponent : exponent - (at - point - 1);
	if (digits > 15 || power < -22 || power > 22) return Number(text.toString("latin1", start, end));
	const scale = powersOfTen[Math.abs(power)] ?? 1;
	const magnitude = power < 0 ? mantissa / scale : mantissa * scale;
	return sign === minus ? -magnitude : magnitude;
}
const powersOfTen = Float64Array.from({ length: 23 }, (_, power) => Number(`1e${power}`));
/** `e±ddd`; NaN for anything else. */
function parseExponent(text, start, end) {
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
/** What else strtod(3) reads, infinities and hexadecimals; NaN for what it does not. */
function parseRareNumber(text) {
	if (/^[+-]?inf(inity)?$/i.test(text)) return Infinity;
	const hexadecimal = /^([+-]?)0x(?=\.?[\da-f])([\da-f]*)\.?([\da-f]*)(p([+-]?\d+))?$/i.exec(text);
	if (hexadecimal === null) return NaN;
	const [, sign, whole = "", fraction = "", , exponent = "0"] = hexadecimal;
	const magnitude = Number(`0x${whole}${fraction}`) * 2 ** (Number(exponent) - 4 * fraction.length);
	return sign === "-" ? -magnitude : magnitude;
}
function refusal(value, field, line, name) {
	const shown = JSON.stringify(field.length > 40 ? `${field.slice(0, 40)}…` : field);
	const problem = Number.isNaN(value) ? `${shown} where a number belongs` : `${shown}, which no statistic can use`;
	return new MinistatInputError(`Line ${line} of ${name} holds ${problem}: correct it, begin the line with #, or choose another column with -C.`);
}
function doubled(values) {
	const larger = new Float64Array(values.length * 2);
	larger.set(values);
	return larger;
}

// src/stats/student.ts
const confidencePercents = [
	80,
	90,
	95,
	98,
	99,
	99.5
];
/**
* The critical value that ministat(1) uses: its table has three decimals and rows for 1 to 100
* degrees of freedom; above 100 it uses the normal distribution.
*
* The table is the NIST handbook's of one-sided values, and ministat's last column is the one of
* 0.999: what it calls 99.5 % is 99.8 % two-sided. We keep that, or our errors would not be its errors.
*/
function studentT(degreesOfFreedom, confidencePercent) {
	const misprint = confidencePercent === 99.5 ? misprints.get(degreesOfFreedom) : void 0;
	if (misprint !== void 0) return misprint;
	const confidence = confidencePercent === 99.5 ? .998 : confidencePercent / 100;
	return Math.round(studentTExact(degreesOfFreedom > 100 ? Infinity : degreesOfFreedom, confidence) * 1e3) / 1e3;
}
/**
* The t with P(|T| ≤ t) = confidence, to a relative 1e-9 or better.
* `degreesOfFreedom` is any positive number (Welch's are fractions; infinity is the normal
* distribution), `confidence` a ratio in (0, 1).
*/
function studentTExact(degreesOfFreedom, confidence) {
	if (!(degreesOfFreedom > 0)) throw new RangeError(`Degrees of freedom are a positive number, not ${degreesOfFreedom}.`);
	if (!(confidence > 0 && confidence < 1)) throw new RangeError(`A confidence lies between 0 and 1, not at ${confidence}.`);
	if (degreesOfFreedom <= million) return quantile(degreesOfFreedom, confidence);
	const atMillion = quantile(million, confidence);
	const atInfinity = 2 * atMillion - quantile(million / 2, confidence);
	return atInfinity + (atMillion - atInfinity) * (million / degreesOfFreedom);
}
/** Degrees of freedom at which the published last column is not the rounded quantile. */
const misprints = /* @__PURE__ */ new Map([
	[1, 318.313],
	[7, 4.782],
	[8, 4.499],
	[9, 4.296],
	[10, 4.143],
	[11, 4.024],
	[12, 3.929]
]);
const million = 1e6;
function quantile(degreesOfFreedom, confidence) {
	let high = 1;
	while (liesBelow(high, degreesOfFreedom, confidence)) high *= 2;
	let low = high === 1 ? 0 : high / 2;
	for (;;) {
		const middle = (low + high) / 2;
		if (middle <= low || middle >= high) return high;
		if (liesBelow(middle, degreesOfFreedom, confidence)) low = middle;
		else high = middle;
	}
}
/**
* Whether P(|T| ≤ t) < confidence. P is a regularized incomplete beta function of ν/2 and 1/2;
* its continued fraction converges fast on one side of the mean, so the other side is asked for its complement.
*/
function liesBelow(t, degreesOfFreedom, confidence) {
	const a = degreesOfFreedom / 2;
	const square = t * t;
	const beyond = degreesOfFreedom / (degreesOfFreedom + square);
	const within = square / (degreesOfFreedom + square);
	const factor = Math.exp(-a * Math.log1p(square / degreesOfFreedom)) * Math.sqrt(within / Math.PI) * gammaRatio(a);
	if (beyond < (a + 1) / (a + 2.5)) return factor / a * betaFraction(beyond, a, .5) > 1 - confidence;
	return 2 * factor * betaFraction(within, .5, a) < confidence;
}
/** Γ(a + 1/2) / Γ(a), by its asymptotic series (DLMF 5.11.13) after stepping up to where that is exact. */
function gammaRatio(a) {
	let stepped = a;
	let correction = 1;
	for (; stepped < 40; stepped += 1) correction *= stepped / (stepped + .5);
	const x = 1 / stepped;
	const series = 1 + x * (-1 / 8 + x * (1 / 128 + x * (5 / 1024 + x * (-21 / 32768 - 399 / 262144 * x))));
	return correction * Math.sqrt(stepped) * series;
}
/** The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method. */
function betaFraction(x, a, b) {
	const tiny = 1e-300;
	let c = 1;
	let d = 1 / (1 - (a + b) * x / (a + 1) || tiny);
	let fraction = d;
	for (let m = 1; m < 1e5; m += 1) {
		const before = fraction;
		const even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		const odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		for (const term of [even, odd]) {
			d = 1 / (1 + term * d || tiny);
			c = 1 + term / c || tiny;
			fraction *= c * d;
		}
		if (Math.abs(fraction - before) <= 1e-15 * fraction) return fraction;
	}
	return fraction;
}

export { parseColumn as a, MinistatInputError as i, studentT as n, studentTExact as r, confidencePercents as t };