// Reports on Phabricator: in the waiting build, and in one comment on the revision with the outcome.

import { z } from 'zod';
import type { Conduit } from '../../forge/phabricator/conduit.ts';
import { type Numbered, whyAnother } from '../../forge/phabricator/revision.ts';
import * as bounded from '../../model/bounds.ts';
import { reasonOf } from '../../model/one-line.ts';
import { callOnPhabricator, type RevisionDiff } from '../../model/patch.ts';
import { bisectPlot } from '../../report/bisect-plot.ts';
import { intervalPlot } from '../../report/interval-plot.ts';
import { pngOf } from '../../report/png.ts';
import { renderRemarkup, renderRemarkupFailure } from '../../report/reports.ts';
import { attemptOfError, type BuildOptions, openBuild } from './build.ts';
import { conclusionOf, type ReportedOutcome, resultOf } from './outcome.ts';
import { bisectCommand, bisectCommands, failureTexts } from './outcome-text.ts';
import { combineReporters, deliverySeconds, type Reporter } from './reporter.ts';
import { ThrottledUpdates, type UpdateAttempt } from './throttled-updates.ts';

type RevisionCommentOptions = Pick<BuildOptions, 'run' | 'details' | 'log' | 'pause' | 'patienceSeconds'> & {
  page?: string;
  /** A relay reads the revision's comments, so this comment names its commands. */
  takesCommands?: boolean;
  /** Command that repeats the request, if it differs from the one for a gate. */
  rerun?: string;
};

export type RevisionReporterOptions = BuildOptions &
  Pick<RevisionCommentOptions, 'takesCommands'> & {
    /** PHID of the waiting Harbormaster build: PHID-HMBD-… */
    build?: string;
  };

export const openRevisionReporter = (
  conduit: Conduit,
  revision: RevisionDiff,
  { build, ...options }: RevisionReporterOptions,
): Reporter =>
  combineReporters([
    ...(build === undefined ? [] : [openBuild(conduit, build, revision, options)]),
    openRevisionComment(conduit, revision, options),
  ]);

/** Posts one comment with the outcome and, if the upload succeeds, its plot. All subscribers get mail. */
export function openRevisionComment(
  conduit: Conduit,
  revision: RevisionDiff,
  options: RevisionCommentOptions,
): Reporter {
  const { log, pause, patienceSeconds } = options;
  const updates = new ThrottledUpdates(revisionCommenter(conduit, revision, options), {
    // A missing comment deserves a warning.
    log: { info: log.warn, warn: log.warn },
    secondsBetween: 60,
    tooSlow: (seconds) => maybeMissing(revision.number, `Phabricator did not respond within ${seconds} s`),
    ...(pause && { pause }),
  });
  const nothing = () => {};
  return {
    queued: nothing,
    waiting: nothing,
    measuring: nothing,
    conclude: (outcome) => updates.sendLast(outcome, deliverySeconds(outcome, patienceSeconds)),
    // An edit would send mail again.
    addLinks: async () => {},
    leaveOpen: () => updates.stop(),
  };
}

/** Returns a function that posts the comment once per run, even if called several times. The function never throws. */
export function revisionCommenter(
  conduit: Conduit,
  revision: RevisionDiff,
  { run, details, page, takesCommands, rerun, log }: RevisionCommentOptions,
): (outcome: ReportedOutcome) => Promise<UpdateAttempt> {
  const { number, diff } = revision;
  const marker = `ppsgate D${number}:${diff} run ${run}`;
  const plot = plotOf(conduit, revision);
  return async (outcome) => {
    // A person or a newer diff cancelled the gate: mail would be noise.
    if (conclusionOf(outcome) === 'cancelled') return { kind: 'delivered' };
    const links = {
      ...(details !== undefined && { details }),
      ...(page !== undefined && { page }),
      ...(takesCommands && {
        rerun:
          outcome.kind === 'bisected'
            ? bisectCommand(callOnPhabricator, outcome.request, diff)
            : (rerun ?? `${callOnPhabricator} rerun`),
        goOn: `${callOnPhabricator} extend`,
      }),
    };
    let missing: string | undefined;
    const attempt = await postOnce(conduit, revision, marker, async () => {
      if (outcome.kind === 'unmeasured') {
        return renderRemarkupFailure({ ...failureTexts[outcome.reason], message: outcome.message }, links);
      }
      const { image, why } = await plot(() =>
        outcome.kind === 'bisected' ? bisectPlot(outcome.result) : intervalPlot(resultOf(outcome)),
      );
      missing = why;
      const withImage = { ...links, ...(image && { image }) };
      if (outcome.kind !== 'bisected') return renderRemarkup(resultOf(outcome), withImage);
      const ways = bisectCommands(callOnPhabricator, outcome.request, diff);
      return renderRemarkup(outcome.result, { ...withImage, ...(takesCommands && { ways }) });
    });
    if (attempt.kind === 'delivered' && missing !== undefined) log.info(missing);
    return attempt;
  };
}

