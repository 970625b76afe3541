// Parses deliveries from Phabricator: webhooks of Herald, and requests of Harbormaster.

import { hash } from 'node:crypto';
import { z } from 'zod';
import * as bounded from '../model/bounds.ts';
import { parseJson } from '../model/json.ts';
import type { Delivery } from './inbox.ts';

type OfKind<Kind> = Extract<Delivery, { kind: Kind }>;

/** Object of the signed test webhook of `ppsgate phabricator check`; no revision has this PHID. */
export const checkObject = 'PHID-DREV-ppsgatecheck';

/** Only marks a request: any sender can forge this user agent. */
export const checkAgent = 'ppsgate-check';

/** `other`: the object is not a revision. `test`: sent manually, with old transactions. */
type Webhook = OfKind<'webhook'> | { kind: 'test'; isOfCheck: boolean } | { kind: 'other' | 'strange' };

/** @param body the bytes as sent; a redelivery has the same */
export function readWebhook(body: Uint8Array, at: Date): Webhook {
  const { data } = webhookSchema.safeParse(parseJson(Buffer.from(body).toString()));
  if (data === undefined) return { kind: 'strange' };
  if (data.action.test) return { kind: 'test', isOfCheck: data.object.phid === checkObject };
  if (data.object.type !== 'DREV') return { kind: 'other' };
  return {
    kind: 'webhook',
    id: hash('sha256', body),
    at,
    object: data.object.phid,
    transactions: data.transactions.map(({ phid }) => phid),
  };
}

/**
 * Reads the query of the build step's URI:
 * `?target=${target.phid}&build=${build.phid}&diff=${buildable.diff}&revision=${buildable.revision}`.
 */
export function readBuild(query: URLSearchParams, at: Date): OfKind<'build'> | { kind: 'strange'; why: string } {
  const { data, error } = buildSchema.safeParse(Object.fromEntries(query));
  if (data !== undefined) return { kind: 'build', id: data.target, at, ...data };
  const names = new Set(error.issues.map(({ path }) => path.join('.')));
  return { kind: 'strange', why: `Wrong or missing query parameters: ${[...names].join(', ')}.` };
}

const phid = (type: string) => z.string().regex(new RegExp(`^PHID-${type}-[\\w-]{1,40}$`));

const webhookSchema = z.object({
  object: z.object({ type: bounded.word, phid: phid('[A-Z]{4}') }),
  action: z.object({ test: z.boolean() }),
  transactions: bounded.list(z.object({ phid: phid('XACT') })),
});

const number = z
  .string()
  .regex(/^[1-9]\d{0,8}$/)
  .transform(Number);

/** Accepts `27401` and `D27401`. */
const revision = z.preprocess((text) => String(text).replace(/^D/, ''), number);

/** Harbormaster sends an empty text for a missing value. */
const nothing = z.literal('').transform(() => undefined);

const buildSchema = z.object({
  target: phid('HMBT'),
  build: phid('HMBD'),
  diff: number,
  revision: z.union([nothing, revision]).optional(),
});
