// Text that stalls parsers, and every parser of foreign text: a patch's kernel, an artifact, a comment.

import { explain } from '../../src/analysis/profile/changed-functions.ts';
import { flamegraph } from '../../src/analysis/profile/flamegraph.ts';
import { foldedLines } from '../../src/analysis/profile/fold.ts';
import { withoutIdle } from '../../src/analysis/profile/idle.ts';
import { foreignBounds, parseProfile } from '../../src/analysis/profile/read-profile.ts';
import { parseColumn } from '../../src/analysis/stats/columns.ts';
import { parseNightlyRuns } from '../../src/analysis/trend/nightly-runs.ts';
import { parseResult } from '../../src/forge/github/artifact.ts';
import { parseCommand } from '../../src/forge/patch/command.ts';
import { checkDiff, whyGitRefuses } from '../../src/forge/patch/diff.ts';
import { whyMisleading } from '../../src/forge/phabricator/diff.ts';
import { readBuildFailure } from '../../src/kernel/build-log.ts';
import { describeScreen, lastWords } from '../../src/lab/console/console-text.ts';
import { countersCommands, parseCpuTimes, parseInterfaceCounters } from '../../src/lab/freebsd/dut/counters.ts';
import { fingerprintCommands, fingerprintOf } from '../../src/lab/freebsd/dut/fingerprint.ts';
import { limitsBetween } from '../../src/lab/freebsd/dut/limits.ts';
import { parseArp, parseIfconfig, parseNdp, parseRoutes } from '../../src/lab/freebsd/dut/network.ts';
import { sentWithin } from '../../src/lab/freebsd/dut/profile.ts';
import { checkSettings, type SettingsContext, settingsCommands } from '../../src/lab/freebsd/dut/settings.ts';
import { ipfwDrops, pfDrops } from '../../src/lab/freebsd/rule-drops.ts';
import { droppedBy, limitsInLinuxLog } from '../../src/lab/linux/linux-limits.ts';
import { arrivalsAround, parseObservation, samplesAsTheyCome } from '../../src/lab/linux/linux-script.ts';
import { parseSysctl } from '../../src/lab/linux/sysctl.ts';
import { endsIn } from '../../src/lab/qemu/trial-logs.ts';
import { parsePktGenLog } from '../../src/lab/traffic/pkt-gen.ts';
import { isReady, processIdIn } from '../../src/lab/traffic/pkt-gen-command.ts';
import { parseTrafgenLog } from '../../src/lab/traffic/trafgen.ts';
import { codeBlock, codeSpan, plainLine } from '../../src/model/escape.ts';
import { lastLine, reasonOf, shortened } from '../../src/model/one-line.ts';
import { callOnPhabricator } from '../../src/model/patch.ts';
import type { Rejection } from '../../src/model/rejection.ts';
import { remarkupBlock, remarkupCell, remarkupText } from '../../src/model/remarkup.ts';
import { withoutPaths } from '../../src/model/without-paths.ts';
import { escaped } from '../../src/model/xml.ts';
import { parseHistory, parseIndex } from '../../src/publish/data-branch/layout.ts';
import { parseTrendIndex } from '../../src/publish/data-branch/trend-files.ts';
import { readMemory } from '../../src/publish/reporters/comment-text.ts';
import { annotationsOf } from '../../src/report/annotations.ts';
import { renderJunit } from '../../src/report/junit.ts';
import { renderHtml, renderMarkdown, renderRemarkup } from '../../src/report/reports.ts';
import { parseKnownHosts } from '../../src/system/host/known-hosts.ts';
import { type Command, commandText } from '../../src/system/shell.ts';
import { aBisectResult, aRevision, failedForm } from './bisect-result.ts';
import { aResult } from './result.ts';

const repeated = (text: string) => (characters: number) => text.repeat(Math.ceil(characters / text.length));

