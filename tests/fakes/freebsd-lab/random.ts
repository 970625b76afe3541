// Random numbers that are equal in every run: each depends on its purpose, not on earlier draws.
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

/** Uniform in [0, 1). */
export function uniform(...key: readonly number[]): number {
  return uniformFloat64(generator(key));
}

/** A standard normal variate, by the Box-Muller transform. */
export function normal(...key: readonly number[]): number {
  const random = generator(key);
  const radius = Math.sqrt(-2 * Math.log(1 - uniformFloat64(random)));
  return radius * Math.cos(2 * Math.PI * uniformFloat64(random));
}

function generator(key: readonly number[]) {
  const random = xoroshiro128plus(key.reduce((hash, part) => (hash * 7919 + part) | 0, 17));
  // The first numbers of neighbouring seeds are alike.
  for (let skipped = 0; skipped < 8; skipped++) uniformFloat64(random);
  return random;
}
