// Recordings of a real server, and the server's state at the time of one of them, reconstructed from all of them.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { sharedFolder } from '../../needs.ts';
import { newDiff } from './differential.ts';
import type { Phid, State, User } from './state.ts';

/** Folder of recordings that are not part of this repository. */
export const recordingsFolder = sharedFolder('phabricator');

export const recordingsNeeded = 'shared/phabricator/INDEX.json';

const recordingSchema = z.object({
  name: z.string(),
  method: z.string(),
  http_method: z.string(),
  path: z.string(),
  actor: z.string().nullable(),
  request_headers: z.record(z.string(), z.string()).default({}),
  request_form_body: z.string(),
  params_decoded: z.record(z.string(), z.unknown()).nullish(),
  http_status: z.int(),
  response_headers: z.array(z.tuple([z.string(), z.string()])),
  response_json: z.unknown().optional(),
  response_text: z.string().nullish(),
});

export type Recording = z.infer<typeof recordingSchema> & {
  /** Seconds since 1970. */
  time: number;
  /** Objects that a search shows. */
  rows: Row[];
  transactions: z.infer<typeof transactionSchema>[];
  /** Object that an `*.edit` changed. */
  edited: z.infer<typeof editedSchema>['result'] | undefined;
};

/** The server's own address. */
export const recordedBaseUri = 'http://phorge.local.test:8081';

/** In the order in which they were made. */
export function readRecordings(): Recording[] {
  const folder = join(recordingsFolder, 'calls');
  return readdirSync(folder)
    .map((file) => {
      const read = JSON.parse(readFileSync(join(folder, file), 'utf8'));
      const recording = recordingSchema.parse(read);
      const date = recording.response_headers.find(([name]) => name === 'Date')?.[1] ?? '';
      const shown = pageSchema.safeParse(recording.response_json).data?.result.data ?? [];
      return {
        ...recording,
        time: Date.parse(date) / 1000,
        rows: shown.flatMap((row) => rowSchema.safeParse(row).data ?? []),
        transactions: shown.flatMap((row) => transactionSchema.safeParse(row).data ?? []),
        edited: editedSchema.safeParse(recording.response_json).data?.result,
      };
    })
    .sort((a, b) => a.time - b.time);
}

/** Recorded later, from another server: diffs of Subversion working copies. */
export const svnRecordingNeeded = 'shared/phabricator/outages/live-differential.diff.search-svn.json';

export function readSvnRecording() {
  const path = sharedFolder(svnRecordingNeeded.slice('shared/'.length));
  return svnSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
}

const refSchema = z.object({
  type: z.string(),
  name: z.string().optional(),
  identifier: z.string().optional(),
});

const svnSchema = z.object({
  params_decoded: z.record(z.string(), z.unknown()),
  response_json: z.looseObject({
    result: z.looseObject({
      data: z.array(
        z.object({
          id: z.int(),
          type: z.string(),
          phid: z.string(),
          fields: z.looseObject({ refs: z.array(refSchema), policy: z.unknown() }),
          attachments: z.unknown(),
        }),
      ),
    }),
  }),
});

/** Fills an empty state with that at the time of `recording`. */
export function recall(state: State, all: readonly Recording[], recording: Recording): void {
  const now = recording.time;
  const coming = newPhids(recording);
  const rows = rowsAt(all, recording).filter(({ phid }) => !coming.includes(phid));
  Object.assign(state, { now, isReadOnly: recording.name.includes('read-only') });
  recallPeople(state, all, rows);
  recallRepositories(state, rows);
  recallRevisions(state, all, recording, rows);
  recallDiffs(state, all, rows, now, coming);
  recallBuilds(state, recording, rows);
  recallTransactions(state, all, now, coming);
  recallFiles(state, all, now, coming);
  state.coming = coming;
  const made = madeSchema.safeParse(recording.response_json).data?.result;
  const id = made && ('object' in made ? made.object.id : made.id);
  if (id !== undefined) Object.assign(state.lastIds, { DREV: id - 1, DIFF: id - 1 });
}