/**
 * Posts a short reply, once per key. `text` is Remarkup; foreign text in it must be escaped by remarkupText. Never
 * throws.
 *
 * @param revision 27401 for D27401
 * @param phid absent: any revision that has the number
 */
export const postReply = (
  conduit: Conduit,
  revision: number,
  text: string,
  key: string,
  phid?: string,
): Promise<UpdateAttempt> =>
  postOnce(
    conduit,
    { number: revision, ...(phid && { phids: { revision: phid } }) },
    `ppsgate D${revision} reply ${key}`,
    async () => text,
  );

/**
 * Searches for the marker first, as Phabricator accepts duplicates. It is the last line, as Remarkup cannot hide text.
 */
async function postOnce(
  conduit: Conduit,
  revision: Numbered,
  marker: string,
  compose: () => Promise<string>,
): Promise<UpdateAttempt> {
  const { number, phids } = revision;
  // A restored server may give the number to another revision between two calls.
  const objectIdentifier = phids?.revision ?? `D${number}`;
  const lastLine = `\`${marker}\``;
  try {
    const why = await whyAnother(conduit, revision);
    if (why !== undefined) return { kind: 'pointless', why };
    if (await isPosted(conduit, objectIdentifier, lastLine)) return { kind: 'delivered' };
    const value = `${await compose()}\n\n${lastLine}`;
    const transactions = [{ type: 'comment', value }];
    const comment = { objectIdentifier, transactions };
    await conduit.call('differential.revision.edit', comment, z.unknown());
    return { kind: 'delivered' };
  } catch (error) {
    return attemptOfError(error, (why) => maybeMissing(number, why));
  }
}

const maybeMissing = (revision: number, why: string): string => `The comment on D${revision} may be missing (${why}).`;

const maxTransactions = 500;

/** Reads only the last lines of our own account's comments: others may have written the marker elsewhere. */
async function isPosted(conduit: Conduit, objectIdentifier: string, lastLine: string): Promise<boolean> {
  const { phid } = await conduit.call('user.whoami', {}, z.object({ phid: bounded.word }));
  const query = { objectIdentifier, constraints: { authorPHIDs: [phid] } };
  const ours = await conduit.search('transaction.search', query, commentSchema, maxTransactions);
  const texts = ours.flatMap(({ comments }) => comments.map(({ content }) => content.raw));
  return texts.some((text) => text.trimEnd().split('\n').at(-1) === lastLine);
}

const commentSchema = z.object({
  comments: bounded.list(z.object({ content: z.object({ raw: bounded.document }) })),
});

/** `image` is like `F123`; `why` is a sentence on a missing image; neither if there is nothing to draw. */
type Plot = { image?: string; why?: string };

/** Uploads the plot once: a comment shows only bitmap images that are on the server. */
function plotOf(conduit: Conduit, { number, diff }: RevisionDiff): (draw: () => string | undefined) => Promise<Plot> {
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
      return { why: `The comment on D${number} has no plot (${reasonOf(error)}).` };
    }
  };
}

/** Uploads a public file, as a comment by Conduit does not make it visible. Returns its name, such as `F123`. */
async function upload(conduit: Conduit, name: string, bytes: Buffer): Promise<string> {
  const content = { name, data_base64: bytes.toString('base64'), viewPolicy: 'public' };
  const phid = await conduit.call('file.upload', content, bounded.word);
  const constraints = { phids: [phid] };
  const ids = z.object({ id: z.int() });
  const [file] = await conduit.search('file.search', { constraints }, ids);
  if (file === undefined) throw new Error(`${conduit.url} does not show ${name}, although it accepted it`);
  return `F${file.id}`;
}
