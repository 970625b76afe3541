import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { whyUnsafe } from '../../../src/lab/linux/nft-tokens.ts';
import { parseSysctl } from '../../../src/lab/linux/sysctl.ts';

test('the overlay of the example is taken', () => {
  const read = (name: string) => readFileSync(join(import.meta.dirname, '../../../docs/example/dut', name), 'utf8');
  expect(whyUnsafe(read('nftables.conf'), 'nftables.conf')).toBeUndefined();
  expect(parseSysctl(read('sysctl.conf'), 'sysctl.conf')).toMatchObject({ kind: 'read', skipped: [] });
});
