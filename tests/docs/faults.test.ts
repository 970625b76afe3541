// docs/faults.md has a row for each fault that is tried, and no other.
import { expect, test } from 'vitest';
import { cases, parts, toldOf } from '../lab/freebsd/faults.ts';

const faults = Object.entries(cases).map(([fault, whens]) => ({
  fault,
  whens: Object.keys(whens),
}));

test.each(faults)('$fault, in these cases: $whens', ({ fault, whens }) => {
  expect([...toldOf(fault).keys()]).toEqual(whens);
});

// Attack testbed/dead-kernel: A kernel panics, hangs or does not return. Defence: It is booted once; the power is
// cycled; an unhealthy DUT is quarantined.
test('each is tried by one part of the tests', () => {
  expect(Object.values(parts).flat().toSorted()).toEqual(Object.keys(cases).toSorted());
});
