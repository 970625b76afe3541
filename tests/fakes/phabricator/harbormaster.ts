// harbormaster.*: reads builds, and sends messages and artifacts to them.
import { createHash } from 'node:crypto';
import { abort, finish, isLate, startGeneration } from './builds.ts';
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
import { identity, search, strings } from './search.ts';
import {
  type Artifact,
  type Build,
  type Buildable,
  type BuildPlan,
  type BuildStep,
  byPhid,
  existing,
  maySeeBuild,
  maySeeBuildable,
  newRecord,
  type Target,
  type UnitResult,
} from './state.ts';
import { addTransactions } from './transactions.ts';

const buildableSearch = search<Buildable>({
  type: 'HMBB',
  query: 'HarbormasterBuildableQuery',
  rows: (state) => state.buildables,
  isVisible: (buildable, { state, viewer }) => maySeeBuildable(state, buildable, viewer),
  constraints: {
    ...identity(),
    objectPHIDs: strings((buildable) => buildable.objectPHID),
    containerPHIDs: strings((buildable) => buildable.containerPHID),
    statuses: strings((buildable) => buildable.status),
  },
  fields: ({ id, objectPHID, containerPHID, status, ...dates }, { state }) => ({
    objectPHID,
    containerPHID,
    buildableStatus: { value: status },
    isManual: false,
    uri: `${state.baseUri}/B${id}`,
    dateCreated: dates.dateCreated,
    dateModified: dates.dateModified,
    policy: { view: 'users', edit: 'users' },
  }),
});

const buildSearch = search<Build>({
  type: 'HMBD',
  query: 'HarbormasterBuildQuery',
  rows: (state) => state.builds,
  isVisible: (build, { state, viewer }) => maySeeBuild(state, build, viewer),
  constraints: {
    ...identity(),
    buildables: strings((build) => build.buildablePHID),
    plans: strings((build) => build.planPHID),
    statuses: strings((build) => build.status),
    initiators: strings((build) => build.initiatorPHID),
  },
  fields: ({ buildablePHID, planPHID, initiatorPHID, status, ...dates }, { state }) => ({
    buildablePHID,
    buildPlanPHID: planPHID,
    buildStatus: { value: status, ...buildStatuses[status] },
    initiatorPHID,
    name: existing(state.plans, planPHID).name,
    dateCreated: dates.dateCreated,
    dateModified: dates.dateModified,
    policy: { view: 'users', edit: 'users' },
  }),
});

const targetSearch = search<Target>({
  type: 'HMBT',
  query: 'HarbormasterBuildTargetQuery',
  rows: (state) => state.targets,
  isVisible: ({ buildPHID }, { state, viewer }) => maySeeBuild(state, existing(state.builds, buildPHID), viewer),
  constraints: { ...identity(), buildPHIDs: strings((target) => target.buildPHID) },
  fields: (target) => ({
    name: target.name,
    buildPHID: target.buildPHID,
    buildStepPHID: target.stepPHID,
    status: { value: target.status, name: targetStatuses[target.status] },
    epochStarted: target.epochStarted,
    epochCompleted: target.epochCompleted,
    buildGeneration: target.generation,
    dateCreated: target.dateCreated,
    dateModified: target.dateModified,
    policy: { view: 'users' },
  }),
});

const artifactSearch = search<Artifact>({
  type: 'HMBA',
  query: 'HarbormasterBuildArtifactQuery',
  rows: (state) => state.artifacts,
  isVisible: ({ targetPHID }, { state, viewer }) =>
    maySeeBuild(state, existing(state.builds, existing(state.targets, targetPHID).buildPHID), viewer),
  constraints: { ...identity(), buildTargetPHIDs: strings((artifact) => artifact.targetPHID) },
  // The URI is not included.
  fields: (artifact) => ({
    buildTargetPHID: artifact.targetPHID,
    artifactType: artifact.type,
    artifactKey: artifact.key,
    isReleased: artifact.isReleased,
    dateCreated: artifact.dateCreated,
    dateModified: artifact.dateModified,
    policy: { view: 'users' },
  }),
});

const planSearch = search<BuildPlan>({
  type: 'HMCP',
  query: 'HarbormasterBuildPlanQuery',
  rows: (state) => state.plans,
  isVisible: () => true,
  constraints: {
    ...identity(),
    status: strings(() => 'active'),
    match: {
      type: 'text',
      matches: (plan: BuildPlan, text: string) => plan.name.includes(text),
    },
  },
  fields: ({ name, holdDrafts, dateCreated, dateModified }) => ({
    name,
    status: { value: 'active' },
    behaviors: {
      'hold-drafts': { value: holdDrafts },
      'arc-land': { value: 'always' },
      buildable: { value: 'always' },
      restartable: { value: 'always' },
      runnable: { value: 'edit' },
    },
    dateCreated,
    dateModified,
    policy: { view: 'users', edit: 'admin' },
  }),
});