/** Texts of about this many characters. The beginning of a pattern's match is everywhere in them, its end nowhere. */
export const shapes: Readonly<Record<string, (characters: number) => string>> = {
  blanks: repeated(' '),
  'a word, blanks, a word': (characters) => `a${repeated(' ')(characters)}b`,
  'empty lines': repeated('\n'),
  'carriage returns': repeated('\r'),
  digits: repeated('1'),
  'one long word': repeated('a'),
  'letters and blanks': repeated('a '),
  'a stack of one line': repeated('a;'),
  'open brackets': repeated(' (['),
  'backticks and quotes': repeated('`"'),
  'control strings that never end': repeated('\x1b]'),
  'numbers, points and colons': repeated(' 1.1:'),
};

type Reading = (text: string) => unknown;

export type Parser = {
  name: string;
  /** Places for a text in the input; absent: alone. */
  places?: Readonly<Record<string, (text: string) => string>>;
  read: Reading;
  /** A line of its usual input; absent: of a log. */
  usual?: string;
};

const perfSample = 'perf 1 [000] 1.5: cycles:\n\tffffffff81000000 a+0x1 ([kernel.kallsyms])\n\n';
const diffHead = 'diff --git a/x b/x\n--- a/x\n+++ b/x\n';
const interfaceHead = 'cxl0: flags=8843<UP,RUNNING> metric 0 mtu 1500\n';
const counterHead = 'Name Mtu Network Address Ipkts Ierrs Idrop Opkts Oerrs\n';

const port = (name: string) => ({
  interface: name,
  gigabits: 10,
  queues: 4,
  neighbour: { mac: '02:00:00:00:00:01', addresses: { inet4: '192.0.2.1', inet6: '2001:db8::1' } },
});
const dut: SettingsContext = {
  ingress: port('cxl0'),
  egress: port('cxl1'),
  families: ['inet4', 'inet6'],
};
const host = { interfaces: ['cxl0'], bootFile: '/boot/kernel/kernel' };

/** Sends the same to each command. */
const said = (commands: readonly Command[], text: string) =>
  new Map(commands.map((command) => [commandText(command), text]));

const linuxBlocks = ['stat', 'softnet_stat', 'snmp', 'snmp6', 'netstat', 'nf_conntrack', 'tc', 'ethtool:a'];

/** A log of two edges; a part of the text stands in every block, and in a rule that drops. */
function readingsWith(text: string): string {
  const part = text.slice(0, Math.ceil(text.length / linuxBlocks.length));
  const rule = `table ip t {\n\tchain c {\n\t\tcounter packets 1 bytes 1 log ${part} drop`;
  const blocks = [...linuxBlocks.map((name) => [name, part] as const), ['nft', rule] as const];
  const lines = blocks.flatMap(([name, all]) => all.split('\n').map((line) => `= ${name} ${line}`));
  const edge = (name: string, packets: number) => [
    `limits 0 ${name} 1.1 a b`,
    `= dev a: 0 ${packets} 0 0 0 0 0 0 0 0 0 0 0 0 0 0`,
    `= dev b: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0`,
    ...lines,
    `= received ${packets}`,
  ];
  return [...edge('begin', 0), ...edge('end', 9)].join('\n');
}

/** Counters of which all but those of the interfaces are this text. */
function countersWith(text: string): Parameters<typeof limitsBetween> {
  const names = { ingress: 'cxl0', egress: 'cxl1' };
  const at = (packets: number) => {
    const rows = Object.values(names).map(
      (name) => `${name} 1500 <Link#1> 02:00:00:00:00:01 ${packets} 0 0 0 ${packets} 0 0 0\n`,
    );
    const head = 'Name Mtu Network Address Ipkts Ierrs Idrop Ibytes Opkts Oerrs Obytes Coll\n';
    const [interfaces = ''] = countersCommands([]).map(commandText);
    return new Map([...said(countersCommands(Object.values(names)), text), [interfaces, `${head}${rows.join('')}`]]);
  };
  return [at(0), at(9), { ...names, pfInfo: `${text}\nCounters ${text}` }];
}

