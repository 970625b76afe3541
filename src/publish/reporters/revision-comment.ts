// The answer on Phabricator: the build that waits for the gate, and one comment on the revision when it has ended.

import { z } from 'zod';
import { callOnPhabricator } from '../../forge/patch/command.ts';
import type { Conduit } from '../../forge/phabricator/conduit.ts';
import { reasonOf } from '../../model/one-line.ts';
import type { RevisionDiff } from '../../model/patch.ts';
import type { Result } from '../../model/result.ts';
import { bisectPlot } from '../../report/bisect-plot.ts';
import { intervalPlot } from '../../report/interval-plot.ts';
import { pngOf } from '../../report/png.ts';
import { renderRemarkup, renderRemarkupFailure } from '../../report/reports.ts';
import { type BuildOptions, failureOf, openBuild } from './build.ts';
import { conclusionOf, type Ending, failures, waysOf } from './outcome-text.ts';
import { type Answer, secondsFor, together } from './reporter.ts';
import { type Told, throttledUpdates } from './throttled-updates.ts';

export type RevisionCommentOptions = Pick<
  BuildOptions,
  'run' | 'details' | 'log' | 'pause' | 'patienceSeconds'
> & {
  /** URL of the report as a page. */
  page?: string;
  /** Somebody listens to what is written on the revision: it is told how to ask again. */
  takesCommands?: boolean;
};

export type RevisionAnswerOptions = BuildOptions &
  Pick<RevisionCommentOptions, 'takesCommands'> & {
    /** PHID of the Harbormaster build that waits: PHID-HMBD-… */
    build?: string;
  };

export const openRevisionAnswer = (
  conduit: Conduit,
  revision: RevisionDiff,
  { build, ...options }: RevisionAnswerOptions,
): Answer =>
  together([
    ...(build === undefined ? [] : [openBuild(conduit, build, revision, options)]),
    openRevisionComment(conduit, revision, options),
  ]);

/** One comment when the gate has ended, with its plot where that can be uploaded; everybody who follows gets mail of it. */
export function openRevisionComment(
  conduit: Conduit,
  revision: RevisionDiff,
  options: RevisionCommentOptions,
): Answer {
  const { log, pause, patienceSeconds } = options;
  const updates = throttledUpdates(tellRevision(conduit, revision, options), {
    // What a reader misses is worth a warning.
    log: { info: log.warn, warn: log.warn },
    secondsBetween: 60,
    tooSlow: (seconds) => unsaid(revision.number, `Phabricator did not answer within ${seconds} s`),
    ...(pause && { pause }),
  });
  const nothing = () => {};
  return {
    queued: nothing,
    waiting: nothing,
    measuring: nothing,
    ended: (ending) => updates.tellLast(ending, secondsFor(ending, patienceSeconds)),
    // Everybody would get mail again.
    linked: async () => {},
    left: updates.left,
  };
}

/** Posts the comment, once for each run, however often it is called. Never throws. */
export function tellRevision(
  conduit: Conduit,
  revision: RevisionDiff,
  { run, details, page, takesCommands, log }: RevisionCommentOptions,
): (ending: Ending) => Promise<Told> {
  const { number, diff } = revision;
  const marker = `ppsgate D${number}:${diff} run ${run}`;
  const plot = plotOf(conduit, revision);
  return async (ending) => {
    // Whoever cancelled it knows, and so does a newer diff's author: nobody else needs mail of it.
    if (conclusionOf(ending) === 'cancelled') return { kind: 'told' };
    const links = {
      ...(details !== undefined && { details }),
      ...(page !== undefined && { page }),
      ...(takesCommands && {
        rerun: `${callOnPhabricator} rerun`,
        goOn: `${callOnPhabricator} extend`,
      }),
    };
    let missing: string | undefined;
    const told = await postOnce(conduit, number, marker, async () => {
      if (ending.kind === 'unmeasured') {
        return renderRemarkupFailure({ ...failures[ending.why], said: ending.said }, links);
      }
      const { image, why } = await plot(() =>
        ending.kind === 'bisected' ? bisectPlot(ending.result) : intervalPlot(measuredIn(ending)),
      );
      missing = why;
      const shown = { ...links, ...(image && { image }) };
      if (ending.kind !== 'bisected') return renderRemarkup(measuredIn(ending), shown);
      const ways = waysOf(callOnPhabricator, ending.asked);
      return renderRemarkup(ending.result, { ...shown, ...(takesCommands && { ways }) });
    });
    if (told.kind === 'told' && missing !== undefined) log.info(missing);
    return told;
  };
}

