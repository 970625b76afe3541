// Whether a webhook was sent by somebody who has the key of the hook.
import { createHmac, timingSafeEqual } from 'node:crypto';

/** `signature` is hexadecimal HMAC-SHA256 of the bytes as they were sent; absent or malformed, it is none. */
export function isSigned(body: Uint8Array, signature: string | undefined, key: string): boolean {
  if (signature === undefined || !/^[0-9a-f]{64}$/i.test(signature)) return false;
  const expected = createHmac('sha256', key).update(body).digest();
  return timingSafeEqual(expected, Buffer.from(signature, 'hex'));
}
