import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isLoadedBy, labelOf, readCompared } from '../../../src/cli/compare/compared.ts';
import { patchSchema } from '../../../src/model/patch.ts';
import { UsageError } from '../../../src/model/usage-error.ts';
import { temporaryFolder } from '../../fakes/folder.ts';

const contents: Record<string, string | Uint8Array> = {
  'a.nft': 'flush ruleset\n',
  'b.txt': '# of the site\ntable inet filter {\n}\n',
  'pf-old': 'set skip on lo0\nblock in\npass out\n',
  'pf.conf': '',
  'ipfw-new': '-q add 100 allow ip from any to any\n',
  settings: '# router\nnet.ipv4.ip_forward = 1\n',
  'letter.txt': 'Dear Sir or Madam\n',
  vmlinuz: new Uint8Array([0x4d, 0x5a, 0, 0, 1]),
  'linux.deb': '!<arch>\ndebian-binary',
  'overlay/nftables.conf': 'flush ruleset\n',
  'overlay/README': 'not loaded\n',
  'other/sysctl.conf': 'net.ipv4.ip_forward = 1\n',
  'empty/README': '',
};

function inSite(): (name: string) => string {
  const top = temporaryFolder();
  for (const [name, content] of Object.entries(contents)) {
    mkdirSync(join(top, name, '..'), { recursive: true });
    writeFileSync(join(top, name), content);
  }
  return (name) => join(top, name);
}

test.for([
  ['a.nft', 'b.txt', 'nftables.conf'],
  ['pf-old', 'pf.conf', 'pf.conf'],
  ['ipfw-new', 'ipfw-new', 'ipfw.rules'],
  ['settings', 'settings', 'sysctl.conf'],
] as const)('%s and %s are rules or settings like %s', async ([old, other, name]) => {
  const at = inSite();
  const compared = await readCompared(at(old), at(other));
  if (compared.kind !== 'files') throw new Error('kernels');
  expect([[...compared.old.keys()], [...compared.new.keys()]]).toEqual([[name], [name]]);
  expect(compared.old.get(name)).toBe(contents[old]);
  expect(isLoadedBy('linux', compared)).toBe(['nftables.conf', 'sysctl.conf'].includes(name));
});

test('Of an overlay the files that a DUT loads are compared', async () => {
  const at = inSite();
  expect(await readCompared(at('overlay'), at('other'))).toEqual({
    kind: 'files',
    what: 'two overlays',
    old: new Map([['nftables.conf', contents['overlay/nftables.conf']]]),
    new: new Map([['sysctl.conf', contents['other/sysctl.conf']]]),
  });
});

test('Two binary files are compared as kernels', async () => {
  const at = inSite();
  const paths = { old: at('vmlinuz'), new: at('linux.deb') };
  expect(await readCompared(paths.old, paths.new)).toEqual({ kind: 'kernels', ...paths });
});

test.for([
  ['a.nft', 'pf-old', /a\.nft is a file like nftables\.conf, and .*pf-old is a file like pf\.conf: /],
  ['a.nft', 'vmlinuz', /a\.nft is a file like nftables\.conf, and .*vmlinuz is a kernel or another /],
  ['overlay', 'a.nft', /overlay is an overlay with nftables\.conf, and .*a\.nft is a file like /],
  ['a.nft', 'letter.txt', /letter\.txt is a text file other than rules of nftables, pf or /],
  ['a.nft', 'missing', /missing cannot be read \(ENOENT.*\): name a file or a folder\.$/],
  ['empty', 'overlay', /^The folder .*empty is no overlay, because it has none of nftables\.conf, /],
] as const)('%s and %s are refused, with what they are', async ([old, other, sentence]) => {
  const at = inSite();
  const reading = readCompared(at(old), at(other));
  await expect(reading).rejects.toThrow(UsageError);
  await expect(reading).rejects.toThrow(sentence);
});

test.for([
  ['/etc/nftables.conf', 'new.nft', 'nftables.conf → new.nft'],
  ['old/pf.conf', 'new/pf.conf', 'old/pf.conf → new/pf.conf'],
  ['a[x](http:y).nft', '@eve`.nft', 'a_x__http_y_.nft → _eve_.nft'],
  [`${'a'.repeat(300)}`, 'b', `${'a'.repeat(90)} → b`],
] as const)('The label of %s and %s is %s', ([old, other, label]) => {
  expect(labelOf(old, other)).toBe(label);
  const ids = { baseCommit: 'a'.repeat(40), headCommit: 'b'.repeat(40) };
  const patch = { kind: 'range', name: label, title: '', author: '', ...ids };
  expect(patchSchema.parse(patch)).toEqual(patch);
});

test.for(['[a](https://example.org)', '<img src=x>', '@maintainer → b', '`a`', 'a\u001b[2J', 'a'.repeat(201)])(
  'A result whose range has the name %j is refused',
  (name) => {
    const ids = { baseCommit: 'a'.repeat(40), headCommit: 'b'.repeat(40) };
    const patch = { kind: 'range', name, title: '', author: '', ...ids };
    expect(patchSchema.safeParse(patch).success).toBe(false);
  },
);
