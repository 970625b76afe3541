// Verifies that the sender of a webhook has its key.
import { createHmac, timingSafeEqual } from 'node:crypto';

/** @param signature hexadecimal HMAC-SHA256 of the bytes as sent */
export function isSigned(body: Uint8Array, signature: string | undefined, key: string): boolean {
  if (signature === undefined || !/^[0-9a-f]{64}$/i.test(signature)) return false;
  const expected = createHmac('sha256', key).update(body).digest();
  return timingSafeEqual(expected, Buffer.from(signature, 'hex'));
}
