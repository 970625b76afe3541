// Runs Harbormaster builds: they call HTTP endpoints, wait for a message, and release or hold back a draft.
import { sendOut } from './outgoing.ts';
import {
  type Build,
  type Buildable,
  type BuildPlan,
  byPhid,
  existing,
  harbormasterPhid,
  heraldRulePhid,
  newRecord,
  type Revision,
  type State,
  type Target,
} from './state.ts';
import { addTransactions } from './transactions.ts';

/** Starts a build of the revision's newest diff; resolves with its target when the endpoint has replied. */
export async function startBuild(state: State, revision: Revision, plan: BuildPlan): Promise<Target> {
  const buildable =
    state.buildables.find(({ objectPHID }) => objectPHID === revision.diffPHID) ?? newBuildable(state, revision);
  const build: Build = {
    ...newRecord(state, 'HMBD'),
    buildablePHID: buildable.phid,
    planPHID: plan.phid,
    initiatorPHID: heraldRulePhid,
    status: 'building',
    generation: 0,
  };
  state.builds.push(build);
  addTransactions(state, build.phid, [{ type: 'create', authorPHID: harbormasterPhid }]);
  const target = await startGeneration(state, build);
  publishUnheld(state, revision);
  return target;
}

/** Adds another target, one generation newer; the older ones stay unchanged. */
export async function startGeneration(state: State, build: Build): Promise<Target> {
  const plan = existing(state.plans, build.planPHID);
  build.generation += 1;
  build.status = 'building';
  build.dateModified = state.now;
  const target: Target = {
    ...newRecord(state, 'HMBT'),
    name: plan.step.name,
    buildPHID: build.phid,
    stepPHID: plan.step.phid,
    status: 'target/building',
    epochStarted: state.now,
    epochCompleted: null,
    generation: build.generation,
    messages: [],
    units: [],
  };
  state.targets.push(target);
  updateBuildable(state, build);
  const isTaken = await overrides(plan.step, variablesFor(state, build, target));
  if (build.generation !== target.generation || build.status !== 'building') return target;
  if (!isTaken) finish(state, target, 'failed');
  else if (plan.step.waitsForMessage) target.status = 'target/waiting';
  else finish(state, target, 'passed');
  return target;
}

/** Effect of `pass` and `fail`, unless they are late. */
export function finish(state: State, target: Target, outcome: 'passed' | 'failed'): void {
  const build = existing(state.builds, target.buildPHID);
  Object.assign(target, {
    status: `target/${outcome}`,
    epochCompleted: state.now,
    dateModified: state.now,
  });
  for (const artifact of state.artifacts.filter(({ targetPHID }) => targetPHID === target.phid)) {
    Object.assign(artifact, { isReleased: true, dateModified: state.now });
  }
  endBuild(state, build, outcome);
}

export function abort(state: State, build: Build): void {
  if (build.status === 'building') endBuild(state, build, 'aborted');
}

/** True if it accepts no more messages: it is done, of an older generation, or of an ended build. */
export function isLate(state: State, target: Target): boolean {
  const build = existing(state.builds, target.buildPHID);
  return build.status !== 'building' || build.generation !== target.generation;
}

function endBuild(state: State, build: Build, outcome: 'passed' | 'failed' | 'aborted'): void {
  build.status = outcome;
  build.dateModified = state.now;
  addTransactions(state, build.phid, [{ type: null, authorPHID: harbormasterPhid }]);
  const buildable = updateBuildable(state, build);
  const revision = byPhid(state.revisions, buildable.containerPHID);
  if (buildable.status === 'building' || revision === undefined) return;
  const told = { type: null, authorPHID: harbormasterPhid };
  const isNewest = revision.diffPHID === buildable.objectPHID;
  const settled = isNewest ? settleDraft(state, revision) : [];
  revision.dateModified = state.now;
  addTransactions(state, revision.phid, [told, ...settled]);
}

function updateBuildable(state: State, build: Build): Buildable {
  const buildable = existing(state.buildables, build.buildablePHID);
  const all = state.builds.filter(({ buildablePHID }) => buildablePHID === buildable.phid);
  const isAny = (...outcomes: Build['status'][]) => all.some(({ status }) => outcomes.includes(status));
  buildable.status = isAny('failed', 'aborted') ? 'failed' : isAny('building') ? 'building' : 'passed';
  buildable.dateModified = state.now;
  return buildable;
}

