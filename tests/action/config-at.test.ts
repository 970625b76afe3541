import { expect, test } from 'vitest';
import { configAt } from '../../src/action/config-at.ts';
import { aPcap, udp4 } from '../fakes/pcap.ts';

const base = 'b'.repeat(40);

const repositoryOf = (files: Readonly<Record<string, string | Buffer>>) => {
  const find = async (object: string) =>
    Buffer.from(files[object] ?? (await Promise.reject(new Error(`There is no ${object}.`))));
  return {
    resolve: async () => base,
    read: async (object: string) => (await find(object)).toString(),
    readBytes: find,
  };
};

const configOf = (pcap: string) => `testbeds: { lab: { kind: embedded-linux } }\ntraffic: { pcap: ${pcap} }\n`;

// Attack forge/own-traffic: A patch changes the packets of its own measurement. Defence: A job reads the capture
// from the commit of the base that its configuration is from.
test('a capture is that of the base commit', async () => {
  const repository = repositoryOf({
    [`${base}:ci/ppsgate.yml`]: configOf('dns.pcap'),
    [`${base}:ci/dns.pcap`]: aPcap([udp4(1), udp4(2)]),
  });
  const { traffic } = await configAt('main', 'ci/ppsgate.yml', repository);
  expect(traffic.packets?.capture).toMatchObject({ packets: 2, families: ['inet4'] });
});

// Attack forge/own-traffic
test.for(['/tmp/dns.pcap', '../dns.pcap', '~/dns.pcap', 'x/../../dns.pcap'])(
  'a capture outside of the repository, as %s, is refused',
  async (pcap) => {
    const repository = repositoryOf({ [`${base}:ppsgate.yml`]: configOf(pcap) });
    await expect(configAt('main', 'ppsgate.yml', repository)).rejects.toThrow(
      'is outside the repository: add it to the base branch, beside ppsgate.yml.',
    );
  },
);

test('a capture that the base lacks is refused by its name', async () => {
  const repository = repositoryOf({ [`${base}:ppsgate.yml`]: configOf('dns.pcap') });
  await expect(configAt('main', 'ppsgate.yml', repository)).rejects.toThrow(
    'traffic.pcap: the base main has no dns.pcap of at most 4 MiB: add one to the base branch first.',
  );
});
