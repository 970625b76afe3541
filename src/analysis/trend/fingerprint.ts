// Hashes the state of a testbed to twelve digits: other firmware, settings or traffic change a level as code does.
import { createHash } from 'node:crypto';
import { plainLine } from '../../model/escape.ts';
import { machineFacts } from '../../model/freebsd-machine.ts';
import type { Result } from '../../model/result.ts';
import { packetsText } from '../../model/traffic.ts';
import type { TrendIndex } from '../../model/trend.ts';

type Fingerprint = { id: string; facts: Readonly<Record<string, string>> };

/**
 * Covers the traffic, and facts that no kernel under test changes; on Linux, where variants share it, also the kernel.
 */
export function fingerprintOf({ testbed, trials, traffic }: FingerprintSource): Fingerprint {
  const hasOwnKernels = trials.some(({ kernel }) => kernel !== undefined);
  const { flows, frameBytes, offeredPps, packets } = traffic;
  const recorded = {
    ...(hasOwnKernels ? machineFacts(testbed.fingerprint) : testbed.fingerprint),
    flows: `${flows}`,
    'frame bytes': `${frameBytes}`,
    'offered pps': offeredPps === undefined ? 'as many as the sender can' : `${offeredPps}`,
    // Absent for the usual packets, so that known fingerprints stay.
    ...(packets !== undefined && { packets: packetsText(packets) }),
  };
  const sorted = Object.entries(recorded).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const digits = createHash('sha256').update(JSON.stringify(sorted)).digest('hex');
  return { id: digits.slice(0, 12), facts: Object.fromEntries(sorted) };
}

type FingerprintSource = Pick<Result, 'testbed' | 'trials' | 'traffic'>;

/** Records the testbed's current fingerprint, and its differences from the previous one. */
export function withFingerprint(index: TrendIndex, result: Result): TrendIndex {
  const { id, facts } = fingerprintOf(result);
  const testbed = result.testbed.name;
  const own = index.fingerprints.filter((known) => known.testbed === testbed);
  const last = own.find((known) => known.facts !== undefined);
  if (last?.id === id) return index;
  const known = own.find((one) => one.id === id);
  const since = new Date(result.startedAt).toISOString();
  const differs = last?.facts === undefined ? [] : differences(last.facts, facts);
  const current = { ...(known ?? { id, testbed, since, differs }), facts };
  const others = index.fingerprints.filter((one) => one !== known);
  const fingerprints = [...others.map((one) => (one === last ? withoutFacts(one) : one)), current];
  return {
    ...index,
    fingerprints: fingerprints.toSorted((a, b) => (a.since < b.since ? -1 : 1)),
  };
}

type KeptFingerprint = TrendIndex['fingerprints'][number];

function withoutFacts({ facts: _, ...kept }: KeptFingerprint): KeptFingerprint {
  return kept;
}

const differences = (before: Fingerprint['facts'], after: Fingerprint['facts']): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((name) => before[name] !== after[name])
    .map((name) => `${plainLine(name)}: ${plainLine(after[name] ?? 'not told any more')}`);
