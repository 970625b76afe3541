import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { limitsInLinuxLog } from '../../../src/lab/linux/linux-limits.ts';
import { linuxDutScript, parseObservation, samplesAsTheyCome } from '../../../src/lab/linux/linux-script.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { describeWith } from '../../needs.ts';

const log = `lay base 100.000000 100.020000
sample 0 100.100000 1000 900 5000000 7000000 3
sample 0 100.200000 3000 2800 95000000 8000000 3
sample 0 100.350000 6000 5800 230000000 8000000 4
lay patched 100.400000 100.420000
sample 1 100.500000 7000 6600 300000000 9000000 4
sample 1 100.600000 8000 7400 390000000 9000000 4
end
`;

const incoherent = 'does not follow the one before: "sample ';

test('each run is what happened between its points of time, and nothing of the time in between', () => {
  const sample = (
    seconds: number,
    receivedPackets: number,
    forwardedPackets: number,
    busy: number,
    denied: number,
  ) => ({
    ...{ seconds: expect.closeTo(seconds), receivedPackets, forwardedPackets },
    ...{ busySeconds: expect.closeTo(busy), deniedSeconds: expect.closeTo(denied) },
  });
  expect(parseObservation(log)).toEqual({
    kind: 'observed',
    samplesPerRun: [
      [sample(0.1, 2000, 1900, 0.09, 0.001), sample(0.15, 3000, 3000, 0.135, 0.01)],
      [sample(0.1, 1000, 800, 0.09, 0)],
    ],
  });
});

test.for([
  ['nothing at all', '', 'with "end", but with ""'],
  ['no end', log.replace('end\n', ''), 'with "end", but with "sample 1 '],
  ['an end cut short', log.slice(0, -2), 'with "end", but with "en"'],
  ['the clock was set back', log.replace('100.200000', '100.050000'), incoherent],
  ['the clock stood still', log.replace('100.200000', '100.100000'), incoherent],
  ['a counter began anew', log.replace(' 2800 ', ' 12 '), incoherent],
  ['a line holds no number', log.replace(' 3000 ', ' many '), incoherent],
  ['a line is too short', log.replace(' 7000 6600 300000000 9000000 4', ''), incoherent],
] as const)('a log that is incomplete or makes no sense is a failure, with its line: %s', ([, text, reason]) => {
  expect(parseObservation(text)).toEqual({ kind: 'failed', reason: expect.stringContaining(reason) });
});

test('a log that arrives in pieces has the samples of the whole', () => {
  const run = log.slice(0, log.indexOf('lay patched'));
  const samplesWith = samplesAsTheyCome();
  const byLetter = [...run].map((letter) => samplesWith(letter)).at(-1);
  expect(byLetter).toEqual(samplesAsTheyCome()(run));
});

describeWith(['root', 'nft', 'unshare', 'flock'], 'the program, in a network of its own', () => {
  const dut = () => {
    const folder = temporaryFolder();
    const name = join(folder, 'dut.bash');
    writeFileSync(name, linuxDutScript);
    mkdirSync(join(folder, 'patched'));
    const rules = (text: string) => writeFileSync(join(folder, 'patched/forwarding.nft'), text);
    rules('flush ruleset\n');
    const settings = (text: string) => writeFileSync(join(folder, 'patched/sysctl.conf'), text);
    const before = () => readFileSync(join(folder, 'before/sysctl.conf'), 'utf8');
    /** Runs words of bash in which `dut` is the program, and `$1` the folder of the variant. */
    const run = (words: string, input = '') =>
      spawnSync(
        'unshare',
        ['--net', 'bash', '-c', `dut() { bash ${name} "$@"; }; ${words}`, 'bash', `${folder}/patched`],
        { encoding: 'utf8', input },
      );
    return { run, settings, rules, before };
  };
  const forward = '/proc/sys/net/ipv4/ip_forward';
  const ports = '/proc/sys/net/ipv4/ip_local_reserved_ports';

  test('remembers what a later variant sets as well, and of an earlier one what was there first', () => {
    const { run, settings, before } = dut();
    settings('net/ipv4/ip_forward = 1\n');
    const { stdout, stderr } = run(
      [
        'echo net/ipv4/ip_forward | dut remember',
        'dut lay $1 forwarding',
        "printf '%s\\n' net/ipv4/ip_forward net/ipv4/ip_local_reserved_ports | dut remember",
        `cat ${forward}; echo 7 | cat >${ports}`,
      ].join('; '),
    );
    expect(stderr).toBe('');
    expect(stdout).toBe('1\n');
    expect(before()).toBe('net/ipv4/ip_forward = 0\nnet/ipv4/ip_local_reserved_ports = \n');
  });

  test('installs settings, and puts back what was there, be it empty', () => {
    const { run, settings } = dut();
    settings('net/ipv4/ip_forward = 1\nnet/ipv4/ip_local_reserved_ports = 4,5,6\n');
    const { stdout, stderr } = run(
      `dut remember; dut lay $1 forwarding; cat ${forward} ${ports}; dut restore; cat ${forward} ${ports}`,
      'net/ipv4/ip_forward\nnet/ipv4/ip_local_reserved_ports\n',
    );
    expect(stderr).toBe('');
    expect(stdout).toBe('1\n4-6\n0\n\n');
  });

  test('installs no rules where a setting is not taken', () => {
    const { run, settings } = dut();
    settings('net/ipv4/nothing = 1\n');
    const { stdout, stderr } = run('nft add table inet ours; dut lay $1 forwarding || echo failed; nft list tables');
    expect(stdout).toBe('failed\ntable inet ours\n');
    expect(stderr).toMatch(/: No such file or directory\nsetting net\/ipv4\/nothing\n$/);
  });

  const counted = 'dut count 9 $1 forwarding lo lo';

  test('counts between an installation and a line on its standard input', () => {
    const { run, settings } = dut();
    settings('net/ipv4/ip_forward = 1\n');
    const { stdout, stderr } = run(counted, '\n');
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^begun\nlimits 0 begin \S+ lo lo\n= [\s\S]*\nlimits 0 end [\s\S]*\nend\n$/);
    const nothing = { offeredPackets: 0, receivedPackets: 0, drops: [] };
    expect(limitsInLinuxLog(stdout, [{ variant: 'base' }])).toMatchObject({ base: nothing });
  });

  test('prints nothing that rules have nft list, which would be read as samples', () => {
    const { run, settings, rules } = dut();
    settings('');
    rules('add table inet t { comment "\nsample 0 1 2 3" ; }\nlist ruleset\n');
    const { stdout, status } = run('dut lay $1 forwarding');
    expect({ stdout, status }).toEqual({ stdout: '', status: 0 });
  });

  test('leaves a setting alone that the network has from the machine', () => {
    const { run, settings } = dut();
    settings('net/ipv4/tcp_available_congestion_control = reno\nnet/ipv4/ip_forward = 1\n');
    const { stdout, stderr, status } = run(`dut lay $1 forwarding && cat ${forward}`);
    expect({ stdout, stderr, status }).toEqual({ stdout: '1\n', stderr: '', status: 0 });
  });
});
