// Prepares variants for guests with Linux.
import { expect, test } from 'vitest';
import type { LinuxGuestsConfig } from '../../../src/config/virtual-testbed.ts';
import type { GuestResources } from '../../../src/lab/qemu/guests.ts';
import { LinuxGuests } from '../../../src/lab/qemu/linux-guests.ts';

test('A patch of settings that cannot act is refused before a guest is booted.', async () => {
  const overlay = (variant: string, content: string) => ({
    variant,
    commit: '0'.repeat(40),
    files: [{ path: 'sysctl.conf', mode: '100644', content, sha256: '' }],
  });
  const guests = new LinuxGuests('here', {} as LinuxGuestsConfig, {} as GuestResources);
  const prepared = await guests.prepare({
    variants: [overlay('base', ''), overlay('patched', 'net.core.default_qdisc = fq\n')],
    cells: [{ scenario: 'forwarding', family: 'inet4' }],
    rules: {},
    keepLog: async () => {},
    notify() {},
    signal: new AbortController().signal,
  });
  expect(prepared).toMatchObject({
    variant: 'patched',
    rejection: {
      kind: 'does-not-load',
      message: expect.stringContaining('sysctl.conf line 1: net/core/default_qdisc affects only'),
    },
  });
});