const madeSchema = z.object({
  result: z.union([z.object({ object: z.object({ id: z.int() }) }), z.object({ id: z.int() })]),
});

const editedSchema = z.object({
  result: z.object({
    object: z.object({ phid: z.string() }),
    transactions: z.array(z.object({ phid: z.string() })),
  }),
});

/** PHIDs of the objects that the call created, from its response. */
function newPhids({ method, params_decoded: params, response_json: json, edited }: Recording): Phid[] {
  if (!/edit$|create|upload/.test(method)) return [];
  if (edited === undefined) return JSON.stringify(json).match(/PHID-[\w-]+/g) ?? [];
  const transactions = edited.transactions.map(({ phid }) => phid);
  return params?.objectIdentifier || !params?.transactions ? transactions : [edited.object.phid, ...transactions];
}

type Row = z.infer<typeof rowSchema>;

const rowSchema = z.object({
  id: z.int(),
  type: z.string(),
  phid: z.string(),
  fields: z.looseObject({ dateCreated: z.int().optional(), dateModified: z.int().optional() }),
  attachments: z.record(z.string(), z.unknown()),
});

/** Each object in any search, as it was at the time of `recording`, whose own search counts most. */
function rowsAt(all: readonly Recording[], recording: Recording): Row[] {
  const now = recording.time;
  const known = new Map<Phid, Row>();
  for (const other of [...all, recording]) {
    for (const row of other.rows) {
      const before = known.get(row.phid);
      const attachments = { ...before?.attachments, ...row.attachments };
      const isLater = before !== undefined && other.time > now;
      known.set(row.phid, { ...(isLater ? before : row), attachments });
    }
  }
  return [...known.values()].filter(({ fields }) => (fields.dateCreated ?? 0) <= now);
}

const pageSchema = z.object({ result: z.object({ data: z.array(z.unknown()) }) });

/** Rows of one type, with parsed fields and attachments. */
function rowsOfType<Fields extends z.ZodRawShape>(rows: readonly Row[], type: string, shape: Fields) {
  const fields = z.object(shape);
  const dates = z.object({ dateCreated: z.int(), dateModified: z.int() });
  return rows
    .filter((row) => row.type === type)
    .sort((a, b) => a.id - b.id)
    .map(({ id, phid, attachments, ...row }) => {
      const record = { id, phid, ...dates.parse(row.fields) };
      return { record, shown: fields.parse(row.fields), attachments };
    });
}

/** Builds a user who appears only in other objects, and in no search. */
function recallPeople(state: State, all: readonly Recording[], rows: readonly Row[]): void {
  const project = rowsOfType(rows, 'PROJ', {
    name: z.string(),
    slug: z.string(),
    description: z.string(),
    policy: z.object({ edit: z.string() }),
  });
  const shape = { username: z.string(), realName: z.string(), roles: z.array(z.string()) };
  const me = z.object({ phid: z.string(), image: z.string(), primaryEmail: z.string() });
  const whoami = me.parse(resultOf(all, 'user.whoami'));
  const people = all.flatMap(({ rows }) => rows).filter(({ type }) => type === 'USER');
  for (const { record, shown } of rowsOfType([...new Map(people.map((p) => [p.phid, p])).values()], 'USER', shape)) {
    const isMe = record.phid === whoami.phid;
    addUser(state, {
      ...record,
      ...shown,
      isBot: shown.roles.includes('bot'),
      email: isMe ? whoami.primaryEmail : `${shown.username}@${new URL(recordedBaseUri).hostname}`,
      imageUri: isMe ? whoami.image : '',
    });
  }
  const owner = z.object({ fields: z.object({ authorPHID: z.string() }) });
  const authorOf = (name: string) => owner.parse(all.filter((r) => r.name === name).flatMap((one) => one.rows)[0]);
  const admin = authorOf('differential.revision.search-invisible-as-admin').fields.authorPHID;
  addUser(state, { phid: admin, username: 'admin', realName: 'Admin User', isAdmin: true });
  const outsider = authorOf('differential.revision.search-draft-build-failed-becomes-changes-planned');
  addUser(state, { phid: outsider.fields.authorPHID, username: 'outsider' });
  addUser(state, { phid: 'PHID-USER-disabled', username: 'disabledbot', isDisabled: true });
  const member = z.object({
    members: z.object({ members: z.array(z.object({ phid: z.string() })) }),
  });
  for (const { record, shown, attachments } of project) {
    const members = member.parse(attachments).members.members.map(({ phid }) => phid);
    for (const phid of members) addUser(state, { phid, username: 'reviewer' });
    state.projects.push({ ...record, ...shown, members, editPolicy: shown.policy.edit });
  }
}

