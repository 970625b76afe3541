// A self-signed certificate, and HTTPS servers on loopback that use it and reply as a test defines.
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type Certificate = {
  readonly keyPath: string;
  readonly certificatePath: string;
  /** 64 lowercase hexadecimal digits. */
  readonly sha256: string;
  remove(): void;
};

/** Self-signed, for 127.0.0.1. */
export function makeCertificate(): Certificate {
  const folder = mkdtempSync(join(tmpdir(), 'ppsgate-certificate-'));
  const keyPath = join(folder, 'key.pem');
  const certificatePath = join(folder, 'certificate.pem');
  const key = '-x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=bmc';
  const files = ['-keyout', keyPath, '-out', certificatePath, '-addext', 'subjectAltName=IP:127.0.0.1'];
  execFileSync('openssl', ['req', ...key.split(' '), ...files], { stdio: 'ignore' });
  const fingerprint = new X509Certificate(readFileSync(certificatePath)).fingerprint256;
  return {
    keyPath,
    certificatePath,
    sha256: fingerprint.replaceAll(':', '').toLowerCase(),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export interface HttpsServer extends AsyncDisposable {
  /** `https://127.0.0.1:4433`. */
  readonly origin: string;
}

export async function startHttps(
  { keyPath, certificatePath }: Pick<Certificate, 'keyPath' | 'certificatePath'>,
  answer: RequestListener,
): Promise<HttpsServer> {
  const files = { key: readFileSync(keyPath), cert: readFileSync(certificatePath) };
  const server = createServer(files, answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `https://127.0.0.1:${portOf(server.address())}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export async function freeTcpPort(): Promise<number> {
  const server = createTcpServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = portOf(server.address());
  server.close();
  await once(server, 'close');
  return port;
}

function portOf(address: ReturnType<ReturnType<typeof createTcpServer>['address']>): number {
  if (address === null || typeof address === 'string') throw new Error('No free TCP port.');
  return address.port;
}
