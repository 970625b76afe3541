// `ppsgate badge`: the Markdown of a configuration's badges.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type BadgeOptions, run as printBadges } from '../../../src/cli/reports/badge.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { git, newRepository } from '../../fakes/repository.ts';

const away = { host: '127.0.0.1', port: 1, knownHosts: './known_hosts' };
const freebsd = {
  kind: 'freebsd',
  dut: { ...away, ingress: { interface: 'cxl0' }, egress: { interface: 'mce1' } },
  senders: [{ ...away, port: 2, interface: 'igb2', mac: '00:08:a2:0d:e5:91', inet4: '198.18.0.1' }],
  receiver: { ...away, port: 2, interface: 'igb3', mac: '00:08:a2:0d:e5:92', inet4: '198.19.0.1' },
};
const two = {
  testbeds: { 'hp-t540': freebsd, shelf: { kind: 'embedded-linux' } },
  scenarios: ['forwarding', 'pf-stateful'],
};
const repository = 'example/router';

function configFile(config: object): string {
  const path = join(temporaryFolder(), 'ppsgate.yml');
  writeFileSync(path, JSON.stringify(config));
  return path;
}

let said: string;

beforeEach(() => {
  said = '';
  vi.stubEnv('GITHUB_SERVER_URL', '');
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    said += text;
    return true;
  });
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

async function badge(config: object, options: BadgeOptions = {}): Promise<string[]> {
  expect(await printBadges({ config: configFile(config), ...options })).toBe(0);
  return said.trimEnd().split('\n');
}

test('prints a line for each cell that a testbed can measure, and one for its base against itself', async () => {
  const data = 'https://github.com/example/router';
  expect(await badge(two, { repository })).toEqual([
    `[![hp-t540 forwarding inet4](${data}/raw/ppsgate-data/badges/hp-t540/forwarding-inet4.svg)](${data}/blob/ppsgate-data/README.md)`,
    expect.stringContaining('![hp-t540 pf-stateful inet4]('),
    expect.stringContaining('![hp-t540 A/A]('),
    expect.stringContaining('![shelf forwarding inet4]('),
    expect.stringContaining('![shelf A/A]('),
  ]);
});

test('names another branch, or the web site that the branch is published as', async () => {
  const shelf = { testbeds: { shelf: { kind: 'embedded-linux' } } };
  const [line] = await badge(shelf, { repository, branch: 'numbers' });
  expect(line).toContain('/example/router/raw/numbers/badges/');
  said = '';
  const pages = 'https://example.github.io/router';
  const [onSite] = await badge({ ...shelf, github: { data: { pages } } }, { repository });
  expect(onSite).toContain(`(${pages}/badges/shelf/forwarding-inet4.svg)`);
});

test('prints them as JSON', async () => {
  await badge(two, { repository, testbed: ['shelf'], json: true });
  const folder = 'https://github.com/example/router/raw/ppsgate-data/badges/shelf';
  const one = (label: string, name: string) => ({
    label,
    image: `${folder}/${name}.svg`,
    endpoint: `${folder}/${name}.json`,
    markdown: expect.stringContaining(`[![${label}](`),
  });
  expect(JSON.parse(said)).toEqual([one('shelf forwarding inet4', 'forwarding-inet4'), one('shelf A/A', 'same')]);
});

describe('without --repository', () => {
  const inRepository = (url?: string) => {
    const directory = newRepository();
    if (url !== undefined) git(directory, 'remote', 'add', 'origin', url);
    vi.stubEnv('GIT_DIR', join(directory, '.git'));
  };

  test.each(['https://token@github.com/example/router.git', 'git@github.com:example/router.git'])(
    'it is that of origin: %s',
    async (url) => {
      inRepository(url);
      const [line] = await badge(two);
      expect(line).toContain('(https://github.com/example/router/raw/');
    },
  );

  test('with an origin elsewhere it is required', async () => {
    inRepository('https://git.example.org/github.com/router.git');
    await expect(badge(two)).rejects.toThrow('--repository: ');
  });
});
