// Reads revisions, their diffs, comments and people from a Phabricator.
import { z } from 'zod';
import * as bounded from '../../model/bounds.ts';
import { plainLine } from '../../model/escape.ts';
import type { DiffPhids } from '../../model/patch.ts';
import { type Conduit, mapOf } from './conduit.ts';

export class RevisionError extends Error {
  override readonly name = 'RevisionError';
  readonly conclusion = 'usage';
}

/** A revision by its number, at its newest diff or at one by id; or the revision of a diff. */
export type RevisionName =
  | { revision: number; diff?: number; phids?: DiffPhids }
  | { revision?: never; diff: number; phids?: never };

export type Person = {
  phid: string;
  /** User name; or the PHID of a person whom the bot may not see. */
  name: string;
};

export type FoundDiff = {
  id: number;
  phid: string;
  createdAt: Date;
  /** The diff's sender, who may differ from the revision's author. */
  author: Person;
  base: ClaimedBase;
  branch?: string;
};

/** Base that a diff claims; its sender can write any text there. */
export type ClaimedBase =
  | { kind: 'none' }
  | { kind: 'commit'; id: string }
  /** Revision of a Subversion working copy. The path is that of its URL on the server, such as `base/stable/14`. */
  | { kind: 'svn-revision'; revision: number; path?: string }
  | { kind: 'svn-path'; path: string }
  /** At most 80 characters. */
  | { kind: 'other'; text: string };

export type FoundRevision = {
  number: number;
  phid: string;
  title: string;
  url: string;
  author: Person;
  status: string;
  isDraft: boolean;
  /** Has no names if the bot may not see it. */
  repository?: { phid: string; callsign?: string; shortName?: string };
  diff: FoundDiff;
  /** Diffs sent before this one, oldest first. */
  earlier: FoundDiff[];
};

export const looksLikeRevision = (text: string): boolean => /^(?:D[1-9]|diff:|https?:)/.test(text.trim());

/**
 * Parses `D27401`, `D27401:80677` (at that diff, which a job follows by both PHIDs), `diff:80677`, or the URL of a
 * revision or diff. Undefined for other texts. Throws a `RevisionError` for a URL of another server.
 */