type StepRow = BuildStep & { planPHID: string };

const stepSearch = search<StepRow>({
  type: 'HMCS',
  query: 'HarbormasterBuildStepQuery',
  rows: ({ plans }) => plans.map(({ phid, step }) => ({ ...step, planPHID: phid })),
  isVisible: () => true,
  constraints: { ...identity(), planPHIDs: strings((step) => step.planPHID) },
  fields: ({ name, planPHID, date }) => ({
    name,
    description: { raw: '' },
    buildPlanPHID: planPHID,
    dateCreated: date,
    dateModified: date,
    policy: { view: 'users', edit: 'admin' },
  }),
});

const planEdit: Method = {
  params: ['transactions', 'objectIdentifier'],
  writes: 'harbormaster',
  run: ({ state, params, viewer }) => {
    const plan = byPhid(state.plans, params.objectIdentifier);
    if (plan === undefined) throw refusal('The fake makes no build plans over Conduit.');
    if (!viewer.isAdmin) {
      throw refusal(
        `[You Shall Not Pass: Plan ${plan.id}] (Can Edit) You do not have permission to edit this object. // Administrators can take this action.`,
      );
    }
    const changes = (asList(params.transactions) ?? []).filter(isMap).map(({ type, value }) => {
      if (type !== 'behavior.hold-drafts' || !isHolding(value)) {
        throw refusal(`The fake does not set "${type}" of a build plan.`);
      }
      plan.holdDrafts = value;
      return { type: null, authorPHID: viewer.phid };
    });
    const transactions = addTransactions(state, plan.phid, changes).map(({ phid }) => ({ phid }));
    return { object: { id: plan.id, phid: plan.phid }, transactions };
  },
};

const sendMessage: Method = {
  params: ['receiver', 'type', 'unit', 'lint', 'buildTargetPHID'],
  writes: 'harbormaster',
  run: (call) => {
    const { state, params } = call;
    const receiver = params.receiver ?? params.buildTargetPHID;
    const { type } = params;
    if (!isText(receiver) || receiver === '') {
      throw refusal(
        'Call omits required "receiver" parameter. Specify the PHID of the object you want to send a message to.',
      );
    }
    if (!isText(type) || type === '') {
      throw refusal('Call omits required "type" parameter. Specify the type of message you want to send.');
    }
    const target = targetSeen(call, receiver);
    if (target !== undefined) return tellTarget(call, target, type);
    const build = byPhid(state.builds, receiver);
    if (build === undefined || !maySeeBuild(state, build, call.viewer)) {
      throw refusal(`Unable to load object "${receiver}" to receive message.`);
    }
    return tellBuild(call, build, type);
  },
};

const createArtifact: Method = {
  params: ['buildTargetPHID', 'artifactKey', 'artifactType', 'artifactData'],
  writes: 'harbormaster',
  run: (call) => {
    const { state, params } = call;
    const { buildTargetPHID, artifactKey: key, artifactType: type } = params;
    const target = targetSeen(call, buildTargetPHID);
    if (target === undefined) throw refusal(`No such build target "${buildTargetPHID}"!`);
    if (!isText(key) || key === '') throw refusal('Build artifact must have an artifact key.');
    if (type !== 'uri' && type !== 'file') {
      throw refusal(`There is no implementation available for artifacts of type "${type}".`);
    }
    const data = isMap(params.artifactData) ? params.artifactData : {};
    if (type === 'uri') checkUri(data, call.isForm);
    else checkFile(call, data);
    checkKey(call, target, type, key);
    const artifact = { targetPHID: target.phid, type, key, data, isReleased: false } as const;
    const record = { ...newRecord(state, 'HMBA'), ...artifact };
    state.artifacts.push(record);
    return { data: [{ phid: record.phid }] };
  },
};

export const harbormasterMethods: Methods = {
  'harbormaster.buildable.search': buildableSearch,
  'harbormaster.build.search': buildSearch,
  'harbormaster.target.search': targetSearch,
  'harbormaster.artifact.search': artifactSearch,
  'harbormaster.buildplan.search': planSearch,
  'harbormaster.buildplan.edit': planEdit,
  'harbormaster.step.search': stepSearch,
  'harbormaster.sendmessage': sendMessage,
  'harbormaster.createartifact': createArtifact,
};

/** Stores results of units even if the message is late. */
function tellTarget({ state, params, isForm }: Call, target: Target, type: string): null {
  const units = asList(params.unit) ?? [];
  for (const unit of units) checkUnit(isMap(unit) ? unit : {}, isForm);
  target.units.push(...(units as UnitResult[]));
  if (isLate(state, target)) return null;
  target.messages.push(type);
  if (type === 'pass') finish(state, target, 'passed');
  if (type === 'fail') finish(state, target, 'failed');
  return null;
}

