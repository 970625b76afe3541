// Asks an HTTPS server one question, after its certificate was found to be the one we trust, and takes a bounded answer.
import { once } from 'node:events';
import { type IncomingMessage, request as requestOver } from 'node:http';
import { isIP } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { bytesWithin } from '../http.ts';
import { reasonOf } from '../words/one-line.ts';

export type Question = {
  method: 'GET' | 'POST';
  /** Of `https:`. */
  url: URL;
  headers: Readonly<Record<string, string>>;
  body?: string;
  trust: Trust;
  timeoutSeconds: number;
};

/** Which certificate is good. `pem` of a lab's own authority takes the place of those that Node knows. */
export type Trust =
  | { kind: 'authority'; pem?: string }
  /** SHA-256 of the certificate: 64 lowercase hexadecimal digits. */
  | { kind: 'pinned'; sha256: string };

/** In `untrusted` nothing of the question was sent; in `no-answer` it may have been. */
export type Reply =
  | { kind: 'answered'; status: number; headers: IncomingMessage['headers']; body: string }
  | { kind: 'untrusted'; sha256: string; why: string }
  | { kind: 'no-answer'; why: string };

/** Never rejects; redirects are answers like others. */
export async function request(question: Question): Promise<Reply> {
  const socket = dial(question.url, question.trust);
  const timer = setTimeout(
    () => socket.destroy(new Error(`no whole answer within ${question.timeoutSeconds} s`)),
    question.timeoutSeconds * 1000,
  );
  try {
    await once(socket, 'secureConnect');
    return distrust(socket, question.trust) ?? (await exchange(socket, question));
  } catch (error) {
    return { kind: 'no-answer', why: reasonOf(error) };
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}

function dial({ hostname, port }: URL, trust: Trust): TLSSocket {
  const host = hostname.replace(/^\[|\]$/g, '');
  const socket = connect({
    host,
    port: Number(port || 443),
    // TLS has no addresses among its server names (RFC 6066, section 3).
    ...(isIP(host) === 0 && { servername: host }),
    ...(trust.kind === 'authority' && trust.pem !== undefined && { ca: trust.pem }),
    // `distrust` decides, which can tell people the fingerprint.
    rejectUnauthorized: false,
  });
  // Whoever waits for the socket hears it too; without a listener of its own it could end the process.
  return socket.on('error', () => {});
}

/** Undefined where the certificate is good. */
function distrust(socket: TLSSocket, trust: Trust): Reply | undefined {
  const certificate = socket.getPeerX509Certificate();
  const sha256 = certificate?.fingerprint256.replaceAll(':', '').toLowerCase() ?? '';
  if (trust.kind === 'pinned') {
    const why = 'not the one that is pinned';
    return sha256 === trust.sha256 ? undefined : { kind: 'untrusted', sha256, why };
  }
  if (socket.authorized) return undefined;
  return { kind: 'untrusted', sha256, why: reasonOf(socket.authorizationError) };
}

function exchange(socket: TLSSocket, { method, url, headers, body }: Question): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const asked = requestOver(
    {
      method,
      path: url.pathname + url.search,
      headers: { host: url.host, connection: 'close', ...headers },
      createConnection: () => socket,
    },
    (response) => read(response).then(resolve, reject),
  );
  asked.on('error', reject);
  asked.end(body);
  return promise;
}

/** A system's document is some 10 kB. */
const mostBytes = 1024 ** 2;

async function read(response: IncomingMessage): Promise<Reply> {
  const body = await bytesWithin(mostBytes, response);
  if (body === undefined) throw new Error(`more than ${mostBytes} bytes in an answer`);
  const { statusCode: status = 0, headers } = response;
  return { kind: 'answered', status, headers, body: body.toString() };
}
