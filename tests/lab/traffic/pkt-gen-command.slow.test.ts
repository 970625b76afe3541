import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  isReady,
  printingProcessId,
  processIdIn,
  receiverCommand,
  type SenderRequest,
  senderCommand,
} from '../../../src/lab/traffic/pkt-gen-command.ts';
import { flowRanges, flowSlices } from '../../../src/model/flows.ts';
import { netmapPort } from '../../../src/model/freebsd-port.ts';
import { type Command, commandText, shell } from '../../../src/system/shell.ts';
import { describeWith, sharedFolder } from '../../needs.ts';

const request: SenderRequest = {
  interface: 'cxl0',
  settleSeconds: 4,
  seconds: 90,
  family: 'inet4',
  flows: { sources: 20, destinations: 100 },
  frameBytes: 64,
  sourceMac: '00:07:43:2e:e5:92',
  destinationMac: '00:07:43:2e:e4:70',
  threads: 2,
};

/** Words into which the host's shell splits a command line without operators. */
const wordsOf = (command: Command): string[] =>
  commandText(command)
    .trim()
    .split(/ +/)
    .map((word) => word.replace(/^'(.*)'$/, '$1'));

/** Options by pkt-gen's own getopt(3) string. */
const takingValues = 'afFnildsDSbcopTwRCHPM';

/** Option → value, of a command line from `pkt-gen` on. */
function optionsOf(words: readonly string[]): Record<string, string> {
  const options: Record<string, string> = {};
  const rest = words.slice(words.indexOf('pkt-gen') + 1);
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    options[word] = takingValues.includes(word.slice(1)) ? (rest.shift() ?? '') : '';
  }
  return options;
}

const senderOptions = (changes: Partial<SenderRequest> = {}) =>
  optionsOf(wordsOf(senderCommand({ ...request, ...changes })));

const ports = { source: { first: 5353, last: 5353 }, destination: { first: 53, last: 53 } };
const ofSite: Partial<SenderRequest> = {
  addresses: {
    inet4: { source: '10.1.0.0/16', destination: '203.0.113.0/25' },
    inet6: { source: '2001:db8:1::/64' },
  },
};

test.for<[name: string, request: Partial<SenderRequest>, source: string, destination: string]>([
  [
    'in a site’s networks',
    { ...ofSite, flows: { firstSource: 250, sources: 20, destinations: 100 } },
    '10.1.0.250:2000-10.1.1.13',
    '203.0.113.1:2000-203.0.113.100',
  ],
  [
    'in a site’s networks of IPv6',
    { ...ofSite, family: 'inet6' },
    '[2001:db8:1::1]-[2001:db8:1::14]',
    '[2001:2:0:8010::1]-[2001:2:0:8010::64]',
  ],
  ['with named ports', { ports }, '198.18.10.1:5353-198.18.10.20', '198.19.10.1:53-198.19.10.100'],
  [
    'with named ports of IPv6',
    { ports, family: 'inet6' },
    '[2001:2:0:10::1]:5353-[2001:2:0:10::14]',
    '[2001:2:0:8010::1]:53-[2001:2:0:8010::64]',
  ],
])('the sender counts up %s', ([, changes, source, destination]) => {
  expect(senderOptions({ frameBytes: 66, ...changes })).toMatchObject({ '-s': source, '-d': destination });
});

test('the receiver counts until its time is up', () => {
  const command = receiverCommand({ interface: 'igb3', settleSeconds: 2, seconds: 60 });
  expect(wordsOf(command).join(' ')).toBe('timeout -s INT 60 pkt-gen -N -f rx -i igb3 -w 2');
});

test('a sender with nothing but what it must have sends as fast as it can until its time is up', () => {
  expect(wordsOf(senderCommand(request)).slice(0, 4)).toEqual(['timeout', '-s', 'INT', '90']);
  expect(senderOptions()).toEqual({
    '-N': '',
    '-f': 'tx',
    '-i': 'vcxl0',
    '-w': '4',
    '-l': '60',
    '-4': '',
    '-p': '2',
    '-S': '00:07:43:2e:e5:92',
    '-s': '198.18.10.1:2000-198.18.10.20',
    '-D': '00:07:43:2e:e4:70',
    '-d': '198.19.10.1:2000-198.19.10.100',
  });
});

test('optional words are the rate, which pkt-gen gives each thread, and checksums where they are supported', () => {
  expect(senderOptions({ ratePps: 3_000_000, threads: 4 })['-R']).toBe('750000');
  expect(senderOptions({ updatesChecksums: true })).toHaveProperty('-U');
  expect(senderOptions({ updatesChecksums: false })).not.toHaveProperty('-U');
});

