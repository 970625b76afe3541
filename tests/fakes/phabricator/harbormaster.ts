// harbormaster.*: reads builds, and sends messages and artifacts to them.
import { endBuild, finish, isLate, startGeneration } from './builds.ts';
import {
  asList,
  type Call,
  ConduitError,
  isMap,
  isText,
  type Method,
  type Methods,
  refusal,
  type Values,
} from './conduit.ts';
import { search, strings } from './search.ts';
import {
  type Build,
  type Buildable,
  type BuildPlan,
  byPhid,
  existing,
  maySeeBuild,
  maySeeBuildable,
  newRecord,
  type Target,
  type UnitResult,
} from './state.ts';

const buildableSearch = search<Buildable>({
  type: 'HMBB',
  query: 'HarbormasterBuildableQuery',
  rows: (state) => state.buildables,
  isVisible: (buildable, { state, viewer }) => maySeeBuildable(state, buildable, viewer),
  constraints: { objectPHIDs: strings((buildable) => buildable.objectPHID) },
  fields: ({ id }, { state }) => ({ uri: `${state.baseUri}/B${id}` }),
});

const buildSearch = search<Build>({
  type: 'HMBD',
  query: 'HarbormasterBuildQuery',
  rows: (state) => state.builds,
  isVisible: (build, { state, viewer }) => maySeeBuild(state, build, viewer),
  constraints: {
    buildables: strings((build) => build.buildablePHID),
    plans: strings((build) => build.planPHID),
  },
  fields: ({ buildablePHID, planPHID, status }) => ({
    buildablePHID,
    buildPlanPHID: planPHID,
    buildStatus: { value: status },
  }),
});

const targetSearch = search<Target>({
  type: 'HMBT',
  query: 'HarbormasterBuildTargetQuery',
  rows: (state) => state.targets,
  isVisible: ({ buildPHID }, { state, viewer }) => maySeeBuild(state, existing(state.builds, buildPHID), viewer),
  constraints: { buildPHIDs: strings((target) => target.buildPHID) },
  fields: ({ status, generation }) => ({ status: { value: status }, buildGeneration: generation }),
});

const planSearch = search<BuildPlan>({
  type: 'HMCP',
  query: 'HarbormasterBuildPlanQuery',
  rows: (state) => state.plans,
  fields: ({ name, holdDrafts }) => ({
    name,
    status: { value: 'active' },
    behaviors: { 'hold-drafts': { value: holdDrafts } },
  }),
});

const stepSearch = search<BuildPlan>({
  type: 'HMCS',
  query: 'HarbormasterBuildStepQuery',
  rows: ({ plans }) => plans,
  fields: ({ phid }) => ({ name: 'Ask bench CI', buildPlanPHID: phid }),
});

const sendMessage: Method = {
  params: ['receiver', 'type', 'unit'],
  writes: 'harbormaster',
  run: (call) => {
    const { state, params, viewer } = call;
    const { receiver, type } = params;
    const target = targetSeen(call, receiver);
    const build = byPhid(state.builds, receiver);
    if (isText(type) && target !== undefined) return tellTarget(call, target, type);
    if (isText(type) && build !== undefined && maySeeBuild(state, build, viewer)) return tellBuild(call, build, type);
    throw refusal(`Unable to load object "${receiver}" to receive message.`);
  },
};

const createArtifact: Method = {
  params: ['buildTargetPHID', 'artifactKey', 'artifactType', 'artifactData'],
  writes: 'harbormaster',
  run: (call) => {
    const { state, params } = call;
    const { buildTargetPHID, artifactKey, artifactType: type } = params;
    const target = targetSeen(call, buildTargetPHID);
    if (target === undefined) throw refusal(`No such build target "${buildTargetPHID}"!`);
    if (type !== 'uri') throw refusal(`There is no implementation available for artifacts of type "${type}".`);
    const data = isMap(params.artifactData) ? params.artifactData : {};
    checkUri(data);
    const key = String(artifactKey);
    // The real index is of the build and its generation, too.
    if (state.artifacts.some((other) => other.targetPHID === target.phid && other.key === key)) {
      throw refusal(`#1062: Duplicate entry 'uri-${key}' for key 'key_artifact'`);
    }
    const record = { ...newRecord(state, 'HMBA'), targetPHID: target.phid, type, key, data } as const;
    state.artifacts.push(record);
    return { data: [{ phid: record.phid }] };
  },
};

export const harbormasterMethods: Methods = {
  'harbormaster.buildable.search': buildableSearch,
  'harbormaster.build.search': buildSearch,
  'harbormaster.target.search': targetSearch,
  'harbormaster.buildplan.search': planSearch,
  'harbormaster.step.search': stepSearch,
  'harbormaster.sendmessage': sendMessage,
  'harbormaster.createartifact': createArtifact,
};

/** Stores results of units even if the message is late. */
function tellTarget({ state, params }: Call, target: Target, type: string): null {
  const units = asList(params.unit) ?? [];
  for (const unit of units) checkUnit(isMap(unit) ? unit : {});
  target.units.push(...(units as UnitResult[]));
  if (isLate(state, target)) return null;
  target.messages.push(type);
  if (type === 'pass') finish(state, target, 'passed');
  if (type === 'fail') finish(state, target, 'failed');
  return null;
}

/** Messages of a person. */
function tellBuild({ state }: Call, build: Build, type: string): null {
  if (type === 'restart') state.background.push(startGeneration(state, build));
  else if (type === 'abort') endBuild(state, build, 'aborted');
  else throw refusal(`Message type "${type}" is not supported.`);
  return null;
}

function targetSeen({ state, viewer }: Call, phid: unknown): Target | undefined {
  const target = byPhid(state.targets, phid);
  return target && maySeeBuild(state, existing(state.builds, target.buildPHID), viewer) ? target : undefined;
}

function checkUnit(unit: Values): void {
  require(unit, ['name', 'result']);
  for (const name of ['name', 'result']) checkType(unit, name, 'string', isText);
  for (const name of ['engine', 'details', 'format']) checkType(unit, name, 'optional string', isText);
  checkType(unit, 'duration', 'optional float|int', (value) => typeof value === 'number');
}

function checkUri(data: Values): void {
  require(data, ['uri']);
  checkType(data, 'uri', 'string', isText);
  checkType(data, 'name', 'optional string', isText);
  checkType(data, 'ui.external', 'optional bool', (value) => typeof value === 'boolean');
  if (/^(https?|mailto):/.test(String(data.uri))) return;
  throw refusal(
    `URI "${data.uri}" does not have an allowable protocol. Configure protocols in \`uri.allowed-protocols\`. Allowed protocols are: http, https, mailto.`,
  );
}

function require(values: Values, names: readonly string[]): void {
  const missing = names.filter((name) => values[name] === undefined);
  if (missing.length === 0) return;
  throw new ConduitError('ERR-CONDUIT-CALL', `Missing required parameters: ${missing.join(', ')}`);
}

function checkType(values: Values, name: string, expected: string, isRight: (value: unknown) => boolean): void {
  const value = values[name];
  if (value === undefined || isRight(value)) return;
  throw refusal(`Parameter '${name}' has invalid type. Expected type '${expected}', got type '${typeof value}'.`);
}
