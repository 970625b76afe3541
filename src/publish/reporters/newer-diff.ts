// What has taken the place of a diff whose gate was cancelled: Phabricator knows, wherever the gate ran and whoever ended it.
import { z } from 'zod';
import type { Conduit } from '../../forge/phabricator/conduit.ts';
import type { RevisionDiff } from '../../model/patch.ts';

/**
 * A sentence that names the revision's newest diff, and its build of the same plan, if any; undefined where none is
 * newer. Throws a ConduitError.
 *
 * @param build the PHID of that of the older diff
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
  const said = `Diff ${newest.id} is newer and has taken its place`;
  const its = await buildableOf(conduit, diffPHID, build).catch(() => undefined);
  if (its === undefined) return `${said}: what is measured is that one.`;
  return `${said}: see its build, B${its.id} (${its.fields.uri}).`;
}

const revisions = z.object({ fields: z.object({ diffPHID: z.string() }) });
const diffs = z.object({ id: z.int() });

/** The page of the newest build of that diff by the plan of ours. */
async function buildableOf(conduit: Conduit, diffPHID: string, build: string) {
  const ofOurs = { constraints: { phids: [build] } };
  const [ours] = await conduit.search('harbormaster.build.search', ofOurs, builds);
  const ofDiff = { constraints: { objectPHIDs: [diffPHID] } };
  const found = await conduit.search('harbormaster.buildable.search', ofDiff, buildables);
  if (ours === undefined || found.length === 0) return undefined;
  const plans = [ours.fields.buildPlanPHID];
  const ofPlan = { constraints: { buildables: found.map(({ phid }) => phid), plans } };
  const [its] = await conduit.search('harbormaster.build.search', ofPlan, builds);
  return found.find(({ phid }) => phid === its?.fields.buildablePHID);
}

const buildables = z.object({
  id: z.int(),
  phid: z.string(),
  fields: z.object({ uri: z.string() }),
});

const builds = z.object({
  fields: z.object({ buildPlanPHID: z.string(), buildablePHID: z.string() }),
});
