// Files as real tools write them, which readers once misread.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { foldedLines } from '../src/analysis/profile/fold.ts';
import { withoutIdle } from '../src/analysis/profile/idle.ts';
import { parseProfile } from '../src/analysis/profile/read-profile.ts';
import { readSeries } from '../src/cli/netbenches/series.ts';
import { lastWords } from '../src/lab/console/console-text.ts';
import { openIpmi } from '../src/lab/power/ipmi.ts';
import type { PowerDeps } from '../src/lab/power/power-deps.ts';
import { parsePktGenLog } from '../src/lab/traffic/pkt-gen.ts';
import { pktGenRun } from '../src/lab/traffic/pkt-gen-run.ts';
import { describeWith, sharedFolder } from './needs.ts';

const pathOf = (name: string): string => join(sharedFolder('public-cases'), name);
const textOf = (name: string): string => readFileSync(pathOf(name), 'utf8');

describeWith(['shared/public-cases'], 'public cases', () => {
  const forwarding = 'netif_receive_skb;ip_forward';

  describe('a profile', () => {
    test.each([
      ['perf-no-comm.perf', [`${forwarding} 3`]],
      ['perf-time-only.perf', [`${forwarding} 3`]],
      ['perf-event-only.perf', [`${forwarding} 3`]],
      ['perf-latency.perf', [`ksoftirq;${forwarding} 3`]],
      ['perf-no-ip.perf', [`napi/ix0-1;${forwarding} 1`]],
      ['perf-empty-line.perf', ['cmd;main 1']],
      ['perf-mmap-first.perf', [`napi/ix0-1;${forwarding} 1`]],
      ['perf-round.perf', [`napi/ix0-1;${forwarding} 1`]],
      [
        'perf-odd-heads.perf',
        [`kworker/u16:2+e;${forwarding} 1`, `Web Content;${forwarding} 1`, `ksoftirqd/0;${forwarding} 1`],
      ],
      ['folded-bom.folded', ['main;read 3', 'main;poll 2']],
    ])('%s is folded', (name, stacks) => {
      expect([...foldedLines(parseProfile(textOf(name)))]).toEqual(stacks);
    });

    test('folded-odd-names.folded is unchanged', () => {
      const text = textOf('folded-odd-names.folded');
      expect(`${[...foldedLines(parseProfile(text))].join('\n')}\n`).toBe(text);
    });

    test.each([
      ['folded-two-counts.folded', 'two counts'],
      ['folded-fraction-first.folded', 'line 1: 1.5 is no whole number'],
    ])('%s is refused', (name, why) => {
      expect(() => parseProfile(textOf(name), name)).toThrow(why);
    });

    test.each(['idle-amd.folded', 'idle-intel.folded'])('%s has five samples of work', (name) => {
      const { profile } = withoutIdle(parseProfile(textOf(name)));
      expect([...foldedLines(profile)]).toEqual(['napi;ip_forward 5']);
    });
  });

  test.each(['pktgen-normalized', 'pktgen-raw'])('all runs of %s count', (folder) => {
    const runs = readdirSync(pathOf(folder)).map((name) => {
      const log = parsePktGenLog(textOf(join(folder, name)));
      const { medianPps, validity } = pktGenRun(log, undefined, { netbenchesTrim: false });
      const variant = name.includes('patched') ? 'patched' : 'base';
      return `${variant} ${(medianPps / 1e6).toFixed(1)} ${validity.kind}`;
    });
    expect(runs).toHaveLength(10);
    expect(new Set(runs)).toEqual(new Set(['base 6.7 valid', 'patched 7.0 valid']));
  });

  test.each([
    ['changes-thousands.txt', '"1,040,702"'],
    ['changes-unit.txt', '"14.88Mpps"'],
    ['changes-header.txt', '"pps"'],
  ])('the series %s is refused with its word', async (name, word) => {
    await expect(readSeries(pathOf(name))).rejects.toThrow(word);
  });

  test.each([
    ['console-softlockup.txt', 'BUG: soft lockup - CPU#3 stuck for 23s! [ksoftirqd/3:31]'],
    ['console-divide.txt', 'divide error: 0000 [#1] PREEMPT SMP NOPTI'],
    ['console-rcu.txt', 'INFO: rcu_sched self-detected stall on CPU'],
    ['console-trap-stamped.txt', 'Fatal trap 12: page fault while in kernel mode'],
    ['console-trap12.txt', 'page fault'],
  ])('the first cause of %s is named', (name, panic) => {
    expect(lastWords(textOf(name), false).panic).toBe(panic);
  });

  test('a BMC that refuses a privilege level gets one request', async () => {
    let tries = 0;
    const deps: PowerDeps = {
      ...({} as PowerDeps),
      readSecret: async () => 'secret',
      sleep: async () => {},
      run: async () => {
        tries += 1;
        return { kind: 'exited', code: 1, stdout: '', stderr: textOf('ipmi-ucs.txt') };
      },
    };
    const config = {
      kind: 'ipmi',
      host: 'bmc.example',
      port: 623,
      user: 'operator',
      passwordPath: '/password',
      cipherSuite: 3,
    } as const;
    const power = await openIpmi('dut', config, deps);
    await expect(power.state()).rejects.toThrow('Privilege Level to OPERATOR failed');
    expect(tries).toBe(1);
  });
});
