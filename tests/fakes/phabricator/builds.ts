// Runs Harbormaster builds: they call HTTP endpoints, wait for a message, and release or hold back a draft.
import { request } from 'node:http';
import {
  addTransactions,
  type Build,
  type Buildable,
  type BuildPlan,
  byPhid,
  existing,
  newRecord,
  type Revision,
  type State,
  type Target,
} from './state.ts';

/** Starts a build of the revision's newest diff; resolves with its target when the endpoint has replied. */
export async function startBuild(state: State, revision: Revision, plan: BuildPlan): Promise<Target> {
  const { phid, diffPHID } = revision;
  const buildable = state.buildables.find(({ objectPHID }) => objectPHID === diffPHID) ?? {
    ...newRecord(state, 'HMBB'),
    objectPHID: diffPHID,
    containerPHID: phid,
    status: 'building',
  };
  if (!state.buildables.includes(buildable)) state.buildables.push(buildable);
  const of = { buildablePHID: buildable.phid, planPHID: plan.phid };
  const build: Build = { ...newRecord(state, 'HMBD'), ...of, status: 'building', generation: 0 };
  state.builds.push(build);
  const target = await startGeneration(state, build);
  if (holdingBuilds(state, revision).length === 0) settleDraft(state, revision);
  return target;
}

/** Adds another target, one generation newer; the older ones stay unchanged. */
export async function startGeneration(state: State, build: Build): Promise<Target> {
  const plan = existing(state.plans, build.planPHID);
  build.generation += 1;
  build.status = 'building';
  const target: Target = {
    ...newRecord(state, 'HMBT'),
    buildPHID: build.phid,
    status: 'target/building',
    generation: build.generation,
    messages: [],
    units: [],
  };
  state.targets.push(target);
  updateBuildable(state, build);
  const isTaken = await call(plan, variablesFor(state, build, target));
  if (build.generation !== target.generation || build.status !== 'building') return target;
  if (isTaken) target.status = 'target/waiting';
  else finish(state, target, 'failed');
  return target;
}

/** Effect of `pass` and `fail`, unless they are late. */
export function finish(state: State, target: Target, outcome: 'passed' | 'failed'): void {
  target.status = `target/${outcome}`;
  endBuild(state, existing(state.builds, target.buildPHID), outcome);
}

/** True if it accepts no more messages: it is done, of an older generation, or of an ended build. */
export function isLate(state: State, target: Target): boolean {
  const build = existing(state.builds, target.buildPHID);
  return build.status !== 'building' || build.generation !== target.generation;
}

export function endBuild(state: State, build: Build, outcome: 'passed' | 'failed' | 'aborted'): void {
  build.status = outcome;
  const buildable = updateBuildable(state, build);
  const revision = byPhid(state.revisions, buildable.containerPHID);
  if (buildable.status === 'building' || revision === undefined) return;
  revision.dateModified = state.now;
  addTransactions(state, revision.phid, [{ type: null, authorPHID: harbormasterPhid }]);
  if (revision.diffPHID === buildable.objectPHID) settleDraft(state, revision);
}

/** Harbormaster, when it acts automatically. */
const harbormasterPhid = 'PHID-APPS-PhabricatorHarbormasterApplication';

function updateBuildable(state: State, build: Build): Buildable {
  const buildable = existing(state.buildables, build.buildablePHID);
  const all = state.builds.filter(({ buildablePHID }) => buildablePHID === buildable.phid);
  const isAny = (...outcomes: Build['status'][]) => all.some(({ status }) => outcomes.includes(status));
  buildable.status = isAny('failed', 'aborted') ? 'failed' : isAny('building') ? 'building' : 'passed';
  return buildable;
}

/** A draft is published when the builds that hold it have passed, and returned to its author when one fails. */
function settleDraft(state: State, revision: Revision): void {
  if (revision.status !== 'draft' || revision.holdAsDraft) return;
  const holding = holdingBuilds(state, revision).map(({ status }) => status);
  const settled = (type: string, authorPHID: string) => addTransactions(state, revision.phid, [{ type, authorPHID }]);
  if (holding.some((status) => status === 'failed' || status === 'aborted')) {
    revision.status = 'changes-planned';
    settled('plan-changes', harbormasterPhid);
  } else if (!holding.includes('building')) {
    Object.assign(revision, { status: 'needs-review', isDraft: false });
    settled('request-review', revision.authorPHID);
  }
}

function holdingBuilds(state: State, { diffPHID }: Revision): Build[] {
  return state.builds.filter(({ buildablePHID, planPHID, status }) => {
    const { holdDrafts } = existing(state.plans, planPHID);
    const isOfDiff = existing(state.buildables, buildablePHID).objectPHID === diffPHID;
    return isOfDiff && (holdDrafts === 'always' || (holdDrafts === 'building' && status === 'building'));
  });
}

/** Values of the variables that ppsgate's documentation names. */
function variablesFor(state: State, build: Build, target: Target): { [name: string]: string } {
  const { objectPHID, containerPHID } = existing(state.buildables, build.buildablePHID);
  return {
    'target.phid': target.phid,
    'build.phid': build.phid,
    'buildable.diff': String(existing(state.diffs, objectPHID).id),
    'buildable.revision': String(existing(state.revisions, containerPHID).id),
  };
}

/** True if the endpoint returned success; there is no retry. */
async function call({ uri, credential }: BuildPlan, variables: { [name: string]: string }): Promise<boolean> {
  const basic = credential && Buffer.from(`${credential.user}:${credential.password}`).toString('base64');
  const filled = uri.replace(/\$\{([^}]*)\}/g, (_, name: string) => variables[name] ?? '');
  return sendOut(filled, { ...(basic && { Authorization: `Basic ${basic}` }) });
}

/** Sends a request of the server itself. Returns true if the endpoint returned success. */
export function sendOut(uri: string, headers: { [name: string]: string }, body = ''): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const sent = request(uri, { method: 'POST', headers, agent: false }, (response) => {
    response.resume().on('close', () => resolve(response.statusCode === 200));
  });
  sent.on('error', () => resolve(false)).end(body);
  return promise;
}