export function parseRevisionName(text: string, server: string): RevisionName | undefined {
  const written = text.trim();
  if (/^https?:\/\//i.test(written)) return nameInUrl(written, server);
  const [, revision, diff, ofRevision, ofDiff] = namePattern.exec(written) ?? [];
  if (revision !== undefined) {
    const phids = ofRevision && ofDiff && { revision: ofRevision, diff: ofDiff };
    return { ...nameOf(revision, diff), ...(phids && { phids }) };
  }
  const [, lone] = /^diff:([1-9]\d{0,8})$/.exec(written) ?? [];
  return lone === undefined ? undefined : { diff: Number(lone) };
}

const namePattern = /^D([1-9]\d{0,8})(?::([1-9]\d{0,8})(?::(PHID-DREV-[\w-]{1,100}):(PHID-DIFF-[\w-]{1,100}))?)?$/;

const nameOf = (revision: string, diff: string | undefined): RevisionName & { revision: number } => ({
  revision: Number(revision),
  ...(diff !== undefined && { diff: Number(diff) }),
});

/** Also accepts links to a comment, or to the changes between two diffs; `id` is then the later one. */
function nameInUrl(text: string, server: string): RevisionName | undefined {
  const url = URL.parse(text);
  if (url === null) return undefined;
  if (url.host !== new URL(server).host) {
    throw new RevisionError(`${url.host} is not the configured Phabricator: name a revision of ${server}.`);
  }
  const [, lone] = /^\/differential\/diff\/([1-9]\d{0,8})\/?$/.exec(url.pathname) ?? [];
  if (lone !== undefined) return { diff: Number(lone) };
  const [, revision] = /^\/D([1-9]\d{0,8})\/?$/.exec(url.pathname) ?? [];
  const diff = url.searchParams.get('id') ?? undefined;
  const isDiff = diff === undefined || /^[1-9]\d{0,8}$/.test(diff);
  return revision === undefined || !isDiff ? undefined : nameOf(revision, diff);
}

/**
 * Reads `Differential Revision: https://reviews.freebsd.org/D27401`, as written by `arc land` or FreeBSD's committers.
 */
export function landedRevision(message: string, server: string): number | undefined {
  const named = [...message.matchAll(/^Differential Revision:[ \t]*(https?:\/\/\S{1,200})[ \t]*$/gim)];
  try {
    return parseRevisionName(named.at(-1)?.[1] ?? '', server)?.revision;
  } catch (error) {
    if (error instanceof RevisionError) return undefined;
    throw error;
  }
}

/** Throws a `RevisionError` if the bot sees no such revision, or the diff belongs to another one. */
export async function findRevision(conduit: Conduit, name: RevisionName): Promise<FoundRevision> {
  const { id: number, phid, fields } = await revisionNamed(conduit, name);
  const constraints = { revisionPHIDs: [phid] };
  const found = await conduit.search('differential.diff.search', { constraints }, diffItem);
  const diffs = found.toSorted((a, b) => a.id - b.id);
  const named = diffs.find(
    (diff) => diff.id === name.diff || (name.diff === undefined && diff.phid === fields.diffPHID),
  );
  if (named === undefined) {
    const ids = diffs.map(({ id }) => id).join(', ') || 'none';
    throw new RevisionError(
      name.diff === undefined
        ? `The newest diff of D${number} is hidden from the bot on ${conduit.url}: make it visible to the bot's account.`
        : `Diff ${name.diff} is not a diff of D${number}, whose diffs are: ${ids}.`,
    );
  }
  const { phids = { revision: phid, diff: named.phid } } = name;
  if (phid !== phids.revision || named.phid !== phids.diff) {
    throw new RevisionError(
      `Diff ${named.id} of D${number} is now ${named.phid} instead of the requested ${phids.diff}, as after a restore of ${conduit.url}: request it again.`,
    );
  }
  const shown = diffs.filter(({ id }) => id <= named.id);
  const names = await userNames(conduit, [fields.authorPHID, ...shown.map((diff) => diff.fields.authorPHID)]);
  const repository = await repositoryOf(conduit, fields.repositoryPHID);
  const earlier = shown.filter((diff) => diff !== named);
  return {
    number,
    phid,
    title: fields.title,
    url: `${conduit.url}/D${number}`,
    author: personOf(fields.authorPHID, names),
    status: fields.status.value,
    isDraft: fields.isDraft,
    ...(repository !== undefined && { repository }),
    diff: foundDiff(named, names),
    earlier: earlier.map((diff) => foundDiff(diff, names)),
  };
}

/** PHIDs that jobs and answers store. */
export const phidsOf = ({ phid: revision, diff }: Pick<FoundRevision, 'phid' | 'diff'>): DiffPhids => ({
  revision,
  diff: diff.phid,
});

/** A revision, or one of its diffs, with its PHIDs at the time of reading. */
export type Numbered = {
  number: number;
  diff?: number;
  phids?: { revision: string; diff?: string } | undefined;
};

/**
 * Compares a revision and its diff with the current owners of their numbers. Returns a sentence on what was replaced,
 * for example by a restore of the server; undefined if they are the same, or hidden from the bot. Throws a
 * ConduitError.
 */
export async function whyAnother(conduit: Conduit, { number, diff, phids }: Numbered): Promise<string | undefined> {
  if (phids === undefined) return undefined;
  const there = async (method: string, id: number) =>
    (await conduit.search(method, { constraints: { ids: [id] } }, z.object({ phid }))).at(0)?.phid;
  const revision = await there('differential.revision.search', number);
  if (revision !== undefined && revision !== phids.revision) {
    return `D${number} is now revision ${revision} instead of the measured ${phids.revision}`;
  }
  if (diff === undefined || phids.diff === undefined) return undefined;
  const current = await there('differential.diff.search', diff);
  return current === undefined || current === phids.diff
    ? undefined
    : `diff ${diff} is now ${current} instead of the measured ${phids.diff}`;
}

const phid = z.string().regex(/^PHID-[\w-]{1,100}$/, 'expected a PHID');
const id = bounded.id;
/** Up to the year 9999. */
const epoch = z
  .int()
  .min(0)
  .max(253_402_300_799)
  .transform((seconds) => new Date(seconds * 1000));

const revisionItem = z.object({
  id,
  phid,
  fields: z.object({
    title: bounded.line,
    authorPHID: phid,
    status: z.object({ value: bounded.word }),
    repositoryPHID: phid.nullable(),
    diffPHID: phid,
    isDraft: z.boolean(),
  }),
});

const diffItem = z.object({
  id,
  phid,
  fields: z.object({
    revisionPHID: phid.nullable(),
    authorPHID: phid,
    dateCreated: epoch,
    refs: bounded.list(
      z.object({
        type: bounded.word,
        /** The branch's name. */
        name: bounded.document.nullish(),
        /** The base's id; its author may have typed anything. */
        identifier: bounded.document.nullish(),
      }),
    ),
  }),
});

async function revisionNamed(conduit: Conduit, name: RevisionName) {
  const search = async (constraints: Record<string, unknown>) =>
    (await conduit.search('differential.revision.search', { constraints }, revisionItem)).at(0);
  if (name.revision !== undefined) {
    const revision = await search({ ids: [name.revision] });
    return revision ?? notSeen(`D${name.revision}`, conduit);
  }
  const called = `Diff ${name.diff}`;
  const constraints = { ids: [name.diff] };
  const [diff] = await conduit.search('differential.diff.search', { constraints }, diffItem);
  if (diff === undefined) return notSeen(called, conduit);
  if (diff.fields.revisionPHID === null) {
    throw new RevisionError(`${called} belongs to no revision on ${conduit.url}: create a revision for it first.`);
  }
  const revision = await search({ phids: [diff.fields.revisionPHID] });
  return revision ?? notSeen(`The revision of diff ${name.diff}`, conduit);
}

function notSeen(what: string, { url }: Conduit): never {
  throw new RevisionError(
    `${what} is not on ${url}, or hidden from the bot (Phabricator does not distinguish the two): check its number and its visibility.`,
  );
}

async function repositoryOf(conduit: Conduit, phid: string | null): Promise<FoundRevision['repository']> {
  if (phid === null) return undefined;
  const constraints = { phids: [phid] };
  const found = await conduit.search('diffusion.repository.search', { constraints }, repositoryItem);
  const { callsign, shortName } = found[0]?.fields ?? {};
  return { phid, ...(callsign && { callsign }), ...(shortName && { shortName }) };
}

const repositoryItem = z.object({
  fields: z.object({ callsign: bounded.word.nullable(), shortName: bounded.word.nullable() }),
});

function foundDiff({ id, phid, fields }: z.infer<typeof diffItem>, names: ReadonlyMap<string, string>): FoundDiff {
  const ref = (type: string) => fields.refs.find((each) => each.type === type);
  const branch = ref('branch')?.name;
  return {
    id,
    phid,
    createdAt: fields.dateCreated,
    author: personOf(fields.authorPHID, names),
    base: claimedBase(ref('base')?.identifier ?? ''),
    ...(branch && { branch }),
  };
}

function claimedBase(text: string): ClaimedBase {
  if (/^[0-9a-f]{40}([0-9a-f]{24})?$/.test(text)) return { kind: 'commit', id: text };
  const { number, path, at } = svnBase.exec(text)?.groups ?? {};
  const revision = number ?? at;
  if (revision !== undefined) {
    return { kind: 'svn-revision', revision: Number(revision), ...(path && { path }) };
  }
  if (path !== undefined) return { kind: 'svn-path', path };
  const line = plainLine(text, 80);
  return line === '' ? { kind: 'none' } : { kind: 'other', text: line };
}

/** Matches `325006`, `r325006`, `svn+ssh://svn.freebsd.org/base/head@325006`, or the URL without its revision. */
const svnBase =
  /^(?:r?(?<number>[1-9]\d{0,8})|(?:svn(?:\+\w{1,20})?|https?|file):\/\/[\w.:@-]{0,100}\/(?<path>[\w.+%-]{1,60}(?:\/[\w.+%-]{1,60}){0,9})\/?(?:@(?<at>[1-9]\d{0,8}))?)$/;

const personOf = (phid: string, names: ReadonlyMap<string, string>): Person => ({
  phid,
  name: names.get(phid) ?? phid,
});

/** Phabricator ignores case in names of users, projects and repositories. */
export const isSameName = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** True if one of the names is the callsign or the short name. */
export const isNamed = (repository: FoundRevision['repository'], names: readonly string[]): boolean =>
  [repository?.callsign, repository?.shortName].some(
    (own) => own !== undefined && names.some((name) => isSameName(name, own)),
  );

/** User names by PHID. Omits users whom the bot may not see, and PHIDs of other objects. */
export async function userNames(conduit: Conduit, phids: readonly string[]): Promise<Map<string, string>> {
  const users = [...new Set(phids)].filter((phid) => phid.startsWith('PHID-USER-'));
  // Conduit refuses an empty list.
  if (users.length === 0) return new Map();
  const found = await conduit.search('user.search', { constraints: { phids: users } }, userItem);
  return new Map(found.map(({ phid, fields }) => [phid, fields.username]));
}

const userItem = z.object({ phid, fields: z.object({ username: bounded.word }) });

export async function whoami(conduit: Conduit): Promise<Person> {
  const { phid, userName } = await conduit.call('user.whoami', {}, me);
  return { phid, name: userName };
}

const me = z.object({ phid, userName: bounded.word });

export type Transaction =
  | { kind: 'diff'; id: number; phid: string; by: string; at: Date; diffPhid: string }
  | { kind: 'comment'; id: number; phid: string; by: string; at: Date; text: string };

/**
 * Returns the oldest first, with the current text of comments and without removed ones.
 *
 * @param filter.phids only these; some may be of other kinds.
 * @param filter.since id of a transaction: only later ones.
 */
export async function transactionsOf(
  conduit: Conduit,
  revisionPhid: string,
  filter: { phids?: readonly string[]; since?: number },
): Promise<Transaction[]> {
  const { phids, since = 0 } = filter;
  if (phids?.length === 0) return [];
  const constraints = phids === undefined ? {} : { constraints: { phids } };
  const params = { objectIdentifier: revisionPhid, ...constraints };
  const found = await conduit.search('transaction.search', params, transactionItem);
  return found
    .flatMap((transaction) => transaction ?? [])
    .filter(({ id }) => id > since)
    .toSorted((a, b) => a.id - b.id);
}

const transaction = z.object({ id, phid, authorPHID: phid, dateCreated: epoch });

const update = transaction
  .extend({ type: z.literal('update'), fields: z.object({ new: phid }) })
  .transform(({ id, phid, authorPHID: by, dateCreated: at, fields }): Transaction => {
    return { kind: 'diff', id, phid, by, at, diffPhid: fields.new };
  });

const version = z.object({ version: z.int(), authorPHID: phid });

const comment = transaction
  .extend({
    type: z.literal('comment'),
    comments: bounded.list(
      z.discriminatedUnion('removed', [
        version.extend({ removed: z.literal(false), content: z.object({ raw: bounded.document }) }),
        version.extend({ removed: z.literal(true) }),
      ]),
    ),
  })
  .transform(({ id, phid, dateCreated: at, comments }): Transaction | undefined => {
    const current = comments.toSorted((a, b) => a.version - b.version).at(-1);
    if (current === undefined || current.removed) return undefined;
    // Takes the author of the version instead of the transaction's, as an editor is responsible for the edited text.
    return { kind: 'comment', id, phid, by: current.authorPHID, at, text: current.content.raw };
  });

const others = z
  .object({ type: bounded.word.nullable() })
  .refine(({ type }) => type !== 'update' && type !== 'comment', 'expected a transaction')
  .transform(() => undefined);

const transactionItem = z.union([update, comment, others]);

/**
 * Checks that a user is a member of one of the projects, named by hashtag.
 *
 * @returns `warning` is a sentence about projects that the bot cannot find; they count as empty.
 */
export async function isMember(
  conduit: Conduit,
  userPhid: string,
  slugs: readonly string[],
): Promise<{ isMember: boolean; warning?: string }> {
  if (slugs.length === 0) return { isMember: false };
  const params = { constraints: { slugs }, attachments: { members: true } };
  const { data, maps } = await conduit.call('project.search', params, projects);
  const unknown = slugs.filter((slug) => !Object.hasOwn(maps.slugMap, slug));
  const members = data.flatMap(({ attachments }) => attachments.members.members);
  return {
    isMember: members.some(({ phid }) => phid === userPhid),
    ...(unknown.length > 0 && {
      warning: `${unknown.map((slug) => `#${slug}`).join(', ')}: no such project on ${conduit.url}, or hidden from the bot; check phabricator.projects in ppsgate.yml.`,
    }),
  };
}

const projects = z.object({
  data: bounded.list(
    z.object({
      attachments: z.object({ members: z.object({ members: bounded.list(z.object({ phid })) }) }),
    }),
  ),
  /** By hashtag; a project may have several. */
  maps: z.object({ slugMap: mapOf(z.unknown()) }),
});
