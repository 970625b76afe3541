// Validates responses of etcd's JSON gateway, which omits zero, empty and false.
import { z } from 'zod';
import * as bounded from '../../../model/bounds.ts';

const maxEntries = 100_000;

/** A decimal number, in a string. */
const int64 = z.coerce.number().int();

const base64 = bounded.document.transform((text) => Buffer.from(text, 'base64').toString());

const header = z.object({ revision: int64 });

export const loginSchema = z.object({ token: bounded.word });

/** The ID stays a string, as it may exceed a number's precision. */
export const grantSchema = z.object({ ID: bounded.word });

/** An expired lease has no TTL. */
export const keepAliveSchema = z.object({ result: z.object({ TTL: int64.default(0) }) });

export const revokeSchema = z.object({});

export const rangeSchema = z.object({
  header,
  kvs: bounded.list(z.object({ key: base64, value: base64.default(''), mod_revision: int64 }), maxEntries).default([]),
});

export const commitSchema = z.object({ header, succeeded: z.boolean().default(false) });

export const watchSchema = z.object({
  result: z.object({
    created: z.boolean().default(false),
    canceled: z.boolean().default(false),
    /** Oldest revision that can be watched, if the requested one was compacted. */
    compact_revision: int64.default(0),
    events: bounded.list(z.object({ kv: z.object({ key: base64, mod_revision: int64 }) }), maxEntries).default([]),
  }),
});