const failed = (message: string): Rejection => ({ kind: 'build-failed', message });

/** Message of a commit, and panic of its kernel. */
const bisected = (text: string) =>
  aBisectResult({
    good: text,
    bad: text,
    fixUps: [text],
    revisions: [0, 1].map((place) =>
      aRevision(place, {
        subject: text,
        author: text,
        forms: [failedForm({ kind: 'boot-failed', message: text, panic: text, console: text })],
      }),
    ),
  });

const readers: Readonly<Record<string, Reading>> = {
  'what git says': (text) => whyGitRefuses(`error: ${text}`, []),
  'a diff of Phabricator': (text) => whyMisleading(`diff --git a/${text}`)?.why,
  'the body of a diff of Phabricator': (text) => whyMisleading(`diff --git a/x b/x\n${text}`)?.why,
  'samples of a Linux DUT': (text) => parseObservation(`sample 0 1 1 1 ${text}\nend`),
  'samples of a Linux DUT as they come': (text) => {
    const samplesWith = samplesAsTheyCome();
    for (let at = 0; at < text.length; at += 1000) samplesWith(text.slice(at, at + 1000));
  },
  'drops of a Linux DUT': (text) => droppedBy(`drops a\ntrace trace id 1 ip t c ${text}`, 'a', undefined),
  'limits of a Linux DUT': (text) => limitsInLinuxLog(readingsWith(text), [{ variant: 'base' }]),
  'windows of guests': (text) => endsIn(`window 1 ${text}\nend`, 1),
  'limits of a FreeBSD DUT': (text) => limitsBetween(...countersWith(text)),
  'rules of pf that drop': pfDrops,
  'a rule of pf that drops': (text) => pfDrops(`@0 block ${text}`),
  'rules of ipfw that drop': ipfwDrops,
  'a rule of ipfw that drops': (text) => ipfwDrops(`00100 1 1 deny ${text}`),
  'arrivals around a profile': arrivalsAround,
  'packets within a profile': (text) => sentWithin(`Name a\n${text}`, 'cxl0'),
  'CPU times': parseCpuTimes,
  'interface counters': (text) => parseInterfaceCounters(`${counterHead}cxl0 1 <Link#1> ${text}`),
  'a fingerprint': (text) => fingerprintOf(said(fingerprintCommands(host), text), host),
  'settings of a DUT': (text) => checkSettings(said(settingsCommands(dut), text), dut),
  'an interface': (text) => parseIfconfig(`${interfaceHead}${text}`),
  'the medium of an interface': (text) => parseIfconfig(`${interfaceHead}\tmedia: ${text}`),
  'the flags of an interface': (text) => parseIfconfig(`cxl0: flags=8843<${text}`),
  routes: (text) => parseRoutes(`Destination Gateway Flags Netif\n${text}`),
  'neighbours by arp': (text) => parseArp(`? (${text}`),
  'neighbours by ndp': parseNdp,
  'a sysctl.conf': (text) => parseSysctl(`net.a${text}`, 'sysctl.conf'),
  'a log of pkt-gen': parsePktGenLog,
  'a command of pkt-gen': (text) => parsePktGenLog(`CMD: ${text}`),
  'whether pkt-gen is ready': (text) => [isReady(text), processIdIn(text)],
  'a log of trafgen': parseTrafgenLog,
  'a column of numbers': (text) => parseColumn(Buffer.from(text), { name: 'runs', column: 2 }),
  'a console': (text) => [lastWords(text, true), describeScreen(text)],
  'a panic on a console': (text) => lastWords(`panic: ${text}`, false),
  'a number': (text) => parseColumn(Buffer.from(`0x${text}`), { name: 'runs' }),
  'known hosts': (text) => parseKnownHosts(`a ${text}`),
  'what a host says': (text) => [lastLine(text), shortened(text), reasonOf(new Error(text))],
  'the paths in a sentence': withoutPaths,
  'a command in a comment': (text) => parseCommand(`/ppsgate run ${text}`),
  'a command on Phabricator': (text) => parseCommand(`@ppsgate ${text}`, callOnPhabricator),
  'the memory of a comment': (text) => readMemory(`<!-- ppsgate remembers: ${text}`),
  'a result': parseResult,
  'an index': parseIndex,
  'a history': parseHistory,
  nightlyRuns: parseNightlyRuns,
  'an index of the trend': parseTrendIndex,
  annotations: (message) => annotationsOf(aResult({ outcome: failed(`sys/a.c:1: error ${message}`) })),
  'the path of an annotation': (path) => annotationsOf(aResult({ outcome: failed(`/sys/${path}:1: error`) })),
  'a line in code': (text) => [codeSpan(text), plainLine(text), remarkupText(text)],
  'a block in code': (text) => [codeBlock(text), remarkupBlock('log', text), remarkupCell(text)],
  XML: escaped,
  'a report of a failure': (message) => {
    const result = aResult({ outcome: failed(message) });
    return [renderMarkdown(result), renderRemarkup(result), renderJunit(result)];
  },
  'a report of a bisection': (text) => {
    const result = bisected(text);
    return [renderMarkdown(result), renderRemarkup(result)];
  },
  'a page of a bisection': (text) => renderHtml(bisected(text)),
  'a page of a failure': (message) => renderHtml(aResult({ outcome: failed(message) }), []),
};

