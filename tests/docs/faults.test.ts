// The pages of faults, which slow tests write, have a row for each fault that is tried, and no other.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cases, pageOf, parts } from '../lab/freebsd/faults.ts';

test.each(Object.entries(parts))('The page of %s lists each case under its fault', (part, faults) => {
  const page = readFileSync(join(import.meta.dirname, '../lab/freebsd', pageOf(part)), 'utf8');
  const [, ...sections] = page.split(/^## /m);
  const listed = sections.map((section) => {
    const [fault = '', ...lines] = section.split('\n');
    const [, , ...rows] = lines.filter((line) => line.startsWith('| '));
    return [fault, rows.map((row) => row.split(' | ', 1)[0]?.slice(2))];
  });
  expect(listed).toEqual(faults.map((fault) => [fault, Object.keys(cases[fault] ?? {})]));
});

// Attack testbed/dead-kernel: A kernel panics, hangs or does not return. Defence: It is booted once; the power is
// cycled; an unhealthy DUT is quarantined.
test('Each fault is tried by one part of the tests', () => {
  expect(Object.values(parts).flat().toSorted()).toEqual(Object.keys(cases).toSorted());
});
