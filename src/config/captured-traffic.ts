// Replaces a configuration's packets by those of the capture that its `traffic.pcap` names.
import { createHash } from 'node:crypto';
import { type CapturedPacket, destinationOf, flowOf, parseCapture, sourceOf } from '../model/capture.ts';
import { hostsIn, knownNetwork } from '../model/networks.ts';
import { families } from '../model/scenario.ts';
import type { TestNetworks } from '../model/traffic.ts';
import { UsageError } from '../model/usage-error.ts';
import type { Config } from './schema.ts';

/** `place` names the file for people. Throws a UsageError for a file that no testbed can send. */
export function withCapture(config: Config, file: Buffer, place: string): Config {
  const read = parseCapture(file);
  if (read.kind === 'refused') throw new UsageError(`traffic.pcap: ${place} ${read.why}.`);
  const { packets } = read;
  const { addresses } = config.traffic.packets ?? {};
  const of = families
    .map((family) => packets.filter((packet) => packet.family === family))
    .filter((own) => own.length > 0);
  for (const own of of) {
    const why = whyTooManyHosts(own, addresses);
    if (why !== undefined) throw new UsageError(`traffic.pcap: ${place} ${why}.`);
  }
  const bytes = packets.map((packet) => Math.max(64, packet.bytes.length + headerAndCrcBytes));
  return {
    ...config,
    traffic: {
      ...config.traffic,
      // A stateful scenario proves a state for each flow of its family.
      flows: Math.min(...of.map((own) => new Set(own.map(flowOf)).size)),
      frameBytes: Math.round(bytes.reduce((sum, one) => sum + one, 0) / bytes.length),
      captured: file.toString('base64'),
      packets: {
        ...(addresses !== undefined && { addresses }),
        capture: {
          sha256: createHash('sha256').update(file).digest('hex'),
          packets: packets.length,
          families: families.filter((family) => packets.some((one) => one.family === family)),
        },
      },
    },
  };
}

function whyTooManyHosts(packets: readonly CapturedPacket[], addresses: TestNetworks = {}): string | undefined {
  const family = packets[0]?.family ?? 'inet4';
  for (const [side, hostOf] of [
    ['source', sourceOf],
    ['destination', destinationOf],
  ] as const) {
    const network = addresses[family]?.[side];
    const hosts = new Set(packets.map(hostOf)).size;
    if (network === undefined || hosts <= hostsIn(knownNetwork(network, family))) continue;
    return `has ${hosts} ${side}s of ${family}, for which ${network} is too small: name a larger one in \`traffic.addresses\``;
  }
  return undefined;
}

const headerAndCrcBytes = 18;
