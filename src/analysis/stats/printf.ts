// Formats a number as C's printf does.

/** `%.{digits}g`: the exact value rounded half to even, at least two digits. */
export function formatGeneral(value: number, digits: number): string {
  if (Number.isNaN(value)) return 'nan';
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  if (!Number.isFinite(value)) return `${sign}inf`;

  const [mantissa = '', power = ''] = roundHalfToEven(Math.abs(value), digits).split('e');
  const exponent = Number(power);
  if (exponent < -4 || exponent >= digits) {
    const twoDigits = String(Math.abs(exponent)).padStart(2, '0');
    return `${sign}${withoutTrailingZeros(mantissa)}e${exponent < 0 ? '-' : '+'}${twoDigits}`;
  }

  const figures = '0'.repeat(Math.max(0, -exponent)) + mantissa.replace('.', '');
  const whole = Math.max(0, exponent) + 1;
  return sign + withoutTrailingZeros(`${figures.slice(0, whole)}.${figures.slice(whole)}`);
}

/** `d.ddde±x`. JavaScript rounds an exact half up and C to even; a hundred decimals identify an exact half. */
function roundHalfToEven(magnitude: number, digits: number): string {
  const exact = magnitude.toExponential(100);
  const kept = exact.slice(0, digits + 1);
  const isTie = /^50*e/.test(exact.slice(digits + 1));
  return isTie && /[02468]$/.test(kept) ? kept + exact.slice(exact.indexOf('e')) : magnitude.toExponential(digits - 1);
}

const withoutTrailingZeros = (decimal: string): string => decimal.replace(/\.?0*$/, '');
