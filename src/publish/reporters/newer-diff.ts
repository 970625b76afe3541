// Finds the diff that replaced one whose gate was cancelled.
import { z } from 'zod';
import type { Conduit } from '../../forge/phabricator/conduit.ts';
import * as bounded from '../../model/bounds.ts';
import type { RevisionDiff } from '../../model/patch.ts';

/**
 * Names the revision's newest diff in a sentence, and its build by the same plan, if any. Undefined if none is newer.
 * Throws a ConduitError.
 *
 * @param build PHID of the older diff's build
 */
export async function newerDiff(
  conduit: Conduit,
  build: string,
  { number, diff }: RevisionDiff,
): Promise<string | undefined> {
  const ofRevision = { constraints: { ids: [number] } };
  const [revision] = await conduit.search('differential.revision.search', ofRevision, revisions);
  if (revision === undefined) return undefined;
  const { diffPHID } = revision.fields;
  const ofDiff = { constraints: { phids: [diffPHID] } };
  const [newest] = await conduit.search('differential.diff.search', ofDiff, diffs);
  if (newest === undefined || newest.id <= diff) return undefined;
  const replaced = `Diff ${newest.id} is newer and has replaced it`;
  const its = await buildableOf(conduit, diffPHID, build).catch(() => undefined);
  if (its === undefined) return `${replaced}: the newer diff is measured.`;
  return `${replaced}: see its build, B${its.id} (${its.fields.uri}).`;
}

const revisions = z.object({ fields: z.object({ diffPHID: bounded.word }) });
const diffs = z.object({ id: z.int() });

/** Newest buildable of that diff with a build by the same plan. */
async function buildableOf(conduit: Conduit, diffPHID: string, build: string) {
  const ofOurs = { constraints: { phids: [build] } };
  const [ours] = await conduit.search('harbormaster.build.search', ofOurs, builds);
  const ofDiff = { constraints: { objectPHIDs: [diffPHID] } };
  const all = await conduit.search('harbormaster.buildable.search', ofDiff, buildables);
  if (ours === undefined || all.length === 0) return undefined;
  const plans = [ours.fields.buildPlanPHID];
  const ofPlan = { constraints: { buildables: all.map(({ phid }) => phid), plans } };
  const [its] = await conduit.search('harbormaster.build.search', ofPlan, builds);
  return all.find(({ phid }) => phid === its?.fields.buildablePHID);
}

const buildables = z.object({
  id: z.int(),
  phid: bounded.word,
  fields: z.object({ uri: bounded.word }),
});

const builds = z.object({
  fields: z.object({ buildPlanPHID: bounded.word, buildablePHID: bounded.word }),
});
