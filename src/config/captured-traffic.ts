// Replaces the packets of a configuration by those of the capture that its `traffic.pcap` names.
import { createHash } from 'node:crypto';
import { flowOf, parseCapture } from '../model/capture.ts';
import { families } from '../model/scenario.ts';
import { UsageError } from '../model/usage-error.ts';
import type { Config } from './schema.ts';

/** `place` names the file for people. Throws a UsageError for a file that no testbed can send. */
export function withCapture(config: Config, file: Buffer, place: string): Config {
  const read = parseCapture(file);
  if (read.kind === 'refused') throw new UsageError(`traffic.pcap: ${place} ${read.why}.`);
  const { packets } = read;
  const of = families
    .map((family) => packets.filter((packet) => packet.family === family))
    .filter((own) => own.length > 0);
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
        capture: {
          sha256: createHash('sha256').update(file).digest('hex'),
          packets: packets.length,
          families: families.filter((family) => packets.some((one) => one.family === family)),
        },
      },
    },
  };
}

const headerAndCrcBytes = 18;