const measuredIn = (ending: Extract<Ending, { kind: 'measured' | 'uncounted' }>): Result =>
  (ending.kind === 'measured' ? ending : ending.measured).result;

/**
 * Posts a short reply, once for each key. `text` is Remarkup of our own making: what others have written is in it only
 * as remarkupText leaves it. Never throws.
 *
 * @param revision 27401 of D27401
 */
export const say = (conduit: Conduit, revision: number, text: string, key: string): Promise<Told> =>
  postOnce(conduit, revision, `ppsgate D${revision} reply ${key}`, async () => text);

/**
 * Looks first whether it is there already, for Phabricator takes the same comment twice, and an answer can be lost after
 * it was taken. Remarkup hides nothing, so the marker is the comment's last line for all to see.
 */
async function postOnce(
  conduit: Conduit,
  revision: number,
  marker: string,
  compose: () => Promise<string>,
): Promise<Told> {
  const objectIdentifier = `D${revision}`;
  const ending = `\`${marker}\``;
  try {
    if (await isPosted(conduit, objectIdentifier, ending)) return { kind: 'told' };
    const value = `${await compose()}\n\n${ending}`;
    const transactions = [{ type: 'comment', value }];
    const comment = { objectIdentifier, transactions };
    await conduit.call('differential.revision.edit', comment, z.unknown());
    return { kind: 'told' };
  } catch (error) {
    return failureOf(error, (why) => unsaid(revision, why));
  }
}

const unsaid = (revision: number, why: string): string =>
  `The comment on D${revision} may not be there (${why}).`;

const mostTransactions = 500;

/**
 * Looks at comments of our own account alone, and at their ends: elsewhere the marker may be what others have written.
 */
async function isPosted(
  conduit: Conduit,
  objectIdentifier: string,
  ending: string,
): Promise<boolean> {
  const { phid } = await conduit.call('user.whoami', {}, z.object({ phid: z.string() }));
  const asked = { objectIdentifier, constraints: { authorPHIDs: [phid] } };
  const ours = await conduit.search('transaction.search', asked, commentSchema, mostTransactions);
  const texts = ours.flatMap(({ comments }) => comments.map(({ content }) => content.raw));
  return texts.some((text) => text.trimEnd().endsWith(ending));
}

const commentSchema = z.object({
  comments: z.array(z.object({ content: z.object({ raw: z.string() }) })),
});

/** `why` is a sentence where the comment has to go without it, `image` is like `F123`; neither where there is nothing to draw. */
type Plot = { image?: string; why?: string };

/** Uploads it once: a comment only shows what the server has, and of pictures only pixels. */
function plotOf(
  conduit: Conduit,
  { number, diff }: RevisionDiff,
): (draw: () => string | undefined) => Promise<Plot> {
  let uploaded: Plot | undefined;
  return async (draw) => {
    if (uploaded !== undefined) return uploaded;
    try {
      const svg = draw();
      if (svg === undefined) return {};
      const png = Buffer.from(await pngOf(svg));
      uploaded = { image: await upload(conduit, `ppsgate-D${number}-${diff}.png`, png) };
      return uploaded;
    } catch (error) {
      return { why: `The comment on D${number} goes without its plot (${reasonOf(error)}).` };
    }
  };
}

/**
 * Uploads a file for all to see: a comment by Conduit does not make one visible that is not. Answers its name, like
 * `F123`.
 */
async function upload(conduit: Conduit, name: string, bytes: Buffer): Promise<string> {
  const file = { name, data_base64: bytes.toString('base64'), viewPolicy: 'public' };
  const phid = await conduit.call('file.upload', file, z.string());
  const constraints = { phids: [phid] };
  const ids = z.object({ id: z.int() });
  const [found] = await conduit.search('file.search', { constraints }, ids);
  if (found === undefined)
    throw new Error(`${conduit.url} does not show ${name} that it has taken`);
  return `F${found.id}`;
}