/** A draft is published when the builds that hold it have passed, and returned to its author when one fails. */
function settleDraft(state: State, revision: Revision): { type: string; authorPHID: string }[] {
  if (revision.status !== 'draft' || revision.holdAsDraft) return [];
  const holding = holdingBuilds(state, revision).map(({ status }) => status);
  if (holding.some((status) => status === 'failed' || status === 'aborted')) {
    revision.status = 'changes-planned';
    return [{ type: 'plan-changes', authorPHID: harbormasterPhid }];
  }
  if (holding.includes('building')) return [];
  revision.status = 'needs-review';
  revision.isDraft = false;
  return [{ type: 'request-review', authorPHID: revision.authorPHID }];
}

function publishUnheld(state: State, revision: Revision): void {
  if (holdingBuilds(state, revision).length > 0) return;
  addTransactions(state, revision.phid, settleDraft(state, revision));
}

function holdingBuilds(state: State, { diffPHID }: Revision): Build[] {
  return state.builds.filter(({ buildablePHID, planPHID, status }) => {
    const { holdDrafts } = existing(state.plans, planPHID);
    const isOfDiff = existing(state.buildables, buildablePHID).objectPHID === diffPHID;
    return isOfDiff && (holdDrafts === 'always' || (holdDrafts === 'building' && status === 'building'));
  });
}

function newBuildable(state: State, { phid, diffPHID }: Revision): Buildable {
  const buildable: Buildable = {
    ...newRecord(state, 'HMBB'),
    objectPHID: diffPHID,
    containerPHID: phid,
    status: 'building',
  };
  state.buildables.push(buildable);
  return buildable;
}

/** Values of the variables that a URI may contain; those of a staging area exist only with a repository. */
function variablesFor(state: State, build: Build, target: Target): { [name: string]: string } {
  const buildable = existing(state.buildables, build.buildablePHID);
  const diff = existing(state.diffs, buildable.objectPHID);
  const revision = existing(state.revisions, buildable.containerPHID);
  const repository = byPhid(state.repositories, diff.repositoryPHID);
  const host = new URL(state.baseUri).hostname;
  return {
    'target.phid': target.phid,
    'build.id': String(build.id),
    'build.phid': build.phid,
    'buildable.phid': buildable.phid,
    'buildable.object.phid': buildable.objectPHID,
    'buildable.container.phid': buildable.containerPHID,
    'buildable.diff': String(diff.id),
    'buildable.revision': String(revision.id),
    'buildable.commit': '',
    'repository.callsign': repository?.callsign ?? '',
    'repository.phid': repository?.phid ?? '',
    'repository.vcs': repository?.vcs ?? '',
    'repository.uri': repository ? `ssh://${host}/source/${repository.shortName}.git` : '',
    ...(repository && {
      'repository.staging.uri': '',
      'repository.staging.ref': `refs/tags/phabricator/diff/${diff.id}`,
    }),
    'initiator.phid': build.initiatorPHID,
    'step.timestamp': String(target.epochStarted),
  };
}

/** True if the endpoint returned success; there is no retry. */
async function overrides(step: BuildPlan['step'], variables: { [name: string]: string }): Promise<boolean> {
  const names = [...step.uri.matchAll(/\$\{([^}]*)\}/g)].map(([, name]) => name ?? '');
  if (names.some((name) => variables[name] === undefined)) return false;
  const uri = step.uri.replace(/\$\{([^}]*)\}/g, (_, name: string) => escaped(variables[name] ?? ''));
  const { credential } = step;
  const basic = credential && Buffer.from(`${credential.user}:${credential.password}`).toString('base64');
  const status = await sendOut(uri, step.method, {
    ...(basic && { Authorization: `Basic ${basic}` }),
    'Accept-Encoding': 'gzip',
    'Content-Length': '0',
    'Content-Type': 'application/x-www-form-urlencoded',
  });
  return status !== null && status >= 200 && status < 300;
}

/** Like PHP's rawurlencode, but keeps slashes. */
function escaped(value: string): string {
  return encodeURIComponent(value)
    .replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%2F', '/');
}