function addUser(state: State, user: Pick<User, 'phid' | 'username'> & Partial<User>): void {
  const { username } = user;
  // Recordings contain no tokens.
  const token = `api-${username.padEnd(28, '0')}`;
  state.users.push({
    id: 0,
    dateCreated: 0,
    dateModified: 0,
    realName: username,
    isBot: false,
    isAdmin: false,
    isDisabled: false,
    email: '',
    imageUri: '',
    tokens: [token],
    ...user,
  });
}

function recallRepositories(state: State, rows: readonly Row[]): void {
  const repositories = rowsOfType(rows, 'REPO', {
    name: z.string(),
    vcs: z.literal('git'),
    callsign: z.string(),
    shortName: z.string(),
    defaultBranch: z.string(),
    description: z.object({ raw: z.string() }),
  });
  const builtin = z.object({ identifier: z.enum(['id', 'callsign', 'shortname']) });
  const uri = z.object({
    id: z.string(),
    phid: z.string(),
    fields: z.object({ builtin, dateCreated: z.string() }),
  });
  const attached = z.object({ uris: z.object({ uris: z.array(uri) }) });
  for (const { record, shown, attachments } of repositories) {
    const uris = attached.parse(attachments).uris.uris.map(({ id, phid, fields }) => {
      const { identifier } = fields.builtin;
      return { id: Number(id), phid, identifier, date: Number(fields.dateCreated) };
    });
    state.repositories.push({ ...record, ...shown, description: shown.description.raw, uris });
  }
  const author = z.object({ epoch: z.int(), identityPHID: z.string(), userPHID: z.string() });
  const fields = z.object({
    identifier: z.string(),
    repositoryPHID: z.string(),
    author,
    message: z.string(),
  });
  for (const row of rows.filter(({ type }) => type === 'CMIT')) {
    const { author: by, ...shown } = fields.parse(row.fields);
    const { epoch, identityPHID, userPHID: authorPHID } = by;
    state.commits.push({ id: row.id, phid: row.phid, ...shown, epoch, identityPHID, authorPHID });
  }
}

const phid = z.string();

function recallRevisions(state: State, all: readonly Recording[], recording: Recording, rows: readonly Row[]): void {
  const revisions = rowsOfType(rows, 'DREV', {
    title: z.string(),
    summary: z.string(),
    testPlan: z.string(),
    authorPHID: phid,
    status: z.object({
      value: z.enum(['draft', 'needs-review', 'changes-planned', 'abandoned']),
    }),
    isDraft: z.boolean(),
    holdAsDraft: z.boolean(),
    repositoryPHID: phid.nullable(),
    diffPHID: phid,
    policy: z.object({ view: z.string(), edit: z.string() }),
  });
  const attached = z.object({
    reviewers: z
      .object({ reviewers: z.array(z.object({ reviewerPHID: phid, isBlocking: z.boolean() })) })
      .default({ reviewers: [] }),
    subscribers: z.object({ subscriberPHIDs: z.array(phid) }).default({ subscriberPHIDs: [] }),
    projects: z.object({ projectPHIDs: z.array(phid) }).default({ projectPHIDs: [] }),
  });
  for (const { record, shown, attachments } of revisions) {
    const { policy, status, ...fields } = shown;
    const { reviewers, subscribers, projects } = attached.parse(attachments);
    const isShown = recording.rows.some((row) => row.phid === record.phid);
    state.revisions.push({
      ...record,
      ...fields,
      ...reviewers,
      ...subscribers,
      ...projects,
      status: status.value,
      viewPolicy: policy.view,
      editPolicy: (isShown ? undefined : editPolicySet(all, recording, record.phid)) ?? policy.edit,
    });
  }
}