function tellBuild({ state, params }: Call, build: Build, type: string): null {
  if (params.unit !== undefined) {
    throw refusal(
      'Call includes "unit" parameter. This parameter must be omitted when the receiver is not a Build Target.',
    );
  }
  if (type === 'restart') state.background.push(startGeneration(state, build));
  else if (type === 'abort') abort(state, build);
  else throw refusal(`Message type "${type}" is not supported.`);
  return null;
}

function targetSeen({ state, viewer }: Call, phid: unknown): Target | undefined {
  const target = byPhid(state.targets, phid);
  if (target === undefined) return undefined;
  const build = existing(state.builds, target.buildPHID);
  return maySeeBuild(state, build, viewer) ? target : undefined;
}

function checkUnit(unit: Values, isForm: boolean): void {
  require(unit, ['name', 'result']);
  for (const name of ['name', 'result']) checkType(unit, name, 'string', isText);
  for (const name of ['namespace', 'engine', 'path', 'details', 'format']) {
    checkType(unit, name, 'optional string', isText);
  }
  // A form field is text, so it never passes.
  checkType(unit, 'duration', 'optional float|int', (value) => !isForm && typeof value === 'number');
}

function checkUri(data: Values, isForm: boolean): void {
  require(data, ['uri']);
  checkType(data, 'uri', 'string', isText);
  checkType(data, 'name', 'optional string', isText);
  checkType(data, 'ui.external', 'optional bool', (value) => isForm || typeof value === 'boolean');
  const uri = String(data.uri);
  if (/^(https?|mailto):/.test(uri)) return;
  // PHP reads `name:1` as a host with a port.
  if (!/^\w+:/.test(uri) || /^\w+:\d+$/.test(uri)) {
    throw refusal(
      `Unable to identify the protocol for URI "${uri}". URIs must be fully qualified and have an identifiable protocol.`,
    );
  }
  throw refusal(
    `URI "${uri}" does not have an allowable protocol. Configure protocols in \`uri.allowed-protocols\`. Allowed protocols are: http, https, mailto.`,
  );
}

function checkFile({ state }: Call, data: Values): void {
  require(data, ['filePHID']);
  if (byPhid(state.files, data.filePHID) !== undefined) return;
  throw refusal(`File PHID "${data.filePHID}" does not correspond to a valid file.`);
}

function checkKey({ state }: Call, target: Target, type: string, key: string): void {
  const isTaken = state.artifacts.some((artifact) => {
    const other = existing(state.targets, artifact.targetPHID);
    const isSibling = other.buildPHID === target.buildPHID && other.generation === target.generation;
    return isSibling && artifact.key === key && artifact.type === type;
  });
  if (!isTaken) return;
  const index = indexDigest([target.buildPHID, target.generation, key].join('\0'));
  throw refusal(`#1062: Duplicate entry '${type}-${index}' for key 'key_artifact'`);
}

function indexDigest(text: string): string {
  const alphabet = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._';
  const hash = createHash('sha1').update(text).digest();
  return Array.from(hash.subarray(0, 12), (byte) => alphabet.charAt(byte & 63)).join('');
}

function require(values: Values, names: readonly string[]): void {
  const missing = names.filter((name) => values[name] === undefined);
  if (missing.length === 0) return;
  throw new ConduitError('ERR-CONDUIT-CALL', `Missing required parameters: ${missing.join(', ')}`);
}

function checkType(values: Values, name: string, expected: string, isRight: (value: unknown) => boolean): void {
  const value = values[name];
  if (value === undefined || isRight(value)) return;
  const type = phpTypeOf(value);
  throw refusal(`Parameter '${name}' has invalid type. Expected type '${expected}', got type '${type}'.`);
}

/** Describes a type like the server's `phutil_describe_type`, as far as recorded. */
function phpTypeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'object' && value !== null) {
    const types = new Set(Object.values(value).map(phpTypeOf));
    return `map<string, ${[...types].join('|')}>`;
  }
  return { string: 'string', boolean: 'bool', number: 'int' }[String(typeof value)] ?? 'null';
}

function isHolding(value: unknown): value is BuildPlan['holdDrafts'] {
  return value === 'always' || value === 'building' || value === 'never';
}

const buildStatuses: { [status in Build['status']]: { name: string; 'color.ansi': string } } = {
  building: { name: 'Building', 'color.ansi': 'yellow' },
  passed: { name: 'Passed', 'color.ansi': 'green' },
  failed: { name: 'Failed', 'color.ansi': 'red' },
  aborted: { name: 'Aborted', 'color.ansi': 'red' },
};

const targetStatuses: { [status in Target['status']]: string } = {
  'target/building': 'Building',
  'target/waiting': 'Waiting for Message',
  'target/passed': 'Passed',
  'target/failed': 'Failed',
};