export const parsers: readonly Parser[] = [
  {
    name: 'a profile',
    usual: 'napi/in0-8193;net_rx_action;ip_forward 12\n',
    places: {
      alone: (text) => text,
      'in a call graph': (text) => `@ CPU [1 samples]\n\n100.0%  [1]  a\n${text}\n`,
      'as the name in a call graph': (text) => `100.0%  [1]  a${text}\n`,
      'as a module': (text) => `100.0%  [1]  a @ ${text}\n`,
      'as an event': (text) => `@ ${text}\n100.0%  [1]  a\n`,
      'in a script of perf': (text) => `${perfSample}${text}\n`,
      'in a frame of perf': (text) => `${perfSample}\tff a${text}b\n`,
      'in a head of perf': (text) => `${perfSample}a${text} 1 [000] 1.5: cycles:\n`,
      'behind an event of perf': (text) => `${perfSample}a 1 [000] 1.5: 1 cycles: ${text}\n`,
      'in a comment of perf': (text) => `# perf version : ${text}\n# os release : ${text}\n`,
      'in folded stacks': (text) => `a;b 1\n${text}\n`,
      'as a folded stack': (text) => `a;b 1\n${text} 1\n`,
    },
    read(text) {
      const { profile } = withoutIdle(parseProfile(text, 'the profile', foreignBounds));
      for (const _ of foldedLines(profile, { modules: true }));
      return [explain(profile, profile), flamegraph(profile, { title: '', base: profile })];
    },
  },
  {
    name: 'a build log',
    places: { alone: (text) => text, 'in an error': (text) => `a.c:1:1: error: ${text}` },
    read: (text) => readBuildFailure(text, '/usr/src'),
  },
  {
    name: 'a diff',
    places: {
      alone: (text) => text,
      'before a hunk': (text) => `diff --git a/x b/x\n${text}`,
      'behind a hunk': (text) => `${diffHead}@@ -1 +1 @@\n-a\n+b\n${text}`,
      'as a hunk': (text) => `${diffHead}@@ -1,${text}`,
      'as a name': (text) => `diff --git "a/${text}`,
    },
    read: (text) => checkDiff(Buffer.from(text)),
  },
  ...Object.entries(readers).map(([name, read]) => ({ name, read })),
];