/** No search shows a policy between the call that set it and those that it rejects. */
function editPolicySet(all: readonly Recording[], { time }: Recording, of: Phid): string | undefined {
  const edit = z.object({ type: z.literal('edit'), value: z.string() });
  const policy = z.object({ transactions: z.tuple([edit]) });
  return all
    .filter((other) => other.time < time)
    .filter(({ edited }) => edited?.object.phid === of)
    .flatMap((other) => policy.safeParse(other.params_decoded).data?.transactions[0].value ?? [])
    .at(-1);
}

const rawDiffSchema = z.object({ diff: z.string() });
const sentSchema = z.object({ result: z.object({ id: z.int(), phid: z.string() }) });

function recallDiffs(
  state: State,
  all: readonly Recording[],
  rows: readonly Row[],
  now: number,
  coming: readonly Phid[],
): void {
  const diffs = rowsOfType(rows, 'DIFF', {
    revisionPHID: phid.nullable(),
    authorPHID: phid,
    repositoryPHID: phid.nullable(),
    refs: z.array(refSchema),
  });
  const author = z.object({ name: z.string(), email: z.string(), epoch: z.int() });
  const commit = z.object({
    identifier: z.string(),
    tree: z.string(),
    parents: z.array(z.string()),
    author,
    message: z.string(),
  });
  const attached = z.object({
    commits: z.object({ commits: z.array(commit) }).default({ commits: [] }),
  });
  for (const { record, shown, attachments } of diffs) {
    const { refs, ...fields } = shown;
    const { changes } = newDiff(state, { raw: rawOf(all, record), authorPHID: shown.authorPHID });
    state.diffs.pop();
    const changesets = all
      .flatMap((one) => one.rows)
      .filter(({ type, fields: { diffPHID } }) => type === 'DCNG' && diffPHID === record.phid);
    state.diffs.push({
      ...record,
      ...fields,
      branch: refs.find(({ type }) => type === 'branch')?.name ?? null,
      base: refs.find(({ type }) => type === 'base')?.identifier ?? null,
      commits: attached.parse(attachments).commits.commits,
      changes,
      changesets,
    });
  }
  // Diffs that were sent after the last search for them.
  for (const { response_json: json, time, method } of all) {
    const sent = sentSchema.safeParse(json).data?.result;
    if (method !== 'differential.createrawdiff' || sent === undefined || time > now) continue;
    if (coming.includes(sent.phid) || state.diffs.some((row) => row.phid === sent.phid)) continue;
    newDiff(state, { raw: rawOf(all, sent), authorPHID: '', ...sent });
  }
  state.transactions.length = 0;
}

/** The request as recorded, otherwise as it was returned. */
function rawOf(all: readonly Recording[], { id, phid: of }: { id: number; phid: Phid }): string {
  const created = all.find(
    ({ method, response_json }) =>
      method === 'differential.createrawdiff' && sentSchema.safeParse(response_json).data?.result.phid === of,
  );
  if (created !== undefined) {
    const sent = rawDiffSchema.safeParse(created.params_decoded).data?.diff;
    return sent ?? latin1Field(created.request_form_body, 'diff');
  }
  const got = all.find(
    ({ method, params_decoded, response_json }) =>
      method === 'differential.getrawdiff' &&
      String(params_decoded?.diffID) === String(id) &&
      z.object({ result: z.string() }).safeParse(response_json).success,
  );
  return got === undefined ? unknownDiff : z.string().parse(resultOf(all, got.name)).slice(0, -1);
}

const unknownDiff = 'diff --git a/unknown b/unknown\nnew file mode 100644\n';

