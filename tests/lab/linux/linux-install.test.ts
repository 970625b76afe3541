// Counts packets around an installation, with a stand-in for the DUT that answers as one was recorded.
import type { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { installCounting } from '../../../src/lab/linux/linux-install.ts';
import type { CommandOutcome } from '../../../src/system/host/execute.ts';
import type { Host } from '../../../src/system/host/ssh.ts';

const overlay = {
  variant: 'patched',
  sysctl: { settings: new Map(), lines: new Map(), skipped: [] },
  nftables: '',
  unused: [],
};
const ports = { ingress: 'in0', egress: 'out0' };

const exited = (code: number, stderr = ''): CommandOutcome => ({ kind: 'exited', code, stdout: '', stderr });

type Answer = (say: (text: string) => void, line: () => Promise<void>) => Promise<CommandOutcome>;

/** Its program answers so, and rejects once it is cancelled. */
const dutThat = (answer: Answer) =>
  ({
    name: 'the guest',
    run(_, { onStdout, stdin, signal } = {}) {
      const say = (text: string) => onStdout?.(Buffer.from(text));
      const line = async () => {
        for await (const piece of stdin as Readable) if (String(piece).includes('\n')) return;
        throw new Error('no line');
      };
      const cancelled = new Promise<never>((_, reject) =>
        signal?.addEventListener('abort', () => reject(signal.reason)),
      );
      return Promise.race([answer(say, line), cancelled]);
    },
  }) as Pick<Host, 'name' | 'run'> as Host;

/** A reading of a guest with Linux 6.1 whose rule drops one flow in ten, without most other lines. */
const edge = (name: string, received: number, sent: number) =>
  `limits 0 ${name} 1795724368.1 in0 out0
= dev   in0:  126000    ${received}    0    0    0     0          0         0      540       4    0    0    0     0       0          0
= dev  out0:       0       0    0    0    0     0          0         0   113946    ${sent}    0    0    0     0       0          0
= softnet_stat 00000ed9 00000000 00000001 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000
= snmp Ip: Forwarding DefaultTTL InReceives InHdrErrors InAddrErrors ForwDatagrams InUnknownProtos InDiscards InDelivers
= snmp Ip: 1 64 ${received + 299} 0 0 ${sent} 0 0 299
= snmp6 Ip6InReceives                   	0
= snmp6 Ip6InDelivers                   	0
= snmp6 Ip6OutForwDatagrams             	0
`;
const rule = `= nft table inet router {
= nft 	chain early {
= nft 		meta l4proto udp numgen inc mod 10 0 drop
= nft 	}
= nft }
= received 6000
`;

test('the packets between installation and end are counted', async () => {
  const host = dutThat(async (say, line) => {
    say('begun\n');
    await line();
    say(edge('begin', 3000, 2700));
    say(`${edge('end', 6000, 5400)}${rule}end\n`);
    return new Promise(() => {});
  });
  const counting = await installCounting(host, overlay, 'forwarding', ports);
  if (counting.kind !== 'counting') throw new Error('it was refused');
  const { limits } = await counting.end();
  const drops = [{ place: 'firewall', packets: 300 }];
  expect(limits).toMatchObject({ offeredPackets: 3000, receivedPackets: 2700, drops });
});

test('rules that are refused are those of the variant', async () => {
  const host = dutThat(async () => exited(1, 'setting net/ipv4/nothing\n'));
  const refused = await installCounting(host, overlay, 'forwarding', ports);
  expect(refused).toMatchObject({ variant: 'patched', rejection: { kind: 'does-not-load' } });
});

test('a program that ends before its second reading has no counts', async () => {
  const host = dutThat(async (say, line) => {
    say('begun\n');
    await line();
    return exited(1);
  });
  const counting = await installCounting(host, overlay, 'forwarding', ports);
  if (counting.kind !== 'counting') throw new Error('it was refused');
  await expect(counting.end()).rejects.toThrow('Counting on the guest exited with 1.');
});

test('a guest that prints endlessly is cancelled', async () => {
  const host = dutThat(async (say) => {
    for (let piece = 0; piece < 5; piece += 1) say('x'.repeat(1024 ** 2));
    return new Promise(() => {});
  });
  const counting = installCounting(host, overlay, 'forwarding', ports);
  await expect(counting).rejects.toThrow('it wrote too much');
});
