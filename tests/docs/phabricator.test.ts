// The page of Phabricator has a valid configuration, and a build step that the relay can read.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseConfig } from '../../src/config/load.ts';
import { readBuild } from '../../src/relay/delivery.ts';

const docs = join(import.meta.dirname, '..', '..', 'docs');
const page = readFileSync(join(docs, 'how-to', 'phabricator.md'), 'utf8');

const configOf = (text: string) =>
  parseConfig(`testbeds: { here: { kind: embedded-linux } }\n${text}`, {
    path: '/usr/local/etc/ppsgate/ppsgate.yml',
    home: '/home/me',
  }).phabricator;

const pieces = [...page.matchAll(/`((?:relay|start): \{.*?\})`/g)].map(([, text = '']) => text);

test('the page has pieces for each step', () => {
  expect(pieces.length).toBeGreaterThanOrEqual(3);
});

test.each(pieces)('%s fits into the configuration', (piece) => {
  const inner = piece.startsWith('start') ? `relay: { ${piece} }` : piece;
  expect(configOf(`phabricator: { url: "https://x.org", ${inner} }`)).toBeDefined();
});

test('the URI of the build step requests a build', () => {
  const [, uri = ''] = /`(https:\/\/relay\.example\.org\/build\?.*?)`/.exec(page) ?? [];
  const values: Record<string, string> = {
    'target.phid': 'PHID-HMBT-a',
    'build.phid': 'PHID-HMBD-b',
    'buildable.diff': '80677',
    'buildable.revision': '27401',
  };
  const asked = new URL(uri.replace(/\$\{([\w.]+)\}/g, (_, name: string) => values[name] ?? '?'));
  expect(readBuild(asked.searchParams, new Date(0))).toEqual({
    kind: 'build',
    id: 'PHID-HMBT-a',
    at: new Date(0),
    target: 'PHID-HMBT-a',
    build: 'PHID-HMBD-b',
    diff: 80677,
    revision: 27401,
  });
});

describe('the expression of the rule that runs the build plan', () => {
  const [, written = ''] = /Affected files matches regexp `@(.*?)@`/.exec(page) ?? [];
  // A bar in a table is escaped; the rest means the same to PCRE and to JavaScript.
  const expression = new RegExp(written.replaceAll('\\|', '|'));

  test.each([
    '/sys/net/if.c',
    'sys/netinet/tcp_input.c',
    '/sys/netinet6/ip6_forward.c',
    '/sys/netpfil/pf/pf.c',
    // Path as Herald sees it if the diff has no prefixes.
    '/net/if.c',
    'netinet/tcp_input.c',
    '/netpfil/pf/pf.c',
  ])('matches %s', (path) => {
    expect(path).toMatch(expression);
  });

  test.each([
    '/share/man/man4/net/if.4',
    '/usr.bin/netstat/main.c',
    '/sys/dev/net/x.c',
    '/sys/netgraph/ng_ether.c',
    '/netgraph/ng_ether.c',
    '/contrib/sys/net/if.c',
    '/sys/sys/mbuf.h',
    '/sysnet/if.c',
    '/net.c',
  ])('does not match %s', (path) => {
    expect(path).not.toMatch(expression);
  });
});
