// What is used of the answers of etcd's JSON gateway, in which zero, empty and false are left out.
import { z } from 'zod';

/** Decimal, in a string. */
const int64 = z.coerce.number().int();

const base64 = z.string().transform((text) => Buffer.from(text, 'base64').toString());

const header = z.object({ revision: int64 });

export const authenticated = z.object({ token: z.string() });

/** The id stays as it is written: it may be more than a number can hold. */
export const granted = z.object({ ID: z.string() });

/** A lease that has expired has no time left to live. */
export const keepAliveAnswer = z.object({ result: z.object({ TTL: int64.default(0) }) });

export const revoked = z.object({});

export const range = z.object({
  header,
  kvs: z
    .array(z.object({ key: base64, value: base64.default(''), mod_revision: int64 }))
    .default([]),
});

export const committed = z.object({ header, succeeded: z.boolean().default(false) });

/** One line of many. */
export const watched = z.object({
  result: z.object({
    created: z.boolean().default(false),
    canceled: z.boolean().default(false),
    /** The oldest that can still be watched, where the one asked for is gone. */
    compact_revision: int64.default(0),
    events: z.array(z.object({ kv: z.object({ key: base64, mod_revision: int64 }) })).default([]),
  }),
});