test('no interface, MAC address or range escapes its word', () => {
  const command = senderCommand({ ...request, interface: 'igb0; reboot', sourceMac: '$(id)' });
  expect(commandText(command)).toContain("-i 'igb0; reboot' ");
  expect(commandText(command)).toContain("-S '$(id)' ");
});

test('a generator that prints its process id stays the same process, under the same command line', () => {
  const told = printingProcessId(shell`sh -c 'echo $$ $0' ${"it's"}`);
  const { stdout, stderr } = spawnSync('sh', ['-c', commandText(told)], { encoding: 'utf8' });
  expect(stdout).toBe(`${processIdIn(stderr)} it's\n`);
});

test('Chelsio ports have a second port for netmap', () => {
  const names = ['cxl0', 'cc1', 'cxgbe2', 'vcxl1', 'igb3', 'mce0'];
  expect(names.map(netmapPort)).toEqual(['vcxl0', 'vcc1', 'vcxgbe2', 'vcxl1', 'igb3', 'mce0']);
});

const small = { inet4: { source: '10.0.0.0/28' } };

test.for<[flows: number, sources?: number | undefined, destinations?: number | undefined, addresses?: typeof small]>([
  [1, 1, 1],
  [50, 1, 50],
  [150, 2, 75],
  [200, 2, 100],
  [2000, 20, 100],
  [5000, 50, 100],
  [62_974, 851, 74],
  [65_536, 1024, 64],
  [2800, 14, 200, small],
  [2011, undefined, undefined, small],
  [0],
  [-2000],
  [20.5],
  [Number.NaN],
])('%d flows are %d sources to %d destinations', ([flows, sources, destinations, addresses]) => {
  const split = flowRanges(flows, 'inet4', 1, addresses);
  if (sources === undefined) expect(split.kind).toBe('refused');
  else expect(split).toEqual({ kind: 'split', flows: { sources, destinations } });
});

test('the slices of all senders together are exactly the flows', () => {
  fc.assert(
    fc.property(fc.integer({ min: 4, max: 60_000 }), fc.integer({ min: 1, max: 4 }), (sources, senders) => {
      const slices = flowSlices({ sources, destinations: 100 }, senders);
      let next = 1;
      for (const slice of slices) {
        expect(slice).toMatchObject({ firstSource: next, destinations: 100 });
        next += slice.sources;
      }
      expect(next).toBe(sources + 1);
      const sizes = slices.map((slice) => slice.sources);
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
    }),
  );
});

const start = '906.195100 start_threads [2594] Wait 4 secs for phy reset\n';

test.for([
  ['', false],
  [start, false],
  [`${start}906.195259 start_threads [2596] Ready...`, true],
  [`${start}906.195861 receiver_body [1596] reading from netmap:vcxl1 fd 3 main_fd 3\n`, true],
  ['CMD: pkt-gen -i Ready...\n', false],
] as const)('a receiver is ready when it prints that on a separate line: %j', ([log, ready]) => {
  expect(isReady(log)).toBe(ready);
});

describeWith(['shared/corpus/runs'], 'the commands of published benches', () => {
  const runs = sharedFolder('corpus/runs');
  const studies = ['r325006-D12685', 'r368606-D27401'];
  const commands = studies.flatMap((study) =>
    readdirSync(join(runs, study)).flatMap((file) => {
      const [, text] = /^CMD[^:]*: (.*)/.exec(readFileSync(join(runs, study, file), 'latin1')) ?? [];
      return text === undefined ? [] : [optionsOf(text.replaceAll('"', '').split(' '))];
    }),
  );
  const of = (side: string) => commands.filter((options) => options['-f'] === side);

  test('a sender has the same options, except the time between its reports', () => {
    for (const { '-T': _, ...published } of of('tx')) {
      const family = '-6' in published ? 'inet6' : 'inet4';
      const options = senderOptions({
        family,
        frameBytes: family === 'inet4' ? 64 : 66,
        settleSeconds: Number(published['-w']),
        sourceMac: published['-S'] ?? '',
        packets: 1_000_000_000,
      });
      expect(options).toEqual(published);
    }
  });

  test('a receiver has the same options, except that it may end after a second without packets', () => {
    for (const { '-W': _, ...published } of of('rx')) {
      const settleSeconds = Number(published['-w']);
      const command = receiverCommand({ interface: 'cxl1', settleSeconds, seconds: 60 });
      expect(optionsOf(wordsOf(command))).toEqual(published);
    }
  });
});
