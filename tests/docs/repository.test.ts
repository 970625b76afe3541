// Tests that the files for GitHub and FreeBSD are consistent: one version, valid forms, the port's files.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import manifest from '../../package.json' with { type: 'json' };
import { kernelNames } from '../e2e/freebsd/given.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (...path: string[]) => readFileSync(join(root, ...path), 'utf8');

test.each([
  ['package-lock.json', /"name": "ppsgate",\n *"version": "([^"]+)"/g, 2],
  ['jenkins/pom.xml', /<artifactId>ppsgate-jenkins<\/artifactId>\s*<version>([^<]+)/g, 1],
  ['docs/freebsd-port/Makefile', /^DISTVERSION=\t(.+)$/gm, 1],
] as const)('%s has the version of package.json', (path, version, times) => {
  const found = [...read(path).matchAll(version)].map(([, told]) => told);
  expect(found).toEqual(Array(times).fill(manifest.version));
});

test('CONTRIBUTING.md has the kernels that tests on a real FreeBSD boot, and no others', () => {
  const named = [...read('CONTRIBUTING.md').matchAll(/^\| `([\w-]+)\.tar` +\|/gm)];
  expect(named.map(([, name]) => name)).toEqual(kernelNames);
});

const forms = readdirSync(join(root, '.github/ISSUE_TEMPLATE')).filter((name) => name !== 'config.yml');

describe('an issue form', () => {
  const text = z.string().min(1);
  const id = z.string().regex(/^[\w-]+$/);
  const validations = z.strictObject({ required: z.boolean() }).optional();
  const described = { label: text, description: text.optional() };
  const typed = { ...described, placeholder: text.optional(), value: text.optional() };
  const field = z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('markdown'), attributes: z.strictObject({ value: text }) }),
    z.strictObject({
      type: z.literal('textarea'),
      id,
      attributes: z.strictObject({ ...typed, render: text.optional() }),
      validations,
    }),
    z.strictObject({
      type: z.literal('input'),
      id,
      attributes: z.strictObject(typed),
      validations,
    }),
    z.strictObject({
      type: z.literal('dropdown'),
      id,
      attributes: z.strictObject({ ...described, options: z.array(text).min(1) }),
      validations,
    }),
  ]);
  const form = z.strictObject({
    name: text,
    description: text,
    labels: z.array(text).min(1),
    body: z.array(field).min(1),
  });

  test.each(forms)('is valid for GitHub: %s', (name) => {
    const { body } = form.parse(parse(read('.github/ISSUE_TEMPLATE', name)));
    const ids = body.flatMap((one) => ('id' in one ? [one.id] : []));
    const labels = body.flatMap((one) => ('label' in one.attributes ? [one.attributes.label] : []));
    for (const names of [ids, labels]) expect(new Set(names).size).toBe(names.length);
    expect(ids).not.toEqual([]);
  });

  test('is not the place for what escapes, which config.yml sends where SECURITY.md does', () => {
    const links = z
      .strictObject({
        blank_issues_enabled: z.literal(false),
        contact_links: z.array(z.strictObject({ name: text, url: z.url(), about: text })),
      })
      .parse(parse(read('.github/ISSUE_TEMPLATE/config.yml'))).contact_links;
    const [inPrivate] = links.filter(({ url }) => url.includes('/security/advisories/new'));
    expect(read('SECURITY.md')).toContain(`(${inPrivate?.url})`);
  });
});

describe('the FreeBSD port', () => {
  test('installs what the package has to run, by the name that is in its Makefile', () => {
    const makefile = read('docs/freebsd-port/Makefile');
    expect(makefile).toContain(`PORTNAME=\t${manifest.name}\n`);
    expect(makefile).toContain(`COMMENT=\t${manifest.description}\n`);
  });
});
