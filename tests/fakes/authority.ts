// Creates a certificate authority, such as a site or a lab has, and the certificates that it signs.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export type Authority = {
  caPath: string;
  /** Issues a key and a certificate for one address or host name; one for fewer than 0 days has expired. */
  issue(file: string, name: string, days?: number): Promise<{ certificatePath: string; keyPath: string }>;
};

/** Stores its files in the folder. */
export async function makeAuthority(folder: string, name: string): Promise<Authority> {
  const pathOf = (file: string) => join(folder, file);
  const [caPath, caKeyPath] = [pathOf(`${name}.pem`), pathOf(`${name}.key`)];
  // Only these settings: Debian's own configuration would make every certificate an authority's.
  const configPath = pathOf('openssl.cnf');
  writeFileSync(configPath, '[req]\ndistinguished_name = name\n[name]\n');
  const request = (keyPath: string, path: string, subject: string, more: string[]) =>
    run('openssl', [
      'req',
      '-config',
      configPath,
      '-subj',
      `/CN=${subject}`,
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-keyout',
      keyPath,
      '-out',
      path,
      ...more,
    ]);
  const isAuthority = ['-addext', 'basicConstraints=critical,CA:TRUE'];
  await request(caKeyPath, caPath, name, ['-x509', '-days', '2', ...isAuthority]);
  return {
    caPath,
    async issue(file, host, days = 2) {
      const [certificatePath, keyPath] = [pathOf(`${file}.pem`), pathOf(`${file}.key`)];
      const [requestPath, extensionsPath] = [pathOf(`${file}.csr`), pathOf(`${file}.ext`)];
      await request(keyPath, requestPath, file, ['-new']);
      const kind = isIP(host) === 0 ? 'DNS' : 'IP';
      writeFileSync(extensionsPath, `subjectAltName=${kind}:${host}\n`);
      // Unlike `req`, this command accepts days in the past.
      await run('openssl', [
        'x509',
        '-req',
        '-in',
        requestPath,
        '-out',
        certificatePath,
        '-days',
        String(days),
        '-CA',
        caPath,
        '-CAkey',
        caKeyPath,
        '-CAcreateserial',
        '-extfile',
        extensionsPath,
      ]);
      return { certificatePath, keyPath };
    },
  };
}
