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

  // A server could pose as Phabricator with its own certificate.
  test('is of the authority that is named gets the token', async () => {
    const { url, asked } = await start({});
    const conduit = await open(url, site.caPath);
    expect(await conduit.call('conduit.ping', {}, z.string())).toBe('vm');
    expect(asked).toEqual(['/api/conduit.ping']);
  });

  test('that is not of the authority, not for its name, or not valid now, gets nothing', async () => {
    const lines: string[] = [];
    for (const [what, shown, caPath] of [
      ['of an authority that is not configured', {}, undefined],
      ['of another authority than the one that is named', {}, stranger.caPath],
      ['expired', { days: -1 }, site.caPath],
      ['for another name', { name: 'reviews.example.org' }, site.caPath],
    ] as [string, Shown, string | undefined][]) {
      const { url, asked } = await start(shown);
      const { kind, message } = await failureOf(url, caPath);
      expect([kind, asked]).toEqual(['busy', []]);
      lines.push(`${what}\n  ${message.replace(/\d{4}-\d\d-\d\d \d\d:\d\d UTC/, 'DAY')}\n`);
    }
    await expect(lines.join('')).toMatchFileSnapshot('golden/certificate.txt');
  });

  test.each([
    ['is not there', undefined],
    ['is empty', ''],
    ['holds something else', 'ssh-ed25519 AAAA'],
  ])('has an authority whose file %s is not asked', async (_, pem) => {
    const caPath = join(temporaryFolder(), 'ca.pem');
    if (pem !== undefined) writeFileSync(caPath, pem);
    await expect(open('https://127.0.0.1:1', caPath)).rejects.toThrow(UsageError);
  });
});
