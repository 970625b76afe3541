// Replays a recording: reports output, requests and outcomes that differ with the current code.
import type { Diagnostic } from '../../lab/check/diagnostic.ts';
import { unexpectedOutput } from './output-formats.ts';
import type { Recording } from './read-recording.ts';
import { replayCheck } from './replay-check.ts';
import { differenceAt, type PartReplay, type ReplayDifference, type ReplayPart } from './replay-difference.ts';
import { replaySelfTest } from './replay-self-test.ts';
import { replayTestbed } from './replay-testbed.ts';

/** The output of `ppsgate testbeds replay --json`. */
export type Replay = {
  head: Recording['head'];
  isTorn: boolean;
  /** Recorded requests to machines: commands, logins, uploads, power. */
  questions: number;
  hosts: string[];
  differences: ReplayDifference[];
  /** Results of the current code, for a recorded check or self-test. */
  diagnostics: Diagnostic[];
};

export async function replay(recording: Recording): Promise<Replay> {
  const { head, isTorn, requests } = recording;
  const differences = requests.flatMap((request) => {
    const why = unexpectedOutput(request);
    return why === undefined ? [] : [differenceAt('not-understood', request, why)];
  });
  const diagnostics: Diagnostic[] = [];
  for (const part of partsOf(recording)) {
    const replayed = await replayPart(part);
    diagnostics.push(...replayed.diagnostics);
    differences.push(...replayed.differences);
  }
  return {
    head,
    isTorn,
    diagnostics,
    questions: requests.filter(({ call }) => call.what !== 'sleep').length,
    hosts: [...new Set(requests.map(({ host }) => host))].filter((host) => host !== 'clock'),
    differences: differences.toSorted(
      (one, other) => (one.number ?? Number.MAX_VALUE) - (other.number ?? Number.MAX_VALUE),
    ),
  };
}

async function replayPart(part: ReplayPart): Promise<PartReplay> {
  switch (part.name) {
    case 'check':
      return replayCheck(part);
    case 'self-test':
      return replaySelfTest(part);
    case 'testbed':
      return replayTestbed(part);
    default:
      return { diagnostics: [], differences: [] };
  }
}

/** Outcomes of a part come before the next part begins; its requests may come until it begins again. */
function partsOf({ events, requests }: Recording): ReplayPart[] {
  return events.flatMap(({ kind, part, value, after }, index) => {
    if (kind !== 'begins') return [];
    const later = events.slice(index + 1);
    const next = later.findIndex((event) => event.kind === 'begins');
    const own = next === -1 ? later : later.slice(0, next);
    const again = later.find((event) => event.kind === 'begins' && event.part === part);
    return [
      {
        name: part,
        request: value,
        outcomes: own.filter((event) => event.part === part),
        requests: requests.slice(after, again?.after),
      },
    ];
  });
}