/** A form field of bytes that are not UTF-8. */
function latin1Field(body: string, name: string): string {
  const field = body.split('&').find((pair) => pair.startsWith(`${name}=`)) ?? '';
  const hex = /%([0-9a-f]{2})/gi;
  return field.slice(name.length + 1).replace(hex, (_, byte: string) => String.fromCharCode(Number.parseInt(byte, 16)));
}

function recallBuilds(state: State, recording: Recording, rows: readonly Row[]): void {
  const steps = rowsOfType(rows, 'HMCS', { name: z.string(), buildPlanPHID: phid });
  const behaviors = z.object({ 'hold-drafts': z.object({ value: z.enum(['always', 'never']) }) });
  const plans = rowsOfType(rows, 'HMCP', { name: z.string(), behaviors });
  for (const { record, shown } of plans) {
    const step = steps.find((one) => one.shown.buildPlanPHID === record.phid);
    // A plan that was just created has none yet.
    if (step === undefined) continue;
    const { id, phid: stepPhid, dateCreated: date } = step.record;
    const asks = {
      uri: 'http://127.0.0.1:1/',
      method: 'POST',
      credential: null,
      waitsForMessage: true,
    } as const;
    state.plans.push({
      ...record,
      name: shown.name,
      holdDrafts: shown.behaviors['hold-drafts'].value,
      step: { id, phid: stepPhid, name: step.shown.name, date, ...asks },
    });
  }
  const buildables = rowsOfType(rows, 'HMBB', {
    objectPHID: phid,
    containerPHID: phid,
    buildableStatus: z.object({ value: z.enum(['building', 'passed', 'failed']) }),
  });
  for (const { record, shown } of buildables) {
    const { buildableStatus: status, ...of } = shown;
    state.buildables.push({ ...record, ...of, status: status.value });
  }
  const targets = rowsOfType(rows, 'HMBT', {
    name: z.string(),
    buildPHID: phid,
    buildStepPHID: phid,
    status: z.object({ value: z.enum(['target/waiting', 'target/passed', 'target/failed']) }),
    epochStarted: z.int(),
    epochCompleted: z.int().nullable(),
    buildGeneration: z.int(),
  });
  for (const { record, shown } of targets) {
    const { name, buildPHID, buildStepPHID: stepPHID, status, epochStarted, epochCompleted } = shown;
    const since = { epochStarted, epochCompleted, generation: shown.buildGeneration };
    const told = { messages: [], units: [] };
    state.targets.push({
      ...record,
      name,
      buildPHID,
      stepPHID,
      status: status.value,
      ...since,
      ...told,
    });
  }
  const statuses = ['building', 'passed', 'failed', 'aborted'] as const;
  const builds = rowsOfType(rows, 'HMBD', {
    buildablePHID: phid,
    buildPlanPHID: phid,
    initiatorPHID: phid,
    buildStatus: z.object({ value: z.enum(statuses) }),
  });
  for (const { record, shown } of builds) {
    const { buildablePHID, buildPlanPHID: planPHID, initiatorPHID, buildStatus } = shown;
    const generations = targets
      .filter((target) => target.shown.buildPHID === record.phid)
      .map((target) => target.shown.buildGeneration);
    const generation = Math.max(1, ...generations);
    const status = buildStatus.value;
    state.builds.push({ ...record, buildablePHID, planPHID, initiatorPHID, status, generation });
  }
  fillInBuilds(state);
  fillInReceiver(state, recording);
  const artifacts = rowsOfType(rows, 'HMBA', {
    buildTargetPHID: phid,
    artifactType: z.enum(['uri', 'file']),
    artifactKey: z.string(),
    isReleased: z.boolean(),
  });
  for (const { record, shown } of artifacts) {
    const { buildTargetPHID: targetPHID, artifactType: type, artifactKey: key, isReleased } = shown;
    state.artifacts.push({ ...record, targetPHID, type, key, data: {}, isReleased });
  }
}

