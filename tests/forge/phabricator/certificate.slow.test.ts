// Sends a token only to a trusted TLS server; here the certificate is of a private authority.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { ConduitError } from '../../../src/forge/phabricator/failure.ts';
import { openPhabricator } from '../../../src/forge/phabricator/login.ts';
import { UsageError } from '../../../src/model/usage-error.ts';
import { type Authority, makeAuthority } from '../../fakes/authority.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { startHttps } from '../../lab/power/https-server.ts';
import { describeWith } from '../../needs.ts';

const write = 'harbormaster.sendmessage';

describeWith(['openssl'], 'a Phabricator whose certificate', () => {
  let folder: string;
  let site: Authority;
  let stranger: Authority;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ppsgate-authority-'));
    site = await makeAuthority(folder, 'site');
    stranger = await makeAuthority(folder, 'stranger');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  type Shown = { name?: string; days?: number };

  /** Returns its address, and the number of requests. */
  async function start({ name = '127.0.0.1', days }: Shown) {
    const certificate = await site.issue('server', name, days);
    const asked: (string | undefined)[] = [];
    const server = await startHttps(certificate, ({ url }, response) => {
      asked.push(url);
      response.setHeader('content-type', 'application/json');
      response.end('{"result":"vm","error_code":null,"error_info":null}');
    });
    onTestFinished(() => server[Symbol.asyncDispose]());
    return { url: server.origin, asked };
  }

  async function open(url: string, caPath?: string) {
    const tokenPath = join(temporaryFolder(), 'token');
    writeFileSync(tokenPath, 'api-abcdefghijklmnopqrstuvwxyz23', { mode: 0o600 });
    return openPhabricator(
      { url, tokenPath, ...(caPath !== undefined && { caPath }) },
      { log: { info: (sentence) => expect.fail(sentence) } },
    );
  }

  async function failureOf(url: string, caPath?: string) {
    const conduit = await open(url, caPath);
    const thrown = await conduit.call(write, {}, z.unknown()).catch((error: unknown) => error);
    if (!(thrown instanceof ConduitError)) expect.fail(`It did not fail: ${thrown}`);
    return { kind: thrown.kind, message: thrown.message.replace(url, 'https://it') };
  }

  // Attack phabricator/certificate: A server poses as Phabricator with its own certificate. Defence: The certificate
  // must be valid now, for that name, and signed by `phabricator.ca` or a CA that Node knows.
  test('is of the authority that is named gets the token', async () => {
    const { url, asked } = await start({});
    const conduit = await open(url, site.caPath);
    expect(await conduit.call('conduit.ping', {}, z.string())).toBe('vm');
    expect(asked).toEqual(['/api/conduit.ping']);
  });

  test.each<[string, Shown, () => string | undefined, string]>([
    [
      'is of an authority that is not configured',
      {},
      () => undefined,
      'a certificate that no authority trusted by this machine has signed (UNABLE_TO_VERIFY_LEAF_SIGNATURE), so harbormaster.sendmessage was not sent: set `phabricator.ca` to the certificate of the authority, or set NODE_EXTRA_CA_CERTS.',
    ],
    [
      'is of another authority than the one that is named',
      {},
      () => stranger.caPath,
      'a certificate that the authority of `ca` has not signed (UNABLE_TO_VERIFY_LEAF_SIGNATURE), so harbormaster.sendmessage was not sent: set `phabricator.ca` to the certificate of the authority that signed it.',
    ],
    [
      'has expired',
      { days: -1 },
      () => site.caPath,
      'a certificate that expired on DAY (CERT_HAS_EXPIRED), so harbormaster.sendmessage was not sent: renew it there, if the clock of this machine is right.',
    ],
    [
      'is for another name',
      { name: 'reviews.example.org' },
      () => site.caPath,
      'a certificate for reviews.example.org, and not for 127.0.0.1 (ERR_TLS_CERT_ALTNAME_INVALID), so harbormaster.sendmessage was not sent: use its name in `phabricator.url`, or issue one for this name.',
    ],
  ])('%s gets nothing, and can be written to later', async (_, shown, caPath, why) => {
    const { url, asked } = await start(shown);
    const { kind, message } = await failureOf(url, caPath());
    expect(kind).toBe('busy');
    expect(message.replace(/\d{4}-\d\d-\d\d \d\d:\d\d UTC/, 'DAY')).toBe(`https://it shows ${why}`);
    expect(asked).toEqual([]);
  });

  test.each([
    ['is not there', undefined, /^`phabricator\.ca` cannot be read \(\S+ca\.pem: ENOENT.*\): name/],
    ['is empty', '', /^`phabricator\.ca` contains no certificate \(\S+ca\.pem: .*\): name a file with the certificate/],
    ['holds something else', 'ssh-ed25519 AAAA', /^`phabricator\.ca` contains no certificate/],
  ])('has an authority whose file %s is not asked', async (_, pem, sentence) => {
    const caPath = join(temporaryFolder(), 'ca.pem');
    if (pem !== undefined) writeFileSync(caPath, pem);
    const opened = open('https://127.0.0.1:1', caPath);
    await expect(opened).rejects.toThrow(UsageError);
    await expect(opened).rejects.toThrow(sentence);
  });
});
