import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadRefusal } from '../../../src/lab/linux/linux-refusal.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { describeWith } from '../../needs.ts';

const folder = '/run/ppsgate/dut/patched';
const nftables = 'table inet t {\n  chain c {\n\tmeta l4proto upd drop\n  }\n}\n';

const told = (stderr: string) =>
  loadRefusal({ folder, scenario: 'forwarding', nftables, stderr, exitText: 'exited with 1' });

const included = `In file included from ${folder}/forwarding.nft:2:1-50:\n`;
const upd = `${included}${folder}/nftables.conf:3:15-17: Error: Could not resolve protocol name
	-----BEGIN OPENSSH PRIVATE KEY-----
	              ^^^
`;

describe('the report of rules that do not load', () => {
  test('is nft’s words, with the line as the overlay has it and never as nft shows it', () => {
    expect(told(upd)).toBe(
      'nftables.conf:3:15-17: Error: Could not resolve protocol name\n' + '\tmeta l4proto upd drop\n\t             ^^^',
    );
  });

  // An overlay may fail to load so that the report quotes a file of the DUT.
  test.each([
    ['another file', '/etc/ssl/private/key.pem:1:1-5: Error: syntax error, unexpected -'],
    ['a file beside it', `${folder}/other.nft:1:1-5: Error: syntax error, unexpected -`],
    ['a file below it', `${folder}/x/nftables.conf:1:1-5: Error: syntax error, unexpected -`],
    ['the file of another variant', '/run/ppsgate/dut/base/nftables.conf:1:1-5: Error: x'],
    ['another scenario', `${folder}/nftables-stateful.nft:1:1-5: Error: x`],
    ['a place that is none', `${folder}/nftables.conf:x: Error: y`],
    ['a shell', `${folder.replace('patched', 'dut.bash')}: line 40: nft: command not found`],
    ['nothing', ''],
  ])('says that no line is named where it is of %s', (_, stderr) => {
    expect(told(`${stderr}\nsecret\n`)).toMatch(/reports no line of it: it exited with 1\.$/);
  });

  test('is limited, however much nft prints', () => {
    const line = `${folder}/nftables.conf:1:1-1: Error: ${'x'.repeat(10_000)}\n`;
    const long = { folder, scenario: 'forwarding', nftables: 'y'.repeat(10_000), exitText: '' };
    expect(loadRefusal({ ...long, stderr: line.repeat(1000) }).length).toBeLessThan(20_000);
  });

  test.each([
    ['"é" x', '6-6'],
    ['abc', '9-12'],
    ['abc', '3-1'],
    ['abc', '0-0'],
  ])('points at nothing where nft’s columns are not those of the shown line: %s at %s', (source, columns) => {
    const stderr = `${folder}/nftables.conf:1:${columns}: Error: x\n`;
    const refusal = loadRefusal({ folder, scenario: 'forwarding', nftables: source, stderr, exitText: '' });
    expect(refusal).toBe(`nftables.conf:1:${columns}: Error: x\n${source}`);
  });
});

test.each(['/proc/sys/net/ipv4/x.y: No such file or directory', 'printf: write error: Invalid argument'])(
  'the report of a setting has its path and the system’s words: %s',
  (words) => {
    const stderr = `/run/ppsgate/dut/dut.bash: line 46: ${words}\nsetting net/ipv4/x.y\n`;
    expect(told(stderr)).toBe(`The DUT refuses the setting net/ipv4/x.y: ${words.split(': ').at(-1)}.`);
  },
);

test('An interface that the DUT does not have is reported with the way to map its name.', () => {
  const way = /[mM]ap interface names to those of the testbed with `overlay: \{ interfaces: /;
  const setting = 'net/ipv4/conf/eth0/rp_filter';
  const missing = `cat: /proc/sys/${setting}: No such file or directory\nsetting ${setting}\n`;
  expect(told(missing)).toMatch(way);
  const rule = `${folder}/nftables.conf:3:7-10: Error: Interface does not exist\n\tiif eth0\n`;
  expect(told(rule)).toMatch(way);
  expect(told(upd)).not.toMatch(way);
});

describeWith(['root', 'nft', 'unshare'], 'with the nft of this machine', () => {
  test.each([
    ['a word that it does not know', 'meta l4proto upd drop', /:3:.*protocol name\n {4}meta.*\n {17}\^{3}$/],
    ['a chain that is not there', 'jump elsewhere', /:3:.*No such file or directory\n {4}jump elsewhere/],
    ['a set that is not there', 'tcp dport @elsewhere drop', /:3:.*\n {4}tcp dport @elsewhere/],
    ['a name that is not defined', 'ip saddr $elsewhere drop', /unknown identifier 'elsewhere'/],
    ['an end that is missing', 'jump c {', /^nftables\.conf:4:3-3: Error: syntax error/],
  ])('the line is named for %s', (_, rule, words) => {
    const variant = join(temporaryFolder(), 'patched');
    mkdirSync(variant);
    const rules = `table inet t {\n  chain c {\n    ${rule}\n  }\n}\n`;
    writeFileSync(join(variant, 'nftables.conf'), rules);
    const scenario = join(variant, 'forwarding.nft');
    writeFileSync(scenario, `flush ruleset\ninclude "${variant}/nftables.conf"\n`);
    const { stderr } = spawnSync('unshare', ['--net', 'nft', '-f', scenario], { encoding: 'utf8' });
    const failed = { folder: variant, scenario: 'forwarding', exitText: 'exited with 1' };
    const message = loadRefusal({ ...failed, nftables: rules, stderr });
    expect(message).toMatch(words);
    expect(message).not.toContain(variant);
  });
});