/** Builds whose buildables no search shows count as builds of the newest diff. */
function fillInBuilds(state: State): void {
  const [objectPHID = '', containerPHID = ''] = [state.diffs[0]?.phid, state.revisions[0]?.phid];
  for (const { buildablePHID } of state.builds) {
    if (state.buildables.some((row) => row.phid === buildablePHID)) continue;
    const record = { id: 0, phid: buildablePHID, dateCreated: 0, dateModified: 0 };
    state.buildables.push({ ...record, objectPHID, containerPHID, status: 'building' });
  }
}

/** Builds a target that no search shows, but which accepted a message, so it waited for one. */
function fillInReceiver(state: State, { params_decoded: params, response_json: json }: Recording): void {
  const receiver = z.string().startsWith('PHID-HMBT-').safeParse(params?.receiver).data;
  const isTaken = z.object({ error_code: z.null() }).safeParse(json).success;
  const [build] = state.builds;
  if (receiver === undefined || !isTaken || build === undefined) return;
  if (state.targets.some((row) => row.phid === receiver)) return;
  const record = { id: 0, phid: receiver, dateCreated: 0, dateModified: 0 };
  const since = { epochStarted: 0, epochCompleted: null, generation: 1 };
  const told = { messages: [], units: [] };
  const of = { name: '', buildPHID: build.phid, stepPHID: '' };
  state.targets.push({ ...record, ...of, status: 'target/waiting', ...since, ...told });
}

const transactionSchema = z.object({
  id: z.int(),
  phid,
  type: z.string().nullable(),
  authorPHID: phid,
  objectPHID: phid,
  dateCreated: z.int(),
  groupID: z.string(),
  comments: z.array(z.object({ id: z.int(), phid, content: z.object({ raw: z.string() }) })),
  fields: z.union([z.array(z.never()), z.record(z.string(), z.unknown())]),
});

function recallTransactions(state: State, all: readonly Recording[], now: number, coming: readonly Phid[]): void {
  const shown = all.flatMap(({ transactions }) => transactions);
  for (const [of, { dateCreated: date, comments, fields, ...row }] of new Map(shown.map((one) => [one.phid, one]))) {
    if (date > now || coming.includes(of)) continue;
    const [first] = comments;
    const comment = first === undefined ? null : { id: first.id, phid: first.phid, raw: first.content.raw };
    state.transactions.push({ ...row, date, comment, fields: Array.isArray(fields) ? {} : fields });
  }
}

/** Uploaded ones; those that no search shows have later ids, as they were uploaded later. */
function recallFiles(state: State, all: readonly Recording[], now: number, coming: readonly Phid[]): void {
  const sent = z.object({ name: z.string(), data_base64: z.string() });
  const rows = all.flatMap(({ rows }) => rows).filter(({ type }) => type === 'FILE');
  const author = state.users.find(({ username }) => username === 'perfbot');
  const uploads = all.filter(({ method }) => method === 'file.upload');
  let lastId = Math.max(...rows.map(({ id }) => id));
  for (const upload of uploads) {
    const of = z.object({ result: z.string() }).safeParse(upload.response_json).data?.result;
    const file = sent.safeParse(upload.params_decoded).data;
    if (of === undefined || file === undefined || author === undefined) continue;
    const row = rows.find((one) => one.phid === of);
    const id = row?.id ?? ++lastId;
    const date = row?.fields.dateCreated ?? upload.time;
    if (date > now || coming.includes(of)) continue;
    const uri = z.string().safeParse(row?.fields.dataURI).data;
    state.files.push({
      id,
      phid: of,
      name: file.name,
      authorPHID: author.phid,
      dateCreated: date,
      dateModified: date,
      bytes: Buffer.from(file.data_base64, 'base64'),
      viewPolicy: upload.name === 'file.upload-private' ? author.phid : 'users',
      secret: uri?.split('/').at(-3) ?? '',
    });
  }
}

function resultOf(all: readonly Recording[], name: string): unknown {
  const recording = all.find((one) => one.name === name);
  return z.object({ result: z.unknown() }).parse(recording?.response_json).result;
}
