// Verifies the certificates of servers, and describes those that are not trusted.
import type { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { isIP } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { reasonOf } from '../model/one-line.ts';

/** PEM, as for `node:tls`. Without `ca`, Node's own list of authorities applies. */
export type Certificates = { ca?: string | undefined; cert?: string; key?: string };

export type Trust =
  | Certificates
  /** Lowercase SHA-256 of the only trusted certificate: 64 hexadecimal digits. */
  | { pinnedSha256: string };

export type Distrust = {
  fault: 'authority' | 'time' | 'name' | 'pin' | 'other';
  shown: string;
  reason: string;
  names: string;
  /** Same form as in `Trust`; empty without a certificate. */
  sha256: string;
};

export class PinError extends Error {
  readonly certificate: X509Certificate | undefined;

  constructor(certificate: X509Certificate | undefined) {
    super('not the one that is pinned');
    this.certificate = certificate;
  }
}

/** Closes the socket and returns the error for any other certificate. */
export function verifyPin(socket: TLSSocket, sha256: string): PinError | undefined {
  const certificate = socket.getPeerX509Certificate();
  if (sha256Of(certificate) === sha256) return undefined;
  socket.destroy();
  return new PinError(certificate);
}

const sha256Of = (certificate: X509Certificate | undefined): string =>
  certificate?.fingerprint256.replaceAll(':', '').toLowerCase() ?? '';

/** Accepts every certificate. The caller must verify it before it sends anything. */
export function connectUnverified({ hostname, port }: URL, certificates: Certificates, signal: AbortSignal): TLSSocket {
  const host = hostname.replace(/^\[|\]$/g, '');
  const socket = connect({
    ...certificates,
    host,
    port: Number(port || 443),
    // TLS allows no IP address as a server name (RFC 6066, section 3).
    ...(isIP(host) === 0 && { servername: host }),
    rejectUnauthorized: false,
  });
  const stop = () => socket.destroy(signal.reason);
  signal.addEventListener('abort', stop);
  socket.once('close', () => signal.removeEventListener('abort', stop));
  // A late error without a handler would end the process.
  return socket.on('error', () => {});
}

/**
 * Describes the certificate that `error` refers to. Opens a second connection to read it: Node has dropped most of it
 * by then.
 */
export async function describeDistrust(error: unknown, url: URL, trust: Trust, signal: AbortSignal): Promise<Distrust> {
  const certificate = error instanceof PinError ? error.certificate : await readCertificate(url, trust, signal);
  const names = namesOf(error);
  const found = (fault: Distrust['fault'], what: string): Distrust => ({
    fault,
    shown: `a certificate ${what}`,
    reason: reasonOf(error),
    names,
    sha256: sha256Of(certificate),
  });
  if (error instanceof PinError) return found('pin', 'that is not the one that is pinned');
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (unsigned.test(code)) {
    const foreign = 'that the authority of `ca` has not signed';
    const unknown = 'that no authority trusted by this machine has signed';
    const isForeign = 'ca' in trust && trust.ca !== undefined;
    return found('authority', `${isForeign ? foreign : unknown} (${code})`);
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const plain = names.replace(/\b(?:DNS|IP Address):/g, '').slice(0, maxNamesLength);
    return found('name', `for ${plain}, and not for ${url.hostname} (${code})`);
  }
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') {
    return found('time', `${goodWhen(certificate)} (${code})`);
  }
  return found('other', `that is not valid: ${reasonOf(error)} (${code})`);
}

const unsigned = /^(?:UNABLE_TO_(?:GET_ISSUER|VERIFY)|DEPTH_ZERO_SELF|SELF_SIGNED|CERT_UNTRUSTED)/;

const maxNamesLength = 200;

const namesOf = (error: unknown): string =>
  (error as { cert?: { subjectaltname?: string } }).cert?.subjectaltname || 'no name at all';

function goodWhen(certificate: X509Certificate | undefined): string {
  const now = new Date();
  if (certificate !== undefined) {
    const [from, until] = [new Date(certificate.validFrom), new Date(certificate.validTo)];
    if (until < now) return `that expired on ${dayOf(until)}`;
    if (from > now) return `that is valid only from ${dayOf(from)}`;
  }
  return 'whose authority has no certificate that is valid today';
}

const dayOf = (date: Date): string => date.toISOString().replace(/T(.{5}).*/, ' $1 UTC');

async function readCertificate(url: URL, trust: Trust, signal: AbortSignal): Promise<X509Certificate | undefined> {
  const socket = connectUnverified(url, 'pinnedSha256' in trust ? {} : trust, signal);
  try {
    await once(socket, 'secureConnect', { signal });
    return socket.getPeerX509Certificate();
  } catch {
    return undefined;
  } finally {
    socket.destroy();
  }
}
