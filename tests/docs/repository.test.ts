// Tests that the files for GitHub and FreeBSD are consistent: one version, valid forms, the port's files.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
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

test('what escapes is no issue: config.yml sends it where SECURITY.md does', () => {
  const schema = z.object({ contact_links: z.array(z.object({ url: z.url() })) });
  const { contact_links: links } = schema.parse(parse(read('.github/ISSUE_TEMPLATE/config.yml')));
  const [inPrivate] = links.filter(({ url }) => url.includes('/security/advisories/new'));
  expect(read('SECURITY.md')).toContain(`(${inPrivate?.url})`);
});

test('the port of FreeBSD has the name and the description of package.json', () => {
  const makefile = read('docs/freebsd-port/Makefile');
  expect(makefile).toContain(`PORTNAME=\t${manifest.name}\n`);
  expect(makefile).toContain(`COMMENT=\t${manifest.description}\n`);
});
