// Reads every part of a ppsgate.yml that a page shows.
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { parseConfig } from '../../src/config/load.ts';
import { configKeys } from '../../src/config/schema.ts';
import { pages, readPage } from './blocks.ts';

const record = z.record(z.string(), z.unknown());

/** Replaces the dots of an example, which represent what only a site knows. */
const completed = (text: string): string =>
  text.replaceAll('6b0d…', 'a'.repeat(128)).replaceAll('host: …', 'host: builder');

/** Tests of their own hold those of the reference. */
const written = pages.filter((page) => !page.startsWith('docs/reference/'));

const parts = written.flatMap((page) =>
  [...readPage(page).matchAll(/^( *)```yaml\n([\s\S]*?)^ *```$/gm)].flatMap(([, indent = '', text = '']) => {
    const part = completed(text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''));
    const { data = {} } = record.safeParse(parse(part));
    const keys = Object.keys(data);
    const isConfig = keys.length > 0 && keys.every((key) => key in configKeys.shape);
    // This example names no machines.
    return isConfig && !part.includes('# dut, senders') ? [{ page, part, data }] : [];
  }),
);

const { testbeds } = record.parse(parse(readPage('docs/lab/xeon-t540.yml')));

test('pages have some', () => {
  expect(parts.length).toBeGreaterThan(10);
});

test.each(parts)('of $page is read: $part', ({ part, data }) => {
  const others = 'testbeds' in data ? '' : stringify({ testbeds });
  const place = { path: '/lab/ppsgate.yml', home: '/home/me' };
  expect(() => parseConfig(others + part, place)).not.toThrow();
});
