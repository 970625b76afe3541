// Tests the initial nftables.conf with the nft of a lab.
import { spawnSync } from 'node:child_process';
import { expect } from 'vitest';
import { starterRules } from '../../../src/cli/init/config-file.ts';
import { testWith } from '../../needs.ts';

testWith(['root', 'nft', 'unshare'], 'the rules to start from load', () => {
  const { status, stderr } = spawnSync('unshare', ['--net', 'nft', '-f', '-'], {
    input: starterRules,
    encoding: 'utf8',
  });
  expect(status, stderr).toBe(0);
});
